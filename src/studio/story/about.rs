//! Who and what a fact is about, from its values. It reads no text.

use super::asked::{Asked, Reason, WaitFor};
use super::fact::{ConfigTarget, Fact, IsrBy};
use super::names::{NodeRef, PartitionRef};

/// Something that a fact names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About<'a> {
    Node(&'a NodeRef),
    Broker(u32),
    Controller(u32),
    Partition(&'a PartitionRef),
    /// A client by its name alone.
    Client(&'a str),
    Group(&'a str),
}

impl About<'_> {
    pub fn is_broker(self, id: u32) -> bool {
        self == About::Broker(id) || self == About::Node(&NodeRef::Broker(id))
    }
    pub fn is_controller(self, id: u32) -> bool {
        self == About::Controller(id) || self == About::Node(&NodeRef::Controller(id))
    }
    pub fn is_client(self, client: &str) -> bool {
        match self {
            About::Client(name) => name == client,
            About::Node(NodeRef::Producer(name) | NodeRef::Member(name)) => name == client,
            About::Node(NodeRef::Broker(_) | NodeRef::Controller(_) | NodeRef::Admin)
            | About::Broker(_)
            | About::Controller(_)
            | About::Partition(_)
            | About::Group(_) => false,
        }
    }
}

impl Fact {
    /// Everything that the fact names.
    pub fn about(&self) -> Vec<About<'_>> {
        let brokers = |ids: &[u32]| ids.iter().map(|id| About::Broker(*id)).collect::<Vec<_>>();
        match self {
            Fact::Killed { node }
            | Fact::Stopped { node }
            | Fact::StopRequested { node }
            | Fact::DiskLost { node }
            | Fact::Started { node }
            | Fact::Paused { node }
            | Fact::Resumed { node }
            | Fact::MetadataTruncated { node, .. }
            | Fact::ClientStarted { client: node }
            | Fact::ClientClosed { client: node }
            | Fact::ClientError { client: node, .. } => vec![About::Node(node)],
            Fact::ControlledShutdownBegan { broker }
            | Fact::ControlledShutdownAllowed { broker }
            | Fact::Registered { broker, .. }
            | Fact::RegistrationRefused { broker, .. }
            | Fact::Fenced { broker, .. }
            | Fact::Unfenced { broker }
            | Fact::BrokerIsDown { broker }
            | Fact::CoordinatorLoaded { broker, .. }
            | Fact::CreatedWhileAlone { broker, .. } => vec![About::Broker(*broker)],
            Fact::Cut { a, b, .. } | Fact::Healed { a, b } => a.iter().chain(b).map(About::Node).collect(),
            Fact::LinkChanged { a, b, .. } => vec![About::Node(a), About::Node(b)],
            Fact::RequestUnread { node, of, .. } => vec![About::Node(node), About::Node(of)],
            Fact::MessageActed { from, to, .. } => from.iter().chain(to).map(About::Node).collect(),
            Fact::QuorumElectionBegan { controller, .. }
            | Fact::QuorumLeaderElected { controller, .. }
            | Fact::QuorumLeaderResigned { controller, .. }
            | Fact::ActiveController { controller, .. }
            | Fact::ControllerRefused { controller, .. } => vec![About::Controller(*controller)],
            Fact::LeaderElected { partition, broker, .. }
            | Fact::HighWatermarkAdvanced { partition, broker, .. }
            | Fact::HighWatermarkStalled { partition, broker, .. }
            | Fact::Truncated { partition, broker, .. }
            | Fact::BecameLeader { partition, broker, .. }
            | Fact::BecameFollower { partition, broker, .. }
            | Fact::Appended { partition, broker, .. }
            | Fact::OnlyReplicaOn { partition, broker }
            | Fact::NotInIsr { partition, broker } => vec![About::Partition(partition), About::Broker(*broker)],
            Fact::PartitionOffline { partition, last } => {
                last.iter().map(|id| About::Broker(*id)).chain([About::Partition(partition)]).collect()
            }
            Fact::IsrShrunk { partition, removed: changed, by, .. }
            | Fact::IsrExpanded { partition, added: changed, by, .. } => {
                let mut about = brokers(changed);
                about.push(About::Partition(partition));
                if let IsrBy::Leader(leader) = by {
                    about.push(About::Broker(*leader));
                }
                about
            }
            Fact::ElrChanged { partition, elr, .. } => [brokers(elr), vec![About::Partition(partition)]].concat(),
            Fact::HasReplicas { partition, replicas } => {
                [brokers(replicas), vec![About::Partition(partition)]].concat()
            }
            Fact::IsrChangeRefused { partition, .. }
            | Fact::AckedLost { partition, .. }
            | Fact::Duplicated { partition, .. } => vec![About::Partition(partition)],
            Fact::Acked { producer: client, partition, .. }
            | Fact::Refused { producer: client, partition, .. }
            | Fact::ProduceTimedOut { producer: client, partition, .. }
            | Fact::Retried { producer: client, partition, .. }
            | Fact::Delivered { member: client, partition, .. }
            | Fact::PositionReset { member: client, partition, .. } => {
                vec![About::Client(client), About::Partition(partition)]
            }
            Fact::CoordinatorFound { group, broker, .. } | Fact::CoordinatorLoading { group, broker, .. } => {
                vec![About::Group(group), About::Broker(*broker)]
            }
            Fact::CoordinatorLost { group, broker, .. } => {
                broker.iter().map(|id| About::Broker(*id)).chain([About::Group(group)]).collect()
            }
            Fact::CoordinatorUnavailable { group, .. }
            | Fact::Rebalancing { group, .. }
            | Fact::GroupStable { group, .. }
            | Fact::GroupHashesTo { group, .. } => vec![About::Group(group)],
            Fact::MemberJoined { group, member }
            | Fact::MemberLeft { group, member }
            | Fact::MemberExpired { group, member }
            | Fact::CommitFailed { group, member, .. }
            | Fact::MemberStopped { group, member, .. }
            | Fact::MemberReadsOn { group, member } => vec![About::Group(group), About::Client(member)],
            Fact::OffsetsCommitted { group, member, partition, .. } => {
                vec![About::Group(group), About::Client(member), About::Partition(partition)]
            }
            Fact::ConfigChanged { target, .. } | Fact::SettingWas { target, .. } => of_target(target),
            Fact::Asked(asked) => of_asked(asked),
            Fact::WaitBegan { what, .. } | Fact::WaitEnded { what, .. } => of_wait(what),
            Fact::ActionRefused { reason, .. } => of_reason(reason),
            Fact::MessageReleased { .. }
            | Fact::TopicCreated { .. }
            | Fact::TopicDeleted { .. }
            | Fact::PartitionsAdded { .. }
            | Fact::WithoutEffect { .. }
            | Fact::ClientVersionWaits { .. }
            | Fact::RunBegan => Vec::new(),
        }
    }
}

fn of_target(target: &ConfigTarget) -> Vec<About<'_>> {
    match target {
        ConfigTarget::Broker(id) => vec![About::Broker(*id)],
        ConfigTarget::Client(name) => vec![About::Client(name)],
        ConfigTarget::Topic(_) | ConfigTarget::Cluster => Vec::new(),
    }
}

fn of_asked(asked: &Asked) -> Vec<About<'_>> {
    match asked {
        Asked::Restart { node }
        | Asked::Close { client: node }
        | Asked::Produce { client: node, .. }
        | Asked::PausePolling { member: node, .. }
        | Asked::Commit { member: node } => vec![About::Node(node)],
        Asked::Seek { member, partition, .. } => vec![About::Node(member), About::Partition(partition)],
        Asked::DeleteRecords { partition, .. } | Asked::ElectLeader { partition, .. } => {
            vec![About::Partition(partition)]
        }
        Asked::SetConfig { target, .. } => of_target(target),
        Asked::CreateTopic { .. }
        | Asked::DeleteTopic { .. }
        | Asked::AddPartitions { .. }
        | Asked::Describe { .. } => Vec::new(),
    }
}

fn of_wait(what: &WaitFor) -> Vec<About<'_>> {
    match what {
        WaitFor::Leader { partition } => vec![About::Partition(partition)],
        WaitFor::MoreMembers { group } | WaitFor::Rebalance { group } => vec![About::Group(group)],
        WaitFor::Coordinator { client, group }
        | WaitFor::Commit { client, group }
        | WaitFor::Poll { client, group } => vec![About::Client(client), About::Group(group)],
        WaitFor::Success { client } | WaitFor::LivingBroker { client } | WaitFor::Answer { client, .. } => {
            vec![About::Client(client)]
        }
        WaitFor::Reading { group, partition } => vec![About::Group(group), About::Partition(partition)],
    }
}

fn of_reason(reason: &Reason) -> Vec<About<'_>> {
    match reason {
        Reason::NoSuchNode { node } | Reason::WrongState { node, .. } => vec![About::Node(node)],
        Reason::NoSuchClient { name } | Reason::NotStarted { name } | Reason::NameTaken { name } => {
            vec![About::Client(name)]
        }
        Reason::Kafka { .. }
        | Reason::NoSuchRole { .. }
        | Reason::HoldTaken { .. }
        | Reason::NothingHeld { .. }
        | Reason::Limit { .. }
        | Reason::Config { .. }
        | Reason::SetUp { .. } => Vec::new(),
    }
}
