//! What waits, from when to when: a fold that goes along the trace and knows nothing of what follows, so that a line
//! says what was so at its own moment. It knows no cure.
use std::rc::Rc;

use highwater_engine::base::{BrokerId, Dur, Map, NodeId, SimTime, Tp};
use highwater_engine::protocol::GroupState;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::boot::ADMIN;

use super::asked::WaitFor;
use super::fact::Fact;
use super::names::name_of;
use super::records::Records;
use super::seen::Seen;
use crate::kinds::Part;

/// A record that has no answer for so long waits.
const UNANSWERED: Dur = Dur::secs(1);
/// An acknowledged record that nobody of a group was given for so long waits.
const UNREAD: Dur = Dur::secs(2);
/// What ends sooner is no wait that anybody notices.
const SHORT: Dur = Dur::ms(100);

/// What somebody waits for, by the engine's names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Awaits {
    Leader(Tp),
    /// `group.initial.rebalance.delay.ms`.
    MoreMembers(Rc<str>),
    Rebalance(Rc<str>),
    Coordinator(NodeId, Rc<str>),
    Commit(NodeId, Rc<str>),
    Poll(NodeId, Rc<str>),
    Success(NodeId),
    LivingBroker(NodeId),
    Answer(NodeId, Rc<str>, Option<u32>),
    Reading(Rc<str>, Tp),
}

impl Awaits {
    /// Whose process it is that waits, if it is one's.
    fn client(&self) -> Option<NodeId> {
        match self {
            Awaits::Coordinator(who, _)
            | Awaits::Commit(who, _)
            | Awaits::Poll(who, _)
            | Awaits::Success(who)
            | Awaits::LivingBroker(who)
            | Awaits::Answer(who, ..) => Some(*who),
            Awaits::Leader(_) | Awaits::MoreMembers(_) | Awaits::Rebalance(_) | Awaits::Reading(..) => None,
        }
    }

    fn patience(&self) -> Dur {
        match self {
            Awaits::Answer(..) => UNANSWERED,
            Awaits::Reading(..) => UNREAD,
            Awaits::Leader(_)
            | Awaits::MoreMembers(_)
            | Awaits::Rebalance(_)
            | Awaits::Coordinator(..)
            | Awaits::Commit(..)
            | Awaits::Poll(..)
            | Awaits::Success(_)
            | Awaits::LivingBroker(_) => SHORT,
        }
    }

    fn part(&self) -> Part {
        match self {
            Awaits::Leader(_) => Part::Controller,
            Awaits::MoreMembers(_)
            | Awaits::Rebalance(_)
            | Awaits::Coordinator(..)
            | Awaits::Commit(..)
            | Awaits::Poll(..)
            | Awaits::Reading(..) => Part::Group,
            Awaits::Success(_) | Awaits::LivingBroker(_) | Awaits::Answer(..) => Part::Producer,
        }
    }

    fn named(&self, seen: Seen<'_>) -> WaitFor {
        let client = |who: &NodeId| name_of(seen.node(*who));
        match self {
            Awaits::Leader(tp) => WaitFor::Leader { partition: seen.partition(*tp) },
            Awaits::MoreMembers(group) => WaitFor::MoreMembers { group: group.to_string() },
            Awaits::Rebalance(group) => WaitFor::Rebalance { group: group.to_string() },
            Awaits::Coordinator(who, group) => WaitFor::Coordinator { client: client(who), group: group.to_string() },
            Awaits::Commit(who, group) => WaitFor::Commit { client: client(who), group: group.to_string() },
            Awaits::Poll(who, group) => WaitFor::Poll { client: client(who), group: group.to_string() },
            Awaits::Success(who) => WaitFor::Success { client: client(who) },
            Awaits::LivingBroker(who) => WaitFor::LivingBroker { client: client(who) },
            Awaits::Answer(who, topic, partition) => {
                WaitFor::Answer { client: client(who), topic: topic.to_string(), partition: *partition }
            }
            Awaits::Reading(group, tp) => WaitFor::Reading { group: group.to_string(), partition: seen.partition(*tp) },
        }
    }
}

/// One wait.
#[derive(Clone, Debug)]
pub struct Wait {
    pub what: Awaits,
    pub from: SimTime,
    pub to: Option<SimTime>,
    /// Records or attempts in it.
    pub count: u64,
    told: bool,
}

/// A line of a wait: at its beginning, as soon as it deserves the name, or at its end.
#[derive(Clone, Debug)]
pub struct WaitLine {
    /// The entry behind which it stands.
    pub entry: usize,
    pub at: SimTime,
    pub part: Part,
    pub fact: Fact,
}

/// Follows the trace and notes what begins and what ends.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    open: Map<Awaits, Wait>,
    done: Vec<Wait>,
    lines: Vec<WaitLine>,
    brokers: Map<BrokerId, bool>,
    /// Groups with who coordinates them, and whether they have members beyond a first round.
    gathered: Map<Rc<str>, (NodeId, bool)>,
    records: Records,
    /// Entries that were seen, and when the records are looked at again.
    seen: usize,
    look_at: SimTime,
}

impl Waits {
    /// Goes on along the trace to an entry.
    pub fn advance(&mut self, seen: Seen<'_>, end: usize) {
        if self.seen == 0 {
            let brokers = seen.branch().lowered.setup.brokers.iter();
            self.brokers = brokers.map(|broker| (broker.id, broker.started)).collect();
        }
        for (number, entry) in seen.reel().entries(self.seen..end) {
            self.tell_patiently(seen, number, entry.at);
            self.records.see(seen, entry);
            self.see(seen, number, entry);
            self.seen = number + 1;
        }
    }

    /// Lines that stand behind entries of a range.
    pub fn lines(&self, range: std::ops::Range<usize>) -> &[WaitLine] {
        let place = |entry: usize| self.lines.partition_point(|line| line.entry < entry);
        &self.lines[place(range.start)..place(range.end)]
    }

    /// Every wait that lasted, those that go on last.
    pub fn all(&self) -> impl Iterator<Item = &Wait> {
        self.done.iter().chain(self.open.values().filter(|wait| wait.told))
    }

    fn begin(&mut self, what: Awaits, at: SimTime) {
        let wait = Wait { what: what.clone(), from: at, to: None, count: 0, told: false };
        self.open.entry(what).or_insert(wait).count += 1;
    }

    fn line(&mut self, seen: Seen<'_>, number: usize, at: SimTime, wait: &Wait) {
        let what = wait.what.named(seen);
        let fact = match wait.to {
            None => Fact::WaitBegan { what, since_us: seen.us(wait.from) },
            Some(to) => Fact::WaitEnded { what, after_us: to.since(wait.from).0, count: wait.count },
        };
        self.lines.push(WaitLine { entry: number, at, part: wait.what.part(), fact });
    }

    fn end(&mut self, seen: Seen<'_>, number: usize, at: SimTime, ends: impl Fn(&Awaits) -> bool) {
        if self.open.is_empty() {
            return;
        }
        let ended: Vec<Awaits> = self.open.keys().filter(|what| ends(what)).cloned().collect();
        for what in ended {
            let Some(wait) = self.open.remove(&what).filter(|wait| wait.told || at.since(wait.from) >= SHORT) else {
                continue;
            };
            if !wait.told {
                self.line(seen, number, at, &wait);
            }
            let wait = Wait { to: Some(at), told: true, ..wait };
            self.line(seen, number, at, &wait);
            self.done.push(wait);
        }
    }

    /// What has lasted by the moment of an entry is told there.
    fn tell_patiently(&mut self, seen: Seen<'_>, number: usize, at: SimTime) {
        if at < self.look_at {
            return;
        }
        self.look_at = at + SHORT;
        let waiting = self.records.over(at, UNANSWERED, UNREAD);
        for (what, from, count) in &waiting {
            let wait = Wait { what: what.clone(), from: *from, to: None, count: *count, told: false };
            self.open.entry(what.clone()).or_insert(wait);
        }
        let late = |wait: &&mut Wait| !wait.told && at.since(wait.from) >= wait.what.patience();
        let told: Vec<Wait> = self
            .open
            .values_mut()
            .filter(late)
            .map(|wait| {
                wait.told = true;
                wait.clone()
            })
            .collect();
        for wait in told {
            self.line(seen, number, at, &wait);
        }
        // What is not about records does not end by looking at them.
        let is_over = |what: &Awaits| {
            matches!(what, Awaits::Answer(..) | Awaits::Reading(..)) && !waiting.iter().any(|(other, ..)| other == what)
        };
        let ended: Vec<Awaits> = self.open.keys().filter(|what| is_over(what)).cloned().collect();
        for what in ended {
            if let Some(wait) = self.open.get_mut(&what) {
                wait.count = self.records.counted(&what);
            }
            self.end(seen, number, at, |other| *other == what);
        }
    }

    fn see(&mut self, seen: Seen<'_>, number: usize, entry: &TraceEntry) {
        let (at, who) = (entry.at, entry.who);
        match &entry.kind {
            Kind::ProcessStarted | Kind::ProcessResumed => self.runs(who, true),
            Kind::ProcessPaused => self.runs(who, false),
            Kind::ProcessKilled | Kind::ProcessExited { .. } | Kind::ClientClosed { .. } => {
                self.runs(who, false);
                self.coordinates_no_more(seen, number, at, who);
                self.records.forget_producer(who);
                self.end(seen, number, at, |what| what.client() == Some(who));
            }
            Kind::LeaderLost { tp, .. } if seen.reel().is_notable(number) => self.begin(Awaits::Leader(*tp), at),
            Kind::LeaderElected { tp, .. } => self.end(seen, number, at, |what| *what == Awaits::Leader(*tp)),
            Kind::TopicDeleted { topic, .. } => {
                self.records.forget_topic(*topic);
                self.end(
                    seen,
                    number,
                    at,
                    |what| matches!(what, Awaits::Leader(tp) | Awaits::Reading(_, tp) if tp.topic == *topic),
                );
            }
            Kind::GroupStateChanged { group, state, members, .. } => {
                let of = |what: &Awaits| matches!(what, Awaits::MoreMembers(of) | Awaits::Rebalance(of) if of == group);
                let gathered = self.gathered.get(group).is_some_and(|(_, gathered)| *gathered);
                let gathered = match state {
                    GroupState::PreparingRebalance => {
                        let name = group.clone();
                        self.begin(if gathered { Awaits::Rebalance(name) } else { Awaits::MoreMembers(name) }, at);
                        gathered
                    }
                    // Who rebalances waits on, for the assignment of the group's leader.
                    GroupState::CompletingRebalance => {
                        self.end(seen, number, at, |what| *what == Awaits::MoreMembers(group.clone()));
                        *members > 0
                    }
                    GroupState::Empty | GroupState::Stable | GroupState::Dead => {
                        self.end(seen, number, at, of);
                        *members > 0
                    }
                };
                self.gathered.insert(group.clone(), (who, gathered));
            }
            Kind::CoordinatorUnknown { group, .. } => self.begin(Awaits::Coordinator(who, group.clone()), at),
            // A dead one is found again and again, until the cluster knows that it is dead.
            Kind::CoordinatorDiscovered { group, coordinator } if self.brokers.get(coordinator) == Some(&true) => {
                self.end(seen, number, at, |what| *what == Awaits::Coordinator(who, group.clone()));
            }
            Kind::CommitFailed { group, .. } => self.begin(Awaits::Commit(who, group.clone()), at),
            Kind::PollFailed { group, .. } => self.begin(Awaits::Poll(who, group.clone()), at),
            Kind::CommitSucceeded { .. } | Kind::RebalanceCallback { .. } => self.end(
                seen,
                number,
                at,
                |what| matches!(what, Awaits::Coordinator(client, _) | Awaits::Commit(client, _) if *client == who),
            ),
            Kind::RecordDelivered { .. } => {
                self.end(seen, number, at, |what| matches!(what, Awaits::Poll(client, _) if *client == who));
            }
            Kind::RecordFailed { .. } => self.begin(Awaits::Success(who), at),
            Kind::RecordAcked { .. } => self.end(seen, number, at, |what| *what == Awaits::Success(who)),
            Kind::RequestFailed { .. }
                if matches!(who, NodeId::Client(id) if id != ADMIN) && !self.brokers.values().any(|runs| *runs) =>
            {
                self.begin(Awaits::LivingBroker(who), at);
            }
            Kind::MessageSent { to: client @ NodeId::Client(_), response: true, .. } => {
                self.end(seen, number, at, |what| *what == Awaits::LivingBroker(*client));
            }
            _nothing_begins_or_ends => {}
        }
    }

    /// A rebalance ends with its coordinator: its members wait for another one then.
    fn coordinates_no_more(&mut self, seen: Seen<'_>, number: usize, at: SimTime, who: NodeId) {
        let groups: Vec<Rc<str>> =
            self.gathered.iter().filter(|(_, (by, _))| *by == who).map(|(group, _)| group.clone()).collect();
        if !groups.is_empty() {
            self.end(
                seen,
                number,
                at,
                |what| matches!(what, Awaits::MoreMembers(of) | Awaits::Rebalance(of) if groups.contains(of)),
            );
        }
    }

    fn runs(&mut self, who: NodeId, runs: bool) {
        if let NodeId::Broker(id) = who {
            self.brokers.insert(id, runs);
        }
    }
}
