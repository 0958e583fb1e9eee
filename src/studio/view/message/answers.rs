//! The fields of a response in Kafka's names. Requests stand in `fields`; it invents no value.

use highwater_engine::base::{BrokerId, NodeId, Tp};
use highwater_engine::protocol::{
    BrokerResponse, ClusterResponse, ControllerResponse, GroupResponse, PartitionResponse, QuorumResponse, Response,
};

use super::fields::{Fields, brokers, recovery};

fn leader(id: Option<impl ToString>) -> String {
    id.map_or("-1".into(), |id| id.to_string())
}

/// The rows of a response to `receiver`.
pub fn response(f: &mut Fields<'_>, response: &Response, receiver: NodeId) {
    match response {
        Response::Partition(response) => partition_response(f, response, receiver),
        Response::Group(response) => group_response(f, response),
        Response::Broker(response) => broker_response(f, response),
        Response::Cluster(response) => cluster_response(f, response),
        Response::Controller(response) => controller_response(f, response),
        Response::Quorum(response) => quorum_response(f, response),
    }
}

fn partition_response(f: &mut Fields<'_>, response: &PartitionResponse, receiver: NodeId) {
    match response {
        PartitionResponse::Produce { results } => {
            for r in results {
                f.part(f.name(r.tp), |f| {
                    f.error(r.error);
                    f.put("base_offset", r.base_offset);
                    f.more(|f| f.put("log_append_time_ms", -1));
                    f.hint(r.current_leader.map(|hint| (hint.leader, hint.epoch.0)));
                });
            }
        }
        PartitionResponse::Fetch { partitions } => {
            f.more(|f| f.put("session_id", 0));
            // A partition that says nothing is listed with all the others.
            let says = |p: &&highwater_engine::protocol::FetchedPartition| {
                !p.batches.is_empty() || !p.error.is_none() || p.diverging.is_some()
            };
            let (loud, quiet): (Vec<_>, Vec<_>) = partitions.iter().partition(says);
            for p in loud {
                f.fetched(p, known(f, receiver, p.tp));
            }
            for p in quiet {
                match known(f, receiver, p.tp).filter(|known| *known != p.high_watermark) {
                    Some(known) => f.fetched(p, Some(known)),
                    None => f.more(|f| f.fetched(p, None)),
                }
            }
        }
        PartitionResponse::ListOffsets { partitions } => {
            for p in partitions {
                f.part(f.name(p.tp), |f| {
                    f.error(p.error);
                    f.put("offset", p.offset);
                    f.epoch("leader_epoch", p.leader_epoch.map(|epoch| epoch.0));
                });
            }
        }
        PartitionResponse::DeleteRecords { error, low_watermark } => {
            f.error(*error);
            f.put("low_watermark", low_watermark);
        }
        PartitionResponse::OffsetForLeaderEpoch { tp, error, end } => f.part(f.name(*tp), |f| {
            f.error(*error);
            f.put("leader_epoch", end.map_or(-1, |end| end.epoch));
            f.put("end_offset", end.map_or(-1, |end| end.end_offset));
        }),
    }
}

fn group_response(f: &mut Fields<'_>, response: &GroupResponse) {
    match response {
        GroupResponse::OffsetCommit { results } => {
            for (tp, error) in results {
                f.part(f.name(*tp), |f| f.error(*error));
            }
        }
        GroupResponse::OffsetFetch { error, offsets } => {
            f.error(*error);
            for (tp, commit) in offsets {
                f.part(f.name(*tp), |f| {
                    f.put("committed_offset", commit.offset);
                    f.epoch("committed_leader_epoch", commit.leader_epoch.map(|epoch| epoch.0));
                });
            }
        }
        GroupResponse::JoinGroup(r) => {
            f.error(r.error);
            f.put("generation_id", r.generation);
            f.put("protocol_name", r.protocol.as_deref().unwrap_or("null"));
            f.put("leader", &r.leader);
            f.put("member_id", &r.member_id);
            let members: Vec<String> = r.members.iter().map(|(id, ..)| id.to_string()).collect();
            f.put("members", members.join(", "));
        }
        GroupResponse::Heartbeat { error } | GroupResponse::LeaveGroup { error } => f.error(*error),
        GroupResponse::SyncGroup { error, assignment } => {
            f.error(*error);
            let all: Vec<String> = assignment.iter().map(|tp| f.name(*tp)).collect();
            f.put("assignment", all.join(", "));
        }
        GroupResponse::DescribeGroups(r) => {
            f.error(r.error);
            f.put("group_state", r.state.name());
            for (member, client, _) in &r.members {
                f.part(member.to_string(), |f| f.put("client_id", client));
            }
        }
    }
}

fn broker_response(f: &mut Fields<'_>, response: &BrokerResponse) {
    match response {
        BrokerResponse::Metadata(r) => {
            f.put("brokers", brokers(&r.brokers));
            for topic in &r.topics {
                f.part(topic.name.to_string(), |f| {
                    f.error(topic.error);
                    for (number, p) in topic.partitions.iter().enumerate() {
                        f.part(format!("partition {number}"), |f| {
                            f.error(p.error);
                            f.put("leader_id", leader(p.leader));
                            f.put("leader_epoch", p.leader_epoch);
                            f.more(|f| f.put("replica_nodes", brokers(&p.replicas)));
                            f.put("isr_nodes", brokers(&p.isr));
                        });
                    }
                });
            }
        }
        BrokerResponse::FindCoordinator { error, coordinator } => {
            f.error(*error);
            f.put("node_id", leader(*coordinator));
        }
        BrokerResponse::InitProducerId { error, id, epoch } => {
            f.error(*error);
            f.put("producer_id", id);
            f.put("producer_epoch", epoch);
        }
        BrokerResponse::DescribeTopicPartitions { topics } => {
            for topic in topics {
                f.part(topic.name.to_string(), |f| {
                    f.error(topic.error);
                    for (number, p) in topic.partitions.iter().enumerate() {
                        f.part(format!("partition {number}"), |f| {
                            f.put("leader_id", leader(p.leader));
                            f.put("leader_epoch", p.leader_epoch);
                            f.put("isr_nodes", brokers(&p.isr));
                            f.put("eligible_leader_replicas", brokers(&p.elr));
                            f.put("last_known_elr", brokers(&p.last_known_elr));
                        });
                    }
                });
            }
        }
    }
}

fn cluster_response(f: &mut Fields<'_>, response: &ClusterResponse) {
    match response {
        ClusterResponse::CreateTopics(answer)
        | ClusterResponse::DeleteTopics(answer)
        | ClusterResponse::CreatePartitions(answer)
        | ClusterResponse::ElectLeaders(answer)
        | ClusterResponse::IncrementalAlterConfigs(answer) => {
            f.error(answer.error);
            if let Some(message) = &answer.message {
                f.put("error_message", message);
            }
        }
        ClusterResponse::DescribeQuorum(r) => {
            f.error(r.error);
            f.put("leader_id", leader(r.leader));
            f.put("leader_epoch", r.epoch);
            f.put("high_watermark", r.high_watermark);
        }
    }
}

fn controller_response(f: &mut Fields<'_>, response: &ControllerResponse) {
    match response {
        ControllerResponse::AlterPartition { error, partitions } => {
            f.error(*error);
            for p in partitions {
                f.part(f.name(p.tp), |f| {
                    f.error(p.error);
                    f.put("leader_id", leader(p.leader));
                    f.put("leader_epoch", p.leader_epoch);
                    f.put("isr", brokers(&p.isr));
                    f.put("leader_recovery_state", recovery(p.leader_recovery));
                    f.put("partition_epoch", p.partition_epoch);
                });
            }
        }
        ControllerResponse::BrokerRegistration { error, epoch } => {
            f.error(*error);
            f.put("broker_epoch", epoch);
        }
        ControllerResponse::BrokerHeartbeat { error, is_caught_up, is_fenced, should_shut_down } => {
            f.error(*error);
            f.put("is_caught_up", is_caught_up);
            f.put("is_fenced", is_fenced);
            f.put("should_shut_down", should_shut_down);
        }
        ControllerResponse::AllocateProducerIds { error, start, len } => {
            f.error(*error);
            f.put("producer_id_start", start);
            f.put("producer_id_len", len);
        }
        ControllerResponse::AssignReplicasToDirs { error, partitions } => {
            f.error(*error);
            for (tp, error) in partitions {
                f.part(f.name(*tp), |f| f.error(*error));
            }
        }
    }
}

fn quorum_response(f: &mut Fields<'_>, response: &QuorumResponse) {
    match response {
        QuorumResponse::Fetch(r) => f.part("__cluster_metadata-0", |f| {
            f.error(r.error);
            f.put("leader_id", leader(r.leader));
            f.put("leader_epoch", r.epoch);
            f.put("high_watermark", r.high_watermark);
            if let Some(end) = r.diverging {
                f.part("diverging_epoch", |f| {
                    f.put("epoch", end.epoch);
                    f.put("end_offset", end.end_offset);
                });
            }
            f.batches(&r.batches);
        }),
        QuorumResponse::Vote { error, epoch, leader: of, granted, .. } => {
            f.error(*error);
            f.put("leader_id", leader(*of));
            f.put("leader_epoch", epoch);
            f.put("vote_granted", granted);
        }
        QuorumResponse::BeginQuorumEpoch { error, epoch, leader: of }
        | QuorumResponse::EndQuorumEpoch { error, epoch, leader: of } => {
            f.error(*error);
            f.put("leader_id", leader(*of));
            f.put("leader_epoch", epoch);
        }
    }
}

/// The high watermark as a follower that gets the answer knows it.
fn known(f: &Fields<'_>, receiver: NodeId, tp: Tp) -> Option<i64> {
    let NodeId::Broker(id) = receiver else { return None };
    let view = f.seen.world().broker(BrokerId(id.0))?.replica(tp)?;
    Some(view.high_watermark)
}
