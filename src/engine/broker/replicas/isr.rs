//! Shrinking and expanding the ISR, and AlterPartition with the leader's reactions (KIP-497, KIP-841, KIP-903). The
//! controller decides; nothing is committed here.

use alloc::vec::Vec;

use super::leader::is_eligible;
use super::partition::{IsrChange, PendingIsr, Replica, Stage};
use super::{CONFIRMED, ReplicaManager};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, Dur, NodeId, Seq, Tp};
use crate::broker::BrokerCall;
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Channel, Connections, Ctx, Outcome, Timer};
use crate::protocol::{
    AlterPartitionItem, AlterPartitionRequest, AlteredPartition, ControllerRequest, ControllerResponse, ErrorCode,
    Request, Response,
};
use crate::rules::fixed::ALTER_PARTITION_RETRY;
use crate::trace::Kind;

/// Time-out of the request itself (`controller.socket.timeout.ms`); the change is tried again for ever.
const CONTROLLER_SOCKET_TIMEOUT: Dur = Dur::secs(30);

/// What a leader does about an error of one partition.
enum Reaction {
    /// Back to the last committed ISR; the next fetch or tick may propose again.
    Revert,
    /// Only metadata can settle it.
    AwaitMetadata,
    Retry,
}

fn reaction(error: ErrorCode) -> Reaction {
    if matches!(error, ErrorCode::OperationNotAttempted | ErrorCode::IneligibleReplica) {
        return Reaction::Revert;
    }
    let settled_elsewhere = matches!(
        error,
        ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::FencedLeaderEpoch
            | ErrorCode::InvalidUpdateVersion
            | ErrorCode::InvalidRequest
            | ErrorCode::NewLeaderElected
    );
    if settled_elsewhere { Reaction::AwaitMetadata } else { Reaction::Retry }
}

impl ReplicaManager {
    /// Proposes a follower that just fetched, if it may join: it has everything below the high watermark and below the
    /// start of this leader epoch (KAFKA-7128), and it is eligible.
    pub(super) fn expand_isr(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp, broker: BrokerId) {
        let Some(replica) = self.replicas.get(&tp) else { return };
        let Some(state) = replica.leader_state() else { return };
        let Some(remote) = state.remotes.iter().find(|r| r.broker == broker) else { return };
        let may_join = state.pending.is_none()
            && !replica.isr.contains(&broker)
            && remote.log_end >= replica.high_watermark
            && remote.log_end >= state.epoch_start
            && is_eligible(image, remote);
        if may_join {
            let proposal = ctx.because(Kind::IsrExpandProposed { tp, added: broker });
            self.propose(tp, IsrChange::Expand(broker), proposal);
        }
    }

    /// The task `isr-expiration`: one proposal for each led partition with members that lag.
    pub(super) fn shrink_isrs(&mut self, ctx: &mut Ctx<'_>) {
        let lag = self.config.replica_lag_time_max;
        let lagging = |replica: &Replica| -> Vec<BrokerId> {
            let Some(state) = replica.leader_state() else { return Vec::new() };
            if state.pending.is_some() {
                return Vec::new();
            }
            let is_out = |member: &&BrokerId| match state.remotes.iter().find(|r| r.broker == **member) {
                Some(remote) => !remote.is_caught_up(ctx.now, replica.log.end, lag),
                None => true,
            };
            replica.isr.iter().filter(|member| **member != self.id).filter(is_out).copied().collect()
        };
        let shrinks: Vec<(Tp, Vec<BrokerId>)> = self
            .replicas
            .iter()
            .map(|(tp, replica)| (*tp, lagging(replica)))
            .filter(|(_, out)| !out.is_empty())
            .collect();
        for (tp, removed) in shrinks {
            let proposal = ctx.note(Kind::IsrShrinkProposed { tp, removed: removed.clone() });
            self.propose(tp, IsrChange::Shrink(removed), proposal);
        }
    }

    fn propose(&mut self, tp: Tp, change: IsrChange, proposal: Seq) {
        if let Some(state) = self.replicas.get_mut(&tp).and_then(Replica::leader_state_mut) {
            state.pending = Some(PendingIsr { change, stage: Stage::Queued });
            self.queue_alter(tp, proposal);
        }
    }

    fn queue_alter(&mut self, tp: Tp, cause: Seq) {
        if !self.alter.queue.iter().any(|(queued, _)| *queued == tp) {
            self.alter.queue.push((tp, cause));
        }
    }

    /// Puts all queued changes into one request, if none is in flight and a controller is known.
    pub(super) fn drive_alter_partition(
        &mut self,
        ctx: &mut Ctx<'_>,
        conns: &mut Connections<BrokerCall>,
        controller: Option<ControllerId>,
    ) {
        if self.alter.queue.is_empty() || self.alter.in_flight || self.alter.resting {
            return;
        }
        let (Some(controller), Some(broker_epoch)) = (controller, self.broker_epoch) else { return };
        let mut items = Vec::new();
        let mut cause = ctx.cause;
        for (tp, proposal) in core::mem::take(&mut self.alter.queue) {
            // A change that metadata has replaced meanwhile is not asked for any more.
            if let Some(item) = self.alter_item(tp, broker_epoch) {
                items.push(item);
                cause = proposal;
            }
        }
        if items.is_empty() {
            return;
        }
        let partitions: Vec<Tp> = items.iter().map(|item| item.tp).collect();
        self.alter.in_flight = true;
        let request = Request::Controller(ControllerRequest::AlterPartition(AlterPartitionRequest {
            broker: self.id,
            broker_epoch,
            partitions: items,
        }));
        let call = BrokerCall::AlterPartition { partitions };
        ctx.caused_by(cause, |ctx| {
            conns.request(
                ctx,
                NodeId::Controller(controller),
                Channel::AlterPartition,
                request,
                CONTROLLER_SOCKET_TIMEOUT,
                call,
            )
        });
    }

    fn alter_item(&mut self, tp: Tp, broker_epoch: BrokerEpoch) -> Option<AlterPartitionItem> {
        let id = self.id;
        let replica = self.replicas.get_mut(&tp)?;
        let change = replica.leader_state()?.pending.as_ref().filter(|p| p.stage == Stage::Queued)?.change.clone();
        let proposed = replica.proposed_isr(&change);
        let state = replica.leader_state_mut()?;
        state.pending = Some(PendingIsr { change, stage: Stage::InFlight });
        let epoch_of = |member: BrokerId| {
            if member == id {
                return Some(broker_epoch);
            }
            state.remotes.iter().find(|r| r.broker == member)?.broker_epoch.filter(|epoch| *epoch != BrokerEpoch(-1))
        };
        let new_isr = proposed.into_iter().map(|member| (member, epoch_of(member))).collect();
        Some(AlterPartitionItem {
            tp,
            leader_epoch: replica.leader_epoch,
            partition_epoch: replica.partition_epoch,
            new_isr,
            leader_recovery: CONFIRMED,
        })
    }

    /// The AlterPartition in flight has ended.
    pub(super) fn on_altered(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, partitions: &[Tp], outcome: Outcome) {
        self.alter.in_flight = false;
        match outcome {
            Outcome::Answer(Response::Controller(ControllerResponse::AlterPartition {
                error: ErrorCode::None,
                partitions: results,
            })) => {
                for tp in partitions {
                    match results.iter().find(|result| result.tp == *tp) {
                        Some(result) if result.error.is_none() => {
                            ctx.caused_by(ctx.cause, |ctx| self.on_committed(ctx, image, result))
                        }
                        Some(result) => self.on_refused(ctx, *tp, result.error),
                        None => self.retry_alter(ctx, *tp),
                    }
                }
            }
            Outcome::Answer(Response::Controller(ControllerResponse::AlterPartition { error, .. })) => {
                for tp in partitions {
                    if self.is_in_flight(*tp) {
                        ctx.note(Kind::AlterPartitionRefused { tp: *tp, error });
                    }
                    self.retry_alter(ctx, *tp);
                }
            }
            // A failed connection, or an answer that belongs to another API: the same change again.
            Outcome::Answer(_) | Outcome::Failed(_) => partitions.iter().for_each(|tp| self.retry_alter(ctx, *tp)),
        }
    }

    fn is_in_flight(&self, tp: Tp) -> bool {
        let pending = self.replicas.get(&tp).and_then(Replica::leader_state).and_then(|s| s.pending.as_ref());
        pending.is_some_and(|p| p.stage == Stage::InFlight)
    }

    fn set_stage(&mut self, tp: Tp, stage: Stage) {
        if let Some(pending) =
            self.replicas.get_mut(&tp).and_then(Replica::leader_state_mut).and_then(|s| s.pending.as_mut())
        {
            pending.stage = stage;
        }
    }

    fn retry_alter(&mut self, ctx: &mut Ctx<'_>, tp: Tp) {
        if self.is_in_flight(tp) {
            self.set_stage(tp, Stage::Queued);
            self.queue_alter(tp, ctx.cause);
            self.alter.resting = true;
            ctx.set(Timer::Broker(BrokerTimer::AlterPartitionRetry), ALTER_PARTITION_RETRY);
        }
    }

    fn on_refused(&mut self, ctx: &mut Ctx<'_>, tp: Tp, error: ErrorCode) {
        if !self.is_in_flight(tp) {
            return;
        }
        ctx.note(Kind::AlterPartitionRefused { tp, error });
        match reaction(error) {
            Reaction::Revert => {
                if let Some(state) = self.replicas.get_mut(&tp).and_then(Replica::leader_state_mut) {
                    state.pending = None;
                }
            }
            Reaction::AwaitMetadata => self.set_stage(tp, Stage::AwaitsMetadata),
            Reaction::Retry => self.retry_alter(ctx, tp),
        }
    }

    fn on_committed(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, result: &AlteredPartition) {
        let in_flight = self.is_in_flight(result.tp);
        let Some(replica) = self.replicas.get_mut(&result.tp) else { return };
        // Metadata may have been quicker than the answer; then the answer says nothing new.
        if !in_flight || result.leader_epoch != replica.leader_epoch || result.partition_epoch < replica.partition_epoch
        {
            return;
        }
        replica.isr.clone_from(&result.isr);
        replica.recovery = result.leader_recovery;
        replica.partition_epoch = result.partition_epoch;
        if let Some(state) = replica.leader_state_mut() {
            state.pending = None;
        }
        self.advance_and_complete(ctx, image, result.tp);
    }
}
