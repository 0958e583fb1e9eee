//! Three controllers over a network: what a failover keeps, reverts and starts anew. The brokers are probes that only
//! ask.

use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::{Controller, ControllerStart};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, Dur, Incarnation, NodeId, SimTime};
use crate::node::{Channel, Completed, Connections, Ctx, Event, Outcome, Timer};
use crate::protocol::config::{NodeConfig, config_map};
use crate::protocol::{
    BrokerHeartbeatRequest, BrokerRegistrationRequest, ClusterRequest, ClusterResponse, ControllerRequest,
    ControllerResponse, CreateTopicRequest, ErrorCode, Placement, Request, Response,
};
use crate::quorum::network::{Network, Process};
use crate::rules::Version;
use crate::trace::Kind;

enum Proc {
    Controller(alloc::boxed::Box<Controller>),
    Probe { conns: Connections<u32>, outcomes: Vec<(u32, Outcome)> },
}

const VOTERS: [ControllerId; 3] = [ControllerId(1), ControllerId(2), ControllerId(3)];

fn c(id: u32) -> NodeId {
    NodeId::Controller(ControllerId(id))
}
const PROBE: NodeId = NodeId::Broker(BrokerId(1));

fn start(ctx: &mut Ctx<'_>, node: NodeId, incarnation: Incarnation) -> Proc {
    match node {
        NodeId::Controller(id) => {
            let config = Rc::new(NodeConfig::parse(&config_map(&[])).expect("the defaults are valid"));
            Proc::Controller(alloc::boxed::Box::new(Controller::start(
                ctx,
                ControllerStart { id, incarnation, config, rules: Version::V4_1.rules(), voters: VOTERS.to_vec() },
            )))
        }
        NodeId::Broker(_) | NodeId::Client(_) => {
            Proc::Probe { conns: Connections::new(node, incarnation.0 << 20), outcomes: Vec::new() }
        }
    }
}

impl Process for Proc {
    fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match self {
            Proc::Controller(controller) => controller.on_event(ctx, event),
            Proc::Probe { conns, outcomes } => {
                let done: Vec<Completed<u32>> = match event {
                    Event::Response { conn, correlation, body } => {
                        conns.on_response(ctx, conn, correlation, body).into_iter().collect()
                    }
                    Event::Disconnected { conn } => conns.on_disconnected(ctx, conn),
                    Event::Timer(Timer::RequestTimeout(conn)) => conns.on_request_timeout(ctx, conn),
                    Event::Timer(_)
                    | Event::Request { .. }
                    | Event::Connected { .. }
                    | Event::Reset { .. }
                    | Event::Shutdown
                    | Event::Command(_) => Vec::new(),
                };
                outcomes.extend(done.into_iter().map(|d| (d.token, d.outcome)));
            }
        }
    }
}

type Net = Network<Proc>;

fn cluster(seed: u64) -> Net {
    let mut net =
        Network::new(seed, &[c(1), c(2), c(3), PROBE], start as fn(&mut Ctx<'_>, NodeId, Incarnation) -> Proc);
    wait_for_active(&mut net);
    net
}

fn controller(net: &Net, id: ControllerId) -> &Controller {
    match net.get(NodeId::Controller(id)) {
        Some(Proc::Controller(controller)) => controller,
        Some(Proc::Probe { .. }) | None => panic!("controller {id} runs"),
    }
}

fn active(net: &Net) -> Option<ControllerId> {
    VOTERS
        .into_iter()
        .filter(|id| matches!(net.get(NodeId::Controller(*id)), Some(Proc::Controller(c)) if c.is_active()))
        .max_by_key(|id| controller(net, *id).epoch())
}

fn wait_for_active(net: &mut Net) -> ControllerId {
    for _ in 0..300 {
        if let Some(id) = active(net) {
            return id;
        }
        net.run_for(Dur::ms(100));
    }
    panic!("no active controller within 30 s");
}

fn send(net: &mut Net, to: ControllerId, token: u32, body: Request) {
    net.with(PROBE, |proc, ctx| match proc {
        Proc::Probe { conns, .. } => {
            conns.request(ctx, NodeId::Controller(to), Channel::Forward, body, Dur::secs(30), token);
        }
        Proc::Controller(_) => panic!("not the probe"),
    });
}

fn outcome(net: &Net, token: u32) -> Option<Outcome> {
    match net.get(PROBE) {
        Some(Proc::Probe { outcomes, .. }) => outcomes.iter().find(|(t, _)| *t == token).map(|(_, o)| o.clone()),
        Some(Proc::Controller(_)) | None => None,
    }
}

fn topic(name: &str) -> Request {
    let placement = Placement::Manual(vec![(0, vec![BrokerId(1)])]);
    Request::Controller(ControllerRequest::Envelope(ClusterRequest::CreateTopics(CreateTopicRequest {
        name: name.into(),
        placement,
        configs: config_map(&[]),
        timeout: Dur::secs(30),
    })))
}

fn created(error: ErrorCode) -> Option<Outcome> {
    Some(Outcome::Answer(Response::Cluster(ClusterResponse::CreateTopics(error.into()))))
}

fn broker_up(net: &mut Net, to: ControllerId) -> BrokerEpoch {
    send(
        net,
        to,
        1,
        Request::Controller(ControllerRequest::BrokerRegistration(BrokerRegistrationRequest {
            broker: BrokerId(1),
            incarnation: Incarnation(1),
            rack: None,
            directory: 0,
            previous_broker_epoch: None,
        })),
    );
    net.run_for(Dur::ms(50));
    let Some(Outcome::Answer(Response::Controller(ControllerResponse::BrokerRegistration {
        error: ErrorCode::None,
        epoch,
    }))) = outcome(net, 1)
    else {
        panic!("registered")
    };
    beat(net, to, epoch);
    net.run_for(Dur::ms(50));
    epoch
}

fn beat(net: &mut Net, to: ControllerId, epoch: BrokerEpoch) {
    let heartbeat = BrokerHeartbeatRequest {
        broker: BrokerId(1),
        epoch,
        current_metadata_offset: 1_000,
        want_fence: false,
        want_shut_down: false,
    };
    send(net, to, 2, Request::Controller(ControllerRequest::BrokerHeartbeat(heartbeat)));
}

fn isolate(net: &mut Net, id: ControllerId) {
    for other in VOTERS.into_iter().filter(|v| *v != id) {
        net.cut(NodeId::Controller(id), NodeId::Controller(other));
    }
}

#[test]
fn answers_come_when_a_majority_has_the_records() {
    let mut net = cluster(1);
    let first = active(&net).expect("active");
    broker_up(&mut net, first);
    send(&mut net, first, 10, topic("t"));
    net.run_for(Dur::us(700));
    assert_eq!(outcome(&net, 10), None);
    assert!(controller(&net, first).image().topic_id("t").is_some(), "in memory at once");
    net.run_for(Dur::ms(10));
    assert_eq!(outcome(&net, 10), created(ErrorCode::None));
    net.run_for(Dur::ms(10));
    for id in VOTERS {
        assert!(controller(&net, id).image().topic_id("t").is_some(), "at controller {id}");
    }
    let inactive = VOTERS.into_iter().find(|id| *id != first).expect("another");
    send(&mut net, inactive, 11, topic("u"));
    net.run_for(Dur::ms(10));
    assert_eq!(outcome(&net, 11), created(ErrorCode::NotController));
}

#[test]
fn c_20_an_isolated_controller_takes_its_decisions_back() {
    for seed in 0..10 {
        let mut net = cluster(seed);
        let old = active(&net).expect("active");
        broker_up(&mut net, old);
        isolate(&mut net, old);
        send(&mut net, old, 10, topic("lost"));
        net.run_for(Dur::ms(100));
        assert!(controller(&net, old).image().topic_id("lost").is_some());
        assert_eq!(outcome(&net, 10), None, "it cannot commit");
        net.run_for(Dur::secs(10));
        assert_eq!(outcome(&net, 10), created(ErrorCode::NotController), "told when it resigned");
        assert!(controller(&net, old).image().topic_id("lost").is_none());
        let new = active(&net).expect("the others have elected");
        assert_ne!(new, old);
        net.heal();
        net.run_for(Dur::secs(5));
        let new = active(&net).expect("active");
        assert_eq!(controller(&net, old).image().topics, controller(&net, new).image().topics);
        assert_eq!(controller(&net, old).image().brokers, controller(&net, new).image().brokers);
    }
}

#[test]
fn c_14_a_failover_starts_sessions_anew() {
    for seed in 0..10 {
        let mut net = cluster(seed);
        let first = active(&net).expect("active");
        let epoch = broker_up(&mut net, first);
        beat(&mut net, first, epoch);
        net.run_for(Dur::secs(5));
        net.kill(NodeId::Controller(first));
        net.run_for(Dur::ms(100));
        let second = wait_for_active(&mut net);
        let since = net
            .kinds()
            .filter(|(_, who, k)| *who == NodeId::Controller(second) && matches!(k, Kind::ControllerActivated { .. }))
            .map(|(at, _, _)| at)
            .last()
            .expect("activated");
        net.run_until(since + Dur::secs(30));
        let fenced: Vec<SimTime> =
            net.kinds().filter(|(_, _, k)| matches!(k, Kind::BrokerFenced { .. })).map(|(at, _, _)| at).collect();
        assert_eq!(fenced.len(), 1);
        let after = fenced[0].since(since);
        assert!(after > Dur::secs(9) && after < Dur::ms(10_200), "{after:?}, seed {seed}");
    }
}

#[test]
fn a_stopped_controller_hands_over_and_ends() {
    let mut net = cluster(2);
    let first = active(&net).expect("active");
    net.run_for(Dur::secs(2));
    net.with(NodeId::Controller(first), |proc, ctx| proc.on_event(ctx, Event::Shutdown));
    net.run_for(Dur::secs(1));
    assert!(net.get(NodeId::Controller(first)).is_none());
    assert!(active(&net).is_some(), "the next one is active within a second");
}

#[test]
fn an_idle_cluster_writes_little() {
    let mut net = cluster(3);
    let first = active(&net).expect("active");
    let before = net.disk(NodeId::Controller(first)).metadata_log.end_offset();
    net.run_for(Dur::secs(60));
    let written = net.disk(NodeId::Controller(first)).metadata_log.end_offset() - before;
    assert!((118..=121).contains(&written), "a NoOp each 500 ms: {written}");
}
