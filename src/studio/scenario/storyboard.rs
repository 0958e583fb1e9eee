//! What an author says and asks along a script, and what must be so for it: types, reader, canonical form, checks. It
//! judges nothing: whether something is so is seen in a run.

use serde_json::{Map, Value, json};

use super::error::{Problem, ScenarioError};
use super::model::{Entry, Scenario, Words};
use super::object::{At as Here, Object};
use super::read::{broker_id, name, words};
use super::write;

/// Answers of one question: fewer are no choice, more cannot be read at a glance.
const CHOICES: std::ops::RangeInclusive<usize> = 2..=4;

/// What must be so at the playhead. Empty: it always is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expect {
    /// Producers and groups: whether one cannot do its work.
    pub stopped: Vec<(String, bool)>,
    pub brokers: Vec<(u32, BrokerIs)>,
}

impl Expect {
    pub fn is_empty(&self) -> bool {
        self.stopped.is_empty() && self.brokers.is_empty()
    }
}

/// How a broker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokerIs {
    /// Its process is there and the controllers count on it.
    Running,
    /// Its process is gone, whether the controllers have noticed or not.
    Down,
    /// The controllers have taken it out.
    Fenced,
}

impl BrokerIs {
    const ALL: [(&'static str, BrokerIs); 3] =
        [("running", BrokerIs::Running), ("down", BrokerIs::Down), ("fenced", BrokerIs::Fenced)];

    fn name(self) -> &'static str {
        BrokerIs::ALL.into_iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// A question before something happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub id: String,
    pub text: Words,
    pub choices: Vec<Choice>,
}

/// One answer: it is right where what it expects is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub text: Words,
    pub why: Option<Words>,
    pub expect: Expect,
}

type Result<T> = std::result::Result<T, ScenarioError>;

pub fn expect(at: &Here<'_>) -> Result<Expect> {
    let object = at.object(&["stopped", "broker-state"], LATER)?;
    Ok(Expect {
        stopped: pairs(&object, "stopped", |at, key| Ok((name(at, key)?, at.boolean()?)))?,
        brokers: pairs(&object, "broker-state", |at, key| {
            let id = broker_id(key).ok_or_else(|| at.error(Problem::OutOfRange, "a broker's number"))?;
            let word = at.one_of(&BrokerIs::ALL.map(|(word, _)| word))?;
            let is = BrokerIs::ALL.into_iter().find(|(known, _)| *known == word);
            Ok((id, is.map_or(BrokerIs::Running, |(_, is)| is)))
        })?,
    })
}

/// Probes that belong to the format, but to no reader of this build.
const LATER: &[&str] = &[
    "leader",
    "isr",
    "elr",
    "replicas",
    "leader-epoch",
    "partition-epoch",
    "hw",
    "lso",
    "log-start",
    "log-end",
    "offline-partitions",
    "under-replicated",
    "under-min-isr",
    "active-controller",
    "quorum-leader",
    "quorum-epoch",
    "acked",
    "acked-lost",
    "committed",
    "duplicates",
    "out-of-order",
    "delivered",
    "read-beyond-hw",
    "lag",
    "committed-offset",
    "group-state",
    "assigned",
    "coordinator",
    "last-error",
    "errors",
    "metric",
    "invariant",
];

fn pairs<T>(object: &Object<'_>, key: &str, read: impl Fn(&Here<'_>, &str) -> Result<T>) -> Result<Vec<T>> {
    match object.get(key) {
        Some(at) => at.named()?.into_iter().map(|(key, at)| read(&at, key)).collect(),
        None => Ok(Vec::new()),
    }
}

pub fn question(at: &Here<'_>) -> Result<Question> {
    let object = at.object(&["id", "text", "choices"], &[])?;
    let id = object.need("id")?;
    let choices = object.need("choices")?;
    let read = choices.list()?.iter().map(choice).collect::<Result<Vec<Choice>>>()?;
    if !CHOICES.contains(&read.len()) {
        let expected = format!("{} to {} choices", CHOICES.start(), CHOICES.end());
        return Err(choices.error(Problem::OutOfRange, expected));
    }
    Ok(Question { id: name(&id, id.text("a name")?)?, text: words(&object.need("text")?)?, choices: read })
}

fn choice(at: &Here<'_>) -> Result<Choice> {
    let object = at.object(&["text", "why", "expect"], &["right"])?;
    let choice = Choice {
        text: words(&object.need("text")?)?,
        why: object.optional("why", words)?,
        expect: expect(&object.need("expect")?)?,
    };
    if choice.expect.is_empty() {
        return Err(object.need("expect")?.error(Problem::Missing, "what is so where this answer is right"));
    }
    Ok(choice)
}

/// The canonical form of an expectation.
pub fn expect_value(e: &Expect) -> Value {
    let mut out = Map::new();
    if !e.stopped.is_empty() {
        out.insert("stopped".into(), e.stopped.iter().map(|(name, is)| (name.clone(), json!(is))).collect());
    }
    if !e.brokers.is_empty() {
        let states = e.brokers.iter().map(|(id, is)| (id.to_string(), json!(is.name()))).collect();
        out.insert("broker-state".into(), states);
    }
    Value::Object(out)
}

pub fn question_value(q: &Question) -> Value {
    let choice = |choice: &Choice| {
        let mut out = Map::new();
        out.insert("text".into(), write::words(&choice.text));
        if let Some(why) = &choice.why {
            out.insert("why".into(), write::words(why));
        }
        out.insert("expect".into(), expect_value(&choice.expect));
        Value::Object(out)
    };
    json!({ "id": q.id, "text": write::words(&q.text), "choices": q.choices.iter().map(choice).collect::<Value>() })
}

/// The first name that an entry expects something of and that the scenario does not have, with the keys that lead to
/// it and the names that there are.
pub fn unknown<'a>(s: &'a Scenario, entry: &'a Entry) -> Option<(Vec<String>, String, Vec<&'a str>)> {
    let of_choices = entry.ask.iter().flat_map(|ask| ask.choices.iter().enumerate()).map(|(number, choice)| {
        (vec!["ask".to_string(), "choices".into(), number.to_string(), "expect".into()], &choice.expect)
    });
    let all = std::iter::once((vec!["expect".to_string()], &entry.expect)).chain(of_choices);
    let clients: Vec<&str> = s.producers.iter().map(|p| &*p.0).chain(s.groups.iter().map(|g| &*g.0)).collect();
    all.into_iter().find_map(|(path, expect)| {
        let at = |probe: &str, key: &str| path.iter().cloned().chain([probe.into(), key.into()]).collect();
        let client = expect.stopped.iter().find(|(name, _)| !clients.contains(&name.as_str()));
        let broker = expect.brokers.iter().find(|(id, _)| !s.cluster.brokers.contains_key(id));
        let strange = client.map(|(name, _)| (at("stopped", name), name.clone(), clients.clone()));
        strange.or_else(|| broker.map(|(id, _)| (at("broker-state", &id.to_string()), id.to_string(), Vec::new())))
    })
}

impl Scenario {
    /// The same run without what its author says and asks.
    pub fn without_words(&self) -> Scenario {
        let bare = |entry: &Entry| Entry { expect: Expect::default(), say: None, ask: None, ..entry.clone() };
        let spoken = |entry: &&Entry| {
            let silent = entry.say.is_none() && entry.ask.is_none();
            silent || !entry.actions.is_empty() || entry.checkpoint.is_some()
        };
        Scenario { script: self.script.iter().filter(spoken).map(bare).collect(), ..self.clone() }
    }
}
