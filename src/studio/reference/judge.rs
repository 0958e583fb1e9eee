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
    let enough_times = plays.len() as u64 >= SEEDS
        || outcomes(recording, plays).all(|(_, outcome)| match outcome {
            Outcome::Different(differences) => differences.iter().all(|d| d.part != TOOK),
            Outcome::Equal(_) | Outcome::InSomeRuns { .. } | Outcome::NotModelled(_) => true,
        });
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

/// The rule by which the value is right, if it is. `query` is `None` for the description in a `when`.
fn value_rule(query: Option<&Query>, see: &Expected, got: &Value) -> Option<&'static str> {
    match see {
        Expected::Same(expected) => same(query, expected, got),
        Expected::Varies(values) => {
            if values.iter().any(|expected| same(query, expected, got).is_some()) {
                Some("one of the values of the recorded runs")
            } else if query.is_some_and(counts_in_flight) && between(&values.iter().collect::<Vec<_>>(), got) {
                Some("between the values of the recorded runs, because it counts records in flight")
            } else {
                None
            }
        }
    }
}

fn same(query: Option<&Query>, expected: &Value, got: &Value) -> Option<&'static str> {
    if matches!(query, Some(Query::Rebalances { .. })) {
        (by_member(expected) == by_member(got)).then_some("the same calls in the same order for each member")
    } else if matches!(query, Some(Query::OldClient(_))) {
        old_client_rule(expected, got)
    } else {
        (expected == got).then_some("equal")
    }
}

/// Rows of `[member, …]` as one list per member.
fn by_member(rows: &Value) -> BTreeMap<String, Vec<&Value>> {
    let mut members: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for row in rows.as_array().into_iter().flatten() {
        members.entry(row[0].to_string()).or_default().push(row);
    }
    members
}

/// Records, assignments and revocations equal; failures of commits and polls, and long polls, within 2.
fn old_client_rule(expected: &Value, got: &Value) -> Option<&'static str> {
    let count = |value: &Value, key: &str| value.get(key).and_then(Value::as_i64);
    let exact = ["record", "assigned", "revoked"]
        .iter()
        .all(|key| expected.get(*key).is_none() || count(expected, key) == count(got, key));
    let near =
        ["commit-failed", "poll-took", "error"].iter().all(|key| match (count(expected, key), count(got, key)) {
            (Some(expected), Some(got)) => expected.abs_diff(got) <= 2,
            (None, _) => true,
            (Some(_), None) => false,
        });
    (exact && near).then_some("records and callbacks equal, failures within 2")
}

fn counts_in_flight(query: &Query) -> bool {
    match query {
        Query::Answers { .. }
        | Query::Read { .. }
        | Query::Offsets { .. }
        | Query::Committed(_)
        | Query::OldClient(_) => true,
        Query::Topics(_)
        | Query::Leaderless(_)
        | Query::IsrSizes(_)
        | Query::Group { .. }
        | Query::GroupSizes(_)
        | Query::CoordinatorIsLeaderOf { .. }
        | Query::PartitionOfEach(_)
        | Query::HasLeader
        | Query::EachAnswer { .. }
        | Query::LogAsRead { .. }
        | Query::Rebalances { .. }
        | Query::Errors { .. }
        | Query::Promises { .. } => false,
    }
}

/// Whether every number of `got` lies between those at its place in the values; everything else must be that of one of
/// them. A count that is absent is 0.
fn between(values: &[&Value], got: &Value) -> bool {
    if let Some(number) = got.as_i64() {
        let numbers: Option<Vec<i64>> = values.iter().map(|v| if v.is_null() { Some(0) } else { v.as_i64() }).collect();
        return numbers.is_some_and(|n| n.iter().min() <= Some(&number) && Some(&number) <= n.iter().max());
    }
    match got {
        Value::Object(map) => {
            let keys = values.iter().filter_map(|v| v.as_object()).flat_map(|v| v.keys()).chain(map.keys());
            values.iter().all(|v| v.is_object())
                && keys.into_iter().all(|key| {
                    between(
                        &values.iter().map(|v| v.get(key).unwrap_or(&Value::Null)).collect::<Vec<_>>(),
                        map.get(key).unwrap_or(&json!(0)),
                    )
                })
        }
        Value::Array(items) => {
            let same_length = values.iter().all(|v| v.as_array().is_some_and(|v| v.len() == items.len()));
            same_length
                && items
                    .iter()
                    .enumerate()
                    .all(|(i, item)| between(&values.iter().map(|v| &v[i]).collect::<Vec<_>>(), item))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => values.contains(&got),
    }
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

    #[test]
    fn counts_may_lie_between_what_varied_but_leaders_may_not() {
        let see = Expected::Varies(vec![json!({ "records": 10 }), json!({ "records": 20 })]);
        let read = Query::Read { member: "m".into(), since: None };
        assert!(
            value_rule(Some(&read), &see, &json!({ "records": 13 })).is_some_and(|rule| rule.starts_with("between"))
        );
        assert!(value_rule(Some(&read), &see, &json!({ "records": 21 })).is_none());
        assert!(value_rule(Some(&Query::Topics(vec![])), &see, &json!({ "records": 13 })).is_none());
        assert!(value_rule(Some(&Query::Topics(vec![])), &see, &json!({ "records": 20 })).is_some());
    }

    #[test]
    fn absent_failures_count_as_none() {
        let see = [json!({ "acked": 3, "failed": {} }), json!({ "acked": 1, "failed": { "TimeoutException": 2 } })];
        let values: Vec<&Value> = see.iter().collect();
        assert!(between(&values, &json!({ "acked": 2, "failed": { "TimeoutException": 1 } })));
        assert!(!between(&values, &json!({ "acked": 2, "failed": { "TimeoutException": 3 } })));
        assert!(!between(&values, &json!({ "acked": 2, "failed": { "NetworkException": 1 } })));
    }

    #[test]
    fn the_order_of_an_isr_counts_but_not_that_of_keys() {
        let see = Expected::Same(json!({ "a": 1, "isr": [2, 3] }));
        assert!(value_rule(None, &see, &json!({ "isr": [2, 3], "a": 1 })).is_some());
        assert!(value_rule(None, &see, &json!({ "isr": [3, 2], "a": 1 })).is_none());
    }

    #[test]
    fn the_order_between_members_does_not_count_but_that_within_one_does() {
        let query = Query::Rebalances { members: vec![], since: None };
        let see = Expected::Same(json!([["a", "revoked", []], ["b", "assigned", []], ["a", "assigned", []]]));
        assert!(
            value_rule(
                Some(&query),
                &see,
                &json!([["b", "assigned", []], ["a", "revoked", []], ["a", "assigned", []]])
            )
            .is_some()
        );
        assert!(
            value_rule(
                Some(&query),
                &see,
                &json!([["a", "assigned", []], ["a", "revoked", []], ["b", "assigned", []]])
            )
            .is_none()
        );
    }

    #[test]
    fn failures_of_an_old_client_may_be_off_by_two() {
        let query = Query::OldClient("c".into());
        let see = Expected::Same(
            json!({ "record": 5, "assigned": 1, "revoked": 0, "commit-failed": 6, "poll-took": 0, "error": 0 }),
        );
        let got = |record: i64, failed: i64| json!({ "record": record, "assigned": 1, "revoked": 0, "commit-failed": failed, "poll-took": 0, "error": 0 });
        assert!(value_rule(Some(&query), &see, &got(5, 8)).is_some());
        assert!(value_rule(Some(&query), &see, &got(5, 9)).is_none());
        assert!(value_rule(Some(&query), &see, &got(4, 6)).is_none());
    }
}
