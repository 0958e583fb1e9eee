//! Invariants and convergence as pure functions over what was observed. The checker knows everything and tells no node
//! anything.

pub mod committed;
pub mod converge;
pub mod history;
pub mod logs;
pub mod observe;

pub use converge::{NotConverged, converged};
pub use history::Checker;
pub use observe::{Observation, ReplicaSeen};

use alloc::string::String;

use crate::base::SimTime;

/// What must hold. Each has a test in which it is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// At most one broker leads a partition in one leader epoch (I-11).
    OneLeaderAnEpoch,
    /// A running broker's epoch of a partition never falls (I-21).
    EpochsNeverFall,
    /// Within one leader epoch the leader's high watermark never falls (I-09).
    HighWatermarkNeverFalls,
    /// Log start ≤ high watermark ≤ log end (I-02).
    OffsetsInBounds,
    /// The recorded ISR is a subset of the replicas.
    IsrWithinReplicas,
    /// A leader stands in the recorded ISR (I-07).
    LeaderInIsr,
    /// A fenced broker is in no ISR of two or more members (I-17).
    FencedNotInIsr,
    /// ISR and ELR are disjoint; the ELR is empty while the ISR has the minimum (I-18).
    ElrShape,
    /// Every member of the recorded ISR holds every committed record (I-06, I-13); clean elections only.
    StrongIsr,
    /// Two replicas that share an epoch at an offset agree there and below (I-03).
    LogMatching,
    /// The same for the metadata log (I-31).
    MetadataLogMatching,
    /// At most one controller leads a quorum epoch (I-30).
    QuorumElectionSafety,
    /// What was committed once stays what it was; clean elections only (I-10, I-12).
    CommittedRecordsStay,
    /// A record acknowledged with acks=all stays in the log of every later leader (I-40); clean elections only.
    AcknowledgedRecordsKept,
    /// Two reads of one offset give the same record; clean elections only (I-16).
    ReadsStable,
    /// A consumer sees only what a producer sent (I-42).
    NoPhantom,
    /// A consumer never gets a record at or above every leader's high watermark.
    NoReadBeyondHighWatermark,
    /// An idempotent producer's record is in a log once at most (I-44), unless a leader without any state of the
    /// producer has taken a first batch above sequence 0, or the producer has raised its epoch while batches were in
    /// doubt: they are sent again with new numbers (`startSequencesAtBeginning`).
    NoDuplicates,
    /// An idempotent producer's records stand in a partition in the order in which they were sent (I-43), with the same
    /// exceptions: a leader elected with an empty log may take a later batch while an earlier one waits for the old
    /// leader.
    OrderKept,
    /// In one generation a partition has one owner at most (I-49).
    OneOwner,
    /// A committed offset lies within the partition's log; clean elections only.
    CommitsWithinLog,
}

impl Invariant {
    pub const ALL: &'static [Invariant] = &[
        Invariant::OneLeaderAnEpoch,
        Invariant::EpochsNeverFall,
        Invariant::HighWatermarkNeverFalls,
        Invariant::OffsetsInBounds,
        Invariant::IsrWithinReplicas,
        Invariant::LeaderInIsr,
        Invariant::FencedNotInIsr,
        Invariant::ElrShape,
        Invariant::StrongIsr,
        Invariant::LogMatching,
        Invariant::MetadataLogMatching,
        Invariant::QuorumElectionSafety,
        Invariant::CommittedRecordsStay,
        Invariant::AcknowledgedRecordsKept,
        Invariant::ReadsStable,
        Invariant::NoPhantom,
        Invariant::NoReadBeyondHighWatermark,
        Invariant::NoDuplicates,
        Invariant::OrderKept,
        Invariant::OneOwner,
        Invariant::CommitsWithinLog,
    ];
}

/// An invariant that did not hold, when, and between what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub invariant: Invariant,
    pub at: SimTime,
    pub what: String,
}
