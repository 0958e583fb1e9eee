//! Builds the change record of one partition: ELR, election, ISR, last known leader (PartitionChangeBuilder; KIP-631,
//! KIP-704, KIP-966). It writes nothing.

use alloc::vec;
use alloc::vec::Vec;

use crate::base::{BrokerId, Set, Tp};
use crate::protocol::{ElectionKind, LeaderRecoveryState, PartitionChange, PartitionRegistration};

/// How far an election may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Election {
    /// Keeps the leader if it is valid.
    Online,
    /// Like `Online`, but any acceptable replica rather than none.
    Unclean,
    /// Prefers the first replica.
    Preferred,
}

/// A change of one partition in the making.
pub(super) struct PartitionChangeBuilder<'a> {
    pub tp: Tp,
    pub partition: &'a PartitionRegistration,
    /// `min.insync.replicas` as configured; it is bounded by the number of replicas here.
    pub min_isr: u32,
    pub elr_enabled: bool,
    /// Whether a replica may be elected that is in neither (never, unless a test breaks the rule).
    pub any_replica: bool,
    pub election: Election,
    pub target_isr: Vec<BrokerId>,
    pub recovery: Option<LeaderRecoveryState>,
    /// The broker that is registering after an unclean stop: it is no candidate for the ELR.
    pub unclean_shutdown: Option<BrokerId>,
    /// Replicas whose log directory their broker does not have any more: they may not lead (LeaderAcceptor).
    pub elsewhere: Vec<BrokerId>,
    /// Registered, not fenced, not stopping, and not excluded by the event.
    pub acceptable: &'a dyn Fn(BrokerId) -> bool,
}

impl PartitionChangeBuilder<'_> {
    /// The record, `None` if nothing changes.
    pub fn build(mut self) -> Option<PartitionChange> {
        let partition = self.partition;
        let mut change = PartitionChange::new(self.tp);
        let mut target_elr = self.target_elr();
        let elected = self.elect(&target_elr);
        let leader = elected.map(|(leader, _)| leader);
        if leader != partition.leader {
            change.leader = Some(leader);
            change.election = elected.map(|(_, kind)| kind);
            if let Some((leader, kind)) = elected {
                match kind {
                    ElectionKind::Unclean | ElectionKind::LastKnown => {
                        self.target_isr = vec![leader];
                        change.isr = Some(self.target_isr.clone());
                        target_elr.clear();
                        if !partition.is_recovering() {
                            change.leader_recovery = Some(LeaderRecoveryState::Recovering);
                        }
                    }
                    ElectionKind::FromElr => {
                        self.target_isr = vec![leader];
                        change.isr = Some(self.target_isr.clone());
                        target_elr.retain(|r| *r != leader);
                    }
                    ElectionKind::Clean | ElectionKind::Preferred => {}
                }
            }
        }
        // Without ELR the last member stays listed; with it the set may become empty.
        if change.isr.is_none() && (!self.target_isr.is_empty() || self.elr_enabled) && self.target_isr != partition.isr
        {
            change.isr = Some(self.target_isr);
        }
        if target_elr != partition.elr {
            change.elr = Some(target_elr);
        }
        change.last_known_elr = self.elr_enabled.then(|| last_known(partition, change.leader)).flatten();
        if change.leader_recovery.is_none()
            && let Some(recovery) = self.recovery
            && recovery != partition.leader_recovery
        {
            change.leader_recovery = Some(recovery);
        }
        (!change.is_empty()).then_some(change)
    }

    /// Below the effective minimum whoever was in the ISR or the ELR is eligible, in ascending order; at or above it
    /// nobody needs to be.
    fn target_elr(&self) -> Vec<BrokerId> {
        let effective = (self.min_isr as usize).min(self.partition.replicas.len());
        if !self.elr_enabled || self.target_isr.len() >= effective {
            return Vec::new();
        }
        let candidates = Set::from_iter(self.partition.elr.iter().chain(&self.partition.isr).copied());
        candidates.into_iter().filter(|r| !self.target_isr.contains(r) && self.unclean_shutdown != Some(*r)).collect()
    }

    fn accepts(&self, replica: BrokerId) -> bool {
        !self.elsewhere.contains(&replica) && (self.acceptable)(replica)
    }

    fn elect(&self, target_elr: &[BrokerId]) -> Option<(BrokerId, ElectionKind)> {
        let from_elr = self.elr_enabled && self.target_isr.is_empty();
        let valid = |r: BrokerId| {
            (self.any_replica || self.target_isr.contains(&r) || from_elr && target_elr.contains(&r)) && self.accepts(r)
        };
        let clean = if from_elr { ElectionKind::FromElr } else { ElectionKind::Clean };
        let replicas = &self.partition.replicas;
        if self.election == Election::Preferred
            && let Some(first) = replicas.first().copied().filter(|r| valid(*r))
        {
            return Some((first, if from_elr { clean } else { ElectionKind::Preferred }));
        }
        if let Some(leader) = self.partition.leader.filter(|l| valid(*l)) {
            return Some((leader, clean));
        }
        if let Some(first) = replicas.iter().copied().find(|r| valid(*r)) {
            return Some((first, clean));
        }
        if from_elr
            && target_elr.is_empty()
            && let [last] = self.partition.last_known_elr[..]
            && self.accepts(last)
        {
            return Some((last, ElectionKind::LastKnown));
        }
        if self.election == Election::Unclean {
            return replicas.iter().copied().find(|r| self.accepts(*r)).map(|r| (r, ElectionKind::Unclean));
        }
        None
    }
}

/// The last leader is remembered when a partition first loses its leader and forgotten when there is one again.
fn last_known(partition: &PartitionRegistration, leader: Option<Option<BrokerId>>) -> Option<Vec<BrokerId>> {
    let known = !partition.last_known_elr.is_empty();
    match (leader, partition.leader) {
        (Some(None), Some(previous)) if !known => Some(vec![previous]),
        (Some(Some(_)), _) | (None, Some(_)) if known => Some(Vec::new()),
        (Some(_), _) | (None, _) => None,
    }
}
