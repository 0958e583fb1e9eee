//! From a scenario to what the engine can do: a set-up, and actions with their moments. Roles stay names until their
//! moment comes.

use std::rc::Rc;

use highwater_engine::base::{BrokerId, ControllerId, Dur, Map, NodeId, sort_by};
use highwater_engine::client::{ClientVersion, ConsumerSpec, PollForm, ProducerSpec};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::{ConfigMap, ConfigTarget, CreateTopicRequest, Placement as EnginePlacement};
use highwater_engine::rules::Broken;
use highwater_engine::world::{Action, BrokerSetup, Pick, Setup};

use super::model::*;

/// How long after the wish for a topic its clients start: creation takes a few round trips.
pub const CLIENT_DELAY: Dur = Dur::secs(1);
/// Pause of an application between two calls of `poll`.
pub const POLL_EVERY: Dur = Dur::ms(50);
/// How long an administrator waits for an answer.
const ADMIN_TIMEOUT: Dur = Dur::secs(30);
/// How long a run goes on after the last thing that its script does, as the scrubber plans it.
const AFTERMATH: Dur = Dur::secs(30);

/// What a recording runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    pub setup: Setup,
    /// In order of time; of one instant in the order of the file.
    pub plan: Vec<Due>,
    pub checkpoints: Vec<(String, Moment)>,
    /// Where the scrubber ends before anything was recorded beyond.
    pub end: Dur,
}

/// One action at its moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    pub at: Moment,
    pub need: Need,
    /// It stands in the script, and not only in the description of the cluster.
    pub scripted: bool,
}

/// An action, or one that waits for a role to be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    Ready(Action),
    /// Names a role or a client; resolved against the world when its moment comes.
    Role(Verb),
}

impl Need {
    /// The action, given who plays a role now. `None`: nobody does.
    pub fn action(&self, find: &dyn Fn(&Node) -> Option<NodeId>) -> Option<Action> {
        match self {
            Need::Ready(action) => Some(action.clone()),
            Need::Role(verb) => node_action(verb, find),
        }
    }

    /// Nodes that it names and that are known when its moment comes.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        let (one, other): (&[Node], &[Node]) = match self {
            Need::Ready(_) => (&[], &[]),
            Need::Role(verb) => nodes_of(verb),
        };
        one.iter().chain(other)
    }

    /// Its verb in the file.
    pub fn verb(&self) -> &'static str {
        match self {
            Need::Ready(action) => action.verb(),
            Need::Role(verb) => super::write::verb_name(verb),
        }
    }
}

/// Lowers a scenario that was checked.
pub fn lower(scenario: &Scenario) -> Lowered {
    let mut plan = Vec::new();
    let mut due =
        |at: Dur, action: Action| plan.push(Due { at: Moment::after(at), need: Need::Ready(action), scripted: false });
    for (id, broker) in &scenario.cluster.brokers {
        if broker.start > Dur::ZERO {
            due(broker.start, Action::Start(NodeId::Broker(BrokerId(*id))));
        }
    }
    for (name, topic) in &scenario.topics {
        due(topic.created, Action::Admin(AdminRequest::CreateTopic(create_topic(name, topic))));
    }
    for (name, producer) in &scenario.producers {
        let start = producer.start.unwrap_or_else(|| scenario.ready_at(producer.topic.iter()));
        due(start, Action::StartProducer { name: rc(name), spec: producer_spec(producer) });
        if let Some(stop) = producer.stop {
            due(stop, Action::CloseClient { name: rc(name), within: None });
        }
    }
    for (group_name, group) in &scenario.groups {
        for (name, member) in &group.members {
            let start = member.start.unwrap_or_else(|| scenario.ready_at(group.topics.iter()));
            due(start, Action::Join { name: rc(name), spec: member_spec(group_name, group, member) });
        }
    }
    for link in &scenario.cluster.links {
        plan.push(Due { at: Moment::after(Dur::ZERO), need: Need::Role(Verb::Link(link.clone())), scripted: false });
    }
    let mut checkpoints = Vec::new();
    let mut last_entry = Dur::ZERO;
    for (at, entry) in timed(&scenario.script) {
        last_entry = last_entry.max(at.at);
        for verb in &entry.actions {
            for need in needs(scenario, verb) {
                plan.push(Due { at, need, scripted: true });
            }
        }
        if let Some(name) = &entry.checkpoint {
            checkpoints.push((name.clone(), at));
        }
    }
    // Stable: what happens at one instant keeps the order of the file.
    sort_by(&mut plan, |a, b| a.at.at.cmp(&b.at.at));
    let last = plan
        .iter()
        .map(|due| due.at.at)
        // Whoever writes an entry means the run to come there, whether it does anything or not.
        .chain([last_entry])
        .max()
        .unwrap_or_default();
    Lowered { setup: setup(scenario), plan, checkpoints, end: last + AFTERMATH }
}

impl Scenario {
    /// When clients of these topics start unless they say it themselves.
    fn ready_at<'a>(&self, topics: impl Iterator<Item = &'a String>) -> Dur {
        let created = topics
            .filter_map(|name| self.topics.iter().find(|(topic, _)| topic == name))
            .map(|(_, topic)| topic.created)
            .max();
        created.unwrap_or_default() + CLIENT_DELAY
    }

    /// The group of a member, as the file describes it or a `join` of the script makes it.
    pub fn group_of(&self, member: &str) -> Option<&str> {
        let described = self.groups.iter().find(|(_, group)| group.members.iter().any(|(name, _)| name == member));
        let joined = self.script.iter().flat_map(|entry| &entry.actions).find_map(|verb| match verb {
            Verb::Join(join) if join.member == member => Some(join.group.as_str()),
            _any_other => None,
        });
        described.map(|(name, _)| name.as_str()).or(joined)
    }

    /// The same scenario with one more action at a moment: what a user did by hand, after all that the script does at
    /// that instant.
    pub fn with_action(&self, at: Moment, verb: Verb) -> Scenario {
        let mut script: Vec<Entry> =
            timed(&self.script).map(|(moment, entry)| Entry { at: At::Absolute(moment), ..entry.clone() }).collect();
        let position = script
            .iter()
            .position(|entry| matches!(entry.at, At::Absolute(moment) if moment.at > at.at))
            .unwrap_or(script.len());
        script.insert(position, Entry::doing(At::Absolute(at), vec![verb]));
        Scenario { script, ..self.clone() }
    }
}

/// The entries of a script with their absolute moments.
pub fn timed(script: &[Entry]) -> impl Iterator<Item = (Moment, &Entry)> {
    let mut now = Moment::after(Dur::ZERO);
    script.iter().map(move |entry| {
        now = match entry.at {
            At::WithPrevious => now,
            At::Absolute(moment) => moment,
            At::After(span) => Moment::after(now.at + span),
        };
        (now, entry)
    })
}

fn rc(text: &str) -> Rc<str> {
    Rc::from(text)
}

fn map(config: &Config) -> ConfigMap {
    Map::from_iter(config.iter().map(|(key, value)| (rc(key), rc(value))))
}

fn setup(scenario: &Scenario) -> Setup {
    let cluster = &scenario.cluster;
    Setup {
        seed: scenario.seed,
        version: scenario.rules,
        controllers: cluster.controllers,
        brokers: cluster
            .brokers
            .iter()
            .map(|(id, broker)| BrokerSetup {
                id: BrokerId(*id),
                rack: broker.rack.as_deref().map(rc),
                started: broker.start == Dur::ZERO,
            })
            .collect(),
        config: map(&cluster.config),
        link: cluster.link,
        broken: Broken::NOTHING,
    }
}

fn create_topic(name: &str, topic: &Topic) -> CreateTopicRequest {
    let placement = match &topic.placement {
        Placement::Counts { partitions, replication } => EnginePlacement::Counts {
            partitions: partitions.map(|n| n as i32),
            replication_factor: replication.map(|n| n as i16),
        },
        Placement::Replicas(replicas) => EnginePlacement::Manual(
            replicas
                .iter()
                .map(|(number, brokers)| (*number, brokers.iter().map(|id| BrokerId(*id)).collect()))
                .collect(),
        ),
    };
    CreateTopicRequest { name: rc(name), placement, configs: map(&topic.config), timeout: ADMIN_TIMEOUT }
}

fn client_version(text: &str) -> ClientVersion {
    ClientVersion::parse(text).unwrap_or_default()
}

fn producer_spec(producer: &Producer) -> ProducerSpec {
    ProducerSpec {
        version: client_version(&producer.client),
        config: map(&producer.config),
        topic: producer.topic.as_deref().map(rc),
        partition: producer.partition,
        rate: producer.rate,
        keys: producer.keys.clone(),
        value_size: producer.value_size,
    }
}

fn member_spec(group_name: &str, group: &Group, member: &Member) -> ConsumerSpec {
    let config = Map::from_iter(group.config.iter().chain(&member.config).map(|(key, value)| (rc(key), rc(value))));
    consumer_spec(
        group_name,
        &group.topics,
        member.client.as_ref().unwrap_or(&group.client),
        member.poll.unwrap_or(group.poll),
        config,
    )
}

fn consumer_spec(group: &str, topics: &[String], client: &str, poll: PollForm, config: ConfigMap) -> ConsumerSpec {
    ConsumerSpec {
        version: client_version(client),
        poll,
        group: rc(group),
        topics: topics.iter().map(|topic| rc(topic)).collect(),
        config,
        poll_every: POLL_EVERY,
        // Applications here rely on `enable.auto.commit`, as most do.
        commit_every: None,
    }
}

/// The engine actions of a verb, in order.
fn needs(scenario: &Scenario, verb: &Verb) -> Vec<Need> {
    let one = |action: Action| vec![Need::Ready(action)];
    let each = |nodes: &Nodes, make: fn(Nodes) -> Verb| {
        nodes.iter().map(|node| Need::Role(make(vec![node.clone()]))).collect()
    };
    match verb {
        Verb::Kill(nodes) => each(nodes, Verb::Kill),
        Verb::Stop(nodes) => each(nodes, Verb::Stop),
        Verb::Start(nodes) => each(nodes, Verb::Start),
        Verb::Restart(nodes) => each(nodes, Verb::Restart),
        Verb::Pause(nodes) => each(nodes, Verb::Pause),
        Verb::Resume(nodes) => each(nodes, Verb::Resume),
        Verb::LoseDisk(nodes) => each(nodes, Verb::LoseDisk),
        Verb::Cut(_) | Verb::Heal(_) | Verb::Link(_) => vec![Need::Role(verb.clone())],
        Verb::CreateTopic { name, topic } => one(Action::Admin(AdminRequest::CreateTopic(create_topic(name, topic)))),
        Verb::AddPartitions { topic, to } => {
            one(Action::Admin(AdminRequest::CreatePartitions { name: rc(topic), total: *to }))
        }
        Verb::DeleteTopic(topic) => one(Action::Admin(AdminRequest::DeleteTopic { name: rc(topic) })),
        Verb::DeleteRecords { partition, before } => one(Action::Admin(AdminRequest::DeleteRecords {
            topic: rc(&partition.topic),
            partition: partition.partition,
            before: *before as i64,
        })),
        Verb::SetConfig { target, config } => {
            let resource = match target {
                Target::Topic(topic) => ConfigTarget::Topic(rc(topic)),
                Target::Broker(id) => ConfigTarget::Broker(BrokerId(*id)),
                Target::Cluster => ConfigTarget::Cluster,
            };
            one(Action::Admin(AdminRequest::AlterConfigs { resource, configs: map(config) }))
        }
        Verb::ElectLeaders { unclean, partition } => one(Action::Admin(AdminRequest::ElectLeaders {
            topic: rc(&partition.topic),
            partition: partition.partition,
            unclean: *unclean,
        })),
        Verb::Produce(produce) => one(produce_action(scenario, produce)),
        Verb::StartClient { name, producer } if comes_back(scenario, name, producer) => {
            vec![Need::Role(Verb::Start(vec![Node::Client(name.clone())]))]
        }
        Verb::StartClient { name, producer } => {
            one(Action::StartProducer { name: rc(name), spec: producer_spec(producer) })
        }
        Verb::SetClient { name, rate, config } => {
            let mut needs = Vec::new();
            if !config.is_empty() {
                needs.push(Need::Ready(Action::Reconfigure { name: rc(name), config: map(config) }));
            }
            if let Some(rate) = rate {
                needs.push(Need::Ready(Action::SetRate { client: rc(name), per_second: *rate }));
            }
            needs
        }
        Verb::StopClient(name) | Verb::Leave(name) => one(Action::CloseClient { name: rc(name), within: None }),
        Verb::KillClient(name) => one(Action::KillClient { name: rc(name) }),
        Verb::PauseClient { member, span } => one(Action::PausePolling { member: rc(member), span: *span }),
        Verb::Join(join) => one(Action::Join { name: rc(&join.member), spec: join_spec(scenario, join) }),
        Verb::Seek { member, to } => to
            .iter()
            .map(|(partition, offset)| {
                Need::Ready(Action::Seek {
                    member: rc(member),
                    topic: rc(&partition.topic),
                    partition: partition.partition,
                    offset: *offset as i64,
                })
            })
            .collect(),
        Verb::Commit(name) => one(Action::Commit { member: rc(name) }),
        Verb::Message { .. } => vec![Need::Role(verb.clone())],
        Verb::Release(name) => one(Action::Release { name: rc(name) }),
    }
}

/// A client of this scenario that is started with nothing but its name: it comes back as it was, a member in its group.
fn comes_back(scenario: &Scenario, name: &str, producer: &Producer) -> bool {
    let declared = || scenario.producers.iter().any(|(known, _)| known == name);
    (declared() || scenario.group_of(name).is_some()) && *producer == Producer::default()
}

/// The nodes of a verb that acts on nodes.
fn nodes_of(verb: &Verb) -> (&[Node], &[Node]) {
    match verb {
        Verb::Kill(nodes)
        | Verb::Stop(nodes)
        | Verb::Start(nodes)
        | Verb::Restart(nodes)
        | Verb::Pause(nodes)
        | Verb::Resume(nodes)
        | Verb::LoseDisk(nodes) => (nodes, &[]),
        Verb::Cut(sides) | Verb::Heal(Some(sides)) => (&sides.from, &sides.to),
        Verb::Link(link) => (&link.between, &link.and),
        Verb::Message { which, .. } => (which.from.as_slice(), which.to.as_slice()),
        Verb::Heal(None)
        | Verb::CreateTopic { .. }
        | Verb::AddPartitions { .. }
        | Verb::DeleteTopic(_)
        | Verb::DeleteRecords { .. }
        | Verb::SetConfig { .. }
        | Verb::ElectLeaders { .. }
        | Verb::Produce(_)
        | Verb::StartClient { .. }
        | Verb::SetClient { .. }
        | Verb::StopClient(_)
        | Verb::KillClient(_)
        | Verb::PauseClient { .. }
        | Verb::Join(_)
        | Verb::Leave(_)
        | Verb::Seek { .. }
        | Verb::Commit(_)
        | Verb::Release(_) => (&[], &[]),
    }
}

fn produce_action(scenario: &Scenario, produce: &Produce) -> Action {
    let own = || {
        scenario
            .producers
            .iter()
            .find(|(name, _)| *name == produce.client)
            .and_then(|(_, producer)| producer.topic.clone())
    };
    let first = || scenario.topics.first().map(|(name, _)| name.clone());
    let topic = produce.topic.clone().or_else(own).or_else(first).unwrap_or_default();
    // Several records are told apart by their number; a single one has exactly the value that was asked for.
    let values = match &produce.value {
        Some(value) if produce.count == 1 => Values::Exactly(rc(value)),
        Some(value) => Values::Numbered(rc(value)),
        None => Values::Numbered(rc("v")),
    };
    Action::Produce {
        client: rc(&produce.client),
        topic: rc(&topic),
        partition: produce.partition,
        key: produce.key.as_deref().map(rc),
        values,
        count: produce.count,
        every: produce.every,
    }
}

fn join_spec(scenario: &Scenario, join: &Join) -> ConsumerSpec {
    let known = scenario.groups.iter().find(|(name, _)| *name == join.group).map(|(_, group)| group);
    let first = || scenario.topics.first().map(|(name, _)| name.clone()).into_iter().collect();
    let topics = join.topics.clone().or_else(|| known.map(|group| group.topics.clone())).unwrap_or_else(first);
    let member = Member { start: None, client: join.client.clone(), poll: join.poll, config: join.config.clone() };
    let group = Group { topics, ..known.cloned().unwrap_or_default() };
    member_spec(&join.group, &group, &member)
}

/// Actions on nodes, once it is known who they are.
fn node_action(verb: &Verb, find: &dyn Fn(&Node) -> Option<NodeId>) -> Option<Action> {
    let all = |nodes: &Nodes| nodes.iter().map(find).collect::<Option<Vec<NodeId>>>();
    let first = |nodes: &Nodes| nodes.first().and_then(find);
    Some(match verb {
        Verb::Kill(nodes) => Action::Kill(first(nodes)?),
        Verb::Stop(nodes) => Action::Stop(first(nodes)?),
        Verb::Start(nodes) => Action::Start(first(nodes)?),
        Verb::Restart(nodes) => Action::Restart(first(nodes)?),
        Verb::Pause(nodes) => Action::Pause(first(nodes)?),
        Verb::Resume(nodes) => Action::Resume(first(nodes)?),
        Verb::LoseDisk(nodes) => Action::LoseDisk(first(nodes)?),
        Verb::Cut(sides) => Action::Cut { from: all(&sides.from)?, to: all(&sides.to)?, both: sides.both },
        Verb::Heal(None) => Action::HealAll,
        Verb::Heal(Some(sides)) => Action::Heal { from: all(&sides.from)?, to: all(&sides.to)?, both: sides.both },
        Verb::Link(link) => Action::Link {
            between: all(&link.between)?,
            and: all(&link.and)?,
            latency: link.change.latency,
            jitter: link.change.jitter,
            loss_per_million: link.change.loss_per_million,
        },
        Verb::Message { which, deed } => {
            // Whoever is named must be somebody; who is not named may be anybody.
            let end = |node: &Option<Node>| node.as_ref().map_or(Some(None), |node| find(node).map(Some));
            let (from, to) = (end(&which.from)?, end(&which.to)?);
            let pick = Pick { api: which.api, response: which.response, from, to, nth: which.nth };
            Action::Message { which: pick, deed: deed.clone() }
        }
        Verb::CreateTopic { .. }
        | Verb::AddPartitions { .. }
        | Verb::DeleteTopic(_)
        | Verb::DeleteRecords { .. }
        | Verb::SetConfig { .. }
        | Verb::ElectLeaders { .. }
        | Verb::Produce(_)
        | Verb::StartClient { .. }
        | Verb::SetClient { .. }
        | Verb::StopClient(_)
        | Verb::KillClient(_)
        | Verb::PauseClient { .. }
        | Verb::Join(_)
        | Verb::Leave(_)
        | Verb::Seek { .. }
        | Verb::Commit(_)
        | Verb::Release(_) => return None,
    })
}

/// A node that is named by its number.
pub fn plain_node(node: &Node) -> Option<NodeId> {
    match node {
        Node::Broker(id) => Some(NodeId::Broker(BrokerId(*id))),
        Node::Controller(id) => Some(NodeId::Controller(ControllerId(*id))),
        Node::Client(_) | Node::ActiveController | Node::LeaderOf(_) | Node::CoordinatorOf(_) => None,
    }
}
