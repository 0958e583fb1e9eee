//! Producer and consumer configs: defaults by client version, parsing and the refusals of the Java constructors. Knows
//! keys, not behaviour.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};

use super::ClientVersion;
use crate::base::{Dur, Rng, SimTime};
use crate::protocol::{Acks, ConfigMap, Isolation};

/// Why a client's constructor throws.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigRefusal {
    /// The Java exception by its simple name, as the application sees it.
    pub exception: &'static str,
    pub key: String,
    pub value: String,
    pub expected: String,
}

impl ConfigRefusal {
    fn new(key: &str, value: &str, expected: impl Into<String>) -> ConfigRefusal {
        ConfigRefusal {
            exception: "ConfigException",
            key: key.to_string(),
            value: value.to_string(),
            expected: expected.into(),
        }
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

/// The configs of a client as they are read, each key once.
struct Reader<'a> {
    given: &'a ConfigMap,
}

impl Reader<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        self.given.get(key).map(|v| v.trim())
    }
    fn int(&self, key: &str, default: i64, least: i64) -> Result<i64, ConfigRefusal> {
        let Some(text) = self.text(key) else { return Ok(default) };
        match text.parse::<i64>() {
            Ok(number) if number < least => {
                Err(ConfigRefusal::new(key, text, format!("Value must be at least {least}")))
            }
            Ok(number) => Ok(number),
            Err(_) => Err(ConfigRefusal::new(key, text, "Not a number of type INT")),
        }
    }
    fn ms(&self, key: &str, default: u64) -> Result<Dur, ConfigRefusal> {
        Ok(Dur::ms(self.int(key, default as i64, 0)? as u64))
    }
    fn bool(&self, key: &str, default: bool) -> Result<bool, ConfigRefusal> {
        match self.text(key) {
            None => Ok(default),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(ConfigRefusal::new(key, text, "Expected value to be either true or false")),
        }
    }
    fn known(&self, keys: &[&str]) -> Result<(), ConfigRefusal> {
        match self.given.iter().find(|(key, _)| !keys.contains(&&***key) && !COMMON_KEYS.contains(&&***key)) {
            Some((key, value)) => Err(ConfigRefusal::new(key, value, "a config of this client that is simulated")),
            None => Ok(()),
        }
    }
    fn common(&self, version: ClientVersion, request_timeout_ms: u64) -> Result<CommonConfig, ConfigRefusal> {
        let exponential = version >= ClientVersion::V3_9;
        let first = self.ms("retry.backoff.ms", 100)?;
        let most = self.ms("retry.backoff.max.ms", 1_000)?;
        let most = Dur(most.0.max(first.0));
        let rebootstrap = match self.text("metadata.recovery.strategy") {
            None => version >= ClientVersion::V4_1,
            Some("rebootstrap") => true,
            Some("none") => false,
            Some(text) => {
                return Err(ConfigRefusal::new(
                    "metadata.recovery.strategy",
                    text,
                    "(case insensitive) String must be one of: REBOOTSTRAP, NONE",
                ));
            }
        };
        Ok(CommonConfig {
            request_timeout: self.ms("request.timeout.ms", request_timeout_ms)?,
            retry: Backoff { first, most, exponential },
            reconnect: Backoff {
                first: self.ms("reconnect.backoff.ms", 50)?,
                most: self.ms("reconnect.backoff.max.ms", 1_000)?,
                exponential: true,
            },
            metadata_max_age: self.ms("metadata.max.age.ms", 300_000)?,
            rebootstrap,
            leader_hints: exponential,
        })
    }
}

const COMMON_KEYS: &[&str] = &[
    "client.id",
    "bootstrap.servers",
    "request.timeout.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "metadata.max.age.ms",
    "metadata.recovery.strategy",
];

const PRODUCER_KEYS: &[&str] = &[
    "acks",
    "enable.idempotence",
    "retries",
    "delivery.timeout.ms",
    "linger.ms",
    "batch.size",
    "buffer.memory",
    "max.request.size",
    "max.in.flight.requests.per.connection",
    "max.block.ms",
    "partitioner.class",
    "partitioner.adaptive.partitioning.enable",
    "compression.type",
    "key.serializer",
    "value.serializer",
];

const CONSUMER_KEYS: &[&str] = &[
    "group.id",
    "group.instance.id",
    "group.protocol",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "auto.offset.reset",
    "enable.auto.commit",
    "auto.commit.interval.ms",
    "fetch.min.bytes",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "max.partition.fetch.bytes",
    "default.api.timeout.ms",
    "isolation.level",
    "partition.assignment.strategy",
    "allow.auto.create.topics",
    "key.deserializer",
    "value.deserializer",
];

impl ProducerConfig {
    /// The given configs over the defaults of `version` (sections 3.4 and 3.5).
    ///
    /// # Errors
    /// What the constructor of the Java producer throws, and unknown keys, which Java only warns of.
    pub fn parse(version: ClientVersion, given: &ConfigMap) -> Result<ProducerConfig, ConfigRefusal> {
        let read = Reader { given };
        read.known(PRODUCER_KEYS)?;
        let common = read.common(version, 30_000)?;
        let modern = version >= ClientVersion::V3_9;
        let wanted = read.bool("enable.idempotence", modern)?;
        let by_user = given.contains_key("enable.idempotence") && wanted;
        let acks = match read.text("acks") {
            // A producer that asks for idempotence and says nothing of acks gets all of them.
            None if modern || by_user => Acks::All,
            None | Some("1") => Acks::One,
            Some("0") => Acks::Zero,
            Some("all" | "-1") => Acks::All,
            Some(text) => return Err(ConfigRefusal::new("acks", text, "String must be one of: all, -1, 0, 1")),
        };
        let default_retries = if version == ClientVersion::V1_1 && !by_user { 0 } else { i64::from(i32::MAX) };
        let retries = read.int("retries", default_retries, 0)? as u32;
        let max_in_flight = read.int("max.in.flight.requests.per.connection", 5, 1)? as usize;
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
                let value = read.text("acks").unwrap_or("1");
                return Err(ConfigRefusal::new(
                    "acks",
                    value,
                    "Must set acks to all in order to use the idempotent producer. Otherwise we cannot guarantee idempotence.",
                ));
            }
            idempotent = false;
        }
        if idempotent && max_in_flight > 5 {
            // Releases of the 3.x line switch a default idempotence off with a warning.
            if by_user || version >= ClientVersion::V4_1 {
                let expected = format!(
                    "To use the idempotent producer, max.in.flight.requests.per.connection must be set to at most 5. Current value is {max_in_flight}."
                );
                return Err(ConfigRefusal::new(
                    "max.in.flight.requests.per.connection",
                    &max_in_flight.to_string(),
                    expected,
                ));
            }
            idempotent = false;
        }
        let linger = read.ms("linger.ms", if version >= ClientVersion::V4_1 { 5 } else { 0 })?;
        let least = linger + common.request_timeout;
        let default_delivery = if version == ClientVersion::V1_1 { least } else { Dur::secs(120) };
        let delivery_timeout = match read.text("delivery.timeout.ms") {
            None => Dur(default_delivery.0.max(least.0)),
            Some(text) => {
                let span = read.ms("delivery.timeout.ms", 120_000)?;
                if span < least {
                    let expected =
                        "delivery.timeout.ms should be equal to or larger than linger.ms + request.timeout.ms";
                    return Err(ConfigRefusal::new("delivery.timeout.ms", text, expected).wrapped());
                }
                span
            }
        };
        let partitioner = match read.text("partitioner.class").map(|name| name.rsplit('.').next().unwrap_or(name)) {
            Some("RoundRobinPartitioner") => PartitionerKind::RoundRobin,
            Some("UniformStickyPartitioner") => PartitionerKind::StickyBatch,
            Some("DefaultPartitioner") | None => match version {
                ClientVersion::V1_1 | ClientVersion::V2_3 => PartitionerKind::RoundRobin,
                ClientVersion::V2_5 => PartitionerKind::StickyBatch,
                ClientVersion::V3_9 | ClientVersion::V4_1 => PartitionerKind::StickyBytes,
            },
            Some(other) => {
                return Err(ConfigRefusal::new(
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
            batch_size: read.int("batch.size", 16_384, 0)? as usize,
            max_request_size: read.int("max.request.size", 1_048_576, 0)? as usize,
            max_in_flight,
            max_block: read.ms("max.block.ms", 60_000)?,
            partitioner,
            adaptive_partitioning: read.bool("partitioner.adaptive.partitioning.enable", true)?,
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
        let read = Reader { given };
        read.known(CONSUMER_KEYS)?;
        let common = read.common(version, if version == ClientVersion::V1_1 { 305_000 } else { 30_000 })?;
        let session_timeout =
            read.ms("session.timeout.ms", if version >= ClientVersion::V3_9 { 45_000 } else { 10_000 })?;
        let heartbeat_interval = read.ms("heartbeat.interval.ms", 3_000)?;
        if heartbeat_interval >= session_timeout {
            let expected = "Heartbeat must be set lower than the session timeout";
            return Err(ConfigRefusal::new("heartbeat.interval.ms", &heartbeat_interval.as_ms().to_string(), expected)
                .wrapped());
        }
        let reset = match read.text("auto.offset.reset") {
            None | Some("latest") => OffsetReset::Latest,
            Some("earliest") => OffsetReset::Earliest,
            Some("none") => OffsetReset::None,
            Some(text) => return Err(ConfigRefusal::new("auto.offset.reset", text, "latest, earliest or none")),
        };
        let isolation = match read.text("isolation.level") {
            None | Some("read_uncommitted") => Isolation::ReadUncommitted,
            Some("read_committed") => Isolation::ReadCommitted,
            Some(text) => {
                return Err(ConfigRefusal::new(
                    "isolation.level",
                    text,
                    "String must be one of: read_committed, read_uncommitted",
                ));
            }
        };
        if let Some(text) = read.text("partition.assignment.strategy") {
            let first = text.split(',').next().unwrap_or(text).trim();
            let name = first.rsplit('.').next().unwrap_or(first);
            if name != "RangeAssignor" && name != "range" {
                return Err(ConfigRefusal::new(
                    "partition.assignment.strategy",
                    text,
                    "RangeAssignor, the assignor that is simulated",
                ));
            }
        }
        if let Some(text) = read.text("group.protocol").filter(|text| !text.eq_ignore_ascii_case("classic")) {
            return Err(ConfigRefusal::new("group.protocol", text, "classic, the protocol that is simulated"));
        }
        Ok(ConsumerConfig {
            common,
            session_timeout,
            heartbeat_interval,
            max_poll_interval: read.ms("max.poll.interval.ms", 300_000)?,
            max_poll_records: read.int("max.poll.records", 500, 1)? as usize,
            reset,
            auto_commit: read.bool("enable.auto.commit", true)?,
            auto_commit_interval: read.ms("auto.commit.interval.ms", 5_000)?,
            fetch_min_bytes: read.int("fetch.min.bytes", 1, 0)? as u32,
            fetch_max_bytes: read.int("fetch.max.bytes", 52_428_800, 0)? as u32,
            max_partition_fetch_bytes: read.int("max.partition.fetch.bytes", 1_048_576, 0)? as u32,
            fetch_max_wait: read.ms("fetch.max.wait.ms", 500)?,
            isolation,
            instance_id: read.text("group.instance.id").map(Rc::from),
            allow_auto_create: read.bool("allow.auto.create.topics", true)?,
        })
    }
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
