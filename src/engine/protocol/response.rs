//! Responses by API. Errors are data here; what a client makes of them is the client's affair.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{
    Api, ApiError, ClusterRequest, EpochEnd, ErrorCode, OffsetAndMetadata, PartitionRegistration, RecordBatch,
    Subscription,
};
use crate::base::{
    BrokerEpoch, BrokerId, ControllerId, GenerationId, LeaderEpoch, Offset, PartitionEpoch, ProducerEpoch, ProducerId,
    QuorumEpoch, TopicId, Tp,
};

/// A response, nested as its request is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Response {
    Partition(PartitionResponse),
    Group(GroupResponse),
    Broker(BrokerResponse),
    Cluster(ClusterResponse),
    Controller(ControllerResponse),
    Quorum(QuorumResponse),
}

/// What the leader of a partition answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartitionResponse {
    /// One result for each batch of the request, in its order.
    Produce {
        results: Vec<ProduceResult>,
    },
    Fetch {
        partitions: Vec<FetchedPartition>,
    },
    ListOffsets {
        partitions: Vec<ListedOffset>,
    },
    OffsetForLeaderEpoch {
        tp: Tp,
        error: ErrorCode,
        end: Option<EpochEnd>,
    },
    DeleteRecords {
        error: ErrorCode,
        low_watermark: Offset,
    },
}

/// What the coordinator of a group answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupResponse {
    JoinGroup(JoinGroupResponse),
    SyncGroup { error: ErrorCode, assignment: Vec<Tp> },
    Heartbeat { error: ErrorCode },
    LeaveGroup { error: ErrorCode },
    OffsetCommit { results: Vec<(Tp, ErrorCode)> },
    OffsetFetch { error: ErrorCode, offsets: Vec<(Tp, OffsetAndMetadata)> },
    DescribeGroups(DescribedGroup),
}

/// What any broker answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BrokerResponse {
    Metadata(MetadataResponse),
    DescribeTopicPartitions {
        topics: Vec<DescribedTopic>,
    },
    /// The coordinator, or why there is none.
    FindCoordinator {
        error: ErrorCode,
        coordinator: Option<BrokerId>,
    },
    InitProducerId {
        error: ErrorCode,
        id: ProducerId,
        epoch: ProducerEpoch,
    },
}

/// What the active controller answers to a client, through a broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClusterResponse {
    CreateTopics(ApiError),
    DeleteTopics(ApiError),
    CreatePartitions(ApiError),
    ElectLeaders(ApiError),
    IncrementalAlterConfigs(ApiError),
    DescribeQuorum(DescribedQuorum),
}

/// What the active controller answers to a broker. An Envelope is answered with what it carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerResponse {
    BrokerRegistration { error: ErrorCode, epoch: BrokerEpoch },
    BrokerHeartbeat { error: ErrorCode, is_caught_up: bool, is_fenced: bool, should_shut_down: bool },
    AlterPartition { error: ErrorCode, partitions: Vec<AlteredPartition> },
    AllocateProducerIds { error: ErrorCode, start: i64, len: i32 },
    AssignReplicasToDirs { error: ErrorCode, partitions: Vec<(Tp, ErrorCode)> },
}

/// What a voter of the metadata quorum answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuorumResponse {
    Vote { error: ErrorCode, epoch: QuorumEpoch, leader: Option<ControllerId>, granted: bool, pre_vote: bool },
    BeginQuorumEpoch { error: ErrorCode, epoch: QuorumEpoch, leader: Option<ControllerId> },
    EndQuorumEpoch { error: ErrorCode, epoch: QuorumEpoch, leader: Option<ControllerId> },
    Fetch(QuorumFetchResponse),
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

one_of! {
    Response:
    Partition(PartitionResponse) = Produce Fetch ListOffsets OffsetForLeaderEpoch DeleteRecords;
    Group(GroupResponse) = OffsetCommit OffsetFetch JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups;
    Broker(BrokerResponse) = Metadata DescribeTopicPartitions FindCoordinator InitProducerId;
    Cluster(ClusterResponse) = CreateTopics DeleteTopics CreatePartitions ElectLeaders IncrementalAlterConfigs
        DescribeQuorum;
    Controller(ControllerResponse) = BrokerRegistration BrokerHeartbeat AlterPartition AllocateProducerIds
        AssignReplicasToDirs;
    Quorum(QuorumResponse) = Vote BeginQuorumEpoch EndQuorumEpoch Fetch;
}

impl Response {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            Response::Partition(response) => response.error(),
            Response::Group(response) => response.error(),
            Response::Broker(response) => response.error(),
            Response::Cluster(response) => response.error(),
            Response::Controller(response) => response.error(),
            Response::Quorum(response) => response.error(),
        }
    }

    /// A fetch that brought no records: the end of a long poll.
    pub fn is_empty(&self) -> bool {
        match self {
            Response::Partition(PartitionResponse::Fetch { partitions }) => {
                partitions.iter().all(|p| p.batches.is_empty() && p.error.is_none() && p.diverging.is_none())
            }
            Response::Quorum(QuorumResponse::Fetch(response)) => {
                response.batches.is_empty() && response.error.is_none() && response.diverging.is_none()
            }
            _ => false,
        }
    }
}

impl PartitionResponse {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            PartitionResponse::Produce { results } => first(results.iter().map(|r| r.error)),
            PartitionResponse::Fetch { partitions } => first(partitions.iter().map(|p| p.error)),
            PartitionResponse::ListOffsets { partitions } => first(partitions.iter().map(|p| p.error)),
            PartitionResponse::OffsetForLeaderEpoch { error, .. } | PartitionResponse::DeleteRecords { error, .. } => {
                *error
            }
        }
    }
}

impl GroupResponse {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            GroupResponse::JoinGroup(response) => response.error,
            GroupResponse::OffsetCommit { results } => first(results.iter().map(|(_, error)| *error)),
            GroupResponse::DescribeGroups(group) => group.error,
            GroupResponse::SyncGroup { error, .. }
            | GroupResponse::Heartbeat { error }
            | GroupResponse::LeaveGroup { error }
            | GroupResponse::OffsetFetch { error, .. } => *error,
        }
    }
}

impl BrokerResponse {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            BrokerResponse::Metadata(response) => first(response.topics.iter().map(|t| t.error)),
            BrokerResponse::DescribeTopicPartitions { topics } => first(topics.iter().map(|t| t.error)),
            BrokerResponse::FindCoordinator { error, .. } | BrokerResponse::InitProducerId { error, .. } => *error,
        }
    }
}

impl ClusterResponse {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            ClusterResponse::CreateTopics(answer)
            | ClusterResponse::DeleteTopics(answer)
            | ClusterResponse::CreatePartitions(answer)
            | ClusterResponse::ElectLeaders(answer)
            | ClusterResponse::IncrementalAlterConfigs(answer) => answer.error,
            ClusterResponse::DescribeQuorum(quorum) => quorum.error,
        }
    }
}

impl ControllerResponse {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            ControllerResponse::AssignReplicasToDirs { error, partitions } => {
                first(core::iter::once(*error).chain(partitions.iter().map(|(_, error)| *error)))
            }
            ControllerResponse::AlterPartition { error, partitions } => {
                first(core::iter::once(*error).chain(partitions.iter().map(|p| p.error)))
            }
            ControllerResponse::BrokerRegistration { error, .. }
            | ControllerResponse::BrokerHeartbeat { error, .. }
            | ControllerResponse::AllocateProducerIds { error, .. } => *error,
        }
    }
}

impl QuorumResponse {
    /// The first error in it, `NONE` if all is well.
    pub fn error(&self) -> ErrorCode {
        match self {
            QuorumResponse::Fetch(response) => response.error,
            QuorumResponse::Vote { error, .. }
            | QuorumResponse::BeginQuorumEpoch { error, .. }
            | QuorumResponse::EndQuorumEpoch { error, .. } => *error,
        }
    }
}

impl ClusterRequest {
    /// The answer that carries nothing but this error.
    pub fn refused(&self, error: ErrorCode) -> ClusterResponse {
        match self {
            ClusterRequest::CreateTopics(_) => ClusterResponse::CreateTopics(error.into()),
            ClusterRequest::DeleteTopics { .. } => ClusterResponse::DeleteTopics(error.into()),
            ClusterRequest::CreatePartitions { .. } => ClusterResponse::CreatePartitions(error.into()),
            ClusterRequest::ElectLeaders { .. } => ClusterResponse::ElectLeaders(error.into()),
            ClusterRequest::IncrementalAlterConfigs { .. } => ClusterResponse::IncrementalAlterConfigs(error.into()),
            ClusterRequest::DescribeQuorum => ClusterResponse::DescribeQuorum(DescribedQuorum {
                error,
                leader: None,
                epoch: QuorumEpoch::default(),
                high_watermark: -1,
            }),
        }
    }
}

fn first(mut errors: impl Iterator<Item = ErrorCode>) -> ErrorCode {
    errors.find(|error| !error.is_none()).unwrap_or_default()
}
