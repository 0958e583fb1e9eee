//! Registration, heartbeats and controlled shutdown. The controller's side is played by hand.

use alloc::vec::Vec;

use super::{CONTROLLER, ME, config, ms, node, sent};
use crate::base::{BrokerEpoch, Incarnation, NodeId, SimTime};
use crate::broker::lifecycle::{Lifecycle, Step};
use crate::broker::{BrokerCall, BrokerState};
use crate::node::testing::TestNode;
use crate::node::{BrokerTimer, Connections, Outcome, Timer};
use crate::protocol::{ControllerRequest, ControllerResponse, ErrorCode, Request, Response};
use crate::rules::Version;
use crate::trace::{Failure, Kind};

struct Bench {
    node: TestNode,
    conns: Connections<BrokerCall>,
    lifecycle: Lifecycle,
    connected: bool,
}

impl Bench {
    fn new(version: Version) -> Bench {
        Bench::with_disk(version, node())
    }

    fn with_disk(version: Version, mut node: TestNode) -> Bench {
        let lifecycle = Lifecycle::start(&mut node.ctx(), ME, Incarnation(3), None, config(&[]), version.rules());
        let mut bench = Bench { node, conns: Connections::new(NodeId::Broker(ME), 0), lifecycle, connected: true };
        bench.come_up();
        bench
    }

    /// Lets the process come up: its first registration is due.
    fn come_up(&mut self) {
        assert!(self.drive().is_empty(), "a process that has just started does not register yet");
        self.fire(BrokerTimer::Registration);
    }

    fn fire(&mut self, timer: BrokerTimer) {
        let at = self.node.timers.due_at(&Timer::Broker(timer.clone())).expect("it is armed");
        self.node.now = at;
        self.node.ctx().cancel(&Timer::Broker(timer.clone()));
        assert_eq!(self.lifecycle.on_timer(&mut self.node.ctx(), &timer), Step::Nothing);
    }

    /// What is sent now.
    fn drive(&mut self) -> Vec<Request> {
        let controller = CONTROLLER.filter(|_| self.connected);
        self.lifecycle.drive(&mut self.node.ctx(), &mut self.conns, controller, 10);
        sent(&mut self.node)
    }

    fn answer(&mut self, want_shut_down: bool, response: Response) -> Step {
        self.outcome(want_shut_down, Outcome::Answer(response))
    }

    fn outcome(&mut self, want_shut_down: bool, outcome: Outcome) -> Step {
        let call = if self.lifecycle.epoch().is_some() {
            BrokerCall::Heartbeat { want_shut_down }
        } else {
            BrokerCall::Registration
        };
        self.lifecycle.on_outcome(&mut self.node.ctx(), &call, outcome)
    }

    fn register(&mut self) {
        assert!(matches!(self.drive()[..], [Request::Controller(ControllerRequest::BrokerRegistration(_))]));
        let step = self.answer(
            false,
            Response::Controller(ControllerResponse::BrokerRegistration {
                error: ErrorCode::None,
                epoch: BrokerEpoch(9),
            }),
        );
        assert_eq!(step, Step::Registered(BrokerEpoch(9)));
        self.fire(BrokerTimer::LogsLoaded);
    }

    fn heartbeat(&mut self, caught_up: bool, fenced: bool, may_stop: bool) -> Step {
        let sent = self.drive();
        let [Request::Controller(ControllerRequest::BrokerHeartbeat(request))] = &sent[..] else { panic!("{sent:?}") };
        let want_shut_down = request.want_shut_down;
        self.answer(want_shut_down, beat(caught_up, fenced, may_stop))
    }

    fn run(&mut self) {
        self.register();
        assert_eq!(self.heartbeat(true, true, false), Step::CaughtUp);
        self.fire(BrokerTimer::LogsLoaded);
        assert_eq!(self.heartbeat(true, false, false), Step::Nothing);
        assert_eq!(self.lifecycle.state(), BrokerState::Running);
    }

    /// Lets time pass to the lifecycle's next timer and returns how many milliseconds that took.
    fn next(&mut self) -> u64 {
        let timers = [BrokerTimer::Registration, BrokerTimer::Heartbeat];
        let (at, timer) = timers
            .iter()
            .filter_map(|t| self.node.timers.due_at(&Timer::Broker(t.clone())).map(|at| (at, t.clone())))
            .min()
            .expect("a timer is armed");
        let took = at.since(self.node.now);
        self.node.now = at;
        self.node.ctx().cancel(&Timer::Broker(timer.clone()));
        assert_eq!(self.lifecycle.on_timer(&mut self.node.ctx(), &timer), Step::Nothing);
        took.as_ms()
    }
}

fn beat(is_caught_up: bool, is_fenced: bool, should_shut_down: bool) -> Response {
    Response::Controller(ControllerResponse::BrokerHeartbeat {
        error: ErrorCode::None,
        is_caught_up,
        is_fenced,
        should_shut_down,
    })
}

fn duplicate() -> Response {
    Response::Controller(ControllerResponse::BrokerRegistration {
        error: ErrorCode::DuplicateBrokerRegistration,
        epoch: BrokerEpoch(-1),
    })
}

#[test]
fn kip_631_a_broker_goes_from_starting_to_running() {
    let mut bench = Bench::new(Version::V4_1);
    bench.register();
    assert_eq!(bench.lifecycle.state(), BrokerState::Starting);
    let request = bench.drive();
    assert!(matches!(
        &request[..],
        [Request::Controller(ControllerRequest::BrokerHeartbeat(r))]
            if r.want_fence && r.epoch == BrokerEpoch(9) && r.current_metadata_offset == 10
    ));
    assert_eq!(bench.answer(false, beat(false, true, false)), Step::Nothing);
    assert_eq!(bench.next(), 10, "while it starts, heartbeats follow each other fast");
    assert_eq!(bench.heartbeat(true, true, false), Step::CaughtUp);
    assert_eq!(bench.lifecycle.state(), BrokerState::Recovery);
    bench.fire(BrokerTimer::LogsLoaded);
    let request = bench.drive();
    assert!(matches!(&request[..], [Request::Controller(ControllerRequest::BrokerHeartbeat(r))] if !r.want_fence));
    bench.answer(false, beat(true, false, false));
    assert_eq!((bench.lifecycle.state(), bench.lifecycle.is_fenced()), (BrokerState::Running, false));
    assert!(bench.node.trace.iter().any(|e| e.kind == Kind::BrokerRunning { epoch: BrokerEpoch(9) }));
    assert_eq!(bench.next(), 2_000);
}

#[test]
fn a_broker_that_has_caught_up_beats_slowly_until_its_logs_are_loaded_and_then_at_once() {
    let start = || {
        let mut bench = Bench::new(Version::V4_1);
        assert!(matches!(bench.drive()[..], [Request::Controller(ControllerRequest::BrokerRegistration(_))]));
        bench.answer(
            false,
            Response::Controller(ControllerResponse::BrokerRegistration {
                error: ErrorCode::None,
                epoch: BrokerEpoch(9),
            }),
        );
        assert_eq!(bench.heartbeat(false, true, false), Step::Nothing);
        bench
    };
    let load = |bench: &mut Bench| bench.lifecycle.on_timer(&mut bench.node.ctx(), &BrokerTimer::LogsLoaded);
    let mut bench = start();
    assert_eq!((bench.next(), bench.heartbeat(true, true, false)), (10, Step::Nothing));
    assert_eq!((bench.next(), bench.heartbeat(true, true, false)), (10, Step::Nothing));
    assert_eq!(bench.lifecycle.state(), BrokerState::Starting);
    assert_eq!(bench.next(), 2_000);
    let wants_fence = |sent: &[Request]| match sent {
        [Request::Controller(ControllerRequest::BrokerHeartbeat(request))] => request.want_fence,
        other => panic!("{other:?}"),
    };
    assert!(wants_fence(&bench.drive()));
    assert_eq!(load(&mut bench), Step::CaughtUp);
    bench.fire(BrokerTimer::LogsLoaded);
    assert!(bench.drive().is_empty(), "one is in flight");
    bench.answer(false, beat(true, true, false));
    assert!(!wants_fence(&bench.drive()), "it follows the answer at once");
    bench.answer(false, beat(true, false, false));
    assert_eq!((bench.lifecycle.state(), bench.next()), (BrokerState::Running, 2_000));

    let mut idle = start();
    idle.next();
    idle.heartbeat(true, true, false);
    assert_eq!(load(&mut idle), Step::CaughtUp);
    assert!(idle.drive().is_empty(), "its ports are not open");
    idle.fire(BrokerTimer::LogsLoaded);
    assert!(!wants_fence(&idle.drive()), "none is in flight");

    let mut late = start();
    assert_eq!(load(&mut late), Step::Nothing, "the metadata is not applied yet");
    late.next();
    assert_eq!(late.heartbeat(true, true, false), Step::CaughtUp);
}

#[test]
fn kip_966_the_clean_marker_is_sent_and_is_gone_after_the_start() {
    let mut node = node();
    node.disk.clean_shutdown = Some(BrokerEpoch(4));
    let mut bench = Bench::with_disk(Version::V4_1, node);
    assert_eq!(bench.node.disk.clean_shutdown, None);
    assert!(matches!(
        &bench.drive()[..],
        [Request::Controller(ControllerRequest::BrokerRegistration(r))]
            if r.previous_broker_epoch == Some(BrokerEpoch(4)) && r.incarnation == Incarnation(3)
    ));
}

#[test]
fn c_10_a_refused_registration_is_repeated_every_two_seconds() {
    let mut bench = Bench::new(Version::V4_1);
    for _ in 0..5 {
        assert_eq!(bench.drive().len(), 1);
        assert_eq!(bench.answer(false, duplicate()), Step::Nothing);
        assert!(bench.drive().is_empty());
        assert_eq!(bench.next(), 2_000);
    }
}

#[test]
fn c_10_before_4_1_a_refused_registration_is_repeated_with_growing_pauses() {
    let mut bench = Bench::new(Version::V3_9);
    for expected in [100u64, 200, 400, 800, 1_600, 3_200, 6_400, 9_000, 9_000] {
        assert_eq!(bench.drive().len(), 1);
        bench.answer(false, duplicate());
        let pause = bench.next();
        assert!(pause * 100 >= expected * 98 - 100 && pause * 100 <= expected * 102, "{pause} instead of {expected}");
    }
}

#[test]
fn c_19_a_stale_epoch_is_no_reason_to_stop() {
    let mut bench = Bench::new(Version::V4_1);
    bench.run();
    bench.next();
    bench.drive();
    let stale = Response::Controller(ControllerResponse::BrokerHeartbeat {
        error: ErrorCode::StaleBrokerEpoch,
        is_caught_up: false,
        is_fenced: true,
        should_shut_down: false,
    });
    assert_eq!(bench.answer(false, stale), Step::Nothing);
    assert_eq!(bench.lifecycle.state(), BrokerState::Running);
    assert_eq!(bench.next(), 2_000);
}

#[test]
fn c_28_heartbeats_into_a_cut_are_tried_for_two_seconds_and_rest_for_two() {
    let mut bench = Bench::new(Version::V4_1);
    bench.run();
    bench.next();
    assert_eq!(bench.drive().len(), 1);
    bench.node.now += ms(2_000);
    bench.outcome(false, Outcome::Failed(Failure::TimedOut));
    assert!(bench.drive().is_empty());
    assert_eq!(bench.next(), 2_000);
    assert_eq!(bench.drive().len(), 1);
    assert!(!bench.lifecycle.is_fenced(), "in its own view it is not fenced");
}

#[test]
fn before_4_1_a_heartbeat_is_given_half_the_session() {
    let mut bench = Bench::new(Version::V3_6);
    let up = bench.node.now;
    bench.run();
    bench.next();
    let from = bench.node.now;
    bench.drive();
    let deadline =
        bench.node.timers.iter().find(|(_, timer)| matches!(timer, Timer::RequestTimeout(_))).map(|(at, _)| at);
    // The connection's timer is that of its oldest request: the ones before it were answered by hand.
    assert_eq!(deadline, Some(up + ms(4_500)));
    bench.node.now = from + ms(4_500);
    bench.outcome(false, Outcome::Failed(Failure::TimedOut));
    assert!(bench.next() <= 102);
}

#[test]
fn a_controller_that_is_gone_is_tried_each_50_ms_for_a_while() {
    let mut bench = Bench::new(Version::V4_1);
    bench.run();
    bench.next();
    let from = bench.node.now;
    let mut n_tries = 0;
    loop {
        assert_eq!(bench.drive().len(), 1);
        n_tries += 1;
        bench.outcome(false, Outcome::Failed(Failure::Disconnected));
        if bench.next() != 50 {
            break;
        }
    }
    assert_eq!(n_tries, 40);
    assert_eq!(bench.node.now.since(from), ms(3_950), "the last try is followed by the rest");
}

#[test]
fn a_broker_without_controller_waits_and_sends_as_soon_as_one_is_known() {
    let mut bench = Bench::new(Version::V4_1);
    bench.connected = false;
    assert!(bench.drive().is_empty());
    bench.node.now += ms(700);
    bench.connected = true;
    assert_eq!(bench.drive().len(), 1);
}

#[test]
fn a_broker_that_cannot_register_gives_up() {
    let mut bench = Bench::new(Version::V4_1);
    bench.connected = false;
    bench.drive();
    assert_eq!(
        bench.node.timers.due_at(&Timer::Broker(BrokerTimer::RegistrationLimit)),
        Some(SimTime::ZERO + ms(60_000))
    );
    assert_eq!(bench.lifecycle.on_timer(&mut bench.node.ctx(), &BrokerTimer::RegistrationLimit), Step::GiveUp);
    let mut bench = Bench::new(Version::V4_1);
    bench.register();
    assert_eq!(bench.node.timers.due_at(&Timer::Broker(BrokerTimer::RegistrationLimit)), None);
}

#[test]
fn c_24_a_clean_stop_asks_at_once_then_after_50_ms_then_every_two_seconds() {
    let mut bench = Bench::new(Version::V4_1);
    bench.run();
    assert_eq!(bench.lifecycle.begin_shutdown(&mut bench.node.ctx()), Step::Nothing);
    assert_eq!(bench.lifecycle.state(), BrokerState::PendingControlledShutdown);
    assert_eq!(bench.heartbeat(true, false, false), Step::Nothing);
    assert_eq!(bench.next(), 50);
    assert_eq!(bench.heartbeat(true, false, false), Step::Nothing);
    assert_eq!(bench.next(), 2_000);
    assert_eq!(bench.heartbeat(true, false, true), Step::ShutDown);
    assert_eq!(bench.lifecycle.state(), BrokerState::ShuttingDown);
    assert!(bench.drive().is_empty());
}

#[test]
fn a_heartbeat_that_is_on_its_way_at_the_signal_is_followed_at_once() {
    let mut bench = Bench::new(Version::V4_1);
    bench.run();
    bench.next();
    bench.drive();
    bench.lifecycle.begin_shutdown(&mut bench.node.ctx());
    assert!(bench.drive().is_empty(), "one request at a time");
    bench.answer(false, beat(true, false, false));
    assert!(
        matches!(&bench.drive()[..], [Request::Controller(ControllerRequest::BrokerHeartbeat(r))] if r.want_shut_down)
    );
}

#[test]
fn a_broker_that_does_not_run_yet_stops_at_once() {
    let mut bench = Bench::new(Version::V4_1);
    bench.drive();
    assert_eq!(bench.lifecycle.begin_shutdown(&mut bench.node.ctx()), Step::ShutDown);
}

/// Lets the lifecycle live on until the limit of its controlled shutdown, with a controller that answers or without.
fn stop_without_permission(answered: bool) -> u64 {
    let mut bench = Bench::new(Version::V4_1);
    bench.run();
    let from = bench.node.now;
    assert_eq!(bench.lifecycle.begin_shutdown(&mut bench.node.ctx()), Step::Nothing);
    let limit = Timer::Broker(BrokerTimer::ShutdownLimit);
    let at = bench.node.timers.due_at(&limit).expect("it is armed");
    bench.connected = answered;
    while bench.node.now < at {
        if answered {
            assert_eq!(bench.heartbeat(true, false, false), Step::Nothing);
        } else {
            assert!(bench.drive().is_empty());
        }
        let beat = bench.node.timers.due_at(&Timer::Broker(BrokerTimer::Heartbeat)).expect("it goes on trying");
        if beat >= at {
            break;
        }
        bench.next();
    }
    bench.node.now = at;
    assert_eq!(bench.lifecycle.on_timer(&mut bench.node.ctx(), &BrokerTimer::ShutdownLimit), Step::ShutDown);
    assert_eq!(bench.lifecycle.state(), BrokerState::ShuttingDown);
    bench.node.now.since(from).as_ms()
}

#[test]
fn c_32_a_broker_that_nobody_lets_go_stops_after_five_minutes() {
    assert_eq!(stop_without_permission(true), 300_000);
}

#[test]
fn c_32_a_clean_stop_without_an_active_controller_ends_after_five_minutes() {
    assert_eq!(stop_without_permission(false), 300_000);
}
