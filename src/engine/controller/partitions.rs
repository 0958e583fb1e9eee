//! AlterPartition (KIP-497, KIP-841, KIP-903), ElectLeaders (KIP-460) and producer-id blocks: what leaders and
//! administrators ask about partitions. It moves no replica.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::election::{Election, PartitionChangeBuilder};
use super::{Controller, Decision};
use crate::base::{BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch, Tp};
use crate::protocol::{
    AlterPartitionItem, AlterPartitionRequest, AlteredPartition, ApiError, ClusterResponse, ControllerResponse,
    DescribedQuorum, ErrorCode, LeaderRecoveryState, MetadataRecord, PartitionChange, PartitionRegistration, Response,
};
use crate::rules::fixed;
use crate::trace::IsrChanger;

impl Controller {
    /// AlterPartition: the tests in Kafka's order, then one change record for each partition.
    pub(super) fn alter_partition(&mut self, request: &AlterPartitionRequest) -> Decision {
        if self.image.brokers.get(&request.broker).is_none_or(|b| b.epoch != request.broker_epoch) {
            return Decision::answer(ControllerResponse::AlterPartition {
                error: ErrorCode::StaleBrokerEpoch,
                partitions: Vec::new(),
            });
        }
        let mut records = Vec::new();
        let mut partitions = Vec::new();
        for item in &request.partitions {
            let outcome = self.check_alteration(request.broker, item).map(|partition| {
                let change = self.alteration(item, partition);
                let mut after = partition.clone();
                if let Some(change) = &change {
                    after.merge(change);
                }
                (change, after)
            });
            match outcome {
                Ok((change, after)) => {
                    records.extend(change.map(MetadataRecord::PartitionChange));
                    partitions.push(AlteredPartition {
                        tp: item.tp,
                        error: ErrorCode::None,
                        leader: after.leader,
                        leader_epoch: after.leader_epoch,
                        isr: after.isr,
                        partition_epoch: after.partition_epoch,
                        leader_recovery: after.leader_recovery,
                    });
                }
                Err(error) => partitions.push(AlteredPartition {
                    tp: item.tp,
                    error,
                    leader: None,
                    leader_epoch: LeaderEpoch(0),
                    isr: Vec::new(),
                    partition_epoch: PartitionEpoch(0),
                    leader_recovery: LeaderRecoveryState::Recovered,
                }),
            }
        }
        let by = IsrChanger::Leader(request.broker);
        Decision {
            records,
            response: Response::Controller(ControllerResponse::AlterPartition { error: ErrorCode::None, partitions }),
            by,
        }
    }

    fn check_alteration(
        &self,
        sender: BrokerId,
        item: &AlterPartitionItem,
    ) -> Result<&PartitionRegistration, ErrorCode> {
        if !self.image.topics.contains_key(&item.tp.topic) {
            return Err(ErrorCode::UnknownTopicId);
        }
        let partition = self.image.partition(item.tp).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        if item.leader_epoch > partition.leader_epoch || item.partition_epoch > partition.partition_epoch {
            return Err(ErrorCode::NotController);
        }
        if item.leader_epoch < partition.leader_epoch {
            return Err(ErrorCode::FencedLeaderEpoch);
        }
        if partition.leader != Some(sender) {
            return Err(ErrorCode::InvalidRequest);
        }
        if item.partition_epoch < partition.partition_epoch {
            return Err(ErrorCode::InvalidUpdateVersion);
        }
        let contains = |broker: BrokerId| item.new_isr.iter().any(|(b, _)| *b == broker);
        if item.new_isr.iter().any(|(b, _)| !partition.replicas.contains(b)) || !contains(sender) {
            return Err(ErrorCode::InvalidRequest);
        }
        let recovering = item.leader_recovery == LeaderRecoveryState::Recovering;
        if recovering && (item.new_isr.len() > 1 || !partition.is_recovering()) {
            return Err(ErrorCode::InvalidRequest);
        }
        let eligible = |(broker, epoch): &(BrokerId, Option<BrokerEpoch>)| {
            let registered = self.image.brokers.get(broker);
            self.image.is_active(*broker) && epoch.is_none_or(|epoch| registered.is_some_and(|r| r.epoch == epoch))
        };
        if !item.new_isr.iter().all(eligible) {
            return Err(ErrorCode::IneligibleReplica);
        }
        Ok(partition)
    }

    fn alteration(&self, item: &AlterPartitionItem, partition: &PartitionRegistration) -> Option<PartitionChange> {
        let target_isr = item.new_isr.iter().map(|(b, _)| *b).collect();
        let acceptable = |r: BrokerId| self.image.is_active(r);
        let builder = self.builder(item.tp, partition, self.automatic_election(item.tp), target_isr, &acceptable);
        PartitionChangeBuilder { recovery: Some(item.leader_recovery), ..builder }.build()
    }

    /// ElectLeaders for one partition, preferred or unclean whatever the configuration says.
    pub(super) fn elect_leaders(&mut self, topic: &Rc<str>, number: u32, unclean: bool) -> Decision {
        let refuse = |error: ErrorCode| Decision::answer(ClusterResponse::ElectLeaders(error.into()));
        let unknown = |sentence: String| {
            Decision::answer(ClusterResponse::ElectLeaders(ApiError::new(ErrorCode::UnknownTopicOrPartition, sentence)))
        };
        let Some(id) = self.image.topic_id(topic) else { return unknown(format!("No such topic as {topic}")) };
        let tp = Tp { topic: id, partition: number };
        let Some(partition) = self.image.partition(tp) else {
            return unknown(format!("No such partition as {topic}-{number}"));
        };
        let preferred = partition.replicas.first().copied();
        let needless = if unclean {
            partition.leader.is_some()
        } else {
            partition.leader.is_some() && partition.leader == preferred
        };
        if needless {
            return refuse(ErrorCode::ElectionNotNeeded);
        }
        let election = if unclean { Election::Unclean } else { Election::Preferred };
        match self.elect(tp, partition, election) {
            Some(record) => Decision::new(vec![record], ClusterResponse::ElectLeaders(ErrorCode::None.into())),
            None if unclean => refuse(ErrorCode::EligibleLeadersNotAvailable),
            None => refuse(ErrorCode::PreferredLeaderNotAvailable),
        }
    }

    /// The record of an election that leaves the ISR as far as it can.
    pub(super) fn elect(
        &self,
        tp: Tp,
        partition: &PartitionRegistration,
        election: Election,
    ) -> Option<MetadataRecord> {
        let acceptable = |r: BrokerId| self.image.is_active(r);
        self.builder(tp, partition, election, partition.isr.clone(), &acceptable)
            .build()
            .map(MetadataRecord::PartitionChange)
    }

    /// AllocateProducerIds: the next block of ids for a broker.
    pub(super) fn allocate_producer_ids(&mut self, broker: BrokerId, epoch: BrokerEpoch) -> Decision {
        if self.image.brokers.get(&broker).is_none_or(|b| b.epoch != epoch) {
            return Decision::answer(ControllerResponse::AllocateProducerIds {
                error: ErrorCode::StaleBrokerEpoch,
                start: -1,
                len: 0,
            });
        }
        let start = self.image.next_producer_id;
        let len = fixed::PRODUCER_ID_BLOCK;
        let record =
            MetadataRecord::ProducerIds { broker, broker_epoch: epoch, next_producer_id: start + i64::from(len) };
        Decision::new(vec![record], ControllerResponse::AllocateProducerIds { error: ErrorCode::None, start, len })
    }

    pub(super) fn describe_quorum(&self) -> Response {
        let high_watermark = self.voter.leader_high_watermark().unwrap_or(-1);
        Response::Cluster(ClusterResponse::DescribeQuorum(DescribedQuorum {
            error: ErrorCode::None,
            leader: self.voter.leader(),
            epoch: self.voter.epoch(),
            high_watermark,
        }))
    }
}
