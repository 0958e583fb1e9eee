//! The replicas of a broker (Kafka's ReplicaManager): leads and follows partitions, keeps their high watermarks,
//! proposes their ISRs. It does not decide who leads.

mod fetch;
mod follower;
mod isr;
mod leader;
mod offsets;
mod partition;
mod produce;
mod purgatory;
mod roles;
#[cfg(test)]
mod tests;
mod view;

use alloc::rc::Rc;
use alloc::vec::Vec;
pub use partition::{IsrChange, LeaderState, PendingIsr, Remote, Replica, Role, Stage};
pub use purgatory::ReadyAnswer;
pub use view::{FetchState, ReplicaRole, ReplicaView};

use super::{BrokerCall, ReplyTo};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, LeaderEpoch, Map, Offset, Seq, Tp};
use crate::log::Log;
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Connections, Ctx, Disk, Outcome, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{ErrorCode, LeaderRecoveryState, PartitionRequest, PartitionResponse, Response};
use crate::rules::Rules;
use follower::FetcherState;
use partition::Edges;
use purgatory::Purgatory;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handled {
    /// Answer now; `None` is acks=0, which gets no answer.
    Now(Option<Response>),
    /// acks=0 that failed: the connection is closed, so that the client notices.
    CloseConnection,
    /// The answer comes from [`ReplicaManager::take_ready`] later.
    Parked,
}

impl Handled {
    pub fn now(response: impl Into<Response>) -> Handled {
        Handled::Now(Some(response.into()))
    }
}

/// The AlterPartition channel: one request in flight, whatever it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct AlterChannel {
    /// Partitions with a queued change, in the order of their proposals, each with the entry of its proposal.
    queue: Vec<(Tp, Seq)>,
    in_flight: bool,
    /// A pause after an error.
    resting: bool,
}

/// All replicas of a broker with what waits for them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReplicaManager {
    id: BrokerId,
    config: Rc<NodeConfig>,
    rules: Rules,
    broker_epoch: Option<BrokerEpoch>,
    replicas: Map<Tp, Replica>,
    fetchers: Map<BrokerId, FetcherState>,
    purgatory: Purgatory,
    alter: AlterChannel,
    /// Leaders' high watermarks that moved since they were last asked for.
    moved: Vec<(Tp, Offset)>,
    /// The broker is on its way out: replicas that left their ISRs need nothing any more.
    is_stopping: bool,
}

impl ReplicaManager {
    /// Reads the logs and the checkpoint of a starting broker: a high watermark is the checkpointed one, bounded by the
    /// log.
    pub fn load(ctx: &mut Ctx<'_>, id: BrokerId, config: Rc<NodeConfig>, rules: Rules) -> ReplicaManager {
        let disk = &*ctx.disk;
        let replicas = disk
            .logs
            .iter()
            .map(|(tp, log)| (*tp, Replica::loaded(Edges::of(log), disk.hw_checkpoint.get(tp).copied().unwrap_or(0))))
            .collect();
        ctx.set(Timer::Broker(BrokerTimer::IsrExpiration), config.replica_lag_time_max.scaled(1, 2));
        ctx.set(Timer::Broker(BrokerTimer::HighWatermarkCheckpoint), config.hw_checkpoint_interval);
        ReplicaManager {
            id,
            config,
            rules,
            broker_epoch: None,
            replicas,
            fetchers: Map::new(),
            purgatory: Purgatory::default(),
            alter: AlterChannel::default(),
            moved: Vec::new(),
            is_stopping: false,
        }
    }

    /// The broker was registered; its fetches and AlterPartitions carry this epoch from now on (KIP-903).
    pub fn set_broker_epoch(&mut self, epoch: BrokerEpoch) {
        self.broker_epoch = Some(epoch);
    }

    /// SIGTERM came and the controller is asked for permission to stop.
    pub fn begin_controlled_shutdown(&mut self) {
        self.is_stopping = true;
    }

    pub fn on_request(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        request: PartitionRequest,
        reply: ReplyTo,
    ) -> Handled {
        match request {
            PartitionRequest::Produce(request) => self.produce(ctx, image, request, reply),
            PartitionRequest::Fetch(request) => self.fetch(ctx, image, request, reply),
            PartitionRequest::DeleteRecords { tp, before, timeout } => {
                self.delete_records(ctx, image, tp, before, timeout, reply)
            }
            PartitionRequest::ListOffsets(request) => Handled::now(self.list_offsets(ctx, image, &request)),
            PartitionRequest::OffsetForLeaderEpoch { tp, current_leader_epoch, epoch } => {
                Handled::now(self.offset_for_leader_epoch(ctx, image, tp, current_leader_epoch, epoch))
            }
        }
    }

    /// Parked requests that were completed since the last call, in order of completion.
    pub fn take_ready(&mut self) -> Vec<(ReplyTo, PartitionResponse)> {
        self.take_answers().into_iter().map(|answer| (answer.reply, answer.response)).collect()
    }

    /// Like [`ReplicaManager::take_ready`], with what completed each.
    pub fn take_answers(&mut self) -> Vec<ReadyAnswer> {
        core::mem::take(&mut self.purgatory.ready)
    }

    /// High watermarks of led partitions that moved since the last call.
    pub fn take_high_watermarks(&mut self) -> Vec<(Tp, Offset)> {
        core::mem::take(&mut self.moved)
    }

    /// The high watermark of a hosted replica.
    pub fn high_watermark(&self, tp: Tp) -> Option<Offset> {
        self.replicas.get(&tp).map(|replica| replica.high_watermark)
    }

    /// The leader epoch, if this broker leads the partition.
    pub fn is_leader(&self, tp: Tp) -> Option<LeaderEpoch> {
        self.replicas.get(&tp).filter(|replica| replica.is_leader()).map(|replica| replica.leader_epoch)
    }

    /// The leader epoch in which this broker leads or follows the partition, as far as it has applied metadata.
    pub fn leader_epoch(&self, tp: Tp) -> Option<LeaderEpoch> {
        self.replicas.get(&tp).filter(|replica| replica.role != Role::Unassigned).map(|replica| replica.leader_epoch)
    }

    /// The log end of a hosted replica.
    pub fn log_end(&self, disk: &Disk, tp: Tp) -> Option<Offset> {
        disk.log(tp).map(Log::end_offset)
    }

    /// Sends what is due: each idle fetcher's next Fetch and, if none is in flight, an AlterPartition. Called after
    /// every event.
    pub fn drive(
        &mut self,
        ctx: &mut Ctx<'_>,
        _image: &MetadataImage,
        conns: &mut Connections<BrokerCall>,
        controller: Option<ControllerId>,
    ) {
        self.drive_fetchers(ctx, conns);
        self.drive_alter_partition(ctx, conns, controller);
    }

    /// One of the requests that [`ReplicaManager::drive`] sent has ended. Other calls are none of this manager's.
    pub fn on_completed(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, call: BrokerCall, outcome: Outcome) {
        match call {
            BrokerCall::ReplicaFetch { leader } => self.on_fetched(ctx, image, leader, outcome),
            BrokerCall::ReplicaListOffsets { leader, tp, fetch_offset } => {
                self.on_offsets_listed(ctx, image, leader, tp, fetch_offset, outcome)
            }
            BrokerCall::AlterPartition { partitions } => self.on_altered(ctx, image, &partitions, outcome),
            BrokerCall::QuorumFetch
            | BrokerCall::Registration
            | BrokerCall::Heartbeat { .. }
            | BrokerCall::Forward { .. }
            | BrokerCall::AutoCreate
            | BrokerCall::AllocateProducerIds
            | BrokerCall::AssignReplicasToDirs => {}
        }
    }

    /// A timer fired. Timers of other parts of the broker are ignored.
    pub fn on_timer(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, timer: &BrokerTimer) {
        match timer {
            BrokerTimer::IsrExpiration => {
                self.shrink_isrs(ctx);
                ctx.set(Timer::Broker(BrokerTimer::IsrExpiration), self.config.replica_lag_time_max.scaled(1, 2));
            }
            BrokerTimer::HighWatermarkCheckpoint => {
                self.checkpoint(ctx);
                ctx.set(Timer::Broker(BrokerTimer::HighWatermarkCheckpoint), self.config.hw_checkpoint_interval);
            }
            BrokerTimer::FetcherBackoff(leader) => self.on_fetcher_backoff(*leader),
            BrokerTimer::PartitionBackoff(tp) => self.on_partition_backoff(*tp),
            BrokerTimer::ParkedProduce(id) => self.on_produce_timeout(ctx, *id),
            BrokerTimer::ParkedFetch(id) => self.complete_fetch(ctx, image, *id),
            BrokerTimer::ParkedDeleteRecords(id) => self.on_delete_timeout(ctx, *id),
            BrokerTimer::AlterPartitionRetry => self.alter.resting = false,
            BrokerTimer::Registration
            | BrokerTimer::RegistrationLimit
            | BrokerTimer::Heartbeat
            | BrokerTimer::ShutdownLimit
            | BrokerTimer::LogsLoaded
            | BrokerTimer::ForwardRetry
            | BrokerTimer::AssignDirectories => {}
        }
    }

    /// Clean stop: the high watermarks are written.
    pub fn shutdown(&mut self, ctx: &mut Ctx<'_>) {
        self.checkpoint(ctx);
    }

    fn checkpoint(&self, ctx: &mut Ctx<'_>) {
        for (tp, replica) in &self.replicas {
            let written = ctx.disk.hw_checkpoint.entry(*tp).or_insert(-1);
            if *written != replica.high_watermark {
                *written = replica.high_watermark;
            }
        }
    }

    /// Changes a log and keeps the copy of its ends true. Every write to a log of this broker goes through here.
    fn write_log<R>(&mut self, ctx: &mut Ctx<'_>, tp: Tp, write: impl FnOnce(&mut Log) -> R) -> R {
        let log = ctx.disk.log_mut(tp);
        let result = write(log);
        let edges = Edges::of(log);
        if let Some(replica) = self.replicas.get_mut(&tp) {
            replica.log = edges;
        }
        result
    }

    /// Why a partition cannot be served, for one that is not hosted.
    fn absent(image: &MetadataImage, tp: Tp) -> ErrorCode {
        if image.partition(tp).is_some() { ErrorCode::NotLeaderOrFollower } else { ErrorCode::UnknownTopicOrPartition }
    }

    /// `min.insync.replicas` in force: bounded by the number of replicas from 3.7 on.
    fn effective_min_isr(&self, image: &MetadataImage, tp: Tp, assigned: u32) -> usize {
        let configured = image.min_insync_replicas(tp.topic, &self.config);
        let effective = if self.rules.effective_min_isr { configured.min(assigned) } else { configured };
        effective as usize
    }

    /// Replicas in order, as the views show them.
    pub fn replicas(&self) -> impl Iterator<Item = (Tp, ReplicaView<'_>)> {
        self.replicas.iter().map(|(tp, replica)| (*tp, self.view_of(*tp, replica)))
    }

    /// One replica, if it is hosted.
    pub fn replica(&self, tp: Tp) -> Option<ReplicaView<'_>> {
        self.replicas.get(&tp).map(|replica| self.view_of(tp, replica))
    }
}

/// What an unclean election leaves to confirm: the leader's next AlterPartition says RECOVERED (KIP-704).
const CONFIRMED: LeaderRecoveryState = LeaderRecoveryState::Recovered;
