//! JoinGroup and the join phase of a classic group: initial delay, rejoining, end of the phase (KIP-62, KIP-134,
//! KIP-345, KIP-394). Distributes no assignment.
use alloc::format;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::env::{Env, Purpose, sync_error};
use super::state::{Group, InitialDelay, Member};
use crate::base::{ClientId, Dur, GenerationId, NodeId, Set};
use crate::broker::ReplyTo;
use crate::node::GroupTimer;
use crate::protocol::{Api, ErrorCode, GroupResponse, GroupState, JoinGroupRequest, JoinGroupResponse};
use crate::trace::Kind;

/// How long a member that was added during a rebalance may wait to be answered, without heartbeats.
const NEW_MEMBER_JOIN_TIMEOUT: Dur = Dur::secs(300);

/// The answer of JoinGroup without success.
pub fn join_error(error: ErrorCode, member_id: Rc<str>) -> GroupResponse {
    GroupResponse::JoinGroup(JoinGroupResponse {
        error,
        generation: GenerationId(-1),
        protocol: None,
        leader: "".into(),
        member_id,
        members: Vec::new(),
    })
}

impl Group {
    pub fn on_join(&mut self, env: &mut Env<'_, '_>, request: JoinGroupRequest, reply: ReplyTo) {
        if !self.accepts(&request.protocols) {
            return self.refuse_join(env, reply, ErrorCode::InconsistentGroupProtocol, request.member_id);
        }
        if request.member_id.is_empty() {
            self.join_without_id(env, request, reply)
        } else {
            self.join_with_id(env, request, reply)
        }
    }

    fn join_without_id(&mut self, env: &mut Env<'_, '_>, request: JoinGroupRequest, reply: ReplyTo) {
        let member_id = new_member_id(env, &request);
        if let Some(old) = request.instance_id.as_deref().and_then(|instance| self.static_member(instance)).cloned() {
            return self.replace_static(env, &old, member_id, request, reply);
        }
        if request.instance_id.is_none() && request.knows_member_id_required {
            self.pending.insert(member_id.clone());
            env.set(GroupTimer::Pending { group: self.id.clone(), member: member_id.clone() }, request.session_timeout);
            // Not a refusal that anybody should worry about: the first half of joining (KIP-394).
            return env.answer(reply, join_error(ErrorCode::MemberIdRequired, member_id));
        }
        self.admit(env, member_id, request, reply);
    }

    fn join_with_id(&mut self, env: &mut Env<'_, '_>, request: JoinGroupRequest, reply: ReplyTo) {
        let member_id = request.member_id.clone();
        if self.pending.remove(&member_id) {
            env.cancel(GroupTimer::Pending { group: self.id.clone(), member: member_id.clone() });
            return self.admit(env, member_id, request, reply);
        }
        if let Some(error) = self.member_error(&member_id, request.instance_id.as_deref()) {
            return self.refuse_join(env, reply, error, member_id);
        }
        let Some(member) = self.members.get(&member_id) else { return };
        let changed = member.protocols != request.protocols;
        let is_leader = self.leader.as_ref() == Some(&member_id);
        match self.state {
            GroupState::PreparingRebalance => self.rejoin(env, member_id, request, reply),
            GroupState::CompletingRebalance if !changed => self.answer_current(env, &member_id, reply),
            GroupState::CompletingRebalance => self.rejoin(env, member_id, request, reply),
            GroupState::Stable if is_leader || changed => self.rejoin(env, member_id, request, reply),
            GroupState::Stable => self.answer_current(env, &member_id, reply),
            GroupState::Empty | GroupState::Dead => self.refuse_join(env, reply, ErrorCode::UnknownMemberId, member_id),
        }
    }

    /// Why a member may not speak: it is unknown, or another process has its `group.instance.id` now.
    pub fn member_error(&self, member_id: &Rc<str>, instance: Option<&str>) -> Option<ErrorCode> {
        match instance.and_then(|instance| self.static_member(instance)) {
            Some(current) if current != member_id => Some(ErrorCode::FencedInstanceId),
            Some(_) => None,
            None if instance.is_some() || !self.members.contains_key(member_id) => Some(ErrorCode::UnknownMemberId),
            None => None,
        }
    }

    fn refuse_join(&self, env: &mut Env<'_, '_>, reply: ReplyTo, error: ErrorCode, member_id: Rc<str>) {
        env.refuse(reply, &self.id, Api::JoinGroup, error, join_error(error, member_id));
    }

    /// Adds a member and begins a rebalance, or takes part in the one that runs.
    fn admit(&mut self, env: &mut Env<'_, '_>, member_id: Rc<str>, request: JoinGroupRequest, reply: ReplyTo) {
        let member = Member {
            instance_id: request.instance_id,
            client: client_of(reply),
            client_id: request.client_id,
            session_timeout: request.session_timeout,
            rebalance_timeout: request.rebalance_timeout,
            protocols: request.protocols,
            assignment: Vec::new(),
            join: Some(reply),
            sync: None,
            is_new: true,
        };
        env.ctx.because(Kind::MemberJoined { group: self.id.clone(), member: member_id.clone() });
        if self.leader.is_none() {
            self.leader = Some(member_id.clone());
        }
        if let Some(initial) = &mut self.initial {
            initial.member_added = true;
        }
        env.set(GroupTimer::Session { group: self.id.clone(), member: member_id.clone() }, NEW_MEMBER_JOIN_TIMEOUT);
        self.members.insert(member_id, member);
        self.rebalance(env);
    }

    fn rejoin(&mut self, env: &mut Env<'_, '_>, member_id: Rc<str>, request: JoinGroupRequest, reply: ReplyTo) {
        if let Some(member) = self.members.get_mut(&member_id) {
            member.protocols = request.protocols;
            member.rebalance_timeout = request.rebalance_timeout;
            member.session_timeout = request.session_timeout;
            // An older request is from a connection that was given up: the answer frees it.
            if let Some(old) = member.join.replace(reply) {
                env.answer(old, join_error(ErrorCode::RebalanceInProgress, member_id.clone()));
            }
        }
        env.cancel(GroupTimer::Session { group: self.id.clone(), member: member_id });
        self.rebalance(env);
    }

    /// A process with a known `group.instance.id` came without a member id: it takes the place of the old one, which is
    /// fenced from now on.
    fn replace_static(
        &mut self,
        env: &mut Env<'_, '_>,
        old_id: &Rc<str>,
        new_id: Rc<str>,
        request: JoinGroupRequest,
        reply: ReplyTo,
    ) {
        let Some(mut member) = self.members.remove(old_id) else { return };
        env.cancel(GroupTimer::Session { group: self.id.clone(), member: old_id.clone() });
        if let Some(waiting) = member.join.take() {
            self.refuse_join(env, waiting, ErrorCode::FencedInstanceId, old_id.clone());
        }
        if let Some(waiting) = member.sync.take() {
            env.refuse(
                waiting,
                &self.id,
                Api::SyncGroup,
                ErrorCode::FencedInstanceId,
                sync_error(ErrorCode::FencedInstanceId),
            );
        }
        let protocol = self.protocol.as_ref();
        let before = member.subscription(protocol);
        member.client = client_of(reply);
        member.client_id = request.client_id;
        member.session_timeout = request.session_timeout;
        member.rebalance_timeout = request.rebalance_timeout;
        member.protocols = request.protocols;
        // What a member owned is said for sticky assignors; a restarted one owns nothing, which is no reason to
        // rebalance.
        let same = before.topics == member.subscription(protocol).topics;
        let leader_before = self.leader.clone();
        if self.leader.as_ref() == Some(old_id) {
            self.leader = Some(new_id.clone());
        }
        if self.to_sync.remove(old_id) {
            self.to_sync.insert(new_id.clone());
        }
        let stays = self.state == GroupState::Stable && same;
        if !stays {
            member.join = Some(reply);
        }
        env.ctx.because(Kind::MemberJoined { group: self.id.clone(), member: new_id.clone() });
        self.members.insert(new_id.clone(), member);
        if stays {
            self.keep_static(env, new_id, leader_before, reply);
        } else {
            self.rebalance(env);
        }
    }

    /// The group goes on in the same generation; only the new member id is written. The answer names the leader of
    /// before, so that nobody assigns anew.
    fn keep_static(&mut self, env: &mut Env<'_, '_>, new_id: Rc<str>, leader: Option<Rc<str>>, reply: ReplyTo) {
        self.arm_session(env, &new_id);
        let response = GroupResponse::JoinGroup(JoinGroupResponse {
            error: ErrorCode::None,
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: leader.unwrap_or_else(|| "".into()),
            member_id: new_id.clone(),
            members: Vec::new(),
        });
        let record = self.record(self.metadata(|_, m| m.assignment.clone()));
        let purpose = Purpose::StaticJoin { reply, group: self.id.clone(), member: new_id.clone(), response };
        if let Err(error) = env.write([record].into(), purpose) {
            let error = env.write_error(error, true);
            self.refuse_join(env, reply, error, new_id);
        }
    }

    /// Answers a member that joins again although nothing changed: its answer had been lost.
    fn answer_current(&mut self, env: &mut Env<'_, '_>, member_id: &Rc<str>, reply: ReplyTo) {
        self.arm_session(env, member_id);
        let response = self.join_answer(member_id);
        env.answer(reply, response);
    }

    fn join_answer(&self, member_id: &Rc<str>) -> GroupResponse {
        let leads = self.leader.as_ref() == Some(member_id);
        let known =
            |(id, m): (&Rc<str>, &Member)| (id.clone(), m.instance_id.clone(), m.subscription(self.protocol.as_ref()));
        GroupResponse::JoinGroup(JoinGroupResponse {
            error: ErrorCode::None,
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone().unwrap_or_else(|| "".into()),
            member_id: member_id.clone(),
            members: if leads { self.members.iter().map(known).collect() } else { Vec::new() },
        })
    }

    /// Begins a rebalance, or looks whether the one that runs is complete.
    pub fn rebalance(&mut self, env: &mut Env<'_, '_>) {
        match self.state {
            GroupState::PreparingRebalance => self.try_complete_join(env),
            GroupState::Empty => {
                let delay = env.config.group_initial_rebalance_delay;
                let remaining = Dur(self.rebalance_timeout().0.saturating_sub(delay.0));
                self.initial = Some(InitialDelay { remaining, member_added: false });
                self.enter(env, GroupState::PreparingRebalance);
                env.set(GroupTimer::Join { group: self.id.clone() }, delay);
            }
            GroupState::CompletingRebalance => {
                self.drop_assignments(env, ErrorCode::RebalanceInProgress);
                self.prepare(env);
            }
            GroupState::Stable => self.prepare(env),
            GroupState::Dead => {}
        }
    }

    fn prepare(&mut self, env: &mut Env<'_, '_>) {
        self.enter(env, GroupState::PreparingRebalance);
        env.cancel(GroupTimer::Sync { group: self.id.clone() });
        self.to_sync.clear();
        env.set(GroupTimer::Join { group: self.id.clone() }, self.rebalance_timeout());
        self.try_complete_join(env);
    }

    pub fn enter(&mut self, env: &mut Env<'_, '_>, state: GroupState) {
        if self.state != state {
            self.state = state;
            let (group, generation, members) = (self.id.clone(), self.generation, self.members.len() as u32);
            env.ctx.because(Kind::GroupStateChanged { group, state, generation, members });
        }
    }

    pub fn try_complete_join(&mut self, env: &mut Env<'_, '_>) {
        // The initial delay is waited for even if nobody is missing.
        if self.state == GroupState::PreparingRebalance && self.initial.is_none() && self.all_joined() {
            self.complete_join(env);
        }
    }

    /// The time of the join phase is over.
    pub fn on_join_timer(&mut self, env: &mut Env<'_, '_>) {
        if self.state != GroupState::PreparingRebalance {
            return;
        }
        match self.initial {
            Some(initial) if initial.member_added && initial.remaining > Dur::ZERO => {
                let delay = env.config.group_initial_rebalance_delay.min(initial.remaining);
                self.initial =
                    Some(InitialDelay { remaining: Dur(initial.remaining.0 - delay.0), member_added: false });
                env.set(GroupTimer::Join { group: self.id.clone() }, delay);
            }
            Some(_) | None => self.complete_join(env),
        }
    }

    fn complete_join(&mut self, env: &mut Env<'_, '_>) {
        self.initial = None;
        env.cancel(GroupTimer::Join { group: self.id.clone() });
        // Static members may be away for a while (KIP-345); dynamic ones that did not come again are out.
        let late: Vec<Rc<str>> = self
            .members
            .iter()
            .filter(|(_, m)| m.join.is_none() && m.instance_id.is_none())
            .map(|(id, _)| id.clone())
            .collect();
        for member in late {
            self.forget(env, &member, true);
        }
        if self.members.is_empty() {
            return self.become_empty(env);
        }
        let has_joined = |id: &Rc<str>| self.members.get(id).is_some_and(|m| m.join.is_some());
        if !self.leader.as_ref().is_some_and(has_joined) {
            let Some(next) = self.members.iter().find(|(_, m)| m.join.is_some()).map(|(id, _)| id.clone()) else {
                return env.set(GroupTimer::Join { group: self.id.clone() }, self.rebalance_timeout());
            };
            self.leader = Some(next);
        }
        self.generation.0 += 1;
        self.protocol = self.vote();
        self.enter(env, GroupState::CompletingRebalance);
        self.to_sync = self.members.keys().cloned().collect();
        env.set(GroupTimer::Sync { group: self.id.clone() }, self.rebalance_timeout());
        self.answer_joins(env);
    }

    fn answer_joins(&mut self, env: &mut Env<'_, '_>) {
        let ids: Vec<Rc<str>> = self.members.keys().cloned().collect();
        for id in ids {
            let response = self.join_answer(&id);
            let Some(member) = self.members.get_mut(&id) else { continue };
            member.is_new = false;
            if let Some(reply) = member.join.take() {
                env.answer(reply, response);
                self.arm_session(env, &id);
            }
        }
    }

    fn become_empty(&mut self, env: &mut Env<'_, '_>) {
        self.generation.0 += 1;
        self.protocol = None;
        self.leader = None;
        self.to_sync = Set::new();
        self.enter(env, GroupState::Empty);
        let record = self.record(self.metadata(|_, m| m.assignment.clone()));
        // If this fails the log still has the members: a new coordinator finds them and expires them.
        if let Err(error) = env.write([record].into(), Purpose::Nothing) {
            let error = env.write_error(error, true);
            env.ctx.note(Kind::CoordinatorRefused { group: self.id.clone(), api: Api::LeaveGroup, error });
        }
    }

    /// Takes a member out; what it waits for is answered. The caller goes on with the rebalance.
    pub fn forget(&mut self, env: &mut Env<'_, '_>, member_id: &Rc<str>, expired: bool) {
        let Some(mut member) = self.members.remove(member_id) else { return };
        env.ctx.because(Kind::MemberRemoved { group: self.id.clone(), member: member_id.clone(), expired });
        env.cancel(GroupTimer::Session { group: self.id.clone(), member: member_id.clone() });
        if let Some(reply) = member.join.take() {
            self.refuse_join(env, reply, ErrorCode::UnknownMemberId, member_id.clone());
        }
        if let Some(reply) = member.sync.take() {
            env.refuse(
                reply,
                &self.id,
                Api::SyncGroup,
                ErrorCode::UnknownMemberId,
                sync_error(ErrorCode::UnknownMemberId),
            );
        }
        self.to_sync.remove(member_id);
        if self.leader.as_ref() == Some(member_id) {
            self.leader = self.members.keys().next().cloned();
        }
    }

    /// A session begins anew: any sign of life counts.
    pub fn arm_session(&self, env: &mut Env<'_, '_>, member_id: &Rc<str>) {
        if let Some(member) = self.members.get(member_id) {
            env.set(GroupTimer::Session { group: self.id.clone(), member: member_id.clone() }, member.session_timeout);
        }
    }
}

/// `client.id` (or the instance id) and eight random hexadecimal digits. Kafka has a UUID there; its order, which
/// decides who is first, is random too.
fn new_member_id(env: &mut Env<'_, '_>, request: &JoinGroupRequest) -> Rc<str> {
    let prefix = request.instance_id.as_ref().unwrap_or(&request.client_id);
    format!("{prefix}-{:08x}", env.ctx.rng.bits()).into()
}

fn client_of(reply: ReplyTo) -> ClientId {
    match reply.conn.client {
        NodeId::Client(client) => client,
        NodeId::Broker(_) | NodeId::Controller(_) => unreachable!("only clients join groups"),
    }
}
