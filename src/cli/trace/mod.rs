//! `highwater trace`: what happens in a run, a line each, what waits, and what the run comes to. The words are Kafka's
//! and the trace's own; the page has sentences.

mod eligible;
mod promises;
mod totals;
mod waits;

use std::path::Path;
use std::rc::Rc;

use highwater_engine::base::{Dur, Seq, SimTime};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::Action;
use highwater_studio::notation::{self, Book};
use highwater_studio::recording::{Playhead, Recording};
use highwater_studio::scenario::notes;
use highwater_studio::story::Seen;

use crate::Complaint;
use crate::args::Trace;
use crate::links;
use crate::out::say;
use promises::Promises;

/// How far a run without end is told.
const LONGEST: Dur = Dur::secs(3_600);

/// Runs and prints.
pub fn run(options: &Trace) -> Result<bool, Complaint> {
    let path = Path::new(&options.what);
    let (scenario, moment) = if path.exists() {
        (links::read_file(path)?, None)
    } else if options.what.contains('#') {
        let link = links::read_link(&options.what)?;
        (link.scenario, link.at.map(|moment| moment.at))
    } else {
        return Err(format!("{}: there is no such file, and a link has a # in it", options.what));
    };
    let mut recording = Recording::new(scenario).map_err(|refusal| {
        format!("{}: the cluster cannot be started: {}", options.what, notation::refusal(&refusal, &Book::default()))
    })?;
    let mut playhead = Playhead::new(&mut recording);
    for note in notes(&playhead.branch(&recording).scenario) {
        say!("note  {note}");
    }
    let until = options.until.or(moment).unwrap_or(playhead.branch(&recording).lowered.end).min(LONGEST);
    playhead.run_until(&mut recording, playhead.origin() + until);
    let seen = Seen::new(&recording, &playhead);

    let promises = Promises::of(seen);
    let (mut lines, book) = entries(seen, options.all);
    lines.extend(waits::lines(seen, &book));
    lines.sort_by_key(|(at, _)| *at);
    for (_, line) in &lines {
        say!("{line}");
    }
    for line in totals::lines(seen, &promises, &book) {
        say!("{line}");
    }
    say!("digest after {} ms: {:016x}", until.as_ms(), playhead.digest());
    Ok(true)
}

/// The lines of the entries that are told, and the names of the run.
fn entries(recording: Seen<'_>, all: bool) -> (Vec<(SimTime, String)>, Book) {
    let mut book = recording.book();
    let mut lines = Vec::new();
    let reel = recording.reel();
    for (number, entry) in reel.entries(0..recording.n_entries()) {
        book.learn(entry);
        if all || reel.is_notable(number) || matches!(entry.kind, Kind::ActionAnswered { .. }) {
            let cause = cause(recording, entry).map_or(String::new(), |c| format!("  {}", notation::cause(c, &book)));
            lines.push((entry.at, format!("{}{cause}", notation::line(entry, recording.origin(), &book))));
        }
        book.forget(entry);
    }
    (lines, book)
}

/// What an entry came of, beyond the messages that carried it.
fn cause<'a>(recording: Seen<'a>, entry: &TraceEntry) -> Option<&'a TraceEntry> {
    let mut seq = entry.cause;
    while seq != Seq(0) {
        let cause = recording.reel().get(recording.reel().find(seq)?)?;
        let carries = matches!(
            cause.kind,
            Kind::MessageSent { .. }
                | Kind::MessageDelivered { .. }
                | Kind::MessageHeld { .. }
                | Kind::MessageMoved { .. }
                | Kind::RecordSent { .. }
        );
        if !carries {
            return Some(cause);
        }
        seq = cause.cause;
    }
    None
}

/// Every group of the run with the topics that its members read.
fn groups(recording: Seen<'_>) -> Vec<(Rc<str>, Vec<Rc<str>>)> {
    let mut groups: Vec<(Rc<str>, Vec<Rc<str>>)> = Vec::new();
    for (_, action) in recording.reel().actions() {
        if let Action::Join { spec, .. } = action
            && !groups.iter().any(|(name, _)| *name == spec.group)
        {
            groups.push((spec.group.clone(), spec.topics.clone()));
        }
    }
    groups
}
