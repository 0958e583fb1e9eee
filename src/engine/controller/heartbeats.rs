//! Heartbeats, fencing and controlled shutdown: the state table of BrokerHeartbeatManager (KIP-631, KIP-841). It
//! changes no partition by itself.

use alloc::vec::Vec;

use super::{Controller, Decision};
use crate::base::{BrokerId, Dur, Offset};
use crate::node::{ControllerTimer, Ctx, Timer};
use crate::protocol::{BrokerHeartbeatRequest, ControllerResponse, ErrorCode, MetadataRecord};
use crate::rules::FencingCheck;
use crate::trace::{IsrChanger, Kind};

/// After a run that fenced a broker the next one follows quickly.
const NEXT_FENCING_RUN: Dur = Dur::ms(10);

/// State of a broker as the controller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum BrokerState {
    Fenced,
    Unfenced,
    ControlledShutdown,
    /// The broker may end now.
    ShutdownNow,
}

/// What the state table looks at.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeartbeatFacts {
    pub want_fence: bool,
    pub want_shut_down: bool,
    /// Has applied its own registration record.
    pub caught_up: bool,
    pub leads: bool,
    /// What every active broker has acknowledged covers the batch that took the leaderships away.
    pub others_know: bool,
}

/// calculateNextBrokerState.
pub(super) fn next_state(now: BrokerState, facts: HeartbeatFacts) -> BrokerState {
    match now {
        BrokerState::Fenced if facts.want_shut_down => BrokerState::ShutdownNow,
        BrokerState::Fenced if !facts.want_fence && facts.caught_up => BrokerState::Unfenced,
        BrokerState::Fenced => BrokerState::Fenced,
        BrokerState::Unfenced if facts.want_fence && facts.want_shut_down => BrokerState::ShutdownNow,
        BrokerState::Unfenced if facts.want_fence => BrokerState::Fenced,
        BrokerState::Unfenced if facts.want_shut_down && facts.leads => BrokerState::ControlledShutdown,
        BrokerState::Unfenced if facts.want_shut_down => BrokerState::ShutdownNow,
        BrokerState::Unfenced => BrokerState::Unfenced,
        BrokerState::ControlledShutdown if !facts.leads && facts.others_know => BrokerState::ShutdownNow,
        BrokerState::ControlledShutdown => BrokerState::ControlledShutdown,
        BrokerState::ShutdownNow => BrokerState::ShutdownNow,
    }
}

fn heartbeat_error(error: ErrorCode) -> Decision {
    Decision::answer(ControllerResponse::BrokerHeartbeat {
        error,
        is_caught_up: false,
        is_fenced: false,
        should_shut_down: false,
    })
}

impl Controller {
    /// BrokerHeartbeat.
    pub(super) fn heartbeat(&mut self, ctx: &mut Ctx<'_>, request: &BrokerHeartbeatRequest) -> Decision {
        let broker = request.broker;
        let Some(registration) = self.image.brokers.get(&broker) else {
            return heartbeat_error(ErrorCode::BrokerIdNotRegistered);
        };
        if registration.epoch != request.epoch {
            return heartbeat_error(ErrorCode::StaleBrokerEpoch);
        }
        let epoch = registration.epoch;
        let now = match (registration.fenced, registration.in_controlled_shutdown) {
            (true, _) => BrokerState::Fenced,
            (false, true) => BrokerState::ControlledShutdown,
            (false, false) => BrokerState::Unfenced,
        };
        let shutdown_offset = self.touch(ctx, request);
        let caught_up = request.current_metadata_offset > epoch.0;
        let facts = HeartbeatFacts {
            want_fence: request.want_fence,
            want_shut_down: request.want_shut_down,
            caught_up,
            leads: request.want_shut_down && self.image.partitions().any(|(_, p)| p.leader == Some(broker)),
            others_know: shutdown_offset.is_none_or(|at| self.lowest_active_offset().is_none_or(|lowest| at <= lowest)),
        };
        let next = next_state(now, facts);
        let records = if next == now { Vec::new() } else { self.transition(ctx, broker, next) };
        let is_fenced = match next {
            BrokerState::Fenced | BrokerState::ShutdownNow => true,
            BrokerState::Unfenced | BrokerState::ControlledShutdown => false,
        };
        if self.rules.fencing_check == FencingCheck::Timer {
            let timer = Timer::Controller(ControllerTimer::Session(broker));
            if is_fenced { ctx.cancel(&timer) } else { ctx.set(timer, self.config.broker_session_timeout) }
        }
        let should_shut_down = next == BrokerState::ShutdownNow;
        Decision::new(
            records,
            ControllerResponse::BrokerHeartbeat {
                error: ErrorCode::None,
                is_caught_up: caught_up,
                is_fenced,
                should_shut_down,
            },
        )
    }

    fn touch(&mut self, ctx: &Ctx<'_>, request: &BrokerHeartbeatRequest) -> Option<Offset> {
        let sessions = &mut self.active.as_mut()?.sessions;
        sessions.touch(request.broker, request.epoch, ctx.now, request.current_metadata_offset);
        sessions.get(request.broker)?.shutdown_offset
    }

    fn lowest_active_offset(&self) -> Option<Offset> {
        self.active.as_ref()?.sessions.lowest_active_offset(&self.image)
    }

    fn transition(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, next: BrokerState) -> Vec<MetadataRecord> {
        match next {
            BrokerState::Unfenced => {
                ctx.because(Kind::BrokerUnfenced { broker });
                let mut records = self.registration_change(broker, Some(false), false);
                records.extend(self.may_lead_again(broker));
                records
            }
            BrokerState::Fenced => self.fence(ctx, broker),
            BrokerState::ControlledShutdown => {
                ctx.because(Kind::ControlledShutdownBegun { broker });
                let mut records = self.registration_change(broker, None, true);
                records.extend(self.leave_isrs(broker));
                let end = self.image.applied_to + records.len() as i64;
                if let Some(active) = &mut self.active {
                    active.sessions.begin_shutdown(broker, end);
                }
                records
            }
            BrokerState::ShutdownNow => {
                ctx.because(Kind::ControlledShutdownAllowed { broker });
                self.fence(ctx, broker)
            }
        }
    }

    fn registration_change(
        &self,
        broker: BrokerId,
        fenced: Option<bool>,
        in_controlled_shutdown: bool,
    ) -> Vec<MetadataRecord> {
        let change = |epoch| MetadataRecord::BrokerRegistrationChange { broker, epoch, fenced, in_controlled_shutdown };
        self.image.brokers.get(&broker).map(|b| change(b.epoch)).into_iter().collect()
    }

    /// Records of a fencing: the partitions first, then the broker. One that is fenced already is told once more, as
    /// the release does it, but is no news.
    fn fence(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId) -> Vec<MetadataRecord> {
        if self.image.is_unfenced(broker) {
            let last_contact = self.active.as_ref().and_then(|a| a.sessions.get(broker)).and_then(|s| s.last_contact);
            ctx.because(Kind::BrokerFenced { broker, last_contact });
        }
        let mut records = self.leave_isrs(broker);
        records.extend(self.registration_change(broker, Some(true), false));
        records
    }

    /// 4.0+: one broker whose session is over, then the next run.
    pub(super) fn on_session_check(&mut self, ctx: &mut Ctx<'_>) {
        let timeout = self.config.broker_session_timeout;
        let expired = self.active.as_mut().and_then(|a| a.sessions.take_expired(ctx.now, timeout));
        let next = if expired.is_some() { NEXT_FENCING_RUN } else { timeout.scaled(1, 8) };
        if let Some((broker, session)) = expired
            && self.image.brokers.get(&broker).is_some_and(|b| b.epoch == session.epoch)
        {
            if self.image.is_unfenced(broker) {
                ctx.because(Kind::BrokerFenced { broker, last_contact: session.last_contact });
            }
            let mut records = self.leave_isrs(broker);
            records.extend(self.registration_change(broker, Some(true), false));
            self.write(ctx, records, IsrChanger::Controller);
        }
        ctx.set(Timer::Controller(ControllerTimer::SessionCheck), next);
    }

    /// To 3.9: the session of one broker is over.
    pub(super) fn on_session_timer(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId) {
        if self.image.is_unfenced(broker) {
            let records = self.fence(ctx, broker);
            self.write(ctx, records, IsrChanger::Controller);
        }
    }
}
