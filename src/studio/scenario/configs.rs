//! The configs of a scenario, wherever they are given: their names and values as Kafka checks them, and what the
//! constructors of its clients say to them together. Interprets none of them.

use std::rc::Rc;

use highwater_engine::client::{ClientVersion, ConfigRefusal, ConsumerConfig, ProducerConfig};
use highwater_engine::protocol::ConfigMap;
use highwater_engine::protocol::config::{self, RefusedBy, Scope};

use super::check::Check;
use super::error::{Problem, ScenarioError, nearest};
use super::model::*;
use super::token::quoted;

/// Configs that stand at one place.
pub struct Place<'a> {
    pub path: Vec<String>,
    pub scope: Scope,
    pub configs: &'a Config,
}

fn place<'a>(path: &[&str], scope: Scope, configs: &'a Config) -> Place<'a> {
    Place { path: path.iter().map(ToString::to_string).collect(), scope, configs }
}

/// Every place of a scenario, in the order of the file.
pub fn places(s: &Scenario) -> Vec<Place<'_>> {
    let mut all = vec![place(&["cluster", "config"], Scope::Node, &s.cluster.config)];
    for (name, topic) in &s.topics {
        all.push(place(&["topics", name, "config"], Scope::Topic, &topic.config));
    }
    for (name, producer) in &s.producers {
        all.push(place(&["producers", name, "config"], Scope::Producer, &producer.config));
    }
    for (group, g) in &s.groups {
        all.push(place(&["groups", group, "config"], Scope::Consumer, &g.config));
        for (member, m) in &g.members {
            all.push(place(&["groups", group, "members", member, "config"], Scope::Consumer, &m.config));
        }
    }
    for (index, number, verb) in verbs(s) {
        let (index, number) = (index.to_string(), number.to_string());
        let mut at = |key: &str, scope, configs| {
            all.push(place(&["script", &index, "do", &number, key, "config"], scope, configs));
        };
        match verb {
            Verb::CreateTopic { topic, .. } => at("create-topic", Scope::Topic, &topic.config),
            Verb::SetConfig { target: Target::Topic(_), config } => at("set-config", Scope::Topic, config),
            Verb::SetConfig { target: Target::Broker(_) | Target::Cluster, config } => {
                at("set-config", Scope::Node, config);
            }
            Verb::StartClient { producer, .. } => at("start-client", Scope::Producer, &producer.config),
            Verb::SetClient { name, config, .. } => at("set-client", scope_of(s, name), config),
            Verb::Join(join) => at("join", Scope::Consumer, &join.config),
            _without_configs => {}
        }
    }
    all
}

fn verbs(s: &Scenario) -> impl Iterator<Item = (usize, usize, &Verb)> {
    s.script
        .iter()
        .enumerate()
        .flat_map(|(index, entry)| entry.actions.iter().enumerate().map(move |(number, verb)| (index, number, verb)))
}

/// What the configs of a client of this name configure.
fn scope_of(s: &Scenario, client: &str) -> Scope {
    let member = s.groups.iter().any(|(_, group)| group.members.iter().any(|(name, _)| name == client))
        || verbs(s).any(|(_, _, verb)| matches!(verb, Verb::Join(join) if join.member == client));
    if member { Scope::Consumer } else { Scope::Producer }
}

/// A client with the places of its configs, the later ones over the earlier.
struct Client<'a> {
    scope: Scope,
    version: &'a str,
    given: Vec<(Vec<String>, &'a Config)>,
}

fn clients(s: &Scenario) -> Vec<Client<'_>> {
    let own = |path: &[&str], config| (path.iter().map(ToString::to_string).collect::<Vec<_>>(), config);
    let mut all = Vec::new();
    for (name, producer) in &s.producers {
        let given = vec![own(&["producers", name, "config"], &producer.config)];
        all.push(Client { scope: Scope::Producer, version: &producer.client, given });
    }
    for (group, g) in &s.groups {
        let of_group = || own(&["groups", group, "config"], &g.config);
        all.push(Client { scope: Scope::Consumer, version: &g.client, given: vec![of_group()] });
        for (member, m) in &g.members {
            let given = vec![of_group(), own(&["groups", group, "members", member, "config"], &m.config)];
            all.push(Client { scope: Scope::Consumer, version: m.client.as_deref().unwrap_or(&g.client), given });
        }
    }
    for (index, number, verb) in verbs(s) {
        let (index, number) = (index.to_string(), number.to_string());
        match verb {
            Verb::StartClient { producer, .. } => {
                let path = ["script", &index, "do", &number, "start-client", "config"];
                let given = vec![own(&path, &producer.config)];
                all.push(Client { scope: Scope::Producer, version: &producer.client, given });
            }
            Verb::Join(join) => {
                let group = s.groups.iter().find(|(name, _)| *name == join.group);
                let version = join.client.as_deref().or(group.map(|(_, g)| g.client.as_str())).unwrap_or_default();
                let mut given: Vec<_> =
                    group.map(|(name, g)| own(&["groups", name, "config"], &g.config)).into_iter().collect();
                given.push(own(&["script", &index, "do", &number, "join", "config"], &join.config));
                all.push(Client { scope: Scope::Consumer, version, given });
            }
            _of_no_new_client => {}
        }
    }
    all
}

impl Check<'_> {
    /// Names and values of all configs, then each client as a whole.
    pub(super) fn all_configs(&self) -> Result<(), ScenarioError> {
        for place in places(self.s) {
            self.configs(&place)?;
        }
        clients(self.s).iter().try_for_each(|client| self.client_configs(client))
    }

    fn configs(&self, place: &Place<'_>) -> Result<(), ScenarioError> {
        for (name, value) in place.configs {
            let Err(wrong) = config::check(place.scope, name, value) else { continue };
            let path: Vec<&str> = place.path.iter().map(String::as_str).chain([name.as_str()]).collect();
            return Err(match wrong.by {
                RefusedBy::NoSuchSetting if config::is_former(place.scope, name) => {
                    let expected = "a setting that Kafka 4.1 still has: this one ended with 3.9, and is not simulated";
                    self.error(Problem::Impossible, &path, quoted(name), expected)
                }
                RefusedBy::NoSuchSetting => {
                    let expected = format!("a {} config of Kafka", place.scope.name());
                    let mut e = self.error(Problem::UnknownKey, &path, quoted(name), expected);
                    e.nearest = nearest(name, names(place.scope)).or_else(|| elsewhere(place.scope, name));
                    e
                }
                RefusedBy::Kafka => self.error(Problem::Refused, &path, "", wrong.to_string()),
                RefusedBy::Playground => self.error(Problem::OutOfRange, &path, quoted(value), wrong.expected),
            });
        }
        Ok(())
    }

    fn client_configs(&self, client: &Client<'_>) -> Result<(), ScenarioError> {
        let all = client.given.iter().flat_map(|(_, config)| *config);
        let given: ConfigMap = all.map(|(key, value)| (Rc::from(key.as_str()), Rc::from(value.as_str()))).collect();
        let version = ClientVersion::parse(client.version).unwrap_or_default();
        let refused = match client.scope {
            Scope::Producer => ProducerConfig::parse(version, &given).err(),
            Scope::Consumer => ConsumerConfig::parse(version, &given).err(),
            Scope::Topic | Scope::Node => None,
        };
        let Some(refused) = refused else { return Ok(()) };
        let ConfigRefusal { key, value, expected, by, .. } = refused;
        // The last place that gives the key is the one that counts; a default is refused at the last place of all.
        let at = client.given.iter().rev().find(|(_, config)| config.contains_key(&key)).or(client.given.last());
        let path: Vec<&str> =
            at.into_iter().flat_map(|(path, _)| path.iter().map(String::as_str)).chain([key.as_str()]).collect();
        Err(match by {
            // Each value passed by itself, so this is what the constructor says to all of them.
            RefusedBy::Kafka | RefusedBy::NoSuchSetting => self.error(Problem::Refused, &path, "", expected),
            RefusedBy::Playground => self.error(Problem::OutOfRange, &path, quoted(&value), expected),
        })
    }
}

fn names(scope: Scope) -> impl Iterator<Item = &'static str> {
    config::settings().filter(move |setting| setting.scopes.contains(&scope)).map(|setting| setting.name)
}

/// A name that Kafka has for something else.
fn elsewhere(scope: Scope, name: &str) -> Option<String> {
    let other = Scope::ALL.into_iter().find(|other| *other != scope && config::setting(*other, name).is_some())?;
    let of = match other {
        Scope::Topic => "the \"config\" of a topic",
        Scope::Node => "the \"config\" of \"cluster\"",
        Scope::Producer => "the \"config\" of a producer",
        Scope::Consumer => "the \"config\" of a group or member",
    };
    Some(format!("{name} in {of}"))
}
