//! Which broker's start would help, found by the controller's rules and tried before it is said: on a copy of the world
//! that runs on until the partition has what it lacks. The run that is shown is never touched.

use std::cell::RefCell;

use highwater_engine::base::{BrokerId, Dur, NodeId, Tp};
use highwater_engine::protocol::PartitionRegistration;
use highwater_engine::trace::Kind;
use highwater_engine::world::{Action, World};

use super::model::Cure;
use crate::recording::image;
use crate::story::Seen;

/// How long a copy runs on: a start, a registration and an election take a few seconds.
const TRIAL: Dur = Dur::secs(20);
/// Events of one trial, and trials of one question: a page must not stand still for an advice.
const TRIAL_EVENTS: usize = 40_000;
const TRIALS: usize = 4;
/// Events between two looks at the partition.
const LOOK_EVERY: usize = 16;
/// Answers that are remembered.
const KNOWN: usize = 32;

/// What a partition lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    Leader,
    /// So many members of the ISR.
    Isr(u32),
}

/// What an answer depends on: while none of it changes, it is not looked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Situation {
    tp: Tp,
    lack: Lack,
    partition: PartitionRegistration,
    unclean: bool,
    /// Every node but clients, whether it runs and whether it stands still.
    nodes: Vec<(NodeId, bool, bool)>,
    cuts: Vec<(NodeId, NodeId)>,
}

impl Situation {
    fn of(world: &World, tp: Tp, lack: Lack) -> Option<Situation> {
        let image = image(world)?;
        let nodes = world
            .machines()
            .filter(|(node, _)| !matches!(node, NodeId::Client(_)))
            .map(|(node, machine)| (node, machine.process.is_some(), machine.paused));
        let is_client = |node: NodeId| matches!(node, NodeId::Client(_));
        let cuts = world.network().cuts().filter(|(a, b)| !is_client(*a) && !is_client(*b));
        Some(Situation {
            tp,
            lack,
            partition: image.partition(tp)?.clone(),
            unclean: image.unclean_leader_election(tp.topic, world.config()),
            nodes: nodes.collect(),
            cuts: cuts.collect(),
        })
    }

    fn is_down(&self, broker: BrokerId) -> bool {
        self.nodes.iter().any(|(node, runs, _)| *node == NodeId::Broker(broker) && !runs)
    }

    /// Brokers that are down and by the rules may bring what is lacking, the safest first.
    fn candidates(&self) -> Vec<BrokerId> {
        let p = &self.partition;
        let by_rule: Vec<BrokerId> = match self.lack {
            Lack::Isr(_) => p.replicas.iter().filter(|id| !p.isr.contains(id)).copied().collect(),
            Lack::Leader => {
                // Whoever is not known to be complete may lead only where records may be lost.
                let anybody = if self.unclean { p.replicas.as_slice() } else { &[] };
                [&p.isr, &p.elr, &p.last_known_elr].into_iter().flatten().chain(anybody).copied().collect()
            }
        };
        let mut candidates: Vec<BrokerId> = Vec::new();
        for id in by_rule.into_iter().filter(|id| self.is_down(*id)) {
            if !candidates.contains(&id) {
                candidates.push(id);
            }
        }
        candidates.truncate(TRIALS);
        candidates
    }
}

/// Whether the partition has what it lacks: a leader counts once it knows that it leads.
fn is_served(world: &World, tp: Tp, lack: Lack) -> bool {
    let Some(partition) = image(world).and_then(|image| image.partition(tp)) else { return false };
    match lack {
        Lack::Leader => partition.leader.is_some_and(|leader| {
            let replica = world.broker(leader).and_then(|broker| broker.replica(tp));
            replica.is_some_and(|replica| replica.leader == Some(leader))
        }),
        Lack::Isr(least) => partition.isr.len() as u32 >= least,
    }
}

/// Whether the partition has what it lacks within the time of a trial if this broker is started and nothing else done.
fn helps(world: &World, broker: BrokerId, tp: Tp, lack: Lack) -> bool {
    let mut copy = world.clone();
    let until = copy.now() + TRIAL;
    let mut noticed = Vec::new();
    if copy.act(Action::Start(NodeId::Broker(broker)), &mut noticed).is_err() {
        return false;
    }
    for event in 0..TRIAL_EVENTS {
        if event % LOOK_EVERY == 0 && is_served(&copy, tp, lack) {
            return true;
        }
        noticed.clear();
        if copy.next_event_at().is_none_or(|at| at > until) || !copy.step(&mut noticed) {
            break;
        }
    }
    is_served(&copy, tp, lack)
}

/// Remembers what was tried.
#[derive(Debug, Default)]
pub struct Advice {
    known: RefCell<Vec<(Situation, Option<BrokerId>)>>,
}

impl Advice {
    /// The broker whose start alone helps, if there is one.
    pub fn start_for(&self, seen: Seen<'_>, tp: Tp, lack: Lack) -> Option<Cure> {
        let situation = Situation::of(seen.world(), tp, lack)?;
        let known = self.known.borrow().iter().find(|(known, _)| *known == situation).map(|(_, answer)| *answer);
        let answer = known.unwrap_or_else(|| {
            let mut candidates = situation.candidates().into_iter();
            let answer = candidates.find(|broker| helps(seen.world(), *broker, tp, lack));
            let mut all = self.known.borrow_mut();
            if all.len() >= KNOWN {
                all.remove(0);
            }
            all.push((situation, answer));
            answer
        });
        answer.map(|broker| Cure::StartBroker { broker: broker.0 })
    }

    /// Another run has other rules.
    pub fn forget(&self) {
        self.known.borrow_mut().clear();
    }
}

/// Who led a partition last.
pub fn last_leader(seen: Seen<'_>, tp: Tp) -> Option<u32> {
    let turns = seen.reel().turns();
    let before = &turns[..turns.partition_point(|entry| *entry < seen.n_entries())];
    before.iter().rev().find_map(|entry| match &seen.reel().get(*entry)?.kind {
        Kind::LeaderLost { tp: other, previous, .. } if *other == tp => Some(previous.0),
        _other => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Playhead, Recording};
    use crate::scenario::decode;
    use crate::view::model::PartitionRef;

    #[test]
    fn while_nothing_changes_it_is_tried_once() {
        let scenario = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1]}}},
            "script":[{"at":"5s","do":[{"kill":1}]},{"at":"40s","do":[{"kill":2}]}]}"#;
        let scenario = decode(scenario).unwrap_or_else(|error| panic!("{error}"));
        let mut recording = Recording::new(scenario).unwrap_or_else(|refusal| panic!("{refusal}"));
        let mut playhead = Playhead::new(&mut recording);
        let advice = Advice::default();
        let mut tried = Vec::new();
        for seconds in (20..60).step_by(2) {
            playhead.seek(&mut recording, playhead.origin() + Dur::secs(seconds));
            let seen = Seen::new(&recording, &playhead);
            let orders = seen.tp(&PartitionRef { topic: "orders".into(), partition: 0 });
            let tp = orders.unwrap_or_else(|| panic!("the topic exists"));
            let digest = playhead.digest();
            assert_eq!(advice.start_for(seen, tp, Lack::Leader), Some(Cure::StartBroker { broker: 1 }));
            assert_eq!(playhead.digest(), digest, "the run itself stands where it stood");
            tried.push(advice.known.borrow().len());
        }
        assert_eq!((tried.first(), tried.last()), (Some(&1), Some(&2)), "again only when broker 2 dies: {tried:?}");
    }
}
