//! Name and values of each kind of the trace. Knows no line around them and leaves no kind out.

use highwater_engine::base::{SimTime, Tp};
use highwater_engine::protocol::{Api, ElectionKind, ErrorCode};
use highwater_engine::trace::{Callback, Creator, Failure, IsrChanger, Kind, QuorumRole};

use super::{Book, brokers, list, moment, text};

/// A message as it is spoken of.
pub fn message(api: Api, response: bool) -> String {
    format!("{}{}", api.name(), if response { "Response" } else { "Request" })
}

macro_rules! names {
    ($($variant:ident => $name:literal,)*) => {
        /// The name of every kind.
        pub const NAMES: &[&str] = &[$($name,)*];

        /// The name of the kind.
        pub fn name(kind: &Kind) -> &'static str {
            match kind {
                $(Kind::$variant { .. } => $name,)*
            }
        }
    };
}

names! {
    Acted => "acted",
    ActionRefused => "action-refused",
    ActionAnswered => "action-answered",
    ProcessStarted => "process-started",
    ProcessKilled => "process-killed",
    ShutdownRequested => "shutdown-requested",
    ProcessExited => "process-exited",
    ProcessPaused => "process-paused",
    ProcessResumed => "process-resumed",
    DiskLost => "disk-lost",
    LinkCut => "link-cut",
    LinkHealed => "link-healed",
    LinkChanged => "link-changed",
    MessageSent => "message-sent",
    MessageDelivered => "message-delivered",
    MessageLost => "message-lost",
    MessageHeld => "message-held",
    MessageMoved => "message-moved",
    RequestFailed => "request-failed",
    RequestUnread => "request-unread",
    QuorumRoleChanged => "quorum-role-changed",
    QuorumLeaderElected => "quorum-leader-elected",
    VoteGranted => "vote-granted",
    VoteRefused => "vote-refused",
    QuorumLogTruncated => "quorum-log-truncated",
    ControllerActivated => "controller-activated",
    ControllerResigned => "controller-resigned",
    BrokerRegistered => "broker-registered",
    RegistrationRefused => "registration-refused",
    BrokerFenced => "broker-fenced",
    BrokerUnfenced => "broker-unfenced",
    ControlledShutdownBegun => "controlled-shutdown-begun",
    ControlledShutdownAllowed => "controlled-shutdown-allowed",
    TopicCreated => "topic-created",
    TopicDeleted => "topic-deleted",
    PartitionsAdded => "partitions-added",
    ConfigChanged => "config-changed",
    LeaderElected => "leader-elected",
    LeaderLost => "leader-lost",
    IsrShrunk => "isr-shrunk",
    IsrExpanded => "isr-expanded",
    ElrChanged => "elr-changed",
    ControllerRefused => "controller-refused",
    BrokerRunning => "broker-running",
    BecameLeader => "became-leader",
    BecameFollower => "became-follower",
    BecameLeaderless => "became-leaderless",
    Appended => "appended",
    Replicated => "replicated",
    HighWatermarkAdvanced => "high-watermark-advanced",
    LogTruncated => "log-truncated",
    IsrShrinkProposed => "isr-shrink-proposed",
    IsrExpandProposed => "isr-expand-proposed",
    AlterPartitionRefused => "alter-partition-refused",
    ProduceRefused => "produce-refused",
    ProduceTimedOut => "produce-timed-out",
    DuplicateRecognised => "duplicate-recognised",
    LogStartAdvanced => "log-start-advanced",
    CoordinatorLoading => "coordinator-loading",
    CoordinatorLoaded => "coordinator-loaded",
    CoordinatorUnloaded => "coordinator-unloaded",
    GroupStateChanged => "group-state-changed",
    MemberJoined => "member-joined",
    MemberRemoved => "member-removed",
    OffsetsCommitted => "offsets-committed",
    CoordinatorRefused => "coordinator-refused",
    RecordSent => "record-sent",
    RecordAcked => "record-acked",
    RecordFailed => "record-failed",
    ProducerRetries => "producer-retries",
    ProducerIdAssigned => "producer-id-assigned",
    LeaderDiscovered => "leader-discovered",
    CoordinatorDiscovered => "coordinator-discovered",
    CoordinatorUnknown => "coordinator-unknown",
    RebalanceCallback => "rebalance-callback",
    RecordDelivered => "record-delivered",
    PositionReset => "position-reset",
    CommitSucceeded => "commit-succeeded",
    CommitFailed => "commit-failed",
    PollFailed => "poll-failed",
    ClientClosed => "client-closed",
}

/// The values of the kind, behind its name.
pub fn values(kind: &Kind, origin: SimTime, book: &Book) -> String {
    let on = |tp: &Tp| book.partition(*tp);
    match kind {
        Kind::Acted { action } => book.action(*action),
        Kind::ActionRefused { action, verb, why } => {
            format!("{}: {}", book.attempted(*action, verb), super::refusal(why, book))
        }
        Kind::ActionAnswered { action, error, message } => {
            let exception = if error.is_none() { String::new() } else { format!(" exception={}", error.exception()) };
            let message = message.as_ref().map_or_else(String::new, |said| format!(" message=\"{said}\""));
            format!("{} error={}{exception}{message}", book.action(*action), error.name())
        }
        Kind::ProcessStarted
        | Kind::ProcessKilled
        | Kind::ShutdownRequested
        | Kind::ProcessPaused
        | Kind::ProcessResumed
        | Kind::DiskLost => String::new(),
        Kind::ProcessExited { clean } => format!("clean={clean}"),
        Kind::LinkCut { to } | Kind::LinkHealed { to } => format!("to={}", book.node(*to)),
        Kind::LinkChanged { to, setup } => format!(
            "to={} latency={}us jitter={}us loss-per-million={}",
            book.node(*to),
            setup.latency.0,
            setup.jitter.0,
            setup.loss_per_million
        ),
        Kind::MessageSent { to, api, response, arrives_at, error, .. } => format!(
            "{} to={} arrives-at={}{}",
            message(*api, *response),
            book.node(*to),
            moment(*arrives_at, origin).trim_start(),
            unless_none(*error)
        ),
        Kind::MessageDelivered { message, .. } | Kind::MessageLost { message } | Kind::MessageHeld { message } => {
            book.message(*message)
        }
        Kind::RequestUnread { of, api, records } => {
            let records = if *records > 0 { format!(" records={records}") } else { String::new() };
            format!("{} of={}{records}", message(*api, false), book.node(*of))
        }
        Kind::MessageMoved { message, arrives_at, .. } => {
            format!("{} arrives-at={}", book.message(*message), moment(*arrives_at, origin).trim_start())
        }
        Kind::RequestFailed { to, api, failure } => {
            let failure = match failure {
                Failure::Disconnected => "disconnected",
                Failure::TimedOut => "timed-out",
            };
            format!("{} to={} {failure}", message(*api, false), book.node(*to))
        }
        Kind::QuorumRoleChanged { role, epoch } => format!("{} epoch={epoch}", quorum_role(*role)),
        Kind::QuorumLeaderElected { leader, epoch } => format!("leader={leader} epoch={epoch}"),
        Kind::VoteGranted { candidate, epoch, pre_vote } | Kind::VoteRefused { candidate, epoch, pre_vote } => {
            format!("candidate={candidate} epoch={epoch} pre-vote={pre_vote}")
        }
        Kind::QuorumLogTruncated { from, to } => format!("from={from} to={to}"),
        Kind::ControllerActivated { epoch } | Kind::ControllerResigned { epoch } => format!("epoch={epoch}"),
        Kind::BrokerRegistered { broker, epoch, clean } => {
            format!("broker={broker} broker-epoch={epoch} clean-shutdown={clean}")
        }
        Kind::RegistrationRefused { broker, error } => format!("broker={broker} error={}", error.name()),
        Kind::BrokerFenced { broker, last_contact } => match last_contact {
            Some(at) => format!("broker={broker} last-contact={}", moment(*at, origin).trim_start()),
            None => format!("broker={broker}"),
        },
        Kind::BrokerUnfenced { broker }
        | Kind::ControlledShutdownBegun { broker }
        | Kind::ControlledShutdownAllowed { broker } => format!("broker={broker}"),
        Kind::TopicCreated { name, partitions, replication_factor, by, .. } => {
            let by = match by {
                Creator::Admin => "CreateTopics",
                Creator::Metadata => "Metadata",
                Creator::FindCoordinator => "FindCoordinator",
            };
            format!("{name} partitions={partitions} replication-factor={replication_factor} asked-by={by}")
        }
        Kind::TopicDeleted { name, .. } => name.to_string(),
        Kind::PartitionsAdded { topic, total } => format!("{} partitions={total}", book.topic(*topic)),
        Kind::ConfigChanged { name, value } => match value {
            Some(value) => format!("{name}={}", text(value)),
            None => format!("{name} deleted"),
        },
        Kind::LeaderElected { tp, leader, previous, epoch, election } => {
            let previous = previous.map_or("none".to_string(), |id| id.to_string());
            format!(
                "{} leader={leader} previous={previous} leader-epoch={epoch} election={}",
                on(tp),
                election_name(*election)
            )
        }
        Kind::LeaderLost { tp, previous, epoch } => {
            format!("{} leader=none previous={previous} leader-epoch={epoch}", on(tp))
        }
        Kind::IsrShrunk { tp, isr, removed, by, epoch } => {
            let by = match by {
                IsrChanger::Leader(leader) => format!("broker/{leader}"),
                IsrChanger::Controller => "controller".into(),
            };
            format!("{} isr={} removed={} by={by} partition-epoch={epoch}", on(tp), brokers(isr), brokers(removed))
        }
        Kind::IsrExpanded { tp, isr, added, epoch } => {
            format!("{} isr={} added={} partition-epoch={epoch}", on(tp), brokers(isr), brokers(added))
        }
        Kind::ElrChanged { tp, elr, last_known_leader } => {
            let last = last_known_leader.map_or(String::new(), |id| format!(" last-known-leader={id}"));
            format!("{} elr={}{last}", on(tp), brokers(elr))
        }
        Kind::ControllerRefused { api, error } => format!("{} error={}", message(*api, false), error.name()),
        Kind::BrokerRunning { epoch } => format!("broker-epoch={epoch}"),
        Kind::BecameLeader { tp, epoch, log_end } => format!("{} leader-epoch={epoch} log-end={log_end}", on(tp)),
        Kind::BecameFollower { tp, epoch, leader } => format!("{} leader-epoch={epoch} leader={leader}", on(tp)),
        Kind::BecameLeaderless { tp, epoch } => format!("{} leader-epoch={epoch}", on(tp)),
        Kind::Appended { tp, base_offset, count, epoch } => {
            format!("{} base-offset={base_offset} records={count} leader-epoch={epoch}", on(tp))
        }
        Kind::Replicated { tp, log_end } => format!("{} log-end={log_end}", on(tp)),
        Kind::HighWatermarkAdvanced { tp, high_watermark, leader } => {
            let role = if *leader { "leader" } else { "follower" };
            format!("{} high-watermark={high_watermark} {role}", on(tp))
        }
        Kind::LogTruncated { tp, from, to, epoch } => format!("{} from={from} to={to} leader-epoch={epoch}", on(tp)),
        Kind::IsrShrinkProposed { tp, removed } => format!("{} removed={}", on(tp), brokers(removed)),
        Kind::IsrExpandProposed { tp, added } => format!("{} added={added}", on(tp)),
        Kind::AlterPartitionRefused { tp, error }
        | Kind::ProduceRefused { tp, error }
        | Kind::ProducerRetries { tp, error } => format!("{} error={}", on(tp), error.name()),
        Kind::ProduceTimedOut { tp } => format!("{} error={}", on(tp), ErrorCode::RequestTimedOut.name()),
        Kind::DuplicateRecognised { tp, base_offset } => format!("{} base-offset={base_offset}", on(tp)),
        Kind::LogStartAdvanced { tp, log_start } => format!("{} log-start={log_start}", on(tp)),
        Kind::CoordinatorLoading { partition } | Kind::CoordinatorUnloaded { partition } => {
            format!("__consumer_offsets-{partition}")
        }
        Kind::CoordinatorLoaded { partition, groups } => format!("__consumer_offsets-{partition} groups={groups}"),
        Kind::GroupStateChanged { group, state, generation, members } => {
            format!("group={group} state={} generation={generation} members={members}", state.name())
        }
        Kind::MemberJoined { group, member } => format!("group={group} member={member}"),
        Kind::MemberRemoved { group, member, expired } => format!("group={group} member={member} expired={expired}"),
        Kind::OffsetsCommitted { group, offsets } => {
            let offsets = list(offsets.iter().map(|(tp, offset)| format!("{}={offset}", on(tp))));
            format!("group={group} offsets={offsets}")
        }
        Kind::CoordinatorRefused { group, api, error } => {
            format!("group={group} {} error={}", message(*api, false), error.name())
        }
        Kind::RecordSent { topic, partition, value, .. } => {
            let partition = partition.map_or(String::new(), |number| format!("-{number}"));
            format!("{topic}{partition} value={}", text(value))
        }
        Kind::RecordAcked { tag, tp, offset } => format!("{} offset={offset}{}", on(tp), book.record(*tag)),
        Kind::RecordFailed { tag, tp, exception } => {
            let tp = tp.map_or(String::new(), |tp| format!("{} ", on(&tp)));
            format!("{tp}exception={exception}{}", book.record(*tag))
        }
        Kind::ProducerIdAssigned { id, epoch, renumbered } => {
            let renumbered = if *renumbered > 0 { format!(" renumbered={renumbered}") } else { String::new() };
            format!("producer-id={id} producer-epoch={epoch}{renumbered}")
        }
        Kind::LeaderDiscovered { tp, leader } => format!("{} leader={leader}", on(tp)),
        Kind::CoordinatorDiscovered { group, coordinator } => format!("group={group} coordinator={coordinator}"),
        Kind::CoordinatorUnknown { group, error } => format!("group={group}{}", unless_none(*error)),
        Kind::RebalanceCallback { group, callback, partitions } => {
            let callback = match callback {
                Callback::Assigned => "onPartitionsAssigned",
                Callback::Revoked => "onPartitionsRevoked",
                Callback::Lost => "onPartitionsLost",
            };
            format!("group={group} {callback}{}", book.partitions(partitions))
        }
        Kind::RecordDelivered { tag, tp, offset, epoch } => {
            format!("{} offset={offset} leader-epoch={epoch}{}", on(tp), book.record(*tag))
        }
        Kind::PositionReset { tp, from, offset } => {
            let from = from.map_or(String::new(), |from| format!(" from={from}"));
            format!("{}{from} offset={offset}", on(tp))
        }
        Kind::CommitSucceeded { group } => format!("group={group}"),
        Kind::CommitFailed { group, exception } | Kind::PollFailed { group, exception } => {
            format!("group={group} exception={exception}")
        }
        Kind::ClientClosed { .. } => String::new(),
    }
}

fn unless_none(error: ErrorCode) -> String {
    if error.is_none() { String::new() } else { format!(" error={}", error.name()) }
}

fn election_name(election: ElectionKind) -> &'static str {
    match election {
        ElectionKind::Clean => "clean",
        ElectionKind::FromElr => "from-elr",
        ElectionKind::LastKnown => "last-known-leader",
        ElectionKind::Unclean => "unclean",
        ElectionKind::Preferred => "preferred",
    }
}

fn quorum_role(role: QuorumRole) -> &'static str {
    match role {
        QuorumRole::Unattached => "unattached",
        QuorumRole::Prospective => "prospective",
        QuorumRole::Candidate => "candidate",
        QuorumRole::Leader => "leader",
        QuorumRole::Follower => "follower",
        QuorumRole::Resigned => "resigned",
    }
}
