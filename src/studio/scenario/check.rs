//! Whether the parts of a scenario fit together: what can be known without running it. Kafka's own refusals at run time
//! stay Kafka's.

use highwater_engine::base::limits::MAX_CLIENTS;
use highwater_engine::base::{Dur, Map, Set};
use highwater_engine::client::{ClientVersion, PollForm};
use highwater_engine::protocol::CONSUMER_OFFSETS;

use super::error::{Problem, ScenarioError, nearest};
use super::lower::timed;
use super::model::*;
use super::notes::{node_number, refusal};
use super::token::{Data, Place, Value, quoted};

/// Partitions of all topics together, so that a link cannot make a page stand still.
const MAX_ALL_PARTITIONS: u32 = 2_000;

type Result = std::result::Result<(), ScenarioError>;

pub(super) struct Check<'a> {
    pub(super) s: &'a Scenario,
    root: &'a Value,
    /// Topics that are there or that the script makes.
    topics: Map<&'a str, Option<u32>>,
    clients: Set<&'a str>,
    groups: Set<&'a str>,
}

/// Checks a scenario; `root` is where it was read from, for the places of errors.
pub fn check(s: &Scenario, root: &Value) -> Result {
    let mut topics: Map<&str, Option<u32>> =
        Map::from_iter(s.topics.iter().map(|(name, topic)| (name.as_str(), topic.placement.partitions())));
    let mut clients = Set::new();
    let mut groups: Set<&str> = Set::from_iter(s.groups.iter().map(|(name, _)| name.as_str()));
    for verb in s.script.iter().flat_map(|entry| &entry.actions) {
        match verb {
            Verb::CreateTopic { name, topic } => drop(topics.entry(name).or_insert(topic.placement.partitions())),
            Verb::StartClient { name, .. } => drop(clients.insert(name.as_str())),
            Verb::Join(join) => {
                clients.insert(&join.member);
                groups.insert(&join.group);
            }
            _any_other => {}
        }
    }
    let mut c = Check { s, root, topics, clients, groups };
    c.versions()?;
    c.names()?;
    c.cluster()?;
    c.all_configs()?;
    c.topic_list()?;
    c.producer_list()?;
    c.group_list()?;
    c.script()
}

impl<'a> Check<'a> {
    /// The error at a path; the place is that of the nearest thing on the way that was written.
    pub(super) fn error(
        &self,
        problem: Problem,
        path: &[&str],
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> ScenarioError {
        let mut value = self.root;
        for step in path {
            let next = match &value.data {
                Data::Map(entries) => entries.iter().find(|(key, _)| key.text == *step).map(|(_, value)| value),
                Data::List(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                Data::Null | Data::Bool(_) | Data::Int(_) | Data::Text(_) => None,
            };
            let Some(next) = next else { break };
            value = next;
        }
        let Place { line, column } = value.place;
        ScenarioError {
            problem,
            path: path.join("/"),
            line,
            column,
            found: found.into(),
            expected: expected.into(),
            nearest: None,
            limit: None,
        }
    }

    fn fail(&self, problem: Problem, path: &[&str], found: impl Into<String>, expected: impl Into<String>) -> Result {
        Err(self.error(problem, path, found, expected))
    }

    fn limit(&self, path: &[&str], found: impl ToString, most: u64) -> Result {
        let mut e = self.error(Problem::TooLarge, path, found.to_string(), format!("at most {most}"));
        e.limit = Some(most);
        Err(e)
    }

    fn versions(&self) -> Result {
        match self.s.engine {
            Some(engine) if engine > ENGINE => {
                let mut e =
                    self.error(Problem::NewerVersion, &["engine"], engine.to_string(), format!("at most {ENGINE}"));
                e.limit = Some(u64::from(engine));
                Err(e)
            }
            Some(_) | None => Ok(()),
        }
    }

    fn names(&mut self) -> Result {
        let s = self.s;
        let producers = s.producers.iter().map(|(name, _)| (name, vec!["producers", name.as_str()]));
        let members = s.groups.iter().flat_map(|(group, g)| {
            g.members.iter().map(move |(name, _)| (name, vec!["groups", group.as_str(), "members", name.as_str()]))
        });
        let mut taken = Set::new();
        for (name, path) in producers.chain(members) {
            if !taken.insert(name.as_str()) {
                return self.fail(
                    Problem::Duplicate,
                    &path,
                    quoted(name),
                    "a name of its own: no two producers or members have the same",
                );
            }
        }
        self.clients.extend(taken);
        // One is the administrator.
        let most = MAX_CLIENTS - 1;
        if self.clients.len() > most { self.limit(&["producers"], self.clients.len(), most as u64) } else { Ok(()) }
    }

    fn cluster(&self) -> Result {
        let cluster = &self.s.cluster;
        if cluster.brokers.values().all(|broker| broker.start > Dur::ZERO) {
            return self.fail(
                Problem::Impossible,
                &["cluster", "brokers"],
                "no broker at 0s",
                "at least one broker that runs from the beginning",
            );
        }
        for (index, link) in cluster.links.iter().enumerate() {
            let index = index.to_string();
            self.nodes(&["cluster", "links", &index], link.between.iter().chain(&link.and))?;
        }
        Ok(())
    }

    fn topic_list(&self) -> Result {
        let mut total = 0;
        for (index, (name, topic)) in self.s.topics.iter().enumerate() {
            self.topic(&["topics", name], topic)?;
            self.created(index, name, topic)?;
            total += topic.placement.partitions().unwrap_or_else(|| node_number(self.s, "num.partitions"));
            if total > MAX_ALL_PARTITIONS {
                return self.limit(&["topics", name, "partitions"], total, u64::from(MAX_ALL_PARTITIONS));
            }
        }
        Ok(())
    }

    fn topic(&self, path: &[&str], topic: &Topic) -> Result {
        let at = |more: &[&'a str]| -> Vec<String> {
            path.iter().copied().chain(more.iter().copied()).map(String::from).collect()
        };
        let brokers = &self.s.cluster.brokers;
        match &topic.placement {
            Placement::Counts { replication: Some(factor), .. } if *factor as usize > brokers.len() => {
                let path = at(&["replication"]);
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                let mut e = self.error(
                    Problem::Impossible,
                    &path,
                    factor.to_string(),
                    format!("at most {}, the number of brokers", brokers.len()),
                );
                e.limit = Some(brokers.len() as u64);
                return Err(e);
            }
            Placement::Counts { .. } => {}
            Placement::Replicas(replicas) => {
                let factor = replicas.values().next().map_or(0, Vec::len);
                for (number, list) in replicas {
                    let number = number.to_string();
                    let path: Vec<&str> = path.iter().copied().chain(["replicas", number.as_str()]).collect();
                    if let Some(stranger) = list.iter().find(|id| !brokers.contains_key(id)) {
                        return self.fail(
                            Problem::Impossible,
                            &path,
                            format!("broker {stranger}"),
                            format!("brokers of this cluster: {}", ids(brokers.keys())),
                        );
                    }
                    if Set::from_iter(list).len() != list.len() {
                        return self.fail(Problem::Impossible, &path, ids(list.iter()), "each broker once");
                    }
                    if list.len() != factor {
                        return self.fail(
                            Problem::Impossible,
                            &path,
                            format!("{} replicas", list.len()),
                            format!("{factor}, as many as partition 0 has"),
                        );
                    }
                }
            }
        }
        Ok(())
    }

    /// What Kafka says to a topic of the file at 0 s, before anything else can have happened. A cluster without it is
    /// not the one that the file describes, so it is refused here; what a later moment brings belongs to the run.
    fn created(&self, index: usize, name: &str, topic: &Topic) -> Result {
        if topic.created == Dur::ZERO
            && let Some((key, sentence)) = refusal(self.s, topic)
        {
            let path: Vec<&str> = ["topics", name].into_iter().chain(key.iter().map(String::as_str)).collect();
            return self.fail(Problem::Refused, &path, "", sentence);
        }
        // Metric names have underscores for dots, so Kafka keeps such names apart.
        let flat = |name: &str| name.replace('.', "_");
        match self.s.topics.iter().take(index).find(|(other, _)| flat(other) == flat(name)) {
            Some((twin, _)) => {
                let sentence = format!("Topic '{name}' collides with existing topic: {twin}");
                self.fail(Problem::Refused, &["topics", name], "", sentence)
            }
            None => Ok(()),
        }
    }

    fn known_topic(&self, path: &[&str], name: &str) -> Result {
        // Internal topics are topics: Kafka makes them when they are needed, and answers for them as for any other.
        if self.topics.contains_key(name) || name == CONSUMER_OFFSETS {
            return Ok(());
        }
        let known: Vec<&str> = self.topics.keys().copied().collect();
        let mut e = self.error(
            Problem::Impossible,
            path,
            quoted(name),
            format!("a topic of this scenario: {}", known.join(", ")),
        );
        e.nearest = nearest(name, known);
        Err(e)
    }

    fn known_partition(&self, path: &[&str], topic: &str, partition: u32) -> Result {
        self.known_topic(path, topic)?;
        // More partitions may be added on the way, so only a topic that never grows has a bound.
        let grows = self
            .s
            .script
            .iter()
            .flat_map(|entry| &entry.actions)
            .any(|verb| matches!(verb, Verb::AddPartitions { topic: grown, .. } if grown == topic));
        match self.topics.get(topic).copied().flatten() {
            Some(count) if partition >= count && !grows => {
                self.fail(Problem::Impossible, path, format!("partition {partition}"), format!("0 to {}", count - 1))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn producer_list(&self) -> Result {
        for (name, producer) in &self.s.producers {
            self.producer(&["producers", name], producer)?;
        }
        Ok(())
    }

    fn producer(&self, path: &[&str], producer: &Producer) -> Result {
        let at = |key: &'static str| -> Vec<&str> { path.iter().copied().chain([key]).collect() };
        if let Some(topic) = &producer.topic {
            self.known_topic(&at("topic"), topic)?;
            if let Some(partition) = producer.partition {
                self.known_partition(&at("partition"), topic, partition)?;
            }
        }
        match (producer.start, producer.stop) {
            (Some(start), Some(stop)) if stop < start => self.fail(
                Problem::Impossible,
                &at("stop"),
                super::unit::duration_text(stop),
                "a moment after its start",
            ),
            _ => Ok(()),
        }
    }

    fn group_list(&self) -> Result {
        for (name, group) in &self.s.groups {
            for topic in &group.topics {
                self.known_topic(&["groups", name, "topics"], topic)?;
            }
            self.poll(&["groups", name, "poll"], &group.client, group.poll)?;
            for (member, m) in &group.members {
                self.poll(
                    &["groups", name, "members", member, "poll"],
                    m.client.as_ref().unwrap_or(&group.client),
                    m.poll.unwrap_or(group.poll),
                )?;
            }
        }
        Ok(())
    }

    fn poll(&self, path: &[&str], client: &str, form: PollForm) -> Result {
        let version = ClientVersion::parse(client).unwrap_or_default();
        if form == PollForm::Long && version > ClientVersion::V3_9 {
            return self.fail(
                Problem::Impossible,
                path,
                format!("\"long\" with client {client}"),
                "\"duration\", or a client up to 3.9: poll(long) was removed in 4.0",
            );
        }
        Ok(())
    }

    fn script(&self) -> Result {
        let mut now = Dur::ZERO;
        for (index, (moment, entry)) in timed(&self.s.script).enumerate() {
            let index = index.to_string();
            if moment.at < now {
                return self.fail(
                    Problem::OutOfRange,
                    &["script", &index, "at"],
                    moment.text(),
                    format!("at least {}, the moment of the entry before", super::unit::duration_text(now)),
                );
            }
            now = moment.at;
            if now > super::read::MAX_TIME {
                return self.limit(&["script", &index, "at"], super::unit::duration_text(now), super::read::MAX_TIME.0);
            }
            for (number, verb) in entry.actions.iter().enumerate() {
                self.verb(&["script", &index, "do", &number.to_string()], verb)?;
            }
            if let Some((keys, found, known)) = super::storyboard::unknown(self.s, entry) {
                let path: Vec<&str> = ["script", &index].into_iter().chain(keys.iter().map(String::as_str)).collect();
                let expected = "a producer, a group or a broker of this scenario";
                let mut e = self.error(Problem::Impossible, &path, quoted(&found), expected);
                e.nearest = nearest(&found, known);
                return Err(e);
            }
        }
        Ok(())
    }

    fn verb(&self, path: &[&str], verb: &Verb) -> Result {
        match verb {
            Verb::Kill(nodes)
            | Verb::Stop(nodes)
            | Verb::Start(nodes)
            | Verb::Restart(nodes)
            | Verb::Pause(nodes)
            | Verb::Resume(nodes) => self.nodes(path, nodes.iter()),
            Verb::LoseDisk(nodes) => {
                for node in nodes {
                    if let Node::Client(name) = node {
                        let found = quoted(&format!("client/{name}"));
                        return self.fail(
                            Problem::Impossible,
                            path,
                            found,
                            "a broker or a controller; clients keep nothing",
                        );
                    }
                }
                self.nodes(path, nodes.iter())
            }
            Verb::Cut(sides) | Verb::Heal(Some(sides)) => self.nodes(path, sides.from.iter().chain(&sides.to)),
            Verb::Heal(None) | Verb::Release(_) => Ok(()),
            Verb::Message { which, .. } => self.nodes(path, which.from.iter().chain(&which.to)),
            Verb::Link(link) => self.nodes(path, link.between.iter().chain(&link.and)),
            // A topic that Kafka refuses to make is part of a run.
            Verb::CreateTopic { .. } => Ok(()),
            Verb::AddPartitions { topic, .. } | Verb::DeleteTopic(topic) => self.known_topic(path, topic),
            Verb::DeleteRecords { partition, .. } | Verb::ElectLeaders { partition, .. } => {
                self.known_partition(path, &partition.topic, partition.partition)
            }
            Verb::SetConfig { target: Target::Topic(topic), .. } => self.known_topic(path, topic),
            Verb::SetConfig { target: Target::Broker(id), .. } => self.nodes(path, [Node::Broker(*id)].iter()),
            Verb::SetConfig { target: Target::Cluster, .. } => Ok(()),
            Verb::Produce(produce) => {
                self.client(path, &produce.client)?;
                produce.topic.as_ref().map_or(Ok(()), |topic| self.known_topic(path, topic))
            }
            Verb::StartClient { name, producer } => match self.s.group_of(name) {
                // A member keeps its group: it is started as it was, with nothing but its name.
                Some(group) if *producer != Producer::default() => self.fail(
                    Problem::Impossible,
                    path,
                    quoted(name),
                    format!(
                        "only \"client\": {name} is a member of group {group} and is started as it was; \
                         \"join\" starts a member with other settings"
                    ),
                ),
                Some(_) | None => self.producer(&[path, &["start-client"]].concat(), producer),
            },
            Verb::SetClient { name, .. }
            | Verb::StopClient(name)
            | Verb::KillClient(name)
            | Verb::Leave(name)
            | Verb::Commit(name) => self.client(path, name),
            Verb::PauseClient { member, .. } | Verb::Seek { member, .. } => self.client(path, member),
            Verb::Join(join) => {
                for topic in join.topics.iter().flatten() {
                    self.known_topic(path, topic)?;
                }
                let known = self
                    .s
                    .groups
                    .iter()
                    .find(|(name, _)| *name == join.group)
                    .map(|(_, group)| group.clone())
                    .unwrap_or_default();
                self.poll(path, join.client.as_ref().unwrap_or(&known.client), join.poll.unwrap_or(known.poll))
            }
        }
    }

    fn client(&self, path: &[&str], name: &str) -> Result {
        if self.clients.contains(name) {
            return Ok(());
        }
        let mut e = self.error(Problem::Impossible, path, quoted(name), "a producer or member of this scenario");
        e.nearest = nearest(name, self.clients.iter().copied());
        Err(e)
    }

    fn nodes<'n>(&self, path: &[&str], nodes: impl Iterator<Item = &'n Node>) -> Result {
        for node in nodes {
            match node {
                Node::Broker(id) if !self.s.cluster.brokers.contains_key(id) => {
                    return self.fail(
                        Problem::Impossible,
                        path,
                        format!("broker {id}"),
                        format!("a broker of this cluster: {}", ids(self.s.cluster.brokers.keys())),
                    );
                }
                Node::Controller(id) if *id > self.s.cluster.controllers => {
                    return self.fail(
                        Problem::Impossible,
                        path,
                        format!("controller {id}"),
                        format!("a controller of this cluster: 1 to {}", self.s.cluster.controllers),
                    );
                }
                Node::Broker(_) | Node::Controller(_) | Node::ActiveController => {}
                Node::Client(name) => self.client(path, name)?,
                Node::LeaderOf(partition) => self.known_partition(path, &partition.topic, partition.partition)?,
                Node::CoordinatorOf(group) if !self.groups.contains(group.as_str()) => {
                    let mut e = self.error(Problem::Impossible, path, quoted(group), "a group of this scenario");
                    e.nearest = nearest(group, self.groups.iter().copied());
                    return Err(e);
                }
                Node::CoordinatorOf(_) => {}
            }
        }
        Ok(())
    }
}

fn ids<'a>(ids: impl Iterator<Item = &'a u32>) -> String {
    ids.map(u32::to_string).collect::<Vec<_>>().join(", ")
}
