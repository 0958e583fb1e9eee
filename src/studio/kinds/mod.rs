//! One row for each kind of trace entry: the part of the log that it belongs to, how much it weighs to a person, its
//! mark on the lanes, and whether a repetition is news. What it says is told in `story`, which knows the names.

mod news;
mod table;

pub use news::Notability;
pub use table::{News, Row, Trouble, row};

/// How much an entry weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// Goes on all the time.
    Routine,
    /// Worth stopping at: a step goes there, and it is said aloud.
    Notable,
    /// Worth a scene: play slows down for it.
    Grave,
}

/// The parts of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Fault,
    Controller,
    Replication,
    Producer,
    Group,
    Setting,
}

impl Part {
    /// Every part, in the order of the filter.
    pub const ALL: [Part; 6] =
        [Part::Fault, Part::Controller, Part::Replication, Part::Producer, Part::Group, Part::Setting];
}

/// A mark on the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// Bolt: kill, stop, pause, cut, link, and their undoing.
    Fault,
    Repair,
    /// Crown.
    Election,
    IsrShrink,
    IsrExpand,
    Truncation,
    Rebalance,
    Error,
    Loss,
    Setting,
}
