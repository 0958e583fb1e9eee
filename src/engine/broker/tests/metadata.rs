//! Answers from a broker's image. Nothing is asked of a controller here.

use super::{add_topic, config, image};
use crate::base::{BrokerId, TopicId, Tp};
use crate::broker::metadata_api::{auto_create_request, describe_topics, find_coordinator, metadata};
use crate::protocol::{
    BrokerResponse, ConfigMap, ErrorCode, MetadataRecord, MetadataRequest, MetadataResponse, PartitionChange, Placement,
};

fn ask(
    image: &crate::metadata::MetadataImage,
    names: &[&str],
    allow: bool,
    pairs: &[(&str, &str)],
) -> (MetadataResponse, usize) {
    let request =
        MetadataRequest { topics: Some(names.iter().map(|n| (*n).into()).collect()), allow_auto_topic_creation: allow };
    match metadata(image, &config(pairs), &request) {
        (BrokerResponse::Metadata(response), missing) => (response, missing.len()),
        (other, _) => panic!("{other:?}"),
    }
}

#[test]
fn fenced_brokers_are_not_listed_and_do_not_lead() {
    let mut image = image(&[1, 2, 3], &[3]);
    add_topic(&mut image, 1, "t", &[&[1, 2], &[3, 1], &[2, 1]]);
    let change = PartitionChange { leader: Some(None), ..PartitionChange::new(Tp { topic: TopicId(1), partition: 2 }) };
    image.replay(&MetadataRecord::PartitionChange(change));
    let (response, _) = ask(&image, &["t"], false, &[]);
    assert_eq!(response.brokers, [BrokerId(1), BrokerId(2)]);
    let seen: alloc::vec::Vec<_> =
        response.topics[0].partitions.iter().map(|p| (p.error, p.leader, p.isr.len())).collect();
    assert_eq!(
        seen,
        [
            (ErrorCode::None, Some(BrokerId(1)), 2),
            (ErrorCode::LeaderNotAvailable, None, 2),
            (ErrorCode::LeaderNotAvailable, None, 2)
        ]
    );
}

#[test]
fn no_names_are_all_topics_and_an_empty_list_is_none() {
    let mut image = image(&[1], &[]);
    add_topic(&mut image, 1, "t", &[&[1]]);
    let all = metadata(&image, &config(&[]), &MetadataRequest { topics: None, allow_auto_topic_creation: true });
    assert!(matches!(all.0, BrokerResponse::Metadata(r) if r.topics.len() == 1));
    assert!(ask(&image, &[], true, &[]).0.topics.is_empty());
}

#[test]
fn a_missing_topic_is_unknown_and_made_only_if_client_and_broker_allow_it() {
    let image = image(&[1], &[]);
    let off = [("auto.create.topics.enable", "false")];
    for (allow, pairs, made) in [(true, &[][..], 1), (false, &[], 0), (true, &off, 0)] {
        let (response, missing) = ask(&image, &["t"], allow, pairs);
        assert_eq!(response.topics[0].error, ErrorCode::UnknownTopicOrPartition);
        assert_eq!(missing, made);
    }
}

#[test]
fn a_description_hides_a_fenced_leader_too() {
    let mut image = image(&[1, 2], &[1]);
    add_topic(&mut image, 1, "t", &[&[1, 2]]);
    let BrokerResponse::DescribeTopicPartitions { topics } = describe_topics(&image, Some(&["t".into(), "u".into()]))
    else {
        panic!("another answer")
    };
    assert_eq!((topics[0].partitions[0].leader, topics[0].partitions[0].isr.len()), (None, 2));
    assert_eq!(topics[1].error, ErrorCode::UnknownTopicOrPartition);
}

#[test]
fn g_02_the_coordinator_is_the_leader_of_the_partition_that_the_group_hashes_to() {
    let mut image = image(&[1, 2, 3], &[3]);
    assert_eq!(find_coordinator(&image, "g1"), None, "the topic has to be made");
    let replicas: alloc::vec::Vec<&[u32]> = (0..50).map(|p| if p == 42 { &[2][..] } else { &[3][..] }).collect();
    add_topic(&mut image, 1, "__consumer_offsets", &replicas);
    assert_eq!(
        find_coordinator(&image, "g1"),
        Some(BrokerResponse::FindCoordinator { error: ErrorCode::None, coordinator: Some(BrokerId(2)) })
    );
    let none = BrokerResponse::FindCoordinator { error: ErrorCode::CoordinatorNotAvailable, coordinator: None };
    assert_eq!(find_coordinator(&image, "g2"), Some(none), "g-06: the leader of partition 43 is fenced");
}

#[test]
fn the_offsets_topic_is_made_as_configured() {
    let config = config(&[("offsets.topic.replication.factor", "1"), ("num.partitions", "4")]);
    let offsets = auto_create_request(&"__consumer_offsets".into(), &config);
    assert_eq!(offsets.placement, Placement::Counts { partitions: Some(50), replication_factor: Some(1) });
    assert_eq!(offsets.configs.get("cleanup.policy").map(|v| &**v), Some("compact"));
    assert_eq!(offsets.configs.len(), 3);
    let other = auto_create_request(&"t".into(), &config);
    assert_eq!(other.placement, Placement::Counts { partitions: Some(4), replication_factor: Some(1) });
    assert_eq!(other.configs, ConfigMap::new());
}
