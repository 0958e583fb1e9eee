//! A replica's log: batches, segments, leader-epoch cache, producer state; append, truncate, read. Retention and
//! compaction are absent.

pub mod epochs;
pub mod producers;

use alloc::rc::Rc;
use alloc::vec::Vec;

pub use epochs::EpochCache;
pub use producers::{ProducerStates, SequenceCheck};

use crate::base::{Offset, digest_of};
use crate::protocol::RecordBatch;

/// Batches of one sealed segment. Sealed segments are shared by all copies of a log, so that a keyframe costs little.
const SEGMENT_BATCHES: usize = 64;

/// A sealed segment with its digest, so that the digest of a world does not grow dearer with the length of its logs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    batches: Vec<RecordBatch>,
    digest: u64,
}

impl Segment {
    fn seal(batches: Vec<RecordBatch>) -> Rc<Segment> {
        Rc::new(Segment { digest: digest_of(&batches), batches })
    }

    /// Offset after its last record; a segment is never sealed empty.
    fn next_offset(&self) -> Offset {
        self.batches.last().map_or(0, RecordBatch::next_offset)
    }
}

impl core::hash::Hash for Segment {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// The log of one replica, or of the metadata on one node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Log {
    sealed: Vec<Rc<Segment>>,
    active: Vec<RecordBatch>,
    start: Offset,
    end: Offset,
    epochs: EpochCache,
    producers: ProducerStates,
}

/// Why a follower may not append what it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    pub expected: Offset,
    pub got: Offset,
}

impl Log {
    /// An empty log that starts at `start`.
    pub fn starting_at(start: Offset) -> Log {
        Log { start, end: start, ..Log::default() }
    }

    /// Earliest readable offset.
    pub fn start_offset(&self) -> Offset {
        self.start
    }
    /// Offset of the next record.
    pub fn end_offset(&self) -> Offset {
        self.end
    }
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
    pub fn epochs(&self) -> &EpochCache {
        &self.epochs
    }
    pub fn producers(&self) -> &ProducerStates {
        &self.producers
    }
    /// Epoch of the last entry of the epoch cache.
    pub fn latest_epoch(&self) -> Option<i32> {
        self.epochs.latest()
    }
    /// A new leader adds its epoch at the log end before it appends (KIP-101).
    pub fn assign_epoch(&mut self, epoch: i32) {
        self.epochs.assign(epoch, self.end);
    }

    /// Appends as leader: rewrites base offset and epoch, returns the base offset.
    pub fn append_as_leader(&mut self, mut batch: RecordBatch, epoch: i32) -> Offset {
        batch.base_offset = self.end;
        batch.epoch = epoch;
        let base = self.end;
        self.push(batch);
        base
    }

    /// Appends a leader's batch as it is. The base offset must be the log end, or lie beyond it (compaction leaves
    /// gaps).
    pub fn append_as_follower(&mut self, batch: RecordBatch) -> Result<(), OutOfOrder> {
        if batch.base_offset < self.end {
            return Err(OutOfOrder { expected: self.end, got: batch.base_offset });
        }
        self.push(batch);
        Ok(())
    }

    fn push(&mut self, batch: RecordBatch) {
        if self.epochs.latest().is_none_or(|latest| batch.epoch > latest) {
            self.epochs.assign(batch.epoch, batch.base_offset);
        }
        self.producers.update(&batch);
        self.end = batch.next_offset();
        self.active.push(batch);
        if self.active.len() == SEGMENT_BATCHES {
            self.sealed.push(Segment::seal(core::mem::take(&mut self.active)));
        }
    }

    /// Batches from the one that holds `from` on, before `up_to`, as many as fit into `max_bytes` but at least one
    /// (KIP-74).
    pub fn read(&self, from: Offset, up_to: Offset, max_bytes: usize) -> Vec<RecordBatch> {
        let mut batches = Vec::new();
        let mut bytes = 0;
        for batch in self.batches_from(from) {
            // A batch is never split: one that reaches beyond the limit is not visible yet.
            if batch.next_offset() > up_to {
                break;
            }
            bytes += batch.size();
            if !batches.is_empty() && bytes > max_bytes {
                break;
            }
            batches.push(batch.clone());
        }
        batches
    }

    /// Bytes that [`Log::read`] could return from `from` up to `up_to`, at most `enough`.
    pub fn readable_bytes(&self, from: Offset, up_to: Offset, enough: usize) -> usize {
        let mut bytes = 0;
        for batch in self.batches_from(from) {
            if batch.next_offset() > up_to || bytes >= enough {
                break;
            }
            bytes += batch.size();
        }
        bytes
    }

    /// All batches, oldest first.
    pub fn batches(&self) -> impl DoubleEndedIterator<Item = &RecordBatch> {
        self.sealed.iter().flat_map(|segment| segment.batches.iter()).chain(self.active.iter())
    }

    /// Batches from the one that holds `from` on.
    pub fn batches_from(&self, from: Offset) -> impl Iterator<Item = &RecordBatch> {
        let first = self.sealed.partition_point(|segment| segment.next_offset() <= from);
        // Batches are ordered, so the one that holds the offset is found by halving.
        let below = |batches: &[RecordBatch]| batches.partition_point(|batch| batch.next_offset() <= from);
        let (sealed, active) = match self.sealed.get(first) {
            Some(segment) => (&segment.batches[below(&segment.batches)..], &self.active[..]),
            None => (&[][..], &self.active[below(&self.active)..]),
        };
        let later = self.sealed.get(first + 1..).unwrap_or(&[]);
        sealed.iter().chain(later.iter().flat_map(|segment| segment.batches.iter())).chain(active)
    }

    /// The batch that holds an offset.
    pub fn batch_at(&self, offset: Offset) -> Option<&RecordBatch> {
        self.batches_from(offset).next().filter(|batch| batch.base_offset <= offset)
    }

    /// Removes everything from `to` on, cut at the start of the batch that holds `to`. Returns whether records went.
    /// Cache entries at or beyond the resulting end go even if no record does.
    pub fn truncate_to(&mut self, to: Offset) -> bool {
        let before = self.end;
        if to < self.end {
            if to <= self.start {
                let start = to.min(self.start);
                *self = Log { epochs: core::mem::take(&mut self.epochs), ..Log::starting_at(start) };
            } else {
                while self.active.last().is_some_and(|batch| batch.next_offset() > to) {
                    self.active.pop();
                    self.unseal();
                }
                self.unseal();
                while self.active.last().is_some_and(|batch| batch.next_offset() > to) {
                    self.active.pop();
                    self.unseal();
                }
                self.end = self.active.last().map_or(self.start, RecordBatch::next_offset);
            }
            let mut producers = ProducerStates::default();
            for batch in self.batches() {
                producers.update(batch);
            }
            self.producers = producers;
        }
        self.epochs.truncate_from_end(self.end);
        self.end < before
    }

    /// Makes the last sealed segment active again once the active one is empty.
    fn unseal(&mut self) {
        if self.active.is_empty()
            && let Some(segment) = self.sealed.pop()
        {
            self.active = Rc::unwrap_or_clone(segment).batches;
        }
    }

    /// Raises the log start; batches wholly below it go. `to` never lies beyond the log end.
    pub fn advance_start(&mut self, to: Offset) {
        assert!(to <= self.end, "the log start stays within the log");
        if to <= self.start {
            return;
        }
        self.start = to;
        self.sealed.retain(|segment| segment.next_offset() > to);
        if self.sealed.is_empty() {
            self.active.retain(|batch| batch.next_offset() > to);
        }
        self.epochs.truncate_from_start(to);
    }

    /// Empties the log and starts it anew at `start` (a follower below the leader's log start).
    pub fn restart_at(&mut self, start: Offset) {
        *self = Log::starting_at(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Seq, SimTime, Tag};
    use crate::protocol::{Payload, Record};

    fn batch(n: usize) -> RecordBatch {
        let records: Vec<Record> =
            (0..n).map(|i| Record { tag: Tag(i as u64), key: None, value: "v".into() }).collect();
        RecordBatch {
            base_offset: 0,
            epoch: 0,
            producer: None,
            timestamp: SimTime::ZERO,
            payload: Payload::Data(records.into()),
            origin: Seq(0),
        }
    }

    fn filled(batches: usize) -> Log {
        let mut log = Log::default();
        for _ in 0..batches {
            log.append_as_leader(batch(2), 5);
        }
        log
    }

    #[test]
    fn appending_gives_dense_offsets_and_one_epoch_entry() {
        let log = filled(3);
        assert_eq!((log.start_offset(), log.end_offset()), (0, 6));
        assert_eq!(log.epochs().entries(), &[(5, 0)]);
    }

    #[test]
    fn truncation_cuts_whole_batches_across_segments() {
        for to in 0..=400 {
            let mut log = filled(200);
            log.truncate_to(to);
            assert_eq!(log.end_offset(), (to - to % 2).min(400), "truncated to {to}");
            let offsets: Vec<Offset> = log.batches().map(|b| b.base_offset).collect();
            assert_eq!(offsets, (0..log.end_offset()).step_by(2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn reading_starts_with_the_batch_that_holds_the_offset() {
        let log = filled(200);
        let read = log.read(131, 400, 1);
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].base_offset, 130);
        assert!(log.read(400, 400, 1).is_empty());
        assert!(log.read(130, 131, 1_000).is_empty(), "a batch that reaches beyond the limit is not split");
    }

    #[test]
    fn every_offset_is_found_across_segments() {
        let log = filled(200);
        for offset in 0..400 {
            assert_eq!(log.batch_at(offset).map(|b| b.base_offset), Some(offset - offset % 2));
            assert_eq!(log.batches_from(offset).count() as i64, 200 - offset / 2);
        }
        assert_eq!(log.batch_at(400), None);
    }

    #[test]
    fn logs_with_other_records_have_other_digests() {
        let digest = |epoch_of: &dyn Fn(i32) -> i32| {
            let mut log = Log::default();
            (0..100).for_each(|i| {
                log.append_as_leader(batch(1), epoch_of(i));
            });
            digest_of(&log)
        };
        assert_eq!(digest(&|_| 5), digest(&|_| 5));
        assert_ne!(digest(&|_| 5), digest(&|i| if i < 3 { 4 } else { 5 }));
    }

    #[test]
    fn an_empty_log_keeps_the_end_where_it_was_cut_at_its_start() {
        let mut log = filled(3);
        log.advance_start(4);
        assert_eq!(log.batches().count(), 1);
        log.truncate_to(4);
        assert_eq!((log.start_offset(), log.end_offset()), (4, 4));
    }
}
