//! The canonical form: keys in the order of the schema, defaults left out, the shortest durations. Decides no default
//! itself.

use highwater_engine::base::Dur;
use highwater_engine::client::{Keys, PollForm};
use highwater_engine::rules::Version;
use highwater_engine::world::LinkSetup;
use serde_json::{Map, Value, json};

use super::model::*;
use super::storyboard;
use super::unit::duration_text;

/// Builds an object, leaving out what is not given.
#[derive(Default)]
struct Out(Map<String, Value>);

impl Out {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.into(), value.into());
    }
    fn some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }
    /// Left out if it is the default.
    fn unless<T: PartialEq>(&mut self, key: &str, value: &T, default: &T, write: impl FnOnce(&T) -> Value) {
        if value != default {
            self.put(key, write(value));
        }
    }
    fn config(&mut self, config: &Config) {
        if !config.is_empty() {
            self.put("config", config_value(config));
        }
    }
    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

pub fn scenario(s: &Scenario) -> Value {
    let mut out = Out::default();
    out.put("scenario", FORMAT);
    out.some("engine", s.engine);
    out.some("id", s.id.as_deref());
    out.some("lang", s.lang.as_deref());
    out.some("title", s.title.as_ref().map(words));
    out.some("about", s.about.as_ref().map(words));
    out.unless("rules", &s.rules, &Version::default(), |v| v.name().into());
    out.unless("seed", &s.seed, &1, |v| json!(v));
    out.unless("cluster", &s.cluster, &Cluster::default(), cluster);
    out.unless("topics", &s.topics, &s.cluster.default_topics(), |topics| named(topics, |t| topic(t, None)));
    let first = s.topics.first().map(|(name, _)| name.as_str());
    out.unless("producers", &s.producers, &default_producers(&s.topics), |producers| {
        named(producers, |p| producer(p, None, first))
    });
    out.unless("groups", &s.groups, &default_groups(&s.topics), |groups| named(groups, |g| group(g, first)));
    out.unless("script", &s.script, &Vec::new(), |script| script.iter().map(entry).collect());
    out.done()
}

fn named<T>(items: &[(String, T)], write: impl Fn(&T) -> Value) -> Value {
    Value::Object(items.iter().map(|(name, item)| (name.clone(), write(item))).collect())
}

pub fn words(words: &Words) -> Value {
    match words {
        Words::Plain(text) => text.as_str().into(),
        Words::Languages(texts) => named(texts, |text| text.as_str().into()),
    }
}

fn span(span: Dur) -> Value {
    duration_text(span).into()
}

/// Values that Kafka parses are written as what they look like.
fn config_value(config: &Config) -> Value {
    let value = |text: &String| match text.parse::<i64>() {
        Ok(number) if number.to_string() == *text => json!(number),
        Ok(_) | Err(_) => match text.as_str() {
            "true" => json!(true),
            "false" => json!(false),
            text => json!(text),
        },
    };
    Value::Object(config.iter().map(|(key, text)| (key.clone(), value(text))).collect())
}

fn cluster(c: &Cluster) -> Value {
    let mut out = Out::default();
    let plain = Cluster::default();
    out.unless("controllers", &c.controllers, &plain.controllers, |v| json!(v));
    out.unless("brokers", &c.brokers, &plain.brokers, |brokers| {
        if *brokers == plain_brokers(brokers.len() as u32) {
            return json!(brokers.len());
        }
        Value::Object(brokers.iter().map(|(id, b)| (id.to_string(), broker(b))).collect())
    });
    out.config(&c.config);
    out.unless("link", &c.link, &plain.link, |link| {
        let plain = LinkSetup::default();
        let change = LinkChange {
            latency: (link.latency != plain.latency).then_some(link.latency),
            jitter: (link.jitter != plain.jitter).then_some(link.jitter),
            loss_per_million: (link.loss_per_million != plain.loss_per_million).then_some(link.loss_per_million),
        };
        let mut out = Out::default();
        link_values(&mut out, change);
        out.done()
    });
    out.unless("links", &c.links, &Vec::new(), |links| links.iter().map(link).collect());
    out.done()
}

fn broker(b: &Broker) -> Value {
    let mut out = Out::default();
    out.some("rack", b.rack.as_deref());
    out.unless("start", &b.start, &Dur::ZERO, |v| span(*v));
    out.done()
}

fn link_values(out: &mut Out, change: LinkChange) {
    out.some("latency", change.latency.map(span));
    out.some("jitter", change.jitter.map(span));
    out.some("loss", change.loss_per_million.map(|loss| format!("{}%", loss / 10_000)));
}

fn link(l: &LinkEntry) -> Value {
    let mut out = Out::default();
    out.put("between", nodes(&l.between));
    out.put("and", nodes(&l.and));
    link_values(&mut out, l.change);
    out.done()
}

/// A topic; `name` for `create-topic`, which has no time of its own.
fn topic(t: &Topic, name: Option<&str>) -> Value {
    let mut out = Out::default();
    out.some("name", name);
    match &t.placement {
        Placement::Counts { partitions, replication } => {
            out.some("partitions", *partitions);
            out.some("replication", *replication);
        }
        Placement::Replicas(replicas) => out.put(
            "replicas",
            Value::Object(replicas.iter().map(|(number, brokers)| (number.to_string(), json!(brokers))).collect()),
        ),
    }
    out.config(&t.config);
    out.unless("created", &t.created, &Dur::ZERO, |v| span(*v));
    out.done()
}

fn keys(keys: &Keys) -> Value {
    match keys {
        Keys::None => json!("none"),
        Keys::Even => json!("even"),
        Keys::Hot => json!("hot"),
        Keys::Listed(keys) => keys.iter().map(|key| Value::from(&**key)).collect(),
    }
}

/// A producer; `name` for `start-client`, where `client` is the name.
fn producer(p: &Producer, name: Option<&str>, first_topic: Option<&str>) -> Value {
    let mut out = Out::default();
    let plain = Producer::default();
    out.some("client", name);
    out.unless(if name.is_some() { "version" } else { "client" }, &p.client, &plain.client, |v| v.as_str().into());
    out.some("topic", p.topic.as_deref().filter(|topic| Some(*topic) != first_topic));
    out.some("partition", p.partition);
    out.unless("rate", &p.rate, &plain.rate, |v| format!("{v}/s").into());
    out.unless("keys", &p.keys, &plain.keys, keys);
    out.unless("value-size", &p.value_size, &plain.value_size, |v| json!(v));
    out.some("start", p.start.map(span));
    out.some("stop", p.stop.map(span));
    out.config(&p.config);
    out.done()
}

fn poll(form: &PollForm) -> Value {
    match form {
        PollForm::Duration => "duration".into(),
        PollForm::Long => "long".into(),
    }
}

fn group(g: &Group, first_topic: Option<&str>) -> Value {
    let mut out = Out::default();
    let plain = Group::default();
    let default: Vec<String> = first_topic.map(Into::into).into_iter().collect();
    out.unless("topics", &g.topics, &default, |topics| json!(topics));
    out.unless("members", &g.members, &plain.members, |members| {
        if members.iter().all(|(_, member)| *member == Member::default()) {
            return members.iter().map(|(name, _)| Value::from(name.as_str())).collect();
        }
        named(members, member)
    });
    out.unless("client", &g.client, &plain.client, |v| v.as_str().into());
    out.unless("poll", &g.poll, &plain.poll, poll);
    out.config(&g.config);
    out.done()
}

fn member(m: &Member) -> Value {
    let mut out = Out::default();
    out.some("start", m.start.map(span));
    out.some("client", m.client.as_deref());
    out.some("poll", m.poll.as_ref().map(poll));
    out.config(&m.config);
    out.done()
}

fn entry(e: &Entry) -> Value {
    let mut out = Out::default();
    match e.at {
        At::WithPrevious => {}
        At::Absolute(moment) => out.put("at", moment.text()),
        At::After(later) => out.put("at", format!("+{}", duration_text(later))),
    }
    out.unless("do", &e.actions, &Vec::new(), |actions| actions.iter().map(verb).collect());
    out.unless("expect", &e.expect, &Expect::default(), storyboard::expect_value);
    out.some("checkpoint", e.checkpoint.as_deref());
    out.some("say", e.say.as_ref().map(words));
    out.some("ask", e.ask.as_ref().map(storyboard::question_value));
    out.some("note", e.note.as_deref());
    out.done()
}

fn nodes(nodes: &Nodes) -> Value {
    match nodes.as_slice() {
        [one] => node(one),
        several => several.iter().map(node).collect(),
    }
}

pub fn node(n: &Node) -> Value {
    match n {
        Node::Broker(id) => json!(id),
        Node::Controller(id) => format!("controller/{id}").into(),
        Node::Client(name) => format!("client/{name}").into(),
        Node::ActiveController => "active-controller".into(),
        Node::LeaderOf(of) => json!({ "leader-of": partition(of) }),
        Node::CoordinatorOf(group) => json!({ "coordinator-of": group }),
    }
}

fn partition(p: &Partition) -> String {
    format!("{}/{}", p.topic, p.partition)
}

fn sides(s: &Sides) -> Value {
    let (a, b) = if s.both { ("between", "and") } else { ("from", "to") };
    let mut out = Out::default();
    out.put(a, nodes(&s.from));
    out.put(b, nodes(&s.to));
    out.done()
}

/// The name of a verb in the file.
pub fn verb_name(v: &Verb) -> &'static str {
    entry_of(v).0
}

pub fn verb(v: &Verb) -> Value {
    let (name, value) = entry_of(v);
    let mut out = Out::default();
    out.put(name, value);
    out.done()
}

fn entry_of(v: &Verb) -> (&'static str, Value) {
    match v {
        Verb::Kill(n) => ("kill", nodes(n)),
        Verb::Stop(n) => ("stop", nodes(n)),
        Verb::Restart(n) => ("restart", nodes(n)),
        Verb::Start(n) => ("start", nodes(n)),
        Verb::Pause(n) => ("pause", nodes(n)),
        Verb::Resume(n) => ("resume", nodes(n)),
        Verb::LoseDisk(n) => ("lose-disk", nodes(n)),
        Verb::Cut(s) => ("cut", sides(s)),
        Verb::Heal(None) => ("heal", "all".into()),
        Verb::Heal(Some(s)) => ("heal", sides(s)),
        Verb::Link(l) => ("link", link(l)),
        Verb::CreateTopic { name, topic: t } => ("create-topic", topic(t, Some(name))),
        Verb::AddPartitions { topic, to } => ("add-partitions", json!({ "topic": topic, "to": to })),
        Verb::DeleteTopic(topic) => ("delete-topic", topic.as_str().into()),
        Verb::DeleteRecords { partition: p, before } => {
            ("delete-records", json!({ "partition": partition(p), "before": before }))
        }
        Verb::SetConfig { target, config } => ("set-config", set_config(target, config)),
        Verb::ElectLeaders { unclean, partition: p } => {
            let mut out = Out::default();
            out.unless("type", unclean, &false, |_| "unclean".into());
            out.put("partition", partition(p));
            ("elect-leaders", out.done())
        }
        Verb::Produce(p) => ("produce", produce(p)),
        Verb::StartClient { name, producer: p } => ("start-client", producer(p, Some(name), None)),
        Verb::SetClient { name, rate, config } => {
            let mut out = Out::default();
            out.put("client", name.as_str());
            out.some("rate", rate.map(|rate| format!("{rate}/s")));
            out.config(config);
            ("set-client", out.done())
        }
        Verb::StopClient(name) => ("stop-client", name.as_str().into()),
        Verb::KillClient(name) => ("kill-client", name.as_str().into()),
        Verb::PauseClient { member, span: s } => ("pause-client", json!({ "member": member, "for": span(*s) })),
        Verb::Join(j) => ("join", join(j)),
        Verb::Leave(name) => ("leave", name.as_str().into()),
        Verb::Seek { member, to } => {
            let to: Map<String, Value> = to.iter().map(|(p, offset)| (partition(p), json!(offset))).collect();
            ("seek", json!({ "member": member, "to": to }))
        }
        Verb::Commit(name) => ("commit", name.as_str().into()),
        Verb::Message { which, deed } => (deed.verb(), super::wire::argument(which, deed)),
        Verb::Release(name) => ("release", name.as_str().into()),
    }
}

fn set_config(target: &Target, config: &Config) -> Value {
    let mut out = Out::default();
    match target {
        Target::Topic(topic) => out.put("topic", topic.as_str()),
        Target::Broker(broker) => out.put("broker", *broker),
        Target::Cluster => out.put("cluster", true),
    }
    out.put("config", config_value(config));
    out.done()
}

fn produce(p: &Produce) -> Value {
    let mut out = Out::default();
    out.put("client", p.client.as_str());
    out.some("topic", p.topic.as_deref());
    out.some("partition", p.partition);
    out.some("key", p.key.as_deref());
    out.some("value", p.value.as_deref());
    out.unless("count", &p.count, &1, |v| json!(v));
    out.unless("every", &p.every, &Dur::ZERO, |v| span(*v));
    out.done()
}

fn join(j: &Join) -> Value {
    let mut out = Out::default();
    out.put("member", j.member.as_str());
    out.put("group", j.group.as_str());
    out.some("topics", j.topics.as_ref().map(|topics| json!(topics)));
    out.some("client", j.client.as_deref());
    out.some("poll", j.poll.as_ref().map(poll));
    out.config(&j.config);
    out.done()
}
