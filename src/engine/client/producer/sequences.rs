//! Producer id, epoch and sequences (KIP-98, KIP-360: TransactionManager without transactions). Sends nothing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::accumulator::{Batch, Part};
use crate::base::{ProducerEpoch, ProducerId};
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
    open: BTreeMap<i32, u64>,
}

/// What the idempotent producer remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sequences {
    current: Option<(ProducerId, ProducerEpoch)>,
    parts: BTreeMap<Part, Numbers>,
    /// Partitions with a batch that ended with an unknown outcome, and the number after it.
    unresolved: BTreeMap<Part, i32>,
    rewrite: BTreeSet<Part>,
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
        let fresh = Numbers { id, epoch, next: 0, last_acked: None, open: BTreeMap::new() };
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

    pub fn on_acked(&mut self, batch: &Batch) {
        let (Some(stamp), Some(numbers)) = (batch.stamp, self.parts.get_mut(&batch.part)) else { return };
        if (stamp.id, stamp.epoch) != (numbers.id, numbers.epoch) {
            return;
        }
        numbers.open.remove(&stamp.base_sequence);
        let last = sequence_after(stamp.base_sequence, batch.records.len() - 1);
        numbers.last_acked = Some(numbers.last_acked.map_or(last, |known| known.max(last)));
    }

    /// A batch failed for good. `adjust`: it was refused although it could have been tried again.
    pub fn on_failed(&mut self, batch: &Batch, error: ErrorCode, adjust: bool) {
        let (Some(stamp), Some(numbers)) = (batch.stamp, self.parts.get_mut(&batch.part)) else { return };
        numbers.open.remove(&stamp.base_sequence);
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
        if error == ErrorCode::OutOfOrderSequenceNumber {
            let is_next = match (batch.stamp, self.parts.get(&batch.part)) {
                (Some(stamp), Some(numbers)) => {
                    numbers.last_acked.map_or(0, |last| sequence_after(last, 1)) == stamp.base_sequence
                }
                (_, _) => false,
            };
            if !self.unresolved.contains_key(&batch.part) && (batch.sequence_reset || !is_next) {
                return true;
            }
            self.rewrite.insert(batch.part.clone());
            return true;
        }
        error.retriable()
    }

    /// Partitions whose unknown outcomes are settled: nothing is open any more.
    pub fn resolve(&mut self) {
        let settled: Vec<(Part, i32)> = self
            .unresolved
            .iter()
            .filter(|(part, _)| self.parts.get(*part).is_none_or(|n| n.open.is_empty()))
            .map(|(part, next)| (part.clone(), *next))
            .collect();
        for (part, next) in settled {
            self.unresolved.remove(&part);
            let acked = self.parts.get(&part).and_then(|n| n.last_acked).map_or(0, |last| sequence_after(last, 1));
            if acked != next {
                self.rewrite.insert(part);
            }
        }
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
            let Some(numbers) = self.parts.get_mut(&part) else { continue };
            let old = core::mem::take(&mut numbers.open);
            *numbers = Numbers { id, epoch, next: 0, last_acked: None, open: BTreeMap::new() };
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
