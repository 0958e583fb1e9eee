//! The newest records of the ledger as squares. It counts nothing by itself.

use super::model::*;
use crate::recording::{Ledger, Record};
use crate::story::count;

/// The squares of the newest records, and the counts of those before.
pub fn squares(ledger: &Ledger) -> (Vec<LedgerSquare>, LedgerCounts) {
    let first = ledger.len().saturating_sub(LEDGER_SHOWN);
    let square = |(number, record): (usize, &Record)| LedgerSquare {
        number: number as u64,
        partition: PartitionRef { topic: record.topic.to_string(), partition: record.partition.unwrap_or(0) },
        offset: record.stands.or(record.acked).map(|(_, offset)| offset).filter(|offset| *offset >= 0).map(count),
        fate: record.fate,
        delivered: record.delivered,
    };
    let newest = (first..ledger.len()).filter_map(|number| Some((number, ledger.get(number)?)));
    (newest.map(square).collect(), ledger.counts_before(first))
}
