//! From an entry of the trace to a fact with its values. What says nothing to a person has no fact; sentences are made
//! elsewhere.

use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::{ElectionKind as EngineElection, GroupState};
use highwater_engine::trace::{Creator, IsrChanger, Kind, QuorumRole};
use highwater_engine::world::Action;

use super::deeds;
use super::fact::{ConfigTarget, CreatedBy, ElectionKind, Fact, IsrBy};
use super::names::{NodeRef, count, ids};
use super::reader::{Reader, member_name};
use super::seen::Seen;
use crate::kinds::{Mark, Part, Row, Weight, row};

/// What is told of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub part: Part,
    pub weight: Weight,
    pub mark: Option<Mark>,
    pub fact: Fact,
}

/// What is told of an entry, if it says anything to a person.
pub fn tell(seen: Seen<'_>, index: usize) -> Option<Told> {
    let entry = seen.reel().get(index)?;
    let at = Reader { seen, index, entry };
    let fact = fact(&at)?;
    let Row { part, mark, .. } = row(entry);
    let (part, mark) = match &entry.kind {
        // An action belongs where its subject does.
        Kind::Acted { action } => seen.reel().action(*action).map_or((part, mark), |action| deeds::place(action)),
        Kind::ProcessStarted | Kind::ClientClosed { .. } if matches!(at.who(), NodeRef::Producer(_)) => {
            (Part::Producer, mark)
        }
        _as_in_the_table => (part, mark),
    };
    Some(Told { part, weight: seen.weight(index), mark, fact })
}

/// The fact of each kind. What weighs more than routine has one.
pub(super) fn fact(at: &Reader<'_>) -> Option<Fact> {
    let (seen, entry) = (at.seen, at.entry);
    Some(match &entry.kind {
        Kind::ActionRefused { verb, why, .. } => {
            Fact::ActionRefused { action: (*verb).into(), reason: deeds::reason(seen, why) }
        }
        Kind::ProcessStarted => at.started(),
        Kind::ProcessKilled => Fact::Killed { node: at.who() },
        Kind::ProcessExited { .. } => Fact::Stopped { node: at.who() },
        Kind::ProcessPaused => Fact::Paused { node: at.who() },
        Kind::ProcessResumed => Fact::Resumed { node: at.who() },
        Kind::DiskLost => Fact::DiskLost { node: at.who() },
        Kind::LinkCut { .. } => {
            let cut = at.ends(|kind| if let Kind::LinkCut { to } = kind { Some(*to) } else { None })?;
            Fact::Cut { a: cut.a, b: cut.b, one_way: cut.one_way }
        }
        Kind::LinkHealed { .. } => {
            let healed = at.ends(|kind| if let Kind::LinkHealed { to } = kind { Some(*to) } else { None })?;
            Fact::Healed { a: healed.a, b: healed.b }
        }
        Kind::LinkChanged { to, setup } => at.link_changed(*to, *setup)?,
        Kind::QuorumRoleChanged { role: QuorumRole::Candidate, epoch } => {
            Fact::QuorumElectionBegan { controller: at.controller()?, epoch: epoch.0 as u32 }
        }
        Kind::QuorumLeaderElected { leader, epoch } => {
            Fact::QuorumLeaderElected { controller: leader.0, epoch: epoch.0 as u32 }
        }
        Kind::ControllerActivated { epoch } => {
            Fact::ActiveController { controller: at.controller()?, epoch: epoch.0 as u32 }
        }
        Kind::ControllerResigned { epoch } => {
            Fact::QuorumLeaderResigned { controller: at.controller()?, epoch: epoch.0 as u32 }
        }
        Kind::QuorumLogTruncated { from, to } => {
            Fact::MetadataTruncated { node: at.who(), from: count(*from), to: count(*to) }
        }
        Kind::BrokerRegistered { broker, epoch, clean } => {
            Fact::Registered { broker: broker.0, epoch: count(epoch.0), clean: *clean }
        }
        Kind::RegistrationRefused { broker, error } => {
            Fact::RegistrationRefused { broker: broker.0, error: error.name().into() }
        }
        Kind::BrokerFenced { broker, last_contact } => {
            let session = seen.world().config().broker_session_timeout.0;
            Fact::Fenced { broker: broker.0, session_us: last_contact.map_or(session, |last| entry.at.since(last).0) }
        }
        Kind::BrokerUnfenced { broker } => Fact::Unfenced { broker: broker.0 },
        Kind::ControlledShutdownBegun { broker } => Fact::ControlledShutdownBegan { broker: broker.0 },
        Kind::TopicCreated { name, partitions, replication_factor, by, .. } => Fact::TopicCreated {
            topic: name.to_string(),
            partitions: *partitions,
            replication_factor: *replication_factor,
            by: created_by(*by),
        },
        Kind::TopicDeleted { name, .. } => Fact::TopicDeleted { topic: name.to_string() },
        Kind::PartitionsAdded { topic, total } => {
            Fact::PartitionsAdded { topic: seen.topic_name(*topic), total: *total }
        }
        Kind::ConfigChanged { name, value } => Fact::ConfigChanged {
            target: config_target(at),
            key: name.to_string().into(),
            value: value.as_ref().map_or_else(String::new, |v| v.to_string()).into(),
        },
        Kind::ActionAnswered { action, error, message } => deeds::answered(at, *action, *error, message.as_deref())?,
        Kind::LeaderElected { tp, leader, epoch, election, .. } => Fact::LeaderElected {
            partition: seen.partition(*tp),
            broker: leader.0,
            epoch: epoch.0.max(0) as u32,
            how: how(*election),
        },
        Kind::LeaderLost { tp, previous, .. } => {
            Fact::PartitionOffline { partition: seen.partition(*tp), last: Some(previous.0) }
        }
        Kind::ElrChanged { tp, elr, last_known_leader } => Fact::ElrChanged {
            partition: seen.partition(*tp),
            elr: ids(elr),
            last_known_leader: last_known_leader.map(|broker| broker.0),
        },
        Kind::IsrShrunk { tp, isr, removed, by, .. } => {
            Fact::IsrShrunk { partition: seen.partition(*tp), removed: ids(removed), isr: ids(isr), by: isr_by(*by) }
        }
        Kind::IsrExpanded { tp, isr, added, .. } => {
            Fact::IsrExpanded { partition: seen.partition(*tp), added: ids(added), isr: ids(isr), by: at.expanded_by() }
        }
        Kind::AlterPartitionRefused { tp, error } => {
            Fact::IsrChangeRefused { partition: seen.partition(*tp), error: error.name().into() }
        }
        Kind::BecameLeader { tp, epoch, .. } => {
            Fact::BecameLeader { partition: seen.partition(*tp), broker: at.broker()?, epoch: epoch.0.max(0) as u32 }
        }
        Kind::BecameFollower { tp, epoch, leader } => Fact::BecameFollower {
            partition: seen.partition(*tp),
            broker: at.broker()?,
            leader: leader.0,
            epoch: epoch.0.max(0) as u32,
        },
        Kind::Appended { tp, base_offset, count: n, .. } => Fact::Appended {
            partition: seen.partition(*tp),
            broker: at.broker()?,
            first: count(*base_offset),
            last: count(base_offset + i64::from(*n) - 1),
        },
        Kind::HighWatermarkAdvanced { tp, high_watermark, leader: true } => Fact::HighWatermarkAdvanced {
            partition: seen.partition(*tp),
            broker: at.broker()?,
            from: count(at.high_watermark_before(*tp)),
            to: count(*high_watermark),
        },
        Kind::LogTruncated { tp, from, to, .. } => {
            Fact::Truncated { partition: seen.partition(*tp), broker: at.broker()?, from: count(*from), to: count(*to) }
        }
        Kind::ProduceRefused { tp, error } => {
            Fact::Refused { producer: at.asker(), partition: seen.partition(*tp), error: error.name().into() }
        }
        Kind::ProduceTimedOut { tp } => {
            Fact::ProduceTimedOut { producer: at.asker(), partition: seen.partition(*tp), count: 1 }
        }
        Kind::RecordAcked { tp, offset, .. } => Fact::Acked {
            producer: at.client(),
            partition: seen.partition(*tp),
            first: count(*offset),
            last: count(*offset),
            by: at.acked_by(),
        },
        Kind::RecordFailed { tp: Some(tp), exception, .. } => {
            Fact::Refused { producer: at.client(), partition: seen.partition(*tp), error: (*exception).into() }
        }
        Kind::RecordFailed { tp: None, exception, .. } => {
            Fact::ClientError { client: at.who(), error: (*exception).into() }
        }
        Kind::ProducerRetries { tp, error } => {
            Fact::Retried { producer: at.client(), partition: seen.partition(*tp), error: error.name().into() }
        }
        Kind::CoordinatorLoading { partition } => {
            Fact::CoordinatorLoading { group: at.group_of(*partition)?, broker: at.broker()?, partition: *partition }
        }
        Kind::CoordinatorLoaded { partition, .. } => {
            at.group_of(*partition)?;
            Fact::CoordinatorLoaded { broker: at.broker()?, partition: *partition }
        }
        Kind::GroupStateChanged { group, state: GroupState::PreparingRebalance, generation, .. } => {
            Fact::Rebalancing { group: group.to_string(), generation: generation.0.max(0) as u32 }
        }
        Kind::GroupStateChanged { group, state: GroupState::Stable, generation, members } => {
            Fact::GroupStable { group: group.to_string(), generation: generation.0.max(0) as u32, members: *members }
        }
        Kind::MemberJoined { group, member } => {
            Fact::MemberJoined { group: group.to_string(), member: member_name(member) }
        }
        Kind::MemberRemoved { group, member, expired: true } => {
            Fact::MemberExpired { group: group.to_string(), member: member_name(member) }
        }
        Kind::MemberRemoved { group, member, expired: false } => {
            Fact::MemberLeft { group: group.to_string(), member: member_name(member) }
        }
        Kind::OffsetsCommitted { group, offsets } => {
            let (tp, offset) = offsets.first()?;
            Fact::OffsetsCommitted {
                group: group.to_string(),
                member: at.asker(),
                partition: seen.partition(*tp),
                offset: count(*offset),
            }
        }
        Kind::CoordinatorDiscovered { group, coordinator } => Fact::CoordinatorFound {
            group: group.to_string(),
            broker: coordinator.0,
            partition: at.group_partition(group),
        },
        Kind::CoordinatorUnknown { group, error } => Fact::CoordinatorUnavailable {
            group: group.to_string(),
            partition: at.group_partition(group),
            error: error.name().into(),
        },
        Kind::CommitFailed { group, exception } => {
            Fact::CommitFailed { group: group.to_string(), member: at.client(), error: (*exception).into() }
        }
        Kind::PollFailed { exception, .. } => Fact::ClientError { client: at.who(), error: (*exception).into() },
        Kind::RecordDelivered { tp, offset, .. } => Fact::Delivered {
            member: at.client(),
            partition: seen.partition(*tp),
            first: count(*offset),
            last: count(*offset),
        },
        Kind::PositionReset { tp, from, offset } => Fact::PositionReset {
            member: at.client(),
            partition: seen.partition(*tp),
            from: from.map(count),
            to: count(*offset),
        },
        Kind::ClientClosed { .. } => Fact::ClientClosed { client: at.who() },
        Kind::Acted { action } => deeds::acted(at, seen.reel().action(*action)?)?,
        Kind::ShutdownRequested => Fact::StopRequested { node: at.who() },
        Kind::ControlledShutdownAllowed { broker } => Fact::ControlledShutdownAllowed { broker: broker.0 },
        Kind::ControllerRefused { api, error } => {
            Fact::ControllerRefused { controller: at.controller()?, api: api.name().into(), error: error.name().into() }
        }
        Kind::RequestUnread { of, api, records } => {
            Fact::RequestUnread { node: at.who(), of: at.seen.node(*of), api: api.name().into(), records: *records }
        }
        Kind::MessageSent { .. }
        | Kind::MessageDelivered { .. }
        | Kind::MessageLost { .. }
        | Kind::MessageHeld { .. }
        | Kind::MessageMoved { .. }
        | Kind::RequestFailed { .. }
        | Kind::QuorumRoleChanged { .. }
        | Kind::VoteGranted { .. }
        | Kind::VoteRefused { .. }
        | Kind::BrokerRunning { .. }
        | Kind::BecameLeaderless { .. }
        | Kind::Replicated { .. }
        | Kind::HighWatermarkAdvanced { .. }
        | Kind::IsrShrinkProposed { .. }
        | Kind::IsrExpandProposed { .. }
        | Kind::DuplicateRecognised { .. }
        | Kind::LogStartAdvanced { .. }
        | Kind::CoordinatorUnloaded { .. }
        | Kind::GroupStateChanged { .. }
        | Kind::CoordinatorRefused { .. }
        | Kind::RecordSent { .. }
        | Kind::ProducerIdAssigned { .. }
        | Kind::LeaderDiscovered { .. }
        | Kind::RebalanceCallback { .. }
        | Kind::CommitSucceeded { .. } => return None,
    })
}

fn how(election: EngineElection) -> ElectionKind {
    match election {
        EngineElection::Clean => ElectionKind::Clean,
        EngineElection::FromElr => ElectionKind::Elr,
        EngineElection::LastKnown => ElectionKind::LastKnown,
        EngineElection::Unclean => ElectionKind::Unclean,
        EngineElection::Preferred => ElectionKind::Preferred,
    }
}

fn created_by(by: Creator) -> CreatedBy {
    match by {
        Creator::Admin => CreatedBy::Admin,
        Creator::Metadata => CreatedBy::Metadata,
        Creator::FindCoordinator => CreatedBy::FindCoordinator,
    }
}

fn isr_by(by: IsrChanger) -> IsrBy {
    match by {
        IsrChanger::Leader(broker) => IsrBy::Leader(broker.0),
        IsrChanger::Controller => IsrBy::Controller,
    }
}

/// Whose config changed: the action that asked for it knows.
fn config_target(at: &Reader<'_>) -> ConfigTarget {
    let target = at.action(|action| {
        if let Action::Admin(AdminRequest::AlterConfigs { resource, .. }) = action {
            Some(deeds::config_target(resource))
        } else {
            None
        }
    });
    target.unwrap_or(ConfigTarget::Cluster)
}
