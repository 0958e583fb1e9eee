//! Requests that go to a group's coordinator, and how each is refused before the group is asked. Handles none.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::env::{commit_response, sync_error};
use super::join::join_error;
use crate::protocol::{
    Api, DescribedGroup, ErrorCode, GroupState, JoinGroupRequest, MemberRequest, OffsetCommitRequest, Response,
    SyncGroupRequest,
};

/// A request to a coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GroupRequest {
    Join(JoinGroupRequest),
    Sync(SyncGroupRequest),
    Heartbeat(MemberRequest),
    Leave(MemberRequest),
    Commit(OffsetCommitRequest),
    FetchOffsets(Rc<str>),
    Describe(Rc<str>),
}

impl GroupRequest {
    pub fn group(&self) -> &Rc<str> {
        match self {
            GroupRequest::Join(r) => &r.group,
            GroupRequest::Sync(r) => &r.member.group,
            GroupRequest::Heartbeat(r) | GroupRequest::Leave(r) => &r.group,
            GroupRequest::Commit(r) => &r.group,
            GroupRequest::FetchOffsets(group) | GroupRequest::Describe(group) => group,
        }
    }

    pub const fn api(&self) -> Api {
        match self {
            GroupRequest::Join(_) => Api::JoinGroup,
            GroupRequest::Sync(_) => Api::SyncGroup,
            GroupRequest::Heartbeat(_) => Api::Heartbeat,
            GroupRequest::Leave(_) => Api::LeaveGroup,
            GroupRequest::Commit(_) => Api::OffsetCommit,
            GroupRequest::FetchOffsets(_) => Api::OffsetFetch,
            GroupRequest::Describe(_) => Api::DescribeGroups,
        }
    }

    /// The answer with this error; `None` as error is a heartbeat that is let pass.
    pub fn answer_with(&self, error: ErrorCode) -> Response {
        match self {
            GroupRequest::Join(r) => join_error(error, r.member_id.clone()),
            GroupRequest::Sync(_) => sync_error(error),
            GroupRequest::Heartbeat(_) => Response::Heartbeat { error },
            GroupRequest::Leave(_) => Response::LeaveGroup { error },
            GroupRequest::Commit(r) => commit_response(r.offsets.iter().map(|(tp, _)| *tp), error),
            GroupRequest::FetchOffsets(_) => Response::OffsetFetch { error, offsets: Vec::new() },
            GroupRequest::Describe(_) => {
                Response::DescribeGroups(DescribedGroup { error, state: GroupState::Dead, members: Vec::new() })
            }
        }
    }

    /// While the partition is loaded heartbeats are let pass, and a sync has to begin with a join again: its rebalance
    /// is forgotten.
    pub const fn error_while_loading(&self) -> ErrorCode {
        match self {
            GroupRequest::Heartbeat(_) => ErrorCode::None,
            GroupRequest::Sync(_) => ErrorCode::RebalanceInProgress,
            GroupRequest::Join(_)
            | GroupRequest::Leave(_)
            | GroupRequest::Commit(_)
            | GroupRequest::FetchOffsets(_)
            | GroupRequest::Describe(_) => ErrorCode::CoordinatorLoadInProgress,
        }
    }
}
