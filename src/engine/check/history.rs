//! The checker of a run: follows the trace event by event, and looks at everything when it is asked to. Never changes a
//! world.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;

use super::committed::{self, Committed};
use super::{Invariant, Observation, Violation, logs};
use crate::base::{BrokerId, ControllerId, LeaderEpoch, NodeId, Offset, ProducerId, QuorumEpoch, Tag, Tp};
use crate::client::ClientKind;
use crate::protocol::{Acks, ElectionKind};
use crate::trace::{Kind, QuorumRole, TraceEntry};
use crate::world::{Role, World};

/// What was observed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checker {
    leaders: BTreeMap<(Tp, LeaderEpoch), BrokerId>,
    applied: BTreeMap<(BrokerId, Tp), LeaderEpoch>,
    high_watermarks: BTreeMap<(BrokerId, Tp), (LeaderEpoch, Offset)>,
    quorum_leaders: BTreeMap<QuorumEpoch, ControllerId>,
    /// Partitions in which records may legally be lost: an unclean election, or a disk that went.
    unclean: BTreeSet<Tp>,
    disk_lost: bool,
    committed: Committed,
    acked: BTreeMap<Tp, BTreeMap<Offset, Tag>>,
    /// Producers of which a leader without their state took a first batch above sequence 0: it cannot know what is
    /// missing below, so that order and uniqueness are promised no longer.
    without_head: BTreeSet<(Tp, ProducerId)>,
    /// Producers that gave new numbers to batches which a leader may have: it cannot know them again.
    renumbered: BTreeSet<ProducerId>,
    sent: BTreeSet<Tag>,
    reads: BTreeMap<(Tp, Offset), Tag>,
}

impl Checker {
    /// Follows what one event left in the trace. Cheap: it looks only at what the entries name.
    pub fn follow(&mut self, world: &World, entries: &[TraceEntry]) -> Result<(), Violation> {
        for entry in entries {
            self.entry(world, entry).map_err(|(invariant, what)| Violation { invariant, at: entry.at, what })?;
        }
        Ok(())
    }

    /// Whether nothing that may lose committed records happened to the partition.
    pub fn is_clean(&self, tp: Tp) -> bool {
        !self.disk_lost && !self.unclean.contains(&tp)
    }

    /// Looks at everything. Dear: for random moments and the end of a run.
    pub fn inspect(&self, seen: &Observation) -> Result<(), Violation> {
        committed::recorded_isr(seen)?;
        logs::bounds(seen)?;
        logs::matching(seen)?;
        let is_promised = |tp, id| !self.without_head.contains(&(tp, id)) && !self.renumbered.contains(&id);
        logs::idempotence(seen, is_promised)?;
        committed::strong_isr(seen, &self.committed, |tp| self.is_clean(tp))?;
        committed::acknowledged_kept(seen, &self.acked, |tp| self.is_clean(tp))?;
        committed::groups(seen, |tp| self.is_clean(tp))
    }

    /// Records committed so far in a partition.
    pub fn committed_end(&self, tp: Tp) -> Offset {
        self.committed.end(tp)
    }

    fn entry(&mut self, world: &World, entry: &TraceEntry) -> Result<(), (Invariant, String)> {
        match &entry.kind {
            Kind::ProducerIdAssigned { id, renumbered: 1.., .. } => {
                self.renumbered.insert(ProducerId(*id));
                Ok(())
            }
            Kind::BecameLeader { tp, epoch, .. } => {
                self.applied_epoch(entry.who, *tp, *epoch)?;
                if let NodeId::Broker(broker) = entry.who
                    && let Some(other) = self.leaders.insert((*tp, *epoch), broker)
                    && other != broker
                {
                    return Err((
                        Invariant::OneLeaderAnEpoch,
                        format!("{tp:?}: brokers {other} and {broker} both lead in epoch {epoch}"),
                    ));
                }
                self.leader_has_committed(world, entry.who, *tp)
            }
            Kind::BecameFollower { tp, epoch, .. } | Kind::BecameLeaderless { tp, epoch } => {
                self.applied_epoch(entry.who, *tp, *epoch)
            }
            Kind::ProcessStarted => {
                self.forget_memory(entry.who);
                Ok(())
            }
            Kind::DiskLost => {
                self.disk_lost = true;
                Ok(())
            }
            Kind::TopicDeleted { topic, .. } => {
                self.committed.records.retain(|tp, _| tp.topic != *topic);
                self.acked.retain(|tp, _| tp.topic != *topic);
                Ok(())
            }
            Kind::LeaderElected { tp, election, .. } => {
                match election {
                    // The last known leader counts as unclean: it was elected though it stood in no ISR.
                    ElectionKind::Unclean | ElectionKind::LastKnown => {
                        self.unclean.insert(*tp);
                    }
                    ElectionKind::Clean | ElectionKind::FromElr | ElectionKind::Preferred => {}
                }
                Ok(())
            }
            Kind::QuorumRoleChanged { role: QuorumRole::Leader, epoch } => {
                if let NodeId::Controller(id) = entry.who
                    && let Some(other) = self.quorum_leaders.insert(*epoch, id)
                    && other != id
                {
                    return Err((
                        Invariant::QuorumElectionSafety,
                        format!("controllers {other} and {id} both lead in quorum epoch {epoch}"),
                    ));
                }
                Ok(())
            }
            Kind::HighWatermarkAdvanced { tp, high_watermark, leader: true } => {
                self.high_watermark(world, entry.who, *tp, *high_watermark)
            }
            Kind::RecordSent { tag, .. } => {
                self.sent.insert(*tag);
                Ok(())
            }
            Kind::RecordAcked { tag, tp, offset } => {
                if *offset >= 0 && acks_of(world, entry.who) == Some(Acks::All) {
                    self.acked.entry(*tp).or_default().insert(*offset, *tag);
                }
                Ok(())
            }
            Kind::Appended { tp, base_offset, .. } => {
                self.appended(world, entry.who, *tp, *base_offset);
                Ok(())
            }
            Kind::RecordDelivered { tag, tp, offset, .. } => self.delivered(*tag, *tp, *offset),
            _ => Ok(()),
        }
    }

    fn appended(&mut self, world: &World, who: NodeId, tp: Tp, base_offset: Offset) {
        let Some(log) = world.machine(who).and_then(|m| m.disk.log(tp)) else { return };
        let stamp = log.batch_at(base_offset).and_then(|batch| batch.producer);
        if let Some(id) = stamp.filter(|stamp| stamp.base_sequence != 0).map(|stamp| stamp.id)
            && log.producers().opening_sequence(id, base_offset).is_some()
        {
            self.without_head.insert((tp, id));
        }
    }

    fn applied_epoch(&mut self, who: NodeId, tp: Tp, epoch: LeaderEpoch) -> Result<(), (Invariant, String)> {
        let NodeId::Broker(broker) = who else { return Ok(()) };
        if let Some(before) = self.applied.insert((broker, tp), epoch)
            && before > epoch
        {
            return Err((
                Invariant::EpochsNeverFall,
                format!("{tp:?} on broker {broker}: leader epoch {before}, then {epoch}"),
            ));
        }
        Ok(())
    }

    fn forget_memory(&mut self, who: NodeId) {
        if let NodeId::Broker(broker) = who {
            self.applied.retain(|(b, _), _| *b != broker);
            self.high_watermarks.retain(|(b, _), _| *b != broker);
        }
    }

    fn leader_has_committed(&self, world: &World, who: NodeId, tp: Tp) -> Result<(), (Invariant, String)> {
        if !self.is_clean(tp) {
            return Ok(());
        }
        // Only the leader of the recorded epoch: a broker that is behind may still believe in an older one.
        let NodeId::Broker(broker) = who else { return Ok(()) };
        let recorded =
            world.active_controller().and_then(|id| world.controller(id)).and_then(|c| c.image().partition(tp));
        if recorded.is_none_or(|p| p.leader != Some(broker)) {
            return Ok(());
        }
        let log = world.machine(who).and_then(|m| m.disk.log(tp));
        match log
            .map_or((self.committed.end(tp) > 0).then_some(0), |log| self.committed.missing_from(tp, log, Offset::MAX))
        {
            Some(offset) => Err((
                Invariant::CommittedRecordsStay,
                format!("{tp:?}: the new leader {broker} lacks the committed record at {offset}"),
            )),
            None => Ok(()),
        }
    }

    fn high_watermark(&mut self, world: &World, who: NodeId, tp: Tp, hw: Offset) -> Result<(), (Invariant, String)> {
        let NodeId::Broker(broker) = who else { return Ok(()) };
        let Some(machine) = world.machine(who) else { return Ok(()) };
        let Some(epoch) = machine.broker().and_then(|b| b.leader_epoch(tp)) else { return Ok(()) };
        if let Some((before_epoch, before)) = self.high_watermarks.insert((broker, tp), (epoch, hw))
            && before_epoch == epoch
            && before > hw
        {
            return Err((
                Invariant::HighWatermarkNeverFalls,
                format!("{tp:?} on leader {broker}, epoch {epoch}: {before}, then {hw}"),
            ));
        }
        if let Some(log) = machine.disk.log(tp) {
            if !self.is_clean(tp) {
                self.committed.forget(tp);
                return Ok(());
            }
            let known = self.committed.end(tp).min(hw);
            if let Some(offset) = self.committed.missing_from(tp, log, known) {
                return Err((
                    Invariant::CommittedRecordsStay,
                    format!("{tp:?}: leader {broker} has another record at the committed offset {offset}"),
                ));
            }
            self.committed.advance(tp, log, hw);
        }
        Ok(())
    }

    fn delivered(&mut self, tag: Tag, tp: Tp, offset: Offset) -> Result<(), (Invariant, String)> {
        if !self.sent.contains(&tag) {
            return Err((Invariant::NoPhantom, format!("{tp:?}: record {tag} at {offset} was sent by nobody")));
        }
        if !self.is_clean(tp) {
            return Ok(());
        }
        if offset >= self.committed.end(tp) {
            return Err((
                Invariant::NoReadBeyondHighWatermark,
                format!("{tp:?}: offset {offset} was delivered, committed is {}", self.committed.end(tp)),
            ));
        }
        if let Some(before) = self.reads.insert((tp, offset), tag)
            && before != tag
        {
            return Err((
                Invariant::ReadsStable,
                format!("{tp:?}: offset {offset} was read as {before}, then as {tag}"),
            ));
        }
        Ok(())
    }
}

fn acks_of(world: &World, who: NodeId) -> Option<Acks> {
    match &world.machine(who)?.role {
        Role::Client { kind: ClientKind::Producer(spec), .. } => {
            crate::client::ProducerConfig::parse(spec.version, &spec.config).ok().map(|config| config.acks)
        }
        Role::Client { .. } | Role::Controller | Role::Broker { .. } => None,
    }
}
