//! What became of each record of the run. Prints nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use highwater_engine::base::{ClientId, NodeId, Offset, SimTime, Tag, Tp};
use highwater_engine::trace::Kind;
use highwater_engine::world::Action;
use highwater_studio::recording::image;
use highwater_studio::story::Seen;

/// One record.
pub struct Sent {
    pub producer: NodeId,
    pub partition: Option<u32>,
    pub acked: Option<(SimTime, Tp, Offset)>,
    pub failed: Option<(SimTime, &'static str)>,
    /// The producer was told that it is done, and no log that counts has it.
    pub lost: bool,
    /// Offsets at which it stands.
    pub stands: Vec<(Tp, Offset)>,
    /// When each group was first given it, and how often.
    pub delivered: BTreeMap<Rc<str>, (SimTime, u64)>,
}

/// The records in the order sent.
#[derive(Default)]
pub struct Promises {
    pub records: Vec<Sent>,
    /// Records that a group was given after a later one of their partition.
    pub out_of_order: BTreeMap<Rc<str>, u64>,
    /// The last committed offsets of each group.
    pub committed: BTreeMap<(Rc<str>, Tp), Offset>,
    /// When the first member of a group was given partitions.
    pub began: BTreeMap<Rc<str>, SimTime>,
    numbers: BTreeMap<Tag, usize>,
}

impl Promises {
    pub fn of(recording: Seen<'_>) -> Promises {
        let mut promises = Promises::default();
        promises.read_trace(recording);
        promises.read_logs(recording);
        promises
    }

    fn record(&mut self, tag: Tag) -> Option<&mut Sent> {
        self.numbers.get(&tag).and_then(|number| self.records.get_mut(*number))
    }

    fn read_trace(&mut self, recording: Seen<'_>) {
        let group_of = groups_of_clients(recording);
        let mut highest: BTreeMap<(Rc<str>, Tp), usize> = BTreeMap::new();
        for (_, entry) in recording.reel().entries(0..recording.n_entries()) {
            if let Kind::RecordSent { tag, partition, .. } = &entry.kind {
                self.numbers.insert(*tag, self.records.len());
                self.records.push(Sent {
                    producer: entry.who,
                    partition: *partition,
                    acked: None,
                    failed: None,
                    lost: false,
                    stands: Vec::new(),
                    delivered: BTreeMap::new(),
                });
            } else if let Kind::RecordAcked { tag, tp, offset } = &entry.kind {
                if let Some(record) = self.record(*tag) {
                    record.acked = Some((entry.at, *tp, *offset));
                    record.partition = Some(tp.partition);
                }
            } else if let Kind::RecordFailed { tag, tp, exception } = &entry.kind {
                if let Some(record) = self.record(*tag) {
                    record.failed = Some((entry.at, exception));
                    record.partition = tp.map(|tp| tp.partition).or(record.partition);
                }
            } else if let Kind::RecordDelivered { tag, tp, .. } = &entry.kind {
                let (NodeId::Client(client), Some(number)) = (entry.who, self.numbers.get(tag).copied()) else {
                    continue;
                };
                let Some(group) = group_of.get(&client) else { continue };
                let top = highest.entry((group.clone(), *tp)).or_insert(number);
                let behind = number < *top;
                *top = (*top).max(number);
                let given = self.records[number].delivered.entry(group.clone()).or_insert((entry.at, 0));
                given.1 += 1;
                if behind && given.1 == 1 {
                    *self.out_of_order.entry(group.clone()).or_default() += 1;
                }
            } else if let Kind::RebalanceCallback { group, partitions, .. } = &entry.kind {
                if !partitions.is_empty() {
                    self.began.entry(group.clone()).or_insert(entry.at);
                }
            } else if let Kind::OffsetsCommitted { group, offsets } = &entry.kind {
                for (tp, offset) in offsets {
                    self.committed.insert((group.clone(), *tp), *offset);
                }
            }
        }
    }

    fn read_logs(&mut self, recording: Seen<'_>) {
        let Some(image) = image(recording.world()) else { return };
        let mut deleted: BTreeMap<Tp, Offset> = BTreeMap::new();
        let mut known: BTreeSet<Tp> = BTreeSet::new();
        for (tp, partition) in image.partitions() {
            known.insert(tp);
            // Without a leader nothing is gone yet: any replica may come back with it.
            let holders = partition.leader.map_or_else(|| partition.replicas.clone(), |leader| vec![leader]);
            for holder in holders {
                let machine = recording.world().machine(NodeId::Broker(holder));
                let Some(log) = machine.and_then(|machine| machine.disk.log(tp)) else { continue };
                deleted.insert(tp, log.start_offset());
                for batch in log.batches() {
                    for (offset, record) in batch.records() {
                        if let Some(sent) = self.record(record.tag)
                            && !sent.stands.contains(&(tp, offset))
                        {
                            sent.stands.push((tp, offset));
                        }
                    }
                }
            }
        }
        for record in &mut self.records {
            if let Some((_, tp, offset)) = record.acked {
                // What an administrator deleted was not lost.
                let was_deleted = !known.contains(&tp) || deleted.get(&tp).is_some_and(|start| offset < *start);
                record.lost = offset >= 0 && record.stands.is_empty() && !was_deleted;
            }
        }
    }
}

fn groups_of_clients(recording: Seen<'_>) -> BTreeMap<ClientId, Rc<str>> {
    let mut of_name: BTreeMap<Rc<str>, Rc<str>> = BTreeMap::new();
    for (_, action) in recording.reel().actions() {
        if let Action::Join { name, spec } = action {
            of_name.insert(name.clone(), spec.group.clone());
        }
    }
    let clients = recording.world().machines().filter_map(|(node, _)| match node {
        NodeId::Client(id) => Some(id),
        NodeId::Broker(_) | NodeId::Controller(_) => None,
    });
    clients.filter_map(|id| Some((id, of_name.get(recording.world().client_name(id)?)?.clone()))).collect()
}
