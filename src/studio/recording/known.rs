//! What a branch had heard of by an entry: groups, and how many partitions the offsets topic had. It asks no world, so
//! that a fact of a past moment does not change with the present one.

use std::rc::Rc;

use highwater_engine::base::TopicId;
use highwater_engine::protocol::CONSUMER_OFFSETS;
use highwater_engine::trace::Kind;

/// Grows with the reel.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    offsets_topic: Option<TopicId>,
    /// The entries at which the number of partitions of the offsets topic changed; none while there is no such topic.
    sizes: Vec<(usize, Option<u32>)>,
    /// Each group with the first entry that names it.
    groups: Vec<(usize, Rc<str>)>,
}

impl Known {
    pub(super) fn learn(&mut self, entry: usize, kind: &Kind) {
        match kind {
            Kind::TopicCreated { topic, name, partitions, .. } if &**name == CONSUMER_OFFSETS => {
                self.offsets_topic = Some(*topic);
                self.sizes.push((entry, Some(*partitions)));
            }
            Kind::PartitionsAdded { topic, total } if self.offsets_topic == Some(*topic) => {
                self.sizes.push((entry, Some(*total)));
            }
            Kind::TopicDeleted { topic, .. } if self.offsets_topic == Some(*topic) => self.sizes.push((entry, None)),
            Kind::CoordinatorDiscovered { group, .. }
            | Kind::CoordinatorUnknown { group, .. }
            | Kind::GroupStateChanged { group, .. }
                if !self.groups.iter().any(|(_, known)| known == group) =>
            {
                self.groups.push((entry, group.clone()));
            }
            _of_neither => {}
        }
    }

    /// Partitions that the offsets topic has after an entry.
    pub(super) fn n_offsets_partitions(&self, entry: usize) -> Option<u32> {
        self.sizes[..self.sizes.partition_point(|(at, _)| *at <= entry)].last()?.1
    }

    /// Groups that were named up to an entry.
    pub(super) fn groups(&self, entry: usize) -> impl Iterator<Item = &Rc<str>> {
        self.groups.iter().take_while(move |(at, _)| *at <= entry).map(|(_, group)| group)
    }

    /// What was known after so many entries.
    pub(super) fn fork(&self, end: usize) -> Known {
        Known {
            offsets_topic: self.offsets_topic,
            sizes: self.sizes.iter().filter(|(at, _)| *at < end).copied().collect(),
            groups: self.groups.iter().filter(|(at, _)| *at < end).cloned().collect(),
        }
    }
}
