//! From what a user clicks to the verbs of a scenario, and to changed scenarios. It does none of it.

use highwater_engine::base::NodeId;
use highwater_engine::base::limits::{MAX_BROKERS, MAX_CONTROLLERS};
use highwater_engine::client::Keys;
use highwater_engine::protocol::config::{self as table, Scope};
use highwater_engine::world::LinkSetup;

use super::command::{Refused, Thing};
use crate::scenario::{
    Broker, Config, Group, Join, LinkChange, LinkEntry, Node, Nodes, Placement, Scenario, Sides, Target, Verb, check,
};
use crate::story::Seen;
use crate::view::model::{ConfigOf, Cure, KeyPattern, MemberNow, NodeAction, NodeRef, Scene, SettingKey, SettingValue};

/// Latency of a link that was made slow.
const SLOW_US: u64 = 50_000;
/// Loss of a link that was made lossy, per million.
const LOSSY: u32 = 100_000;

/// What a setting asks for.
pub enum Change {
    /// Verbs to do at the playhead, in order.
    Live(Vec<Verb>),
    /// A run of its own.
    NewRun(Box<Scenario>),
}

/// The name of a node in a scenario. The administrator has none.
pub fn name(node: &NodeRef) -> Option<Node> {
    match node {
        NodeRef::Controller(id) => Some(Node::Controller(*id)),
        NodeRef::Broker(id) => Some(Node::Broker(*id)),
        NodeRef::Producer(name) | NodeRef::Member(name) => Some(Node::Client(name.clone())),
        NodeRef::Admin => None,
    }
}

/// Names of nodes.
pub fn names(nodes: &[NodeRef]) -> Nodes {
    nodes.iter().filter_map(name).collect()
}

/// The other nodes of the run that pass a test.
fn others(seen: Seen<'_>, node: &NodeRef, fits: impl Fn(NodeId) -> bool) -> Nodes {
    let running = |id: NodeId| {
        !matches!(id, NodeId::Client(_)) || seen.machine(id).is_some_and(|machine| machine.process.is_some())
    };
    seen.world()
        .machines()
        .map(|(id, _)| id)
        .filter(|id| fits(*id) && running(*id))
        .map(|id| seen.node(id))
        .filter(|other| other != node)
        .filter_map(|other| name(&other))
        .collect()
}

/// The verb of an entry of a node's menu.
pub fn of_menu(seen: Seen<'_>, node: &NodeRef, action: NodeAction) -> Option<Verb> {
    let me = name(node)?;
    let client = match node {
        NodeRef::Producer(name) | NodeRef::Member(name) => Some(name.clone()),
        NodeRef::Controller(_) | NodeRef::Broker(_) | NodeRef::Admin => None,
    };
    let cut = |to: Nodes| (!to.is_empty()).then(|| Verb::Cut(Sides { from: vec![me.clone()], to, both: true }));
    let link = |change: LinkChange| {
        Some(Verb::Link(LinkEntry { between: vec![me.clone()], and: others(seen, node, |_| true), change }))
    };
    match action {
        NodeAction::Kill => Some(client.map_or_else(|| Verb::Kill(vec![me.clone()]), Verb::KillClient)),
        NodeAction::Stop => Some(client.map_or_else(|| Verb::Stop(vec![me.clone()]), Verb::StopClient)),
        NodeAction::Restart => Some(Verb::Restart(vec![me])),
        NodeAction::Start | NodeAction::Pause | NodeAction::Resume if client.is_some() => None,
        NodeAction::Start => Some(Verb::Start(vec![me])),
        NodeAction::Pause => Some(Verb::Pause(vec![me])),
        NodeAction::Resume => Some(Verb::Resume(vec![me])),
        NodeAction::CutFromBrokers => cut(others(seen, node, |id| matches!(id, NodeId::Broker(_)))),
        NodeAction::CutFromControllers => cut(others(seen, node, |id| matches!(id, NodeId::Controller(_)))),
        NodeAction::CutFromClients => cut(others(seen, node, |id| matches!(id, NodeId::Client(_)))),
        NodeAction::CutFromAll => cut(others(seen, node, |_| true)),
        NodeAction::Heal => {
            let id = seen.node_id(node)?;
            let cuts: Vec<(NodeId, NodeId)> =
                seen.world().network().cuts().filter(|(a, b)| *a == id || *b == id).collect();
            let mut to = Vec::new();
            for other in cuts.into_iter().map(|(a, b)| if a == id { b } else { a }) {
                let other = name(&seen.node(other))?;
                if !to.contains(&other) {
                    to.push(other);
                }
            }
            (!to.is_empty()).then(|| Verb::Heal(Some(Sides { from: vec![me], to, both: true })))
        }
        NodeAction::SlowLink => {
            link(LinkChange { latency: Some(highwater_engine::base::Dur(SLOW_US)), ..LinkChange::default() })
        }
        NodeAction::LossyLink => link(LinkChange { loss_per_million: Some(LOSSY), ..LinkChange::default() }),
        NodeAction::RestoreLink => {
            let LinkSetup { latency, jitter, loss_per_million } = seen.world().network().default_setup();
            link(LinkChange { latency: Some(latency), jitter: Some(jitter), loss_per_million: Some(loss_per_million) })
        }
    }
}

fn config(pairs: &[(&str, &str)]) -> Config {
    pairs.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect()
}

/// What a setting asks for, live where Kafka can do it in a running cluster.
pub fn of_setting(seen: Seen<'_>, scene: &Scene, key: &SettingKey, value: &SettingValue) -> Result<Change, Refused> {
    let live = |verb| Ok(Change::Live(vec![verb]));
    match (key, value) {
        (SettingKey::Config { of, name }, value) => {
            let value = config_text(value).ok_or(Refused::Unknown(Thing::Setting))?;
            match of {
                ConfigOf::Topic(topic) => topic_config(seen, topic, name, &value),
                ConfigOf::Producer(producer) => {
                    producer_config(scene, seen, producer, config(&with_companion(name, &value)))
                }
                ConfigOf::Nodes if table::setting(Scope::Node, name).is_some_and(|s| s.is_live(Scope::Node)) => {
                    live(Verb::SetConfig { target: Target::Cluster, config: config(&[(name, &value)]) })
                }
                ConfigOf::Nodes => changed(seen, |s| set(&mut s.cluster.config, name, value)),
            }
        }
        (SettingKey::Rate { producer }, SettingValue::PerSecond(rate)) => {
            if is_running(scene, producer) {
                return live(Verb::SetClient { name: producer.clone(), rate: Some(*rate), config: Config::new() });
            }
            changed(seen, |s| find(&mut s.producers, producer).map(|p| p.rate = *rate))
        }
        (SettingKey::Members { group }, SettingValue::Number(n)) => members(scene, seen, group, *n),
        (SettingKey::Keys { producer }, SettingValue::Keys(keys)) => changed(seen, |s| {
            let keys = match keys {
                KeyPattern::None => Keys::None,
                KeyPattern::Hot => Keys::Hot,
                KeyPattern::Even => Keys::Even,
            };
            find(&mut s.producers, producer).map(|p| p.keys = keys)
        }),
        (SettingKey::Partitions { topic }, SettingValue::Number(n)) => changed(seen, |s| {
            let topic = find(&mut s.topics, topic)?;
            let replication = replication(&topic.placement);
            topic.placement = Placement::Counts { partitions: Some(*n), replication };
            Some(())
        }),
        (SettingKey::ReplicationFactor { topic }, SettingValue::Number(n)) => changed(seen, |s| {
            let topic = find(&mut s.topics, topic)?;
            let partitions = topic.placement.partitions();
            topic.placement = Placement::Counts { partitions, replication: Some(*n) };
            Some(())
        }),
        (SettingKey::ClientVersion { group }, SettingValue::Term(version)) => {
            changed(seen, |s| client_version(find(&mut s.groups, group)?, version))
        }
        (SettingKey::Brokers, SettingValue::Number(n)) if (1..=MAX_BROKERS as u32).contains(n) => {
            changed(seen, |s| brokers(s, *n as usize))
        }
        (SettingKey::Controllers, SettingValue::Number(n)) if (1..=MAX_CONTROLLERS as u32).contains(n) => {
            changed(seen, |s| {
                s.cluster.controllers = *n;
                Some(())
            })
        }
        _wrong_type => Err(Refused::Unknown(Thing::Setting)),
    }
}

/// A config's value as Kafka writes it.
fn config_text(value: &SettingValue) -> Option<String> {
    match value {
        SettingValue::Number(number) => Some(number.to_string()),
        SettingValue::Bool(on) => Some(on.to_string()),
        SettingValue::Term(text) => Some(text.to_string()),
        SettingValue::PerSecond(_) | SettingValue::Keys(_) => None,
    }
}

/// The Java constructor refuses idempotence that was asked for with any other acks than all, so each brings the other.
fn with_companion<'a>(name: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    match (name, value) {
        ("acks", "all") => vec![("acks", "all")],
        ("acks", _fewer) => vec![(name, value), ("enable.idempotence", "false")],
        ("enable.idempotence", "true") => vec![("acks", "all"), (name, value)],
        (_, _) => vec![(name, value)],
    }
}

fn of_node(node: &NodeRef, verb: fn(Nodes) -> Verb) -> Result<Change, Refused> {
    name(node).map(|me| Change::Live(vec![verb(vec![me])])).ok_or(Refused::Unknown(Thing::Node))
}

/// What a cure asks for.
pub fn of_cure(seen: Seen<'_>, cure: &Cure) -> Result<Change, Refused> {
    match cure {
        Cure::OffsetsReplicationFactor { to } => {
            changed(seen, |s| set(&mut s.cluster.config, "offsets.topic.replication.factor", to.to_string()))
        }
        Cure::Acks { producer, to } => {
            changed(seen, |s| set(&mut find(&mut s.producers, producer)?.config, "acks", to.to_string()))
        }
        Cure::MinInsyncReplicas { topic, to } => {
            changed(seen, |s| set(&mut find(&mut s.topics, topic)?.config, "min.insync.replicas", to.to_string()))
        }
        Cure::ReplicationFactor { topic, to } => changed(seen, |s| {
            let topic = find(&mut s.topics, topic)?;
            let partitions = topic.placement.partitions();
            topic.placement = Placement::Counts { partitions, replication: Some(*to) };
            Some(())
        }),
        Cure::UncleanElectionOff { topic } => changed(seen, |s| {
            s.cluster.config.remove("unclean.leader.election.enable");
            find(&mut s.topics, topic)
                .map(|topic| drop(topic.config.insert("unclean.leader.election.enable".into(), "false".into())))
        }),
        Cure::Idempotence { producer } => changed(seen, |s| {
            let configs = &mut find(&mut s.producers, producer)?.config;
            configs.insert("enable.idempotence".into(), "true".into());
            configs.insert("acks".into(), "all".into());
            Some(())
        }),
        Cure::Start { node } => of_node(node, Verb::Start),
        Cure::Resume { node } => of_node(node, Verb::Resume),
        Cure::Heal { node } => of_menu(seen, node, NodeAction::Heal)
            .map(|verb| Change::Live(vec![verb]))
            .ok_or(Refused::Unknown(Thing::Node)),
        Cure::ClientVersion { group, to } => changed(seen, |s| client_version(find(&mut s.groups, group)?, to)),
    }
}

fn find<'a, T>(items: &'a mut [(String, T)], name: &str) -> Option<&'a mut T> {
    items.iter_mut().find(|(known, _)| known == name).map(|(_, item)| item)
}

fn set(config: &mut Config, key: &str, value: String) -> Option<()> {
    config.insert(key.into(), value);
    Some(())
}

fn replication(placement: &Placement) -> Option<u32> {
    match placement {
        Placement::Counts { replication, .. } => *replication,
        Placement::Replicas(replicas) => replicas.values().next().map(|list| list.len() as u32),
    }
}

/// A changed scenario, if it can be: what was opened, without what was done by hand, which is done again in the new
/// run.
fn changed(seen: Seen<'_>, change: impl FnOnce(&mut Scenario) -> Option<()>) -> Result<Change, Refused> {
    let mut scenario = seen.recording.file().clone();
    change(&mut scenario).ok_or(Refused::Unknown(Thing::Setting))?;
    // The reader's own checks say whether the parts still fit together.
    match check(&crate::recording::done(&scenario, &seen.branch().hand)) {
        Ok(()) => Ok(Change::NewRun(Box::new(scenario))),
        Err(error) => Err(Refused::Limit { what: error.path.into(), bound: error.limit.unwrap_or(0) }),
    }
}

fn topic_config(seen: Seen<'_>, topic: &str, key: &str, value: &str) -> Result<Change, Refused> {
    let exists = seen.image().is_some_and(|image| image.topic_id(topic).is_some());
    if exists {
        return Ok(Change::Live(vec![Verb::SetConfig {
            target: Target::Topic(topic.into()),
            config: config(&[(key, value)]),
        }]));
    }
    changed(seen, |s| find(&mut s.topics, topic).map(|topic| drop(topic.config.insert(key.into(), value.into()))))
}

fn is_running(scene: &Scene, producer: &str) -> bool {
    use crate::view::model::ProducerNow;
    scene
        .producers
        .iter()
        .any(|view| view.name == producer && !matches!(view.now, ProducerNow::NotStarted | ProducerNow::Closed))
}

fn producer_config(scene: &Scene, seen: Seen<'_>, producer: &str, config: Config) -> Result<Change, Refused> {
    if is_running(scene, producer) {
        return Ok(Change::Live(vec![Verb::SetClient { name: producer.into(), rate: None, config }]));
    }
    changed(seen, |s| find(&mut s.producers, producer).map(|p| p.config.extend(config)))
}

fn client_version(group: &mut Group, version: &str) -> Option<()> {
    group.client = version.into();
    for (_, member) in &mut group.members {
        member.client = None;
    }
    // `poll(long)` was removed in 4.0.
    if highwater_engine::client::ClientVersion::parse(version)? > highwater_engine::client::ClientVersion::V3_9 {
        group.poll = Default::default();
        for (_, member) in &mut group.members {
            member.poll = None;
        }
    }
    Some(())
}

fn brokers(scenario: &mut Scenario, n: usize) -> Option<()> {
    let brokers = &mut scenario.cluster.brokers;
    while brokers.len() > n {
        brokers.pop_last();
    }
    while brokers.len() < n {
        let (last, like) = brokers.last_key_value().map(|(id, broker)| (*id, broker.clone())).unwrap_or_default();
        brokers.insert(last + 1, Broker { rack: None, start: like.start });
    }
    // Topics that asked for more replicas than there are brokers now get as many as there can be.
    let most = brokers.len() as u32;
    for (_, topic) in &mut scenario.topics {
        if let Placement::Counts { replication: Some(factor), .. } = &mut topic.placement {
            *factor = (*factor).min(most);
        }
    }
    Some(())
}

fn members(scene: &Scene, seen: Seen<'_>, group: &str, n: u32) -> Result<Change, Refused> {
    let view = scene.groups.iter().find(|view| view.name == group).ok_or(Refused::Unknown(Thing::Group))?;
    let alive: Vec<&str> = view
        .members
        .iter()
        .filter(|member| !matches!(member.now, MemberNow::Closed))
        .map(|member| member.name.as_str())
        .collect();
    if view.members.iter().any(|member| member.now == MemberNow::NotStarted) {
        // Before its members were started the plan is changed, not the group.
        return changed(seen, |s| {
            let group = find(&mut s.groups, group)?;
            while group.members.len() > n as usize {
                group.members.pop();
            }
            while group.members.len() < n as usize {
                let taken: Vec<&str> = group.members.iter().map(|(name, _)| name.as_str()).collect();
                let name = free_name(&view.name, &taken);
                let like = group.members.last().map(|(_, member)| member.clone()).unwrap_or_default();
                group.members.push((name, like));
            }
            Some(())
        });
    }
    let mut verbs = Vec::new();
    for name in alive.iter().skip(n as usize).rev() {
        verbs.push(Verb::Leave((*name).into()));
    }
    let mut taken: Vec<String> = scene
        .groups
        .iter()
        .flat_map(|view| &view.members)
        .map(|member| member.name.clone())
        .chain(scene.producers.iter().map(|p| p.name.clone()))
        .collect();
    for _ in alive.len()..n as usize {
        let known: Vec<&str> = taken.iter().map(String::as_str).collect();
        // A name whose client is gone is used again.
        let gone = view.members.iter().find(|member| {
            member.now == MemberNow::Closed
                && !verbs.iter().any(|verb| matches!(verb, Verb::Join(join) if join.member == member.name))
        });
        let member = gone.map_or_else(|| free_name(first_name(view), &known), |member| member.name.clone());
        taken.push(member.clone());
        verbs.push(Verb::Join(Join {
            member,
            group: group.into(),
            topics: None,
            client: None,
            poll: None,
            config: Config::new(),
        }));
    }
    Ok(Change::Live(verbs))
}

fn first_name(view: &crate::view::model::GroupView) -> &str {
    view.members.first().map_or(view.name.as_str(), |member| member.name.as_str())
}

/// The stem of a name with the first number that nobody has.
fn free_name(like: &str, taken: &[&str]) -> String {
    let stem = taken.first().copied().unwrap_or(like).trim_end_matches(|c: char| c.is_ascii_digit());
    let stem = if like.trim_end_matches(|c: char| c.is_ascii_digit()).is_empty() {
        stem
    } else {
        like.trim_end_matches(|c: char| c.is_ascii_digit())
    };
    (1..).map(|number: u32| format!("{stem}{number}")).find(|name| !taken.contains(&name.as_str())).unwrap_or_default()
}
