//! Simulated time in microseconds; sums end at the last moment instead of beginning anew. There is no other clock
//! anywhere below the page.

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
        Dur(ms.saturating_mul(1_000))
    }
    pub const fn secs(secs: u64) -> Dur {
        Dur(secs.saturating_mul(1_000_000))
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
        match self.0.checked_mul(num) {
            Some(product) => Dur(product / den),
            // Too large to multiply first; what is lost are less than `num` microseconds of a very long span.
            None => Dur((self.0 / den).saturating_mul(num)),
        }
    }
}

impl Add<Dur> for SimTime {
    type Output = SimTime;
    fn add(self, span: Dur) -> SimTime {
        SimTime(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Dur> for SimTime {
    fn add_assign(&mut self, span: Dur) {
        *self = *self + span;
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
        Dur(self.0.saturating_add(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_span_is_so_long_that_time_begins_anew() {
        let longest = Dur::ms(i64::MAX as u64);
        assert_eq!(longest, Dur(u64::MAX));
        assert_eq!(Dur::secs(u64::MAX), longest);
        assert_eq!(SimTime(5) + longest, SimTime(u64::MAX));
        assert_eq!(longest + longest, longest);
        assert_eq!(longest.scaled(3, 2), longest);
        assert_eq!(longest.scaled(1, 8), Dur(u64::MAX / 8));
        assert_eq!(Dur::secs(3).scaled(3, 2), Dur::ms(4_500));
    }
}
