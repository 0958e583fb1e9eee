//! Applying metadata: becoming leader, follower or leaderless, ISR updates, deletion (ReplicaManager.applyDelta,
//! Partition.makeLeader/makeFollower). Records older than what is known change nothing.

use super::ReplicaManager;
use super::partition::{Edges, LeaderState, Remote, Replica, Role};
use crate::base::{BrokerId, Seq, Tp};
use crate::metadata::MetadataImage;
use crate::node::Ctx;
use crate::protocol::PartitionRegistration;
use crate::trace::Kind;

impl ReplicaManager {
    /// Follows the image after metadata was replayed into it. `changed` are partitions of whose records something
    /// changed, each with the trace entry of the decision;
    /// `deleted` are partitions of deleted topics. Empty lists, when registrations changed, need no action: eligibility
    /// is looked up when it matters.
    ///
    /// A starting broker replays all committed metadata before it calls this for the first time: old leaderships are
    /// not lived through again.
    pub fn apply(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, changed: &[(Tp, Seq)], deleted: &[Tp]) {
        for tp in deleted {
            self.forget(ctx, image, *tp);
        }
        for (tp, origin) in changed {
            ctx.caused_by(*origin, |ctx| self.apply_one(ctx, image, *tp));
        }
    }

    fn apply_one(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        let Some(registration) = image.partition(tp).filter(|registration| registration.replicas.contains(&self.id))
        else {
            // Deleted, or moved to other brokers.
            return self.forget(ctx, image, tp);
        };
        let replica = self.replicas.entry(tp).or_insert_with(|| {
            let edges = Edges::of(ctx.disk.log_mut(tp));
            Replica::loaded(edges, ctx.disk.hw_checkpoint.get(&tp).copied().unwrap_or(0))
        });
        if registration.partition_epoch < replica.partition_epoch {
            return;
        }
        match registration.leader {
            Some(leader) if leader == self.id => self.become_leader(ctx, image, tp, registration),
            leader => self.become_follower(ctx, image, tp, registration, leader),
        }
    }

    fn forget(&mut self, ctx: &mut Ctx<'_>, image: &MetadataImage, tp: Tp) {
        if self.replicas.remove(&tp).is_some() {
            self.stop_fetching(ctx, tp);
            ctx.disk.logs.remove(&tp);
            ctx.disk.hw_checkpoint.remove(&tp);
            self.complete_when_not_leader(ctx, image, tp);
        }
    }

    /// Takes over what the record says of everybody.
    fn adopt(replica: &mut Replica, registration: &PartitionRegistration) {
        replica.leader = registration.leader;
        replica.leader_epoch = registration.leader_epoch;
        replica.partition_epoch = registration.partition_epoch;
        replica.assigned = registration.replicas.len() as u32;
        replica.isr.clone_from(&registration.isr);
        replica.recovery = registration.leader_recovery;
    }

    fn become_leader(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        registration: &PartitionRegistration,
    ) {
        let Some(replica) = self.replicas.get(&tp) else { return };
        let was_leader = replica.is_leader();
        let new_epoch = registration.leader_epoch > replica.leader_epoch || !was_leader;
        let epoch = registration.leader_epoch;
        if new_epoch {
            self.stop_fetching(ctx, tp);
            self.write_log(ctx, tp, |log| log.assign_epoch(epoch.0));
        }
        let id = self.id;
        let Some(replica) = self.replicas.get_mut(&tp) else { return };
        let end = replica.log.end;
        Self::adopt(replica, registration);
        let old = match core::mem::replace(&mut replica.role, Role::Leaderless) {
            Role::Leader(state) => Some(state),
            Role::Follower | Role::Leaderless | Role::Unassigned => None,
        };
        let known = |broker: BrokerId| {
            old.as_ref()
                .and_then(|s| s.remotes.iter().find(|r| r.broker == broker))
                .copied()
                .unwrap_or(Remote::unknown(broker))
        };
        let mut remotes = alloc::vec::Vec::with_capacity(registration.replicas.len().saturating_sub(1));
        for broker in registration.replicas.iter().copied().filter(|broker| *broker != id) {
            let mut remote = known(broker);
            if new_epoch {
                remote.reset(ctx.now, end, was_leader, registration.isr.contains(&broker));
            }
            remotes.push(remote);
        }
        let epoch_start = match &old {
            Some(state) if !new_epoch => state.epoch_start,
            Some(_) | None => end,
        };
        // What was pending is settled: this record, or an older one, is the controller's answer.
        replica.role = Role::Leader(LeaderState { epoch_start, remotes, pending: None });
        if new_epoch {
            ctx.because(Kind::BecameLeader { tp, epoch, log_end: end });
        }
        self.advance_and_complete(ctx, image, tp);
    }

    fn become_follower(
        &mut self,
        ctx: &mut Ctx<'_>,
        image: &MetadataImage,
        tp: Tp,
        registration: &PartitionRegistration,
        leader: Option<BrokerId>,
    ) {
        let Some(replica) = self.replicas.get_mut(&tp) else { return };
        let unassigned = replica.role == Role::Unassigned;
        let new_epoch = registration.leader_epoch > replica.leader_epoch || unassigned;
        Self::adopt(replica, registration);
        replica.role = if leader.is_some() { Role::Follower } else { Role::Leaderless };
        let is_done = self.is_stopping && (leader.is_none() || !registration.isr.contains(&self.id));
        // A change of the ISR alone does not disturb a follower.
        if !new_epoch {
            if is_done {
                self.stop_fetching(ctx, tp);
            }
            return;
        }
        let epoch = registration.leader_epoch;
        match leader {
            Some(leader) => ctx.because(Kind::BecameFollower { tp, epoch, leader }),
            None => ctx.because(Kind::BecameLeaderless { tp, epoch }),
        };
        self.stop_fetching(ctx, tp);
        if let Some(leader) = leader.filter(|_| !is_done) {
            self.start_fetching(ctx, tp, leader);
        }
        self.complete_when_not_leader(ctx, image, tp);
    }
}
