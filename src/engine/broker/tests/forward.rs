//! Requests that a broker passes on: repetition, limits, what happens to their answers. The controller is played by
//! hand.

use super::{CONTROLLER, ME, ms, node, sent};
use crate::base::{BrokerEpoch, BrokerId, ClientId, CorrelationId, NodeId};
use crate::broker::forward::Forwarder;
use crate::broker::metadata_api::auto_create_request;
use crate::broker::{BrokerCall, ReplyTo};
use crate::node::testing::TestNode;
use crate::node::{BrokerTimer, Channel, ConnId, Connections, Outcome, Timer};
use crate::protocol::{
    BrokerResponse, ClusterRequest, ClusterResponse, ControllerRequest, ControllerResponse, ErrorCode, Request,
    Response,
};
use crate::trace::Failure;

struct Bench {
    node: TestNode,
    conns: Connections<BrokerCall>,
    forwarder: Forwarder,
}

fn reply() -> ReplyTo {
    let conn = ConnId {
        client: NodeId::Client(ClientId(1)),
        server: NodeId::Broker(ME),
        channel: Channel::Client,
        generation: 1,
    };
    ReplyTo { conn, correlation: CorrelationId(1) }
}

fn delete() -> ClusterRequest {
    ClusterRequest::DeleteTopics { name: "t".into() }
}

impl Bench {
    fn new() -> Bench {
        Bench { node: node(), conns: Connections::new(NodeId::Broker(ME), 0), forwarder: Forwarder::new(ME) }
    }
    fn forward(&mut self, request: ClusterRequest) {
        self.forwarder.forward(&self.node.ctx(), reply(), request);
    }
    fn n_sent(&mut self, headless: bool) -> usize {
        self.forwarder.drive(&mut self.node.ctx(), &mut self.conns, CONTROLLER.filter(|_| !headless));
        sent(&mut self.node).len()
    }
    fn outcome(&mut self, outcome: Outcome) {
        self.forwarder.on_outcome(&mut self.node.ctx(), outcome);
    }
    fn retry(&mut self) {
        let timer = Timer::Broker(BrokerTimer::ForwardRetry);
        self.node.now = self.node.timers.due_at(&timer).expect("the next try is armed");
        self.node.ctx().cancel(&timer);
        self.forwarder.on_timer();
    }
}

#[test]
fn kip_590_a_request_goes_in_an_envelope_and_its_answer_comes_back() {
    let mut bench = Bench::new();
    bench.forward(delete());
    bench.forwarder.drive(&mut bench.node.ctx(), &mut bench.conns, CONTROLLER);
    assert!(matches!(
        &sent(&mut bench.node)[..],
        [Request::Controller(ControllerRequest::Envelope(inner))] if *inner == delete()
    ));
    bench.outcome(Outcome::Answer(Response::Cluster(ClusterResponse::DeleteTopics(
        ErrorCode::UnknownTopicOrPartition.into(),
    ))));
    assert_eq!(
        bench.forwarder.take_answers(),
        [(reply(), Response::Cluster(ClusterResponse::DeleteTopics(ErrorCode::UnknownTopicOrPartition.into())))]
    );
    assert_eq!(bench.forwarder.waiting().count(), 0);
}

#[test]
fn c_26_a_request_is_repeated_until_a_controller_carries_it_out() {
    let mut bench = Bench::new();
    bench.forward(delete());
    for failure in [
        Outcome::Failed(Failure::Disconnected),
        Outcome::Failed(Failure::TimedOut),
        Outcome::Answer(Response::Cluster(ClusterResponse::DeleteTopics(ErrorCode::NotController.into()))),
    ] {
        assert_eq!(bench.n_sent(false), 1);
        assert_eq!(bench.n_sent(false), 0, "one at a time");
        bench.outcome(failure);
        assert_eq!(bench.n_sent(false), 0, "a pause comes first");
        bench.retry();
    }
    // No controller for 46 s; the client has long given up.
    while bench.node.now.since(Default::default()) < ms(46_000) {
        assert_eq!(bench.n_sent(true), 0);
        bench.retry();
    }
    assert!(bench.forwarder.take_answers().is_empty());
    assert_eq!(bench.n_sent(false), 1);
}

#[test]
fn a_request_is_given_up_after_a_minute() {
    let mut bench = Bench::new();
    bench.forward(delete());
    while bench.node.now.since(Default::default()) < ms(60_000) {
        assert_eq!(bench.n_sent(true), 0);
        assert!(bench.forwarder.take_answers().is_empty());
        bench.retry();
    }
    assert_eq!(bench.n_sent(false), 0);
    assert_eq!(
        bench.forwarder.take_answers(),
        [(reply(), Response::Cluster(ClusterResponse::DeleteTopics(ErrorCode::RequestTimedOut.into())))]
    );
}

#[test]
fn a_topic_is_asked_for_once_at_a_time_and_again_after_a_refusal() {
    let mut bench = Bench::new();
    let config = super::config(&[]);
    let request = auto_create_request(&"__consumer_offsets".into(), &config);
    for _ in 0..3 {
        bench.forwarder.auto_create(&bench.node.ctx(), request.clone());
    }
    assert_eq!(bench.forwarder.waiting().count(), 1);
    assert_eq!(bench.n_sent(false), 1);
    bench.outcome(Outcome::Answer(Response::Cluster(ClusterResponse::CreateTopics(
        ErrorCode::InvalidReplicationFactor.into(),
    ))));
    assert_eq!(bench.forwarder.waiting().count(), 0);
    bench.forwarder.auto_create(&bench.node.ctx(), request);
    assert_eq!(bench.n_sent(false), 1);
}

#[test]
fn a_block_of_producer_ids_is_asked_for_once() {
    let mut bench = Bench::new();
    bench.forwarder.fetch_producer_ids(&bench.node.ctx(), None);
    assert_eq!(bench.n_sent(false), 0, "a broker that is not registered has no epoch to ask with");
    for _ in 0..2 {
        bench.forwarder.fetch_producer_ids(&bench.node.ctx(), Some(BrokerEpoch(5)));
    }
    bench.forwarder.drive(&mut bench.node.ctx(), &mut bench.conns, CONTROLLER);
    assert_eq!(
        sent(&mut bench.node),
        [Request::Controller(ControllerRequest::AllocateProducerIds { broker: BrokerId(1), epoch: BrokerEpoch(5) })]
    );
    bench.outcome(Outcome::Answer(Response::Controller(ControllerResponse::AllocateProducerIds {
        error: ErrorCode::None,
        start: 2_000,
        len: 1_000,
    })));
    assert!(matches!(
        bench.forwarder.producer_ids.init_producer_id(),
        BrokerResponse::InitProducerId { error: ErrorCode::None, id, .. } if id.0 == 2_000
    ));
}
