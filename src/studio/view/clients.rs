//! Producers, groups and members as the page shows them: what each is doing now, in one closed word. Asks no broker.

use highwater_engine::base::{BrokerId, ClientId, NodeId, sort_by};
use highwater_engine::broker::{Broker, BrokerState};
use highwater_engine::client::{
    Client, ClientKind, Consumer, ConsumerStatus, PollForm, ProducerConfig, ProducerStatus,
};
use highwater_engine::protocol::{Acks, ErrorCode, GroupState as EngineGroupState};
use highwater_engine::world::machine::Role;

use super::lost::stretches;
use super::model::*;
use crate::recording::Ledger;
use crate::story::{Seen, count};

/// Kafka's spelling.
pub fn acks_term(acks: Acks) -> Term {
    match acks {
        Acks::Zero => "0".into(),
        Acks::One => "1".into(),
        Acks::All => "all".into(),
    }
}

pub fn producers(seen: Seen<'_>, ledger: &Ledger) -> Vec<ProducerView> {
    seen.producers().into_iter().map(|(name, id)| producer(seen, ledger, name, id)).collect()
}

fn producer(seen: Seen<'_>, ledger: &Ledger, name: String, id: Option<ClientId>) -> ProducerView {
    let planned = seen.scenario().producers.iter().find(|(known, _)| *known == name).map(|(_, producer)| producer);
    let machine = id.and_then(|id| seen.machine(NodeId::Client(id)));
    let running = machine.and_then(|machine| machine.client()).and_then(Client::as_producer);
    let spec = match machine.map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Producer(spec), .. }) => Some(spec),
        Some(Role::Client { .. } | Role::Controller | Role::Broker { .. }) | None => None,
    };
    let config = match spec {
        Some(spec) => ProducerConfig::parse(spec.version, &spec.config).ok(),
        None => planned.and_then(planned_config),
    };
    let rate = running.map_or_else(|| spec.map_or(planned.map_or(0, |p| p.rate), |s| s.rate), |p| p.rate());
    let batches = || running.into_iter().flat_map(|p| p.batches());
    let counts = id.map_or_else(LedgerCounts::default, |id| ledger.of_producer(id));
    ProducerView {
        topic: spec
            .and_then(|s| s.topic.as_ref())
            .map(|t| t.to_string())
            .or_else(|| planned.and_then(|p| p.topic.clone()))
            .unwrap_or_default(),
        client_version: spec
            .map(|s| s.version.name().to_string())
            .or_else(|| planned.map(|p| p.client.clone()))
            .unwrap_or_default()
            .into(),
        acks: acks_term(config.as_ref().map_or(Acks::All, |c| c.acks)),
        idempotent: config.as_ref().is_some_and(|c| c.idempotent),
        rate_milli: u64::from(rate) * 1_000,
        now: match (machine, running) {
            (None, _) => ProducerNow::NotStarted,
            (Some(_), None) => ProducerNow::Closed,
            (Some(machine), Some(_)) if machine.paused => ProducerNow::Paused,
            (Some(_), Some(producer)) => producer_now(seen, producer),
        },
        sent: counts.sent,
        acked: counts.acked,
        lost: counts.lost,
        lost_at: stretches(seen, ledger.lost().filter(|record| id.map(NodeId::Client) == Some(record.producer))),
        refused: counts.refused,
        in_flight: batches().filter(|batch| batch.at.is_some()).map(|batch| batch.records as u32).sum(),
        waiting: batches().filter(|batch| batch.at.is_none()).map(|batch| batch.records as u32).sum(),
        name,
    }
}

/// The configuration that a producer of the scenario will have.
pub fn planned_config(producer: &crate::scenario::Producer) -> Option<ProducerConfig> {
    let version = highwater_engine::client::ClientVersion::parse(&producer.client)?;
    let configs = producer.config.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into())).collect();
    ProducerConfig::parse(version, &configs).ok()
}

fn producer_now(seen: Seen<'_>, producer: &highwater_engine::client::Producer) -> ProducerNow {
    let partition = |topic: &str, partition: u32| PartitionRef { topic: topic.to_string(), partition };
    match producer.status() {
        ProducerStatus::Closed | ProducerStatus::Closing => ProducerNow::Closed,
        ProducerStatus::WaitingForMetadata { topic, partition: number, error, .. } => ProducerNow::NoLeader {
            error: error.unwrap_or(ErrorCode::UnknownTopicOrPartition).name().into(),
            partition: partition(&topic, number.unwrap_or(0)),
        },
        ProducerStatus::NoLeader { topic, partition: number, error } => {
            ProducerNow::NoLeader { error: error.name().into(), partition: partition(&topic, number) }
        }
        ProducerStatus::Retrying { topic, partition: number, error, next_at, .. } => ProducerNow::Retrying {
            error: error.name().into(),
            partition: Some(partition(&topic, number)),
            next_in_us: next_at.since(seen.now()).0,
        },
        ProducerStatus::Connecting { .. } | ProducerStatus::WaitingForProducerId | ProducerStatus::Lingering => {
            ProducerNow::Sending
        }
        ProducerStatus::AwaitingAnswers { oldest } => {
            ProducerNow::AwaitingAcks { oldest_us: seen.now().since(oldest).0 }
        }
        ProducerStatus::Idle => match producer.last_failure() {
            // The application has been told within the last seconds, and nothing succeeded since that it would show.
            Some((error, at)) if seen.now().since(at).0 < 5_000_000 => ProducerNow::Failing { error: error.into() },
            Some(_) | None => ProducerNow::Idle,
        },
    }
}

/// The coordinator of a group, as things are: its partition's leader, if that broker serves it.
pub fn coordinator(seen: Seen<'_>, group: &str) -> Coordinator {
    let Some(image) = seen.image() else { return Coordinator::NoTopic };
    let Some(tp) = seen.offsets_tp(group) else { return Coordinator::NoTopic };
    let Some(partition) = image.partition(tp) else { return Coordinator::NoTopic };
    let missing = |broker: Option<BrokerId>| Coordinator::Missing {
        last: broker.map(|b| b.0),
        down: broker.is_some_and(|b| seen.is_down(b)),
    };
    let Some(leader) = partition.leader else {
        return missing(
            partition.elr.first().or(partition.last_known_elr.first()).or(partition.replicas.first()).copied(),
        );
    };
    let Some(broker) = seen.world().broker(leader) else { return missing(Some(leader)) };
    if broker.coordinator().loading().any(|loading| loading == tp.partition) || broker.state() == BrokerState::Starting
    {
        return Coordinator::Loading { broker: leader.0 };
    }
    Coordinator::Ready { broker: leader.0 }
}

fn serving<'a>(seen: Seen<'a>, coordinator: Coordinator) -> Option<&'a Broker> {
    match coordinator {
        Coordinator::Ready { broker } => seen.world().broker(BrokerId(broker)),
        Coordinator::NoTopic | Coordinator::Missing { .. } | Coordinator::Loading { .. } => None,
    }
}

pub fn groups(seen: Seen<'_>, ledger: &Ledger) -> Vec<GroupView> {
    seen.groups().into_iter().map(|name| group(seen, ledger, name)).collect()
}

fn group(seen: Seen<'_>, ledger: &Ledger, name: String) -> GroupView {
    let coordinator = coordinator(seen, &name);
    let view = serving(seen, coordinator).and_then(|broker| broker.groups().find(|view| **view.name == *name));
    let started = seen.members(&name);
    let mut members: Vec<MemberView> = started.iter().map(|(member, id)| member_view(seen, member, *id)).collect();
    if let Some((_, planned)) = seen.scenario().groups.iter().find(|(known, _)| *known == name) {
        for (member, spec) in &planned.members {
            if !members.iter().any(|view| view.name == *member) {
                members.push(MemberView {
                    name: member.clone(),
                    client_version: spec.client.clone().unwrap_or_else(|| planned.client.clone()).into(),
                    long_poll: spec.poll.unwrap_or(planned.poll) == PollForm::Long,
                    assigned: Vec::new(),
                    now: MemberNow::NotStarted,
                });
            }
        }
    }
    sort_by(&mut members, |a, b| a.name.cmp(&b.name));
    let standing = started.iter().filter_map(|(_, id)| seen.world().client(*id)?.as_consumer()).map(|consumer| {
        match consumer.status(seen.now()) {
            ConsumerStatus::StuckWithoutCoordinator { standing, .. } => standing.len(),
            _reads => 0,
        }
    });
    // With fewer brokers than replicas are wanted there will never be an offsets topic.
    let wanted = seen.offsets_replication_factor() as usize;
    let hopeless = coordinator == Coordinator::NoTopic && seen.world().setup().brokers.len() < wanted;
    let now = group_now(&members, standing.sum(), hopeless);
    GroupView {
        state: view.as_ref().map_or(GroupState::Unknown, |view| match view.state {
            EngineGroupState::Empty => GroupState::Empty,
            EngineGroupState::PreparingRebalance => GroupState::PreparingRebalance,
            EngineGroupState::CompletingRebalance => GroupState::CompletingRebalance,
            EngineGroupState::Stable => GroupState::Stable,
            EngineGroupState::Dead => GroupState::Dead,
        }),
        generation: view.as_ref().map_or(0, |view| view.generation.0.max(0) as u32),
        offsets_partition: seen.group_partition(&name),
        coordinator,
        lag: members.iter().flat_map(|member| &member.assigned).map(|assigned| assigned.lag).sum(),
        delivered: ledger.delivered_to(&name),
        members,
        now,
        name,
    }
}

/// Whether a member's client runs.
fn is_alive(member: &MemberView) -> bool {
    !matches!(member.now, MemberNow::NotStarted | MemberNow::Closed)
}

/// What a group does as a whole; `still` of its partitions have a leader that its members cannot learn of. A group
/// without a coordinator waits for its first one, unless that is `hopeless`.
fn group_now(members: &[MemberView], still: usize, hopeless: bool) -> GroupNow {
    let alive: Vec<&MemberView> = members.iter().filter(|member| is_alive(member)).collect();
    if alive.is_empty() {
        return if members.iter().any(|member| member.now == MemberNow::NotStarted) {
            GroupNow::Starting
        } else {
            GroupNow::NoMembers
        };
    }
    if alive.iter().all(|member| member.now == MemberNow::Paused) {
        return GroupNow::NotPolling;
    }
    let stopped = |member: &MemberView| match &member.now {
        MemberNow::Stopped { error } | MemberNow::Failing { error } => Some(error.clone()),
        MemberNow::FindingCoordinator { error: Some(error) } => Some(error.clone()),
        _goes_on => None,
    };
    if let Some(error) = alive.iter().find_map(|member| stopped(member))
        && alive.iter().all(|member| stopped(member).is_some())
        && (hopeless
            || !alive.iter().all(|member| {
                matches!(member.now, MemberNow::FindingCoordinator { .. })
                    && member.assigned.is_empty()
                    && error == "COORDINATOR_NOT_AVAILABLE"
            }))
    {
        return GroupNow::Stopped { error };
    }
    let uncommitted = alive.iter().find_map(|member| {
        if let MemberNow::ReadingUncommitted { error } = &member.now { Some(error.clone()) } else { None }
    });
    if let Some(error) = uncommitted {
        let all: usize = alive.iter().map(|member| member.assigned.len()).sum();
        let still = still.min(all);
        return GroupNow::ReadsWithoutCoordinator {
            error,
            partitions_read: (all - still) as u32,
            partitions_still: still as u32,
        };
    }
    if alive.iter().any(|member| matches!(member.now, MemberNow::Joining | MemberNow::Syncing)) {
        return GroupNow::Rebalancing;
    }
    if alive.iter().any(|member| matches!(member.now, MemberNow::FindingCoordinator { .. })) {
        return GroupNow::Starting;
    }
    if alive.iter().all(|member| member.now == MemberNow::CaughtUp) { GroupNow::CaughtUp } else { GroupNow::Reading }
}

fn member_view(seen: Seen<'_>, name: &str, id: ClientId) -> MemberView {
    let machine = seen.machine(NodeId::Client(id));
    let (version, long_poll) = match machine.map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Consumer(spec), .. }) => {
            (spec.version.name(), spec.poll == PollForm::Long)
        }
        Some(Role::Client { .. } | Role::Controller | Role::Broker { .. }) | None => ("", false),
    };
    let consumer = machine.and_then(|machine| machine.client()).and_then(Client::as_consumer);
    MemberView {
        name: name.into(),
        client_version: version.into(),
        long_poll,
        assigned: consumer.map_or_else(Vec::new, |consumer| assigned(seen, consumer)),
        now: match consumer {
            None => MemberNow::Closed,
            Some(_) if machine.is_some_and(|machine| machine.paused) => MemberNow::Paused,
            Some(consumer) => member_now(seen, consumer),
        },
    }
}

fn assigned(seen: Seen<'_>, consumer: &Consumer) -> Vec<AssignedPartition> {
    let end = |tp| {
        let leader = seen.image()?.partition(tp)?.leader?;
        seen.world().broker(leader)?.high_watermark(tp)
    };
    consumer
        .partitions()
        .map(|(tp, assigned)| {
            let position = assigned.position.map(|position| position.offset);
            let end = end(tp).or(assigned.high_watermark).unwrap_or(0);
            AssignedPartition {
                partition: seen.partition(tp),
                position: position.map(count),
                committed: assigned.committed.map(count),
                lag: count(end - position.or(assigned.committed).unwrap_or(0)),
            }
        })
        .collect()
}

fn member_now(seen: Seen<'_>, consumer: &Consumer) -> MemberNow {
    let name = |error: Option<ErrorCode>| -> Term { error.unwrap_or(ErrorCode::CoordinatorNotAvailable).name().into() };
    match consumer.status(seen.now()) {
        ConsumerStatus::Closed | ConsumerStatus::Closing => MemberNow::Closed,
        ConsumerStatus::Failed { exception } => MemberNow::Failing { error: exception.into() },
        ConsumerStatus::Paused { .. } => MemberNow::Paused,
        ConsumerStatus::LookingForCoordinator { error } => {
            MemberNow::FindingCoordinator { error: error.map(|error| error.name().into()) }
        }
        ConsumerStatus::StuckWithoutCoordinator { error, reads_on: true, .. } => {
            MemberNow::ReadingUncommitted { error: name(error) }
        }
        ConsumerStatus::StuckWithoutCoordinator { error, reads_on: false, .. } => {
            MemberNow::Stopped { error: name(error) }
        }
        ConsumerStatus::Joining => MemberNow::Joining,
        ConsumerStatus::Syncing => MemberNow::Syncing,
        ConsumerStatus::FindingPositions | ConsumerStatus::Reading => MemberNow::Reading,
        ConsumerStatus::WithoutPartitions | ConsumerStatus::CaughtUp => MemberNow::CaughtUp,
    }
}
