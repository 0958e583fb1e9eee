//! Search for runs that go wrong: random clusters, random faults, shrinking. Plays no scenario of a person.

pub mod draw;
pub mod swarm;

pub use draw::draw;
pub use swarm::{Counts, Failure, RunReport, link, run, shrink};
