//! What was asked for, why it was not done, and what is waited for: the values of facts about these. Holds no sentence.

use super::fact::ConfigTarget;
use super::names::{Micros, NodeRef, PartitionRef, Term};

/// What somebody asked a node, a client or the cluster to do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    Restart {
        node: NodeRef,
    },
    Close {
        client: NodeRef,
    },
    CreateTopic {
        topic: String,
    },
    DeleteTopic {
        topic: String,
    },
    AddPartitions {
        topic: String,
        total: u32,
    },
    DeleteRecords {
        partition: PartitionRef,
        before: Option<u64>,
    },
    SetConfig {
        target: ConfigTarget,
        key: Term,
        value: Term,
    },
    ElectLeader {
        partition: PartitionRef,
        unclean: bool,
    },
    /// A question of the administrator, by Kafka's API.
    Describe {
        api: Term,
    },
    /// `None`: the client's own topic.
    Produce {
        client: NodeRef,
        topic: Option<String>,
        count: u64,
    },
    PausePolling {
        member: NodeRef,
        span_us: Micros,
    },
    Seek {
        member: NodeRef,
        partition: PartitionRef,
        to: u64,
    },
    Commit {
        member: NodeRef,
    },
}

/// What somebody waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitFor {
    Leader {
        partition: PartitionRef,
    },
    /// `group.initial.rebalance.delay.ms`: whether more members come.
    MoreMembers {
        group: String,
    },
    /// Everybody to join again.
    Rebalance {
        group: String,
    },
    Coordinator {
        client: String,
        group: String,
    },
    Commit {
        client: String,
        group: String,
    },
    Poll {
        client: String,
        group: String,
    },
    /// Records that do not fail.
    Success {
        client: String,
    },
    /// Every broker that the client knows is gone.
    LivingBroker {
        client: String,
    },
    /// Records that have no answer.
    Answer {
        client: String,
        topic: String,
        partition: Option<u32>,
    },
    /// Acknowledged records that the group has not read.
    Reading {
        group: String,
        partition: PartitionRef,
    },
}

/// Why an action was not done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Kafka's error, the exception that its Java clients throw, and what it says.
    Kafka {
        error: Term,
        exception: Term,
        /// The sentence of a server's answer.
        message: Option<Term>,
    },
    NoSuchNode {
        node: NodeRef,
    },
    NoSuchClient {
        name: String,
    },
    NotStarted {
        name: String,
    },
    NameTaken {
        name: String,
    },
    /// Nobody plays the role, as a scenario names it.
    NoSuchRole {
        role: Term,
    },
    WrongState {
        node: NodeRef,
        needed: Needed,
    },
    HoldTaken {
        name: String,
    },
    NothingHeld {
        name: String,
    },
    Limit {
        what: Term,
        most: u64,
    },
    /// A config that Kafka's constructor refuses; `expected` is Kafka's own sentence.
    Config {
        exception: Term,
        key: Term,
        value: Term,
        expected: Term,
    },
    /// The set-up itself.
    SetUp {
        what: Term,
    },
}

/// The state that an action needs its node to be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Needed {
    Running,
    NotRunning,
    RunningAndNotPaused,
    Paused,
    Producer,
}
