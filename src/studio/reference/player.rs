//! One run of a recording with one seed: the steps are done as the recorder did them, one after the other, each as long
//! as it took it. Judges nothing.
//!
//! The recorder drove a client by lines of text and looked for the reply every 20 ms; a condition was asked again 250
//! ms after each answer, by a new admin client. Both are done here too, for they decide what is seen of things that
//! pass quickly.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use highwater_engine::base::{BrokerId, ControllerId, Dur, NodeId, SimTime};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::rules::{Broken, Version};
use highwater_engine::trace::TraceEntry;
use highwater_engine::world::{Action, BrokerSetup, LinkSetup, Refusal, Setup};
use serde_json::{Value, json};

use super::answer::{self, Answer};
use super::entries::{Produced, Verb, Who};
use super::journal::Journal;
use super::modelled::{self, Gaps};
use super::queries::{Condition, Query};
use super::recording::{Entry, Recording, Step};
use super::steps::{self, config_map};
use super::subject::Subject;
use crate::notation::{self, Book};

/// How often the recorder looked for a reply.
const LOOK_EVERY: Dur = Dur::ms(20);
/// Pause between two questions of a `when`.
const ASK_EVERY: Dur = Dur::ms(250);
/// What a new admin client cost the recorder beside that: it looked at a condition for the second time 0.33 to 0.36 s
/// after the first.
const RENEWAL: Dur = Dur::ms(40);
/// The first `send` of a run came later than the others, its classes had to be loaded: of two producers that began 20
/// ms apart, the second one's first record stands before the first one's second in every run.
const FIRST_SEND: Dur = Dur::ms(10);
/// The recorder slept between two records of a burst, and each round took so much longer than that: a hundred records
/// at 20 ms are 40 to 110 ms late at the end, so that what is done to a node at a full second may come before a record
/// or after it.
const ROUND: (Dur, Dur) = (Dur::us(400), Dur::us(1100));
/// The recorder's patience with one command.
const PATIENCE: Dur = Dur::secs(40);
/// How long a controlled shutdown may take.
const STOP_LIMIT: Dur = Dur::secs(60);
/// How long the cluster may take until all brokers are there.
const READY_LIMIT: Dur = Dur::secs(60);
/// The recorder calls `close` with this time-out.
const CLOSE_TIMEOUT: Dur = Dur::secs(3);

/// What one run showed, entry by entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    pub observed: Vec<Observed>,
}

/// What became of one entry.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// A wait or a mark: there is nothing to see.
    Nothing,
    /// An action: accepted, or the exception by name.
    Answered(Option<String>),
    /// A condition.
    Waited { held: bool, took: Dur, see: Value },
    /// A query's value.
    Seen(Value),
    /// The engine does not model it, and why.
    NotModelled(String),
    /// It could not be done at all, and why; never right.
    Impossible(String),
}

impl Play {
    /// A run that came to nothing.
    pub fn failed(recording: &Recording, reason: String) -> Play {
        Play { observed: vec![Observed::Impossible(reason); recording.script.len()] }
    }
}

/// Plays a recording once.
pub fn play<S: Subject>(recording: &Recording, seed: u64) -> Play {
    run::<S>(recording, seed, false).0
}

/// Plays a recording once and tells the controllers' decisions as text, beside the recorded metadata log.
pub fn play_with_decisions<S: Subject>(recording: &Recording, seed: u64) -> (Play, String) {
    let (play, journal) = run::<S>(recording, seed, true);
    let mut text = String::from("  recorded:\n");
    for record in &recording.metadata {
        let _ = writeln!(text, "    {record}");
    }
    let _ = writeln!(text, "  the engine's, with seed {seed}:");
    for line in journal.decisions() {
        let _ = writeln!(text, "    {line}");
    }
    (play, text)
}

fn run<S: Subject>(recording: &Recording, seed: u64, decisions: bool) -> (Play, Journal) {
    let all = |observed: Observed| (Play { observed: vec![observed; recording.script.len()] }, Journal::default());
    if let Some(reason) = modelled::setup_gap(recording) {
        return all(Observed::NotModelled(reason));
    }
    let setup = match setup(recording, seed) {
        Ok(setup) => setup,
        Err(reason) => return all(Observed::NotModelled(reason)),
    };
    let world = match S::boot(&setup) {
        Ok(world) => world,
        Err(refusal) => return all(Observed::Impossible(format!("the cluster does not boot: {}", words(&refusal)))),
    };
    let mut player = Player {
        world,
        seed,
        trace: Vec::new(),
        journal: Journal::watching(decisions),
        gaps: Gaps::default(),
        dead_controllers: Vec::new(),
        sent: BTreeMap::new(),
        topic: String::new(),
        has_sent: false,
    };
    let expected = setup.brokers.iter().filter(|b| b.started).map(|b| i64::from(b.id.0)).collect();
    if !player.until(&[Condition::Brokers(expected)], READY_LIMIT).held {
        return all(Observed::Impossible("not all brokers are there 60 s after the start of the cluster".into()));
    }
    // The recorder's first client had asked while no broker was up: its calls spread over all of them when they came.
    player.world_act(Action::Admin(AdminRequest::Connect));
    player.journal.begin(player.world.now());
    let observed = recording.script.iter().map(|entry| player.entry(entry)).collect();
    (Play { observed }, player.journal)
}

fn setup(recording: &Recording, seed: u64) -> Result<Setup, String> {
    let of = &recording.setup;
    let version =
        recording.kafka.first().and_then(|v| Version::parse(v)).ok_or("this version of Kafka is not modelled")?;
    let broker = |number: u32| {
        let id = BrokerId(number);
        BrokerSetup {
            id,
            rack: of.racks.get(&number).map(|rack| rack.as_str().into()),
            started: of.started.as_ref().is_none_or(|started| started.contains(&id)),
        }
    };
    Ok(Setup {
        seed,
        version,
        controllers: of.controllers,
        brokers: (1..=of.brokers).map(broker).collect(),
        config: config_map(&of.config),
        link: LinkSetup::default(),
        broken: Broken::NOTHING,
    })
}

struct Player<S> {
    world: S,
    seed: u64,
    trace: Vec<TraceEntry>,
    journal: Journal,
    gaps: Gaps,
    /// Controllers that went down, the last one last.
    dead_controllers: Vec<ControllerId>,
    /// Prefixes of the numbered values of each producer, in order of sending.
    sent: BTreeMap<String, Vec<String>>,
    /// The topic that the script named last: what a lone `partitions` asks about.
    topic: String,
    has_sent: bool,
}

struct Waited {
    held: bool,
    took: Dur,
    last: Answer,
}

impl<S: Subject> Player<S> {
    fn entry(&mut self, entry: &Entry) -> Observed {
        match &entry.step {
            Step::Wait(span) => {
                self.pass(*span);
                Observed::Nothing
            }
            Step::Mark(name) => {
                self.journal.mark(name);
                Observed::Nothing
            }
            Step::Do { verb, refused } => match self.gaps.verb_gap(verb, refused.contains(&None)) {
                Some(reason) => Observed::NotModelled(reason),
                None => self.act(verb),
            },
            Step::When { conditions, within, .. } => match self.gaps.everything() {
                Some(reason) => Observed::NotModelled(reason),
                None => {
                    let waited = self.until(conditions, *within);
                    Observed::Waited {
                        held: waited.held,
                        took: waited.took,
                        see: answer::topics_value(waited.last.partitions()),
                    }
                }
            },
            Step::Query { query, .. } => match self.gaps.query_gap(query) {
                Some(reason) => Observed::NotModelled(reason),
                None => {
                    // Every other seed plays the run that asked later.
                    if let Some(later) = entry.later.filter(|_| self.seed.is_multiple_of(2)) {
                        self.pass(later);
                    }
                    Observed::Seen(self.query(query))
                }
            },
        }
    }

    // Time.

    fn look(&mut self) {
        self.journal.take(&mut self.trace);
    }

    fn pass(&mut self, span: Dur) {
        self.pass_to(self.world.now() + span);
    }

    fn pass_to(&mut self, moment: SimTime) {
        self.world.run_until(moment, &mut self.trace);
        self.look();
    }

    /// Lets events happen one by one until `done` says something, at most for `limit`.
    fn pass_until<T>(&mut self, limit: Dur, done: impl Fn(&Self) -> Option<T>) -> Option<T> {
        let deadline = self.world.now() + limit;
        loop {
            if let Some(found) = done(self) {
                return Some(found);
            }
            match self.world.next_event_at() {
                Some(at) if at <= deadline => {
                    self.world.step(&mut self.trace);
                    self.look();
                }
                Some(_) | None => {
                    self.pass_to(deadline);
                    return done(self);
                }
            }
        }
    }

    /// Time goes on to the moment at which the recorder looked next, counted from when it began.
    fn align(&mut self, began: SimTime) {
        let looks = self.world.now().since(began).0.div_ceil(LOOK_EVERY.0).max(1);
        self.pass_to(began + Dur(looks * LOOK_EVERY.0));
    }

    // Questions.

    fn ask(&mut self, request: AdminRequest) -> Answer {
        let began = self.world.now();
        let answer = match self.world.act(Action::Admin(request), &mut self.trace) {
            Ok(action) => {
                self.pass_until(PATIENCE, |player| player.world.answer(action, &|topic| player.journal.topic(topic)))
            }
            Err(refusal) => Some(Answer::Failed(refused_by_world(&refusal))),
        };
        self.look();
        self.align(began);
        answer.unwrap_or_else(|| Answer::Failed("timeout".into()))
    }

    /// The recorder took a new admin client, so that one broker's old knowledge was not taken for the cluster's.
    fn renew(&mut self) {
        let began = self.world.now();
        self.ask(AdminRequest::Renew);
        self.pass_to(began + LOOK_EVERY + RENEWAL);
    }

    fn describe(&mut self, topics: &[String]) -> Answer {
        let answer =
            self.ask(AdminRequest::DescribeTopics { topics: Some(topics.iter().map(|t| t.as_str().into()).collect()) });
        if answer.exception().is_some() {
            // After a failure its program took a new client within the same command.
            self.world_act(Action::Admin(AdminRequest::Renew));
        }
        answer
    }

    fn group(&mut self, group: &str) -> Answer {
        self.ask(AdminRequest::DescribeGroup { group: group.into() })
    }

    fn until(&mut self, conditions: &[Condition], within: Dur) -> Waited {
        let began = self.world.now();
        let topics = steps::topics_of(conditions, &self.topic);
        loop {
            let last = if topics.is_empty() { self.ask(AdminRequest::DescribeCluster) } else { self.describe(&topics) };
            let held = answer::holds(conditions, &last);
            let took = self.world.now().since(began);
            if held || took > within {
                return Waited { held, took, last };
            }
            self.renew();
            self.pass(ASK_EVERY);
        }
    }

    fn query(&mut self, query: &Query) -> Value {
        match query {
            Query::Topics(topics) => answer::topics_value(self.describe(topics).partitions()),
            Query::Leaderless(topic) => {
                answer::leaderless_value(self.describe(std::slice::from_ref(topic)).partitions())
            }
            Query::IsrSizes(topics) => answer::isr_sizes_value(self.describe(topics).partitions()),
            Query::Offsets { topic, partition } => answer::offsets_value(
                &self.ask(AdminRequest::ListOffsets { topic: topic.as_str().into(), partition: *partition }),
            ),
            Query::Group { group, fields } => answer::group_value(&self.group(group), fields),
            Query::GroupSizes(group) => answer::group_sizes_value(&self.group(group)),
            Query::Committed(group) => {
                answer::committed_value(&self.ask(AdminRequest::ListCommitted { group: group.as_str().into() }))
            }
            Query::CoordinatorIsLeaderOf { group, partition } => {
                let described = self.describe(&[highwater_engine::protocol::CONSUMER_OFFSETS.to_string()]);
                let leader = described.partitions().iter().find(|p| p.partition == *partition).map(|p| p.leader);
                match self.group(group) {
                    Answer::Group { coordinator, .. } => json!(leader == Some(coordinator)),
                    Answer::Done
                    | Answer::Failed(_)
                    | Answer::Topics(_)
                    | Answer::Offsets { .. }
                    | Answer::Committed(_)
                    | Answer::Quorum { .. }
                    | Answer::Cluster { .. } => {
                        json!(false)
                    }
                }
            }
            Query::HasLeader => json!(self.quorum_leader().is_some()),
            Query::PartitionOfEach(producer) => self.journal.partition_of_each(producer),
            Query::Answers { producer, since } => self.journal.answers(producer, since.as_deref()),
            Query::EachAnswer { producer, since, value } => self.journal.each_answer(producer, since.as_deref(), value),
            Query::Read { member, since } => self.journal.read(member, since.as_deref()),
            Query::LogAsRead { member, since, limit } => self.journal.log_as_read(member, since.as_deref(), *limit),
            Query::Rebalances { members, since } => self.journal.rebalances(members, since.as_deref()),
            Query::Errors { members, since } => self.journal.errors(members, since.as_deref()),
            Query::Promises { client, member } => {
                self.journal.promises(client, member, self.sent.get(client).map_or(&[], Vec::as_slice))
            }
            Query::OldClient(member) => {
                let slow = self.world.client_id(member).map_or(0, |id| self.world.slow_polls(id));
                self.journal.old_client(member, slow)
            }
        }
    }

    fn quorum_leader(&mut self) -> Option<ControllerId> {
        match self.ask(AdminRequest::DescribeQuorum) {
            Answer::Quorum { leader } => leader.map(ControllerId),
            Answer::Done
            | Answer::Failed(_)
            | Answer::Topics(_)
            | Answer::Offsets { .. }
            | Answer::Group { .. }
            | Answer::Committed(_)
            | Answer::Cluster { .. } => None,
        }
    }

    // Actions.

    fn act(&mut self, verb: &Verb) -> Observed {
        if let Some(topic) = steps::topic_named(verb) {
            self.topic = topic.to_string();
        }
        match verb {
            Verb::Kill(who) => self.node(who, Action::Kill),
            Verb::Stop(who) => self.stop(who),
            Verb::Start(who) => self.node(who, Action::Start),
            Verb::Pause(who) => self.node(who, Action::Pause),
            Verb::Resume(who) => self.node(who, Action::Resume),
            Verb::LoseDisk(who) => self.node(who, Action::LoseDisk),
            Verb::Cut { between, and } => {
                self.world_act(Action::Cut { from: between.clone(), to: and.clone(), both: true })
            }
            Verb::Heal => self.world_act(Action::HealAll),
            Verb::CreateTopic { .. }
            | Verb::AddPartitions { .. }
            | Verb::DeleteTopic(_)
            | Verb::DeleteRecords { .. }
            | Verb::SetConfig { .. }
            | Verb::ElectLeaders { .. } => match steps::admin_request(verb) {
                Ok(request) => Observed::Answered(self.ask(request).exception().map(str::to_string)),
                Err(reason) => Observed::Impossible(reason),
            },
            Verb::StartClient { client, config, bootstrap } => {
                self.start(client, steps::start_producer(client, config, bootstrap))
            }
            Verb::Join { member, group, topics, config, old } => {
                match steps::join(member, group, topics, config, old.as_ref()) {
                    Ok(action) => self.start(member, action),
                    Err(reason) => Observed::Impossible(reason),
                }
            }
            Verb::Produce { client, topic, partition, what } => {
                if let Produced::Numbered { value, .. } = what {
                    self.sent.entry(client.clone()).or_default().push(value.clone());
                }
                let began = self.world.now();
                if !self.has_sent {
                    self.has_sent = true;
                    self.pass(FIRST_SEND);
                }
                let round = round(self.seed);
                let observed = self.world_act(steps::produce(client, topic, *partition, what, round));
                self.align(began);
                observed
            }
            Verb::Leave(member) => {
                self.client_act(Action::CloseClient { name: member.as_str().into(), within: Some(CLOSE_TIMEOUT) })
            }
            Verb::PauseClient { member, span } => {
                self.client_act(Action::PausePolling { member: member.as_str().into(), span: *span })
            }
            Verb::Reassign { .. } | Verb::Transaction { .. } => Observed::Impossible("there is no such action".into()),
        }
    }

    fn resolve(&mut self, who: &Who) -> Result<NodeId, String> {
        match who {
            Who::Node(node) => Ok(*node),
            Who::ActiveController => self
                .quorum_leader()
                .map(NodeId::Controller)
                .ok_or_else(|| "the quorum names no active controller".to_string()),
            Who::CoordinatorOf(group) => match self.group(group) {
                Answer::Group { coordinator, .. } if coordinator > 0 => {
                    Ok(NodeId::Broker(BrokerId(coordinator as u32)))
                }
                other => Err(format!("the group {group} has no coordinator: {other:?}")),
            },
            Who::LeaderOf(topic, partition) => {
                let described = self.describe(std::slice::from_ref(topic));
                let leader = described.partitions().iter().find(|p| p.partition == *partition).map_or(-1, |p| p.leader);
                if leader > 0 {
                    Ok(NodeId::Broker(BrokerId(leader as u32)))
                } else {
                    Err(format!("{} has no leader", answer::name(topic, *partition)))
                }
            }
            Who::DeadController => self
                .dead_controllers
                .last()
                .copied()
                .map(NodeId::Controller)
                .ok_or_else(|| "no controller is down".to_string()),
        }
    }

    fn node(&mut self, who: &Who, action: impl Fn(NodeId) -> Action) -> Observed {
        let node = match self.resolve(who) {
            Ok(node) => node,
            Err(reason) => return Observed::Impossible(reason),
        };
        let action = action(node);
        if let NodeId::Controller(id) = node {
            if matches!(action, Action::Kill(_) | Action::Stop(_)) {
                self.dead_controllers.push(id);
            } else if matches!(action, Action::Start(_)) {
                self.dead_controllers.retain(|dead| *dead != id);
            }
        }
        self.world_act(action)
    }

    /// The recorder waited until the process had ended.
    fn stop(&mut self, who: &Who) -> Observed {
        let node = match self.resolve(who) {
            Ok(node) => node,
            Err(reason) => return Observed::Impossible(reason),
        };
        let exits = self.journal.exits(node);
        let observed = self.node(&Who::Node(node), Action::Stop);
        if observed != Observed::Answered(None) {
            return observed;
        }
        match self.pass_until(STOP_LIMIT, |player| (player.journal.exits(node) > exits).then_some(())) {
            Some(()) => observed,
            None => Observed::Impossible(format!("{node} has not ended 60 s after it was asked to stop")),
        }
    }

    fn world_act(&mut self, action: Action) -> Observed {
        let done = self.world.act(action, &mut self.trace);
        self.look();
        match done {
            Ok(_) => Observed::Answered(None),
            Err(refusal) => Observed::Impossible(refused_by_world(&refusal)),
        }
    }

    /// A line to the recorder's client.
    fn client_act(&mut self, action: Action) -> Observed {
        let observed = self.world_act(action);
        self.pass(LOOK_EVERY);
        observed
    }

    fn start(&mut self, name: &str, action: Action) -> Observed {
        let done = self.world.act(action, &mut self.trace);
        if let Some(client) = self.world.client_id(name).filter(|_| done.is_ok()) {
            self.journal.started(name, client);
        }
        self.pass(LOOK_EVERY);
        match done {
            Ok(_) => Observed::Answered(None),
            Err(Refusal::ClientConfig { exception, .. }) => Observed::Answered(Some(exception.to_string())),
            Err(refusal) => Observed::Impossible(refused_by_world(&refusal)),
        }
    }
}

/// What a round of a burst costs in the run of this seed, anywhere in `ROUND`.
fn round(seed: u64) -> Dur {
    let width = ROUND.1.0 - ROUND.0.0;
    ROUND.0 + Dur(seed.wrapping_mul(137) % width)
}

fn refused_by_world(refusal: &Refusal) -> String {
    format!("refused by the simulation: {}", words(refusal))
}

fn words(refusal: &Refusal) -> String {
    notation::refusal(refusal, &Book::default())
}
