//! One readable text form of a trace entry, for the command, the golden traces and the journal of the reference player.
//! Words of a language are the page's; here are Kafka's names and plain values.
//!
//! An entry is a line: the moment, the node, the kind, then its values. Topics and clients stand by name, nodes as in a
//! scenario (`broker/1`), partitions as in Kafka (`orders-0`), a message by what it carries and not by its number, so
//! that one more message changes no other line.

mod action;
mod kind;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use action::{action, refusal};
use highwater_engine::base::{ActionId, BrokerId, ClientId, MessageId, NodeId, SimTime, Tag, TopicId, Tp};
use highwater_engine::trace::{Kind, TraceEntry};
pub use kind::{NAMES, name, values};

/// What entries are about, by number: learnt from the trace itself, and from whoever acts.
#[derive(Clone, Debug, Default)]
pub struct Book {
    topics: BTreeMap<TopicId, Rc<str>>,
    clients: BTreeMap<ClientId, Rc<str>>,
    actions: BTreeMap<ActionId, String>,
    messages: BTreeMap<MessageId, String>,
    records: BTreeMap<Tag, Rc<str>>,
}

impl Book {
    /// Learns what an entry tells of names. Must see every entry, in order, before it is written.
    pub fn learn(&mut self, entry: &TraceEntry) {
        if let Kind::TopicCreated { topic, name, .. } = &entry.kind {
            self.topics.insert(*topic, name.clone());
        } else if let Kind::MessageSent { message, to, api, response, .. } = &entry.kind {
            let way = format!("{} {}->{}", kind::message(*api, *response), self.node(entry.who), self.node(*to));
            self.messages.insert(*message, way);
        } else if let Kind::RecordSent { tag, value, .. } = &entry.kind {
            self.records.insert(*tag, value.clone());
        }
    }

    /// A message that will not be heard of again is forgotten after its entry was written. One that had to wait still
    /// is the cause of what its receiver does.
    pub fn forget(&mut self, entry: &TraceEntry) {
        if let Kind::MessageLost { message } = &entry.kind {
            self.messages.remove(message);
        }
    }

    pub fn name_client(&mut self, client: ClientId, name: Rc<str>) {
        self.clients.insert(client, name);
    }
    /// What an accepted action does, in words of the script.
    pub fn name_action(&mut self, id: ActionId, text: String) {
        self.actions.insert(id, text);
    }
    /// A node as a scenario names it.
    pub fn node(&self, node: NodeId) -> String {
        match node {
            NodeId::Client(id) => {
                self.clients.get(&id).map_or_else(|| node.to_string(), |name| format!("client/{name}"))
            }
            NodeId::Broker(_) | NodeId::Controller(_) => node.to_string(),
        }
    }
    /// A topic's name.
    pub fn topic(&self, topic: TopicId) -> String {
        self.topics.get(&topic).map_or_else(|| format!("topic-id-{topic}"), |name| name.to_string())
    }
    /// A partition as Kafka writes it.
    pub fn partition(&self, tp: Tp) -> String {
        format!("{}-{}", self.topic(tp.topic), tp.partition)
    }
    fn partitions(&self, partitions: &[Tp]) -> String {
        list(partitions.iter().map(|tp| self.partition(*tp)))
    }
    fn action(&self, id: ActionId) -> String {
        self.actions.get(&id).cloned().unwrap_or_else(|| format!("action={id}"))
    }
    /// What was refused: the whole action if it is known, else its verb.
    fn attempted(&self, id: ActionId, verb: &str) -> String {
        self.actions.get(&id).cloned().unwrap_or_else(|| verb.into())
    }
    fn message(&self, message: MessageId) -> String {
        self.messages.get(&message).cloned().unwrap_or_else(|| "message".into())
    }
    /// A record's value, if it is one of a client.
    fn record(&self, tag: Tag) -> String {
        self.records.get(&tag).map_or(String::new(), |value| format!(" value={}", text(value)))
    }
}

/// The line of an entry, with moments counted from `origin`.
pub fn line(entry: &TraceEntry, origin: SimTime, book: &Book) -> String {
    let values = values(&entry.kind, origin, book);
    let gap = if values.is_empty() { "" } else { " " };
    format!("{}  {:16}  {}{gap}{values}", moment(entry.at, origin), book.node(entry.who), name(&entry.kind))
}

/// What an entry came of, behind its line.
pub fn cause(cause: &TraceEntry, book: &Book) -> String {
    let of = match &cause.kind {
        Kind::MessageSent { api, response, .. } => {
            format!("{} {}", kind::message(*api, *response), book.node(cause.who))
        }
        Kind::RequestFailed { api, .. } => format!("{} {}", kind::message(*api, false), book.node(cause.who)),
        Kind::MessageDelivered { message, .. } | Kind::MessageMoved { message, .. } => book.message(*message),
        _without_a_message => book.node(cause.who),
    };
    format!("< {} {of}", name(&cause.kind))
}

/// Seconds since `origin`.
pub fn moment(at: SimTime, origin: SimTime) -> String {
    let (sign, micros) = if at < origin { ("-", origin.since(at).0) } else { ("", at.since(origin).0) };
    format!("{:>12} s", format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn brokers(ids: &[BrokerId]) -> String {
    list(ids.iter().map(ToString::to_string))
}

/// A text that somebody chose, on one line; long ones are cut, for a value may be a megabyte.
fn text(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut out: String = text.chars().take(LONGEST).flat_map(char::escape_default).collect();
    if text.chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}
