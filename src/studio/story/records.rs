//! Records without an answer, and acknowledged ones that a group has not read yet, as they stand at a moment of the
//! trace. It follows none beyond that; what becomes of each is the ledger's.

use std::collections::BTreeMap;
use std::rc::Rc;

use highwater_engine::base::{ClientId, Dur, Map, NodeId, Offset, SimTime, Tag, TopicId, Tp};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::Action;

use super::seen::Seen;
use super::waits::Awaits;
use crate::recording::group_of;

/// Where a producer's records go.
type Way = (NodeId, Rc<str>, Option<u32>);

/// A group, what it reads and since when.
#[derive(Clone, Debug, Default)]
struct Reader {
    topics: Vec<Rc<str>>,
    began: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    ways: BTreeMap<Tag, Way>,
    sent: Map<Way, BTreeMap<Tag, SimTime>>,
    readers: Map<Rc<str>, Reader>,
    group_of: Map<ClientId, Rc<str>>,
    acked: Map<(Rc<str>, Tp), BTreeMap<Offset, SimTime>>,
    /// Where each group reads on. A consumer next to the leader may have a record before its producer hears of it.
    next: Map<(Rc<str>, Tp), Offset>,
    /// Records of waits, counted as they get what they waited for.
    counts: Map<Awaits, u64>,
}

impl Records {
    pub fn see(&mut self, seen: Seen<'_>, entry: &TraceEntry) {
        match &entry.kind {
            Kind::Acted { action } => {
                if let Some(Action::Join { spec, .. }) = seen.reel().action(*action).map(|action| &**action) {
                    self.readers.entry(spec.group.clone()).or_default().topics = spec.topics.clone();
                }
            }
            Kind::RecordSent { tag, topic, partition, .. } => {
                let way = (entry.who, topic.clone(), *partition);
                self.ways.insert(*tag, way.clone());
                self.sent.entry(way).or_default().insert(*tag, entry.at);
            }
            Kind::RecordAcked { tag, tp, offset } => {
                self.answered(*tag);
                if *offset >= 0 {
                    self.acked(seen, *tp, *offset, entry.at);
                }
            }
            Kind::RecordFailed { tag, .. } => self.answered(*tag),
            Kind::RebalanceCallback { group, partitions, .. } if !partitions.is_empty() => {
                if let Some(reader) = self.readers.get_mut(group) {
                    reader.began = true;
                }
            }
            Kind::RecordDelivered { tp, offset, .. } => {
                self.read(seen, entry.who, *tp, |next| next.max(*offset + 1));
            }
            // What lies before the new position is not read any more.
            Kind::PositionReset { tp, offset, .. } => self.read(seen, entry.who, *tp, |_next| *offset),
            _not_about_records => {}
        }
    }

    fn answered(&mut self, tag: Tag) {
        let Some(way) = self.ways.remove(&tag) else { return };
        if let Some(sent) = self.sent.get_mut(&way) {
            sent.remove(&tag);
            if sent.is_empty() {
                self.sent.remove(&way);
            }
        }
        let (who, topic, partition) = way;
        self.count(&Awaits::Answer(who, topic, partition));
    }

    fn acked(&mut self, seen: Seen<'_>, tp: Tp, offset: Offset, at: SimTime) {
        let Some(topic) = seen.reel().topic_name(tp.topic) else { return };
        for (group, reader) in &self.readers {
            let key = (group.clone(), tp);
            let is_read = self.next.get(&key).is_some_and(|next| offset < *next);
            if reader.began && reader.topics.contains(topic) && !is_read {
                self.acked.entry(key).or_default().insert(offset, at);
            }
        }
    }

    fn read(&mut self, seen: Seen<'_>, who: NodeId, tp: Tp, moved: impl FnOnce(Offset) -> Offset) {
        let NodeId::Client(client) = who else { return };
        let group =
            self.group_of.entry(client).or_insert_with(|| group_of(seen.world(), who).unwrap_or_default()).clone();
        let key = (group, tp);
        let next = self.next.entry(key.clone()).or_default();
        *next = moved(*next);
        let Some(waiting) = self.acked.get_mut(&key) else { return };
        let left = waiting.split_off(next);
        let read = std::mem::replace(waiting, left).len();
        if waiting.is_empty() {
            self.acked.remove(&key);
        }
        let what = Awaits::Reading(key.0, key.1);
        if let Some(count) = self.counts.get_mut(&what) {
            *count += read as u64;
        }
    }

    fn count(&mut self, what: &Awaits) {
        if let Some(count) = self.counts.get_mut(what) {
            *count += 1;
        }
    }

    /// What waits too long by now, with the moment of its oldest record and how many there are.
    pub fn over(&mut self, at: SimTime, unanswered: Dur, unread: Dur) -> Vec<(Awaits, SimTime, u64)> {
        let oldest = |times: &mut dyn Iterator<Item = &SimTime>| times.next().copied();
        let mut over = Vec::new();
        for ((who, topic, partition), sent) in &self.sent {
            if let Some(from) = oldest(&mut sent.values()).filter(|from| at.since(*from) >= unanswered) {
                over.push((Awaits::Answer(*who, topic.clone(), *partition), from, sent.len() as u64));
            }
        }
        for ((group, tp), waiting) in &self.acked {
            if let Some(from) = oldest(&mut waiting.values()).filter(|from| at.since(*from) >= unread) {
                over.push((Awaits::Reading(group.clone(), *tp), from, waiting.len() as u64));
            }
        }
        for (what, ..) in &over {
            self.counts.entry(what.clone()).or_insert(0);
        }
        over
    }

    /// How many records a wait that is over had.
    pub fn counted(&mut self, what: &Awaits) -> u64 {
        self.counts.remove(what).unwrap_or(0)
    }

    /// A producer is gone: nobody waits for answers any more.
    pub fn forget_producer(&mut self, who: NodeId) {
        let gone: Vec<Way> = self.sent.keys().filter(|(producer, ..)| *producer == who).cloned().collect();
        for way in gone {
            for tag in self.sent.remove(&way).unwrap_or_default().into_keys() {
                self.ways.remove(&tag);
            }
        }
    }

    pub fn forget_topic(&mut self, topic: TopicId) {
        self.acked.retain(|(_, tp), _| tp.topic != topic);
        self.next.retain(|(_, tp), _| tp.topic != topic);
    }
}
