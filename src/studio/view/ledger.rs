//! The ledger of promises: what became of each record that a producer sent, followed by its tag. It changes nothing and
//! promises nothing.

use std::collections::{BTreeMap, BTreeSet};

use highwater_engine::base::{NodeId, Offset, Tag, Tp, map_of};
use highwater_engine::protocol::{Acks, CONSUMER_OFFSETS};
use highwater_engine::trace::Kind;

use super::model::*;
use crate::story::{Seen, count};

/// One record on its way.
#[derive(Clone, Debug)]
pub struct Entry {
    pub tag: Tag,
    pub producer: NodeId,
    pub topic: String,
    pub partition: Option<u32>,
    pub acked: Option<(Tp, Offset)>,
    pub failed: bool,
    pub delivered: Delivery,
    /// Where the log of the leader, or of whoever may still lead, has it.
    pub stands: Option<(Tp, Offset)>,
    /// Below the leader's high watermark.
    pub safe: bool,
    pub fate: RecordFate,
}

/// All records up to the playhead, in the order sent.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub entries: Vec<Entry>,
    pub counts: LedgerCounts,
    /// Place of each tag in `entries`.
    numbers: BTreeMap<Tag, usize>,
    by_producer: BTreeMap<String, LedgerCounts>,
    delivered: BTreeMap<String, u64>,
}

impl Ledger {
    /// Reads the trace and the logs.
    pub fn of(seen: Seen<'_>) -> Ledger {
        let mut ledger = Ledger::default();
        ledger.read_trace(seen);
        ledger.read_logs(seen);
        for index in 0..ledger.entries.len() {
            let fate = ledger.fate(seen, index);
            ledger.entries[index].fate = fate;
            let entry = &ledger.entries[index];
            let name = seen.node(entry.producer);
            add(&mut ledger.counts, entry);
            add(ledger.by_producer.entry(crate::story::name_of(name)).or_default(), entry);
        }
        ledger
    }

    pub fn of_producer(&self, name: &str) -> LedgerCounts {
        self.by_producer.get(name).copied().unwrap_or_default()
    }

    pub fn delivered_to(&self, group: &str) -> u64 {
        self.delivered.get(group).copied().unwrap_or(0)
    }

    /// Acknowledged records that are gone.
    pub fn lost(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.fate == RecordFate::AckedLost)
    }

    /// Whether a producer was told that the record with this tag is done.
    pub fn is_acked(&self, tag: Tag) -> bool {
        self.by_tag(tag).is_some_and(|entry| entry.acked.is_some())
    }
    /// Whether it was told so of a record that is gone.
    pub fn is_lost(&self, tag: Tag) -> bool {
        self.by_tag(tag).is_some_and(|entry| entry.fate == RecordFate::AckedLost)
    }
    /// Whether it lies below the high watermark of its partition.
    pub fn is_safe(&self, tag: Tag) -> bool {
        self.by_tag(tag).is_some_and(|entry| entry.fate == RecordFate::Safe)
    }
    fn by_tag(&self, tag: Tag) -> Option<&Entry> {
        self.entries.get(*self.numbers.get(&tag)?)
    }

    fn read_trace(&mut self, seen: Seen<'_>) {
        let reel = seen.reel();
        let end = seen.n_entries();
        // Of each group: which tags it was given, and the highest number of a record that it was given of a partition.
        let mut given: BTreeSet<(usize, Tag)> = BTreeSet::new();
        let mut highest: BTreeMap<(usize, Tp), usize> = BTreeMap::new();
        let mut groups: Vec<(String, u64)> = Vec::new();
        let mut group_of: BTreeMap<NodeId, usize> = BTreeMap::new();
        for index in reel.records().iter().take_while(|index| **index < end) {
            let Some(entry) = reel.get(*index) else { continue };
            match &entry.kind {
                Kind::RecordSent { tag, topic, partition, .. } => {
                    self.numbers.insert(*tag, self.entries.len());
                    self.entries.push(Entry {
                        tag: *tag,
                        producer: entry.who,
                        topic: topic.to_string(),
                        partition: *partition,
                        acked: None,
                        failed: false,
                        delivered: Delivery::No,
                        stands: None,
                        safe: false,
                        fate: RecordFate::Pending,
                    });
                }
                Kind::RecordAcked { tag, tp, offset } => {
                    if let Some(record) = self.numbers.get(tag).and_then(|number| self.entries.get_mut(*number)) {
                        record.acked = Some((*tp, *offset));
                        record.partition = Some(tp.partition);
                    }
                }
                Kind::RecordFailed { tag, .. } => {
                    if let Some(record) = self.numbers.get(tag).and_then(|number| self.entries.get_mut(*number)) {
                        record.failed = true;
                    }
                }
                Kind::RecordDelivered { tag, tp, .. } => {
                    let group = *group_of.entry(entry.who).or_insert_with(|| {
                        let name = group_name(seen, entry.who);
                        groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                            groups.push((name, 0));
                            groups.len() - 1
                        })
                    });
                    groups[group].1 += 1;
                    let Some(number) = self.numbers.get(tag).copied() else { continue };
                    let again = !given.insert((group, *tag));
                    let top = highest.entry((group, *tp)).or_insert(number);
                    let behind = *top > number;
                    *top = (*top).max(number);
                    let record = &mut self.entries[number];
                    record.delivered = match record.delivered {
                        _ if again => Delivery::Twice,
                        Delivery::No if behind => Delivery::OutOfOrder,
                        Delivery::No => Delivery::Once,
                        before => before,
                    };
                }
                _not_about_records => {}
            }
        }
        self.delivered = map_of(groups);
    }

    fn read_logs(&mut self, seen: Seen<'_>) {
        let Some(image) = seen.image() else { return };
        for (tp, partition) in image.partitions() {
            if image.topic_name(tp.topic).is_some_and(|name| &**name == CONSUMER_OFFSETS) {
                continue;
            }
            // Without a leader nothing is gone yet: any replica may come back with it.
            let holders = match partition.leader {
                Some(leader) => vec![leader],
                None => partition.replicas.clone(),
            };
            let high_watermark = seen.partition_high_watermark(tp, partition.leader);
            for broker in holders {
                let Some(log) = seen.machine(NodeId::Broker(broker)).and_then(|machine| machine.disk.log(tp)) else {
                    continue;
                };
                for batch in log.batches() {
                    for (index, record) in batch.data().iter().enumerate() {
                        let offset = batch.base_offset + index as i64;
                        let Some(entry) =
                            self.numbers.get(&record.tag).and_then(|number| self.entries.get_mut(*number))
                        else {
                            continue;
                        };
                        if entry.stands.is_none() {
                            entry.stands = Some((tp, offset));
                            entry.partition = Some(tp.partition);
                            entry.safe = offset < high_watermark;
                        }
                    }
                }
            }
        }
    }

    fn fate(&self, seen: Seen<'_>, index: usize) -> RecordFate {
        let entry = &self.entries[index];
        let nobody_answers = || matches!(entry.producer, NodeId::Client(id) if seen.acks(id) == Acks::Zero);
        match (entry.stands, entry.acked) {
            (Some(_), _) if entry.safe => RecordFate::Safe,
            (Some(_), Some((_, offset))) if offset >= 0 => RecordFate::AckedNotSafe,
            (Some(_), _) => RecordFate::Written,
            // What was deleted by retention or by an administrator was not lost; neither is modelled by chance.
            (None, Some((tp, offset))) if offset >= 0 && below_start(seen, tp, offset) => RecordFate::Safe,
            (None, Some((_, offset))) if offset >= 0 => RecordFate::AckedLost,
            (None, Some(_)) if nobody_answers() => {
                // `acks=0` is "done" as soon as it is sent; only what is not on its way any more is gone.
                if seen.world().in_flight().any(|message| carries(message, entry.tag)) {
                    RecordFate::Pending
                } else {
                    RecordFate::LostUnacked
                }
            }
            (None, _) if entry.failed => RecordFate::Refused,
            (None, Some(_) | None) => RecordFate::Pending,
        }
    }
}

fn carries(message: &highwater_engine::node::Message, tag: Tag) -> bool {
    match &message.body {
        highwater_engine::node::Body::Request(highwater_engine::protocol::Request::Produce(request)) => {
            request.batches.iter().any(|(_, batch)| batch.data().iter().any(|record| record.tag == tag))
        }
        highwater_engine::node::Body::Request(_) | highwater_engine::node::Body::Response(_) => false,
    }
}

fn below_start(seen: Seen<'_>, tp: Tp, offset: Offset) -> bool {
    let leader = seen.image().and_then(|image| image.partition(tp)?.leader);
    leader
        .and_then(|broker| seen.machine(NodeId::Broker(broker))?.disk.log(tp))
        .is_some_and(|log| offset < log.start_offset())
}

fn group_name(seen: Seen<'_>, who: NodeId) -> String {
    use highwater_engine::client::ClientKind;
    use highwater_engine::world::machine::Role;
    match seen.machine(who).map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Consumer(spec), .. }) => spec.group.to_string(),
        Some(Role::Client { .. } | Role::Controller | Role::Broker { .. }) | None => String::new(),
    }
}

fn add(counts: &mut LedgerCounts, entry: &Entry) {
    counts.sent += 1;
    counts.acked += u64::from(entry.acked.is_some());
    match entry.fate {
        RecordFate::Pending | RecordFate::Written => counts.pending += 1,
        RecordFate::Safe => counts.safe += 1,
        RecordFate::AckedNotSafe => counts.acked_not_safe += 1,
        RecordFate::AckedLost => counts.lost += 1,
        RecordFate::Refused | RecordFate::LostUnacked => counts.refused += 1,
    }
    match entry.delivered {
        Delivery::No => {}
        Delivery::Once => counts.delivered += 1,
        Delivery::Twice => {
            counts.delivered += 1;
            counts.delivered_twice += 1;
        }
        Delivery::OutOfOrder => {
            counts.delivered += 1;
            counts.out_of_order += 1;
        }
    }
}

/// The squares of the newest records, and the counts of those before.
pub fn squares(ledger: &Ledger) -> (Vec<LedgerSquare>, LedgerCounts) {
    let first = ledger.entries.len().saturating_sub(LEDGER_SHOWN);
    let mut earlier = LedgerCounts::default();
    for entry in &ledger.entries[..first] {
        add(&mut earlier, entry);
    }
    let square = |(number, entry): (usize, &Entry)| LedgerSquare {
        number: number as u64,
        partition: PartitionRef { topic: entry.topic.clone(), partition: entry.partition.unwrap_or(0) },
        offset: entry.stands.or(entry.acked).map(|(_, offset)| offset).filter(|offset| *offset >= 0).map(count),
        fate: entry.fate,
        delivered: entry.delivered,
    };
    (ledger.entries.iter().enumerate().skip(first).map(square).collect(), earlier)
}
