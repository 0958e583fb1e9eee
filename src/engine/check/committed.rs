//! The recorded ISR, and what the cluster has promised: committed and acknowledged records. Tracks the true high
//! watermark itself.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Invariant, Observation, Violation};
use crate::base::{Offset, Tag, Tp};
use crate::log::Log;

/// What stands at an offset: the epoch of its batch and the client's tag (0 for what no client made).
pub type Content = (i32, Tag);

/// Content of a log from `from` up to `to`, with offsets.
pub fn content(log: &Log, from: Offset, to: Offset) -> Vec<(Offset, Content)> {
    let mut out = Vec::new();
    for batch in log.batches_from(from) {
        if batch.base_offset >= to {
            break;
        }
        for i in 0..batch.count() {
            let offset = batch.base_offset + i;
            if (from..to).contains(&offset) {
                let tag = batch.record_at(offset).map_or(Tag(0), |r| r.tag);
                out.push((offset, (batch.epoch, tag)));
            }
        }
    }
    out
}

/// Everything that was below some legitimate leader's high watermark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    pub records: BTreeMap<Tp, Vec<Content>>,
}

impl Committed {
    /// The true high watermark.
    pub fn end(&self, tp: Tp) -> Offset {
        self.records.get(&tp).map_or(0, |r| r.len() as Offset)
    }

    /// A leader's high watermark moved to `hw`: what it newly covers is committed. What it covers again is the affair
    /// of [`Committed::missing_from`].
    pub fn advance(&mut self, tp: Tp, log: &Log, hw: Offset) {
        let known = self.records.entry(tp).or_default();
        let from = known.len() as Offset;
        for (offset, what) in content(log, from, hw) {
            if offset == known.len() as Offset {
                known.push(what);
            }
        }
    }

    /// The first committed offset that a log does not hold as it was committed, between its start and `up_to`.
    pub fn missing_from(&self, tp: Tp, log: &Log, up_to: Offset) -> Option<Offset> {
        let known = self.records.get(&tp)?;
        let to = up_to.min(known.len() as Offset);
        let held = content(log, log.start_offset(), to);
        let mut expected = log.start_offset();
        for (offset, what) in held {
            if offset != expected || known[offset as usize] != what {
                return Some(expected);
            }
            expected += 1;
        }
        (expected < to).then_some(expected)
    }

    pub fn forget(&mut self, tp: Tp) {
        self.records.remove(&tp);
    }
}

/// Shape of the recorded ISR and ELR of every partition.
pub fn recorded_isr(seen: &Observation) -> Result<(), Violation> {
    let Some(image) = &seen.image else { return Ok(()) };
    let violation = |invariant, what: String| Err(Violation { invariant, at: seen.at, what });
    for (tp, partition) in image.partitions() {
        if let Some(stray) = partition.isr.iter().chain(&partition.elr).find(|b| !partition.replicas.contains(b)) {
            return violation(
                Invariant::IsrWithinReplicas,
                format!("{tp:?}: {stray} is not one of {:?}", partition.replicas),
            );
        }
        if let Some(leader) = partition.leader
            && !partition.isr.contains(&leader)
        {
            return violation(Invariant::LeaderInIsr, format!("{tp:?}: leader {leader}, ISR {:?}", partition.isr));
        }
        let fenced = partition.isr.iter().find(|b| !image.is_unfenced(**b));
        if let Some(fenced) = fenced
            && (partition.isr.len() >= 2 || seen.elr_on)
        {
            return violation(
                Invariant::FencedNotInIsr,
                format!("{tp:?}: {fenced} is fenced and in the ISR {:?}", partition.isr),
            );
        }
        let min = seen.min_insync_replicas.get(&tp).copied().unwrap_or(1) as usize;
        let disjoint = !partition.elr.iter().any(|b| partition.isr.contains(b));
        if !disjoint || (partition.isr.len() >= min && !partition.elr.is_empty()) {
            return violation(
                Invariant::ElrShape,
                format!("{tp:?}: ISR {:?}, ELR {:?}, minimum {min}", partition.isr, partition.elr),
            );
        }
    }
    Ok(())
}

/// Every member of the recorded ISR holds every committed record.
pub fn strong_isr(seen: &Observation, committed: &Committed, is_clean: impl Fn(Tp) -> bool) -> Result<(), Violation> {
    let Some(image) = &seen.image else { return Ok(()) };
    for (tp, partition) in image.partitions().filter(|(tp, _)| is_clean(*tp)) {
        for broker in &partition.isr {
            let Some(log) = seen.logs.get(&(*broker, tp)) else {
                if committed.end(tp) > 0 {
                    return Err(Violation {
                        invariant: Invariant::StrongIsr,
                        at: seen.at,
                        what: format!("{tp:?}: {broker} of the ISR has no log"),
                    });
                }
                continue;
            };
            if let Some(offset) = committed.missing_from(tp, log, Offset::MAX) {
                let what = format!(
                    "{tp:?}: {broker} of the ISR {:?} lacks the committed record at {offset} (its log ends at {})",
                    partition.isr,
                    log.end_offset()
                );
                return Err(Violation { invariant: Invariant::StrongIsr, at: seen.at, what });
            }
        }
    }
    Ok(())
}

/// Records acknowledged with acks=all are in the log of the recorded leader.
pub fn acknowledged_kept(
    seen: &Observation,
    acked: &BTreeMap<Tp, BTreeMap<Offset, Tag>>,
    is_clean: impl Fn(Tp) -> bool,
) -> Result<(), Violation> {
    let Some(image) = &seen.image else { return Ok(()) };
    for (tp, records) in acked.iter().filter(|(tp, _)| is_clean(**tp)) {
        let Some(leader) = image.partition(*tp).and_then(|p| p.leader) else { continue };
        let Some(log) = seen.logs.get(&(leader, *tp)) else { continue };
        let held: BTreeMap<Offset, Content> = content(log, log.start_offset(), log.end_offset()).into_iter().collect();
        for (offset, tag) in records.range(log.start_offset()..) {
            if held.get(offset).is_none_or(|(_, t)| t != tag) {
                let what = format!(
                    "{tp:?}: record {tag}, acknowledged at {offset} with acks=all, is not there on leader {leader} \
                     (log end {})",
                    log.end_offset()
                );
                return Err(Violation { invariant: Invariant::AcknowledgedRecordsKept, at: seen.at, what });
            }
        }
    }
    Ok(())
}

/// Groups: one owner a partition, commits within the log.
pub fn groups(seen: &Observation, is_clean: impl Fn(Tp) -> bool) -> Result<(), Violation> {
    for group in &seen.groups {
        let mut owners: BTreeMap<Tp, &str> = BTreeMap::new();
        for (member, partitions) in &group.assignments {
            for tp in partitions {
                if let Some(other) = owners.insert(*tp, member) {
                    let what = format!(
                        "group {}, generation {}: {tp:?} belongs to {other} and {member}",
                        group.group, group.generation
                    );
                    return Err(Violation { invariant: Invariant::OneOwner, at: seen.at, what });
                }
            }
        }
        for (tp, offset) in group.committed.iter().filter(|(tp, _)| is_clean(*tp)) {
            let longest = seen.logs.iter().filter(|((_, t), _)| t == tp).map(|(_, log)| log.end_offset()).max();
            if longest.is_some_and(|end| *offset > end) {
                let what = format!(
                    "group {}: committed {offset} of {tp:?}, whose longest log ends at {longest:?}",
                    group.group
                );
                return Err(Violation { invariant: Invariant::CommitsWithinLog, at: seen.at, what });
            }
        }
    }
    Ok(())
}
