//! What the clients of a run saw, taken from its trace, and the values of the queries about it. Asks the cluster
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use highwater_engine::base::{ClientId, NodeId, SimTime, Tag, TopicId, Tp};
use highwater_engine::trace::{Callback, Kind, TraceEntry};
use serde_json::{Map, Value, json};

use super::answer::{name, partition_names};
use crate::notation::{self, Book};

/// One thing that a client saw.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Acked { value: Rc<str>, tp: Tp, offset: i64 },
    Failed { value: Rc<str>, exception: &'static str },
    Delivered { value: Rc<str>, tp: Tp, offset: i64, epoch: i32 },
    Rebalanced { callback: Callback, partitions: Vec<Tp> },
    CommitFailed { exception: &'static str },
    PollFailed { exception: &'static str },
}

/// A record's value, and its partition and offset or the exception.
type EachAnswer<'a> = (Rc<str>, Result<(String, i64), &'a str>);

/// All that clients saw, in order.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    seen: Vec<(ClientId, Seen)>,
    values: BTreeMap<Tag, Rc<str>>,
    topics: BTreeMap<TopicId, Rc<str>>,
    /// A name may be used again once its client is closed.
    names: BTreeMap<ClientId, String>,
    marks: BTreeMap<String, usize>,
    /// Where the last observation of an old client ended, and its long polls until then.
    old_clients: BTreeMap<String, (usize, u64)>,
    /// How often each node's process has ended.
    exits: BTreeMap<NodeId, u32>,
    /// What controllers did, if it is to be told, with the names of what it is about.
    decisions: Option<(Book, Vec<TraceEntry>)>,
    began: SimTime,
}

impl Journal {
    /// A journal that also keeps what controllers did, if `decisions`.
    pub fn watching(decisions: bool) -> Journal {
        Journal { decisions: decisions.then(Default::default), ..Journal::default() }
    }

    /// The moment of the script's first step.
    pub fn begin(&mut self, at: SimTime) {
        self.began = at;
    }

    /// What controllers did, as lines with the seconds since the first step.
    pub fn decisions(&self) -> impl Iterator<Item = String> {
        self.decisions
            .iter()
            .flat_map(|(book, entries)| entries.iter().map(|entry| notation::line(entry, self.began, book)))
    }

    /// Takes what concerns clients out of the trace.
    pub fn take(&mut self, entries: &mut Vec<TraceEntry>) {
        for entry in entries.drain(..) {
            self.note(entry);
        }
    }

    fn note(&mut self, entry: TraceEntry) {
        if let Kind::ProcessExited { .. } | Kind::ProcessKilled = entry.kind {
            *self.exits.entry(entry.who).or_default() += 1;
        }
        if let Kind::TopicCreated { topic, name, .. } = &entry.kind {
            self.topics.insert(*topic, Rc::from(&**name));
        }
        if let Some((book, entries)) = &mut self.decisions {
            book.learn(&entry);
            book.forget(&entry);
            if matches!(entry.who, NodeId::Controller(_)) && !is_wire(&entry.kind) {
                entries.push(entry.clone());
            }
        }
        let NodeId::Client(client) = entry.who else { return };
        if let Kind::RecordSent { tag, value, .. } = &entry.kind {
            self.values.insert(*tag, Rc::from(&**value));
        }
        // Most kinds of the trace are nothing that an application sees.
        let seen = if let Kind::RecordAcked { tag, tp, offset } = entry.kind {
            Seen::Acked { value: self.value(tag), tp, offset }
        } else if let Kind::RecordFailed { tag, exception, .. } = entry.kind {
            Seen::Failed { value: self.value(tag), exception }
        } else if let Kind::RecordDelivered { tag, tp, offset, epoch } = entry.kind {
            Seen::Delivered { value: self.value(tag), tp, offset, epoch }
        } else if let Kind::RebalanceCallback { callback, partitions, .. } = entry.kind {
            Seen::Rebalanced { callback, partitions }
        } else if let Kind::CommitFailed { exception, .. } = entry.kind {
            Seen::CommitFailed { exception }
        } else if let Kind::PollFailed { exception, .. } = entry.kind {
            Seen::PollFailed { exception }
        } else {
            return;
        };
        self.seen.push((client, seen));
    }

    fn value(&self, tag: Tag) -> Rc<str> {
        self.values.get(&tag).cloned().unwrap_or_else(|| Rc::from(""))
    }

    /// A client of this name was started.
    pub fn started(&mut self, name: &str, client: ClientId) {
        self.names.insert(client, name.to_string());
    }

    pub fn mark(&mut self, name: &str) {
        self.marks.insert(name.to_string(), self.seen.len());
    }

    /// How often the node's process has ended so far.
    pub fn exits(&self, node: NodeId) -> u32 {
        self.exits.get(&node).copied().unwrap_or(0)
    }

    fn after(&self, from: usize) -> impl Iterator<Item = (&str, &Seen)> {
        self.seen[from..].iter().map(|(client, seen)| (self.names.get(client).map_or("", String::as_str), seen))
    }

    /// What was seen by the client of this name since the mark.
    fn by<'a>(&'a self, who: &'a str, since: Option<&str>) -> impl Iterator<Item = &'a Seen> {
        let from = since.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(0);
        self.after(from).filter(move |(name, _)| *name == who).map(|(_, seen)| seen)
    }

    /// The name of a topic that was made in this run.
    pub fn topic(&self, topic: TopicId) -> String {
        self.topics.get(&topic).map_or_else(|| format!("topic {topic}"), |name| name.to_string())
    }

    fn tp(&self, tp: Tp) -> (String, u32) {
        (self.topic(tp.topic), tp.partition)
    }

    fn tp_name(&self, tp: Tp) -> String {
        let (topic, partition) = self.tp(tp);
        name(&topic, partition)
    }

    pub fn answers(&self, producer: &str, since: Option<&str>) -> Value {
        let mut offsets: Vec<i64> = Vec::new();
        let mut failed: BTreeMap<&str, u64> = BTreeMap::new();
        for seen in self.by(producer, since) {
            match seen {
                Seen::Acked { offset, .. } => offsets.push(*offset),
                Seen::Failed { exception, .. } => *failed.entry(exception).or_default() += 1,
                Seen::Delivered { .. }
                | Seen::Rebalanced { .. }
                | Seen::CommitFailed { .. }
                | Seen::PollFailed { .. } => {}
            }
        }
        let span = offsets.iter().min().zip(offsets.iter().max()).map(|(least, most)| [*least, *most]);
        json!({ "acked": offsets.len(), "failed": failed, "offsets": span })
    }

    pub fn each_answer(&self, producer: &str, since: Option<&str>, prefix: &str) -> Value {
        let mut rows: Vec<EachAnswer> = Vec::new();
        for seen in self.by(producer, since) {
            match seen {
                Seen::Acked { value, tp, offset } if value.starts_with(prefix) => {
                    rows.push((value.clone(), Ok((self.tp_name(*tp), *offset))))
                }
                Seen::Failed { value, exception } if value.starts_with(prefix) => {
                    rows.push((value.clone(), Err(exception)))
                }
                Seen::Acked { .. }
                | Seen::Failed { .. }
                | Seen::Delivered { .. }
                | Seen::Rebalanced { .. }
                | Seen::CommitFailed { .. }
                | Seen::PollFailed { .. } => {}
            }
        }
        rows.sort();
        Value::Array(
            rows.into_iter()
                .map(|(value, outcome)| match outcome {
                    Ok((tp, offset)) => json!([*value, tp, offset]),
                    Err(exception) => json!([*value, "error", exception]),
                })
                .collect(),
        )
    }

    pub fn partition_of_each(&self, producer: &str) -> Value {
        let acked = self.by(producer, None).filter_map(|seen| match seen {
            Seen::Acked { value, tp, .. } => Some((value.to_string(), json!(tp.partition))),
            Seen::Failed { .. }
            | Seen::Delivered { .. }
            | Seen::Rebalanced { .. }
            | Seen::CommitFailed { .. }
            | Seen::PollFailed { .. } => None,
        });
        Value::Object(acked.collect::<Map<String, Value>>())
    }

    fn delivered<'a>(
        &'a self,
        member: &'a str,
        since: Option<&str>,
    ) -> impl Iterator<Item = (&'a Rc<str>, Tp, i64, i32)> {
        self.by(member, since).filter_map(|seen| match seen {
            Seen::Delivered { value, tp, offset, epoch } => Some((value, *tp, *offset, *epoch)),
            Seen::Acked { .. }
            | Seen::Failed { .. }
            | Seen::Rebalanced { .. }
            | Seen::CommitFailed { .. }
            | Seen::PollFailed { .. } => None,
        })
    }

    pub fn read(&self, member: &str, since: Option<&str>) -> Value {
        let values: Vec<&Rc<str>> = self.delivered(member, since).map(|(value, ..)| value).collect();
        let distinct: BTreeSet<&Rc<str>> = values.iter().copied().collect();
        json!({ "records": values.len(), "distinct": distinct.len() })
    }

    pub fn log_as_read(&self, member: &str, since: Option<&str>, limit: usize) -> Value {
        let mut logs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (value, tp, offset, epoch) in self.delivered(member, since) {
            let log = logs.entry(self.tp_name(tp)).or_default();
            if log.len() < limit {
                log.push(json!([offset, epoch, **value]));
            }
        }
        json!(logs)
    }

    pub fn rebalances(&self, members: &[String], since: Option<&str>) -> Value {
        let from = since.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(0);
        let rows =
            self.after(from).filter(|(who, _)| members.iter().any(|m| m == who)).filter_map(|(who, seen)| match seen {
                Seen::Rebalanced { callback, partitions } => {
                    let word = match callback {
                        Callback::Assigned => "assigned",
                        Callback::Revoked => "revoked",
                        Callback::Lost => "lost",
                    };
                    let partitions: Vec<(String, u32)> = partitions.iter().map(|tp| self.tp(*tp)).collect();
                    Some(json!([who, word, partition_names(&partitions)]))
                }
                Seen::Acked { .. }
                | Seen::Failed { .. }
                | Seen::Delivered { .. }
                | Seen::CommitFailed { .. }
                | Seen::PollFailed { .. } => None,
            });
        Value::Array(rows.collect())
    }

    pub fn errors(&self, members: &[String], since: Option<&str>) -> Value {
        let from = since.and_then(|mark| self.marks.get(mark)).copied().unwrap_or(0);
        let pairs: BTreeSet<(&str, &str)> = self
            .after(from)
            .filter(|(who, _)| members.iter().any(|m| m == who))
            .filter_map(|(who, seen)| match seen {
                Seen::CommitFailed { exception } | Seen::PollFailed { exception } => Some((who, *exception)),
                Seen::Acked { .. } | Seen::Failed { .. } | Seen::Delivered { .. } | Seen::Rebalanced { .. } => None,
            })
            .collect();
        json!(pairs)
    }

    /// What was acknowledged to the producer, against the log as the member read it. `sent` are the prefixes of its
    /// numbered values, in order of sending.
    pub fn promises(&self, client: &str, member: &str, sent: &[String]) -> Value {
        let number = |prefix: &str, value: &str| {
            value
                .strip_prefix(prefix)
                .filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
                .and_then(|rest| rest.parse::<u64>().ok())
        };
        // Of several prefixes that fit, the longest is meant.
        let key = |value: &str| {
            sent.iter()
                .enumerate()
                .filter_map(|(i, prefix)| number(prefix, value).map(|n| (prefix.len(), i, n)))
                .max_by_key(|(length, ..)| *length)
                .map(|(_, i, n)| (i, n))
        };
        let mut seen: BTreeMap<Tp, Vec<&str>> = BTreeMap::new();
        for (value, tp, ..) in self.delivered(member, None) {
            if key(value).is_some() {
                seen.entry(tp).or_default().push(value);
            }
        }
        let all: Vec<&str> = seen.values().flatten().copied().collect();
        let distinct: BTreeSet<&str> = all.iter().copied().collect();
        let acked: BTreeSet<&str> = self
            .by(client, None)
            .filter_map(|seen| match seen {
                Seen::Acked { value, .. } => Some(&**value),
                Seen::Failed { .. }
                | Seen::Delivered { .. }
                | Seen::Rebalanced { .. }
                | Seen::CommitFailed { .. }
                | Seen::PollFailed { .. } => None,
            })
            .collect();
        let in_order = seen.values().all(|values| {
            let mut met = BTreeSet::new();
            values.iter().filter(|value| met.insert(**value)).map(|value| key(value)).is_sorted()
        });
        json!({
            "acknowledged and lost": acked.difference(&distinct).count(),
            "duplicates": all.len() > distinct.len(),
            "in order": in_order,
        })
    }

    /// Counts since the last observation of this client, which has had `slow_polls` in all. Losing partitions is told
    /// to an old listener as a revocation.
    pub fn old_client(&mut self, member: &str, slow_polls: u64) -> Value {
        let (from, polls_before) =
            self.old_clients.insert(member.to_string(), (self.seen.len(), slow_polls)).unwrap_or((0, 0));
        let (mut records, mut assigned, mut revoked, mut commits, mut errors) = (0, 0, 0, 0, 0);
        for (_, seen) in self.after(from).filter(|(who, _)| *who == member) {
            match seen {
                Seen::Delivered { .. } => records += 1,
                Seen::Rebalanced { callback: Callback::Assigned, .. } => assigned += 1,
                Seen::Rebalanced { callback: Callback::Revoked | Callback::Lost, .. } => revoked += 1,
                Seen::CommitFailed { .. } => commits += 1,
                Seen::PollFailed { .. } => errors += 1,
                Seen::Acked { .. } | Seen::Failed { .. } => {}
            }
        }
        json!({
            "record": records,
            "assigned": assigned,
            "revoked": revoked,
            "commit-failed": commits,
            "poll-took": slow_polls - polls_before,
            "error": errors,
        })
    }
}

fn is_wire(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::MessageSent { .. }
            | Kind::MessageDelivered { .. }
            | Kind::MessageLost { .. }
            | Kind::MessageHeld { .. }
            | Kind::MessageMoved { .. }
            | Kind::RequestFailed { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use highwater_engine::base::Seq;
    use highwater_engine::trace::Creator;

    const P: ClientId = ClientId(1);
    const M: ClientId = ClientId(2);

    /// A journal in which producer `p` sent these values to partition 0; the offset says whether it was acknowledged.
    fn journal(sent: &[(&str, Option<i64>)], delivered: &[&str]) -> Journal {
        let mut journal = Journal::default();
        journal.started("p", P);
        journal.started("m", M);
        let tp = Tp { topic: TopicId(1), partition: 0 };
        let mut entries = Vec::new();
        let mut note =
            |who, kind| entries.push(TraceEntry { seq: Seq(1), at: SimTime::ZERO, cause: Seq(0), who, kind });
        note(
            NodeId::Client(P),
            Kind::TopicCreated {
                topic: TopicId(1),
                name: "t".into(),
                partitions: 1,
                replication_factor: 3,
                by: Creator::Admin,
            },
        );
        for (i, (value, offset)) in sent.iter().enumerate() {
            let tag = Tag(i as u64);
            note(
                NodeId::Client(P),
                Kind::RecordSent { tag, topic: "t".into(), partition: None, value: (*value).into() },
            );
            note(
                NodeId::Client(P),
                match offset {
                    Some(offset) => Kind::RecordAcked { tag, tp, offset: *offset },
                    None => Kind::RecordFailed { tag, tp: None, exception: "TimeoutException" },
                },
            );
        }
        for value in delivered {
            let tag = Tag(sent.iter().position(|(v, _)| v == value).expect("sent before") as u64);
            note(NodeId::Client(M), Kind::RecordDelivered { tag, tp, offset: 0, epoch: 0 });
        }
        journal.take(&mut entries);
        journal
    }

    #[test]
    fn answers_are_counted_by_exception() {
        let journal = journal(&[("a0", Some(4)), ("a1", None), ("a2", Some(2))], &[]);
        assert_eq!(
            journal.answers("p", None),
            json!({ "acked": 2, "failed": { "TimeoutException": 1 }, "offsets": [2, 4] })
        );
        assert_eq!(journal.answers("q", None), json!({ "acked": 0, "failed": {}, "offsets": null }));
        assert_eq!(
            journal.each_answer("p", None, "a"),
            json!([["a0", "t/0", 4], ["a1", "error", "TimeoutException"], ["a2", "t/0", 2]])
        );
    }

    #[test]
    fn promises_find_losses_duplicates_and_disorder() {
        let sent = [("a9", Some(0)), ("a10", Some(1)), ("b0", Some(2))];
        let prefixes = ["a".to_string(), "b".to_string()];
        let table = [
            (&["a9", "a10", "b0"][..], json!({ "acknowledged and lost": 0, "duplicates": false, "in order": true })),
            (&["a9", "a10"], json!({ "acknowledged and lost": 1, "duplicates": false, "in order": true })),
            (&["a10", "a9", "b0"], json!({ "acknowledged and lost": 0, "duplicates": false, "in order": false })),
            (&["a9", "a10", "a9", "b0"], json!({ "acknowledged and lost": 0, "duplicates": true, "in order": true })),
        ];
        for (delivered, expected) in table {
            assert_eq!(journal(&sent, delivered).promises("p", "m", &prefixes), expected, "{delivered:?}");
        }
    }

    #[test]
    fn a_mark_hides_what_was_before_it() {
        let mut journal = journal(&[("a0", Some(0))], &["a0"]);
        journal.mark("m");
        assert_eq!(journal.answers("p", Some("m")), json!({ "acked": 0, "failed": {}, "offsets": null }));
        assert_eq!(journal.read("m", Some("m")), json!({ "records": 0, "distinct": 0 }));
        assert_eq!(journal.read("m", None), json!({ "records": 1, "distinct": 1 }));
    }

    #[test]
    fn an_old_client_is_counted_from_its_last_observation() {
        let mut journal = journal(&[("a0", Some(0))], &["a0"]);
        assert_eq!(
            journal.old_client("m", 2),
            json!({ "record": 1, "assigned": 0, "revoked": 0, "commit-failed": 0, "poll-took": 2, "error": 0 })
        );
        assert_eq!(
            journal.old_client("m", 3),
            json!({ "record": 0, "assigned": 0, "revoked": 0, "commit-failed": 0, "poll-took": 1, "error": 0 })
        );
    }
}
