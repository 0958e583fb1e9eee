//! Groups as views show them. Nothing here changes anything.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::state::{Group, Member};
use super::{GroupCoordinator, Status};
use crate::base::{ClientId, GenerationId, Offset, Tp};
use crate::protocol::GroupState;

/// A group at its coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView<'a> {
    pub name: &'a Rc<str>,
    /// Partition of `__consumer_offsets`.
    pub partition: u32,
    pub state: GroupState,
    pub generation: GenerationId,
    /// The assignor that the members agreed on.
    pub protocol: Option<&'a Rc<str>>,
    /// Member id of the group leader.
    pub leader: Option<&'a Rc<str>>,
    /// In order of member ids.
    pub members: Vec<MemberView<'a>>,
    /// Offsets below the high watermark of the partition.
    pub committed: Vec<(Tp, Offset)>,
}

/// A member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberView<'a> {
    pub member_id: &'a Rc<str>,
    pub client: ClientId,
    pub client_id: &'a Rc<str>,
    pub instance_id: Option<&'a Rc<str>>,
    pub assignment: &'a Vec<Tp>,
    /// Waits for the end of the join phase.
    pub is_joining: bool,
    /// Waits for the assignment.
    pub is_syncing: bool,
}

impl GroupCoordinator {
    /// Groups of the partitions that are loaded.
    pub fn groups(&self) -> impl Iterator<Item = GroupView<'_>> {
        self.shards.iter().flat_map(|(partition, shard)| shard.groups.values().map(|group| view_of(*partition, group)))
    }

    /// Partitions that are being loaded.
    pub fn loading(&self) -> impl Iterator<Item = u32> {
        self.shards.iter().filter(|(_, shard)| shard.status == Status::Loading).map(|(partition, _)| *partition)
    }
}

fn view_of(partition: u32, group: &Group) -> GroupView<'_> {
    GroupView {
        name: &group.id,
        partition,
        state: group.state,
        generation: group.generation,
        protocol: group.protocol.as_ref(),
        leader: group.leader.as_ref(),
        members: group.members.iter().map(|(id, member)| member_view(id, member)).collect(),
        committed: group.offsets.iter().map(|(tp, commit)| (*tp, commit.offset)).collect(),
    }
}

fn member_view<'a>(member_id: &'a Rc<str>, member: &'a Member) -> MemberView<'a> {
    MemberView {
        member_id,
        client: member.client,
        client_id: &member.client_id,
        instance_id: member.instance_id.as_ref(),
        assignment: &member.assignment,
        is_joining: member.join.is_some(),
        is_syncing: member.sync.is_some(),
    }
}
