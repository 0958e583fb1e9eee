//! Answers from a broker's own image of the metadata: Metadata, DescribeTopicPartitions, FindCoordinator. They may be
//! stale, as in Kafka; nothing is asked here.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{BrokerId, TopicId, Tp};
use crate::metadata::{MetadataImage, TopicImage};
use crate::protocol::config::NodeConfig;
use crate::protocol::config::config_map;
use crate::protocol::hash::group_partition;
use crate::protocol::{
    BrokerResponse, CONSUMER_OFFSETS, ConfigMap, CreateTopicRequest, DescribedTopic, ErrorCode, MetadataRequest,
    MetadataResponse, PartitionMetadata, PartitionRegistration, Placement, TopicMetadata,
};
use crate::rules::fixed::FORWARD_LIMIT;

/// The leader that clients are told: none if it is fenced.
fn visible_leader(image: &MetadataImage, partition: &PartitionRegistration) -> Option<BrokerId> {
    partition.leader.filter(|leader| image.is_unfenced(*leader))
}

/// Answers Metadata, and names the topics that are to be made because the client asked for them (KRaft answers
/// UNKNOWN_TOPIC_OR_PARTITION meanwhile).
pub fn metadata(
    image: &MetadataImage,
    config: &NodeConfig,
    request: &MetadataRequest,
) -> (BrokerResponse, Vec<Rc<str>>) {
    let mut missing = Vec::new();
    let topics = match &request.topics {
        None => image.topics.iter().map(|(id, topic)| topic_metadata(image, *id, topic)).collect(),
        Some(names) => {
            let mut found = Vec::new();
            for name in names {
                match image.topic_id(name).and_then(|id| image.topics.get(&id).map(|topic| (id, topic))) {
                    Some((id, topic)) => found.push(topic_metadata(image, id, topic)),
                    None => {
                        missing.push(name.clone());
                        found.push(TopicMetadata {
                            error: ErrorCode::UnknownTopicOrPartition,
                            name: name.clone(),
                            topic: None,
                            partitions: Vec::new(),
                        });
                    }
                }
            }
            found
        }
    };
    if !(request.allow_auto_topic_creation && config.auto_create_topics) {
        missing.clear();
    }
    let brokers = image.brokers.keys().copied().filter(|broker| image.is_unfenced(*broker)).collect();
    (BrokerResponse::Metadata(MetadataResponse { brokers, topics }), missing)
}

fn topic_metadata(image: &MetadataImage, id: TopicId, topic: &TopicImage) -> TopicMetadata {
    let partition = |p: &PartitionRegistration| {
        let leader = visible_leader(image, p);
        PartitionMetadata {
            error: if leader.is_some() { ErrorCode::None } else { ErrorCode::LeaderNotAvailable },
            leader,
            leader_epoch: p.leader_epoch,
            replicas: p.replicas.clone(),
            isr: p.isr.clone(),
        }
    };
    TopicMetadata {
        error: ErrorCode::None,
        name: topic.name.clone(),
        topic: Some(id),
        partitions: topic.partitions.iter().map(partition).collect(),
    }
}

/// Answers DescribeTopicPartitions (KIP-966).
pub fn describe_topics(image: &MetadataImage, names: Option<&[Rc<str>]>) -> BrokerResponse {
    let known = |id: TopicId, topic: &TopicImage| {
        let partition =
            |p: &PartitionRegistration| PartitionRegistration { leader: visible_leader(image, p), ..p.clone() };
        DescribedTopic {
            error: ErrorCode::None,
            name: topic.name.clone(),
            topic: Some(id),
            partitions: topic.partitions.iter().map(partition).collect(),
        }
    };
    let unknown = |name: &Rc<str>| DescribedTopic {
        error: ErrorCode::UnknownTopicOrPartition,
        name: name.clone(),
        topic: None,
        partitions: Vec::new(),
    };
    let topics = match names {
        None => image.topics.iter().map(|(id, topic)| known(*id, topic)).collect(),
        Some(names) => names
            .iter()
            .map(|name| {
                image
                    .topic_id(name)
                    .and_then(|id| image.topics.get(&id).map(|t| known(id, t)))
                    .unwrap_or_else(|| unknown(name))
            })
            .collect(),
    };
    BrokerResponse::DescribeTopicPartitions { topics }
}

/// The offsets topic in this broker's metadata, with its number of partitions.
pub fn offsets_topic(image: &MetadataImage) -> Option<(TopicId, u32)> {
    let id = image.topic_id(CONSUMER_OFFSETS)?;
    Some((id, image.topics.get(&id)?.partitions.len() as u32))
}

/// Answers FindCoordinator. `None`: the offsets topic is missing and has to be made; the answer is
/// COORDINATOR_NOT_AVAILABLE until it is there.
pub fn find_coordinator(image: &MetadataImage, group: &str) -> Option<BrokerResponse> {
    let (topic, n_partitions) = offsets_topic(image)?;
    let tp = Tp { topic, partition: group_partition(group, n_partitions) };
    let coordinator = image.partition(tp).and_then(|p| visible_leader(image, p));
    let error = if coordinator.is_some() { ErrorCode::None } else { ErrorCode::CoordinatorNotAvailable };
    Some(BrokerResponse::FindCoordinator { error, coordinator })
}

/// The request with which a broker has a topic made that somebody needs.
pub fn auto_create_request(name: &Rc<str>, config: &NodeConfig) -> CreateTopicRequest {
    let (placement, configs) = if &**name == CONSUMER_OFFSETS {
        let placement = Placement::Counts {
            partitions: Some(config.offsets_topic_partitions as i32),
            replication_factor: Some(config.offsets_topic_replication_factor as i16),
        };
        (
            placement,
            config_map(&[
                ("cleanup.policy", "compact"),
                ("compression.type", "producer"),
                ("segment.bytes", "104857600"),
            ]),
        )
    } else {
        let placement = Placement::Counts {
            partitions: Some(config.num_partitions as i32),
            replication_factor: Some(config.default_replication_factor as i16),
        };
        (placement, ConfigMap::new())
    };
    CreateTopicRequest { name: name.clone(), placement, configs, timeout: FORWARD_LIMIT }
}
