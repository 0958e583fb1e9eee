//! Golden traces: what small scenarios leave in the trace stands in files, so that a change of the engine is seen as a
//! difference of text. `UPDATE=1` writes them anew. It says nothing of whether they are right.
//!
//! `NAME.json` is a scenario and `NAME.txt` its trace, from the checkpoint `begin` (else from 0 s) to the checkpoint
//! `end`, each entry with what it came of. Messages that only come and go are left out; `NAME.wire.txt`, where there is
//! one, has them all.

use highwater_engine::base::{Dur, Seq};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_studio::notation;
use highwater_studio::scenario::decode;

use crate::played::Played;
use crate::text;

/// Which of the messages are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    All,
    /// Those that wait and those that an action loses.
    Odd,
}

/// The recording of a scenario file, up to its checkpoint `end`, and the moment of `begin`.
fn played(name: &str) -> (Played, Dur) {
    let file = format!("golden/{name}.json");
    let scenario = decode(&text::read(&file)).unwrap_or_else(|error| panic!("tests/{file}: {error}"));
    let mut recording = Played::new(scenario);
    let moment = |name: &str| {
        let checkpoints = &recording.seen().branch().lowered.checkpoints;
        checkpoints.iter().find(|(checkpoint, _)| checkpoint == name).map(|(_, moment)| moment.at)
    };
    let begin = moment("begin").unwrap_or(Dur::ZERO);
    let end = moment("end").unwrap_or_else(|| panic!("tests/{file} has no checkpoint \"end\""));
    recording.run(end);
    (recording, begin)
}

fn told(recording: &Played, begin: Dur, wire: Wire) -> String {
    let origin = recording.origin();
    let mut book = recording.book();
    let mut out = String::new();
    let mut failed: Vec<(String, Kind)> = Vec::new();
    for (_, entry) in recording.reel().entries(0..recording.n_entries()) {
        book.learn(entry);
        let who = book.node(entry.who);
        if entry.at >= origin + begin && is_told(recording, entry, wire, &failed, &who) {
            let cause =
                cause_of(recording, entry).map_or(String::new(), |c| format!("  {}", notation::cause(c, &book)));
            out.push_str(&format!("{}{cause}\n", notation::line(entry, origin, &book)));
            if matches!(entry.kind, Kind::RequestFailed { .. }) {
                failed.push((who, entry.kind.clone()));
            }
        }
        book.forget(entry);
    }
    out
}

fn cause_of<'a>(recording: &'a Played, entry: &TraceEntry) -> Option<&'a TraceEntry> {
    let number = recording.reel().find(entry.cause).filter(|_| entry.cause != Seq(0))?;
    recording.reel().get(number)
}

fn is_told(recording: &Played, entry: &TraceEntry, wire: Wire, failed: &[(String, Kind)], who: &str) -> bool {
    let own = || cause_of(recording, entry).is_some_and(|sent| sent.who == entry.who);
    // A dead node is tried again and again.
    let first = || !failed.iter().any(|(before, kind)| before == who && *kind == entry.kind);
    wire == Wire::All
        || !(matches!(entry.kind, Kind::MessageSent { .. })
            || matches!(entry.kind, Kind::MessageLost { .. }) && !own()
            || matches!(entry.kind, Kind::RequestFailed { .. }) && !first())
}

#[test]
fn each_scenario_leaves_the_trace_of_its_file() {
    let names = text::names("golden", ".json");
    assert!(!names.is_empty(), "tests/golden holds no scenario");
    for name in names {
        let name = name.trim_end_matches(".json");
        let (recording, begin) = played(name);
        text::check(&format!("golden/{name}.txt"), &told(&recording, begin, Wire::Odd));
        let wire = format!("golden/{name}.wire.txt");
        if text::path(&wire).exists() {
            text::check(&wire, &told(&recording, begin, Wire::All));
        }
    }
}

#[test]
fn each_trace_has_its_scenario() {
    for name in text::names("golden", ".txt") {
        let scenario = name.trim_end_matches(".txt").trim_end_matches(".wire");
        assert!(text::path(&format!("golden/{scenario}.json")).exists(), "tests/golden/{name} has no scenario");
    }
}

#[test]
fn one_more_message_changes_no_number() {
    for name in text::names("golden", ".txt") {
        let text = text::read(&format!("golden/{name}"));
        for debug in ["MessageId", "Tag(", "Some(", " { "] {
            assert!(!text.contains(debug), "tests/golden/{name} holds {debug}");
        }
    }
}
