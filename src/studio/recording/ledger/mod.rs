//! The ledger of promises: what became of each record that a producer sent, followed by its tag. A fold: what was
//! noticed is taken in entry by entry, and what stands in the logs is compared where something about a partition
//! changed. It changes nothing and promises nothing.

mod logs;
mod pieces;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use highwater_engine::base::{ClientId, Map, NodeId, Offset, SimTime, Tag, Tp, sort_by};
use highwater_engine::client::{ClientKind, ProducerConfig};
use highwater_engine::protocol::Acks;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::World;
use highwater_engine::world::machine::Role;

use self::logs::Source;
pub use self::logs::holders;
use self::pieces::Pieces;

/// Offsets in their order, those that follow one another as one run: of which partition, from where to where.
pub fn runs(offsets: impl IntoIterator<Item = (Tp, Offset)>) -> Vec<(Tp, Offset, Offset)> {
    let mut runs: Vec<(Tp, Offset, Offset)> = Vec::new();
    for (tp, offset) in offsets {
        match runs.last_mut() {
            Some((of, _, last)) if *of == tp && offset <= *last + 1 => *last = offset,
            Some(_) | None => runs.push((tp, offset, offset)),
        }
    }
    runs
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFate {
    /// Sent, not answered yet.
    Pending,
    /// In the leader's log, neither acknowledged nor safe.
    Written,
    /// Below the high watermark (acknowledged or not).
    Safe,
    /// Acknowledged and not yet safe.
    AckedNotSafe,
    /// Acknowledged, and gone.
    AckedLost,
    /// Given up with an error, and gone or never written.
    Refused,
    /// `acks=0`: sent and never answered; gone.
    LostUnacked,
}

/// How often a record was handed to a consumer group, and whether in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    No,
    Once,
    Twice,
    OutOfOrder,
}

/// Records by fate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LedgerCounts {
    pub sent: u64,
    pub acked: u64,
    pub safe: u64,
    pub acked_not_safe: u64,
    pub lost: u64,
    pub refused: u64,
    pub pending: u64,
    pub delivered: u64,
    pub delivered_twice: u64,
    pub out_of_order: u64,
}

/// One record on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub tag: Tag,
    pub producer: NodeId,
    pub topic: Rc<str>,
    pub partition: Option<u32>,
    pub acked: Option<(Tp, Offset)>,
    /// When the producer was told.
    pub acked_at: Option<SimTime>,
    pub failed: bool,
    pub delivered: Delivery,
    /// Where the log of the leader, or of whoever may still lead, has it.
    pub stands: Option<(Tp, Offset)>,
    /// Below the leader's high watermark.
    pub safe: bool,
    pub fate: RecordFate,
    /// Of a producer with acks=0: "done" as soon as it was sent.
    silent: bool,
    /// Groups that were given it, a bit each; those beyond are in [`Ledger::given`].
    given: u64,
}

/// All records up to a moment, in the order sent.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    records: Pieces<Record>,
    /// Numbers of the records of each run of tags.
    numbers: BTreeMap<u64, Pieces<u32>>,
    counts: LedgerCounts,
    by_producer: Map<NodeId, LedgerCounts>,
    /// Groups, with how many records each was given.
    groups: Vec<(Rc<str>, u64)>,
    given: BTreeSet<(usize, u32)>,
    /// The highest number of a record that a group was given of a partition.
    highest: Map<(usize, Tp), u32>,
    /// Numbers of lost records in their order, as the logs were last read.
    lost: Rc<Vec<u32>>,
    /// Numbers of records that stood nowhere when they were acknowledged or since: until the logs are read nobody knows
    /// whether they are lost, and most are not.
    missed: Pieces<u32>,
    /// A record that was lost stands again.
    found: bool,
    /// Records of acks=0 that are called done and stand nowhere: they may be on their way.
    undecided: BTreeSet<u32>,
    logs: Source,
}

/// Tags of one source follow each other within this many.
const RUN: u64 = 1 << 24;
/// The number of a tag that no record has.
const NOBODY: u32 = u32::MAX;

impl Ledger {
    /// How many records were sent.
    pub fn len(&self) -> usize {
        self.records.len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn get(&self, number: usize) -> Option<&Record> {
        self.records.get(number)
    }
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.iter()
    }
    pub fn counts(&self) -> LedgerCounts {
        self.counts
    }
    pub fn of_producer(&self, producer: ClientId) -> LedgerCounts {
        self.by_producer.get(&NodeId::Client(producer)).copied().unwrap_or_default()
    }
    pub fn delivered_to(&self, group: &str) -> u64 {
        self.groups.iter().find(|(name, _)| **name == *group).map_or(0, |(_, count)| *count)
    }
    /// Acknowledged records that are gone, in the order sent.
    pub fn lost(&self) -> impl Iterator<Item = &Record> {
        self.lost.iter().filter_map(|number| self.records.get(*number as usize))
    }
    /// Partitions that hold acknowledged records above the high watermark, with their number.
    pub fn not_safe(&self) -> impl Iterator<Item = (Tp, u32)> {
        self.logs.partitions.iter().filter(|(_, reading)| reading.not_safe > 0).map(|(tp, r)| (*tp, r.not_safe))
    }
    /// Whether a producer was told that the record with this tag is done.
    pub fn is_acked(&self, tag: Tag) -> bool {
        self.by_tag(tag).is_some_and(|(_, record)| record.acked.is_some())
    }
    /// Whether it was told so of a record that is gone.
    pub fn is_lost(&self, tag: Tag) -> bool {
        self.by_tag(tag).is_some_and(|(_, record)| record.fate == RecordFate::AckedLost)
    }
    /// Whether it lies below the high watermark of its partition.
    pub fn is_safe(&self, tag: Tag) -> bool {
        self.by_tag(tag).is_some_and(|(_, record)| record.fate == RecordFate::Safe)
    }
    /// A record by its tag, with its number in the order sent.
    pub fn by_tag(&self, tag: Tag) -> Option<(usize, &Record)> {
        let number = self.number(tag)?;
        Some((number as usize, self.records.get(number as usize)?))
    }
    /// What is counted of the records from a number on is taken off the whole.
    pub fn counts_before(&self, first: usize) -> LedgerCounts {
        let mut counts = self.counts;
        for record in (first..self.len()).filter_map(|number| self.records.get(number)) {
            counts.count(record, false);
        }
        counts
    }

    fn number(&self, tag: Tag) -> Option<u32> {
        let run = self.numbers.get(&(tag.0 / RUN))?;
        run.get((tag.0 % RUN) as usize).copied().filter(|number| *number != NOBODY)
    }

    /// Takes in what one step noticed, with the world after it. The logs are read later, by [`Ledger::settle`].
    pub(super) fn advance(&mut self, world: &World, entries: &[TraceEntry]) {
        for entry in entries {
            match &entry.kind {
                Kind::RecordSent { tag, topic, partition, .. } => self.sent(*tag, entry.who, topic, *partition),
                Kind::RecordAcked { tag, tp, offset } => {
                    let silent =
                        *offset < 0 && matches!(entry.who, NodeId::Client(id) if acks(world, id) == Acks::Zero);
                    if let Some(number) = self.number(*tag) {
                        if silent {
                            self.undecided.insert(number);
                        }
                        self.change(number, |record| {
                            record.acked = Some((*tp, *offset));
                            record.acked_at = Some(entry.at);
                            record.partition = Some(tp.partition);
                            record.silent = silent;
                        });
                    }
                }
                Kind::RecordFailed { tag, .. } => {
                    if let Some(number) = self.number(*tag) {
                        self.change(number, |record| record.failed = true);
                    }
                }
                Kind::RecordDelivered { tag, tp, .. } => self.delivered(world, *tag, *tp, entry.who),
                kind => self.logs.notice(entry.who, kind),
            }
        }
    }

    fn sent(&mut self, tag: Tag, producer: NodeId, topic: &Rc<str>, partition: Option<u32>) {
        let number = self.len() as u32;
        let run = self.numbers.entry(tag.0 / RUN).or_default();
        while run.len() < (tag.0 % RUN) as usize {
            run.push(NOBODY);
        }
        match run.get_mut((tag.0 % RUN) as usize) {
            Some(known) => *known = number,
            None => run.push(number),
        }
        let record = Record {
            tag,
            producer,
            topic: topic.clone(),
            partition,
            acked: None,
            acked_at: None,
            failed: false,
            delivered: Delivery::No,
            stands: None,
            safe: false,
            fate: RecordFate::Pending,
            silent: false,
            given: 0,
        };
        self.counts.count(&record, true);
        self.by_producer.entry(producer).or_default().count(&record, true);
        self.records.push(record);
    }

    fn delivered(&mut self, world: &World, tag: Tag, tp: Tp, member: NodeId) {
        let group = self.group(world, member);
        self.groups[group].1 += 1;
        let Some(number) = self.number(tag) else { return };
        let top = self.highest.entry((group, tp)).or_insert(number);
        let behind = *top > number;
        *top = (*top).max(number);
        let again = match self.records.get(number as usize) {
            Some(record) if group < 64 => record.given >> group & 1 == 1,
            Some(_) | None => !self.given.insert((group, number)),
        };
        self.change(number, |record| {
            if group < 64 {
                record.given |= 1 << group;
            }
            record.delivered = match record.delivered {
                _ if again => Delivery::Twice,
                Delivery::No if behind => Delivery::OutOfOrder,
                Delivery::No => Delivery::Once,
                before => before,
            };
        });
    }

    fn group(&mut self, world: &World, member: NodeId) -> usize {
        let name = group_of(world, member).unwrap_or_default();
        self.groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.groups.push((name, 0));
            self.groups.len() - 1
        })
    }

    /// Changes a record, and counts it anew.
    fn change(&mut self, number: u32, change: impl FnOnce(&mut Record)) {
        let (undecided, logs) = (self.undecided.contains(&number), &mut self.logs);
        let Some(record) = self.records.get_mut(number as usize) else { return };
        let mine = self.by_producer.entry(record.producer).or_default();
        self.counts.count(record, false);
        mine.count(record, false);
        logs.count(record, false);
        let was_lost = record.fate == RecordFate::AckedLost;
        change(record);
        record.fate = fate(record, undecided, logs);
        self.counts.count(record, true);
        mine.count(record, true);
        logs.count(record, true);
        match (was_lost, record.fate == RecordFate::AckedLost) {
            (false, true) => self.missed.push(number),
            (true, false) => self.found |= self.lost.binary_search(&number).is_ok(),
            (true, true) | (false, false) => {}
        }
    }

    /// Says which records are lost, now that the logs have been read.
    fn count_the_lost(&mut self) {
        let missed = std::mem::take(&mut self.missed);
        let is_lost = |number: &u32| {
            self.records.get(*number as usize).is_some_and(|record| record.fate == RecordFate::AckedLost)
        };
        let mut new: Vec<u32> = missed.iter().copied().filter(is_lost).collect();
        if std::mem::take(&mut self.found) || !new.is_empty() {
            new.extend(self.lost.iter().copied().filter(is_lost));
            sort_by(&mut new, u32::cmp);
            new.dedup();
            self.lost = Rc::new(new);
        }
    }
}

fn fate(record: &Record, undecided: bool, logs: &Source) -> RecordFate {
    match (record.stands, record.acked) {
        (Some(_), _) if record.safe => RecordFate::Safe,
        (Some(_), Some((_, offset))) if offset >= 0 => RecordFate::AckedNotSafe,
        (Some(_), _) => RecordFate::Written,
        // What was deleted by retention or by an administrator was not lost; neither is modelled by chance.
        (None, Some((tp, offset))) if offset >= 0 && offset < logs.start(tp) => RecordFate::Safe,
        (None, Some((_, offset))) if offset >= 0 => RecordFate::AckedLost,
        // `acks=0` is "done" as soon as it is sent; only what is not on its way any more is gone.
        (None, Some(_)) if undecided => RecordFate::Pending,
        (None, Some(_)) if record.silent => RecordFate::LostUnacked,
        (None, _) if record.failed => RecordFate::Refused,
        (None, Some(_) | None) => RecordFate::Pending,
    }
}

impl LedgerCounts {
    /// Adds a record, or takes it off.
    fn count(&mut self, record: &Record, add: bool) {
        let by = |count: &mut u64| *count = if add { *count + 1 } else { count.saturating_sub(1) };
        by(&mut self.sent);
        if record.acked.is_some() {
            by(&mut self.acked);
        }
        match record.fate {
            RecordFate::Pending | RecordFate::Written => by(&mut self.pending),
            RecordFate::Safe => by(&mut self.safe),
            RecordFate::AckedNotSafe => by(&mut self.acked_not_safe),
            RecordFate::AckedLost => by(&mut self.lost),
            RecordFate::Refused | RecordFate::LostUnacked => by(&mut self.refused),
        }
        match record.delivered {
            Delivery::No => {}
            Delivery::Once => by(&mut self.delivered),
            Delivery::Twice => {
                by(&mut self.delivered);
                by(&mut self.delivered_twice);
            }
            Delivery::OutOfOrder => {
                by(&mut self.delivered);
                by(&mut self.out_of_order);
            }
        }
    }
}

/// The group of a client that is a member of one, all its life.
pub fn group_of(world: &World, node: NodeId) -> Option<Rc<str>> {
    match &world.machine(node)?.role {
        Role::Client { kind: ClientKind::Consumer(spec), .. } => Some(spec.group.clone()),
        Role::Client { .. } | Role::Controller | Role::Broker { .. } => None,
    }
}

/// `acks` of a client that is a producer. A client keeps its configs for life.
pub fn acks(world: &World, client: ClientId) -> Acks {
    match world.machine(NodeId::Client(client)).map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Producer(spec), .. }) => {
            ProducerConfig::parse(spec.version, &spec.config).map_or(Acks::All, |config| config.acks)
        }
        Some(Role::Client { .. } | Role::Controller | Role::Broker { .. }) | None => Acks::All,
    }
}
