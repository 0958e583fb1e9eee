//! State of one replica on a broker, and the arithmetic on it that needs nothing else. Reads no log and sends nothing.

use alloc::vec::Vec;

use crate::base::{BrokerEpoch, BrokerId, Dur, LeaderEpoch, Offset, PartitionEpoch, SimTime, sort_by};
use crate::log::Log;
use crate::protocol::LeaderRecoveryState;

/// The ends of a replica's log. A copy of what the disk holds, so that an idle partition costs no look at its log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Edges {
    /// Earliest readable offset.
    pub start: Offset,
    /// Offset of the next record.
    pub end: Offset,
    /// Latest epoch of the leader-epoch cache.
    pub epoch: Option<i32>,
}

impl Edges {
    pub fn of(log: &Log) -> Edges {
        Edges { start: log.start_offset(), end: log.end_offset(), epoch: log.latest_epoch() }
    }
}

/// What a leader knows of another replica (Replica, ReplicaState). `None` stands for Kafka's 0 and -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Remote {
    pub broker: BrokerId,
    /// Offset of its last accepted fetch; -1 while it has not fetched in this epoch.
    pub log_end: Offset,
    /// -1 while it has not fetched in this epoch.
    pub log_start: Offset,
    /// Time of its last accepted fetch.
    pub last_fetch: Option<SimTime>,
    /// The leader's log end at its last accepted fetch; -1 if there was none.
    pub last_fetch_leader_end: Offset,
    /// The latest moment at which it had everything that the leader had then (KAFKA-4485).
    pub last_caught_up: Option<SimTime>,
    /// As sent with its fetches (KIP-903).
    pub broker_epoch: Option<BrokerEpoch>,
    /// What the last answer told it on its present connection; an answer that says nothing new leaves the partition out
    /// (KIP-227).
    pub told: Option<Told>,
}

/// What a follower was told last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    /// Generation of the follower's connection.
    pub generation: u32,
    pub high_watermark: Offset,
    pub log_start: Offset,
}

impl Remote {
    /// A replica that has not fetched yet.
    pub fn unknown(broker: BrokerId) -> Remote {
        Remote {
            broker,
            log_end: -1,
            log_start: -1,
            last_fetch: None,
            last_fetch_leader_end: -1,
            last_caught_up: None,
            broker_epoch: None,
            told: None,
        }
    }

    /// Starts a leader epoch. A leader that is elected again keeps what it knows; the time of grace is for members of
    /// the ISR alone.
    pub fn reset(&mut self, now: SimTime, leader_end: Offset, was_leader: bool, in_isr: bool) {
        let grace = in_isr.then_some(now);
        if was_leader {
            self.last_fetch_leader_end = leader_end;
            self.last_fetch = grace;
            self.told = None;
        } else {
            *self = Remote::unknown(self.broker);
        }
        self.last_caught_up = grace;
    }

    /// Takes an accepted fetch into account (Replica.updateFetchStateOrThrow). `leader_end` is the leader's log end at
    /// the read.
    pub fn fetched(&mut self, now: SimTime, offset: Offset, log_start: Offset, leader_end: Offset, epoch: BrokerEpoch) {
        if offset >= leader_end {
            self.last_caught_up = self.last_caught_up.max(Some(now));
        } else if offset >= self.last_fetch_leader_end {
            self.last_caught_up = self.last_caught_up.max(self.last_fetch);
        }
        self.log_end = offset;
        self.log_start = log_start;
        self.last_fetch_leader_end = self.last_fetch_leader_end.max(leader_end);
        self.last_fetch = Some(now);
        self.broker_epoch = Some(epoch);
    }

    /// At the leader's end, or caught up within `lag`.
    pub fn is_caught_up(&self, now: SimTime, leader_end: Offset, lag: Dur) -> bool {
        self.log_end == leader_end || self.last_caught_up.is_some_and(|at| now.since(at) <= lag)
    }
}

/// A change of the ISR that the controller has not confirmed (KIP-497).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IsrChange {
    Expand(BrokerId),
    Shrink(Vec<BrokerId>),
}

/// Where a proposed change is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Waits for the AlterPartition in flight, a pause or a known controller.
    Queued,
    InFlight,
    /// Refused in a way that only metadata can settle.
    AwaitsMetadata,
}

/// A pending change with its stage.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PendingIsr {
    pub change: IsrChange,
    pub stage: Stage,
}

/// What only a leader has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaderState {
    /// Log end when it became leader in this epoch.
    pub epoch_start: Offset,
    /// The other assigned replicas, in their order.
    pub remotes: Vec<Remote>,
    pub pending: Option<PendingIsr>,
}

/// What the broker is to a partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Leader(LeaderState),
    /// Its fetch state is with the fetcher of its leader.
    Follower,
    /// Assigned, and the partition has no leader.
    Leaderless,
    /// A log on the disk of which the metadata said nothing yet.
    Unassigned,
}

/// One replica.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    pub role: Role,
    pub leader: Option<BrokerId>,
    /// -1 before metadata came.
    pub leader_epoch: LeaderEpoch,
    /// -1 before metadata came.
    pub partition_epoch: PartitionEpoch,
    /// How many replicas are assigned.
    pub assigned: u32,
    /// As committed by the controller, in its order.
    pub isr: Vec<BrokerId>,
    pub recovery: LeaderRecoveryState,
    pub high_watermark: Offset,
    pub log: Edges,
}

impl Replica {
    /// A replica of which only the log and the checkpointed high watermark are known.
    pub fn loaded(log: Edges, checkpoint: Offset) -> Replica {
        Replica {
            role: Role::Unassigned,
            leader: None,
            leader_epoch: LeaderEpoch(-1),
            partition_epoch: PartitionEpoch(-1),
            assigned: 0,
            isr: Vec::new(),
            recovery: LeaderRecoveryState::Recovered,
            high_watermark: checkpoint.min(log.end).max(log.start),
            log,
        }
    }

    pub fn leader_state(&self) -> Option<&LeaderState> {
        match &self.role {
            Role::Leader(state) => Some(state),
            Role::Follower | Role::Leaderless | Role::Unassigned => None,
        }
    }

    pub fn leader_state_mut(&mut self) -> Option<&mut LeaderState> {
        match &mut self.role {
            Role::Leader(state) => Some(state),
            Role::Follower | Role::Leaderless | Role::Unassigned => None,
        }
    }

    pub fn is_leader(&self) -> bool {
        self.leader_state().is_some()
    }

    /// The committed ISR and the member whose addition is in flight; a removal in flight takes nobody away (KIP-497).
    pub fn in_maximal_isr(&self, broker: BrokerId) -> bool {
        self.isr.contains(&broker) || self.expanding_by() == Some(broker)
    }

    /// Size of the maximal ISR.
    pub fn maximal_isr_len(&self) -> usize {
        self.isr.len() + usize::from(self.expanding_by().is_some())
    }

    fn expanding_by(&self) -> Option<BrokerId> {
        match self.leader_state()?.pending.as_ref()?.change {
            IsrChange::Expand(broker) => Some(broker),
            IsrChange::Shrink(_) => None,
        }
    }

    /// The ISR that a pending change asks for. The leader's set keeps insertion order up to four members; a larger one,
    /// and what is left of it, comes in ascending order.
    pub fn proposed_isr(&self, change: &IsrChange) -> Vec<BrokerId> {
        let mut isr = self.isr.clone();
        match change {
            IsrChange::Expand(broker) => isr.push(*broker),
            IsrChange::Shrink(out) => isr.retain(|member| !out.contains(member)),
        }
        if self.isr.len() > 4 || isr.len() > 4 {
            sort_by(&mut isr, Ord::cmp);
        }
        isr
    }
}
