//! One action of the administrator: what it needs next, from whom, and how long it may take. It sends nothing.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::API_TIMEOUT;
use crate::base::{BrokerId, Dur, Offset, SimTime, Tp};
use crate::node::message::AdminRequest;
use crate::protocol::{
    BrokerRequest, ClusterRequest, ConfigTarget, CreateTopicRequest, GroupRequest, Isolation, ListOffsetsRequest,
    MetadataRequest, OffsetSpec, PartitionRequest, Placement, Request,
};

/// Where a call stands with the node that it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wire {
    /// Has to choose a node.
    Idle,
    /// Waits for the connection to a node.
    Connecting(BrokerId),
    Flying(BrokerId),
}

/// What a task needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// The request itself, to any broker.
    Any,
    /// The request itself, to the broker that the metadata names as controller.
    AskController,
    /// `describeCluster`, with which `describeTopics` begins (4.0+).
    DescribeCluster,
    /// The request itself, to the one broker that it concerns.
    AskBroker(BrokerId),
    FindLeader,
    AskLeader(BrokerId, Tp),
    FindCoordinator,
    AskCoordinator(BrokerId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Task {
    pub request: AdminRequest,
    pub stage: Stage,
    pub wire: Wire,
    pub deadline: SimTime,
    pub not_before: SimTime,
    /// When the request in flight is no longer waited for, if the client looks then.
    pub unanswered_at: SimTime,
    /// Which of the three offset questions is next.
    pub question: u32,
    pub offsets: [Offset; 3],
    pub tries: u32,
    pub failures: u32,
    /// The leader that it asks was remembered, not looked up for this call: a lost connection does not make the client
    /// look again, only the leader's own answer does.
    pub remembered: bool,
}

impl Task {
    pub fn new(request: AdminRequest, stage: Stage, now: SimTime) -> Task {
        let remembered = matches!(stage, Stage::AskLeader(..));
        let deadline = now + time_limit(&request);
        Task {
            request,
            stage,
            wire: Wire::Idle,
            deadline,
            not_before: now,
            unanswered_at: now,
            question: 0,
            offsets: [-1; 3],
            tries: 1,
            failures: 0,
            remembered,
        }
    }

    /// What is sent at this stage.
    pub fn body(&self, timeout: Dur) -> Request {
        let metadata = |topics: Vec<Rc<str>>| {
            Request::Broker(BrokerRequest::Metadata(MetadataRequest {
                topics: Some(topics),
                allow_auto_topic_creation: false,
            }))
        };
        match (self.stage, &self.request) {
            (Stage::DescribeCluster, _) => metadata(Vec::new()),
            (
                Stage::FindLeader,
                AdminRequest::DeleteRecords { topic, .. } | AdminRequest::ListOffsets { topic, .. },
            ) => metadata(alloc::vec![topic.clone()]),
            (Stage::FindCoordinator, AdminRequest::DescribeGroup { group } | AdminRequest::ListCommitted { group }) => {
                Request::Broker(BrokerRequest::FindCoordinator { group: group.clone() })
            }
            (Stage::AskLeader(_, tp), AdminRequest::DeleteRecords { before, .. }) => {
                Request::Partition(PartitionRequest::DeleteRecords { tp, before: *before, timeout })
            }
            (Stage::AskLeader(_, tp), _) => {
                let (spec, isolation) = match self.question {
                    0 => (OffsetSpec::Earliest, Isolation::ReadUncommitted),
                    1 => (OffsetSpec::Latest, Isolation::ReadUncommitted),
                    _ => (OffsetSpec::Latest, Isolation::ReadCommitted),
                };
                Request::Partition(PartitionRequest::ListOffsets(ListOffsetsRequest {
                    replica: None,
                    isolation,
                    partitions: alloc::vec![(tp, None, spec)],
                }))
            }
            (
                Stage::Any
                | Stage::AskController
                | Stage::AskBroker(_)
                | Stage::FindLeader
                | Stage::FindCoordinator
                | Stage::AskCoordinator(_),
                request,
            ) => match request {
                AdminRequest::CreateTopic(create) => {
                    Request::Cluster(ClusterRequest::CreateTopics(CreateTopicRequest { timeout, ..create.clone() }))
                }
                AdminRequest::DeleteTopic { name } => {
                    Request::Cluster(ClusterRequest::DeleteTopics { name: name.clone() })
                }
                AdminRequest::CreatePartitions { name, total } => {
                    Request::Cluster(ClusterRequest::CreatePartitions { name: name.clone(), total: *total })
                }
                AdminRequest::AlterConfigs { resource, configs } => {
                    Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
                        resource: resource.clone(),
                        configs: configs.clone(),
                    })
                }
                AdminRequest::ElectLeaders { topic, partition, unclean } => {
                    Request::Cluster(ClusterRequest::ElectLeaders {
                        topic: topic.clone(),
                        partition: *partition,
                        unclean: *unclean,
                    })
                }
                AdminRequest::DescribeTopics { topics } => {
                    Request::Broker(BrokerRequest::DescribeTopicPartitions { topics: topics.clone() })
                }
                AdminRequest::DescribeGroup { group } => {
                    Request::Group(GroupRequest::DescribeGroups { group: group.clone() })
                }
                AdminRequest::ListCommitted { group } => {
                    Request::Group(GroupRequest::OffsetFetch { group: group.clone() })
                }
                AdminRequest::DescribeQuorum => Request::Cluster(ClusterRequest::DescribeQuorum),
                AdminRequest::DescribeCluster
                | AdminRequest::DeleteRecords { .. }
                | AdminRequest::ListOffsets { .. }
                | AdminRequest::Renew
                | AdminRequest::Connect => metadata(Vec::new()),
            },
        }
    }
}

/// The time that the request as a whole is given.
fn time_limit(request: &AdminRequest) -> Dur {
    match request {
        AdminRequest::CreateTopic(CreateTopicRequest { timeout, .. }) if *timeout > Dur::ZERO => *timeout,
        AdminRequest::CreateTopic(CreateTopicRequest { placement: Placement::Counts { .. }, .. }) => Dur::secs(15),
        AdminRequest::CreateTopic(_)
        | AdminRequest::DeleteTopic { .. }
        | AdminRequest::CreatePartitions { .. }
        | AdminRequest::DeleteRecords { .. }
        | AdminRequest::AlterConfigs { .. }
        | AdminRequest::ElectLeaders { .. }
        | AdminRequest::DescribeTopics { .. }
        | AdminRequest::Renew
        | AdminRequest::Connect => API_TIMEOUT,
        AdminRequest::ListOffsets { .. } => Dur::secs(4),
        AdminRequest::DescribeGroup { .. }
        | AdminRequest::ListCommitted { .. }
        | AdminRequest::DescribeQuorum
        | AdminRequest::DescribeCluster => Dur::secs(5),
    }
}

pub(super) fn first_stage(request: &AdminRequest) -> Stage {
    match request {
        AdminRequest::DeleteRecords { .. } | AdminRequest::ListOffsets { .. } => Stage::FindLeader,
        AdminRequest::DescribeGroup { .. } | AdminRequest::ListCommitted { .. } => Stage::FindCoordinator,
        AdminRequest::CreateTopic(_)
        | AdminRequest::DeleteTopic { .. }
        | AdminRequest::CreatePartitions { .. }
        | AdminRequest::ElectLeaders { .. } => Stage::AskController,
        AdminRequest::DescribeTopics { .. } => Stage::DescribeCluster,
        AdminRequest::AlterConfigs { resource: ConfigTarget::Broker(broker), .. } => Stage::AskBroker(*broker),
        AdminRequest::AlterConfigs { resource: ConfigTarget::Topic(_) | ConfigTarget::Cluster, .. }
        | AdminRequest::DescribeCluster
        | AdminRequest::DescribeQuorum
        | AdminRequest::Renew
        | AdminRequest::Connect => Stage::Any,
    }
}
