//! `close`: a last commit, the callback, leaving, within its time. What a commit or a leave says stands elsewhere.

use super::membership::Membership;
use super::{CommitKind, Consumer};
use crate::base::{Dur, SimTime};
use crate::client::spec::ClientVersion;
use crate::node::{Channel, ClientTimer, Ctx, Timer};
use crate::trace::{Callback, Kind};

/// How long `close` takes at most, if the application says nothing else (`DEFAULT_CLOSE_TIMEOUT_MS`).
pub(super) const CLOSE_TIMEOUT: Dur = Dur::secs(30);

/// What `close` still has to do, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Closing {
    /// Auto-commit, after so many failed tries, as soon as there is a coordinator.
    Commit {
        failures: u32,
        not_before: SimTime,
    },
    CommitFlying {
        failures: u32,
    },
    /// Commits of the application that wait for a coordinator.
    Pending,
    Leave,
    /// What is under way to the coordinator.
    Await,
}

/// How far `close` is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Close {
    /// `None`: nobody has called it.
    pub step: Option<Closing>,
    pub done: bool,
}

impl Close {
    /// The member is leaving: heartbeats would only confuse the coordinator.
    pub fn is_leaving(&self) -> bool {
        matches!(self.step, Some(Closing::Leave | Closing::Await))
    }
}

impl Consumer {
    /// `close`: commit, callback, leave, end. It gives its steps together at most this long and `request.timeout.ms`.
    pub(super) fn begin_close(&mut self, ctx: &mut Ctx<'_>, within: Dur) {
        if self.close.step.is_some() {
            return;
        }
        self.application.poll = None;
        ctx.cancel(&Timer::Client(ClientTimer::Poll));
        ctx.cancel(&Timer::Client(ClientTimer::PollInterval));
        ctx.set(Timer::Client(ClientTimer::Close), within.min(self.config.common.request_timeout));
        self.close.step = Some(Closing::Commit { failures: 0, not_before: ctx.now });
    }

    /// The time of `close` is over: what is left is done without waiting.
    pub(super) fn close_at_once(&mut self) {
        if !matches!(self.close.step, Some(Closing::Await)) {
            self.close.step = Some(Closing::Leave);
        }
    }

    pub(super) fn close_step(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            match self.close.step {
                Some(Closing::Commit { failures, not_before }) => {
                    let offsets = self.positions_to_commit(ctx.now);
                    if !self.config.auto_commit || offsets.is_empty() {
                        self.close.step = Some(Closing::Pending);
                        continue;
                    }
                    self.coordinator.want();
                    if not_before > ctx.now || self.coordinator.broker.is_none() {
                        return;
                    }
                    self.close.step = Some(Closing::CommitFlying { failures });
                    if !self.send_commit(ctx, CommitKind::Close, offsets) {
                        self.close.step = Some(Closing::Commit { failures, not_before });
                        return;
                    }
                }
                Some(Closing::Pending) => {
                    if !self.commits.waiting.is_empty() {
                        self.coordinator.want();
                        return;
                    }
                    self.close.step = Some(Closing::Leave);
                }
                Some(Closing::Leave) => {
                    let had = self.assignment.owned();
                    if self.spec.version >= ClientVersion::V2_5 && !had.is_empty() {
                        let is_member = self.member.has_generation() && self.member.state == Membership::Stable;
                        self.callback(ctx, if is_member { Callback::Revoked } else { Callback::Lost }, had);
                    }
                    self.assignment.partitions.clear();
                    self.send_leave(ctx);
                    self.close.step = Some(Closing::Await);
                }
                Some(Closing::Await) => {
                    let pending = self.coordinator.broker.map_or(0, |b| self.net.n_in_flight(b, Channel::Coordinator));
                    if pending > 0 && ctx.timers.due_at(&Timer::Client(ClientTimer::Close)).is_some() {
                        return;
                    }
                    self.close.done = true;
                    ctx.note(Kind::ClientClosed { client: self.client });
                    return ctx.exit(true);
                }
                Some(Closing::CommitFlying { .. }) | None => return,
            }
        }
    }
}
