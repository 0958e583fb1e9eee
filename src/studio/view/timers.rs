//! Kafka's names of the timers of a process: the config that sets one where there is one. Counts nothing down.

use highwater_engine::node::{BrokerTimer, ClientTimer, ControllerTimer, GroupTimer, QuorumTimer, Timer};

/// What a timer waits for.
pub fn name(timer: &Timer) -> &'static str {
    match timer {
        Timer::RequestTimeout(_) => "request.timeout.ms",
        Timer::Read(_) => "SocketServer",
        Timer::Quorum(timer) => match timer {
            QuorumTimer::Election => "controller.quorum.election.timeout.ms",
            QuorumTimer::Fetch => "controller.quorum.fetch.timeout.ms",
            QuorumTimer::CheckQuorum => "CheckQuorum",
            QuorumTimer::BeginQuorumEpoch => "BeginQuorumEpoch",
            QuorumTimer::FetchRetry => "controller.quorum.retry.backoff.ms",
            QuorumTimer::ParkedFetch(_) => "fetch.max.wait.ms",
            QuorumTimer::Backoff => "controller.quorum.election.backoff.max.ms",
        },
        Timer::Controller(timer) => match timer {
            ControllerTimer::Session(_) => "broker.session.timeout.ms",
            ControllerTimer::SessionCheck => "maybeFenceReplicas",
            ControllerTimer::NoOp => "metadata.max.idle.interval.ms",
            ControllerTimer::PreferredBalance => "leader.imbalance.check.interval.seconds",
            ControllerTimer::UncleanBalance => "unclean.leader.election.interval.ms",
        },
        Timer::Broker(timer) => match timer {
            BrokerTimer::Registration => "BrokerRegistration",
            BrokerTimer::RegistrationLimit => "initial.broker.registration.timeout.ms",
            BrokerTimer::Heartbeat => "broker.heartbeat.interval.ms",
            BrokerTimer::ShutdownLimit => "BrokerServer.shutdown",
            BrokerTimer::LogsLoaded => "LogManager.startup",
            BrokerTimer::AlterPartitionRetry => "AlterPartition",
            BrokerTimer::AssignDirectories => "AssignReplicasToDirs",
            BrokerTimer::ForwardRetry => "Envelope",
            BrokerTimer::IsrExpiration => "replica.lag.time.max.ms",
            BrokerTimer::HighWatermarkCheckpoint => "replica.high.watermark.checkpoint.interval.ms",
            BrokerTimer::FetcherBackoff(_) | BrokerTimer::PartitionBackoff(_) => "replica.fetch.backoff.ms",
            BrokerTimer::ParkedProduce(_) => "Produce",
            BrokerTimer::ParkedFetch(_) => "fetch.max.wait.ms",
            BrokerTimer::ParkedDeleteRecords(_) => "DeleteRecords",
        },
        Timer::Group(timer) => match timer {
            GroupTimer::Session { .. } => "session.timeout.ms",
            GroupTimer::Join { .. } => "JoinGroup",
            GroupTimer::Sync { .. } => "SyncGroup",
            GroupTimer::Write(_) => "offsets.commit.timeout.ms",
            GroupTimer::Linger(_) => "group.coordinator.append.linger.ms",
            GroupTimer::Pending { .. } => "MEMBER_ID_REQUIRED",
            GroupTimer::Load(_) => "__consumer_offsets",
        },
        Timer::Client(timer) => match timer {
            ClientTimer::NextRecord | ClientTimer::Burst(_) => "send",
            ClientTimer::Sender => "Sender",
            ClientTimer::MetadataRefresh => "metadata.max.age.ms",
            ClientTimer::Block => "max.block.ms",
            ClientTimer::Poll => "poll",
            ClientTimer::Heartbeat => "heartbeat.interval.ms",
            ClientTimer::Commit => "auto.commit.interval.ms",
            ClientTimer::CoordinatorRetry => "FindCoordinator",
            ClientTimer::PollInterval => "max.poll.interval.ms",
            ClientTimer::Retry => "retry.backoff.ms",
            ClientTimer::Close => "close",
            ClientTimer::Admin(_) => "default.api.timeout.ms",
        },
    }
}
