//! Everything that may be changed, with the value in force and the one it has by default. It changes nothing.

use highwater_engine::base::limits::{MAX_BROKERS, MAX_CONTROLLERS};
use highwater_engine::base::{Dur, NodeId};
use highwater_engine::client::ClientKind;
use highwater_engine::client::{ClientVersion, Keys};
use highwater_engine::world::machine::Role;

use super::model::*;
use crate::scenario::{Placement, Target, Verb, lower::timed};
use crate::story::Seen;

/// Rates that minus and plus lead through, in records a second.
pub const RATES: [u32; 10] = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500];
/// Partitions that minus and plus lead through.
pub const PARTITIONS: [u32; 8] = [1, 2, 3, 6, 9, 12, 24, 50];
/// Members of a group at most: as many as the page can name.
pub const MAX_MEMBERS: u32 = 12;
/// `default.api.timeout.ms` of an admin client.
const ADMIN_PATIENCE: Dur = Dur::secs(60);

fn numbers(value: u32, least: u32, most: u32) -> Choices {
    let step = |to: u32| SettingValue::Number(to);
    Choices::Steps { less: (value > least).then(|| step(value - 1)), more: (value < most).then(|| step(value + 1)) }
}

fn ladder(value: u32, steps: &[u32], make: fn(u32) -> SettingValue) -> Choices {
    Choices::Steps {
        less: steps.iter().rev().find(|step| **step < value).map(|step| make(*step)),
        more: steps.iter().find(|step| **step > value).map(|step| make(*step)),
    }
}

fn term(text: impl Into<Term>) -> SettingValue {
    SettingValue::Term(text.into())
}

/// Projects the panel.
pub fn settings(seen: Seen<'_>, scene: &Scene, previous: bool) -> Settings {
    let mut groups = Vec::new();
    for (name, _) in &seen.scenario().topics {
        groups.push(topic(seen, scene, name));
    }
    for producer in &scene.producers {
        groups.push(of_producer(seen, producer));
    }
    for group in &scene.groups {
        groups.push(of_group(group));
    }
    groups.push(offsets(seen));
    groups.push(cluster(seen));
    Settings { previous, groups }
}

/// What was last asked for of a topic's config, if that was a short while ago: a request that took longer has failed.
fn asked(seen: Seen<'_>, topic: &str, key: &str) -> Option<String> {
    let now = seen.now().since(seen.origin());
    let recent = |at: Dur| at <= now && now.0 - at.0 <= ADMIN_PATIENCE.0;
    let mut last = None;
    for (_, entry) in timed(&seen.scenario().script).filter(|(moment, _)| recent(moment.at)) {
        for verb in &entry.actions {
            if let Verb::SetConfig { target: Target::Topic(name), config } = verb
                && name == topic
            {
                last = config.get(key).cloned().or(last);
            }
        }
    }
    last
}

fn topic(seen: Seen<'_>, scene: &Scene, name: &str) -> SettingsGroup {
    let planned = seen.scenario().topics.iter().find(|(known, _)| known == name).map(|(_, topic)| topic);
    let view = scene.topics.iter().find(|topic| topic.name == name);
    let config = |key: &str| {
        let live = seen
            .image()
            .and_then(|image| image.topic_config(image.topic_id(name)?, key))
            .map(|value| value.to_string());
        live.or_else(|| planned.and_then(|topic| topic.config.get(key).cloned()))
            .or_else(|| seen.scenario().cluster.config.get(key).cloned())
    };
    let brokers = seen.scenario().cluster.brokers.len() as u32;
    let (partitions, replication) = match planned.map(|topic| &topic.placement) {
        Some(Placement::Counts { partitions, replication }) => (partitions.unwrap_or(1), replication.unwrap_or(1)),
        Some(Placement::Replicas(replicas)) => {
            (replicas.len() as u32, replicas.values().next().map_or(1, |list| list.len() as u32))
        }
        None => {
            (view.map_or(1, |topic| topic.partitions.len() as u32), view.map_or(1, |topic| topic.replication_factor))
        }
    };
    let partitions = view.map_or(partitions, |topic| topic.partitions.len() as u32);
    // What was asked for stands here at once, so that asking again goes on from it.
    let pending = |key: &str| asked(seen, name, key).filter(|value| config(key).as_ref() != Some(value));
    let (min_asked, unclean_asked) = (pending("min.insync.replicas"), pending("unclean.leader.election.enable"));
    let (min_pending, unclean_pending) = (min_asked.is_some(), unclean_asked.is_some());
    let min: u32 =
        min_asked.or_else(|| config("min.insync.replicas")).and_then(|value| value.parse().ok()).unwrap_or(1);
    let unclean =
        unclean_asked.or_else(|| config("unclean.leader.election.enable")).is_some_and(|value| value == "true");
    let topic = name.to_string();
    SettingsGroup {
        of: SettingsOf::Topic(topic.clone()),
        settings: vec![
            Setting {
                key: SettingKey::MinInsyncReplicas { topic: topic.clone() },
                live: true,
                pending: min_pending,
                value: SettingValue::Number(min),
                default: SettingValue::Number(1),
                choices: numbers(min, 1, brokers.max(min)),
            },
            Setting {
                key: SettingKey::UncleanElection { topic: topic.clone() },
                live: true,
                pending: unclean_pending,
                value: SettingValue::Bool(unclean),
                default: SettingValue::Bool(false),
                choices: Choices::Toggle,
            },
            Setting {
                key: SettingKey::ReplicationFactor { topic: topic.clone() },
                live: false,
                pending: false,
                value: SettingValue::Number(replication),
                default: SettingValue::Number(1),
                choices: numbers(replication, 1, brokers),
            },
            Setting {
                key: SettingKey::Partitions { topic },
                live: false,
                pending: false,
                value: SettingValue::Number(partitions),
                default: SettingValue::Number(1),
                choices: ladder(partitions, &PARTITIONS, SettingValue::Number),
            },
        ],
    }
}

fn of_producer(seen: Seen<'_>, view: &ProducerView) -> SettingsGroup {
    let producer = view.name.clone();
    let modern = ClientVersion::parse(&view.client_version).is_none_or(|version| version >= ClientVersion::V3_9);
    let keys = match seen
        .world()
        .client_id(&producer)
        .and_then(|id| seen.machine(NodeId::Client(id)))
        .map(|machine| &machine.role)
    {
        Some(Role::Client { kind: ClientKind::Producer(spec), .. }) => spec.keys.clone(),
        Some(Role::Client { .. } | Role::Controller | Role::Broker { .. }) | None => seen
            .scenario()
            .producers
            .iter()
            .find(|(name, _)| *name == producer)
            .map(|(_, p)| p.keys.clone())
            .unwrap_or_default(),
    };
    let pattern = match keys {
        Keys::None => KeyPattern::None,
        Keys::Hot => KeyPattern::Hot,
        Keys::Even | Keys::Listed(_) => KeyPattern::Even,
    };
    let rate = (view.rate_milli / 1_000) as u32;
    let started = !matches!(view.now, ProducerNow::NotStarted | ProducerNow::Closed);
    SettingsGroup {
        of: SettingsOf::Producer(producer.clone()),
        settings: vec![
            Setting {
                key: SettingKey::Acks { producer: producer.clone() },
                live: started,
                pending: false,
                value: term(view.acks.clone()),
                default: term(if modern { "all" } else { "1" }),
                choices: Choices::OneOf(["0", "1", "all"].map(term).into()),
            },
            Setting {
                key: SettingKey::Idempotence { producer: producer.clone() },
                live: started,
                pending: false,
                value: SettingValue::Bool(view.idempotent),
                default: SettingValue::Bool(modern),
                choices: Choices::Toggle,
            },
            Setting {
                key: SettingKey::Rate { producer: producer.clone() },
                live: started,
                pending: false,
                value: SettingValue::PerSecond(rate),
                default: SettingValue::PerSecond(crate::scenario::Producer::default().rate),
                choices: ladder(rate, &RATES, SettingValue::PerSecond),
            },
            Setting {
                key: SettingKey::Keys { producer },
                live: false,
                pending: false,
                value: SettingValue::Keys(pattern),
                default: SettingValue::Keys(KeyPattern::None),
                choices: Choices::OneOf(
                    [KeyPattern::None, KeyPattern::Hot, KeyPattern::Even].map(SettingValue::Keys).into(),
                ),
            },
        ],
    }
}

fn of_group(view: &GroupView) -> SettingsGroup {
    let group = view.name.clone();
    let members = view.members.iter().filter(|member| member.now != MemberNow::Closed).count() as u32;
    let version = view
        .members
        .first()
        .map_or_else(|| ClientVersion::default().name().into(), |member| member.client_version.clone());
    SettingsGroup {
        of: SettingsOf::Group(group.clone()),
        settings: vec![
            Setting {
                key: SettingKey::Members { group: group.clone() },
                live: true,
                pending: false,
                value: SettingValue::Number(members),
                default: SettingValue::Number(2),
                choices: numbers(members, 0, MAX_MEMBERS),
            },
            Setting {
                key: SettingKey::ClientVersion { group },
                live: false,
                pending: false,
                value: term(version),
                default: term(ClientVersion::default().name()),
                choices: Choices::OneOf(ClientVersion::ALL.iter().map(|version| term(version.name())).collect()),
            },
        ],
    }
}

fn offsets(seen: Seen<'_>) -> SettingsGroup {
    let value = seen.world().config().offsets_topic_replication_factor;
    let most = seen.scenario().cluster.brokers.len() as u32;
    SettingsGroup {
        of: SettingsOf::OffsetsTopic,
        settings: vec![Setting {
            key: SettingKey::OffsetsReplicationFactor,
            live: false,
            pending: false,
            value: SettingValue::Number(value),
            default: SettingValue::Number(3),
            choices: numbers(value, 1, most.max(value)),
        }],
    }
}

fn cluster(seen: Seen<'_>) -> SettingsGroup {
    let brokers = seen.scenario().cluster.brokers.len() as u32;
    let controllers = seen.scenario().cluster.controllers;
    let odd = |n: u32| SettingValue::Number(n);
    SettingsGroup {
        of: SettingsOf::Cluster,
        settings: vec![
            Setting {
                key: SettingKey::Brokers,
                live: false,
                pending: false,
                value: SettingValue::Number(brokers),
                default: SettingValue::Number(3),
                choices: numbers(brokers, 1, MAX_BROKERS as u32),
            },
            Setting {
                key: SettingKey::Controllers,
                live: false,
                pending: false,
                value: SettingValue::Number(controllers),
                default: SettingValue::Number(3),
                choices: Choices::Steps {
                    less: (controllers > 2).then(|| odd(controllers - 2)),
                    more: (controllers + 2 <= MAX_CONTROLLERS as u32).then(|| odd(controllers + 2)),
                },
            },
        ],
    }
}
