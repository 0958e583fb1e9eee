//! What waits, from when to when: told at its beginning, because the whole run is known, and at its end. Knows no cure.

use std::collections::BTreeMap;
use std::rc::Rc;

use highwater_engine::base::{BrokerId, Dur, NodeId, SimTime, Tp};
use highwater_engine::protocol::GroupState;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_studio::notation::{self, Book};
use highwater_studio::story::Seen;

use super::eligible::{self, Leaderless};
use super::promises::Promises;
use super::wanted::Wanted;

/// A record that has no answer for so long waits.
const UNANSWERED: Dur = Dur::secs(1);
/// An acknowledged record that nobody of a group was given for so long waits.
const UNREAD: Dur = Dur::secs(2);
/// What ends sooner is no wait that anybody notices.
const SHORT: Dur = Dur::ms(100);

/// What somebody waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    NoLeader(Tp),
    Rebalancing(Rc<str>),
    NoCoordinator(NodeId, Rc<str>),
    CommitsFail(NodeId, Rc<str>),
    PollsFail(NodeId, Rc<str>),
    RecordsFail(NodeId),
    NoLivingBroker(NodeId),
    Unanswered(NodeId, String),
    Unread(Rc<str>, String),
}

impl What {
    /// Whose process it is that waits, if it is one's.
    fn client(&self) -> Option<NodeId> {
        match self {
            What::NoCoordinator(who, _)
            | What::CommitsFail(who, _)
            | What::PollsFail(who, _)
            | What::RecordsFail(who)
            | What::NoLivingBroker(who)
            | What::Unanswered(who, _) => Some(*who),
            What::NoLeader(_) | What::Rebalancing(_) | What::Unread(..) => None,
        }
    }
}

struct Wait {
    what: What,
    from: SimTime,
    to: Option<SimTime>,
    /// Records or attempts in it.
    count: u64,
}

impl Wait {
    fn leaderless(&self) -> Option<Leaderless> {
        match &self.what {
            What::NoLeader(tp) => Some(Leaderless { tp: *tp, from: self.from, to: self.to }),
            What::Rebalancing(_)
            | What::NoCoordinator(..)
            | What::CommitsFail(..)
            | What::PollsFail(..)
            | What::RecordsFail(_)
            | What::NoLivingBroker(_)
            | What::Unanswered(..)
            | What::Unread(..) => None,
        }
    }
}

/// The lines of all waits, each with its moment.
pub fn lines(recording: Seen<'_>, promises: &Promises, book: &Book) -> Vec<(SimTime, String)> {
    let mut watch = Watch::new(recording);
    for (_, entry) in recording.reel().entries(0..recording.n_entries()) {
        watch.see(entry);
    }
    let mut waits = watch.finished();
    unanswered(recording, promises, &mut waits);
    unread(recording, promises, &mut waits);
    let mut lines = Vec::new();
    for wait in waits.iter().filter(|wait| wait.to.is_none_or(|to| to.since(wait.from) >= SHORT)) {
        let (who, what) = told(&wait.what, book);
        let origin = recording.origin();
        let line = |at: SimTime, name: &str, more: String| {
            (at, format!("{}  {who:16}  {name} {what}{more}", notation::moment(at, origin)))
        };
        let until = wait.to.map_or("open".into(), |to| notation::moment(to, origin).trim_start().to_string());
        lines.push(line(wait.from, "wait-begins", format!(" until={until}")));
        if let Some(to) = wait.to {
            let after = notation::moment(to, wait.from);
            lines.push(line(to, "wait-ends", format!(" after={} count={}", after.trim_start(), wait.count)));
        } else {
            let at = recording.now();
            lines.push(line(
                at,
                "waits",
                format!(" since={} count={}", notation::moment(wait.from, origin).trim_start(), wait.count),
            ));
        }
    }
    let leaderless: Vec<Leaderless> = waits.iter().filter_map(Wait::leaderless).collect();
    lines.extend(eligible::lines(recording, &leaderless, book));
    lines
}

fn told(what: &What, book: &Book) -> (String, String) {
    let admin = || "cluster".to_string();
    match what {
        What::NoLeader(tp) => (admin(), format!("no-leader {}", book.partition(*tp))),
        What::Rebalancing(group) => (admin(), format!("rebalancing group={group}")),
        What::NoCoordinator(who, group) => (book.node(*who), format!("no-coordinator group={group}")),
        What::CommitsFail(who, group) => (book.node(*who), format!("commits-fail group={group}")),
        What::PollsFail(who, group) => (book.node(*who), format!("polls-fail group={group}")),
        What::RecordsFail(who) => (book.node(*who), "records-fail".into()),
        What::NoLivingBroker(who) => (book.node(*who), "no-living-broker".into()),
        What::Unanswered(who, place) => (book.node(*who), format!("unanswered {place}")),
        What::Unread(group, place) => (admin(), format!("unread group={group} {place}")),
    }
}

/// Follows the trace and notes what begins and what ends.
struct Watch {
    open: BTreeMap<What, Wait>,
    done: Vec<Wait>,
    wanted: Wanted,
    brokers: BTreeMap<BrokerId, bool>,
}

impl Watch {
    fn new(recording: Seen<'_>) -> Watch {
        let brokers =
            recording.branch().lowered.setup.brokers.iter().map(|broker| (broker.id, broker.started)).collect();
        Watch { open: BTreeMap::new(), done: Vec::new(), wanted: Wanted::new(recording), brokers }
    }

    fn begin(&mut self, what: What, at: SimTime) {
        let wait = Wait { what: what.clone(), from: at, to: None, count: 0 };
        self.open.entry(what).or_insert(wait).count += 1;
    }

    fn end(&mut self, at: SimTime, ends: impl Fn(&What) -> bool) {
        let ended: Vec<What> = self.open.keys().filter(|what| ends(what)).cloned().collect();
        for what in ended {
            if let Some(wait) = self.open.remove(&what) {
                self.done.push(Wait { to: Some(at), ..wait });
            }
        }
    }

    fn see(&mut self, entry: &TraceEntry) {
        let (at, who) = (entry.at, entry.who);
        self.wanted.is_told(entry, false);
        if let NodeId::Broker(id) = who {
            if matches!(entry.kind, Kind::ProcessStarted | Kind::ProcessResumed) {
                self.brokers.insert(id, true);
            } else if matches!(entry.kind, Kind::ProcessKilled | Kind::ProcessExited { .. } | Kind::ProcessPaused) {
                self.brokers.insert(id, false);
            }
        }
        if let Kind::LeaderLost { tp, .. } = &entry.kind {
            if self.wanted.matters(*tp) {
                self.begin(What::NoLeader(*tp), at);
            }
        } else if let Kind::LeaderElected { tp, .. } = &entry.kind {
            self.end(at, |what| *what == What::NoLeader(*tp));
        } else if let Kind::TopicDeleted { topic, .. } = &entry.kind {
            self.end(at, |what| matches!(what, What::NoLeader(tp) if tp.topic == *topic));
        } else if let Kind::GroupStateChanged { group, state, .. } = &entry.kind {
            if matches!(state, GroupState::PreparingRebalance) {
                self.begin(What::Rebalancing(group.clone()), at);
            } else if !matches!(state, GroupState::CompletingRebalance) {
                self.end(at, |what| *what == What::Rebalancing(group.clone()));
            }
        } else if let Kind::CoordinatorUnknown { group, .. } = &entry.kind {
            self.begin(What::NoCoordinator(who, group.clone()), at);
        } else if let Kind::CoordinatorDiscovered { group, coordinator } = &entry.kind {
            // A dead one is found again and again, until the cluster knows that it is dead.
            if self.brokers.get(coordinator).is_some_and(|runs| *runs) {
                self.end(at, |what| *what == What::NoCoordinator(who, group.clone()));
            }
        } else if let Kind::CommitFailed { group, .. } = &entry.kind {
            self.begin(What::CommitsFail(who, group.clone()), at);
        } else if let Kind::PollFailed { group, .. } = &entry.kind {
            self.begin(What::PollsFail(who, group.clone()), at);
        } else if matches!(entry.kind, Kind::CommitSucceeded { .. } | Kind::RebalanceCallback { .. }) {
            self.end(
                at,
                |what| matches!(what, What::NoCoordinator(client, _) | What::CommitsFail(client, _) if *client == who),
            );
        } else if matches!(entry.kind, Kind::RecordDelivered { .. }) {
            self.end(at, |what| matches!(what, What::PollsFail(client, _) if *client == who));
        } else if matches!(entry.kind, Kind::RecordFailed { .. }) {
            self.begin(What::RecordsFail(who), at);
        } else if matches!(entry.kind, Kind::RecordAcked { .. }) {
            self.end(at, |what| *what == What::RecordsFail(who));
        } else if matches!(entry.kind, Kind::ClientClosed { .. } | Kind::ProcessKilled) {
            self.end(at, |what| what.client() == Some(who));
        } else if let (Kind::RequestFailed { .. }, NodeId::Client(_)) = (&entry.kind, who)
            && !self.brokers.values().any(|runs| *runs)
        {
            self.begin(What::NoLivingBroker(who), at);
        } else if let Kind::MessageSent { to: client @ NodeId::Client(_), response: true, .. } = &entry.kind {
            self.end(at, |what| *what == What::NoLivingBroker(*client));
        }
    }

    fn finished(mut self) -> Vec<Wait> {
        self.done.extend(self.open.into_values());
        self.done
    }
}

/// One record's wait.
type Span = (SimTime, Option<SimTime>);

/// Joins what overlaps of one thing.
fn join(spans: BTreeMap<What, Vec<Span>>, waits: &mut Vec<Wait>) {
    for (what, mut spans) in spans {
        spans.sort();
        let mut current: Option<Wait> = None;
        for (from, to) in spans {
            match &mut current {
                Some(wait) if wait.to.is_none_or(|end| from <= end) => {
                    wait.to = wait.to.zip(to).map(|(a, b)| a.max(b));
                    wait.count += 1;
                }
                Some(_) | None => {
                    waits.extend(current.take());
                    current = Some(Wait { what: what.clone(), from, to, count: 1 });
                }
            }
        }
        waits.extend(current);
    }
}

/// Records that the producer has no answer to.
fn unanswered(recording: Seen<'_>, promises: &Promises, waits: &mut Vec<Wait>) {
    let mut spans: BTreeMap<What, Vec<Span>> = BTreeMap::new();
    for record in &promises.records {
        let answered = record.acked.map(|(at, ..)| at).or(record.failed.map(|(at, _)| at));
        if answered.unwrap_or(recording.now()).since(record.at) >= UNANSWERED {
            let what = What::Unanswered(record.producer, place(&record.topic, record.partition));
            spans.entry(what).or_default().push((record.at, answered));
        }
    }
    join(spans, waits);
}

/// Records that a group has not been given.
fn unread(recording: Seen<'_>, promises: &Promises, waits: &mut Vec<Wait>) {
    let mut spans: BTreeMap<What, Vec<Span>> = BTreeMap::new();
    for (group, topics) in super::groups(recording) {
        let Some(began) = promises.began.get(&group) else { continue };
        for record in promises.records.iter().filter(|record| topics.contains(&record.topic) && !record.lost) {
            let Some((acked, ..)) = record.acked.filter(|(at, ..)| at >= began) else { continue };
            let given = record.delivered.get(&group).map(|(at, _)| *at);
            if given.unwrap_or(recording.now()).since(acked) >= UNREAD {
                let what = What::Unread(group.clone(), place(&record.topic, record.partition));
                spans.entry(what).or_default().push((acked, given));
            }
        }
    }
    join(spans, waits);
}

fn place(topic: &str, partition: Option<u32>) -> String {
    partition.map_or_else(|| topic.to_string(), |number| format!("{topic}-{number}"))
}
