//! What each view of the page shows: plain, public, comparable data in the user's terms.
//! It deliberately holds no sentence and no engine type, but for the closed list of who serves an API: words are made
//! from these facts in every language, and a component that reads them computes nothing.
//!
//! Units: every time is simulated microseconds since the start of the run (`Micros`), every duration is microseconds,
//! offsets and epochs are Kafka's numbers. Kafka's own words (error names, config keys, APIs, states) are `Term`s and
//! stay untranslated.
pub use super::panel::*;
pub use super::time::*;
pub use highwater_engine::protocol::Server;

pub use crate::kinds::{Mark as MarkKind, Part as LogKind};
pub use crate::playback::{Ended, Limit, Pace, Speed, StepKind, Waiting};
pub use crate::recording::Standing as LaneState;
pub use crate::scenario::{Note, ScenarioId, Words as Prose};
pub use crate::story::{
    AckedBy, Asked, ConfigTarget, CreatedBy, ElectionKind, Fact, IsrBy, MessageDeed, MessageRef, Micros, Needed,
    NodeRef, PartitionRef, Reason, Term, TraceId, WaitFor,
};

// ---------------------------------------------------------------- naming things

/// A branch of the run. Branch 0 is the one that the scenario or link opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchId(pub u32);

/// Where the run that is shown came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A scenario of the picker. `changed`: set-up settings or hand actions made it a run of its own.
    Gallery { id: ScenarioId, changed: bool },
    /// A link; `title` is the author's, in his own words, if there is one.
    Link { title: Option<String> },
}

/// What a question (*Why?*) or the inspector is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    Controller(u32),
    Broker(u32),
    /// The column: leader, ISR, high watermark.
    Partition(PartitionRef),
    /// Why this leader, why this ISR, why the high watermark stands still.
    Leader(PartitionRef),
    Isr(PartitionRef),
    HighWatermark(PartitionRef),
    Replica {
        partition: PartitionRef,
        broker: u32,
    },
    /// One record of a replica's log.
    Record {
        partition: PartitionRef,
        broker: u32,
        offset: u64,
    },
    Producer(String),
    Group(String),
    Member(String),
    Message(MessageRef),
    /// The n-th card of `Promises::verdicts`.
    Verdict(usize),
    /// The n-th square of `Promises::ledger`.
    LedgerRecord(u64),
    /// A line of the log.
    Trace(TraceId),
}

// ---------------------------------------------------------------- what the author says

/// What the author of the scenario says and asks at the playhead.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storyboard {
    pub said: Option<Prose>,
    pub asked: Option<QuestionView>,
}

/// A question, from its moment on until something else is done than what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionView {
    pub id: String,
    pub text: Prose,
    /// Each answer, with why it is right or wrong if the author says so.
    pub choices: Vec<(Prose, Option<Prose>)>,
    pub answered: Answered,
}

/// How far the run has answered a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// What it is about is still to come.
    Open,
    /// It has begun, and is not over.
    NotYet,
    /// Which answer is right, if one of them is, and what the clients do: by the run, not by the author.
    Shown { right: Option<usize>, stopped: Vec<String>, going_on: Vec<String> },
}

// ---------------------------------------------------------------- the scene

/// The whole cluster at the playhead. Rebuilt only when an event was passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Grows whenever anything below changed; two scenes of one number are equal.
    pub revision: u64,
    pub at_us: Micros,
    pub origin: Origin,
    pub controllers: Vec<ControllerView>,
    /// Topics that are shown as columns, in order; an internal topic only once it was opened.
    pub topics: Vec<TopicView>,
    /// Internal topics that exist, whether opened or not; their squares are in each broker.
    pub internal: Vec<InternalTopic>,
    /// Rows, in order of broker id.
    pub brokers: Vec<BrokerView>,
    pub producers: Vec<ProducerView>,
    pub groups: Vec<GroupView>,
    /// The group whose partition of the offsets topic is outlined.
    pub selected_group: Option<String>,
    pub cuts: Vec<CutView>,
    /// Links that differ from the default.
    pub links: Vec<LinkView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControllerView {
    pub id: u32,
    pub role: QuorumRole,
    pub process: ProcessState,
    pub quorum_epoch: u32,
    /// End offset of its metadata log, and how many of the last `METADATA_TAIL` offsets of the quorum's longest log it
    /// has.
    pub log_end_offset: u64,
    pub high_watermark: u64,
    /// The tail, oldest first: one cell an offset of the quorum's last `METADATA_TAIL` offsets.
    pub tail: Vec<MetadataCell>,
    /// Every pair of a cut that names this controller is listed in `Scene::cuts`.
    pub cut_off: bool,
    pub menu: Vec<NodeAction>,
}

/// Cells of a controller's metadata log that are shown.
pub const METADATA_TAIL: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataCell {
    /// Below the quorum's high watermark.
    Committed,
    /// In the log, above the high watermark.
    Uncommitted,
    /// This controller does not have it.
    Absent,
}

/// Kafka's quorum states; `Unattached` also while it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuorumRole {
    /// Leader of the quorum and active controller.
    Active,
    /// Leader of the quorum that has not taken office yet.
    Leader,
    Follower,
    Candidate,
    Prospective,
    Voted,
    Unattached,
    Resigned,
}

/// A process, of whatever node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessState {
    /// Its scenario starts it later.
    NotStarted,
    Running,
    /// In controlled shutdown.
    Stopping,
    /// Stands still (a long GC); sockets stay open.
    Paused {
        since_us: Micros,
    },
    /// Killed or stopped.
    Down {
        since_us: Micros,
        clean: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicView {
    pub name: String,
    pub internal: bool,
    pub replication_factor: u32,
    pub min_insync_replicas: u32,
    pub partitions: Vec<PartitionView>,
}

/// A column. The cluster's truth as the metadata log has it; `high_watermark` is the leader's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionView {
    pub partition: u32,
    pub leader: Option<u32>,
    pub leader_epoch: u32,
    pub partition_epoch: u32,
    /// In Kafka's order.
    pub isr: Vec<u32>,
    pub elr: Vec<u32>,
    /// Who led last, while nobody leads and nobody is eligible.
    pub last_known_leader: Option<u32>,
    pub replicas: Vec<u32>,
    pub isr_health: IsrHealth,
    pub high_watermark: u64,
    /// Offset of the first of the `LOG_TAIL` cells of every replica: one axis for the column.
    pub first_shown: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsrHealth {
    Full,
    /// Smaller than the replica set.
    Reduced,
    /// Below `min.insync.replicas`.
    BelowMin,
    /// No leader.
    Offline,
}

/// Records of a replica that are shown.
pub const LOG_TAIL: usize = 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerView {
    pub id: u32,
    pub rack: Option<String>,
    pub process: ProcessState,
    pub standing: BrokerStanding,
    /// How far its process is, while there is one.
    pub phase: Option<BrokerPhase>,
    /// It is started again as soon as it has stopped.
    pub restarting: bool,
    pub broker_epoch: Option<u64>,
    /// Time left until the controller fences it, while its session runs out.
    pub fenced_in_us: Option<Micros>,
    pub cut_off: bool,
    /// What can be done to it now; nothing else is offered.
    pub menu: Vec<NodeAction>,
    /// One entry for each column in which this broker is a replica, in the order of `Scene::topics`.
    pub replicas: Vec<ReplicaView>,
    /// One entry for each of `Scene::internal`, in that order.
    pub internal: Vec<InternalStrip>,
}

/// What the controllers think of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokerStanding {
    Unregistered,
    Fenced { since_us: Micros },
    Active,
    ControlledShutdown,
}

/// How far a broker's process is, by its own state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrokerPhase {
    /// It asks to be registered; Kafka's error if it was refused last.
    Registering {
        refused: Option<Term>,
    },
    /// Registered, and catching up with the metadata log.
    CatchingUp,
    AtWork,
    /// Its leaders are moved away before it stops.
    HandingOver {
        leads: u32,
    },
    ShuttingDown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaView {
    pub partition: PartitionRef,
    pub role: ReplicaRole,
    /// The first replica of the assignment.
    pub preferred: bool,
    /// Outside the ISR, and may lead cleanly all the same (KIP-966).
    pub eligible: bool,
    pub log_start_offset: u64,
    pub log_end_offset: u64,
    /// Its own high watermark: a follower's may stand behind the leader's.
    pub high_watermark: u64,
    pub leader_epoch: u32,
    /// Offsets `PartitionView::first_shown ..` in order, always `LOG_TAIL` of them.
    pub cells: Vec<RecordCell>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaRole {
    Leader,
    InSync,
    OutOfSync,
    /// Its broker is down or its log cannot be read.
    Offline,
    /// Its broker still believes that it leads, in an older epoch.
    StaleLeader,
}

/// One offset of one replica's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordCell {
    /// Below this replica's high watermark.
    Safe,
    /// Above it.
    NotSafe,
    /// Above it, and a producer has been told "done".
    NotSafeAcked,
    /// On this replica only: acknowledged, and gone from the partition.
    AckedLost,
    /// This replica holds nothing at that offset.
    Empty,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalTopic {
    pub name: String,
    pub partitions: u32,
    pub replication_factor: u32,
    /// It is shown as columns now.
    pub opened: bool,
    /// Partition of the selected group (the offsets topic).
    pub outlined: Option<u32>,
}

/// An internal topic on one broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalStrip {
    pub topic: String,
    /// One square for each partition that this broker carries, in order.
    pub squares: Vec<InternalSquare>,
    /// Of these, how many have no other replica anywhere.
    pub nowhere_else: u32,
    /// Of these, how many have no leader now.
    pub leaderless: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternalSquare {
    pub partition: u32,
    pub role: ReplicaRole,
    pub outlined: bool,
}

/// A cut between two nodes. `one_way`: only what `a` sends to `b` is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutView {
    pub a: NodeRef,
    pub b: NodeRef,
    pub one_way: bool,
    pub since_us: Micros,
}

/// A link that differs from the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkView {
    pub a: NodeRef,
    pub b: NodeRef,
    pub latency_us: Micros,
    pub jitter_us: Micros,
    /// Tenths of a percent.
    pub loss_permille: u32,
}

/// What a node's menu can offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeAction {
    Kill,
    Stop,
    Restart,
    Start,
    Pause,
    Resume,
    CutFromBrokers,
    CutFromControllers,
    CutFromClients,
    CutFromAll,
    Heal,
    SlowLink,
    LossyLink,
    RestoreLink,
}

// ---------------------------------------------------------------- clients

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerView {
    pub name: String,
    pub topic: String,
    pub client_version: Term,
    /// `0`, `1` or `all`, as Kafka spells it.
    pub acks: Term,
    pub idempotent: bool,
    /// Records in 1000 seconds, so that 1/s is 1000.
    pub rate_milli: u64,
    pub now: ProducerNow,
    pub sent: u64,
    pub acked: u64,
    pub lost: u64,
    /// Where the lost ones were.
    pub lost_at: Vec<Stretch>,
    pub refused: u64,
    pub in_flight: u32,
    pub waiting: u32,
}

/// What a producer is doing now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProducerNow {
    NotStarted,
    Closed,
    Idle,
    Sending,
    /// Its requests wait for answers (purgatory at the leader, or a slow link).
    AwaitingAcks {
        oldest_us: Micros,
    },
    /// It tries again after Kafka's error.
    Retrying {
        error: Term,
        partition: Option<PartitionRef>,
        next_in_us: Micros,
    },
    /// It cannot learn who leads.
    NoLeader {
        error: Term,
        partition: PartitionRef,
    },
    /// The last batch was given up with this error.
    Failing {
        error: Term,
    },
    Paused,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupView {
    pub name: String,
    pub state: GroupState,
    pub generation: u32,
    /// Partition of `__consumer_offsets` that holds it.
    pub offsets_partition: u32,
    pub coordinator: Coordinator,
    pub members: Vec<MemberView>,
    pub now: GroupNow,
    /// Records that wait to be read, over all its partitions.
    pub lag: u64,
    pub delivered: u64,
}

/// Kafka's names of the classic group states, and what is known while nobody can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    Unknown,
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
    Dead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinator {
    /// The offsets topic does not exist yet.
    NoTopic,
    /// The partition has no leader; its last one is named if it had one.
    Missing {
        last: Option<u32>,
        down: bool,
    },
    Loading {
        broker: u32,
    },
    Ready {
        broker: u32,
    },
}

/// What a group as a whole is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupNow {
    NoMembers,
    Reading,
    Rebalancing,
    /// Every member waits and nothing is read.
    Stopped {
        error: Term,
    },
    /// Some partitions are read, but commits and joins fail.
    ReadsWithoutCoordinator {
        error: Term,
        partitions_read: u32,
        partitions_still: u32,
    },
    /// Every member's process or application stands still.
    NotPolling,
    CaughtUp,
    Starting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberView {
    pub name: String,
    pub client_version: Term,
    pub long_poll: bool,
    pub assigned: Vec<AssignedPartition>,
    pub now: MemberNow,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedPartition {
    pub partition: PartitionRef,
    pub position: Option<u64>,
    pub committed: Option<u64>,
    pub lag: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberNow {
    NotStarted,
    Closed,
    FindingCoordinator {
        error: Option<Term>,
    },
    Joining,
    Syncing,
    Reading,
    CaughtUp,
    /// Reads on from leaders that did not move; commits fail.
    ReadingUncommitted {
        error: Term,
    },
    /// Nothing is read until the coordinator is back.
    Stopped {
        error: Term,
    },
    Paused,
    Failing {
        error: Term,
    },
}
