//! Contracts and invariants of the engine: table of contents. Holds no test of its own.

mod broken;
mod cluster;
mod contract;
mod dropped;
mod invariants;
mod limits;
mod made_anew;
mod moments;
mod phases;
mod produced;
mod sockets;
mod wire;
