//! The closed list of things worth noticing, each with its cause. Written for people and checks; no decision reads the
//! trace.

mod refusal;

pub use refusal::{Needed, Refusal};

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{
    ActionId, BrokerEpoch, BrokerId, ClientId, ControllerId, GenerationId, LeaderEpoch, LinkSetup, MessageId, NodeId,
    Offset, PartitionEpoch, QuorumEpoch, Seq, SimTime, Tag, TopicId, Tp,
};
use crate::protocol::{Api, ElectionKind, ErrorCode, GroupState};

/// One entry of the trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceEntry {
    pub seq: Seq,
    pub at: SimTime,
    /// The entry without which this one would not be there; `Seq(0)` for none.
    pub cause: Seq,
    pub who: NodeId,
    pub kind: Kind,
}

/// Who changed an ISR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IsrChanger {
    /// The leader, through AlterPartition.
    Leader(BrokerId),
    /// The controller itself, on fencing, controlled shutdown, registration or an election.
    Controller,
}

/// Who had a topic made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Creator {
    /// An administrator's CreateTopics.
    Admin,
    /// A broker, because a client asked for the metadata of a topic that was not there (`auto.create.topics.enable`).
    Metadata,
    /// A broker, because somebody looked for a coordinator and the offsets topic was not there.
    FindCoordinator,
}

/// Why a request ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The connection was reset or closed by the other side.
    Disconnected,
    /// No answer within the time-out of the request; the connection was given up.
    TimedOut,
}

/// State of a voter in the metadata quorum (KIP-595, KIP-996).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuorumRole {
    Unattached,
    Prospective,
    Candidate,
    Leader,
    Follower,
    Resigned,
}

/// What happened to a member's partitions, as its rebalance listener is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Callback {
    Assigned,
    Revoked,
    Lost,
}

/// What was noticed. `who` of the entry is the node at which it happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    // What a person or a script did.
    /// An action was accepted by the world.
    Acted {
        action: ActionId,
    },
    /// An action was refused by the world before it did anything: its verb in a scenario, and why.
    ActionRefused {
        action: ActionId,
        verb: &'static str,
        /// Kept apart: it is large, and there are few.
        why: Rc<Refusal>,
    },
    /// An action that asks the cluster for something has its answer.
    ActionAnswered {
        action: ActionId,
        error: ErrorCode,
        /// What the server said of it.
        message: Option<Rc<str>>,
    },
    ProcessStarted,
    ProcessKilled,
    ShutdownRequested,
    /// The process ended by itself: after a controlled shutdown, or because it gave up.
    ProcessExited {
        clean: bool,
    },
    ProcessPaused,
    ProcessResumed,
    DiskLost,
    /// No packet passes from here to `to` any more.
    LinkCut {
        to: NodeId,
    },
    LinkHealed {
        to: NodeId,
    },
    /// How the link is from now on.
    LinkChanged {
        to: NodeId,
        setup: LinkSetup,
    },

    // The wire.
    MessageSent {
        message: MessageId,
        to: NodeId,
        api: Api,
        response: bool,
        arrives_at: SimTime,
        error: ErrorCode,
        empty: bool,
    },
    /// A message that waited goes on: it comes of what let it pass, a healing or the resumption of its receiver.
    MessageDelivered {
        message: MessageId,
        /// The entry of its sending.
        sent: Seq,
    },
    /// The message will never be delivered: dropped by an action, or its receiver or connection is gone.
    MessageLost {
        message: MessageId,
    },
    /// The message waits: a cut holds it in retransmission, the receiver's process stands still, or an action holds it
    /// or what goes before it on its connection.
    MessageHeld {
        message: MessageId,
    },
    /// An action changed when the message arrives.
    MessageMoved {
        message: MessageId,
        arrives_at: SimTime,
        /// The entry of its sending.
        sent: Seq,
    },
    /// A server closes a connection on which this request still lay unread: nobody will ever work on it.
    RequestUnread {
        of: NodeId,
        api: Api,
        /// Records that it was to write.
        records: u32,
    },
    RequestFailed {
        to: NodeId,
        api: Api,
        failure: Failure,
    },

    // The metadata quorum.
    QuorumRoleChanged {
        role: QuorumRole,
        epoch: QuorumEpoch,
    },
    QuorumLeaderElected {
        leader: ControllerId,
        epoch: QuorumEpoch,
    },
    VoteGranted {
        candidate: ControllerId,
        epoch: QuorumEpoch,
        pre_vote: bool,
    },
    VoteRefused {
        candidate: ControllerId,
        epoch: QuorumEpoch,
        pre_vote: bool,
    },
    QuorumLogTruncated {
        from: Offset,
        to: Offset,
    },
    /// A controller became the active one.
    ControllerActivated {
        epoch: QuorumEpoch,
    },
    ControllerResigned {
        epoch: QuorumEpoch,
    },

    // Decisions of the active controller.
    BrokerRegistered {
        broker: BrokerId,
        epoch: BrokerEpoch,
        clean: bool,
    },
    RegistrationRefused {
        broker: BrokerId,
        error: ErrorCode,
    },
    BrokerFenced {
        broker: BrokerId,
        last_contact: Option<SimTime>,
    },
    BrokerUnfenced {
        broker: BrokerId,
    },
    ControlledShutdownBegun {
        broker: BrokerId,
    },
    ControlledShutdownAllowed {
        broker: BrokerId,
    },
    TopicCreated {
        topic: TopicId,
        name: Rc<str>,
        partitions: u32,
        replication_factor: u32,
        by: Creator,
    },
    TopicDeleted {
        topic: TopicId,
        name: Rc<str>,
    },
    PartitionsAdded {
        topic: TopicId,
        total: u32,
    },
    ConfigChanged {
        name: Rc<str>,
        value: Option<Rc<str>>,
    },
    LeaderElected {
        tp: Tp,
        leader: BrokerId,
        previous: Option<BrokerId>,
        epoch: LeaderEpoch,
        election: ElectionKind,
    },
    /// No replica may lead.
    LeaderLost {
        tp: Tp,
        previous: BrokerId,
        epoch: LeaderEpoch,
    },
    IsrShrunk {
        tp: Tp,
        isr: Vec<BrokerId>,
        removed: Vec<BrokerId>,
        by: IsrChanger,
        epoch: PartitionEpoch,
    },
    IsrExpanded {
        tp: Tp,
        isr: Vec<BrokerId>,
        added: Vec<BrokerId>,
        epoch: PartitionEpoch,
    },
    ElrChanged {
        tp: Tp,
        elr: Vec<BrokerId>,
        /// Whom the controller remembers as the last leader of a partition that has none.
        last_known_leader: Option<BrokerId>,
    },
    /// A request to the controller was refused.
    ControllerRefused {
        api: Api,
        error: ErrorCode,
    },

    // Brokers.
    BrokerRunning {
        epoch: BrokerEpoch,
    },
    /// The broker applied a record that concerns the partition.
    BecameLeader {
        tp: Tp,
        epoch: LeaderEpoch,
        log_end: Offset,
    },
    BecameFollower {
        tp: Tp,
        epoch: LeaderEpoch,
        leader: BrokerId,
    },
    BecameLeaderless {
        tp: Tp,
        epoch: LeaderEpoch,
    },
    /// The leader appended records of a producer or a coordinator.
    Appended {
        tp: Tp,
        base_offset: Offset,
        count: u32,
        epoch: LeaderEpoch,
    },
    /// A follower appended what it fetched.
    Replicated {
        tp: Tp,
        log_end: Offset,
    },
    HighWatermarkAdvanced {
        tp: Tp,
        high_watermark: Offset,
        leader: bool,
    },
    LogTruncated {
        tp: Tp,
        from: Offset,
        to: Offset,
        epoch: LeaderEpoch,
    },
    IsrShrinkProposed {
        tp: Tp,
        removed: Vec<BrokerId>,
    },
    IsrExpandProposed {
        tp: Tp,
        added: BrokerId,
    },
    AlterPartitionRefused {
        tp: Tp,
        error: ErrorCode,
    },
    ProduceRefused {
        tp: Tp,
        error: ErrorCode,
    },
    ProduceTimedOut {
        tp: Tp,
    },
    DuplicateRecognised {
        tp: Tp,
        base_offset: Offset,
    },
    LogStartAdvanced {
        tp: Tp,
        log_start: Offset,
    },

    // Group coordinators.
    CoordinatorLoading {
        partition: u32,
    },
    CoordinatorLoaded {
        partition: u32,
        groups: u32,
    },
    CoordinatorUnloaded {
        partition: u32,
    },
    GroupStateChanged {
        group: Rc<str>,
        state: GroupState,
        generation: GenerationId,
        members: u32,
    },
    MemberJoined {
        group: Rc<str>,
        member: Rc<str>,
    },
    MemberRemoved {
        group: Rc<str>,
        member: Rc<str>,
        expired: bool,
    },
    OffsetsCommitted {
        group: Rc<str>,
        offsets: Vec<(Tp, Offset)>,
    },
    CoordinatorRefused {
        group: Rc<str>,
        api: Api,
        error: ErrorCode,
    },

    // Clients.
    /// The application handed a record to the producer.
    RecordSent {
        tag: Tag,
        topic: Rc<str>,
        partition: Option<u32>,
        value: Rc<str>,
    },
    /// The producer reported success; offset -1 with acks=0.
    RecordAcked {
        tag: Tag,
        tp: Tp,
        offset: Offset,
    },
    /// The producer reported a failure: the Java exception by name. `tp` if the partition was known.
    RecordFailed {
        tag: Tag,
        tp: Option<Tp>,
        exception: &'static str,
    },
    ProducerRetries {
        tp: Tp,
        error: ErrorCode,
    },
    ProducerIdAssigned {
        id: i64,
        epoch: i16,
        /// Batches that were sent in the epoch before, have no outcome and bear numbers of the new epoch now: a leader
        /// that has one of them does not know it again.
        renumbered: u32,
    },
    /// A leader that the client did not know before.
    LeaderDiscovered {
        tp: Tp,
        leader: BrokerId,
    },
    CoordinatorDiscovered {
        group: Rc<str>,
        coordinator: BrokerId,
    },
    /// The client has no coordinator; `error` is the last answer.
    CoordinatorUnknown {
        group: Rc<str>,
        error: ErrorCode,
    },
    RebalanceCallback {
        group: Rc<str>,
        callback: Callback,
        partitions: Vec<Tp>,
    },
    /// `poll` handed a record to the application.
    RecordDelivered {
        tag: Tag,
        tp: Tp,
        offset: Offset,
        epoch: i32,
    },
    /// The consumer goes on from `offset`. It stood at `from`, if it had a position at all.
    PositionReset {
        tp: Tp,
        from: Option<Offset>,
        offset: Offset,
    },
    CommitSucceeded {
        group: Rc<str>,
    },
    CommitFailed {
        group: Rc<str>,
        exception: &'static str,
    },
    /// `poll` threw.
    PollFailed {
        group: Rc<str>,
        exception: &'static str,
    },
    ClientClosed {
        client: ClientId,
    },
}
