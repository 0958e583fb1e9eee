//! What one run may cost: events of an instant, events, bytes of records. A run that needs more ends where it is, with
//! its state to look at. It says nothing of how fast a page is.

use core::fmt;

use crate::base::{SimTime, limits};

/// What a run has used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    EventsOfOneInstant,
    Events,
    RecordBytes,
}

impl Resource {
    /// In words, as a bound is told.
    pub const fn name(self) -> &'static str {
        match self {
            Resource::EventsOfOneInstant => "events at one instant",
            Resource::Events => "events of one run",
            Resource::RecordBytes => "bytes of records of one run",
        }
    }

    pub const fn most(self) -> u64 {
        match self {
            Resource::EventsOfOneInstant => limits::MAX_EVENTS_PER_INSTANT as u64,
            Resource::Events => limits::MAX_EVENTS_PER_RUN,
            Resource::RecordBytes => limits::MAX_RECORD_BYTES_PER_RUN,
        }
    }
}

/// Why a run has ended, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Overrun {
    pub what: Resource,
    pub at: SimTime,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this run needs more than {} {}", self.what.most(), self.what.name())
    }
}

/// What was used so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    events_of_instant: u32,
    events: u64,
    record_bytes: u64,
    pub overrun: Option<Overrun>,
}

impl Budget {
    /// An event is about to happen. False: it may not.
    pub fn take_event(&mut self, now: SimTime, at: SimTime) -> bool {
        self.events_of_instant = if at == now { self.events_of_instant + 1 } else { 0 };
        self.events += 1;
        if self.events_of_instant >= limits::MAX_EVENTS_PER_INSTANT {
            self.end(Resource::EventsOfOneInstant, now);
        } else if self.events > limits::MAX_EVENTS_PER_RUN {
            self.end(Resource::Events, now);
        }
        self.overrun.is_none()
    }

    /// An application made records of so many bytes.
    pub fn take_bytes(&mut self, bytes: u64, now: SimTime) {
        self.record_bytes = self.record_bytes.saturating_add(bytes);
        if self.record_bytes > limits::MAX_RECORD_BYTES_PER_RUN {
            self.end(Resource::RecordBytes, now);
        }
    }

    /// Time went on without an event.
    pub fn next_instant(&mut self) {
        self.events_of_instant = 0;
    }

    fn end(&mut self, what: Resource, at: SimTime) {
        self.overrun.get_or_insert(Overrun { what, at });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn each_bound_ends_the_run_when_it_is_passed_and_not_before() {
        let mut budget = Budget::default();
        for _ in 1..limits::MAX_EVENTS_PER_INSTANT {
            assert!(budget.take_event(SimTime(5), SimTime(5)));
        }
        assert!(!budget.clone().take_event(SimTime(5), SimTime(5)));
        assert!(budget.take_event(SimTime(5), SimTime(6)), "another instant begins");
        budget.take_bytes(limits::MAX_RECORD_BYTES_PER_RUN, SimTime(6));
        assert_eq!(budget.overrun, None);
        budget.take_bytes(1, SimTime(6));
        let overrun = budget.overrun.expect("one byte more");
        assert_eq!(overrun.to_string(), "this run needs more than 268435456 bytes of records of one run");
        assert!(!budget.take_event(SimTime(6), SimTime(7)));
    }

    #[test]
    fn a_run_has_so_many_events() {
        let mut budget = Budget { events: limits::MAX_EVENTS_PER_RUN - 1, ..Budget::default() };
        assert!(budget.take_event(SimTime(0), SimTime(1)));
        assert!(!budget.take_event(SimTime(1), SimTime(2)));
        assert_eq!(budget.overrun.map(|over| over.what), Some(Resource::Events));
    }
}
