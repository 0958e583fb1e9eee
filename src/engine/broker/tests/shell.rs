//! The shell: what a broker does with requests and metadata as a whole. Replicas have their own tests.

use alloc::vec::Vec;

use super::{ME, config, node};
use crate::base::{
    BrokerEpoch, BrokerId, ClientId, ControllerId, CorrelationId, Dur, Incarnation, LeaderEpoch, NodeId,
    PartitionEpoch, Seq, SimTime, Tag, TopicId, Tp,
};
use crate::broker::{Broker, BrokerStart, BrokerState};
use crate::node::testing::TestNode;
use crate::node::{Body, Channel, ConnId, Direction, Effect, Event};
use crate::protocol::config::{Scope, Update, config_map, settings};
use crate::protocol::{
    Acks, BrokerRequest, ClusterRequest, ClusterResponse, ConfigResource, ConfigTarget, ControllerRequest, ErrorCode,
    LeaderRecoveryState, MetadataRecord, MetadataRequest, PartitionChange, PartitionRegistration, PartitionRequest,
    Payload, ProduceRequest, ProducedTopics, Record, RecordBatch, Request, Response,
};
use crate::rules::Version;
use crate::trace::Kind;

pub fn start(node: &mut TestNode) -> Broker {
    let start = BrokerStart {
        id: ME,
        incarnation: Incarnation(1),
        rack: None,
        config: config(&[]),
        rules: Version::V4_1.rules(),
        voters: [ControllerId(7)].into(),
    };
    Broker::start(&mut node.ctx(), start)
}

/// What a broker does with a request of its one client, which asks a millisecond after its last question.
pub fn ask(broker: &mut Broker, node: &mut TestNode, body: Request) -> Vec<Effect> {
    node.now += Dur::ms(1);
    let conn = ConnId {
        client: NodeId::Client(ClientId(1)),
        server: NodeId::Broker(ME),
        channel: Channel::Client,
        generation: 1,
    };
    node.effects.clear();
    broker.on_event(&mut node.ctx(), Event::Request { conn, correlation: CorrelationId(1), body });
    core::mem::take(&mut node.effects)
}

fn metadata() -> Request {
    Request::Broker(BrokerRequest::Metadata(MetadataRequest { topics: None, allow_auto_topic_creation: false }))
}

pub fn batch(offset: i64, records: Vec<MetadataRecord>) -> RecordBatch {
    RecordBatch {
        base_offset: offset,
        epoch: 1,
        producer: None,
        timestamp: SimTime::ZERO,
        payload: Payload::Metadata(records.into()),
        origin: Seq(5),
    }
}

/// The offsets topic with one partition, led by `leader`.
pub fn offsets_topic(leader: u32) -> Vec<MetadataRecord> {
    let topic = TopicId(1);
    let registration = PartitionRegistration {
        replicas: [BrokerId(1), BrokerId(2)].into(),
        directories: Vec::new(),
        isr: [BrokerId(1), BrokerId(2)].into(),
        elr: Vec::new(),
        last_known_elr: Vec::new(),
        leader: Some(BrokerId(leader)),
        leader_recovery: LeaderRecoveryState::Recovered,
        leader_epoch: LeaderEpoch(0),
        partition_epoch: PartitionEpoch(0),
    };
    [
        MetadataRecord::Topic { name: "__consumer_offsets".into(), topic },
        MetadataRecord::Partition { tp: Tp { topic, partition: 0 }, registration },
    ]
    .into()
}

#[test]
fn a_broker_that_starts_refuses_connections() {
    let mut node = node();
    let mut broker = start(&mut node);
    assert_eq!(broker.state(), BrokerState::Starting);
    let effects = ask(&mut broker, &mut node, metadata());
    assert!(effects.iter().any(|e| matches!(e, Effect::Close { conn, .. } if conn.server == NodeId::Broker(ME))));
    assert!(!effects.iter().any(|e| matches!(e, Effect::Send { direction: Direction::Response, .. })));
}

#[test]
fn a_broker_that_has_caught_up_answers_and_refuses_what_controllers_serve() {
    let mut node = node();
    let mut broker = start(&mut node);
    broker.lifecycle.catch_up();
    let effects = ask(&mut broker, &mut node, metadata());
    assert!(effects.iter().any(|e| matches!(e, Effect::Send { body: Body::Response(_), .. })));
    let effects = ask(
        &mut broker,
        &mut node,
        Request::Controller(ControllerRequest::AllocateProducerIds { broker: ME, epoch: BrokerEpoch(0) }),
    );
    assert!(matches!(&effects[..], [Effect::Close { .. }]));
}

#[test]
fn history_is_replayed_and_acted_on_only_when_the_broker_has_caught_up() {
    let mut node = node();
    let mut broker = start(&mut node);
    broker.apply_committed(&mut node.ctx(), &[batch(0, offsets_topic(1)), batch(2, [MetadataRecord::NoOp].into())]);
    assert_eq!(broker.image().applied_to, 3);
    assert_eq!(broker.coordinator().partitions().count(), 0);
    assert!(!node.trace.iter().any(|e| matches!(e.kind, Kind::BecameLeader { .. })));
    broker.lifecycle.catch_up();
    broker.publish(&mut node.ctx());
    assert_eq!(broker.coordinator().partitions().collect::<Vec<_>>(), [(0, LeaderEpoch(0))]);
    broker.apply_committed(&mut node.ctx(), &[batch(3, [MetadataRecord::RemoveTopic { topic: TopicId(1) }].into())]);
    assert_eq!(broker.coordinator().partitions().count(), 0, "without the topic nobody coordinates");
}

#[test]
fn a_stop_before_registration_is_clean_and_leaves_no_epoch_behind() {
    let mut node = node();
    let mut broker = start(&mut node);
    broker.on_event(&mut node.ctx(), Event::Shutdown);
    assert!(matches!(node.effects.last(), Some(Effect::Exit { clean: true, .. })));
    assert_eq!(node.disk.clean_shutdown, None);
}

#[test]
fn l_29_a_lowered_minimum_moves_no_high_watermark_before_the_next_append() {
    let (mut node, tp) = (node(), Tp { topic: TopicId(4), partition: 0 });
    let mut broker = start(&mut node);
    let minimum = |value: &str| MetadataRecord::Config {
        resource: ConfigResource::Topic(tp.topic),
        name: "min.insync.replicas".into(),
        value: Some(value.into()),
    };
    let registration = PartitionRegistration {
        replicas: [BrokerId(1), BrokerId(2)].into(),
        directories: Vec::new(),
        isr: [BrokerId(1)].into(),
        elr: [BrokerId(2)].into(),
        last_known_elr: Vec::new(),
        leader: Some(BrokerId(1)),
        leader_recovery: LeaderRecoveryState::Recovered,
        leader_epoch: LeaderEpoch(0),
        partition_epoch: PartitionEpoch(0),
    };
    let topic = MetadataRecord::Topic { name: "t".into(), topic: tp.topic };
    let records = [topic, minimum("2"), MetadataRecord::Partition { tp, registration }];
    broker.apply_committed(&mut node.ctx(), &[batch(0, records.into())]);
    broker.lifecycle.catch_up();
    broker.publish_first(&mut node.ctx());
    let produce = |broker: &mut Broker, node: &mut TestNode| {
        let record = Record { tag: Tag(0), key: None, value: "v".into() };
        let payload = Payload::Data([record].into());
        let data = RecordBatch { payload, ..batch(0, Vec::new()) };
        let request = ProduceRequest {
            acks: Acks::One,
            timeout: Dur::secs(30),
            batches: [(tp, data)].into(),
            topics: ProducedTopics::ById,
        };
        ask(broker, node, Request::Partition(PartitionRequest::Produce(request)));
        broker.high_watermark(tp)
    };
    assert_eq!(produce(&mut broker, &mut node), Some(0));
    let mut change = PartitionChange::new(tp);
    change.elr = Some(Vec::new());
    let records = [minimum("1"), MetadataRecord::PartitionChange(change)];
    broker.apply_committed(&mut node.ctx(), &[batch(3, records.into())]);
    assert_eq!(broker.high_watermark(tp), Some(0), "nothing was appended");
    assert_eq!(produce(&mut broker, &mut node), Some(2));
}

#[test]
fn read_only_broker_configs_are_refused_and_dynamic_ones_go_to_the_controller() {
    let mut node = node();
    let refused = |node: &mut TestNode, resource: ConfigTarget, name: &str, value: &str| {
        // What goes to the controller would hold up every request behind it, so each is asked of a broker of its own.
        let mut broker = start(node);
        broker.lifecycle.catch_up();
        let request = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
            resource,
            configs: config_map(&[(name, value)]),
        });
        ask(&mut broker, node, request).into_iter().any(|effect| {
            let Effect::Send { body: Body::Response(Response::Cluster(response)), .. } = effect else { return false };
            matches!(
                response,
                ClusterResponse::IncrementalAlterConfigs(answer) if answer.error == ErrorCode::InvalidRequest
            )
        })
    };
    for known in settings().filter(|s| s.scopes.contains(&Scope::Node) && s.update == Update::ReadOnly) {
        for resource in [ConfigTarget::Broker(ME), ConfigTarget::Cluster] {
            assert!(refused(&mut node, resource, known.name, known.default), "{}", known.name);
        }
    }
    assert!(!refused(&mut node, ConfigTarget::Cluster, "min.insync.replicas", "2"));
    assert!(refused(&mut node, ConfigTarget::Cluster, "min.insync.replicas", "0"), "a value that is not valid");
    assert!(!refused(&mut node, ConfigTarget::Topic("t".into()), "num.partitions", "2"), "the controller's affair");
}

#[test]
fn a_broker_says_why_it_does_not_take_a_config_over() {
    let other = BrokerId(ME.0 + 1);
    let said = |target: ConfigTarget, configs: &[(&str, &str)]| {
        let refusal = super::super::configs::may_change(ME, &target, &config_map(configs)).err();
        refusal.and_then(|error| error.message).map(|said| std::string::String::from(&*said))
    };
    let per_broker = settings().find(|s| s.scopes.contains(&Scope::Node) && s.update == Update::PerBroker);
    assert_eq!(
        said(ConfigTarget::Broker(other), &[("min.insync.replicas", "1")]),
        Some(std::format!("Unexpected broker id, expected {}, but received {}", ME.0, other.0))
    );
    assert_eq!(
        said(ConfigTarget::Cluster, &[("offsets.topic.replication.factor", "1"), ("broker.session.timeout.ms", "1")]),
        Some(
            "Cannot update these configs dynamically: Set(broker.session.timeout.ms, offsets.topic.replication.factor)"
                .into()
        )
    );
    assert_eq!(
        said(ConfigTarget::Cluster, &[("min.insync.replicas", "0")]),
        Some("Invalid value 0 for configuration min.insync.replicas: Value must be at least 1".into())
    );
    if let Some(known) = per_broker {
        assert_eq!(
            said(ConfigTarget::Cluster, &[(known.name, known.default)]),
            Some(std::format!(
                "Cannot update these configs at default cluster level, broker id must be specified: Set({})",
                known.name
            ))
        );
    }
    assert_eq!(said(ConfigTarget::Cluster, &[("no.such.config", "1")]), None, "it may belong to a plug-in");
    assert_eq!(said(ConfigTarget::Broker(ME), &[("min.insync.replicas", "1")]), None);
}
