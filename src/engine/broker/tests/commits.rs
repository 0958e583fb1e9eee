//! OffsetCommit at a broker: what exists is committed and what does not is refused. Groups have their own tests.

use alloc::vec::Vec;

use super::shell::{ask, batch, offsets_topic, start};
use super::{image, node};
use crate::base::{GenerationId, TopicId, Tp};
use crate::broker::Broker;
use crate::node::testing::TestNode;
use crate::node::{Body, Effect, Event, GroupTimer, Timer};
use crate::protocol::{
    ErrorCode, GroupRequest, GroupResponse, MetadataRecord, OffsetAndMetadata, OffsetCommitRequest, Request, Response,
};
use crate::trace::Kind;

/// A topic as the client knew it, and the one that has the name now.
const OLD: TopicId = TopicId(3);
const NEW: TopicId = TopicId(4);
const GONE: TopicId = TopicId(5);

/// A broker that coordinates, with a topic `t` of one partition.
fn coordinating(node: &mut TestNode) -> Broker {
    let mut broker = start(node);
    let mut cluster = image(&[1], &[]);
    super::add_topic(&mut cluster, NEW.0, "t", &[&[1]]);
    let mut records = offsets_topic(1);
    for record in &mut records {
        if let MetadataRecord::Partition { registration, .. } = record {
            registration.isr = [super::ME].into();
            registration.replicas = [super::ME].into();
        }
    }
    records.push(MetadataRecord::Topic { name: "t".into(), topic: NEW });
    let partitions = cluster.partitions().map(|(tp, p)| MetadataRecord::Partition { tp, registration: p.clone() });
    records.extend(partitions);
    broker.apply_committed(&mut node.ctx(), &[batch(0, records)]);
    broker.lifecycle.catch_up();
    broker.publish_first(&mut node.ctx());
    let load = Timer::Group(GroupTimer::Load(0));
    broker.on_event(&mut node.ctx(), Event::Timer(load));
    broker
}

fn commit(broker: &mut Broker, node: &mut TestNode, tps: &[(TopicId, u32)], generation: i32) -> Vec<(Tp, ErrorCode)> {
    let now = node.now;
    let position = |(topic, partition): &(TopicId, u32)| {
        let tp = Tp { topic: *topic, partition: *partition };
        (tp, OffsetAndMetadata { offset: 7, leader_epoch: None, commit_timestamp: now })
    };
    let request = OffsetCommitRequest {
        group: "g".into(),
        generation: GenerationId(generation),
        member_id: "".into(),
        instance_id: None,
        offsets: tps.iter().map(position).collect(),
        names: [(OLD, "t".into()), (NEW, "t".into()), (GONE, "gone".into())].into(),
        knows_group_id_not_found: true,
    };
    let mut effects = ask(broker, node, Request::Group(GroupRequest::OffsetCommit(request)));
    // The coordinator gathers writes for a while.
    broker.on_event(&mut node.ctx(), Event::Timer(Timer::Group(GroupTimer::Linger(0))));
    effects.append(&mut node.effects);
    let answer = effects.into_iter().find_map(|effect| match effect {
        Effect::Send { body: Body::Response(Response::Group(GroupResponse::OffsetCommit { results })), .. } => {
            Some(results)
        }
        Effect::Send { .. } | Effect::Close { .. } | Effect::Exit { .. } => None,
    });
    answer.expect("a commit is answered")
}

fn at(topic: TopicId, partition: u32, error: ErrorCode) -> (Tp, ErrorCode) {
    (Tp { topic, partition }, error)
}

#[test]
fn a_commit_for_a_topic_that_does_not_exist_is_refused_and_the_rest_of_it_is_committed() {
    let mut node = node();
    let mut broker = coordinating(&mut node);
    let unknown = ErrorCode::UnknownTopicOrPartition;
    let results = commit(&mut broker, &mut node, &[(NEW, 0), (GONE, 0), (NEW, 1)], -1);
    assert_eq!(results, [at(GONE, 0, unknown), at(NEW, 1, unknown), at(NEW, 0, ErrorCode::None)]);
    let committed = |e: &crate::trace::TraceEntry| match &e.kind {
        Kind::OffsetsCommitted { offsets, .. } => Some(offsets.clone()),
        _ => None,
    };
    let stored: Vec<_> = node.trace.iter().filter_map(committed).collect();
    assert_eq!(stored, [Vec::from([(Tp { topic: NEW, partition: 0 }, 7)])]);
    assert!(node.trace.iter().any(|e| matches!(e.kind, Kind::CoordinatorRefused { error, .. } if error == unknown)));
    assert_eq!(broker.refused_commits, []);
}

#[test]
fn a_commit_of_which_nothing_exists_is_refused_before_its_group_is_looked_at() {
    let mut node = node();
    let mut broker = coordinating(&mut node);
    assert_eq!(commit(&mut broker, &mut node, &[(NEW, 0)], 3), [at(NEW, 0, ErrorCode::GroupIdNotFound)]);
    let results = commit(&mut broker, &mut node, &[(GONE, 0)], 3);
    assert_eq!(results, [at(GONE, 0, ErrorCode::UnknownTopicOrPartition)]);
    let results = commit(&mut broker, &mut node, &[(GONE, 0), (NEW, 0)], 3);
    let expected = [at(GONE, 0, ErrorCode::UnknownTopicOrPartition), at(NEW, 0, ErrorCode::GroupIdNotFound)];
    assert_eq!(results, expected);
}

#[test]
fn a_commit_by_name_is_for_the_topic_that_has_the_name_now() {
    let mut node = node();
    let mut broker = coordinating(&mut node);
    assert_eq!(commit(&mut broker, &mut node, &[(OLD, 0)], -1), [at(NEW, 0, ErrorCode::None)]);
}
