//! Requests by server and API, with the fields that decide something. Wire versions are folded; compression, quotas
//! and ACLs are absent.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{Api, ConfigResource, OffsetAndMetadata, RecordBatch, Subscription};
use crate::base::{
    BrokerEpoch, BrokerId, ControllerId, Dur, GenerationId, Incarnation, LeaderEpoch, Map, Offset, PartitionEpoch,
    QuorumEpoch, TopicId, Tp,
};

/// Topic configs as given, unparsed.
pub type ConfigMap = Map<Rc<str>, Rc<str>>;

/// `acks` of a producer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Acks {
    Zero,
    One,
    All,
}

/// A request, nested by who serves it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    Partition(PartitionRequest),
    Group(GroupRequest),
    Broker(BrokerRequest),
    Cluster(ClusterRequest),
    Controller(ControllerRequest),
    Quorum(QuorumRequest),
}

impl Request {
    /// Records that it carries to be written.
    pub fn records(&self) -> u32 {
        match self {
            Request::Partition(PartitionRequest::Produce(request)) => {
                request.batches.iter().map(|(_, batch)| batch.count() as u32).sum()
            }
            Request::Partition(_)
            | Request::Group(_)
            | Request::Broker(_)
            | Request::Cluster(_)
            | Request::Controller(_)
            | Request::Quorum(_) => 0,
        }
    }
}

/// What the leader of a partition serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PartitionRequest {
    Produce(ProduceRequest),
    Fetch(FetchRequest),
    ListOffsets(ListOffsetsRequest),
    OffsetForLeaderEpoch { tp: Tp, current_leader_epoch: Option<LeaderEpoch>, epoch: i32 },
    DeleteRecords { tp: Tp, before: Offset, timeout: Dur },
}

/// What the coordinator of a group serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupRequest {
    JoinGroup(JoinGroupRequest),
    SyncGroup(SyncGroupRequest),
    Heartbeat(MemberRequest),
    LeaveGroup(MemberRequest),
    OffsetCommit(OffsetCommitRequest),
    OffsetFetch { group: Rc<str> },
    DescribeGroups { group: Rc<str> },
}

/// What any broker serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BrokerRequest {
    Metadata(MetadataRequest),
    /// Like Metadata, with ELR (KIP-966). `None` is all topics.
    DescribeTopicPartitions {
        topics: Option<Vec<Rc<str>>>,
    },
    FindCoordinator {
        group: Rc<str>,
    },
    InitProducerId,
}

/// What a client wants of the active controller: it asks any broker, which passes it on in an Envelope.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClusterRequest {
    CreateTopics(CreateTopicRequest),
    DeleteTopics { name: Rc<str> },
    CreatePartitions { name: Rc<str>, total: u32 },
    ElectLeaders { topic: Rc<str>, partition: u32, unclean: bool },
    IncrementalAlterConfigs { resource: ConfigTarget, configs: ConfigMap },
    DescribeQuorum,
}

/// What a broker asks the active controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ControllerRequest {
    /// A request of a client that a broker passes on (KIP-590).
    Envelope(ClusterRequest),
    BrokerRegistration(BrokerRegistrationRequest),
    BrokerHeartbeat(BrokerHeartbeatRequest),
    AlterPartition(AlterPartitionRequest),
    AllocateProducerIds {
        broker: BrokerId,
        epoch: BrokerEpoch,
    },
    AssignReplicasToDirs(AssignReplicasToDirsRequest),
}

/// What voters of the metadata quorum ask each other, and brokers that read its log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuorumRequest {
    Vote(VoteRequest),
    BeginQuorumEpoch {
        leader: ControllerId,
        epoch: QuorumEpoch,
    },
    EndQuorumEpoch {
        leader: ControllerId,
        epoch: QuorumEpoch,
        preferred_successors: Vec<ControllerId>,
    },
    /// Fetch of the metadata log: the same API (key 1), another topic and other rules (KIP-595).
    Fetch(QuorumFetchRequest),
}

one_of! {
    Request:
    Partition(PartitionRequest) = Produce Fetch ListOffsets OffsetForLeaderEpoch DeleteRecords;
    Group(GroupRequest) = OffsetCommit OffsetFetch JoinGroup Heartbeat LeaveGroup SyncGroup DescribeGroups;
    Broker(BrokerRequest) = Metadata DescribeTopicPartitions FindCoordinator InitProducerId;
    Cluster(ClusterRequest) = CreateTopics DeleteTopics CreatePartitions ElectLeaders IncrementalAlterConfigs
        DescribeQuorum;
    Controller(ControllerRequest) = Envelope BrokerRegistration BrokerHeartbeat AlterPartition AllocateProducerIds
        AssignReplicasToDirs;
    Quorum(QuorumRequest) = Vote BeginQuorumEpoch EndQuorumEpoch Fetch;
}

impl GroupRequest {
    /// The group that is meant.
    pub fn group(&self) -> &Rc<str> {
        match self {
            GroupRequest::JoinGroup(request) => &request.group,
            GroupRequest::SyncGroup(request) => &request.member.group,
            GroupRequest::Heartbeat(request) | GroupRequest::LeaveGroup(request) => &request.group,
            GroupRequest::OffsetCommit(request) => &request.group,
            GroupRequest::OffsetFetch { group } | GroupRequest::DescribeGroups { group } => group,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProduceRequest {
    pub acks: Acks,
    /// The client's `request.timeout.ms`: how long acks=all may wait at the broker.
    pub timeout: Dur,
    /// One batch per partition at most; base offsets are 0.
    pub batches: Vec<(Tp, RecordBatch)>,
    pub topics: ProducedTopics,
}

/// What a produce request calls its topics by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProducedTopics {
    /// From version 13 on (client and broker 4.1): the ids of the partitions of its batches.
    #[default]
    ById,
    /// Before: names. The topic ids in the request are then what the client remembers, and the broker does not see
    /// them; here is the name for each.
    ByName(Map<TopicId, Rc<str>>),
}

/// Who fetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetcher {
    Consumer {
        isolation: Isolation,
    },
    /// A follower, with its broker epoch (KIP-903).
    Follower {
        broker: BrokerId,
        epoch: BrokerEpoch,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isolation {
    #[default]
    ReadUncommitted,
    ReadCommitted,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchRequest {
    pub fetcher: Fetcher,
    pub max_wait: Dur,
    pub min_bytes: u32,
    pub max_bytes: u32,
    pub partitions: Vec<FetchPartition>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchPartition {
    pub tp: Tp,
    pub current_leader_epoch: Option<LeaderEpoch>,
    pub fetch_offset: Offset,
    /// Latest epoch of the fetcher's log; followers always give it when they have one.
    pub last_fetched_epoch: Option<i32>,
    pub log_start_offset: Offset,
    pub max_bytes: u32,
}

/// Who fetches the metadata log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuorumReplica {
    Voter(ControllerId),
    Observer(BrokerId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuorumFetchRequest {
    pub replica: QuorumReplica,
    pub current_leader_epoch: QuorumEpoch,
    pub fetch_offset: Offset,
    pub last_fetched_epoch: i32,
    /// The fetcher's high watermark (KIP-1166, 4.1+); -1 before.
    pub high_watermark: Offset,
    pub max_wait: Dur,
}

/// Timestamps -1 and -2 of ListOffsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OffsetSpec {
    Latest,
    Earliest,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListOffsetsRequest {
    /// `None` for a consumer or an administrator; followers read to the log end.
    pub replica: Option<BrokerId>,
    pub isolation: Isolation,
    pub partitions: Vec<(Tp, Option<LeaderEpoch>, OffsetSpec)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MetadataRequest {
    /// `None` is all topics, an empty list none.
    pub topics: Option<Vec<Rc<str>>>,
    pub allow_auto_topic_creation: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OffsetCommitRequest {
    pub group: Rc<str>,
    /// -1 for a simple consumer.
    pub generation: GenerationId,
    pub member_id: Rc<str>,
    pub instance_id: Option<Rc<str>>,
    pub offsets: Vec<(Tp, OffsetAndMetadata)>,
    /// The names of the topics. Consumers of the classic protocol commit by name in every version; the ids above are
    /// what the client remembers, and the broker does not see them.
    pub names: Map<TopicId, Rc<str>>,
    /// From v9 on: before, a commit to a group that is not there is one of an illegal generation.
    pub knows_group_id_not_found: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct JoinGroupRequest {
    pub group: Rc<str>,
    /// Empty at the first try (KIP-394).
    pub member_id: Rc<str>,
    pub instance_id: Option<Rc<str>>,
    /// `client.id`, the first part of the member id.
    pub client_id: Rc<str>,
    pub session_timeout: Dur,
    /// `max.poll.interval.ms`.
    pub rebalance_timeout: Dur,
    /// Assignor names in order of preference, each with what it needs to know.
    pub protocols: Vec<(Rc<str>, Subscription)>,
    /// Clients before 2.2 are not asked to come again with their id.
    pub knows_member_id_required: bool,
}

/// Heartbeat and LeaveGroup.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberRequest {
    pub group: Rc<str>,
    pub generation: GenerationId,
    pub member_id: Rc<str>,
    pub instance_id: Option<Rc<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SyncGroupRequest {
    pub member: MemberRequest,
    /// Only the group leader fills it: member id and its partitions.
    pub assignments: Vec<(Rc<str>, Vec<Tp>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CreateTopicRequest {
    pub name: Rc<str>,
    pub placement: Placement,
    pub configs: ConfigMap,
    /// Client's patience; the broker that forwards has its own.
    pub timeout: Dur,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// `None` is the broker's default.
    Counts { partitions: Option<i32>, replication_factor: Option<i16> },
    /// Replicas per partition number.
    Manual(Vec<(u32, Vec<BrokerId>)>),
}

/// A resource of IncrementalAlterConfigs, by name as a client gives it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConfigTarget {
    Topic(Rc<str>),
    Broker(BrokerId),
    Cluster,
}

impl ConfigTarget {
    /// The resource in the metadata, `None` for a topic that does not exist.
    pub fn resolve(&self, topic_id: impl Fn(&str) -> Option<TopicId>) -> Option<ConfigResource> {
        match self {
            ConfigTarget::Topic(name) => topic_id(name).map(ConfigResource::Topic),
            ConfigTarget::Broker(id) => Some(ConfigResource::Broker(*id)),
            ConfigTarget::Cluster => Some(ConfigResource::Cluster),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VoteRequest {
    pub candidate: ControllerId,
    /// The epoch that the candidate wants to lead, or its own epoch in a pre-vote.
    pub epoch: QuorumEpoch,
    pub last_epoch: i32,
    pub last_offset: Offset,
    /// KIP-996.
    pub pre_vote: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterPartitionRequest {
    pub broker: BrokerId,
    pub broker_epoch: BrokerEpoch,
    pub partitions: Vec<AlterPartitionItem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AlterPartitionItem {
    pub tp: Tp,
    pub leader_epoch: LeaderEpoch,
    pub partition_epoch: PartitionEpoch,
    /// In the order of the leader's set; the epoch is `None` where the leader does not know it.
    pub new_isr: Vec<(BrokerId, Option<BrokerEpoch>)>,
    pub leader_recovery: super::LeaderRecoveryState,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BrokerRegistrationRequest {
    pub broker: BrokerId,
    pub incarnation: Incarnation,
    pub rack: Option<Rc<str>>,
    /// Id of its log directory (KIP-858).
    pub directory: u32,
    /// From the clean-shutdown marker; `None` after a crash.
    pub previous_broker_epoch: Option<BrokerEpoch>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BrokerHeartbeatRequest {
    pub broker: BrokerId,
    pub epoch: BrokerEpoch,
    /// Offset after the last metadata record that the broker has applied.
    pub current_metadata_offset: Offset,
    pub want_fence: bool,
    pub want_shut_down: bool,
}

/// A broker tells in which of its log directories replicas are (KIP-858).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AssignReplicasToDirsRequest {
    pub broker: BrokerId,
    pub broker_epoch: BrokerEpoch,
    pub directory: u32,
    pub partitions: Vec<Tp>,
}
