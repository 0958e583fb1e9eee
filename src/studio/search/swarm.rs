//! One run of the swarm: play, check after every event and at random moments, heal, require convergence, count what
//! happened.

use highwater_engine::base::{Dur, NodeId, Rng, SimTime, StreamId};
use highwater_engine::check::{Checker, Observation, converged};
use std::rc::Rc;

use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::{ElectionKind, PartitionRegistration};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, World};

use super::draw::TRAFFIC;
use crate::link::Link;
use crate::scenario::lower::{self, Lowered};
use crate::scenario::{Moment, Scenario};

/// How often the hard things happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub runs: u64,
    pub simulated_seconds: u64,
    pub events: u64,
    pub elections: u64,
    pub unclean_elections: u64,
    pub controller_elections: u64,
    pub truncations_with_records: u64,
    pub isr_shrinks: u64,
    pub isr_expansions: u64,
    pub coordinator_loads: u64,
    pub rebalances: u64,
    pub records_acked: u64,
    pub records_delivered: u64,
    pub losses_under_acks_1: u64,
    pub duplicates_recognised: u64,
    /// Partitions that nobody could lead any more, because a change of `min.insync.replicas` had cleared their ELR
    /// while they had no leader.
    pub stranded_partitions: u64,
    pub inspections: u64,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        for (mine, theirs) in self.fields_mut().into_iter().zip(other.fields()) {
            *mine.1 += theirs.1;
        }
    }

    /// Name and value of each count.
    pub fn fields(&self) -> [(&'static str, u64); 17] {
        let mut copy = *self;
        copy.fields_mut().map(|(name, value)| (name, *value))
    }

    fn fields_mut(&mut self) -> [(&'static str, &mut u64); 17] {
        [
            ("runs", &mut self.runs),
            ("simulated seconds", &mut self.simulated_seconds),
            ("events", &mut self.events),
            ("elections", &mut self.elections),
            ("unclean elections", &mut self.unclean_elections),
            ("controller elections", &mut self.controller_elections),
            ("truncations that removed records", &mut self.truncations_with_records),
            ("ISR shrinks", &mut self.isr_shrinks),
            ("ISR expansions", &mut self.isr_expansions),
            ("coordinator loads", &mut self.coordinator_loads),
            ("rebalances", &mut self.rebalances),
            ("records acknowledged", &mut self.records_acked),
            ("records delivered", &mut self.records_delivered),
            ("losses under acks=1", &mut self.losses_under_acks_1),
            ("duplicates recognised", &mut self.duplicates_recognised),
            ("partitions stranded by a cleared ELR", &mut self.stranded_partitions),
            ("full inspections", &mut self.inspections),
        ]
    }

    /// The hard things that a swarm must have seen; those that it did not.
    pub fn never_happened(&self) -> Vec<&'static str> {
        self.fields().into_iter().filter(|(_, value)| *value == 0).map(|(name, _)| name).collect()
    }
}

/// A run that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    pub at: SimTime,
    /// What people call 0 s.
    pub origin: SimTime,
    /// The invariant and what was seen, or what did not converge.
    pub what: String,
    pub last_entries: Vec<TraceEntry>,
}

/// What a run was.
#[derive(Clone, Debug)]
pub struct RunReport {
    pub counts: Counts,
    pub failure: Option<Failure>,
}

/// How long convergence may take after the heal: sessions, elections, lag times and client backoffs all end within it.
const CONVERGENCE: Dur = Dur::secs(150);
/// How many trace entries a failure shows.
const TAIL: usize = 60;

/// Plays a draw to its end.
pub fn run(scenario: &Scenario) -> RunReport {
    let lowered = lower::lower(scenario);
    let mut player = Player::new(&lowered);
    let failure = player.play(scenario, &lowered).err();
    player.counts.runs = 1;
    player.counts.simulated_seconds = player.world.now().since(player.world.origin()).as_ms() / 1_000;
    RunReport { counts: player.counts, failure }
}

struct Player {
    world: World,
    checker: Checker,
    counts: Counts,
    rng: Rng,
    out: Vec<TraceEntry>,
    tail: Vec<TraceEntry>,
    /// Acknowledgements that only the leader gave, to find those that are lost.
    acked_by_one: std::collections::BTreeMap<(highwater_engine::base::Tp, i64), highwater_engine::base::Tag>,
}

impl Player {
    fn new(lowered: &Lowered) -> Player {
        let world = World::boot(&lowered.setup)
            .unwrap_or_else(|refusal| panic!("a drawn set-up must be possible: {refusal:?}"));
        let rng = Rng::stream(lowered.setup.seed.wrapping_add(1), StreamId::World);
        Player {
            world,
            checker: Checker::default(),
            counts: Counts::default(),
            rng,
            out: Vec::new(),
            tail: Vec::new(),
            acked_by_one: Default::default(),
        }
    }

    fn play(&mut self, scenario: &Scenario, lowered: &Lowered) -> Result<(), Failure> {
        let origin = self.world.origin();
        for due in &lowered.plan {
            self.run_to(origin + due.at.at)?;
            // Drawn scenarios name nodes, never roles.
            if let Some(action) = due.need.action(&lower::plain_node) {
                self.act(action)?;
            }
        }
        self.run_to(origin + TRAFFIC)?;
        self.heal(scenario)?;
        let healed = self.world.now();
        let mut reason = String::new();
        while self.world.now() < healed + CONVERGENCE {
            self.run_to(self.world.now() + Dur::secs(2))?;
            match converged(&self.world) {
                Ok(()) => {
                    self.inspect()?;
                    return Ok(());
                }
                Err(not) => reason = not.what,
            }
        }
        Err(self.failure(format!("does not converge within {} s of healing: {reason}", CONVERGENCE.as_ms() / 1_000)))
    }

    fn heal(&mut self, scenario: &Scenario) -> Result<(), Failure> {
        self.act(Action::HealAll)?;
        let nodes: Vec<NodeId> =
            self.world.machines().map(|(id, _)| id).filter(|id| !matches!(id, NodeId::Client(_))).collect();
        let all = Action::Link {
            between: nodes.clone(),
            and: nodes.clone(),
            latency: None,
            jitter: None,
            loss_per_million: Some(0),
        };
        self.act(all)?;
        for &node in &nodes {
            // Refused where the node is neither paused nor down.
            self.act(Action::Resume(node))?;
            self.act(Action::Start(node))?;
        }
        for (name, _) in &scenario.producers {
            self.act(Action::SetRate { client: name.as_str().into(), per_second: 0 })?;
        }
        // A broker that was stopping when everything was healed starts after it has ended.
        for _ in 0..10 {
            self.run_to(self.world.now() + Dur::secs(2))?;
            for &node in &nodes {
                self.act(Action::Start(node))?;
            }
        }
        self.rescue_stranded()
    }

    /// A partition with nobody in ISR, ELR and last known leaders waits for an administrator for ever: here he comes.
    fn rescue_stranded(&mut self) -> Result<(), Failure> {
        let Some(active) = self.world.active_controller().and_then(|id| self.world.controller(id)) else {
            return Ok(());
        };
        let image = active.image();
        let is_stranded = |p: &PartitionRegistration| {
            p.leader.is_none() && p.isr.is_empty() && p.elr.is_empty() && p.last_known_elr.is_empty()
        };
        let stranded: Vec<(Rc<str>, u32)> = image
            .partitions()
            .filter(|(_, p)| is_stranded(p))
            .filter_map(|(tp, _)| image.topic_name(tp.topic).map(|name| (name.clone(), tp.partition)))
            .collect();
        for (topic, partition) in stranded {
            self.counts.stranded_partitions += 1;
            self.act(Action::Admin(AdminRequest::ElectLeaders { topic, partition, unclean: true }))?;
        }
        Ok(())
    }

    fn act(&mut self, action: Action) -> Result<(), Failure> {
        self.out.clear();
        // Refusals are part of the game: a start may meet a broker that is still stopping.
        let _ = self.world.act(action, &mut self.out);
        self.noticed()
    }

    fn run_to(&mut self, until: SimTime) -> Result<(), Failure> {
        while self.world.next_event_at().is_some_and(|at| at <= until) {
            self.out.clear();
            self.world.step(&mut self.out);
            self.counts.events += 1;
            self.noticed()?;
            if self.rng.below(20_000) == 0 {
                self.inspect()?;
            }
        }
        self.out.clear();
        self.world.run_until(until, &mut self.out);
        Ok(())
    }

    fn inspect(&mut self) -> Result<(), Failure> {
        self.counts.inspections += 1;
        let seen = Observation::of(&self.world);
        let mut lost = Vec::new();
        for ((tp, offset), tag) in &self.acked_by_one {
            let leader = seen.image.as_ref().and_then(|i| i.partition(*tp)).and_then(|p| p.leader);
            let log = leader.and_then(|l| seen.logs.get(&(l, *tp)));
            if let Some(log) = log
                && log.end_offset() > *offset
                && log.batch_at(*offset).is_some_and(|b| b.record_at(*offset).is_none_or(|r| r.tag != *tag))
            {
                lost.push((*tp, *offset));
            }
        }
        // Each lost acknowledgement counts once, at the first look that misses it.
        self.counts.losses_under_acks_1 += lost.len() as u64;
        for key in lost {
            self.acked_by_one.remove(&key);
        }
        self.checker.inspect(&seen).map_err(|v| self.failure(format!("{:?}: {}", v.invariant, v.what)))
    }

    fn noticed(&mut self) -> Result<(), Failure> {
        for entry in &self.out {
            self.counts.count(&entry.kind);
            if let Kind::RecordAcked { tag, tp, offset } = entry.kind
                && offset >= 0
            {
                self.acked_by_one.insert((tp, offset), tag);
            }
        }
        self.tail.extend(self.out.iter().cloned());
        if self.tail.len() > 4 * TAIL {
            let surplus = self.tail.len() - TAIL;
            self.tail.drain(..surplus);
        }
        self.checker.follow(&self.world, &self.out).map_err(|v| self.failure(format!("{:?}: {}", v.invariant, v.what)))
    }

    fn failure(&self, what: String) -> Failure {
        let surplus = self.tail.len().saturating_sub(TAIL);
        Failure { at: self.world.now(), origin: self.world.origin(), what, last_entries: self.tail[surplus..].to_vec() }
    }
}

impl Counts {
    fn count(&mut self, kind: &Kind) {
        match kind {
            Kind::LeaderElected { election, .. } => {
                self.elections += 1;
                self.unclean_elections +=
                    u64::from(matches!(election, ElectionKind::Unclean | ElectionKind::LastKnown));
            }
            Kind::ControllerActivated { .. } => self.controller_elections += 1,
            Kind::LogTruncated { from, to, .. } => self.truncations_with_records += u64::from(to < from),
            Kind::IsrShrunk { .. } => self.isr_shrinks += 1,
            Kind::IsrExpanded { .. } => self.isr_expansions += 1,
            Kind::CoordinatorLoaded { .. } => self.coordinator_loads += 1,
            Kind::GroupStateChanged { state: highwater_engine::protocol::GroupState::PreparingRebalance, .. } => {
                self.rebalances += 1
            }
            Kind::RecordAcked { .. } => self.records_acked += 1,
            Kind::RecordDelivered { .. } => self.records_delivered += 1,
            Kind::DuplicateRecognised { .. } => self.duplicates_recognised += 1,
            _ => {}
        }
    }
}

/// Takes entries of the script away, one group after the other, as long as the run still fails; at most `tries` runs.
pub fn shrink(scenario: &Scenario, tries: u32) -> Scenario {
    let mut best = scenario.clone();
    let mut size = best.script.len().div_ceil(2).max(1);
    let mut left = tries;
    while left > 0 {
        let mut shrunk = false;
        let mut from = 0;
        while from < best.script.len() && left > 0 {
            let mut candidate = best.clone();
            let to = (from + size).min(candidate.script.len());
            candidate.script.drain(from..to);
            left -= 1;
            if run(&candidate).failure.is_some() {
                best = candidate;
                shrunk = true;
            } else {
                from = to;
            }
        }
        if size == 1 && !shrunk {
            break;
        }
        size = if size == 1 { 1 } else { size.div_ceil(2) };
    }
    best
}

/// The link that opens a run at a moment, `#` included.
pub fn link(scenario: &Scenario, at: SimTime, origin: SimTime) -> String {
    let moment = Moment::after(at.since(origin));
    format!("#{}", Link { at: Some(moment), ..Link::new(scenario.clone()) }.fragment())
}
