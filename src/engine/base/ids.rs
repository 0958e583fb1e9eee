//! Identifiers as newtypes, and epochs that always name their owner. No behaviour.

use core::fmt;

macro_rules! newtype {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

newtype!(/// A broker's `node.id`.
    BrokerId(u32));
newtype!(/// A controller's `node.id`; controllers and brokers are separate processes.
    ControllerId(u32));
newtype!(/// A producer, a consumer or the admin client, in order of appearance.
    ClientId(u32));
newtype!(/// A topic; Kafka has a random UUID here, the simulation counts.
    TopicId(u32));
newtype!(/// Epoch of a data partition's leadership.
    LeaderEpoch(i32));
newtype!(/// Version of a partition's record in the metadata.
    PartitionEpoch(i32));
newtype!(/// Offset of a broker's registration record in the metadata log (KIP-631).
    BrokerEpoch(i64));
newtype!(/// Epoch of the metadata quorum.
    QuorumEpoch(i32));
newtype!(/// Idempotent producer's id (KIP-98).
    ProducerId(i64));
newtype!(/// Epoch of a producer id.
    ProducerEpoch(i16));
newtype!(/// Generation of a classic group.
    GenerationId(i32));
newtype!(/// One start of a process: told apart from the one before it.
    Incarnation(u32));
newtype!(/// Matches a response to its request within one client process.
    CorrelationId(u32));
newtype!(/// A message on the wire, unique in a run.
    MessageId(u64));
newtype!(/// Position of an entry in the trace of a run. 0 is "no cause".
    Seq(u64));
newtype!(/// A user's action, in order of acceptance.
    ActionId(u32));
newtype!(/// Marks a record that a client made. Kafka has no such thing: the ledger and the views follow it, no
/// decision may read it.
    Tag(u64));

/// Position of a record in a log.
pub type Offset = i64;

/// A node of the simulated world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeId {
    Controller(ControllerId),
    Broker(BrokerId),
    Client(ClientId),
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NodeId::Controller(id) => write!(f, "controller/{id}"),
            NodeId::Broker(id) => write!(f, "broker/{id}"),
            NodeId::Client(id) => write!(f, "client/{id}"),
        }
    }
}

/// A partition of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tp {
    pub topic: TopicId,
    pub partition: u32,
}
