//! A broker's side of the metadata quorum: it copies the log of whoever leads and hands on what is committed. It votes
//! for nobody.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{FETCH_MAX_WAIT, reconnect_backoff, take_fetched};
use crate::base::{BrokerId, ControllerId, Dur, Offset, QuorumEpoch, SimTime};
use crate::node::{Ctx, Disk, Outcome, QuorumTimer, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{
    QuorumFetchRequest, QuorumFetchResponse, QuorumReplica, QuorumRequest, QuorumResponse, RecordBatch, Request,
    Response,
};
use crate::rules::Rules;

/// An observer of the metadata quorum. The log is `metadata_log` of the node's disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observer {
    voters: Vec<ControllerId>,
    config: Rc<NodeConfig>,
    rules: Rules,
    epoch: QuorumEpoch,
    leader: Option<ControllerId>,
    high_watermark: Offset,
    /// Offset after the last batch that was handed on.
    taken: Offset,
    asked: Option<ControllerId>,
    /// The leader could not be reached: ask anybody next.
    ask_anybody: bool,
    failures: u32,
    last_success: SimTime,
    waiting: bool,
}

impl Observer {
    pub fn new(voters: Vec<ControllerId>, config: Rc<NodeConfig>, rules: Rules) -> Observer {
        Observer {
            voters,
            config,
            rules,
            epoch: QuorumEpoch(0),
            leader: None,
            high_watermark: 0,
            taken: 0,
            asked: None,
            ask_anybody: false,
            failures: 0,
            last_success: SimTime::ZERO,
            waiting: false,
        }
    }

    /// The leader of the quorum as far as this node knows: whom to send what is meant for the controller.
    pub fn leader(&self) -> Option<ControllerId> {
        self.leader
    }
    pub fn epoch(&self) -> QuorumEpoch {
        self.epoch
    }
    pub fn high_watermark(&self) -> Offset {
        self.high_watermark
    }

    /// The next fetch with its time-out, `None` while one is out or a pause is on.
    pub fn next_request(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId) -> Option<(ControllerId, Request, Dur)> {
        if self.asked.is_some() || self.waiting || self.voters.is_empty() {
            return None;
        }
        if self.leader.is_some()
            && ctx.now.since(self.last_success) > self.config.quorum_fetch_timeout
            && self.failures > 0
        {
            self.leader = None;
        }
        let to = match self.leader {
            Some(leader) if !self.ask_anybody => leader,
            Some(_) | None => self.voters[ctx.rng.below(self.voters.len() as u32) as usize],
        };
        self.ask_anybody = false;
        self.asked = Some(to);
        let log = &ctx.disk.metadata_log;
        let request = QuorumFetchRequest {
            replica: QuorumReplica::Observer(broker),
            current_leader_epoch: self.epoch,
            fetch_offset: log.end_offset(),
            last_fetched_epoch: log.latest_epoch().unwrap_or(0),
            high_watermark: if self.rules.quorum_hw_push { self.high_watermark } else { -1 },
            max_wait: FETCH_MAX_WAIT,
        };
        Some((to, Request::Quorum(QuorumRequest::Fetch(request)), self.config.quorum_request_timeout))
    }

    /// How the fetch ended. Afterwards the caller looks at [`Observer::take_committed`] and asks for the next request.
    pub fn on_outcome(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        let asked = self.asked.take();
        match outcome {
            Outcome::Answer(Response::Quorum(QuorumResponse::Fetch(answer))) => self.on_answer(ctx, asked, answer),
            Outcome::Answer(_) | Outcome::Failed(_) => {
                self.failures += 1;
                self.ask_anybody = true;
                let after = reconnect_backoff(ctx.rng, self.failures);
                self.wait(ctx, after);
            }
        }
    }

    fn on_answer(&mut self, ctx: &mut Ctx<'_>, asked: Option<ControllerId>, answer: QuorumFetchResponse) {
        let news =
            answer.epoch > self.epoch || answer.epoch == self.epoch && self.leader.is_none() && answer.leader.is_some();
        if news {
            self.epoch = answer.epoch;
            self.leader = answer.leader;
            // The patience with a leader begins when it is heard of.
            self.last_success = ctx.now;
            ctx.disk.quorum_state.epoch = answer.epoch;
            ctx.disk.quorum_state.leader = answer.leader;
        }
        if answer.error.is_none() && answer.epoch == self.epoch {
            self.failures = 0;
            self.leader = answer.leader.or(self.leader);
            self.last_success = ctx.now;
            self.on_fetched(ctx, answer);
            return;
        }
        // An answer that names a leader other than the one asked is followed at once, anything else after a pause.
        if !(news && self.leader.is_some() && self.leader != asked) {
            self.ask_anybody = self.leader.is_none() || self.leader == asked;
            self.failures = self.failures.max(1);
            self.wait(ctx, self.config.quorum_retry_backoff);
        }
    }

    fn on_fetched(&mut self, ctx: &mut Ctx<'_>, answer: QuorumFetchResponse) {
        self.high_watermark = take_fetched(ctx, self.high_watermark, answer);
    }

    fn wait(&mut self, ctx: &mut Ctx<'_>, after: Dur) {
        self.waiting = true;
        ctx.set(Timer::Quorum(QuorumTimer::FetchRetry), after);
    }

    /// The pause is over. Only [`QuorumTimer::FetchRetry`] is ever armed here.
    pub fn on_timer(&mut self, _ctx: &mut Ctx<'_>, timer: &QuorumTimer) {
        match timer {
            QuorumTimer::FetchRetry => self.waiting = false,
            QuorumTimer::Election
            | QuorumTimer::Fetch
            | QuorumTimer::CheckQuorum
            | QuorumTimer::BeginQuorumEpoch
            | QuorumTimer::ParkedFetch(_)
            | QuorumTimer::Backoff => {}
        }
    }

    /// Batches that were committed since last asked, in order.
    pub fn take_committed(&mut self, disk: &Disk) -> Vec<RecordBatch> {
        if self.taken >= self.high_watermark {
            return Vec::new();
        }
        let batches: Vec<RecordBatch> = disk
            .metadata_log
            .batches_from(self.taken)
            .take_while(|b| b.next_offset() <= self.high_watermark)
            .cloned()
            .collect();
        if let Some(last) = batches.last() {
            self.taken = last.next_offset();
        }
        batches
    }
}
