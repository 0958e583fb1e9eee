//! What goes on failing: a retry that fails like the one before it is routine, the first one is not. It decides nothing
//! of the run.
use std::rc::Rc;

use highwater_engine::base::{Map, NodeId, Set, TopicId, Tp};
use highwater_engine::protocol::hash::group_partition;
use highwater_engine::trace::{Kind, TraceEntry};

use super::table::{News, Trouble, ends, row};
use super::{Row, Weight};

/// Weighs entries with what went before them.
#[derive(Clone, Debug, Default)]
pub struct Notability {
    /// Internal topics with their partitions, and the groups of the run: nobody wants to stop at the other 49
    /// partitions of the offsets topic.
    internal: Map<TopicId, u32>,
    groups: Set<Rc<str>>,
    troubles: Set<(NodeId, Trouble)>,
}

impl Notability {
    /// Whether somebody's records or somebody's group live in the partition.
    pub fn matters(&self, tp: Tp) -> bool {
        self.internal
            .get(&tp.topic)
            .is_none_or(|count| self.groups.iter().any(|group| group_partition(group, *count) == tp.partition))
    }

    /// Must see every entry in order.
    pub fn weigh(&mut self, entry: &TraceEntry) -> Weight {
        self.learn(&entry.kind);
        for trouble in ends(&entry.kind).into_iter().flatten() {
            self.troubles.remove(&(entry.who, trouble));
        }
        let Row { weight, news, .. } = row(entry);
        let is_news = match news {
            News::Always => true,
            News::Where(tp) => self.matters(tp),
            News::First(trouble) => self.troubles.insert((entry.who, trouble)),
        };
        if is_news { weight } else { Weight::Routine }
    }

    fn learn(&mut self, kind: &Kind) {
        match kind {
            Kind::TopicCreated { topic, name, partitions, .. } if name.starts_with("__") => {
                self.internal.insert(*topic, *partitions);
            }
            Kind::PartitionsAdded { topic, total } => {
                if let Some(count) = self.internal.get_mut(topic) {
                    *count = *total;
                }
            }
            Kind::CoordinatorDiscovered { group, .. } | Kind::CoordinatorUnknown { group, .. } => {
                self.groups.insert(group.clone());
            }
            _of_neither => {}
        }
    }
}
