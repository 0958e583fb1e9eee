//! What an author should know about a scenario that is right as it stands: defaults that were taken, settings without
//! effect, clusters that cannot serve a group. Refuses nothing.
use highwater_engine::base::Set;
use std::fmt;

use highwater_engine::protocol::config::{self, Scope};

use super::configs::places;
use super::model::*;

/// One remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A topic says nothing of a number, so the broker's setting decides.
    DefaultTaken { topic: String, setting: &'static str, value: u32 },
    /// Kafka has this setting; here it has no effect. Named at the first place that gives it.
    NotModelled { path: String, name: &'static str },
    /// Brokers that it needs are started after its moment, so Kafka refuses it unless the script starts them before.
    TopicRefused { topic: String, sentence: String },
    /// The offsets topic asks for more replicas than there are brokers, so no group ever finds its coordinator.
    NoOffsetsTopic { wants: u32, brokers: u32 },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::DefaultTaken { topic, setting, value } => {
                write!(f, "topics/{topic}: {setting} decides: {value}")
            }
            Note::NotModelled { path, name } => {
                write!(f, "{path}: {name} is a setting of Kafka that has no effect in this simulation")
            }
            Note::TopicRefused { topic, sentence } => write!(f, "topics/{topic}: Kafka will refuse it: {sentence}"),
            Note::NoOffsetsTopic { wants, brokers } => {
                let noun = if *brokers == 1 { "broker" } else { "brokers" };
                write!(
                    f,
                    "the offsets topic wants {wants} replicas (offsets.topic.replication.factor), and there \
                     {} {brokers} {noun}: no group finds its coordinator, and consumers read nothing",
                    if *brokers == 1 { "is" } else { "are" }
                )
            }
        }
    }
}

/// All remarks, in the order of the file.
pub fn notes(s: &Scenario) -> Vec<Note> {
    let mut notes: Vec<Note> = no_offsets_topic(s).into_iter().collect();
    for (topic, t) in &s.topics {
        if let Some((_, sentence)) = refusal(s, t) {
            notes.push(Note::TopicRefused { topic: topic.clone(), sentence });
        }
        let Placement::Counts { partitions, replication } = t.placement else { continue };
        for (given, setting) in [(partitions, "num.partitions"), (replication, "default.replication.factor")] {
            if given.is_none() {
                notes.push(Note::DefaultTaken { topic: topic.clone(), setting, value: node_number(s, setting) });
            }
        }
    }
    let mut said = Set::new();
    for place in places(s) {
        for name in place.configs.keys() {
            let Some(setting) = config::setting(place.scope, name).filter(|setting| !setting.modelled) else {
                continue;
            };
            if said.insert((place.scope, setting.name)) {
                let path = format!("{}/{name}", place.path.join("/"));
                notes.push(Note::NotModelled { path, name: setting.name });
            }
        }
    }
    notes
}

/// A number of the nodes' configuration, given or by default.
pub fn node_number(s: &Scenario, name: &str) -> u32 {
    let default = config::setting(Scope::Node, name).map_or("", |setting| setting.default);
    s.cluster.config.get(name).map_or(default, |text| text.trim()).parse().unwrap_or(0)
}

/// Why Kafka refuses to make a topic at its moment, with the keys below the topic that say so: the brokers that have
/// been started by then are all that can be registered.
pub fn refusal(s: &Scenario, topic: &Topic) -> Option<(Vec<String>, String)> {
    let started = |id: &u32| s.cluster.brokers.get(id).is_some_and(|broker| broker.start <= topic.created);
    match &topic.placement {
        Placement::Counts { replication, .. } => {
            let factor = replication.unwrap_or_else(|| node_number(s, "default.replication.factor"));
            let registered = s.cluster.brokers.keys().filter(|id| started(id)).count();
            let keys = replication.map(|_| "replication".to_string()).into_iter().collect();
            let sentence = format!(
                "Unable to replicate the partition {factor} time(s): The target replication factor of {factor} cannot \
                 be reached because only {registered} broker(s) are registered."
            );
            (factor as usize > registered).then_some((keys, sentence))
        }
        Placement::Replicas(replicas) => replicas.iter().find_map(|(number, list)| {
            let late = list.iter().find(|id| !started(id))?;
            let sentence =
                format!("The manual partition assignment includes broker {late}, but no such broker is registered.");
            Some((vec!["replicas".into(), number.to_string()], sentence))
        }),
    }
}

fn no_offsets_topic(s: &Scenario) -> Option<Note> {
    let wants = node_number(s, "offsets.topic.replication.factor");
    let brokers = s.cluster.brokers.len() as u32;
    let internal = highwater_engine::protocol::CONSUMER_OFFSETS;
    let made_otherwise = s.topics.iter().any(|(name, _)| name == internal)
        || s.script
            .iter()
            .flat_map(|entry| &entry.actions)
            .any(|verb| matches!(verb, Verb::CreateTopic { name, .. } if name == internal));
    (!s.groups.is_empty() && wants > brokers && !made_otherwise).then_some(Note::NoOffsetsTopic { wants, brokers })
}
