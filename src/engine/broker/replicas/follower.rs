//! Fetchers: one per source broker with one Fetch outstanding, truncation by what the leader answers, the follower's
//! high watermark (KIP-101, KIP-279, KIP-595). They never choose whom to follow.

use alloc::vec;
use alloc::vec::Vec;

use super::ReplicaManager;
use crate::base::{BrokerEpoch, BrokerId, NodeId, Offset, Tp};
use crate::broker::BrokerCall;
use crate::log::Log;
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Channel, Connections, Ctx, Outcome, Timer};
use crate::protocol::{
    EpochEnd, ErrorCode, FetchPartition, FetchRequest, FetchedPartition, Fetcher, Isolation, ListOffsetsRequest,
    OffsetSpec, PartitionRequest, PartitionResponse, RecordBatch, Request, Response,
};
use crate::trace::Kind;

/// `replica.fetch.response.max.bytes`.
const RESPONSE_MAX_BYTES: u32 = 10 * 1024 * 1024;

/// What a fetcher does about one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum EntryState {
    Ready,
    /// Rests with the others after the connection failed.
    FetcherRests,
    /// Rests alone after an error.
    Rests,
    /// Out of range: asks for the leader's offsets next.
    WantsOffsets,
    /// Stands still until new metadata makes a new entry.
    Failed,
}

/// A partition of a fetcher, with what its next Fetch asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    ask: FetchPartition,
    state: EntryState,
    /// Part of the request that is outstanding. A new leader epoch makes a new entry, so that an older answer is
    /// ignored (KAFKA-18723).
    asked: bool,
}

/// The fetcher to one broker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FetcherState {
    /// Ordered by partition.
    entries: Vec<Entry>,
    in_flight: bool,
}

impl FetcherState {
    fn position(&self, tp: Tp) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.ask.tp.cmp(&tp))
    }

    fn entry_mut(&mut self, tp: Tp) -> Option<&mut Entry> {
        let at = self.position(tp).ok()?;
        self.entries.get_mut(at)
    }

    pub fn state_of(&self, tp: Tp) -> Option<EntryState> {
        Some(self.entries[self.position(tp).ok()?].state)
    }

    fn put(&mut self, ask: FetchPartition) {
        let entry = Entry { ask, state: EntryState::Ready, asked: false };
        match self.position(ask.tp) {
            Ok(at) => self.entries[at] = entry,
            Err(at) => self.entries.insert(at, entry),
        }
    }

    fn remove(&mut self, tp: Tp) {
        if let Ok(at) = self.position(tp) {
            self.entries.remove(at);
        }
    }
}

/// Where a follower's log is cut when its leader answers that it diverges, and whether the next answer is sure to fit
/// (AbstractFetcherThread.getOffsetTruncationState, KIP-279).
pub(super) fn truncation_target(log: &Log, leader: EpochEnd) -> Offset {
    let end = log.end_offset();
    match log.epochs().end_offset_for(leader.epoch, end) {
        None => leader.end_offset.min(end),
        Some(own) if own.epoch != leader.epoch => own.end_offset.min(end),
        Some(own) => leader.end_offset.min(own.end_offset).min(end),
    }
}

impl ReplicaManager {
    /// Begins to follow `leader`. A log without epochs is cut at the high watermark first; any other starts at its end
    /// (truncation is decided in Fetch).
    pub(super) fn start_fetching(&mut self, ctx: &mut Ctx<'_>, tp: Tp, leader: BrokerId) {
        let Some(replica) = self.replicas.get(&tp) else { return };
        let high_watermark = replica.high_watermark;
        if replica.log.epoch.is_none() && replica.log.end > high_watermark {
            self.truncate(ctx, tp, high_watermark);
        }
        let Some(replica) = self.replicas.get(&tp) else { return };
        let ask = FetchPartition {
            tp,
            current_leader_epoch: Some(replica.leader_epoch),
            fetch_offset: replica.log.end,
            last_fetched_epoch: replica.log.epoch,
            log_start_offset: replica.log.start,
            max_bytes: self.config.replica_fetch_max_bytes,
        };
        self.fetchers.entry(leader).or_default().put(ask);
    }

    /// Ends following, whoever was followed.
    pub(super) fn stop_fetching(&mut self, ctx: &mut Ctx<'_>, tp: Tp) {
        self.fetchers.values_mut().for_each(|fetcher| fetcher.remove(tp));
        ctx.cancel(&Timer::Broker(BrokerTimer::PartitionBackoff(tp)));
    }

    /// Sends the next request of each fetcher that waits for none.
    pub(super) fn drive_fetchers(&mut self, ctx: &mut Ctx<'_>, conns: &mut Connections<BrokerCall>) {
        if self.fetchers.values().any(|fetcher| fetcher.entries.is_empty()) {
            self.shut_down_idle(ctx, conns);
        }
        let config = &self.config;
        let fetcher_of = Fetcher::Follower { broker: self.id, epoch: self.broker_epoch.unwrap_or(BrokerEpoch(-1)) };
        for (leader, fetcher) in self.fetchers.iter_mut().filter(|(_, fetcher)| !fetcher.in_flight) {
            if let Some(entry) = fetcher.entries.iter_mut().find(|entry| entry.state == EntryState::WantsOffsets) {
                entry.asked = true;
                let (tp, epoch) = (entry.ask.tp, entry.ask.current_leader_epoch);
                let partitions = vec![(tp, epoch, OffsetSpec::Latest), (tp, epoch, OffsetSpec::Earliest)];
                let request = Request::Partition(PartitionRequest::ListOffsets(ListOffsetsRequest {
                    replica: Some(self.id),
                    isolation: Isolation::ReadUncommitted,
                    partitions,
                }));
                let call = BrokerCall::ReplicaListOffsets { leader: *leader, tp, fetch_offset: entry.ask.fetch_offset };
                conns.request(
                    ctx,
                    NodeId::Broker(*leader),
                    Channel::Replica,
                    request,
                    config.replica_socket_timeout,
                    call,
                );
                fetcher.in_flight = true;
                continue;
            }
            let mut partitions = Vec::with_capacity(fetcher.entries.len());
            for entry in fetcher.entries.iter_mut().filter(|entry| entry.state == EntryState::Ready) {
                entry.asked = true;
                partitions.push(entry.ask);
            }
            if partitions.is_empty() {
                continue;
            }
            let (max_wait, min_bytes) = (config.replica_fetch_wait_max, config.replica_fetch_min_bytes);
            let request = Request::Partition(PartitionRequest::Fetch(FetchRequest {
                fetcher: fetcher_of,
                max_wait,
                min_bytes,
                max_bytes: RESPONSE_MAX_BYTES,
                partitions,
            }));
            conns.request(
                ctx,
                NodeId::Broker(*leader),
                Channel::Replica,
                request,
                config.replica_socket_timeout,
                BrokerCall::ReplicaFetch { leader: *leader },
            );
            fetcher.in_flight = true;
        }
    }

    /// Fetchers without partitions end, and their connections with them: a later one does not wait for an old answer.
    fn shut_down_idle(&mut self, ctx: &mut Ctx<'_>, conns: &mut Connections<BrokerCall>) {
        let idle: Vec<BrokerId> =
            self.fetchers.iter().filter(|(_, fetcher)| fetcher.entries.is_empty()).map(|(leader, _)| *leader).collect();
        for leader in idle {
            self.fetchers.remove(&leader);
            ctx.cancel(&Timer::Broker(BrokerTimer::FetcherBackoff(leader)));
            // Nobody waits for what was outstanding.
            drop(conns.close(ctx, NodeId::Broker(leader), Channel::Replica));
        }
    }

    /// A Fetch has ended.
    pub(super) fn on_fetched(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, leader: BrokerId, outcome: Outcome) {
        match outcome {
            Outcome::Answer(Response::Partition(PartitionResponse::Fetch { partitions })) => {
                for fetched in partitions {
                    self.on_partition_fetched(ctx, image, leader, fetched);
                }
                if let Some(fetcher) = self.fetchers.get_mut(&leader) {
                    fetcher.in_flight = false;
                    fetcher.entries.iter_mut().for_each(|entry| entry.asked = false);
                }
            }
            Outcome::Answer(_) | Outcome::Failed(_) => self.on_fetcher_failed(ctx, leader),
        }
    }

    /// A Fetch failed as a whole: everything that this fetcher has by now rests (AbstractFetcherThread delays all its
    /// partitions), what rests already goes on as it was.
    fn on_fetcher_failed(&mut self, ctx: &mut Ctx<'_>, leader: BrokerId) {
        let Some(fetcher) = self.fetchers.get_mut(&leader) else { return };
        fetcher.in_flight = false;
        for entry in &mut fetcher.entries {
            entry.asked = false;
            match entry.state {
                EntryState::Ready | EntryState::WantsOffsets => entry.state = EntryState::FetcherRests,
                EntryState::FetcherRests | EntryState::Rests | EntryState::Failed => {}
            }
        }
        ctx.set(Timer::Broker(BrokerTimer::FetcherBackoff(leader)), self.config.replica_fetch_backoff);
    }

    pub(super) fn on_fetcher_backoff(&mut self, leader: BrokerId) {
        if let Some(fetcher) = self.fetchers.get_mut(&leader) {
            fetcher
                .entries
                .iter_mut()
                .filter(|entry| entry.state == EntryState::FetcherRests)
                .for_each(|entry| entry.state = EntryState::Ready);
        }
    }

    pub(super) fn on_partition_backoff(&mut self, tp: Tp) {
        for fetcher in self.fetchers.values_mut() {
            if let Some(entry) = fetcher.entry_mut(tp).filter(|entry| entry.state == EntryState::Rests) {
                entry.state = EntryState::Ready;
            }
        }
    }

    fn on_partition_fetched(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        leader: BrokerId,
        fetched: FetchedPartition,
    ) {
        let tp = fetched.tp;
        let Some(asked) = self
            .fetchers
            .get_mut(&leader)
            .and_then(|f| f.entry_mut(tp))
            .filter(|entry| entry.asked)
            .map(|entry| entry.ask)
        else {
            return;
        };
        if fetched.error == ErrorCode::OffsetOutOfRange {
            self.set_entry(leader, tp, EntryState::WantsOffsets);
        } else if fetched.error == ErrorCode::FencedLeaderEpoch {
            // The leader knows a newer epoch; this broker will hear of it by metadata.
            self.set_entry(leader, tp, EntryState::Failed);
        } else if !fetched.error.is_none() {
            self.rest(ctx, leader, tp);
        } else if let Some(end) = fetched.diverging {
            if let Some(target) = ctx.disk.log(tp).map(|log| truncation_target(log, end)) {
                self.truncate(ctx, tp, target);
            }
        } else {
            self.take_in(ctx, image, leader, asked, fetched);
        }
        self.refresh_ask(leader, tp);
    }

    /// Appends what came and follows the leader's high watermark and log start.
    fn take_in(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        leader: BrokerId,
        asked: FetchPartition,
        fetched: FetchedPartition,
    ) {
        let tp = fetched.tp;
        let fits = self.replicas.get(&tp).is_some_and(|replica| replica.log.end == asked.fetch_offset);
        if !fits || !self.append_fetched(ctx, tp, asked, fetched.batches) {
            self.set_entry(leader, tp, EntryState::Failed);
            return;
        }
        let Some(replica) = self.replicas.get_mut(&tp) else { return };
        let before = replica.high_watermark;
        replica.high_watermark = fetched.high_watermark.min(replica.log.end).max(replica.log.start);
        let high_watermark = replica.high_watermark;
        if high_watermark > before {
            ctx.note(Kind::HighWatermarkAdvanced { tp, high_watermark, leader: false });
        }
        self.advance_log_start(ctx, tp, fetched.log_start_offset.min(high_watermark));
        if high_watermark != before {
            self.wake_consumers(ctx, image, tp);
        }
    }

    /// Appends batches of the epochs up to the one that was followed when they were asked for (KAFKA-18723). False if
    /// they do not fit.
    fn append_fetched(&mut self, ctx: &mut Ctx<'_>, tp: Tp, asked: FetchPartition, batches: Vec<RecordBatch>) -> bool {
        if batches.is_empty() {
            return true;
        }
        let newest = asked.current_leader_epoch.map_or(i32::MAX, |epoch| epoch.0);
        let fits = self.write_log(ctx, tp, |log| {
            // A log that restarted in the middle of a batch takes the whole batch.
            if let Some(first) = batches.first()
                && log.is_empty()
                && first.base_offset < log.start_offset()
            {
                log.restart_at(first.base_offset);
            }
            batches
                .into_iter()
                .take_while(|batch| batch.epoch <= newest)
                .all(|batch| log.append_as_follower(batch).is_ok())
        });
        let log_end = self.replicas.get(&tp).map_or(0, |replica| replica.log.end);
        if log_end != asked.fetch_offset {
            ctx.note(Kind::Replicated { tp, log_end });
        }
        fits
    }

    /// Cuts a log; the high watermark comes down with it.
    fn truncate(&mut self, ctx: &mut Ctx<'_>, tp: Tp, to: Offset) {
        let Some((from, epoch)) = self.replicas.get(&tp).map(|replica| (replica.log.end, replica.leader_epoch)) else {
            return;
        };
        let cut = self.write_log(ctx, tp, |log| log.truncate_to(to));
        if let Some(replica) = self.replicas.get_mut(&tp) {
            replica.high_watermark = replica.high_watermark.min(replica.log.end);
            if cut {
                ctx.because(Kind::LogTruncated { tp, from, to: replica.log.end, epoch });
            }
        }
    }

    /// The leader's offsets for a follower out of range: cut at the leader's end, or restart at its beginning, or go
    /// on.
    pub(super) fn on_offsets_listed(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        leader: BrokerId,
        tp: Tp,
        fetch_offset: Offset,
        outcome: Outcome,
    ) {
        let listed = match outcome {
            Outcome::Answer(Response::Partition(PartitionResponse::ListOffsets { partitions })) => partitions,
            // Only this partition rests: the fetcher goes on with the others.
            Outcome::Answer(_) | Outcome::Failed(_) => Vec::new(),
        };
        let Some(fetcher) = self.fetchers.get_mut(&leader) else { return };
        fetcher.in_flight = false;
        let Some(entry) = fetcher.entry_mut(tp).filter(|entry| entry.asked && entry.ask.fetch_offset == fetch_offset)
        else {
            return;
        };
        entry.asked = false;
        let [latest, earliest] = &listed[..] else { return self.rest(ctx, leader, tp) };
        if let Some(error) = [latest.error, earliest.error].into_iter().find(|error| !error.is_none()) {
            let fenced = error == ErrorCode::FencedLeaderEpoch;
            return if fenced { self.set_entry(leader, tp, EntryState::Failed) } else { self.rest(ctx, leader, tp) };
        }
        let end = self.replicas.get(&tp).map_or(0, |replica| replica.log.end);
        if latest.offset < end {
            self.truncate(ctx, tp, latest.offset);
        } else if earliest.offset > end {
            self.restart_log(ctx, tp, earliest.offset);
        }
        self.set_entry(leader, tp, EntryState::Ready);
        self.refresh_ask(leader, tp);
        self.complete_fetches_of(ctx, image, tp);
    }

    /// Empties the log and starts it anew at the leader's log start.
    fn restart_log(&mut self, ctx: &mut Ctx<'_>, tp: Tp, start: Offset) {
        self.write_log(ctx, tp, |log| log.restart_at(start));
        if let Some(replica) = self.replicas.get_mut(&tp) {
            replica.high_watermark = start;
        }
        ctx.because(Kind::LogStartAdvanced { tp, log_start: start });
    }

    fn set_entry(&mut self, leader: BrokerId, tp: Tp, state: EntryState) {
        if let Some(entry) = self.fetchers.get_mut(&leader).and_then(|f| f.entry_mut(tp)) {
            entry.state = state;
        }
    }

    fn rest(&mut self, ctx: &mut Ctx<'_>, leader: BrokerId, tp: Tp) {
        self.set_entry(leader, tp, EntryState::Rests);
        ctx.set(Timer::Broker(BrokerTimer::PartitionBackoff(tp)), self.config.replica_fetch_backoff);
    }

    /// The next Fetch asks from the log end on.
    fn refresh_ask(&mut self, leader: BrokerId, tp: Tp) {
        let Some(log) = self.replicas.get(&tp).map(|replica| replica.log) else { return };
        if let Some(entry) = self.fetchers.get_mut(&leader).and_then(|f| f.entry_mut(tp)) {
            entry.ask.fetch_offset = log.end;
            entry.ask.last_fetched_epoch = log.epoch;
            entry.ask.log_start_offset = log.start;
        }
    }
}
