//! A way through a run that may take longer than one frame: it is gone in parts, shown while it lasts, and can be given
//! up. It draws nothing, and the place where it is given up is a moment like any other.

use highwater_engine::base::SimTime;

use crate::playback::Player;
use crate::recording::{Goal, Playhead, Recording, Way};
use crate::view::model::Micros;

/// Real time between two looks at how far it has come.
const SHOWN_EVERY_US: Micros = 100_000;

/// What is done at the end of the way, wherever that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The playhead was moved: what it passed is told no more.
    Move,
    /// What it passed is told.
    Tell,
    /// It was moved to where a link leads; the link may name a digest of the world there.
    Compare(Option<u32>),
}

/// A way that has not been gone to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Journey {
    goal: Goal,
    pub(super) from: SimTime,
    pub(super) then: Then,
    /// Real time since it was shown how far it has come.
    unshown_us: Micros,
}

impl Journey {
    /// Stands at the nearest place before the goal from which it can be gone to.
    pub(super) fn begin(recording: &Recording, playhead: &mut Playhead, goal: Goal, then: Then) -> Journey {
        playhead.head_for(recording, goal);
        Journey { goal, from: playhead.at(), then, unshown_us: 0 }
    }

    /// When it ends.
    pub(super) fn to(&self) -> SimTime {
        self.goal.at()
    }

    /// Goes on until it is enough. Returns whether it has come to its end.
    pub(super) fn go_on(&self, recording: &mut Recording, playhead: &mut Playhead, enough: &dyn Fn() -> bool) -> bool {
        playhead.go_on(recording, self.goal, enough) != Way::GoesOn
    }

    /// Whether it is time to show how far it has come.
    pub(super) fn is_to_be_shown(&mut self, real_us: Micros) -> bool {
        self.unshown_us += real_us;
        let due = self.unshown_us >= SHOWN_EVERY_US;
        if due {
            self.unshown_us = 0;
        }
        due
    }

    /// Takes in that the playhead stands at the end of the way.
    pub(super) fn end(&self, recording: &Recording, playhead: &Playhead, player: &mut Player) {
        match self.then {
            Then::Move | Then::Compare(_) => player.moved(playhead),
            Then::Tell => player.passed(recording, playhead),
        }
        player.arrived(recording, playhead);
    }
}
