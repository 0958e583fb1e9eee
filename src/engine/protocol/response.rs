//! Responses by API. Errors are data here; what a client makes of them is the client's affair.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{Api, ApiError, EpochEnd, ErrorCode, OffsetAndMetadata, PartitionRegistration, RecordBatch, Subscription};
use crate::base::{
    BrokerEpoch, BrokerId, ControllerId, GenerationId, LeaderEpoch, Offset, PartitionEpoch, ProducerEpoch, ProducerId,
    QuorumEpoch, TopicId, Tp,
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    /// One result for each batch of the request, in its order.
    Produce {
        results: Vec<ProduceResult>,
    },
    Fetch {
        partitions: Vec<FetchedPartition>,
    },
    QuorumFetch(QuorumFetchResponse),
    ListOffsets {
        partitions: Vec<ListedOffset>,
    },
    Metadata(MetadataResponse),
    OffsetCommit {
        results: Vec<(Tp, ErrorCode)>,
    },
    OffsetFetch {
        error: ErrorCode,
        offsets: Vec<(Tp, OffsetAndMetadata)>,
    },
    /// The coordinator, or why there is none.
    FindCoordinator {
        error: ErrorCode,
        coordinator: Option<BrokerId>,
    },
    JoinGroup(JoinGroupResponse),
    Heartbeat {
        error: ErrorCode,
    },
    LeaveGroup {
        error: ErrorCode,
    },
    SyncGroup {
        error: ErrorCode,
        assignment: Vec<Tp>,
    },
    DescribeGroups(DescribedGroup),
    CreateTopics(ApiError),
    DeleteTopics(ApiError),
    CreatePartitions(ApiError),
    DeleteRecords {
        error: ErrorCode,
        low_watermark: Offset,
    },
    InitProducerId {
        error: ErrorCode,
        id: ProducerId,
        epoch: ProducerEpoch,
    },
    OffsetForLeaderEpoch {
        tp: Tp,
        error: ErrorCode,
        end: Option<EpochEnd>,
    },
    ElectLeaders(ApiError),
    IncrementalAlterConfigs(ApiError),
    Vote {
        error: ErrorCode,
        epoch: QuorumEpoch,
        leader: Option<ControllerId>,
        granted: bool,
        pre_vote: bool,
    },
    BeginQuorumEpoch {
        error: ErrorCode,
        epoch: QuorumEpoch,
        leader: Option<ControllerId>,
    },
    EndQuorumEpoch {
        error: ErrorCode,
        epoch: QuorumEpoch,
        leader: Option<ControllerId>,
    },
    DescribeQuorum(DescribedQuorum),
    AlterPartition {
        error: ErrorCode,
        partitions: Vec<AlteredPartition>,
    },
    BrokerRegistration {
        error: ErrorCode,
        epoch: BrokerEpoch,
    },
    BrokerHeartbeat {
        error: ErrorCode,
        is_caught_up: bool,
        is_fenced: bool,
        should_shut_down: bool,
    },
    AllocateProducerIds {
        error: ErrorCode,
        start: i64,
        len: i32,
    },
    DescribeTopicPartitions {
        topics: Vec<DescribedTopic>,
    },
    AssignReplicasToDirs {
        error: ErrorCode,
        partitions: Vec<(Tp, ErrorCode)>,
    },
}

/// The newer leader that a broker names along with an error (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaderHint {
    pub leader: BrokerId,
    pub epoch: LeaderEpoch,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProduceResult {
    pub tp: Tp,
    pub error: ErrorCode,
    /// -1 on error.
    pub base_offset: Offset,
    pub current_leader: Option<LeaderHint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchedPartition {
    pub tp: Tp,
    pub error: ErrorCode,
    pub high_watermark: Offset,
    pub last_stable_offset: Offset,
    pub log_start_offset: Offset,
    pub diverging: Option<EpochEnd>,
    pub current_leader: Option<LeaderHint>,
    pub batches: Vec<RecordBatch>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuorumFetchResponse {
    pub error: ErrorCode,
    pub leader: Option<ControllerId>,
    pub epoch: QuorumEpoch,
    /// -1 while a new leader does not know it.
    pub high_watermark: Offset,
    pub diverging: Option<EpochEnd>,
    pub batches: Vec<RecordBatch>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListedOffset {
    pub tp: Tp,
    pub error: ErrorCode,
    pub offset: Offset,
    /// The latest in the leader's epoch cache.
    pub leader_epoch: Option<LeaderEpoch>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetadataResponse {
    /// Unfenced ones only.
    pub brokers: Vec<BrokerId>,
    pub topics: Vec<TopicMetadata>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TopicMetadata {
    pub error: ErrorCode,
    pub name: Rc<str>,
    pub topic: Option<TopicId>,
    /// By partition number, without gaps.
    pub partitions: Vec<PartitionMetadata>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionMetadata {
    pub error: ErrorCode,
    pub leader: Option<BrokerId>,
    pub leader_epoch: LeaderEpoch,
    pub replicas: Vec<BrokerId>,
    pub isr: Vec<BrokerId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JoinGroupResponse {
    pub error: ErrorCode,
    pub generation: GenerationId,
    pub protocol: Option<Rc<str>>,
    pub leader: Rc<str>,
    pub member_id: Rc<str>,
    /// Only the group leader gets it: member id, instance id, subscription.
    pub members: Vec<(Rc<str>, Option<Rc<str>>, Subscription)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DescribedGroup {
    pub error: ErrorCode,
    pub state: super::GroupState,
    /// Member id, `client.id`, assignment.
    pub members: Vec<(Rc<str>, Rc<str>, Vec<Tp>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DescribedQuorum {
    pub error: ErrorCode,
    pub leader: Option<ControllerId>,
    pub epoch: QuorumEpoch,
    pub high_watermark: Offset,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlteredPartition {
    pub tp: Tp,
    pub error: ErrorCode,
    pub leader: Option<BrokerId>,
    pub leader_epoch: LeaderEpoch,
    pub isr: Vec<BrokerId>,
    pub partition_epoch: PartitionEpoch,
    pub leader_recovery: super::LeaderRecoveryState,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DescribedTopic {
    pub error: ErrorCode,
    pub name: Rc<str>,
    pub topic: Option<TopicId>,
    pub partitions: Vec<PartitionRegistration>,
}

impl Response {
    /// The API that it answers.
    pub const fn api(&self) -> Api {
        match self {
            Response::Produce { .. } => Api::Produce,
            Response::Fetch { .. } | Response::QuorumFetch(_) => Api::Fetch,
            Response::ListOffsets { .. } => Api::ListOffsets,
            Response::Metadata(_) => Api::Metadata,
            Response::OffsetCommit { .. } => Api::OffsetCommit,
            Response::OffsetFetch { .. } => Api::OffsetFetch,
            Response::FindCoordinator { .. } => Api::FindCoordinator,
            Response::JoinGroup(_) => Api::JoinGroup,
            Response::Heartbeat { .. } => Api::Heartbeat,
            Response::LeaveGroup { .. } => Api::LeaveGroup,
            Response::SyncGroup { .. } => Api::SyncGroup,
            Response::DescribeGroups(_) => Api::DescribeGroups,
            Response::CreateTopics(_) => Api::CreateTopics,
            Response::DeleteTopics(_) => Api::DeleteTopics,
            Response::CreatePartitions(_) => Api::CreatePartitions,
            Response::DeleteRecords { .. } => Api::DeleteRecords,
            Response::InitProducerId { .. } => Api::InitProducerId,
            Response::OffsetForLeaderEpoch { .. } => Api::OffsetForLeaderEpoch,
            Response::ElectLeaders(_) => Api::ElectLeaders,
            Response::IncrementalAlterConfigs(_) => Api::IncrementalAlterConfigs,
            Response::Vote { .. } => Api::Vote,
            Response::BeginQuorumEpoch { .. } => Api::BeginQuorumEpoch,
            Response::EndQuorumEpoch { .. } => Api::EndQuorumEpoch,
            Response::DescribeQuorum(_) => Api::DescribeQuorum,
            Response::AlterPartition { .. } => Api::AlterPartition,
            Response::BrokerRegistration { .. } => Api::BrokerRegistration,
            Response::BrokerHeartbeat { .. } => Api::BrokerHeartbeat,
            Response::AllocateProducerIds { .. } => Api::AllocateProducerIds,
            Response::DescribeTopicPartitions { .. } => Api::DescribeTopicPartitions,
            Response::AssignReplicasToDirs { .. } => Api::AssignReplicasToDirs,
        }
    }

    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        fn first(mut errors: impl Iterator<Item = ErrorCode>) -> ErrorCode {
            errors.find(|e| !e.is_none()).unwrap_or_default()
        }
        match self {
            Response::Produce { results } => first(results.iter().map(|r| r.error)),
            Response::Fetch { partitions } => first(partitions.iter().map(|p| p.error)),
            Response::QuorumFetch(response) => response.error,
            Response::ListOffsets { partitions } => first(partitions.iter().map(|p| p.error)),
            Response::Metadata(response) => first(response.topics.iter().map(|t| t.error)),
            Response::OffsetCommit { results } => first(results.iter().map(|(_, error)| *error)),
            Response::DescribeTopicPartitions { topics } => first(topics.iter().map(|t| t.error)),
            Response::AssignReplicasToDirs { error, partitions } => {
                first(core::iter::once(*error).chain(partitions.iter().map(|(_, error)| *error)))
            }
            Response::AlterPartition { error, partitions } => {
                first(core::iter::once(*error).chain(partitions.iter().map(|p| p.error)))
            }
            Response::CreateTopics(answer)
            | Response::DeleteTopics(answer)
            | Response::CreatePartitions(answer)
            | Response::ElectLeaders(answer)
            | Response::IncrementalAlterConfigs(answer) => answer.error,
            Response::JoinGroup(response) => response.error,
            Response::DescribeGroups(group) => group.error,
            Response::DescribeQuorum(quorum) => quorum.error,
            Response::OffsetFetch { error, .. }
            | Response::FindCoordinator { error, .. }
            | Response::Heartbeat { error }
            | Response::LeaveGroup { error }
            | Response::SyncGroup { error, .. }
            | Response::DeleteRecords { error, .. }
            | Response::InitProducerId { error, .. }
            | Response::OffsetForLeaderEpoch { error, .. }
            | Response::Vote { error, .. }
            | Response::BeginQuorumEpoch { error, .. }
            | Response::EndQuorumEpoch { error, .. }
            | Response::BrokerRegistration { error, .. }
            | Response::BrokerHeartbeat { error, .. }
            | Response::AllocateProducerIds { error, .. } => *error,
        }
    }

    /// A fetch that brought no records: the end of a long poll.
    pub fn is_empty(&self) -> bool {
        match self {
            Response::Fetch { partitions } => {
                partitions.iter().all(|p| p.batches.is_empty() && p.error.is_none() && p.diverging.is_none())
            }
            Response::QuorumFetch(response) => {
                response.batches.is_empty() && response.error.is_none() && response.diverging.is_none()
            }
            _ => false,
        }
    }
}
