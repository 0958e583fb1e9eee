//! ListOffsets, OffsetForLeaderEpoch and DeleteRecords at the leader (KIP-101, KIP-107, KIP-207). Lookups by timestamp
//! are absent.

use alloc::vec::Vec;

use super::partition::Replica;
use super::produce::not_internal;
use super::purgatory::ParkedDelete;
use super::{Handled, ReplicaManager, ReplyTo};
use crate::base::{Dur, LeaderEpoch, Offset, Tp};
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Ctx, Timer};
use crate::protocol::{ErrorCode, ListOffsetsRequest, ListedOffset, OffsetSpec, PartitionResponse};
use crate::trace::Kind;

impl ReplicaManager {
    /// The hosted replica after the check of the fetcher's epoch (Partition.checkCurrentLeaderEpoch, KIP-320), or why
    /// it is not served.
    pub(super) fn replica_in_epoch(
        &self,
        image: &MetadataImage,
        tp: Tp,
        epoch: Option<LeaderEpoch>,
        leader_only: bool,
    ) -> Result<&Replica, ErrorCode> {
        let replica = self.replicas.get(&tp).ok_or_else(|| Self::absent(image, tp))?;
        match epoch {
            Some(epoch) if epoch < replica.leader_epoch => Err(ErrorCode::FencedLeaderEpoch),
            Some(epoch) if epoch > replica.leader_epoch => Err(ErrorCode::UnknownLeaderEpoch),
            Some(_) | None if leader_only && !replica.is_leader() => Err(ErrorCode::NotLeaderOrFollower),
            Some(_) | None => Ok(replica),
        }
    }

    /// Latest is the high watermark for clients and the log end for followers; a new leader does not name it before its
    /// own epoch is committed (KIP-207).
    pub fn list_offsets(
        &self,
        ctx: &Ctx<'_>,
        image: &MetadataImage,
        request: &ListOffsetsRequest,
    ) -> PartitionResponse {
        let partitions = request.partitions.iter().map(|(tp, epoch, spec)| {
            let found = self.replica_in_epoch(image, *tp, *epoch, true).and_then(|replica| {
                let Some(state) = replica.leader_state() else { return Err(ErrorCode::NotLeaderOrFollower) };
                match spec {
                    OffsetSpec::Earliest => {
                        let first = ctx.disk.log(*tp).and_then(|log| log.epochs().entries().first().copied());
                        let epoch =
                            first.filter(|(_, start)| *start <= replica.log.start).map(|(epoch, _)| LeaderEpoch(epoch));
                        Ok((replica.log.start, epoch))
                    }
                    OffsetSpec::Latest if request.replica.is_some() => {
                        Ok((replica.log.end, Some(replica.leader_epoch)))
                    }
                    OffsetSpec::Latest if replica.high_watermark < state.epoch_start => {
                        Err(ErrorCode::OffsetNotAvailable)
                    }
                    OffsetSpec::Latest => Ok((replica.high_watermark, Some(replica.leader_epoch))),
                }
            });
            match found {
                Ok((offset, leader_epoch)) => ListedOffset { tp: *tp, error: ErrorCode::None, offset, leader_epoch },
                Err(error) => ListedOffset { tp: *tp, error, offset: -1, leader_epoch: None },
            }
        });
        PartitionResponse::ListOffsets { partitions: partitions.collect() }
    }

    /// Where an epoch, or the largest one below it, ends in the leader's log.
    pub fn offset_for_leader_epoch(
        &self,
        ctx: &Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        current: Option<LeaderEpoch>,
        epoch: i32,
    ) -> PartitionResponse {
        match self.replica_in_epoch(image, tp, current, true) {
            Ok(replica) => {
                let end = ctx.disk.log(tp).and_then(|log| log.epochs().end_offset_for(epoch, replica.log.end));
                PartitionResponse::OffsetForLeaderEpoch { tp, error: ErrorCode::None, end }
            }
            Err(error) => PartitionResponse::OffsetForLeaderEpoch { tp, error, end: None },
        }
    }

    /// Moves the log start of a led partition to `before` (-1 is the high watermark) and waits until the live replicas
    /// have followed.
    #[allow(clippy::too_many_arguments)] // A request has three fields and a handler four surroundings.
    pub fn delete_records(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        before: Offset,
        timeout: Dur,
        reply: ReplyTo,
    ) -> Handled {
        let refuse = |error| Handled::now(PartitionResponse::DeleteRecords { error, low_watermark: -1 });
        let replica = match not_internal(image, tp).and_then(|()| self.replica_in_epoch(image, tp, None, true)) {
            Ok(replica) => replica,
            Err(error) => return refuse(error),
        };
        let before = if before == -1 { replica.high_watermark } else { before };
        if before < 0 || before > replica.high_watermark {
            return refuse(ErrorCode::OffsetOutOfRange);
        }
        self.advance_log_start(ctx, tp, before);
        let low_watermark = self.low_watermark(image, tp);
        if low_watermark >= before {
            return Handled::now(PartitionResponse::DeleteRecords { error: ErrorCode::None, low_watermark });
        }
        let id = self.purgatory.next_id();
        ctx.set(Timer::Broker(BrokerTimer::ParkedDeleteRecords(id)), timeout);
        self.purgatory.deletes.insert(id, ParkedDelete { reply, tp, before });
        Handled::Parked
    }

    /// Raises the log start of a replica, if `to` lies beyond it.
    pub(super) fn advance_log_start(&mut self, ctx: &mut Ctx<'_>, tp: Tp, to: Offset) {
        if self.replicas.get(&tp).is_some_and(|replica| to > replica.log.start) {
            self.write_log(ctx, tp, |log| log.advance_start(to));
            ctx.because(Kind::LogStartAdvanced { tp, log_start: to });
        }
    }

    /// The smallest log start of the leader and the live followers (Partition.lowWatermarkIfLeader).
    fn low_watermark(&self, image: &MetadataImage, tp: Tp) -> Offset {
        let Some(replica) = self.replicas.get(&tp) else { return -1 };
        let remotes = replica.leader_state().map_or(&[][..], |state| &state.remotes);
        remotes
            .iter()
            .filter(|remote| image.is_unfenced(remote.broker))
            .map(|remote| remote.log_start)
            .fold(replica.log.start, Offset::min)
    }

    /// Completes DeleteRecords of a partition whose followers have moved, or that is not led here any more.
    pub(super) fn complete_deletes(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        if self.purgatory.deletes.is_empty() {
            return;
        }
        let low_watermark = self.low_watermark(image, tp);
        let error = self.replica_in_epoch(image, tp, None, true).err();
        let done = |parked: &ParkedDelete| parked.tp == tp && (error.is_some() || low_watermark >= parked.before);
        let ids: Vec<u64> =
            self.purgatory.deletes.iter().filter(|(_, parked)| done(parked)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(parked) = self.purgatory.deletes.remove(&id) else { continue };
            ctx.cancel(&Timer::Broker(BrokerTimer::ParkedDeleteRecords(id)));
            let response = match error {
                Some(error) => PartitionResponse::DeleteRecords { error, low_watermark: -1 },
                None => PartitionResponse::DeleteRecords { error: ErrorCode::None, low_watermark },
            };
            self.purgatory.finish(ctx, parked.reply, response);
        }
    }

    /// A DeleteRecords has waited for its time-out. The records are gone at the leader all the same.
    pub(super) fn on_delete_timeout(&mut self, ctx: &Ctx<'_>, id: u64) {
        if let Some(parked) = self.purgatory.deletes.remove(&id) {
            self.purgatory.finish(
                ctx,
                parked.reply,
                PartitionResponse::DeleteRecords { error: ErrorCode::RequestTimedOut, low_watermark: -1 },
            );
        }
    }
}
