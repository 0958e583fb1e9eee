//! What a quorum leader does: append, serve fetches, count the majority, notice that it has lost it (KIP-595,
//! KAFKA-15489, KIP-1166). It decides no record.
use alloc::vec::Vec;

use super::voter::{Call, State, Voter};
use super::{FETCH_MAX_WAIT, MAX_FETCH_BYTES, divergence};
use crate::base::{ControllerId, CorrelationId, Map, NodeId, Offset, QuorumEpoch, Seq, Set, SimTime, sort_by};
use crate::node::{ConnId, Ctx, Disk, QuorumTimer, Timer};
use crate::protocol::{
    ErrorCode, MetadataRecord, Payload, QuorumFetchRequest, QuorumFetchResponse, QuorumReplica, QuorumRequest,
    QuorumResponse, RecordBatch, Request,
};

/// What a leader knows of another voter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Log end, `None` before its first fetch of the epoch.
    pub end: Option<Offset>,
    pub last_fetch: Option<SimTime>,
    /// Has answered BeginQuorumEpoch or fetched.
    pub acknowledged: bool,
}

/// A fetch that waits for data or a high watermark.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkedFetch {
    pub conn: ConnId,
    pub correlation: CorrelationId,
    offset: Offset,
    /// What the asker knows (KIP-1166), -1 if it does not say.
    high_watermark: Offset,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LeaderState {
    /// Offset of the first record of the epoch.
    pub epoch_start: Offset,
    pub high_watermark: Option<Offset>,
    pub followers: Map<ControllerId, Progress>,
    /// Voters that fetched since the check of the quorum began anew.
    fetched: Set<ControllerId>,
    pub parked: Map<NodeId, ParkedFetch>,
}

impl LeaderState {
    pub fn new(epoch_start: Offset, others: &[ControllerId]) -> LeaderState {
        let followers =
            others.iter().map(|id| (*id, Progress { end: None, last_fetch: None, acknowledged: false })).collect();
        LeaderState { epoch_start, high_watermark: None, followers, fetched: Set::new(), parked: Map::new() }
    }

    /// The other voters, the one that has most first.
    pub fn by_progress(&self) -> Vec<ControllerId> {
        let mut ids: Vec<ControllerId> = self.followers.keys().copied().collect();
        let end = |id: &ControllerId| self.followers.get(id).and_then(|p| p.end);
        sort_by(&mut ids, |a, b| end(b).cmp(&end(a)));
        ids
    }
}

/// The offset that a majority has: the ends in descending order, the one in the middle.
pub(super) fn majority_end(mut ends: Vec<Offset>) -> Offset {
    sort_by(&mut ends, |a, b| b.cmp(a));
    ends.get(ends.len() / 2).copied().unwrap_or(0)
}

impl Voter {
    /// What the leader knows of the other voters; empty elsewhere.
    pub fn progress(&self) -> impl Iterator<Item = (ControllerId, Progress)> {
        let followers = match &self.state {
            State::Leader(leader) => Some(&leader.followers),
            State::Unattached
            | State::Prospective { .. }
            | State::Candidate { .. }
            | State::Follower { .. }
            | State::Resigned => None,
        };
        followers.into_iter().flat_map(|f| f.iter().map(|(id, progress)| (*id, *progress)))
    }

    /// The first acts of a leader: its own record, then the others are told.
    pub(super) fn begin_epoch(&mut self, ctx: &mut Ctx<'_>) {
        let origin = ctx.cause;
        self.append_batch(ctx, Payload::LeaderChange, origin);
        if self.voters.len() > 1 {
            if self.rules.check_quorum {
                ctx.set(Timer::Quorum(QuorumTimer::CheckQuorum), self.config.quorum_fetch_timeout.scaled(3, 2));
            }
            self.send_begin(ctx, &self.others());
        }
    }

    fn send_begin(&mut self, ctx: &mut Ctx<'_>, to: &[ControllerId]) {
        for voter in to {
            let body = Request::Quorum(QuorumRequest::BeginQuorumEpoch { leader: self.id, epoch: self.epoch });
            self.send(ctx, *voter, body, Call::Begin);
        }
        ctx.set(Timer::Quorum(QuorumTimer::BeginQuorumEpoch), self.config.quorum_fetch_timeout.scaled(1, 2));
    }

    pub(super) fn on_acknowledged(&mut self, peer: ControllerId, epoch: QuorumEpoch) {
        if epoch == self.epoch
            && let State::Leader(leader) = &mut self.state
            && let Some(progress) = leader.followers.get_mut(&peer)
        {
            progress.acknowledged = true;
        }
    }

    /// 4.x tells those that have not fetched for half a fetch time-out, older releases those that have not answered
    /// yet.
    pub(super) fn repeat_begin(&mut self, ctx: &mut Ctx<'_>) {
        let half = self.config.quorum_fetch_timeout.scaled(1, 2);
        let pre_vote = self.rules.pre_vote;
        let State::Leader(leader) = &self.state else { return };
        let now = ctx.now;
        let silent =
            |p: &Progress| if pre_vote { p.last_fetch.is_none_or(|at| now.since(at) >= half) } else { !p.acknowledged };
        let to: Vec<ControllerId> = leader.followers.iter().filter(|(_, p)| silent(p)).map(|(id, _)| *id).collect();
        self.send_begin(ctx, &to);
    }

    /// Appends records as one batch; returns the offset after them. Only a leader is asked.
    pub fn append(&mut self, ctx: &mut Ctx<'_>, records: Vec<MetadataRecord>, origin: Seq) -> Offset {
        self.append_batch(ctx, Payload::Metadata(records.into()), origin)
    }

    fn append_batch(&mut self, ctx: &mut Ctx<'_>, payload: Payload, origin: Seq) -> Offset {
        let batch =
            RecordBatch { base_offset: 0, epoch: self.epoch.0, producer: None, timestamp: ctx.now, payload, origin };
        let log = alloc::rc::Rc::make_mut(&mut ctx.disk.metadata_log);
        log.append_as_leader(batch, self.epoch.0);
        let end = log.end_offset();
        self.advance_high_watermark(ctx);
        self.serve_parked(ctx);
        end
    }

    /// The high watermark by majority; it must lie beyond the start of the own epoch (Raft's rule for older records)
    /// and never goes back.
    fn advance_high_watermark(&mut self, ctx: &mut Ctx<'_>) {
        let State::Leader(leader) = &mut self.state else { return };
        let mut ends: Vec<Offset> = leader.followers.values().map(|p| p.end.unwrap_or(-1)).collect();
        ends.push(ctx.disk.metadata_log.end_offset());
        let candidate = majority_end(ends);
        if candidate > leader.epoch_start && leader.high_watermark.is_none_or(|hw| candidate > hw) {
            leader.high_watermark = Some(candidate);
            self.committed = self.committed.max(candidate);
        }
    }

    /// Answers the parked fetches that can carry something now.
    fn serve_parked(&mut self, ctx: &mut Ctx<'_>) {
        let push = self.rules.quorum_hw_push;
        let State::Leader(leader) = &mut self.state else { return };
        let end = ctx.disk.metadata_log.end_offset();
        let high_watermark = leader.high_watermark;
        let due: Vec<NodeId> = leader
            .parked
            .iter()
            .filter(|(_, f)| f.offset < end || push && high_watermark.is_some_and(|hw| hw > f.high_watermark))
            .map(|(node, _)| *node)
            .collect();
        for node in due {
            ctx.cancel(&Timer::Quorum(QuorumTimer::ParkedFetch(node)));
            if let Some(fetch) = self.unpark(node) {
                let answer = self.fetch_answer(ctx.disk, fetch.offset);
                self.ready.push((fetch.conn, fetch.correlation, Some(answer)));
            }
        }
    }

    fn unpark(&mut self, node: NodeId) -> Option<ParkedFetch> {
        match &mut self.state {
            State::Leader(leader) => leader.parked.remove(&node),
            State::Unattached
            | State::Prospective { .. }
            | State::Candidate { .. }
            | State::Follower { .. }
            | State::Resigned => None,
        }
    }

    pub(super) fn on_parked_timeout(&mut self, node: NodeId) {
        if let Some(fetch) = self.unpark(node) {
            let answer = self.empty_answer();
            self.ready.push((fetch.conn, fetch.correlation, Some(answer)));
        }
    }

    /// The client of a connection is gone: what it had parked is given up.
    pub fn on_client_gone(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        let State::Leader(leader) = &self.state else { return };
        if leader.parked.get(&conn.client).is_some_and(|f| f.conn == conn)
            && let Some(fetch) = self.unpark(conn.client)
        {
            ctx.cancel(&Timer::Quorum(QuorumTimer::ParkedFetch(conn.client)));
            self.ready.push((fetch.conn, fetch.correlation, None));
        }
    }

    pub(super) fn fetch_refusal(error: ErrorCode, leader: Option<ControllerId>, epoch: QuorumEpoch) -> QuorumResponse {
        QuorumResponse::Fetch(QuorumFetchResponse {
            error,
            leader,
            epoch,
            high_watermark: -1,
            diverging: None,
            batches: Vec::new(),
        })
    }

    fn empty_answer(&self) -> QuorumResponse {
        let high_watermark = self.leader_high_watermark().unwrap_or(-1);
        QuorumResponse::Fetch(QuorumFetchResponse {
            error: ErrorCode::None,
            leader: Some(self.id),
            epoch: self.epoch,
            high_watermark,
            diverging: None,
            batches: Vec::new(),
        })
    }

    fn fetch_answer(&self, disk: &Disk, from: Offset) -> QuorumResponse {
        let log = &disk.metadata_log;
        let batches = log.read(from, log.end_offset(), MAX_FETCH_BYTES);
        let high_watermark = self.leader_high_watermark().unwrap_or(-1);
        QuorumResponse::Fetch(QuorumFetchResponse {
            error: ErrorCode::None,
            leader: Some(self.id),
            epoch: self.epoch,
            high_watermark,
            diverging: None,
            batches,
        })
    }

    /// Serves a fetch of a voter or an observer; `None` parks it.
    pub(super) fn on_fetch(
        &mut self,
        ctx: &mut Ctx<'_>,
        conn: ConnId,
        correlation: CorrelationId,
        request: &QuorumFetchRequest,
    ) -> Option<QuorumResponse> {
        let refuse = |error| Some(Self::fetch_refusal(error, self.leader(), self.epoch));
        if request.current_leader_epoch < self.epoch {
            return refuse(ErrorCode::FencedLeaderEpoch);
        }
        if request.current_leader_epoch > self.epoch {
            return refuse(ErrorCode::UnknownLeaderEpoch);
        }
        if !matches!(self.state, State::Leader(_)) {
            return refuse(ErrorCode::NotLeaderOrFollower);
        }
        let node = match request.replica {
            QuorumReplica::Voter(id) => NodeId::Controller(id),
            QuorumReplica::Observer(id) => NodeId::Broker(id),
        };
        if let Some(old) = self.unpark(node) {
            ctx.cancel(&Timer::Quorum(QuorumTimer::ParkedFetch(node)));
            self.ready.push((old.conn, old.correlation, None));
        }
        if let Some(diverging) = divergence(&ctx.disk.metadata_log, request.fetch_offset, request.last_fetched_epoch) {
            let high_watermark = self.leader_high_watermark().unwrap_or(-1);
            let answer = QuorumFetchResponse {
                error: ErrorCode::None,
                leader: Some(self.id),
                epoch: self.epoch,
                high_watermark,
                diverging: Some(diverging),
                batches: Vec::new(),
            };
            return Some(QuorumResponse::Fetch(answer));
        }
        if let QuorumReplica::Voter(id) = request.replica {
            self.note_fetch(ctx, id, request.fetch_offset);
        }
        let high_watermark = self.leader_high_watermark();
        let news = self.rules.quorum_hw_push && high_watermark.is_some_and(|hw| hw > request.high_watermark);
        if request.fetch_offset < ctx.disk.metadata_log.end_offset() || news {
            return Some(self.fetch_answer(ctx.disk, request.fetch_offset));
        }
        if let State::Leader(leader) = &mut self.state {
            let parked =
                ParkedFetch { conn, correlation, offset: request.fetch_offset, high_watermark: request.high_watermark };
            leader.parked.insert(node, parked);
            ctx.set(Timer::Quorum(QuorumTimer::ParkedFetch(node)), request.max_wait.min(FETCH_MAX_WAIT));
        }
        None
    }

    fn note_fetch(&mut self, ctx: &mut Ctx<'_>, voter: ControllerId, end: Offset) {
        let needed = self.majority() - 1;
        let check = self.rules.check_quorum;
        let State::Leader(leader) = &mut self.state else { return };
        let Some(progress) = leader.followers.get_mut(&voter) else { return };
        *progress = Progress { end: Some(end), last_fetch: Some(ctx.now), acknowledged: true };
        leader.fetched.insert(voter);
        if leader.fetched.len() >= needed {
            leader.fetched.clear();
            if check {
                ctx.set(Timer::Quorum(QuorumTimer::CheckQuorum), self.config.quorum_fetch_timeout.scaled(3, 2));
            }
        }
        self.advance_high_watermark(ctx);
        self.serve_parked(ctx);
    }
}
