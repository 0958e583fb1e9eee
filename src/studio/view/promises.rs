//! Verdicts, the one that hurts most first, with their causes and cures, and what the set-up would survive. It judges
//! only what is so at the playhead.

use highwater_engine::base::{NodeId, Tag, Tp, sort_by};
use highwater_engine::protocol::{Acks, ElectionKind};
use highwater_engine::trace::Kind;

use super::advice::{Advice, Lack};
use super::causes;
use super::ledger::squares;
use super::lost::stretches;
use super::model::*;
use super::survival::Survivals;
use super::unread::{Unread, unread};
use crate::recording::{Ledger, holders};
use crate::story::{Seen, count};

/// Projects the panel.
pub fn promises(seen: Seen<'_>, ledger: &Ledger, scene: &Scene, advice: &Advice, revision: u64) -> Promises {
    let (squares, earlier) = squares(ledger);
    let survivals = Survivals::of(seen);
    Promises {
        revision,
        verdicts: Judge { seen, ledger, scene, advice }.verdicts(),
        lost: stretches(seen, ledger.lost()),
        ledger: squares,
        earlier,
        counts: ledger.counts(),
        if_one_fails: survivals.if_fail(1),
        if_two_fail: survivals.if_fail(2),
    }
}

struct Judge<'a> {
    seen: Seen<'a>,
    ledger: &'a Ledger,
    scene: &'a Scene,
    advice: &'a Advice,
}

fn card(verdict: Verdict, cause: Cause, cure: Option<Cure>) -> VerdictCard {
    VerdictCard { verdict, cause: Some(cause), has_why: true, cure }
}

impl Judge<'_> {
    fn verdicts(&self) -> Vec<VerdictCard> {
        let mut cards = Vec::new();
        self.stopped(&mut cards);
        self.no_controller(&mut cards);
        self.offline(&mut cards);
        self.lost(&mut cards);
        self.writes(&mut cards);
        self.without_commits(&mut cards);
        self.unread(&mut cards);
        let counts = self.ledger.counts();
        if counts.delivered_twice > 0 {
            cards.push(card(
                Verdict::DeliveredTwice { count: counts.delivered_twice },
                causes::repeated(self.seen, self.scene),
                None,
            ));
        }
        if counts.out_of_order > 0 {
            let cause = causes::repeated(self.seen, self.scene);
            cards.push(card(Verdict::OutOfOrder { count: counts.out_of_order }, cause, None));
        }
        self.at_risk(&mut cards);
        if cards.is_empty() {
            cards.push(VerdictCard { verdict: Verdict::EveryPromiseKept, cause: None, has_why: false, cure: None });
        }
        cards
    }

    /// Why a group has no coordinator, and what would have helped.
    fn coordinator(&self, group: &GroupView) -> (Cause, Option<Cure>) {
        let cause = causes::without_coordinator(self.seen, group);
        let tp = self.seen.offsets_tp(&group.name);
        let replicas = tp.and_then(|tp| self.seen.image()?.partition(tp)).map_or(0, |p| p.replicas.len());
        let most = (self.seen.scenario().cluster.brokers.len() as u32).min(3);
        let cure = match group.coordinator {
            Coordinator::Missing { .. } if replicas == 1 && most > 1 => {
                Some(Cure::OffsetsReplicationFactor { to: most })
            }
            Coordinator::Missing { .. } => tp.and_then(|tp| self.advice.for_want(self.seen, Lack::Leader(tp))),
            // More replicas are wanted than there are brokers: fewer can be had.
            Coordinator::NoTopic if most < self.seen.offsets_replication_factor() => {
                Some(Cure::OffsetsReplicationFactor { to: most })
            }
            // There is one, and the members wait for somebody who does not answer.
            Coordinator::Loading { .. } | Coordinator::Ready { .. } => {
                self.advice.for_want(self.seen, Lack::Coordinator(group.name.as_str().into()))
            }
            Coordinator::NoTopic => None,
        };
        (cause, cure)
    }

    fn stopped(&self, cards: &mut Vec<VerdictCard>) {
        let alive: Vec<&GroupView> = self
            .scene
            .groups
            .iter()
            .filter(|group| !matches!(group.now, GroupNow::NoMembers | GroupNow::Starting))
            .collect();
        let stopped: Vec<&&GroupView> =
            alive.iter().filter(|group| matches!(group.now, GroupNow::Stopped { .. })).collect();
        let Some(first) = stopped.first() else { return };
        let (cause, cure) = self.coordinator(first);
        if stopped.len() == alive.len() {
            cards.push(card(Verdict::EveryConsumerStopped, cause, cure));
            return;
        }
        for group in stopped {
            let (cause, cure) = self.coordinator(group);
            cards.push(card(Verdict::GroupStopped { group: group.name.clone() }, cause, cure));
        }
    }

    fn without_commits(&self, cards: &mut Vec<VerdictCard>) {
        for group in &self.scene.groups {
            if let GroupNow::ReadsWithoutCoordinator { .. } = group.now {
                let (cause, cure) = self.coordinator(group);
                cards.push(card(Verdict::GroupWithoutCommits { group: group.name.clone() }, cause, cure));
            }
        }
    }

    fn unread(&self, cards: &mut Vec<VerdictCard>) {
        for Unread { group, member, partition } in unread(self.seen, self.scene) {
            let cure = self.advice.for_want(self.seen, Lack::Reading(partition, group.as_str().into()));
            let cause = Cause::MemberFrozen { member: member.clone() };
            cards.push(card(Verdict::PartitionsUnread { group, member }, cause, cure));
        }
    }

    fn no_controller(&self, cards: &mut Vec<VerdictCard>) {
        if self.seen.world().active_controller().is_some() {
            return;
        }
        let alive =
            self.scene.controllers.iter().filter(|controller| controller.process == ProcessState::Running).count()
                as u32;
        cards.push(card(
            Verdict::NoActiveController,
            Cause::QuorumLost { alive, voters: self.scene.controllers.len() as u32 },
            self.advice.for_want(self.seen, Lack::Controller),
        ));
    }

    fn offline(&self, cards: &mut Vec<VerdictCard>) {
        for topic in self.scene.topics.iter().filter(|topic| !topic.internal) {
            let offline: Vec<&PartitionView> =
                topic.partitions.iter().filter(|partition| partition.leader.is_none()).collect();
            let Some(first) = offline.first() else { continue };
            let partition = PartitionRef { topic: topic.name.clone(), partition: first.partition };
            let Some(tp) = self.seen.tp(&partition) else { continue };
            let cure = if topic.replication_factor == 1 {
                Some(Cure::ReplicationFactor {
                    topic: topic.name.clone(),
                    to: (self.scene.brokers.len() as u32).min(3),
                })
            } else {
                self.advice.for_want(self.seen, Lack::Leader(tp))
            };
            cards.push(card(
                Verdict::PartitionsOffline { count: offline.len() as u32, topic: topic.name.clone() },
                causes::no_leader(self.seen, tp),
                cure,
            ));
        }
    }

    fn lost(&self, cards: &mut Vec<VerdictCard>) {
        let lost: Vec<_> = self.ledger.lost().collect();
        let Some(first) = lost.first() else { return };
        let Some((tp, offset)) = first.acked else { return };
        let same: Vec<i64> = lost
            .iter()
            .filter_map(|entry| entry.acked)
            .filter(|(other, _)| *other == tp)
            .map(|(_, offset)| offset)
            .collect();
        let partition = self.seen.partition(tp);
        let producer = crate::story::name_of(self.seen.node(first.producer));
        let acks = if let NodeId::Client(id) = first.producer { self.seen.acks(id) } else { Acks::All };
        let is_unclean = |kind: &Kind| match kind {
            Kind::LeaderElected {
                tp: other,
                election: ElectionKind::Unclean | ElectionKind::LastKnown,
                leader,
                ..
            } if *other == tp => Some(*leader),
            _other => None,
        };
        let unclean = self.seen.last_turn(|entry| is_unclean(&entry.kind).is_some());
        let unclean = unclean.and_then(|entry| is_unclean(&entry.kind));
        let (cause, cure) = match unclean {
            Some(leader) => (
                Cause::UncleanElection { partition: partition.clone(), broker: leader.0 },
                Cure::UncleanElectionOff { topic: partition.topic },
            ),
            None if acks == Acks::One => {
                let broker = self.led_by(first.tag, tp, offset);
                let cause = Cause::AckedByLeaderAlone {
                    partition,
                    first: count(same.iter().min().copied().unwrap_or(offset)),
                    last: count(same.iter().max().copied().unwrap_or(offset)),
                    broker,
                };
                (cause, Cure::Acks { producer, to: "all".into() })
            }
            None => {
                let min = self
                    .scene
                    .topics
                    .iter()
                    .find(|topic| topic.name == partition.topic)
                    .map_or(1, |topic| topic.min_insync_replicas);
                (
                    Cause::IsrBelowMin { partition: partition.clone(), isr: 1, min },
                    Cure::MinInsyncReplicas { topic: partition.topic, to: 2 },
                )
            }
        };
        let at = stretches(self.seen, lost.iter().copied());
        cards.push(card(Verdict::AckedLost { count: lost.len() as u64, at }, cause, Some(cure)));
    }

    /// Who had appended the record as leader when the producer was told that it is done.
    fn led_by(&self, tag: Tag, tp: Tp, offset: i64) -> u32 {
        let told = self.ledger.by_tag(tag).and_then(|(_, record)| record.acked_at);
        let told = told.map_or(self.seen.n_entries(), |at| self.seen.reel().entries_until(at));
        let before = self.seen.reel().entries(0..told).rev();
        let appended = before.filter_map(|(_, entry)| match (&entry.kind, entry.who) {
            (Kind::Appended { tp: other, base_offset, count, .. }, NodeId::Broker(broker))
                if *other == tp && (*base_offset..base_offset + i64::from(*count)).contains(&offset) =>
            {
                Some(broker.0)
            }
            _elsewhere => None,
        });
        appended.take(1).next().unwrap_or(0)
    }

    fn writes(&self, cards: &mut Vec<VerdictCard>) {
        for producer in &self.scene.producers {
            let (error, partition) = match &producer.now {
                ProducerNow::Retrying { error, partition, .. } => (error.clone(), partition.clone()),
                ProducerNow::NoLeader { error, partition } => (error.clone(), Some(partition.clone())),
                ProducerNow::Failing { error } => (error.clone(), None),
                ProducerNow::AwaitingAcks { oldest_us } if *oldest_us > 2_000_000 => {
                    let (cause, cure) = self.stalled(&producer.name);
                    cards.push(card(Verdict::WritesStalled { producer: producer.name.clone() }, cause, cure));
                    continue;
                }
                _goes_on => continue,
            };
            let column = partition.as_ref().and_then(|p| {
                self.scene
                    .topics
                    .iter()
                    .find(|topic| topic.name == p.topic)
                    .and_then(|topic| Some((topic, topic.partitions.get(p.partition as usize)?)))
            });
            let tp = partition.as_ref().and_then(|partition| self.seen.tp(partition));
            let (cause, cure) = match (column, tp) {
                (Some((_, column)), Some(tp)) if column.leader.is_none() => {
                    (causes::no_leader(self.seen, tp), self.advice.for_want(self.seen, Lack::Leader(tp)))
                }
                (Some((topic, column)), Some(tp)) if column.isr_health == IsrHealth::BelowMin => {
                    let (isr, min) = (column.isr.len() as u32, topic.min_insync_replicas);
                    let cause = Cause::IsrBelowMin { partition: self.seen.partition(tp), isr, min };
                    (cause, self.advice.for_want(self.seen, Lack::Isr(tp, min)))
                }
                (Some(_) | None, tp) => (
                    causes::refused(self.seen, &producer.name, &error, partition.as_ref()),
                    tp.and_then(|tp| self.answer_for(&producer.name, tp)),
                ),
            };
            cards.push(card(Verdict::WritesRefused { error, producer: producer.name.clone() }, cause, cure));
        }
    }

    /// Why the answers to a producer's requests do not come.
    fn stalled(&self, producer: &str) -> (Cause, Option<Cure>) {
        let tp = stalled_partition(self.seen, producer);
        let image = self.seen.image();
        let Some((tp, column)) = tp.and_then(|tp| Some((tp, image?.partition(tp)?))) else {
            return (causes::unanswered(self.seen, producer, tp), None);
        };
        if let Some(silent) = column.isr.iter().find_map(|broker| causes::fencing(self.seen, broker.0)) {
            return (silent, self.answer_for(producer, tp));
        }
        let min = image.map_or(1, |image| image.min_insync_replicas(tp.topic, self.seen.world().config()));
        let isr = column.isr.len() as u32;
        if column.leader.is_none() {
            (causes::no_leader(self.seen, tp), self.advice.for_want(self.seen, Lack::Leader(tp)))
        } else if isr < min {
            let cause = Cause::IsrBelowMin { partition: self.seen.partition(tp), isr, min };
            (cause, self.advice.for_want(self.seen, Lack::Isr(tp, min)))
        } else {
            (causes::unanswered(self.seen, producer, Some(tp)), self.answer_for(producer, tp))
        }
    }

    /// What brings a producer its answer.
    fn answer_for(&self, producer: &str, tp: Tp) -> Option<Cure> {
        let client = self.seen.world().client_id(producer)?;
        self.advice.for_want(self.seen, Lack::Answer(tp, NodeId::Client(client)))
    }

    fn at_risk(&self, cards: &mut Vec<VerdictCard>) {
        // A record is at risk for a moment whenever it is written with acks=1; only one whose followers do not come is
        // worth a card.
        let Some((tp, number, first_offset, last, count_of_all)) = at_risk(self.seen, self.ledger) else { return };
        let Some(first) = self.ledger.get(number) else { return };
        let cause = Cause::AckedByLeaderAlone {
            partition: self.seen.partition(tp),
            first: count(first_offset),
            last: count(last),
            broker: self.led_by(first.tag, tp, first_offset),
        };
        let producer = crate::story::name_of(self.seen.node(first.producer));
        cards.push(card(
            Verdict::AtRisk { count: count_of_all },
            cause,
            Some(Cure::Acks { producer, to: "all".into() }),
        ));
    }
}

/// Acknowledged records above the high watermark of partitions whose leader is down, or whose followers do not come:
/// the partition of the first, its number, its offset, that of the last of that partition, and how many there are in
/// all.
pub fn at_risk(seen: Seen<'_>, ledger: &Ledger) -> Option<(Tp, usize, i64, i64, u64)> {
    let is_risky = |tp: Tp| {
        seen.image().and_then(|image| image.partition(tp)).is_none_or(|partition| {
            partition.leader.is_none_or(|leader| seen.is_down(leader))
                || (partition.isr.len() > 1 && partition.isr.iter().any(|broker| !seen.is_up(*broker)))
        })
    };
    let risky: Vec<(Tp, u32)> = ledger.not_safe().filter(|(tp, _)| is_risky(*tp)).collect();
    let places = risky.iter().filter_map(|(tp, _)| Some((*tp, not_safe(seen, ledger, *tp)?)));
    let (tp, (number, first, last)) = places.min_by_key(|(_, (number, ..))| *number)?;
    Some((tp, number, first, last, risky.iter().map(|(_, count)| u64::from(*count)).sum()))
}

/// The number and the offset of the first acknowledged record of a partition that is not safe, and the offset of the
/// last.
fn not_safe(seen: Seen<'_>, ledger: &Ledger, tp: Tp) -> Option<(usize, i64, i64)> {
    let partition = seen.image()?.partition(tp)?;
    let high_watermark = seen.partition_high_watermark(tp, partition.leader);
    let holders = holders(partition);
    let logs = holders.iter().filter_map(|broker| seen.machine(NodeId::Broker(*broker))?.disk.log(tp));
    let records = logs.flat_map(|log| log.batches_from(high_watermark)).flat_map(|batch| batch.data().iter());
    let mut numbers: Vec<(i64, usize)> = records
        .filter_map(|record| ledger.by_tag(record.tag))
        .filter(|(_, record)| record.fate == RecordFate::AckedNotSafe)
        .filter_map(|(number, record)| Some((record.stands?.1, number)))
        .collect();
    sort_by(&mut numbers, Ord::cmp);
    Some((numbers.first()?.1, numbers.first()?.0, numbers.last()?.0))
}

/// The partition of the oldest request of a producer that has no answer.
pub fn stalled_partition(seen: Seen<'_>, producer: &str) -> Option<Tp> {
    let client = seen.world().client(seen.world().client_id(producer)?)?.as_producer()?;
    let oldest = client.batches().filter(|batch| batch.at.is_some()).min_by_key(|batch| batch.created)?;
    seen.tp(&PartitionRef { topic: oldest.topic.to_string(), partition: oldest.partition })
}

/// The record behind a verdict of loss, for the question why.
pub fn first_lost(ledger: &Ledger) -> Option<(highwater_engine::base::Tag, Tp, i64)> {
    ledger.lost().next().and_then(|entry| entry.acked.map(|(tp, offset)| (entry.tag, tp, offset)))
}
