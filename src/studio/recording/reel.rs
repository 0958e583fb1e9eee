//! The trace of a branch with its indexes. Entries are shared between branches; nothing here is ever changed once it is
//! written.
use std::rc::Rc;

use highwater_engine::base::{ActionId, Map, NodeId, Offset, Seq, SimTime, TopicId, Tp};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, Refusal, World};

use super::cursor::{Cursor, Step};
use super::known::Known;
use super::standings::{Change, Standings, Whose};
use crate::kinds::Weight;

/// Entries of one shared piece.
const PIECE: usize = 1_024;
/// Width of the counters from which densities are made.
pub const SLICE_US: u64 = 50_000;

/// One step of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    pub at: SimTime,
    /// How many steps of its instant are done after it.
    pub done: u32,
    /// Number of entries after it.
    pub end: usize,
    /// It sent a message.
    pub sends: bool,
    pub notable: bool,
}

/// A refused action, with the number of the entry that stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    pub entry: usize,
    pub index: usize,
    pub refusal: Refusal,
}

/// Everything that was noticed in a branch, from the origin on.
#[derive(Clone, Debug, Default)]
pub struct Reel {
    sealed: Vec<Rc<Vec<TraceEntry>>>,
    open: Vec<TraceEntry>,
    ops: Vec<Op>,
    /// Numbers of notable entries.
    notable: Vec<usize>,
    /// Entries about turns of events: neither messages and logs nor records and commits that go on all the time.
    turns: Vec<usize>,
    refused: Vec<Refused>,
    acts: Map<ActionId, Rc<Action>>,
    topics: Map<TopicId, Rc<str>>,
    /// High watermarks of leaders with the entries at which they moved: a dead leader's disk remembers less.
    high_watermarks: Map<Tp, Vec<(usize, Offset)>>,
    /// For each node how many messages it had sent at the end of each slice of time, up to its last one.
    sent: Map<NodeId, Vec<u32>>,
    standings: Standings,
    known: Known,
}

impl Reel {
    pub fn len(&self) -> usize {
        self.sealed.len() * PIECE + self.open.len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn n_ops(&self) -> usize {
        self.ops.len()
    }
    pub fn get(&self, index: usize) -> Option<&TraceEntry> {
        match self.sealed.get(index / PIECE) {
            Some(piece) => piece.get(index % PIECE),
            None => self.open.get(index.checked_sub(self.sealed.len() * PIECE)?),
        }
    }
    /// Entries with their numbers.
    pub fn entries(&self, range: std::ops::Range<usize>) -> impl DoubleEndedIterator<Item = (usize, &TraceEntry)> {
        (range.start..range.end.min(self.len())).filter_map(|index| Some((index, self.get(index)?)))
    }
    pub fn op(&self, index: usize) -> Option<&Op> {
        self.ops.get(index)
    }
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }
    /// Number of entries after so many steps.
    pub fn end_of(&self, ops: usize) -> usize {
        ops.checked_sub(1).and_then(|last| self.ops.get(last)).map_or(0, |op| op.end)
    }
    /// The step that wrote an entry.
    pub fn op_of(&self, entry: usize) -> usize {
        self.ops.partition_point(|op| op.end <= entry)
    }
    /// Steps that are done when everything up to and including `at` is.
    pub fn ops_until(&self, at: SimTime) -> usize {
        self.ops.partition_point(|op| op.at <= at)
    }
    /// Entries up to and including a moment.
    pub fn entries_until(&self, at: SimTime) -> usize {
        self.end_of(self.ops_until(at))
    }
    /// Entries before a moment.
    pub fn entries_before(&self, at: SimTime) -> usize {
        self.end_of(self.ops.partition_point(|op| op.at < at))
    }
    pub fn notable(&self) -> &[usize] {
        &self.notable
    }
    pub fn is_notable(&self, entry: usize) -> bool {
        self.notable.binary_search(&entry).is_ok()
    }
    /// Entries about turns of events: neither messages and logs nor records and commits that go on all the time.
    pub fn turns(&self) -> &[usize] {
        &self.turns
    }
    /// How a node, a client or a group fared.
    pub fn standings(&self, whose: &Whose) -> &[Change] {
        self.standings.of(whose)
    }
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }
    pub fn action(&self, id: ActionId) -> Option<&Rc<Action>> {
        self.acts.get(&id)
    }
    /// All accepted actions.
    pub fn actions(&self) -> impl Iterator<Item = (ActionId, &Action)> {
        self.acts.iter().map(|(id, action)| (*id, &**action))
    }
    pub fn topic_name(&self, id: TopicId) -> Option<&Rc<str>> {
        self.topics.get(&id)
    }

    /// The last high watermark that a leader of the partition had before an entry.
    pub fn high_watermark(&self, tp: Tp, before: usize) -> Option<Offset> {
        let moves = self.high_watermarks.get(&tp)?;
        moves[..moves.partition_point(|(entry, _)| *entry < before)].last().map(|(_, offset)| *offset)
    }

    /// Partitions that the offsets topic had after an entry, if there was one.
    pub fn n_offsets_partitions(&self, entry: usize) -> Option<u32> {
        self.known.n_offsets_partitions(entry)
    }
    /// Groups that were named up to an entry.
    pub fn groups(&self, entry: usize) -> impl Iterator<Item = &Rc<str>> {
        self.known.groups(entry)
    }

    /// The number of the entry with this sequence number.
    pub fn find(&self, seq: Seq) -> Option<usize> {
        if seq == Seq(0) {
            return None;
        }
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(middle)?.seq < seq { low = middle + 1 } else { high = middle }
        }
        self.get(low).filter(|entry| entry.seq == seq).map(|_| low)
    }

    /// The entry that caused this one.
    pub fn cause(&self, entry: usize) -> Option<usize> {
        self.find(self.get(entry)?.cause)
    }

    /// Messages that a node sent in a stretch of time, to the nearest slice.
    pub fn n_sent(&self, node: NodeId, from: SimTime, to: SimTime) -> u32 {
        let Some(sent) = self.sent.get(&node) else { return 0 };
        let (from, to) = (from.0 / SLICE_US, to.0 / SLICE_US);
        let before = |slice: u64| match (slice as usize).min(sent.len()) {
            0 => 0,
            slices => sent[slices - 1],
        };
        before(to.max(from + 1)) - before(from)
    }

    /// Adds what a step noticed.
    pub(super) fn push(&mut self, after: &Cursor, step: &Step, entries: Vec<TraceEntry>, weights: &[Weight]) {
        let (mut sends, notable_before) = (false, self.notable.len());
        if let Step::Acted { id, action, .. } = step {
            self.acts.insert(*id, action.clone());
        }
        for (entry, weight) in entries.into_iter().zip(weights) {
            if let (Step::Refused { index, refusal }, Kind::ActionRefused { .. }) = (step, &entry.kind) {
                self.refused.push(Refused { entry: self.len(), index: *index, refusal: refusal.clone() });
            }
            sends |= matches!(entry.kind, Kind::MessageSent { .. });
            self.add(&after.world, entry, *weight);
        }
        self.ops.push(Op {
            at: after.instant(),
            done: after.done(),
            end: self.len(),
            sends,
            notable: self.notable.len() > notable_before,
        });
    }

    fn add(&mut self, world: &World, entry: TraceEntry, weight: Weight) {
        let number = self.len();
        self.standings.learn(world, number, &entry);
        self.known.learn(number, &entry.kind);
        match &entry.kind {
            Kind::TopicCreated { topic, name, .. } => drop(self.topics.insert(*topic, name.clone())),
            Kind::MessageSent { .. } => {
                let sent = self.sent.entry(entry.who).or_default();
                let so_far = sent.last().copied().unwrap_or(0);
                sent.resize((entry.at.0 / SLICE_US) as usize + 1, so_far);
                if let Some(last) = sent.last_mut() {
                    *last += 1;
                }
            }
            Kind::HighWatermarkAdvanced { tp, high_watermark, leader: true } => {
                self.high_watermarks.entry(*tp).or_default().push((number, *high_watermark))
            }
            _nothing_to_index => {}
        }
        let goes_on = matches!(
            entry.kind,
            Kind::MessageSent { .. }
                | Kind::MessageDelivered { .. }
                | Kind::MessageLost { .. }
                | Kind::MessageHeld { .. }
                | Kind::MessageMoved { .. }
                | Kind::RequestFailed { .. }
                | Kind::Appended { .. }
                | Kind::Replicated { .. }
                | Kind::HighWatermarkAdvanced { .. }
                | Kind::RecordSent { .. }
                | Kind::RecordAcked { .. }
                | Kind::RecordDelivered { .. }
                | Kind::OffsetsCommitted { .. }
                | Kind::CommitSucceeded { .. }
        );
        if !goes_on {
            self.turns.push(number);
        }
        if weight >= Weight::Notable {
            self.notable.push(number);
        }
        self.open.push(entry);
        if self.open.len() == PIECE {
            self.sealed.push(Rc::new(std::mem::take(&mut self.open)));
        }
    }

    /// The same reel up to so many steps, sharing what it can.
    pub(super) fn fork(&self, ops: usize) -> Reel {
        let end = self.end_of(ops);
        let mut reel = Reel { sealed: self.sealed[..(end / PIECE).min(self.sealed.len())].to_vec(), ..Reel::default() };
        reel.open = self.entries(reel.sealed.len() * PIECE..end).map(|(_, entry)| entry.clone()).collect();
        reel.ops = self.ops[..ops].to_vec();
        reel.notable = self.notable[..self.notable.partition_point(|entry| *entry < end)].to_vec();
        reel.turns = self.turns[..self.turns.partition_point(|entry| *entry < end)].to_vec();
        reel.standings = self.standings.fork(end);
        reel.refused = self.refused.iter().filter(|refused| refused.entry < end).cloned().collect();
        let acted = |id: &ActionId| self.entries(0..end).any(|(_, entry)| entry.kind == Kind::Acted { action: *id });
        reel.acts = self.acts.iter().filter(|(id, _)| acted(id)).map(|(id, action)| (*id, action.clone())).collect();
        reel.topics = self.topics.clone();
        reel.known = self.known.fork(end);
        for (tp, moves) in &self.high_watermarks {
            reel.high_watermarks.insert(*tp, moves[..moves.partition_point(|(entry, _)| *entry < end)].to_vec());
        }
        let last = self.ops.get(ops.wrapping_sub(1)).map_or(SimTime::ZERO, |op| op.at);
        for (node, sent) in &self.sent {
            let kept = sent.len().min((last.0 / SLICE_US) as usize + 1);
            reel.sent.insert(*node, sent[..kept].to_vec());
        }
        reel
    }
}
