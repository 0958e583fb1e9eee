//! The simulated Kafka. Everything here is deterministic; it deliberately reaches no clock, no hash map and no browser.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic)]
extern crate alloc;
