//! The verbs of `do`, a closed list. Reads them; does nothing.

use highwater_engine::base::Dur;
use highwater_engine::base::limits::MAX_PARTITIONS;

use super::error::{Problem, ScenarioError, nearest};
use super::hints;
use super::model::*;
use super::object::{At as Here, Object, error};
use super::read::{self, MAX_COUNT};
use super::token::{Data, quoted};
use super::wire;

type Result<T> = std::result::Result<T, ScenarioError>;

/// Every verb of this build.
pub const VERBS: [&str; 32] = [
    "kill",
    "stop",
    "start",
    "restart",
    "pause",
    "resume",
    "lose-disk",
    "cut",
    "heal",
    "link",
    "create-topic",
    "add-partitions",
    "delete-topic",
    "delete-records",
    "set-config",
    "elect-leaders",
    "produce",
    "start-client",
    "set-client",
    "stop-client",
    "kill-client",
    "pause-client",
    "join",
    "leave",
    "seek",
    "commit",
    "drop",
    "hold",
    "delay",
    "duplicate",
    "deliver",
    "release",
];

/// Verbs of the format that this build does not have.
const LATER: [&str; 13] = [
    "power-off",
    "fail-log-dir",
    "slow-disk",
    "add-broker",
    "remove-broker",
    "pause-fetch",
    "resume-fetch",
    "throttle",
    "reassign",
    "reset-offsets",
    "begin-transaction",
    "commit-transaction",
    "abort-transaction",
];

pub fn verb(at: &Here<'_>) -> Result<Verb> {
    let entries = at.named()?;
    let [(key, arg)] = entries.as_slice() else {
        return Err(at.error(Problem::WrongType, "an object with exactly one verb"));
    };
    Ok(match *key {
        "kill" => Verb::Kill(nodes(arg)?),
        "stop" => Verb::Stop(nodes(arg)?),
        "start" => Verb::Start(nodes(arg)?),
        "restart" => Verb::Restart(nodes(arg)?),
        "pause" => Verb::Pause(nodes(arg)?),
        "resume" => Verb::Resume(nodes(arg)?),
        "lose-disk" => Verb::LoseDisk(nodes(arg)?),
        "cut" => Verb::Cut(sides(&arg.object(&["between", "and", "from", "to"], &[])?)?),
        "heal" => heal(arg)?,
        "link" => Verb::Link(link(arg)?),
        "create-topic" => create_topic(arg)?,
        "add-partitions" => add_partitions(arg)?,
        "delete-topic" => Verb::DeleteTopic(topic_text(arg)?),
        "delete-records" => delete_records(arg)?,
        "set-config" => set_config(arg)?,
        "elect-leaders" => elect_leaders(arg)?,
        "produce" => Verb::Produce(produce(arg)?),
        "start-client" => start_client(arg)?,
        "set-client" => set_client(arg)?,
        "stop-client" => Verb::StopClient(client_text(arg)?),
        "kill-client" => Verb::KillClient(client_text(arg)?),
        "pause-client" => pause_client(arg)?,
        "join" => Verb::Join(join(arg)?),
        "leave" => Verb::Leave(client_text(arg)?),
        "seek" => seek(arg)?,
        "commit" => Verb::Commit(client_text(arg)?),
        "drop" => wire::message(arg, &[], |_| Ok(Deed::Drop))?,
        "hold" => wire::message(arg, &["name"], wire::hold)?,
        "delay" => wire::message(arg, &["by"], wire::delay)?,
        "duplicate" => wire::message(arg, &[], |_| Ok(Deed::Duplicate))?,
        "deliver" => wire::message(arg, &[], |_| Ok(Deed::Deliver))?,
        "release" => Verb::Release(read::name(arg, arg.text("the name of a hold")?)?),
        unknown => return Err(no_verb(arg, unknown)),
    })
}

fn no_verb(at: &Here<'_>, verb: &str) -> ScenarioError {
    if LATER.contains(&verb) {
        return error(
            Problem::NewerVersion,
            &at.path,
            at.value.place,
            quoted(verb),
            "a verb of this build; this one belongs to the format but is not in this build",
        );
    }
    let mut e = error(Problem::UnknownKey, &at.path, at.value.place, quoted(verb), "a verb of the format");
    e.nearest = hints::verb(verb).or_else(|| nearest(verb, VERBS.iter().chain(LATER.iter()).copied()));
    e
}

/// A node, or a list of them.
pub fn nodes(at: &Here<'_>) -> Result<Nodes> {
    if !at.is_list() {
        return Ok(vec![node(at)?]);
    }
    let nodes = at.list()?.iter().map(node).collect::<Result<Nodes>>()?;
    if nodes.is_empty() { Err(at.error(Problem::Missing, "at least one node")) } else { Ok(nodes) }
}

pub fn node(at: &Here<'_>) -> Result<Node> {
    const EXPECTED: &str = "a broker's number, \"broker/1\", \"controller/2\", \"client/checkout\", \
        \"active-controller\", {\"leader-of\": \"orders/0\"} or {\"coordinator-of\": \"billing\"}";
    match &at.value.data {
        Data::Int(_) => at.int(1, i64::from(read::MAX_BROKER_ID)).map(|id| Node::Broker(id as u32)),
        Data::Text(text) if text == "active-controller" => Ok(Node::ActiveController),
        Data::Text(text) => {
            let found = match text.split_once('/') {
                Some(("broker", id)) => read::broker_id(id).map(Node::Broker),
                Some(("controller", id)) => read::broker_id(id).map(Node::Controller),
                Some(("client", name)) if !name.is_empty() => Some(Node::Client(name.into())),
                Some(_) | None => None,
            };
            found.ok_or_else(|| {
                let mut e = at.error(Problem::OutOfRange, EXPECTED);
                e.nearest = hints::node(text)
                    .or_else(|| nearest(text, ["active-controller", "broker/1", "controller/1"]))
                    .or_else(|| hints::client(text));
                e
            })
        }
        Data::Map(_) => {
            let object = at.object(&["leader-of", "coordinator-of"], &[])?;
            match (object.get("leader-of"), object.get("coordinator-of")) {
                (Some(of), None) => partition(&of).map(Node::LeaderOf),
                (None, Some(of)) => read::name(&of, of.text("a group")?).map(Node::CoordinatorOf),
                (Some(_), Some(_)) | (None, None) => Err(at.wrong_type(EXPECTED)),
            }
        }
        Data::Null | Data::Bool(_) | Data::List(_) => Err(at.wrong_type(EXPECTED)),
    }
}

/// `orders/0`.
pub fn partition(at: &Here<'_>) -> Result<Partition> {
    let text = at.text("a partition such as \"orders/0\"")?;
    parse_partition(text).ok_or_else(|| {
        let mut e = at.error(Problem::OutOfRange, "a partition such as \"orders/0\"");
        e.nearest = hints::partition(text).filter(|text| parse_partition(text).is_some());
        e
    })
}

fn parse_partition(text: &str) -> Option<Partition> {
    let (topic, number) = text.rsplit_once('/')?;
    let partition = number.parse::<u32>().ok().filter(|n| n.to_string() == number && *n < MAX_PARTITIONS)?;
    let legal = !topic.is_empty()
        && topic.len() <= 249
        && topic.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    legal.then(|| Partition { topic: topic.into(), partition })
}

fn sides(object: &Object<'_>) -> Result<Sides> {
    let place = |expected: &str| error(Problem::Missing, &object.path, object.place, "", expected);
    match (object.get("between"), object.get("and"), object.get("from"), object.get("to")) {
        (Some(a), Some(b), None, None) => Ok(Sides { from: nodes(&a)?, to: nodes(&b)?, both: true }),
        (None, None, Some(a), Some(b)) => Ok(Sides { from: nodes(&a)?, to: nodes(&b)?, both: false }),
        _ => Err(place("\"between\" and \"and\", or \"from\" and \"to\"")),
    }
}

fn heal(at: &Here<'_>) -> Result<Verb> {
    if let Data::Text(_) = at.value.data {
        at.one_of(&["all"])?;
        return Ok(Verb::Heal(None));
    }
    sides(&at.object(&["between", "and", "from", "to"], &[])?).map(|sides| Verb::Heal(Some(sides)))
}

/// `{ between, and, latency, jitter, loss }`.
pub fn link(at: &Here<'_>) -> Result<LinkEntry> {
    let object = at.object(&["between", "and", "latency", "jitter", "loss"], &["from", "to", "bandwidth"])?;
    let change = read::link_values(&object)?;
    if change == LinkChange::default() {
        return Err(at.error(Problem::Missing, "\"latency\", \"jitter\" or \"loss\""));
    }
    Ok(LinkEntry { between: nodes(&object.need("between")?)?, and: nodes(&object.need("and")?)?, change })
}

fn create_topic(at: &Here<'_>) -> Result<Verb> {
    let topic = read::topic(at, &["name"])?;
    let object = at.object(&["name", "partitions", "replication", "replicas", "config"], &[])?;
    Ok(Verb::CreateTopic { name: topic_text(&object.need("name")?)?, topic })
}

fn add_partitions(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["topic", "to"], &[])?;
    Ok(Verb::AddPartitions {
        topic: topic_text(&object.need("topic")?)?,
        to: object.need("to")?.int(1, i64::from(MAX_PARTITIONS))? as u32,
    })
}

fn delete_records(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["partition", "before"], &[])?;
    Ok(Verb::DeleteRecords {
        partition: partition(&object.need("partition")?)?,
        before: object.need("before")?.int(0, i64::MAX)? as u64,
    })
}

fn set_config(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["topic", "broker", "cluster", "config"], &[])?;
    let target = match (object.get("topic"), object.get("broker"), object.get("cluster")) {
        (Some(topic), None, None) => Target::Topic(topic_text(&topic)?),
        (None, Some(broker), None) => Target::Broker(broker.int(1, i64::from(read::MAX_BROKER_ID))? as u32),
        (None, None, Some(cluster)) if cluster.boolean()? => Target::Cluster,
        _ => return Err(at.error(Problem::Missing, "exactly one of \"topic\", \"broker\" and \"cluster\": true")),
    };
    Ok(Verb::SetConfig { target, config: read::config(&object.need("config")?)? })
}

fn elect_leaders(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["type", "partition"], &[])?;
    let unclean = object.optional("type", |at| at.one_of(&["preferred", "unclean"]))? == Some("unclean");
    Ok(Verb::ElectLeaders { unclean, partition: partition(&object.need("partition")?)? })
}

fn produce(at: &Here<'_>) -> Result<Produce> {
    let object = at.object(&["client", "topic", "partition", "key", "value", "count", "every"], &["tombstone"])?;
    Ok(Produce {
        client: client_text(&object.need("client")?)?,
        topic: object.optional("topic", topic_text)?,
        partition: object.optional("partition", |at| at.int(0, i64::from(MAX_PARTITIONS)))?.map(|v| v as u32),
        key: object.optional("key", |at| read::record_text(at).map(Into::into))?,
        value: object.optional("value", |at| read::record_text(at).map(Into::into))?,
        count: object.optional("count", |at| at.int(1, i64::from(MAX_COUNT)))?.map_or(1, |v| v as u32),
        every: object.optional("every", read::duration)?.unwrap_or(Dur::ZERO),
    })
}

fn start_client(at: &Here<'_>) -> Result<Verb> {
    // Here `client` is the name; the release of its library is `version`.
    let object = at.object(
        &["client", "version", "topic", "partition", "rate", "keys", "value-size", "config"],
        &["start", "stop"],
    )?;
    let mut producer = read::producer(at, &["version", "name"], None)?;
    if let Some(version) = object.optional("version", read::client_version)? {
        producer.client = version;
    }
    Ok(Verb::StartClient { name: client_text(&object.need("client")?)?, producer })
}

fn set_client(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["client", "rate", "config"], &[])?;
    Ok(Verb::SetClient {
        name: client_text(&object.need("client")?)?,
        rate: object.optional("rate", read::rate)?,
        config: object.optional("config", read::config)?.unwrap_or_default(),
    })
}

fn pause_client(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["member", "for"], &[])?;
    Ok(Verb::PauseClient { member: client_text(&object.need("member")?)?, span: read::duration(&object.need("for")?)? })
}

fn join(at: &Here<'_>) -> Result<Join> {
    let object = at.object(&["member", "group", "topics", "client", "poll", "config"], &[])?;
    let group = object.need("group")?;
    Ok(Join {
        member: client_text(&object.need("member")?)?,
        group: read::name(&group, group.text("a group")?)?,
        topics: object.optional("topics", read::topics)?,
        client: object.optional("client", read::client_version)?,
        poll: object.optional("poll", read::poll)?,
        config: object.optional("config", read::config)?.unwrap_or_default(),
    })
}

fn seek(at: &Here<'_>) -> Result<Verb> {
    let object = at.object(&["member", "to"], &[])?;
    let mut to = Vec::new();
    for (key, at) in object.need("to")?.named()? {
        let partition = parse_partition(key).ok_or_else(|| {
            error(Problem::OutOfRange, &at.path, at.value.place, quoted(key), "a partition such as \"orders/0\"")
        })?;
        to.push((partition, at.int(0, i64::MAX)? as u64));
    }
    Ok(Verb::Seek { member: client_text(&object.need("member")?)?, to })
}

fn client_text(at: &Here<'_>) -> Result<String> {
    read::name(at, at.text("a client's name")?)
}

fn topic_text(at: &Here<'_>) -> Result<String> {
    read::topic_name(at, at.text("a topic's name")?)
}
