//! Which start, resumption or healed links would help, found by the controller's rules and tried before it is said: on
//! a copy of the world that runs on until nothing is lacking, and sooner so than one to which nothing is done. The run
//! that is shown is never touched.

use std::cell::RefCell;
use std::rc::Rc;

use highwater_engine::base::{BrokerId, Dur, NodeId, Tp};
use highwater_engine::client::Consumer;
use highwater_engine::metadata::MetadataImage;
use highwater_engine::protocol::PartitionRegistration;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, Machine, World};

use super::model::Cure;
use crate::recording::image;
use crate::story::Seen;

/// How long a copy runs on: a start, a registration and an election take a few seconds.
const TRIAL: Dur = Dur::secs(20);
/// Events of one trial, and trials of one question: a page must not stand still for an advice.
const TRIAL_EVENTS: usize = 40_000;
const TRIALS: usize = 6;
/// Events between two looks at the partition.
const LOOK_EVERY: usize = 16;
/// What comes by itself not much later needs no advice.
const SOONER: Dur = Dur::secs(1);
/// Answers that are remembered.
const KNOWN: usize = 32;

/// What is lacking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    Leader(Tp),
    /// So many members of the ISR.
    Isr(Tp, u32),
    /// An active controller.
    Controller,
    /// An acknowledgement of what this producer wrote to the partition.
    Answer(Tp, NodeId),
    /// A coordinator that the members of this group know and that is up.
    Coordinator(Rc<str>),
    /// A record of this partition, or of any, for this group.
    Reading(Option<Tp>, Rc<str>),
}

impl Lack {
    fn partition(&self) -> Option<Tp> {
        match self {
            Lack::Leader(tp) | Lack::Isr(tp, _) | Lack::Answer(tp, _) => Some(*tp),
            Lack::Controller | Lack::Coordinator(_) | Lack::Reading(..) => None,
        }
    }
}

/// One thing that can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Remedy {
    Start(NodeId),
    Resume(NodeId),
    /// All links of the first, with those that it does not reach.
    Heal(NodeId, Vec<NodeId>),
}

impl Remedy {
    fn action(&self) -> Action {
        match self {
            Remedy::Start(node) => Action::Start(*node),
            Remedy::Resume(node) => Action::Resume(*node),
            Remedy::Heal(node, others) => Action::Heal { from: vec![*node], to: others.clone(), both: true },
        }
    }

    fn cure(&self, seen: Seen<'_>) -> Cure {
        match self {
            Remedy::Start(node) => Cure::Start { node: seen.node(*node) },
            Remedy::Resume(node) => Cure::Resume { node: seen.node(*node) },
            Remedy::Heal(node, _) => Cure::Heal { node: seen.node(*node) },
        }
    }
}

/// What an answer depends on: while none of it changes, it is not looked for again.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Situation {
    lack: Lack,
    partition: Option<PartitionRegistration>,
    unclean: bool,
    /// Every node, whether it runs and whether it stands still.
    nodes: Vec<(NodeId, bool, bool)>,
    cuts: Vec<(NodeId, NodeId)>,
}

impl Situation {
    fn of(world: &World, lack: &Lack) -> Option<Situation> {
        let registered = |image: &MetadataImage, tp: Tp| {
            let unclean = image.unclean_leader_election(tp.topic, world.config());
            Some((image.partition(tp)?.clone(), unclean))
        };
        let (partition, unclean) = match lack.partition() {
            Some(tp) => image(world).and_then(|image| registered(image, tp)).map(|(p, unclean)| (Some(p), unclean))?,
            None => (None, false),
        };
        let nodes = world.machines().map(|(node, machine)| (node, machine.process.is_some(), machine.paused));
        let lack = lack.clone();
        Some(Situation { lack, partition, unclean, nodes: nodes.collect(), cuts: world.network().cuts().collect() })
    }

    /// The nodes that by the rules may bring what is lacking, the safest first.
    fn concerned(&self, world: &World) -> Vec<NodeId> {
        let broker = |id: &BrokerId| NodeId::Broker(*id);
        let nodes = |is: fn(&NodeId) -> bool| self.nodes.iter().map(|(node, ..)| *node).filter(is);
        match (&self.lack, &self.partition) {
            // A member asks any broker for its coordinator, and waits for that one.
            (Lack::Coordinator(_), _) => nodes(|node| matches!(node, NodeId::Broker(_))).collect(),
            (Lack::Reading(_, group), _) => members(world, group).map(|(member, _)| member).collect(),
            (Lack::Controller, _) | (_, None) => nodes(|node| matches!(node, NodeId::Controller(_))).collect(),
            (Lack::Isr(..), Some(p)) => p.replicas.iter().filter(|id| !p.isr.contains(id)).map(broker).collect(),
            (Lack::Leader(_), Some(p)) => {
                // Whoever is not known to be complete may lead only where records may be lost.
                let anybody = if self.unclean { p.replicas.as_slice() } else { &[] };
                [&p.isr, &p.elr, &p.last_known_elr].into_iter().flatten().chain(anybody).map(broker).collect()
            }
            // Who led before may still have the request.
            (Lack::Answer(_, client), Some(p)) => {
                let replicas = p.isr.iter().chain(&p.replicas).map(broker);
                p.leader.iter().map(broker).chain([*client]).chain(replicas).collect()
            }
        }
    }

    /// What may be done about it, to each node what undoes its own trouble.
    fn candidates(&self, world: &World) -> Vec<Remedy> {
        let mut candidates: Vec<Remedy> = Vec::new();
        for id in self.concerned(world) {
            let Some((_, runs, paused)) = self.nodes.iter().find(|(node, ..)| *node == id) else { continue };
            let mut unreached: Vec<NodeId> = Vec::new();
            for (from, to) in &self.cuts {
                let other = if *from == id { *to } else { *from };
                if (*from == id || *to == id) && !unreached.contains(&other) {
                    unreached.push(other);
                }
            }
            let remedy = match (runs, paused) {
                // A client's end is its user's wish.
                (false, _) if matches!(id, NodeId::Client(_)) => continue,
                (false, _) => Remedy::Start(id),
                (true, true) => Remedy::Resume(id),
                (true, false) if !unreached.is_empty() => Remedy::Heal(id, unreached),
                (true, false) => continue,
            };
            if !candidates.contains(&remedy) {
                candidates.push(remedy);
            }
        }
        candidates.truncate(TRIALS);
        candidates
    }
}

/// Members of a group whose processes are there.
fn members<'a>(world: &'a World, group: &'a str) -> impl Iterator<Item = (NodeId, &'a Consumer)> {
    world.machines().filter_map(move |(node, machine)| {
        let consumer = machine.client()?.as_consumer()?;
        (&**consumer.group() == group).then_some((node, consumer))
    })
}

/// Whether nothing is lacking any more: a leader counts once it knows that it leads, an answer once it has come.
fn is_served(world: &World, lack: &Lack, noticed: &[TraceEntry]) -> bool {
    let partition = |tp: Tp| image(world).and_then(|image| image.partition(tp));
    match lack {
        Lack::Leader(tp) => partition(*tp).and_then(|partition| partition.leader).is_some_and(|leader| {
            let replica = world.broker(leader).and_then(|broker| broker.replica(*tp));
            replica.is_some_and(|replica| replica.leader == Some(leader))
        }),
        Lack::Isr(tp, least) => partition(*tp).is_some_and(|partition| partition.isr.len() as u32 >= *least),
        Lack::Controller => world.active_controller().is_some(),
        Lack::Answer(tp, client) => noticed.iter().any(|entry| {
            entry.who == *client && matches!(entry.kind, Kind::RecordAcked { tp: other, .. } if other == *tp)
        }),
        Lack::Coordinator(group) => members(world, group).all(|(_, member)| {
            let machine = member.coordinator().and_then(|broker| world.machine(NodeId::Broker(broker)));
            machine.is_some_and(Machine::is_up)
        }),
        Lack::Reading(tp, group) => noticed.iter().any(|entry| {
            matches!(entry.kind, Kind::RecordDelivered { tp: other, .. } if tp.is_none_or(|tp| tp == other))
                && members(world, group).any(|(member, _)| member == entry.who)
        }),
    }
}

/// How soon nothing is lacking, within the time of a trial, if this is done and nothing else.
fn served_after(world: &World, remedy: Option<&Remedy>, lack: &Lack) -> Option<Dur> {
    let mut copy = world.clone();
    let (from, until) = (copy.now(), copy.now() + TRIAL);
    let mut noticed = Vec::new();
    if let Some(remedy) = remedy {
        copy.act(remedy.action(), &mut noticed).ok()?;
    }
    for event in 0..TRIAL_EVENTS {
        if event % LOOK_EVERY == 0 {
            if is_served(&copy, lack, &noticed) {
                return Some(copy.now().since(from));
            }
            noticed.clear();
        }
        if copy.next_event_at().is_none_or(|at| at > until) || !copy.step(&mut noticed) {
            break;
        }
    }
    is_served(&copy, lack, &noticed).then(|| copy.now().since(from))
}

/// The first of these that helps, and does so sooner than waiting.
fn best(world: &World, candidates: Vec<Remedy>, lack: &Lack) -> Option<Remedy> {
    if candidates.is_empty() {
        return None;
    }
    let alone = served_after(world, None, lack);
    let helps = |remedy: &Remedy| {
        served_after(world, Some(remedy), lack).is_some_and(|with| alone.is_none_or(|alone| with + SOONER < alone))
    };
    candidates.into_iter().find(helps)
}

/// Remembers what was tried.
#[derive(Debug, Default)]
pub struct Advice {
    known: RefCell<Vec<(Situation, Option<Remedy>)>>,
}

impl Advice {
    /// The one thing that helps if nothing else is done, if there is one.
    pub fn for_want(&self, seen: Seen<'_>, lack: Lack) -> Option<Cure> {
        let situation = Situation::of(seen.world(), &lack)?;
        let known = self.known.borrow().iter().find(|(known, _)| *known == situation).map(|(_, a)| a.clone());
        let answer = known.unwrap_or_else(|| {
            let answer = best(seen.world(), situation.candidates(seen.world()), &lack);
            let mut all = self.known.borrow_mut();
            if all.len() >= KNOWN {
                all.remove(0);
            }
            all.push((situation, answer.clone()));
            answer
        });
        answer.map(|remedy| remedy.cure(seen))
    }

    /// Another run has other rules.
    pub fn forget(&self) {
        self.known.borrow_mut().clear();
    }
}

/// Who led a partition last.
pub fn last_leader(seen: Seen<'_>, tp: Tp) -> Option<u32> {
    let lost = seen.last_turn(|entry| matches!(entry.kind, Kind::LeaderLost { tp: other, .. } if other == tp))?;
    if let Kind::LeaderLost { previous, .. } = lost.kind { Some(previous.0) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Playhead, Recording};
    use crate::scenario::decode;
    use crate::view::model::NodeRef;
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
            assert_eq!(advice.for_want(seen, Lack::Leader(tp)), Some(Cure::Start { node: NodeRef::Broker(1) }));
            assert_eq!(playhead.digest(), digest, "the run itself stands where it stood");
            tried.push(advice.known.borrow().len());
        }
        assert_eq!((tried.first(), tried.last()), (Some(&1), Some(&2)), "again only when broker 2 dies: {tried:?}");
    }
}
