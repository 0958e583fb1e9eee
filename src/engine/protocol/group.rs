//! Group records as stored in `__consumer_offsets`, and what members tell each other. Kafka's key and value versions
//! are folded into one type.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{ClientId, Dur, GenerationId, LeaderEpoch, Offset, SimTime, Tp};

/// One record of `__consumer_offsets`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupRecord {
    /// Key versions 0 and 1; `commit` is `None` for a tombstone.
    Offset { group: Rc<str>, tp: Tp, commit: Option<OffsetAndMetadata> },
    /// Key version 2; `metadata` is `None` for a tombstone.
    Group { group: Rc<str>, metadata: Option<Rc<GroupMetadata>> },
}

impl GroupRecord {
    /// What a record is taken to need in a batch; real ones differ by their names.
    pub const BYTES: usize = 100;
}

/// A committed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OffsetAndMetadata {
    pub offset: Offset,
    /// Epoch of the last consumed record, if the client knows it (KIP-320).
    pub leader_epoch: Option<LeaderEpoch>,
    pub commit_timestamp: SimTime,
}

/// A classic group as the coordinator writes it when an assignment is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupMetadata {
    pub generation: GenerationId,
    pub protocol: Option<Rc<str>>,
    pub leader: Option<Rc<str>>,
    pub members: Vec<MemberMetadata>,
}

/// A member inside [`GroupMetadata`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberMetadata {
    pub member_id: Rc<str>,
    pub instance_id: Option<Rc<str>>,
    pub client: ClientId,
    /// `client.id` of the member.
    pub client_id: Rc<str>,
    pub session_timeout: Dur,
    pub rebalance_timeout: Dur,
    pub subscription: Subscription,
    pub assignment: Vec<Tp>,
}

/// What a member of a consumer group says when it joins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subscription {
    /// Topic names, sorted.
    pub topics: Vec<Rc<str>>,
    /// For sticky assignors.
    pub owned: Vec<Tp>,
}

/// States of a classic group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupState {
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
    Dead,
}

impl GroupState {
    /// Kafka's name.
    pub const fn name(self) -> &'static str {
        match self {
            GroupState::Empty => "Empty",
            GroupState::PreparingRebalance => "PreparingRebalance",
            GroupState::CompletingRebalance => "CompletingRebalance",
            GroupState::Stable => "Stable",
            GroupState::Dead => "Dead",
        }
    }
}
