//! What a recording may ask at most, so that a file cannot make the player run for hours. Limits of the simulation
//! itself are the engine's.

use highwater_engine::base::Dur;

/// Bytes of a file.
pub const MAX_BYTES: usize = 8 << 20;
/// Entries of a script.
pub const MAX_ENTRIES: usize = 2_000;
/// One wait, or the patience of one condition.
pub const MAX_WAIT: Dur = Dur::secs(3_600);
/// Records of one `produce`.
pub const MAX_RECORDS: i64 = 100_000;
/// Largest node number in a file.
pub const MAX_NODE: i64 = 999;
