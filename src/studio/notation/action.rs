//! An action and the reason for which it was refused, in the words of a script. Reads no script.

use highwater_engine::base::{Dur, NodeId};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::{ConfigMap, ConfigTarget, Placement};
use highwater_engine::world::{Action, Deed, Refusal};

use super::{Book, brokers, list, text};

/// What is done, on one line.
pub fn action(action: &Action, book: &Book) -> String {
    let nodes = |nodes: &[NodeId]| list(nodes.iter().map(|node| book.node(*node)));
    let way = |both: bool| if both { "<->" } else { "->" };
    match action {
        Action::Kill(node) => format!("kill {}", book.node(*node)),
        Action::Stop(node) => format!("stop {}", book.node(*node)),
        Action::Start(node) => format!("start {}", book.node(*node)),
        Action::Restart(node) => format!("restart {}", book.node(*node)),
        Action::Pause(node) => format!("pause {}", book.node(*node)),
        Action::Resume(node) => format!("resume {}", book.node(*node)),
        Action::LoseDisk(node) => format!("lose-disk {}", book.node(*node)),
        Action::Cut { from, to, both } => format!("cut {}{}{}", nodes(from), way(*both), nodes(to)),
        Action::Heal { from, to, both } => format!("heal {}{}{}", nodes(from), way(*both), nodes(to)),
        Action::HealAll => "heal all".into(),
        Action::Link { between, and, latency, jitter, loss_per_million } => {
            let span = |name: &str, span: &Option<Dur>| span.map_or(String::new(), |s| format!(" {name}={}us", s.0));
            let loss = loss_per_million.map_or(String::new(), |loss| format!(" loss={loss}/1000000"));
            format!(
                "link {}<->{}{}{}{loss}",
                nodes(between),
                nodes(and),
                span("latency", latency),
                span("jitter", jitter)
            )
        }
        Action::Message { which, deed } => {
            let end = |name: &str, node: &Option<NodeId>| {
                node.map_or(String::new(), |node| format!(" {name}={}", book.node(node)))
            };
            let more = match deed {
                Deed::Hold { name } => format!(" name={name}"),
                Deed::Delay { by } => format!(" by={}us", by.0),
                Deed::Drop | Deed::Duplicate | Deed::Deliver => String::new(),
            };
            let message = super::kind::message(which.api, which.response);
            let (from, to) = (end("from", &which.from), end("to", &which.to));
            format!("{} {message}{from}{to} nth={}{more}", deed.verb(), which.nth)
        }
        Action::Release { name } => format!("release {name}"),
        Action::Admin(request) => admin(request),
        Action::StartProducer { name, spec } => format!("start-client {name}{}", config(&spec.config)),
        Action::Join { name, spec } => {
            let topics = list(spec.topics.iter().map(ToString::to_string));
            format!("join {name} group={} topics={topics}{}", spec.group, config(&spec.config))
        }
        Action::CloseClient { name, within: _ } => format!("stop-client {name}"),
        Action::KillClient { name } => format!("kill-client {name}"),
        Action::Reconfigure { name, config: changed } => format!("set-client {name}{}", config(changed)),
        Action::Produce { client, topic, partition, key, values, count, every } => {
            let partition = partition.map_or(String::new(), |number| format!("-{number}"));
            let key = key.as_ref().map_or(String::new(), |key| format!(" key={}", text(key)));
            let values = match values {
                Values::Numbered(prefix) => format!("{}0..{}", text(prefix), count.saturating_sub(1)),
                Values::Exactly(value) => text(value),
            };
            format!("produce {client} {topic}{partition}{key} value={values} count={count} every={}us", every.0)
        }
        Action::SetRate { client, per_second } => format!("set-client {client} rate={per_second}/s"),
        Action::PausePolling { member, span } => format!("pause-client {member} for={}us", span.0),
        Action::Seek { member, topic, partition, offset } => format!("seek {member} {topic}-{partition}={offset}"),
        Action::Commit { member } => format!("commit {member}"),
    }
}

fn admin(request: &AdminRequest) -> String {
    match request {
        AdminRequest::CreateTopic(topic) => {
            let placement = match &topic.placement {
                Placement::Counts { partitions, replication_factor } => {
                    let given = |name: &str, number: Option<i64>| {
                        number.map_or(String::new(), |number| format!(" {name}={number}"))
                    };
                    let replication = given("replication-factor", replication_factor.map(i64::from));
                    format!("{}{replication}", given("partitions", partitions.map(i64::from)))
                }
                Placement::Manual(replicas) => {
                    let replicas = list(replicas.iter().map(|(number, ids)| format!("{number}={}", brokers(ids))));
                    format!(" replicas={replicas}")
                }
            };
            format!("create-topic {}{placement}{}", topic.name, config(&topic.configs))
        }
        AdminRequest::DeleteTopic { name } => format!("delete-topic {name}"),
        AdminRequest::CreatePartitions { name, total } => format!("add-partitions {name} to={total}"),
        AdminRequest::DeleteRecords { topic, partition, before } => {
            format!("delete-records {topic}-{partition} before={before}")
        }
        AdminRequest::AlterConfigs { resource, configs } => {
            let resource = match resource {
                ConfigTarget::Topic(name) => format!("topic={name}"),
                ConfigTarget::Broker(id) => format!("broker={id}"),
                ConfigTarget::Cluster => "cluster".into(),
            };
            format!("set-config {resource}{}", config(configs))
        }
        AdminRequest::ElectLeaders { topic, partition, unclean } => {
            format!("elect-leaders {topic}-{partition} type={}", if *unclean { "unclean" } else { "preferred" })
        }
        AdminRequest::Renew => "renew admin".into(),
        AdminRequest::Connect => "connect admin".into(),
        AdminRequest::DescribeTopics { topics } => match topics {
            Some(topics) => format!("describe-topics {}", list(topics.iter().map(ToString::to_string))),
            None => "describe-topics".into(),
        },
        AdminRequest::ListOffsets { topic, partition } => format!("list-offsets {topic}-{partition}"),
        AdminRequest::DescribeGroup { group } => format!("describe-group {group}"),
        AdminRequest::ListCommitted { group } => format!("list-committed {group}"),
        AdminRequest::DescribeQuorum => "describe-quorum".into(),
        AdminRequest::DescribeCluster => "describe-cluster".into(),
    }
}

fn config(config: &ConfigMap) -> String {
    config.iter().map(|(key, value)| format!(" {key}={}", text(value))).collect()
}

/// Why the world does not do it.
pub fn refusal(refusal: &Refusal, book: &Book) -> String {
    match refusal {
        Refusal::NoSuchNode(node) => format!("no-such-node {}", book.node(*node)),
        Refusal::NoSuchClient(name) => format!("no-such-client {name}"),
        Refusal::NotStarted(name) => format!("not-started {name}"),
        Refusal::NoSuchRole(role) => format!("no-such-role {role}"),
        Refusal::NameTaken(name) => format!("name-taken {name}"),
        Refusal::HoldTaken(name) => format!("hold-taken {name}"),
        Refusal::NothingHeld(name) => format!("nothing-held {name}"),
        Refusal::WrongState { node, needed } => format!("wrong-state {} needed: {needed}", book.node(*node)),
        Refusal::Limit { what, most } => format!("limit {what} at-most={most}"),
        Refusal::ClientConfig { exception, key, value, expected } => {
            format!("{exception} {key}={} expected: {expected}", text(value))
        }
        Refusal::NodeConfig { key, value, expected } => {
            format!("ConfigException {key}={} expected: {expected}", text(value))
        }
        Refusal::Setup { what } => what.clone(),
    }
}
