//! From a decision to the log and back: replay at once, answer when committed, revert when leadership is lost
//! (QuorumController). It makes no decision itself.

use alloc::vec;
use alloc::vec::Vec;

use super::{Active, Controller, Due, Sessions};
use crate::base::{BrokerId, Dur, LeaderEpoch, Offset, PartitionEpoch, Seq};
use crate::metadata::MetadataImage;
use crate::node::{ControllerTimer, Ctx, Timer};
use crate::protocol::{ConfigResource, ElectionKind, MetadataRecord, PartitionChange, Payload};
use crate::rules::{FencingCheck, UncleanByConfig, Version};
use crate::trace::{IsrChanger, Kind};

/// The run that elects uncleanly where the configuration allows it (`unclean.leader.election.interval.ms`, internal).
pub(super) const UNCLEAN_INTERVAL: Dur = Dur::secs(300);

impl Controller {
    /// Appends the records of one event as one batch and applies them to memory. Returns the offset up to which the
    /// answer must be committed:
    /// an answer without records of its own waits for whatever it may have read.
    pub(super) fn write(&mut self, ctx: &mut Ctx<'_>, records: Vec<MetadataRecord>, by: IsrChanger) -> Offset {
        if records.is_empty() {
            return self.image.applied_to;
        }
        // A batch of partition changes alone has no decision but these; its first note is the cause of what follows
        // from it.
        let partitions_only = records.iter().all(|r| matches!(r, MetadataRecord::PartitionChange(_)));
        let mut origin = None;
        let mut loses_leader = false;
        for record in &records {
            if let MetadataRecord::PartitionChange(change) = record {
                let told = self.tell(ctx, change, by);
                if partitions_only {
                    origin = origin.or(told);
                }
                loses_leader |= change.leader == Some(None);
            }
            self.image.replay(record);
        }
        self.image.applied_to = self.voter.append(ctx, records, origin.unwrap_or(ctx.cause));
        if loses_leader && self.rules.unclean_by_config == UncleanByConfig::RunAfterLoss {
            ctx.set_if_absent(Timer::Controller(ControllerTimer::UncleanBalance), UNCLEAN_INTERVAL);
        }
        self.arm_no_op(ctx);
        self.image.applied_to
    }

    /// Notes what a change means, before it is replayed. Returns the first note.
    fn tell(&self, ctx: &mut Ctx<'_>, change: &PartitionChange, by: IsrChanger) -> Option<Seq> {
        let tp = change.tp;
        let before = self.image.partition(tp)?;
        let epoch = PartitionEpoch(before.partition_epoch.0 + 1);
        let mut first = None;
        let mut note = |ctx: &mut Ctx<'_>, kind| {
            let seq = ctx.note(kind);
            first.get_or_insert(seq);
        };
        if let Some(isr) = &change.isr {
            let missing = |from: &[BrokerId], of: &[BrokerId]| -> Vec<BrokerId> {
                of.iter().copied().filter(|b| !from.contains(b)).collect()
            };
            let removed = missing(isr, &before.isr);
            let added = missing(&before.isr, isr);
            if !removed.is_empty() {
                note(ctx, Kind::IsrShrunk { tp, isr: isr.clone(), removed, by, epoch });
            }
            if !added.is_empty() {
                note(ctx, Kind::IsrExpanded { tp, isr: isr.clone(), added, epoch });
            }
        }
        if change.elr.is_some() || change.last_known_elr.is_some() {
            let elr = change.elr.as_ref().unwrap_or(&before.elr);
            let last_known = change.last_known_elr.as_ref().unwrap_or(&before.last_known_elr);
            note(ctx, Kind::ElrChanged { tp, elr: elr.clone(), last_known_leader: last_known.first().copied() });
        }
        let leader_epoch = LeaderEpoch(before.leader_epoch.0 + 1);
        match (change.leader, before.leader) {
            (Some(Some(leader)), previous) => {
                let election = change.election.unwrap_or(ElectionKind::Clean);
                note(ctx, Kind::LeaderElected { tp, leader, previous, epoch: leader_epoch, election });
            }
            (Some(None), Some(previous)) => note(ctx, Kind::LeaderLost { tp, previous, epoch: leader_epoch }),
            (Some(None) | None, Some(_) | None) => {}
        }
        first
    }

    /// Becomes active or ceases to be, applies what is committed, frees answers.
    pub(super) fn follow_quorum(&mut self, ctx: &mut Ctx<'_>) {
        if self.active.is_some() && !self.is_leading() {
            self.deactivate(ctx);
        }
        if self.active.is_none() {
            self.apply_committed(ctx);
            if let (Some((epoch, epoch_start)), Some(_)) = (self.voter.leadership(), self.voter.leader_high_watermark())
                && self.image.applied_to > epoch_start
            {
                self.activate(ctx, epoch);
            }
        }
        self.free_answers();
    }

    fn apply_committed(&mut self, ctx: &Ctx<'_>) {
        let high_watermark = self.voter.high_watermark();
        if self.image.applied_to >= high_watermark {
            return;
        }
        for batch in
            ctx.disk.metadata_log.batches_from(self.image.applied_to).take_while(|b| b.next_offset() <= high_watermark)
        {
            match &batch.payload {
                Payload::Metadata(records) => records.iter().for_each(|record| self.image.replay(record)),
                Payload::Data(_) | Payload::Group(_) | Payload::LeaderChange => {}
            }
            self.image.applied_to = batch.next_offset();
        }
    }

    fn free_answers(&mut self) {
        let high_watermark = self.voter.high_watermark();
        let Some(active) = &mut self.active else { return };
        while active.waiting.first_key_value().is_some_and(|(offset, _)| *offset <= high_watermark) {
            for w in active.waiting.pop_first().into_iter().flat_map(|(_, answers)| answers) {
                self.due.push(Due {
                    conn: w.conn,
                    correlation: w.correlation,
                    response: Some(w.response),
                    cause: Some(w.cause),
                });
            }
        }
    }

    fn activate(&mut self, ctx: &mut Ctx<'_>, epoch: crate::base::QuorumEpoch) {
        let since = ctx.because(Kind::ControllerActivated { epoch });
        let sessions = Sessions::restarted(&self.image, ctx.now);
        self.active = Some(Active { epoch, since, sessions, waiting: Default::default() });
        if self.image.features.is_empty() {
            let records = self.bootstrap_records();
            self.write(ctx, records, IsrChanger::Controller);
        }
        let config = self.config.clone();
        match self.rules.fencing_check {
            FencingCheck::Periodic => {
                ctx.set(Timer::Controller(ControllerTimer::SessionCheck), config.broker_session_timeout.scaled(1, 8))
            }
            FencingCheck::Timer => {
                let unfenced: Vec<BrokerId> =
                    self.image.brokers.iter().filter(|(_, b)| !b.fenced).map(|(id, _)| *id).collect();
                for broker in unfenced {
                    ctx.set(Timer::Controller(ControllerTimer::Session(broker)), config.broker_session_timeout);
                }
            }
        }
        if config.auto_leader_rebalance {
            ctx.set(Timer::Controller(ControllerTimer::PreferredBalance), config.leader_imbalance_check_interval);
        }
        let leaderless = self.image.partitions().any(|(_, p)| p.leader.is_none());
        match self.rules.unclean_by_config {
            UncleanByConfig::RunPeriodic => {
                ctx.set(Timer::Controller(ControllerTimer::UncleanBalance), UNCLEAN_INTERVAL)
            }
            UncleanByConfig::RunAfterLoss if leaderless => {
                ctx.set(Timer::Controller(ControllerTimer::UncleanBalance), UNCLEAN_INTERVAL)
            }
            UncleanByConfig::RunAfterLoss | UncleanByConfig::Ignored => {}
        }
        self.arm_no_op(ctx);
    }

    /// Leadership is lost: waiting requests are told, memory goes back to what is committed.
    fn deactivate(&mut self, ctx: &mut Ctx<'_>) {
        let Some(active) = self.active.take() else { return };
        ctx.note(Kind::ControllerResigned { epoch: active.epoch });
        for w in active.waiting.into_values().flatten() {
            let response = self.refusal(&w.asked, crate::protocol::ErrorCode::NotController);
            self.due.push(Due { conn: w.conn, correlation: w.correlation, response: Some(response), cause: None });
        }
        for timer in [
            ControllerTimer::SessionCheck,
            ControllerTimer::NoOp,
            ControllerTimer::PreferredBalance,
            ControllerTimer::UncleanBalance,
        ] {
            ctx.cancel(&Timer::Controller(timer));
        }
        for (broker, _) in active.sessions.iter() {
            ctx.cancel(&Timer::Controller(ControllerTimer::Session(broker)));
        }
        if self.image.applied_to > self.voter.high_watermark() {
            self.image = MetadataImage::default();
            self.apply_committed(ctx);
        }
    }

    /// The records of a new cluster: feature levels, and with ELR the minimum as a config of the cluster.
    fn bootstrap_records(&self) -> Vec<MetadataRecord> {
        let feature = |name, level| MetadataRecord::FeatureLevel { name, level };
        match self.rules.version {
            Version::V3_6 => vec![feature("metadata.version", 14)],
            Version::V3_9 => vec![feature("metadata.version", 21)],
            Version::V4_1 => {
                let mut records = vec![feature("metadata.version", 27)];
                if self.rules.eligible_leader_replicas {
                    records.push(feature("eligible.leader.replicas.version", 1));
                }
                records.push(feature("group.version", 1));
                records.push(feature("transaction.version", 2));
                if self.rules.eligible_leader_replicas {
                    let value = alloc::format!("{}", self.config.min_insync_replicas);
                    records.push(MetadataRecord::Config {
                        resource: ConfigResource::Cluster,
                        name: "min.insync.replicas".into(),
                        value: Some(value.into()),
                    });
                }
                records
            }
        }
    }

    /// Whoever wrote last only puts the idle record off; it comes of there being an active controller.
    fn arm_no_op(&self, ctx: &mut Ctx<'_>) {
        let interval = self.config.metadata_max_idle_interval;
        if interval > Dur::ZERO {
            let since = self.active.as_ref().map_or(ctx.cause, |active| active.since);
            ctx.caused_by(since, |ctx| ctx.set(Timer::Controller(ControllerTimer::NoOp), interval));
        }
    }

    /// The log was idle: a record that moves the high watermark on.
    pub(super) fn on_no_op(&mut self, ctx: &mut Ctx<'_>) {
        self.write(ctx, vec![MetadataRecord::NoOp], IsrChanger::Controller);
    }
}
