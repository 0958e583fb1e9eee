//! Look-ups in the trace up to the playhead, and how members and high watermarks wait there. It draws no conclusion.

use highwater_engine::base::{BrokerId, ClientId, NodeId, TopicId, Tp};
use highwater_engine::client::{Client, ClientKind, ConsumerStatus, PollForm};
use highwater_engine::protocol::{Acks, ErrorCode};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::machine::Role;

use super::seen::Seen;

/// A member that waits for its coordinator.
pub struct Stuck {
    pub group: String,
    pub error: String,
    pub client: String,
    pub long_poll: bool,
    pub reads_on: bool,
}

impl<'a> Seen<'a> {
    pub fn get(self, entry: usize) -> Option<&'a TraceEntry> {
        self.reel().get(entry)
    }
    pub fn cause(self, entry: usize) -> Option<usize> {
        self.reel().cause(entry)
    }
    /// The sending of a message that had to wait, if this entry is about one: its noted cause is what let it pass.
    pub fn sending(self, entry: usize) -> Option<usize> {
        match &self.get(entry)?.kind {
            Kind::MessageDelivered { sent, .. } | Kind::MessageMoved { sent, .. } => self.reel().find(*sent),
            _another => None,
        }
    }
    /// The last entry before one that fits.
    pub fn last(self, before: usize, fits: impl Fn(&TraceEntry) -> bool) -> Option<usize> {
        self.reel().entries(0..before).rev().find(|(_, entry)| fits(entry)).map(|(index, _)| index)
    }
    /// The last turn of events that fits: how many there are hardly grows while nothing happens.
    pub fn last_turn(self, fits: impl Fn(&TraceEntry) -> bool) -> Option<&'a TraceEntry> {
        let turns = self.reel().turns();
        let until = turns.partition_point(|index| *index < self.n_entries());
        turns[..until].iter().rev().filter_map(|index| self.get(*index)).find(|entry| fits(entry))
    }
    pub fn last_now(self, fits: impl Fn(&TraceEntry) -> bool) -> Option<usize> {
        self.last(self.n_entries(), fits)
    }
    pub fn first_after(self, after: usize, fits: impl Fn(&TraceEntry) -> bool) -> Option<usize> {
        self.reel().entries(after + 1..self.n_entries()).find(|(_, entry)| fits(entry)).map(|(index, _)| index)
    }

    /// What last went wrong with a node or its links.
    pub fn last_fault(self, node: NodeId, before: usize) -> Option<usize> {
        let found = self.last(before, |entry| match &entry.kind {
            Kind::ProcessKilled | Kind::ProcessPaused | Kind::ProcessExited { .. } => entry.who == node,
            Kind::LinkCut { to } => entry.who == node || *to == node,
            _harmless => false,
        });
        found.map(|found| self.speaks_for(found))
    }

    /// What let a node take part again, within these entries: a start, a resumption, the healing of a link to one of
    /// those that it works with. `None` where the last that happened to it is no return.
    pub fn last_return(
        self,
        node: NodeId,
        works_with: impl Fn(NodeId) -> bool,
        within: core::ops::Range<usize>,
    ) -> Option<usize> {
        let mut turns = self.reel().entries(within).rev().filter(|(_, entry)| match &entry.kind {
            Kind::ProcessKilled
            | Kind::ProcessPaused
            | Kind::ProcessExited { .. }
            | Kind::ProcessStarted
            | Kind::ProcessResumed => entry.who == node,
            Kind::LinkCut { to } | Kind::LinkHealed { to } => {
                (entry.who == node && works_with(*to)) || (*to == node && works_with(entry.who))
            }
            _no_turn => false,
        });
        let (found, entry) = turns.next()?;
        let returned = matches!(entry.kind, Kind::ProcessStarted | Kind::ProcessResumed | Kind::LinkHealed { .. });
        returned.then(|| self.speaks_for(found))
    }

    /// One action changes many directions of links; the first entry of its kind speaks for all of them.
    pub fn speaks_for(self, entry: usize) -> usize {
        let kind = |index: usize| self.get(index).map(|found| core::mem::discriminant(&found.kind));
        let links =
            self.get(entry).is_some_and(|found| matches!(found.kind, Kind::LinkCut { .. } | Kind::LinkHealed { .. }));
        let (true, Some(action)) = (links, self.cause(entry)) else { return entry };
        (action + 1..entry)
            .find(|before| kind(*before) == kind(entry) && self.cause(*before) == Some(action))
            .unwrap_or(entry)
    }

    pub fn last_controller_fault(self, before: usize) -> Option<usize> {
        let found = self.last(before, |entry| match &entry.kind {
            Kind::ProcessKilled | Kind::ProcessPaused | Kind::ProcessExited { .. } => {
                matches!(entry.who, NodeId::Controller(_))
            }
            Kind::LinkCut { to } => matches!(entry.who, NodeId::Controller(_)) || matches!(to, NodeId::Controller(_)),
            _harmless => false,
        });
        found.map(|found| self.speaks_for(found))
    }
    pub fn last_client_fault(self, before: usize) -> Option<usize> {
        let found = self.last(before, |entry| match &entry.kind {
            Kind::ProcessKilled | Kind::ProcessPaused => matches!(entry.who, NodeId::Client(_)),
            Kind::LinkCut { to } => matches!(entry.who, NodeId::Client(_)) || matches!(to, NodeId::Client(_)),
            _harmless => false,
        });
        found.map(|found| self.speaks_for(found))
    }

    /// The first of the client's complaints about its coordinator since it last worked with its group.
    pub fn first_of_row(self, before: usize, client: NodeId) -> Option<usize> {
        let mut first = None;
        for (index, entry) in self.reel().entries(0..before).rev().filter(|(_, entry)| entry.who == client) {
            match &entry.kind {
                Kind::CoordinatorUnknown { .. } => first = Some(index),
                Kind::CommitSucceeded { .. } | Kind::RebalanceCallback { .. } | Kind::ProcessStarted
                    if first.is_some() =>
                {
                    break;
                }
                _other => {}
            }
        }
        first
    }

    pub fn created(self, topic: TopicId) -> Option<usize> {
        self.last_now(|entry| matches!(&entry.kind, Kind::TopicCreated { topic: other, .. } if *other == topic))
    }

    /// Brokers that were registered and not fenced at an entry.
    pub fn registered_at(self, entry: usize) -> Vec<BrokerId> {
        let mut alive: Vec<BrokerId> =
            self.world().setup().brokers.iter().filter(|broker| broker.started).map(|broker| broker.id).collect();
        for (_, entry) in self.reel().entries(0..entry) {
            match &entry.kind {
                Kind::BrokerUnfenced { broker } if !alive.contains(broker) => alive.push(*broker),
                Kind::BrokerFenced { broker, .. } => alive.retain(|other| other != broker),
                _other => {}
            }
        }
        alive
    }

    pub fn replicas(self, tp: Tp) -> Option<Vec<BrokerId>> {
        self.image()?.partition(tp).map(|partition| partition.replicas.clone())
    }
    pub fn min_insync(self, tp: Tp) -> u32 {
        self.image().map_or(1, |image| image.min_insync_replicas(tp.topic, self.world().config()))
    }
    pub fn offsets_replication_factor(self) -> u32 {
        self.world().config().offsets_topic_replication_factor
    }

    /// A leader whose high watermark stands below its log end, where, and whom it waits for.
    pub fn stalled(self, tp: Tp) -> Option<(BrokerId, i64, Vec<BrokerId>)> {
        let world = self.world();
        let leader = self.image()?.partition(tp)?.leader?;
        let view = world.broker(leader)?.replica(tp)?;
        if view.high_watermark >= view.log_end {
            return None;
        }
        let end_of = |broker: BrokerId| {
            world
                .machine(NodeId::Broker(broker))
                .and_then(|machine| machine.disk.log(tp))
                .map_or(0, |log| log.end_offset())
        };
        let waits_for = view
            .maximal_isr
            .iter()
            .copied()
            .filter(|broker| *broker != leader && end_of(*broker) < view.log_end)
            .collect();
        Some((leader, view.high_watermark, waits_for))
    }

    pub fn client_node(self, name: &str) -> Option<NodeId> {
        self.world().client_id(name).map(NodeId::Client)
    }

    /// How a member waits, if it does.
    pub fn stuck(self, name: &str) -> Option<Stuck> {
        let world = self.world();
        let Client::Consumer(consumer) = world.client(world.client_id(name)?)? else { return None };
        let (error, reads_on) = match consumer.status(self.now()) {
            ConsumerStatus::StuckWithoutCoordinator { error, reads_on, .. } => (error, reads_on),
            ConsumerStatus::LookingForCoordinator { error } => (error, false),
            _works => return None,
        };
        let spec = consumer.spec();
        Some(Stuck {
            group: spec.group.to_string(),
            error: error.unwrap_or(ErrorCode::CoordinatorNotAvailable).name().into(),
            client: spec.version.name().into(),
            long_poll: spec.poll == PollForm::Long,
            reads_on,
        })
    }

    /// A member of a group that waits.
    pub fn stuck_member(self, group: &str) -> Option<String> {
        let world = self.world();
        world.machines().find_map(|(_, machine)| match &machine.role {
            Role::Client { name, kind: ClientKind::Consumer(spec) }
                if &*spec.group == group && self.stuck(name).is_some() =>
            {
                Some(name.to_string())
            }
            Role::Client { .. } | Role::Controller | Role::Broker { .. } => None,
        })
    }

    /// `acks` of a client that is a producer. A client keeps its configs for life: a changed one is another client.
    pub fn acks(self, client: ClientId) -> Acks {
        crate::recording::acks(self.world(), client)
    }
}
