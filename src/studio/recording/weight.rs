//! How much an entry weighs to a person. A retry that fails like the one before it is routine; the first one is not. It
//! decides nothing of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use highwater_engine::base::{BrokerId, NodeId, TopicId, Tp};
use highwater_engine::protocol::GroupState;
use highwater_engine::protocol::hash::group_partition;
use highwater_engine::trace::{Kind, QuorumRole, TraceEntry};

/// How much an entry weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weight {
    /// Goes on all the time.
    Routine,
    /// Worth stopping at.
    Notable,
}

/// Remembers what goes on failing.
#[derive(Clone, Debug, Default)]
pub struct Notability {
    /// Internal topics with their partitions, and the groups of the run: nobody wants to stop at the other 49
    /// partitions of the offsets topic.
    internal: BTreeMap<TopicId, u32>,
    groups: BTreeSet<Rc<str>>,
    found: BTreeSet<(NodeId, BrokerId)>,
    without_coordinator: BTreeSet<NodeId>,
    commits_fail: BTreeSet<NodeId>,
    polls_fail: BTreeSet<NodeId>,
    retrying: BTreeSet<(NodeId, Tp)>,
    refusing: BTreeSet<(NodeId, Tp)>,
    failing: BTreeSet<NodeId>,
}

impl Notability {
    /// Whether somebody's records or somebody's group live in the partition.
    fn matters(&self, tp: Tp) -> bool {
        self.internal
            .get(&tp.topic)
            .is_none_or(|count| self.groups.iter().any(|group| group_partition(group, *count) == tp.partition))
    }

    /// Must see every entry in order.
    pub fn weigh(&mut self, entry: &TraceEntry) -> Weight {
        if self.is_notable(entry) { Weight::Notable } else { Weight::Routine }
    }

    /// Whether a person wants to stop here.
    fn is_notable(&mut self, entry: &TraceEntry) -> bool {
        let who = entry.who;
        match &entry.kind {
            Kind::TopicCreated { topic, name, partitions, .. } => {
                if name.starts_with("__") {
                    self.internal.insert(*topic, *partitions);
                }
                true
            }
            Kind::LeaderElected { tp, .. }
            | Kind::LeaderLost { tp, .. }
            | Kind::IsrShrunk { tp, .. }
            | Kind::IsrExpanded { tp, .. }
            | Kind::LogTruncated { tp, .. } => self.matters(*tp),
            Kind::ActionRefused { .. }
            | Kind::ProcessStarted
            | Kind::ProcessKilled
            | Kind::ProcessExited { .. }
            | Kind::ProcessPaused
            | Kind::ProcessResumed
            | Kind::DiskLost
            | Kind::LinkCut { .. }
            | Kind::LinkHealed { .. }
            | Kind::LinkChanged { .. }
            | Kind::QuorumLeaderElected { .. }
            | Kind::QuorumLogTruncated { .. }
            | Kind::ControllerActivated { .. }
            | Kind::ControllerResigned { .. }
            | Kind::BrokerRegistered { .. }
            | Kind::RegistrationRefused { .. }
            | Kind::BrokerFenced { .. }
            | Kind::BrokerUnfenced { .. }
            | Kind::ControlledShutdownBegun { .. }
            | Kind::TopicDeleted { .. }
            | Kind::PartitionsAdded { .. }
            | Kind::ConfigChanged { .. }
            | Kind::ProduceTimedOut { .. }
            | Kind::MemberJoined { .. }
            | Kind::MemberRemoved { .. }
            | Kind::PositionReset { .. }
            | Kind::ClientClosed { .. } => true,
            Kind::QuorumRoleChanged { role, .. } => *role == QuorumRole::Candidate,
            Kind::GroupStateChanged { state, .. } => {
                matches!(state, GroupState::Stable | GroupState::PreparingRebalance)
            }
            Kind::CoordinatorDiscovered { group, coordinator } => {
                self.groups.insert(group.clone());
                self.found.insert((who, *coordinator))
            }
            Kind::CoordinatorUnknown { group, .. } => {
                self.groups.insert(group.clone());
                self.without_coordinator.insert(who)
            }
            Kind::CommitSucceeded { .. } | Kind::RebalanceCallback { .. } => {
                // Only work with the group shows that its coordinator is back: a dead one is found again and again.
                self.commits_fail.remove(&who);
                self.without_coordinator.remove(&who);
                false
            }
            Kind::CommitFailed { .. } => self.commits_fail.insert(who),
            Kind::PollFailed { .. } => self.polls_fail.insert(who),
            Kind::RecordDelivered { .. } => {
                self.polls_fail.remove(&who);
                false
            }
            Kind::RecordAcked { tp, .. } => {
                self.retrying.remove(&(who, *tp));
                self.failing.remove(&who);
                false
            }
            Kind::RecordFailed { .. } => self.failing.insert(who),
            Kind::ProducerRetries { tp, .. } => self.retrying.insert((who, *tp)),
            Kind::ProduceRefused { tp, .. } => self.refusing.insert((who, *tp)),
            Kind::Appended { tp, .. } => {
                self.refusing.remove(&(who, *tp));
                false
            }
            Kind::ActionAnswered { error, .. } => !error.is_none(),
            Kind::Acted { .. }
            | Kind::ShutdownRequested
            | Kind::MessageSent { .. }
            | Kind::MessageDelivered { .. }
            | Kind::MessageLost { .. }
            | Kind::MessageHeld { .. }
            | Kind::MessageMoved { .. }
            | Kind::RequestFailed { .. }
            | Kind::VoteGranted { .. }
            | Kind::VoteRefused { .. }
            | Kind::ControlledShutdownAllowed { .. }
            | Kind::ElrChanged { .. }
            | Kind::ControllerRefused { .. }
            | Kind::BrokerRunning { .. }
            | Kind::BecameLeader { .. }
            | Kind::BecameFollower { .. }
            | Kind::BecameLeaderless { .. }
            | Kind::Replicated { .. }
            | Kind::HighWatermarkAdvanced { .. }
            | Kind::IsrShrinkProposed { .. }
            | Kind::IsrExpandProposed { .. }
            | Kind::AlterPartitionRefused { .. }
            | Kind::DuplicateRecognised { .. }
            | Kind::LogStartAdvanced { .. }
            | Kind::CoordinatorLoading { .. }
            | Kind::CoordinatorLoaded { .. }
            | Kind::CoordinatorUnloaded { .. }
            | Kind::OffsetsCommitted { .. }
            | Kind::CoordinatorRefused { .. }
            | Kind::RecordSent { .. }
            | Kind::ProducerIdAssigned { .. }
            | Kind::LeaderDiscovered { .. } => false,
        }
    }
}
