//! Joining a group and leaving it (section 7.9): the classic protocol, eager. What a member owns is told by the
//! coordinator alone.
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::assignor;
use super::preparing::Preparation;
use super::{Call, Consumer};
use crate::base::{Dur, GenerationId, Map, SimTime, Tp, sort_by};
use crate::client::spec::ClientVersion;
use crate::node::{ClientTimer, Ctx, Outcome, Timer};
use crate::protocol::{
    ErrorCode, GroupRequest, GroupResponse, JoinGroupRequest, MemberRequest, Request, Response, Subscription,
    SyncGroupRequest,
};
use crate::trace::{Callback, Kind};

/// Where the member stands in its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Membership {
    #[default]
    Unjoined,
    /// A join or a sync failed and is to be tried again.
    Preparing,
    Joining,
    Syncing,
    Stable,
}

/// The membership: what the coordinator gave, and how far the next join is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Member {
    pub state: Membership,
    pub rejoin: bool,
    pub preparation: Preparation,
    pub join_not_before: SimTime,
    pub generation: GenerationId,
    pub id: Rc<str>,
    pub is_leader: bool,
    /// Partition counts that the leader assigned by.
    snapshot: Map<Rc<str>, usize>,
}

impl Default for Member {
    fn default() -> Member {
        Member {
            state: Membership::Unjoined,
            rejoin: true,
            preparation: Preparation::default(),
            join_not_before: SimTime::ZERO,
            generation: GenerationId(-1),
            id: "".into(),
            is_leader: false,
            snapshot: Map::new(),
        }
    }
}

impl Member {
    pub fn has_generation(&self) -> bool {
        self.generation >= GenerationId(0)
    }

    /// The membership is gone: join anew, with the member id or without.
    pub fn reset(&mut self, keep_id: bool) {
        self.generation = GenerationId(-1);
        if !keep_id {
            self.id = "".into();
        }
        self.state = Membership::Unjoined;
        self.rejoin = true;
        self.is_leader = false;
    }

    /// A join or a sync came to nothing.
    fn prepare_again(&mut self) {
        if self.state != Membership::Unjoined {
            self.state = Membership::Preparing;
        }
        self.rejoin = true;
    }

    /// The assignment is there.
    fn settle(&mut self) {
        self.state = Membership::Stable;
        self.preparation = Preparation::default();
    }

    /// Whether the coordinator wants heartbeats of it.
    pub fn beats(&self) -> bool {
        match self.state {
            Membership::Stable | Membership::Syncing => true,
            Membership::Unjoined | Membership::Preparing | Membership::Joining => false,
        }
    }
}

impl Consumer {
    pub(super) fn member_request(&self) -> MemberRequest {
        MemberRequest {
            group: self.spec.group.clone(),
            generation: self.member.generation,
            member_id: self.member.id.clone(),
            instance_id: self.config.instance_id.clone(),
        }
    }

    pub(super) fn callback(&self, ctx: &mut Ctx<'_>, callback: Callback, partitions: Vec<Tp>) {
        ctx.note(Kind::RebalanceCallback { group: self.spec.group.clone(), callback, partitions });
    }

    /// The leader of the group assigns again when partitions were added.
    pub(super) fn rejoin_if_partitions_changed(&mut self) {
        if self.member.state == Membership::Stable && self.member.is_leader {
            let metadata = &self.metadata;
            let changed = self
                .member
                .snapshot
                .iter()
                .any(|(name, count)| metadata.topic(name).map_or(0, |t| t.partitions.len()) != *count);
            self.member.rejoin |= changed;
        }
    }

    /// Goes one step towards being a member.
    pub(super) fn join_step(&mut self, ctx: &mut Ctx<'_>) {
        if matches!(self.member.state, Membership::Joining | Membership::Syncing) {
            return;
        }
        if !self.member.preparation.done && !self.prepare_join(ctx) {
            return;
        }
        if self.member.join_not_before > ctx.now {
            return;
        }
        let mut topics = self.spec.topics.clone();
        sort_by(&mut topics, Ord::cmp);
        let subscription = Subscription { topics, owned: Vec::new() };
        let request = Request::Group(GroupRequest::JoinGroup(JoinGroupRequest {
            group: self.spec.group.clone(),
            member_id: self.member.id.clone(),
            instance_id: self.config.instance_id.clone(),
            client_id: self.client_id.clone(),
            session_timeout: self.config.session_timeout,
            rebalance_timeout: self.config.max_poll_interval,
            protocols: alloc::vec![("range".into(), subscription)],
            knows_member_id_required: self.spec.version >= ClientVersion::V2_3,
        }));
        let timeout = Dur(self.config.common.request_timeout.0.max((self.config.max_poll_interval + Dur::secs(5)).0));
        if self.ask_coordinator(ctx, request, timeout, Call::Join) {
            self.member.state = Membership::Joining;
            self.member.rejoin = false;
            // While it joins, the coordinator knows it by its join.
            ctx.cancel(&Timer::Client(ClientTimer::Heartbeat));
        }
    }

    fn retry_join(&mut self, ctx: &mut Ctx<'_>, at_once: bool) {
        self.member.prepare_again();
        if !at_once {
            self.member.join_not_before = ctx.now + self.config.common.retry.after(1, ctx.rng);
        }
    }

    pub(super) fn on_joined(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        if self.member.state != Membership::Joining {
            return;
        }
        let answer = match outcome {
            Outcome::Answer(Response::Group(GroupResponse::JoinGroup(answer))) => answer,
            Outcome::Answer(_) => return self.retry_join(ctx, false),
            Outcome::Failed(_) => {
                self.retry_join(ctx, false);
                return self.lose_coordinator(ctx, ErrorCode::NetworkException);
            }
        };
        match answer.error {
            ErrorCode::None => {}
            ErrorCode::MemberIdRequired => {
                self.member.id = answer.member_id;
                return self.retry_join(ctx, true);
            }
            error => return self.on_group_error(ctx, error),
        }
        self.member.generation = answer.generation;
        self.member.id = answer.member_id;
        self.member.state = Membership::Syncing;
        if self.beats_while_syncing() {
            self.begin_heartbeats(ctx);
        }
        self.member.is_leader = answer.leader == self.member.id && !answer.members.is_empty();
        let mut assignments: Vec<(Rc<str>, Vec<Tp>)> = Vec::new();
        if self.member.is_leader {
            let topics: Vec<Rc<str>> = answer.members.iter().flat_map(|(_, _, s)| s.topics.iter().cloned()).collect();
            for topic in &topics {
                self.metadata.want(topic);
            }
            self.member.snapshot = topics
                .into_iter()
                .map(|name| (name.clone(), self.metadata.topic(&name).map_or(0, |t| t.partitions.len())))
                .collect();
            assignments = assignor::range(&answer.members, &self.metadata);
        }
        let request =
            Request::Group(GroupRequest::SyncGroup(SyncGroupRequest { member: self.member_request(), assignments }));
        let (timeout, generation) = (self.config.common.request_timeout, self.member.generation);
        if !self.ask_coordinator(ctx, request, timeout, Call::Sync { generation }) {
            self.retry_join(ctx, false);
        }
    }

    pub(super) fn on_synced(&mut self, ctx: &mut Ctx<'_>, generation: GenerationId, outcome: Outcome) {
        if self.member.state != Membership::Syncing || generation != self.member.generation {
            return;
        }
        let assignment = match outcome {
            Outcome::Answer(Response::Group(GroupResponse::SyncGroup { error: ErrorCode::None, assignment })) => {
                assignment
            }
            Outcome::Answer(Response::Group(GroupResponse::SyncGroup {
                error: ErrorCode::RebalanceInProgress,
                ..
            })) => {
                return self.retry_join(ctx, true);
            }
            Outcome::Answer(Response::Group(GroupResponse::SyncGroup { error, .. })) => {
                return self.on_group_error(ctx, error);
            }
            Outcome::Answer(_) => return self.retry_join(ctx, false),
            Outcome::Failed(_) => {
                self.retry_join(ctx, false);
                return self.lose_coordinator(ctx, ErrorCode::NetworkException);
            }
        };
        self.member.settle();
        if !self.beats_while_syncing() {
            self.begin_heartbeats(ctx);
        }
        self.assignment.begin(&assignment);
        self.commits.next_auto = ctx.now + self.config.auto_commit_interval;
        let now_owned = self.assignment.owned();
        self.callback(ctx, Callback::Assigned, now_owned);
    }

    /// Errors that JoinGroup, SyncGroup and Heartbeat share.
    fn on_group_error(&mut self, ctx: &mut Ctx<'_>, error: ErrorCode) {
        match error {
            ErrorCode::CoordinatorNotAvailable | ErrorCode::NotCoordinator => {
                self.retry_join(ctx, false);
                self.lose_coordinator(ctx, error);
            }
            ErrorCode::UnknownMemberId => {
                self.member.reset(false);
                self.retry_join(ctx, true);
            }
            ErrorCode::IllegalGeneration => {
                self.member.reset(true);
                self.retry_join(ctx, true);
            }
            ErrorCode::FencedInstanceId
            | ErrorCode::GroupMaxSizeReached
            | ErrorCode::InconsistentGroupProtocol
            | ErrorCode::InvalidSessionTimeout
            | ErrorCode::InvalidGroupId => {
                self.member.state = Membership::Preparing;
                self.application.fatal = Some(error.exception());
            }
            // Loading, rebalancing and what else passes.
            other if other.retriable() || other == ErrorCode::RebalanceInProgress => self.retry_join(ctx, false),
            other => {
                self.retry_join(ctx, false);
                self.application.error = Some(other.exception());
            }
        }
    }

    /// `poll` was not called for `max.poll.interval.ms`: the client leaves the group for its application.
    pub(super) fn on_poll_interval(&mut self, ctx: &mut Ctx<'_>) {
        if self.application.poll.is_some() || self.close.step.is_some() {
            ctx.set(Timer::Client(ClientTimer::PollInterval), self.config.max_poll_interval);
            return;
        }
        if self.member.state == Membership::Unjoined {
            return;
        }
        self.send_leave(ctx);
        self.member.reset(false);
        ctx.cancel(&Timer::Client(ClientTimer::Heartbeat));
    }

    /// Static members stay in the group until their session ends.
    pub(super) fn send_leave(&mut self, ctx: &mut Ctx<'_>) {
        if self.config.instance_id.is_none() && !self.member.id.is_empty() && self.member.state != Membership::Unjoined
        {
            let (request, timeout) =
                (Request::Group(GroupRequest::LeaveGroup(self.member_request())), self.config.common.request_timeout);
            self.ask_coordinator(ctx, request, timeout, Call::Leave);
        }
    }
}
