//! Finding the group's coordinator and losing it (section 7.5). It sends no group request.

use alloc::vec::Vec;

use super::{Call, Consumer, Membership};
use crate::client::net::NoNode;
use crate::node::{Channel, Ctx, Outcome};
use crate::protocol::{ErrorCode, Request, Response};
use crate::trace::Kind;

/// How far the coordinator's step of a `poll` came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Done,
    NoCoordinator,
    /// There is a coordinator, and something of the group is under way.
    Joining,
}

impl Consumer {
    /// The coordinator's step of a `poll`: find it, be a member, commit what is due.
    pub(super) fn group_step(&mut self, ctx: &mut Ctx<'_>) -> Step {
        let Some(broker) = self.coordinator else {
            self.lookup.wanted = true;
            self.look_up_if_wanted(ctx);
            return Step::NoCoordinator;
        };
        self.rejoin_if_partitions_changed();
        if self.rejoin || self.membership != Membership::Stable {
            self.join_step(ctx);
            // A join that was refused for good is seen by the caller.
            return if self.coordinator.is_none() { Step::NoCoordinator } else { Step::Joining };
        }
        self.auto_commit_if_due(ctx);
        let ready = self.net.ready(ctx, broker, Channel::Coordinator);
        if self.coordinator.is_none() {
            return Step::NoCoordinator;
        }
        if self.request_committed(ctx, ready) { Step::Joining } else { Step::Done }
    }

    /// Asks some broker for the coordinator, if somebody wants to know and no rest is due.
    pub(super) fn look_up_if_wanted(&mut self, ctx: &mut Ctx<'_>) {
        if self.coordinator.is_some() {
            self.lookup.wanted = false;
            return;
        }
        let urgent = !self.waiting_commits.is_empty();
        if self.lookup.flying || !(self.lookup.wanted || urgent) || self.lookup.not_before > ctx.now && !urgent {
            return;
        }
        match self.net.least_loaded(ctx, self.metadata.brokers()) {
            Ok(broker) => {
                self.lookup.flying = true;
                self.lookup.wanted = false;
                let request = Request::FindCoordinator { group: self.spec.group.clone() };
                self.net.send(
                    ctx,
                    broker,
                    Channel::Client,
                    request,
                    self.config.common.request_timeout,
                    Call::FindCoordinator,
                );
            }
            Err(NoNode::Connecting | NoNode::Busy) => {}
            Err(NoNode::AllDown) => {
                self.metadata.request_update();
                self.fail_waiting_commits(ctx);
            }
        }
    }

    pub(super) fn on_coordinator_found(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        self.lookup.flying = false;
        let (error, named) = match outcome {
            Outcome::Answer(Response::FindCoordinator { error, coordinator }) => (error, coordinator),
            Outcome::Answer(_) => (ErrorCode::UnknownServerError, None),
            Outcome::Failed(_) => (ErrorCode::NetworkException, None),
        };
        // A node whose connection has just failed is as good as unknown.
        match named.filter(|broker| error.is_none() && !self.net.unavailable(ctx.now, *broker, Channel::Coordinator)) {
            Some(broker) => {
                self.coordinator = Some(broker);
                self.lookup.error = None;
                self.last_contact = ctx.now;
                ctx.note(Kind::CoordinatorDiscovered { group: self.spec.group.clone(), coordinator: broker });
                self.net.ready(ctx, broker, Channel::Coordinator);
                self.send_waiting_commits(ctx);
            }
            None => {
                let error = if error.is_none() { ErrorCode::CoordinatorNotAvailable } else { error };
                self.lookup.not_before = ctx.now + self.config.common.retry.after(1, ctx.rng);
                if self.lookup.error != Some(error) {
                    self.lookup.error = Some(error);
                    ctx.note(Kind::CoordinatorUnknown { group: self.spec.group.clone(), error });
                }
                self.fail_waiting_commits(ctx);
            }
        }
    }

    /// The coordinator is not where it was, or does not answer: look again.
    pub(super) fn lose_coordinator(&mut self, ctx: &mut Ctx<'_>, error: ErrorCode) {
        let Some(broker) = self.coordinator.take() else { return };
        self.lookup.error = Some(error);
        self.lookup.wanted = true;
        ctx.note(Kind::CoordinatorUnknown { group: self.spec.group.clone(), error });
        self.fail_waiting_commits(ctx);
        // Nothing may stay under way to the old one.
        if error != ErrorCode::NetworkException {
            let pending: Vec<Call> = self.net.close(ctx, broker, Channel::Coordinator);
            for call in pending {
                self.on_done(ctx, broker, call, Outcome::Failed(crate::trace::Failure::Disconnected));
            }
        }
    }
}
