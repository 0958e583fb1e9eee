//! The simulated Kafka. Everything here is deterministic; it deliberately reaches no clock, no hash map and no browser.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod base;
pub mod broker;
pub mod check;
pub mod client;
pub mod controller;
pub mod log;
pub mod metadata;
pub mod node;
pub mod protocol;
pub mod quorum;
pub mod rules;
pub mod trace;
pub mod world;
