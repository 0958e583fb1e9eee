//! Turns steps of a recording into the engine's actions. Does none of them.

use std::collections::BTreeMap;

use highwater_engine::base::{BrokerId, Dur};
use highwater_engine::client::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::{ConfigMap, ConfigTarget, CreateTopicRequest, Placement};
use highwater_engine::world::Action;

use super::entries::{Layout, OldClient, Produced, Verb};
use super::queries::Condition;

/// The recorder's patience with `create-topic` when it gave numbers.
const CREATE_TIMEOUT: Dur = Dur::secs(15);
/// `default.api.timeout.ms` of the recorder's admin client.
const API_TIMEOUT: Dur = Dur::secs(20);
/// How often the recorded members called `commitAsync`.
const COMMIT: Dur = Dur::secs(1);

/// Kafka configs as the engine has them.
pub fn config_map(config: &BTreeMap<String, String>) -> ConfigMap {
    config.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into())).collect()
}

/// The topics that a `when` asks about; none if it asks for the cluster. A lone `partitions` is about the topic named
/// last.
pub fn topics_of(conditions: &[Condition], last_named: &str) -> Vec<String> {
    let mut topics: Vec<String> = Vec::new();
    for condition in conditions {
        match condition {
            Condition::Partition { topic, .. } if !topics.contains(topic) => topics.push(topic.clone()),
            Condition::Partition { .. } | Condition::Partitions(_) | Condition::Brokers(_) => {}
        }
    }
    if topics.is_empty() && conditions.iter().any(|c| matches!(c, Condition::Partitions(_))) {
        topics.push(last_named.to_string());
    }
    topics
}

/// The topic that a verb is about.
pub fn topic_named(verb: &Verb) -> Option<&str> {
    match verb {
        Verb::CreateTopic { name: topic, .. }
        | Verb::AddPartitions { topic, .. }
        | Verb::DeleteTopic(topic)
        | Verb::DeleteRecords { topic, .. }
        | Verb::SetConfig { topic, .. }
        | Verb::Reassign { topic, .. }
        | Verb::ElectLeaders { topic, .. }
        | Verb::Produce { topic, .. } => Some(topic),
        Verb::Join { topics, .. } => topics.first().map(String::as_str),
        Verb::Kill(_)
        | Verb::Stop(_)
        | Verb::Start(_)
        | Verb::Pause(_)
        | Verb::Resume(_)
        | Verb::LoseDisk(_)
        | Verb::Cut { .. }
        | Verb::Heal
        | Verb::StartClient { .. }
        | Verb::Leave(_)
        | Verb::PauseClient { .. }
        | Verb::Transaction { .. } => None,
    }
}

/// The request of an administrator's verb.
///
/// # Errors
/// A verb that no administrator's request stands for.
pub fn admin_request(verb: &Verb) -> Result<AdminRequest, String> {
    Ok(match verb {
        Verb::CreateTopic { name, layout, config } => {
            let (placement, timeout) = match layout {
                Layout::Counts { partitions, replication } => (
                    Placement::Counts { partitions: Some(*partitions), replication_factor: Some(*replication) },
                    CREATE_TIMEOUT,
                ),
                Layout::Manual(replicas) => (Placement::Manual(replicas.clone()), API_TIMEOUT),
            };
            AdminRequest::CreateTopic(CreateTopicRequest {
                name: name.as_str().into(),
                placement,
                configs: config_map(config),
                timeout,
            })
        }
        Verb::AddPartitions { topic, to } => {
            AdminRequest::CreatePartitions { name: topic.as_str().into(), total: *to as u32 }
        }
        Verb::DeleteTopic(topic) => AdminRequest::DeleteTopic { name: topic.as_str().into() },
        Verb::DeleteRecords { topic, partition, before } => {
            AdminRequest::DeleteRecords { topic: topic.as_str().into(), partition: *partition, before: *before }
        }
        Verb::SetConfig { topic, config } => AdminRequest::AlterConfigs {
            resource: ConfigTarget::Topic(topic.as_str().into()),
            configs: config_map(config),
        },
        Verb::ElectLeaders { topic, partition, unclean } => {
            AdminRequest::ElectLeaders { topic: topic.as_str().into(), partition: *partition, unclean: *unclean }
        }
        Verb::Kill(_)
        | Verb::Stop(_)
        | Verb::Start(_)
        | Verb::Pause(_)
        | Verb::Resume(_)
        | Verb::LoseDisk(_)
        | Verb::Cut { .. }
        | Verb::Heal
        | Verb::Reassign { .. }
        | Verb::StartClient { .. }
        | Verb::Produce { .. }
        | Verb::Join { .. }
        | Verb::Leave(_)
        | Verb::PauseClient { .. }
        | Verb::Transaction { .. } => return Err("no request of an administrator".into()),
    })
}

/// A producer with the given configs; all brokers are its bootstrap servers unless some are named.
pub fn start_producer(client: &str, config: &BTreeMap<String, String>, bootstrap: &[BrokerId]) -> Action {
    let mut config = config_map(config);
    if !bootstrap.is_empty() {
        let names: Vec<String> = bootstrap.iter().map(|id| format!("broker/{id}")).collect();
        config.insert("bootstrap.servers".into(), names.join(",").as_str().into());
    }
    let spec = ProducerSpec {
        version: ClientVersion::default(),
        config,
        topic: None,
        partition: None,
        rate: 0,
        keys: Keys::None,
        value_size: 0,
    };
    Action::StartProducer { name: client.into(), spec }
}

/// A member as the recorder's program had it; an old client's program turned auto-commit off and began at the earliest
/// offset.
///
/// # Errors
/// A client version that is not modelled.
pub fn join(
    member: &str,
    group: &str,
    topics: &[String],
    config: &BTreeMap<String, String>,
    old: Option<&OldClient>,
) -> Result<Action, String> {
    let mut configs = ConfigMap::default();
    let (version, poll) = match old {
        Some(old) => {
            configs.insert("enable.auto.commit".into(), "false".into());
            configs.insert("auto.offset.reset".into(), "earliest".into());
            let version = ClientVersion::parse(&old.version)
                .ok_or_else(|| format!("clients of version {} are not modelled", old.version))?;
            (version, if old.long { PollForm::Long } else { PollForm::Duration })
        }
        None => (ClientVersion::default(), PollForm::Duration),
    };
    configs.extend(config_map(config));
    let spec = ConsumerSpec {
        version,
        poll,
        group: group.into(),
        topics: topics.iter().map(|t| t.as_str().into()).collect(),
        config: configs,
        // Each poll waited up to 200 ms, and the next began at once.
        poll_every: Dur::ZERO,
        commit_every: Some(COMMIT),
    };
    Ok(Action::Join { name: member.into(), spec })
}

pub fn produce(client: &str, topic: &str, partition: Option<u32>, what: &Produced, round: Dur) -> Action {
    let (key, values, count, every) = match what {
        Produced::Numbered { value, count, every } => {
            let every = if *every == Dur::ZERO { *every } else { *every + round };
            (None, Values::Numbered(value.as_str().into()), *count, every)
        }
        Produced::Keyed { key, value } => {
            (Some(key.as_str().into()), Values::Exactly(value.as_str().into()), 1, Dur::ZERO)
        }
    };
    Action::Produce { client: client.into(), topic: topic.into(), partition, key, values, count, every }
}
