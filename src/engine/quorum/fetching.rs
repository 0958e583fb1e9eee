//! What a following voter does: fetch, append, cut what diverges, learn the high watermark (KIP-595). It believes no
//! leader of an older epoch.

use super::voter::{Call, State, Voter};
use super::{FETCH_MAX_WAIT, reconnect_backoff, take_fetched};
use crate::base::{ControllerId, NodeId, QuorumEpoch};
use crate::node::{Channel, Ctx, Outcome, QuorumTimer, Timer};
use crate::protocol::{
    QuorumFetchRequest, QuorumFetchResponse, QuorumReplica, QuorumRequest, QuorumResponse, Request, Response,
};

impl Voter {
    /// Sends the next fetch, unless one of this epoch is out.
    pub(super) fn fetch(&mut self, ctx: &mut Ctx<'_>) {
        let State::Follower { leader, .. } = self.state else { return };
        let call = Call::Fetch { epoch: self.epoch };
        if self.conns.tokens(NodeId::Controller(leader), Channel::Quorum).any(|t| *t == call) {
            return;
        }
        let (last_fetched_epoch, fetch_offset) = self.log_position(ctx.disk);
        let high_watermark = if self.rules.quorum_hw_push { self.committed } else { -1 };
        let request = QuorumFetchRequest {
            replica: QuorumReplica::Voter(self.id),
            current_leader_epoch: self.epoch,
            fetch_offset,
            last_fetched_epoch,
            high_watermark,
            max_wait: FETCH_MAX_WAIT,
        };
        self.send(ctx, leader, Request::Quorum(QuorumRequest::Fetch(request)), call);
    }

    pub(super) fn on_fetch_outcome(
        &mut self,
        ctx: &mut Ctx<'_>,
        peer: ControllerId,
        epoch: QuorumEpoch,
        outcome: Outcome,
    ) {
        let follows = |voter: &Voter| {
            matches!(voter.state, State::Follower { leader, .. } if leader == peer) && voter.epoch == epoch
        };
        match outcome {
            Outcome::Answer(Response::Quorum(QuorumResponse::Fetch(answer))) => {
                if self.learn(ctx, answer.epoch, answer.leader) || !follows(self) {
                    return;
                }
                if answer.error.is_none() && answer.epoch == self.epoch {
                    self.on_fetched(ctx, answer);
                    self.fetch(ctx);
                } else {
                    ctx.set(Timer::Quorum(QuorumTimer::FetchRetry), self.config.quorum_retry_backoff);
                }
            }
            Outcome::Answer(_) | Outcome::Failed(_) => {
                if follows(self) {
                    let failures = self.failures.get(&peer).copied().unwrap_or(1);
                    let after = reconnect_backoff(ctx.rng, failures);
                    ctx.set(Timer::Quorum(QuorumTimer::FetchRetry), after);
                }
            }
        }
    }

    fn on_fetched(&mut self, ctx: &mut Ctx<'_>, answer: QuorumFetchResponse) {
        if let State::Follower { fetched, .. } = &mut self.state {
            *fetched = true;
        }
        ctx.set(Timer::Quorum(QuorumTimer::Fetch), self.config.quorum_fetch_timeout);
        self.committed = take_fetched(ctx, self.committed, answer);
    }
}
