//! The verbs of recordings and how they are read. A closed list; what the engine does not model is still read, so that
//! it can be listed.

use std::collections::BTreeMap;

use highwater_engine::base::{BrokerId, Dur, NodeId};

use super::limits::{MAX_NODE, MAX_RECORDS, MAX_WAIT};
use super::reading::{ReadError, Spot};
use super::recording::{parse_node, read_broker, read_config, read_node, read_partition};

/// Which node, by name or by the role that it has at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    Node(NodeId),
    ActiveController,
    CoordinatorOf(String),
    LeaderOf(String, u32),
    /// The controller that went down last.
    DeadController,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    Kill(Who),
    Stop(Who),
    Start(Who),
    Pause(Who),
    Resume(Who),
    LoseDisk(Who),
    Cut {
        between: Vec<NodeId>,
        and: Vec<NodeId>,
    },
    Heal,
    CreateTopic {
        name: String,
        layout: Layout,
        config: BTreeMap<String, String>,
    },
    AddPartitions {
        topic: String,
        to: i64,
    },
    DeleteTopic(String),
    DeleteRecords {
        topic: String,
        partition: u32,
        before: i64,
    },
    SetConfig {
        topic: String,
        config: BTreeMap<String, String>,
    },
    Reassign {
        topic: String,
        partition: u32,
    },
    ElectLeaders {
        topic: String,
        partition: u32,
        unclean: bool,
    },
    StartClient {
        client: String,
        config: BTreeMap<String, String>,
        bootstrap: Vec<BrokerId>,
    },
    Produce {
        client: String,
        topic: String,
        partition: Option<u32>,
        what: Produced,
    },
    Join {
        member: String,
        group: String,
        topics: Vec<String>,
        config: BTreeMap<String, String>,
        old: Option<OldClient>,
    },
    Leave(String),
    PauseClient {
        member: String,
        span: Dur,
    },
    /// Begin, commit or abort of a transaction.
    Transaction {
        producer: String,
    },
}

/// Replicas of a new topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    Counts { partitions: i32, replication: i16 },
    Manual(Vec<(u32, Vec<BrokerId>)>),
}

/// Records of one `produce`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Produced {
    /// value0, value1, …, without keys.
    Numbered {
        value: String,
        count: u32,
        every: Dur,
    },
    Keyed {
        key: String,
        value: String,
    },
}

/// A consumer of an older client library, in its own program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldClient {
    pub version: String,
    /// Whether its loop calls `poll(long)`.
    pub long: bool,
}

const VERBS: &str = "one of kill, stop, start, pause, resume, lose-disk, cut, heal, create-topic, add-partitions, \
    delete-topic, delete-records, set-config, reassign, elect-leaders, start-client, produce, join, leave, \
    pause-client, begin-transaction, commit-transaction, abort-transaction";

/// Reads `{ verb: argument }`.
///
/// # Errors
/// An unknown verb or a bad argument, with its place.
pub fn read_verb(spot: &Spot) -> Result<Verb, ReadError> {
    let (verb, arg) = spot.single(VERBS)?;
    Ok(match verb {
        "kill" => Verb::Kill(read_who(&arg)?),
        "stop" => Verb::Stop(read_who(&arg)?),
        "start" => Verb::Start(read_who(&arg)?),
        "pause" => Verb::Pause(read_who(&arg)?),
        "resume" => Verb::Resume(read_who(&arg)?),
        "lose-disk" => Verb::LoseDisk(read_who(&arg)?),
        "cut" => {
            let fields = arg.object(&["between", "and"])?;
            Verb::Cut { between: fields.need("between")?.each(read_node)?, and: fields.need("and")?.each(read_node)? }
        }
        "heal" => match arg.text()? {
            "all" => Verb::Heal,
            _ => return Err(arg.wrong("\"all\"")),
        },
        "create-topic" => read_create(&arg)?,
        "add-partitions" => {
            let fields = arg.object(&["topic", "to"])?;
            Verb::AddPartitions {
                topic: fields.need("topic")?.owned()?,
                to: fields.need("to")?.int(0, i64::from(u32::MAX))?,
            }
        }
        "delete-topic" => Verb::DeleteTopic(arg.owned()?),
        "delete-records" => {
            let fields = arg.object(&["partition", "before"])?;
            let (topic, partition) = read_partition(&fields.need("partition")?)?;
            Verb::DeleteRecords { topic, partition, before: fields.need("before")?.int(-1, i64::MAX)? }
        }
        "set-config" => {
            let fields = arg.object(&["topic", "config"])?;
            Verb::SetConfig {
                topic: fields.need("topic")?.owned()?,
                config: read_config(Some(fields.need("config")?))?,
            }
        }
        "reassign" => {
            let fields = arg.object(&["partition", "replicas"])?;
            fields.need("replicas")?.each(|s| s.int(0, MAX_NODE))?;
            let (topic, partition) = read_partition(&fields.need("partition")?)?;
            Verb::Reassign { topic, partition }
        }
        "elect-leaders" => read_elect(&arg)?,
        "start-client" => {
            let fields = arg.object(&["client", "config", "bootstrap"])?;
            let bootstrap = fields.get("bootstrap").map_or(Ok(Vec::new()), |s| s.each(read_broker))?;
            Verb::StartClient {
                client: fields.need("client")?.owned()?,
                config: read_config(fields.get("config"))?,
                bootstrap,
            }
        }
        "produce" => read_produce(&arg)?,
        "join" => read_join(&arg)?,
        "leave" => Verb::Leave(arg.owned()?),
        "pause-client" => {
            let fields = arg.object(&["member", "for"])?;
            Verb::PauseClient { member: fields.need("member")?.owned()?, span: fields.need("for")?.span(MAX_WAIT)? }
        }
        "begin-transaction" | "commit-transaction" | "abort-transaction" => {
            Verb::Transaction { producer: arg.owned()? }
        }
        _ => {
            return Err(ReadError {
                at: arg.path,
                found: format!("the unknown verb \"{verb}\""),
                expected: VERBS.into(),
            });
        }
    })
}

fn read_who(spot: &Spot) -> Result<Who, ReadError> {
    const EXPECTED: &str = "a node such as \"broker/1\" or \"controller/2\", or a role: \"active-controller\", \
        \"one of the dead controllers\", { \"coordinator-of\": group }, { \"leader-of\": partition }";
    match spot.value.as_str() {
        Some("active-controller") => Ok(Who::ActiveController),
        Some("one of the dead controllers") => Ok(Who::DeadController),
        Some(name) => parse_node(name).map(Who::Node).ok_or_else(|| spot.wrong(EXPECTED)),
        None => match spot.single(EXPECTED)? {
            ("coordinator-of", group) => Ok(Who::CoordinatorOf(group.owned()?)),
            ("leader-of", partition) => read_partition(&partition).map(|(topic, number)| Who::LeaderOf(topic, number)),
            _ => Err(spot.wrong(EXPECTED)),
        },
    }
}

fn read_create(spot: &Spot) -> Result<Verb, ReadError> {
    let fields = spot.object(&["name", "partitions", "replication", "replicas", "config"])?;
    let layout = match (fields.get("replicas"), fields.get("partitions"), fields.get("replication")) {
        (Some(replicas), None, None) => {
            let partition = |(key, brokers): &(&str, Spot)| {
                let number = key.parse().map_err(|_| brokers.wrong("a partition's number as the key"))?;
                Ok((number, brokers.each(|s| s.int(0, MAX_NODE).map(|id| BrokerId(id as u32)))?))
            };
            Layout::Manual(replicas.map()?.iter().map(partition).collect::<Result<_, ReadError>>()?)
        }
        (None, Some(partitions), Some(replication)) => Layout::Counts {
            partitions: partitions.int(i64::from(i32::MIN), i64::from(i32::MAX))? as i32,
            replication: replication.int(i64::from(i16::MIN), i64::from(i16::MAX))? as i16,
        },
        _ => return Err(spot.wrong("either \"partitions\" and \"replication\", or \"replicas\"")),
    };
    Ok(Verb::CreateTopic { name: fields.need("name")?.owned()?, layout, config: read_config(fields.get("config"))? })
}

fn read_elect(spot: &Spot) -> Result<Verb, ReadError> {
    let fields = spot.object(&["type", "partition"])?;
    let kind = fields.need("type")?;
    let unclean = match kind.text()? {
        "preferred" => false,
        "unclean" => true,
        _ => return Err(kind.wrong("\"preferred\" or \"unclean\"")),
    };
    let (topic, partition) = read_partition(&fields.need("partition")?)?;
    Ok(Verb::ElectLeaders { topic, partition, unclean })
}

fn read_produce(spot: &Spot) -> Result<Verb, ReadError> {
    let fields = spot.object(&["client", "topic", "partition", "count", "every", "value", "key"])?;
    let value = fields.need("value")?.owned()?;
    let what = match fields.get("key") {
        Some(key) => match fields.get("count").or(fields.get("every")) {
            Some(extra) => return Err(extra.wrong("no count and no pace beside a key: it is one record")),
            None => Produced::Keyed { key: key.owned()?, value },
        },
        None => Produced::Numbered {
            value,
            count: fields.need("count")?.int(1, MAX_RECORDS)? as u32,
            every: fields.need("every")?.span(MAX_WAIT)?,
        },
    };
    let partition = fields.get("partition").map(|s| s.int(0, i64::from(i32::MAX)).map(|n| n as u32)).transpose()?;
    Ok(Verb::Produce {
        client: fields.need("client")?.owned()?,
        topic: fields.need("topic")?.owned()?,
        partition,
        what,
    })
}

fn read_join(spot: &Spot) -> Result<Verb, ReadError> {
    let fields = spot.object(&["member", "group", "topics", "config", "client-version", "poll"])?;
    let old = match (fields.get("client-version"), fields.get("poll")) {
        (None, None) => None,
        (Some(version), poll) => {
            let long = match &poll {
                None => false,
                Some(poll) => match poll.text()? {
                    "long" => true,
                    "duration" => false,
                    _ => return Err(poll.wrong("\"long\" or \"duration\"")),
                },
            };
            Some(OldClient { version: version.owned()?, long })
        }
        (None, Some(poll)) => return Err(poll.wrong("\"client-version\" beside \"poll\"")),
    };
    Ok(Verb::Join {
        member: fields.need("member")?.owned()?,
        group: fields.need("group")?.owned()?,
        topics: fields.need("topics")?.each(|s| s.owned())?,
        config: read_config(fields.get("config"))?,
        old,
    })
}
