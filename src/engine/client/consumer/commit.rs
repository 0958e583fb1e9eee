//! Committing positions: the application's `commitAsync`, auto-commit, and the commits before a rebalance and at
//! `close` (section 7.8).

use alloc::vec::Vec;

use super::{Call, Closing, Consumer, Fetchability, Membership};
use crate::base::{GenerationId, LeaderEpoch, Offset, SimTime, Tp};
use crate::client::spec::ClientVersion;
use crate::node::{Ctx, Outcome};
use crate::protocol::{
    ErrorCode, GroupRequest, GroupResponse, OffsetAndMetadata, OffsetCommitRequest, Request, Response,
};
use crate::trace::Kind;

/// Who wants a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommitKind {
    /// `commitAsync`: its callback is told.
    Application,
    /// Each `auto.commit.interval.ms`; a failure is only logged.
    Auto,
    BeforeRebalance,
    Close,
}

/// Commits that are due or wait for a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Commits {
    pub next_auto: SimTime,
    pub waiting: Vec<(CommitKind, Vec<(Tp, OffsetAndMetadata)>)>,
}

impl Commits {
    pub fn new(next_auto: SimTime) -> Commits {
        Commits { next_auto, waiting: Vec::new() }
    }

    pub fn take_waiting(&mut self) -> Vec<(CommitKind, Vec<(Tp, OffsetAndMetadata)>)> {
        core::mem::take(&mut self.waiting)
    }
}

impl Consumer {
    /// Positions of everything assigned, also where nothing was delivered.
    pub(super) fn positions_to_commit(&self, now: SimTime) -> Vec<(Tp, OffsetAndMetadata)> {
        let with_epoch = self.spec.version >= ClientVersion::V2_3;
        let commit = |tp: &Tp, offset, epoch: Option<i32>| {
            (
                *tp,
                OffsetAndMetadata {
                    offset,
                    leader_epoch: epoch.filter(|_| with_epoch).map(LeaderEpoch),
                    commit_timestamp: now,
                },
            )
        };
        self.assignment
            .partitions
            .iter()
            .filter(|(_, p)| p.state == Fetchability::Ready)
            .filter_map(|(tp, p)| p.position.map(|position| commit(tp, position.offset, position.epoch)))
            .collect()
    }

    /// `commitAsync` of all positions. Without a coordinator it waits for one look-up and fails with it.
    pub(super) fn commit_async(&mut self, ctx: &mut Ctx<'_>, kind: CommitKind) {
        let offsets = self.positions_to_commit(ctx.now);
        if offsets.is_empty() {
            return;
        }
        if self.coordinator.broker.is_some() && self.send_commit(ctx, kind, offsets.clone()) {
            return;
        }
        self.commits.waiting.push((kind, offsets));
        if self.coordinator.broker.is_none() {
            self.look_up_if_wanted(ctx);
        }
    }

    /// What a commit fails with while this is no member: nothing is sent then.
    fn not_a_member(&self) -> Option<&'static str> {
        match self.member.state {
            Membership::Stable => None,
            Membership::Unjoined => Some("CommitFailedException"),
            Membership::Preparing | Membership::Joining | Membership::Syncing => Some(self.rebalancing_exception()),
        }
    }

    /// A member that knows of the rebalance can tell it from the loss of its membership (2.5+).
    fn rebalancing_exception(&self) -> &'static str {
        if self.spec.version >= ClientVersion::V2_5 { "RebalanceInProgressException" } else { "CommitFailedException" }
    }

    /// Sends a commit if the connection to the coordinator stands, or fails it. False if it has to wait.
    pub(super) fn send_commit(
        &mut self,
        ctx: &mut Ctx<'_>,
        kind: CommitKind,
        offsets: Vec<(Tp, OffsetAndMetadata)>,
    ) -> bool {
        if let Some(exception) = self.not_a_member() {
            self.commit_failed(ctx, kind, exception);
            return true;
        }
        let positions = offsets.iter().map(|(tp, o)| (*tp, o.offset)).collect();
        let name = |tp: Tp| self.metadata.name_of(tp.topic).map(|name| (tp.topic, name.clone()));
        let names = offsets.iter().filter_map(|(tp, _)| name(*tp)).collect();
        let request = Request::Group(GroupRequest::OffsetCommit(OffsetCommitRequest {
            group: self.spec.group.clone(),
            generation: self.member.generation,
            member_id: self.member.id.clone(),
            instance_id: self.config.instance_id.clone(),
            offsets,
            names,
            knows_group_id_not_found: self.spec.version >= ClientVersion::V3_9,
        }));
        let (timeout, generation) = (self.config.common.request_timeout, self.member.generation);
        self.ask_coordinator(ctx, request, timeout, Call::Commit { kind, generation, offsets: positions })
    }

    /// A coordinator was found, or its connection stands now.
    pub(super) fn send_waiting_commits(&mut self, ctx: &mut Ctx<'_>) {
        for (kind, offsets) in self.commits.take_waiting() {
            if !self.send_commit(ctx, kind, offsets.clone()) {
                self.commits.waiting.push((kind, offsets));
            }
        }
    }

    pub(super) fn fail_waiting_commits(&mut self, ctx: &mut Ctx<'_>) {
        for (kind, _) in self.commits.take_waiting() {
            self.commit_failed(ctx, kind, "RetriableCommitFailedException");
        }
    }

    fn commit_failed(&mut self, ctx: &mut Ctx<'_>, kind: CommitKind, exception: &'static str) {
        match kind {
            CommitKind::Application => {
                self.counts.failed_commits += 1;
                ctx.note(Kind::CommitFailed { group: self.spec.group.clone(), exception });
            }
            CommitKind::Auto => {
                // Tried again soon, not only after the interval.
                if exception == "RetriableCommitFailedException" {
                    self.commits.next_auto = self.commits.next_auto.min(ctx.now + self.config.common.retry.first);
                }
            }
            CommitKind::BeforeRebalance if exception == "RetriableCommitFailedException" => {
                self.member.preparation.retry_at(ctx.now + self.config.common.retry.first);
            }
            CommitKind::BeforeRebalance => self.member.preparation.committed(),
            CommitKind::Close => {
                let failures =
                    if let Some(Closing::CommitFlying { failures }) = self.close.step { failures + 1 } else { 1 };
                if exception == "RetriableCommitFailedException" {
                    let not_before = ctx.now + self.config.common.retry.after(failures, ctx.rng);
                    self.closing_commit_done(Closing::Commit { failures, not_before });
                } else {
                    self.closing_commit_done(Closing::Pending);
                }
            }
        }
    }

    /// The commit of `close` has an outcome, unless `close` has gone on without it.
    fn closing_commit_done(&mut self, next: Closing) {
        if matches!(self.close.step, Some(Closing::CommitFlying { .. })) {
            self.close.step = Some(next);
        }
    }

    pub(super) fn auto_commit_if_due(&mut self, ctx: &mut Ctx<'_>) {
        if self.config.auto_commit && self.commits.next_auto <= ctx.now {
            self.commits.next_auto = ctx.now + self.config.auto_commit_interval;
            self.commit_async(ctx, CommitKind::Auto);
        }
    }

    pub(super) fn on_committed(
        &mut self,
        ctx: &mut Ctx<'_>,
        kind: CommitKind,
        generation: GenerationId,
        offsets: Vec<(Tp, Offset)>,
        outcome: Outcome,
    ) {
        // The member has given up waiting for this one.
        let is_late = kind == CommitKind::BeforeRebalance && !self.member.preparation.waits_for(generation);
        let kind = if is_late { CommitKind::Auto } else { kind };
        let error = match outcome {
            Outcome::Answer(Response::Group(GroupResponse::OffsetCommit { results })) => {
                results.iter().map(|(_, e)| *e).find(|e| !e.is_none()).unwrap_or_default()
            }
            Outcome::Answer(_) => ErrorCode::UnknownServerError,
            Outcome::Failed(_) => {
                self.commit_failed(ctx, kind, "RetriableCommitFailedException");
                return self.lose_coordinator(ctx, ErrorCode::NetworkException);
            }
        };
        let current = generation == self.member.generation;
        match error {
            ErrorCode::None => {
                self.counts.commits += 1;
                for (tp, offset) in offsets {
                    if let Some(partition) = self.assignment.partitions.get_mut(&tp) {
                        partition.committed = Some(offset);
                    }
                }
                ctx.note(Kind::CommitSucceeded { group: self.spec.group.clone() });
                match kind {
                    CommitKind::Application | CommitKind::Auto => {}
                    CommitKind::BeforeRebalance => self.member.preparation.committed(),
                    CommitKind::Close => self.closing_commit_done(Closing::Pending),
                }
            }
            ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator | ErrorCode::RequestTimedOut => {
                self.commit_failed(ctx, kind, "RetriableCommitFailedException");
                self.lose_coordinator(ctx, error);
            }
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration => {
                // Of an older generation, and the next one is being made: nothing is lost but this commit.
                if !current && matches!(self.member.state, Membership::Preparing | Membership::Joining) {
                    self.commit_failed(ctx, kind, self.rebalancing_exception());
                } else {
                    self.member.reset(error == ErrorCode::IllegalGeneration);
                    self.commit_failed(ctx, kind, "CommitFailedException");
                }
            }
            ErrorCode::RebalanceInProgress => {
                self.member.rejoin |= current;
                self.commit_failed(ctx, kind, self.rebalancing_exception());
            }
            // The member of an older generation is fenced: it has a successor, itself perhaps.
            ErrorCode::FencedInstanceId if !current => self.commit_failed(ctx, kind, self.rebalancing_exception()),
            ErrorCode::FencedInstanceId => {
                self.application.fatal = Some(error.exception());
                self.commit_failed(ctx, kind, error.exception());
            }
            ErrorCode::CoordinatorLoadInProgress | ErrorCode::UnknownTopicOrPartition => {
                self.commit_failed(ctx, kind, "RetriableCommitFailedException");
            }
            // Whatever it does not expect, a group that is gone among it (OffsetCommit v9), is neither retried nor
            // taken for the loss of the membership: the next heartbeat tells of that.
            _other => self.commit_failed(ctx, kind, "KafkaException"),
        }
    }
}
