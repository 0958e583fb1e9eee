//! What a member does before it joins again: it commits its positions, if it commits by itself, and tells the
//! application what it gives up (`ConsumerCoordinator.onJoinPrepare`). It sends no join.

use super::{CommitKind, Consumer};
use crate::base::{GenerationId, SimTime};
use crate::client::spec::ClientVersion;
use crate::node::Ctx;
use crate::trace::Callback;

/// How far the commit before a rebalance is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum LastCommit {
    #[default]
    Due,
    Flying {
        generation: GenerationId,
    },
    /// It failed for a reason that passes, and is tried again then.
    Resting {
        until: SimTime,
    },
    Over,
}

/// How far the preparation of a join is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Preparation {
    /// The member may join.
    pub done: bool,
    commit: LastCommit,
    /// When it joins without having committed: the rebalance time-out after it began to try.
    until: Option<SimTime>,
}

impl Preparation {
    /// The commit that is under way, if it is of this generation, has an outcome.
    pub fn committed(&mut self) {
        self.commit = LastCommit::Over;
    }

    /// The commit failed for a reason that passes.
    pub fn retry_at(&mut self, until: SimTime) {
        self.commit = LastCommit::Resting { until };
    }

    /// Whether a commit that was sent in this generation is the one that is waited for.
    pub fn waits_for(&self, generation: GenerationId) -> bool {
        self.commit == LastCommit::Flying { generation }
    }

    /// The commit is tried and has no final outcome.
    fn is_committing(&self) -> bool {
        !self.done && self.until.is_some() && self.commit != LastCommit::Over
    }

    /// When it goes on without an event.
    pub fn wakes_at(&self) -> impl Iterator<Item = SimTime> + use<> {
        let rest = match self.commit {
            LastCommit::Resting { until } => Some(until),
            LastCommit::Due | LastCommit::Flying { .. } | LastCommit::Over => None,
        };
        let until = self.until.filter(|_| self.is_committing());
        rest.into_iter().chain(until)
    }
}

impl Consumer {
    /// Below 3.2 the commit before a rebalance is a `commitSync`, which `poll` does not return from.
    pub(super) fn blocks_in_commit(&self, now: SimTime) -> bool {
        self.spec.version < ClientVersion::V3_9
            && self.member.preparation.is_committing()
            && self.member.preparation.until.is_some_and(|until| now < until)
    }

    /// What is about to be given up is neither fetched nor handed out any more, so that no position passes what is
    /// committed.
    pub(super) fn holds_back(&self) -> bool {
        self.config.auto_commit && !self.member.preparation.done && self.member.preparation.until.is_some()
    }

    /// Auto-commit and the callback before a join. True when both are done.
    pub(super) fn prepare_join(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let valid = self.member.has_generation();
        if self.config.auto_commit && valid && !self.commit_before_join(ctx) {
            return false;
        }
        let had = self.assignment.owned();
        if self.spec.version <= ClientVersion::V2_3 || valid {
            self.callback(ctx, Callback::Revoked, had);
        } else if !had.is_empty() {
            self.callback(ctx, Callback::Lost, had);
        }
        self.assignment.partitions.clear();
        self.member.preparation = Preparation { done: true, ..Preparation::default() };
        true
    }

    /// Commits, and tries again as long as that may help and the coordinator waits for this member. True when it is to
    /// go on.
    fn commit_before_join(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let limit = ctx.now + self.config.max_poll_interval;
        if *self.member.preparation.until.get_or_insert(limit) <= ctx.now {
            return true;
        }
        match self.member.preparation.commit {
            LastCommit::Over => return true,
            LastCommit::Flying { .. } => return false,
            LastCommit::Resting { until } if until > ctx.now => return false,
            LastCommit::Due | LastCommit::Resting { .. } => {}
        }
        let offsets = self.positions_to_commit(ctx.now);
        if offsets.is_empty() {
            return true;
        }
        self.member.preparation.commit = LastCommit::Flying { generation: self.member.generation };
        if !self.send_commit(ctx, CommitKind::BeforeRebalance, offsets) {
            // Its connection is being made.
            self.member.preparation.commit = LastCommit::Due;
        }
        self.member.preparation.commit == LastCommit::Over
    }
}
