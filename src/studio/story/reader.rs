//! One entry with what is around it in the trace: its causes, its neighbours of one action, the value before it. It
//! reads nothing of a later moment; what a client is never changes in its life, so whichever world knows it may be
//! asked.

use highwater_engine::base::{BrokerId, NodeId, Seq, Tp};
use highwater_engine::protocol::Acks;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, LinkSetup};

use super::fact::{AckedBy, Fact, IsrBy};
use super::names::{NodeRef, name_of};
use super::seen::Seen;

/// How many causes are followed to find who began something.
const CAUSES: usize = 24;

/// Ends of links that one action changed.
pub(super) struct Ends {
    pub a: Vec<NodeRef>,
    pub b: Vec<NodeRef>,
    pub one_way: bool,
}

/// One entry.
pub(super) struct Reader<'a> {
    pub seen: Seen<'a>,
    pub index: usize,
    pub entry: &'a TraceEntry,
}

impl<'a> Reader<'a> {
    pub fn who(&self) -> NodeRef {
        self.seen.node(self.entry.who)
    }
    pub fn client(&self) -> String {
        name_of(self.who())
    }
    pub fn broker(&self) -> Option<u32> {
        if let NodeId::Broker(id) = self.entry.who { Some(id.0) } else { None }
    }
    pub fn controller(&self) -> Option<u32> {
        if let NodeId::Controller(id) = self.entry.who { Some(id.0) } else { None }
    }

    pub fn started(&self) -> Fact {
        match self.who() {
            node @ (NodeRef::Controller(_) | NodeRef::Broker(_)) => Fact::Started { node },
            client @ (NodeRef::Producer(_) | NodeRef::Member(_) | NodeRef::Admin) => Fact::ClientStarted { client },
        }
    }

    /// The causes of this entry, the nearest first.
    fn causes(&self) -> impl Iterator<Item = &'a TraceEntry> {
        let reel = self.seen.reel();
        // Whoever sent a message asked, not whoever let it pass.
        let before = move |index: usize| self.seen.sending(index).or_else(|| reel.cause(index));
        std::iter::successors(reel.cause(self.index), move |index| before(*index))
            .take(CAUSES)
            .filter_map(move |index| reel.get(index))
    }

    /// The client whose request led here.
    pub fn asker(&self) -> String {
        let client = self.causes().map(|entry| entry.who).find(|who| matches!(who, NodeId::Client(_)));
        client.map_or_else(String::new, |who| name_of(self.seen.node(who)))
    }

    /// The high watermark that a leader of the partition had before.
    pub fn high_watermark_before(&self, tp: Tp) -> i64 {
        self.seen.reel().high_watermark(tp, self.index).unwrap_or(0)
    }

    /// One action changes many directions of links; the first entry speaks for all of them.
    pub fn ends(&self, to: impl Fn(&Kind) -> Option<NodeId>) -> Option<Ends> {
        let reel = self.seen.reel();
        let same = |entry: &TraceEntry| entry.cause == self.entry.cause && entry.cause != Seq(0);
        if self.seen.speaks_for(self.index) != self.index {
            return None;
        }
        let mut pairs = vec![(self.entry.who, to(&self.entry.kind)?)];
        for (_, entry) in reel.entries(self.index + 1..reel.len()) {
            match to(&entry.kind) {
                Some(end) if same(entry) => pairs.push((entry.who, end)),
                None if entry.at != self.entry.at => break,
                Some(_) => break,
                // Messages that a healed link lets through stand between its entries.
                None => {}
            }
        }
        let one_way = !pairs.contains(&(pairs[0].1, pairs[0].0));
        let (mut a, mut b): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
        for (from, to) in pairs {
            if !a.contains(&from) && !b.contains(&from) {
                a.push(from);
            }
            if !a.contains(&to) && !b.contains(&to) {
                b.push(to);
            }
        }
        let nodes = |ids: Vec<NodeId>| ids.into_iter().map(|id| self.seen.node(id)).collect();
        Some(Ends { a: nodes(a), b: nodes(b), one_way })
    }

    pub fn link_changed(&self, to: NodeId, setup: LinkSetup) -> Option<Fact> {
        let before = self.index.checked_sub(1).and_then(|index| self.seen.reel().get(index));
        let mirror = before.is_some_and(|entry| {
            entry.cause == self.entry.cause && entry.kind == Kind::LinkChanged { to: self.entry.who, setup }
        });
        if mirror {
            return None;
        }
        Some(Fact::LinkChanged {
            a: self.who(),
            b: self.seen.node(to),
            latency_us: setup.latency.0,
            loss_permille: setup.loss_per_million / 1_000,
        })
    }

    /// The action at the root of this entry.
    pub fn action<T>(&self, pick: impl Fn(&Action) -> Option<T>) -> Option<T> {
        let acted = |entry: &TraceEntry| {
            if let Kind::Acted { action } = entry.kind { self.seen.reel().action(action) } else { None }
        };
        std::iter::once(self.entry).chain(self.causes()).find_map(|entry| acted(entry).and_then(|action| pick(action)))
    }

    /// Whether another entry of the same step says what this action did.
    pub fn is_told_by_its_effects(&self) -> bool {
        let reel = self.seen.reel();
        let end = reel.op(reel.op_of(self.index)).map_or(self.index, |op| op.end);
        let effect = |entry: &TraceEntry| {
            entry.cause == self.entry.seq
                && matches!(
                    entry.kind,
                    Kind::ProcessStarted
                        | Kind::ProcessKilled
                        | Kind::ShutdownRequested
                        | Kind::ProcessPaused
                        | Kind::ProcessResumed
                        | Kind::DiskLost
                        | Kind::LinkCut { .. }
                        | Kind::LinkHealed { .. }
                        | Kind::LinkChanged { .. }
                )
        };
        reel.entries(self.index + 1..end).any(|(_, entry)| effect(entry))
    }

    pub fn expanded_by(&self) -> IsrBy {
        let proposer = self.causes().find_map(|entry| {
            if let (Kind::IsrExpandProposed { .. }, NodeId::Broker(BrokerId(id))) = (&entry.kind, entry.who) {
                Some(id)
            } else {
                None
            }
        });
        proposer.map_or(IsrBy::Controller, IsrBy::Leader)
    }

    pub fn acked_by(&self) -> AckedBy {
        let NodeId::Client(id) = self.entry.who else { return AckedBy::Nobody };
        match self.seen.acks(id) {
            Acks::Zero => AckedBy::Nobody,
            Acks::One => AckedBy::LeaderAlone,
            Acks::All => AckedBy::WholeIsr,
        }
    }

    /// A group that lived in the partition then.
    pub fn group_of(&self, partition: u32) -> Option<String> {
        self.seen.group_at(partition, self.index)
    }
    /// The partition of the offsets topic that held a group then.
    pub fn group_partition(&self, group: &str) -> u32 {
        self.seen.group_partition_at(group, self.index)
    }
}

/// The name of a member: its id is the `client.id`, which here is that name, and a random number.
pub(super) fn member_name(id: &str) -> String {
    id.rsplit_once('-').map_or(id, |(name, _)| name).to_string()
}
