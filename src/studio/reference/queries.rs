//! The conditions of `when` and the queries, as data and read strictly. Forms no value: that is the player's and the
//! journal's.

use super::limits::MAX_NODE;
use super::reading::{Fields, ReadError, Spot};
use super::recording::{parse_partition, read_partition};

/// One condition of a `when`; all must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Of one partition, or of every one of a topic (`None`).
    Partition { topic: String, partition: Option<u32>, tests: Vec<Test> },
    /// Number of partitions of the topics that the other conditions name.
    Partitions(i64),
    /// Brokers that clients are told of, sorted.
    Brokers(Vec<i64>),
}

/// What must hold of a partition. A leader below 1 is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    Leader(i64),
    LeaderIn(Vec<i64>),
    LeaderExists(bool),
    /// As a set; kept sorted.
    Isr(Vec<i64>),
    IsrSize(i64),
    IsrWith(i64),
    IsrWithout(i64),
    /// As a list.
    Replicas(Vec<i64>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    Topics(Vec<String>),
    Leaderless(String),
    IsrSizes(Vec<String>),
    Offsets { topic: String, partition: u32 },
    Group { group: String, fields: Vec<String> },
    GroupSizes(String),
    Committed(String),
    CoordinatorIsLeaderOf { group: String, partition: u32 },
    PartitionOfEach(String),
    HasLeader,
    Answers { producer: String, since: Option<String> },
    EachAnswer { producer: String, since: Option<String>, value: String },
    Read { member: String, since: Option<String> },
    LogAsRead { member: String, since: Option<String>, limit: usize },
    Rebalances { members: Vec<String>, since: Option<String> },
    Errors { members: Vec<String>, since: Option<String> },
    Promises { client: String, member: String },
    OldClient(String),
}

/// Reads the conditions of a `when`.
///
/// # Errors
/// An unknown condition, a bad value, or none at all, with its place.
pub fn read_conditions(spot: &Spot) -> Result<Vec<Condition>, ReadError> {
    let map = spot.map()?;
    if map.is_empty() {
        return Err(
            spot.wrong("at least one condition: a partition such as \"t/0\", \"t/*\", \"partitions\" or \"brokers\"")
        );
    }
    map.iter().map(|(key, value)| read_condition(key, value)).collect()
}

fn read_condition(key: &str, spot: &Spot) -> Result<Condition, ReadError> {
    match key {
        "partitions" => Ok(Condition::Partitions(spot.int(0, i64::from(u32::MAX))?)),
        "brokers" => Ok(Condition::Brokers(sorted(ids(spot)?))),
        _ => {
            let (topic, partition) = match key.strip_suffix("/*") {
                Some(topic) => (topic.to_string(), None),
                None => {
                    let (topic, number) = parse_partition(key).ok_or_else(|| ReadError {
                        at: spot.path.clone(),
                        found: format!("the unknown condition \"{key}\""),
                        expected: "a partition such as \"t/0\", \"t/*\", \"partitions\" or \"brokers\"".into(),
                    })?;
                    (topic, Some(number))
                }
            };
            let tests = spot.map()?.iter().map(|(key, value)| read_test(key, value)).collect::<Result<_, _>>()?;
            Ok(Condition::Partition { topic, partition, tests })
        }
    }
}

fn read_test(key: &str, spot: &Spot) -> Result<Test, ReadError> {
    Ok(match key {
        "leader" => Test::Leader(spot.int(-1, MAX_NODE)?),
        "leader-in" => Test::LeaderIn(ids(spot)?),
        "leader-exists" => Test::LeaderExists(spot.flag()?),
        "isr" => Test::Isr(sorted(ids(spot)?)),
        "isr-size" => Test::IsrSize(spot.int(0, MAX_NODE)?),
        "isr-with" => Test::IsrWith(spot.int(0, MAX_NODE)?),
        "isr-without" => Test::IsrWithout(spot.int(0, MAX_NODE)?),
        "replicas" => Test::Replicas(ids(spot)?),
        _ => {
            return Err(ReadError {
                at: spot.path.clone(),
                found: format!("the unknown condition \"{key}\""),
                expected: "one of leader, leader-in, leader-exists, isr, isr-size, isr-with, isr-without, replicas"
                    .into(),
            });
        }
    })
}

fn ids(spot: &Spot) -> Result<Vec<i64>, ReadError> {
    spot.each(|s| s.int(-1, MAX_NODE))
}

fn sorted(mut ids: Vec<i64>) -> Vec<i64> {
    ids.sort_unstable();
    ids
}

/// Reads a query. `marks` are those that were set before it.
///
/// # Errors
/// An unknown query, a bad argument, or a mark that was not set before, with its place.
pub fn read_query(spot: &Spot, marks: &[String]) -> Result<Query, ReadError> {
    const KINDS: &[&str] = &[
        "topics",
        "leaderless",
        "isr-sizes",
        "offsets",
        "group",
        "group-sizes",
        "committed",
        "coordinator-is-leader-of",
        "partition-of-each",
        "quorum",
        "answers",
        "each-answer",
        "read",
        "log-as-read",
        "rebalances",
        "errors",
        "promises",
        "old-client",
    ];
    let map = spot.map()?;
    let Some((kind, arg)) = map.iter().find(|(key, _)| KINDS.contains(key)) else {
        return Err(spot.wrong(format!("a query: one of {}", KINDS.join(", "))));
    };
    let with = |more: &[&str]| -> Result<Fields, ReadError> { spot.object(&[&[*kind], more].concat()) };
    let plain = || with(&[]);
    let since = |fields: &Fields| -> Result<Option<String>, ReadError> {
        match fields.get("since") {
            None => Ok(None),
            Some(spot) if marks.iter().any(|mark| Some(mark.as_str()) == spot.value.as_str()) => spot.owned().map(Some),
            Some(spot) => Err(spot.wrong(if marks.is_empty() {
                "a mark; none was set before".to_string()
            } else {
                format!("a mark that was set before: {}", marks.join(", "))
            })),
        }
    };
    let names = |spot: &Spot| spot.each(|s| s.owned());
    Ok(match *kind {
        "topics" => plain().and(names(arg)).map(Query::Topics)?,
        "leaderless" => plain().and(arg.owned()).map(Query::Leaderless)?,
        "isr-sizes" => plain().and(names(arg)).map(Query::IsrSizes)?,
        "offsets" => {
            let (topic, partition) = plain().and(read_partition(arg))?;
            Query::Offsets { topic, partition }
        }
        "group" => {
            let fields = with(&["fields"])?;
            let known = |s: &Spot| match s.text()? {
                "state" | "coordinator" | "members" => s.owned(),
                _ => Err(s.wrong("one of state, coordinator, members")),
            };
            let fields = fields.get("fields").map_or(Ok(vec!["state".into(), "members".into()]), |s| s.each(known))?;
            Query::Group { group: arg.owned()?, fields }
        }
        "group-sizes" => plain().and(arg.owned()).map(Query::GroupSizes)?,
        "committed" => plain().and(arg.owned()).map(Query::Committed)?,
        "coordinator-is-leader-of" => {
            plain()?;
            match arg.list()?.as_slice() {
                [group, partition] => Query::CoordinatorIsLeaderOf {
                    group: group.owned()?,
                    partition: partition.int(0, i64::from(i32::MAX))? as u32,
                },
                _ => return Err(arg.wrong("a group and a partition number")),
            }
        }
        "partition-of-each" => plain().and(arg.owned()).map(Query::PartitionOfEach)?,
        "quorum" => match plain().and(arg.text())? {
            "has-leader" => Query::HasLeader,
            _ => return Err(arg.wrong("\"has-leader\"")),
        },
        "answers" => Query::Answers { since: since(&with(&["since"])?)?, producer: arg.owned()? },
        "each-answer" => {
            let fields = with(&["since", "value"])?;
            Query::EachAnswer {
                since: since(&fields)?,
                value: fields.get("value").map_or(Ok(String::new()), |s| s.owned())?,
                producer: arg.owned()?,
            }
        }
        "read" => Query::Read { since: since(&with(&["since"])?)?, member: arg.owned()? },
        "log-as-read" => {
            let fields = with(&["since", "limit"])?;
            let limit = fields.get("limit").map_or(Ok(100), |s| s.int(0, i64::from(u32::MAX)))? as usize;
            Query::LogAsRead { since: since(&fields)?, limit, member: arg.owned()? }
        }
        "rebalances" => Query::Rebalances { since: since(&with(&["since"])?)?, members: names(arg)? },
        "errors" => Query::Errors { since: since(&with(&["since"])?)?, members: names(arg)? },
        "promises" => {
            plain()?;
            let fields = arg.object(&["client", "member"])?;
            Query::Promises { client: fields.need("client")?.owned()?, member: fields.need("member")?.owned()? }
        }
        _ => plain().and(arg.owned()).map(Query::OldClient)?,
    })
}
