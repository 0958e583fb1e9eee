//! What an answer means for the action that asked. It chooses no node.

use super::task::{Stage, Task};
use super::{Admin, AdminAnswer, refused};
use crate::base::{BrokerId, Tp, sort_by};
use crate::node::message::AdminRequest;
use crate::protocol::{
    ApiError, BrokerResponse, ClusterResponse, DescribedGroup, ErrorCode, GroupResponse, MetadataResponse,
    PartitionResponse, Response,
};

/// What an answer means for its task.
pub(super) enum Next {
    Finish(AdminAnswer),
    /// Again after a pause, from this stage on.
    Retry(Stage),
    /// On to this stage at once.
    Go(Stage),
}

impl Admin {
    pub(super) fn interpret(&mut self, task: &mut Task, broker: BrokerId, answer: Response) -> Next {
        let changed = |answer: ApiError| match answer.error {
            ErrorCode::None => Next::Finish(AdminAnswer::Done),
            ErrorCode::NotController => Next::Retry(Stage::AskController),
            error => {
                let message = Some(answer.sentence());
                Next::Finish(AdminAnswer::Refused { error, exception: error.exception(), message })
            }
        };
        match answer {
            Response::Broker(BrokerResponse::Metadata(answer)) if task.stage == Stage::DescribeCluster => {
                drop(answer);
                Next::Go(Stage::Any)
            }
            Response::Broker(BrokerResponse::Metadata(answer)) => self.on_metadata(task, answer),
            Response::Cluster(
                ClusterResponse::CreateTopics(answer)
                | ClusterResponse::DeleteTopics(answer)
                | ClusterResponse::CreatePartitions(answer)
                | ClusterResponse::ElectLeaders(answer)
                | ClusterResponse::IncrementalAlterConfigs(answer),
            ) => changed(answer),
            Response::Partition(PartitionResponse::DeleteRecords { error, .. }) if error.refreshes_metadata() => {
                task.remembered = false;
                Next::Retry(Stage::FindLeader)
            }
            Response::Partition(PartitionResponse::DeleteRecords { error, .. }) => changed(error.into()),
            Response::Broker(BrokerResponse::FindCoordinator {
                error: ErrorCode::None,
                coordinator: Some(coordinator),
            }) => Next::Go(Stage::AskCoordinator(coordinator)),
            Response::Broker(BrokerResponse::FindCoordinator { error, .. }) if error.is_none() || error.retriable() => {
                Next::Retry(Stage::FindCoordinator)
            }
            Response::Broker(BrokerResponse::FindCoordinator { error, .. }) => Next::Finish(refused(error)),
            Response::Group(GroupResponse::DescribeGroups(group)) if group.error.is_none() => {
                Next::Finish(AdminAnswer::Group { coordinator: broker, group })
            }
            Response::Group(
                GroupResponse::DescribeGroups(DescribedGroup { error, .. }) | GroupResponse::OffsetFetch { error, .. },
            ) if error.retriable() => Next::Retry(Stage::FindCoordinator),
            Response::Group(GroupResponse::DescribeGroups(group)) => Next::Finish(refused(group.error)),
            Response::Group(GroupResponse::OffsetFetch { error: ErrorCode::None, offsets }) => {
                Next::Finish(AdminAnswer::Committed(offsets))
            }
            Response::Group(GroupResponse::OffsetFetch { error, .. }) => Next::Finish(refused(error)),
            Response::Cluster(ClusterResponse::DescribeQuorum(quorum)) if quorum.error.is_none() => {
                Next::Finish(AdminAnswer::Quorum(quorum))
            }
            Response::Cluster(ClusterResponse::DescribeQuorum(quorum)) if quorum.error.retriable() => {
                Next::Retry(Stage::Any)
            }
            Response::Cluster(ClusterResponse::DescribeQuorum(quorum)) => Next::Finish(refused(quorum.error)),
            Response::Broker(BrokerResponse::DescribeTopicPartitions { topics }) => {
                let named = matches!(&task.request, AdminRequest::DescribeTopics { topics: Some(_) });
                match topics.iter().find(|t| named && !t.error.is_none()) {
                    Some(topic) => Next::Finish(refused(topic.error)),
                    None => Next::Finish(AdminAnswer::Topics(topics)),
                }
            }
            Response::Partition(PartitionResponse::ListOffsets { partitions }) => match partitions.first() {
                Some(listed) if listed.error.is_none() => {
                    task.offsets[task.question.min(2) as usize] = listed.offset;
                    task.question += 1;
                    let [earliest, latest, last_stable] = task.offsets;
                    if let (AdminRequest::ListOffsets { topic, partition }, Stage::AskLeader(leader, tp)) =
                        (&task.request, task.stage)
                    {
                        self.leaders.insert((topic.clone(), *partition), (leader, tp));
                        task.remembered = true;
                    }
                    if task.question < 3 {
                        Next::Go(task.stage)
                    } else {
                        Next::Finish(AdminAnswer::Offsets {
                            earliest,
                            latest,
                            last_stable,
                            leader_epoch: listed.leader_epoch,
                        })
                    }
                }
                Some(_) | None => {
                    if let AdminRequest::ListOffsets { topic, partition } = &task.request {
                        self.leaders.remove(&(topic.clone(), *partition));
                    }
                    task.remembered = false;
                    Next::Retry(Stage::FindLeader)
                }
            },
            Response::Partition(
                PartitionResponse::Produce { .. }
                | PartitionResponse::Fetch { .. }
                | PartitionResponse::OffsetForLeaderEpoch { .. },
            )
            | Response::Group(
                GroupResponse::JoinGroup(_)
                | GroupResponse::SyncGroup { .. }
                | GroupResponse::Heartbeat { .. }
                | GroupResponse::LeaveGroup { .. }
                | GroupResponse::OffsetCommit { .. },
            )
            | Response::Broker(BrokerResponse::InitProducerId { .. })
            | Response::Controller(_)
            | Response::Quorum(_) => Next::Finish(refused(ErrorCode::UnknownServerError)),
        }
    }

    fn on_metadata(&mut self, task: &mut Task, answer: MetadataResponse) -> Next {
        match (task.stage, &task.request) {
            (_, AdminRequest::DeleteRecords { partition, .. } | AdminRequest::ListOffsets { partition, .. }) => {
                let topic = answer.topics.first();
                let found = topic.and_then(|t| t.topic.zip(t.partitions.get(*partition as usize)));
                match found.and_then(|(id, p)| p.leader.map(|leader| (leader, Tp { topic: id, partition: *partition })))
                {
                    Some((leader, tp)) => Next::Go(Stage::AskLeader(leader, tp)),
                    None => Next::Retry(Stage::FindLeader),
                }
            }
            (_, _) => {
                let mut brokers = answer.brokers;
                sort_by(&mut brokers, Ord::cmp);
                Next::Finish(AdminAnswer::Brokers(brokers))
            }
        }
    }
}
