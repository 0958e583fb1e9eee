//! What an admin client of the cluster was answered, and the values that queries form of it, as the recorder formed
//! them. Asks nothing itself.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::queries::{Condition, Test};

/// An answer to an admin request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A change was accepted.
    Done,
    /// The Java exception by name.
    Failed(String),
    /// Descriptions of topics.
    Topics(Vec<Described>),
    Offsets {
        earliest: i64,
        latest: i64,
        last_stable: i64,
        leader_epoch: i64,
    },
    Group {
        state: String,
        coordinator: i64,
        /// `client.id` and partitions.
        members: Vec<(String, Vec<(String, u32)>)>,
    },
    /// Committed offset per partition.
    Committed(Vec<((String, u32), Option<i64>)>),
    Quorum {
        leader: Option<u32>,
    },
    Cluster {
        brokers: Vec<i64>,
    },
}

/// One partition of a described topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    pub topic: String,
    pub partition: u32,
    /// -1: none.
    pub leader: i64,
    pub replicas: Vec<i64>,
    pub isr: Vec<i64>,
    pub elr: Vec<i64>,
    pub last_known_elr: Vec<i64>,
}

impl Answer {
    /// The partitions of a description; none if there was no description.
    pub fn partitions(&self) -> &[Described] {
        match self {
            Answer::Topics(partitions) => partitions,
            Answer::Done
            | Answer::Failed(_)
            | Answer::Offsets { .. }
            | Answer::Group { .. }
            | Answer::Committed(_)
            | Answer::Quorum { .. }
            | Answer::Cluster { .. } => &[],
        }
    }

    /// The exception, if it failed.
    pub fn exception(&self) -> Option<&str> {
        match self {
            Answer::Failed(exception) => Some(exception),
            Answer::Done
            | Answer::Topics(_)
            | Answer::Offsets { .. }
            | Answer::Group { .. }
            | Answer::Committed(_)
            | Answer::Quorum { .. }
            | Answer::Cluster { .. } => None,
        }
    }
}

/// `{"error": …}`, the value of a query that failed.
pub fn error_value(exception: &str) -> Value {
    json!({ "error": exception })
}

/// Per partition leader, replicas and ISR; ELR only where there is one.
pub fn topics_value(partitions: &[Described]) -> Value {
    let mut sorted: Vec<&Described> = partitions.iter().collect();
    sorted.sort_by(|a, b| a.topic.cmp(&b.topic).then(a.partition.cmp(&b.partition)));
    let mut out = Map::new();
    for p in sorted {
        let mut one = Map::new();
        one.insert("leader".into(), json!(p.leader));
        one.insert("replicas".into(), json!(p.replicas));
        one.insert("isr".into(), json!(p.isr));
        if !p.elr.is_empty() {
            one.insert("elr".into(), json!(p.elr));
        }
        if !p.last_known_elr.is_empty() {
            one.insert("lastKnownElr".into(), json!(p.last_known_elr));
        }
        out.insert(name(&p.topic, p.partition), Value::Object(one));
    }
    Value::Object(out)
}

/// Per partition the size of its ISR.
pub fn isr_sizes_value(partitions: &[Described]) -> Value {
    Value::Object(partitions.iter().map(|p| (name(&p.topic, p.partition), json!(p.isr.len()))).collect())
}

pub fn leaderless_value(partitions: &[Described]) -> Value {
    json!(partitions.iter().filter(|p| p.leader < 1).count())
}

pub fn offsets_value(answer: &Answer) -> Value {
    match answer {
        Answer::Offsets { earliest, latest, last_stable, leader_epoch } => {
            json!({ "earliest": earliest, "latest": latest, "lastStable": last_stable, "leaderEpoch": leader_epoch })
        }
        Answer::Failed(exception) => error_value(exception),
        Answer::Done
        | Answer::Topics(_)
        | Answer::Group { .. }
        | Answer::Committed(_)
        | Answer::Quorum { .. }
        | Answer::Cluster { .. } => Value::Null,
    }
}

/// The asked fields of a group, partitions of members sorted as texts.
pub fn group_value(answer: &Answer, fields: &[String]) -> Value {
    match answer {
        Answer::Group { state, coordinator, members } => {
            let field = |field: &String| match field.as_str() {
                "state" => json!(state),
                "coordinator" => json!(coordinator),
                _ => Value::Object(
                    members.iter().map(|(member, owned)| (member.clone(), partition_names(owned))).collect(),
                ),
            };
            Value::Object(fields.iter().map(|f| (f.clone(), field(f))).collect())
        }
        Answer::Failed(exception) => error_value(exception),
        Answer::Done
        | Answer::Topics(_)
        | Answer::Offsets { .. }
        | Answer::Committed(_)
        | Answer::Quorum { .. }
        | Answer::Cluster { .. } => Value::Null,
    }
}

/// Numbers of partitions per member, sorted; none if the group could not be described.
pub fn group_sizes_value(answer: &Answer) -> Value {
    match answer {
        Answer::Group { members, .. } => {
            let mut sizes: Vec<usize> = members.iter().map(|(_, owned)| owned.len()).collect();
            sizes.sort_unstable();
            json!(sizes)
        }
        Answer::Failed(_)
        | Answer::Done
        | Answer::Topics(_)
        | Answer::Offsets { .. }
        | Answer::Committed(_)
        | Answer::Quorum { .. }
        | Answer::Cluster { .. } => json!([]),
    }
}

pub fn committed_value(answer: &Answer) -> Value {
    match answer {
        Answer::Committed(offsets) => Value::Object(
            offsets.iter().map(|((topic, partition), offset)| (name(topic, *partition), json!(offset))).collect(),
        ),
        Answer::Failed(exception) => error_value(exception),
        Answer::Done
        | Answer::Topics(_)
        | Answer::Offsets { .. }
        | Answer::Group { .. }
        | Answer::Quorum { .. }
        | Answer::Cluster { .. } => Value::Null,
    }
}

/// `t/0`.
pub fn name(topic: &str, partition: u32) -> String {
    format!("{topic}/{partition}")
}

/// Names of partitions, sorted as Java sorts their texts (`t-10` before `t-2`).
pub fn partition_names(partitions: &[(String, u32)]) -> Value {
    let mut sorted: Vec<&(String, u32)> = partitions.iter().collect();
    sorted.sort_by_key(|(topic, partition)| format!("{topic}-{partition}"));
    json!(sorted.iter().map(|(topic, partition)| name(topic, *partition)).collect::<Vec<_>>())
}

/// Whether every condition holds of a description of topics. A partition that is not described fulfils nothing.
pub fn holds(conditions: &[Condition], answer: &Answer) -> bool {
    conditions.iter().all(|condition| match condition {
        Condition::Brokers(expected) => match answer {
            Answer::Cluster { brokers } => {
                let mut brokers = brokers.clone();
                brokers.sort_unstable();
                brokers == *expected
            }
            Answer::Done
            | Answer::Failed(_)
            | Answer::Topics(_)
            | Answer::Offsets { .. }
            | Answer::Group { .. }
            | Answer::Committed(_)
            | Answer::Quorum { .. } => false,
        },
        Condition::Partitions(number) => {
            (answer.partitions().len() as i64).cmp(number) == Ordering::Equal && answer.exception().is_none()
        }
        Condition::Partition { topic, partition, tests } => {
            let mut chosen = answer
                .partitions()
                .iter()
                .filter(|p| p.topic == *topic && partition.is_none_or(|number| number == p.partition))
                .peekable();
            chosen.peek().is_some() && chosen.all(|p| tests.iter().all(|test| passes(p, test)))
        }
    })
}

fn passes(p: &Described, test: &Test) -> bool {
    match test {
        Test::Leader(leader) => p.leader == *leader,
        Test::LeaderIn(leaders) => leaders.contains(&p.leader),
        Test::LeaderExists(must) => !must || p.leader >= 1,
        Test::Isr(isr) => {
            let mut have = p.isr.clone();
            have.sort_unstable();
            have == *isr
        }
        Test::IsrSize(size) => p.isr.len() as i64 == *size,
        Test::IsrWith(broker) => p.isr.contains(broker),
        Test::IsrWithout(broker) => !p.isr.contains(broker),
        Test::Replicas(replicas) => p.replicas == *replicas,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(topic: &str, number: u32, leader: i64, isr: &[i64], elr: &[i64]) -> Described {
        Described {
            topic: topic.into(),
            partition: number,
            leader,
            replicas: vec![1, 2, 3],
            isr: isr.to_vec(),
            elr: elr.to_vec(),
            last_known_elr: Vec::new(),
        }
    }

    fn of(topic: &str, partition: Option<u32>, test: Test) -> Vec<Condition> {
        vec![Condition::Partition { topic: topic.into(), partition, tests: vec![test] }]
    }

    #[test]
    fn conditions_hold_of_what_is_described_only() {
        let answer = Answer::Topics(vec![partition("t", 0, 2, &[2, 3], &[1]), partition("t", 1, -1, &[], &[])]);
        let table = [
            (of("t", Some(0), Test::Leader(2)), true),
            (of("t", Some(0), Test::Isr(vec![2, 3])), true),
            (of("t", Some(0), Test::IsrSize(3)), false),
            (of("t", Some(0), Test::IsrWithout(1)), true),
            (of("t", Some(0), Test::IsrWith(1)), false),
            (of("t", Some(0), Test::Replicas(vec![3, 2, 1])), false),
            (of("t", None, Test::LeaderExists(true)), false),
            (of("t", Some(1), Test::LeaderExists(true)), false),
            (of("t", Some(0), Test::LeaderIn(vec![2, 3])), true),
            (of("t", Some(7), Test::IsrWithout(1)), false),
            (of("u", None, Test::IsrWithout(1)), false),
            (vec![Condition::Partitions(2)], true),
            (vec![Condition::Partitions(3)], false),
            (vec![Condition::Brokers(vec![1])], false),
        ];
        for (conditions, expected) in table {
            assert_eq!(holds(&conditions, &answer), expected, "{conditions:?}");
        }
    }

    #[test]
    fn a_failed_description_fulfils_nothing() {
        let failed = Answer::Failed("TimeoutException".into());
        assert!(!holds(&[Condition::Partitions(0)], &failed));
        assert_eq!(topics_value(failed.partitions()), json!({}));
    }

    #[test]
    fn elr_is_shown_only_where_there_is_one() {
        let value = topics_value(&[partition("t", 0, 2, &[2, 3], &[1])]);
        assert_eq!(value, json!({ "t/0": { "leader": 2, "replicas": [1, 2, 3], "isr": [2, 3], "elr": [1] } }));
    }

    #[test]
    fn partitions_of_members_are_sorted_as_texts() {
        let owned: Vec<(String, u32)> = [2, 10, 1].iter().map(|n| ("t".to_string(), *n)).collect();
        assert_eq!(partition_names(&owned), json!(["t/1", "t/10", "t/2"]));
    }
}
