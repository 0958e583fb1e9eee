//! Producer id, epoch and sequences (KIP-98, KIP-360: TransactionManager without transactions). Sends nothing.
use alloc::vec::Vec;

use super::accumulator::{Batch, Part};
use crate::base::{Map, ProducerEpoch, ProducerId, Set};
use crate::protocol::{ErrorCode, ProducerStamp};

/// `a + n` in the sequence space, which wraps after 2147483647 to 0.
pub fn sequence_after(a: i32, n: usize) -> i32 {
    ((i64::from(a) + n as i64) % (i64::from(i32::MAX) + 1)) as i32
}

/// Numbers of one partition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Numbers {
    id: ProducerId,
    epoch: ProducerEpoch,
    next: i32,
    last_acked: Option<i32>,
    /// Batches that have a number and no final outcome, by number.
    open: Map<i32, u64>,
}

impl Numbers {
    /// The number after the last one that was acknowledged.
    fn expected(&self) -> i32 {
        self.last_acked.map_or(0, |last| sequence_after(last, 1))
    }

    /// The batch has its outcome.
    fn forget(&mut self, batch: &Batch) {
        if let Some(stamp) = batch.stamp
            && self.open.get(&stamp.base_sequence) == Some(&batch.id)
        {
            self.open.remove(&stamp.base_sequence);
        }
    }
}

/// What the idempotent producer remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequences {
    current: Option<(ProducerId, ProducerEpoch)>,
    parts: Map<Part, Numbers>,
    /// Partitions with a batch that ended with an unknown outcome, and the number after it.
    unresolved: Map<Part, i32>,
    rewrite: Set<Part>,
}

impl Sequences {
    pub fn current(&self) -> Option<(ProducerId, ProducerEpoch)> {
        self.current
    }
    pub fn set_current(&mut self, id: ProducerId, epoch: ProducerEpoch) {
        self.current = Some((id, epoch));
    }
    /// The next number of each partition.
    pub fn next_sequences(&self) -> impl Iterator<Item = (&Part, i32)> {
        self.parts.iter().map(|(part, n)| (part, n.next))
    }

    /// Whether the head of a queue must wait.
    pub fn holds_back(&self, batch: &Batch) -> bool {
        let Some((id, epoch)) = self.current else { return true };
        let Some(numbers) = self.parts.get(&batch.part) else { return false };
        match batch.stamp {
            None => {
                self.unresolved.contains_key(&batch.part)
                    || !numbers.open.is_empty() && (numbers.id, numbers.epoch) != (id, epoch)
            }
            // A retry waits until everything with a lower number has its outcome.
            Some(stamp) => numbers.open.first_key_value().is_some_and(|(first, _)| *first != stamp.base_sequence),
        }
    }

    /// Gives a batch its number at its first drain.
    pub fn assign(&mut self, batch: &mut Batch) {
        let Some((id, epoch)) = self.current else { return };
        if batch.stamp.is_some() {
            return;
        }
        let fresh = Numbers { id, epoch, next: 0, last_acked: None, open: Map::new() };
        let numbers = self.parts.entry(batch.part.clone()).or_insert_with(|| fresh.clone());
        if (numbers.id, numbers.epoch) != (id, epoch) && numbers.open.is_empty() {
            *numbers = fresh;
        }
        batch.stamp = Some(ProducerStamp { id, epoch, base_sequence: numbers.next });
        numbers.open.insert(numbers.next, batch.id);
        numbers.next = sequence_after(numbers.next, batch.records.len());
    }

    /// A half of a batch that was split keeps its part of the numbers.
    pub fn reopen(&mut self, batch: &Batch) {
        if let (Some(stamp), Some(numbers)) = (batch.stamp, self.parts.get_mut(&batch.part)) {
            numbers.open.insert(stamp.base_sequence, batch.id);
        }
    }

    /// A batch is written. Its number counts as it is now: one that was renumbered under way counts in the new epoch.
    pub fn on_acked(&mut self, batch: &Batch) {
        let (Some(stamp), Some(numbers)) = (batch.stamp, self.parts.get_mut(&batch.part)) else { return };
        numbers.forget(batch);
        let last = sequence_after(stamp.base_sequence, batch.records.len() - 1);
        numbers.last_acked = Some(numbers.last_acked.map_or(last, |known| known.max(last)));
    }

    /// A batch failed for good. `adjust`: it was refused although it could have been tried again.
    pub fn on_failed(&mut self, batch: &Batch, error: ErrorCode, adjust: bool) {
        let (Some(_), Some(numbers)) = (batch.stamp, self.parts.get_mut(&batch.part)) else { return };
        numbers.forget(batch);
        if error == ErrorCode::OutOfOrderSequenceNumber || adjust {
            self.rewrite.insert(batch.part.clone());
        }
    }

    /// A batch ran out of time after a try: nobody knows whether it was written.
    pub fn on_unresolved(&mut self, batch: &Batch) {
        if let Some(stamp) = batch.stamp {
            let next = sequence_after(stamp.base_sequence, batch.records.len());
            let known = self.unresolved.entry(batch.part.clone()).or_insert(next);
            *known = (*known).max(next);
        }
    }

    /// Whether a refused batch may be tried again; may ask for an epoch bump (KIP-360).
    pub fn may_retry(&mut self, batch: &Batch, error: ErrorCode) -> bool {
        if error != ErrorCode::OutOfOrderSequenceNumber {
            return error.retriable();
        }
        let sequence = batch.stamp.map(|stamp| stamp.base_sequence);
        let gap = match self.unresolved.get(&batch.part) {
            // Whether the one before it was written is not known; only the batch right behind it can tell.
            Some(next) => sequence == Some(*next),
            // Everything below the batch has its outcome, and still it does not follow.
            None => {
                let expected = self.parts.get(&batch.part).map_or(0, Numbers::expected);
                !batch.sequence_reset && sequence == Some(expected)
            }
        };
        if gap {
            self.rewrite.insert(batch.part.clone());
        }
        true
    }

    /// Settles unknown outcomes once nothing of the partition is open. If what was acknowledged last is not right below
    /// the next number of the partition, there is a gap and the epoch is bumped.
    pub fn resolve(&mut self) {
        let parts = &self.parts;
        let rewrite = &mut self.rewrite;
        self.unresolved.retain(|part, _| {
            let Some(numbers) = parts.get(part) else { return false };
            if !numbers.open.is_empty() {
                return true;
            }
            if numbers.expected() != numbers.next {
                rewrite.insert(part.clone());
            }
            false
        });
    }

    /// Bumps the epoch if something asked for it. Returns the new numbers of open batches, by batch id.
    pub fn bump(&mut self) -> Option<Vec<(u64, ProducerStamp)>> {
        if self.rewrite.is_empty() {
            return None;
        }
        let (id, ProducerEpoch(epoch)) = self.current?;
        if epoch == i16::MAX {
            // The epochs of this id are used up: a new id is asked for, numbers begin anew with it.
            self.current = None;
            self.rewrite.clear();
            return Some(Vec::new());
        }
        let epoch = ProducerEpoch(epoch + 1);
        self.current = Some((id, epoch));
        let mut renumbered = Vec::new();
        for part in core::mem::take(&mut self.rewrite) {
            self.unresolved.remove(&part);
            let Some(numbers) = self.parts.get_mut(&part) else { continue };
            let old = core::mem::take(&mut numbers.open);
            *numbers = Numbers { id, epoch, next: 0, last_acked: None, open: Map::new() };
            for batch in old.into_values() {
                // The owner of the batches tells how long each is, in this order.
                renumbered.push((batch, ProducerStamp { id, epoch, base_sequence: 0 }));
            }
        }
        Some(renumbered)
    }

    /// Continues the renumbering after [`Sequences::bump`]: the batch's new number.
    pub fn renumber(&mut self, part: &Part, batch: u64, records: usize) -> Option<ProducerStamp> {
        let numbers = self.parts.get_mut(part)?;
        let stamp = ProducerStamp { id: numbers.id, epoch: numbers.epoch, base_sequence: numbers.next };
        numbers.open.insert(numbers.next, batch);
        numbers.next = sequence_after(numbers.next, records);
        Some(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{Seq, SimTime, Tag};
    use crate::client::producer::accumulator::Accumulator;
    use crate::protocol::Record;

    /// Numbers of a producer that has drained this many batches of one record.
    fn drained(count: u64) -> (Sequences, Vec<Batch>) {
        let (mut sequences, mut queues) = (Sequences::default(), Accumulator::default());
        sequences.set_current(ProducerId(1), ProducerEpoch(0));
        let part: Part = ("t".into(), 0);
        let batches = (0..count).map(|i| {
            let record = Record { tag: Tag(i), key: None, value: "v".into() };
            queues.append(SimTime::ZERO, &part, record, 0, Seq(0));
            let mut batch = queues.pop(&part).expect("just appended");
            sequences.assign(&mut batch);
            batch
        });
        let batches = batches.collect();
        (sequences, batches)
    }

    fn expire(sequences: &mut Sequences, batch: &Batch) {
        sequences.on_failed(batch, ErrorCode::RequestTimedOut, false);
        sequences.on_unresolved(batch);
    }

    #[test]
    fn an_expired_batch_raises_no_epoch_if_those_behind_it_were_acknowledged() {
        let (mut sequences, batches) = drained(2);
        expire(&mut sequences, &batches[0]);
        sequences.resolve();
        assert_eq!(sequences.bump(), None, "the second batch is under way");
        sequences.on_acked(&batches[1]);
        sequences.resolve();
        assert_eq!(sequences.bump(), None);
        assert!(sequences.unresolved.is_empty());
    }

    #[test]
    fn an_expired_batch_raises_the_epoch_if_nothing_behind_it_was_acknowledged() {
        let (mut sequences, batches) = drained(2);
        expire(&mut sequences, &batches[0]);
        expire(&mut sequences, &batches[1]);
        sequences.resolve();
        assert_eq!(sequences.bump(), Some(Vec::new()));
        assert_eq!(sequences.current(), Some((ProducerId(1), ProducerEpoch(1))));
    }

    #[test]
    fn behind_an_unknown_outcome_only_the_next_batch_tells_of_a_gap() {
        let (mut sequences, batches) = drained(3);
        expire(&mut sequences, &batches[0]);
        assert!(sequences.may_retry(&batches[2], ErrorCode::OutOfOrderSequenceNumber));
        assert_eq!(sequences.bump(), None, "whether the first one was written is not known yet");
        assert!(sequences.may_retry(&batches[1], ErrorCode::OutOfOrderSequenceNumber));
        assert_eq!(sequences.bump().map(|open| open.len()), Some(2));
        assert!(sequences.unresolved.is_empty(), "the new epoch settles it");
    }
}
