//! Heartbeats of a member and what their answers mean (KIP-62). Joining is in `membership`.

use super::membership::Membership;
use super::{Call, Consumer};
use crate::base::{Dur, GenerationId, SimTime};
use crate::client::spec::ClientVersion;
use crate::node::{ClientTimer, Ctx, Outcome, Timer};
use crate::protocol::{ErrorCode, GroupRequest, GroupResponse, Request, Response};

/// The clocks of heartbeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Heartbeats {
    /// When the next one is due.
    at: SimTime,
    flying: bool,
    failures: u32,
    /// When the coordinator was last heard of.
    pub last_contact: SimTime,
}

impl Heartbeats {
    fn begin(&mut self, now: SimTime, interval: Dur) {
        *self = Heartbeats { at: now + interval, flying: false, failures: 0, last_contact: now };
    }

    fn sent(&mut self, now: SimTime, interval: Dur) {
        self.flying = true;
        self.at = now + interval;
    }

    fn answered(&mut self, now: SimTime) {
        self.failures = 0;
        self.last_contact = now;
    }
}

impl Consumer {
    /// Since KAFKA-10134 a member that waits for its assignment sends heartbeats already.
    pub(super) fn beats_while_syncing(&self) -> bool {
        self.spec.version >= ClientVersion::V3_9
    }

    /// The generation of which heartbeats tell is known: all their clocks begin anew.
    pub(super) fn begin_heartbeats(&mut self, ctx: &mut Ctx<'_>) {
        self.heartbeats.begin(ctx.now, self.config.heartbeat_interval);
        ctx.set(Timer::Client(ClientTimer::Heartbeat), self.config.heartbeat_interval);
    }

    /// Whether heartbeats are sent now.
    fn beats(&self) -> bool {
        self.member.beats() && !self.close.is_leaving()
    }

    pub(super) fn on_heartbeat_timer(&mut self, ctx: &mut Ctx<'_>) {
        if !self.beats() {
            return;
        }
        let timer = Timer::Client(ClientTimer::Heartbeat);
        let pause = self.config.common.retry.first;
        if self.coordinator.broker.is_none() {
            self.coordinator.wanted = true;
            ctx.set(timer, pause);
        } else if ctx.now.since(self.heartbeats.last_contact) > self.config.session_timeout {
            // Not a word from the coordinator for a session: perhaps it is elsewhere by now.
            self.lose_coordinator(ctx, ErrorCode::RequestTimedOut);
            ctx.set(timer, pause);
        } else if self.heartbeats.at > ctx.now || self.heartbeats.flying {
            let wait = if self.heartbeats.flying { pause } else { self.heartbeats.at.since(ctx.now) };
            ctx.set(timer, wait);
        } else {
            let (request, timeout, generation) = (
                Request::Group(GroupRequest::Heartbeat(self.member_request())),
                self.config.common.request_timeout,
                self.member.generation,
            );
            if self.ask_coordinator(ctx, request, timeout, Call::Heartbeat { generation }) {
                self.heartbeats.sent(ctx.now, self.config.heartbeat_interval);
                ctx.set(timer, self.config.heartbeat_interval);
            } else {
                ctx.set(timer, pause);
            }
        }
    }

    pub(super) fn on_heartbeat(&mut self, ctx: &mut Ctx<'_>, generation: GenerationId, outcome: Outcome) {
        self.heartbeats.flying = false;
        let error = match outcome {
            Outcome::Answer(Response::Group(GroupResponse::Heartbeat { error })) => error,
            Outcome::Answer(_) => ErrorCode::UnknownServerError,
            Outcome::Failed(_) => ErrorCode::NetworkException,
        };
        let current = generation == self.member.generation;
        match error {
            ErrorCode::None => {}
            // A member that joins already need not be told to.
            ErrorCode::RebalanceInProgress => self.member.rejoin |= self.member.state == Membership::Stable,
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration | ErrorCode::FencedInstanceId if !current => {}
            ErrorCode::UnknownMemberId => return self.member.reset(false),
            ErrorCode::IllegalGeneration => return self.member.reset(true),
            ErrorCode::FencedInstanceId => return self.application.fatal = Some(error.exception()),
            other => {
                // The next one does not wait for the interval.
                self.heartbeats.failures += 1;
                self.heartbeats.at = ctx.now + self.config.common.retry.after(self.heartbeats.failures, ctx.rng);
                if self.beats() {
                    ctx.set(Timer::Client(ClientTimer::Heartbeat), self.heartbeats.at.since(ctx.now));
                }
                let lost = [ErrorCode::CoordinatorNotAvailable, ErrorCode::NotCoordinator, ErrorCode::NetworkException];
                if lost.contains(&other) {
                    self.lose_coordinator(ctx, other);
                }
                return;
            }
        }
        self.heartbeats.answered(ctx.now);
    }
}
