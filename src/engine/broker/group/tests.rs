//! Tests of the group coordinator, against a log whose high watermark the test moves. No partition is replicated here.

mod desk;
mod membership;
mod offsets;
