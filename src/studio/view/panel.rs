//! What the side panels show: promises, inspector, log, settings, sharing. Holds no words; see `model`, which
//! re-exports all of it.
pub use super::message::shown::*;
use super::model::*;
pub use crate::recording::{Delivery, LedgerCounts, RecordFate};

// ---------------------------------------------------------------- promises

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Promises {
    pub revision: u64,
    /// The one that hurts most first; never empty (the last resort is `EveryPromiseKept`).
    pub verdicts: Vec<VerdictCard>,
    /// The last `LEDGER_SHOWN` records in the order sent.
    pub ledger: Vec<LedgerSquare>,
    /// Records before the first square of `ledger`, by fate: nothing is left out in silence.
    pub earlier: LedgerCounts,
    pub counts: LedgerCounts,
    /// Where the lost ones of `counts` were.
    pub lost: Vec<Stretch>,
    pub if_one_fails: Vec<Survival>,
    pub if_two_fail: Vec<Survival>,
}

/// Squares in the ledger.
pub const LEDGER_SHOWN: usize = 240;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictCard {
    pub verdict: Verdict,
    pub cause: Option<Cause>,
    /// There is a chain to show.
    pub has_why: bool,
    /// A setting that would have helped, opened as a branch beside this one.
    pub cure: Option<Cure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    EveryConsumerStopped,
    GroupStopped {
        group: String,
    },
    GroupWithoutCommits {
        group: String,
    },
    /// A member whose process stands still keeps records from its group.
    PartitionsUnread {
        group: String,
        member: String,
    },
    NoActiveController,
    PartitionsOffline {
        count: u32,
        topic: String,
    },
    AckedLost {
        count: u64,
        /// Where they were.
        at: Vec<Stretch>,
    },
    WritesRefused {
        error: Term,
        producer: String,
    },
    WritesStalled {
        producer: String,
    },
    DeliveredTwice {
        count: u64,
    },
    OutOfOrder {
        count: u64,
    },
    /// Acknowledged by the leader alone and not below the high watermark.
    AtRisk {
        count: u64,
    },
    EveryPromiseKept,
}

/// Offsets of one partition that follow one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub partition: PartitionRef,
    pub first: u64,
    pub last: u64,
}

/// One sentence of cause under a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The group's partition of the offsets topic had one replica, on a broker that is down.
    OffsetsPartitionOneReplica {
        group: String,
        partition: u32,
        broker: u32,
    },
    OffsetsPartitionNoLeader {
        group: String,
        partition: u32,
    },
    AckedByLeaderAlone {
        partition: PartitionRef,
        first: u64,
        last: u64,
        broker: u32,
    },
    UncleanElection {
        partition: PartitionRef,
        broker: u32,
    },
    IsrBelowMin {
        partition: PartitionRef,
        isr: u32,
        min: u32,
    },
    NoLeader {
        partition: PartitionRef,
        last: Option<u32>,
    },
    QuorumLost {
        alive: u32,
        voters: u32,
    },
    FencingPending {
        broker: u32,
        in_us: Micros,
    },
    RetriedWithoutIdempotence {
        producer: String,
    },
    Rebalanced {
        group: String,
    },
    /// The offsets topic cannot be made, or nobody has asked for it yet.
    NoOffsetsTopic {
        group: String,
        wanted: u32,
        brokers: u32,
    },
    CoordinatorLoads {
        group: String,
        partition: u32,
        broker: u32,
    },
    /// There is one, and the members do not know it yet.
    CoordinatorNotFound {
        group: String,
        partition: u32,
        broker: u32,
    },
    /// What a group does not read belongs to this member, or the group waits for it.
    MemberFrozen {
        member: String,
    },
    PositionWentBack {
        member: String,
        partition: PartitionRef,
        from: u64,
        to: u64,
    },
    LeaderSilent {
        producer: String,
        broker: u32,
    },
    WaitsForFollowers {
        partition: PartitionRef,
        broker: u32,
        waits_for: Vec<u32>,
    },
    /// Kafka's last answer.
    Answered {
        producer: String,
        error: Term,
    },
    Unanswered {
        producer: String,
    },
}

/// A change that would have helped. `Heal` is of all links of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cure {
    OffsetsReplicationFactor { to: u32 },
    Acks { producer: String, to: Term },
    MinInsyncReplicas { topic: String, to: u32 },
    ReplicationFactor { topic: String, to: u32 },
    UncleanElectionOff { topic: String },
    Idempotence { producer: String },
    Start { node: NodeRef },
    Resume { node: NodeRef },
    Heal { node: NodeRef },
    ClientVersion { group: String, to: Term },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerSquare {
    /// Number of the record in the order sent; `Subject::LedgerRecord`.
    pub number: u64,
    pub partition: PartitionRef,
    pub offset: Option<u64>,
    pub fate: RecordFate,
    pub delivered: Delivery,
}

/// A line of "If one broker fails".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survival {
    pub promise: Promise,
    pub answer: Answer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    ProducersCanWrite,
    ConsumersGoOn,
    NothingAckedIsLost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No {
        because: Weakness,
    },
    /// It depends on which broker fails.
    Depends {
        because: Weakness,
    },
}

/// The setting that decides an `Answer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weakness {
    OffsetsReplicationFactor(u32),
    ReplicationFactor(u32),
    MinInsyncReplicas { min: u32, left: u32 },
    Acks(Term),
    UncleanElection,
    Controllers(u32),
    AlreadyDown,
}

// ---------------------------------------------------------------- log, why, inspect, text

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub trace: TraceId,
    pub at_us: Micros,
    pub kind: LogKind,
    pub fact: Fact,
    pub notable: bool,
}

/// What the log shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LogFilter {
    /// Empty means all.
    pub kinds: Vec<LogKind>,
    pub notable_only: bool,
    pub about: Option<Subject>,
}

/// A part of the log.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LogPage {
    /// Lines that pass the filter, up to the playhead.
    pub total: usize,
    /// Number of the first line in `lines`, counted from the oldest.
    pub first: usize,
    pub lines: Vec<LogLine>,
    /// The message that a line leads to, what was done to it or what was sent because of this, until it arrives. A line
    /// stands for ever; this is of the playhead.
    pub messages: Vec<(TraceId, OfferedMessage)>,
}

/// A message that can be chosen, as far as it must be known for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedMessage {
    pub id: MessageRef,
    /// `FetchResponse`.
    pub name: Term,
    pub from: NodeRef,
    pub to: NodeRef,
}

impl LogPage {
    pub fn message_of(&self, line: &LogLine) -> Option<&OfferedMessage> {
        self.messages.iter().find(|(trace, _)| *trace == line.trace).map(|(_, message)| message)
    }
}

/// The answer to *Why?*: causes, the latest first, down to the setting or action that began it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyChain {
    pub about: Subject,
    pub steps: Vec<WhyStep>,
    /// The chain goes on beyond `MAX_WHY` steps.
    pub cut_short: bool,
}

/// Steps of a chain that are shown.
pub const MAX_WHY: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhyStep {
    pub at_us: Micros,
    /// The entry to jump to; a setting that was so from the start has none.
    pub trace: Option<TraceId>,
    pub message: Option<MessageRef>,
    pub fact: Fact,
}

/// The inspector: one thing in Kafka's own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    pub about: Subject,
    pub sections: Vec<InspectSection>,
    /// A message says what it carries.
    pub message: Option<Box<MessageDetail>>,
    /// *Why?* can be asked about these.
    pub questions: Vec<Subject>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectSection {
    pub kind: InspectKind,
    pub rows: Vec<InspectRow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectKind {
    /// Who, where, which state.
    Identity,
    /// Fields of a message.
    Fields,
    Log,
    EpochCache,
    Fetchers,
    Registration,
    Group,
    Members,
    Batches,
    Timers,
    Configs,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectRow {
    /// Kafka's own name of the field.
    pub name: Term,
    pub value: InspectValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InspectValue {
    Number(i64),
    Bool(bool),
    Moment(Micros),
    /// Counts down.
    In(Micros),
    Term(Term),
    Brokers(Vec<u32>),
    Partition(PartitionRef),
    Node(NodeRef),
    GroupState(GroupState),
    Fate(RecordFate),
    Delivery(Delivery),
    None,
}

/// The whole state for the text view; headings and tables are made by the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextView {
    pub scene: std::rc::Rc<Scene>,
    pub promises: std::rc::Rc<Promises>,
    /// The last notable lines.
    pub recent: Vec<LogLine>,
}

// ---------------------------------------------------------------- settings

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// There is a run before this one to go back to.
    pub previous: bool,
    pub groups: Vec<SettingsGroup>,
    /// What the author of the scenario should know: defaults taken, settings without effect.
    pub notes: Vec<crate::scenario::Note>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsGroup {
    pub of: SettingsOf,
    pub settings: Vec<Setting>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsOf {
    Topic(String),
    Producer(String),
    Group(String),
    OffsetsTopic,
    Cluster,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: SettingKey,
    /// Live settings act at the playhead; the others begin a new run from 0 s.
    pub live: bool,
    pub value: SettingValue,
    /// The value was asked for and is not in force yet: a request is on its way.
    pub pending: bool,
    pub default: SettingValue,
    pub choices: Choices,
}

/// What can be set, and of whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SettingKey {
    /// A setting of the engine's table, by Kafka's name.
    Config {
        of: ConfigOf,
        name: &'static str,
    },
    Partitions {
        topic: String,
    },
    ReplicationFactor {
        topic: String,
    },
    Rate {
        producer: String,
    },
    Keys {
        producer: String,
    },
    Members {
        group: String,
    },
    /// Version of the clients of a group, such as `2.3`.
    ClientVersion {
        group: String,
    },
    Brokers,
    Controllers,
}

/// What a config belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConfigOf {
    Topic(String),
    Producer(String),
    /// All brokers and controllers.
    Nodes,
}

impl SettingKey {
    /// Kafka's own config name, where it is a config.
    pub fn config_name(&self) -> Option<&'static str> {
        match self {
            SettingKey::Config { name, .. } => Some(name),
            SettingKey::Partitions { .. }
            | SettingKey::ReplicationFactor { .. }
            | SettingKey::Rate { .. }
            | SettingKey::Keys { .. }
            | SettingKey::Members { .. }
            | SettingKey::ClientVersion { .. }
            | SettingKey::Brokers
            | SettingKey::Controllers => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Number(u32),
    /// Records a second.
    PerSecond(u32),
    Bool(bool),
    /// `0`, `1`, `all`; a version.
    Term(Term),
    Keys(KeyPattern),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyPattern {
    None,
    Hot,
    Even,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choices {
    /// All of them side by side.
    OneOf(Vec<SettingValue>),
    /// Minus and plus; the values that these lead to, `None` at an end.
    Steps { less: Option<SettingValue>, more: Option<SettingValue> },
    /// On and off.
    Toggle,
}

// ---------------------------------------------------------------- sharing

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// What stands behind `#`: payload, check, moment and digest, without the view options.
    pub fragment: String,
    pub title: Origin,
    pub length: u32,
    /// Characters that a link may have.
    pub limit: u32,
}

/// Why a link or a scenario could not be opened. The running scenario stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenError {
    pub what: OpenProblem,
    /// Where: a path such as `topics/orders/replication`, or a line and column as `3:14`.
    pub place: Option<String>,
    /// What stood there, in its own words.
    pub found: Option<String>,
    /// What was expected, as Kafka or the format spells it.
    pub expected: Option<String>,
    /// The nearest known name.
    pub nearest: Option<String>,
    /// The limit that was passed or the version needed.
    pub limit: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpenProblem {
    /// The end is missing.
    CutShort,
    /// The check does not fit.
    Changed,
    TooLarge,
    NewerVersion,
    UnknownCodec,
    NotJson,
    UnknownKey,
    WrongType,
    OutOfRange,
    Missing,
    /// Well formed, and cannot be: a replication factor above the number of brokers.
    Impossible,
    /// Kafka does not take it; `expected` is Kafka's own sentence.
    Refused,
    /// The address asks for something that is not known; the scenario in it is good.
    UnknownOption,
    /// The address says one thing twice.
    Repeated,
    BadMoment,
}

/// After a link was replayed: does the world at its moment have the digest that the link names?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestCheck {
    NotNamed,
    Same,
    Different,
}
