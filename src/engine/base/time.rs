//! Simulated time in microseconds. There is no other clock anywhere below the page.

use core::ops::{Add, AddAssign, Sub};

/// A moment of simulated time, in microseconds since the cold start of the cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(pub u64);

/// A span of simulated time, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(pub u64);

impl SimTime {
    pub const ZERO: SimTime = SimTime(0);
    /// The span since `earlier`, zero if `earlier` lies ahead.
    pub const fn since(self, earlier: SimTime) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

impl Dur {
    pub const ZERO: Dur = Dur(0);
    pub const fn us(us: u64) -> Dur {
        Dur(us)
    }
    pub const fn ms(ms: u64) -> Dur {
        Dur(ms * 1_000)
    }
    pub const fn secs(secs: u64) -> Dur {
        Dur(secs * 1_000_000)
    }
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000
    }
    /// The smaller of two spans.
    pub fn min(self, other: Dur) -> Dur {
        Dur(self.0.min(other.0))
    }
    /// `self * num / den`, rounded down.
    pub const fn scaled(self, num: u64, den: u64) -> Dur {
        Dur(self.0 * num / den)
    }
}

impl Add<Dur> for SimTime {
    type Output = SimTime;
    fn add(self, span: Dur) -> SimTime {
        SimTime(self.0 + span.0)
    }
}

impl AddAssign<Dur> for SimTime {
    fn add_assign(&mut self, span: Dur) {
        self.0 += span.0;
    }
}

impl Sub<Dur> for SimTime {
    type Output = SimTime;
    /// Saturates at the cold start: there is no time before it.
    fn sub(self, span: Dur) -> SimTime {
        SimTime(self.0.saturating_sub(span.0))
    }
}

impl Add for Dur {
    type Output = Dur;
    fn add(self, other: Dur) -> Dur {
        Dur(self.0 + other.0)
    }
}
