//! Batches that wait to be sent, a queue per partition (RecordAccumulator). It sends nothing and knows no leader.
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::sequences::sequence_after;
use crate::base::{Dur, LeaderEpoch, Map, Seq, SimTime, Tp};
use crate::protocol::{ErrorCode, ProducerStamp, Record, RecordBatch};

/// A partition by the topic's name, as applications and queues know it.
pub type Part = (Rc<str>, u32);

/// A batch on its way to the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch {
    pub id: u64,
    pub part: Part,
    /// Where it was sent last.
    pub tp: Option<Tp>,
    pub records: Vec<Record>,
    /// Serialised size, the header included.
    pub bytes: usize,
    /// Starts the delivery clock.
    pub created: SimTime,
    /// How often it was put back for another try.
    pub attempts: u32,
    /// Not sent again before.
    pub retry_at: SimTime,
    pub last_error: ErrorCode,
    pub stamp: Option<ProducerStamp>,
    /// Renumbered from 0 after an epoch bump.
    pub sequence_reset: bool,
    /// Takes no more records.
    pub closed: bool,
    /// Leader epoch that was known when it was sent.
    pub sent_epoch: Option<LeaderEpoch>,
    /// The entry that made its first record.
    pub origin: Seq,
}

impl Batch {
    pub fn deadline(&self, delivery_timeout: Dur) -> SimTime {
        self.created + delivery_timeout
    }

    /// It was sent, and no answer says whether a leader has it.
    pub fn is_in_doubt(&self) -> bool {
        self.attempts > 0 && matches!(self.last_error, ErrorCode::RequestTimedOut | ErrorCode::NetworkException)
    }
}

/// All queues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Accumulator {
    queues: Map<Part, VecDeque<Batch>>,
    made: u64,
}

impl Accumulator {
    /// Adds a record to the last open batch of its partition, or opens one. Returns whether the sender is woken by it:
    /// a batch is new or full, or others wait for the partition too.
    pub fn append(&mut self, now: SimTime, part: &Part, record: Record, batch_size: usize, origin: Seq) -> bool {
        let size = record.size();
        if !self.queues.contains_key(part) {
            self.queues.insert(part.clone(), VecDeque::new());
        }
        let Some(queue) = self.queues.get_mut(part) else { return false };
        let others = queue.len() > 1;
        if let Some(last) = queue.back_mut().filter(|last| !last.closed) {
            if last.bytes + size <= batch_size {
                last.bytes += size;
                last.records.push(record);
                last.closed = last.bytes >= batch_size;
                return others || last.closed;
            }
            last.closed = true;
        }
        self.made += 1;
        let bytes = RecordBatch::HEADER_BYTES + size;
        queue.push_back(Batch {
            id: self.made,
            part: part.clone(),
            tp: None,
            records: alloc::vec![record],
            bytes,
            created: now,
            attempts: 0,
            retry_at: now,
            last_error: ErrorCode::None,
            stamp: None,
            sequence_reset: false,
            // A record above the size has a batch for itself.
            closed: bytes >= batch_size,
            sent_epoch: None,
            origin,
        });
        true
    }

    /// Whether a record of this size would go into a batch that exists.
    pub fn fits(&self, part: &Part, size: usize, batch_size: usize) -> bool {
        self.queues
            .get(part)
            .and_then(VecDeque::back)
            .is_some_and(|last| !last.closed && last.bytes + size <= batch_size)
    }

    /// Whether no batch of the partition is being filled.
    pub fn all_full(&self, part: &Part) -> bool {
        self.queues.get(part).and_then(VecDeque::back).is_none_or(|last| last.closed)
    }

    /// Batches that wait for a partition.
    pub fn waiting(&self, part: &Part) -> usize {
        self.queues.get(part).map_or(0, VecDeque::len)
    }

    /// The batch that is next, if any.
    pub fn head(&self, part: &Part) -> Option<&Batch> {
        self.queues.get(part).and_then(VecDeque::front)
    }

    /// Takes the head away to be sent.
    pub fn pop(&mut self, part: &Part) -> Option<Batch> {
        let mut batch = self.queues.get_mut(part)?.pop_front()?;
        batch.closed = true;
        Some(batch)
    }

    /// Puts a batch back for another try: at the front, or in the order of sequences if it has one.
    pub fn put_back(&mut self, batch: Batch) {
        let queue = self.queues.entry(batch.part.clone()).or_default();
        let Some(stamp) = batch.stamp else {
            queue.push_front(batch);
            return;
        };
        let place = queue.iter().position(|other| {
            other.stamp.is_none_or(|other| other.base_sequence > stamp.base_sequence || other.epoch < stamp.epoch)
        });
        queue.insert(place.unwrap_or(queue.len()), batch);
    }

    /// Whether the head may be sent now: full, old enough, or pushed; and not resting after an error.
    pub fn is_ready(&self, part: &Part, now: SimTime, linger: Dur, pushed: bool) -> bool {
        let Some(queue) = self.queues.get(part) else { return false };
        let Some(head) = queue.front() else { return false };
        let due = head.closed || queue.len() > 1 || head.created + linger <= now || pushed;
        due && head.retry_at <= now
    }

    /// When the head becomes ready by time alone.
    pub fn ready_at(&self, part: &Part, linger: Dur, pushed: bool) -> Option<SimTime> {
        let queue = self.queues.get(part)?;
        let head = queue.front()?;
        let due = if head.closed || queue.len() > 1 || pushed { SimTime::ZERO } else { head.created + linger };
        Some(due.max(head.retry_at))
    }

    /// Takes every batch whose delivery time has passed, the oldest of each partition first.
    pub fn take_expired(&mut self, now: SimTime, delivery_timeout: Dur) -> Vec<Batch> {
        let mut expired = Vec::new();
        for queue in self.queues.values_mut() {
            if queue.iter().any(|b| b.deadline(delivery_timeout) <= now) {
                let (gone, kept): (VecDeque<Batch>, VecDeque<Batch>) =
                    queue.drain(..).partition(|b| b.deadline(delivery_timeout) <= now);
                expired.extend(gone);
                *queue = kept;
            }
        }
        expired
    }

    /// Partitions with something to send.
    pub fn parts(&self) -> Vec<Part> {
        self.queues.iter().filter(|(_, q)| !q.is_empty()).map(|(part, _)| part.clone()).collect()
    }

    /// Every waiting batch.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.queues.values().flatten()
    }
    pub fn batches_mut(&mut self) -> impl Iterator<Item = &mut Batch> {
        self.queues.values_mut().flatten()
    }
    pub fn is_empty(&self) -> bool {
        self.queues.values().all(VecDeque::is_empty)
    }

    /// Halves a batch that was refused as too large.
    pub fn split(&mut self, mut batch: Batch) -> (Batch, Batch) {
        let tail = batch.records.split_off(batch.records.len().div_ceil(2));
        let size = |records: &[Record]| RecordBatch::HEADER_BYTES + records.iter().map(Record::size).sum::<usize>();
        self.made += 1;
        let mut second = Batch { id: self.made, records: Vec::new(), ..batch.clone() };
        second.bytes = size(&tail);
        second.records = tail;
        batch.bytes = size(&batch.records);
        // Both halves keep their place in the numbering.
        if let Some(stamp) = &mut second.stamp {
            stamp.base_sequence = sequence_after(stamp.base_sequence, batch.records.len());
        }
        (batch, second)
    }
}
