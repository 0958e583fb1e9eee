//! Everything that may be changed, with the value in force and the one it has by default. It changes nothing.

use highwater_engine::base::limits::{MAX_BROKERS, MAX_CONTROLLERS};
use highwater_engine::base::{Dur, NodeId};
use highwater_engine::client::ClientKind;
use highwater_engine::client::{ClientVersion, Keys};
use highwater_engine::protocol::config::{self, Bound, NEWEST, Release, Scope, Type, Valid, setting};
use highwater_engine::world::machine::Role;

use super::model::*;
use crate::scenario::{Placement, Target, Verb, lower::timed, notes};
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

/// Configs of the engine's table that the panel offers, by what they belong to.
const TOPIC_CONFIGS: [&str; 2] = ["min.insync.replicas", "unclean.leader.election.enable"];
const PRODUCER_CONFIGS: [&str; 2] = ["acks", "enable.idempotence"];
const OFFSETS_CONFIGS: [&str; 1] = ["offsets.topic.replication.factor"];

/// A config as the table describes it.
struct Row<'a> {
    of: ConfigOf,
    scope: Scope,
    name: &'a str,
    /// In force, as Kafka writes it; `None`: its default.
    value: Option<String>,
    release: Release,
    /// The largest number that makes sense in this cluster.
    most: u32,
    /// Whether what it belongs to runs, so that it can be changed there.
    running: bool,
    pending: bool,
}

impl Row<'_> {
    fn setting(self) -> Option<Setting> {
        let known = setting(self.scope, self.name)?;
        let default = known.default_at(self.release);
        let value = config_value(known, self.value.as_deref().unwrap_or(default));
        let choices = match (known.kind, known.valid, known.bound, &value) {
            (Type::Bool, ..) => Choices::Toggle,
            (_, Valid::OneOf(words), _, _) | (_, _, Bound::Words(words), _) => {
                Choices::OneOf(words.iter().copied().filter(is_plain).map(term).collect())
            }
            (_, _, _, SettingValue::Number(number)) => {
                let (least, most) = known.limits().unwrap_or((0, i64::from(u32::MAX)));
                let within = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
                numbers(*number, within(least), within(most).min(self.most.max(*number)))
            }
            (..) => Choices::OneOf(vec![value.clone()]),
        };
        Some(Setting {
            key: SettingKey::Config { of: self.of, name: known.name },
            live: self.running && known.is_live(self.scope),
            pending: self.pending,
            value,
            default: config_value(known, default),
            choices,
        })
    }
}

/// `-1` of `acks` says the same as `all`.
fn is_plain(word: &&str) -> bool {
    *word != "-1"
}

/// A config's value as the panel holds it, by Kafka's type.
fn config_value(known: &config::Setting, text: &str) -> SettingValue {
    match known.kind {
        Type::Bool => SettingValue::Bool(text.eq_ignore_ascii_case("true")),
        Type::Short | Type::Int | Type::Long => {
            text.parse().map_or_else(|_| term(text.to_string()), SettingValue::Number)
        }
        Type::Double | Type::Text | Type::List => term(text.to_string()),
    }
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
    Settings { previous, groups, notes: notes(seen.scenario()) }
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
    let configs = TOPIC_CONFIGS.into_iter().filter_map(|key| {
        let asked = pending(key);
        Row {
            of: ConfigOf::Topic(name.to_string()),
            scope: Scope::Topic,
            name: key,
            pending: asked.is_some(),
            value: asked.or_else(|| config(key)),
            release: NEWEST,
            most: brokers,
            running: true,
        }
        .setting()
    });
    let topic = name.to_string();
    SettingsGroup {
        of: SettingsOf::Topic(topic.clone()),
        settings: configs
            .chain([
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
            ])
            .collect(),
    }
}

fn of_producer(seen: Seen<'_>, view: &ProducerView) -> SettingsGroup {
    let producer = view.name.clone();
    let version = ClientVersion::parse(&view.client_version).unwrap_or_default();
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
    // What the client made of its configs: a default idempotence may have been switched off.
    let in_force = |key: &str| match key {
        "acks" => Some(view.acks.to_string()),
        "enable.idempotence" => Some(view.idempotent.to_string()),
        _as_given => None,
    };
    let configs = PRODUCER_CONFIGS.into_iter().filter_map(|key| {
        Row {
            of: ConfigOf::Producer(view.name.clone()),
            scope: Scope::Producer,
            name: key,
            value: in_force(key),
            release: version.release(),
            most: u32::MAX,
            running: started,
            pending: false,
        }
        .setting()
    });
    SettingsGroup {
        of: SettingsOf::Producer(producer.clone()),
        settings: configs
            .chain([
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
            ])
            .collect(),
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
    let most = seen.scenario().cluster.brokers.len() as u32;
    let row = |name| {
        let value = seen.scenario().cluster.config.get(name).cloned();
        Row {
            of: ConfigOf::Nodes,
            scope: Scope::Node,
            name,
            value,
            release: NEWEST,
            most,
            running: true,
            pending: false,
        }
        .setting()
    };
    SettingsGroup { of: SettingsOf::OffsetsTopic, settings: OFFSETS_CONFIGS.into_iter().filter_map(row).collect() }
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
