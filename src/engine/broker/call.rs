//! What a broker's own requests are for: the tokens of its connections. Decides nothing.

use alloc::vec::Vec;

use crate::base::{BrokerId, CorrelationId, Offset, Tp};
use crate::node::ConnId;

/// Purpose of a request that a broker has sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BrokerCall {
    /// A fetcher's Fetch, with the offset and epoch that each partition asked for.
    ReplicaFetch {
        leader: BrokerId,
    },
    /// A follower out of range asks for the leader's offsets.
    ReplicaListOffsets {
        leader: BrokerId,
        tp: Tp,
        fetch_offset: Offset,
    },
    AlterPartition {
        partitions: Vec<Tp>,
    },
    /// Fetch of the metadata log.
    QuorumFetch,
    Registration,
    Heartbeat {
        want_shut_down: bool,
    },
    /// A client's request that was passed on; the answer goes to this connection.
    Forward {
        request: u64,
    },
    /// The broker's own wish to have an internal topic.
    AutoCreate,
    AllocateProducerIds,
    AssignReplicasToDirs,
}

/// Where an answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplyTo {
    pub conn: ConnId,
    pub correlation: CorrelationId,
}
