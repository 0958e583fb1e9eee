//! Per-partition state of idempotent producers (KIP-98): the last five batches of each producer id. Transactions and
//! expiry are absent.
use alloc::vec::Vec;

use crate::base::{Map, Offset, ProducerEpoch, ProducerId};
use crate::protocol::{ErrorCode, ProducerStamp, RecordBatch};

/// Kafka keeps five, which is why more than five requests in flight are refused with idempotence.
const WINDOW: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct BatchNote {
    first: i32,
    last: i32,
    base_offset: Offset,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ProducerEntry {
    epoch: ProducerEpoch,
    batches: Vec<BatchNote>,
}

/// What the leader makes of a batch with a producer id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceCheck {
    Append,
    /// Already in the log at this base offset; nothing is appended.
    Duplicate {
        base_offset: Offset,
        last_offset: Offset,
    },
    Refuse(ErrorCode),
}

/// State by producer id, derived from the batches of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProducerStates {
    entries: Map<ProducerId, ProducerEntry>,
}

/// The sequence after `sequence`, which wraps to 0.
pub fn next_sequence(sequence: i32, by: i32) -> i32 {
    let room = i32::MAX - sequence;
    if by <= room { sequence + by } else { by - room - 1 }
}

impl ProducerStates {
    /// How many producer ids are known (ReplicaManager ProducerIdCount).
    pub fn len(&self) -> usize {
        self.entries.len()
    }
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// First sequence of the batch at this offset, if it is the one that the state of its producer begins with.
    pub fn opening_sequence(&self, id: ProducerId, base_offset: Offset) -> Option<i32> {
        let oldest = self.entries.get(&id)?.batches.first()?;
        (oldest.base_offset == base_offset).then_some(oldest.first)
    }

    /// The leader's check of a client batch, in Kafka's order.
    pub fn check(&self, stamp: &ProducerStamp, count: i32) -> SequenceCheck {
        // Without any state a first sequence above 0 is accepted too: the log may have lost its head.
        let Some(entry) = self.entries.get(&stamp.id) else { return SequenceCheck::Append };
        if stamp.epoch < entry.epoch {
            return SequenceCheck::Refuse(ErrorCode::InvalidProducerEpoch);
        }
        let last = next_sequence(stamp.base_sequence, count - 1);
        if stamp.epoch > entry.epoch {
            return if stamp.base_sequence == 0 {
                SequenceCheck::Append
            } else {
                SequenceCheck::Refuse(ErrorCode::OutOfOrderSequenceNumber)
            };
        }
        if let Some(note) = entry.batches.iter().find(|b| b.first == stamp.base_sequence && b.last == last) {
            return SequenceCheck::Duplicate {
                base_offset: note.base_offset,
                last_offset: note.base_offset + i64::from(count) - 1,
            };
        }
        match entry.batches.last() {
            Some(newest) if stamp.base_sequence != next_sequence(newest.last, 1) => {
                SequenceCheck::Refuse(ErrorCode::OutOfOrderSequenceNumber)
            }
            Some(_) | None => SequenceCheck::Append,
        }
    }

    /// Follows a batch that was appended, by leader or follower alike, without validation.
    pub fn update(&mut self, batch: &RecordBatch) {
        let Some(stamp) = batch.producer else { return };
        let entry = self.entries.entry(stamp.id).or_insert(ProducerEntry { epoch: stamp.epoch, batches: Vec::new() });
        if entry.epoch != stamp.epoch {
            *entry = ProducerEntry { epoch: stamp.epoch, batches: Vec::new() };
        }
        if entry.batches.len() == WINDOW {
            entry.batches.remove(0);
        }
        let last = next_sequence(stamp.base_sequence, batch.count() as i32 - 1);
        entry.batches.push(BatchNote { first: stamp.base_sequence, last, base_offset: batch.base_offset });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Seq, SimTime, Tag};
    use crate::protocol::{Payload, Record};

    fn batch(epoch: i16, first: i32, count: usize, base_offset: Offset) -> RecordBatch {
        let records: Vec<Record> =
            (0..count).map(|i| Record { tag: Tag(i as u64), key: None, value: "v".into() }).collect();
        let producer = Some(ProducerStamp { id: ProducerId(1000), epoch: ProducerEpoch(epoch), base_sequence: first });
        RecordBatch {
            base_offset,
            epoch: 0,
            producer,
            timestamp: SimTime::ZERO,
            payload: Payload::Data(records.into()),
            origin: Seq(0),
        }
    }

    fn after(batches: &[RecordBatch]) -> ProducerStates {
        let mut states = ProducerStates::default();
        batches.iter().for_each(|b| states.update(b));
        states
    }

    fn ask(states: &ProducerStates, epoch: i16, first: i32, count: i32) -> SequenceCheck {
        states.check(&ProducerStamp { id: ProducerId(1000), epoch: ProducerEpoch(epoch), base_sequence: first }, count)
    }

    #[test]
    fn kip_98_duplicates_gaps_and_epochs() {
        let states = after(&[batch(0, 0, 5, 0), batch(0, 5, 5, 5)]);
        assert_eq!(ask(&states, 0, 5, 5), SequenceCheck::Duplicate { base_offset: 5, last_offset: 9 });
        assert_eq!(ask(&states, 0, 11, 1), SequenceCheck::Refuse(ErrorCode::OutOfOrderSequenceNumber));
        assert_eq!(ask(&states, 0, 10, 1), SequenceCheck::Append);
        assert_eq!(ask(&states, 1, 0, 1), SequenceCheck::Append);
        assert_eq!(ask(&states, 2, 3, 1), SequenceCheck::Refuse(ErrorCode::OutOfOrderSequenceNumber));
        let bumped = after(&[batch(0, 0, 10, 0), batch(1, 0, 1, 10)]);
        assert_eq!(ask(&bumped, 0, 10, 1), SequenceCheck::Refuse(ErrorCode::InvalidProducerEpoch));
    }

    #[test]
    fn kip_98_window_of_five() {
        let batches: Vec<RecordBatch> = (0..7).map(|i| batch(0, i, 1, i64::from(i))).collect();
        let states = after(&batches);
        assert_eq!(ask(&states, 0, 1, 1), SequenceCheck::Refuse(ErrorCode::OutOfOrderSequenceNumber));
        assert_eq!(ask(&states, 0, 2, 1), SequenceCheck::Duplicate { base_offset: 2, last_offset: 2 });
    }

    #[test]
    fn sequences_wrap_to_zero() {
        let states = after(&[batch(0, i32::MAX, 1, 0)]);
        assert_eq!(ask(&states, 0, 0, 1), SequenceCheck::Append);
        assert_eq!(next_sequence(i32::MAX, 1), 0);
        assert_eq!(next_sequence(i32::MAX - 1, 3), 1);
    }
}
