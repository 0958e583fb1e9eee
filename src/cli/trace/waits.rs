//! What waits, from when to when: told at its beginning, because the whole run is known, and at its end. Knows no cure.

use highwater_engine::base::SimTime;
use highwater_studio::notation::{self, Book};
use highwater_studio::story::{Awaits, Seen, Wait, Waits};

use super::eligible::{self, Leaderless};

/// The lines of all waits, each with its moment.
pub fn lines(recording: Seen<'_>, book: &Book) -> Vec<(SimTime, String)> {
    let mut waits = Waits::default();
    waits.advance(recording, recording.n_entries());
    let mut lines = Vec::new();
    for wait in waits.all() {
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
    let leaderless: Vec<Leaderless> = waits.all().filter_map(leaderless).collect();
    lines.extend(eligible::lines(recording, &leaderless, book));
    lines
}

fn told(what: &Awaits, book: &Book) -> (String, String) {
    let admin = || "cluster".to_string();
    match what {
        Awaits::Leader(tp) => (admin(), format!("no-leader {}", book.partition(*tp))),
        Awaits::MoreMembers(group) => (admin(), format!("initial-rebalance-delay group={group}")),
        Awaits::Rebalance(group) => (admin(), format!("rebalancing group={group}")),
        Awaits::Coordinator(who, group) => (book.node(*who), format!("no-coordinator group={group}")),
        Awaits::Commit(who, group) => (book.node(*who), format!("commits-fail group={group}")),
        Awaits::Poll(who, group) => (book.node(*who), format!("polls-fail group={group}")),
        Awaits::Success(who) => (book.node(*who), "records-fail".into()),
        Awaits::LivingBroker(who) => (book.node(*who), "no-living-broker".into()),
        Awaits::Answer(who, topic, partition) => (book.node(*who), format!("unanswered {}", place(topic, *partition))),
        Awaits::Reading(group, tp) => (admin(), format!("unread group={group} {}", book.partition(*tp))),
    }
}

fn leaderless(wait: &Wait) -> Option<Leaderless> {
    match &wait.what {
        Awaits::Leader(tp) => Some(Leaderless { tp: *tp, from: wait.from, to: wait.to }),
        Awaits::MoreMembers(_)
        | Awaits::Rebalance(_)
        | Awaits::Coordinator(..)
        | Awaits::Commit(..)
        | Awaits::Poll(..)
        | Awaits::Success(_)
        | Awaits::LivingBroker(_)
        | Awaits::Answer(..)
        | Awaits::Reading(..) => None,
    }
}

fn place(topic: &str, partition: Option<u32>) -> String {
    partition.map_or_else(|| topic.to_string(), |number| format!("{topic}-{number}"))
}
