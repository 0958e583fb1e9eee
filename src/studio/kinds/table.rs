//! The table itself, complete by the compiler. It keeps no state: what was news before is remembered in `news`.

use highwater_engine::base::{BrokerId, NodeId, Tp};
use highwater_engine::protocol::{Api, ErrorCode, GroupState};
use highwater_engine::trace::{IsrChanger, Kind, QuorumRole, TraceEntry};

use super::{Mark, Part, Weight};

/// When an entry weighs what its row says; otherwise it is routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    Always,
    /// Where somebody's records or somebody's group live in the partition.
    Where(Tp),
    /// The first of a row that the node has, until it works again.
    First(Trouble),
}

/// What goes on in a row at one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    NoCoordinator,
    Commits,
    Polls,
    Records,
    Retries(Tp),
    Refusals(Tp),
    /// A dead coordinator is found again and again.
    Found(BrokerId),
    /// The controller is asked again and again.
    Asked(Api, ErrorCode),
}

/// What is known of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub part: Part,
    pub weight: Weight,
    pub mark: Option<Mark>,
    pub news: News,
}

impl Row {
    const fn new(part: Part, weight: Weight, mark: Option<Mark>) -> Row {
        Row { part, weight, mark, news: News::Always }
    }
    const fn of(self, tp: Tp) -> Row {
        Row { news: News::Where(tp), ..self }
    }
    const fn first(self, trouble: Trouble) -> Row {
        Row { news: News::First(trouble), ..self }
    }
}

const fn routine(part: Part) -> Row {
    Row::new(part, Weight::Routine, None)
}
const fn notable(part: Part, mark: Mark) -> Row {
    Row::new(part, Weight::Notable, Some(mark))
}
const fn grave(part: Part, mark: Mark) -> Row {
    Row::new(part, Weight::Grave, Some(mark))
}
/// Notable, and too frequent or too small for a mark.
const fn unmarked(part: Part) -> Row {
    Row::new(part, Weight::Notable, None)
}

/// The row of an entry.
pub fn row(entry: &TraceEntry) -> Row {
    use Part::{Controller, Fault, Group, Producer, Replication, Setting};
    match &entry.kind {
        // Actions. What one does is told by its effects where there are any.
        Kind::Acted { .. } => unmarked(Setting),
        Kind::ActionRefused { .. } => grave(Setting, Mark::Error),
        Kind::ActionAnswered { error: ErrorCode::None, .. } => routine(Setting),
        Kind::ActionAnswered { .. } => notable(Setting, Mark::Error),
        Kind::ProcessStarted => match entry.who {
            NodeId::Broker(_) | NodeId::Controller(_) => notable(Fault, Mark::Repair),
            NodeId::Client(_) => unmarked(Group),
        },
        Kind::ProcessKilled | Kind::ShutdownRequested | Kind::ProcessPaused | Kind::DiskLost => {
            grave(Fault, Mark::Fault)
        }
        Kind::ProcessExited { .. } => notable(Fault, Mark::Fault),
        Kind::ProcessResumed => grave(Fault, Mark::Repair),
        Kind::LinkCut { .. } => grave(Fault, Mark::Fault),
        Kind::LinkHealed { .. } => grave(Fault, Mark::Repair),
        Kind::LinkChanged { .. } => notable(Fault, Mark::Fault),

        // The wire.
        Kind::MessageSent { .. }
        | Kind::MessageDelivered { .. }
        | Kind::MessageLost { .. }
        | Kind::MessageHeld { .. }
        | Kind::MessageMoved { .. }
        | Kind::RequestFailed { .. } => routine(Fault),
        Kind::RequestUnread { .. } => unmarked(Fault),

        // The metadata quorum.
        Kind::QuorumRoleChanged { role: QuorumRole::Candidate, .. } => unmarked(Controller),
        Kind::QuorumRoleChanged { .. } | Kind::VoteGranted { .. } | Kind::VoteRefused { .. } => routine(Controller),
        Kind::QuorumLeaderElected { .. } => notable(Controller, Mark::Election),
        Kind::QuorumLogTruncated { .. } => grave(Controller, Mark::Truncation),
        Kind::ControllerActivated { .. } => grave(Controller, Mark::Election),
        Kind::ControllerResigned { .. } => unmarked(Controller),

        // Decisions of the active controller.
        Kind::BrokerRegistered { .. } => unmarked(Controller),
        Kind::RegistrationRefused { .. } => grave(Controller, Mark::Error),
        Kind::BrokerFenced { .. } => grave(Controller, Mark::Fault),
        Kind::BrokerUnfenced { .. } => grave(Controller, Mark::Repair),
        Kind::ControlledShutdownBegun { .. } => notable(Controller, Mark::Fault),
        Kind::ControlledShutdownAllowed { .. } => unmarked(Controller),
        Kind::TopicCreated { .. }
        | Kind::TopicDeleted { .. }
        | Kind::PartitionsAdded { .. }
        | Kind::ConfigChanged { .. } => notable(Setting, Mark::Setting),
        Kind::LeaderElected { tp, .. } => grave(Controller, Mark::Election).of(*tp),
        Kind::LeaderLost { tp, .. } => grave(Controller, Mark::Loss).of(*tp),
        // What the controller removes goes with a fencing or an election, which have their own scenes.
        Kind::IsrShrunk { tp, by: IsrChanger::Controller, .. } => notable(Replication, Mark::IsrShrink).of(*tp),
        Kind::IsrShrunk { tp, by: IsrChanger::Leader(_), .. } => grave(Replication, Mark::IsrShrink).of(*tp),
        Kind::IsrExpanded { tp, .. } => grave(Replication, Mark::IsrExpand).of(*tp),
        Kind::ElrChanged { tp, .. } => unmarked(Replication).of(*tp),
        Kind::ControllerRefused { api, error } => unmarked(Controller).first(Trouble::Asked(*api, *error)),

        // Brokers.
        Kind::BrokerRunning { .. }
        | Kind::BecameLeader { .. }
        | Kind::BecameFollower { .. }
        | Kind::BecameLeaderless { .. }
        | Kind::Appended { .. }
        | Kind::Replicated { .. }
        | Kind::HighWatermarkAdvanced { .. }
        | Kind::IsrShrinkProposed { .. }
        | Kind::IsrExpandProposed { .. }
        | Kind::AlterPartitionRefused { .. }
        | Kind::DuplicateRecognised { .. }
        | Kind::LogStartAdvanced { .. } => routine(Replication),
        Kind::LogTruncated { tp, .. } => grave(Replication, Mark::Truncation).of(*tp),
        Kind::ProduceRefused { tp, .. } => grave(Producer, Mark::Error).first(Trouble::Refusals(*tp)),
        Kind::ProduceTimedOut { .. } => notable(Producer, Mark::Error),

        // Group coordinators.
        Kind::CoordinatorLoading { .. }
        | Kind::CoordinatorLoaded { .. }
        | Kind::CoordinatorUnloaded { .. }
        | Kind::OffsetsCommitted { .. }
        | Kind::CoordinatorRefused { .. } => routine(Group),
        Kind::GroupStateChanged { state: GroupState::Stable | GroupState::PreparingRebalance, .. } => {
            notable(Group, Mark::Rebalance)
        }
        Kind::GroupStateChanged { .. } => routine(Group),
        Kind::MemberJoined { .. } => unmarked(Group),
        Kind::MemberRemoved { .. } => grave(Group, Mark::Rebalance),

        // Clients.
        Kind::RecordSent { .. }
        | Kind::RecordAcked { .. }
        | Kind::ProducerIdAssigned { .. }
        | Kind::LeaderDiscovered { .. } => routine(Producer),
        Kind::RecordFailed { .. } => grave(Producer, Mark::Error).first(Trouble::Records),
        Kind::ProducerRetries { tp, .. } => notable(Producer, Mark::Error).first(Trouble::Retries(*tp)),
        Kind::CoordinatorDiscovered { coordinator, .. } => unmarked(Group).first(Trouble::Found(*coordinator)),
        Kind::CoordinatorUnknown { .. } => grave(Group, Mark::Error).first(Trouble::NoCoordinator),
        Kind::CommitFailed { .. } => grave(Group, Mark::Error).first(Trouble::Commits),
        Kind::PollFailed { .. } => grave(Group, Mark::Error).first(Trouble::Polls),
        Kind::PositionReset { .. } => grave(Group, Mark::Error),
        Kind::RebalanceCallback { .. } | Kind::RecordDelivered { .. } | Kind::CommitSucceeded { .. } => routine(Group),
        Kind::ClientClosed { .. } => unmarked(Group),
    }
}

/// The troubles of a node that an entry shows to be over.
pub(super) fn ends(kind: &Kind) -> [Option<Trouble>; 2] {
    match kind {
        // Only work with the group shows that its coordinator is back: a dead one is found again and again.
        Kind::CommitSucceeded { .. } | Kind::RebalanceCallback { .. } => {
            [Some(Trouble::Commits), Some(Trouble::NoCoordinator)]
        }
        Kind::RecordDelivered { .. } => [Some(Trouble::Polls), None],
        Kind::RecordAcked { tp, .. } => [Some(Trouble::Retries(*tp)), Some(Trouble::Records)],
        Kind::Appended { tp, .. } => [Some(Trouble::Refusals(*tp)), None],
        _shows_nothing => [None, None],
    }
}
