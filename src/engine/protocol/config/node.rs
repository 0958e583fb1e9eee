//! The configuration of a node, read once at its start. Client configs live with the clients.

use super::{ConfigError, Given, NEWEST, Scope};
use crate::base::Dur;
use crate::protocol::ConfigMap;

/// Static configuration of a node, parsed once at its start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeConfig {
    pub min_insync_replicas: u32,
    pub unclean_leader_election: bool,
    pub num_partitions: u32,
    pub default_replication_factor: u32,
    pub auto_create_topics: bool,
    pub auto_leader_rebalance: bool,
    pub leader_imbalance_check_interval: Dur,
    pub offsets_topic_partitions: u32,
    pub offsets_topic_replication_factor: u32,
    pub offsets_commit_timeout: Dur,
    pub group_append_linger: Dur,
    pub group_initial_rebalance_delay: Dur,
    pub group_min_session_timeout: Dur,
    pub group_max_session_timeout: Dur,
    pub replica_lag_time_max: Dur,
    pub replica_fetch_wait_max: Dur,
    pub replica_fetch_min_bytes: u32,
    pub replica_fetch_max_bytes: u32,
    pub replica_fetch_backoff: Dur,
    pub replica_socket_timeout: Dur,
    pub hw_checkpoint_interval: Dur,
    pub broker_heartbeat_interval: Dur,
    pub broker_session_timeout: Dur,
    pub initial_registration_timeout: Dur,
    pub quorum_election_timeout: Dur,
    pub quorum_fetch_timeout: Dur,
    pub quorum_election_backoff_max: Dur,
    pub quorum_request_timeout: Dur,
    pub quorum_retry_backoff: Dur,
    pub metadata_max_idle_interval: Dur,
}

impl NodeConfig {
    /// The given values over the defaults.
    ///
    /// # Errors
    /// The first name or value that is refused.
    pub fn parse(configs: &ConfigMap) -> Result<NodeConfig, ConfigError> {
        let read = Given::read(Scope::Node, NEWEST, configs)?;
        let number = |name: &str| read.count(name) as u32;
        let ms = |name: &str| read.ms(name);
        Ok(NodeConfig {
            min_insync_replicas: number("min.insync.replicas"),
            unclean_leader_election: read.flag("unclean.leader.election.enable"),
            num_partitions: number("num.partitions"),
            default_replication_factor: number("default.replication.factor"),
            auto_create_topics: read.flag("auto.create.topics.enable"),
            auto_leader_rebalance: read.flag("auto.leader.rebalance.enable"),
            leader_imbalance_check_interval: Dur::secs(read.count("leader.imbalance.check.interval.seconds")),
            offsets_topic_partitions: number("offsets.topic.num.partitions"),
            offsets_topic_replication_factor: number("offsets.topic.replication.factor"),
            offsets_commit_timeout: ms("offsets.commit.timeout.ms"),
            group_append_linger: ms("group.coordinator.append.linger.ms"),
            group_initial_rebalance_delay: ms("group.initial.rebalance.delay.ms"),
            group_min_session_timeout: ms("group.min.session.timeout.ms"),
            group_max_session_timeout: ms("group.max.session.timeout.ms"),
            replica_lag_time_max: ms("replica.lag.time.max.ms"),
            replica_fetch_wait_max: ms("replica.fetch.wait.max.ms"),
            replica_fetch_min_bytes: number("replica.fetch.min.bytes"),
            replica_fetch_max_bytes: number("replica.fetch.max.bytes"),
            replica_fetch_backoff: ms("replica.fetch.backoff.ms"),
            replica_socket_timeout: ms("replica.socket.timeout.ms"),
            hw_checkpoint_interval: ms("replica.high.watermark.checkpoint.interval.ms"),
            broker_heartbeat_interval: ms("broker.heartbeat.interval.ms"),
            broker_session_timeout: ms("broker.session.timeout.ms"),
            initial_registration_timeout: ms("initial.broker.registration.timeout.ms"),
            quorum_election_timeout: ms("controller.quorum.election.timeout.ms"),
            quorum_fetch_timeout: ms("controller.quorum.fetch.timeout.ms"),
            quorum_election_backoff_max: ms("controller.quorum.election.backoff.max.ms"),
            quorum_request_timeout: ms("controller.quorum.request.timeout.ms"),
            quorum_retry_backoff: ms("controller.quorum.retry.backoff.ms"),
            metadata_max_idle_interval: ms("metadata.max.idle.interval.ms"),
        })
    }
}
