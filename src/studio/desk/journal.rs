//! The log as it was last asked for: lines of the entries up to a number, to which what follows is only added. It
//! judges no line.

use std::cell::RefCell;
use std::rc::Rc;

use crate::story::{Seen, Waits};
use crate::view::log;
use crate::view::model::{LogFilter, LogLine};

/// A branch of a run.
type Of = (u64, usize);

struct Lines {
    of: Of,
    filter: LogFilter,
    /// The first entry that was not read.
    end: usize,
    lines: Rc<Vec<LogLine>>,
}

/// What is remembered between two looks at the log.
#[derive(Default)]
pub(super) struct Journal {
    lines: RefCell<Option<Lines>>,
    /// The waits of a branch, as far as somebody looked at its log.
    waits: RefCell<Option<(Of, Waits)>>,
}

impl Journal {
    /// The lines up to the playhead that pass a filter.
    pub fn lines(&self, of: Of, seen: Seen<'_>, filter: &LogFilter) -> Rc<Vec<LogLine>> {
        let end = seen.n_entries();
        let known = self.lines.take().filter(|known| known.of == of && known.filter == *filter);
        let (from, mut lines) = known.map_or_else(|| (0, Rc::default()), |known| (known.end, known.lines));
        if end > from {
            let known = self.waits.take().filter(|(known, _)| *known == of);
            let mut waits = known.map_or_else(Waits::default, |(_, waits)| waits);
            waits.advance(seen, end);
            Rc::make_mut(&mut lines).extend(log::lines(seen, &waits, filter, from..end));
            *self.waits.borrow_mut() = Some((of, waits));
        } else if end < from {
            let left = lines.partition_point(|line| line.trace.0 < end as u64);
            Rc::make_mut(&mut lines).truncate(left);
        }
        *self.lines.borrow_mut() = Some(Lines { of, filter: filter.clone(), end, lines: lines.clone() });
        lines
    }
}
