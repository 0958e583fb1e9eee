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
/// Partitions of all topics but the internal ones: each is drawn, fetched and kept by every replica.
pub const MAX_ALL_PARTITIONS: u32 = 2_000;
/// Starts of clients in one run: every process that ever ran keeps its name in the trace.
pub const MAX_CLIENT_STARTS: usize = 1_000;
/// Bytes of the values that one `produce` makes: they are made within one event.
pub const MAX_BYTES_OF_ONE_ACTION: u64 = 16 << 20;
/// Bytes of records that an application makes without a pause: what a thread that stood still makes up for goes in
/// several turns, so that a budget is looked at between them.
pub const MAX_BYTES_OF_ONE_TURN: u64 = 4 << 20;
/// Events handled at one instant: more of them are a configuration without any pause, and time would never go on.
pub const MAX_EVENTS_PER_INSTANT: u32 = 100_000;
/// Events of one run, the boot included.
pub const MAX_EVENTS_PER_RUN: u64 = 10_000_000;
/// Bytes of records that the applications of one run make. Nothing is ever deleted by age, so this bounds the memory of
/// all logs together.
pub const MAX_RECORD_BYTES_PER_RUN: u64 = 256 << 20;
