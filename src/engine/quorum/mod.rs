//! The metadata quorum (KIP-595, KIP-996, KIP-1166): voters elect a leader and replicate its log, observers copy it. It
//! never looks into the records.

mod election;
mod fetching;
mod leading;
#[cfg(test)]
pub(crate) mod network;
mod observer;
#[cfg(test)]
mod simulation;
mod voter;
#[cfg(test)]
mod voter_tests;

pub use leading::Progress;
pub use observer::Observer;
pub use voter::{Ready, Voter, VoterStart};

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{Dur, Offset, Rng};
use crate::log::Log;
use crate::node::Ctx;
use crate::protocol::{EpochEnd, QuorumFetchResponse, RecordBatch};
use crate::trace::Kind;

/// Most bytes of metadata in one answer (Kafka's `MAX_FETCH_SIZE_BYTES`).
const MAX_FETCH_BYTES: usize = 8 * 1024 * 1024;
/// How long a leader may park a fetch that has nothing to carry.
const FETCH_MAX_WAIT: Dur = Dur::ms(500);
/// First pause before a peer that could not be reached is tried again; doubles up to [`RECONNECT_BACKOFF_MAX`].
const RECONNECT_BACKOFF: Dur = Dur::ms(50);
/// Longest pause before a peer is tried again.
const RECONNECT_BACKOFF_MAX: Dur = Dur::ms(500);

/// The pause after `failures` connection failures in a row, jittered by 20 %.
fn reconnect_backoff(rng: &mut Rng, failures: u32) -> Dur {
    let doubled = Dur(RECONNECT_BACKOFF.0 << failures.saturating_sub(1).min(4));
    rng.jitter(doubled.min(RECONNECT_BACKOFF_MAX), 20)
}

/// Where a log that ends at `fetch_offset` in `last_epoch` parts from `log`, `None` if it is a prefix of it (KIP-595).
fn divergence(log: &Log, fetch_offset: Offset, last_epoch: i32) -> Option<EpochEnd> {
    if fetch_offset == 0 {
        return None;
    }
    let end = log.epochs().end_offset_for(last_epoch, log.end_offset());
    match end {
        Some(end) if end.epoch == last_epoch && fetch_offset <= end.end_offset => None,
        Some(end) if end.epoch == last_epoch => Some(end),
        Some(end) => Some(end),
        None => Some(EpochEnd { epoch: log.latest_epoch().unwrap_or(0), end_offset: log.end_offset() }),
    }
}

/// How far a log must be cut when the leader names `diverging`.
fn truncation_point(log: &Log, diverging: EpochEnd) -> Offset {
    match log.epochs().end_offset_for(diverging.epoch, log.end_offset()) {
        Some(local) => local.end_offset.min(diverging.end_offset),
        None => diverging.end_offset.min(log.end_offset()),
    }
}

/// Takes what a leader sent into the metadata log, or cuts the log where it diverges. Returns the offset up to which
/// this node now knows
/// the log to be committed, given what it knew. Where committed records would have to go the process ends, as Kafka's
/// does, rather than forget them.
fn take_fetched(ctx: &mut Ctx<'_>, committed: Offset, answer: QuorumFetchResponse) -> Offset {
    let Some(diverging) = answer.diverging else {
        if !answer.batches.is_empty() {
            append_fetched(Rc::make_mut(&mut ctx.disk.metadata_log), answer.batches);
        }
        return committed.max(answer.high_watermark.min(ctx.disk.metadata_log.end_offset()));
    };
    let from = ctx.disk.metadata_log.end_offset();
    let to = truncation_point(&ctx.disk.metadata_log, diverging);
    if to < committed {
        ctx.exit(false);
        return committed;
    }
    Rc::make_mut(&mut ctx.disk.metadata_log).truncate_to(to);
    let to = ctx.disk.metadata_log.end_offset();
    ctx.note(Kind::QuorumLogTruncated { from, to });
    committed
}

/// Appends what a leader sent; whatever lies below the log end is there already.
fn append_fetched(log: &mut Log, batches: Vec<RecordBatch>) {
    for batch in batches {
        if batch.base_offset == log.end_offset() {
            // The base offset is the log end, so the append cannot be out of order.
            let appended = log.append_as_follower(batch);
            debug_assert!(appended.is_ok());
        }
    }
}
