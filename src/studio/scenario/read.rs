//! From values to a scenario. Refuses what it does not know; whether the parts fit together is checked elsewhere.
use std::rc::Rc;

use highwater_engine::base::limits::{
    MAX_BROKERS, MAX_CLIENTS, MAX_CONTROLLERS, MAX_PARTITIONS, MAX_RATE_PER_SECOND, MAX_TOPICS,
};
use highwater_engine::base::{Dur, Map};
use highwater_engine::client::{ClientVersion, Keys, PollForm};
use highwater_engine::rules::Version;
use highwater_engine::world::LinkSetup;

use super::error::{Problem, ScenarioError, nearest_version};
use super::model::*;
use super::object::{At as Here, error};
use super::shown::is_bidi;
use super::token::{Data, quoted};
use super::{hints, storyboard, unit, verb};

/// Actions of a script.
pub const MAX_ACTIONS: usize = 20_000;
/// A run never goes on longer.
pub const MAX_TIME: Dur = Dur::secs(24 * 3_600);
/// The largest id of a broker.
pub const MAX_BROKER_ID: u32 = 1_000;
/// Bytes of one value of a producer.
pub const MAX_VALUE_SIZE: u32 = 1_000_000;
/// Records of one `produce`.
pub const MAX_COUNT: u32 = 100_000;

type Result<T> = std::result::Result<T, ScenarioError>;

pub fn scenario(root: &Here<'_>) -> Result<Scenario> {
    format_version(root)?;
    let object = root.object(
        &[
            "scenario",
            "engine",
            "id",
            "lang",
            "title",
            "about",
            "rules",
            "seed",
            "cluster",
            "topics",
            "producers",
            "groups",
            "script",
        ],
        &["minutes", "requires", "variants", "checks"],
    )?;
    let cluster = object.optional("cluster", cluster)?.unwrap_or_default();
    let topics = match object.get("topics") {
        Some(at) => named(&at, MAX_TOPICS, topic_name, |at| topic(at, &[]))?,
        None => cluster.default_topics(),
    };
    let first = topics.first().map(|(name, _)| name.clone());
    let producers = match object.get("producers") {
        Some(at) => named(&at, MAX_CLIENTS, name, |at| producer(at, &[], first.as_deref()))?,
        None => default_producers(&topics),
    };
    let groups = match object.get("groups") {
        Some(at) => named(&at, MAX_CLIENTS, name, |at| group(at, first.as_deref()))?,
        None => default_groups(&topics),
    };
    Ok(Scenario {
        engine: object.optional("engine", |at| at.int(1, i64::from(u32::MAX)).map(|v| v as u32))?,
        id: object.optional("id", |at| name(at, at.text("a text")?))?,
        lang: object.optional("lang", |at| language(at, at.text("a language such as \"en\"")?))?,
        title: object.optional("title", words)?,
        about: object.optional("about", words)?,
        rules: object.optional("rules", rules)?.unwrap_or_default(),
        seed: object.optional("seed", |at| at.int(0, i64::MAX))?.map_or(1, |seed| seed as u64),
        cluster,
        topics,
        producers,
        groups,
        script: object.optional("script", script)?.unwrap_or_default(),
    })
}

/// A newer format says so before anything else is complained about.
fn format_version(root: &Here<'_>) -> Result<()> {
    let Data::Map(entries) = &root.value.data else {
        return Err(root.wrong_type("an object with the key \"scenario\""));
    };
    let Some((_, value)) = entries.iter().find(|(key, _)| key.text == "scenario") else {
        return Err(error(
            Problem::Missing,
            "scenario",
            root.value.place,
            "",
            format!("\"scenario\": {FORMAT}, the version of the format"),
        ));
    };
    let at = Here { value, path: "scenario".into() };
    let version = at.int(1, i64::from(u32::MAX))?;
    if version > i64::from(FORMAT) {
        let mut newer = at.error(Problem::NewerVersion, format!("at most {FORMAT}"));
        newer.limit = Some(version as u64);
        return Err(newer);
    }
    Ok(())
}

fn named<T>(
    at: &Here<'_>,
    most: usize,
    check: impl Fn(&Here<'_>, &str) -> Result<String>,
    read: impl Fn(&Here<'_>) -> Result<T>,
) -> Result<Vec<(String, T)>> {
    let entries = at.named()?;
    if entries.len() > most {
        return Err(too_many(at, entries.len(), most));
    }
    entries.into_iter().map(|(key, at)| Ok((check(&at, key)?, read(&at)?))).collect()
}

pub fn too_many(at: &Here<'_>, found: usize, most: usize) -> ScenarioError {
    let mut e = error(Problem::TooLarge, &at.path, at.value.place, found.to_string(), format!("at most {most}"));
    e.limit = Some(most as u64);
    e
}

fn rules(at: &Here<'_>) -> Result<Version> {
    let expected = || {
        format!("one of {}", Version::ALL.iter().map(|v| format!("\"{}\"", v.name())).collect::<Vec<_>>().join(", "))
    };
    let text = match &at.value.data {
        Data::Text(text) => text,
        Data::Null | Data::Bool(_) | Data::Int(_) | Data::List(_) | Data::Map(_) => {
            return Err(at.wrong_type("a version in quotes, such as \"4.1\""));
        }
    };
    Version::parse(text).filter(|v| v.name() == text).ok_or_else(|| {
        let mut e = at.error(Problem::OutOfRange, expected());
        e.nearest = Version::parse(text)
            .map(|v| v.name().to_string())
            .or_else(|| nearest_version(text, Version::ALL.iter().map(|v| v.name())));
        e
    })
}

fn language(at: &Here<'_>, text: &str) -> Result<String> {
    let plain = (2..=12).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if plain {
        Ok(text.into())
    } else {
        Err(error(Problem::OutOfRange, &at.path, at.value.place, quoted(text), "a language such as \"en\" or \"zh\""))
    }
}

pub fn words(at: &Here<'_>) -> Result<Words> {
    if !at.is_map() {
        return at.text("a text, or an object of languages").map(|text| Words::Plain(text.into()));
    }
    let mut texts = Vec::new();
    for (lang, at) in at.named()? {
        texts.push((language(&at, lang)?, at.text("a text")?.to_string()));
    }
    if texts.is_empty() {
        Err(at.error(Problem::Missing, "at least one language"))
    } else {
        Ok(Words::Languages(texts))
    }
}

fn cluster(at: &Here<'_>) -> Result<Cluster> {
    let object = at.object(&["controllers", "brokers", "config", "link", "links"], &["combined", "zookeeper"])?;
    let link = object.optional("link", link_change)?.unwrap_or_default();
    let plain = LinkSetup::default();
    Ok(Cluster {
        controllers: object.optional("controllers", |at| at.int(1, MAX_CONTROLLERS as i64))?.map_or(3, |v| v as u32),
        brokers: object.optional("brokers", brokers)?.unwrap_or_else(|| plain_brokers(3)),
        config: object.optional("config", config)?.unwrap_or_default(),
        link: LinkSetup {
            latency: link.latency.unwrap_or(plain.latency),
            jitter: link.jitter.unwrap_or(plain.jitter),
            loss_per_million: link.loss_per_million.unwrap_or(plain.loss_per_million),
        },
        links: match object.get("links") {
            Some(at) => at.list()?.iter().map(verb::link).collect::<Result<_>>()?,
            None => Vec::new(),
        },
    })
}

fn brokers(at: &Here<'_>) -> Result<Map<u32, Broker>> {
    if at.is_list() {
        return Err(at.wrong_type("a number of brokers, or an object of them"));
    }
    if !at.is_map() {
        return at.int(1, MAX_BROKERS as i64).map(|count| plain_brokers(count as u32));
    }
    let entries = at.named()?;
    if entries.is_empty() || entries.len() > MAX_BROKERS {
        return Err(too_many(at, entries.len(), MAX_BROKERS));
    }
    let mut brokers = Map::new();
    for (key, at) in entries {
        let id = broker_id(key).ok_or_else(|| {
            error(
                Problem::OutOfRange,
                &at.path,
                at.value.place,
                quoted(key),
                format!("a broker's number, 1 to {MAX_BROKER_ID}"),
            )
        })?;
        let object = at.object(&["rack", "start"], &["log-dirs", "config"])?;
        let broker = Broker {
            rack: object.optional("rack", |at| name(at, at.text("a text")?))?,
            start: object.optional("start", duration)?.unwrap_or_default(),
        };
        brokers.insert(id, broker);
    }
    Ok(brokers)
}

/// A broker's number, written as such.
pub fn broker_id(text: &str) -> Option<u32> {
    text.parse().ok().filter(|id: &u32| (1..=MAX_BROKER_ID).contains(id) && id.to_string() == text)
}

pub fn link_change(at: &Here<'_>) -> Result<LinkChange> {
    let object = at.object(&["latency", "jitter", "loss"], &["bandwidth"])?;
    link_values(&object)
}

pub fn link_values(object: &super::object::Object<'_>) -> Result<LinkChange> {
    Ok(LinkChange {
        latency: object.optional("latency", duration)?,
        jitter: object.optional("jitter", duration)?,
        loss_per_million: object.optional("loss", |at| {
            let text = at.text("a share such as \"1%\"")?;
            unit::share(text)
                .ok_or_else(|| at.error(Problem::OutOfRange, "a share such as \"1%\", from \"0%\" to \"100%\""))
        })?,
    })
}

/// Kafka's keys. Which keys there are depends on what they configure; see `check`.
pub fn config(at: &Here<'_>) -> Result<Config> {
    let mut config = Config::new();
    for (key, at) in at.named()? {
        let value = match &at.value.data {
            Data::Bool(value) => value.to_string(),
            Data::Int(value) => value.to_string(),
            Data::Text(text) => text.clone(),
            Data::Null | Data::List(_) | Data::Map(_) => {
                return Err(at.wrong_type("true, false, a whole number or a text"));
            }
        };
        config.insert(key.into(), value);
    }
    Ok(config)
}

/// A topic; `more` are keys that the caller reads.
pub fn topic(at: &Here<'_>, more: &[&str]) -> Result<Topic> {
    let known: Vec<&str> = ["partitions", "replication", "replicas", "config"]
        .into_iter()
        .chain(if more.is_empty() { &["created"][..] } else { more }.iter().copied())
        .collect();
    let object = at.object(&known, &[])?;
    let placement = match object.get("replicas") {
        Some(at) => {
            let given = replicas(&at)?;
            for other in ["partitions", "replication"] {
                if let Some(at) = object.get(other) {
                    return Err(
                        at.error(Problem::Impossible, "either \"replicas\", or \"partitions\" and \"replication\"")
                    );
                }
            }
            Placement::Replicas(given)
        }
        None => Placement::Counts {
            partitions: object.optional("partitions", |at| at.int(1, i64::from(MAX_PARTITIONS)))?.map(|v| v as u32),
            replication: object.optional("replication", |at| at.int(1, i64::from(i16::MAX)))?.map(|v| v as u32),
        },
    };
    Ok(Topic {
        placement,
        config: object.optional("config", config)?.unwrap_or_default(),
        created: object.optional("created", duration)?.unwrap_or_default(),
    })
}

fn replicas(at: &Here<'_>) -> Result<Map<u32, Vec<u32>>> {
    let entries = at.named()?;
    if entries.is_empty() || entries.len() > MAX_PARTITIONS as usize {
        return Err(too_many(at, entries.len(), MAX_PARTITIONS as usize));
    }
    let mut all = Map::new();
    for (number, (key, at)) in entries.into_iter().enumerate() {
        if key != number.to_string() {
            return Err(error(
                Problem::OutOfRange,
                &at.path,
                at.value.place,
                quoted(key),
                format!("\"{number}\": partitions are listed in order, from 0, without gaps"),
            ));
        }
        let brokers = at
            .list()?
            .iter()
            .map(|at| at.int(1, i64::from(MAX_BROKER_ID)).map(|id| id as u32))
            .collect::<Result<Vec<u32>>>()?;
        if brokers.is_empty() {
            return Err(at.error(Problem::Missing, "at least one broker"));
        }
        all.insert(number as u32, brokers);
    }
    Ok(all)
}

/// Kafka's alphabet for names of topics.
pub fn topic_name(at: &Here<'_>, text: &str) -> Result<String> {
    let legal = !text.is_empty()
        && text.len() <= 249
        && text != "."
        && text != ".."
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if legal {
        Ok(text.into())
    } else {
        Err(error(
            Problem::OutOfRange,
            &at.path,
            at.value.place,
            quoted(text),
            "a topic name of Kafka: letters, digits, '.', '_' and '-', at most 249 of them",
        ))
    }
}

/// The name of a client, group, rack or checkpoint.
pub fn name(at: &Here<'_>, text: &str) -> Result<String> {
    let legal = !text.is_empty()
        && text.chars().count() <= 100
        && !text.chars().any(|c| c.is_control() || c == '/' || is_bidi(c));
    if legal {
        Ok(text.into())
    } else {
        Err(error(
            Problem::OutOfRange,
            &at.path,
            at.value.place,
            quoted(text),
            "a name of 1 to 100 characters without '/' and control characters",
        ))
    }
}

pub fn duration(at: &Here<'_>) -> Result<Dur> {
    let text = at.text(unit::A_DURATION)?;
    let span = unit::duration(text).ok_or_else(|| unreadable(at, text, unit::A_DURATION))?;
    bounded(at, span)
}

pub fn bounded(at: &Here<'_>, span: Dur) -> Result<Dur> {
    if span > MAX_TIME {
        let mut e = at.error(Problem::OutOfRange, "at most \"24h\"");
        e.limit = Some(MAX_TIME.0);
        return Err(e);
    }
    Ok(span)
}

pub fn client_version(at: &Here<'_>) -> Result<String> {
    let text = at.text("a version in quotes, such as \"4.1\"")?;
    if ClientVersion::parse(text).is_none() {
        let mut e = at.error(Problem::OutOfRange, "a release of the Java clients from \"0.11\" to \"4.1\"");
        e.nearest = nearest_version(text, ClientVersion::ALL.iter().map(|v| v.name()));
        return Err(e);
    }
    Ok(text.into())
}

/// Records per second.
pub fn rate(at: &Here<'_>) -> Result<u32> {
    let text = at.text("a rate such as \"20/s\"")?;
    let rate = unit::rate(text).ok_or_else(|| {
        let mut e = at.error(Problem::OutOfRange, "a rate such as \"20/s\"");
        e.nearest = hints::rate(text);
        e
    })?;
    if rate > u64::from(MAX_RATE_PER_SECOND) {
        let mut e = at.error(Problem::OutOfRange, format!("at most \"{MAX_RATE_PER_SECOND}/s\""));
        e.limit = Some(u64::from(MAX_RATE_PER_SECOND));
        return Err(e);
    }
    Ok(rate as u32)
}

/// A producer; `more` are keys that the caller reads.
pub fn producer(at: &Here<'_>, more: &[&str], topic: Option<&str>) -> Result<Producer> {
    let known: Vec<&str> = ["client", "topic", "partition", "rate", "keys", "value-size", "start", "stop", "config"]
        .into_iter()
        .chain(more.iter().copied())
        .collect();
    let object = at.object(&known, &[])?;
    let plain = Producer::default();
    // With `client` as the name of the client (start-client), its version cannot be given too.
    let names_client = more.contains(&"name");
    Ok(Producer {
        client: if names_client { None } else { object.optional("client", client_version)? }.unwrap_or(plain.client),
        topic: object.optional("topic", |at| topic_name(at, at.text("a topic")?))?.or_else(|| topic.map(Into::into)),
        partition: object.optional("partition", |at| at.int(0, i64::from(MAX_PARTITIONS)))?.map(|v| v as u32),
        rate: object.optional("rate", rate)?.unwrap_or(plain.rate),
        keys: object.optional("keys", keys)?.unwrap_or_default(),
        value_size: object
            .optional("value-size", |at| at.int(0, i64::from(MAX_VALUE_SIZE)))?
            .map_or(plain.value_size, |v| v as u32),
        start: object.optional("start", duration)?,
        stop: object.optional("stop", duration)?,
        config: object.optional("config", config)?.unwrap_or_default(),
    })
}

fn keys(at: &Here<'_>) -> Result<Keys> {
    if at.is_list() {
        let keys = at.list()?.iter().map(|at| record_text(at).map(Rc::from)).collect::<Result<Vec<Rc<str>>>>()?;
        return if keys.is_empty() {
            Err(at.error(Problem::Missing, "at least one key"))
        } else {
            Ok(Keys::Listed(keys))
        };
    }
    Ok(match at.one_of(&["none", "even", "hot"])? {
        "even" => Keys::Even,
        "hot" => Keys::Hot,
        _none => Keys::None,
    })
}

/// A key or a value: it stands in the middle of the page's own words, so nothing in it may turn them.
pub fn record_text<'a>(at: &Here<'a>) -> Result<&'a str> {
    let text = at.text("a text")?;
    if text.chars().any(|c| c.is_control() || is_bidi(c)) {
        return Err(at.error(Problem::OutOfRange, "a text without control characters and marks of direction"));
    }
    Ok(text)
}

pub fn poll(at: &Here<'_>) -> Result<PollForm> {
    Ok(if at.one_of(&["duration", "long"])? == "long" { PollForm::Long } else { PollForm::Duration })
}

fn group(at: &Here<'_>, first: Option<&str>) -> Result<Group> {
    let object = at.object(&["topics", "members", "client", "poll", "config"], &["protocol", "assignor"])?;
    let members = match object.get("members") {
        Some(at) if at.is_list() => {
            let items = at.list()?;
            if items.len() > MAX_CLIENTS {
                return Err(too_many(&at, items.len(), MAX_CLIENTS));
            }
            items
                .iter()
                .map(|at| Ok((name(at, at.text("a member's name")?)?, Member::default())))
                .collect::<Result<_>>()?
        }
        Some(at) if at.is_map() => named(&at, MAX_CLIENTS, name, member)?,
        Some(at) => return Err(at.wrong_type("a list of names, or an object of them")),
        None => Vec::new(),
    };
    Ok(Group {
        topics: object.optional("topics", topics)?.unwrap_or_else(|| first.map(Into::into).into_iter().collect()),
        members,
        client: object.optional("client", client_version)?.unwrap_or_else(newest_client),
        poll: object.optional("poll", poll)?.unwrap_or_default(),
        config: object.optional("config", config)?.unwrap_or_default(),
    })
}

pub fn topics(at: &Here<'_>) -> Result<Vec<String>> {
    at.list()?.iter().map(|at| topic_name(at, at.text("a topic")?)).collect()
}

fn member(at: &Here<'_>) -> Result<Member> {
    let object = at.object(&["start", "client", "poll", "config"], &[])?;
    Ok(Member {
        start: object.optional("start", duration)?,
        client: object.optional("client", client_version)?,
        poll: object.optional("poll", poll)?,
        config: object.optional("config", config)?.unwrap_or_default(),
    })
}

fn script(at: &Here<'_>) -> Result<Vec<Entry>> {
    let mut n_actions = 0;
    let mut entries = Vec::new();
    for at in at.list()? {
        let object = at.object(
            &["at", "do", "expect", "checkpoint", "say", "ask", "note"],
            &["when", "within", "only", "focus", "values", "task", "pause"],
        )?;
        let actions = match object.get("do") {
            Some(at) => at.list()?.iter().map(verb::verb).collect::<Result<Vec<Verb>>>()?,
            None => Vec::new(),
        };
        n_actions += actions.len();
        if n_actions > MAX_ACTIONS {
            return Err(too_many(&at, n_actions, MAX_ACTIONS));
        }
        entries.push(Entry {
            at: object.optional("at", entry_time)?.unwrap_or(At::WithPrevious),
            actions,
            expect: expect(&object)?,
            checkpoint: object.optional("checkpoint", |at| name(at, at.text("a name")?))?,
            say: object.optional("say", words)?,
            ask: object.optional("ask", storyboard::question)?,
            note: object.optional("note", |at| at.text("a text").map(Into::into))?,
        });
    }
    Ok(entries)
}

/// What is expected is expected of something that is said or asked: an entry's actions are done in any case.
fn expect(object: &super::object::Object<'_>) -> Result<Expect> {
    let expect = object.optional("expect", storyboard::expect)?.unwrap_or_default();
    match object.get("expect") {
        Some(at) if object.get("say").is_none() && object.get("ask").is_none() => {
            Err(at.error(Problem::Impossible, "\"say\" or \"ask\" beside it: what is said where this is so"))
        }
        Some(_) | None => Ok(expect),
    }
}

/// A span or a moment that is written in another way.
fn unreadable(at: &Here<'_>, text: &str, expected: &str) -> ScenarioError {
    let mut e = at.error(Problem::OutOfRange, expected);
    let plus = if text.starts_with('+') { "+" } else { "" };
    e.nearest = hints::span(text.trim_start_matches('+')).map(|span| format!("\"{plus}{span}\""));
    e
}

fn entry_time(at: &Here<'_>) -> Result<At> {
    const EXPECTED: &str = "a moment such as \"12s\", or \"+2s\" after the entry before";
    let text = at.text(EXPECTED)?;
    if let Some(later) = text.strip_prefix('+') {
        let span = unit::duration(later).ok_or_else(|| unreadable(at, text, EXPECTED))?;
        return bounded(at, span).map(At::After);
    }
    let moment = Moment::parse(text).ok_or_else(|| unreadable(at, text, EXPECTED))?;
    bounded(at, moment.at)?;
    Ok(At::Absolute(moment))
}
