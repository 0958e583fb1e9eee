//! Creating, extending and deleting topics (ReplicationControlManager.createTopics). It moves no existing replica.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::placer::{UsableBroker, place};
use super::{Controller, Decision};
use crate::base::limits::{MAX_ALL_PARTITIONS, MAX_PARTITIONS, MAX_TOPICS};
use crate::base::{BrokerId, LeaderEpoch, PartitionEpoch, TopicId, Tp};
use crate::node::Ctx;
use crate::protocol::config::validate_topic;
use crate::protocol::{
    CONSUMER_OFFSETS, ConfigMap, ConfigResource, CreateTopicRequest, ErrorCode, LeaderRecoveryState, MetadataRecord,
    PartitionRegistration, Placement, Response,
};
use crate::trace::{Creator, Kind};

/// Longest name of a topic.
const MAX_NAME: usize = 249;

/// Configs that the offsets topic is made with, in the order in which Kafka writes them.
const OFFSETS_TOPIC_CONFIGS: [(&str, &str); 3] =
    [("compression.type", "producer"), ("cleanup.policy", "compact"), ("segment.bytes", "104857600")];

impl Controller {
    /// CreateTopics for one topic.
    pub(super) fn create_topic(&mut self, ctx: &mut Ctx<'_>, request: &CreateTopicRequest, by: Creator) -> Decision {
        match self.new_topic(ctx, request, by) {
            Ok(records) => Decision::new(records, Response::CreateTopics { error: ErrorCode::None }),
            Err(error) => Decision::answer(Response::CreateTopics { error }),
        }
    }

    fn new_topic(
        &self,
        ctx: &mut Ctx<'_>,
        request: &CreateTopicRequest,
        by: Creator,
    ) -> Result<Vec<MetadataRecord>, ErrorCode> {
        let name = &request.name;
        self.check_name(name)?;
        validate_topic(&request.configs).map_err(|_| ErrorCode::InvalidConfig)?;
        let assignments = match &request.placement {
            Placement::Manual(assignment) => {
                self.has_room(name, 0, assignment.len() as u32)?;
                self.manual(assignment)?
            }
            Placement::Counts { partitions, replication_factor } => {
                let partitions = match partitions {
                    None | Some(-1) => self.config.num_partitions,
                    Some(n) if *n > 0 => *n as u32,
                    Some(_) => return Err(ErrorCode::InvalidPartitions),
                };
                self.has_room(name, 0, partitions)?;
                let replication_factor = match replication_factor {
                    None | Some(-1) => self.config.default_replication_factor as i32,
                    Some(n) => i32::from(*n),
                };
                self.placed(ctx, partitions, replication_factor)?
            }
        };
        let topic = TopicId(self.image.last_topic.0 + 1);
        let mut records = vec![MetadataRecord::Topic { name: name.clone(), topic }];
        for (key, value) in ordered_configs(name, &request.configs) {
            records.push(MetadataRecord::Config {
                resource: ConfigResource::Topic(topic),
                name: key,
                value: Some(value),
            });
        }
        let replication_factor = assignments.first().map_or(0, Vec::len) as u32;
        let partitions = assignments.len() as u32;
        for (number, replicas) in assignments.into_iter().enumerate() {
            records.push(self.new_partition(Tp { topic, partition: number as u32 }, replicas));
        }
        ctx.because(Kind::TopicCreated { topic, name: name.clone(), partitions, replication_factor, by });
        Ok(records)
    }

    /// The playground's own bounds, in the form in which an operator of Kafka sets some
    /// (`create.topic.policy.class.name`). They are looked at before anything of that size is made, wherever the number
    /// came from.
    fn has_room(&self, name: &str, present: u32, total: u32) -> Result<(), ErrorCode> {
        let internal = name == CONSUMER_OFFSETS;
        let users = || self.image.topics.values().filter(|topic| &*topic.name != CONSUMER_OFFSETS);
        let others = users().filter(|topic| &*topic.name != name).count();
        let partitions: usize = users().map(|topic| topic.partitions.len()).sum();
        let all = partitions as u64 + u64::from(total.saturating_sub(present));
        let too_many =
            total > MAX_PARTITIONS || !internal && (others >= MAX_TOPICS || all > u64::from(MAX_ALL_PARTITIONS));
        if too_many { Err(ErrorCode::PolicyViolation) } else { Ok(()) }
    }

    fn check_name(&self, name: &str) -> Result<(), ErrorCode> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name == "." || name == ".." || name.len() > MAX_NAME || !name.chars().all(legal) {
            return Err(ErrorCode::InvalidTopicException);
        }
        if self.image.topic_id(name).is_some() {
            return Err(ErrorCode::TopicAlreadyExists);
        }
        // Metrics replace dots by underscores, so two such names would be one.
        let flat = |name: &str| -> String { name.replace('.', "_") };
        if name.contains(['.', '_']) {
            let flattened = flat(name);
            if self.image.topic_ids.keys().any(|existing| existing.contains(['.', '_']) && flat(existing) == flattened)
            {
                return Err(ErrorCode::InvalidTopicException);
            }
        }
        Ok(())
    }

    fn manual(&self, assignment: &[(u32, Vec<BrokerId>)]) -> Result<Vec<Vec<BrokerId>>, ErrorCode> {
        let mut sorted: Vec<&(u32, Vec<BrokerId>)> = assignment.iter().collect();
        sorted.sort_by_key(|(number, _)| *number);
        let size = sorted.first().map_or(0, |(_, replicas)| replicas.len());
        let mut placed = Vec::new();
        for (expected, (number, replicas)) in sorted.into_iter().enumerate() {
            let distinct = replicas.iter().enumerate().all(|(i, b)| !replicas[..i].contains(b));
            let registered = replicas.iter().all(|b| self.image.brokers.contains_key(b));
            let usable = replicas.iter().any(|b| self.image.is_active(*b));
            if *number as usize != expected || replicas.len() != size || !distinct || !registered || !usable {
                return Err(ErrorCode::InvalidReplicaAssignment);
            }
            placed.push(replicas.clone());
        }
        if placed.is_empty() { Err(ErrorCode::InvalidReplicaAssignment) } else { Ok(placed) }
    }

    fn placed(
        &self,
        ctx: &mut Ctx<'_>,
        partitions: u32,
        replication_factor: i32,
    ) -> Result<Vec<Vec<BrokerId>>, ErrorCode> {
        let usable: Vec<UsableBroker> = self
            .image
            .brokers
            .iter()
            .filter(|(_, b)| !b.in_controlled_shutdown)
            .map(|(id, b)| UsableBroker { id: *id, rack: b.rack.clone(), fenced: b.fenced })
            .collect();
        place(&usable, partitions, replication_factor, &mut |n| ctx.rng.below(n))
            .map_err(|_| ErrorCode::InvalidReplicationFactor)
    }

    /// A new partition: ISR = active replicas in the order of assignment, the first of them leads.
    fn new_partition(&self, tp: Tp, replicas: Vec<BrokerId>) -> MetadataRecord {
        let isr: Vec<BrokerId> = replicas.iter().copied().filter(|b| self.image.is_active(*b)).collect();
        // A broker has one log directory here, so that a new replica's is known before it is made.
        let directory = |replica| self.image.brokers.get(replica).map_or(0, |b| b.directory);
        let registration = PartitionRegistration {
            leader: isr.first().copied(),
            directories: replicas.iter().map(directory).collect(),
            replicas,
            isr,
            elr: Vec::new(),
            last_known_elr: Vec::new(),
            leader_recovery: LeaderRecoveryState::Recovered,
            leader_epoch: LeaderEpoch(0),
            partition_epoch: PartitionEpoch(0),
        };
        MetadataRecord::Partition { tp, registration }
    }

    /// DeleteTopics for one topic.
    pub(super) fn delete_topic(&mut self, ctx: &mut Ctx<'_>, name: &Rc<str>) -> Decision {
        let Some(topic) = self.image.topic_id(name) else {
            return Decision::answer(Response::DeleteTopics { error: ErrorCode::UnknownTopicOrPartition });
        };
        ctx.because(Kind::TopicDeleted { topic, name: name.clone() });
        Decision::new(vec![MetadataRecord::RemoveTopic { topic }], Response::DeleteTopics { error: ErrorCode::None })
    }

    /// CreatePartitions: `total` counts the existing ones.
    pub(super) fn create_partitions(&mut self, ctx: &mut Ctx<'_>, name: &Rc<str>, total: u32) -> Decision {
        match self.more_partitions(ctx, name, total) {
            Ok(records) => Decision::new(records, Response::CreatePartitions { error: ErrorCode::None }),
            Err(error) => Decision::answer(Response::CreatePartitions { error }),
        }
    }

    fn more_partitions(&self, ctx: &mut Ctx<'_>, name: &str, total: u32) -> Result<Vec<MetadataRecord>, ErrorCode> {
        let topic = self.image.topic_id(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let image = self.image.topics.get(&topic).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let present = image.partitions.len() as u32;
        if total <= present {
            return Err(ErrorCode::InvalidPartitions);
        }
        self.has_room(name, present, total)?;
        let replication_factor = image.partitions.first().map_or(1, |p| p.replicas.len()) as i32;
        let placed = self.placed(ctx, total - present, replication_factor)?;
        ctx.because(Kind::PartitionsAdded { topic, total });
        Ok((present..)
            .zip(placed)
            .map(|(partition, replicas)| self.new_partition(Tp { topic, partition }, replicas))
            .collect())
    }
}

/// The configs of a new topic in the order of their records. The offsets topic gets its own ones if it is asked for
/// without any.
fn ordered_configs(name: &str, configs: &ConfigMap) -> Vec<(Rc<str>, Rc<str>)> {
    if name != CONSUMER_OFFSETS {
        return configs.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    }
    if configs.is_empty() {
        return OFFSETS_TOPIC_CONFIGS.iter().map(|(k, v)| (Rc::from(*k), Rc::from(*v))).collect();
    }
    let known =
        |key: &str| OFFSETS_TOPIC_CONFIGS.iter().position(|(k, _)| *k == key).unwrap_or(OFFSETS_TOPIC_CONFIGS.len());
    let mut ordered: Vec<(Rc<str>, Rc<str>)> = configs.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    ordered.sort_by_key(|(key, _)| known(key));
    ordered
}
