//! Where something belongs that was written at another place or in another way: what people try first, with what the
//! format has for it. Reads nothing and accepts nothing.

use highwater_engine::protocol::config::{Scope, setting};

use super::verb::VERBS;

/// The part of a file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Root,
    Cluster,
    Broker,
    Topic,
    Producer,
    Group,
    Member,
    Entry,
    /// What stands under a verb.
    Argument,
    Other,
}

fn part(path: &str) -> Part {
    let steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    match steps.as_slice() {
        [] => Part::Root,
        ["cluster"] => Part::Cluster,
        ["cluster", "brokers", _] => Part::Broker,
        ["topics", _] | ["script", _, "do", _, "create-topic"] => Part::Topic,
        ["producers", _] | ["script", _, "do", _, "start-client"] => Part::Producer,
        ["groups", _] => Part::Group,
        ["groups", _, "members", _] => Part::Member,
        ["script", _] => Part::Entry,
        ["script", _, "do", _, _] => Part::Argument,
        _elsewhere => Part::Other,
    }
}

/// The configs that a part may hold.
fn scope(part: Part) -> Option<Scope> {
    match part {
        Part::Root | Part::Cluster | Part::Broker => Some(Scope::Node),
        Part::Topic => Some(Scope::Topic),
        Part::Producer => Some(Scope::Producer),
        Part::Group | Part::Member => Some(Scope::Consumer),
        Part::Entry | Part::Argument | Part::Other => None,
    }
}

/// What the format has for a key that it does not have here.
pub fn key(path: &str, key: &str) -> Option<String> {
    let part = part(path);
    // `replicationFactor`, `replication_factor` and `Replication-Factor` are one word.
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let known = match (part, plain.as_str()) {
        (Part::Root, "brokers" | "broker") => r#""cluster": {"brokers": 3}"#,
        (Part::Root, "controllers" | "controller") => r#""cluster": {"controllers": 3}"#,
        (Part::Root, "config" | "configs") => r#""cluster": {"config": {…}}"#,
        (Part::Root, "link" | "links") => r#""cluster": {"link": {"latency": "5ms"}}"#,
        (Part::Root, "consumers" | "consumer" | "members") => r#""groups": {"billing": {"members": ["b1", "b2"]}}"#,
        (Part::Root, "actions" | "events" | "steps" | "do" | "at") => {
            r#""script": [{"at": "5s", "do": [{"kill": 1}]}]"#
        }
        (Part::Root, "version" | "kafka") => r#""rules": "4.1""#,
        (Part::Root, "name") => r#""title": "…""#,
        (Part::Root, "description") => r#""about": "…""#,
        (Part::Topic, "rf" | "replicationfactor" | "replicas") => r#""replication": 3"#,
        (Part::Topic, "numpartitions" | "partitioncount") => r#""partitions": 6"#,
        (Part::Topic, "minisr" | "mininsyncreplicas") => r#""config": {"min.insync.replicas": 2}"#,
        (Part::Producer, "version") => r#""client": "4.1""#,
        (Part::Producer, "topics") => r#""topic": "orders", one for each producer"#,
        (Part::Producer, "idempotence" | "idempotent") => r#""config": {"enable.idempotence": true}"#,
        (Part::Producer, "linger") => r#""config": {"linger.ms": 5}"#,
        (Part::Producer, "key") => r#""keys": ["a", "b"]"#,
        (Part::Producer, "size" | "messagesize" | "recordsize") => r#""value-size": 100"#,
        (Part::Group, "consumers" | "consumer" | "clients" | "member") => r#""members": ["b1", "b2"]"#,
        (Part::Group | Part::Member, "version") => r#""client": "4.1""#,
        (Part::Group, "topic") => r#""topics": ["orders"]"#,
        (Part::Entry, "time" | "when" | "after") => r#""at": "5s", or "at": "+2s" after the entry before"#,
        (Part::Entry, "action" | "actions") => r#""do": [{"kill": 1}]"#,
        (Part::Entry, "name" | "label") => r#""checkpoint": "…""#,
        (
            Part::Root
            | Part::Cluster
            | Part::Broker
            | Part::Topic
            | Part::Producer
            | Part::Group
            | Part::Member
            | Part::Entry
            | Part::Argument
            | Part::Other,
            _unknown,
        ) => "",
    };
    if !known.is_empty() {
        return Some(known.into());
    }
    if part == Part::Entry && VERBS.contains(&key) {
        return Some(format!("\"do\": [{{\"{key}\": …}}]"));
    }
    // A config of Kafka's beside the keys of the format.
    setting(scope(part)?, key).map(|_| match part {
        Part::Root => format!("\"cluster\": {{\"config\": {{\"{key}\": …}}}}"),
        Part::Broker => format!("\"config\": {{\"{key}\": …}} of \"cluster\", for all brokers"),
        Part::Cluster
        | Part::Topic
        | Part::Producer
        | Part::Group
        | Part::Member
        | Part::Entry
        | Part::Argument
        | Part::Other => format!("\"config\": {{\"{key}\": …}}"),
    })
}

/// How the format names the node that a text seems to mean.
pub fn node(text: &str) -> Option<String> {
    let is_mark = |c: char| !c.is_ascii_alphanumeric();
    let after =
        |word: &str| text.strip_prefix(word).map(|rest| rest.trim_matches(is_mark)).filter(|rest| !rest.is_empty());
    for role in ["leader-of", "coordinator-of"] {
        if let Some(of) = after(role) {
            return Some(format!("{{\"{role}\": \"{of}\"}}"));
        }
    }
    let numbered = |word: &str, kind: &str| {
        let number = after(word).filter(|rest| rest.bytes().all(|b| b.is_ascii_digit()))?;
        Some(format!("{kind}/{number}"))
    };
    numbered("broker", "broker")
        .or_else(|| numbered("kafka", "broker"))
        .or_else(|| numbered("controller", "controller"))
        .or_else(|| (text == "leader").then(|| r#"{"leader-of": "orders/0"}"#.into()))
        .or_else(|| (text == "controller").then(|| "active-controller".into()))
        .or_else(|| (text == "coordinator").then(|| r#"{"coordinator-of": "billing"}"#.into()))
}

/// What the format has for a value of another type than a key holds.
pub fn value(path: &str, found: Found<'_>) -> Option<String> {
    let steps: Vec<&str> = path.split('/').collect();
    Some(match (steps.as_slice(), found) {
        (["groups", _, "members"], Found::Number(n)) => {
            let names: Vec<String> = (1..=n.clamp(1, 4)).map(|i| format!("\"b{i}\"")).collect();
            let more = if n > 4 { ", …" } else { "" };
            format!("\"members\": [{}{more}]", names.join(", "))
        }
        (["groups", _, "members"], Found::Text(name)) => format!("\"members\": [\"{name}\"]"),
        (["groups", _, "topics"], Found::Text(name)) => format!("\"topics\": [\"{name}\"]"),
        (["topics", _, "replicas"] | ["script", _, "do", _, "create-topic", "replicas"], Found::Numbers(list)) => {
            format!("\"replicas\": {{\"0\": [{list}]}}, the brokers of each partition")
        }
        (["topics", _, "replicas"] | ["script", _, "do", _, "create-topic", "replicas"], Found::Number(n)) => {
            format!("\"replication\": {n}")
        }
        (["topics"], Found::List | Found::Text(_)) => r#""topics": {"orders": {"partitions": 6}}"#.into(),
        (["topics", _], Found::Number(n)) => format!("{{\"partitions\": {n}}}"),
        (["producers"], Found::List | Found::Text(_) | Found::Number(_)) => {
            r#""producers": {"checkout": {"topic": "orders"}}"#.into()
        }
        (["groups"], Found::List | Found::Text(_)) => r#""groups": {"billing": {"members": ["b1"]}}"#.into(),
        (["groups", _], Found::List) => r#"{"members": ["b1", "b2"]}"#.into(),
        (["cluster"], Found::Number(n)) => format!("\"cluster\": {{\"brokers\": {n}}}"),
        (["cluster", "brokers"], Found::Numbers(list)) => {
            let each: Vec<String> = list.split(", ").map(|id| format!("\"{id}\": {{}}")).collect();
            format!("\"brokers\": {{{}}}", each.join(", "))
        }
        (["script", _, "do"], Found::Map) => r#""do": [{"kill": 1}], a list"#.into(),
        (["script"], Found::Map) => r#""script": [{"at": "5s", "do": [{"kill": 1}]}], a list"#.into(),
        (["script", _, "at"], Found::Number(n)) => format!("\"at\": \"{n}s\""),
        ([.., "rate"], Found::Number(n)) => format!("\"rate\": \"{n}/s\""),
        ([.., "start" | "stop" | "created" | "latency" | "jitter" | "for" | "every"], Found::Number(n)) => {
            format!("\"{}\": \"{n}s\"", steps.last().copied().unwrap_or_default())
        }
        ([.., "loss"], Found::Number(n)) => format!("\"loss\": \"{n}%\""),
        _nothing_known => return None,
    })
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    Number(i64),
    Text(&'a str),
    /// A list of whole numbers, as it would be written.
    Numbers(&'a str),
    List,
    Map,
    Other,
}

/// What the format has for a rate that it cannot hold.
pub fn rate(text: &str) -> Option<String> {
    let (number, unit) = text.split_once('/')?;
    let number: u64 = number.trim().parse().ok()?;
    let per = match unit.trim() {
        "s" | "sec" | "second" => return Some(format!("\"rate\": \"{number}/s\"")),
        "m" | "min" | "minute" => 60,
        "h" | "hour" => 3_600,
        _unknown => return None,
    };
    if number > 0 && number.is_multiple_of(per) {
        return Some(format!("\"rate\": \"{}/s\"", number / per));
    }
    let every = per.checked_div(number).unwrap_or(per);
    Some(format!(
        "\"rate\": \"0/s\" and {{\"produce\": {{\"client\": …, \"count\": 100, \"every\": \"{every}s\"}}}} in the script: \
         a rate is whole records a second"
    ))
}
