//! Joining a group, heartbeats, leaving (section 7.9): the classic protocol, eager. What a member owns is told by the
//! coordinator alone.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::assignor;
use super::{Assigned, Call, Closing, CommitKind, Consumer, Membership};
use crate::base::{Dur, GenerationId, Tp};
use crate::client::spec::ClientVersion;
use crate::node::{Channel, ClientTimer, Ctx, Outcome, Timer};
use crate::protocol::{ErrorCode, JoinGroupRequest, MemberRequest, Request, Response, Subscription, SyncGroupRequest};
use crate::trace::{Callback, Kind};

/// How long `close` takes at most, if the application says nothing else (`DEFAULT_CLOSE_TIMEOUT_MS`).
pub(super) const CLOSE_TIMEOUT: Dur = Dur::secs(30);

impl Consumer {
    fn member(&self) -> MemberRequest {
        MemberRequest {
            group: self.spec.group.clone(),
            generation: self.generation,
            member_id: self.member_id.clone(),
            instance_id: self.config.instance_id.clone(),
        }
    }

    fn callback(&self, ctx: &mut Ctx<'_>, callback: Callback, partitions: Vec<Tp>) {
        ctx.note(Kind::RebalanceCallback { group: self.spec.group.clone(), callback, partitions });
    }

    /// The membership is gone: join anew, with the member id or without.
    pub(super) fn reset_generation(&mut self, keep_member_id: bool) {
        self.generation = GenerationId(-1);
        if !keep_member_id {
            self.member_id = "".into();
        }
        self.membership = Membership::Unjoined;
        self.rejoin = true;
        self.is_leader = false;
    }

    /// The leader of the group assigns again when partitions were added.
    pub(super) fn rejoin_if_partitions_changed(&mut self) {
        if self.membership == Membership::Stable && self.is_leader {
            let metadata = &self.metadata;
            let changed = self
                .snapshot
                .iter()
                .any(|(name, count)| metadata.topic(name).map_or(0, |t| t.partitions.len()) != *count);
            self.rejoin |= changed;
        }
    }

    /// Goes one step towards being a member.
    pub(super) fn join_step(&mut self, ctx: &mut Ctx<'_>) {
        if matches!(self.membership, Membership::Joining | Membership::Syncing) {
            return;
        }
        if !self.prepared && !self.prepare_join(ctx) {
            return;
        }
        if self.join_not_before > ctx.now {
            return;
        }
        let mut topics = self.spec.topics.clone();
        topics.sort();
        let subscription = Subscription { topics, owned: Vec::new() };
        let request = Request::JoinGroup(JoinGroupRequest {
            group: self.spec.group.clone(),
            member_id: self.member_id.clone(),
            instance_id: self.config.instance_id.clone(),
            client_id: self.client_id.clone(),
            session_timeout: self.config.session_timeout,
            rebalance_timeout: self.config.max_poll_interval,
            protocols: alloc::vec![("range".into(), subscription)],
            knows_member_id_required: self.spec.version >= ClientVersion::V2_3,
        });
        let timeout = Dur(self.config.common.request_timeout.0.max((self.config.max_poll_interval + Dur::secs(5)).0));
        if self.ask_coordinator(ctx, request, timeout, Call::Join) {
            self.membership = Membership::Joining;
            self.rejoin = false;
            // While it joins, the coordinator knows it by its join.
            ctx.cancel(&Timer::Client(ClientTimer::Heartbeat));
        }
    }

    /// Auto-commit and the callback before a join. True when both are done.
    fn prepare_join(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let valid = self.generation.0 >= 0;
        if self.config.auto_commit && valid {
            match self.prepare_commit {
                Some(false) => return false,
                Some(true) => {}
                None => {
                    let offsets = self.positions_to_commit(ctx.now);
                    if !offsets.is_empty() {
                        self.prepare_commit = Some(false);
                        if !self.send_commit(ctx, CommitKind::BeforeRebalance, offsets) {
                            self.prepare_commit = None;
                        }
                        return false;
                    }
                }
            }
        }
        let had: Vec<Tp> = self.partitions.keys().copied().collect();
        if self.spec.version <= ClientVersion::V2_3 || valid {
            self.callback(ctx, Callback::Revoked, had);
        } else if !had.is_empty() {
            self.callback(ctx, Callback::Lost, had);
        }
        self.partitions.clear();
        self.prepared = true;
        true
    }

    fn retry_join(&mut self, ctx: &mut Ctx<'_>, at_once: bool) {
        if self.membership != Membership::Unjoined {
            self.membership = Membership::Preparing;
        }
        self.rejoin = true;
        if !at_once {
            self.join_not_before = ctx.now + self.config.common.retry.after(1, ctx.rng);
        }
    }

    pub(super) fn on_joined(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        if self.membership != Membership::Joining {
            return;
        }
        let answer = match outcome {
            Outcome::Answer(Response::JoinGroup(answer)) => answer,
            Outcome::Answer(_) => return self.retry_join(ctx, false),
            Outcome::Failed(_) => {
                self.retry_join(ctx, false);
                return self.lose_coordinator(ctx, ErrorCode::NetworkException);
            }
        };
        match answer.error {
            ErrorCode::None => {}
            ErrorCode::MemberIdRequired => {
                self.member_id = answer.member_id;
                return self.retry_join(ctx, true);
            }
            error => return self.on_group_error(ctx, error),
        }
        self.generation = answer.generation;
        self.member_id = answer.member_id;
        self.membership = Membership::Syncing;
        if self.beats_while_syncing() {
            self.begin_heartbeats(ctx);
        }
        self.is_leader = answer.leader == self.member_id && !answer.members.is_empty();
        let mut assignments: Vec<(Rc<str>, Vec<Tp>)> = Vec::new();
        if self.is_leader {
            let topics: Vec<Rc<str>> = answer.members.iter().flat_map(|(_, _, s)| s.topics.iter().cloned()).collect();
            for topic in &topics {
                self.metadata.want(topic);
            }
            self.snapshot = topics
                .into_iter()
                .map(|name| (name.clone(), self.metadata.topic(&name).map_or(0, |t| t.partitions.len())))
                .collect();
            assignments = assignor::range(&answer.members, &self.metadata);
        }
        let request = Request::SyncGroup(SyncGroupRequest { member: self.member(), assignments });
        let (timeout, generation) = (self.config.common.request_timeout, self.generation);
        if !self.ask_coordinator(ctx, request, timeout, Call::Sync { generation }) {
            self.retry_join(ctx, false);
        }
    }

    pub(super) fn on_synced(&mut self, ctx: &mut Ctx<'_>, generation: GenerationId, outcome: Outcome) {
        if self.membership != Membership::Syncing || generation != self.generation {
            return;
        }
        let assignment = match outcome {
            Outcome::Answer(Response::SyncGroup { error: ErrorCode::None, assignment }) => assignment,
            Outcome::Answer(Response::SyncGroup { error: ErrorCode::RebalanceInProgress, .. }) => {
                return self.retry_join(ctx, true);
            }
            Outcome::Answer(Response::SyncGroup { error, .. }) => return self.on_group_error(ctx, error),
            Outcome::Answer(_) => return self.retry_join(ctx, false),
            Outcome::Failed(_) => {
                self.retry_join(ctx, false);
                return self.lose_coordinator(ctx, ErrorCode::NetworkException);
            }
        };
        self.membership = Membership::Stable;
        self.prepared = false;
        self.prepare_commit = None;
        if !self.beats_while_syncing() {
            self.begin_heartbeats(ctx);
        }
        self.partitions = assignment.iter().map(|tp| (*tp, Assigned::default())).collect();
        self.committed_flying = false;
        self.next_auto_commit = ctx.now + self.config.auto_commit_interval;
        let now_owned = self.partitions.keys().copied().collect();
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
                self.reset_generation(false);
                self.retry_join(ctx, true);
            }
            ErrorCode::IllegalGeneration => {
                self.reset_generation(true);
                self.retry_join(ctx, true);
            }
            ErrorCode::FencedInstanceId
            | ErrorCode::GroupMaxSizeReached
            | ErrorCode::InconsistentGroupProtocol
            | ErrorCode::InvalidSessionTimeout
            | ErrorCode::InvalidGroupId => {
                self.membership = Membership::Preparing;
                self.fatal = Some(error.exception());
            }
            // Loading, rebalancing and what else passes.
            other if other.retriable() || other == ErrorCode::RebalanceInProgress => self.retry_join(ctx, false),
            other => {
                self.retry_join(ctx, false);
                self.error = Some(other.exception());
            }
        }
    }

    /// Since KAFKA-10134 a member that waits for its assignment sends heartbeats already.
    fn beats_while_syncing(&self) -> bool {
        self.spec.version >= ClientVersion::V3_9
    }

    /// The generation of which heartbeats tell is known: all their clocks begin anew.
    fn begin_heartbeats(&mut self, ctx: &mut Ctx<'_>) {
        self.last_contact = ctx.now;
        self.heartbeat_at = ctx.now + self.config.heartbeat_interval;
        self.heartbeat_flying = false;
        self.heartbeat_failures = 0;
        ctx.set(Timer::Client(ClientTimer::Heartbeat), self.config.heartbeat_interval);
    }

    /// Whether heartbeats are sent now.
    fn beats(&self) -> bool {
        let is_member = match self.membership {
            Membership::Stable | Membership::Syncing => true,
            Membership::Unjoined | Membership::Preparing | Membership::Joining => false,
        };
        is_member && !matches!(self.closing, Some(Closing::Leave | Closing::Await))
    }

    pub(super) fn on_heartbeat_timer(&mut self, ctx: &mut Ctx<'_>) {
        if !self.beats() {
            return;
        }
        let timer = Timer::Client(ClientTimer::Heartbeat);
        let pause = self.config.common.retry.first;
        if self.coordinator.is_none() {
            self.lookup.wanted = true;
            ctx.set(timer, pause);
        } else if ctx.now.since(self.last_contact) > self.config.session_timeout {
            // Not a word from the coordinator for a session: perhaps it is elsewhere by now.
            self.lose_coordinator(ctx, ErrorCode::RequestTimedOut);
            ctx.set(timer, pause);
        } else if self.heartbeat_at > ctx.now || self.heartbeat_flying {
            let wait = if self.heartbeat_flying { pause } else { self.heartbeat_at.since(ctx.now) };
            ctx.set(timer, wait);
        } else {
            let (request, timeout, generation) =
                (Request::Heartbeat(self.member()), self.config.common.request_timeout, self.generation);
            if self.ask_coordinator(ctx, request, timeout, Call::Heartbeat { generation }) {
                self.heartbeat_flying = true;
                self.heartbeat_at = ctx.now + self.config.heartbeat_interval;
                ctx.set(timer, self.config.heartbeat_interval);
            } else {
                ctx.set(timer, pause);
            }
        }
    }

    pub(super) fn on_heartbeat(&mut self, ctx: &mut Ctx<'_>, generation: GenerationId, outcome: Outcome) {
        self.heartbeat_flying = false;
        let error = match outcome {
            Outcome::Answer(Response::Heartbeat { error }) => error,
            Outcome::Answer(_) => ErrorCode::UnknownServerError,
            Outcome::Failed(_) => ErrorCode::NetworkException,
        };
        let current = generation == self.generation;
        match error {
            ErrorCode::None => {}
            // A member that joins already need not be told to.
            ErrorCode::RebalanceInProgress => self.rejoin |= self.membership == Membership::Stable,
            ErrorCode::UnknownMemberId | ErrorCode::IllegalGeneration | ErrorCode::FencedInstanceId if !current => {}
            ErrorCode::UnknownMemberId => return self.reset_generation(false),
            ErrorCode::IllegalGeneration => return self.reset_generation(true),
            ErrorCode::FencedInstanceId => return self.fatal = Some(error.exception()),
            other => {
                // The next one does not wait for the interval.
                self.heartbeat_failures += 1;
                self.heartbeat_at = ctx.now + self.config.common.retry.after(self.heartbeat_failures, ctx.rng);
                if self.beats() {
                    ctx.set(Timer::Client(ClientTimer::Heartbeat), self.heartbeat_at.since(ctx.now));
                }
                let lost = [ErrorCode::CoordinatorNotAvailable, ErrorCode::NotCoordinator, ErrorCode::NetworkException];
                if lost.contains(&other) {
                    self.lose_coordinator(ctx, other);
                }
                return;
            }
        }
        self.heartbeat_failures = 0;
        self.last_contact = ctx.now;
    }

    /// `poll` was not called for `max.poll.interval.ms`: the client leaves the group for its application.
    pub(super) fn on_poll_interval(&mut self, ctx: &mut Ctx<'_>) {
        if self.poll.is_some() || self.closing.is_some() {
            ctx.set(Timer::Client(ClientTimer::PollInterval), self.config.max_poll_interval);
            return;
        }
        if self.membership == Membership::Unjoined {
            return;
        }
        self.send_leave(ctx);
        self.reset_generation(false);
        ctx.cancel(&Timer::Client(ClientTimer::Heartbeat));
    }

    /// Static members stay in the group until their session ends.
    fn send_leave(&mut self, ctx: &mut Ctx<'_>) {
        if self.config.instance_id.is_none() && !self.member_id.is_empty() && self.membership != Membership::Unjoined {
            let (request, timeout) = (Request::LeaveGroup(self.member()), self.config.common.request_timeout);
            self.ask_coordinator(ctx, request, timeout, Call::Leave);
        }
    }

    /// `close`: commit, callback, leave, end. It gives its steps together at most this long and `request.timeout.ms`.
    pub(super) fn begin_close(&mut self, ctx: &mut Ctx<'_>, within: Dur) {
        if self.closing.is_some() {
            return;
        }
        self.poll = None;
        ctx.cancel(&Timer::Client(ClientTimer::Poll));
        ctx.cancel(&Timer::Client(ClientTimer::PollInterval));
        ctx.set(Timer::Client(ClientTimer::Close), within.min(self.config.common.request_timeout));
        self.closing = Some(Closing::Commit { failures: 0, not_before: ctx.now });
    }

    /// The time of `close` is over: what is left is done without waiting.
    pub(super) fn close_at_once(&mut self) {
        if !matches!(self.closing, Some(Closing::Await)) {
            self.closing = Some(Closing::Leave);
        }
    }

    pub(super) fn close_step(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            match self.closing {
                Some(Closing::Commit { failures, not_before }) => {
                    let offsets = self.positions_to_commit(ctx.now);
                    if !self.config.auto_commit || offsets.is_empty() {
                        self.closing = Some(Closing::Pending);
                        continue;
                    }
                    self.lookup.wanted |= self.coordinator.is_none();
                    if not_before > ctx.now || self.coordinator.is_none() {
                        return;
                    }
                    self.closing = Some(Closing::CommitFlying { failures });
                    if !self.send_commit(ctx, CommitKind::Close, offsets) {
                        self.closing = Some(Closing::Commit { failures, not_before });
                        return;
                    }
                }
                Some(Closing::Pending) => {
                    if !self.waiting_commits.is_empty() {
                        self.lookup.wanted |= self.coordinator.is_none();
                        return;
                    }
                    self.closing = Some(Closing::Leave);
                }
                Some(Closing::Leave) => {
                    let had: Vec<Tp> = self.partitions.keys().copied().collect();
                    if self.spec.version >= ClientVersion::V2_5 && !had.is_empty() {
                        let is_member = self.generation.0 >= 0 && self.membership == Membership::Stable;
                        self.callback(ctx, if is_member { Callback::Revoked } else { Callback::Lost }, had);
                    }
                    self.partitions.clear();
                    self.send_leave(ctx);
                    self.closing = Some(Closing::Await);
                }
                Some(Closing::Await) => {
                    let pending = self.coordinator.map_or(0, |b| self.net.n_in_flight(b, Channel::Coordinator));
                    if pending > 0 && ctx.timers.due_at(&Timer::Client(ClientTimer::Close)).is_some() {
                        return;
                    }
                    self.closed = true;
                    ctx.note(Kind::ClientClosed { client: self.client });
                    return ctx.exit(true);
                }
                Some(Closing::CommitFlying { .. }) | None => return,
            }
        }
    }
}
