//! Recordings of real Kafka clusters: a strict reader, a player that does the same steps to the engine, and the judge.
//! Copies no expectation into code: everything that is compared comes out of the file.
//!
//! One direction: [`recording`] (what a file says) ← [`player`] (one run of it with one seed, through [`subject`], seen
//! by [`journal`]) ← [`judge`] (many runs against the file) ← [`report`] (the result as data and text).

pub mod answer;
pub mod entries;
pub mod journal;
pub mod judge;
pub mod limits;
pub mod modelled;
pub mod player;
#[cfg(test)]
mod player_tests;
pub mod queries;
pub mod reading;
pub mod recording;
pub mod report;
pub mod shares;
pub mod steps;
pub mod subject;
pub mod values;
pub mod world;

pub use judge::{decided, judge};
pub use player::{Play, play, play_with_decisions};
pub use reading::ReadError;
pub use recording::Recording;
pub use report::{FileReport, Outcome, Table};
pub use shares::{MOST_SEEDS, SEEDS};
pub use subject::Subject;
