//! What the author of a scenario says and asks at the playhead, and which answer the run has shown to be right. It says
//! nothing of its own and foresees nothing: an answer is judged by the clients as they are.

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::trace::Kind;

use super::model::*;
use crate::scenario::lower::timed;
use crate::scenario::{BrokerIs, Expect, Question};
use crate::story::Seen;

/// How long leaders and brokers have stayed as they are when an answer is judged: by then their clients know.
const SETTLED: Dur = Dur::secs(3);
/// A producer that waits so long for an answer stands still.
const PATIENT_US: Micros = 2_000_000;

/// Projects what is said and asked.
pub fn storyboard(seen: Seen<'_>, scene: &Scene) -> Storyboard {
    let now = seen.now().since(seen.origin());
    let mut board = Storyboard::default();
    for (moment, entry) in timed(&seen.scenario().script).take_while(|(moment, _)| moment.at <= now) {
        if (entry.say.is_none() && entry.ask.is_none()) || !holds(scene, &entry.expect) {
            continue;
        }
        if let Some(said) = &entry.say {
            // Of what was done by hand since then its author knew nothing.
            board.said = (!acted_since(seen, moment.at)).then(|| said.clone());
        }
        if let Some(question) = &entry.ask {
            board.asked = asked(seen, scene, moment.at, question);
        }
    }
    board
}

/// A question is about the first thing that is done after it: from the next one on it is about nothing any more.
fn asked(seen: Seen<'_>, scene: &Scene, at: Dur, question: &Question) -> Option<QuestionView> {
    let now = seen.now().since(seen.origin());
    let mut later = seen.branch().lowered.plan.iter().map(|due| due.at.at).filter(|due| *due > at);
    let begins = later.next()?;
    if later.find(|due| *due > begins).is_some_and(|next| next <= now) {
        return None;
    }
    let answered = if now < begins {
        Answered::Open
    } else if is_settled(seen, scene, seen.origin() + begins) {
        let stopped = |stopped: bool| clients(scene).filter(|(_, is)| *is == stopped).map(|(name, _)| name).collect();
        Answered::Shown {
            right: question.choices.iter().position(|choice| holds(scene, &choice.expect)),
            stopped: stopped(true),
            going_on: stopped(false),
        }
    } else {
        Answered::NotYet
    };
    let choices = question.choices.iter().map(|choice| (choice.text.clone(), choice.why.clone())).collect();
    Some(QuestionView { id: question.id.clone(), text: question.text.clone(), choices, answered })
}

/// Whether something was done by hand after a moment and before the playhead.
fn acted_since(seen: Seen<'_>, at: Dur) -> bool {
    let now = seen.now().since(seen.origin());
    seen.branch().hand.iter().any(|done| done.at.at > at && done.at.at <= now)
}

fn holds(scene: &Scene, expect: &Expect) -> bool {
    let stopped = |(name, stopped): &(String, bool)| clients(scene).any(|(known, is)| known == *name && is == *stopped);
    let broker = |(id, is): &(u32, BrokerIs)| {
        scene.brokers.iter().find(|broker| broker.id == *id).is_some_and(|broker| match is {
            BrokerIs::Running => broker.process == ProcessState::Running && broker.standing == BrokerStanding::Active,
            BrokerIs::Down => matches!(broker.process, ProcessState::Down { .. }),
            BrokerIs::Fenced => matches!(broker.standing, BrokerStanding::Fenced { .. }),
        })
    };
    expect.stopped.iter().all(stopped) && expect.brokers.iter().all(broker)
}

/// Producers and groups at work, with whether one cannot do what it is there for.
fn clients(scene: &Scene) -> impl Iterator<Item = (String, bool)> {
    let producers = scene.producers.iter().filter_map(|producer| {
        let stopped = match producer.now {
            ProducerNow::NotStarted | ProducerNow::Closed => return None,
            ProducerNow::Idle | ProducerNow::Sending => false,
            ProducerNow::AwaitingAcks { oldest_us } => oldest_us > PATIENT_US,
            ProducerNow::Retrying { .. }
            | ProducerNow::NoLeader { .. }
            | ProducerNow::Failing { .. }
            | ProducerNow::Paused => true,
        };
        Some((producer.name.clone(), stopped))
    });
    let groups = scene.groups.iter().filter_map(|group| {
        let stopped = match group.now {
            GroupNow::NoMembers | GroupNow::Starting => return None,
            GroupNow::Stopped { .. } => true,
            GroupNow::Reading
            | GroupNow::NotPolling
            | GroupNow::Rebalancing
            | GroupNow::ReadsWithoutCoordinator { .. }
            | GroupNow::CaughtUp => false,
        };
        Some((group.name.clone(), stopped))
    });
    producers.chain(groups)
}

/// Whether what began then has come to its end: the controllers know of every broker how it is, and have done nothing
/// about any of them for a while.
fn is_settled(seen: Seen<'_>, scene: &Scene, begins: SimTime) -> bool {
    let known = scene.brokers.iter().all(|broker| {
        let out = matches!(broker.standing, BrokerStanding::Fenced { .. } | BrokerStanding::Unregistered);
        let at_work = broker.standing == BrokerStanding::Active;
        broker.fenced_in_us.is_none()
            && match broker.process {
                ProcessState::Running => at_work || broker.cut_off,
                ProcessState::Down { .. } | ProcessState::NotStarted => out,
                ProcessState::Paused { .. } => out,
                ProcessState::Stopping => false,
            }
    });
    let reel = seen.reel();
    let notable = reel.notable();
    let before = &notable[..notable.partition_point(|entry| *entry < seen.n_entries())];
    let turn = |entry: &&usize| {
        reel.get(**entry).is_some_and(|entry| {
            entry.at < begins
                || matches!(
                    entry.kind,
                    Kind::LeaderElected { .. }
                        | Kind::LeaderLost { .. }
                        | Kind::BrokerFenced { .. }
                        | Kind::BrokerUnfenced { .. }
                        | Kind::ControllerActivated { .. }
                )
        })
    };
    let last = before.iter().rev().find(turn).and_then(|entry| reel.get(*entry)).map_or(begins, |entry| entry.at);
    known && seen.now().since(last.max(begins)) >= SETTLED
}
