//! What is changed in a run, and another run in its place: each can be taken back. It draws no view.

use super::Studio;
use crate::desk::command::{Outcome, Refused, Thing};
use crate::desk::refusals;
use crate::desk::run::Run;
use crate::desk::travel::Then;
use crate::desk::verbs::{self, Change};
use crate::recording::{Acted, ByHand, Goal};
use crate::scenario::Verb;
use crate::view::model::*;

/// Runs that can be gone back to: each holds its whole trace.
const MOST_RUNS: usize = 4;
/// Actions that can be taken back.
const MOST_DONE: usize = 200;

impl Studio {
    pub(super) fn replace(&mut self, run: Run) -> Outcome {
        self.previous.push(std::mem::replace(&mut self.run, run));
        if self.previous.len() > MOST_RUNS {
            self.previous.remove(0);
        }
        self.fresh();
        Outcome::NewRun
    }

    pub(super) fn fresh(&mut self) {
        self.number += 1;
        self.journey = None;
        self.advice.forget();
        self.player.pause();
        self.player.moved(&self.run.playhead);
        self.digest = DigestCheck::NotNamed;
    }

    pub(super) fn act(&mut self, verbs: Vec<Verb>) -> Outcome {
        let mut outcome = Outcome::Done;
        let place = self.run.playhead.place(&self.run.recording);
        let changed = matches!(self.run.origin, Origin::Gallery { changed: true, .. });
        for (done, verb) in verbs.into_iter().enumerate() {
            match self.run.playhead.act(&mut self.run.recording, verb) {
                Ok(Acted::Here) => {}
                Ok(Acted::InBranch(branch)) => outcome = Outcome::Branched(BranchId(branch as u32)),
                Err(not_done) => {
                    // Of several each is done or none.
                    if done > 0 {
                        let Run { recording, playhead, .. } = &mut self.run;
                        let goal = playhead.take_back(recording, &place);
                        playhead.go(recording, goal);
                    }
                    return Outcome::Refused(refusals::of_action(self.seen(), &not_done));
                }
            }
        }
        self.run.done.push((place, changed));
        if self.run.done.len() > MOST_DONE {
            self.run.done.remove(0);
        }
        self.player.passed(&self.run.recording, &self.run.playhead);
        self.changed();
        outcome
    }

    /// The run is no longer the one that its file describes.
    pub(super) fn changed(&mut self) {
        if let Origin::Gallery { changed, .. } = &mut self.run.origin {
            *changed = true;
        }
    }

    pub(super) fn change(&mut self, change: Result<Change, Refused>) -> Outcome {
        match change {
            Err(refused) => Outcome::Refused(refused),
            Ok(Change::Live(verbs)) => self.act(verbs),
            Ok(Change::NewRun(scenario)) => {
                let at = self.run.playhead.at().since(self.run.recording.origin());
                // What was done by hand is done again, at its moment.
                let hand = self.seen().branch().hand.iter().map(|one| ByHand { ops: None, ..one.clone() }).collect();
                match Run::with_hand(*scenario, hand, self.run.origin.clone()) {
                    Err(error) => Outcome::NotOpened(error),
                    Ok(mut run) => {
                        run.chosen = self.run.chosen.clone();
                        let moment = Goal::Until(run.recording.origin() + at);
                        let outcome = self.replace(run);
                        self.changed();
                        self.go(moment, Then::Move);
                        outcome
                    }
                }
            }
        }
    }

    pub(super) fn menu(&mut self, node: &NodeRef, action: NodeAction) -> Outcome {
        match verbs::of_menu(self.seen(), node, action) {
            Some(verb) => self.act(vec![verb]),
            None => Outcome::Refused(Refused::NotNow(action)),
        }
    }

    pub(super) fn open_link(&mut self, fragment: &str) -> Outcome {
        match Run::of_link(fragment) {
            Err(error) => Outcome::NotOpened(error),
            Ok((run, goal, digest)) => {
                let outcome = self.replace(run);
                self.go(goal, Then::Compare(digest));
                outcome
            }
        }
    }

    pub(super) fn previous_run(&mut self) -> Outcome {
        match self.previous.pop() {
            None => Outcome::Refused(Refused::Unknown(Thing::Run)),
            Some(run) => self.replace(run),
        }
    }

    /// Takes back what was done last in this run, else goes back to the run before it.
    pub(super) fn undo(&mut self) -> Outcome {
        if let Some((place, was_changed)) = self.run.done.pop() {
            let goal = self.run.playhead.take_back(&mut self.run.recording, &place);
            if let Origin::Gallery { changed, .. } = &mut self.run.origin {
                *changed = was_changed;
            }
            // A branch may have been written anew from here on: nothing that was made of it is kept.
            self.fresh();
            return self.go(goal, Then::Move);
        }
        let Some(run) = self.previous.pop() else { return Outcome::Done };
        self.run = run;
        self.fresh();
        Outcome::NewRun
    }
}
