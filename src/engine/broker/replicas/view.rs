//! What the views may see of a replica. Nothing here changes one.

use alloc::vec::Vec;

use super::ReplicaManager;
use super::follower::EntryState;
use super::partition::{PendingIsr, Remote, Replica, Role};
use crate::base::{BrokerId, LeaderEpoch, Offset, PartitionEpoch, Tp};

/// What the broker is to the partition, as far as it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReplicaRole {
    Leader,
    Follower,
    /// The partition has no leader.
    Leaderless,
    /// A log on the disk of which the metadata said nothing yet.
    Unassigned,
}

/// How a follower stands with its leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FetchState {
    Fetching,
    /// Rests after an error, for `replica.fetch.backoff.ms`.
    Resting,
    /// Out of range: asks for the leader's offsets.
    AskingForOffsets,
    /// Stands still until new metadata comes.
    Failed,
}

/// One replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaView<'a> {
    pub role: ReplicaRole,
    pub leader: Option<BrokerId>,
    pub leader_epoch: LeaderEpoch,
    pub partition_epoch: PartitionEpoch,
    pub log_start: Offset,
    pub log_end: Offset,
    pub high_watermark: Offset,
    /// Committed.
    pub isr: &'a [BrokerId],
    /// With the member whose addition is in flight.
    pub maximal_isr: Vec<BrokerId>,
    pub pending: Option<&'a PendingIsr>,
    /// What a leader knows of the others; empty elsewhere.
    pub remotes: &'a [Remote],
    /// Of a follower.
    pub fetch_state: Option<FetchState>,
}

impl ReplicaManager {
    pub(super) fn view_of<'a>(&'a self, tp: Tp, replica: &'a Replica) -> ReplicaView<'a> {
        let (role, state) = match &replica.role {
            Role::Leader(state) => (ReplicaRole::Leader, Some(state)),
            Role::Follower => (ReplicaRole::Follower, None),
            Role::Leaderless => (ReplicaRole::Leaderless, None),
            Role::Unassigned => (ReplicaRole::Unassigned, None),
        };
        let fetch_state =
            replica.leader.and_then(|leader| self.fetchers.get(&leader)).and_then(|fetcher| fetcher.state_of(tp)).map(
                |state| match state {
                    EntryState::Ready => FetchState::Fetching,
                    EntryState::FetcherRests | EntryState::Rests => FetchState::Resting,
                    EntryState::WantsOffsets => FetchState::AskingForOffsets,
                    EntryState::Failed => FetchState::Failed,
                },
            );
        let mut maximal_isr = replica.isr.clone();
        maximal_isr.extend(
            state
                .iter()
                .flat_map(|s| &s.remotes)
                .map(|r| r.broker)
                .filter(|b| replica.in_maximal_isr(*b) && !replica.isr.contains(b)),
        );
        ReplicaView {
            role,
            leader: replica.leader,
            leader_epoch: replica.leader_epoch,
            partition_epoch: replica.partition_epoch,
            log_start: replica.log.start,
            log_end: replica.log.end,
            high_watermark: replica.high_watermark,
            isr: &replica.isr,
            maximal_isr,
            pending: state.and_then(|s| s.pending.as_ref()),
            remotes: state.map_or(&[], |s| &s.remotes),
            fetch_state,
        }
    }
}
