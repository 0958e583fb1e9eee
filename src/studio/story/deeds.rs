//! Actions of a script or a hand as facts: what was asked where no other entry says that it was done, why one was
//! refused, and by which verb a branch began. It does none of them.

use highwater_engine::base::ActionId;
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::{Api, ConfigMap, ConfigTarget as EngineTarget, ErrorCode};
use highwater_engine::world::{Action, Deed, Needed as EngineNeeded, Refusal};

use super::asked::{Asked, Needed, Reason};
use super::fact::{ConfigTarget, Fact, MessageDeed};
use super::names::{NodeRef, PartitionRef, Term, count};
use super::reader::Reader;
use super::seen::Seen;
use crate::kinds::{Mark, Part};
use crate::scenario::{Config, Node, Target, Verb};

/// The part of the log and the mark of an action that has a line of its own.
pub(super) fn place(action: &Action) -> (Part, Option<Mark>) {
    match action {
        Action::Message { .. } => (Part::Fault, Some(Mark::Fault)),
        Action::Release { .. } => (Part::Fault, Some(Mark::Repair)),
        Action::Kill(_)
        | Action::Stop(_)
        | Action::Start(_)
        | Action::Restart(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::LoseDisk(_)
        | Action::Cut { .. }
        | Action::Heal { .. }
        | Action::HealAll
        | Action::Link { .. }
        | Action::KillClient { .. } => (Part::Fault, None),
        Action::Reconfigure { .. } | Action::SetRate { .. } => (Part::Setting, Some(Mark::Setting)),
        Action::Admin(_) => (Part::Setting, None),
        Action::StartProducer { .. } | Action::Produce { .. } => (Part::Producer, None),
        Action::Join { .. }
        | Action::CloseClient { .. }
        | Action::PausePolling { .. }
        | Action::Seek { .. }
        | Action::Commit { .. } => (Part::Group, None),
    }
}

/// What an accepted action says by itself. Its effects have entries of their own, which are told instead.
pub(super) fn acted(at: &Reader<'_>, action: &Action) -> Option<Fact> {
    let node = |id| at.seen.node(id);
    let client = |name: &str| at.seen.named(name);
    Some(match action {
        Action::Reconfigure { name, config } => changed_config(ConfigTarget::Client(name.to_string()), pairs(config))?,
        Action::SetRate { client, per_second } => rate(client, *per_second),
        _effects if at.is_told_by_its_effects() => return None,
        Action::Kill(_)
        | Action::Stop(_)
        | Action::Start(_)
        | Action::Pause(_)
        | Action::Resume(_)
        | Action::LoseDisk(_)
        | Action::Cut { .. }
        | Action::Heal { .. }
        | Action::HealAll
        | Action::Link { .. }
        | Action::StartProducer { .. }
        | Action::Join { .. }
        | Action::KillClient { .. } => Fact::WithoutEffect { action: action.verb().into() },
        Action::Restart(id) => Fact::Asked(Asked::Restart { node: node(*id) }),
        Action::CloseClient { name, .. } => Fact::Asked(Asked::Close { client: client(name) }),
        Action::Message { which, deed } => Fact::MessageActed {
            deed: deed_done(deed),
            message: message_term(which.api, which.response),
            from: which.from.map(node),
            to: which.to.map(node),
        },
        Action::Release { name } => Fact::MessageReleased { name: name.to_string() },
        Action::Admin(request) => asked(request)?,
        Action::Produce { client: name, topic, count, .. } => Fact::Asked(Asked::Produce {
            client: client(name),
            topic: Some(topic.to_string()),
            count: u64::from(*count),
        }),
        Action::PausePolling { member, span } => {
            Fact::Asked(Asked::PausePolling { member: client(member), span_us: span.0 })
        }
        Action::Seek { member, topic, partition, offset } => Fact::Asked(Asked::Seek {
            member: client(member),
            partition: PartitionRef { topic: topic.to_string(), partition: *partition },
            to: count(*offset),
        }),
        Action::Commit { member } => Fact::Asked(Asked::Commit { member: client(member) }),
    })
}

/// What the administrator asks the cluster for.
fn asked(request: &AdminRequest) -> Option<Fact> {
    let partition = |topic: &str, partition: u32| PartitionRef { topic: topic.into(), partition };
    let describe = |api: Api| Asked::Describe { api: api.name().into() };
    Some(Fact::Asked(match request {
        AdminRequest::CreateTopic(topic) => Asked::CreateTopic { topic: topic.name.to_string() },
        AdminRequest::DeleteTopic { name } => Asked::DeleteTopic { topic: name.to_string() },
        AdminRequest::CreatePartitions { name, total } => {
            Asked::AddPartitions { topic: name.to_string(), total: *total }
        }
        AdminRequest::DeleteRecords { topic, partition: number, before } => {
            Asked::DeleteRecords { partition: partition(topic, *number), before: u64::try_from(*before).ok() }
        }
        AdminRequest::AlterConfigs { resource, configs } => {
            let (key, value) = pairs(configs).next()?;
            Asked::SetConfig { target: config_target(resource), key, value }
        }
        AdminRequest::ElectLeaders { topic, partition: number, unclean } => {
            Asked::ElectLeader { partition: partition(topic, *number), unclean: *unclean }
        }
        AdminRequest::DescribeTopics { .. } => describe(Api::DescribeTopicPartitions),
        AdminRequest::ListOffsets { .. } => describe(Api::ListOffsets),
        AdminRequest::DescribeGroup { .. } => describe(Api::DescribeGroups),
        AdminRequest::ListCommitted { .. } => describe(Api::OffsetFetch),
        AdminRequest::DescribeQuorum => describe(Api::DescribeQuorum),
        AdminRequest::DescribeCluster => Asked::Describe { api: "DescribeCluster".into() },
        // The administrator starts its client anew; the cluster is asked nothing.
        AdminRequest::Renew | AdminRequest::Connect => return None,
    }))
}

/// What a refusal of Kafka's says; success says nothing, because what was done has its own entry.
pub(super) fn answered(at: &Reader<'_>, id: ActionId, error: ErrorCode, message: Option<&str>) -> Option<Fact> {
    if error.is_none() {
        return None;
    }
    let action = at.seen.reel().action(id)?;
    let reason = Reason::Kafka {
        error: error.name().into(),
        exception: error.exception().into(),
        message: message.map(|said| said.to_string().into()),
    };
    Some(Fact::ActionRefused { action: action_term(action), reason })
}

/// The action by its verb in a script, and what it is about.
fn action_term(action: &Action) -> Term {
    let about = match action {
        Action::Admin(AdminRequest::CreateTopic(topic)) => topic.name.to_string(),
        Action::Admin(AdminRequest::DeleteTopic { name } | AdminRequest::CreatePartitions { name, .. }) => {
            name.to_string()
        }
        Action::Admin(
            AdminRequest::DeleteRecords { topic, partition, .. } | AdminRequest::ElectLeaders { topic, partition, .. },
        ) => format!("{topic}-{partition}"),
        Action::Admin(AdminRequest::AlterConfigs { configs, .. }) => {
            configs.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        }
        _named_by_its_node => String::new(),
    };
    if about.is_empty() { action.verb().into() } else { format!("{} {about}", action.verb()).into() }
}

/// Why the world did not do it.
pub fn reason(seen: Seen<'_>, refusal: &Refusal) -> Reason {
    match refusal {
        Refusal::NoSuchNode(node) => Reason::NoSuchNode { node: seen.node(*node) },
        Refusal::NoSuchClient(name) => Reason::NoSuchClient { name: name.to_string() },
        Refusal::NotStarted(name) => Reason::NotStarted { name: name.to_string() },
        Refusal::NameTaken(name) => Reason::NameTaken { name: name.to_string() },
        Refusal::NoSuchRole(role) => Reason::NoSuchRole { role: role.to_string().into() },
        Refusal::WrongState { node, needed } => {
            let needed = match needed {
                EngineNeeded::Running => Needed::Running,
                EngineNeeded::NotRunning => Needed::NotRunning,
                EngineNeeded::RunningAndNotPaused => Needed::RunningAndNotPaused,
                EngineNeeded::Paused => Needed::Paused,
                EngineNeeded::Producer => Needed::Producer,
            };
            Reason::WrongState { node: seen.node(*node), needed }
        }
        Refusal::HoldTaken(name) => Reason::HoldTaken { name: name.to_string() },
        Refusal::NothingHeld(name) => Reason::NothingHeld { name: name.to_string() },
        Refusal::Limit { what, most } => Reason::Limit { what: (*what).into(), most: *most },
        Refusal::ClientConfig { exception, key, value, expected } => Reason::Config {
            exception: (*exception).into(),
            key: key.clone().into(),
            value: value.clone().into(),
            expected: expected.clone().into(),
        },
        Refusal::NodeConfig { key, value, expected } => Reason::Config {
            exception: "ConfigException".into(),
            key: key.clone().into(),
            value: value.clone().into(),
            expected: expected.clone().into(),
        },
        Refusal::Setup { what } => Reason::SetUp { what: what.clone().into() },
    }
}

/// Whose config it is.
pub(super) fn config_target(target: &EngineTarget) -> ConfigTarget {
    match target {
        EngineTarget::Topic(name) => ConfigTarget::Topic(name.to_string()),
        EngineTarget::Broker(id) => ConfigTarget::Broker(id.0),
        EngineTarget::Cluster => ConfigTarget::Cluster,
    }
}

fn pairs(config: &ConfigMap) -> impl Iterator<Item = (Term, Term)> {
    config.iter().map(|(key, value)| (key.to_string().into(), value.to_string().into()))
}

fn changed_config(target: ConfigTarget, mut pairs: impl Iterator<Item = (Term, Term)>) -> Option<Fact> {
    let (key, value) = pairs.next()?;
    Some(Fact::ConfigChanged { target, key, value })
}

fn rate(client: &str, per_second: u32) -> Fact {
    Fact::ConfigChanged {
        target: ConfigTarget::Client(client.into()),
        key: "rate".into(),
        value: format!("{per_second}/s").into(),
    }
}

/// The fact that a verb of a user would leave, for the name of the branch that it opened.
pub fn of_verb(seen: Seen<'_>, verb: &Verb) -> Option<Fact> {
    let node_ref = |node: &Node| match node {
        Node::Broker(id) => Some(NodeRef::Broker(*id)),
        Node::Controller(id) => Some(NodeRef::Controller(*id)),
        Node::Client(name) => Some(seen.named(name)),
        Node::ActiveController | Node::LeaderOf(_) | Node::CoordinatorOf(_) => None,
    };
    let node = |nodes: &[Node]| nodes.first().and_then(node_ref);
    let all = |nodes: &[Node]| nodes.iter().filter_map(node_ref).collect::<Vec<NodeRef>>();
    let partition = |partition: &crate::scenario::Partition| PartitionRef {
        topic: partition.topic.clone(),
        partition: partition.partition,
    };
    let config = |config: &Config| -> Vec<(Term, Term)> {
        config.iter().map(|(key, value)| (key.clone().into(), value.clone().into())).collect()
    };
    Some(match verb {
        Verb::Kill(nodes) => Fact::Killed { node: node(nodes)? },
        Verb::Stop(nodes) => Fact::StopRequested { node: node(nodes)? },
        Verb::Start(nodes) => Fact::Started { node: node(nodes)? },
        Verb::Restart(nodes) => Fact::Asked(Asked::Restart { node: node(nodes)? }),
        Verb::Pause(nodes) => Fact::Paused { node: node(nodes)? },
        Verb::Resume(nodes) => Fact::Resumed { node: node(nodes)? },
        Verb::LoseDisk(nodes) => Fact::DiskLost { node: node(nodes)? },
        Verb::Cut(sides) => Fact::Cut { a: all(&sides.from), b: all(&sides.to), one_way: !sides.both },
        Verb::Heal(Some(sides)) => Fact::Healed { a: all(&sides.from), b: all(&sides.to) },
        Verb::Heal(None) => Fact::Healed { a: Vec::new(), b: Vec::new() },
        Verb::Link(link) => Fact::LinkChanged {
            a: node(&link.between)?,
            b: node(&link.and)?,
            latency_us: link.change.latency.unwrap_or_default().0,
            loss_permille: link.change.loss_per_million.unwrap_or(0) / 1_000,
        },
        Verb::SetConfig { target, config: changed } => {
            let target = match target {
                Target::Topic(topic) => ConfigTarget::Topic(topic.clone()),
                Target::Broker(id) => ConfigTarget::Broker(*id),
                Target::Cluster => ConfigTarget::Cluster,
            };
            changed_config(target, config(changed).into_iter())?
        }
        Verb::SetClient { name, rate: per_second, config: changed } => {
            let target = ConfigTarget::Client(name.clone());
            changed_config(target, config(changed).into_iter())
                .or_else(|| per_second.map(|per_second| rate(name, per_second)))?
        }
        Verb::StartClient { name, .. } => Fact::ClientStarted { client: seen.named(name) },
        Verb::Join(join) => Fact::ClientStarted { client: NodeRef::Member(join.member.clone()) },
        Verb::Leave(name) | Verb::StopClient(name) => Fact::ClientClosed { client: seen.named(name) },
        Verb::KillClient(name) => Fact::Killed { node: seen.named(name) },
        Verb::ElectLeaders { partition: of, unclean } => {
            Fact::Asked(Asked::ElectLeader { partition: partition(of), unclean: *unclean })
        }
        Verb::CreateTopic { name, .. } => Fact::Asked(Asked::CreateTopic { topic: name.clone() }),
        Verb::AddPartitions { topic, to } => Fact::Asked(Asked::AddPartitions { topic: topic.clone(), total: *to }),
        Verb::DeleteTopic(topic) => Fact::Asked(Asked::DeleteTopic { topic: topic.clone() }),
        Verb::DeleteRecords { partition: of, before } => {
            Fact::Asked(Asked::DeleteRecords { partition: partition(of), before: Some(*before) })
        }
        Verb::Produce(produce) => Fact::Asked(Asked::Produce {
            client: seen.named(&produce.client),
            topic: produce.topic.clone(),
            count: u64::from(produce.count),
        }),
        Verb::PauseClient { member, span } => {
            Fact::Asked(Asked::PausePolling { member: seen.named(member), span_us: span.0 })
        }
        Verb::Seek { member, to } => {
            let (of, offset) = to.first()?;
            Fact::Asked(Asked::Seek { member: seen.named(member), partition: partition(of), to: *offset })
        }
        Verb::Commit(member) => Fact::Asked(Asked::Commit { member: seen.named(member) }),
        Verb::Message { which, deed } => Fact::MessageActed {
            deed: deed_done(deed),
            message: message_term(which.api, which.response),
            from: which.from.as_ref().and_then(node_ref),
            to: which.to.as_ref().and_then(node_ref),
        },
        Verb::Release(name) => Fact::MessageReleased { name: name.clone() },
    })
}

fn deed_done(deed: &Deed) -> MessageDeed {
    match deed {
        Deed::Drop => MessageDeed::Dropped,
        Deed::Hold { .. } => MessageDeed::Held,
        Deed::Delay { by } => MessageDeed::Delayed { by_us: by.0 },
        Deed::Duplicate => MessageDeed::Duplicated,
        Deed::Deliver => MessageDeed::Delivered,
    }
}

/// Kafka's name of a message.
pub fn message_term(api: Api, response: bool) -> Term {
    format!("{}{}", api.name(), if response { "Response" } else { "Request" }).into()
}
