//! Responses by API. Errors are data here; what a client makes of them is the client's affair.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{EpochEnd, ErrorCode, OffsetAndMetadata, PartitionRegistration, RecordBatch, Subscription};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, GenerationId, LeaderEpoch, Offset, PartitionEpoch, ProducerEpoch, ProducerId, QuorumEpoch, TopicId, Tp};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Response {
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
    CreateTopics {
        error: ErrorCode,
    },
    DeleteTopics {
        error: ErrorCode,
    },
    CreatePartitions {
        error: ErrorCode,
    },
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
    ElectLeaders {
        error: ErrorCode,
    },
    IncrementalAlterConfigs {
        error: ErrorCode,
    },
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
