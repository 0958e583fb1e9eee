//! The admin client: one request per action, retried within its time-out, and its answer kept. It watches nothing by
//! itself, and never asks again for metadata merely because it has grown old.
//!
//! The loop of the Java client sleeps until one of its calls is due. A request that a frozen broker does not answer is
//! therefore not given up after `request.timeout.ms`, but when the loop wakes up next: at the deadline of the call,
//! unless other calls wait for a node.
//!
//! The client's loop counts whole milliseconds, as `KafkaAdminClient` does, and that decides how long a frozen broker
//! holds it: a call is given up *after* its deadline, a connection that does not become ready *at* its own. A metadata
//! call and the connection that it waits for are due in the same millisecond; where the loop wakes up within it, the
//! connection is closed and another broker asked; where it wakes up one later, the call is given up first and its
//! successor waits for the same connection once more.

mod answers;
mod task;
use alloc::rc::Rc;
use alloc::vec::Vec;

use self::answers::Next;
use self::task::{Stage, Task, Wire, first_stage};
use crate::base::{ActionId, BrokerId, ClientId, Dur, Incarnation, LeaderEpoch, Map, NodeId, Offset, Set, SimTime, Tp};
use crate::client::config::{Backoff, CommonConfig, sooner};
use crate::client::net::{Net, NetDone};
use crate::node::message::{AdminRequest, ClientCommand};
use crate::node::{Channel, ClientTimer, Ctx, Event, Outcome, Timer};
use crate::protocol::{
    BrokerRequest, BrokerResponse, DescribedGroup, DescribedQuorum, DescribedTopic, ErrorCode, MetadataRequest,
    OffsetAndMetadata, Request, Response,
};
use crate::trace::{Failure, Kind};

/// Kafka's admin client sets no limit to the requests of a connection; the number is part of the world, and so the same
/// on every target.
const NO_LIMIT: usize = u32::MAX as usize;

/// `request.timeout.ms` of the administrator's client.
const REQUEST_TIMEOUT: Dur = Dur::secs(8);
/// `default.api.timeout.ms` of the administrator's client.
const API_TIMEOUT: Dur = Dur::secs(20);
/// What the network layer gives a request: the loop of the client alone limits it.
const NO_TIMEOUT: Dur = Dur::secs(3_600);
/// What `describeTopics` is given, after its `describeCluster`, which has the time-out of the client.
const DESCRIBE_TOPICS_TIMEOUT: Dur = Dur::secs(10);
/// Offsets are asked for this often, each time with a new client.
const OFFSET_TRIES: u32 = 3;
/// How late the client's loop may wake up, in microseconds: of ten connections to a frozen broker that were due beside
/// a running cluster, five were met a millisecond late.
const LATE_US: u32 = 1_000;

/// What an administrator was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AdminAnswer {
    /// The change was accepted.
    Done,
    /// The exception by its error; `TimeoutException` also when nobody answered in time.
    Refused {
        error: ErrorCode,
        exception: &'static str,
        /// The sentence of the exception, if a server's answer made it.
        message: Option<Rc<str>>,
    },
    /// Partitions in the order of their numbers.
    Topics(Vec<DescribedTopic>),
    /// As the leader answers a client.
    Offsets {
        earliest: Offset,
        latest: Offset,
        last_stable: Offset,
        leader_epoch: Option<LeaderEpoch>,
    },
    Group {
        coordinator: BrokerId,
        group: DescribedGroup,
    },
    Committed(Vec<(Tp, OffsetAndMetadata)>),
    Quorum(DescribedQuorum),
    /// Brokers that clients are told of, sorted.
    Brokers(Vec<BrokerId>),
}

/// What a request of the client is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token {
    /// The client's own question for the nodes of the cluster (`fetchMetadata`).
    Metadata,
    Task(ActionId),
}

/// Where the client's own question stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Metadata {
    Known,
    Requested,
    Asking { wire: Wire, deadline: SimTime },
}

/// The admin client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Admin {
    bootstrap: Vec<BrokerId>,
    brokers: Vec<BrokerId>,
    /// Leaders as they last answered: the next question goes to them without a look-up (the partition-leader cache of
    /// the Java client).
    leaders: Map<(Rc<str>, u32), (BrokerId, Tp)>,
    /// The broker that is taken for the controller: under KRaft brokers name any living one of them, drawn at random
    /// for each answer, and it passes on what it is asked.
    controller: Option<BrokerId>,
    metadata: Metadata,
    /// When it last asked for metadata.
    asked_at: Option<SimTime>,
    /// Whether this client has its first metadata.
    bootstrapped: bool,
    /// How long calls wait for the connection to a node before they look for another one.
    ready_deadlines: Map<BrokerId, SimTime>,
    net: Net<Token>,
    retry: Backoff,
    tasks: Map<ActionId, Task>,
    answers: Map<ActionId, AdminAnswer>,
    client: ClientId,
    closed: bool,
}

fn refused(error: ErrorCode) -> AdminAnswer {
    AdminAnswer::Refused { error, exception: error.exception(), message: None }
}

/// Whether a call is given up: only once the millisecond of its deadline is over.
fn is_over(now: SimTime, deadline: SimTime) -> bool {
    now.0 / 1_000 > deadline.0 / 1_000
}

/// Whether a connection was waited for long enough.
fn is_due(now: SimTime, deadline: SimTime) -> bool {
    now.0 / 1_000 >= deadline.0 / 1_000
}

impl Admin {
    pub fn start(ctx: &mut Ctx<'_>, client: ClientId, incarnation: Incarnation, bootstrap: Vec<BrokerId>) -> Admin {
        let retry = Backoff { first: Dur::ms(100), most: Dur::secs(1), exponential: true };
        let reconnect = Backoff { first: Dur::ms(50), most: Dur::secs(1), exponential: true };
        let config = CommonConfig {
            request_timeout: NO_TIMEOUT,
            retry,
            reconnect,
            metadata_max_age: Dur::secs(300),
            rebootstrap: true,
            leader_hints: false,
        };
        let net = Net::new(NodeId::Client(client), incarnation, config, NO_LIMIT);
        let mut admin = Admin {
            brokers: bootstrap.clone(),
            bootstrap,
            leaders: Map::new(),
            controller: None,
            metadata: Metadata::Requested,
            asked_at: None,
            bootstrapped: false,
            ready_deadlines: Map::new(),
            net,
            retry,
            tasks: Map::new(),
            answers: Map::new(),
            client,
            closed: false,
        };
        admin.drive(ctx);
        admin
    }

    /// The answer to an action, once there is one.
    pub fn admin_answer(&self, action: ActionId) -> Option<&AdminAnswer> {
        self.answers.get(&action)
    }

    /// Actions that have no answer yet, with the broker that they wait for.
    pub fn pending(&self) -> impl Iterator<Item = (ActionId, Option<BrokerId>, SimTime)> {
        let bootstrap = match self.metadata {
            Metadata::Asking { wire: Wire::Connecting(broker) | Wire::Flying(broker), .. } => Some(broker),
            Metadata::Asking { wire: Wire::Idle, .. } | Metadata::Known | Metadata::Requested => None,
        };
        self.tasks.iter().map(move |(action, task)| {
            let broker = match task.wire {
                Wire::Idle => bootstrap,
                Wire::Connecting(broker) | Wire::Flying(broker) => Some(broker),
            };
            (*action, broker, task.deadline)
        })
    }

    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        if self.closed {
            return;
        }
        match event {
            // Nothing can be sent yet: the first answer tells that the process is there.
            Event::Connected { .. } => return drop(self.net.on_event(ctx, event)),
            Event::Command(ClientCommand::Admin { action, request }) => {
                if request == AdminRequest::Renew {
                    self.renew(ctx);
                    self.finish(ctx, action, AdminAnswer::Done);
                } else if request == AdminRequest::Connect {
                    for broker in self.brokers.clone() {
                        self.net.ready(ctx, broker, Channel::Client);
                    }
                    self.finish(ctx, action, AdminAnswer::Done);
                } else {
                    let stage = self.stage_for(&request);
                    self.tasks.insert(action, Task::new(request, stage, ctx.now));
                }
            }
            Event::Command(
                ClientCommand::Produce { .. }
                | ClientCommand::SetRate { .. }
                | ClientCommand::PausePolling { .. }
                | ClientCommand::Seek { .. }
                | ClientCommand::Commit
                | ClientCommand::Close { .. },
            )
            | Event::Timer(Timer::Client(_)) => {}
            Event::Shutdown => {
                self.closed = true;
                ctx.note(Kind::ClientClosed { client: self.client });
                ctx.exit(true);
                return;
            }
            other => {
                for done in self.net.on_event(ctx, other) {
                    match done {
                        NetDone::Connected { .. } => {}
                        NetDone::Lost { .. } => self.request_metadata(),
                        NetDone::Done { broker, token: Token::Task(action), outcome } => {
                            self.on_done(ctx, broker, action, outcome);
                        }
                        NetDone::Done { broker, token: Token::Metadata, outcome } => {
                            self.on_metadata_done(ctx, broker, outcome);
                        }
                    }
                }
            }
        }
        self.drive(ctx);
    }

    /// A new client in place of the old one: no connection is kept but those with something under way.
    fn renew(&mut self, ctx: &mut Ctx<'_>) {
        self.leaders.clear();
        self.controller = None;
        self.bootstrapped = false;
        (self.metadata, self.asked_at) = (Metadata::Requested, None);
        self.ready_deadlines.clear();
        self.net.forget_failures();
        self.brokers = self.bootstrap.clone();
        for task in self.tasks.values_mut().filter(|task| matches!(task.wire, Wire::Connecting(_))) {
            task.wire = Wire::Idle;
        }
        let kept: Set<BrokerId> =
            self.tasks.values().filter_map(|t| if let Wire::Flying(b) = t.wire { Some(b) } else { None }).collect();
        for broker in self.net.peers() {
            if !kept.contains(&broker) {
                self.net.close(ctx, broker, Channel::Client);
            }
        }
    }

    fn request_metadata(&mut self) {
        if self.metadata == Metadata::Known {
            self.metadata = Metadata::Requested;
        }
    }

    /// Where a request begins: at the leader, if one is remembered.
    fn stage_for(&self, request: &AdminRequest) -> Stage {
        match request {
            AdminRequest::DeleteRecords { topic, partition, .. } | AdminRequest::ListOffsets { topic, partition } => {
                self.leaders
                    .get(&(topic.clone(), *partition))
                    .map_or(Stage::FindLeader, |(leader, tp)| Stage::AskLeader(*leader, *tp))
            }
            AdminRequest::CreateTopic(_)
            | AdminRequest::DeleteTopic { .. }
            | AdminRequest::CreatePartitions { .. }
            | AdminRequest::AlterConfigs { .. }
            | AdminRequest::ElectLeaders { .. }
            | AdminRequest::Renew
            | AdminRequest::Connect
            | AdminRequest::DescribeTopics { .. }
            | AdminRequest::DescribeGroup { .. }
            | AdminRequest::ListCommitted { .. }
            | AdminRequest::DescribeQuorum
            | AdminRequest::DescribeCluster => first_stage(request),
        }
    }

    /// One turn of the client's loop, and when the next one is due.
    fn drive(&mut self, ctx: &mut Ctx<'_>) {
        self.expire(ctx);
        self.assign(ctx);
        self.send_eligible(ctx);
        // A connection that failed, or was given up, frees its calls at once.
        self.assign(ctx);
        self.send_eligible(ctx);
        let timer = Timer::Client(ClientTimer::Admin(0));
        match self.wake(ctx) {
            Some(at) => ctx.set(timer, at.since(ctx.now)),
            None => ctx.cancel(&timer),
        }
    }

    /// Gives up what took too long.
    fn expire(&mut self, ctx: &mut Ctx<'_>) {
        if let Metadata::Asking { wire, deadline } = self.metadata
            && is_over(ctx.now, deadline)
        {
            match wire {
                Wire::Idle => {}
                Wire::Connecting(broker) => drop(self.ready_deadlines.remove(&broker)),
                Wire::Flying(broker) => self.give_up(ctx, broker),
            }
            self.metadata = Metadata::Requested;
        }
        let unanswered: Set<BrokerId> = self
            .tasks
            .values()
            .filter(|task| is_over(ctx.now, task.unanswered_at) && !is_over(ctx.now, task.deadline))
            .filter_map(|task| if let Wire::Flying(broker) = task.wire { Some(broker) } else { None })
            .collect();
        for broker in unanswered {
            self.give_up(ctx, broker);
        }
        let over: Vec<ActionId> =
            self.tasks.iter().filter(|(_, task)| is_over(ctx.now, task.deadline)).map(|(action, _)| *action).collect();
        for action in over {
            if let Some(task) = self.tasks.remove(&action) {
                self.out_of_time(ctx, action, task);
            }
        }
    }

    /// A connection on which a request was not answered in time: whatever is in flight on it is tried again.
    fn give_up(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId) {
        for token in self.net.disconnect(ctx, broker, Channel::Client) {
            match token {
                Token::Metadata => self.metadata = Metadata::Requested,
                Token::Task(action) => self.on_done(ctx, broker, action, Outcome::Failed(Failure::TimedOut)),
            }
        }
        self.request_metadata();
    }

    /// Chooses a node for each call that has none.
    fn assign(&mut self, ctx: &mut Ctx<'_>) {
        if self.bootstrapped {
            let idle = |task: &Task| task.wire == Wire::Idle && task.not_before <= ctx.now;
            let waiting: Vec<(ActionId, Stage)> =
                self.tasks.iter().filter(|(_, t)| idle(t)).map(|(action, t)| (*action, t.stage)).collect();
            for (action, stage) in waiting {
                let Some(broker) = self.choose(ctx, stage) else {
                    self.request_metadata();
                    continue;
                };
                if let Some(task) = self.tasks.get_mut(&action) {
                    task.wire = Wire::Connecting(broker);
                }
            }
        } else if !self.tasks.is_empty() {
            self.request_metadata();
        }
        let rested = self.asked_at.is_none_or(|at| at + self.retry.first <= ctx.now);
        if self.metadata == Metadata::Requested && rested {
            self.asked_at = Some(ctx.now);
            self.metadata = Metadata::Asking { wire: Wire::Idle, deadline: ctx.now + REQUEST_TIMEOUT };
        }
        if let Metadata::Asking { wire: Wire::Idle, deadline } = self.metadata {
            let mut node = self.net.pick(ctx, &self.brokers);
            if node.is_none() && self.bootstrapped {
                // No known broker can be asked: back to the bootstrap servers (KIP-899).
                self.bootstrapped = false;
                self.brokers = self.bootstrap.clone();
                self.controller = None;
                self.net.forget_failures();
                node = self.net.pick(ctx, &self.brokers);
            }
            if let Some(broker) = node {
                self.metadata = Metadata::Asking { wire: Wire::Connecting(broker), deadline };
            }
        }
    }

    /// The node for a stage, `None` while there is none to wait for.
    fn choose(&mut self, ctx: &mut Ctx<'_>, stage: Stage) -> Option<BrokerId> {
        match stage {
            Stage::AskBroker(broker) | Stage::AskLeader(broker, _) | Stage::AskCoordinator(broker) => {
                let known = self.brokers.contains(&broker);
                Some(broker).filter(|b| known && !self.net.unavailable(ctx.now, *b, Channel::Client))
            }
            Stage::AskController => self.controller.filter(|b| !self.net.unavailable(ctx.now, *b, Channel::Client)),
            Stage::Any | Stage::DescribeCluster | Stage::FindLeader | Stage::FindCoordinator => {
                self.net.pick(ctx, &self.brokers)
            }
        }
    }

    /// Sends what waits for connections that are ready, and gives up connections that were waited for too long.
    fn send_eligible(&mut self, ctx: &mut Ctx<'_>) {
        let mut nodes: Set<BrokerId> =
            self.tasks.values().filter_map(|t| if let Wire::Connecting(b) = t.wire { Some(b) } else { None }).collect();
        if let Metadata::Asking { wire: Wire::Connecting(broker), .. } = self.metadata {
            nodes.insert(broker);
        }
        self.ready_deadlines.retain(|broker, _| nodes.contains(broker));
        for broker in nodes {
            if self.net.ready(ctx, broker, Channel::Client) {
                let until = self.ready_deadlines.remove(&broker).unwrap_or(ctx.now + REQUEST_TIMEOUT);
                self.send_to(ctx, broker, until.since(ctx.now));
                continue;
            }
            let until = *self.ready_deadlines.entry(broker).or_insert(ctx.now + REQUEST_TIMEOUT);
            if self.net.unavailable(ctx.now, broker, Channel::Client) {
                self.unassign(broker);
            } else if is_due(ctx.now, until) {
                self.net.disconnect(ctx, broker, Channel::Client);
                self.unassign(broker);
            }
        }
    }

    /// Calls that wait for this connection look for another node.
    fn unassign(&mut self, broker: BrokerId) {
        self.ready_deadlines.remove(&broker);
        for task in self.tasks.values_mut().filter(|task| task.wire == Wire::Connecting(broker)) {
            task.wire = Wire::Idle;
        }
        if let Metadata::Asking { wire, .. } = &mut self.metadata
            && *wire == Wire::Connecting(broker)
        {
            *wire = Wire::Idle;
        }
    }

    fn send_to(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, most: Dur) {
        if let Metadata::Asking { wire, deadline } = &mut self.metadata
            && *wire == Wire::Connecting(broker)
        {
            *wire = Wire::Flying(broker);
            let body = Request::Broker(BrokerRequest::Metadata(MetadataRequest {
                topics: Some(Vec::new()),
                allow_auto_topic_creation: true,
            }));
            *deadline = (*deadline).min(ctx.now + most);
            self.net.send(ctx, broker, Channel::Client, body, NO_TIMEOUT, Token::Metadata);
        }
        for (action, task) in self.tasks.iter_mut().filter(|(_, task)| task.wire == Wire::Connecting(broker)) {
            task.wire = Wire::Flying(broker);
            let timeout = task.deadline.since(ctx.now).min(most);
            task.unanswered_at = ctx.now + timeout;
            self.net.send(ctx, broker, Channel::Client, task.body(timeout), NO_TIMEOUT, Token::Task(*action));
        }
    }

    /// When the loop has something to do again without being told. A wait is a whole number of milliseconds and ends a
    /// little late.
    fn wake(&self, ctx: &mut Ctx<'_>) -> Option<SimTime> {
        let mut soonest = self.ready_deadlines.values().copied().min();
        if let Metadata::Asking { deadline, .. } = self.metadata {
            soonest = sooner(soonest, Some(deadline));
        }
        // While calls wait for a node the loop looks again all the time, and notices what else is over.
        let is_busy = self.tasks.values().any(|task| task.wire == Wire::Idle);
        for task in self.tasks.values() {
            let limit =
                if is_busy && matches!(task.wire, Wire::Flying(_)) { task.unanswered_at } else { task.deadline };
            soonest = sooner(soonest, Some(limit.min(task.deadline)));
            if task.wire == Wire::Idle && task.not_before > ctx.now {
                soonest = sooner(soonest, Some(task.not_before));
            }
        }
        if self.metadata == Metadata::Requested {
            soonest = sooner(soonest, self.asked_at.map(|at| at + self.retry.first));
        }
        soonest = sooner(soonest, self.net.wake(ctx.now));
        let wait = (soonest?.0 / 1_000).saturating_sub(ctx.now.0 / 1_000).max(1);
        Some(ctx.now + Dur::ms(wait) + Dur(u64::from(ctx.rng.below(LATE_US))))
    }

    fn out_of_time(&mut self, ctx: &mut Ctx<'_>, action: ActionId, task: Task) {
        match task.wire {
            Wire::Idle => {}
            Wire::Connecting(broker) => drop(self.ready_deadlines.remove(&broker)),
            // A request that nobody answers takes its connection with it.
            Wire::Flying(broker) => self.give_up(ctx, broker),
        }
        if matches!(task.request, AdminRequest::ListOffsets { .. }) && task.tries < OFFSET_TRIES {
            self.renew(ctx);
            let (tries, stage) = (task.tries + 1, self.stage_for(&task.request));
            self.tasks.insert(action, Task { tries, ..Task::new(task.request, stage, ctx.now) });
            return;
        }
        if matches!(task.request, AdminRequest::DescribeTopics { .. } | AdminRequest::DescribeCluster) {
            self.renew(ctx);
        }
        self.finish(ctx, action, refused(ErrorCode::RequestTimedOut));
    }

    fn finish(&mut self, ctx: &mut Ctx<'_>, action: ActionId, answer: AdminAnswer) {
        let (error, message) = match &answer {
            AdminAnswer::Refused { error, message, .. } => (*error, message.clone()),
            AdminAnswer::Done
            | AdminAnswer::Topics(_)
            | AdminAnswer::Offsets { .. }
            | AdminAnswer::Group { .. }
            | AdminAnswer::Committed(_)
            | AdminAnswer::Quorum(_)
            | AdminAnswer::Brokers(_) => (ErrorCode::None, None),
        };
        self.answers.insert(action, answer);
        ctx.note(Kind::ActionAnswered { action, error, message });
    }

    fn on_metadata_done(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, outcome: Outcome) {
        if !matches!(self.metadata, Metadata::Asking { wire: Wire::Flying(asked), .. } if asked == broker) {
            return;
        }
        let Outcome::Answer(Response::Broker(BrokerResponse::Metadata(answer))) = outcome else {
            self.metadata = Metadata::Requested;
            return;
        };
        if !self.bootstrapped {
            // Bootstrap servers have ids of their own (-1, -2, …), of no use any more: whichever broker is asked next
            // is connected to anew, even one that did not answer under its other id.
            self.bootstrapped = true;
            self.net.forget_failures();
            if self.net.n_in_flight(broker, Channel::Client) == 0 {
                self.net.close(ctx, broker, Channel::Client);
            }
        }
        if !answer.brokers.is_empty() {
            self.brokers = answer.brokers;
        }
        self.controller = Some(self.brokers[ctx.rng.below(self.brokers.len() as u32) as usize]);
        self.metadata = Metadata::Known;
        // Calls that are not sent yet may have a better node now.
        let nodes: Vec<BrokerId> = self.ready_deadlines.keys().copied().collect();
        for broker in nodes {
            self.unassign(broker);
        }
    }

    fn on_done(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, action: ActionId, outcome: Outcome) {
        let Some(mut task) = self.tasks.remove(&action) else { return };
        if task.wire != Wire::Flying(broker) {
            self.tasks.insert(action, task);
            return;
        }
        let asked = match &task.request {
            AdminRequest::ListOffsets { topic, partition } | AdminRequest::DeleteRecords { topic, partition, .. } => {
                Some((topic.clone(), *partition))
            }
            _of_no_leader => None,
        };
        if let Outcome::Failed(_) = outcome
            && let Some(asked) = asked.filter(|_| !task.remembered)
        {
            self.leaders.remove(&asked);
        }
        task.wire = Wire::Idle;
        let stage = task.stage;
        let next = match outcome {
            Outcome::Answer(answer) => self.interpret(&mut task, broker, answer),
            // A cluster that was described once is not described again.
            Outcome::Failed(_) if stage == Stage::Any || task.remembered => Next::Retry(stage),
            Outcome::Failed(_) => Next::Retry(self.stage_for(&task.request)),
        };
        if stage == Stage::DescribeCluster && matches!(next, Next::Go(_)) {
            task.deadline = ctx.now + DESCRIBE_TOPICS_TIMEOUT;
        }
        match next {
            Next::Finish(answer) => return self.finish(ctx, action, answer),
            Next::Go(stage) => task.stage = stage,
            Next::Retry(stage) => {
                task.stage = stage;
                task.failures += 1;
                task.not_before = ctx.now + self.retry.after(task.failures, ctx.rng);
            }
        }
        self.tasks.insert(action, task);
    }
}

#[cfg(test)]
mod tests;
