//! One sentence of cause for each verdict, as data. It judges nothing and knows no cure.

use highwater_engine::base::{BrokerId, NodeId, Tp};
use highwater_engine::trace::{Kind, TraceEntry};

use super::advice::last_leader;
use super::model::*;
use crate::playback::fenced_at;
use crate::story::{Seen, count, ids, name_of};

/// A broker that is silent and not fenced yet.
pub fn fencing(seen: Seen<'_>, broker: u32) -> Option<Cause> {
    let at = fenced_at(seen.world(), BrokerId(broker))?;
    Some(Cause::FencingPending { broker, in_us: at.since(seen.now()).0 })
}

/// A partition that nobody leads.
pub fn no_leader(seen: Seen<'_>, tp: Tp) -> Cause {
    Cause::NoLeader { partition: seen.partition(tp), last: last_leader(seen, tp) }
}

/// Why a group does not get on with its coordinator.
pub fn without_coordinator(seen: Seen<'_>, group: &GroupView) -> Cause {
    let (name, partition) = (group.name.clone(), group.offsets_partition);
    let replicas = seen.offsets_tp(&name).and_then(|tp| seen.image()?.partition(tp)).map(|p| p.replicas.as_slice());
    match (group.coordinator, replicas) {
        (Coordinator::Missing { down: true, .. }, Some([only])) => {
            Cause::OffsetsPartitionOneReplica { group: name, partition, broker: only.0 }
        }
        (Coordinator::Missing { last, .. }, _) => {
            let pending = last.and_then(|last| fencing(seen, last));
            pending.unwrap_or(Cause::OffsetsPartitionNoLeader { group: name, partition })
        }
        (Coordinator::NoTopic, _) => Cause::NoOffsetsTopic {
            group: name,
            wanted: seen.world().config().offsets_topic_replication_factor,
            brokers: {
                let brokers = seen.world().setup().brokers.iter();
                brokers.filter(|b| seen.image().is_some_and(|image| image.is_unfenced(b.id))).count() as u32
            },
        },
        (Coordinator::Loading { broker }, _) => Cause::CoordinatorLoads { group: name, partition, broker },
        (Coordinator::Ready { broker }, _) => fencing(seen, broker).unwrap_or_else(|| {
            if seen.is_up(BrokerId(broker)) {
                Cause::CoordinatorNotFound { group: name, partition, broker }
            } else {
                Cause::OffsetsPartitionNoLeader { group: name, partition }
            }
        }),
    }
}

/// What made a producer or a member do something a second time, or in another order.
pub fn repeated(seen: Seen<'_>, scene: &Scene) -> Cause {
    let bold = |who: NodeId| {
        let name = name_of(seen.node(who));
        scene.producers.iter().any(|producer| producer.name == name && !producer.idempotent)
    };
    if let Some(entry) = seen.last_turn(|entry| matches!(entry.kind, Kind::ProducerRetries { .. }) && bold(entry.who)) {
        return Cause::RetriedWithoutIdempotence { producer: name_of(seen.node(entry.who)) };
    }
    let back = |entry: &TraceEntry| {
        matches!(
            entry.kind,
            Kind::PositionReset { from: Some(from), offset, .. } if offset < from
        )
    };
    if let Some(entry) = seen.last_turn(back)
        && let Kind::PositionReset { tp, from: Some(from), offset } = entry.kind
    {
        return Cause::PositionWentBack {
            member: name_of(seen.node(entry.who)),
            partition: seen.partition(tp),
            from: count(from),
            to: count(offset),
        };
    }
    Cause::Rebalanced { group: scene.groups.first().map_or_else(String::new, |group| group.name.clone()) }
}

/// Why a producer's writes are refused, where the partition has a leader and enough replicas.
pub fn refused(seen: Seen<'_>, producer: &str, error: &Term, partition: Option<&PartitionRef>) -> Cause {
    let leader = partition.and_then(|p| seen.tp(p)).and_then(|tp| seen.image()?.partition(tp)?.leader);
    let silent = leader.and_then(|leader| silent(seen, producer, leader));
    silent.unwrap_or(Cause::Answered { producer: producer.into(), error: error.clone() })
}

/// Why a producer has no answer, where the partition has a leader and enough replicas.
pub fn unanswered(seen: Seen<'_>, producer: &str, tp: Option<Tp>) -> Cause {
    let waits = tp.and_then(|tp| seen.stalled(tp).map(|stalled| (tp, stalled)));
    if let Some((tp, (leader, _, waits_for))) = waits.filter(|(_, (.., waits_for))| !waits_for.is_empty()) {
        return Cause::WaitsForFollowers {
            partition: seen.partition(tp),
            broker: leader.0,
            waits_for: ids(&waits_for),
        };
    }
    let leader = tp.and_then(|tp| seen.image()?.partition(tp)?.leader);
    let silent = leader.and_then(|leader| silent(seen, producer, leader));
    silent.unwrap_or(Cause::Unanswered { producer: producer.into() })
}

/// A broker that a producer hears nothing of.
fn silent(seen: Seen<'_>, producer: &str, broker: BrokerId) -> Option<Cause> {
    let node = NodeId::Broker(broker);
    let cut = seen.client_node(producer).is_some_and(|client| {
        let network = seen.world().network();
        network.is_cut(client, node) || network.is_cut(node, client)
    });
    if cut || !seen.is_up(broker) {
        Some(Cause::LeaderSilent { producer: producer.into(), broker: broker.0 })
    } else {
        fencing(seen, broker.0)
    }
}
