//! A voter of the metadata quorum: its state, its persisted file and its time-outs. What each state does lies in the
//! neighbours; it decides nothing about the cluster.
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::leading::LeaderState;
use crate::base::{ControllerId, CorrelationId, Dur, Incarnation, Map, NodeId, Offset, QuorumEpoch, Set};
use crate::node::{Completed, ConnId, Connections, Ctx, Disk, Outcome, QuorumTimer, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{ErrorCode, QuorumRequest, QuorumResponse, Request, Response};
use crate::rules::Rules;
use crate::trace::{Kind, QuorumRole};

/// What a request of a voter to another was for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// `round` tells one election from the next of the same epoch.
    Vote {
        pre_vote: bool,
        round: u32,
    },
    Begin,
    End,
    Fetch {
        epoch: QuorumEpoch,
    },
}

/// Votes of one round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ballot {
    pub granted: Set<ControllerId>,
    pub refused: Set<ControllerId>,
}

/// State of a voter (KIP-595, KIP-996).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Unattached,
    /// Asks for pre-votes; `leader` is the one of its epoch that it lost, if it knew one.
    Prospective {
        ballot: Ballot,
        leader: Option<ControllerId>,
    },
    /// `backing_off`: lost, waits before the next epoch (to 3.9).
    Candidate {
        ballot: Ballot,
        backing_off: bool,
    },
    Leader(LeaderState),
    /// `fetched`: at least one fetch of this epoch succeeded.
    Follower {
        leader: ControllerId,
        fetched: bool,
    },
    Resigned,
}

/// An answer that became possible: connection, request, and the answer (`None` if the asker is gone).
pub type Ready = (ConnId, CorrelationId, Option<QuorumResponse>);

/// How a voter is started.
#[derive(Clone, Debug)]
pub struct VoterStart {
    pub id: ControllerId,
    pub incarnation: Incarnation,
    pub config: Rc<NodeConfig>,
    pub rules: Rules,
    /// All voters, this one included.
    pub voters: Vec<ControllerId>,
}

/// A voter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Voter {
    pub(super) id: ControllerId,
    pub(super) voters: Vec<ControllerId>,
    pub(super) config: Rc<NodeConfig>,
    pub(super) rules: Rules,
    pub(super) conns: Connections<Call>,
    pub(super) epoch: QuorumEpoch,
    pub(super) state: State,
    /// Highest high watermark that this node has learned in its life.
    pub(super) committed: Offset,
    pub(super) round: u32,
    /// Elections lost in a row (to 3.9).
    pub(super) retries: u32,
    /// Peers that could not be reached, with how often in a row.
    pub(super) failures: Map<ControllerId, u32>,
    pub(super) ready: Vec<Ready>,
    stopping: bool,
}

impl Voter {
    /// Comes back with what the disk remembers: a former leader resigned, a former candidate as candidate, others as
    /// followers or unattached.
    pub fn start(ctx: &mut Ctx<'_>, start: VoterStart) -> Voter {
        let saved = ctx.disk.quorum_state.clone();
        let mut voter = Voter {
            id: start.id,
            voters: start.voters,
            config: start.config,
            rules: start.rules,
            conns: Connections::new(NodeId::Controller(start.id), start.incarnation.0 << 20),
            epoch: saved.epoch,
            state: State::Unattached,
            committed: ctx.disk.metadata_log.start_offset(),
            round: 0,
            retries: 0,
            failures: Map::new(),
            ready: Vec::new(),
            stopping: false,
        };
        if voter.voters.len() == 1 {
            voter.become_candidate(ctx);
        } else if saved.leader == Some(voter.id) {
            voter.enter(ctx, State::Resigned);
            voter.arm_election(ctx);
        } else if let Some(leader) = saved.leader {
            voter.become_follower(ctx, saved.epoch, leader);
        } else if saved.voted == Some(voter.id) {
            voter.stand_again(ctx);
        } else {
            voter.enter(ctx, State::Unattached);
            voter.arm_election(ctx);
        }
        voter
    }

    pub fn role(&self) -> QuorumRole {
        match &self.state {
            State::Unattached => QuorumRole::Unattached,
            State::Prospective { .. } => QuorumRole::Prospective,
            State::Candidate { .. } => QuorumRole::Candidate,
            State::Leader(_) => QuorumRole::Leader,
            State::Follower { .. } => QuorumRole::Follower,
            State::Resigned => QuorumRole::Resigned,
        }
    }
    pub fn epoch(&self) -> QuorumEpoch {
        self.epoch
    }
    /// The leader of the epoch, as far as this voter knows; a resigned one still names itself.
    pub fn leader(&self) -> Option<ControllerId> {
        match &self.state {
            State::Leader(_) | State::Resigned => Some(self.id),
            State::Follower { leader, .. } => Some(*leader),
            State::Prospective { leader, .. } => *leader,
            State::Unattached | State::Candidate { .. } => None,
        }
    }
    /// Highest high watermark that this node has learned; 0 if none.
    pub fn high_watermark(&self) -> Offset {
        self.committed
    }
    /// Epoch and offset of the first record of the epoch, while this voter leads.
    pub fn leadership(&self) -> Option<(QuorumEpoch, Offset)> {
        match &self.state {
            State::Leader(leader) => Some((self.epoch, leader.epoch_start)),
            State::Unattached
            | State::Prospective { .. }
            | State::Candidate { .. }
            | State::Follower { .. }
            | State::Resigned => None,
        }
    }
    /// The leader's own high watermark, `None` until a majority has the start of its epoch.
    pub fn leader_high_watermark(&self) -> Option<Offset> {
        match &self.state {
            State::Leader(leader) => leader.high_watermark,
            State::Unattached
            | State::Prospective { .. }
            | State::Candidate { .. }
            | State::Follower { .. }
            | State::Resigned => None,
        }
    }
    pub fn voters(&self) -> &[ControllerId] {
        &self.voters
    }
    /// Answers that became possible since last asked.
    pub fn take_ready(&mut self) -> Vec<Ready> {
        core::mem::take(&mut self.ready)
    }

    pub(super) fn majority(&self) -> usize {
        self.voters.len() / 2 + 1
    }
    pub(super) fn others(&self) -> Vec<ControllerId> {
        self.voters.iter().copied().filter(|v| *v != self.id).collect()
    }
    /// Latest epoch and end of the own log.
    pub(super) fn log_position(&self, disk: &Disk) -> (i32, Offset) {
        (disk.metadata_log.latest_epoch().unwrap_or(0), disk.metadata_log.end_offset())
    }

    /// Takes a state on and tells it. Parked fetches of a leader that is none any more are answered first.
    pub(super) fn enter(&mut self, ctx: &mut Ctx<'_>, state: State) {
        if let State::Leader(leader) = &mut self.state
            && !matches!(state, State::Leader(_))
        {
            let parked = core::mem::take(&mut leader.parked);
            for timer in [QuorumTimer::CheckQuorum, QuorumTimer::BeginQuorumEpoch] {
                ctx.cancel(&Timer::Quorum(timer));
            }
            let leader = match &state {
                State::Follower { leader, .. } => Some(*leader),
                State::Resigned => Some(self.id),
                State::Unattached | State::Prospective { .. } | State::Candidate { .. } | State::Leader(_) => None,
            };
            for (node, fetch) in parked {
                ctx.cancel(&Timer::Quorum(QuorumTimer::ParkedFetch(node)));
                let refusal = Self::fetch_refusal(ErrorCode::NotLeaderOrFollower, leader, self.epoch);
                self.ready.push((fetch.conn, fetch.correlation, Some(refusal)));
            }
        }
        for timer in [QuorumTimer::Backoff, QuorumTimer::FetchRetry, QuorumTimer::Fetch] {
            ctx.cancel(&Timer::Quorum(timer));
        }
        self.state = state;
        ctx.because(Kind::QuorumRoleChanged { role: self.role(), epoch: self.epoch });
    }

    /// Writes `quorum-state`; everything that others learn comes after it.
    pub(super) fn persist(
        &mut self,
        ctx: &mut Ctx<'_>,
        epoch: QuorumEpoch,
        leader: Option<ControllerId>,
        voted: Option<ControllerId>,
    ) {
        self.epoch = epoch;
        let file = &mut ctx.disk.quorum_state;
        file.epoch = epoch;
        file.leader = leader;
        file.voted = voted;
    }

    /// A random election time-out in [T, 2T).
    pub(super) fn arm_election(&mut self, ctx: &mut Ctx<'_>) {
        let t = self.config.quorum_election_timeout;
        let after = ctx.rng.between(t, t + t);
        ctx.set(Timer::Quorum(QuorumTimer::Election), after);
    }

    /// No leader known in `epoch`. What was left of the present time-out is kept.
    pub(super) fn become_unattached(&mut self, ctx: &mut Ctx<'_>, epoch: QuorumEpoch) {
        let due = ctx
            .timers
            .due_at(&Timer::Quorum(QuorumTimer::Election))
            .or(ctx.timers.due_at(&Timer::Quorum(QuorumTimer::Fetch)));
        let voted = if epoch == self.epoch { ctx.disk.quorum_state.voted } else { None };
        // Parked fetches are told the epoch in which they find no leader here.
        self.persist(ctx, epoch, None, voted);
        self.enter(ctx, State::Unattached);
        match due {
            Some(at) => ctx.set(Timer::Quorum(QuorumTimer::Election), at.since(ctx.now)),
            None => self.arm_election(ctx),
        }
    }

    /// Follows `leader`; the fetch time-out begins.
    pub(super) fn become_follower(&mut self, ctx: &mut Ctx<'_>, epoch: QuorumEpoch, leader: ControllerId) {
        let voted = if epoch == self.epoch { ctx.disk.quorum_state.voted } else { None };
        self.persist(ctx, epoch, Some(leader), voted);
        ctx.cancel(&Timer::Quorum(QuorumTimer::Election));
        self.retries = 0;
        self.enter(ctx, State::Follower { leader, fetched: false });
        ctx.set(Timer::Quorum(QuorumTimer::Fetch), self.config.quorum_fetch_timeout);
        self.fetch(ctx);
    }

    /// Gives up leadership and tells the others, the one that has most first.
    pub(super) fn resign(&mut self, ctx: &mut Ctx<'_>) {
        let State::Leader(leader) = &self.state else { return };
        let preferred_successors = leader.by_progress();
        let epoch = self.epoch;
        self.enter(ctx, State::Resigned);
        self.arm_election(ctx);
        for voter in self.others() {
            let body = Request::Quorum(QuorumRequest::EndQuorumEpoch {
                leader: self.id,
                epoch,
                preferred_successors: preferred_successors.clone(),
            });
            self.send(ctx, voter, body, Call::End);
        }
    }

    /// SIGTERM. A leader hands over and ends when another leads, at the latest after an election time-out; others end
    /// at once.
    pub fn shutdown(&mut self, ctx: &mut Ctx<'_>) {
        self.stopping = true;
        if self.voters.len() > 1 && matches!(self.state, State::Leader(_)) {
            self.resign(ctx);
        } else {
            ctx.exit(true);
        }
    }

    pub(super) fn send(&mut self, ctx: &mut Ctx<'_>, to: ControllerId, body: Request, call: Call) {
        let timeout = self.config.quorum_request_timeout;
        self.conns.request(ctx, NodeId::Controller(to), crate::node::Channel::Quorum, body, timeout, call);
    }

    /// What every answer carries: the epoch of the other side and the leader that it knows. Returns whether this voter
    /// changed its state by it.
    pub(super) fn learn(&mut self, ctx: &mut Ctx<'_>, epoch: QuorumEpoch, leader: Option<ControllerId>) -> bool {
        let leader = leader.filter(|l| *l != self.id);
        if epoch > self.epoch {
            match leader {
                Some(leader) => self.become_follower(ctx, epoch, leader),
                None => self.become_unattached(ctx, epoch),
            }
            self.end_if_stopping(ctx);
            return true;
        }
        if epoch == self.epoch
            && self.leader().is_none()
            && let Some(leader) = leader
        {
            self.become_follower(ctx, epoch, leader);
            self.end_if_stopping(ctx);
            return true;
        }
        false
    }

    pub(super) fn end_if_stopping(&mut self, ctx: &mut Ctx<'_>) {
        if self.stopping && matches!(self.state, State::Follower { .. }) {
            ctx.exit(true);
        }
    }

    /// An answer from another voter.
    pub fn on_response(&mut self, ctx: &mut Ctx<'_>, conn: ConnId, correlation: CorrelationId, body: Response) {
        if let Some(completed) = self.conns.on_response(ctx, conn, correlation, body) {
            self.on_completed(ctx, completed);
        }
    }
    /// A connection that this voter opened is gone.
    pub fn on_disconnected(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        for completed in self.conns.on_disconnected(ctx, conn) {
            self.on_completed(ctx, completed);
        }
    }
    /// The oldest request of a connection was not answered in time.
    pub fn on_request_timeout(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        for completed in self.conns.on_request_timeout(ctx, conn) {
            self.on_completed(ctx, completed);
        }
    }

    fn on_completed(&mut self, ctx: &mut Ctx<'_>, completed: Completed<Call>) {
        let NodeId::Controller(peer) = completed.to else { return };
        match &completed.outcome {
            Outcome::Answer(_) => {
                self.failures.remove(&peer);
            }
            Outcome::Failed(_) => *self.failures.entry(peer).or_default() += 1,
        }
        match completed.token {
            Call::Vote { pre_vote, round } => self.on_vote_outcome(ctx, peer, pre_vote, round, completed.outcome),
            Call::Fetch { epoch } => self.on_fetch_outcome(ctx, peer, epoch, completed.outcome),
            Call::Begin | Call::End => {
                if let Outcome::Answer(Response::Quorum(
                    QuorumResponse::BeginQuorumEpoch { error, epoch, leader }
                    | QuorumResponse::EndQuorumEpoch { error, epoch, leader },
                )) = completed.outcome
                {
                    if error.is_none() && completed.token == Call::Begin {
                        self.on_acknowledged(peer, epoch);
                    }
                    self.learn(ctx, epoch, leader);
                }
            }
        }
    }

    /// `None`: parked, the answer comes from [`Voter::take_ready`].
    pub fn on_request(
        &mut self,
        ctx: &mut Ctx<'_>,
        conn: ConnId,
        correlation: CorrelationId,
        request: &QuorumRequest,
    ) -> Option<QuorumResponse> {
        match request {
            QuorumRequest::Fetch(request) => self.on_fetch(ctx, conn, correlation, request),
            QuorumRequest::BeginQuorumEpoch { leader, epoch } => Some(self.on_begin(ctx, *leader, *epoch)),
            QuorumRequest::EndQuorumEpoch { leader, epoch, preferred_successors } => {
                Some(self.on_end(ctx, *leader, *epoch, preferred_successors))
            }
            QuorumRequest::Vote(request) => Some(self.on_vote(ctx, request)),
        }
    }

    fn on_begin(&mut self, ctx: &mut Ctx<'_>, leader: ControllerId, epoch: QuorumEpoch) -> QuorumResponse {
        let error = if epoch < self.epoch {
            ErrorCode::FencedLeaderEpoch
        } else {
            if epoch > self.epoch || !matches!(self.state, State::Follower { .. }) {
                self.become_follower(ctx, epoch, leader);
                self.end_if_stopping(ctx);
            } else {
                // The leader lives: it counts like a fetch.
                ctx.set(Timer::Quorum(QuorumTimer::Fetch), self.config.quorum_fetch_timeout);
            }
            ErrorCode::None
        };
        QuorumResponse::BeginQuorumEpoch { error, epoch: self.epoch, leader: self.leader() }
    }

    fn on_end(
        &mut self,
        ctx: &mut Ctx<'_>,
        leader: ControllerId,
        epoch: QuorumEpoch,
        successors: &[ControllerId],
    ) -> QuorumResponse {
        let error = if epoch < self.epoch {
            ErrorCode::FencedLeaderEpoch
        } else {
            if epoch > self.epoch {
                self.become_follower(ctx, epoch, leader);
            }
            if let State::Follower { leader: followed, .. } = &self.state
                && *followed == leader
            {
                let wait = successor_wait(successors, self.id);
                ctx.set(Timer::Quorum(QuorumTimer::Fetch), wait);
            }
            ErrorCode::None
        };
        QuorumResponse::EndQuorumEpoch { error, epoch: self.epoch, leader: self.leader() }
    }

    /// One of the quorum's timers is over.
    pub fn on_timer(&mut self, ctx: &mut Ctx<'_>, timer: &QuorumTimer) {
        match timer {
            QuorumTimer::Election => {
                if self.stopping {
                    ctx.exit(true);
                } else {
                    self.on_election_timeout(ctx);
                }
            }
            QuorumTimer::Fetch => {
                if let State::Follower { leader, .. } = self.state {
                    self.stand(ctx, Some(leader));
                }
            }
            QuorumTimer::CheckQuorum => self.resign(ctx),
            QuorumTimer::BeginQuorumEpoch => self.repeat_begin(ctx),
            QuorumTimer::FetchRetry => match &self.state {
                State::Follower { .. } => self.fetch(ctx),
                State::Prospective { .. } | State::Candidate { .. } => self.ask_for_votes(ctx),
                State::Unattached | State::Leader(_) | State::Resigned => {}
            },
            QuorumTimer::ParkedFetch(node) => self.on_parked_timeout(*node),
            QuorumTimer::Backoff => {
                if matches!(self.state, State::Candidate { .. }) {
                    self.become_candidate(ctx);
                }
            }
        }
    }
}

/// How long a successor waits before it stands: none for the first, then halves of a second counted down from the
/// number of successors.
pub(super) fn successor_wait(successors: &[ControllerId], me: ControllerId) -> Dur {
    let n = successors.len() as u32;
    match successors.iter().position(|s| *s == me) {
        Some(0) | None => Dur::ZERO,
        Some(position) => Dur::ms(((1_000u64 >> (n - 1).min(20)) << (position as u32 - 1)).min(1_000)),
    }
}
