//! Messages, connections and what a handler can be told or can cause. Nothing here moves a message; the world does.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{ActionId, CorrelationId, Dur, MessageId, NodeId, Seq, SimTime, Tag};
use crate::protocol::{ConfigMap, ConfigTarget, CreateTopicRequest, Request, Response};

use super::Timer;

/// What a connection is for. Kafka opens separate connections for these, and each keeps its order for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// A client's data and metadata requests.
    Client,
    /// A consumer's requests to its group coordinator.
    Coordinator,
    /// A follower's fetcher.
    Replica,
    /// The metadata quorum: voters among each other and observers.
    Quorum,
    /// Registration and heartbeats of a broker.
    Lifecycle,
    /// A leader's AlterPartition.
    AlterPartition,
    /// Requests of clients that a broker passes on to the controller, and producer-id blocks.
    Forward,
}

/// A connection, opened by `client`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId {
    pub client: NodeId,
    pub server: NodeId,
    pub channel: Channel,
    /// Counts the connections that `client` has opened, so that each has its own name.
    pub generation: u32,
}

impl ConnId {
    /// The other end.
    pub fn peer_of(&self, node: NodeId) -> NodeId {
        if self.client == node { self.server } else { self.client }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    Request,
    Response,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body {
    Request(Request),
    Response(Response),
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    pub id: MessageId,
    pub conn: ConnId,
    pub direction: Direction,
    pub correlation: CorrelationId,
    pub body: Body,
    pub sent_at: SimTime,
    pub arrives_at: SimTime,
    /// The trace entry of its sending.
    pub sent: Seq,
    /// The entry that last let it go on, if it had to wait.
    pub passed: Option<Seq>,
}

impl Message {
    pub fn from(&self) -> NodeId {
        match self.direction {
            Direction::Request => self.conn.client,
            Direction::Response => self.conn.server,
        }
    }
    pub fn to(&self) -> NodeId {
        self.conn.peer_of(self.from())
    }
}

/// What a process is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Request {
        conn: ConnId,
        correlation: CorrelationId,
        body: Request,
    },
    Response {
        conn: ConnId,
        correlation: CorrelationId,
        body: Response,
    },
    /// The kernel of the other end has taken the connection that this process opens (told to clients only).
    Connected {
        conn: ConnId,
    },
    /// The client has reset the connection: what it sent before can still be read, what is written to it fails (told
    /// to servers only).
    Reset {
        conn: ConnId,
    },
    /// Nothing more comes from the other end of the connection: it has closed it, or its process is gone.
    Disconnected {
        conn: ConnId,
    },
    Timer(Timer),
    /// SIGTERM: stop in an orderly way.
    Shutdown,
    /// For clients only: what their application asks.
    Command(ClientCommand),
}

/// What the application of a client asks of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientCommand {
    /// Hand records to `send`, the first now, the others each `every` later.
    Produce {
        action: ActionId,
        topic: Rc<str>,
        partition: Option<u32>,
        key: Option<Rc<str>>,
        values: Values,
        count: u32,
        every: Dur,
        first_tag: Tag,
    },
    /// Change the steady rate of a producer (records per second, 0 stops it).
    SetRate {
        per_second: u32,
    },
    /// Consumers: do not call `poll` for this long.
    PausePolling {
        span: Dur,
    },
    Seek {
        topic: Rc<str>,
        partition: u32,
        offset: i64,
    },
    /// Call `commitAsync` now.
    Commit,
    /// `close` with a time-out of its own.
    Close {
        within: Dur,
    },
    Admin {
        action: ActionId,
        request: AdminRequest,
    },
}

/// Values of produced records.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Values {
    /// prefix0, prefix1, …
    Numbered(Rc<str>),
    /// The same for every record; without prefix numbering.
    Exactly(Rc<str>),
}

/// What an administrator asks. Answers come as [`crate::trace::Kind::ActionAnswered`] and are kept by the admin client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AdminRequest {
    CreateTopic(CreateTopicRequest),
    DeleteTopic {
        name: Rc<str>,
    },
    CreatePartitions {
        name: Rc<str>,
        total: u32,
    },
    DeleteRecords {
        topic: Rc<str>,
        partition: u32,
        before: i64,
    },
    AlterConfigs {
        resource: ConfigTarget,
        configs: ConfigMap,
    },
    ElectLeaders {
        topic: Rc<str>,
        partition: u32,
        unclean: bool,
    },
    /// A new client in the place of this one: it knows no leaders and has no connections.
    Renew,
    /// Connections to all brokers that the client knows, as one has in which many calls waited until they were there.
    Connect,
    // Observations, as a client would make them.
    /// With ELR. `None` is all topics.
    DescribeTopics {
        topics: Option<Vec<Rc<str>>>,
    },
    ListOffsets {
        topic: Rc<str>,
        partition: u32,
    },
    DescribeGroup {
        group: Rc<str>,
    },
    ListCommitted {
        group: Rc<str>,
    },
    DescribeQuorum,
    DescribeCluster,
}

/// What a handler causes outside its process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    Send { id: MessageId, conn: ConnId, direction: Direction, correlation: CorrelationId, body: Body, cause: Seq },
    Close { conn: ConnId, cause: Seq },
    Exit { clean: bool, cause: Seq },
}
