//! A run as a recipe, with everything that can be rebuilt from it: branches with their trace and keyframes, shared
//! between forks, and the playheads that look at them. It knows no pace.

mod cursor;
mod goal;
mod hand;
mod keyframes;
mod known;
mod ledger;
mod past;
mod playhead;
mod reel;
mod standings;

use std::rc::Rc;

pub use cursor::{Cursor, Step, image, resolve};
pub use goal::{Goal, StepKind, Way};
pub use hand::{ByHand, Place, done};
use highwater_engine::base::SimTime;
use highwater_engine::world::{Refusal, World};
pub use keyframes::Keyframes;
pub use ledger::{Delivery, Ledger, LedgerCounts, Record, RecordFate, acks, group_of, holders, runs};
pub use past::Past;
pub use playhead::{Playhead, STRIDE};
pub use reel::{Op, Reel, Refused, SLICE_US};
pub use standings::{Change, Standing, Whose, whose};

use crate::scenario::{Lowered, Scenario, Verb, lower};

/// Steps of one branch: what fits into the memory of a page.
pub const MAX_OPS: usize = 2_000_000;
/// Branches of one run.
pub const MAX_BRANCHES: usize = 64;
/// Actions of one branch, the script's and those by hand.
pub const MAX_ACTIONS: usize = 20_000;

/// One course of events.
#[derive(Clone, Debug)]
pub struct Branch {
    pub name: Option<String>,
    pub parent: Option<usize>,
    /// Where it left its parent, and the action that it did there.
    pub fork: Option<(SimTime, Rc<Verb>)>,
    /// The recipe: replayed from 0 s it gives this branch.
    pub scenario: Rc<Scenario>,
    pub lowered: Rc<Lowered>,
    /// What of the recipe was done by hand, in order of time.
    pub hand: Rc<Vec<ByHand>>,
    pub reel: Reel,
    keyframes: Keyframes,
    /// How far it was run.
    pub recorded: SimTime,
}

/// What an action by hand led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acted {
    Here,
    InBranch(usize),
}

/// Why an action by hand was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotDone {
    World(Refusal),
    /// Nobody plays the role that it names.
    NoSuchRole,
    TooMany {
        what: &'static str,
        bound: u64,
    },
}

/// A run with its branches. Whoever wants to look at it takes a [`Playhead`].
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was opened, without anything that was done by hand.
    file: Rc<Scenario>,
    branches: Vec<Branch>,
    beginning: Rc<(Cursor, Past)>,
}

impl Recording {
    /// Boots the cluster of a scenario.
    ///
    /// # Errors
    /// What the engine refuses to boot.
    pub fn new(scenario: Scenario) -> Result<Recording, Refusal> {
        Recording::with_hand(scenario, Vec::new())
    }

    /// Boots the cluster of a scenario in which something was done by hand, in order of time.
    ///
    /// # Errors
    /// What the engine refuses to boot.
    pub fn with_hand(file: Scenario, hand: Vec<ByHand>) -> Result<Recording, Refusal> {
        let scenario = hand::done(&file, &hand);
        let lowered = lower(&scenario);
        let world = World::boot(&lowered.setup)?;
        let origin = world.origin();
        let (cursor, past) = (Cursor::new(world), Past::default());
        let mut keyframes = Keyframes::default();
        keyframes.offer(&cursor, &past);
        let branch = Branch {
            name: None,
            parent: None,
            fork: None,
            scenario: Rc::new(scenario),
            lowered: Rc::new(lowered),
            hand: Rc::new(hand),
            reel: Reel::default(),
            keyframes,
            recorded: origin,
        };
        Ok(Recording { file: Rc::new(file), branches: vec![branch], beginning: Rc::new((cursor, past)) })
    }

    /// A branch by its number; numbers come from playheads and stay.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn branch(&self, number: usize) -> &Branch {
        &self.branches[number]
    }
    /// The scenario that was opened.
    pub fn file(&self) -> &Scenario {
        &self.file
    }
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
    pub fn origin(&self) -> SimTime {
        self.beginning.0.world.origin()
    }
    pub fn rename(&mut self, branch: usize, name: String) -> bool {
        let found = self.branches.get_mut(branch);
        found.map(|branch| branch.name = Some(name).filter(|name| !name.is_empty())).is_some()
    }

    /// The world before anything happened.
    fn beginning(&self) -> (Cursor, Past) {
        (*self.beginning).clone()
    }
    fn branch_mut(&mut self, number: usize) -> &mut Branch {
        &mut self.branches[number]
    }
    fn add(&mut self, branch: Branch) -> usize {
        self.branches.push(branch);
        self.branches.len() - 1
    }
}
