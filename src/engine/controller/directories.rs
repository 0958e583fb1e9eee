//! AssignReplicasToDirs: a broker says in which of its log directories its replicas are (KIP-858). Which directories a
//! broker has is said at its registration, not here.

use alloc::vec::Vec;

use super::election::{Election, PartitionChangeBuilder};
use super::{Controller, Decision};
use crate::base::Tp;
use crate::protocol::{AssignReplicasToDirsRequest, ControllerResponse, ErrorCode, MetadataRecord, PartitionChange};

impl Controller {
    /// One change record for each partition whose assignment changes. It elects with the directories from before: a
    /// replica of a new disk can lead only when the partition is looked at the next time.
    pub(super) fn assign_replicas_to_dirs(&mut self, request: &AssignReplicasToDirsRequest) -> Decision {
        if self.image.brokers.get(&request.broker).is_none_or(|b| b.epoch != request.broker_epoch) {
            let error = ErrorCode::StaleBrokerEpoch;
            return Decision::answer(ControllerResponse::AssignReplicasToDirs { error, partitions: Vec::new() });
        }
        let mut records = Vec::new();
        let mut partitions = Vec::new();
        for tp in &request.partitions {
            let error = match self.assignment(request, *tp) {
                Ok(change) => {
                    records.extend(change.map(MetadataRecord::PartitionChange));
                    ErrorCode::None
                }
                Err(error) => error,
            };
            partitions.push((*tp, error));
        }
        Decision::new(records, ControllerResponse::AssignReplicasToDirs { error: ErrorCode::None, partitions })
    }

    fn assignment(&self, request: &AssignReplicasToDirsRequest, tp: Tp) -> Result<Option<PartitionChange>, ErrorCode> {
        if !self.image.topics.contains_key(&tp.topic) {
            return Err(ErrorCode::UnknownTopicId);
        }
        let partition = self.image.partition(tp).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        if !partition.replicas.contains(&request.broker) {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        let acceptable = |r| self.image.is_active(r);
        let builder = self.builder(tp, partition, Election::Online, partition.isr.clone(), &acceptable);
        let elr_enabled = builder.elr_enabled && !self.rules.assignment_clears_elr;
        let change = PartitionChangeBuilder { elr_enabled, ..builder }.build();
        if partition.directory(request.broker).is_none_or(|assigned| assigned == request.directory) {
            return Ok(change);
        }
        let mut change = change.unwrap_or(PartitionChange::new(tp));
        let mut directories = partition.directories.clone();
        for (replica, directory) in partition.replicas.iter().zip(&mut directories) {
            if *replica == request.broker {
                *directory = request.directory;
            }
        }
        change.directories = Some(directories);
        Ok(Some(change))
    }
}
