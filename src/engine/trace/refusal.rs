//! Why an action was not done, as data and as a sentence. What Kafka refuses is Kafka's answer and stands in
//! `ActionAnswered`.

use alloc::rc::Rc;
use alloc::string::String;
use core::fmt;

use crate::base::NodeId;

/// The state that an action needs its node to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needed {
    Running,
    NotRunning,
    RunningAndNotPaused,
    Paused,
    /// A client that is a producer.
    Producer,
}

impl fmt::Display for Needed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Needed::Running => "a running process",
            Needed::NotRunning => "no running process",
            Needed::RunningAndNotPaused => "a running process that is not paused",
            Needed::Paused => "a paused process",
            Needed::Producer => "a producer",
        })
    }
}

/// Why the world does not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    NoSuchNode(NodeId),
    NoSuchClient(Rc<str>),
    /// The client has a name and links, and no process yet.
    NotStarted(Rc<str>),
    NameTaken(Rc<str>),
    /// Nobody plays the role now: the partition has no leader, the group no coordinator.
    NoSuchRole(Rc<str>),
    /// The node is not in a state in which this makes sense: for example started while it runs.
    WrongState {
        node: NodeId,
        needed: Needed,
    },
    /// A message is already held, or will be, by this name.
    HoldTaken(Rc<str>),
    /// No message is held by this name.
    NothingHeld(Rc<str>),
    /// A limit of the simulation (base::limits).
    Limit {
        what: &'static str,
        most: u64,
    },
    /// A client's configuration that Kafka's constructor refuses: the exception it throws, the key and what was
    /// expected.
    ClientConfig {
        exception: &'static str,
        key: String,
        value: String,
        expected: String,
    },
    /// A node's configuration, at boot.
    NodeConfig {
        key: String,
        value: String,
        expected: String,
    },
    /// The set-up itself.
    Setup {
        what: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoSuchNode(node) => write!(f, "there is no {node}"),
            Refusal::NoSuchClient(name) => write!(f, "no client {name} has started"),
            Refusal::NotStarted(name) => write!(f, "client {name} has not started yet"),
            Refusal::NameTaken(name) => write!(f, "a client {name} runs already"),
            Refusal::NoSuchRole(role) => write!(f, "nobody is {role} now"),
            Refusal::WrongState { node, needed } => write!(f, "{node}: {needed} is needed"),
            Refusal::HoldTaken(name) => write!(f, "a message is held by the name {name} already"),
            Refusal::NothingHeld(name) => write!(f, "no message is held by the name {name}"),
            Refusal::Limit { what, most } => write!(f, "at most {most} {what}"),
            Refusal::ClientConfig { exception, key, value, expected } => {
                write!(f, "{exception}: {key}={value}: {expected}")
            }
            Refusal::NodeConfig { key, value, expected } => write!(f, "{key}={value}: {expected}"),
            Refusal::Setup { what } => write!(f, "{what}"),
        }
    }
}
