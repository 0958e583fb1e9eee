//! The log: facts up to the playhead, filtered and paged. What has no fact is no line.

use super::model::*;
use crate::story::{Seen, Told, tell};

fn line(seen: Seen<'_>, index: usize) -> Option<LogLine> {
    let entry = seen.reel().get(index)?;
    let Told { part: kind, fact, .. } = tell(seen, index)?;
    Some(LogLine {
        trace: TraceId(index as u64),
        at_us: seen.us(entry.at),
        kind,
        fact,
        notable: seen.reel().is_notable(index),
    })
}

/// Lines of these entries that pass the filter, oldest first.
pub fn lines(seen: Seen<'_>, filter: &LogFilter, entries: std::ops::Range<usize>) -> Vec<LogLine> {
    let passes = |line: &LogLine| {
        (filter.kinds.is_empty() || filter.kinds.contains(&line.kind))
            && filter.about.as_ref().is_none_or(|about| concerns(&line.fact, about, line.trace))
    };
    if filter.notable_only {
        let notable = seen.reel().notable();
        let place = |entry: usize| notable.partition_point(|index| *index < entry);
        return notable[place(entries.start)..place(entries.end)]
            .iter()
            .filter_map(|index| line(seen, *index))
            .filter(passes)
            .collect();
    }
    entries.filter_map(|index| line(seen, index)).filter(passes).collect()
}

/// Lines of a range, counted from the oldest.
pub fn page(lines: &[LogLine], range: std::ops::Range<usize>) -> LogPage {
    let first = range.start.min(lines.len());
    let last = range.end.clamp(first, lines.len());
    LogPage { total: lines.len(), first, lines: lines[first..last].to_vec() }
}

/// The newest notable lines, oldest first.
pub fn recent(seen: Seen<'_>, count: usize) -> Vec<LogLine> {
    let notable = seen.reel().notable();
    let until = notable.partition_point(|index| *index < seen.n_entries());
    let mut lines: Vec<LogLine> =
        notable[..until].iter().rev().filter_map(|index| line(seen, *index)).take(count).collect();
    lines.reverse();
    lines
}

/// Notable lines after an entry.
pub fn news(seen: Seen<'_>, after: Option<TraceId>) -> Vec<LogLine> {
    let notable = seen.reel().notable();
    let from = after.map_or(0, |after| notable.partition_point(|index| *index as u64 <= after.0));
    let until = notable.partition_point(|index| *index < seen.n_entries());
    notable.get(from..until).unwrap_or_default().iter().filter_map(|index| line(seen, *index)).collect()
}

/// Whether a fact is about something.
fn concerns(fact: &Fact, about: &Subject, trace: TraceId) -> bool {
    let text = || format!("{fact:?}");
    match about {
        Subject::Trace(id) => *id == trace,
        Subject::Controller(id) => {
            text().contains(&format!("Controller({id})"))
                || text().contains(&format!("controller: {id},"))
                || text().contains(&format!("controller: {id} "))
        }
        Subject::Broker(id) => {
            let text = text();
            ["Broker({})", "broker: {},", "broker: {} "]
                .iter()
                .any(|form| text.contains(&form.replace("{}", &id.to_string())))
        }
        Subject::Partition(p) | Subject::Leader(p) | Subject::Isr(p) | Subject::HighWatermark(p) => {
            text().contains(&format!("{p:?}"))
        }
        Subject::Replica { partition, broker } | Subject::Record { partition, broker, .. } => {
            let text = text();
            text.contains(&format!("{partition:?}")) && text.contains(&format!("broker: {broker}"))
        }
        Subject::Producer(name) | Subject::Group(name) | Subject::Member(name) => text().contains(&format!("{name:?}")),
        Subject::Message(_) | Subject::Verdict(_) | Subject::LedgerRecord(_) => false,
    }
}
