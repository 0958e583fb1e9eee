//! The leader-epoch cache: where each epoch begins in this log (KIP-101, KIP-279). Knows no leader.

use alloc::vec::Vec;

use crate::base::Offset;
use crate::protocol::EpochEnd;

/// Entries (epoch, start offset), both strictly increasing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EpochCache {
    entries: Vec<(i32, Offset)>,
}

impl EpochCache {
    pub fn entries(&self) -> &[(i32, Offset)] {
        &self.entries
    }

    pub fn latest(&self) -> Option<i32> {
        self.entries.last().map(|(epoch, _)| *epoch)
    }

    /// Notes that `epoch` begins at `start`. Entries that it contradicts go, an empty epoch among them.
    pub fn assign(&mut self, epoch: i32, start: Offset) {
        if self.entries.last().is_some_and(|&(last, at)| last == epoch && start >= at) {
            return;
        }
        while self.entries.last().is_some_and(|&(last, at)| last >= epoch || at >= start) {
            self.entries.pop();
        }
        self.entries.push((epoch, start));
    }

    /// Where `epoch`, or the largest one below it, ends in a log with this end. `None` if the epoch lies in the future
    /// or nothing is known.
    pub fn end_offset_for(&self, epoch: i32, log_end: Offset) -> Option<EpochEnd> {
        if epoch < 0 {
            return None;
        }
        if self.latest() == Some(epoch) {
            return Some(EpochEnd { epoch, end_offset: log_end });
        }
        let higher = self.entries.iter().position(|&(e, _)| e > epoch)?;
        let end_offset = self.entries[higher].1;
        let epoch = if higher == 0 { epoch } else { self.entries[higher - 1].0 };
        Some(EpochEnd { epoch, end_offset })
    }

    /// Drops entries that start at `end` or beyond.
    pub fn truncate_from_end(&mut self, end: Offset) {
        self.entries.retain(|&(_, start)| start < end);
    }

    /// Drops entries below `start`, keeping the one in force there with `start` as its beginning.
    pub fn truncate_from_start(&mut self, start: Offset) {
        let below = self.entries.partition_point(|&(_, at)| at <= start);
        if below > 0 {
            self.entries.drain(..below - 1);
            self.entries[0].1 = start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: &[(i32, Offset)]) -> EpochCache {
        EpochCache { entries: entries.to_vec() }
    }

    #[test]
    fn kip_101_epoch_lookup() {
        let c = cache(&[(0, 0), (1, 20), (3, 35)]);
        let end = |epoch| c.end_offset_for(epoch, 40).map(|e| (e.epoch, e.end_offset));
        assert_eq!(
            [end(0), end(1), end(2), end(3), end(4), end(-1)],
            [Some((0, 20)), Some((1, 35)), Some((1, 35)), Some((3, 40)), None, None]
        );
        assert_eq!(cache(&[(4, 100)]).end_offset_for(2, 120), Some(EpochEnd { epoch: 2, end_offset: 100 }));
    }

    #[test]
    fn an_empty_epoch_is_replaced() {
        let mut c = cache(&[(1, 0), (2, 10)]);
        c.assign(3, 10);
        assert_eq!(c.entries(), &[(1, 0), (3, 10)]);
    }
}
