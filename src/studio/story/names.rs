//! How things of a run are named to a person: plain, comparable values without a type of the engine. It looks nothing
//! up.

use std::borrow::Cow;

use highwater_engine::base::BrokerId;

/// Simulated microseconds since the start of the run.
pub type Micros = u64;
/// A word of Kafka's, shown as it is in every language: an error name, a config key, an API, a version.
pub type Term = Cow<'static, str>;

/// A node or a client of the run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeRef {
    Controller(u32),
    Broker(u32),
    /// A producer, by its name in the scenario.
    Producer(String),
    /// A group member, by its name in the scenario.
    Member(String),
    /// The administrator: requests that a user's action sends to the cluster.
    Admin,
}

/// One partition of one topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionRef {
    pub topic: String,
    pub partition: u32,
}

/// A trace entry, by its number in the reel of the branch that is shown. Every fact can be found again by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub u64);

/// A message in flight or delivered, by the engine's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageRef(pub u64);

/// The name of a client, empty for others.
pub fn name_of(node: NodeRef) -> String {
    match node {
        NodeRef::Producer(name) | NodeRef::Member(name) => name,
        NodeRef::Admin | NodeRef::Controller(_) | NodeRef::Broker(_) => String::new(),
    }
}

/// Numbers of brokers.
pub fn ids(brokers: &[BrokerId]) -> Vec<u32> {
    brokers.iter().map(|broker| broker.0).collect()
}

/// An offset or epoch for the page, which knows no -1.
pub fn count(value: i64) -> u64 {
    value.max(0) as u64
}
