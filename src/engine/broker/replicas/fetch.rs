//! Serving fetches of followers and consumers: checks, divergence, parking and the re-read on completion (KIP-101,
//! KIP-227, KIP-320, KIP-392). It never sends records beyond a consumer's high watermark.

use alloc::vec::Vec;

use super::leader::Position;
use super::partition::{Replica, Told};
use super::purgatory::ParkedFetch;
use super::{Handled, ReplicaManager, ReplyTo};
use crate::base::{BrokerEpoch, BrokerId, Offset, Tp};
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Ctx, Disk, Timer};
use crate::protocol::{
    EpochEnd, ErrorCode, FetchPartition, FetchRequest, FetchedPartition, Fetcher, PartitionResponse, RecordBatch,
};

/// What a read found.
enum Read {
    /// Bytes of the batches, for the test of `min_bytes`.
    Records {
        batches: Vec<RecordBatch>,
        bytes: usize,
    },
    Diverging(EpochEnd),
}

/// What a request amounts to now.
#[derive(Default)]
struct Answer {
    partitions: Vec<FetchedPartition>,
    bytes: usize,
    /// An error or a divergence: no waiting.
    urgent: bool,
}

impl ReplicaManager {
    /// Reads for a follower (to the log end) or a consumer (to the high watermark). The state of a follower is taken
    /// into account after its read,
    /// so that the answer carries the high watermark as it was then.
    pub fn fetch(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        request: FetchRequest,
        reply: ReplyTo,
    ) -> Handled {
        let cause = ctx.cause;
        let mut answer = Answer::default();
        for ask in &request.partitions {
            let leader_end = self.read_into(ctx.disk, image, &request, ask, reply, &mut answer);
            if let (Fetcher::Follower { broker, epoch }, Some(leader_end)) = (request.fetcher, leader_end) {
                let position = Position { broker, epoch, offset: ask.fetch_offset, log_start: ask.log_start_offset };
                // What is learned here is no cause of an answer that was read before.
                ctx.caused_by(cause, |ctx| self.follower_fetched(ctx, image, ask.tp, position, leader_end));
            }
        }
        let enough = answer.bytes >= request.min_bytes as usize;
        if enough || answer.urgent || request.max_wait.0 == 0 || request.partitions.is_empty() {
            self.remember_told(&request, reply, &answer.partitions);
            return Handled::now(PartitionResponse::Fetch { partitions: answer.partitions });
        }
        let id = self.purgatory.next_id();
        ctx.set(Timer::Broker(BrokerTimer::ParkedFetch(id)), request.max_wait);
        self.purgatory.fetches.insert(id, ParkedFetch { reply, request });
        Handled::Parked
    }

    /// Reads one partition into the answer. Returns the log end at the read, if the fetch counts: no error and no
    /// divergence.
    fn read_into(
        &self,
        disk: &Disk,
        image: &MetadataImage,
        request: &FetchRequest,
        ask: &FetchPartition,
        reply: ReplyTo,
        answer: &mut Answer,
    ) -> Option<Offset> {
        let room = (request.max_bytes as usize).saturating_sub(answer.bytes);
        let replica = match self.fetchable(image, &request.fetcher, ask) {
            Ok(replica) => replica,
            Err(error) => {
                answer.urgent = true;
                answer.partitions.push(self.refused_fetch(image, ask.tp, error));
                return None;
            }
        };
        let limit = match request.fetcher {
            Fetcher::Follower { .. } => replica.log.end,
            Fetcher::Consumer { .. } => replica.high_watermark,
        };
        let mut fetched = FetchedPartition {
            tp: ask.tp,
            error: ErrorCode::None,
            high_watermark: replica.high_watermark,
            last_stable_offset: replica.high_watermark,
            log_start_offset: replica.log.start,
            diverging: None,
            current_leader: None,
            batches: Vec::new(),
        };
        match read(disk, replica, ask, limit, room) {
            Ok(Read::Records { batches, bytes }) => {
                answer.bytes += bytes;
                if bytes > 0 || !is_told(replica, &request.fetcher, reply) {
                    fetched.batches = batches;
                    answer.partitions.push(fetched);
                }
                Some(replica.log.end)
            }
            Ok(Read::Diverging(end)) => {
                answer.urgent = true;
                fetched.diverging = Some(end);
                answer.partitions.push(fetched);
                None
            }
            Err(error) => {
                answer.urgent = true;
                answer.partitions.push(self.refused_fetch(image, ask.tp, error));
                None
            }
        }
    }

    /// The checks before a read: hosted, epoch, leadership, assignment of a follower and its incarnation.
    fn fetchable(&self, image: &MetadataImage, fetcher: &Fetcher, ask: &FetchPartition) -> Result<&Replica, ErrorCode> {
        let from_follower = matches!(fetcher, Fetcher::Follower { .. });
        let replica = self.replica_in_epoch(image, ask.tp, ask.current_leader_epoch, from_follower).map_err(
            |error| match error {
                // Fetch names topics by id.
                ErrorCode::UnknownTopicOrPartition if !image.topics.contains_key(&ask.tp.topic) => {
                    ErrorCode::UnknownTopicId
                }
                other => other,
            },
        )?;
        if let Fetcher::Follower { broker, epoch } = *fetcher {
            let assigned = replica.leader_state().is_some_and(|state| state.remotes.iter().any(|r| r.broker == broker));
            if !assigned {
                return Err(if ask.current_leader_epoch.is_some() {
                    ErrorCode::UnknownLeaderEpoch
                } else {
                    ErrorCode::NotLeaderOrFollower
                });
            }
            let newer_incarnation = image.brokers.get(&broker).is_some_and(|b| !b.fenced && b.epoch > epoch);
            if epoch != BrokerEpoch(-1) && newer_incarnation {
                return Err(ErrorCode::NotLeaderOrFollower);
            }
        }
        Ok(replica)
    }

    fn refused_fetch(&self, image: &MetadataImage, tp: Tp, error: ErrorCode) -> FetchedPartition {
        FetchedPartition {
            tp,
            error,
            high_watermark: -1,
            last_stable_offset: -1,
            log_start_offset: -1,
            diverging: None,
            current_leader: self.leader_hint(image, tp, error),
            batches: Vec::new(),
        }
    }

    /// Notes what a follower is told, so that the next answer can leave out what it knows.
    fn remember_told(&mut self, request: &FetchRequest, reply: ReplyTo, partitions: &[FetchedPartition]) {
        let Fetcher::Follower { broker, .. } = request.fetcher else { return };
        for fetched in partitions.iter().filter(|p| p.error.is_none() && p.diverging.is_none()) {
            let remote = self
                .replicas
                .get_mut(&fetched.tp)
                .and_then(Replica::leader_state_mut)
                .and_then(|s| s.remotes.iter_mut().find(|r| r.broker == broker));
            if let Some(remote) = remote {
                remote.told = Some(Told {
                    generation: reply.conn.generation,
                    high_watermark: fetched.high_watermark,
                    log_start: fetched.log_start_offset,
                });
            }
        }
    }

    /// Ends a parked fetch: everything is read again, and the answer carries the high watermark of now. The follower's
    /// state does not change.
    pub(super) fn complete_fetch(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, id: u64) {
        let Some(parked) = self.purgatory.fetches.remove(&id) else { return };
        ctx.cancel(&Timer::Broker(BrokerTimer::ParkedFetch(id)));
        let mut answer = Answer::default();
        for ask in &parked.request.partitions {
            // Whether the fetch counts was settled when it came.
            let _counts = self.read_into(ctx.disk, image, &parked.request, ask, parked.reply, &mut answer);
        }
        self.remember_told(&parked.request, parked.reply, &answer.partitions);
        self.purgatory.finish(ctx, parked.reply, PartitionResponse::Fetch { partitions: answer.partitions });
    }

    /// The log of a led partition grew: followers' parked fetches may have enough now.
    pub(super) fn wake_fetches(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        self.wake(ctx, image, tp, |fetcher| matches!(fetcher, Fetcher::Follower { .. }));
    }

    /// The high watermark of a partition moved: consumers' parked fetches may have enough now.
    pub(super) fn wake_consumers(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        self.wake(ctx, image, tp, |fetcher| matches!(fetcher, Fetcher::Consumer { .. }));
    }

    fn wake(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp, of_kind: impl Fn(&Fetcher) -> bool) {
        if self.purgatory.fetches.is_empty() {
            return;
        }
        let Some(replica) = self.replicas.get(&tp) else { return };
        let has_more = |parked: &ParkedFetch| {
            let limit = self.limit_for(replica, &parked.request.fetcher);
            parked.request.partitions.iter().any(|ask| ask.tp == tp && ask.fetch_offset < limit)
        };
        let woken =
            self.purgatory.fetches.iter().filter(|(_, parked)| of_kind(&parked.request.fetcher) && has_more(parked));
        let ids: Vec<u64> =
            woken.filter(|(_, parked)| self.has_enough(ctx.disk, &parked.request)).map(|(id, _)| *id).collect();
        for id in ids {
            self.complete_fetch(ctx, image, id);
        }
    }

    fn limit_for(&self, replica: &Replica, fetcher: &Fetcher) -> Offset {
        match fetcher {
            Fetcher::Follower { .. } => replica.log.end,
            Fetcher::Consumer { .. } => replica.high_watermark,
        }
    }

    /// Whether all partitions together have `min_bytes`.
    fn has_enough(&self, disk: &Disk, request: &FetchRequest) -> bool {
        let wanted = request.min_bytes as usize;
        let mut bytes = 0;
        for ask in &request.partitions {
            if bytes >= wanted {
                break;
            }
            if let (Some(replica), Some(log)) = (self.replicas.get(&ask.tp), disk.log(ask.tp)) {
                let limit = self.limit_for(replica, &request.fetcher);
                if ask.fetch_offset < limit {
                    bytes += log.readable_bytes(ask.fetch_offset, limit, wanted - bytes);
                }
            }
        }
        bytes >= wanted
    }

    /// The broker's part in a partition changed: parked fetches that would be refused now are ended.
    pub(super) fn complete_fetches_of(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        if self.purgatory.fetches.is_empty() {
            return;
        }
        let refused = |parked: &ParkedFetch| {
            let asks = parked.request.partitions.iter().filter(|ask| ask.tp == tp);
            asks.into_iter().any(|ask| match self.fetchable(image, &parked.request.fetcher, ask) {
                Ok(replica) => ask.fetch_offset > replica.log.end,
                Err(_) => true,
            })
        };
        let ids: Vec<u64> =
            self.purgatory.fetches.iter().filter(|(_, parked)| refused(parked)).map(|(id, _)| *id).collect();
        for id in ids {
            self.complete_fetch(ctx, image, id);
        }
    }
}

/// Whether a follower was told all of this on its present connection. Consumers are always told.
fn is_told(replica: &Replica, fetcher: &Fetcher, reply: ReplyTo) -> bool {
    let told_to = |broker: BrokerId| replica.leader_state()?.remotes.iter().find(|r| r.broker == broker)?.told;
    match *fetcher {
        Fetcher::Follower { broker, .. } => {
            told_to(broker)
                == Some(Told {
                    generation: reply.conn.generation,
                    high_watermark: replica.high_watermark,
                    log_start: replica.log.start,
                })
        }
        Fetcher::Consumer { .. } => false,
    }
}

/// The read itself, with the test of the fetcher's last epoch (Partition.readRecords).
fn read(disk: &Disk, replica: &Replica, ask: &FetchPartition, limit: Offset, room: usize) -> Result<Read, ErrorCode> {
    let (start, end) = (replica.log.start, replica.log.end);
    if let Some(last) = ask.last_fetched_epoch
        && replica.log.epoch != Some(last)
    {
        let found = disk
            .log(ask.tp)
            .and_then(|log| log.epochs().end_offset_for(last, end))
            .ok_or(ErrorCode::OffsetOutOfRange)?;
        if ask.fetch_offset < start {
            return Err(ErrorCode::OffsetOutOfRange);
        }
        if found.epoch < last || found.end_offset < ask.fetch_offset {
            return Ok(Read::Diverging(found));
        }
    } else if let Some(last) = ask.last_fetched_epoch
        && ask.fetch_offset > end
    {
        return Ok(Read::Diverging(EpochEnd { epoch: last, end_offset: end }));
    }
    if ask.fetch_offset < start || ask.fetch_offset > end {
        return Err(ErrorCode::OffsetOutOfRange);
    }
    if ask.fetch_offset >= limit || room == 0 {
        return Ok(Read::Records { batches: Vec::new(), bytes: 0 });
    }
    let batches = disk
        .log(ask.tp)
        .map_or_else(Vec::new, |log| log.read(ask.fetch_offset, limit, room.min(ask.max_bytes as usize)));
    let bytes = batches.iter().map(RecordBatch::size).sum();
    Ok(Read::Records { batches, bytes })
}
