//! The fields of a request or response in Kafka's names: those of the protocol guide, and of the message format for
//! batches. What the simulation leaves out is left out here too; it invents no value.

use highwater_engine::base::{BrokerId, ControllerId, Offset, Tp};
use highwater_engine::protocol::{
    Acks, BrokerRequest, ClusterRequest, ControllerRequest, ErrorCode, FetchedPartition, Fetcher, GroupRequest,
    Isolation, LeaderRecoveryState, MemberRequest, OffsetSpec, PartitionRequest, Placement, QuorumReplica,
    QuorumRequest, RecordBatch, Request,
};

use super::shown::MessageField;
use crate::story::Seen;

/// Rows of one message.
pub struct Fields<'a> {
    pub seen: Seen<'a>,
    pub rows: Vec<MessageField>,
    depth: u8,
    more: bool,
}

impl<'a> Fields<'a> {
    pub fn new(seen: Seen<'a>) -> Fields<'a> {
        Fields { seen, rows: Vec::new(), depth: 0, more: false }
    }

    pub fn put(&mut self, name: &'static str, value: impl ToString) {
        let value = value.to_string();
        self.rows.push(MessageField { depth: self.depth, name: name.into(), value, was: None, more: self.more });
    }
    /// A value that its receiver knows otherwise.
    pub fn put_beside(&mut self, name: &'static str, value: Offset, known: Option<Offset>) {
        self.put(name, value);
        if let (Some(row), Some(known)) = (self.rows.last_mut(), known.filter(|known| *known != value)) {
            row.was = Some(known.to_string());
        }
    }
    /// A part with rows of its own.
    pub fn part(&mut self, name: impl Into<String>, rows: impl FnOnce(&mut Self)) {
        let name: String = name.into();
        self.rows.push(MessageField {
            depth: self.depth,
            name: name.into(),
            value: String::new(),
            was: None,
            more: self.more,
        });
        self.depth += 1;
        rows(self);
        self.depth -= 1;
    }
    /// Rows that only *all fields* shows.
    pub fn more(&mut self, rows: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.more, true);
        rows(self);
        self.more = before;
    }
    pub fn error(&mut self, error: ErrorCode) {
        self.put("error_code", format!("{} {}", error.code(), error.name()));
    }
    pub fn name(&self, tp: Tp) -> String {
        format!("{}-{}", self.seen.topic_name(tp.topic), tp.partition)
    }
    pub fn epoch(&mut self, name: &'static str, epoch: Option<i32>) {
        self.put(name, epoch.unwrap_or(-1));
    }

    pub fn batches(&mut self, batches: &[RecordBatch]) {
        let bytes: usize = batches.iter().map(RecordBatch::size).sum();
        match batches.len() {
            0 => self.put("records", "none"),
            1 => self.put("records", format!("1 batch, {bytes} B")),
            n => self.put("records", format!("{n} batches, {bytes} B")),
        }
        self.depth += 1;
        for batch in batches {
            self.batch(batch);
        }
        self.depth -= 1;
    }

    fn batch(&mut self, batch: &RecordBatch) {
        self.put("baseOffset", batch.base_offset);
        self.put("partitionLeaderEpoch", batch.epoch);
        match batch.producer {
            Some(stamp) => {
                self.put("producerId, epoch", format!("{}, {}", stamp.id, stamp.epoch));
                self.put("baseSequence", stamp.base_sequence);
            }
            None => {
                self.put("producerId, epoch", "-1, -1");
                self.put("baseSequence", -1);
            }
        }
        self.put("recordsCount", batch.count());
        for (number, record) in batch.data().iter().enumerate() {
            let offset = batch.base_offset + number as i64;
            self.more(|f| {
                f.part(format!("record {offset}"), |f| {
                    f.put("key", record.key.as_deref().unwrap_or("null"));
                    f.put("value", record.value.chars().take(80).collect::<String>());
                });
            });
        }
    }

    pub fn fetched(&mut self, partition: &FetchedPartition, known: Option<Offset>) {
        let name = self.name(partition.tp);
        self.part(name, |f| {
            f.error(partition.error);
            f.put_beside("high_watermark", partition.high_watermark, known);
            f.put("last_stable_offset", partition.last_stable_offset);
            f.put("log_start_offset", partition.log_start_offset);
            if let Some(end) = partition.diverging {
                f.part("diverging_epoch", |f| {
                    f.put("epoch", end.epoch);
                    f.put("end_offset", end.end_offset);
                });
            }
            f.hint(partition.current_leader.map(|hint| (hint.leader, hint.epoch.0)));
            f.batches(&partition.batches);
        });
    }

    pub fn hint(&mut self, leader: Option<(BrokerId, i32)>) {
        if let Some((leader, epoch)) = leader {
            self.part("current_leader", |f| {
                f.put("leader_id", leader);
                f.put("leader_epoch", epoch);
            });
        }
    }

    fn member(&mut self, member: &MemberRequest) {
        self.put("group_id", &member.group);
        self.put("generation_id", member.generation);
        self.put("member_id", &member.member_id);
        self.more(|f| f.put("group_instance_id", member.instance_id.as_deref().unwrap_or("null")));
    }
}

pub fn brokers(ids: &[BrokerId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn isolation(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "0 READ_UNCOMMITTED",
        Isolation::ReadCommitted => "1 READ_COMMITTED",
    }
}

pub fn recovery(state: LeaderRecoveryState) -> &'static str {
    match state {
        LeaderRecoveryState::Recovered => "0 RECOVERED",
        LeaderRecoveryState::Recovering => "1 RECOVERING",
    }
}

fn names(topics: Option<&Vec<std::rc::Rc<str>>>) -> String {
    topics.map_or("null".into(), |topics| topics.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

fn quorum(f: &mut Fields<'_>, leader: ControllerId, epoch: i32) {
    f.put("leader_id", leader);
    f.put("leader_epoch", epoch);
}

/// The rows of a request.
pub fn request(f: &mut Fields<'_>, request: &Request) {
    match request {
        Request::Partition(request) => partition_request(f, request),
        Request::Group(request) => group_request(f, request),
        Request::Broker(request) => broker_request(f, request),
        Request::Cluster(request) => cluster_request(f, request),
        Request::Controller(request) => controller_request(f, request),
        Request::Quorum(request) => quorum_request(f, request),
    }
}

fn partition_request(f: &mut Fields<'_>, request: &PartitionRequest) {
    match request {
        PartitionRequest::Produce(r) => {
            f.more(|f| f.put("transactional_id", "null"));
            f.put(
                "acks",
                match r.acks {
                    Acks::Zero => "0",
                    Acks::One => "1",
                    Acks::All => "-1 (all)",
                },
            );
            f.put("timeout_ms", r.timeout.as_ms());
            for (tp, batch) in &r.batches {
                f.part(f.name(*tp), |f| f.batches(std::slice::from_ref(batch)));
            }
        }
        PartitionRequest::Fetch(r) => {
            match r.fetcher {
                Fetcher::Consumer { isolation: level } => {
                    f.put("replica_id", -1);
                    f.more(|f| f.put("isolation_level", isolation(level)));
                }
                Fetcher::Follower { broker, epoch } => {
                    f.put("replica_id", broker);
                    f.put("replica_epoch", epoch);
                }
            }
            f.put("max_wait_ms", r.max_wait.as_ms());
            f.put("min_bytes", r.min_bytes);
            f.more(|f| f.put("max_bytes", r.max_bytes));
            for p in &r.partitions {
                f.part(f.name(p.tp), |f| {
                    f.epoch("current_leader_epoch", p.current_leader_epoch.map(|epoch| epoch.0));
                    f.put("fetch_offset", p.fetch_offset);
                    f.epoch("last_fetched_epoch", p.last_fetched_epoch);
                    f.more(|f| f.put("log_start_offset", p.log_start_offset));
                    f.more(|f| f.put("partition_max_bytes", p.max_bytes));
                });
            }
        }
        PartitionRequest::ListOffsets(r) => {
            f.put("replica_id", r.replica.map_or("-1".into(), |id| id.to_string()));
            f.more(|f| f.put("isolation_level", isolation(r.isolation)));
            for (tp, epoch, spec) in &r.partitions {
                f.part(f.name(*tp), |f| {
                    f.epoch("current_leader_epoch", epoch.map(|epoch| epoch.0));
                    f.put(
                        "timestamp",
                        match spec {
                            OffsetSpec::Latest => "-1 (latest)",
                            OffsetSpec::Earliest => "-2 (earliest)",
                        },
                    );
                });
            }
        }
        PartitionRequest::DeleteRecords { tp, before, timeout } => {
            f.put("timeout_ms", timeout.as_ms());
            f.part(f.name(*tp), |f| f.put("offset", before));
        }
        PartitionRequest::OffsetForLeaderEpoch { tp, current_leader_epoch, epoch } => f.part(f.name(*tp), |f| {
            f.epoch("current_leader_epoch", current_leader_epoch.map(|epoch| epoch.0));
            f.put("leader_epoch", epoch);
        }),
    }
}

fn group_request(f: &mut Fields<'_>, request: &GroupRequest) {
    match request {
        GroupRequest::OffsetCommit(r) => {
            f.put("group_id", &r.group);
            f.put("generation_id_or_member_epoch", r.generation);
            f.put("member_id", &r.member_id);
            for (tp, commit) in &r.offsets {
                f.part(f.name(*tp), |f| {
                    f.put("committed_offset", commit.offset);
                    f.epoch("committed_leader_epoch", commit.leader_epoch.map(|epoch| epoch.0));
                });
            }
        }
        GroupRequest::OffsetFetch { group } | GroupRequest::DescribeGroups { group } => f.put("group_id", group),
        GroupRequest::JoinGroup(r) => {
            f.put("group_id", &r.group);
            f.put("session_timeout_ms", r.session_timeout.as_ms());
            f.put("rebalance_timeout_ms", r.rebalance_timeout.as_ms());
            f.put("member_id", &r.member_id);
            f.more(|f| f.put("group_instance_id", r.instance_id.as_deref().unwrap_or("null")));
            for (name, subscription) in &r.protocols {
                f.part(format!("protocol {name}"), |f| f.put("topics", names(Some(&subscription.topics))));
            }
        }
        GroupRequest::Heartbeat(member) | GroupRequest::LeaveGroup(member) => f.member(member),
        GroupRequest::SyncGroup(r) => {
            f.member(&r.member);
            for (member, partitions) in &r.assignments {
                let all: Vec<String> = partitions.iter().map(|tp| f.name(*tp)).collect();
                f.part(format!("assignment {member}"), |f| f.put("partitions", all.join(", ")));
            }
        }
    }
}

fn broker_request(f: &mut Fields<'_>, request: &BrokerRequest) {
    match request {
        BrokerRequest::Metadata(r) => {
            f.put("topics", names(r.topics.as_ref()));
            f.put("allow_auto_topic_creation", r.allow_auto_topic_creation);
        }
        BrokerRequest::FindCoordinator { group } => {
            f.put("key_type", "0 GROUP");
            f.put("coordinator_keys", group);
        }
        BrokerRequest::InitProducerId => {
            f.put("transactional_id", "null");
            f.put("producer_id", -1);
        }
        BrokerRequest::DescribeTopicPartitions { topics } => f.put("topics", names(topics.as_ref())),
    }
}

fn cluster_request(f: &mut Fields<'_>, request: &ClusterRequest) {
    match request {
        ClusterRequest::CreateTopics(r) => {
            f.put("name", &r.name);
            match &r.placement {
                Placement::Counts { partitions, replication_factor } => {
                    f.put("num_partitions", partitions.unwrap_or(-1));
                    f.put("replication_factor", replication_factor.unwrap_or(-1));
                }
                Placement::Manual(replicas) => {
                    for (number, ids) in replicas {
                        f.part(format!("partition {number}"), |f| f.put("broker_ids", brokers(ids)));
                    }
                }
            }
            f.put("timeout_ms", r.timeout.as_ms());
        }
        ClusterRequest::DeleteTopics { name } => f.put("topic_names", name),
        ClusterRequest::CreatePartitions { name, total } => {
            f.put("name", name);
            f.put("count", total);
        }
        ClusterRequest::ElectLeaders { topic, partition, unclean } => {
            f.put("election_type", if *unclean { "1 UNCLEAN" } else { "0 PREFERRED" });
            f.put("topic", topic);
            f.put("partitions", partition);
        }
        ClusterRequest::IncrementalAlterConfigs { configs, .. } => {
            for (name, value) in configs {
                f.part(name.to_string(), |f| f.put("value", value));
            }
        }
        ClusterRequest::DescribeQuorum => f.put("topic_name", "__cluster_metadata"),
    }
}

fn controller_request(f: &mut Fields<'_>, request: &ControllerRequest) {
    match request {
        ControllerRequest::AlterPartition(r) => {
            f.put("broker_id", r.broker);
            f.put("broker_epoch", r.broker_epoch);
            for item in &r.partitions {
                f.part(f.name(item.tp), |f| {
                    f.put("leader_epoch", item.leader_epoch);
                    f.put("new_isr_with_epochs", brokers(&item.new_isr.iter().map(|(id, _)| *id).collect::<Vec<_>>()));
                    f.put("leader_recovery_state", recovery(item.leader_recovery));
                    f.put("partition_epoch", item.partition_epoch);
                });
            }
        }
        ControllerRequest::Envelope(inner) => {
            f.part(format!("{}Request", inner.api().name()), |f| cluster_request(f, inner))
        }
        ControllerRequest::BrokerRegistration(r) => {
            f.put("broker_id", r.broker);
            f.put("incarnation_id", r.incarnation);
            f.put("rack", r.rack.as_deref().unwrap_or("null"));
            f.put("previous_broker_epoch", r.previous_broker_epoch.map_or(-1, |epoch| epoch.0));
        }
        ControllerRequest::BrokerHeartbeat(r) => {
            f.put("broker_id", r.broker);
            f.put("broker_epoch", r.epoch);
            f.put("current_metadata_offset", r.current_metadata_offset);
            f.put("want_fence", r.want_fence);
            f.put("want_shut_down", r.want_shut_down);
        }
        ControllerRequest::AllocateProducerIds { broker, epoch } => {
            f.put("broker_id", broker);
            f.put("broker_epoch", epoch);
        }
        ControllerRequest::AssignReplicasToDirs(r) => {
            f.put("broker_id", r.broker);
            f.put("broker_epoch", r.broker_epoch);
            let all: Vec<String> = r.partitions.iter().map(|tp| f.name(*tp)).collect();
            f.put("partitions", all.join(", "));
        }
    }
}

fn quorum_request(f: &mut Fields<'_>, request: &QuorumRequest) {
    match request {
        QuorumRequest::Fetch(r) => {
            match r.replica {
                QuorumReplica::Voter(id) => f.put("replica_id", id),
                QuorumReplica::Observer(id) => f.put("replica_id", id),
            }
            f.put("max_wait_ms", r.max_wait.as_ms());
            f.part("__cluster_metadata-0", |f| {
                f.put("current_leader_epoch", r.current_leader_epoch);
                f.put("fetch_offset", r.fetch_offset);
                f.put("last_fetched_epoch", r.last_fetched_epoch);
                f.put("high_watermark", r.high_watermark);
            });
        }
        QuorumRequest::Vote(r) => {
            f.put("replica_epoch", r.epoch);
            f.put("replica_id", r.candidate);
            f.put("last_offset_epoch", r.last_epoch);
            f.put("last_offset", r.last_offset);
            f.put("pre_vote", r.pre_vote);
        }
        QuorumRequest::BeginQuorumEpoch { leader, epoch } => quorum(f, *leader, epoch.0),
        QuorumRequest::EndQuorumEpoch { leader, epoch, preferred_successors } => {
            quorum(f, *leader, epoch.0);
            let all: Vec<String> = preferred_successors.iter().map(ToString::to_string).collect();
            f.put("preferred_candidates", all.join(", "));
        }
    }
}
