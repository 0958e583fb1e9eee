//! Acknowledged records that are gone, by their offsets. It does not say why.

use highwater_engine::base::{Offset, Tp, sort_by};

use super::model::*;
use crate::recording::{Record, runs};
use crate::story::{Seen, count};

/// Offsets of lost records, those that follow one another as one stretch.
pub fn stretches<'a>(seen: Seen<'_>, lost: impl Iterator<Item = &'a Record>) -> Vec<Stretch> {
    let mut offsets: Vec<(Tp, Offset)> = lost.filter_map(|record| record.acked).collect();
    sort_by(&mut offsets, Ord::cmp);
    let named = |(tp, first, last)| Stretch { partition: seen.partition(tp), first: count(first), last: count(last) };
    runs(offsets).into_iter().map(named).collect()
}
