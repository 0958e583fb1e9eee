//! How a request to a group's coordinator is refused before the group is asked. Handles none.

use alloc::vec::Vec;

use super::env::{commit_response, sync_error};
use super::join::join_error;
use crate::protocol::{DescribedGroup, ErrorCode, GroupRequest, GroupResponse, GroupState};

/// The answer with this error; `NONE` as error is a heartbeat that is let pass.
pub fn answer_with(request: &GroupRequest, error: ErrorCode) -> GroupResponse {
    match request {
        GroupRequest::JoinGroup(r) => join_error(error, r.member_id.clone()),
        GroupRequest::SyncGroup(_) => sync_error(error),
        GroupRequest::Heartbeat(_) => GroupResponse::Heartbeat { error },
        GroupRequest::LeaveGroup(_) => GroupResponse::LeaveGroup { error },
        GroupRequest::OffsetCommit(r) => commit_response(r.offsets.iter().map(|(tp, _)| *tp), error),
        GroupRequest::OffsetFetch { .. } => GroupResponse::OffsetFetch { error, offsets: Vec::new() },
        GroupRequest::DescribeGroups { .. } => {
            GroupResponse::DescribeGroups(DescribedGroup { error, state: GroupState::Dead, members: Vec::new() })
        }
    }
}

/// While the partition is loaded heartbeats are let pass, and a sync has to begin with a join again: its rebalance is
/// forgotten.
pub const fn error_while_loading(request: &GroupRequest) -> ErrorCode {
    match request {
        GroupRequest::Heartbeat(_) => ErrorCode::None,
        GroupRequest::SyncGroup(_) => ErrorCode::RebalanceInProgress,
        GroupRequest::JoinGroup(_)
        | GroupRequest::LeaveGroup(_)
        | GroupRequest::OffsetCommit(_)
        | GroupRequest::OffsetFetch { .. }
        | GroupRequest::DescribeGroups { .. } => ErrorCode::CoordinatorLoadInProgress,
    }
}
