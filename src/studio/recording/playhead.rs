//! A place in a recording with its own world: it seeks, steps and acts. Of several over one recording none moves
//! another. It knows no pace.

use std::rc::Rc;

use highwater_engine::base::{ActionId, SimTime};
use highwater_engine::world::World;

use super::cursor::{Cursor, know_clients, resolve};
use super::goal::{Goal, Way};
use super::ledger::Ledger;
use super::past::Past;
use super::{Acted, Branch, ByHand, MAX_ACTIONS, MAX_BRANCHES, MAX_OPS, NotDone, Place, Recording, Reel};
use crate::scenario::{Lowered, Moment, Verb, lower};

/// Steps between two questions whether it is enough: few, as one step of a large cluster takes milliseconds.
pub const STRIDE: usize = 16;

/// Where somebody looks at a run.
#[derive(Clone, Debug)]
pub struct Playhead {
    branch: usize,
    /// The world here.
    cursor: Cursor,
    past: Past,
    /// Never before the last step, and before the next one.
    at: SimTime,
}

impl Playhead {
    /// At 0 s of the first branch, when everything of that instant is done.
    pub fn new(recording: &mut Recording) -> Playhead {
        let (cursor, past) = recording.beginning();
        let at = cursor.instant();
        let mut playhead = Playhead { branch: 0, cursor, past, at };
        playhead.run_until(recording, at);
        playhead
    }

    /// Number of its branch.
    pub fn current(&self) -> usize {
        self.branch
    }
    pub fn branch<'a>(&self, recording: &'a Recording) -> &'a Branch {
        recording.branch(self.branch)
    }
    pub fn reel<'a>(&self, recording: &'a Recording) -> &'a Reel {
        &self.branch(recording).reel
    }
    /// The world here. Its clock may stand at the last event before the playhead.
    pub fn world(&self) -> &World {
        &self.cursor.world
    }
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }
    /// What is remembered of the way here.
    pub fn past(&self) -> &Past {
        &self.past
    }
    /// What became of each record that was sent up to here.
    pub fn ledger(&self) -> Rc<Ledger> {
        self.past.ledger(&self.cursor.world)
    }
    pub fn origin(&self) -> SimTime {
        self.cursor.world.origin()
    }
    pub fn at(&self) -> SimTime {
        self.at
    }
    /// Entries up to here.
    pub fn n_entries(&self, recording: &Recording) -> usize {
        self.reel(recording).end_of(self.cursor.ops)
    }
    /// Its branch was run further than here, be it only that nothing happened.
    pub fn in_the_past(&self, recording: &Recording) -> bool {
        let branch = self.branch(recording);
        self.cursor.ops < branch.reel.n_ops() || self.at < branch.recorded
    }
    /// When the next step happens.
    pub fn next_at(&self, recording: &Recording) -> Option<SimTime> {
        self.cursor.next_at(&self.branch(recording).lowered.plan)
    }
    /// This moment, as a link names it.
    pub fn moment(&self, recording: &Recording) -> Moment {
        self.cursor.moment(self.at, &self.branch(recording).lowered.plan)
    }
    /// The digest of the world here.
    pub fn digest(&self) -> u64 {
        self.cursor.digest_at(self.at)
    }

    /// One step, if there is one up to `until`; stands right after it.
    pub fn step(&mut self, recording: &mut Recording, until: SimTime) -> bool {
        let branch = recording.branch_mut(self.branch);
        let records = self.cursor.ops == branch.reel.n_ops();
        if records && branch.reel.n_ops() >= MAX_OPS {
            return false;
        }
        let mut entries = Vec::new();
        let Some(step) = self.cursor.step(&branch.lowered.plan, until, &mut entries) else { return false };
        let weights = self.past.advance(&self.cursor.world, &entries);
        if records {
            branch.reel.push(&self.cursor, &step, entries, &weights);
            branch.keyframes.offer(&self.cursor, &self.past);
            branch.recorded = branch.recorded.max(self.cursor.instant());
        }
        self.at = self.at.max(self.cursor.instant());
        true
    }

    /// Everything up to and including `until`, and stands there.
    pub fn run_until(&mut self, recording: &mut Recording, until: SimTime) {
        self.go_on(recording, Goal::Until(until), &|| false);
    }

    /// Moves on to a moment before the next step.
    pub fn stand_at(&mut self, recording: &mut Recording, at: SimTime) {
        // What has used up its budget is over.
        if self.world().overrun().is_some() {
            return;
        }
        // A branch that is full ends before what was asked for.
        let at = self.next_at(recording).map_or(at, |next| next.min(at));
        self.at = self.at.max(at);
        let branch = recording.branch_mut(self.branch);
        if self.cursor.ops == branch.reel.n_ops() {
            branch.recorded = branch.recorded.max(self.at);
        }
    }

    /// Stands at a moment with everything of its instant done.
    pub fn seek(&mut self, recording: &mut Recording, at: SimTime) {
        self.go(recording, Goal::Until(at.max(self.origin())));
    }

    /// The place right after so many steps, of those that were recorded.
    pub fn after(&self, recording: &Recording, ops: usize) -> Goal {
        let reel = self.reel(recording);
        let ops = ops.min(reel.n_ops());
        Goal::Ops { ops, at: reel.op(ops.wrapping_sub(1)).map_or(self.origin(), |op| op.at) }
    }

    /// The place that a link names.
    pub fn goal_of(&self, moment: Moment) -> Goal {
        let at = self.origin() + moment.at;
        moment.done.map_or(Goal::Until(at), |done| Goal::Done { at, done })
    }

    /// Goes to a place, from the nearest keyframe or on from here.
    pub fn go(&mut self, recording: &mut Recording, goal: Goal) -> Way {
        self.head_for(recording, goal);
        self.go_on(recording, goal, &|| false)
    }

    /// Stands at the nearest place before a goal from which it can be gone to.
    pub fn head_for(&mut self, recording: &Recording, goal: Goal) {
        let reel = self.reel(recording);
        let (ops, at) = match goal {
            Goal::Until(at) => (reel.ops_until(at), at),
            Goal::Ops { ops, at } => (ops, at),
            // What was done at its instant is done again, one by one.
            Goal::Done { at, .. } => {
                let before = SimTime(at.0.saturating_sub(1));
                (reel.ops_until(before), before)
            }
            Goal::Next { .. } => (reel.n_ops(), reel.ops().last().map_or(self.origin(), |op| op.at)),
        };
        self.rewind(recording, ops, at);
    }

    /// Goes on towards a place until it is enough, which is asked every [`STRIDE`] steps.
    pub fn go_on(&mut self, recording: &mut Recording, goal: Goal, enough: &dyn Fn() -> bool) -> Way {
        for gone in 1_usize.. {
            let (ended, until) = match goal {
                Goal::Until(at) => (false, at),
                Goal::Ops { ops, .. } => (self.cursor.ops >= ops, SimTime(u64::MAX)),
                Goal::Done { at, done } => (self.cursor.instant() >= at && self.cursor.done() >= done, at),
                Goal::Next { until, most, .. } => (self.cursor.ops >= most, until),
            };
            if ended || !self.step(recording, until) {
                self.stand_at(recording, goal.at());
                return if matches!(goal, Goal::Next { .. }) { Way::Nowhere } else { Way::There };
            }
            let last = self.reel(recording).op(self.cursor.ops - 1);
            if matches!(goal, Goal::Next { kind, .. } if last.is_some_and(|op| kind.fits(op))) {
                return Way::There;
            }
            if gone.is_multiple_of(STRIDE) && enough() {
                break;
            }
        }
        Way::GoesOn
    }

    /// Takes the nearest copy at or before a step, unless the world at hand is nearer.
    fn rewind(&mut self, recording: &Recording, ops: usize, at: SimTime) {
        let frame = self.branch(recording).keyframes.at_or_before(ops);
        let nearer = self.cursor.ops > ops || frame.is_some_and(|frame| frame.cursor.ops > self.cursor.ops);
        if let Some(frame) = frame.filter(|_| nearer) {
            (self.cursor, self.past) = (frame.cursor.clone(), frame.past.clone());
        }
        self.at = self.cursor.instant().min(at);
    }

    /// Does something here. In the past this opens a branch; the old one is kept.
    ///
    /// # Errors
    /// What the world refuses; nothing changed then.
    pub fn act(&mut self, recording: &mut Recording, verb: Verb) -> Result<Acted, NotDone> {
        let branch = self.branch(recording);
        if branch.lowered.plan.len() >= MAX_ACTIONS {
            return Err(NotDone::TooMany { what: "actions", bound: MAX_ACTIONS as u64 });
        }
        let moment = self.moment(recording);
        let in_the_past = self.in_the_past(recording);
        // What was done by hand later belongs to the branch that is left.
        let mut hand = branch.hand.iter().filter(|h| !in_the_past || h.is_before(&self.cursor)).cloned().collect();
        let (before, removed) = recording.without_later(branch, &hand);
        let scenario = before.with_action(moment, verb.clone());
        let lowered = lower(&scenario);
        self.try_actions(&lowered, branch.lowered.plan.len() - removed.len())?;
        ByHand::add(&mut hand, ByHand { at: moment, verb: verb.clone(), ops: Some(self.cursor.ops) });
        let acted = if in_the_past {
            if recording.branches().len() >= MAX_BRANCHES {
                return Err(NotDone::TooMany { what: "branches", bound: MAX_BRANCHES as u64 });
            }
            let mut keyframes = branch.keyframes.fork(self.cursor.ops);
            if let Some(first) = removed.first() {
                keyframes.before(*first);
            }
            self.cursor.forget(&removed);
            let forked = Branch {
                name: None,
                parent: Some(self.branch),
                fork: Some((self.at, Rc::new(verb))),
                scenario: Rc::new(scenario),
                lowered: Rc::new(lowered),
                hand: Rc::new(hand),
                reel: branch.reel.fork(self.cursor.ops),
                keyframes,
                recorded: self.at,
            };
            self.branch = recording.add(forked);
            Acted::InBranch(self.branch)
        } else {
            let branch = recording.branch_mut(self.branch);
            branch.scenario = Rc::new(scenario);
            branch.lowered = Rc::new(lowered);
            branch.hand = Rc::new(hand);
            Acted::Here
        };
        // Its own consequences at this instant belong to it.
        let at = self.at;
        let goal = moment.done.map_or(Goal::Until(at), |done| Goal::Done { at, done: done + 1 });
        self.go_on(recording, goal, &|| false);
        Ok(acted)
    }

    /// Whether the world would do what is new in a plan. Each action is tried on a copy on which the ones before it
    /// were done.
    fn try_actions(&self, lowered: &Lowered, n_before: usize) -> Result<(), NotDone> {
        let new = lowered.plan.len() - n_before;
        let end = lowered.plan.partition_point(|due| self.origin() + due.at.at <= self.at);
        let mut world = self.cursor.world.clone();
        let mut out = Vec::new();
        for due in &lowered.plan[end - new.min(end)..end] {
            know_clients(&mut world, &due.need);
            let action = due.need.action(&|node| resolve(&world, node)).ok_or(NotDone::NoSuchRole)?;
            let _id: ActionId = world.act(action, &mut out).map_err(NotDone::World)?;
        }
        Ok(())
    }

    /// Where it is and what stands there, to come back to.
    pub fn place(&self, recording: &Recording) -> Place {
        Place::of(recording, self.branch, self.cursor.ops, self.at)
    }

    /// Takes back everything that was done since: branches that began later are gone, and what was done in this one.
    /// Where the place is that is to be gone to now.
    pub fn take_back(&mut self, recording: &mut Recording, place: &Place) -> Goal {
        recording.restore(place);
        self.branch = place.branch;
        let frame = self.branch(recording).keyframes.at_or_before(place.ops);
        (self.cursor, self.past) =
            frame.map_or_else(|| recording.beginning(), |frame| (frame.cursor.clone(), frame.past.clone()));
        self.at = self.cursor.instant();
        Goal::Ops { ops: place.ops, at: place.at }
    }

    /// Goes over to another branch. Where this moment is in it, or its end if it was not run that far.
    pub fn select(&mut self, recording: &Recording, branch: usize) -> Option<Goal> {
        let chosen = recording.branches().get(branch)?;
        let at = self.at.min(chosen.recorded);
        let first = chosen.keyframes.at_or_before(chosen.reel.ops_until(at))?;
        (self.cursor, self.past) = (first.cursor.clone(), first.past.clone());
        self.branch = branch;
        self.at = self.cursor.instant();
        Some(Goal::Until(at))
    }
}
