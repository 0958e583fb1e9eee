//! Answers that carry nothing but an error. It words nothing.

use alloc::vec::Vec;

use super::{Asked, Controller};
use crate::base::BrokerEpoch;
use crate::protocol::{ClusterRequest, ClusterResponse, ControllerRequest, ControllerResponse, ErrorCode, Response};

impl Controller {
    /// The answer to a request that is refused as a whole.
    pub(super) fn refusal(&self, asked: &Asked, error: ErrorCode) -> Response {
        match asked {
            Asked::Cluster { request, .. } => self.refusal_of(request, error).into(),
            Asked::Controller(request) => match request {
                ControllerRequest::Envelope(request) => self.refusal_of(request, error).into(),
                ControllerRequest::BrokerRegistration(_) => {
                    ControllerResponse::BrokerRegistration { error, epoch: BrokerEpoch(-1) }.into()
                }
                ControllerRequest::BrokerHeartbeat(_) => ControllerResponse::BrokerHeartbeat {
                    error,
                    is_caught_up: false,
                    is_fenced: false,
                    should_shut_down: false,
                }
                .into(),
                ControllerRequest::AlterPartition(_) => {
                    ControllerResponse::AlterPartition { error, partitions: Vec::new() }.into()
                }
                ControllerRequest::AssignReplicasToDirs(_) => {
                    ControllerResponse::AssignReplicasToDirs { error, partitions: Vec::new() }.into()
                }
                ControllerRequest::AllocateProducerIds { .. } => {
                    ControllerResponse::AllocateProducerIds { error, start: -1, len: 0 }.into()
                }
            },
        }
    }

    /// Who leads the quorum is told with any error of DescribeQuorum.
    fn refusal_of(&self, request: &ClusterRequest, error: ErrorCode) -> ClusterResponse {
        match request.refused(error) {
            ClusterResponse::DescribeQuorum(mut quorum) => {
                quorum.leader = self.voter.leader();
                quorum.epoch = self.voter.epoch();
                ClusterResponse::DescribeQuorum(quorum)
            }
            refused => refused,
        }
    }
}
