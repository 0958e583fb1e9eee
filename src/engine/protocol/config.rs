//! Broker, controller and topic configuration under Kafka's keys: defaults by version, strict parsing. Client configs
//! live with the clients.

use alloc::rc::Rc;
use alloc::string::{String, ToString};

use super::ConfigMap;
use crate::base::Dur;

/// A value that Kafka would refuse, or a key that it does not know.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigError {
    pub key: String,
    pub value: String,
    pub expected: &'static str,
}

/// What a key holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigType {
    Bool,
    /// Integer with its least value.
    Int(i64),
    /// One or several of a list, separated by commas.
    List(&'static [&'static str]),
    Text,
}

/// A key that a node or a topic may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigKey {
    pub name: &'static str,
    pub kind: ConfigType,
    /// Allowed as a topic config.
    pub topic: bool,
    /// Allowed in a node's static configuration.
    pub node: bool,
    /// Default of the newest release, as Kafka prints it.
    pub default: &'static str,
}

const fn node(name: &'static str, kind: ConfigType, default: &'static str) -> ConfigKey {
    ConfigKey { name, kind, topic: false, node: true, default }
}
const fn both(name: &'static str, kind: ConfigType, default: &'static str) -> ConfigKey {
    ConfigKey { name, kind, topic: true, node: true, default }
}
const fn topic(name: &'static str, kind: ConfigType, default: &'static str) -> ConfigKey {
    ConfigKey { name, kind, topic: true, node: false, default }
}

/// Every key that is understood. What a key does that is not modelled is said in the fidelity table.
pub const KEYS: &[ConfigKey] = &[
    both("min.insync.replicas", ConfigType::Int(1), "1"),
    both("unclean.leader.election.enable", ConfigType::Bool, "false"),
    topic("cleanup.policy", ConfigType::List(&["delete", "compact"]), "delete"),
    topic("compression.type", ConfigType::Text, "producer"),
    topic("segment.bytes", ConfigType::Int(1), "1073741824"),
    topic("retention.ms", ConfigType::Int(-1), "604800000"),
    topic("retention.bytes", ConfigType::Int(-1), "-1"),
    topic("max.message.bytes", ConfigType::Int(0), "1048588"),
    node("num.partitions", ConfigType::Int(1), "1"),
    node("default.replication.factor", ConfigType::Int(1), "1"),
    node("auto.create.topics.enable", ConfigType::Bool, "true"),
    node("auto.leader.rebalance.enable", ConfigType::Bool, "true"),
    node("leader.imbalance.check.interval.seconds", ConfigType::Int(1), "300"),
    node("offsets.topic.num.partitions", ConfigType::Int(1), "50"),
    node("offsets.topic.replication.factor", ConfigType::Int(1), "3"),
    node("offsets.commit.timeout.ms", ConfigType::Int(1), "5000"),
    node("transaction.state.log.replication.factor", ConfigType::Int(1), "3"),
    node("transaction.state.log.min.isr", ConfigType::Int(1), "2"),
    node("group.initial.rebalance.delay.ms", ConfigType::Int(0), "3000"),
    node("group.min.session.timeout.ms", ConfigType::Int(0), "6000"),
    node("group.max.session.timeout.ms", ConfigType::Int(0), "1800000"),
    node("replica.lag.time.max.ms", ConfigType::Int(1), "30000"),
    node("replica.fetch.wait.max.ms", ConfigType::Int(0), "500"),
    node("replica.fetch.min.bytes", ConfigType::Int(0), "1"),
    node("replica.fetch.max.bytes", ConfigType::Int(0), "1048576"),
    node("replica.fetch.backoff.ms", ConfigType::Int(0), "1000"),
    node("replica.socket.timeout.ms", ConfigType::Int(1), "30000"),
    node("replica.high.watermark.checkpoint.interval.ms", ConfigType::Int(1), "5000"),
    node("broker.heartbeat.interval.ms", ConfigType::Int(1), "2000"),
    node("broker.session.timeout.ms", ConfigType::Int(1), "9000"),
    node("initial.broker.registration.timeout.ms", ConfigType::Int(1), "60000"),
    node("controlled.shutdown.enable", ConfigType::Bool, "true"),
    node("controller.quorum.election.timeout.ms", ConfigType::Int(1), "1000"),
    node("controller.quorum.fetch.timeout.ms", ConfigType::Int(1), "2000"),
    node("controller.quorum.election.backoff.max.ms", ConfigType::Int(1), "1000"),
    node("controller.quorum.request.timeout.ms", ConfigType::Int(1), "2000"),
    node("controller.quorum.retry.backoff.ms", ConfigType::Int(1), "20"),
    node("metadata.max.idle.interval.ms", ConfigType::Int(0), "500"),
];

/// The description of a key.
pub fn key(name: &str) -> Option<&'static ConfigKey> {
    KEYS.iter().find(|k| k.name == name)
}

/// Broker configs that may change while a broker runs (DynamicBrokerConfig, AllDynamicConfigs), of those in [`KEYS`].
const DYNAMIC: &[&str] = &["min.insync.replicas", "unclean.leader.election.enable"];

/// Whether Kafka refuses to change a broker config while the broker runs.
pub fn is_read_only(name: &str) -> bool {
    key(name).is_some_and(|key| key.node) && !DYNAMIC.contains(&name)
}

/// Checks one value against what its key holds.
pub fn validate(key: &ConfigKey, value: &str) -> Result<(), ConfigError> {
    let error = |expected| Err(ConfigError { key: key.name.to_string(), value: value.to_string(), expected });
    match key.kind {
        ConfigType::Bool if value == "true" || value == "false" => Ok(()),
        ConfigType::Bool => error("true or false"),
        ConfigType::Int(least) => match value.parse::<i64>() {
            Ok(number) if number >= least => Ok(()),
            Ok(_) => error("a larger number"),
            Err(_) => error("an integer"),
        },
        ConfigType::List(values) if value.split(',').all(|v| values.contains(&v.trim())) => Ok(()),
        ConfigType::List(_) => error("one of the values that Kafka knows for it"),
        ConfigType::Text => Ok(()),
    }
}

/// Checks the configs of a topic as the controller does: unknown keys and bad values are INVALID_CONFIG.
pub fn validate_topic(configs: &ConfigMap) -> Result<(), ConfigError> {
    validate_where(configs, |k| k.topic, "a topic config of Kafka")
}

/// Checks the static configuration of the nodes.
pub fn validate_node(configs: &ConfigMap) -> Result<(), ConfigError> {
    validate_where(configs, |k| k.node, "a broker config of Kafka")
}

fn validate_where(
    configs: &ConfigMap,
    allowed: impl Fn(&ConfigKey) -> bool,
    expected: &'static str,
) -> Result<(), ConfigError> {
    for (name, value) in configs {
        match key(name) {
            Some(k) if allowed(k) => validate(k, value)?,
            Some(_) | None => return Err(ConfigError { key: name.to_string(), value: value.to_string(), expected }),
        }
    }
    Ok(())
}

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
    pub fn parse(configs: &ConfigMap) -> Result<NodeConfig, ConfigError> {
        validate_node(configs)?;
        let text = |name: &str| -> &str {
            let default = key(name).map_or("0", |k| k.default);
            configs.get(name).map_or(default, |v| v)
        };
        let int = |name: &str| text(name).parse::<i64>().unwrap_or(0).max(0) as u64;
        let ms = |name: &str| Dur::ms(int(name));
        Ok(NodeConfig {
            min_insync_replicas: int("min.insync.replicas") as u32,
            unclean_leader_election: text("unclean.leader.election.enable") == "true",
            num_partitions: int("num.partitions") as u32,
            default_replication_factor: int("default.replication.factor") as u32,
            auto_create_topics: text("auto.create.topics.enable") == "true",
            auto_leader_rebalance: text("auto.leader.rebalance.enable") == "true",
            leader_imbalance_check_interval: Dur::secs(int("leader.imbalance.check.interval.seconds")),
            offsets_topic_partitions: int("offsets.topic.num.partitions") as u32,
            offsets_topic_replication_factor: int("offsets.topic.replication.factor") as u32,
            offsets_commit_timeout: ms("offsets.commit.timeout.ms"),
            group_initial_rebalance_delay: ms("group.initial.rebalance.delay.ms"),
            group_min_session_timeout: ms("group.min.session.timeout.ms"),
            group_max_session_timeout: ms("group.max.session.timeout.ms"),
            replica_lag_time_max: ms("replica.lag.time.max.ms"),
            replica_fetch_wait_max: ms("replica.fetch.wait.max.ms"),
            replica_fetch_min_bytes: int("replica.fetch.min.bytes") as u32,
            replica_fetch_max_bytes: int("replica.fetch.max.bytes") as u32,
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

/// Builds a [`ConfigMap`] from pairs.
pub fn config_map(pairs: &[(&str, &str)]) -> ConfigMap {
    pairs.iter().map(|(k, v)| (Rc::from(*k), Rc::from(*v))).collect()
}
