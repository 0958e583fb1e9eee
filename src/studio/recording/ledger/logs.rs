//! Where records stand: what the log of each partition's leader holds, or of whoever may still lead, compared with what
//! it held when it was last read. It reads a log from its beginning only where something else than its end has changed.

use highwater_engine::base::{BrokerId, ControllerId, Map, NodeId, Offset, Set, Tag, Tp};
use highwater_engine::log::Log;
use highwater_engine::metadata::MetadataImage;
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{CONSUMER_OFFSETS, PartitionRegistration, PartitionRequest, Request};
use highwater_engine::trace::Kind;
use highwater_engine::world::World;

use super::{Ledger, Record, RecordFate};
use crate::recording::image;

/// What was last read of a partition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    leader: Option<BrokerId>,
    epoch: i32,
    /// Whose logs were read: the leader's, or those of all replicas while there is none.
    holders: Vec<BrokerId>,
    start: Offset,
    end: Offset,
    high_watermark: Offset,
    /// Acknowledged records above the high watermark.
    pub not_safe: u32,
}

/// What was read, and what may have changed since.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub partitions: Map<Tp, Reading>,
    /// The last high watermark that a leader had.
    high_watermarks: Map<Tp, Offset>,
    moved: Set<Tp>,
    again: Set<Tp>,
    /// Whatever was read may have changed.
    all: bool,
    /// Whose metadata was read, and how far it reached.
    known: Option<(Option<ControllerId>, Offset)>,
}

impl Source {
    /// The first offset that a leader still has.
    pub fn start(&self, tp: Tp) -> Offset {
        self.partitions.get(&tp).map_or(0, |reading| reading.start)
    }

    /// Counts a record, or takes it off.
    pub fn count(&mut self, record: &Record, add: bool) {
        if record.fate == RecordFate::AckedNotSafe
            && let Some((tp, _)) = record.stands
            && let Some(reading) = self.partitions.get_mut(&tp)
        {
            reading.not_safe = if add { reading.not_safe + 1 } else { reading.not_safe.saturating_sub(1) };
        }
    }

    /// Remembers which logs an entry says something about.
    pub fn notice(&mut self, who: NodeId, kind: &Kind) {
        let holds = |reading: &Reading| reading.holders.iter().any(|broker| NodeId::Broker(*broker) == who);
        match kind {
            Kind::HighWatermarkAdvanced { tp, high_watermark, leader: true } => {
                self.high_watermarks.insert(*tp, *high_watermark);
                self.moved.insert(*tp);
            }
            Kind::Appended { tp, .. } | Kind::BecameLeader { tp, .. } => drop(self.moved.insert(*tp)),
            Kind::Replicated { tp, .. } if self.partitions.get(tp).is_some_and(holds) => drop(self.moved.insert(*tp)),
            Kind::LogTruncated { tp, .. } | Kind::LogStartAdvanced { tp, .. }
                if self.partitions.get(tp).is_some_and(holds) =>
            {
                self.again.insert(*tp);
            }
            Kind::DiskLost => {
                self.again.extend(self.partitions.iter().filter(|(_, reading)| holds(reading)).map(|(tp, _)| *tp));
            }
            Kind::ProcessStarted | Kind::ProcessKilled | Kind::ProcessExited { .. } => self.all = true,
            _says_nothing_about_logs => {}
        }
    }

    fn high_watermark(&self, world: &World, tp: Tp, leader: Option<BrokerId>) -> Offset {
        let working = leader.and_then(|leader| world.broker(leader)).and_then(|process| process.high_watermark(tp));
        working.or_else(|| self.high_watermarks.get(&tp).copied()).unwrap_or(0)
    }
}

fn log(world: &World, broker: BrokerId, tp: Tp) -> Option<&Log> {
    world.machine(NodeId::Broker(broker))?.disk.log(tp)
}

/// Whose logs hold what stands: without a leader nothing is gone yet, any replica may come back with it.
pub fn holders(partition: &PartitionRegistration) -> Vec<BrokerId> {
    partition.leader.map_or_else(|| partition.replicas.clone(), |leader| vec![leader])
}

/// Those whose records are followed: partitions of the offsets topic hold none of a producer.
fn followed(image: &MetadataImage, tps: impl Iterator<Item = Tp>) -> Set<Tp> {
    let internal = image.topic_id(CONSUMER_OFFSETS);
    tps.filter(|tp| Some(tp.topic) != internal).collect()
}

/// What is read of the metadata: whose they are, and how far they reach.
fn reach(world: &World, image: &MetadataImage) -> Option<(Option<ControllerId>, Offset)> {
    Some((world.active_controller(), image.applied_to))
}

/// Tags of records that are on their way to a leader.
fn on_their_way(world: &World) -> Set<Tag> {
    let carried = |message: &Message| match &message.body {
        Body::Request(Request::Partition(PartitionRequest::Produce(request))) => {
            request.batches.iter().flat_map(|(_, batch)| batch.data().iter().map(|r| r.tag)).collect()
        }
        Body::Request(_) | Body::Response(_) => Vec::new(),
    };
    Set::from_iter(
        world
            .in_flight()
            .chain(world.held_by_cuts())
            .chain(world.held_by_actions().map(|(message, _)| message))
            .flat_map(carried),
    )
}

impl Ledger {
    /// Whether nothing has happened since the logs were read.
    pub fn is_settled(&self, world: &World) -> bool {
        let logs = &self.logs;
        logs.moved.is_empty()
            && logs.again.is_empty()
            && !logs.all
            && self.undecided.is_empty()
            && self.missed.len() == 0
            && !self.found
            && image(world).is_none_or(|image| logs.known == reach(world, image))
    }

    /// Compares the logs with what was read of them.
    pub fn settle(&mut self, world: &World) {
        // With every process down nobody says who leads, and nothing is gone that was not gone before.
        if let Some(image) = image(world) {
            let known = reach(world, image);
            let all = std::mem::take(&mut self.logs.all) || self.logs.known != known;
            self.logs.known = known;
            let moved = std::mem::take(&mut self.logs.moved);
            let candidates = if all {
                followed(image, image.partitions().map(|(tp, _)| tp).chain(self.logs.partitions.keys().copied()))
            } else {
                followed(image, moved.into_iter().chain(self.logs.again.iter().copied()))
            };
            let again: Vec<Tp> = candidates.into_iter().filter(|tp| !self.read_on(world, image, *tp)).collect();
            self.logs.again.clear();
            if !again.is_empty() {
                self.read_again(world, image, &again);
            }
        }
        self.decide(world);
        self.count_the_lost();
    }

    /// Reads what a leader's log has gained. `false` if it has to be read from its beginning.
    fn read_on(&mut self, world: &World, image: &MetadataImage, tp: Tp) -> bool {
        let (Some(partition), Some(reading)) = (image.partition(tp), self.logs.partitions.get(&tp)) else {
            return false;
        };
        let high_watermark = self.logs.high_watermark(world, tp, partition.leader);
        let same = (reading.leader, reading.epoch) == (partition.leader, partition.leader_epoch.0);
        let Some(leader) = partition.leader.filter(|_| same && !self.logs.again.contains(&tp)) else {
            // Without a leader there is nothing to gain; what changed was noticed.
            return same && reading.holders == partition.replicas && !self.logs.again.contains(&tp) && {
                let ends = partition.replicas.iter().filter_map(|b| log(world, *b, tp)).map(Log::end_offset).max();
                ends.unwrap_or(0) == reading.end && high_watermark == reading.high_watermark
            };
        };
        let Some(log) = log(world, leader, tp) else { return reading.end == 0 };
        if log.start_offset() != reading.start
            || log.end_offset() < reading.end
            || high_watermark < reading.high_watermark
        {
            return false;
        }
        let (old_end, old_high) = (reading.end, reading.high_watermark);
        if (old_end, old_high) == (log.end_offset(), high_watermark) {
            return true;
        }
        if let Some(reading) = self.logs.partitions.get_mut(&tp) {
            (reading.end, reading.high_watermark) = (log.end_offset(), high_watermark);
        }
        for batch in log.batches_from(old_high.min(old_end)) {
            for (index, record) in batch.data().iter().enumerate() {
                let offset = batch.base_offset + index as i64;
                let Some((number, known)) = self.by_tag(record.tag) else { continue };
                let safe = offset < high_watermark;
                match known.stands {
                    None => self.change(number as u32, |record| {
                        (record.stands, record.partition, record.safe) = (Some((tp, offset)), Some(tp.partition), safe);
                    }),
                    Some(place) if place == (tp, offset) && known.safe != safe => {
                        self.change(number as u32, |record| record.safe = safe);
                    }
                    Some(_) => {}
                }
            }
        }
        true
    }

    /// Reads some partitions from their beginning.
    fn read_again(&mut self, world: &World, image: &MetadataImage, which: &[Tp]) {
        let mut found: Map<u32, (Tp, Offset, bool)> = Map::new();
        for tp in which {
            let tp = *tp;
            let Some(partition) = image.partition(tp) else {
                // Nothing is counted of it before its records are looked at again below.
                if let Some(reading) = self.logs.partitions.get_mut(&tp) {
                    *reading = Reading { not_safe: reading.not_safe, ..Reading::default() };
                }
                continue;
            };
            let high_watermark = self.logs.high_watermark(world, tp, partition.leader);
            let holders = holders(partition);
            let leading = partition.leader.and_then(|leader| log(world, leader, tp));
            let mut end = 0;
            for log in holders.iter().filter_map(|broker| log(world, *broker, tp)) {
                end = end.max(log.end_offset());
                for batch in log.batches() {
                    for (index, record) in batch.data().iter().enumerate() {
                        let offset = batch.base_offset + index as i64;
                        if let Some(number) = self.number(record.tag) {
                            found.entry(number).or_insert((tp, offset, offset < high_watermark));
                        }
                    }
                }
            }
            let reading = self.logs.partitions.entry(tp).or_default();
            *reading = Reading {
                leader: partition.leader,
                epoch: partition.leader_epoch.0,
                holders,
                start: leading.map_or(0, Log::start_offset),
                end,
                high_watermark,
                not_safe: reading.not_safe,
            };
        }
        let which: Set<Tp> = which.iter().copied().collect();
        let concerned =
            |record: &Record| [record.stands, record.acked].into_iter().flatten().any(|(tp, _)| which.contains(&tp));
        let numbers: Set<u32> = (0u32..)
            .zip(self.records.iter())
            .filter(|(_, record)| concerned(record))
            .map(|(number, _)| number)
            .chain(found.keys().copied())
            .collect();
        for number in numbers {
            let place = found.get(&number).copied();
            self.change(number, |record| match place {
                // What stands in another partition stays there.
                _ if record.stands.is_some_and(|(tp, _)| !which.contains(&tp)) => {}
                Some((tp, offset, safe)) => {
                    (record.stands, record.partition, record.safe) = (Some((tp, offset)), Some(tp.partition), safe);
                }
                None => (record.stands, record.safe) = (None, false),
            });
        }
        self.logs.partitions.retain(|tp, _| image.partition(*tp).is_some());
    }

    /// Records of acks=0 that are not on their way any more have got where they stand, or nowhere.
    fn decide(&mut self, world: &World) {
        if self.undecided.is_empty() {
            return;
        }
        let carried = on_their_way(world);
        let decided: Vec<u32> = self
            .undecided
            .iter()
            .copied()
            .filter(|number| self.records.get(*number as usize).is_none_or(|record| !carried.contains(&record.tag)))
            .collect();
        for number in decided {
            self.undecided.remove(&number);
            self.change(number, |_record| {});
        }
    }
}
