//! Registration and heartbeats of a broker, from its start to its controlled shutdown (Kafka's BrokerLifecycleManager,
//! KIP-631). Fencing is the controller's decision, not made here.

use alloc::rc::Rc;

use super::BrokerCall;
use crate::base::{BrokerEpoch, BrokerId, ControllerId, Dur, Incarnation, NodeId, Offset, SimTime};
use crate::node::{BrokerTimer, Channel, Connections, Ctx, Outcome, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{
    BrokerHeartbeatRequest, BrokerRegistrationRequest, ControllerRequest, ControllerResponse, ErrorCode, Request,
    Response,
};
use crate::rules::fixed::SHUTDOWN_HEARTBEAT_RETRY;
use crate::rules::{LifecycleRetry, Rules};
use crate::trace::Kind;

/// Heartbeats follow each other this fast until the broker has caught up, so that a start without recovery work is
/// quick.
const STARTING_HEARTBEAT: Dur = Dur::ms(10);
/// Pause between two tries to reach the controller.
const CONNECT_RETRY: Dur = Dur::ms(50);
/// First retry after a failure, doubled with each (to 3.9).
const FIRST_BACKOFF: Dur = Dur::ms(100);
/// A broker that is never let go stops anyway (the default of BrokerServer).
const SHUTDOWN_LIMIT: Dur = Dur::secs(300);

/// Kafka's BrokerState, as its metric names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerState {
    /// Registers and catches up with the metadata; its ports are closed.
    Starting,
    /// Caught up, not unfenced yet.
    Recovery,
    Running,
    PendingControlledShutdown,
    ShuttingDown,
}

impl BrokerState {
    /// Kafka's name.
    pub const fn name(self) -> &'static str {
        match self {
            BrokerState::Starting => "STARTING",
            BrokerState::Recovery => "RECOVERY",
            BrokerState::Running => "RUNNING",
            BrokerState::PendingControlledShutdown => "PENDING_CONTROLLED_SHUTDOWN",
            BrokerState::ShuttingDown => "SHUTTING_DOWN",
        }
    }
}

/// What the broker has to do after a step of its lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Nothing,
    Registered(BrokerEpoch),
    /// The metadata is applied as far as the controller asks: replicas may be used, ports opened.
    CaughtUp,
    /// The process ends in an orderly way.
    ShutDown,
    /// No registration within `initial.broker.registration.timeout.ms`.
    GiveUp,
}

/// From the start of the process to its first registration, as recorded on a machine without load (1.2 to 1.9 s).
const PROCESS_START: (Dur, Dur) = (Dur::ms(1_100), Dur::ms(1_900));
/// From the accepted registration until logs are loaded and ports are open: short if the process had long been up by
/// then, waiting
/// for its old session to end (recorded 0.06 to 0.16 s), longer in a fresh one (0.25 to 0.6 s).
const LOG_LOADING: (Dur, Dur) = (Dur::ms(250), Dur::ms(600));
const LATE_LOADING: (Dur, Dur) = (Dur::ms(100), Dur::ms(200));
/// From the first metadata that replicas follow until the broker says that it may be unfenced: its ports are opened
/// meanwhile.
const OPENING: Dur = Dur::ms(10);

/// A broker's relation to the controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lifecycle {
    id: BrokerId,
    incarnation: Incarnation,
    rack: Option<Rc<str>>,
    directory: u32,
    config: Rc<NodeConfig>,
    rules: Rules,
    state: BrokerState,
    epoch: Option<BrokerEpoch>,
    /// From the clean-shutdown marker.
    previous_epoch: Option<BrokerEpoch>,
    /// As the last heartbeat said.
    fenced: bool,
    /// A request has to be sent.
    due: bool,
    /// Logs are loaded and ports could be opened.
    is_loaded: bool,
    /// A heartbeat said that the metadata is applied far enough.
    is_caught_up: bool,
    /// May be unfenced.
    is_ready: bool,
    /// Something changed while a request was in flight: the next one follows its answer at once.
    at_once: bool,
    /// A registration was refused, so that the process had time to come up.
    was_refused: bool,
    in_flight: bool,
    /// Until when the present request is tried.
    try_until: Option<SimTime>,
    failures: u32,
    /// Heartbeats that asked to stop and were answered with "not yet".
    n_refused_shutdowns: u32,
}

impl Lifecycle {
    /// Begins to register. The marker of a clean stop is read and removed: a crash from now on is an unclean one.
    pub fn start(
        ctx: &mut Ctx<'_>,
        id: BrokerId,
        incarnation: Incarnation,
        rack: Option<Rc<str>>,
        config: Rc<NodeConfig>,
        rules: Rules,
    ) -> Lifecycle {
        let previous_epoch = ctx.disk.clean_shutdown.take();
        ctx.set(Timer::Broker(BrokerTimer::RegistrationLimit), config.initial_registration_timeout);
        let first = ctx.rng.between(PROCESS_START.0, PROCESS_START.1);
        ctx.set(Timer::Broker(BrokerTimer::Registration), first);
        Lifecycle {
            id,
            incarnation,
            rack,
            directory: ctx.disk.directory,
            config,
            rules,
            state: BrokerState::Starting,
            epoch: None,
            previous_epoch,
            fenced: true,
            due: false,
            is_loaded: false,
            is_caught_up: false,
            is_ready: false,
            at_once: false,
            was_refused: false,
            in_flight: false,
            try_until: None,
            failures: 0,
            n_refused_shutdowns: 0,
        }
    }

    pub fn state(&self) -> BrokerState {
        self.state
    }
    pub fn epoch(&self) -> Option<BrokerEpoch> {
        self.epoch
    }
    /// Fenced in the broker's own view: what its last answered heartbeat said, however long ago that is.
    pub fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// Sends what is due, if a controller is known. Called after every event.
    pub fn drive(
        &mut self,
        ctx: &mut Ctx<'_>,
        conns: &mut Connections<BrokerCall>,
        controller: Option<ControllerId>,
        applied_to: Offset,
    ) {
        if !self.due || self.in_flight || self.state == BrokerState::ShuttingDown {
            return;
        }
        let now = ctx.now;
        let patience = self.patience();
        let until = *self.try_until.get_or_insert(now + patience);
        if now >= until {
            return self.rest(ctx);
        }
        // Without a controller nothing is tried until one is known or the time for it is over.
        let Some(controller) = controller else { return self.arm(ctx, until.since(now), true) };
        let (request, call) = self.request(applied_to);
        self.due = false;
        self.in_flight = true;
        ctx.cancel(&Timer::Broker(self.timer()));
        conns.request(ctx, NodeId::Controller(controller), Channel::Lifecycle, request, until.since(now), call);
    }

    fn request(&self, applied_to: Offset) -> (Request, BrokerCall) {
        let want_shut_down = self.state == BrokerState::PendingControlledShutdown;
        match self.epoch {
            None => {
                let request = BrokerRegistrationRequest {
                    broker: self.id,
                    incarnation: self.incarnation,
                    rack: self.rack.clone(),
                    directory: self.directory,
                    previous_broker_epoch: self.previous_epoch,
                };
                (Request::Controller(ControllerRequest::BrokerRegistration(request)), BrokerCall::Registration)
            }
            Some(epoch) => {
                let request = BrokerHeartbeatRequest {
                    broker: self.id,
                    epoch,
                    current_metadata_offset: applied_to,
                    want_fence: !self.is_ready,
                    want_shut_down,
                };
                (
                    Request::Controller(ControllerRequest::BrokerHeartbeat(request)),
                    BrokerCall::Heartbeat { want_shut_down },
                )
            }
        }
    }

    /// The answer to a registration or a heartbeat, or that there is none.
    pub fn on_outcome(&mut self, ctx: &mut Ctx<'_>, call: &BrokerCall, outcome: Outcome) -> Step {
        self.in_flight = false;
        match outcome {
            Outcome::Answer(Response::Controller(ControllerResponse::BrokerRegistration {
                error: ErrorCode::None,
                epoch,
            })) => self.on_registered(ctx, epoch),
            Outcome::Answer(Response::Controller(ControllerResponse::BrokerHeartbeat {
                error: ErrorCode::None,
                is_caught_up,
                is_fenced,
                should_shut_down,
            })) => {
                let asked = matches!(call, BrokerCall::Heartbeat { want_shut_down: true });
                self.on_heartbeat(ctx, is_caught_up, is_fenced, asked.then_some(should_shut_down))
            }
            Outcome::Answer(Response::Controller(
                ControllerResponse::BrokerRegistration { error, .. }
                | ControllerResponse::BrokerHeartbeat { error, .. },
            )) if error != ErrorCode::NotController => {
                self.was_refused = true;
                self.rest(ctx);
                Step::Nothing
            }
            // The controller is another one, or gone: tried again while there is time.
            Outcome::Answer(_) | Outcome::Failed(_) => {
                self.try_again(ctx);
                Step::Nothing
            }
        }
    }

    fn on_registered(&mut self, ctx: &mut Ctx<'_>, epoch: BrokerEpoch) -> Step {
        ctx.cancel(&Timer::Broker(BrokerTimer::RegistrationLimit));
        ctx.cancel(&Timer::Broker(BrokerTimer::Registration));
        self.epoch = Some(epoch);
        self.succeeded();
        let (least, most) = if self.was_refused { LATE_LOADING } else { LOG_LOADING };
        let loading = ctx.rng.between(least, most);
        ctx.set(Timer::Broker(BrokerTimer::LogsLoaded), loading);
        self.due = true;
        Step::Registered(epoch)
    }

    fn on_heartbeat(&mut self, ctx: &mut Ctx<'_>, is_caught_up: bool, is_fenced: bool, may_stop: Option<bool>) -> Step {
        self.succeeded();
        self.fenced = is_fenced;
        let interval = self.config.broker_heartbeat_interval;
        match self.state {
            BrokerState::Starting => {
                // Once it has caught up there is nothing to hurry for but its own logs.
                let pause = if self.is_caught_up { interval } else { STARTING_HEARTBEAT };
                self.is_caught_up = is_caught_up;
                self.arm(ctx, pause, false);
                if is_caught_up && self.is_loaded {
                    return self.recover(ctx);
                }
            }
            BrokerState::Recovery => {
                if !is_fenced && let Some(epoch) = self.epoch {
                    self.state = BrokerState::Running;
                    ctx.because(Kind::BrokerRunning { epoch });
                }
                self.arm(ctx, interval, false);
            }
            BrokerState::Running => self.arm(ctx, interval, false),
            BrokerState::PendingControlledShutdown => match may_stop {
                Some(true) => return self.stop(),
                Some(false) => {
                    self.n_refused_shutdowns += 1;
                    let pause = if self.n_refused_shutdowns == 1 { SHUTDOWN_HEARTBEAT_RETRY } else { interval };
                    self.arm(ctx, pause, false);
                }
                // The answer to a heartbeat from before the signal.
                None => self.due = true,
            },
            BrokerState::ShuttingDown => {}
        }
        self.due |= core::mem::take(&mut self.at_once);
        Step::Nothing
    }

    /// SIGTERM. A broker that runs asks the controller to move its leaderships first, any other stops at once.
    pub fn begin_shutdown(&mut self, ctx: &mut Ctx<'_>) -> Step {
        match self.state {
            BrokerState::Running => {
                self.state = BrokerState::PendingControlledShutdown;
                ctx.set(Timer::Broker(BrokerTimer::ShutdownLimit), SHUTDOWN_LIMIT);
                self.failures = 0;
                self.due = true;
                Step::Nothing
            }
            BrokerState::Starting | BrokerState::Recovery => self.stop(),
            BrokerState::PendingControlledShutdown | BrokerState::ShuttingDown => Step::Nothing,
        }
    }

    fn stop(&mut self) -> Step {
        self.state = BrokerState::ShuttingDown;
        self.due = false;
        Step::ShutDown
    }

    pub fn on_timer(&mut self, ctx: &mut Ctx<'_>, timer: &BrokerTimer) -> Step {
        if *timer == BrokerTimer::LogsLoaded {
            return self.on_loaded(ctx);
        }
        if *timer == BrokerTimer::RegistrationLimit {
            return if self.epoch.is_none() { Step::GiveUp } else { Step::Nothing };
        }
        if *timer == BrokerTimer::ShutdownLimit {
            // No answer is waited for: a controller that never answers must not keep the process.
            return if self.state == BrokerState::PendingControlledShutdown { self.stop() } else { Step::Nothing };
        }
        self.due = true;
        Step::Nothing
    }

    /// The logs are loaded, then the ports open: the controller hears of that by a heartbeat at once
    /// (setReadyToUnfence).
    fn on_loaded(&mut self, ctx: &mut Ctx<'_>) -> Step {
        self.is_loaded = true;
        match self.state {
            BrokerState::Starting if self.is_caught_up => self.recover(ctx),
            BrokerState::Recovery => {
                self.is_ready = true;
                (self.due, self.at_once) = (true, self.in_flight);
                Step::Nothing
            }
            BrokerState::Starting
            | BrokerState::Running
            | BrokerState::PendingControlledShutdown
            | BrokerState::ShuttingDown => Step::Nothing,
        }
    }

    fn recover(&mut self, ctx: &mut Ctx<'_>) -> Step {
        self.state = BrokerState::Recovery;
        ctx.set(Timer::Broker(BrokerTimer::LogsLoaded), OPENING);
        Step::CaughtUp
    }

    fn succeeded(&mut self) {
        self.failures = 0;
        self.try_until = None;
    }

    /// How long one request is tried before the broker rests (KAFKA-14392 before 4.1).
    fn patience(&self) -> Dur {
        match self.rules.lifecycle_retry {
            LifecycleRetry::Fixed => self.config.broker_heartbeat_interval,
            LifecycleRetry::Exponential => self.config.broker_session_timeout.scaled(1, 2),
        }
    }

    fn try_again(&mut self, ctx: &mut Ctx<'_>) {
        let left = self.try_until.map_or(Dur::ZERO, |until| until.since(ctx.now));
        if left <= CONNECT_RETRY { self.rest(ctx) } else { self.arm(ctx, CONNECT_RETRY, false) }
    }

    /// A try failed: the next one comes after a pause, never at once.
    fn rest(&mut self, ctx: &mut Ctx<'_>) {
        self.try_until = None;
        self.at_once = false;
        let pause = match self.rules.lifecycle_retry {
            LifecycleRetry::Fixed => self.config.broker_heartbeat_interval,
            LifecycleRetry::Exponential => {
                let pause = FIRST_BACKOFF.scaled(1 << self.failures.min(16), 1).min(self.config.broker_session_timeout);
                ctx.rng.jitter(pause, 2)
            }
        };
        self.failures += 1;
        self.arm(ctx, pause, false);
    }

    fn timer(&self) -> BrokerTimer {
        if self.epoch.is_some() { BrokerTimer::Heartbeat } else { BrokerTimer::Registration }
    }

    /// Looks again after a span. `due`: also before, when something happens.
    fn arm(&mut self, ctx: &mut Ctx<'_>, after: Dur, due: bool) {
        self.due = due;
        ctx.set(Timer::Broker(self.timer()), after);
    }
}

#[cfg(test)]
impl Lifecycle {
    /// As if the controller had said that the metadata is applied far enough.
    pub fn catch_up(&mut self) {
        self.state = BrokerState::Recovery;
        self.is_ready = true;
    }
}
