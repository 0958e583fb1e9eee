//! What every projection looks at: the world at the playhead and the trace up to it, with the engine's ids turned into
//! the page's names.

use highwater_engine::base::{BrokerId, ClientId, NodeId, SimTime, TopicId, Tp};
use highwater_engine::client::ClientKind;
use highwater_engine::metadata::MetadataImage;
use highwater_engine::protocol::CONSUMER_OFFSETS;
use highwater_engine::protocol::hash::group_partition;
use highwater_engine::trace::TraceEntry;
use highwater_engine::world::machine::Role;
use highwater_engine::world::{Action, Machine, World};

use super::names::{Micros, NodeRef, PartitionRef};
use crate::kinds::{Weight, row};
use crate::recording::{Branch, Playhead, Recording, Reel, image};
use crate::scenario::{Due, Need, Scenario};

/// A run at its playhead.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    pub recording: &'a Recording,
    pub playhead: &'a Playhead,
}

impl<'a> Seen<'a> {
    pub fn new(recording: &'a Recording, playhead: &'a Playhead) -> Seen<'a> {
        Seen { recording, playhead }
    }
    pub fn branch(self) -> &'a Branch {
        self.playhead.branch(self.recording)
    }
    pub fn origin(self) -> SimTime {
        self.playhead.origin()
    }
    pub fn world(self) -> &'a World {
        self.playhead.world()
    }
    pub fn reel(self) -> &'a Reel {
        self.playhead.reel(self.recording)
    }
    pub fn scenario(self) -> &'a Scenario {
        &self.branch().scenario
    }
    pub fn now(self) -> SimTime {
        self.playhead.at()
    }
    /// Time as the page has it.
    pub fn us(self, at: SimTime) -> Micros {
        at.since(self.origin()).0
    }
    pub fn now_us(self) -> Micros {
        self.us(self.now())
    }
    /// Entries up to the playhead.
    pub fn n_entries(self) -> usize {
        self.playhead.n_entries(self.recording)
    }
    pub fn entries(self) -> impl DoubleEndedIterator<Item = (usize, &'a TraceEntry)> {
        self.reel().entries(0..self.n_entries())
    }
    /// The cluster as the node that knows most has it.
    pub fn image(self) -> Option<&'a MetadataImage> {
        image(self.world())
    }
    pub fn machine(self, node: NodeId) -> Option<&'a Machine> {
        self.world().machine(node)
    }
    pub fn is_up(self, broker: BrokerId) -> bool {
        self.machine(NodeId::Broker(broker)).is_some_and(Machine::is_up)
    }
    pub fn is_down(self, broker: BrokerId) -> bool {
        self.machine(NodeId::Broker(broker)).is_none_or(|machine| machine.process.is_none())
    }

    /// A replica's own high watermark: of the process, or what a dead one had checkpointed.
    pub fn high_watermark(self, broker: BrokerId, tp: Tp) -> i64 {
        let running = self.world().broker(broker).and_then(|process| process.high_watermark(tp));
        running.or_else(|| self.machine(NodeId::Broker(broker))?.disk.hw_checkpoint.get(&tp).copied()).unwrap_or(0)
    }

    /// The high watermark of a partition: its leader's, or the last that a leader had while there is none at work.
    pub fn partition_high_watermark(self, tp: Tp, leader: Option<BrokerId>) -> i64 {
        let working =
            leader.and_then(|leader| self.world().broker(leader)).and_then(|process| process.high_watermark(tp));
        working.or_else(|| self.reel().high_watermark(tp, self.n_entries())).unwrap_or(0)
    }

    pub fn client_name(self, id: ClientId) -> String {
        self.world().client_name(id).map_or_else(|| format!("client-{id}"), |name| name.to_string())
    }

    pub fn node(self, id: NodeId) -> NodeRef {
        match id {
            NodeId::Controller(id) => NodeRef::Controller(id.0),
            NodeId::Broker(id) => NodeRef::Broker(id.0),
            NodeId::Client(client) => match self.machine(id).map(|machine| &machine.role) {
                Some(Role::Client { name, kind: ClientKind::Producer(_) }) => NodeRef::Producer(name.to_string()),
                Some(Role::Client { name, kind: ClientKind::Consumer(_) }) => NodeRef::Member(name.to_string()),
                Some(Role::Client { kind: ClientKind::Admin, .. } | Role::Controller | Role::Broker { .. }) => {
                    NodeRef::Admin
                }
                // A client that starts later than the playhead is what the recipe makes of its name.
                None => self.planned(self.client_name(client)),
            },
        }
    }

    fn planned(self, name: String) -> NodeRef {
        let starts =
            |due: &Due| matches!(&due.need, Need::Ready(Action::StartProducer { name: other, .. }) if **other == *name);
        if self.branch().lowered.plan.iter().any(starts) { NodeRef::Producer(name) } else { NodeRef::Member(name) }
    }

    /// A client by its name in the scenario, started or not.
    pub fn named(self, name: &str) -> NodeRef {
        let known = self.world().client_id(name).map(|id| self.node(NodeId::Client(id)));
        known.unwrap_or_else(|| self.planned(name.to_string()))
    }

    /// How much an entry weighs, with what went before it.
    pub fn weight(self, entry: usize) -> Weight {
        match self.reel().get(entry) {
            Some(found) if self.reel().is_notable(entry) => row(found).weight,
            Some(_) | None => Weight::Routine,
        }
    }

    /// The node behind a name of the page.
    pub fn node_id(self, node: &NodeRef) -> Option<NodeId> {
        let id = match node {
            NodeRef::Controller(id) => NodeId::Controller(highwater_engine::base::ControllerId(*id)),
            NodeRef::Broker(id) => NodeId::Broker(BrokerId(*id)),
            NodeRef::Producer(name) | NodeRef::Member(name) => NodeId::Client(self.world().client_id(name)?),
            NodeRef::Admin => NodeId::Client(highwater_engine::world::boot::ADMIN),
        };
        self.machine(id).map(|_| id)
    }

    pub fn topic_name(self, topic: TopicId) -> String {
        let known = self.reel().topic_name(topic).cloned().or_else(|| self.image()?.topic_name(topic).cloned());
        known.map_or_else(|| format!("topic-{topic}"), |name| name.to_string())
    }

    pub fn partition(self, tp: Tp) -> PartitionRef {
        PartitionRef { topic: self.topic_name(tp.topic), partition: tp.partition }
    }

    pub fn tp(self, partition: &PartitionRef) -> Option<Tp> {
        Some(Tp { topic: self.image()?.topic_id(&partition.topic)?, partition: partition.partition })
    }

    /// How many partitions the offsets topic has, or will have.
    pub fn n_offsets_partitions(self) -> u32 {
        let made = self
            .image()
            .and_then(|image| Some(image.topics.get(&image.topic_id(CONSUMER_OFFSETS)?)?.partitions.len() as u32));
        made.unwrap_or(self.world().config().offsets_topic_partitions)
    }

    /// The partition of the offsets topic that holds a group.
    pub fn group_partition(self, group: &str) -> u32 {
        group_partition(group, self.n_offsets_partitions())
    }

    /// The same as it was at an entry.
    pub fn group_partition_at(self, group: &str, entry: usize) -> u32 {
        let made = self.reel().n_offsets_partitions(entry);
        group_partition(group, made.unwrap_or(self.world().config().offsets_topic_partitions))
    }

    /// A group that lives in the partition of the offsets topic, of those that were known at an entry.
    pub fn group_at(self, partition: u32, entry: usize) -> Option<String> {
        let named = self.scenario().groups.iter().map(|(name, _)| name.clone());
        let heard = self.reel().groups(entry).map(|name| name.to_string());
        named.chain(heard).find(|group| self.group_partition_at(group, entry) == partition)
    }

    pub fn offsets_tp(self, group: &str) -> Option<Tp> {
        Some(Tp { topic: self.image()?.topic_id(CONSUMER_OFFSETS)?, partition: self.group_partition(group) })
    }

    /// The members of a group that were ever started, by name, the latest client of each name.
    pub fn members(self, group: &str) -> Vec<(String, ClientId)> {
        let mut members = Vec::new();
        for (id, machine) in self.world().machines() {
            if let (NodeId::Client(client), Role::Client { name, kind: ClientKind::Consumer(spec) }) =
                (id, &machine.role)
                && &*spec.group == group
                && self.world().client_id(name) == Some(client)
            {
                members.push((name.to_string(), client));
            }
        }
        members
    }

    /// Groups by name: those of the scenario in its order, then those that were joined since.
    pub fn groups(self) -> Vec<String> {
        let mut groups: Vec<String> = self.scenario().groups.iter().map(|(name, _)| name.clone()).collect();
        for (_, machine) in self.world().machines() {
            if let Role::Client { kind: ClientKind::Consumer(spec), .. } = &machine.role
                && !groups.iter().any(|group| **group == *spec.group)
            {
                groups.push(spec.group.to_string());
            }
        }
        groups
    }

    /// Producers by name: those of the scenario in its order, then those that were started since.
    pub fn producers(self) -> Vec<(String, Option<ClientId>)> {
        let mut names: Vec<String> = self.scenario().producers.iter().map(|(name, _)| name.clone()).collect();
        for (_, machine) in self.world().machines() {
            if let Role::Client { name, kind: ClientKind::Producer(_) } = &machine.role
                && !names.iter().any(|known| **known == **name)
            {
                names.push(name.to_string());
            }
        }
        names.into_iter().map(|name| (name.clone(), self.world().client_id(&name))).collect()
    }
}
