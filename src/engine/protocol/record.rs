//! Records and batches. A batch is the unit of append, replication and idempotence (KIP-98); nothing here appends.

use alloc::rc::Rc;

use super::{GroupRecord, MetadataRecord};
use crate::base::{Offset, ProducerEpoch, ProducerId, QuorumEpoch, Seq, SimTime, Tag};

/// A record as an application sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// Follows the record through the run; no decision reads it.
    pub tag: Tag,
    /// UTF-8 stands for the bytes.
    pub key: Option<Rc<str>>,
    pub value: Rc<str>,
}

impl Record {
    /// Serialised size in bytes, near enough to Kafka's varint encoding for batching decisions.
    pub fn size(&self) -> usize {
        7 + self.key.as_ref().map_or(0, |k| k.len()) + self.value.len()
    }
}

/// What a batch carries. All of one batch is of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Payload {
    /// Records of a producer.
    Data(Rc<[Record]>),
    /// Records of the group coordinator in `__consumer_offsets`.
    Group(Rc<[GroupRecord]>),
    /// Records of the controller in the metadata log.
    Metadata(Rc<[MetadataRecord]>),
    /// Control record that a new quorum leader writes first (KIP-595).
    LeaderChange,
}

impl Payload {
    /// How many offsets the batch takes.
    pub fn count(&self) -> usize {
        match self {
            Payload::Data(records) => records.len(),
            Payload::Group(records) => records.len(),
            Payload::Metadata(records) => records.len(),
            Payload::LeaderChange => 1,
        }
    }
}

/// The producer fields of a batch; absent without idempotence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerStamp {
    pub id: ProducerId,
    pub epoch: ProducerEpoch,
    /// Sequence of the first record; wraps after 2147483647 to 0.
    pub base_sequence: i32,
}

/// A record batch. `epoch` is the leader epoch (or the quorum epoch in the metadata log) in which it was appended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordBatch {
    /// Rewritten by the leader at append.
    pub base_offset: Offset,
    /// Rewritten by the leader at append; epochs of data and of the quorum share this field as in Kafka.
    pub epoch: i32,
    pub producer: Option<ProducerStamp>,
    /// CreateTime of the newest record.
    pub timestamp: SimTime,
    pub payload: Payload,
    /// The trace entry that made this batch; a label of the simulation, no decision reads it.
    pub origin: Seq,
}

impl RecordBatch {
    /// Bytes of a magic-2 header.
    pub const HEADER_BYTES: usize = 61;

    pub fn count(&self) -> i64 {
        self.payload.count() as i64
    }
    pub fn last_offset(&self) -> Offset {
        self.base_offset + self.count() - 1
    }
    /// Offset after the last record.
    pub fn next_offset(&self) -> Offset {
        self.base_offset + self.count()
    }
    /// Serialised size in bytes, near enough for `max.message.bytes`, fetch and batch limits.
    pub fn size(&self) -> usize {
        Self::HEADER_BYTES
            + match &self.payload {
                Payload::Data(records) => records.iter().map(Record::size).sum(),
                Payload::Group(records) => records.len() * GroupRecord::BYTES,
                Payload::Metadata(records) => records.len() * 60,
                Payload::LeaderChange => 40,
            }
    }
    /// The producer's records with their offsets.
    pub fn records(&self) -> impl Iterator<Item = (Offset, &Record)> {
        (self.base_offset..).zip(self.data())
    }
    /// The producer's record at an offset.
    pub fn record_at(&self, offset: Offset) -> Option<&Record> {
        self.data().get(usize::try_from(offset - self.base_offset).ok()?)
    }
    /// The producer's records, empty for other kinds.
    pub fn data(&self) -> &[Record] {
        match &self.payload {
            Payload::Data(records) => records,
            Payload::Group(_) | Payload::Metadata(_) | Payload::LeaderChange => &[],
        }
    }
}

/// An epoch and where it ends, as in `DivergingEpoch` and OffsetForLeaderEpoch answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EpochEnd {
    pub epoch: i32,
    pub end_offset: Offset,
}

/// The quorum epoch of a metadata batch.
pub fn quorum_epoch(batch: &RecordBatch) -> QuorumEpoch {
    QuorumEpoch(batch.epoch)
}
