//! Answers that carry nothing but an error, by API, and the error of any answer. It words nothing.

use alloc::vec::Vec;

use super::Controller;
use crate::base::{BrokerEpoch, ProducerEpoch, ProducerId};
use crate::protocol::{Api, DescribedQuorum, ErrorCode, Response};

impl Controller {
    /// The answer to a request of this API that is refused as a whole.
    pub(super) fn refusal(&self, api: Api, error: ErrorCode) -> Response {
        match api {
            Api::CreateTopics => Response::CreateTopics(error.into()),
            Api::DeleteTopics => Response::DeleteTopics(error.into()),
            Api::CreatePartitions => Response::CreatePartitions(error.into()),
            Api::ElectLeaders => Response::ElectLeaders(error.into()),
            Api::IncrementalAlterConfigs => Response::IncrementalAlterConfigs(error.into()),
            Api::AlterPartition => Response::AlterPartition { error, partitions: Vec::new() },
            Api::BrokerRegistration => Response::BrokerRegistration { error, epoch: BrokerEpoch(-1) },
            Api::BrokerHeartbeat => {
                Response::BrokerHeartbeat { error, is_caught_up: false, is_fenced: false, should_shut_down: false }
            }
            Api::AssignReplicasToDirs => Response::AssignReplicasToDirs { error, partitions: Vec::new() },
            Api::AllocateProducerIds => Response::AllocateProducerIds { error, start: -1, len: 0 },
            Api::InitProducerId => Response::InitProducerId { error, id: ProducerId(-1), epoch: ProducerEpoch(-1) },
            Api::DescribeQuorum => Response::DescribeQuorum(DescribedQuorum {
                error,
                leader: self.voter.leader(),
                epoch: self.voter.epoch(),
                high_watermark: -1,
            }),
            Api::DeleteRecords => Response::DeleteRecords { error, low_watermark: -1 },
            // The rest is never sent to a controller; any answer with an error tells so.
            Api::Produce
            | Api::Fetch
            | Api::ListOffsets
            | Api::Metadata
            | Api::OffsetCommit
            | Api::OffsetFetch
            | Api::FindCoordinator
            | Api::JoinGroup
            | Api::Heartbeat
            | Api::LeaveGroup
            | Api::SyncGroup
            | Api::DescribeGroups
            | Api::OffsetForLeaderEpoch
            | Api::Vote
            | Api::BeginQuorumEpoch
            | Api::EndQuorumEpoch
            | Api::Envelope
            | Api::DescribeTopicPartitions => Response::Heartbeat { error },
        }
    }
}
