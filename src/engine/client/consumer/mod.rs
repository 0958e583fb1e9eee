//! A consumer of the classic protocol with its application, a loop of `poll` and `commitAsync`. It reads nothing of the
//! cluster but answers.

pub mod assignor;
mod closing;
mod commit;
mod coordinator;
mod fetcher;
mod heartbeats;
mod membership;
mod poll;
mod positions;
mod preparing;
mod status;
#[cfg(test)]
mod tests;

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::config::{ConfigRefusal, ConsumerConfig};
use super::metadata::Metadata;
use super::net::{Net, NetDone};
use super::spec::{ClientVersion, ConsumerSpec, PollForm};
use crate::base::{BrokerId, ClientId, GenerationId, Incarnation, NodeId, Offset, Tp};
use crate::node::message::ClientCommand;
use crate::node::{Channel, ClientTimer, Ctx, Event, Outcome, Timer};
use crate::protocol::{BrokerResponse, ErrorCode, OffsetSpec, Response};

use closing::{CLOSE_TIMEOUT, Close, Closing};
use commit::Commits;
use coordinator::Coordinator;
use heartbeats::Heartbeats;
use membership::{Member, Membership};
use poll::Application;
use positions::Assignment;

pub use commit::CommitKind;
pub use positions::{Assigned, Fetchability, Position};
pub use status::ConsumerStatus;

/// Requests that a consumer's connection takes at once.
const MAX_IN_FLIGHT: usize = 100;

/// What a request of a consumer is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Call {
    Metadata,
    FindCoordinator,
    Join,
    Sync { generation: GenerationId },
    Heartbeat { generation: GenerationId },
    Leave,
    Commit { kind: CommitKind, generation: GenerationId, offsets: Vec<(Tp, Offset)> },
    Committed,
    ListOffsets { partitions: Vec<(Tp, OffsetSpec)> },
    LeaderEpoch { tp: Tp, offset: Offset },
    Fetch { positions: Vec<(Tp, Offset)> },
}

/// Counts of what the application saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConsumerCounts {
    pub delivered: u64,
    pub commits: u64,
    pub failed_commits: u64,
    pub polls: u64,
    /// Calls of `poll` that took longer than 2 s.
    pub slow_polls: u64,
    pub failed_polls: u64,
}

/// A consumer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Consumer {
    client: ClientId,
    client_id: Rc<str>,
    spec: ConsumerSpec,
    config: ConsumerConfig,
    net: Net<Call>,
    metadata: Metadata,
    counts: ConsumerCounts,

    application: Application,
    coordinator: Coordinator,
    member: Member,
    heartbeats: Heartbeats,
    assignment: Assignment,
    commits: Commits,
    close: Close,
}

impl Consumer {
    pub fn start(
        ctx: &mut Ctx<'_>,
        client: ClientId,
        name: &Rc<str>,
        incarnation: Incarnation,
        bootstrap: Vec<BrokerId>,
        spec: ConsumerSpec,
    ) -> Result<Consumer, ConfigRefusal> {
        let config = ConsumerConfig::parse(spec.version, &spec.config)?;
        let client_id = spec.config.get("client.id").cloned().unwrap_or_else(|| name.clone());
        let mut metadata = Metadata::new(bootstrap, config.common, config.allow_auto_create);
        for topic in &spec.topics {
            metadata.want(topic);
        }
        let mut consumer = Consumer {
            client,
            client_id,
            net: Net::new(NodeId::Client(client), incarnation, config.common, MAX_IN_FLIGHT),
            metadata,
            counts: ConsumerCounts::default(),
            application: Application::new(ctx.now),
            coordinator: Coordinator::default(),
            member: Member::default(),
            heartbeats: Heartbeats::default(),
            assignment: Assignment::default(),
            commits: Commits::new(ctx.now + config.auto_commit_interval),
            close: Close::default(),
            spec,
            config,
        };
        consumer.begin_poll(ctx);
        consumer.drive(ctx);
        Ok(consumer)
    }

    /// Whether `poll` waits for the coordinator without end.
    fn blocks(&self) -> bool {
        self.spec.version == ClientVersion::V1_1
            || self.spec.poll == PollForm::Long && self.spec.version < ClientVersion::V4_1
    }

    /// Whether `poll` goes on to fetch without a coordinator (2.5+).
    fn reads_on(&self) -> bool {
        !self.blocks() && self.spec.version >= ClientVersion::V2_5
    }

    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        if self.close.done {
            return;
        }
        if let Event::Connected { .. } = event {
            // Nothing can be sent yet: the first answer tells that the process is there.
            self.net.on_event(ctx, event);
            return;
        }
        match event {
            Event::Command(command) => self.on_command(ctx, command),
            Event::Shutdown => self.begin_close(ctx, CLOSE_TIMEOUT),
            Event::Timer(Timer::Client(timer)) => self.on_timer(ctx, &timer),
            other => {
                for done in self.net.on_event(ctx, other) {
                    self.on_net(ctx, done);
                }
            }
        }
        self.drive(ctx);
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>, timer: &ClientTimer) {
        match timer {
            ClientTimer::Poll => {
                if self.application.poll.is_none() && self.close.step.is_none() && self.application.next_poll <= ctx.now
                {
                    self.begin_poll(ctx);
                }
            }
            ClientTimer::Heartbeat => self.on_heartbeat_timer(ctx),
            ClientTimer::PollInterval => self.on_poll_interval(ctx),
            ClientTimer::Close => self.close_at_once(),
            // These only make the client look again at what is due.
            ClientTimer::Commit | ClientTimer::CoordinatorRetry | ClientTimer::Retry | ClientTimer::MetadataRefresh => {
            }
            ClientTimer::NextRecord
            | ClientTimer::Burst(_)
            | ClientTimer::Sender
            | ClientTimer::Block
            | ClientTimer::Admin(_) => {}
        }
    }

    fn on_command(&mut self, ctx: &mut Ctx<'_>, command: ClientCommand) {
        match command {
            ClientCommand::PausePolling { span } => self.pause_polling(ctx, span),
            ClientCommand::Seek { topic, partition, offset } => self.seek(&topic, partition, offset),
            ClientCommand::Commit => self.commit_async(ctx, CommitKind::Application),
            ClientCommand::Close { within } => self.begin_close(ctx, within),
            ClientCommand::Produce { .. } | ClientCommand::SetRate { .. } | ClientCommand::Admin { .. } => {}
        }
    }

    fn on_net(&mut self, ctx: &mut Ctx<'_>, done: NetDone<Call>) {
        match done {
            NetDone::Connected { .. } => {
                if self.coordinator.broker.is_some() {
                    self.send_waiting_commits(ctx);
                }
            }
            NetDone::Lost { broker, channel } => {
                self.metadata.on_disconnect(ctx);
                if channel == Channel::Coordinator && self.coordinator.broker == Some(broker) {
                    self.lose_coordinator(ctx, ErrorCode::NetworkException);
                }
                if channel == Channel::Client {
                    self.assignment.fetching.remove(&broker);
                }
            }
            NetDone::Done { broker, token, outcome } => self.on_done(ctx, broker, token, outcome),
        }
    }

    fn on_done(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, token: Call, outcome: Outcome) {
        match token {
            Call::Metadata => match outcome {
                Outcome::Answer(Response::Broker(BrokerResponse::Metadata(answer))) => {
                    self.metadata.on_answer(ctx, answer)
                }
                Outcome::Answer(_) | Outcome::Failed(_) => self.metadata.on_failure(ctx),
            },
            Call::FindCoordinator => self.on_coordinator_found(ctx, outcome),
            Call::Join => self.on_joined(ctx, outcome),
            Call::Sync { generation } => self.on_synced(ctx, generation, outcome),
            Call::Heartbeat { generation } => self.on_heartbeat(ctx, generation, outcome),
            // Whether the coordinator let it go is of no interest any more.
            Call::Leave => {}
            Call::Commit { kind, generation, offsets } => self.on_committed(ctx, kind, generation, offsets, outcome),
            Call::Committed => self.on_committed_offsets(ctx, outcome),
            Call::ListOffsets { partitions } => self.on_listed_offsets(ctx, partitions, outcome),
            Call::LeaderEpoch { tp, offset } => self.on_epoch_end(ctx, tp, offset, outcome),
            Call::Fetch { positions } => self.on_fetched(ctx, broker, positions, outcome),
        }
    }

    /// Does everything that can be done now and arms the timer for what comes later.
    fn drive(&mut self, ctx: &mut Ctx<'_>) {
        if self.close.step.is_some() {
            self.close_step(ctx);
            if self.close.done {
                return;
            }
        }
        // A poll that returns is followed by the next at once if its time has come.
        while self.application.poll.is_some() && self.advance_poll(ctx) {}
        self.look_up_if_wanted(ctx);
        if let Some((broker, request)) = self.metadata.next_request(ctx, &mut self.net) {
            self.net.send(ctx, broker, Channel::Client, request, self.config.common.request_timeout, Call::Metadata);
        }
        self.arm(ctx);
    }

    fn arm(&mut self, ctx: &mut Ctx<'_>) {
        let mut at = super::config::sooner(self.metadata.wake(ctx.now), self.net.wake(ctx.now));
        if let Some(Closing::Commit { not_before, .. }) = self.close.step
            && not_before > ctx.now
        {
            at = super::config::sooner(at, Some(not_before));
        }
        let rests = [self.coordinator.not_before, self.member.join_not_before].into_iter();
        let rests = rests.chain(self.assignment.rests_until()).chain(self.member.preparation.wakes_at());
        for moment in rests.filter(|moment| *moment > ctx.now) {
            at = super::config::sooner(at, Some(moment));
        }
        let timer = Timer::Client(ClientTimer::Retry);
        match at {
            Some(at) => ctx.set(timer, at.since(ctx.now)),
            None => ctx.cancel(&timer),
        }
    }

    /// Sends to the coordinator if its connection stands.
    fn ask_coordinator(
        &mut self,
        ctx: &mut Ctx<'_>,
        body: crate::protocol::Request,
        timeout: crate::base::Dur,
        call: Call,
    ) -> bool {
        let Some(broker) = self.coordinator.broker else { return false };
        if !self.net.ready(ctx, broker, Channel::Coordinator) {
            return false;
        }
        self.net.send(ctx, broker, Channel::Coordinator, body, timeout, call);
        true
    }
}
