//! Registration of brokers and what fencing, unfencing and unclean returns do to partitions (ClusterControlManager,
//! ReplicationControlManager). Heartbeats are next door.

use alloc::vec::Vec;

use super::election::{Election, PartitionChangeBuilder};
use super::{Controller, Decision};
use crate::base::{BrokerEpoch, BrokerId, Tp};
use crate::node::Ctx;
use crate::protocol::{
    BrokerRegistrationRequest, ControllerResponse, ErrorCode, MetadataRecord, PartitionRegistration,
};
use crate::rules::UncleanByConfig;
use crate::trace::Kind;

/// A broker's part in an event that looks at partitions anew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Affected {
    /// Leaves every ISR and may not be elected.
    pub removed: Option<BrokerId>,
    /// May be elected though memory still has it fenced.
    pub added: Option<BrokerId>,
    /// Leaves ISRs and ELRs and may not be elected.
    pub unclean: Option<BrokerId>,
}

impl Controller {
    /// BrokerRegistration: refuses a second incarnation while the first one's session is on, else registers it, fenced.
    pub(super) fn register_broker(&mut self, ctx: &mut Ctx<'_>, request: &BrokerRegistrationRequest) -> Decision {
        let broker = request.broker;
        let existing = self.image.brokers.get(&broker).map(|b| (b.epoch, b.incarnation, b.fenced));
        if let Some((epoch, incarnation, fenced)) = existing {
            if incarnation == request.incarnation {
                return Decision::answer(ControllerResponse::BrokerRegistration { error: ErrorCode::None, epoch });
            }
            let timeout = self.config.broker_session_timeout;
            let alive = self.active.as_ref().is_some_and(|a| a.sessions.is_valid(broker, ctx.now, timeout));
            if alive && (self.rules.session_outlives_fencing || !fenced) {
                let error = ErrorCode::DuplicateBrokerRegistration;
                ctx.note(Kind::RegistrationRefused { broker, error });
                return Decision::answer(ControllerResponse::BrokerRegistration { error, epoch: BrokerEpoch(-1) });
            }
        }
        let clean = existing.is_none_or(|(epoch, _, _)| request.previous_broker_epoch == Some(epoch));
        let mut records = match existing {
            None => Vec::new(),
            Some(_) if self.rules.eligible_leader_replicas && !clean => self.after_unclean_shutdown(broker),
            // A fenced broker left the ISRs when it was fenced; where it is the last member it stays.
            Some((_, _, true)) => Vec::new(),
            Some((_, _, false)) => self.leave_isrs(broker),
        };
        let epoch = BrokerEpoch(self.image.applied_to + records.len() as i64);
        records.push(MetadataRecord::RegisterBroker {
            broker,
            incarnation: request.incarnation,
            rack: request.rack.clone(),
            directory: request.directory,
            epoch,
        });
        ctx.because(Kind::BrokerRegistered { broker, epoch, clean });
        ctx.cancel(&crate::node::Timer::Controller(crate::node::ControllerTimer::Session(broker)));
        if let Some(active) = &mut self.active {
            active.sessions.register(broker, epoch);
        }
        Decision::new(records, ControllerResponse::BrokerRegistration { error: ErrorCode::None, epoch })
    }

    /// Changes when a broker is taken out of all ISRs: fencing, permission to stop.
    pub(super) fn leave_isrs(&self, broker: BrokerId) -> Vec<MetadataRecord> {
        self.leader_and_isr_updates(
            |p| p.isr.contains(&broker),
            Affected { removed: Some(broker), ..Affected::default() },
        )
    }

    /// Changes when a broker is about to be unfenced: partitions without a leader are looked at.
    pub(super) fn may_lead_again(&self, broker: BrokerId) -> Vec<MetadataRecord> {
        self.leader_and_isr_updates(|p| p.leader.is_none(), Affected { added: Some(broker), ..Affected::default() })
    }

    /// Changes when a broker returns after an unclean stop (KIP-966): members of ISRs first, then of ELRs.
    fn after_unclean_shutdown(&self, broker: BrokerId) -> Vec<MetadataRecord> {
        let affected = Affected { unclean: Some(broker), ..Affected::default() };
        let mut records = self.leader_and_isr_updates(|p| p.isr.contains(&broker), affected);
        records.extend(self.leader_and_isr_updates(|p| p.elr.contains(&broker) && !p.isr.contains(&broker), affected));
        records
    }

    /// One change record for each partition that `concerns` picks and that the event changes
    /// (generateLeaderAndIsrUpdates).
    pub(super) fn leader_and_isr_updates(
        &self,
        concerns: impl Fn(&PartitionRegistration) -> bool,
        affected: Affected,
    ) -> Vec<MetadataRecord> {
        let excluded = |r: BrokerId| affected.removed == Some(r) || affected.unclean == Some(r);
        let acceptable = |r: BrokerId| !excluded(r) && (affected.added == Some(r) || self.image.is_active(r));
        let mut records = Vec::new();
        for (tp, partition) in self.image.partitions().filter(|(_, p)| concerns(p)) {
            let target_isr = partition.isr.iter().copied().filter(|r| !excluded(*r)).collect();
            let builder = PartitionChangeBuilder {
                unclean_shutdown: affected.unclean,
                ..self.builder(tp, partition, self.automatic_election(tp), target_isr, &acceptable)
            };
            records.extend(builder.build().map(MetadataRecord::PartitionChange));
        }
        records
    }

    /// A builder with the settings that are in force for the partition.
    pub(super) fn builder<'a>(
        &self,
        tp: Tp,
        partition: &'a PartitionRegistration,
        election: Election,
        target_isr: Vec<BrokerId>,
        acceptable: &'a dyn Fn(BrokerId) -> bool,
    ) -> PartitionChangeBuilder<'a> {
        PartitionChangeBuilder {
            tp,
            partition,
            min_isr: self.image.min_insync_replicas(tp.topic, &self.config),
            elr_enabled: self.rules.eligible_leader_replicas,
            any_replica: self.rules.broken.elects_outside_isr,
            election,
            target_isr,
            recovery: None,
            unclean_shutdown: None,
            elsewhere: self.in_lost_directories(partition),
            acceptable,
        }
    }

    /// Replicas that are assigned to a directory which their broker does not have any more.
    fn in_lost_directories(&self, partition: &PartitionRegistration) -> Vec<BrokerId> {
        if !self.rules.directory_assignment {
            return Vec::new();
        }
        let lost = |replica: &BrokerId| {
            let registered = self.image.brokers.get(replica).map(|b| b.directory);
            partition.directory(*replica).is_some_and(|assigned| registered.is_some_and(|now| now != assigned))
        };
        partition.replicas.iter().copied().filter(lost).collect()
    }

    /// Whether the configuration allows an unclean election, as far as the release reads it.
    pub(super) fn automatic_election(&self, tp: Tp) -> Election {
        let read = match self.rules.unclean_by_config {
            UncleanByConfig::Ignored => false,
            UncleanByConfig::RunAfterLoss | UncleanByConfig::RunPeriodic => true,
        };
        if read && self.image.unclean_leader_election(tp.topic, &self.config) {
            Election::Unclean
        } else {
            Election::Online
        }
    }
}
