//! Requests that wait: acks=all for the high watermark, fetches for data, DeleteRecords for followers. Each ends with
//! its time-out at the latest; none is repeated.
use alloc::vec::Vec;

use super::produce::answer;
use super::{Handled, ReplicaManager, ReplyTo};
use crate::base::{Dur, Map, Offset, Seq, Tp};
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Ctx, Timer};
use crate::protocol::{ErrorCode, FetchRequest, PartitionResponse, ProduceResult};
use crate::trace::Kind;

/// One partition of a produce request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PendingAck {
    /// High watermark that settles it; `None` if it is settled.
    pub required: Option<Offset>,
    pub result: ProduceResult,
}

/// An acks=all request that waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkedProduce {
    pub reply: ReplyTo,
    pub pending: Vec<PendingAck>,
}

/// A fetch that waits for data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkedFetch {
    pub reply: ReplyTo,
    pub request: FetchRequest,
}

/// A DeleteRecords that waits until all live replicas have moved their log start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkedDelete {
    pub reply: ReplyTo,
    pub tp: Tp,
    pub before: Offset,
}

/// What waits, by a number that names its timer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Purgatory {
    parked: u64,
    pub produces: Map<u64, ParkedProduce>,
    pub fetches: Map<u64, ParkedFetch>,
    pub deletes: Map<u64, ParkedDelete>,
    /// Completed and not yet taken.
    pub ready: Vec<ReadyAnswer>,
}

/// The answer to a request that was parked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReadyAnswer {
    pub reply: ReplyTo,
    pub response: PartitionResponse,
    /// What completed it.
    pub cause: Seq,
}

impl Purgatory {
    pub fn next_id(&mut self) -> u64 {
        self.parked += 1;
        self.parked
    }

    /// Completes a request because of what is handled now.
    pub fn finish(&mut self, ctx: &Ctx<'_>, reply: ReplyTo, response: PartitionResponse) {
        self.ready.push(ReadyAnswer { reply, response, cause: ctx.cause });
    }
}

impl ReplicaManager {
    /// Answers an acks=all request at once if nothing of it is pending, else lets it wait.
    pub(super) fn park_produce(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        mut parked: ParkedProduce,
        timeout: Dur,
    ) -> Handled {
        if self.settle(image, &mut parked, None) {
            return Handled::now(answer(parked.pending));
        }
        let id = self.purgatory.next_id();
        ctx.set(Timer::Broker(BrokerTimer::ParkedProduce(id)), timeout);
        self.purgatory.produces.insert(id, parked);
        Handled::Parked
    }

    /// Settles what can be settled of a request (DelayedProduce), of one partition or of all. Returns whether nothing
    /// is pending.
    fn settle(&self, image: &MetadataImage, parked: &mut ParkedProduce, only: Option<Tp>) -> bool {
        let mut done = true;
        for ack in &mut parked.pending {
            let Some(required) = ack.required else { continue };
            let tp = ack.result.tp;
            if only.is_some_and(|only| only != tp) {
                done = false;
                continue;
            }
            match self.replicas.get(&tp) {
                None => *ack = PendingAck { required: None, result: self.refused(image, tp, Self::absent(image, tp)) },
                Some(replica) if !replica.is_leader() => {
                    *ack =
                        PendingAck { required: None, result: self.refused(image, tp, ErrorCode::NotLeaderOrFollower) }
                }
                Some(replica) if replica.high_watermark < required => done = false,
                Some(replica) => {
                    ack.required = None;
                    if replica.maximal_isr_len() < self.effective_min_isr(image, tp, replica.assigned) {
                        *ack = PendingAck {
                            required: None,
                            result: self.refused(image, tp, ErrorCode::NotEnoughReplicasAfterAppend),
                        };
                    }
                }
            }
        }
        done
    }

    /// Completes acks=all requests of a partition that waited for what happened now.
    pub(super) fn complete_produces(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        if self.purgatory.produces.is_empty() {
            return;
        }
        let waits =
            |parked: &ParkedProduce| parked.pending.iter().any(|ack| ack.required.is_some() && ack.result.tp == tp);
        let ids: Vec<u64> =
            self.purgatory.produces.iter().filter(|(_, parked)| waits(parked)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(mut parked) = self.purgatory.produces.remove(&id) else { continue };
            if self.settle(image, &mut parked, Some(tp)) {
                ctx.cancel(&Timer::Broker(BrokerTimer::ParkedProduce(id)));
                self.purgatory.finish(ctx, parked.reply, answer(parked.pending));
            } else {
                self.purgatory.produces.insert(id, parked);
            }
        }
    }

    /// An acks=all request has waited for its time-out: what is still pending may be committed later all the same.
    pub(super) fn on_produce_timeout(&mut self, ctx: &mut Ctx<'_>, id: u64) {
        let Some(mut parked) = self.purgatory.produces.remove(&id) else { return };
        for ack in parked.pending.iter_mut().filter(|ack| ack.required.is_some()) {
            ctx.note(Kind::ProduceTimedOut { tp: ack.result.tp });
            ack.result.error = ErrorCode::RequestTimedOut;
            ack.result.base_offset = -1;
        }
        self.purgatory.finish(ctx, parked.reply, answer(parked.pending));
    }

    /// The high watermark of a partition moved: acks=all, consumers and DeleteRecords may go on; followers' fetches do
    /// not (KAFKA-9952).
    pub(super) fn on_high_watermark_moved(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        self.complete_produces(ctx, image, tp);
        self.wake_consumers(ctx, image, tp);
    }

    /// The broker does not lead the partition any more, or hosts it no longer: everything that waits for it is
    /// answered.
    pub(super) fn complete_when_not_leader(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        self.complete_produces(ctx, image, tp);
        self.complete_fetches_of(ctx, image, tp);
        self.complete_deletes(ctx, image, tp);
    }
}
