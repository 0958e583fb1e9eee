//! Comparison of logs: matching, bounds, duplicates, order. Takes logs, knows no world.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::{Invariant, Observation, Violation};
use crate::base::{Offset, ProducerId, Tag, Tp};
use crate::log::Log;
use crate::protocol::RecordBatch;

/// Where two logs that share an epoch at an offset disagree at or below it, if they do.
pub fn mismatch(a: &Log, b: &Log) -> Option<Offset> {
    let start = a.start_offset().max(b.start_offset());
    let mut left = a.batches_from(start).peekable();
    let mut right = b.batches_from(start).peekable();
    // The first offset at which they differ; beyond it they must share no (offset, epoch).
    let mut differ: Option<Offset> = None;
    while let (Some(x), Some(y)) = (left.peek(), right.peek()) {
        if x.next_offset() <= y.base_offset {
            differ.get_or_insert(x.base_offset);
            left.next();
        } else if y.next_offset() <= x.base_offset {
            differ.get_or_insert(y.base_offset);
            right.next();
        } else {
            if same(x, y) {
                if let Some(at) = differ {
                    return Some(at);
                }
            } else if x.epoch == y.epoch {
                return Some(x.base_offset.max(y.base_offset));
            } else {
                differ.get_or_insert(x.base_offset.min(y.base_offset));
            }
            let (x_end, y_end) = (x.next_offset(), y.next_offset());
            if x_end <= y_end {
                left.next();
            }
            if y_end <= x_end {
                right.next();
            }
        }
    }
    None
}

fn same(x: &RecordBatch, y: &RecordBatch) -> bool {
    x.base_offset == y.base_offset && x.epoch == y.epoch && x.producer == y.producer && x.payload == y.payload
}

/// Log matching over every pair of replicas of every partition, and of the metadata log.
pub fn matching(seen: &Observation) -> Result<(), Violation> {
    let violation = |invariant, what: String| Err(Violation { invariant, at: seen.at, what });
    for ((broker, tp), log) in &seen.logs {
        for ((other, other_tp), other_log) in &seen.logs {
            if tp == other_tp
                && broker < other
                && !Rc::ptr_eq(log, other_log)
                && let Some(at) = mismatch(log, other_log)
            {
                return violation(
                    Invariant::LogMatching,
                    format!("{tp:?}: brokers {broker} and {other} differ at offset {at} below an epoch they share"),
                );
            }
        }
    }
    for (node, log) in &seen.metadata_logs {
        for (other, other_log) in seen.metadata_logs.range(..node) {
            if let Some(at) = mismatch(log, other_log) {
                return violation(Invariant::MetadataLogMatching, format!("{node} and {other} differ at offset {at}"));
            }
        }
    }
    Ok(())
}

/// Log start ≤ high watermark ≤ log end on every running broker.
pub fn bounds(seen: &Observation) -> Result<(), Violation> {
    for ((broker, tp), replica) in &seen.replicas {
        let Some(log) = seen.logs.get(&(*broker, *tp)) else { continue };
        let (start, end, hw) = (log.start_offset(), log.end_offset(), replica.high_watermark);
        if !(start <= hw && hw <= end) {
            let what = format!("{tp:?} on broker {broker}: log start {start}, high watermark {hw}, log end {end}");
            return Err(Violation { invariant: Invariant::OffsetsInBounds, at: seen.at, what });
        }
    }
    Ok(())
}

/// An idempotent producer's records: once, and in the order of their sequences, where that is promised.
pub fn idempotence(seen: &Observation, is_promised: impl Fn(Tp, ProducerId) -> bool) -> Result<(), Violation> {
    for ((broker, tp), log) in &seen.logs {
        let mut tags: BTreeSet<Tag> = BTreeSet::new();
        let mut last: BTreeMap<ProducerId, Tag> = BTreeMap::new();
        for batch in log.batches() {
            let Some(stamp) = batch.producer.filter(|stamp| is_promised(*tp, stamp.id)) else { continue };
            for record in batch.data() {
                if !tags.insert(record.tag) {
                    let what = format!(
                        "{tp:?} on broker {broker}: record {} of producer {} stands twice, again in the batch at {}",
                        record.tag, stamp.id, batch.base_offset
                    );
                    return Err(Violation { invariant: Invariant::NoDuplicates, at: seen.at, what });
                }
                // Tags of one producer rise in the order of sending.
                if last.insert(stamp.id, record.tag).is_some_and(|before| before > record.tag) {
                    let what = format!(
                        "{tp:?} on broker {broker}: record {} of producer {} stands behind a later one, in the batch \
                         at {}",
                        record.tag, stamp.id, batch.base_offset
                    );
                    return Err(Violation { invariant: Invariant::OrderKept, at: seen.at, what });
                }
            }
        }
    }
    Ok(())
}
