//! A run as a recipe, with everything that can be rebuilt from it: branches, trace, keyframes, and the world at the
//! playhead. It knows no pace.

mod cursor;
mod keyframes;
mod names;
mod notable;
mod reel;

use std::rc::Rc;

pub use cursor::{Cursor, Step, image, resolve};
use highwater_engine::base::{ActionId, SimTime};
use highwater_engine::world::{Refusal, World};
pub use keyframes::Keyframes;
pub use reel::{Op, Reel, Refused, SLICE_US};

use crate::scenario::{Lowered, Moment, Scenario, Verb, lower};

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

/// A run with its branches and its playhead.
#[derive(Clone, Debug)]
pub struct Recording {
    branches: Vec<Branch>,
    current: usize,
    /// The world at the playhead.
    cursor: Cursor,
    /// The playhead; never before the last step, and before the next one.
    at: SimTime,
}

impl Recording {
    /// Boots the cluster of a scenario and stands at 0 s, when everything of that instant is done.
    ///
    /// # Errors
    /// What the engine refuses to boot.
    pub fn new(scenario: Scenario) -> Result<Recording, Refusal> {
        let lowered = lower(&scenario);
        let world = World::boot(&lowered.setup)?;
        let origin = world.origin();
        let cursor = Cursor::new(world);
        let mut keyframes = Keyframes::default();
        keyframes.offer(&cursor);
        let branch = Branch {
            name: None,
            parent: None,
            fork: None,
            scenario: Rc::new(scenario),
            lowered: Rc::new(lowered),
            reel: Reel::default(),
            keyframes,
            recorded: origin,
        };
        let mut recording = Recording { branches: vec![branch], current: 0, cursor, at: origin };
        recording.run_until(origin);
        Ok(recording)
    }

    pub fn branch(&self) -> &Branch {
        &self.branches[self.current]
    }
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }
    pub fn current(&self) -> usize {
        self.current
    }
    pub fn reel(&self) -> &Reel {
        &self.branch().reel
    }
    /// The world at the playhead. Its clock may stand at the last event before it.
    pub fn world(&self) -> &World {
        &self.cursor.world
    }
    pub fn cursor(&self) -> &Cursor {
        &self.cursor
    }
    pub fn origin(&self) -> SimTime {
        self.cursor.world.origin()
    }
    /// The playhead.
    pub fn at(&self) -> SimTime {
        self.at
    }
    /// Entries up to the playhead.
    pub fn n_entries(&self) -> usize {
        self.reel().end_of(self.cursor.ops)
    }
    /// The playhead stands before things that this branch already knows.
    pub fn in_the_past(&self) -> bool {
        self.cursor.ops < self.reel().n_ops()
    }
    /// When the next step happens.
    pub fn next_at(&self) -> Option<SimTime> {
        self.cursor.next_at(&self.branch().lowered.plan)
    }
    /// The moment of the playhead, as a link names it.
    pub fn moment(&self) -> Moment {
        self.cursor.moment(self.at, &self.branch().lowered.plan)
    }
    /// The digest of the world at the playhead.
    pub fn digest(&self) -> u64 {
        self.cursor.digest_at(self.at)
    }
    pub fn rename(&mut self, branch: usize, name: String) -> bool {
        let found = self.branches.get_mut(branch);
        found.map(|branch| branch.name = Some(name).filter(|name| !name.is_empty())).is_some()
    }

    /// One step, if there is one up to `until`; the playhead stands right after it.
    pub fn step(&mut self, until: SimTime) -> bool {
        let branch = &mut self.branches[self.current];
        let records = self.cursor.ops == branch.reel.n_ops();
        if records && branch.reel.n_ops() >= MAX_OPS {
            return false;
        }
        let mut entries = Vec::new();
        let Some(step) = self.cursor.step(&branch.lowered.plan, until, &mut entries) else { return false };
        if records {
            branch.reel.push(&step, self.cursor.instant(), self.cursor.done(), entries);
            branch.keyframes.offer(&self.cursor);
            branch.recorded = branch.recorded.max(self.cursor.instant());
        }
        self.at = self.at.max(self.cursor.instant());
        true
    }

    /// Everything up to and including `until`, where the playhead then stands.
    pub fn run_until(&mut self, until: SimTime) {
        while self.step(until) {}
        self.stand_at(until);
    }

    /// Moves the playhead on to a moment before the next step.
    pub fn stand_at(&mut self, at: SimTime) {
        // A branch that is full ends before what was asked for.
        let at = self.next_at().map_or(at, |next| next.min(at));
        self.at = self.at.max(at);
        let branch = &mut self.branches[self.current];
        if self.cursor.ops == branch.reel.n_ops() {
            branch.recorded = branch.recorded.max(self.at);
        }
    }

    /// Stands at a moment with everything of its instant done: from the nearest keyframe, or on from here.
    pub fn seek(&mut self, at: SimTime) {
        let at = at.max(self.origin());
        let ops = self.reel().ops_until(at);
        self.rewind(ops, at);
        self.run_until(at);
    }

    /// Stands right after so many steps.
    pub fn seek_ops(&mut self, ops: usize) {
        let ops = ops.min(self.reel().n_ops());
        let at = self.reel().op(ops.wrapping_sub(1)).map_or(self.origin(), |op| op.at);
        self.rewind(ops, at);
        while self.cursor.ops < ops && self.step(SimTime(u64::MAX)) {}
    }

    /// Stands at a moment that a link names.
    pub fn seek_moment(&mut self, moment: Moment) {
        let at = self.origin() + moment.at;
        let Some(done) = moment.done else { return self.seek(at) };
        self.seek(SimTime(at.0.saturating_sub(1)));
        while (self.cursor.instant() < at || self.cursor.done() < done) && self.step(at) {}
        self.stand_at(self.next_at().map_or(at, |next| next.min(at)));
    }

    /// Takes the nearest copy at or before a step, unless the world at hand is nearer.
    fn rewind(&mut self, ops: usize, at: SimTime) {
        let frame = self.branch().keyframes.at_or_before(ops);
        let nearer = self.cursor.ops > ops || frame.is_some_and(|frame| frame.ops > self.cursor.ops);
        if let Some(frame) = frame.filter(|_| nearer) {
            self.cursor = Cursor::clone(frame);
        }
        self.at = self.cursor.instant().min(at);
    }

    /// Does something at the playhead. In the past this opens a branch; the old one is kept.
    ///
    /// # Errors
    /// What the world refuses; nothing changed then.
    pub fn act(&mut self, verb: Verb) -> Result<Acted, NotDone> {
        let branch = self.branch();
        if branch.lowered.plan.len() >= MAX_ACTIONS {
            return Err(NotDone::TooMany { what: "actions", bound: MAX_ACTIONS as u64 });
        }
        let moment = self.moment();
        let scenario = branch.scenario.with_action(moment, verb.clone());
        let lowered = lower(&scenario);
        self.try_actions(&lowered, branch.lowered.plan.len())?;
        let (ops, in_the_past) = (self.cursor.ops, self.in_the_past());
        let acted = if in_the_past {
            if self.branches.len() >= MAX_BRANCHES {
                return Err(NotDone::TooMany { what: "branches", bound: MAX_BRANCHES as u64 });
            }
            let forked = Branch {
                name: None,
                parent: Some(self.current),
                fork: Some((self.at, Rc::new(verb))),
                scenario: Rc::new(scenario),
                lowered: Rc::new(lowered),
                reel: branch.reel.fork(ops),
                keyframes: branch.keyframes.fork(ops),
                recorded: self.at,
            };
            self.branches.push(forked);
            self.current = self.branches.len() - 1;
            Acted::InBranch(self.current)
        } else {
            let branch = &mut self.branches[self.current];
            branch.scenario = Rc::new(scenario);
            branch.lowered = Rc::new(lowered);
            Acted::Here
        };
        // Its own consequences at this instant belong to it.
        let at = self.at;
        match moment.done {
            None => self.run_until(at),
            Some(done) => while (self.cursor.instant() < at || self.cursor.done() <= done) && self.step(at) {},
        }
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
            cursor::know_clients(&mut world, &due.need);
            let action = due.need.action(&|node| resolve(&world, node)).ok_or(NotDone::NoSuchRole)?;
            let _id: ActionId = world.act(action, &mut out).map_err(NotDone::World)?;
        }
        Ok(())
    }

    /// Goes to another branch, at the same moment if it was run that far.
    pub fn select(&mut self, branch: usize) -> bool {
        let Some(chosen) = self.branches.get(branch) else { return false };
        let at = self.at.min(chosen.recorded);
        let Some(first) = chosen.keyframes.at_or_before(chosen.reel.ops_until(at)) else { return false };
        self.cursor = Cursor::clone(first);
        self.current = branch;
        self.at = self.cursor.instant();
        self.run_until(at);
        true
    }
}
