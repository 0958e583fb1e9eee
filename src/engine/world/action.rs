//! The closed list of what a user or a scenario can do, and the set-up of a world. Names of things, never positions in
//! memory.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{BrokerId, Dur, LinkSetup, NodeId};
use crate::client::{ConsumerSpec, ProducerSpec};
use crate::node::message::{AdminRequest, Values};
use crate::protocol::{Api, ConfigMap};
use crate::rules::{Broken, Version};
pub use crate::trace::{Needed, Refusal};

/// A cluster to boot. Topics and clients come later, by actions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    pub seed: u64,
    pub version: Version,
    /// Separate controllers, ids 1 to n.
    pub controllers: u32,
    pub brokers: Vec<BrokerSetup>,
    /// Static configuration of all nodes.
    pub config: ConfigMap,
    pub link: LinkSetup,
    /// Rules to break on purpose, for tests of the checks; none by default.
    pub broken: Broken,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BrokerSetup {
    pub id: BrokerId,
    pub rack: Option<Rc<str>>,
    /// Whether its process runs when the run begins; otherwise an action starts it.
    pub started: bool,
}

/// One message: the `nth` that matches (1 is the first), of those on their way or held by an action, in order of
/// arrival, and then of those that are sent from now on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    pub api: Api,
    pub response: bool,
    /// `None`: from anybody.
    pub from: Option<NodeId>,
    pub to: Option<NodeId>,
    pub nth: u32,
}

impl Pick {
    /// Whether a message of this kind between these nodes is meant, whatever its number.
    pub fn matches(&self, api: Api, response: bool, from: NodeId, to: NodeId) -> bool {
        self.api == api
            && self.response == response
            && self.from.is_none_or(|node| node == from)
            && self.to.is_none_or(|node| node == to)
    }
}

/// What is done to a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    /// It vanishes, as no TCP loses it: what was written after it on its connection arrives all the same.
    Drop,
    /// It stays where it is until the name is released, and what follows on its connection waits behind it.
    Hold { name: Rc<str> },
    /// It arrives later, and nothing that follows on its connection arrives before it.
    Delay { by: Dur },
    /// Its receiver gets it twice on the same connection, as no TCP delivers it.
    Duplicate,
    /// It arrives at this instant, and with it what goes before it on its connection.
    Deliver,
}

impl Deed {
    /// The verb by which a scenario asks for it.
    pub fn verb(&self) -> &'static str {
        match self {
            Deed::Drop => "drop",
            Deed::Hold { .. } => "hold",
            Deed::Delay { .. } => "delay",
            Deed::Duplicate => "duplicate",
            Deed::Deliver => "deliver",
        }
    }
}

/// One action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// SIGKILL: the process dies, the disk stays.
    Kill(NodeId),
    /// SIGTERM: controlled shutdown.
    Stop(NodeId),
    /// A client that ran before is started as it was: with its configs and, a member, in its group.
    Start(NodeId),
    /// SIGTERM, and a start as soon as the process has ended; a start at once if there is none.
    Restart(NodeId),
    /// SIGSTOP: the process stands still, its sockets stay open.
    Pause(NodeId),
    Resume(NodeId),
    /// The disk of a node that is down is wiped.
    LoseDisk(NodeId),
    /// No packet from any of `from` to any of `to`, and back if `both`.
    Cut {
        from: Vec<NodeId>,
        to: Vec<NodeId>,
        both: bool,
    },
    Heal {
        from: Vec<NodeId>,
        to: Vec<NodeId>,
        both: bool,
    },
    HealAll,
    /// Changes links between the two sets, in both directions; `None` leaves a value.
    Link {
        between: Vec<NodeId>,
        and: Vec<NodeId>,
        latency: Option<Dur>,
        jitter: Option<Dur>,
        loss_per_million: Option<u32>,
    },
    /// Something is done to one message, on its way now or when it is sent.
    Message {
        which: Pick,
        deed: Deed,
    },
    /// What a hold of this name keeps goes on.
    Release {
        name: Rc<str>,
    },
    /// An administrator asks the cluster.
    Admin(AdminRequest),
    StartProducer {
        name: Rc<str>,
        spec: ProducerSpec,
    },
    /// A consumer joins its group.
    Join {
        name: Rc<str>,
        spec: ConsumerSpec,
    },
    /// The client is closed: producers flush, consumers leave.
    CloseClient {
        name: Rc<str>,
        /// What the application gives a consumer's `close`; `None` is Kafka's default.
        within: Option<Dur>,
    },
    KillClient {
        name: Rc<str>,
    },
    /// Closes a producer and starts it anew with these configs over its old ones, as in life.
    Reconfigure {
        name: Rc<str>,
        config: ConfigMap,
    },
    Produce {
        client: Rc<str>,
        topic: Rc<str>,
        partition: Option<u32>,
        key: Option<Rc<str>>,
        values: Values,
        count: u32,
        every: Dur,
    },
    SetRate {
        client: Rc<str>,
        per_second: u32,
    },
    PausePolling {
        member: Rc<str>,
        span: Dur,
    },
    Seek {
        member: Rc<str>,
        topic: Rc<str>,
        partition: u32,
        offset: i64,
    },
    Commit {
        member: Rc<str>,
    },
}

impl Action {
    /// The verb by which a scenario asks for it.
    pub fn verb(&self) -> &'static str {
        match self {
            Action::Kill(_) => "kill",
            Action::Stop(_) => "stop",
            Action::Start(_) => "start",
            Action::Restart(_) => "restart",
            Action::Pause(_) => "pause",
            Action::Resume(_) => "resume",
            Action::LoseDisk(_) => "lose-disk",
            Action::Cut { .. } => "cut",
            Action::Heal { .. } | Action::HealAll => "heal",
            Action::Link { .. } => "link",
            Action::Message { deed, .. } => deed.verb(),
            Action::Release { .. } => "release",
            Action::Admin(AdminRequest::CreateTopic(_)) => "create-topic",
            Action::Admin(AdminRequest::DeleteTopic { .. }) => "delete-topic",
            Action::Admin(AdminRequest::CreatePartitions { .. }) => "add-partitions",
            Action::Admin(AdminRequest::DeleteRecords { .. }) => "delete-records",
            Action::Admin(AdminRequest::AlterConfigs { .. }) => "set-config",
            Action::Admin(AdminRequest::ElectLeaders { .. }) => "elect-leaders",
            Action::Admin(
                AdminRequest::DescribeTopics { .. }
                | AdminRequest::ListOffsets { .. }
                | AdminRequest::DescribeGroup { .. }
                | AdminRequest::ListCommitted { .. }
                | AdminRequest::DescribeQuorum
                | AdminRequest::DescribeCluster
                | AdminRequest::Renew
                | AdminRequest::Connect,
            ) => "describe",
            Action::StartProducer { .. } => "start-client",
            Action::Join { .. } => "join",
            Action::CloseClient { .. } => "stop-client",
            Action::KillClient { .. } => "kill-client",
            Action::Reconfigure { .. } | Action::SetRate { .. } => "set-client",
            Action::Produce { .. } => "produce",
            Action::PausePolling { .. } => "pause-client",
            Action::Seek { .. } => "seek",
            Action::Commit { .. } => "commit",
        }
    }
}
