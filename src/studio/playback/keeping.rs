//! Whether play keeps the pace that was asked for, and which one it reaches where it does not. It reads no clock:
//! frames say how long they were.

use highwater_engine::base::{Dur, SimTime};

/// A judgement is made after so much real time, so that what is said does not flicker.
const WINDOW_US: u64 = 1_000_000;
/// A longer frame is not a slow one: the page was hidden.
const AWAY_US: u64 = 1_000_000;

/// Real time that went by while time was played, and how much of it was played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    real_us: u64,
    unplayed_us: u64,
    simulated: Dur,
    reached: Option<u64>,
}

impl Keeping {
    /// Takes in a frame: how long it was, how much of that could not be played, and what was.
    pub fn frame(&mut self, real_us: u64, unplayed_us: u64, from: SimTime, to: SimTime) {
        if real_us > AWAY_US {
            return;
        }
        self.real_us += real_us;
        self.unplayed_us += unplayed_us;
        self.simulated = self.simulated + to.since(from);
        if self.real_us >= WINDOW_US {
            let missed = self.unplayed_us * 10 > self.real_us;
            let reached = missed.then(|| self.simulated.0 * 1_000 / self.real_us);
            *self = Keeping { reached, ..Keeping::default() };
        }
    }

    /// Play ends, goes on elsewhere or at another pace: what was measured is over.
    pub fn again(&mut self) {
        *self = Keeping::default();
    }

    /// Where more than a tenth of the last second could not be played: thousandths of real time that were reached.
    pub fn reached(&self) -> Option<u64> {
        self.reached
    }
}
