//! Records of the metadata log, in Kafka's own record types (KIP-631). Replaying them is the work of the room
//! `metadata`.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{BrokerEpoch, BrokerId, Incarnation, LeaderEpoch, PartitionEpoch, TopicId, Tp};

/// KIP-704.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeaderRecoveryState {
    #[default]
    Recovered,
    /// Elected uncleanly and not yet confirmed.
    Recovering,
}

/// A scope of dynamic configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigResource {
    Topic(TopicId),
    Broker(BrokerId),
    /// The default of all brokers (resource name empty).
    Cluster,
}

/// Why a partition got its leader; a label for people, no decision reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElectionKind {
    /// First valid replica of the ordered list, in the ISR.
    Clean,
    /// From the eligible leader replicas (KIP-966).
    FromElr,
    /// The last known leader came back (KIP-966, balanced recovery).
    LastKnown,
    /// Not in the ISR, allowed by config or asked for by an administrator.
    Unclean,
    /// Back to the first replica of the list.
    Preferred,
}

/// One record of the metadata log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MetadataRecord {
    FeatureLevel {
        name: &'static str,
        level: i16,
    },
    RegisterBroker {
        broker: BrokerId,
        incarnation: Incarnation,
        rack: Option<Rc<str>>,
        /// Id of its log directory: it is a new one when the disk is (KIP-858).
        directory: u32,
        epoch: BrokerEpoch,
    },
    UnregisterBroker {
        broker: BrokerId,
        epoch: BrokerEpoch,
    },
    /// `fenced` and `in_controlled_shutdown` only if they change.
    BrokerRegistrationChange {
        broker: BrokerId,
        epoch: BrokerEpoch,
        fenced: Option<bool>,
        in_controlled_shutdown: bool,
    },
    Topic {
        name: Rc<str>,
        topic: TopicId,
    },
    Partition {
        tp: Tp,
        registration: PartitionRegistration,
    },
    PartitionChange(PartitionChange),
    RemoveTopic {
        topic: TopicId,
    },
    Config {
        resource: ConfigResource,
        name: Rc<str>,
        value: Option<Rc<str>>,
    },
    ProducerIds {
        broker: BrokerId,
        broker_epoch: BrokerEpoch,
        next_producer_id: i64,
    },
    NoOp,
}

/// A partition in the metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionRegistration {
    /// Assigned replicas, ordered; the first is preferred.
    pub replicas: Vec<BrokerId>,
    /// The log directory of each replica, in their order; empty where none is assigned.
    pub directories: Vec<u32>,
    /// In the order that clients are given.
    pub isr: Vec<BrokerId>,
    pub elr: Vec<BrokerId>,
    pub last_known_elr: Vec<BrokerId>,
    pub leader: Option<BrokerId>,
    pub leader_recovery: LeaderRecoveryState,
    pub leader_epoch: LeaderEpoch,
    pub partition_epoch: PartitionEpoch,
}

/// Only the fields that change. A `leader` that is set, to the same value too, raises the leader epoch by one; every
/// change raises the partition epoch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionChange {
    pub tp: Tp,
    pub isr: Option<Vec<BrokerId>>,
    /// `Some(None)` takes the leader away.
    pub leader: Option<Option<BrokerId>>,
    pub replicas: Option<Vec<BrokerId>>,
    pub elr: Option<Vec<BrokerId>>,
    pub last_known_elr: Option<Vec<BrokerId>>,
    pub leader_recovery: Option<LeaderRecoveryState>,
    /// A replica came back with another disk.
    pub directories: Option<Vec<u32>>,
    /// How the leader was chosen, for the views.
    pub election: Option<ElectionKind>,
}

impl PartitionChange {
    /// A change of nothing yet.
    pub fn new(tp: Tp) -> PartitionChange {
        PartitionChange {
            tp,
            isr: None,
            leader: None,
            replicas: None,
            elr: None,
            last_known_elr: None,
            leader_recovery: None,
            directories: None,
            election: None,
        }
    }
    /// Whether a record is worth writing.
    pub fn is_empty(&self) -> bool {
        self.isr.is_none()
            && self.leader.is_none()
            && self.replicas.is_none()
            && self.elr.is_none()
            && self.last_known_elr.is_none()
            && self.leader_recovery.is_none()
            && self.directories.is_none()
    }
}
