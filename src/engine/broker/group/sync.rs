//! SyncGroup, heartbeats, leaving and expiry of a classic group's members. Joining is in `join`.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::env::{Env, Purpose, Reader, sync_error};
use super::state::Group;
use crate::base::{GenerationId, Tp};
use crate::broker::ReplyTo;
use crate::node::GroupTimer;
use crate::protocol::{Api, ErrorCode, GroupResponse, GroupState, MemberRequest, SyncGroupRequest};
use crate::rules::CoordinatorKind;

impl Group {
    /// What is wrong with a request that names a member and a generation, in Kafka's order.
    pub fn request_error(&self, request: &MemberRequest) -> Option<ErrorCode> {
        if let Some(error) = self.member_error(&request.member_id, request.instance_id.as_deref()) {
            return Some(error);
        }
        (request.generation != self.generation).then_some(ErrorCode::IllegalGeneration)
    }

    pub fn on_sync(&mut self, env: &mut Env<'_, '_>, request: SyncGroupRequest, reply: ReplyTo) {
        let error = self.request_error(&request.member).or(match self.state {
            GroupState::Empty | GroupState::Dead => Some(ErrorCode::UnknownMemberId),
            GroupState::PreparingRebalance => Some(ErrorCode::RebalanceInProgress),
            GroupState::CompletingRebalance | GroupState::Stable => None,
        });
        if let Some(error) = error {
            return env.refuse(reply, &self.id, Api::SyncGroup, error, sync_error(error));
        }
        let member_id = request.member.member_id;
        self.to_sync.remove(&member_id);
        if self.to_sync.is_empty() {
            env.cancel(GroupTimer::Sync { group: self.id.clone() });
        }
        if self.state == GroupState::Stable {
            self.arm_session(env, &member_id);
            let assignment = self.members.get(&member_id).map(|m| m.assignment.clone()).unwrap_or_default();
            return env.answer(reply, GroupResponse::SyncGroup { error: ErrorCode::None, assignment });
        }
        env.cancel(GroupTimer::Session { group: self.id.clone(), member: member_id.clone() });
        if let Some(old) = self.members.get_mut(&member_id).and_then(|member| member.sync.replace(reply)) {
            env.answer(old, sync_error(ErrorCode::RebalanceInProgress));
        }
        if self.leader.as_ref() == Some(&member_id) {
            self.store_assignment(env, request.assignments);
        }
    }

    /// Writes what the group leader decided. It counts when the high watermark has passed it.
    fn store_assignment(&mut self, env: &mut Env<'_, '_>, assignments: Vec<(Rc<str>, Vec<Tp>)>) {
        let of = |id: &Rc<str>| {
            assignments.iter().find(|(member, _)| member == id).map(|(_, tps)| tps.clone()).unwrap_or_default()
        };
        let record = self.record(self.metadata(|id, _| of(id)));
        let purpose = Purpose::Assignment { group: self.id.clone(), generation: self.generation };
        if let Err(error) = env.write([record].into(), purpose) {
            self.on_assignment_failed(env, self.generation, error);
        }
    }

    /// The assignment of a generation is safe: everybody who waits gets his part.
    pub fn on_assignment_stored(&mut self, env: &mut Env<'_, '_>, generation: GenerationId) {
        let Some(stored) = self.stored.clone() else { return };
        if self.state != GroupState::CompletingRebalance
            || self.generation != generation
            || stored.generation != generation
        {
            return;
        }
        self.enter(env, GroupState::Stable);
        for member in &stored.members {
            if let Some(known) = self.members.get_mut(&member.member_id) {
                known.assignment = member.assignment.clone();
            }
        }
        let ids: Vec<Rc<str>> = self.members.keys().cloned().collect();
        for id in ids {
            let Some(member) = self.members.get_mut(&id) else { continue };
            if let Some(reply) = member.sync.take() {
                let assignment = member.assignment.clone();
                env.answer(reply, GroupResponse::SyncGroup { error: ErrorCode::None, assignment });
                self.arm_session(env, &id);
            }
        }
    }

    /// The assignment could not be written: the members join again.
    pub fn on_assignment_failed(&mut self, env: &mut Env<'_, '_>, generation: GenerationId, error: ErrorCode) {
        if self.state != GroupState::CompletingRebalance || self.generation != generation {
            return;
        }
        let error = env.write_error(error, true);
        self.drop_assignments(env, error);
        self.rebalance(env);
    }

    /// Nobody owns anything any more, and who waits for an assignment is told why there is none.
    pub fn drop_assignments(&mut self, env: &mut Env<'_, '_>, error: ErrorCode) {
        let ids: Vec<Rc<str>> = self.members.keys().cloned().collect();
        for id in ids {
            let Some(member) = self.members.get_mut(&id) else { continue };
            member.assignment = Vec::new();
            if let Some(reply) = member.sync.take() {
                env.refuse(reply, &self.id, Api::SyncGroup, error, sync_error(error));
                self.arm_session(env, &id);
            }
        }
    }

    pub fn on_heartbeat(&mut self, env: &mut Env<'_, '_>, request: &MemberRequest, reply: ReplyTo) {
        // What is thrown is told at once, what is answered waits its turn.
        if let Some(error) = self.request_error(request) {
            return env.tell(Reader::Heartbeat, reply, &self.id, error);
        }
        self.arm_session(env, &request.member_id);
        let error = match self.state {
            GroupState::Empty | GroupState::Dead => {
                return env.tell(Reader::Heartbeat, reply, &self.id, ErrorCode::UnknownMemberId);
            }
            GroupState::PreparingRebalance => ErrorCode::RebalanceInProgress,
            GroupState::CompletingRebalance | GroupState::Stable => ErrorCode::None,
        };
        env.answer_behind_writes(Reader::Heartbeat, reply, &self.id, error);
    }

    pub fn on_leave(&mut self, env: &mut Env<'_, '_>, request: &MemberRequest, reply: ReplyTo) {
        if self.pending.remove(&request.member_id) {
            env.cancel(GroupTimer::Pending { group: self.id.clone(), member: request.member_id.clone() });
            return self.left(env, reply, Group::try_complete_join);
        }
        if let Some(error) = self.member_error(&request.member_id, request.instance_id.as_deref()) {
            return env.answer_behind_writes(Reader::Leave, reply, &self.id, error);
        }
        self.left(env, reply, |group, env| {
            group.forget(env, &request.member_id, false);
            group.rebalance(env);
        });
    }

    /// A member is gone. The older coordinator says so first; the newer one when what follows from it is safe.
    fn left(&mut self, env: &mut Env<'_, '_>, reply: ReplyTo, then: impl FnOnce(&mut Group, &mut Env<'_, '_>)) {
        match env.rules.coordinator {
            CoordinatorKind::Old => {
                env.tell(Reader::Leave, reply, &self.id, ErrorCode::None);
                then(self, env);
            }
            CoordinatorKind::New => {
                then(self, env);
                env.answer_behind_writes(Reader::Leave, reply, &self.id, ErrorCode::None);
            }
        }
    }

    /// No sign of life for the session time-out. Who waits for an answer of the coordinator cannot be expected to send
    /// heartbeats.
    pub fn on_session_timer(&mut self, env: &mut Env<'_, '_>, member_id: &Rc<str>) {
        let Some(member) = self.members.get(member_id) else { return };
        if member.sync.is_some() || (member.join.is_some() && !member.is_new) {
            return;
        }
        self.forget(env, member_id, true);
        self.rebalance(env);
    }

    /// A member id that was handed out was not used in time.
    pub fn on_pending_timer(&mut self, env: &mut Env<'_, '_>, member_id: &Rc<str>) {
        if self.pending.remove(member_id) {
            self.try_complete_join(env);
        }
    }

    /// Members that joined and did not sync within the rebalance time-out are out (3.0+).
    pub fn on_sync_timer(&mut self, env: &mut Env<'_, '_>) {
        match self.state {
            GroupState::CompletingRebalance | GroupState::Stable => {
                let late: Vec<Rc<str>> = core::mem::take(&mut self.to_sync).into_iter().collect();
                for member in &late {
                    self.forget(env, member, true);
                }
                if !late.is_empty() {
                    self.rebalance(env);
                }
            }
            GroupState::Empty | GroupState::PreparingRebalance | GroupState::Dead => {}
        }
    }
}
