//! The leader's high watermark and what it learns from followers' fetches. It reads no records and answers nobody.

use super::ReplicaManager;
use super::partition::Remote;
use crate::base::{BrokerEpoch, BrokerId, Offset, Tp};
use crate::metadata::MetadataImage;
use crate::node::Ctx;
use crate::trace::Kind;

/// What a follower's fetch says of its log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub broker: BrokerId,
    pub epoch: BrokerEpoch,
    pub offset: Offset,
    pub log_start: Offset,
}

/// Whether a replica may enter the ISR as far as this broker knows: unfenced, not shutting down, and fetching in the
/// incarnation that is registered (KIP-841, KIP-903).
pub(super) fn is_eligible(image: &MetadataImage, remote: &Remote) -> bool {
    let registered = image.brokers.get(&remote.broker).filter(|b| !b.fenced && !b.in_controlled_shutdown);
    registered.is_some_and(|b| remote.broker_epoch.is_some_and(|epoch| epoch == BrokerEpoch(-1) || epoch == b.epoch))
}

impl ReplicaManager {
    /// Raises the high watermark of a led partition if it may (Partition.maybeIncrementLeaderHW). It is never lowered
    /// here.
    /// Evaluated after appends, after a follower's progress, after a committed ISR and on becoming leader; never by
    /// time alone.
    pub(super) fn advance_high_watermark(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) -> bool {
        let Some(replica) = self.replicas.get(&tp) else { return false };
        let Some(state) = replica.leader_state() else { return false };
        let end = replica.log.end;
        if replica.high_watermark >= end {
            return false;
        }
        if self.rules.hw_frozen_below_min_isr && replica.isr.len() < self.effective_min_isr(image, tp, replica.assigned)
        {
            return false;
        }
        let lag = self.config.replica_lag_time_max;
        let waits_for = |remote: &&Remote| {
            remote.log_end < end
                && (replica.in_maximal_isr(remote.broker)
                    || (remote.is_caught_up(ctx.now, end, lag) && is_eligible(image, remote)))
        };
        let slowest = state.remotes.iter().filter(waits_for).map(|remote| remote.log_end).min();
        let candidate = slowest.filter(|_| !self.rules.broken.high_watermark_ignores_followers).unwrap_or(end);
        if candidate <= replica.high_watermark {
            return false;
        }
        if let Some(replica) = self.replicas.get_mut(&tp) {
            replica.high_watermark = candidate;
        }
        self.moved.push((tp, candidate));
        ctx.because(Kind::HighWatermarkAdvanced { tp, high_watermark: candidate, leader: true });
        true
    }

    /// Raises the high watermark and completes what waited for it.
    pub(super) fn advance_and_complete(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        let cause = ctx.cause;
        if self.advance_high_watermark(ctx, image, tp) {
            self.on_high_watermark_moved(ctx, image, tp);
        }
        ctx.cause = cause;
    }

    /// Takes an accepted fetch of a follower into account: its state, then the ISR, then the high watermark (a follower
    /// that this fetch brings in is waited for from now on).
    /// `leader_end` is the log end at the read.
    pub(super) fn follower_fetched(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        position: Position,
        leader_end: Offset,
    ) {
        let Some(replica) = self.replicas.get_mut(&tp) else { return };
        let in_isr = replica.isr.contains(&position.broker);
        let high_watermark = replica.high_watermark;
        let Some(remote) =
            replica.leader_state_mut().and_then(|s| s.remotes.iter_mut().find(|r| r.broker == position.broker))
        else {
            return;
        };
        let (progressed, start_moved) = (remote.log_end != position.offset, remote.log_start != position.log_start);
        remote.fetched(ctx.now, position.offset, position.log_start, leader_end, position.epoch);
        if !in_isr {
            let cause = ctx.cause;
            self.expand_isr(ctx, image, tp, position.broker);
            ctx.cause = cause;
        }
        if progressed && high_watermark < leader_end {
            self.advance_and_complete(ctx, image, tp);
        }
        if start_moved {
            self.complete_deletes(ctx, image, tp);
        }
    }
}
