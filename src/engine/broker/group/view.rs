//! Groups as views show them. Nothing here changes anything.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;

use super::state::{Group, Member};
use super::{GroupCoordinator, Status};
use crate::base::{ClientId, GenerationId, Tp};
use crate::protocol::{GroupState, OffsetAndMetadata};

/// A group at its coordinator.
#[derive(Clone, Copy, Debug)]
pub struct GroupView<'a> {
    /// Partition of `__consumer_offsets`.
    pub partition: u32,
    group: &'a Group,
}

/// A member of a group.
#[derive(Clone, Copy, Debug)]
pub struct MemberView<'a> {
    pub id: &'a Rc<str>,
    member: &'a Member,
}

impl GroupCoordinator {
    /// Groups of the partitions that are loaded.
    pub fn groups(&self) -> impl Iterator<Item = GroupView<'_>> {
        self.shards.iter().flat_map(|(partition, shard)| shard.groups.values().map(|group| GroupView { partition: *partition, group }))
    }

    /// Partitions that are being loaded.
    pub fn loading(&self) -> impl Iterator<Item = u32> {
        self.shards.iter().filter(|(_, shard)| shard.status == Status::Loading).map(|(partition, _)| *partition)
    }
}

impl<'a> GroupView<'a> {
    pub fn id(&self) -> &'a Rc<str> {
        &self.group.id
    }
    pub fn state(&self) -> GroupState {
        self.group.state
    }
    pub fn generation(&self) -> GenerationId {
        self.group.generation
    }
    pub fn protocol(&self) -> Option<&'a Rc<str>> {
        self.group.protocol.as_ref()
    }
    pub fn leader(&self) -> Option<&'a Rc<str>> {
        self.group.leader.as_ref()
    }
    pub fn members(&self) -> impl Iterator<Item = MemberView<'a>> {
        self.group.members.iter().map(|(id, member)| MemberView { id, member })
    }
    /// Offsets below the high watermark of the partition.
    pub fn committed(&self) -> &'a BTreeMap<Tp, OffsetAndMetadata> {
        &self.group.offsets
    }
}

impl<'a> MemberView<'a> {
    pub fn client(&self) -> ClientId {
        self.member.client
    }
    pub fn client_id(&self) -> &'a Rc<str> {
        &self.member.client_id
    }
    pub fn instance_id(&self) -> Option<&'a Rc<str>> {
        self.member.instance_id.as_ref()
    }
    pub fn assignment(&self) -> &'a [Tp] {
        &self.member.assignment
    }
    /// Waits for the end of the join phase.
    pub fn is_joining(&self) -> bool {
        self.member.join.is_some()
    }
    /// Waits for the assignment.
    pub fn is_syncing(&self) -> bool {
        self.member.sync.is_some()
    }
}
