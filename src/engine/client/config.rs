//! Producer and consumer configs: defaults by client version, parsing and the refusals of the Java constructors. Knows
//! keys, not behaviour.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};

use super::ClientVersion;
use crate::base::{Dur, Rng, SimTime};
use crate::protocol::config::{ConfigError, Given, RefusedBy, Scope};
use crate::protocol::{Acks, ConfigMap, Isolation};

/// Why a client's constructor throws.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigRefusal {
    /// The Java exception by its simple name, as the application sees it.
    pub exception: &'static str,
    pub key: String,
    pub value: String,
    pub expected: String,
    pub by: RefusedBy,
}

impl ConfigRefusal {
    fn new(key: &str, value: &str, expected: impl Into<String>) -> ConfigRefusal {
        ConfigRefusal {
            exception: "ConfigException",
            key: key.to_string(),
            value: value.to_string(),
            expected: expected.into(),
            by: RefusedBy::Kafka,
        }
    }
    /// Kafka would take it; it is not simulated.
    fn not_simulated(key: &str, value: &str, expected: &str) -> ConfigRefusal {
        ConfigRefusal { by: RefusedBy::Playground, ..ConfigRefusal::new(key, value, expected) }
    }
    /// A `ConfigException` thrown inside the constructor, which wraps it.
    fn wrapped(self) -> ConfigRefusal {
        ConfigRefusal { exception: "KafkaException", ..self }
    }
}

/// How records without a key are spread (section 8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartitionerKind {
    /// A counter over the available partitions (to 2.3, and `RoundRobinPartitioner`).
    RoundRobin,
    /// One partition until its batch is closed (KIP-480, 2.4 to 3.2).
    StickyBatch,
    /// One partition for about `batch.size` bytes (KIP-794, 3.3+).
    StickyBytes,
}

/// Pause before a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Backoff {
    pub first: Dur,
    pub most: Dur,
    /// Doubles with 20 % jitter (KIP-580, 3.7+); fixed before.
    pub exponential: bool,
}

impl Backoff {
    /// The pause after `attempts` failures in a row, at least one. Jitter never carries it beyond its maximum.
    pub fn after(&self, attempts: u32, rng: &mut Rng) -> Dur {
        if !self.exponential {
            return self.first;
        }
        if self.most <= self.first {
            return self.most;
        }
        let span = Dur(self.first.0.saturating_mul(1 << attempts.saturating_sub(1).min(20))).min(self.most);
        rng.jitter(span, 20).min(self.most)
    }
}

/// What every client has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommonConfig {
    pub request_timeout: Dur,
    pub retry: Backoff,
    /// `reconnect.backoff.ms` and `.max.ms`: always exponential.
    pub reconnect: Backoff,
    pub metadata_max_age: Dur,
    /// `metadata.recovery.strategy=rebootstrap` (KIP-899).
    pub rebootstrap: bool,
    /// Errors that name the newer leader are understood (KIP-951).
    pub leader_hints: bool,
}

/// A producer's configuration, parsed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProducerConfig {
    pub common: CommonConfig,
    pub acks: Acks,
    pub idempotent: bool,
    pub retries: u32,
    pub delivery_timeout: Dur,
    pub linger: Dur,
    pub batch_size: usize,
    pub max_request_size: usize,
    pub max_in_flight: usize,
    pub max_block: Dur,
    pub partitioner: PartitionerKind,
    pub adaptive_partitioning: bool,
}

/// What happens without a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OffsetReset {
    Earliest,
    Latest,
    None,
}

/// A consumer's configuration, parsed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsumerConfig {
    pub common: CommonConfig,
    pub session_timeout: Dur,
    pub heartbeat_interval: Dur,
    pub max_poll_interval: Dur,
    pub max_poll_records: usize,
    pub reset: OffsetReset,
    pub auto_commit: bool,
    pub auto_commit_interval: Dur,
    pub fetch_min_bytes: u32,
    pub fetch_max_bytes: u32,
    pub max_partition_fetch_bytes: u32,
    pub fetch_max_wait: Dur,
    pub isolation: Isolation,
    pub instance_id: Option<Rc<str>>,
    pub allow_auto_create: bool,
}

impl From<ConfigError> for ConfigRefusal {
    fn from(e: ConfigError) -> ConfigRefusal {
        ConfigRefusal { exception: "ConfigException", key: e.key, value: e.value, expected: e.expected, by: e.by }
    }
}

fn common(read: &Given<'_>, version: ClientVersion) -> CommonConfig {
    let exponential = version >= ClientVersion::V3_9;
    let first = read.ms("retry.backoff.ms");
    CommonConfig {
        request_timeout: read.ms("request.timeout.ms"),
        retry: Backoff { first, most: read.ms("retry.backoff.max.ms").max(first), exponential },
        reconnect: Backoff {
            first: read.ms("reconnect.backoff.ms"),
            most: read.ms("reconnect.backoff.max.ms"),
            exponential: true,
        },
        metadata_max_age: read.ms("metadata.max.age.ms"),
        rebootstrap: read.text("metadata.recovery.strategy").eq_ignore_ascii_case("rebootstrap"),
        leader_hints: exponential,
    }
}

impl ProducerConfig {
    /// The given configs over the defaults of `version` (sections 3.4 and 3.5).
    ///
    /// # Errors
    /// What the constructor of the Java producer throws, and unknown keys, which Java only warns of.
    pub fn parse(version: ClientVersion, given: &ConfigMap) -> Result<ProducerConfig, ConfigRefusal> {
        let read = Given::read(Scope::Producer, version.release(), given)?;
        let common = common(&read, version);
        let wanted = read.flag("enable.idempotence");
        let by_user = wanted && read.is_given("enable.idempotence");
        let acks = match read.text("acks") {
            // A producer that asks for idempotence and says nothing of acks gets all of them.
            _default if by_user && !read.is_given("acks") => Acks::All,
            "0" => Acks::Zero,
            "1" => Acks::One,
            _all => Acks::All,
        };
        let retries = if by_user && !read.is_given("retries") { i32::MAX as u32 } else { read.count("retries") as u32 };
        let max_in_flight = read.count("max.in.flight.requests.per.connection") as usize;
        let mut idempotent = wanted;
        if idempotent && retries == 0 {
            if by_user {
                return Err(ConfigRefusal::new(
                    "retries",
                    "0",
                    "Must set retries to non-zero when using the idempotent producer.",
                ));
            }
            idempotent = false;
        }
        if idempotent && acks != Acks::All {
            if by_user {
                return Err(ConfigRefusal::new(
                    "acks",
                    read.text("acks"),
                    "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee \
                     idempotence.",
                ));
            }
            idempotent = false;
        }
        if idempotent && max_in_flight > 5 {
            // Releases of the 3.x line switch a default idempotence off with a warning.
            if by_user || version >= ClientVersion::V4_1 {
                let expected = format!(
                    "To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. \
                     Current value is {max_in_flight}."
                );
                return Err(ConfigRefusal::new(
                    "max.in.flight.requests.per.connection",
                    &max_in_flight.to_string(),
                    expected,
                ));
            }
            idempotent = false;
        }
        let linger = read.ms("linger.ms");
        let least = linger + common.request_timeout;
        let default_delivery = if version == ClientVersion::V1_1 { least } else { read.ms("delivery.timeout.ms") };
        let delivery_timeout = if read.is_given("delivery.timeout.ms") {
            let span = read.ms("delivery.timeout.ms");
            if span < least {
                let expected = "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms";
                return Err(
                    ConfigRefusal::new("delivery.timeout.ms", read.text("delivery.timeout.ms"), expected).wrapped()
                );
            }
            span
        } else {
            default_delivery.max(least)
        };
        let partitioner = match short_name(read.text("partitioner.class")) {
            "RoundRobinPartitioner" => PartitionerKind::RoundRobin,
            "UniformStickyPartitioner" => PartitionerKind::StickyBatch,
            "DefaultPartitioner" | "" => match version {
                ClientVersion::V1_1 | ClientVersion::V2_3 => PartitionerKind::RoundRobin,
                ClientVersion::V2_5 => PartitionerKind::StickyBatch,
                ClientVersion::V3_9 | ClientVersion::V4_1 => PartitionerKind::StickyBytes,
            },
            other => {
                return Err(ConfigRefusal::not_simulated(
                    "partitioner.class",
                    other,
                    "RoundRobinPartitioner, UniformStickyPartitioner or no value",
                )
                .wrapped());
            }
        };
        Ok(ProducerConfig {
            common,
            acks,
            idempotent,
            retries,
            delivery_timeout,
            linger,
            batch_size: read.count("batch.size") as usize,
            max_request_size: read.count("max.request.size") as usize,
            max_in_flight,
            max_block: read.ms("max.block.ms"),
            partitioner,
            adaptive_partitioning: read.flag("partitioner.adaptive.partitioning.enable"),
        })
    }
}

impl ConsumerConfig {
    /// The given configs over the defaults of `version` (appendix A.4).
    ///
    /// # Errors
    /// What the constructor of the Java consumer throws, unknown keys, and what is not simulated: other assignors and
    /// protocols.
    pub fn parse(version: ClientVersion, given: &ConfigMap) -> Result<ConsumerConfig, ConfigRefusal> {
        let read = Given::read(Scope::Consumer, version.release(), given)?;
        let session_timeout = read.ms("session.timeout.ms");
        let heartbeat_interval = read.ms("heartbeat.interval.ms");
        if heartbeat_interval >= session_timeout {
            let expected = "Heartbeat must be set lower than the session timeout";
            return Err(ConfigRefusal::new("heartbeat.interval.ms", &heartbeat_interval.as_ms().to_string(), expected)
                .wrapped());
        }
        let reset = match read.text("auto.offset.reset") {
            "earliest" => OffsetReset::Earliest,
            "none" => OffsetReset::None,
            _latest => OffsetReset::Latest,
        };
        let isolation = match read.text("isolation.level") {
            "read_committed" => Isolation::ReadCommitted,
            _uncommitted => Isolation::ReadUncommitted,
        };
        let assignors = read.text("partition.assignment.strategy");
        // The first of the list is the one that members agree on.
        if !matches!(short_name(assignors.split(',').next().unwrap_or(assignors).trim()), "RangeAssignor" | "range") {
            return Err(ConfigRefusal::not_simulated(
                "partition.assignment.strategy",
                assignors,
                "RangeAssignor, the assignor that is simulated",
            ));
        }
        Ok(ConsumerConfig {
            common: common(&read, version),
            session_timeout,
            heartbeat_interval,
            max_poll_interval: read.ms("max.poll.interval.ms"),
            max_poll_records: read.count("max.poll.records") as usize,
            reset,
            auto_commit: read.flag("enable.auto.commit"),
            auto_commit_interval: read.ms("auto.commit.interval.ms"),
            fetch_min_bytes: read.count("fetch.min.bytes") as u32,
            fetch_max_bytes: read.count("fetch.max.bytes") as u32,
            max_partition_fetch_bytes: read.count("max.partition.fetch.bytes") as u32,
            fetch_max_wait: read.ms("fetch.max.wait.ms"),
            isolation,
            instance_id: Some(read.text("group.instance.id")).filter(|id| !id.is_empty()).map(Rc::from),
            allow_auto_create: read.flag("allow.auto.create.topics"),
        })
    }
}

/// A class by its simple name.
fn short_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// The earlier of two moments that may not exist.
pub(crate) fn sooner(a: Option<SimTime>, b: Option<SimTime>) -> Option<SimTime> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BrokerId, NodeId, StreamId};
    use crate::protocol::config::config_map;
    use alloc::vec::Vec;

    fn producer(pairs: &[(&str, &str)]) -> Result<ProducerConfig, ConfigRefusal> {
        ProducerConfig::parse(ClientVersion::V4_1, &config_map(pairs))
    }

    #[test]
    fn p_18_acks_1_switches_a_default_idempotence_off_in_silence() {
        let config = producer(&[("acks", "1")]).expect("allowed");
        assert!(!config.idempotent);
        assert_eq!(config.acks, Acks::One);
        assert!(producer(&[]).expect("allowed").idempotent);
    }

    #[test]
    fn p_29_contradictions_are_refused_as_the_constructor_does() {
        let refused = |pairs: &[(&str, &str)]| producer(pairs).expect_err("refused");
        let acks = refused(&[("acks", "1"), ("enable.idempotence", "true")]);
        assert_eq!((acks.exception, &*acks.key, &*acks.value), ("ConfigException", "acks", "1"));
        let flight =
            refused(&[("acks", "all"), ("max.in.flight.requests.per.connection", "6"), ("enable.idempotence", "true")]);
        assert_eq!((flight.exception, &*flight.key), ("ConfigException", "max.in.flight.requests.per.connection"));
        let two = refused(&[("acks", "two")]);
        assert_eq!(
            (two.exception, &*two.value, &*two.expected),
            ("ConfigException", "two", "String must be one of: all, -1, 0, 1")
        );
        let time = refused(&[("delivery.timeout.ms", "1000"), ("request.timeout.ms", "5000"), ("linger.ms", "10")]);
        assert_eq!((time.exception, &*time.key), ("KafkaException", "delivery.timeout.ms"));
        assert_eq!(refused(&[("retries", "0"), ("enable.idempotence", "true")]).key, "retries");
        assert_eq!(refused(&[("nope", "1")]).key, "nope");
    }

    #[test]
    fn defaults_follow_the_client_version() {
        let of = |version| ProducerConfig::parse(version, &ConfigMap::new()).expect("defaults are allowed");
        let old = of(ClientVersion::V2_5);
        assert_eq!(
            (old.acks, old.idempotent, old.linger, old.partitioner),
            (Acks::One, false, Dur::ZERO, PartitionerKind::StickyBatch)
        );
        let middle = of(ClientVersion::V3_9);
        assert_eq!((middle.acks, middle.idempotent, middle.linger), (Acks::All, true, Dur::ZERO));
        assert_eq!(of(ClientVersion::V4_1).linger, Dur::ms(5));
        assert_eq!(of(ClientVersion::V1_1).retries, 0);
        let consumer = |version| ConsumerConfig::parse(version, &ConfigMap::new()).expect("defaults are allowed");
        assert_eq!(consumer(ClientVersion::V2_3).session_timeout, Dur::secs(10));
        assert_eq!(consumer(ClientVersion::V4_1).session_timeout, Dur::secs(45));
    }

    #[test]
    fn a_delivery_timeout_that_nobody_set_grows_with_the_request_timeout() {
        assert_eq!(producer(&[("request.timeout.ms", "200000")]).expect("allowed").delivery_timeout, Dur::ms(200_005));
    }

    #[test]
    fn a_pause_with_jitter_never_exceeds_its_maximum() {
        let pause = Backoff { first: Dur::ms(100), most: Dur::secs(1), exponential: true };
        let mut rng = Rng::stream(1, StreamId::Node(NodeId::Broker(BrokerId(1))));
        let drawn: Vec<Dur> = (0..200).map(|_| pause.after(9, &mut rng)).collect();
        assert!(drawn.iter().all(|span| (Dur::ms(800)..=Dur::secs(1)).contains(span)));
        assert!(drawn.iter().any(|span| *span < Dur::secs(1)) && drawn.contains(&Dur::secs(1)));
        let constant = Backoff { first: Dur::ms(100), most: Dur::ms(40), exponential: true };
        assert_eq!(constant.after(3, &mut rng), Dur::ms(40));
    }
}
