//! The log: facts up to the playhead, filtered and paged. What has no fact is no line.

use super::model::*;
use crate::kinds::Weight;
use crate::story::{About, Seen, Told, Waits, message_term, tell};
use highwater_engine::base::sort_by;
use highwater_engine::node::{Direction, Message};
use highwater_engine::trace::Kind;
use highwater_engine::world::api_of;

fn line(seen: Seen<'_>, index: usize) -> Option<LogLine> {
    let entry = seen.reel().get(index)?;
    let Told { part: kind, weight, fact, .. } = tell(seen, index)?;
    Some(LogLine {
        trace: TraceId(index as u64),
        at_us: seen.us(entry.at),
        kind,
        fact,
        notable: weight >= Weight::Notable,
    })
}

/// Lines of these entries that pass the filter, oldest first, and among them those of waits, which have come as far.
pub fn lines(seen: Seen<'_>, waits: &Waits, filter: &LogFilter, entries: std::ops::Range<usize>) -> Vec<LogLine> {
    let passes = |line: &LogLine| {
        (filter.kinds.is_empty() || filter.kinds.contains(&line.kind))
            && filter.about.as_ref().is_none_or(|about| concerns(&line.fact, about, line.trace))
    };
    let told = waits.lines(entries.clone()).iter().map(|line| LogLine {
        trace: TraceId(line.entry as u64),
        at_us: seen.us(line.at),
        kind: line.part,
        fact: line.fact.clone(),
        notable: true,
    });
    let mut lines: Vec<LogLine> = if filter.notable_only {
        let notable = seen.reel().notable();
        let place = |entry: usize| notable.partition_point(|index| *index < entry);
        notable[place(entries.start)..place(entries.end)].iter().filter_map(|index| line(seen, *index)).collect()
    } else {
        entries.filter_map(|index| line(seen, index)).collect()
    };
    lines.extend(told);
    lines.retain(passes);
    // Stable: a wait stands behind the entry that it was noticed at.
    sort_by(&mut lines, |a, b| a.trace.cmp(&b.trace));
    lines
}

/// Lines of a range, counted from the oldest. Which message can be chosen from a line is asked at the playhead: lines
/// stay, messages arrive.
pub fn page(seen: Seen<'_>, lines: &[LogLine], range: std::ops::Range<usize>) -> LogPage {
    let first = range.start.min(lines.len());
    let last = range.end.clamp(first, lines.len());
    let shown = lines[first..last].to_vec();
    let known = Known::of(seen);
    let messages = shown.iter().filter_map(|line| Some((line.trace, known.message(seen, line)?))).collect();
    LogPage { total: lines.len(), first, lines: shown, messages }
}

/// An action on a message is followed at once by what became of the message, and little stands between.
const BECAME: usize = 8;

/// Messages that are on their way or held, each with the entry that it was sent because of.
struct Known(Vec<(Option<usize>, OfferedMessage)>);

impl Known {
    fn of(seen: Seen<'_>) -> Known {
        let reel = seen.reel();
        let all = seen.world().within_reach().into_iter();
        let offered = |m: &Message| OfferedMessage {
            id: MessageRef(m.id.0),
            name: message_term(api_of(&m.body), m.direction == Direction::Response),
            from: seen.node(m.from()),
            to: seen.node(m.to()),
        };
        Known(all.map(|m| (reel.find(m.sent).and_then(|sent| reel.cause(sent)), offered(m))).collect())
    }

    fn message(&self, seen: Seen<'_>, line: &LogLine) -> Option<OfferedMessage> {
        let index = line.trace.0 as usize;
        if let Fact::MessageActed { .. } = line.fact {
            return self.acted_on(seen, index);
        }
        self.0.iter().find(|(cause, _)| *cause == Some(index)).map(|(_, message)| message.clone())
    }

    fn acted_on(&self, seen: Seen<'_>, action: usize) -> Option<OfferedMessage> {
        let after = action + 1;
        let mut became = seen.reel().entries(after..(after + BECAME).min(seen.n_entries()));
        let touched = became.find_map(|(index, entry)| match &entry.kind {
            Kind::MessageHeld { message } | Kind::MessageMoved { message, .. } => {
                (seen.reel().cause(index) == Some(action)).then_some(MessageRef(message.0))
            }
            _other => None,
        })?;
        self.0.iter().find(|(_, message)| message.id == touched).map(|(_, message)| message.clone())
    }
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
    let named = fact.about();
    let partition = |p: &PartitionRef| named.contains(&About::Partition(p));
    let broker = |id: u32| named.iter().any(|name| name.is_broker(id));
    match about {
        Subject::Trace(id) => *id == trace,
        Subject::Controller(id) => named.iter().any(|name| name.is_controller(*id)),
        Subject::Broker(id) => broker(*id),
        Subject::Partition(p) | Subject::Leader(p) | Subject::Isr(p) | Subject::HighWatermark(p) => partition(p),
        Subject::Replica { partition: p, broker: id } | Subject::Record { partition: p, broker: id, .. } => {
            partition(p) && broker(*id)
        }
        Subject::Producer(name) | Subject::Member(name) => named.iter().any(|about| about.is_client(name)),
        Subject::Group(name) => named.contains(&About::Group(name)),
        Subject::Message(_) | Subject::Verdict(_) | Subject::LedgerRecord(_) => false,
    }
}
