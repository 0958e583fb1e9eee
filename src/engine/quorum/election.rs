//! Pre-votes, votes and what a round ends in (KIP-595, KIP-996). It appends nothing but the first record of a new
//! epoch.

use super::leading::LeaderState;
use super::reconnect_backoff;
use super::voter::{Ballot, Call, State, Voter};
use crate::base::{ControllerId, Dur, QuorumEpoch};
use crate::node::{Channel, Ctx, Disk, Outcome, QuorumTimer, Timer};
use crate::protocol::{ErrorCode, QuorumRequest, QuorumResponse, Request, Response, VoteRequest};
use crate::trace::Kind;

impl Voter {
    /// The leader was lost or there is none: asks for pre-votes where they exist, else stands in a new epoch.
    pub(super) fn stand(&mut self, ctx: &mut Ctx<'_>, leader: Option<ControllerId>) {
        if !self.rules.pre_vote {
            self.become_candidate(ctx);
            return;
        }
        let mut ballot = Ballot::default();
        ballot.granted.insert(self.id);
        self.enter(ctx, State::Prospective { ballot, leader });
        self.arm_election(ctx);
        self.round += 1;
        self.ask_for_votes(ctx);
        self.count(ctx);
    }

    /// Stands in the next epoch. The own vote is on disk before anybody is asked.
    pub(super) fn become_candidate(&mut self, ctx: &mut Ctx<'_>) {
        let epoch = QuorumEpoch(self.epoch.0 + 1);
        self.persist(ctx, epoch, None, Some(self.id));
        self.stand_again(ctx);
    }

    /// Candidate in the present epoch, for which the own vote is on disk already.
    pub(super) fn stand_again(&mut self, ctx: &mut Ctx<'_>) {
        let mut ballot = Ballot::default();
        ballot.granted.insert(self.id);
        self.retries += 1;
        self.enter(ctx, State::Candidate { ballot, backing_off: false });
        self.arm_election(ctx);
        self.round += 1;
        self.ask_for_votes(ctx);
        self.count(ctx);
    }

    /// Asks every voter that has not answered in this round and is not being asked.
    pub(super) fn ask_for_votes(&mut self, ctx: &mut Ctx<'_>) {
        let (ballot, pre_vote) = match &self.state {
            State::Prospective { ballot, .. } => (ballot.clone(), true),
            State::Candidate { ballot, backing_off: false } => (ballot.clone(), false),
            State::Candidate { backing_off: true, .. }
            | State::Unattached
            | State::Leader(_)
            | State::Follower { .. }
            | State::Resigned => return,
        };
        let (last_epoch, last_offset) = self.log_position(ctx.disk);
        let call = Call::Vote { pre_vote, round: self.round };
        for voter in self.others() {
            let node = crate::base::NodeId::Controller(voter);
            let asked = self.conns.tokens(node, Channel::Quorum).any(|t| *t == call);
            if !asked && !ballot.granted.contains(&voter) && !ballot.refused.contains(&voter) {
                let request = VoteRequest { candidate: self.id, epoch: self.epoch, last_epoch, last_offset, pre_vote };
                self.send(ctx, voter, Request::Quorum(QuorumRequest::Vote(request)), call.clone());
            }
        }
    }

    pub(super) fn on_vote_outcome(
        &mut self,
        ctx: &mut Ctx<'_>,
        peer: ControllerId,
        pre_vote: bool,
        round: u32,
        outcome: Outcome,
    ) {
        let Outcome::Answer(Response::Quorum(QuorumResponse::Vote { error, epoch, leader, granted, pre_vote: _ })) =
            outcome
        else {
            let waits = match &self.state {
                State::Prospective { .. } | State::Candidate { backing_off: false, .. } => round == self.round,
                State::Candidate { backing_off: true, .. }
                | State::Unattached
                | State::Leader(_)
                | State::Follower { .. }
                | State::Resigned => false,
            };
            if waits {
                let failures = self.failures.get(&peer).copied().unwrap_or(1);
                let after = reconnect_backoff(ctx.rng, failures);
                ctx.set_if_absent(Timer::Quorum(QuorumTimer::FetchRetry), after);
            }
            return;
        };
        if self.learn(ctx, epoch, leader) || round != self.round {
            return;
        }
        let ballot = match &mut self.state {
            State::Prospective { ballot, .. } if pre_vote => ballot,
            State::Candidate { ballot, .. } if !pre_vote => ballot,
            State::Prospective { .. }
            | State::Candidate { .. }
            | State::Unattached
            | State::Leader(_)
            | State::Follower { .. }
            | State::Resigned => return,
        };
        if granted && error.is_none() {
            ballot.granted.insert(peer);
        } else {
            ballot.refused.insert(peer);
        }
        self.count(ctx);
    }

    /// Looks whether the round is won or cannot be won any more.
    fn count(&mut self, ctx: &mut Ctx<'_>) {
        let (majority, n) = (self.majority(), self.voters.len());
        let judged = |ballot: &Ballot| (ballot.granted.len() >= majority, n - ballot.refused.len() < majority);
        match &mut self.state {
            State::Prospective { ballot, leader } => {
                let (won, lost) = judged(ballot);
                let leader = *leader;
                if won {
                    self.become_candidate(ctx);
                } else if lost {
                    self.after_lost_pre_vote(ctx, leader);
                }
            }
            State::Candidate { ballot, backing_off } => {
                let (won, lost) = judged(ballot);
                if won {
                    self.become_leader(ctx);
                } else if lost && self.rules.candidate_backoff && !*backing_off {
                    *backing_off = true;
                    self.back_off(ctx);
                }
            }
            State::Unattached | State::Leader(_) | State::Follower { .. } | State::Resigned => {}
        }
    }

    fn after_lost_pre_vote(&mut self, ctx: &mut Ctx<'_>, leader: Option<ControllerId>) {
        match leader {
            Some(leader) => self.become_follower(ctx, self.epoch, leader),
            None => {
                ctx.cancel(&Timer::Quorum(QuorumTimer::Election));
                self.become_unattached(ctx, self.epoch);
            }
        }
    }

    /// To 3.9: min(100 ms · random below 2^retries, `controller.quorum.election.backoff.max.ms`).
    fn back_off(&mut self, ctx: &mut Ctx<'_>) {
        let exponent = self.retries.clamp(1, 16);
        let factor = ctx.rng.below(1 << exponent);
        let after = Dur::ms(100 * u64::from(factor)).min(self.config.quorum_election_backoff_max);
        ctx.cancel(&Timer::Quorum(QuorumTimer::Election));
        ctx.set(Timer::Quorum(QuorumTimer::Backoff), after);
    }

    pub(super) fn on_election_timeout(&mut self, ctx: &mut Ctx<'_>) {
        match &mut self.state {
            State::Unattached => self.stand(ctx, None),
            State::Prospective { leader, .. } => {
                let leader = *leader;
                self.after_lost_pre_vote(ctx, leader);
            }
            State::Candidate { backing_off, .. } => {
                if self.rules.candidate_backoff {
                    *backing_off = true;
                    self.back_off(ctx);
                } else {
                    self.stand(ctx, None);
                }
            }
            State::Resigned => {
                if self.rules.pre_vote {
                    let next = QuorumEpoch(self.epoch.0 + 1);
                    self.become_unattached(ctx, next);
                } else {
                    self.become_candidate(ctx);
                }
            }
            State::Leader(_) | State::Follower { .. } => {}
        }
    }

    fn become_leader(&mut self, ctx: &mut Ctx<'_>) {
        let (epoch, id) = (self.epoch, self.id);
        self.persist(ctx, epoch, Some(id), Some(id));
        ctx.cancel(&Timer::Quorum(QuorumTimer::Election));
        self.retries = 0;
        let epoch_start = ctx.disk.metadata_log.end_offset();
        self.enter(ctx, State::Leader(LeaderState::new(epoch_start, &self.others())));
        ctx.because(Kind::QuorumLeaderElected { leader: id, epoch });
        self.begin_epoch(ctx);
    }

    /// Answers a vote request. A higher epoch moves this voter, whatever is asked in it. A vote is on disk before it is
    /// answered; a pre-vote leaves nothing.
    pub(super) fn on_vote(&mut self, ctx: &mut Ctx<'_>, request: &VoteRequest) -> QuorumResponse {
        if request.epoch > self.epoch {
            self.become_unattached(ctx, request.epoch);
        }
        let granted = if request.epoch < self.epoch {
            false
        } else if request.pre_vote {
            self.may_pre_vote(ctx.disk, request)
        } else {
            self.vote(ctx, request)
        };
        let (candidate, epoch, pre_vote) = (request.candidate, request.epoch, request.pre_vote);
        ctx.note(if granted {
            Kind::VoteGranted { candidate, epoch, pre_vote }
        } else {
            Kind::VoteRefused { candidate, epoch, pre_vote }
        });
        let error = if request.epoch < self.epoch { ErrorCode::FencedLeaderEpoch } else { ErrorCode::None };
        QuorumResponse::Vote { error, epoch: self.epoch, leader: self.leader(), granted, pre_vote }
    }

    fn is_up_to_date(&self, disk: &Disk, request: &VoteRequest) -> bool {
        (request.last_epoch, request.last_offset) >= self.log_position(disk)
    }

    fn may_pre_vote(&self, disk: &Disk, request: &VoteRequest) -> bool {
        let open = match &self.state {
            State::Unattached | State::Prospective { .. } | State::Candidate { .. } | State::Resigned => true,
            State::Follower { fetched, .. } => !fetched,
            State::Leader(_) => false,
        };
        open && self.is_up_to_date(disk, request)
    }

    fn vote(&mut self, ctx: &mut Ctx<'_>, request: &VoteRequest) -> bool {
        let free = match &self.state {
            State::Unattached => true,
            State::Prospective { leader, .. } => leader.is_none(),
            State::Candidate { .. } | State::Leader(_) | State::Follower { .. } | State::Resigned => false,
        };
        let voted = ctx.disk.quorum_state.voted.filter(|_| !self.rules.broken.votes_twice);
        if !free || voted.is_some_and(|v| v != request.candidate) || !self.is_up_to_date(ctx.disk, request) {
            return false;
        }
        if voted.is_none() {
            self.persist(ctx, request.epoch, None, Some(request.candidate));
            if !matches!(self.state, State::Unattached) {
                self.enter(ctx, State::Unattached);
            }
            self.arm_election(ctx);
        }
        true
    }
}
