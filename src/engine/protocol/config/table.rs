//! The settings that have an effect here, with Kafka's types, validators and defaults, and the limits of this
//! playground. Decides nothing by them.

use super::Scope::{Consumer as C, Node as N, Producer as P, Topic as T};
use super::Type::{Bool, Int, List, Long, Short, Text};
use super::Valid::{Any, AtLeast, Between, NonEmpty, OneOf, OneOfAnyCase, ResetPolicy};
use super::{Scope, Setting, Type, Valid};
use crate::base::limits::MAX_PARTITIONS;

const fn row(scopes: &'static [Scope], name: &'static str, kind: Type, valid: Valid, default: &'static str) -> Setting {
    Setting::new(scopes, name, kind, valid, default)
}

const MAX_INT: i64 = i32::MAX as i64;
const PARTITIONS: i64 = MAX_PARTITIONS as i64;

/// In the order of topics, nodes, clients.
pub const MODELLED: &[Setting] = &[
    row(&[T, N], "min.insync.replicas", Int, AtLeast(1), "1").cluster_wide(),
    row(&[T, N], "unclean.leader.election.enable", Bool, Any, "false").cluster_wide(),
    row(&[T], "max.message.bytes", Int, AtLeast(0), "1048588"),
    row(&[T], "segment.bytes", Int, AtLeast(1_048_576), "1073741824"),
    row(&[N], "num.partitions", Int, AtLeast(1), "1").here(1, PARTITIONS),
    row(&[N], "default.replication.factor", Int, Any, "1").here(1, i16::MAX as i64),
    row(&[N], "auto.create.topics.enable", Bool, Any, "true"),
    row(&[N], "auto.leader.rebalance.enable", Bool, Any, "true"),
    row(&[N], "leader.imbalance.check.interval.seconds", Long, AtLeast(1), "300"),
    row(&[N], "offsets.topic.num.partitions", Int, AtLeast(1), "50").here(1, PARTITIONS),
    row(&[N], "offsets.topic.replication.factor", Short, AtLeast(1), "3"),
    row(&[N], "offsets.commit.timeout.ms", Int, AtLeast(1), "5000"),
    row(&[N], "group.coordinator.append.linger.ms", Int, AtLeast(0), "5").before(&[((4, 1), "10")]),
    row(&[N], "group.initial.rebalance.delay.ms", Int, Any, "3000"),
    row(&[N], "group.min.session.timeout.ms", Int, Any, "6000"),
    row(&[N], "group.max.session.timeout.ms", Int, Any, "1800000"),
    row(&[N], "replica.lag.time.max.ms", Long, Any, "30000").here(1, super::MOST_MILLIS),
    row(&[N], "replica.fetch.wait.max.ms", Int, Any, "500"),
    row(&[N], "replica.fetch.min.bytes", Int, Any, "1"),
    row(&[N], "replica.fetch.max.bytes", Int, AtLeast(0), "1048576"),
    row(&[N], "replica.fetch.backoff.ms", Int, AtLeast(0), "1000"),
    row(&[N], "replica.socket.timeout.ms", Int, Any, "30000").here(1, MAX_INT),
    row(&[N], "replica.high.watermark.checkpoint.interval.ms", Long, Any, "5000").here(1, super::MOST_MILLIS),
    row(&[N], "broker.heartbeat.interval.ms", Int, Any, "2000").here(1, MAX_INT),
    row(&[N], "broker.session.timeout.ms", Int, Any, "9000").here(1, MAX_INT),
    row(&[N], "initial.broker.registration.timeout.ms", Int, Any, "60000").here(1, MAX_INT),
    row(&[N], "controller.quorum.election.timeout.ms", Int, AtLeast(0), "1000").here(1, MAX_INT),
    row(&[N], "controller.quorum.fetch.timeout.ms", Int, AtLeast(0), "2000").here(1, MAX_INT),
    row(&[N], "controller.quorum.election.backoff.max.ms", Int, AtLeast(0), "1000").here(1, MAX_INT),
    row(&[N], "controller.quorum.request.timeout.ms", Int, AtLeast(0), "2000").here(1, MAX_INT),
    row(&[N], "controller.quorum.retry.backoff.ms", Int, AtLeast(0), "20").here(1, MAX_INT),
    row(&[N], "metadata.max.idle.interval.ms", Int, AtLeast(0), "500"),
    row(&[P], "request.timeout.ms", Int, AtLeast(0), "30000"),
    row(&[C], "request.timeout.ms", Int, AtLeast(0), "30000").before(&[((2, 0), "305000")]),
    row(&[P, C], "retry.backoff.ms", Long, AtLeast(0), "100"),
    row(&[P, C], "retry.backoff.max.ms", Long, AtLeast(0), "1000"),
    row(&[P, C], "reconnect.backoff.ms", Long, AtLeast(0), "50"),
    row(&[P, C], "reconnect.backoff.max.ms", Long, AtLeast(0), "1000"),
    row(&[P, C], "metadata.max.age.ms", Long, AtLeast(0), "300000"),
    row(&[P, C], "metadata.recovery.strategy", Text, OneOfAnyCase(&["REBOOTSTRAP", "NONE"]), "rebootstrap")
        .before(&[((4, 0), "none")]),
    row(&[P], "acks", Text, OneOf(&["all", "-1", "0", "1"]), "all").before(&[((3, 0), "1")]),
    row(&[P], "enable.idempotence", Bool, Any, "true").before(&[((3, 0), "false")]),
    row(&[P], "retries", Int, Between(0, MAX_INT), "2147483647").before(&[((2, 1), "0")]),
    row(&[P], "delivery.timeout.ms", Int, AtLeast(0), "120000"),
    row(&[P], "linger.ms", Long, AtLeast(0), "5").before(&[((4, 0), "0")]),
    row(&[P], "batch.size", Int, AtLeast(0), "16384"),
    row(&[P], "max.request.size", Int, AtLeast(0), "1048576"),
    row(&[P], "max.in.flight.requests.per.connection", Int, AtLeast(1), "5"),
    row(&[P], "max.block.ms", Long, AtLeast(0), "60000"),
    row(&[P], "partitioner.class", Text, Any, ""),
    row(&[P], "partitioner.adaptive.partitioning.enable", Bool, Any, "true"),
    row(&[C], "group.instance.id", Text, NonEmpty, ""),
    row(&[C], "group.protocol", Text, OneOfAnyCase(&["CONSUMER", "CLASSIC"]), "classic").words(&["classic"]),
    row(&[C], "session.timeout.ms", Int, Any, "45000").before(&[((3, 0), "10000")]),
    row(&[C], "heartbeat.interval.ms", Int, Any, "3000"),
    row(&[C], "max.poll.interval.ms", Int, AtLeast(1), "300000"),
    row(&[C], "max.poll.records", Int, AtLeast(1), "500"),
    row(&[C], "auto.offset.reset", Text, ResetPolicy, "latest").words(&["latest", "earliest", "none"]),
    row(&[C], "enable.auto.commit", Bool, Any, "true"),
    row(&[C], "auto.commit.interval.ms", Int, AtLeast(0), "5000"),
    row(&[C], "fetch.min.bytes", Int, AtLeast(0), "1"),
    row(&[C], "fetch.max.bytes", Int, AtLeast(0), "52428800"),
    row(&[C], "fetch.max.wait.ms", Int, AtLeast(0), "500"),
    row(&[C], "max.partition.fetch.bytes", Int, AtLeast(0), "1048576"),
    row(&[C], "isolation.level", Text, OneOf(&["read_committed", "read_uncommitted"]), "read_uncommitted"),
    row(&[C], "partition.assignment.strategy", List, Any, "RangeAssignor"),
    row(&[C], "allow.auto.create.topics", Bool, Any, "true"),
];
