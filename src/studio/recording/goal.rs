//! Where a playhead is going, so that a long way can be gone in parts and be given up. It moves nothing itself.

use highwater_engine::base::SimTime;

use super::Op;

/// What one step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    Message,
    Event,
    Notable,
}

impl StepKind {
    pub fn fits(self, op: &Op) -> bool {
        match self {
            StepKind::Message => op.sends,
            StepKind::Event => true,
            StepKind::Notable => op.notable,
        }
    }
}

/// A place in a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A moment, with everything of its instant done.
    Until(SimTime),
    /// Right after so many steps of the run, or later before the next one.
    Ops { ops: usize, at: SimTime },
    /// An instant of which so many steps are done, as a link names it.
    Done { at: SimTime, done: u32 },
    /// The first step of a kind that has not been recorded yet. Where none comes, the moment until which it was looked
    /// for, or so many steps of the run.
    Next { kind: StepKind, until: SimTime, most: usize },
}

impl Goal {
    /// The moment of the goal; of what is looked for, the last moment at which it may be.
    pub fn at(self) -> SimTime {
        match self {
            Goal::Until(at) | Goal::Ops { at, .. } | Goal::Done { at, .. } | Goal::Next { until: at, .. } => at,
        }
    }
}

/// How far a playhead has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It has gone as far as it was let, and is not there.
    GoesOn,
    There,
    /// There is no such place: nothing of the kind came.
    Nowhere,
}
