//! Positions of what a member owns: committed offsets, resets, validation (KIP-320; sections 7.1 to 7.3). Leaders come
//! from the metadata, and only in the step behind the coordinator's.
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Call, Consumer};
use crate::base::{BrokerId, LeaderEpoch, Map, Offset, Set, SimTime, Tag, Tp};
use crate::client::config::OffsetReset;
use crate::client::spec::ClientVersion;
use crate::node::{Channel, Ctx, Outcome};
use crate::protocol::{
    ErrorCode, GroupRequest, GroupResponse, ListOffsetsRequest, OffsetSpec, PartitionRequest, PartitionResponse,
    Request, Response,
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
pub(super) struct Buffered {
    pub tag: Tag,
    pub offset: Offset,
    pub epoch: i32,
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
    pub(super) buffer: VecDeque<Buffered>,
    asking: bool,
}

impl Assigned {
    /// Records fetched and not delivered.
    pub fn buffered(&self) -> usize {
        self.buffer.len()
    }
}

/// What the member owns, and what is under way about it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Assignment {
    pub partitions: Map<Tp, Assigned>,
    /// The metadata that its leaders are of.
    seen_metadata: u64,
    /// Brokers that have a Fetch.
    pub fetching: Set<BrokerId>,
    committed_flying: bool,
    pub committed_not_before: SimTime,
}

impl Assignment {
    /// Takes up what the group leader gave.
    pub fn begin(&mut self, partitions: &[Tp]) {
        self.partitions = partitions.iter().map(|tp| (*tp, Assigned::default())).collect();
        self.committed_flying = false;
    }

    pub fn owned(&self) -> Vec<Tp> {
        self.partitions.keys().copied().collect()
    }

    pub fn has_buffered(&self) -> bool {
        self.partitions.values().any(|p| !p.buffer.is_empty())
    }

    /// The next moment at which something about a partition may be asked again.
    pub fn rests_until(&self) -> impl Iterator<Item = SimTime> {
        core::iter::once(self.committed_not_before).chain(self.partitions.values().map(|p| p.not_before))
    }

    fn set_asking(&mut self, tp: Tp, asking: bool) {
        if let Some(partition) = self.partitions.get_mut(&tp) {
            partition.asking = asking;
        }
    }

    fn rest(&mut self, tp: Tp, until: SimTime) {
        if let Some(partition) = self.partitions.get_mut(&tp) {
            partition.not_before = until;
        }
    }
}

impl Consumer {
    pub(super) fn seek(&mut self, topic: &str, partition: u32, offset: Offset) {
        let Some(tp) = self.metadata.tp(topic, partition) else { return };
        let (leader, leader_epoch) = self.metadata.partition(tp).map_or((None, None), |p| (p.leader, Some(p.epoch)));
        if let Some(assigned) = self.assignment.partitions.get_mut(&tp) {
            assigned.position = Some(Position { offset, epoch: None, leader, leader_epoch });
            assigned.state = Fetchability::Ready;
            assigned.buffer.clear();
        }
    }

    /// Asks for committed offsets where there is no position. True while any is missing.
    pub(super) fn request_committed(&mut self, ctx: &mut Ctx<'_>, ready: bool) -> bool {
        if !self.assignment.partitions.values().any(|p| p.state == Fetchability::NeedsCommitted) {
            return false;
        }
        if ready && !self.assignment.committed_flying && self.assignment.committed_not_before <= ctx.now {
            let (request, timeout) = (
                Request::Group(GroupRequest::OffsetFetch { group: self.spec.group.clone() }),
                self.config.common.request_timeout,
            );
            self.assignment.committed_flying = self.ask_coordinator(ctx, request, timeout, Call::Committed);
        }
        true
    }

    pub(super) fn on_committed_offsets(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        self.assignment.committed_flying = false;
        let (error, offsets) = match outcome {
            Outcome::Answer(Response::Group(GroupResponse::OffsetFetch { error, offsets })) => (error, offsets),
            Outcome::Answer(_) => (ErrorCode::UnknownServerError, Vec::new()),
            Outcome::Failed(_) => (ErrorCode::NetworkException, Vec::new()),
        };
        match error {
            ErrorCode::None => {}
            ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator | ErrorCode::NetworkException => {
                return self.lose_coordinator(ctx, error);
            }
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration => {
                return self.member.reset(error == ErrorCode::IllegalGeneration);
            }
            other => {
                if !other.retriable() {
                    self.application.error = Some(other.exception());
                }
                self.assignment.committed_not_before = ctx.now + self.config.common.retry.after(1, ctx.rng);
                return;
            }
        }
        let policy = self.reset_spec();
        for (tp, partition) in
            self.assignment.partitions.iter_mut().filter(|(_, p)| p.state == Fetchability::NeedsCommitted)
        {
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
                self.application.error = Some("NoOffsetForPartitionException");
            }
        }
    }

    pub(super) fn reset_spec(&self) -> Option<OffsetSpec> {
        match self.config.reset {
            OffsetReset::Earliest => Some(OffsetSpec::Earliest),
            OffsetReset::Latest => Some(OffsetSpec::Latest),
            OffsetReset::None => None,
        }
    }

    /// The step behind the coordinator's: renew leaders, validate, reset.
    pub(super) fn position_step(&mut self, ctx: &mut Ctx<'_>) {
        if self.assignment.seen_metadata != self.metadata.version {
            if self.follow_names() {
                self.assignment.seen_metadata = self.metadata.version;
            }
            let owned: Vec<Tp> = self.assignment.partitions.keys().copied().collect();
            owned.into_iter().for_each(|tp| self.renew_leader(tp));
        }
        let mut resets: Map<BrokerId, Vec<(Tp, OffsetSpec)>> = Map::new();
        let mut validations = Vec::new();
        for (tp, partition) in self.assignment.partitions.iter().filter(|(_, p)| !p.asking && p.not_before <= ctx.now) {
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
                self.assignment.set_asking(*tp, true);
            }
            let wire = partitions
                .iter()
                .map(|(tp, spec)| (*tp, self.metadata.partition(*tp).map(|p| p.epoch), *spec))
                .collect();
            let request = Request::Partition(PartitionRequest::ListOffsets(ListOffsetsRequest {
                replica: None,
                isolation: self.config.isolation,
                partitions: wire,
            }));
            self.net.send(ctx, leader, Channel::Client, request, timeout, Call::ListOffsets { partitions });
        }
        for (leader, tp, position) in validations {
            if self.net.ready(ctx, leader, Channel::Client) {
                self.assignment.set_asking(tp, true);
                let request = Request::Partition(PartitionRequest::OffsetForLeaderEpoch {
                    tp,
                    current_leader_epoch: position.leader_epoch,
                    epoch: position.epoch.unwrap_or(-1),
                });
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

    /// A member owns partitions by the names of their topics. Of a topic that was made anew it owns the new partitions,
    /// and stands there where it stood in the old ones; whether such an offset exists there, the leader says. False
    /// while records of an old one wait to be handed out.
    fn follow_names(&mut self) -> bool {
        let successor = |tp: &Tp| {
            let now = self.metadata.tp(self.metadata.name_of(tp.topic)?, tp.partition)?;
            (now != *tp).then_some((*tp, now))
        };
        let moved: Vec<(Tp, Tp)> = self.assignment.partitions.keys().filter_map(successor).collect();
        let mut all = true;
        for (old, new) in moved {
            if self.assignment.partitions.get(&old).is_some_and(|partition| !partition.buffer.is_empty()) {
                all = false;
            } else if let Some(partition) = self.assignment.partitions.remove(&old) {
                // What was asked about the old one is answered for nobody.
                let partition = Assigned { asking: false, high_watermark: None, ..partition };
                self.assignment.partitions.insert(new, partition);
            }
        }
        all
    }

    /// Asks the leader that the metadata names from now on, after a validation if leader or epoch is another.
    pub(super) fn renew_leader(&mut self, tp: Tp) {
        let validates = self.spec.version >= ClientVersion::V2_3;
        let Some(known) = self.metadata.partition(tp).filter(|k| k.leader.is_some()) else { return };
        let Some(partition) = self.assignment.partitions.get_mut(&tp) else { return };
        let Some(position) = partition.position.as_mut() else { return };
        if position.leader == known.leader && position.leader_epoch == Some(known.epoch) {
            return;
        }
        position.leader = known.leader;
        position.leader_epoch = Some(known.epoch);
        if validates && position.epoch.is_some() && partition.state == Fetchability::Ready {
            partition.state = Fetchability::NeedsValidation;
            partition.asking = false;
        }
    }

    /// Something about a partition failed: ask for metadata and rest.
    pub(super) fn rest(&mut self, ctx: &mut Ctx<'_>, tp: Tp, error: ErrorCode) {
        if error.refreshes_metadata() || error == ErrorCode::OffsetNotAvailable {
            self.metadata.request_update();
        }
        let until = ctx.now + self.config.common.retry.after(1, ctx.rng);
        self.assignment.rest(tp, until);
    }

    pub(super) fn on_listed_offsets(&mut self, ctx: &mut Ctx<'_>, asked: Vec<(Tp, OffsetSpec)>, outcome: Outcome) {
        let answers = match outcome {
            Outcome::Answer(Response::Partition(PartitionResponse::ListOffsets { partitions })) => partitions,
            Outcome::Answer(_) | Outcome::Failed(_) => Vec::new(),
        };
        for (tp, spec) in asked {
            self.assignment.set_asking(tp, false);
            let answer = answers.iter().find(|a| a.tp == tp);
            let Some(answer) = answer.filter(|a| a.error.is_none()) else {
                self.rest(ctx, tp, answer.map_or(ErrorCode::NetworkException, |a| a.error));
                continue;
            };
            let (leader, leader_epoch) =
                self.metadata.partition(tp).map_or((None, None), |p| (p.leader, Some(p.epoch)));
            let Some(partition) =
                self.assignment.partitions.get_mut(&tp).filter(|p| p.state == Fetchability::NeedsReset(spec))
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
        self.assignment.set_asking(tp, false);
        let (error, end) = match outcome {
            Outcome::Answer(Response::Partition(PartitionResponse::OffsetForLeaderEpoch { error, end, .. })) => {
                (error, end)
            }
            Outcome::Answer(_) => (ErrorCode::UnknownServerError, None),
            Outcome::Failed(_) => (ErrorCode::NetworkException, None),
        };
        if !error.is_none() {
            return self.rest(ctx, tp, error);
        }
        let policy = self.reset_spec();
        let Some(partition) =
            self.assignment.partitions.get_mut(&tp).filter(|p| p.state == Fetchability::NeedsValidation)
        else {
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
            (_, None) => self.application.error = Some("LogTruncationException"),
        }
    }
}
