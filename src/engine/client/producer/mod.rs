//! A producer with its application: records in, promises out. It decides nothing about what the cluster keeps.

pub mod accumulator;
mod application;
pub mod partitioner;
mod sender;
pub mod sequences;
#[cfg(test)]
mod tests;
use alloc::rc::Rc;
use alloc::vec::Vec;

use accumulator::{Accumulator, Batch, Part};
use application::{Application, Source};
use partitioner::Partitioner;
use sequences::Sequences;

use super::config::{ConfigRefusal, ProducerConfig};
use super::metadata::Metadata;
use super::net::{Net, NetDone};
use super::spec::{ClientVersion, ProducerSpec};
use crate::base::{BrokerId, ClientId, Incarnation, Map, NodeId, ProducerEpoch, ProducerId, SimTime, Tp};
use crate::node::message::ClientCommand;
use crate::node::{Channel, ClientTimer, Ctx, Event, Outcome, Timer};
use crate::protocol::{BrokerResponse, ErrorCode, Response};
use crate::trace::Kind;

/// What a request of a producer is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Metadata,
    /// Batches by number.
    Produce(Vec<(Tp, u64)>),
    InitProducerId,
}

/// Counts of what became of records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProducerCounts {
    /// Handed to `send`.
    pub sent: u64,
    /// Bytes of those.
    pub bytes: u64,
    pub acked: u64,
    pub failed: u64,
}

/// What a producer does at this moment, the most telling thing first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProducerStatus {
    /// `close` waits for what is still to be sent.
    Closing,
    Closed,
    /// A `send` blocks: the topic or the partition is not in the metadata.
    WaitingForMetadata {
        topic: Rc<str>,
        partition: Option<u32>,
        error: Option<ErrorCode>,
        until: SimTime,
    },
    /// A batch waits and nobody leads its partition, as far as the client knows.
    NoLeader {
        topic: Rc<str>,
        partition: u32,
        error: ErrorCode,
    },
    /// A batch failed and is to be sent again, not before `next_at`.
    Retrying {
        topic: Rc<str>,
        partition: u32,
        error: ErrorCode,
        attempts: u32,
        next_at: SimTime,
    },
    /// A leader is known, but there is no connection to it.
    Connecting {
        leader: BrokerId,
    },
    WaitingForProducerId,
    /// Requests are under way since `oldest`.
    AwaitingAnswers {
        oldest: SimTime,
    },
    /// Batches are being filled.
    Lingering,
    Idle,
}

/// A batch as views see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchView<'a> {
    pub topic: &'a Rc<str>,
    pub partition: u32,
    pub records: usize,
    pub bytes: usize,
    pub created: SimTime,
    pub deadline: SimTime,
    pub attempts: u32,
    pub last_error: ErrorCode,
    pub base_sequence: Option<i32>,
    /// The broker that has it, if it is under way.
    pub at: Option<BrokerId>,
}

/// A batch that was sent and has no outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Flying {
    batch: Batch,
    broker: BrokerId,
    since: SimTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum IdRequest {
    Idle { not_before: SimTime, failures: u32 },
    Flying { failures: u32 },
}

/// A producer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Producer {
    config: ProducerConfig,
    /// Produce names topics by id: client and brokers know version 13.
    topics_by_id: bool,
    net: Net<Call>,
    metadata: Metadata,
    queues: Accumulator,
    flying: Map<u64, Flying>,
    /// Which partition of a node is looked at first.
    turns: Map<BrokerId, Part>,
    partitioner: Partitioner,
    sequences: Sequences,
    id_request: IdRequest,
    application: Application,
    counts: ProducerCounts,
    /// The last failure that the application was told.
    last_failure: Option<(&'static str, SimTime)>,
    closing: bool,
    closed: bool,
    client: ClientId,
}

impl Producer {
    /// Starts a producer; `refused` as the Java constructor throws.
    pub fn start(
        ctx: &mut Ctx<'_>,
        client: ClientId,
        incarnation: Incarnation,
        bootstrap: Vec<BrokerId>,
        spec: ProducerSpec,
        brokers_produce_by_id: bool,
    ) -> Result<Producer, ConfigRefusal> {
        let config = ProducerConfig::parse(spec.version, &spec.config)?;
        let mut producer = Producer {
            topics_by_id: brokers_produce_by_id && spec.version >= ClientVersion::V4_1,
            net: Net::new(NodeId::Client(client), incarnation, config.common, config.max_in_flight)
                .waits_in_poll(ctx.now),
            metadata: Metadata::new(bootstrap, config.common, true),
            queues: Accumulator::default(),
            flying: Map::new(),
            turns: Map::new(),
            partitioner: Partitioner::default(),
            sequences: Sequences::default(),
            id_request: IdRequest::Idle { not_before: SimTime::ZERO, failures: 0 },
            application: Application::new(client, incarnation, spec),
            counts: ProducerCounts::default(),
            last_failure: None,
            closing: false,
            closed: false,
            client,
            config,
        };
        producer.start_steady(ctx);
        producer.drive(ctx);
        Ok(producer)
    }

    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        if self.closed {
            return;
        }
        if let Event::Connected { .. } = event {
            // Nothing can be sent yet: the first answer tells that the process is there.
            self.net.on_event(ctx, event);
            return;
        }
        match event {
            Event::Command(command) => {
                if !self.on_command(ctx, command) {
                    return;
                }
            }
            Event::Timer(Timer::Client(ClientTimer::NextRecord | ClientTimer::Burst(_) | ClientTimer::Block)) => {
                // A record that joins a batch wakes nobody (`KafkaProducer.doSend`).
                if !self.run_application(ctx) {
                    return;
                }
            }
            Event::Timer(Timer::Client(_)) => {}
            Event::Shutdown => self.begin_close(ctx),
            Event::Timer(_) => {
                self.expire_on_time(ctx);
                // The sender's thread still waits, unless this is what ends its poll.
                let done = self.net.on_event(ctx, event);
                if done.is_empty() {
                    return;
                }
                self.on_net_all(ctx, done);
            }
            other => {
                let done = self.net.on_event(ctx, other);
                self.on_net_all(ctx, done);
            }
        }
        self.expire_on_time(ctx);
        let overdue = self.net.poll_again(ctx);
        self.on_net_all(ctx, overdue);
        self.drive(ctx);
    }

    /// Returns whether the sender's thread is woken by it.
    fn on_command(&mut self, ctx: &mut Ctx<'_>, command: ClientCommand) -> bool {
        match command {
            ClientCommand::Produce { action: _, topic, partition, key, values, count, every, first_tag } => {
                let source = Source::Burst { key, values, count, made: 0, first_tag };
                !self.closing && self.start_burst(ctx, (topic, partition), every, source)
            }
            ClientCommand::SetRate { per_second } => {
                self.set_rate(ctx, per_second);
                false
            }
            // A producer's `close` flushes, however long that takes.
            ClientCommand::Close { within: _ } => {
                self.begin_close(ctx);
                true
            }
            ClientCommand::PausePolling { .. }
            | ClientCommand::Seek { .. }
            | ClientCommand::Commit
            | ClientCommand::Admin { .. } => false,
        }
    }

    fn begin_close(&mut self, ctx: &mut Ctx<'_>) {
        self.closing = true;
        self.stop_application(ctx);
    }

    fn on_net_all(&mut self, ctx: &mut Ctx<'_>, all: Vec<NetDone<Call>>) {
        for done in all {
            self.on_net(ctx, done);
        }
    }

    fn on_net(&mut self, ctx: &mut Ctx<'_>, done: NetDone<Call>) {
        match done {
            NetDone::Connected { .. } => {}
            NetDone::Lost { .. } => self.metadata.on_disconnect(ctx),
            NetDone::Done { broker: _, token: Call::Metadata, outcome } => {
                match outcome {
                    Outcome::Answer(Response::Broker(BrokerResponse::Metadata(answer))) => {
                        self.metadata.on_answer(ctx, answer);
                        self.wake_moved(ctx.now);
                    }
                    Outcome::Answer(_) | Outcome::Failed(_) => self.metadata.on_failure(ctx),
                }
                self.run_application(ctx);
            }
            NetDone::Done { broker: _, token: Call::InitProducerId, outcome } => self.on_producer_id(ctx, outcome),
            NetDone::Done { broker: _, token: Call::Produce(batches), outcome } => {
                self.on_produced(ctx, batches, outcome)
            }
        }
    }

    fn on_producer_id(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        let failures = match self.id_request {
            IdRequest::Idle { failures, .. } | IdRequest::Flying { failures } => failures,
        };
        if let Outcome::Answer(Response::Broker(BrokerResponse::InitProducerId { error: ErrorCode::None, id, epoch })) =
            outcome
        {
            self.sequences.set_current(id, epoch);
            ctx.note(Kind::ProducerIdAssigned { id: id.0, epoch: epoch.0, renumbered: 0 });
            self.id_request = IdRequest::Idle { not_before: ctx.now, failures: 0 };
        } else {
            let rest = self.config.common.retry.after(failures + 1, ctx.rng);
            self.id_request = IdRequest::Idle { not_before: ctx.now + rest, failures: failures + 1 };
        }
    }

    /// Asks for a producer id as soon as there is a node to ask.
    fn request_producer_id(&mut self, ctx: &mut Ctx<'_>) {
        let IdRequest::Idle { not_before, failures } = self.id_request else { return };
        if !self.config.idempotent || self.sequences.current().is_some() || not_before > ctx.now {
            return;
        }
        if let Ok(broker) = self.net.least_loaded(ctx, self.metadata.brokers()) {
            self.id_request = IdRequest::Flying { failures };
            let timeout = self.config.common.request_timeout;
            self.net.send(
                ctx,
                broker,
                Channel::Client,
                crate::protocol::Request::Broker(crate::protocol::BrokerRequest::InitProducerId),
                timeout,
                Call::InitProducerId,
            );
        }
    }

    // What views read.

    pub fn config(&self) -> &ProducerConfig {
        &self.config
    }
    pub fn counts(&self) -> ProducerCounts {
        self.counts
    }
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
    /// Records per second at present.
    pub fn rate(&self) -> u32 {
        self.application.rate()
    }
    /// Where the steady rate goes.
    pub fn topic(&self) -> Option<&Rc<str>> {
        self.application.topic()
    }
    pub fn producer_id(&self) -> Option<(ProducerId, ProducerEpoch)> {
        self.sequences.current()
    }
    /// Next sequence of each partition.
    pub fn next_sequences(&self) -> impl Iterator<Item = (&accumulator::Part, i32)> {
        self.sequences.next_sequences()
    }
    /// The last exception that the application was told, and when.
    pub fn last_failure(&self) -> Option<(&'static str, SimTime)> {
        self.last_failure
    }
    /// Batches that wait, then those under way.
    pub fn batches(&self) -> impl Iterator<Item = BatchView<'_>> {
        let flying = self.flying.values().map(|f| (&f.batch, Some(f.broker)));
        self.queues.batches().map(|b| (b, None)).chain(flying).map(|(b, at)| BatchView {
            topic: &b.part.0,
            partition: b.part.1,
            records: b.records.len(),
            bytes: b.bytes,
            created: b.created,
            deadline: b.deadline(self.config.delivery_timeout),
            attempts: b.attempts,
            last_error: b.last_error,
            base_sequence: b.stamp.map(|s| s.base_sequence),
            at,
        })
    }

    pub fn status(&self) -> ProducerStatus {
        if self.closed {
            return ProducerStatus::Closed;
        }
        if let Some((topic, partition, since)) = self.application.blocked() {
            let error = self.metadata.error_of(topic);
            return ProducerStatus::WaitingForMetadata {
                topic: topic.clone(),
                partition,
                error,
                until: since + self.config.max_block,
            };
        }
        let leader = |b: &Batch| self.metadata.tp(&b.part.0, b.part.1).and_then(|tp| self.metadata.leader(tp));
        if let Some(batch) = self.queues.batches().find(|b| leader(b).is_none()) {
            let known = self.metadata.topic(&batch.part.0).and_then(|t| t.partitions.get(batch.part.1 as usize));
            let error = known.map_or(ErrorCode::UnknownTopicOrPartition, |p| {
                if p.error.is_none() { ErrorCode::LeaderNotAvailable } else { p.error }
            });
            return ProducerStatus::NoLeader { topic: batch.part.0.clone(), partition: batch.part.1, error };
        }
        if let Some(batch) =
            self.queues.batches().chain(self.flying.values().map(|f| &f.batch)).find(|b| b.attempts > 0)
        {
            let (topic, partition) = batch.part.clone();
            return ProducerStatus::Retrying {
                topic,
                partition,
                error: batch.last_error,
                attempts: batch.attempts,
                next_at: batch.retry_at,
            };
        }
        if let Some(oldest) = self.flying.values().map(|f| f.since).min() {
            return ProducerStatus::AwaitingAnswers { oldest };
        }
        if self.closing {
            return ProducerStatus::Closing;
        }
        if self.queues.is_empty() {
            return ProducerStatus::Idle;
        }
        if self.config.idempotent && self.sequences.current().is_none() {
            return ProducerStatus::WaitingForProducerId;
        }
        match self.queues.batches().find(|b| b.closed).and_then(leader) {
            Some(leader) => ProducerStatus::Connecting { leader },
            None => ProducerStatus::Lingering,
        }
    }
}
