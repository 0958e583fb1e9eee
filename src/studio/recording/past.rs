//! What is remembered of a run's past at a moment: folds that advance entry by entry beside the world. It can always be
//! made again by going there.

use std::cell::RefCell;
use std::rc::Rc;

use highwater_engine::trace::TraceEntry;
use highwater_engine::world::World;

use super::ledger::Ledger;
use crate::kinds::{Notability, Weight};

/// The folds of one playhead; copies share what is old.
#[derive(Clone, Debug, Default)]
pub struct Past {
    notability: Notability,
    /// Its logs are read when somebody looks.
    ledger: RefCell<Rc<Ledger>>,
}

impl Past {
    /// Takes in what one step noticed, with the world after it, and says how much each entry weighs.
    pub(super) fn advance(&mut self, world: &World, entries: &[TraceEntry]) -> Vec<Weight> {
        Rc::make_mut(self.ledger.get_mut()).advance(world, entries);
        entries.iter().map(|entry| self.notability.weigh(entry)).collect()
    }

    /// What became of each record, in the world that stands where these folds do.
    pub(super) fn ledger(&self, world: &World) -> Rc<Ledger> {
        let mut ledger = self.ledger.borrow_mut();
        if !ledger.is_settled(world) {
            Rc::make_mut(&mut ledger).settle(world);
        }
        ledger.clone()
    }
}
