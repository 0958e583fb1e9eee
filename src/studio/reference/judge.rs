//! Compares many runs of the engine with what was recorded, by the rules of the recordings. Knows no file and no
//! expected value.
//!
//! 1. A value that was the same in all recorded runs must be the same, with so many seeds that the runs' agreement is
//!    no rare case ([`shares`](super::shares)); what the other seeds give is counted and shown apart.
//! 2. One that varied must be one of those, or, where it counts records in flight, lie between them.
//! 3. Whether a condition held must be the same; how long it took is the median of twenty seeds, within the recorded
//!    span widened by 25 % and 1 s. Shorter is right where a process was started before, because the recorded machine
//!    was slow to start one.
//! 4. What is not modelled is listed.

use std::collections::BTreeMap;

use highwater_engine::base::Dur;
use serde_json::{Value, json};

use super::entries::Verb;
use super::player::{Observed, Play};
use super::queries::Query;
use super::recording::{Entry, Expected, Recording, Step};
use super::report::{Difference, EntryReport, FileReport, Outcome};
use super::shares::{self, Row, SEEDS, Standing};
use super::values::value_rule;

/// Judges the plays of one recording, each with its seed.
pub fn judge(recording: &Recording, plays: &[(u64, Play)]) -> FileReport {
    let standings: BTreeMap<usize, Standing> =
        standings(recording, plays).into_iter().map(|(entry, standing, _)| (entry, standing)).collect();
    let entries = outcomes(recording, plays)
        .map(|(entry, outcome)| EntryReport {
            entry: entry.index,
            step: entry.text.clone(),
            outcome: weigh(outcome, standings.get(&entry.index).copied(), recording.runs),
        })
        .collect();
    FileReport {
        id: recording.id.clone(),
        title: recording.title.clone(),
        kafka: recording.kafka.clone(),
        seeds: plays.iter().map(|(seed, _)| *seed).collect(),
        entries,
    }
}

/// Whether more seeds cannot change the report, as far as chance can be known.
pub fn decided(recording: &Recording, plays: &[(u64, Play)]) -> bool {
    // A median is one of twenty seeds, wherever a time was recorded: of fewer it may lie on either side.
    let timed = |entry: &Entry| matches!(&entry.step, Step::When { took: Some(_), .. });
    let enough_times = plays.len() as u64 >= SEEDS || !recording.script.iter().any(timed);
    enough_times && standings(recording, plays).iter().all(|(_, _, known)| *known)
}

/// What is compared in each entry, over all plays; every disagreement is a difference here.
fn outcomes<'a>(recording: &'a Recording, plays: &'a [(u64, Play)]) -> impl Iterator<Item = (&'a Entry, Outcome)> {
    let mut after_start = false;
    recording.script.iter().filter_map(move |entry| {
        if let Step::Do { verb, .. } = &entry.step {
            after_start = follows_start(verb, after_start);
        }
        let seen: Vec<(u64, &Observed)> =
            plays.iter().filter_map(|(seed, play)| play.observed.get(entry.index).map(|o| (*seed, o))).collect();
        outcome(entry, &seen, after_start).map(|outcome| (entry, outcome))
    })
}

fn standings(recording: &Recording, plays: &[(u64, Play)]) -> Vec<(usize, Standing, bool)> {
    let agrees = |entry: &Entry, (seed, play): &(u64, Play)| match play
        .observed
        .get(entry.index)
        .and_then(|observed| outcome(entry, &[(*seed, observed)], true))
    {
        Some(Outcome::Different(differences)) => differences.iter().all(|d| d.part == TOOK),
        Some(Outcome::Equal(_) | Outcome::InSomeRuns { .. } | Outcome::NotModelled(_)) | None => true,
    };
    let rows: Vec<Row> = recording
        .script
        .iter()
        .map(|entry| Row {
            entry: entry.index,
            same: entry.step.is_same(),
            agrees: plays.iter().map(|play| agrees(entry, play)).collect(),
        })
        .collect();
    shares::standings(&rows, recording.runs)
}

/// Values that some seeds do not give are chance where enough do; a median of times is of all seeds or of none.
fn weigh(all: Outcome, standing: Option<Standing>, runs: i64) -> Outcome {
    let Outcome::Different(mut differences) = all else { return all };
    if differences.iter().any(|d| d.part == TOOK) {
        return Outcome::Different(differences);
    }
    match standing {
        Some(Standing::Enough) => Outcome::InSomeRuns { differences },
        Some(Standing::NeverTogether) => {
            differences.push(Difference {
                part: "together".into(),
                expected: "one seed with this value and those of all entries before it".into(),
                got: vec![("none of the seeds that agree with the entries before".into(), Vec::new())],
            });
            Outcome::Different(differences)
        }
        Some(Standing::TooFew) | None => {
            for difference in &mut differences {
                let share = shares::bound(runs) * 100.0;
                difference.expected.push_str(&format!(" (in {share:.1} % of the seeds at least; {runs} recorded)"));
            }
            Outcome::Different(differences)
        }
    }
}

/// Name of the part of a difference that is a time.
const TOOK: &str = "took";

/// Whether a wait after this action may be shorter than recorded: a process was started, and nothing else was done to a
/// node since.
fn follows_start(verb: &Verb, before: bool) -> bool {
    match verb {
        Verb::Start(_) => true,
        Verb::Kill(_)
        | Verb::Stop(_)
        | Verb::Pause(_)
        | Verb::Resume(_)
        | Verb::LoseDisk(_)
        | Verb::Cut { .. }
        | Verb::Heal => false,
        Verb::CreateTopic { .. }
        | Verb::AddPartitions { .. }
        | Verb::DeleteTopic(_)
        | Verb::DeleteRecords { .. }
        | Verb::SetConfig { .. }
        | Verb::Reassign { .. }
        | Verb::ElectLeaders { .. }
        | Verb::StartClient { .. }
        | Verb::Produce { .. }
        | Verb::Join { .. }
        | Verb::Leave(_)
        | Verb::PauseClient { .. }
        | Verb::Transaction { .. } => before,
    }
}

/// `None`: there is nothing to compare here.
fn outcome(entry: &Entry, seen: &[(u64, &Observed)], after_start: bool) -> Option<Outcome> {
    if let Some(reason) = seen.iter().find_map(|(_, observed)| match observed {
        Observed::NotModelled(reason) => Some(reason),
        Observed::Nothing
        | Observed::Answered(_)
        | Observed::Waited { .. }
        | Observed::Seen(_)
        | Observed::Impossible(_) => None,
    }) {
        let is_step = match &entry.step {
            Step::Do { .. } | Step::When { .. } | Step::Query { .. } => true,
            Step::Wait(_) | Step::Mark(_) => false,
        };
        return is_step.then(|| Outcome::NotModelled(reason.clone()));
    }
    match &entry.step {
        Step::Wait(_) | Step::Mark(_) => None,
        Step::Do { refused, .. } => {
            let mut tally = Tally::new("answer", json!(refused_words(refused)));
            for (seed, observed) in seen {
                match observed {
                    Observed::Answered(answer) if refused.contains(answer) => {}
                    other => tally.add(*seed, other),
                }
            }
            match tally.difference() {
                Some(difference) => Some(Outcome::Different(vec![difference])),
                // That an action is accepted as it was recorded is no observation of its own.
                None if refused.as_slice() == [None] => None,
                None => Some(Outcome::Equal("the same exception".into())),
            }
        }
        Step::Query { query, see } => Some(query_outcome(query, see, seen)),
        Step::When { held, took, see, .. } => Some(when_outcome(held, *took, see.as_ref(), seen, after_start)),
    }
}

fn query_outcome(query: &Query, see: &Expected, seen: &[(u64, &Observed)]) -> Outcome {
    let mut tally = Tally::new("see", expected_value(see));
    let mut rules = Vec::new();
    for (seed, observed) in seen {
        let rule = match observed {
            Observed::Seen(value) => value_rule(Some(query), see, value),
            Observed::Nothing
            | Observed::Answered(_)
            | Observed::Waited { .. }
            | Observed::NotModelled(_)
            | Observed::Impossible(_) => None,
        };
        match rule {
            Some(rule) if !rules.contains(&rule) => rules.push(rule),
            Some(_) => {}
            None => tally.add(*seed, observed),
        }
    }
    match tally.difference() {
        Some(difference) => Outcome::Different(vec![difference]),
        None => Outcome::Equal(rules.join("; ")),
    }
}

fn when_outcome(
    held: &[bool],
    took: Option<(Dur, Dur)>,
    see: Option<&Expected>,
    seen: &[(u64, &Observed)],
    after_start: bool,
) -> Outcome {
    let mut wrong_held = Tally::new("held", if held.len() == 1 { json!(held[0]) } else { json!(held) });
    let mut wrong_see = Tally::new("see", see.map_or(Value::Null, expected_value));
    let mut spans = Vec::new();
    let mut rules: Vec<String> = Vec::new();
    for (seed, observed) in seen {
        let Observed::Waited { held: now, took, see: value } = observed else {
            wrong_held.add(*seed, observed);
            continue;
        };
        spans.push(*took);
        if !held.contains(now) {
            wrong_held.add(*seed, &Observed::Seen(json!({ "held": now, "see": value })));
            continue;
        }
        match see.map(|see| value_rule(None, see, value)) {
            Some(None) => wrong_see.add(*seed, &Observed::Seen(value.clone())),
            Some(Some(rule)) if !rules.iter().any(|r| r == rule) => rules.push(rule.to_string()),
            Some(Some(_)) | None => {}
        }
    }
    let mut differences: Vec<Difference> =
        [wrong_held.difference(), wrong_see.difference()].into_iter().flatten().collect();
    spans.truncate(SEEDS as usize);
    if let (Some(recorded), Some(median)) = (took, median(&mut spans)) {
        match took_rule(recorded, median, after_start) {
            Ok(rule) => rules.push(rule),
            Err(expected) => differences.push(Difference {
                part: TOOK.into(),
                expected,
                got: vec![(
                    format!("{} s (median)", seconds(median)),
                    seen.iter().take(SEEDS as usize).map(|(seed, _)| *seed).collect(),
                )],
            }),
        }
    }
    if differences.is_empty() { Outcome::Equal(rules.join("; ")) } else { Outcome::Different(differences) }
}

/// The middle of the spans, the lower of the two middle ones where their number is even.
fn median(spans: &mut [Dur]) -> Option<Dur> {
    spans.sort_unstable();
    spans.get(spans.len().saturating_sub(1) / 2).copied()
}

/// The rule by which a wait is right, or what was expected.
fn took_rule((least, most): (Dur, Dur), median: Dur, after_start: bool) -> Result<String, String> {
    const SECOND: Dur = Dur::secs(1);
    let low = Dur(least.scaled(3, 4).0.saturating_sub(SECOND.0));
    let high = most.scaled(5, 4) + SECOND;
    let span = format!(
        "{} to {} s (recorded {} to {} s, widened by 25 % and 1 s)",
        seconds(low),
        seconds(high),
        seconds(least),
        seconds(most)
    );
    if median > high {
        Err(span)
    } else if median >= low {
        Ok(format!("took {} s (median) within {span}", seconds(median)))
    } else if after_start {
        Ok(format!(
            "took {} s (median), less than {span}: right, because a process was started before",
            seconds(median)
        ))
    } else {
        Err(span)
    }
}

fn seconds(span: Dur) -> String {
    format!("{}.{:02}", span.0 / 1_000_000, span.0 / 10_000 % 100)
}

fn expected_value(see: &Expected) -> Value {
    match see {
        Expected::Same(value) => value.clone(),
        Expected::Varies(values) => json!({ "one of": values }),
    }
}

fn refused_words(refused: &[Option<String>]) -> Value {
    let words: Vec<&str> = refused.iter().map(|r| r.as_deref().unwrap_or("accepted")).collect();
    if words.len() == 1 { json!(words[0]) } else { json!({ "one of": words }) }
}

/// Wrong values and the seeds that gave them.
struct Tally {
    part: &'static str,
    expected: Value,
    got: Vec<(String, Vec<u64>)>,
}

impl Tally {
    fn new(part: &'static str, expected: Value) -> Tally {
        Tally { part, expected, got: Vec::new() }
    }

    fn add(&mut self, seed: u64, observed: &Observed) {
        let text = match observed {
            Observed::Seen(value) => value.to_string(),
            Observed::Answered(None) => "\"accepted\"".to_string(),
            Observed::Answered(Some(exception)) => json!(exception).to_string(),
            Observed::Waited { held, see, .. } => json!({ "held": held, "see": see }).to_string(),
            Observed::NotModelled(reason) | Observed::Impossible(reason) => reason.clone(),
            Observed::Nothing => "nothing".to_string(),
        };
        match self.got.iter_mut().find(|(known, _)| *known == text) {
            Some((_, seeds)) => seeds.push(seed),
            None => self.got.push((text, vec![seed])),
        }
    }

    fn difference(self) -> Option<Difference> {
        (!self.got.is_empty()).then(|| Difference {
            part: self.part.to_string(),
            expected: self.expected.to_string(),
            got: self.got,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_judged_by_the_widened_span() {
        let span = (Dur::secs(8), Dur::secs(12));
        for (median, after_start, right) in
            [(5, false, true), (4, false, false), (4, true, true), (16, false, true), (17, true, false)]
        {
            assert_eq!(
                took_rule(span, Dur::secs(median), after_start).is_ok(),
                right,
                "{median} s, after a start: {after_start}"
            );
        }
    }

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&mut [Dur(3), Dur(1), Dur(2)]), Some(Dur(2)));
        assert_eq!(median(&mut [Dur(4), Dur(1), Dur(2), Dur(3)]), Some(Dur(2)));
        assert_eq!(median(&mut []), None);
    }

    /// A recording of one query, and plays of which some saw what it says.
    fn judged(runs: i64, agreeing: u64, others: u64) -> Outcome {
        let text = format!(
            r#"{{ "id": "X", "kafka": ["4.1.1"], "runs": {runs}, "setup": {{ "brokers": 1, "controllers": 1 }},
                "script": [ {{ "query": {{ "leaderless": "t" }}, "see": 1 }} ] }}"#
        );
        let recording = Recording::read(&text).expect("a recording");
        let play = |seed| (seed, Play { observed: vec![Observed::Seen(json!(i32::from(seed <= agreeing)))] });
        let plays: Vec<(u64, Play)> = (1..=agreeing + others).map(play).collect();
        judge(&recording, &plays).entries[0].outcome.clone()
    }

    #[test]
    fn what_two_runs_agree_on_must_be_no_rare_case_of_the_engine() {
        assert!(matches!(judged(2, 20, 0), Outcome::Equal(_)));
        assert!(matches!(judged(2, 5, 15), Outcome::InSomeRuns { .. }));
        let Outcome::Different(differences) = judged(2, 4, 16) else { panic!("four of twenty are too few") };
        assert!(differences[0].expected.contains("22.4 %"), "{differences:?}");
        assert!(matches!(judged(1, 1, 19), Outcome::InSomeRuns { .. }));
    }

    #[test]
    fn a_median_that_is_wrong_is_a_difference_even_where_a_quarter_of_the_seeds_is_right() {
        let waited = |seconds| Observed::Waited { held: true, took: Dur::secs(seconds), see: Value::Null };
        let (long, short) = (waited(17), waited(9));
        let seen: Vec<(u64, &Observed)> = (1..=20).map(|seed| (seed, if seed <= 7 { &long } else { &short })).collect();
        let outcome = when_outcome(&[true], Some((Dur::secs(17), Dur::secs(17))), None, &seen, false);
        assert!(matches!(outcome, Outcome::Different(_)), "{outcome:?}");
    }
}
