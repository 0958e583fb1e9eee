//! Produce as leader: admission, sequences, append, acks (KIP-98, KAFKA-1555). It waits for nothing itself; the
//! purgatory does.

use alloc::vec::Vec;

use super::purgatory::{ParkedProduce, PendingAck};
use super::{Handled, ReplicaManager, ReplyTo};
use crate::base::{Offset, Tp};
use crate::log::SequenceCheck;
use crate::metadata::MetadataImage;
use crate::node::Ctx;
use crate::protocol::{
    Acks, CONSUMER_OFFSETS, ErrorCode, GroupRecord, LeaderHint, PartitionResponse, Payload, ProduceRequest,
    ProduceResult, ProducedTopics, RecordBatch,
};
use crate::trace::Kind;

/// Default of `max.message.bytes`.
const MAX_MESSAGE_BYTES: usize = 1_048_588;

/// Where a batch is in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placed {
    base_offset: Offset,
    /// Offset after its last record.
    next_offset: Offset,
    /// `None` for a duplicate, else whether the append raised the high watermark.
    raised: Option<bool>,
}

impl ReplicaManager {
    /// Appends as leader. acks=all is answered when the high watermark has passed, else at once.
    pub fn produce(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        request: ProduceRequest,
        reply: ReplyTo,
    ) -> Handled {
        let mut pending = Vec::with_capacity(request.batches.len());
        let mut appended = Vec::new();
        let arrived = ctx.cause;
        for (asked, batch) in request.batches {
            ctx.cause = arrived;
            let (tp, found) = match produced_to(image, asked, &request.topics) {
                Ok(tp) => (tp, Ok(())),
                Err(error) => (asked, Err(error)),
            };
            let may = found.and_then(|()| not_internal(image, tp));
            match may.and_then(|()| self.append(ctx, image, tp, batch, request.acks == Acks::All)) {
                Ok(placed) => {
                    appended.extend(placed.raised.map(|raised| (tp, raised, ctx.cause)));
                    pending.push(PendingAck {
                        required: (request.acks == Acks::All).then_some(placed.next_offset),
                        result: ProduceResult {
                            tp,
                            error: ErrorCode::None,
                            base_offset: placed.base_offset,
                            current_leader: None,
                        },
                    });
                }
                Err(error) => {
                    ctx.note(Kind::ProduceRefused { tp, error });
                    pending.push(PendingAck { required: None, result: self.refused(image, tp, error) });
                }
            }
        }
        // Fetches wake after the whole request, so that one answer holds all its partitions.
        for (tp, raised, cause) in appended {
            ctx.cause = cause;
            self.on_appended(ctx, image, tp, raised);
        }
        match request.acks {
            Acks::Zero if pending.iter().any(|ack| !ack.result.error.is_none()) => Handled::CloseConnection,
            Acks::Zero => Handled::Now(None),
            Acks::One => Handled::now(answer(pending)),
            Acks::All => {
                let parked = ParkedProduce { reply, pending };
                self.park_produce(ctx, image, parked, request.timeout)
            }
        }
    }

    /// Appends a batch of a group coordinator; returns the offset after it. `admission` is the min-ISR test of
    /// acks=all.
    pub fn append_as_coordinator(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        records: Vec<GroupRecord>,
        admission: bool,
    ) -> Result<Offset, ErrorCode> {
        let batch = RecordBatch {
            base_offset: 0,
            epoch: 0,
            producer: None,
            timestamp: ctx.now,
            payload: Payload::Group(records.into()),
            origin: ctx.cause,
        };
        let placed = self.append(ctx, image, tp, batch, admission)?;
        self.on_appended(ctx, image, tp, placed.raised == Some(true));
        Ok(placed.next_offset)
    }

    fn append(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        mut batch: RecordBatch,
        admission: bool,
    ) -> Result<Placed, ErrorCode> {
        let replica = self.replicas.get(&tp).ok_or_else(|| Self::absent(image, tp))?;
        if !replica.is_leader() {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        // The test comes before the look for duplicates: a repeated batch is refused too while the ISR is small.
        if admission && replica.isr.len() < self.effective_min_isr(image, tp, replica.assigned) {
            return Err(ErrorCode::NotEnoughReplicas);
        }
        let size = batch.size();
        if size > max_message_bytes(image, tp) {
            return Err(ErrorCode::MessageTooLarge);
        }
        if size > limit(image, tp, "segment.bytes", usize::MAX) {
            return Err(ErrorCode::RecordListTooLarge);
        }
        let count = batch.count();
        if let (Some(stamp), Some(log)) = (batch.producer, ctx.disk.log(tp))
            && !self.rules.broken.appends_without_sequence_check
        {
            match log.producers().check(&stamp, count as i32) {
                SequenceCheck::Append => {}
                SequenceCheck::Duplicate { base_offset, last_offset } => {
                    ctx.note(Kind::DuplicateRecognised { tp, base_offset });
                    return Ok(Placed { base_offset, next_offset: last_offset + 1, raised: None });
                }
                SequenceCheck::Refuse(error) => return Err(error),
            }
        }
        let epoch = replica.leader_epoch;
        batch.origin = ctx.because(Kind::Appended { tp, base_offset: replica.log.end, count: count as u32, epoch });
        let base_offset = self.write_log(ctx, tp, |log| log.append_as_leader(batch, epoch.0));
        let raised = self.advance_high_watermark(ctx, image, tp);
        Ok(Placed { base_offset, next_offset: base_offset + count, raised: Some(raised) })
    }

    /// Whether a batch of so many records of a coordinator is not too large.
    pub fn takes_group_records(&self, image: &MetadataImage, tp: Tp, records: usize) -> bool {
        RecordBatch::HEADER_BYTES + records * GroupRecord::BYTES <= max_message_bytes(image, tp)
    }

    /// The log of a led partition grew, and its high watermark perhaps with it: followers read to the log end,
    /// everybody else to the high watermark.
    fn on_appended(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp, raised: bool) {
        if raised {
            self.on_high_watermark_moved(ctx, image, tp);
        }
        self.wake_fetches(ctx, image, tp);
    }

    /// A refused batch, with the newer leader if this release names it (KIP-951).
    pub(super) fn refused(&self, image: &MetadataImage, tp: Tp, error: ErrorCode) -> ProduceResult {
        ProduceResult { tp, error, base_offset: -1, current_leader: self.leader_hint(image, tp, error) }
    }

    /// The newer leader for an error that says that this is not it.
    pub(super) fn leader_hint(&self, image: &MetadataImage, tp: Tp, error: ErrorCode) -> Option<LeaderHint> {
        if !self.rules.leader_hints || !matches!(error, ErrorCode::NotLeaderOrFollower | ErrorCode::FencedLeaderEpoch) {
            return None;
        }
        let (leader, epoch) = match self.replicas.get(&tp) {
            Some(replica) => (replica.leader, replica.leader_epoch),
            None => image.partition(tp).map(|p| (p.leader, p.leader_epoch))?,
        };
        leader.map(|leader| LeaderHint { leader, epoch })
    }
}

fn max_message_bytes(image: &MetadataImage, tp: Tp) -> usize {
    limit(image, tp, "max.message.bytes", MAX_MESSAGE_BYTES)
}

fn limit(image: &MetadataImage, tp: Tp, key: &str, default: usize) -> usize {
    image.topic_config(tp.topic, key).and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// The partition that a batch is for. A name means the topic that has it now, whichever the client knew; an id means
/// that topic alone, and one that is gone is unknown even if another has its name (KafkaApis.handleProduceRequest).
fn produced_to(image: &MetadataImage, asked: Tp, topics: &ProducedTopics) -> Result<Tp, ErrorCode> {
    match topics {
        ProducedTopics::ById if image.topic_name(asked.topic).is_none() => Err(ErrorCode::UnknownTopicId),
        ProducedTopics::ById => Ok(asked),
        ProducedTopics::ByName(names) => image.by_name(names, asked).ok_or(ErrorCode::UnknownTopicOrPartition),
    }
}

/// Internal topics are the coordinators': clients neither append to them nor delete their records (ReplicaManager.
/// appendToLocalLog, deleteRecordsOnLocalLog). A partition that is not there has another error.
pub(super) fn not_internal(image: &MetadataImage, tp: Tp) -> Result<(), ErrorCode> {
    let internal = image.topic_name(tp.topic).is_some_and(|name| &**name == CONSUMER_OFFSETS);
    if internal && image.partition(tp).is_some() { Err(ErrorCode::InvalidTopicException) } else { Ok(()) }
}

/// The answer to a request of which nothing is pending any more.
pub(super) fn answer(pending: Vec<PendingAck>) -> PartitionResponse {
    PartitionResponse::Produce { results: pending.into_iter().map(|ack| ack.result).collect() }
}
