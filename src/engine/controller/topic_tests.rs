//! Topics and configs: what is refused and how, and the records of what is not (sections 6.1, 6.4, 7.6).

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::testing::{Bench, ids};
use crate::protocol::config::config_map;
use crate::protocol::{CONSUMER_OFFSETS, ConfigTarget, ErrorCode, Placement, Request, Response};
use crate::rules::Version;

fn counts(partitions: i32, replication_factor: i16) -> Placement {
    Placement::Counts { partitions: Some(partitions), replication_factor: Some(replication_factor) }
}

/// Name, placement, configs, and the answer.
type Row = (&'static str, Placement, &'static [(&'static str, &'static str)], ErrorCode);

fn three() -> Bench {
    let mut b = Bench::new(Version::V4_1, &[]);
    for id in 1..=3 {
        b.up(id, None);
    }
    b
}

#[test]
fn a_24_refusals_of_new_topics() {
    let mut b = three();
    assert_eq!(b.create("a.b", counts(1, 1), &[]), ErrorCode::None);
    let manual = |list: &[(u32, &[u32])]| Placement::Manual(list.iter().map(|(n, r)| (*n, ids(r))).collect());
    let table: Vec<Row> = alloc::vec![
        ("a.b", counts(1, 1), &[], ErrorCode::TopicAlreadyExists),
        ("a_b", counts(1, 1), &[], ErrorCode::InvalidTopicException),
        ("", counts(1, 1), &[], ErrorCode::InvalidTopicException),
        ("..", counts(1, 1), &[], ErrorCode::InvalidTopicException),
        ("x y", counts(1, 1), &[], ErrorCode::InvalidTopicException),
        ("x", counts(0, 1), &[], ErrorCode::InvalidPartitions),
        ("x", counts(-2, 1), &[], ErrorCode::InvalidPartitions),
        ("x", counts(1, 0), &[], ErrorCode::InvalidReplicationFactor),
        ("x", counts(1, 4), &[], ErrorCode::InvalidReplicationFactor),
        ("x", manual(&[(0, &[1, 1])]), &[], ErrorCode::InvalidReplicaAssignment),
        ("x", manual(&[(0, &[1, 9])]), &[], ErrorCode::InvalidReplicaAssignment),
        ("x", manual(&[(0, &[1, 2]), (1, &[1])]), &[], ErrorCode::InvalidReplicaAssignment),
        ("x", manual(&[(1, &[1])]), &[], ErrorCode::InvalidReplicaAssignment),
        ("x", manual(&[]), &[], ErrorCode::InvalidReplicaAssignment),
        ("x", counts(1, 1), &[("min.insync.replicas", "0")], ErrorCode::InvalidConfig),
        ("x", counts(1, 1), &[("no.such.config", "1")], ErrorCode::InvalidConfig),
        ("x", counts(1, 1), &[("cleanup.policy", "sometimes")], ErrorCode::InvalidConfig),
        ("x", counts(1, 1), &[("min.insync.replicas", "3")], ErrorCode::None),
    ];
    for (name, placement, configs, expected) in table {
        assert_eq!(b.create(name, placement.clone(), configs), expected, "{name} {placement:?} {configs:?}");
    }
    assert_eq!(b.controller.image().topic_ids.keys().map(Rc::as_ref).collect::<Vec<&str>>(), ["a.b", "x"]);
}

#[test]
fn a_23_fenced_brokers() {
    let mut b = three();
    b.fence(3);
    assert_eq!(b.create("u", counts(1, 3), &[]), ErrorCode::None);
    assert_eq!(b.partition().replicas[2].0, 3, "fenced ones come last");
    assert_eq!(b.partition().isr.len(), 2);
    assert_eq!(b.topic("v", &[3], &[]), ErrorCode::InvalidReplicaAssignment);
    assert_eq!(b.topic("w", &[3, 1], &[]), ErrorCode::None);
    let w = b.controller.image().topic_id("w").expect("it is there");
    let partition = &b.controller.image().topics[&w].partitions[0];
    assert_eq!((partition.isr.clone(), partition.leader), (ids(&[1]), Some(ids(&[1])[0])));
}

#[test]
fn a_15_a_stopping_broker_is_no_place() {
    let mut b = three();
    assert_eq!(b.topic("t", &[3, 1], &[]), ErrorCode::None);
    assert!(!b.beat(3, false, true).2);
    assert_eq!(b.create("u", counts(1, 3), &[]), ErrorCode::InvalidReplicationFactor);
}

#[test]
fn defaults_come_from_the_configuration() {
    let mut b = Bench::new(Version::V4_1, &[("num.partitions", "4"), ("default.replication.factor", "2")]);
    b.up(1, None);
    b.up(2, None);
    assert_eq!(b.create("u", Placement::Counts { partitions: None, replication_factor: None }, &[]), ErrorCode::None);
    let topic = b.controller.image().topic_id("u").expect("it is there");
    let partitions = &b.controller.image().topics[&topic].partitions;
    assert_eq!((partitions.len(), partitions[0].replicas.len()), (4, 2));
}

#[test]
fn records_of_the_offsets_topic() {
    let mut b = three();
    let from = b.end();
    assert_eq!(b.create(CONSUMER_OFFSETS, counts(3, 3), &[]), ErrorCode::None);
    let expected = [
        "Topic",
        "compression.type=producer",
        "cleanup.policy=compact",
        "segment.bytes=104857600",
        "Partition",
        "Partition",
        "Partition",
    ];
    assert_eq!(b.batches(from), [expected]);
}

#[test]
fn more_partitions_and_deletion() {
    let mut b = three();
    assert_eq!(b.create("u", counts(1, 2), &[]), ErrorCode::None);
    let grow = |b: &mut Bench, name: &str, total| match b.ask(1, Request::CreatePartitions { name: name.into(), total })
    {
        Response::CreatePartitions { error } => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(grow(&mut b, "u", 1), ErrorCode::InvalidPartitions);
    assert_eq!(grow(&mut b, "v", 2), ErrorCode::UnknownTopicOrPartition);
    assert_eq!(grow(&mut b, "u", 3), ErrorCode::None);
    let first = b.controller.image().topic_id("u").expect("it is there");
    assert!(b.controller.image().topics[&first].partitions.iter().all(|p| p.replicas.len() == 2));
    assert_eq!(b.ask(1, Request::DeleteTopics { name: "u".into() }), Response::DeleteTopics { error: ErrorCode::None });
    assert_eq!(
        b.ask(1, Request::DeleteTopics { name: "u".into() }),
        Response::DeleteTopics { error: ErrorCode::UnknownTopicOrPartition }
    );
    assert_eq!(b.create("u", counts(1, 2), &[]), ErrorCode::None);
    assert_ne!(b.controller.image().topic_id("u"), Some(first), "a topic that is made again is another one");
}

#[test]
fn refusals_of_configs() {
    let mut b = three();
    assert_eq!(b.create("u", counts(1, 1), &[]), ErrorCode::None);
    let mut alter = |resource: ConfigTarget, key: &str, value: &str| match b
        .ask(1, Request::IncrementalAlterConfigs { resource, configs: config_map(&[(key, value)]) })
    {
        Response::IncrementalAlterConfigs { error } => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(alter(ConfigTarget::Topic("v".into()), "min.insync.replicas", "1"), ErrorCode::UnknownTopicOrPartition);
    assert_eq!(alter(ConfigTarget::Topic("u".into()), "min.insync.replicas", "x"), ErrorCode::InvalidConfig);
    assert_eq!(alter(ConfigTarget::Broker(ids(&[1])[0]), "min.insync.replicas", "1"), ErrorCode::InvalidConfig);
    assert_eq!(alter(ConfigTarget::Cluster, "min.insync.replicas", "2"), ErrorCode::None);
    assert_eq!(b.controller.image().min_insync_replicas(crate::base::TopicId(1), &b.controller.config), 2);
}
