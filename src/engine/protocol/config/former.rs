//! Settings that Kafka had up to 3.9 and gave up with 4.0, so that they can be told from slips of the pen. None of them
//! can be given here.

use super::Scope::{self, Consumer as C, Node as N, Producer as P, Topic as T};

/// What each configured, and its name.
const FORMER: &[(&[Scope], &str)] = &[
    (&[N, P, C], "auto.include.jmx.reporter"),
    (&[N], "broker.id.generation.enable"),
    (&[N], "control.plane.listener.name"),
    (&[N], "controlled.shutdown.max.retries"),
    (&[N], "controlled.shutdown.retry.backoff.ms"),
    (&[N], "delegation.token.master.key"),
    (&[N], "eligible.leader.replicas.enable"),
    (&[N], "group.coordinator.new.enable"),
    (&[N], "group.share.max.groups"),
    (&[N], "inter.broker.protocol.version"),
    (&[N], "leader.imbalance.per.broker.percentage"),
    (&[N], "log.message.downconversion.enable"),
    (&[N], "log.message.format.version"),
    (&[N], "log.message.timestamp.difference.max.ms"),
    (&[T], "message.downconversion.enable"),
    (&[T], "message.format.version"),
    (&[T], "message.timestamp.difference.max.ms"),
    (&[N], "metadata.log.segment.min.bytes"),
    (&[N], "offsets.commit.required.acks"),
    (&[N], "password.encoder.cipher.algorithm"),
    (&[N], "password.encoder.iterations"),
    (&[N], "password.encoder.key.length"),
    (&[N], "password.encoder.keyfactory.algorithm"),
    (&[N], "password.encoder.old.secret"),
    (&[N], "password.encoder.secret"),
    (&[N], "reserved.broker.max.id"),
    (&[N], "zookeeper.clientCnxnSocket"),
    (&[N], "zookeeper.connect"),
    (&[N], "zookeeper.connection.timeout.ms"),
    (&[N], "zookeeper.max.in.flight.requests"),
    (&[N], "zookeeper.metadata.migration.enable"),
    (&[N], "zookeeper.metadata.migration.min.batch.size"),
    (&[N], "zookeeper.session.timeout.ms"),
    (&[N], "zookeeper.set.acl"),
    (&[N], "zookeeper.ssl.cipher.suites"),
    (&[N], "zookeeper.ssl.client.enable"),
    (&[N], "zookeeper.ssl.crl.enable"),
    (&[N], "zookeeper.ssl.enabled.protocols"),
    (&[N], "zookeeper.ssl.endpoint.identification.algorithm"),
    (&[N], "zookeeper.ssl.keystore.location"),
    (&[N], "zookeeper.ssl.keystore.password"),
    (&[N], "zookeeper.ssl.keystore.type"),
    (&[N], "zookeeper.ssl.ocsp.enable"),
    (&[N], "zookeeper.ssl.protocol"),
    (&[N], "zookeeper.ssl.truststore.location"),
    (&[N], "zookeeper.ssl.truststore.password"),
    (&[N], "zookeeper.ssl.truststore.type"),
];

/// Whether Kafka had a setting of this name that it has no more.
pub fn is_former(scope: Scope, name: &str) -> bool {
    FORMER.iter().any(|(scopes, former)| *former == name && scopes.contains(&scope))
}
