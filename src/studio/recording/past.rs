//! What is remembered of a run's past at a moment: folds that advance entry by entry beside the world. It can always be
//! made again by going there.

use highwater_engine::trace::TraceEntry;
use highwater_engine::world::World;

use crate::kinds::{Notability, Weight};

/// The folds of one playhead; copies share what is old.
#[derive(Clone, Debug, Default)]
pub struct Past {
    notability: Notability,
}

impl Past {
    /// Takes in what one step noticed, with the world after it, and says how much each entry weighs.
    pub(super) fn advance(&mut self, _world: &World, entries: &[TraceEntry]) -> Vec<Weight> {
        entries.iter().map(|entry| self.notability.weigh(entry)).collect()
    }
}
