//! The sender of a producer: what goes out when, and what answers mean (Sender, RecordAccumulator.drain). It makes no
//! record.
use alloc::vec::Vec;

use super::accumulator::{Batch, Part};
use super::{Call, Flying, IdRequest, Producer};
use crate::base::{BrokerId, Map, Set, SimTime, Tp};
use crate::client::config::sooner;
use crate::node::{Channel, ClientTimer, Ctx, Outcome, Timer};
use crate::protocol::{
    Acks, ErrorCode, PartitionRequest, PartitionResponse, Payload, ProduceRequest, ProduceResult, ProducedTopics,
    RecordBatch, Request, Response,
};
use crate::trace::{Failure, Kind};

impl Producer {
    /// Does everything that can be done now and arms the timer for what comes later.
    pub(super) fn drive(&mut self, ctx: &mut Ctx<'_>) {
        self.expire(ctx);
        self.settle_sequences(ctx);
        self.request_producer_id(ctx);
        self.drain(ctx);
        if let Some((broker, request)) = self.metadata.next_request(ctx, &mut self.net) {
            let timeout = self.config.common.request_timeout;
            self.net.send(ctx, broker, Channel::Client, request, timeout, Call::Metadata);
        }
        self.net.polls_for_metadata(self.metadata.is_wanted(ctx.now));
        if self.closing && self.queues.is_empty() && self.flying.is_empty() {
            self.closed = true;
            ctx.cancel(&Timer::Client(ClientTimer::Sender));
            ctx.note(Kind::ClientClosed { client: self.client });
            ctx.exit(true);
            return;
        }
        self.arm(ctx);
    }

    fn arm(&mut self, ctx: &mut Ctx<'_>) {
        let mut at = sooner(self.metadata.wake(ctx.now), self.net.wake(ctx.now));
        for part in self.queues.parts() {
            at = sooner(at, self.queues.ready_at(&part, self.config.linger, self.closing).filter(|t| *t > ctx.now));
        }
        let deadlines = self
            .queues
            .batches()
            .chain(self.flying.values().map(|f| &f.batch))
            .map(|b| b.deadline(self.config.delivery_timeout))
            .min();
        at = sooner(at, deadlines);
        if let IdRequest::Idle { not_before, .. } = self.id_request
            && self.config.idempotent
            && self.sequences.current().is_none()
            && not_before > ctx.now
        {
            at = sooner(at, Some(not_before));
        }
        let timer = Timer::Client(ClientTimer::Sender);
        match at {
            Some(at) => ctx.set(timer, at.since(ctx.now)),
            None => ctx.cancel(&timer),
        }
    }

    /// Fails batches whose delivery time has passed, waiting ones and those under way.
    fn expire(&mut self, ctx: &mut Ctx<'_>) {
        let limit = self.config.delivery_timeout;
        let mut expired = self.take_flying(|f| f.batch.deadline(limit) <= ctx.now);
        expired.extend(self.queues.take_expired(ctx.now, limit));
        for batch in expired {
            self.run_out(ctx, &batch);
        }
    }

    /// A batch under way whose delivery time ends just when its request's time does fails by the former, so that its
    /// outcome counts as unknown: a request is overdue only when it has waited longer (`InFlightRequests`), a batch as
    /// soon as its time has passed. One whose request is overdue by then fails by that, and the epoch is bumped.
    pub(super) fn expire_on_time(&mut self, ctx: &mut Ctx<'_>) {
        let (delivery, request) = (self.config.delivery_timeout, self.config.common.request_timeout);
        for batch in self.take_flying(|f| f.batch.deadline(delivery) <= ctx.now && ctx.now <= f.since + request) {
            self.run_out(ctx, &batch);
        }
    }

    fn take_flying(&mut self, fits: impl Fn(&Flying) -> bool) -> Vec<Batch> {
        let ids: Vec<u64> = self.flying.iter().filter(|(_, f)| fits(f)).map(|(id, _)| *id).collect();
        ids.iter().filter_map(|id| self.flying.remove(id)).map(|f| f.batch).collect()
    }

    /// The delivery time of a batch has passed.
    fn run_out(&mut self, ctx: &mut Ctx<'_>, batch: &Batch) {
        self.fail(ctx, batch, ErrorCode::RequestTimedOut, false);
        if batch.attempts > 0 {
            self.sequences.on_unresolved(batch);
        }
    }

    fn settle_sequences(&mut self, ctx: &mut Ctx<'_>) {
        if !self.config.idempotent {
            return;
        }
        self.sequences.resolve();
        let Some(open) = self.sequences.bump() else { return };
        let mut renumbered = 0;
        for (id, _) in open {
            let sequences = &mut self.sequences;
            let waiting = self.queues.batches_mut().find(|b| b.id == id);
            let is_flying = waiting.is_none();
            let Some(batch) = waiting.or(self.flying.get_mut(&id).map(|f| &mut f.batch)) else { continue };
            renumbered += u32::from(is_flying || batch.is_in_doubt());
            if let Some(stamp) = sequences.renumber(&batch.part, id, batch.records.len()) {
                batch.stamp = Some(stamp);
                batch.sequence_reset = true;
            }
        }
        if let Some((id, epoch)) = self.sequences.current() {
            ctx.note(Kind::ProducerIdAssigned { id: id.0, epoch: epoch.0, renumbered });
        }
    }

    /// One request per ready node, with one batch per partition.
    fn drain(&mut self, ctx: &mut Ctx<'_>) {
        if self.queues.is_empty() {
            return;
        }
        loop {
            let parts = self.queues.parts();
            let busy: Set<Part> = if self.config.max_in_flight == 1 {
                Set::from_iter(self.flying.values().map(|f| f.batch.part.clone()))
            } else {
                Set::new()
            };
            let mut by_leader: Map<BrokerId, Vec<(Tp, Part)>> = Map::new();
            let mut ready: Set<BrokerId> = Set::new();
            for part in parts {
                let tp = self.metadata.tp(&part.0, part.1);
                let Some((tp, leader)) = tp.and_then(|tp| self.metadata.leader(tp).map(|leader| (tp, leader))) else {
                    // Nobody to send it to: ask who leads.
                    self.metadata.request_update();
                    continue;
                };
                if self.queues.is_ready(&part, ctx.now, self.config.linger, self.closing) && !busy.contains(&part) {
                    ready.insert(leader);
                }
                by_leader.entry(leader).or_default().push((tp, part));
            }
            let mut sent = false;
            for leader in ready {
                if !self.net.ready(ctx, leader, Channel::Client)
                    || self.net.n_in_flight(leader, Channel::Client) >= self.config.max_in_flight
                {
                    continue;
                }
                let mut parts = by_leader.remove(&leader).unwrap_or_default();
                // Which partition comes first turns, so that none starves when a request is full.
                if let Some(turn) = self.turns.get(&leader) {
                    let first = parts.iter().position(|(_, part)| part >= turn).unwrap_or(0);
                    parts.rotate_left(first);
                }
                let mut last = None;
                let mut batches = Vec::new();
                let mut bytes = 0;
                for (tp, part) in parts {
                    last = Some(part.clone());
                    let Some(head) = self.queues.head(&part) else { continue };
                    if head.retry_at > ctx.now || busy.contains(&part) {
                        continue;
                    }
                    if !batches.is_empty() && bytes + head.bytes > self.config.max_request_size {
                        break;
                    }
                    // A batch that must wait for others holds those behind it too, and its turn comes first again.
                    if self.config.idempotent && self.sequences.holds_back(head) {
                        break;
                    }
                    bytes += head.bytes;
                    let Some(mut batch) = self.queues.pop(&part) else { continue };
                    if self.config.idempotent {
                        self.sequences.assign(&mut batch);
                    }
                    batch.tp = Some(tp);
                    batch.sent_epoch = self.metadata.partition(tp).map(|p| p.epoch);
                    batches.push((tp, batch));
                }
                self.turns.extend(last.map(|part| (leader, part)));
                if !batches.is_empty() {
                    self.send_request(ctx, leader, batches);
                    sent = true;
                }
            }
            if !sent {
                return;
            }
        }
    }

    fn send_request(&mut self, ctx: &mut Ctx<'_>, leader: BrokerId, batches: Vec<(Tp, Batch)>) {
        let wire = batches.iter().map(|(tp, b)| {
            let payload = Payload::Data(b.records.clone().into());
            (
                *tp,
                RecordBatch {
                    base_offset: 0,
                    epoch: -1,
                    producer: b.stamp,
                    timestamp: b.created,
                    payload,
                    origin: b.origin,
                },
            )
        });
        let request = Request::Partition(PartitionRequest::Produce(ProduceRequest {
            acks: self.config.acks,
            timeout: self.config.common.request_timeout,
            batches: wire.collect(),
            topics: self.topics_of(&batches),
        }));
        let origin = batches[0].1.origin;
        if self.config.acks == Acks::Zero {
            ctx.caused_by(origin, |ctx| self.net.send_and_forget(ctx, leader, request));
            for (tp, batch) in batches {
                self.succeed(ctx, tp, &batch, -1);
            }
            return;
        }
        let ids = batches.iter().map(|(tp, b)| (*tp, b.id)).collect();
        let timeout = self.config.common.request_timeout;
        ctx.caused_by(origin, |ctx| self.net.send(ctx, leader, Channel::Client, request, timeout, Call::Produce(ids)));
        for (_, batch) in batches {
            self.flying.insert(batch.id, Flying { batch, broker: leader, since: ctx.now });
        }
    }

    fn topics_of(&self, batches: &[(Tp, Batch)]) -> ProducedTopics {
        if self.topics_by_id {
            return ProducedTopics::ById;
        }
        ProducedTopics::ByName(batches.iter().map(|(tp, b)| (tp.topic, b.part.0.clone())).collect())
    }

    pub(super) fn on_produced(&mut self, ctx: &mut Ctx<'_>, ids: Vec<(Tp, u64)>, outcome: Outcome) {
        let (results, failure) = match outcome {
            Outcome::Answer(Response::Partition(PartitionResponse::Produce { results })) => {
                (results, ErrorCode::UnknownServerError)
            }
            Outcome::Answer(_) => (Vec::new(), ErrorCode::UnknownServerError),
            Outcome::Failed(Failure::Disconnected) => (Vec::new(), ErrorCode::NetworkException),
            Outcome::Failed(Failure::TimedOut) => (Vec::new(), ErrorCode::RequestTimedOut),
        };
        for (place, (tp, id)) in ids.into_iter().enumerate() {
            // A batch that ran out of time meanwhile is no longer there.
            let Some(flying) = self.flying.remove(&id) else { continue };
            let result = results.get(place).cloned();
            let result = result.unwrap_or(ProduceResult { tp, error: failure, base_offset: -1, current_leader: None });
            self.complete(ctx, flying.batch, &result);
        }
    }

    fn complete(&mut self, ctx: &mut Ctx<'_>, mut batch: Batch, result: &ProduceResult) {
        let error = result.error;
        if error.is_none() || error == ErrorCode::DuplicateSequenceNumber {
            let base = if error.is_none() { result.base_offset } else { -1 };
            if self.config.idempotent {
                self.sequences.on_acked(&batch);
            }
            self.succeed(ctx, result.tp, &batch, base);
            return;
        }
        if error == ErrorCode::MessageTooLarge && batch.records.len() > 1 {
            let (first, second) = self.queues.split(batch);
            self.sequences.reopen(&first);
            self.sequences.reopen(&second);
            self.queues.put_back(second);
            self.queues.put_back(first);
            return;
        }
        if let Some(hint) = result.current_leader {
            self.metadata.on_hint(ctx, result.tp, hint);
        }
        let in_time = batch.deadline(self.config.delivery_timeout) > ctx.now && batch.attempts < self.config.retries;
        let retry =
            in_time && if self.config.idempotent { self.sequences.may_retry(&batch, error) } else { error.retriable() };
        if error.refreshes_metadata() {
            self.metadata.request_update();
        }
        if !retry {
            let adjust = batch.attempts < self.config.retries;
            self.fail(ctx, &batch, error, adjust);
            return;
        }
        ctx.note(Kind::ProducerRetries { tp: result.tp, error });
        batch.attempts += 1;
        batch.last_error = error;
        // A leader newer than the one that was asked needs no pause (KIP-951).
        let moved =
            self.config.common.leader_hints && self.metadata.partition(result.tp).map(|p| p.epoch) > batch.sent_epoch;
        batch.retry_at =
            if moved { ctx.now } else { ctx.now + self.config.common.retry.after(batch.attempts, ctx.rng) };
        self.queues.put_back(batch);
    }

    fn succeed(&mut self, ctx: &mut Ctx<'_>, tp: Tp, batch: &Batch, base: i64) {
        for (i, record) in batch.records.iter().enumerate() {
            self.counts.acked += 1;
            let offset = if base < 0 { -1 } else { base + i as i64 };
            ctx.note(Kind::RecordAcked { tag: record.tag, tp, offset });
        }
    }

    fn fail(&mut self, ctx: &mut Ctx<'_>, batch: &Batch, error: ErrorCode, adjust: bool) {
        if self.config.idempotent {
            self.sequences.on_failed(batch, error, adjust);
        }
        let tp = batch.tp.or_else(|| self.metadata.tp(&batch.part.0, batch.part.1));
        self.last_failure = Some((error.exception(), ctx.now));
        for record in &batch.records {
            self.counts.failed += 1;
            ctx.note(Kind::RecordFailed { tag: record.tag, tp, exception: error.exception() });
        }
    }

    /// After news of leaders: batches whose leader moved since they failed need not rest (3.7+).
    pub(super) fn wake_moved(&mut self, now: SimTime) {
        if !self.config.common.leader_hints {
            return;
        }
        let metadata = &self.metadata;
        for batch in self.queues.batches_mut().filter(|b| b.attempts > 0 && b.retry_at > now) {
            if batch
                .tp
                .and_then(|tp| metadata.partition(tp))
                .is_some_and(|p| p.leader.is_some() && Some(p.epoch) > batch.sent_epoch)
            {
                batch.retry_at = now;
            }
        }
    }
}
