//! Topics and configs: what is refused and how, and the records of what is not (sections 6.1, 6.4, 7.6).

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::testing::{Bench, ids};
use crate::protocol::config::config_map;
use crate::protocol::{
    CONSUMER_OFFSETS, ClusterRequest, ClusterResponse, ConfigTarget, CreateTopicRequest, ErrorCode, Placement, Request,
    Response,
};
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
    let grow = |b: &mut Bench, name: &str, total| match b
        .ask(1, Request::Cluster(ClusterRequest::CreatePartitions { name: name.into(), total }))
    {
        Response::Cluster(ClusterResponse::CreatePartitions(answer)) => answer.error,
        other => panic!("{other:?}"),
    };
    assert_eq!(grow(&mut b, "u", 1), ErrorCode::InvalidPartitions);
    assert_eq!(grow(&mut b, "v", 2), ErrorCode::UnknownTopicOrPartition);
    assert_eq!(grow(&mut b, "u", 3), ErrorCode::None);
    let first = b.controller.image().topic_id("u").expect("it is there");
    assert!(b.controller.image().topics[&first].partitions.iter().all(|p| p.replicas.len() == 2));
    assert_eq!(
        b.ask(1, Request::Cluster(ClusterRequest::DeleteTopics { name: "u".into() })),
        Response::Cluster(ClusterResponse::DeleteTopics(ErrorCode::None.into()))
    );
    assert_eq!(
        b.ask(1, Request::Cluster(ClusterRequest::DeleteTopics { name: "u".into() })),
        Response::Cluster(ClusterResponse::DeleteTopics(ErrorCode::UnknownTopicOrPartition.into()))
    );
    assert_eq!(b.create("u", counts(1, 2), &[]), ErrorCode::None);
    assert_ne!(b.controller.image().topic_id("u"), Some(first), "a topic that is made again is another one");
}

#[test]
fn refusals_of_configs() {
    let mut b = three();
    assert_eq!(b.create("u", counts(1, 1), &[]), ErrorCode::None);
    let mut alter = |resource: ConfigTarget, key: &str, value: &str| match b.ask(
        1,
        Request::Cluster(ClusterRequest::IncrementalAlterConfigs { resource, configs: config_map(&[(key, value)]) }),
    ) {
        Response::Cluster(ClusterResponse::IncrementalAlterConfigs(answer)) => answer.error,
        other => panic!("{other:?}"),
    };
    assert_eq!(alter(ConfigTarget::Topic("v".into()), "min.insync.replicas", "1"), ErrorCode::UnknownTopicOrPartition);
    assert_eq!(alter(ConfigTarget::Topic("u".into()), "min.insync.replicas", "x"), ErrorCode::InvalidConfig);
    assert_eq!(alter(ConfigTarget::Broker(ids(&[1])[0]), "min.insync.replicas", "1"), ErrorCode::InvalidConfig);
    assert_eq!(alter(ConfigTarget::Cluster, "min.insync.replicas", "2"), ErrorCode::None);
    assert_eq!(b.controller.image().min_insync_replicas(crate::base::TopicId(1), &b.controller.config), 2);
}

fn sentence(b: &mut Bench, request: Request) -> Option<Rc<str>> {
    match b.ask(1, request) {
        Response::Cluster(
            ClusterResponse::CreateTopics(answer)
            | ClusterResponse::CreatePartitions(answer)
            | ClusterResponse::DeleteTopics(answer)
            | ClusterResponse::ElectLeaders(answer)
            | ClusterResponse::IncrementalAlterConfigs(answer),
        ) => answer.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_refused_is_refused_in_kafkas_words() {
    let mut b = three();
    assert_eq!(b.create("a.b", counts(2, 2), &[]), ErrorCode::None);
    let create = |name: &str, placement: Placement, configs: &[(&str, &str)]| {
        Request::Cluster(ClusterRequest::CreateTopics(CreateTopicRequest {
            name: name.into(),
            placement,
            configs: config_map(configs),
            timeout: crate::base::Dur::secs(15),
        }))
    };
    let manual = |list: &[(u32, &[u32])]| Placement::Manual(list.iter().map(|(n, r)| (*n, ids(r))).collect());
    let grow = |name: &str, total| Request::Cluster(ClusterRequest::CreatePartitions { name: name.into(), total });
    let elect = |topic: &str, partition| {
        Request::Cluster(ClusterRequest::ElectLeaders { topic: topic.into(), partition, unclean: false })
    };
    let alter = |resource: ConfigTarget, key: &str, value: &str| {
        Request::Cluster(ClusterRequest::IncrementalAlterConfigs { resource, configs: config_map(&[(key, value)]) })
    };
    let topic = |name: &str| ConfigTarget::Topic(name.into());
    let table: Vec<(Request, &str)> = alloc::vec![
        (create("a.b", counts(1, 1), &[]), "Topic 'a.b' already exists."),
        (create("a_b", counts(1, 1), &[]), "Topic 'a_b' collides with existing topic: a.b"),
        (create("", counts(1, 1), &[]), "Topic name is invalid: the empty string is not allowed"),
        (create("..", counts(1, 1), &[]), "Topic name is invalid: '..' is not allowed"),
        (
            create("x y", counts(1, 1), &[]),
            "Topic name is invalid: 'x y' contains one or more characters other than ASCII alphanumerics, '.', '_' and \
             '-'",
        ),
        (
            create("__cluster_metadata", counts(1, 1), &[]),
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
        (create("x", counts(0, 1), &[]), "Number of partitions was set to an invalid non-positive value."),
        (create("x", counts(0, 0), &[]), "Replication factor must be larger than 0, or -1 to use the default value.",),
        (
            create("x", counts(1, 4), &[]),
            "Unable to replicate the partition 4 time(s): The target replication factor of 4 cannot be reached because \
             only 3 broker(s) are registered.",
        ),
        (
            create("x", manual(&[(0, &[1]), (0, &[2])]), &[]),
            "Found multiple manual partition assignments for partition 0",
        ),
        (create("x", manual(&[(0, &[])]), &[]), "The manual partition assignment includes an empty replica list."),
        (
            create("x", manual(&[(0, &[2, 2])]), &[]),
            "The manual partition assignment includes the broker 2 more than once.",
        ),
        (
            create("x", manual(&[(0, &[2, 9])]), &[]),
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            create("x", manual(&[(0, &[1, 2]), (1, &[1])]), &[]),
            "The manual partition assignment includes a partition with 1 replica(s), but this is not consistent with \
             previous partitions, which have 2 replica(s).",
        ),
        (create("x", manual(&[(1, &[1])]), &[]), "partitions should be a consecutive 0-based integer sequence"),
        (create("x", counts(1, 1), &[("no.such.config", "1")]), "Unknown topic config name: no.such.config"),
        (
            create("x", counts(1, 1), &[("min.insync.replicas", "0")]),
            "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1",
        ),
        (grow("a.b", 2), "Topic already has 2 partition(s)."),
        (grow("a.b", 1), "The topic a.b currently has 2 partition(s); 1 would not be an increase."),
        (elect("u", 0), "No such topic as u"),
        (elect("a.b", 7), "No such partition as a.b-7"),
        (alter(topic("v"), "min.insync.replicas", "1"), "The topic 'v' does not exist."),
        (
            alter(topic("a.b"), "min.insync.replicas", "x"),
            "Invalid value x for configuration min.insync.replicas: Not a number of type INT",
        ),
        (
            alter(ConfigTarget::Broker(ids(&[1])[0]), "min.insync.replicas", "1"),
            "Broker-level min.insync.replicas cannot be altered while ELR is enabled.",
        ),
        (alter(ConfigTarget::Broker(ids(&[9])[0]), "num.replica.fetchers", "2"), "No node with id 9 found."),
    ];
    for (request, expected) in table {
        let said = sentence(&mut b, request.clone());
        assert_eq!(said.as_deref(), Some(expected), "{request:?}");
    }
    // Here the error says it all.
    assert_eq!(sentence(&mut b, grow("u", 2)), None);
    assert_eq!(sentence(&mut b, elect("a.b", 0)), None);
    for broker in 1..=3 {
        b.fence(broker);
    }
    let all_fenced = "All brokers are currently fenced.";
    let wrapped = "Unable to replicate the partition 1 time(s): All brokers are currently fenced.";
    assert_eq!(sentence(&mut b, create("x", counts(1, 1), &[])).as_deref(), Some(wrapped));
    assert_eq!(sentence(&mut b, grow("a.b", 3)).as_deref(), Some(all_fenced));
    let by_hand = "All brokers specified in the manual partition assignment for partition 0 are fenced or in \
        controlled \
                   shutdown.";
    assert_eq!(sentence(&mut b, create("x", manual(&[(0, &[1])]), &[])).as_deref(), Some(by_hand));
}

#[test]
fn an_assignment_by_hand_of_no_partition_takes_the_defaults() {
    let mut b = three();
    assert_eq!(b.create("x", Placement::Manual(Vec::new()), &[]), ErrorCode::None);
    let topic = b.controller.image().topic_id("x").expect("it is there");
    assert_eq!(b.controller.image().topics[&topic].partitions.len(), b.controller.config.num_partitions as usize);
}

#[test]
fn a_brokers_config_is_written_even_if_it_stays_as_it_is() {
    let mut b = three();
    assert_eq!(b.create("u", counts(1, 1), &[]), ErrorCode::None);
    let mut twice = |resource: ConfigTarget| {
        let request = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
            resource,
            configs: config_map(&[("min.insync.replicas", "2")]),
        });
        b.ask(1, request.clone());
        let from = b.end();
        b.ask(1, request);
        b.batches(from).concat()
    };
    assert_eq!(twice(ConfigTarget::Topic("u".into())), Vec::<&str>::new());
    assert_eq!(twice(ConfigTarget::Cluster), ["min.insync.replicas=2"]);
}
