//! A world with its place in a plan: one step is one event or one action, in an order that depends on the recipe alone.
//! It keeps no history.

use std::rc::Rc;

use highwater_engine::base::{ActionId, BrokerId, NodeId, SimTime};
use highwater_engine::protocol::CONSUMER_OFFSETS;
use highwater_engine::protocol::hash::group_partition;
use highwater_engine::trace::TraceEntry;
use highwater_engine::world::{Action, Refusal, World};

use crate::scenario::{Due, Moment, Need, Node, lower::plain_node};

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Event,
    /// An action of the plan was accepted.
    Acted {
        index: usize,
        id: ActionId,
        action: Rc<Action>,
    },
    /// The world refused it, or nobody plays the role that it names.
    Refused {
        index: usize,
        refusal: Refusal,
    },
}

/// A world somewhere in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    pub world: World,
    /// First action of the plan whose instant has not begun.
    next: usize,
    /// Actions of this instant that have not had their turn.
    pending: Vec<usize>,
    /// The instant of the last step.
    instant: SimTime,
    /// Steps of that instant.
    done: u32,
    /// Steps since the beginning of the run.
    pub ops: usize,
}

impl Cursor {
    /// At the origin, before anything of the plan.
    pub fn new(world: World) -> Cursor {
        let instant = world.origin();
        Cursor { world, next: 0, pending: Vec::new(), instant, done: 0, ops: 0 }
    }

    /// The moment of the last step.
    pub fn instant(&self) -> SimTime {
        self.instant
    }

    /// Steps done at the instant of the last step.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// When the next step happens.
    pub fn next_at(&self, plan: &[Due]) -> Option<SimTime> {
        // A run that has used up its budget is over.
        if self.world.overrun().is_some() {
            return None;
        }
        if !self.pending.is_empty() {
            return Some(self.instant);
        }
        let due = plan.get(self.next).map(|due| (self.world.origin() + due.at.at).max(self.instant));
        match (self.world.next_event_at(), due) {
            (Some(event), Some(due)) => Some(event.min(due)),
            (one, None) | (None, one) => one,
        }
    }

    /// The next scripted action.
    pub fn next_scripted(&self, plan: &[Due]) -> Option<SimTime> {
        plan.get(self.next..)?.iter().find(|due| due.scripted).map(|due| self.world.origin() + due.at.at)
    }

    /// Actions of the plan that have not been done are no longer in it.
    pub(super) fn forget(&mut self, removed: &[usize]) {
        let moved = |index: usize| index - removed.iter().filter(|gone| **gone < index).count();
        self.pending.retain(|index| !removed.contains(index));
        self.pending.iter_mut().for_each(|index| *index = moved(*index));
        self.next = moved(self.next);
    }

    /// Whether it has looked at an action of the plan.
    pub(super) fn knows(&self, index: usize) -> bool {
        index < self.next
    }

    /// One step, unless the next one lies after `until`.
    pub fn step(&mut self, plan: &[Due], until: SimTime, out: &mut Vec<TraceEntry>) -> Option<Step> {
        let at = self.next_at(plan).filter(|at| *at <= until)?;
        if at > self.instant {
            self.instant = at;
            self.done = 0;
        }
        while plan.get(self.next).is_some_and(|due| self.world.origin() + due.at.at <= self.instant) {
            self.pending.push(self.next);
            self.next += 1;
        }
        let step = match self.turn(plan) {
            Some(position) => self.act(plan, position, out),
            None => {
                self.world.step(out);
                Step::Event
            }
        };
        self.done += 1;
        self.ops += 1;
        Some(step)
    }

    /// Whose turn it is: an action that waits for a number of steps of this instant goes when they are done, the others
    /// when the world has nothing left to do at it.
    fn turn(&self, plan: &[Due]) -> Option<usize> {
        let drained = self.world.next_event_at().is_none_or(|at| at > self.instant);
        // Before the first step of an instant the clock has not reached it, so that nothing can be done at it yet.
        let counted =
            self.pending.iter().position(|index| plan[*index].at.done.is_some_and(|done| self.done >= done.max(1)));
        let at_the_end = || self.pending.iter().position(|index| plan[*index].at.done.is_none());
        counted.or_else(|| {
            if drained { at_the_end().or(if self.pending.is_empty() { None } else { Some(0) }) } else { None }
        })
    }

    fn act(&mut self, plan: &[Due], position: usize, out: &mut Vec<TraceEntry>) -> Step {
        let index = self.pending.remove(position);
        if self.world.now() < self.instant {
            self.world.run_until(self.instant, out);
        }
        let need = &plan[index].need;
        know_clients(&mut self.world, need);
        let Some(action) = need.action(&|node| resolve(&self.world, node)) else {
            let role = need.nodes().find(|node| resolve(&self.world, node).is_none()).map(role_text);
            let refusal = self.world.refuse(need.verb(), &role.unwrap_or_default(), out);
            return Step::Refused { index, refusal };
        };
        match self.world.act(action.clone(), out) {
            Ok(id) => Step::Acted { index, id, action: Rc::new(action) },
            Err(refusal) => Step::Refused { index, refusal },
        }
    }

    /// The moment that a hand action at the playhead gets: after everything of this instant, or after so many steps of
    /// it.
    pub fn moment(&self, at: SimTime, plan: &[Due]) -> Moment {
        let everything = self.next_at(plan).is_none_or(|next| next > at);
        let done = if everything || at > self.instant { None } else { Some(self.done) };
        Moment { at: at.since(self.world.origin()), done }
    }

    /// The digest of the world at a moment at which nothing more happens than has happened.
    pub fn digest_at(&self, at: SimTime) -> u64 {
        if self.world.now() >= at || self.world.next_event_at().is_some_and(|next| next <= at) {
            return self.world.digest();
        }
        let mut world = self.world.clone();
        world.run_until(at, &mut Vec::new());
        world.digest()
    }
}

/// Links are between names: a client that has not started gets its place in the network when it is first named.
pub fn know_clients(world: &mut World, need: &Need) {
    for node in need.nodes() {
        if let Node::Client(name) = node {
            world.know_client(name);
        }
    }
}

/// A role as a scenario names it.
fn role_text(node: &Node) -> String {
    match node {
        Node::Broker(id) => format!("broker/{id}"),
        Node::Controller(id) => format!("controller/{id}"),
        Node::Client(name) => format!("client/{name}"),
        Node::ActiveController => "active-controller".into(),
        Node::LeaderOf(partition) => format!("leader-of {}/{}", partition.topic, partition.partition),
        Node::CoordinatorOf(group) => format!("coordinator-of {group}"),
    }
}

/// Who is meant by a name or a role now.
pub fn resolve(world: &World, node: &Node) -> Option<NodeId> {
    match node {
        Node::Client(name) => world.client_id(name).map(NodeId::Client),
        Node::ActiveController => world.active_controller().map(NodeId::Controller),
        Node::LeaderOf(partition) => leader_of(world, &partition.topic, partition.partition).map(NodeId::Broker),
        Node::CoordinatorOf(group) => {
            let count = partition_count(world, CONSUMER_OFFSETS)?;
            leader_of(world, CONSUMER_OFFSETS, group_partition(group, count)).map(NodeId::Broker)
        }
        Node::Broker(_) | Node::Controller(_) => plain_node(node),
    }
}

/// The image of the cluster as the node that knows most has it.
pub fn image(world: &World) -> Option<&highwater_engine::metadata::MetadataImage> {
    let active = world.active_controller().and_then(|id| world.controller(id)).map(|controller| controller.image());
    active.or_else(|| {
        let controllers =
            world.machines().filter_map(|(_, machine)| machine.controller()).map(|controller| controller.image());
        let brokers = world.machines().filter_map(|(_, machine)| machine.broker()).map(|broker| broker.image());
        controllers.chain(brokers).max_by_key(|image| image.applied_to)
    })
}

fn leader_of(world: &World, topic: &str, partition: u32) -> Option<BrokerId> {
    let image = image(world)?;
    image.topics.get(&image.topic_id(topic)?)?.partitions.get(partition as usize)?.leader
}

fn partition_count(world: &World, topic: &str) -> Option<u32> {
    let image = image(world)?;
    Some(image.topics.get(&image.topic_id(topic)?)?.partitions.len() as u32)
}
