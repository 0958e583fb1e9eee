//! Where something belongs that was written at another place or in another way: what people try first, with what the
//! format has for it. Reads nothing and accepts nothing.

use highwater_engine::base::Dur;
use highwater_engine::protocol::config::{Scope, setting};

use super::unit::duration_text;
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
    SetConfig,
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
        ["script", _, "do", _, "set-config"] => Part::SetConfig,
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
        Part::Entry | Part::SetConfig | Part::Argument | Part::Other => None,
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
        (Part::Root, "consumers" | "consumer" | "members" | "consumergroups" | "consumergroup") => {
            r#""groups": {"billing": {"members": ["b1", "b2"]}}"#
        }
        (Part::Root, "actions" | "events" | "steps" | "do" | "at") => {
            r#""script": [{"at": "5s", "do": [{"kill": 1}]}]"#
        }
        (Part::Root, "version" | "kafka") => r#""rules": "4.1""#,
        (Part::Root, "replicationfactor" | "rf" | "partitions" | "replication") => {
            r#""topics": {"orders": {"partitions": 6, "replication": 3}}"#
        }
        (Part::Root, "acks" | "rate") => r#""producers": {"checkout": {"rate": "5/s", "config": {"acks": "all"}}}"#,
        (Part::Cluster, "nodes" | "brokercount" | "numbrokers" | "size") => r#""brokers": 3"#,
        (Part::Cluster, "version" | "kafka" | "rules") => r#""rules": "4.1" at the top"#,
        (Part::Cluster, "topics" | "topic") => r#""topics" at the top, beside "cluster""#,
        (Part::Cluster, "producers" | "producer") => r#""producers" at the top, beside "cluster""#,
        (Part::Cluster, "groups" | "consumers") => r#""groups" at the top, beside "cluster""#,
        (Part::Cluster, "replicationfactor" | "rf" | "partitions" | "replication") => {
            r#""topics": {"orders": {"partitions": 6, "replication": 3}} at the top"#
        }
        (Part::Cluster, "latency" | "jitter" | "loss" | "network") => r#""link": {"latency": "5ms"}"#,
        (Part::Cluster, "brokerconfig" | "brokerconfigs") => r#""config": {…}"#,
        (Part::Topic, "topic" | "topicname") if path.starts_with("script") => r#""name": "…""#,
        (Part::SetConfig, "name" | "topicname") => r#""topic": "…""#,
        (Part::SetConfig, "brokers" | "node") => r#""broker": 1"#,
        (Part::SetConfig, "configs" | "settings") => r#""config": {…}"#,
        (Part::Argument, "leader" | "leaderof") => r#""leader-of": "orders/0""#,
        (Part::Argument, "coordinator" | "coordinatorof") => r#""coordinator-of": "billing""#,
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
            | Part::SetConfig
            | Part::Argument
            | Part::Other,
            _unknown,
        ) => "",
    };
    if !known.is_empty() {
        return Some(known.into());
    }
    if part == Part::SetConfig && Scope::ALL.iter().any(|scope| setting(*scope, key).is_some()) {
        return Some(format!("\"config\": {{\"{key}\": …}}"));
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
        | Part::SetConfig
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
    if text.bytes().all(|b| b.is_ascii_digit()) && !text.is_empty() {
        return Some(format!("{text}, without quotes"));
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

/// A client is named as a node with its kind.
pub fn client(text: &str) -> Option<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (!text.is_empty() && text.chars().all(is_name)).then(|| format!("client/{text}"))
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
        (["topics", _, "replicas"], Found::List) => r#""replicas": {"0": [1, 2, 3], "1": [2, 3, 1]}"#.into(),
        (["topics", _], Found::Number(n)) => format!("{{\"partitions\": {n}}}"),
        (["producers"], Found::List | Found::Text(_) | Found::Number(_)) => {
            r#""producers": {"checkout": {"topic": "orders"}}"#.into()
        }
        (["groups"], Found::List | Found::Text(_)) => r#""groups": {"billing": {"members": ["b1"]}}"#.into(),
        (["groups", _], Found::Number(_)) => r#"{"members": ["b1", "b2", "b3"]}"#.into(),
        (["groups", _], Found::List) => r#"{"members": ["b1", "b2"]}"#.into(),
        (["cluster"], Found::Number(n)) => format!("\"cluster\": {{\"brokers\": {n}}}"),
        (["cluster", "brokers"], Found::Numbers(list)) => {
            let each: Vec<String> = list.split(", ").map(|id| format!("\"{id}\": {{}}")).collect();
            format!("\"brokers\": {{{}}}", each.join(", "))
        }
        (["script", _, "do", _], Found::Text("heal")) => r#"{"heal": "all"}"#.into(),
        (["script", _, "do", _], Found::Text(word)) if VERBS.contains(&word) => format!("{{\"{word}\": …}}"),
        (["script", _, "do", _, verb], Found::Text(name)) => bare(verb, name)?,
        (["script", _, "do", _, "cut"], Found::List | Found::Numbers(_)) => {
            r#""cut": {"between": [1], "and": [2]}"#.into()
        }
        (["script", _, "do", _, "delete-topic"], Found::Map) => r#""delete-topic": "orders", its name alone"#.into(),
        (["script", _, "do"], Found::Text(_) | Found::Number(_)) => r#""do": [{"kill": 1}]"#.into(),
        (["script", _], Found::List) => r#"{"at": "5s", "do": [{"kill": 1}]}"#.into(),
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

/// The argument of a verb of which only the name was written.
fn bare(verb: &str, name: &str) -> Option<String> {
    Some(match verb {
        "create-topic" => format!("\"create-topic\": {{\"name\": \"{name}\"}}"),
        "add-partitions" => format!("\"add-partitions\": {{\"topic\": \"{name}\", \"to\": 12}}"),
        "elect-leaders" => format!("\"elect-leaders\": {{\"type\": \"preferred\", \"partition\": \"{name}\"}}"),
        "produce" => format!("\"produce\": {{\"client\": \"{name}\", \"count\": 5}}"),
        "start-client" => format!("\"start-client\": {{\"client\": \"{name}\"}}"),
        "pause-client" => {
            format!("\"pause-client\": {{\"member\": \"{name}\", \"for\": \"15s\"}}, or \"pause\": \"client/{name}\"")
        }
        "join" => format!("\"join\": {{\"member\": \"{name}\", \"group\": \"billing\"}}"),
        _with_another_argument => return None,
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
    let text = text.trim();
    let (number, unit) = text
        .split_once('/')
        .or_else(|| text.split_once(" per "))
        .unwrap_or_else(|| text.split_at(text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count()));
    let (records, per_records) = thousandths(number.trim())?;
    let unit = unit.trim();
    let digits = unit.bytes().take_while(u8::is_ascii_digit).count();
    let times: u64 = if digits == 0 { 1 } else { unit.get(..digits)?.parse().ok()? };
    let span_ms: u64 = match unit.get(digits..)?.trim() {
        "" | "s" | "sec" | "second" | "seconds" | "rps" | "hz" => 1_000,
        "ms" => 1,
        "m" | "min" | "minute" | "minutes" => 60_000,
        "h" | "hour" | "hours" => 3_600_000,
        _unknown => return None,
    };
    let span_ms = span_ms.checked_mul(times)?.checked_mul(per_records)?;
    if records > 0 && (records * 1_000).is_multiple_of(span_ms) {
        return Some(format!("\"rate\": \"{}/s\"", records * 1_000 / span_ms));
    }
    let every = duration_text(Dur::ms(span_ms.checked_div(records)?.max(1)));
    Some(format!(
        "\"rate\": \"0/s\" and {{\"produce\": {{\"client\": …, \"count\": 100, \"every\": \"{every}\"}}}} in the script: \
         a rate is whole records a second"
    ))
}

/// A decimal number as a fraction: `0.5` is 500 of 1,000.
fn thousandths(text: &str) -> Option<(u64, u64)> {
    let Some((whole, part)) = text.split_once('.') else { return Some((text.parse().ok()?, 1)) };
    let part = format!("{part:0<3}");
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let number = whole.checked_mul(1_000)?.checked_add(part.get(..3)?.parse().ok()?)?;
    (number < 1_000_000_000).then_some((number, 1_000))
}

/// The verb that an unknown word means.
pub fn verb(word: &str) -> Option<String> {
    let plain: String = word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let plain = plain.strip_suffix("broker").or(plain.strip_suffix("controller")).unwrap_or(&plain);
    let plain = plain.strip_suffix("node").unwrap_or(plain);
    Some(
        match plain {
            "crash" | "die" | "kill" | "fail" | "terminate" => "kill",
            "shutdown" | "stop" | "halt" => "stop",
            "start" | "boot" | "recover" => "start",
            "restart" | "bounce" | "reboot" => "restart",
            "freeze" | "suspend" | "hang" | "pause" | "gc" => "pause",
            "unfreeze" | "unpause" | "continue" | "resume" => "resume",
            "partition" | "disconnect" | "isolate" | "split" | "networkpartition" | "block" => {
                r#""cut": {"between": [1], "and": [2, 3]}"#
            }
            "reconnect" | "unblock" | "heal" | "healall" => r#""heal": "all""#,
            "latency" | "slow" | "slowlink" | "network" => {
                r#""link": {"between": [1], "and": [2, 3], "latency": "100ms"}"#
            }
            "wipe" | "wipedisk" | "losedata" | "cleardisk" => "lose-disk",
            "wait" | "sleep" => r#"another entry of the script, with "at": "+5s""#,
            "send" | "write" | "publish" => "produce",
            "createtopics" | "addtopic" | "newtopic" => "create-topic",
            "addconsumer" | "addmember" | "startconsumer" | "startmember" => "join",
            "startproducer" | "addproducer" => "start-client",
            "alterconfig" | "alterconfigs" | "config" | "setconfigs" => "set-config",
            "electleader" | "preferredleaderelection" | "uncleanelection" => "elect-leaders",
            _unknown => return None,
        }
        .into(),
    )
}

/// A partition as it is written here.
pub fn partition(text: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.rsplit_once(['-', ':', '.', '#']).filter(|(topic, number)| !topic.is_empty() && is_number(number)) {
        Some((topic, number)) => Some(format!("{topic}/{number}")),
        None if text.is_empty() || text.contains('/') => None,
        None => Some(format!("{text}/0")),
    }
}

/// A span or a moment without a unit, with another name of it, or with a part of one: `1.5s` is `1500ms`.
pub fn span(text: &str) -> Option<String> {
    let plain: String = text.chars().filter(|c| *c != ' ').map(|c| if c == ',' { '.' } else { c }).collect();
    let digits = plain.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (number, unit) = plain.split_at_checked(digits).filter(|(number, _)| !number.is_empty())?;
    let (unit, micros) = match unit {
        "" | "s" | "sec" | "secs" | "second" | "seconds" => ("s", 1_000_000),
        "us" | "µs" | "μs" | "micros" | "microseconds" => ("us", 1),
        "ms" | "millis" | "milliseconds" => ("ms", 1_000),
        "m" | "min" | "mins" | "minute" | "minutes" => ("m", 60_000_000),
        "h" | "hour" | "hours" => ("h", 3_600_000_000),
        _unknown => return None,
    };
    if !number.contains('.') {
        return Some(format!("{number}{unit}"));
    }
    let (parts, of) = thousandths(number)?;
    let span = parts.checked_mul(micros)? / of;
    (span > 0).then(|| duration_text(Dur(span)))
}
