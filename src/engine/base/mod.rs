//! Simulated time, seeded random streams, identifiers, limits and the digest. Knows nothing of Kafka's behaviour.

pub mod digest;
pub mod ids;
pub mod limits;
pub mod link;
pub mod rng;
pub mod sorted;
pub mod time;

pub use digest::{Digest, digest_of};
pub use ids::*;
pub use link::LinkSetup;
pub use rng::{Rng, StreamId};
pub use sorted::{Map, Set, sort_by};
pub use time::{Dur, SimTime};
