//! What was done by hand: which of it belongs to a branch, and how it is taken back. It does nothing to a world.

use std::rc::Rc;

use highwater_engine::base::SimTime;

use super::{Branch, Cursor, Recording};
use crate::scenario::{Lowered, Moment, Scenario, Verb, lower};

/// One action by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByHand {
    pub at: Moment,
    pub verb: Verb,
    /// Steps before it. `None`: it was done in another run, which was changed since.
    pub ops: Option<usize>,
}

impl ByHand {
    /// Whether it has been done where a world stands.
    pub(super) fn is_before(&self, cursor: &Cursor) -> bool {
        match self.ops {
            Some(ops) => ops < cursor.ops,
            None => cursor.world.origin() + self.at.at <= cursor.instant(),
        }
    }

    /// Adds one behind all of its instant.
    pub(super) fn add(hand: &mut Vec<ByHand>, new: ByHand) {
        hand.insert(hand.partition_point(|known| known.at.at <= new.at.at), new);
    }
}

/// A scenario with what was done by hand in it.
pub fn done(file: &Scenario, hand: &[ByHand]) -> Scenario {
    hand.iter().fold(file.clone(), |scenario, one| scenario.with_action(one.at, one.verb.clone()))
}

/// Where a playhead was and what its branch was then.
#[derive(Clone, Debug)]
pub struct Place {
    pub branch: usize,
    pub(super) ops: usize,
    pub(super) at: SimTime,
    branches: usize,
    scenario: Rc<Scenario>,
    lowered: Rc<Lowered>,
    hand: Rc<Vec<ByHand>>,
    recorded: SimTime,
}

impl Place {
    pub(super) fn of(recording: &Recording, branch: usize, ops: usize, at: SimTime) -> Place {
        let here = recording.branch(branch);
        Place {
            branch,
            ops,
            at,
            branches: recording.branches.len(),
            scenario: here.scenario.clone(),
            lowered: here.lowered.clone(),
            hand: here.hand.clone(),
            recorded: here.recorded,
        }
    }
}

impl Recording {
    /// A branch's scenario with only these actions by hand, and the places in its plan of those that are left out.
    pub(super) fn without_later(&self, branch: &Branch, hand: &Vec<ByHand>) -> (Rc<Scenario>, Vec<usize>) {
        if *hand == *branch.hand {
            return (branch.scenario.clone(), Vec::new());
        }
        let scenario = done(&self.file, hand);
        let mut left = lower(&scenario).plan.into_iter().peekable();
        let plan = branch.lowered.plan.iter().enumerate();
        let removed = plan.filter(|(_, due)| left.next_if(|kept| kept == *due).is_none()).map(|(index, _)| index);
        let removed = removed.collect();
        (Rc::new(scenario), removed)
    }

    /// Branches and their recipes as they were.
    pub(super) fn restore(&mut self, place: &Place) {
        self.branches.truncate(place.branches);
        let branch = &mut self.branches[place.branch];
        if Rc::ptr_eq(&branch.scenario, &place.scenario) {
            return;
        }
        branch.scenario = place.scenario.clone();
        branch.lowered = place.lowered.clone();
        branch.hand = place.hand.clone();
        branch.reel = branch.reel.fork(place.ops);
        branch.keyframes = branch.keyframes.fork(place.ops);
        branch.recorded = place.recorded;
    }
}
