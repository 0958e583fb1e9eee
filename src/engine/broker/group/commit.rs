//! Committed offsets of a group: OffsetCommit, what a write means when it is safe, OffsetFetch, DescribeGroups. Offsets
//! never expire here.

use alloc::vec::Vec;

use super::env::{Env, Purpose, commit_response};
use super::state::Group;
use crate::base::{GenerationId, TopicId};
use crate::broker::ReplyTo;
use crate::protocol::{
    Api, DescribedGroup, ErrorCode, GroupRecord, GroupResponse, GroupState, MemberRequest, OffsetCommitRequest,
};

impl Group {
    /// Checks and writes a commit; it is answered when the high watermark passes it.
    pub fn on_commit(&mut self, env: &mut Env<'_, '_>, request: OffsetCommitRequest, reply: ReplyTo) {
        let tps = || request.offsets.iter().map(|(tp, _)| *tp);
        let error = self.commit_error(&request);
        if let Some(error) = error {
            return env.refuse(reply, &self.id, Api::OffsetCommit, error, commit_response(tps(), error));
        }
        // A commit is a sign of life.
        self.arm_session(env, &request.member_id);
        let record =
            |(tp, commit): &(_, _)| GroupRecord::Offset { group: self.id.clone(), tp: *tp, commit: Some(*commit) };
        let records: Vec<GroupRecord> = request.offsets.iter().map(record).collect();
        if records.is_empty() {
            return env.answer(reply, commit_response(tps(), ErrorCode::None));
        }
        let purpose = Purpose::Commit { reply, group: self.id.clone(), tps: tps().collect() };
        if let Err(error) = env.write(records, purpose) {
            let error = env.write_error(error, false);
            env.refuse(reply, &self.id, Api::OffsetCommit, error, commit_response(tps(), error));
        }
    }

    fn commit_error(&self, request: &OffsetCommitRequest) -> Option<ErrorCode> {
        let without_generation = request.generation < GenerationId(0);
        // A consumer that manages its partitions itself may use only a group that nobody is a member of.
        if without_generation && self.state == GroupState::Empty {
            return None;
        }
        if without_generation && request.member_id.is_empty() && request.instance_id.is_none() {
            return Some(ErrorCode::UnknownMemberId);
        }
        let member = MemberRequest {
            group: request.group.clone(),
            generation: request.generation,
            member_id: request.member_id.clone(),
            instance_id: request.instance_id.clone(),
        };
        self.request_error(&member).or(match self.state {
            GroupState::CompletingRebalance => Some(ErrorCode::RebalanceInProgress),
            GroupState::PreparingRebalance | GroupState::Stable => None,
            GroupState::Empty | GroupState::Dead => Some(ErrorCode::UnknownMemberId),
        })
    }

    /// Committed offsets: what lies below the high watermark.
    pub fn fetch(&self) -> GroupResponse {
        GroupResponse::OffsetFetch {
            error: ErrorCode::None,
            offsets: self.offsets.iter().map(|(tp, commit)| (*tp, *commit)).collect(),
        }
    }

    /// Members are described with their partitions only while the group is Stable.
    pub fn describe(&self) -> GroupResponse {
        let stable = self.state == GroupState::Stable;
        let members = self
            .members
            .iter()
            .map(|(id, m)| (id.clone(), m.client_id.clone(), if stable { m.assignment.clone() } else { Vec::new() }));
        GroupResponse::DescribeGroups(DescribedGroup {
            error: ErrorCode::None,
            state: self.state,
            members: members.collect(),
        })
    }

    /// Tombstones for the offsets of topics that are gone.
    pub fn tombstones(&self, topics: &[TopicId]) -> impl Iterator<Item = GroupRecord> {
        self.offsets.keys().filter(|tp| topics.contains(&tp.topic)).map(|tp| GroupRecord::Offset {
            group: self.id.clone(),
            tp: *tp,
            commit: None,
        })
    }
}
