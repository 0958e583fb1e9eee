//! Finding the group's coordinator and losing it (section 7.5). It sends no group request.

use alloc::vec::Vec;

use super::{Call, Consumer, Membership};
use crate::base::{BrokerId, SimTime};
use crate::client::net::NoNode;
use crate::node::{Channel, Ctx, Outcome};
use crate::protocol::{BrokerRequest, BrokerResponse, ErrorCode, Request, Response};
use crate::trace::Kind;

/// How far the coordinator's step of a `poll` came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Done,
    NoCoordinator,
    /// There is a coordinator, and something of the group is under way.
    Joining,
    /// `poll` waits for a commit, with a coordinator or without.
    Blocked,
}

/// The group's coordinator, as far as it is known, and the search for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Coordinator {
    pub broker: Option<BrokerId>,
    /// Somebody wants to know it.
    pub wanted: bool,
    pub flying: bool,
    pub not_before: SimTime,
    /// Why there is none: the last answer that named nobody, or how it was lost.
    pub error: Option<ErrorCode>,
}

impl Coordinator {
    /// It is looked for, if it is not known.
    pub fn want(&mut self) {
        self.wanted |= self.broker.is_none();
    }

    fn found(&mut self, broker: BrokerId) {
        self.broker = Some(broker);
        self.error = None;
    }

    /// Nobody was named. True if the reason is a new one.
    fn not_found(&mut self, error: ErrorCode, not_before: SimTime) -> bool {
        self.not_before = not_before;
        self.error.replace(error) != Some(error)
    }

    fn lost(&mut self, error: ErrorCode) -> Option<BrokerId> {
        let broker = self.broker.take()?;
        self.error = Some(error);
        self.wanted = true;
        Some(broker)
    }
}

impl Consumer {
    /// The coordinator's step of a `poll`: find it, be a member, commit what is due.
    pub(super) fn group_step(&mut self, ctx: &mut Ctx<'_>) -> Step {
        let Some(broker) = self.coordinator.broker else {
            self.coordinator.wanted = true;
            self.look_up_if_wanted(ctx);
            return if self.blocks_in_commit(ctx.now) { Step::Blocked } else { Step::NoCoordinator };
        };
        self.rejoin_if_partitions_changed();
        if self.member.rejoin || self.member.state != Membership::Stable {
            self.join_step(ctx);
            if self.blocks_in_commit(ctx.now) {
                return Step::Blocked;
            }
            // A join that was refused for good is seen by the caller.
            return if self.coordinator.broker.is_none() { Step::NoCoordinator } else { Step::Joining };
        }
        self.auto_commit_if_due(ctx);
        let ready = self.net.ready(ctx, broker, Channel::Coordinator);
        if self.coordinator.broker.is_none() {
            return Step::NoCoordinator;
        }
        if self.request_committed(ctx, ready) { Step::Joining } else { Step::Done }
    }

    /// Asks some broker for the coordinator, if somebody wants to know and no rest is due.
    pub(super) fn look_up_if_wanted(&mut self, ctx: &mut Ctx<'_>) {
        if self.coordinator.broker.is_some() {
            self.coordinator.wanted = false;
            return;
        }
        let urgent = !self.commits.waiting.is_empty();
        if self.coordinator.flying
            || !(self.coordinator.wanted || urgent)
            || self.coordinator.not_before > ctx.now && !urgent
        {
            return;
        }
        match self.net.least_loaded(ctx, self.metadata.brokers()) {
            Ok(broker) => {
                self.coordinator.flying = true;
                self.coordinator.wanted = false;
                let request = Request::Broker(BrokerRequest::FindCoordinator { group: self.spec.group.clone() });
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
        self.coordinator.flying = false;
        let (error, named) = match outcome {
            Outcome::Answer(Response::Broker(BrokerResponse::FindCoordinator { error, coordinator })) => {
                (error, coordinator)
            }
            Outcome::Answer(_) => (ErrorCode::UnknownServerError, None),
            Outcome::Failed(_) => (ErrorCode::NetworkException, None),
        };
        // A node whose connection has just failed is as good as unknown.
        match named.filter(|broker| error.is_none() && !self.net.unavailable(ctx.now, *broker, Channel::Coordinator)) {
            Some(broker) => {
                self.coordinator.found(broker);
                self.heartbeats.last_contact = ctx.now;
                ctx.note(Kind::CoordinatorDiscovered { group: self.spec.group.clone(), coordinator: broker });
                self.net.ready(ctx, broker, Channel::Coordinator);
                self.send_waiting_commits(ctx);
            }
            None => {
                let error = if error.is_none() { ErrorCode::CoordinatorNotAvailable } else { error };
                let not_before = ctx.now + self.config.common.retry.after(1, ctx.rng);
                if self.coordinator.not_found(error, not_before) {
                    ctx.note(Kind::CoordinatorUnknown { group: self.spec.group.clone(), error });
                }
                self.fail_waiting_commits(ctx);
            }
        }
    }

    /// The coordinator is not where it was, or does not answer: look again.
    pub(super) fn lose_coordinator(&mut self, ctx: &mut Ctx<'_>, error: ErrorCode) {
        let Some(broker) = self.coordinator.lost(error) else { return };
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
