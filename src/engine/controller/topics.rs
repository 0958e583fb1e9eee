//! Creating, extending and deleting topics (ReplicationControlManager.createTopics). It moves no existing replica.
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::placer::{PlacementError, UsableBroker, place};
use super::{Controller, Decision};
use crate::base::limits::{MAX_ALL_PARTITIONS, MAX_PARTITIONS, MAX_TOPICS};
use crate::base::{BrokerId, LeaderEpoch, Map, PartitionEpoch, TopicId, Tp, sort_by};
use crate::node::Ctx;
use crate::protocol::config::validate_topic;
use crate::protocol::{
    ApiError, CLUSTER_METADATA, CONSUMER_OFFSETS, ClusterResponse, ConfigMap, ConfigResource, CreateTopicRequest,
    ErrorCode, LeaderRecoveryState, MetadataRecord, PartitionRegistration, Placement,
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
            Ok(records) => Decision::new(records, ClusterResponse::CreateTopics(ErrorCode::None.into())),
            Err(error) => Decision::answer(ClusterResponse::CreateTopics(error)),
        }
    }

    fn new_topic(
        &self,
        ctx: &mut Ctx<'_>,
        request: &CreateTopicRequest,
        by: Creator,
    ) -> Result<Vec<MetadataRecord>, ApiError> {
        let name = &request.name;
        self.check_new_name(name)?;
        validate_topic(&request.configs).map_err(|e| ApiError::new(ErrorCode::InvalidConfig, e.to_string()))?;
        let assignments = match &request.placement {
            Placement::Manual(assignment) if !assignment.is_empty() => {
                self.has_room(name, 0, assignment.len() as u32)?;
                self.manual(assignment)?
            }
            // Without a single assignment the numbers count, and nobody gave any.
            Placement::Manual(_) => self.counted(ctx, name, None, None)?,
            Placement::Counts { partitions, replication_factor } => {
                self.counted(ctx, name, *partitions, *replication_factor)?
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
    fn has_room(&self, name: &str, present: u32, total: u32) -> Result<(), ApiError> {
        let refuse = |most: u64, what: &str| {
            Err(ApiError::new(ErrorCode::PolicyViolation, format!("At most {most} {what} in this playground.")))
        };
        let users = || self.image.topics.values().filter(|topic| &*topic.name != CONSUMER_OFFSETS);
        let others = users().filter(|topic| &*topic.name != name).count();
        let partitions: usize = users().map(|topic| topic.partitions.len()).sum();
        let all = partitions as u64 + u64::from(total.saturating_sub(present));
        if total > MAX_PARTITIONS {
            return refuse(u64::from(MAX_PARTITIONS), "partitions of one topic");
        }
        if name == CONSUMER_OFFSETS {
            return Ok(());
        }
        if others >= MAX_TOPICS {
            return refuse(MAX_TOPICS as u64, "topics");
        }
        if all > u64::from(MAX_ALL_PARTITIONS) {
            return refuse(u64::from(MAX_ALL_PARTITIONS), "partitions of all topics");
        }
        Ok(())
    }

    fn check_new_name(&self, name: &str) -> Result<(), ApiError> {
        if name == CLUSTER_METADATA {
            let sentence = format!("Creation of internal topic {CLUSTER_METADATA} is prohibited.");
            return Err(ApiError::new(ErrorCode::InvalidRequest, sentence));
        }
        if self.image.topic_id(name).is_some() {
            return Err(ApiError::new(ErrorCode::TopicAlreadyExists, format!("Topic '{name}' already exists.")));
        }
        // Metrics replace dots by underscores, so two such names would be one.
        let flat = |name: &str| -> String { name.replace('.', "_") };
        let collides = |other: &&Rc<str>| other.contains(['.', '_']) && flat(other) == flat(name);
        if name.contains(['.', '_'])
            && let Some(other) = self.image.topic_ids.keys().find(collides)
        {
            let sentence = format!("Topic '{name}' collides with existing topic: {other}");
            return Err(ApiError::new(ErrorCode::InvalidTopicException, sentence));
        }
        check_name(name)
    }

    fn manual(&self, assignment: &[(u32, Vec<BrokerId>)]) -> Result<Vec<Vec<BrokerId>>, ApiError> {
        let refuse = |sentence: String| Err(ApiError::new(ErrorCode::InvalidReplicaAssignment, sentence));
        let mut placed: Map<u32, Vec<BrokerId>> = Map::new();
        let mut size = None;
        for (number, replicas) in assignment {
            if placed.contains_key(number) {
                return refuse(format!("Found multiple manual partition assignments for partition {number}"));
            }
            self.check_assignment(replicas, size)?;
            size = Some(replicas.len());
            if !replicas.iter().any(|b| self.image.is_active(*b)) {
                return refuse(format!(
                    "All brokers specified in the manual partition assignment for partition {number} are fenced or in \
                     controlled shutdown."
                ));
            }
            placed.insert(*number, replicas.clone());
        }
        if (0u32..).zip(placed.keys()).any(|(expected, number)| expected != *number) {
            return refuse("partitions should be a consecutive 0-based integer sequence".into());
        }
        Ok(placed.into_values().collect())
    }

    /// One assignment by hand. `size`: how many replicas the partitions before it have.
    fn check_assignment(&self, replicas: &[BrokerId], size: Option<usize>) -> Result<(), ApiError> {
        let refuse = |what: String| {
            let sentence = format!("The manual partition assignment includes {what}");
            Err(ApiError::new(ErrorCode::InvalidReplicaAssignment, sentence))
        };
        if replicas.is_empty() {
            return refuse("an empty replica list.".into());
        }
        let mut sorted = replicas.to_vec();
        sort_by(&mut sorted, Ord::cmp);
        let mut previous = None;
        for broker in sorted {
            if !self.image.brokers.contains_key(&broker) {
                return refuse(format!("broker {}, but no such broker is registered.", broker.0));
            }
            if previous == Some(broker) {
                return refuse(format!("the broker {} more than once.", broker.0));
            }
            previous = Some(broker);
        }
        match size {
            Some(size) if size != replicas.len() => refuse(format!(
                "a partition with {} replica(s), but this is not consistent with previous partitions, which have \
                 {size} \
                 replica(s).",
                replicas.len()
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Replicas of a new topic by their numbers; those that are not given, or given as -1, are the controller's
    /// defaults.
    fn counted(
        &self,
        ctx: &mut Ctx<'_>,
        name: &str,
        partitions: Option<i32>,
        replication_factor: Option<i16>,
    ) -> Result<Vec<Vec<BrokerId>>, ApiError> {
        let replication_factor = match replication_factor {
            None | Some(-1) => self.config.default_replication_factor as i32,
            Some(n) if n > 0 => i32::from(n),
            Some(_) => {
                let sentence = "Replication factor must be larger than 0, or -1 to use the default value.";
                return Err(ApiError::new(ErrorCode::InvalidReplicationFactor, sentence));
            }
        };
        let partitions = match partitions {
            None | Some(-1) => self.config.num_partitions,
            Some(n) if n > 0 => n as u32,
            Some(_) => {
                let sentence = "Number of partitions was set to an invalid non-positive value.";
                return Err(ApiError::new(ErrorCode::InvalidPartitions, sentence));
            }
        };
        self.has_room(name, 0, partitions)?;
        self.placed(ctx, partitions, replication_factor).map_err(|why| {
            let sentence = format!("Unable to replicate the partition {replication_factor} time(s): {why}");
            ApiError::new(ErrorCode::InvalidReplicationFactor, sentence)
        })
    }

    fn placed(
        &self,
        ctx: &mut Ctx<'_>,
        partitions: u32,
        replication_factor: i32,
    ) -> Result<Vec<Vec<BrokerId>>, PlacementError> {
        let usable: Vec<UsableBroker> = self
            .image
            .brokers
            .iter()
            .filter(|(_, b)| !b.in_controlled_shutdown)
            .map(|(id, b)| UsableBroker { id: *id, rack: b.rack.clone(), fenced: b.fenced })
            .collect();
        place(&usable, partitions, replication_factor, &mut |n| ctx.rng.below(n))
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

    /// DeleteTopics for one topic. Internal topics are topics.
    pub(super) fn delete_topic(&mut self, ctx: &mut Ctx<'_>, name: &Rc<str>) -> Decision {
        let Some(topic) = self.image.topic_id(name) else {
            return Decision::answer(ClusterResponse::DeleteTopics(ErrorCode::UnknownTopicOrPartition.into()));
        };
        ctx.because(Kind::TopicDeleted { topic, name: name.clone() });
        Decision::new(
            vec![MetadataRecord::RemoveTopic { topic }],
            ClusterResponse::DeleteTopics(ErrorCode::None.into()),
        )
    }

    /// CreatePartitions: `total` counts the existing ones.
    pub(super) fn create_partitions(&mut self, ctx: &mut Ctx<'_>, name: &Rc<str>, total: u32) -> Decision {
        match self.more_partitions(ctx, name, total) {
            Ok(records) => Decision::new(records, ClusterResponse::CreatePartitions(ErrorCode::None.into())),
            Err(error) => Decision::answer(ClusterResponse::CreatePartitions(error)),
        }
    }

    fn more_partitions(&self, ctx: &mut Ctx<'_>, name: &str, total: u32) -> Result<Vec<MetadataRecord>, ApiError> {
        let topic = self.image.topic_id(name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let image = self.image.topics.get(&topic).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let present = image.partitions.len() as u32;
        if total <= present {
            let sentence = if total == present {
                format!("Topic already has {present} partition(s).")
            } else {
                format!("The topic {name} currently has {present} partition(s); {total} would not be an increase.")
            };
            return Err(ApiError::new(ErrorCode::InvalidPartitions, sentence));
        }
        self.has_room(name, present, total)?;
        let replication_factor = image.partitions.first().map_or(1, |p| p.replicas.len()) as i32;
        let placed = self
            .placed(ctx, total - present, replication_factor)
            .map_err(|why| ApiError::new(ErrorCode::InvalidReplicationFactor, why.to_string()))?;
        ctx.because(Kind::PartitionsAdded { topic, total });
        Ok((present..)
            .zip(placed)
            .map(|(partition, replicas)| self.new_partition(Tp { topic, partition }, replicas))
            .collect())
    }
}

/// Whether a topic may be called so (Topic.validate).
pub(super) fn check_name(name: &str) -> Result<(), ApiError> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let reason = match name {
        "" => "the empty string is not allowed".into(),
        "." | ".." => format!("'{name}' is not allowed"),
        long if long.chars().count() > MAX_NAME => {
            format!("the length of '{name}' is longer than the max allowed length {MAX_NAME}")
        }
        strange if !strange.chars().all(legal) => {
            format!("'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'")
        }
        _legal => return Ok(()),
    };
    Err(ApiError::new(ErrorCode::InvalidTopicException, format!("Topic name is invalid: {reason}")))
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
    sort_by(&mut ordered, |a, b| known(&a.0).cmp(&known(&b.0)));
    ordered
}
