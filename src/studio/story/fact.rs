//! The closed list of things that can be said about a run, with their values. Holds no sentence in any language.
use super::asked::{Asked, Reason, WaitFor};
use super::names::{Micros, NodeRef, PartitionRef, Term};

/// What a user did to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageDeed {
    Dropped,
    Held,
    Delayed { by_us: Micros },
    Duplicated,
    Delivered,
}

/// One thing that happened or is so, with its values. Every sentence of the page about the run is made from one of
/// these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    // nodes
    Killed {
        node: NodeRef,
    },
    Stopped {
        node: NodeRef,
    },
    /// Somebody asked the process to end.
    StopRequested {
        node: NodeRef,
    },
    DiskLost {
        node: NodeRef,
    },
    ControlledShutdownBegan {
        broker: u32,
    },
    /// The controller has moved its leaderships away: it may go.
    ControlledShutdownAllowed {
        broker: u32,
    },
    Started {
        node: NodeRef,
    },
    Paused {
        node: NodeRef,
    },
    Resumed {
        node: NodeRef,
    },
    Registered {
        broker: u32,
        epoch: u64,
        clean: bool,
    },
    RegistrationRefused {
        broker: u32,
        error: Term,
    },
    Fenced {
        broker: u32,
        session_us: Micros,
    },
    Unfenced {
        broker: u32,
    },
    // links
    Cut {
        a: Vec<NodeRef>,
        b: Vec<NodeRef>,
        one_way: bool,
    },
    Healed {
        a: Vec<NodeRef>,
        b: Vec<NodeRef>,
    },
    LinkChanged {
        a: NodeRef,
        b: NodeRef,
        latency_us: Micros,
        loss_permille: u32,
    },
    /// A user did something to one message.
    MessageActed {
        deed: MessageDeed,
        message: Term,
        from: Option<NodeRef>,
        to: Option<NodeRef>,
    },
    /// A message that was held by this name goes on.
    MessageReleased {
        name: String,
    },
    // quorum
    QuorumElectionBegan {
        controller: u32,
        epoch: u32,
    },
    QuorumLeaderElected {
        controller: u32,
        epoch: u32,
    },
    QuorumLeaderResigned {
        controller: u32,
        epoch: u32,
    },
    ActiveController {
        controller: u32,
        epoch: u32,
    },
    MetadataTruncated {
        node: NodeRef,
        from: u64,
        to: u64,
    },
    /// A server closes a connection in which a request lies that nobody has read.
    RequestUnread {
        node: NodeRef,
        of: NodeRef,
        api: Term,
        records: u32,
    },
    ControllerRefused {
        controller: u32,
        api: Term,
        error: Term,
    },
    // partitions
    LeaderElected {
        partition: PartitionRef,
        broker: u32,
        epoch: u32,
        how: ElectionKind,
    },
    PartitionOffline {
        partition: PartitionRef,
        last: Option<u32>,
    },
    IsrShrunk {
        partition: PartitionRef,
        removed: Vec<u32>,
        isr: Vec<u32>,
        by: IsrBy,
    },
    IsrExpanded {
        partition: PartitionRef,
        added: Vec<u32>,
        isr: Vec<u32>,
        by: IsrBy,
    },
    ElrChanged {
        partition: PartitionRef,
        elr: Vec<u32>,
        last_known_leader: Option<u32>,
    },
    IsrChangeRefused {
        partition: PartitionRef,
        error: Term,
    },
    HighWatermarkAdvanced {
        partition: PartitionRef,
        broker: u32,
        from: u64,
        to: u64,
    },
    HighWatermarkStalled {
        partition: PartitionRef,
        broker: u32,
        at: u64,
        waits_for: Vec<u32>,
    },
    Truncated {
        partition: PartitionRef,
        broker: u32,
        from: u64,
        to: u64,
    },
    BecameLeader {
        partition: PartitionRef,
        broker: u32,
        epoch: u32,
    },
    BecameFollower {
        partition: PartitionRef,
        broker: u32,
        leader: u32,
        epoch: u32,
    },
    // records
    Appended {
        partition: PartitionRef,
        broker: u32,
        first: u64,
        last: u64,
    },
    Acked {
        producer: String,
        partition: PartitionRef,
        first: u64,
        last: u64,
        by: AckedBy,
    },
    Refused {
        producer: String,
        partition: PartitionRef,
        error: Term,
    },
    ProduceTimedOut {
        producer: String,
        partition: PartitionRef,
        count: u64,
    },
    Retried {
        producer: String,
        partition: PartitionRef,
        error: Term,
    },
    AckedLost {
        partition: PartitionRef,
        first: u64,
        last: u64,
    },
    Duplicated {
        partition: PartitionRef,
        first: u64,
        last: u64,
    },
    Delivered {
        member: String,
        partition: PartitionRef,
        first: u64,
        last: u64,
    },
    // groups
    CoordinatorFound {
        group: String,
        broker: u32,
        partition: u32,
    },
    CoordinatorLost {
        group: String,
        broker: Option<u32>,
        partition: u32,
    },
    CoordinatorUnavailable {
        group: String,
        partition: u32,
        error: Term,
    },
    CoordinatorLoading {
        group: String,
        broker: u32,
        partition: u32,
    },
    CoordinatorLoaded {
        broker: u32,
        partition: u32,
    },
    MemberJoined {
        group: String,
        member: String,
    },
    MemberLeft {
        group: String,
        member: String,
    },
    MemberExpired {
        group: String,
        member: String,
    },
    Rebalancing {
        group: String,
        generation: u32,
    },
    GroupStable {
        group: String,
        generation: u32,
        members: u32,
    },
    OffsetsCommitted {
        group: String,
        member: String,
        partition: PartitionRef,
        offset: u64,
    },
    CommitFailed {
        group: String,
        member: String,
        error: Term,
    },
    PositionReset {
        member: String,
        partition: PartitionRef,
        /// Where it read until now; none if it had no position yet.
        from: Option<u64>,
        to: u64,
    },
    MemberStopped {
        group: String,
        member: String,
        error: Term,
        client: Term,
    },
    MemberReadsOn {
        group: String,
        member: String,
    },
    // clients and admin
    ClientStarted {
        client: NodeRef,
    },
    ClientClosed {
        client: NodeRef,
    },
    ClientError {
        client: NodeRef,
        error: Term,
    },
    TopicCreated {
        topic: String,
        partitions: u32,
        replication_factor: u32,
        by: CreatedBy,
    },
    TopicDeleted {
        topic: String,
    },
    PartitionsAdded {
        topic: String,
        total: u32,
    },
    ConfigChanged {
        target: ConfigTarget,
        key: Term,
        value: Term,
    },
    // what a script or a hand asked for, where no other entry says that it was done
    Asked(Asked),
    /// Somebody has waited since then and goes on waiting.
    WaitBegan {
        what: WaitFor,
        since_us: Micros,
    },
    /// A wait that was told is over.
    WaitEnded {
        what: WaitFor,
        after_us: Micros,
        /// Attempts or records in it.
        count: u64,
    },
    /// It was done and changed nothing: it was so already.
    WithoutEffect {
        action: Term,
    },
    ActionRefused {
        action: Term,
        reason: Reason,
    },
    // how things stand, the ends of a chain of causes
    HasReplicas {
        partition: PartitionRef,
        replicas: Vec<u32>,
    },
    OnlyReplicaOn {
        partition: PartitionRef,
        broker: u32,
    },
    CreatedWhileAlone {
        topic: String,
        broker: u32,
        replication_factor: u32,
    },
    SettingWas {
        target: ConfigTarget,
        key: Term,
        value: Term,
    },
    ClientVersionWaits {
        client: Term,
        long_poll: bool,
    },
    GroupHashesTo {
        group: String,
        partition: u32,
    },
    BrokerIsDown {
        broker: u32,
    },
    NotInIsr {
        partition: PartitionRef,
        broker: u32,
    },
    RunBegan,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConfigTarget {
    Topic(String),
    Broker(u32),
    Cluster,
    Client(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElectionKind {
    /// From the ISR.
    Clean,
    /// The preferred replica takes over again.
    Preferred,
    /// From the eligible leader replicas.
    Elr,
    /// The last known leader came back.
    LastKnown,
    Unclean,
}

/// Whose request had a topic made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CreatedBy {
    /// An administrator's CreateTopics.
    Admin,
    /// A client asked for the metadata of a topic that was not there.
    Metadata,
    /// Somebody looked for a coordinator and the offsets topic was not there.
    FindCoordinator,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IsrBy {
    Leader(u32),
    Controller,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AckedBy {
    /// `acks=0`: nobody answered.
    Nobody,
    /// `acks=1`.
    LeaderAlone,
    /// `acks=all`.
    WholeIsr,
}
