//! What a recording says, as plain data, and the strict reader of the file. Plays nothing and judges nothing.

use std::collections::BTreeMap;

use highwater_engine::base::limits::{MAX_BROKERS, MAX_CONTROLLERS};
use highwater_engine::base::{BrokerId, ControllerId, Dur, NodeId};
use serde_json::Value;

use super::entries::{Verb, read_verb};
use super::limits::{MAX_BYTES, MAX_ENTRIES, MAX_NODE, MAX_WAIT};
use super::queries::{Condition, Query, read_conditions, read_query};
use super::reading::{Fields, ReadError, Spot};

/// One file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub id: String,
    pub title: String,
    /// Versions of the recorded cluster.
    pub kafka: Vec<String>,
    /// How many runs were joined.
    pub runs: i64,
    pub setup: RecordedSetup,
    pub script: Vec<Entry>,
    /// The controller's log, record by record, as the file has it.
    pub metadata: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSetup {
    pub brokers: u32,
    pub controllers: u32,
    pub combined: bool,
    pub zookeeper: bool,
    pub racks: BTreeMap<u32, String>,
    pub config: BTreeMap<String, String>,
    /// The brokers that run at first; `None` is all.
    pub started: Option<Vec<BrokerId>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Position in the file's `script`, from 0.
    pub index: usize,
    /// The step as the file has it, in one line.
    pub text: String,
    /// How much later than the entry before it this query was asked in the run that asked it latest than in the one
    /// that asked it first, where that is no matter of the machine's haste.
    pub later: Option<Dur>,
    pub step: Step,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Do {
        verb: Verb,
        /// The exceptions of the runs by name; `None` is "accepted".
        refused: Vec<Option<String>>,
    },
    Wait(Dur),
    When {
        conditions: Vec<Condition>,
        within: Dur,
        held: Vec<bool>,
        took: Option<(Dur, Dur)>,
        see: Option<Expected>,
    },
    Mark(String),
    Query {
        query: Query,
        see: Expected,
    },
}

/// A recorded value.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// The same in all runs.
    Same(Value),
    /// The distinct values of the runs.
    Varies(Vec<Value>),
}

impl Step {
    /// Whether all recorded runs saw the same here.
    pub fn is_same(&self) -> bool {
        match self {
            Step::Do { refused, .. } => refused.len() == 1,
            Step::Wait(_) | Step::Mark(_) => true,
            Step::When { held, see, .. } => {
                held.len() == 1 && see.as_ref().is_none_or(|see| matches!(see, Expected::Same(_)))
            }
            Step::Query { see, .. } => matches!(see, Expected::Same(_)),
        }
    }
}

impl Recording {
    /// Reads a file.
    ///
    /// # Errors
    /// Text that is not JSON (with line and column), or a place that holds something that no recording has (with its
    /// path and what was expected).
    pub fn read(text: &str) -> Result<Recording, ReadError> {
        if text.len() > MAX_BYTES {
            return Err(ReadError {
                at: "the file".into(),
                found: format!("{} bytes", text.len()),
                expected: format!("at most {MAX_BYTES} bytes"),
            });
        }
        let value: Value = serde_json::from_str(text).map_err(|error| ReadError {
            at: format!("line {}, column {}", error.line(), error.column()),
            found: if error.is_eof() { "the end of the file: it was cut short".into() } else { error.to_string() },
            expected: "a recording in JSON".into(),
        })?;
        let root = Spot::root(&value).object(&["id", "title", "kafka", "setup", "runs", "script", "metadata"])?;
        let script = root.need("script")?;
        let entries = script.list()?;
        if entries.len() > MAX_ENTRIES {
            return Err(ReadError {
                at: "script".into(),
                found: format!("{} entries", entries.len()),
                expected: format!("at most {MAX_ENTRIES} entries"),
            });
        }
        let mut marks = Vec::new();
        let mut script = Vec::new();
        let mut before = None;
        for (index, spot) in entries.iter().enumerate() {
            let at = read_at(spot)?;
            let mut entry = read_entry(index, spot, &marks)?;
            if let (Step::Query { .. }, Some(before), Some(at)) = (&entry.step, before, at) {
                entry.later = later(before, at);
            }
            before = at.or(before);
            if let Step::Mark(name) = &entry.step {
                marks.push(name.clone());
            }
            script.push(entry);
        }
        let metadata = match root.get("metadata") {
            Some(spot) => spot.each(|record| Ok(record.value.clone()))?,
            None => Vec::new(),
        };
        Ok(Recording {
            id: root.need("id")?.owned()?,
            title: root.get("title").map_or(Ok(String::new()), |s| s.owned())?,
            kafka: root.need("kafka")?.each(|s| s.owned())?,
            runs: root.get("runs").map_or(Ok(1), |s| s.int(1, 1_000))?,
            setup: read_setup(&root.need("setup")?)?,
            script,
            metadata,
        })
    }
}

fn read_setup(spot: &Spot) -> Result<RecordedSetup, ReadError> {
    let fields = spot.object(&["brokers", "controllers", "combined", "zookeeper", "racks", "config", "started"])?;
    let flag = |key: &str| fields.get(key).map_or(Ok(false), |s| s.flag());
    let combined = flag("combined")?;
    let zookeeper = flag("zookeeper")?;
    let brokers = fields.need("brokers")?.int(1, MAX_BROKERS as i64)? as u32;
    let controllers = match fields.get("controllers") {
        Some(spot) => spot.int(1, MAX_CONTROLLERS as i64)? as u32,
        None if combined || zookeeper => 0,
        None => return Err(fields.spot().wrong("the key \"controllers\", or \"combined\" or \"zookeeper\"")),
    };
    let racks = match fields.get("racks") {
        Some(spot) => {
            let entry = |(key, rack): &(&str, Spot)| {
                Ok((key.parse().map_err(|_| rack.wrong("a broker's number as the key"))?, rack.owned()?))
            };
            spot.map()?.iter().map(entry).collect::<Result<_, ReadError>>()?
        }
        None => BTreeMap::new(),
    };
    let started = fields.get("started").map(|spot| spot.each(read_broker)).transpose()?;
    Ok(RecordedSetup {
        brokers,
        controllers,
        combined,
        zookeeper,
        racks,
        config: read_config(fields.get("config"))?,
        started,
    })
}

/// Kafka configs; none if the key is absent.
pub fn read_config(spot: Option<Spot>) -> Result<BTreeMap<String, String>, ReadError> {
    match spot {
        Some(spot) => spot.map()?.iter().map(|(key, value)| Ok((key.to_string(), value.config_value()?))).collect(),
        None => Ok(BTreeMap::new()),
    }
}

/// A node: `broker/1` or `controller/2`.
pub fn read_node(spot: &Spot) -> Result<NodeId, ReadError> {
    parse_node(spot.text()?).ok_or_else(|| spot.wrong("a node such as \"broker/1\" or \"controller/2\""))
}

/// A node's name, if the text is one.
pub fn parse_node(text: &str) -> Option<NodeId> {
    let (kind, number) = text.split_once('/')?;
    let number = number.parse::<u32>().ok().filter(|n| (1..=MAX_NODE as u32).contains(n))?;
    match kind {
        "broker" => Some(NodeId::Broker(BrokerId(number))),
        "controller" => Some(NodeId::Controller(ControllerId(number))),
        _ => None,
    }
}

/// A broker's name.
pub fn read_broker(spot: &Spot) -> Result<BrokerId, ReadError> {
    match read_node(spot)? {
        NodeId::Broker(id) => Ok(id),
        NodeId::Controller(_) | NodeId::Client(_) => Err(spot.wrong("a broker such as \"broker/1\"")),
    }
}

/// A partition: `orders/0`.
pub fn read_partition(spot: &Spot) -> Result<(String, u32), ReadError> {
    parse_partition(spot.text()?).ok_or_else(|| spot.wrong("a partition such as \"orders/0\""))
}

/// A partition's name, if the text is one.
pub fn parse_partition(text: &str) -> Option<(String, u32)> {
    let (topic, number) = text.rsplit_once('/')?;
    Some((topic.to_string(), number.parse().ok()?))
}

const STEPS: &str = "one of the keys do, wait, when, mark, query";

fn read_entry(index: usize, spot: &Spot, marks: &[String]) -> Result<Entry, ReadError> {
    let map = spot.map()?;
    let kinds: Vec<&str> =
        map.iter().map(|(key, _)| *key).filter(|key| ["do", "wait", "when", "mark", "query"].contains(key)).collect();
    let [kind] = kinds.as_slice() else {
        return Err(spot.wrong(if kinds.is_empty() { STEPS.to_string() } else { format!("only {STEPS}") }));
    };
    let step = match *kind {
        "do" => {
            let fields = spot.object(&["at", "do", "refused", "refused varies", "note"])?;
            Step::Do { verb: read_verb(&fields.need("do")?)?, refused: read_refused(&fields)? }
        }
        "wait" => Step::Wait(spot.object(&["at", "wait", "note"])?.need("wait")?.span(MAX_WAIT)?),
        "when" => read_when(&spot.object(&[
            "at",
            "when",
            "within",
            "held",
            "held varies",
            "took",
            "see",
            "varies",
            "note",
        ])?)?,
        "mark" => Step::Mark(spot.object(&["at", "mark", "note"])?.need("mark")?.owned()?),
        _ => {
            let fields = spot.object(&["at", "query", "see", "varies", "note"])?;
            let see = read_expected(&fields)?.ok_or_else(|| spot.wrong("the key \"see\" or \"varies\""))?;
            Step::Query { query: read_query(&fields.need("query")?, marks)?, see }
        }
    };
    let value = spot.value.get(*kind).map(Value::to_string).unwrap_or_default();
    Ok(Entry { index, text: format!("{kind} {value}"), later: None, step })
}

/// When the entry was done in the runs, least and most; a query and a condition when they were answered.
fn read_at(spot: &Spot) -> Result<Option<(Dur, Dur)>, ReadError> {
    let map = spot.map()?;
    let Some((_, at)) = map.iter().find(|(key, _)| *key == "at") else { return Ok(None) };
    match at.each(|s| s.seconds())?.as_slice() {
        [least, most] => Ok(Some((*least, *most))),
        _ => Err(at.wrong("two numbers of seconds, least and most")),
    }
}

/// The spread of a query's distance from the entry before it, if one run asked at once and another did not.
fn later(before: (Dur, Dur), at: (Dur, Dur)) -> Option<Dur> {
    /// What an answer may take on a busy machine.
    const HASTE: Dur = Dur::ms(250);
    /// A run that asked so much later than another one asked at another time.
    const LATER: Dur = Dur::secs(1);
    let (first, last) = (at.0.0.saturating_sub(before.0.0), at.1.0.saturating_sub(before.1.0));
    let spread = Dur(first.abs_diff(last));
    (first.min(last) <= HASTE.0 && spread >= LATER).then_some(spread)
}

fn read_when(fields: &Fields) -> Result<Step, ReadError> {
    let held = match (fields.get("held"), fields.get("held varies")) {
        (Some(spot), None) => vec![spot.flag()?],
        (None, Some(spot)) => spot.each(|s| s.flag())?,
        (None, None) | (Some(_), Some(_)) => return Err(fields.spot().wrong("the key \"held\"")),
    };
    let took = match fields.get("took") {
        Some(spot) => match spot.each(|s| s.seconds())?.as_slice() {
            [least, most] if least <= most => Some((*least, *most)),
            _ => return Err(spot.wrong("two numbers of seconds, least and most")),
        },
        None => None,
    };
    Ok(Step::When {
        conditions: read_conditions(&fields.need("when")?)?,
        within: fields.need("within")?.span(MAX_WAIT)?,
        held,
        took,
        see: read_expected(fields)?,
    })
}

fn read_expected(fields: &Fields) -> Result<Option<Expected>, ReadError> {
    match (fields.get("see"), fields.get("varies")) {
        (Some(spot), None) => Ok(Some(Expected::Same(spot.value.clone()))),
        (None, Some(spot)) => Ok(Some(Expected::Varies(spot.each(|s| Ok(s.value.clone()))?))),
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(fields.spot().wrong("either \"see\" or \"varies\"")),
    }
}

/// Only the exception's name counts: the words behind the colon hold numbers of that run.
fn read_refused(fields: &Fields) -> Result<Vec<Option<String>>, ReadError> {
    let name = |text: &str| text.split(':').next().unwrap_or(text).trim().to_string();
    match (fields.get("refused"), fields.get("refused varies")) {
        (None, None) => Ok(vec![None]),
        (Some(spot), None) => Ok(vec![Some(name(spot.text()?))]),
        (None, Some(spot)) => {
            spot.each(|s| if s.value.is_null() { Ok(None) } else { s.text().map(|text| Some(name(text))) })
        }
        (Some(_), Some(_)) => Err(fields.spot().wrong("either \"refused\" or \"refused varies\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(entry: &str) -> String {
        format!(
            r#"{{ "id": "X", "kafka": ["4.1.1"], "setup": {{ "brokers": 3, "controllers": 3 }}, "script": [ {entry} ] }}"#
        )
    }

    /// The error of a file whose only entry is this one.
    fn error_of(entry: &str) -> String {
        Recording::read(&file(entry)).expect_err(entry).to_string()
    }

    #[test]
    fn each_kind_of_entry_is_read() {
        let script = r#"{ "do": { "kill": "broker/1" } }, { "wait": "2s" }, { "mark": "m" },
            { "when": { "t/0": { "leader": 1 } }, "within": "40s", "held": true, "took": [0.5, 1] },
            { "query": { "answers": "p", "since": "m" }, "see": { "acked": 1, "failed": {}, "offsets": [0, 0] } }"#;
        let recording = Recording::read(&file(script)).expect("a recording");
        assert_eq!(recording.script.len(), 5);
        assert_eq!(recording.script[1].step, Step::Wait(Dur::secs(2)));
        assert_eq!(recording.script[0].text, r#"do {"kill":"broker/1"}"#);
    }

    #[test]
    fn errors_say_where_and_what_was_expected() {
        let table = [
            (r#"{ "do": { "explode": "broker/1" } }"#, "script[0].do.explode", "one of kill, stop"),
            (r#"{ "do": { "kill": "broker/x" } }"#, "script[0].do.kill", "active-controller"),
            (r#"{ "query": { "mood": "t" }, "see": 1 }"#, "script[0].query", "topics"),
            (r#"{ "query": { "leaderless": "t" } }"#, "script[0]", "see"),
            (r#"{ "query": { "read": "m", "since": "never" }, "see": 1 }"#, "script[0].query.since", "a mark"),
            (
                r#"{ "when": { "t/0": { "leadr": 1 } }, "within": "1s", "held": true }"#,
                "script[0].when.t/0.leadr",
                "leader-in",
            ),
            (r#"{ "when": {}, "within": "1s", "held": true }"#, "script[0].when", "condition"),
            (r#"{ "wait": "soon" }"#, "script[0].wait", "a span"),
            (r#"{ "wait": "2s", "mark": "m" }"#, "script[0]", "only one of"),
            (r#"{ "nothing": 1 }"#, "script[0]", "one of the keys do"),
        ];
        for (entry, at, expected) in table {
            let error = error_of(entry);
            assert!(error.starts_with(&format!("{at}:")), "{entry}: {error}");
            assert!(error.contains(expected), "{entry}: {error}");
        }
    }

    #[test]
    fn a_file_cut_short_says_so() {
        let whole = file(r#"{ "wait": "2s" }"#);
        for end in 1..whole.len() {
            let error = Recording::read(&whole[..end]).expect_err("cut");
            assert!(error.to_string().contains("cut short"), "{end}: {error}");
        }
    }

    #[test]
    fn a_query_that_one_run_asked_later_says_by_how_much() {
        let asked = |at: &str| {
            let script = format!(
                r#"{{ "at": [13.17, 13.62], "wait": "1s" }}, {{ "at": {at}, "query": {{ "leaderless": "t" }}, "see": 1 }}"#
            );
            Recording::read(&file(&script)).expect("a recording").script[1].later
        };
        assert_eq!(asked("[13.19, 15.11]"), Some(Dur::ms(1_470)));
        assert_eq!(asked("[13.19, 13.70]"), None, "the machine's haste");
        assert_eq!(asked("[15.19, 15.70]"), None, "both asked later");
    }
}
