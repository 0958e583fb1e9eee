//! Which entries are told: what is notable, every action, and what explains the others. Keeps no line.

use std::collections::BTreeMap;
use std::rc::Rc;

use highwater_engine::base::{TopicId, Tp};
use highwater_engine::protocol::hash::group_partition;
use highwater_engine::protocol::{Api, ErrorCode};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_studio::story::Seen;

/// Of the partitions of an internal topic those matter that hold a group of the run.
pub struct Wanted {
    internal: BTreeMap<TopicId, u32>,
    groups: Vec<Rc<str>>,
    /// What the controller has refused so far: it is asked again and again.
    refused: Vec<(Api, ErrorCode)>,
}

impl Wanted {
    pub fn new(recording: Seen<'_>) -> Wanted {
        Wanted {
            internal: BTreeMap::new(),
            groups: super::groups(recording).into_iter().map(|(name, _)| name).collect(),
            refused: Vec::new(),
        }
    }

    /// Whether somebody's records or somebody's group live in the partition. Must have seen the entries before.
    pub fn matters(&self, tp: Tp) -> bool {
        self.internal
            .get(&tp.topic)
            .is_none_or(|count| self.groups.iter().any(|group| group_partition(group, *count) == tp.partition))
    }

    /// Whether an entry has its line. Must see every entry in order.
    pub fn is_told(&mut self, entry: &TraceEntry, notable: bool) -> bool {
        if let Kind::TopicCreated { topic, name, partitions, .. } = &entry.kind
            && name.starts_with("__")
        {
            self.internal.insert(*topic, *partitions);
        }
        if let Kind::ElrChanged { tp, .. } = &entry.kind {
            return self.matters(*tp);
        }
        if let Kind::ControllerRefused { api, error } = entry.kind {
            let is_new = !self.refused.contains(&(api, error));
            if is_new {
                self.refused.push((api, error));
            }
            return is_new;
        }
        notable
            || matches!(
                entry.kind,
                Kind::Acted { .. }
                    | Kind::ActionRefused { .. }
                    | Kind::ActionAnswered { .. }
                    | Kind::ShutdownRequested
                    | Kind::ControlledShutdownAllowed { .. }
            )
    }
}
