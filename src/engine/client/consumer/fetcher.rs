//! Positions, their validation (KIP-320), fetching and delivery (sections 7.1 to 7.4). Leaders come from the metadata,
//! and only in the step behind the coordinator's.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use super::{Call, Consumer};
use crate::base::{BrokerId, LeaderEpoch, Offset, SimTime, Tag, Tp};
use crate::client::config::OffsetReset;
use crate::client::spec::ClientVersion;
use crate::node::{Channel, Ctx, Outcome};
use crate::protocol::{
    ErrorCode, FetchPartition, FetchRequest, FetchedPartition, Fetcher, ListOffsetsRequest, OffsetSpec, Request,
    Response,
};
use crate::trace::Kind;

/// Where a member reads next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Of the next record to deliver.
    pub offset: Offset,
    /// Epoch of the last delivered record, if known.
    pub epoch: Option<i32>,
    /// Whom it asks, as of the last renewal.
    pub leader: Option<BrokerId>,
    pub leader_epoch: Option<LeaderEpoch>,
}

/// Whether a partition can be fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fetchability {
    /// No position: the committed one is asked for.
    #[default]
    NeedsCommitted,
    /// No committed offset, or out of range: the log's start or end is asked for.
    NeedsReset(OffsetSpec),
    /// The leader changed: does its log still hold what was read?
    NeedsValidation,
    Ready,
}

/// A record in the client's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Buffered {
    tag: Tag,
    offset: Offset,
    epoch: i32,
}

/// A partition that the member owns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assigned {
    pub state: Fetchability,
    pub position: Option<Position>,
    /// Last offset that a commit of this client carried or that it found committed.
    pub committed: Option<Offset>,
    /// As of the last fetch.
    pub high_watermark: Option<Offset>,
    /// Nothing is asked about it before.
    pub not_before: SimTime,
    buffer: VecDeque<Buffered>,
    asking: bool,
}

impl Assigned {
    /// Records fetched and not delivered.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }
}

impl Consumer {
    pub(super) fn has_buffered(&self) -> bool {
        self.partitions.values().any(|p| !p.buffer.is_empty())
    }

    /// `poll` hands out what is buffered, at most `max.poll.records`.
    pub(super) fn deliver(&mut self, ctx: &mut Ctx<'_>) {
        let mut room = self.config.max_poll_records;
        for (tp, partition) in &mut self.partitions {
            while room > 0 {
                let Some(record) = partition.buffer.pop_front() else { break };
                room -= 1;
                self.counts.delivered += 1;
                ctx.note(Kind::RecordDelivered {
                    tag: record.tag,
                    tp: *tp,
                    offset: record.offset,
                    epoch: record.epoch,
                });
                if let Some(position) = &mut partition.position {
                    position.offset = record.offset + 1;
                    position.epoch = Some(record.epoch);
                }
            }
        }
    }

    pub(super) fn seek(&mut self, topic: &str, partition: u32, offset: Offset) {
        let Some(tp) = self.metadata.tp(topic, partition) else { return };
        let (leader, leader_epoch) = self.metadata.partition(tp).map_or((None, None), |p| (p.leader, Some(p.epoch)));
        if let Some(assigned) = self.partitions.get_mut(&tp) {
            assigned.position = Some(Position { offset, epoch: None, leader, leader_epoch });
            assigned.state = Fetchability::Ready;
            assigned.buffer.clear();
        }
    }

    /// Asks for committed offsets where there is no position. True while any is missing.
    pub(super) fn request_committed(&mut self, ctx: &mut Ctx<'_>, ready: bool) -> bool {
        if !self.partitions.values().any(|p| p.state == Fetchability::NeedsCommitted) {
            return false;
        }
        if ready && !self.committed_flying && self.committed_not_before <= ctx.now {
            let (request, timeout) =
                (Request::OffsetFetch { group: self.spec.group.clone() }, self.config.common.request_timeout);
            self.committed_flying = self.ask_coordinator(ctx, request, timeout, Call::Committed);
        }
        true
    }

    pub(super) fn on_committed_offsets(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        self.committed_flying = false;
        let (error, offsets) = match outcome {
            Outcome::Answer(Response::OffsetFetch { error, offsets }) => (error, offsets),
            Outcome::Answer(_) => (ErrorCode::UnknownServerError, Vec::new()),
            Outcome::Failed(_) => (ErrorCode::NetworkException, Vec::new()),
        };
        match error {
            ErrorCode::None => {}
            ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator | ErrorCode::NetworkException => {
                return self.lose_coordinator(ctx, error);
            }
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration => {
                return self.reset_generation(error == ErrorCode::IllegalGeneration);
            }
            other => {
                if !other.retriable() {
                    self.error = Some(other.exception());
                }
                self.committed_not_before = ctx.now + self.config.common.retry.after(1, ctx.rng);
                return;
            }
        }
        let policy = self.reset_spec();
        for (tp, partition) in self.partitions.iter_mut().filter(|(_, p)| p.state == Fetchability::NeedsCommitted) {
            if let Some((_, commit)) = offsets.iter().find(|(other, o)| other == tp && o.offset >= 0) {
                let epoch = commit.leader_epoch.map(|e| e.0).filter(|_| self.spec.version >= ClientVersion::V2_3);
                let known = self.metadata.partition(*tp);
                partition.position = Some(Position {
                    offset: commit.offset,
                    epoch,
                    leader: known.and_then(|k| k.leader),
                    leader_epoch: known.map(|k| k.epoch),
                });
                partition.committed = Some(commit.offset);
                partition.state = if epoch.is_some() { Fetchability::NeedsValidation } else { Fetchability::Ready };
            } else if let Some(spec) = policy {
                partition.state = Fetchability::NeedsReset(spec);
            } else {
                self.error = Some("NoOffsetForPartitionException");
            }
        }
    }

    fn reset_spec(&self) -> Option<OffsetSpec> {
        match self.config.reset {
            OffsetReset::Earliest => Some(OffsetSpec::Earliest),
            OffsetReset::Latest => Some(OffsetSpec::Latest),
            OffsetReset::None => None,
        }
    }

    /// The step behind the coordinator's: renew leaders, validate, reset.
    pub(super) fn position_step(&mut self, ctx: &mut Ctx<'_>) {
        if self.seen_metadata != self.metadata.version {
            self.seen_metadata = self.metadata.version;
            let owned: Vec<Tp> = self.partitions.keys().copied().collect();
            owned.into_iter().for_each(|tp| self.renew_leader(tp));
        }
        let mut resets: BTreeMap<BrokerId, Vec<(Tp, OffsetSpec)>> = BTreeMap::new();
        let mut validations = Vec::new();
        for (tp, partition) in self.partitions.iter().filter(|(_, p)| !p.asking && p.not_before <= ctx.now) {
            match partition.state {
                Fetchability::NeedsReset(spec) => match self.metadata.leader(*tp) {
                    Some(leader) => resets.entry(leader).or_default().push((*tp, spec)),
                    None => self.metadata.request_update(),
                },
                Fetchability::NeedsValidation => {
                    match partition.position.and_then(|p| p.leader.map(|leader| (leader, p))) {
                        Some((leader, position)) => validations.push((leader, *tp, position)),
                        None => self.metadata.request_update(),
                    }
                }
                Fetchability::NeedsCommitted | Fetchability::Ready => {}
            }
        }
        let timeout = self.config.common.request_timeout;
        for (leader, partitions) in resets {
            if !self.net.ready(ctx, leader, Channel::Client) {
                continue;
            }
            for (tp, _) in &partitions {
                self.set_asking(*tp, true);
            }
            let wire = partitions
                .iter()
                .map(|(tp, spec)| (*tp, self.metadata.partition(*tp).map(|p| p.epoch), *spec))
                .collect();
            let request = Request::ListOffsets(ListOffsetsRequest {
                replica: None,
                isolation: self.config.isolation,
                partitions: wire,
            });
            self.net.send(ctx, leader, Channel::Client, request, timeout, Call::ListOffsets { partitions });
        }
        for (leader, tp, position) in validations {
            if self.net.ready(ctx, leader, Channel::Client) {
                self.set_asking(tp, true);
                let request = Request::OffsetForLeaderEpoch {
                    tp,
                    current_leader_epoch: position.leader_epoch,
                    epoch: position.epoch.unwrap_or(-1),
                };
                self.net.send(
                    ctx,
                    leader,
                    Channel::Client,
                    request,
                    timeout,
                    Call::LeaderEpoch { tp, offset: position.offset },
                );
            }
        }
    }

    fn set_asking(&mut self, tp: Tp, asking: bool) {
        if let Some(partition) = self.partitions.get_mut(&tp) {
            partition.asking = asking;
        }
    }

    /// Asks the leader that the metadata names from now on, after a validation if its epoch is new.
    fn renew_leader(&mut self, tp: Tp) {
        let validates = self.spec.version >= ClientVersion::V2_3;
        let Some(known) = self.metadata.partition(tp).filter(|k| k.leader.is_some()) else { return };
        let Some(partition) = self.partitions.get_mut(&tp) else { return };
        let Some(position) = partition.position.as_mut() else { return };
        if position.leader == known.leader && position.leader_epoch == Some(known.epoch) {
            return;
        }
        let newer = position.leader_epoch.is_none_or(|epoch| known.epoch > epoch);
        position.leader = known.leader;
        position.leader_epoch = Some(known.epoch);
        if validates && newer && position.epoch.is_some() && partition.state == Fetchability::Ready {
            partition.state = Fetchability::NeedsValidation;
            partition.asking = false;
        }
    }

    /// Something about a partition failed: ask for metadata and rest.
    fn rest(&mut self, ctx: &mut Ctx<'_>, tp: Tp, error: ErrorCode) {
        if error.refreshes_metadata() || error == ErrorCode::OffsetNotAvailable {
            self.metadata.request_update();
        }
        let until = ctx.now + self.config.common.retry.after(1, ctx.rng);
        if let Some(partition) = self.partitions.get_mut(&tp) {
            partition.not_before = until;
        }
    }

    pub(super) fn on_listed_offsets(&mut self, ctx: &mut Ctx<'_>, asked: Vec<(Tp, OffsetSpec)>, outcome: Outcome) {
        let answers = match outcome {
            Outcome::Answer(Response::ListOffsets { partitions }) => partitions,
            Outcome::Answer(_) | Outcome::Failed(_) => Vec::new(),
        };
        for (tp, spec) in asked {
            self.set_asking(tp, false);
            let answer = answers.iter().find(|a| a.tp == tp);
            let Some(answer) = answer.filter(|a| a.error.is_none()) else {
                self.rest(ctx, tp, answer.map_or(ErrorCode::NetworkException, |a| a.error));
                continue;
            };
            let (leader, leader_epoch) =
                self.metadata.partition(tp).map_or((None, None), |p| (p.leader, Some(p.epoch)));
            let Some(partition) = self.partitions.get_mut(&tp).filter(|p| p.state == Fetchability::NeedsReset(spec))
            else {
                continue;
            };
            let epoch = answer.leader_epoch.map(|e| e.0).filter(|_| self.spec.version >= ClientVersion::V2_3);
            let from = partition.position.map(|position| position.offset);
            partition.position = Some(Position { offset: answer.offset, epoch, leader, leader_epoch });
            partition.state = Fetchability::Ready;
            partition.buffer.clear();
            ctx.note(Kind::PositionReset { tp, from, offset: answer.offset });
        }
    }

    pub(super) fn on_epoch_end(&mut self, ctx: &mut Ctx<'_>, tp: Tp, offset: Offset, outcome: Outcome) {
        self.set_asking(tp, false);
        let (error, end) = match outcome {
            Outcome::Answer(Response::OffsetForLeaderEpoch { error, end, .. }) => (error, end),
            Outcome::Answer(_) => (ErrorCode::UnknownServerError, None),
            Outcome::Failed(_) => (ErrorCode::NetworkException, None),
        };
        if !error.is_none() {
            return self.rest(ctx, tp, error);
        }
        let policy = self.reset_spec();
        let Some(partition) = self.partitions.get_mut(&tp).filter(|p| p.state == Fetchability::NeedsValidation) else {
            return;
        };
        let Some(position) = partition.position.as_mut().filter(|p| p.offset == offset) else { return };
        match (end, policy) {
            (Some(end), _) if end.end_offset >= position.offset => partition.state = Fetchability::Ready,
            (Some(end), Some(_)) => {
                // The log was cut below what was read: go on where the histories part.
                let from = Some(core::mem::replace(&mut position.offset, end.end_offset));
                position.epoch = Some(end.epoch);
                partition.state = Fetchability::Ready;
                partition.buffer.clear();
                ctx.note(Kind::PositionReset { tp, from, offset: end.end_offset });
            }
            (None, Some(spec)) => partition.state = Fetchability::NeedsReset(spec),
            (_, None) => self.error = Some("LogTruncationException"),
        }
    }

    /// One Fetch per node, for partitions with a valid position and nothing buffered.
    pub(super) fn send_fetches(&mut self, ctx: &mut Ctx<'_>) {
        let mut by_leader: BTreeMap<BrokerId, Vec<(Tp, Position)>> = BTreeMap::new();
        for (tp, partition) in &self.partitions {
            let Some(position) = partition.position.filter(|_| {
                partition.state == Fetchability::Ready && partition.buffer.is_empty() && partition.not_before <= ctx.now
            }) else {
                continue;
            };
            match position.leader {
                Some(leader) => by_leader.entry(leader).or_default().push((*tp, position)),
                None => self.metadata.request_update(),
            }
        }
        for (leader, partitions) in by_leader {
            if self.fetching.contains(&leader) || !self.net.ready(ctx, leader, Channel::Client) {
                continue;
            }
            let with_epoch = self.spec.version >= ClientVersion::V2_3;
            let wire = partitions.iter().map(|(tp, position)| FetchPartition {
                tp: *tp,
                current_leader_epoch: position.leader_epoch.filter(|_| with_epoch),
                fetch_offset: position.offset,
                last_fetched_epoch: None,
                log_start_offset: -1,
                max_bytes: self.config.max_partition_fetch_bytes,
            });
            let request = Request::Fetch(FetchRequest {
                fetcher: Fetcher::Consumer { isolation: self.config.isolation },
                max_wait: self.config.fetch_max_wait,
                min_bytes: self.config.fetch_min_bytes,
                max_bytes: self.config.fetch_max_bytes,
                partitions: wire.collect(),
            });
            let positions = partitions.iter().map(|(tp, position)| (*tp, position.offset)).collect();
            self.fetching.insert(leader);
            self.net.send(
                ctx,
                leader,
                Channel::Client,
                request,
                self.config.common.request_timeout,
                Call::Fetch { positions },
            );
        }
    }

    pub(super) fn on_fetched(
        &mut self,
        ctx: &mut Ctx<'_>,
        broker: BrokerId,
        asked: Vec<(Tp, Offset)>,
        outcome: Outcome,
    ) {
        self.fetching.remove(&broker);
        let partitions = match outcome {
            Outcome::Answer(Response::Fetch { partitions }) => partitions,
            Outcome::Answer(_) | Outcome::Failed(_) => return self.metadata.request_update(),
        };
        for fetched in partitions {
            let Some((_, offset)) = asked.iter().find(|(tp, _)| *tp == fetched.tp) else { continue };
            self.on_fetched_partition(ctx, *offset, fetched);
        }
    }

    fn on_fetched_partition(&mut self, ctx: &mut Ctx<'_>, offset: Offset, fetched: FetchedPartition) {
        let tp = fetched.tp;
        if let Some(hint) = fetched.current_leader
            && self.metadata.on_hint(ctx, tp, hint)
        {
            // The new leader is asked at once, and for the metadata all the same.
            self.metadata.request_update();
            self.renew_leader(tp);
            return;
        }
        let policy = self.reset_spec();
        // A position that moved meanwhile makes the answer worthless.
        let Some(partition) = self
            .partitions
            .get_mut(&tp)
            .filter(|p| p.state == Fetchability::Ready && p.position.is_some_and(|at| at.offset == offset))
        else {
            return;
        };
        match fetched.error {
            ErrorCode::None => {
                partition.high_watermark = Some(fetched.high_watermark);
                for batch in &fetched.batches {
                    let records = batch.records().filter(|(at, _)| *at >= offset);
                    let buffered = records.map(|(offset, r)| Buffered { tag: r.tag, offset, epoch: batch.epoch });
                    partition.buffer.extend(buffered);
                }
            }
            ErrorCode::OffsetOutOfRange => match policy {
                Some(spec) => partition.state = Fetchability::NeedsReset(spec),
                None => self.error = Some(fetched.error.exception()),
            },
            error => self.rest(ctx, tp, error),
        }
    }
}
