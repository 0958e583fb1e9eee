//! Every bound of the simulation with its reason, in one place. Reaching one is a visible refusal, never a silent drop.

/// Brokers of one cluster: what the stage can still show by scrolling.
pub const MAX_BROKERS: usize = 24;
/// Controllers: Kafka's usual sizes are 3 and 5.
pub const MAX_CONTROLLERS: usize = 5;
/// Partitions of one topic.
pub const MAX_PARTITIONS: u32 = 1_000;
/// Topics, the internal ones included.
pub const MAX_TOPICS: usize = 100;
/// Producers, consumers and the admin client together.
pub const MAX_CLIENTS: usize = 64;
/// Records per second of one producer: above it a run of minutes does not fit into a page's memory.
pub const MAX_RATE_PER_SECOND: u32 = 10_000;
/// Events handled at one instant before the world calls it a livelock, a bug of the engine.
pub const MAX_EVENTS_PER_INSTANT: u32 = 1_000_000;
