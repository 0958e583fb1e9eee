//! What the views may read of a controller. Nothing here changes anything.

use alloc::vec::Vec;

use super::{Controller, Sessions};
use crate::base::{ControllerId, Offset, QuorumEpoch, Seq};
use crate::metadata::MetadataImage;
use crate::node::Disk;
use crate::protocol::{MetadataRecord, Payload};
use crate::quorum::Progress;
use crate::trace::QuorumRole;

/// A record of the metadata log, by Kafka's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordView {
    pub offset: Offset,
    pub epoch: QuorumEpoch,
    pub name: &'static str,
    /// The trace entry of its decision.
    pub origin: Seq,
    pub committed: bool,
}

impl Controller {
    pub fn id(&self) -> ControllerId {
        self.id
    }
    /// State in the quorum.
    pub fn role(&self) -> QuorumRole {
        self.voter.role()
    }
    pub fn epoch(&self) -> QuorumEpoch {
        self.voter.epoch()
    }
    /// The leader of the quorum as far as this node knows.
    pub fn leader(&self) -> Option<ControllerId> {
        self.voter.leader()
    }
    /// Highest high watermark of the metadata log that this node has learned.
    pub fn high_watermark(&self) -> Offset {
        self.voter.high_watermark()
    }
    /// Offset after the last record of this node's metadata log.
    pub fn log_end(&self, disk: &Disk) -> Offset {
        disk.metadata_log.end_offset()
    }
    /// Whether this is the active controller.
    /// Leads the quorum in its own view, active or not yet.
    pub fn is_quorum_leader(&self) -> bool {
        self.role() == QuorumRole::Leader
    }
    pub fn is_active(&self) -> bool {
        self.is_leading()
    }
    /// The cluster as this node has it in memory: committed records, and while active those not yet committed.
    pub fn image(&self) -> &MetadataImage {
        &self.image
    }
    /// Sessions of the brokers; `None` unless active.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.active.as_ref().map(|a| &a.sessions)
    }
    /// While leading: what it knows of the other voters.
    pub fn progress(&self) -> impl Iterator<Item = (ControllerId, Progress)> {
        self.voter.progress()
    }

    /// The last `n` records of the metadata log, oldest first.
    pub fn last_records(&self, disk: &Disk, n: usize) -> Vec<RecordView> {
        let mut records = Vec::new();
        for batch in disk.metadata_log.batches().rev() {
            let committed = batch.next_offset() <= self.high_watermark();
            let view = |offset, name| RecordView {
                offset,
                epoch: QuorumEpoch(batch.epoch),
                name,
                origin: batch.origin,
                committed,
            };
            match &batch.payload {
                Payload::Metadata(list) => records.extend(
                    list.iter().enumerate().rev().map(|(i, r)| view(batch.base_offset + i as i64, record_name(r))),
                ),
                Payload::LeaderChange => records.push(view(batch.base_offset, "LeaderChange")),
                Payload::Data(_) | Payload::Group(_) => {}
            }
            if records.len() >= n {
                break;
            }
        }
        records.truncate(n);
        records.reverse();
        records
    }
}

/// Kafka's name of a record type.
pub fn record_name(record: &MetadataRecord) -> &'static str {
    match record {
        MetadataRecord::FeatureLevel { .. } => "FeatureLevel",
        MetadataRecord::RegisterBroker { .. } => "RegisterBroker",
        MetadataRecord::UnregisterBroker { .. } => "UnregisterBroker",
        MetadataRecord::BrokerRegistrationChange { .. } => "BrokerRegistrationChange",
        MetadataRecord::Topic { .. } => "Topic",
        MetadataRecord::Partition { .. } => "Partition",
        MetadataRecord::PartitionChange(_) => "PartitionChange",
        MetadataRecord::RemoveTopic { .. } => "RemoveTopic",
        MetadataRecord::Config { .. } => "Config",
        MetadataRecord::ProducerIds { .. } => "ProducerIds",
        MetadataRecord::NoOp => "NoOp",
    }
}
