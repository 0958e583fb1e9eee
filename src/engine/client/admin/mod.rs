//! The admin client: one request per action, retried within its time-out, and its answer kept. It watches nothing by
//! itself.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{ActionId, BrokerId, ClientId, Dur, Incarnation, LeaderEpoch, NodeId, Offset, SimTime, Tp};
use crate::client::config::{Backoff, CommonConfig, sooner};
use crate::client::net::{Net, NetDone};
use crate::node::message::{AdminRequest, ClientCommand};
use crate::node::{Channel, ClientTimer, Ctx, Event, Outcome, Timer};
use crate::protocol::{
    ApiError, ConfigTarget, CreateTopicRequest, DescribedGroup, DescribedQuorum, DescribedTopic, ErrorCode, Isolation,
    ListOffsetsRequest, MetadataRequest, MetadataResponse, OffsetAndMetadata, OffsetSpec, Placement, Request, Response,
};
use crate::trace::Kind;

/// Kafka's admin client sets no limit to the requests of a connection; the number is part of the world, and so the same
/// on every target.
const NO_LIMIT: usize = u32::MAX as usize;

/// `request.timeout.ms` of the administrator's client.
const REQUEST_TIMEOUT: Dur = Dur::secs(8);
/// `default.api.timeout.ms` of the administrator's client.
const API_TIMEOUT: Dur = Dur::secs(20);
/// A look-up of a leader or a coordinator that is not answered for this long is made at another broker. The Java client
/// would
/// wait for its time-out; an observer must not depend on the luck of having asked a broker that stands still.
const LOOK_UP_PATIENCE: Dur = Dur::ms(300);
/// What `describeTopics` is given, after its `describeCluster`, which has the time-out of the client.
const DESCRIBE_TOPICS_TIMEOUT: Dur = Dur::secs(10);
/// Offsets are asked for this often, each time with a new client.
const OFFSET_TRIES: u32 = 3;

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

/// Where a task stands with the node that it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wire {
    /// Has to choose a node.
    Idle,
    Connecting(BrokerId),
    Flying(BrokerId),
}

/// What a task needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// A new client learns from a bootstrap server which brokers there are.
    Bootstrap,
    /// The request itself, to any broker.
    Any,
    /// The request itself, to the broker that the metadata names as controller.
    AskController,
    /// `describeCluster`, with which `describeTopics` begins (4.0+).
    DescribeCluster,
    /// The request itself, to the one broker that it concerns.
    AskBroker(BrokerId),
    FindLeader,
    AskLeader(BrokerId, Tp),
    FindCoordinator,
    AskCoordinator(BrokerId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Task {
    request: AdminRequest,
    stage: Stage,
    wire: Wire,
    deadline: SimTime,
    not_before: SimTime,
    /// When the present broker was chosen.
    asked_at: SimTime,
    /// Which of the three offset questions is next.
    question: u32,
    offsets: [Offset; 3],
    tries: u32,
    failures: u32,
    /// The leader that it asks was remembered, not looked up for this call: a lost connection does not make the client
    /// look again, only the leader's own answer does.
    remembered: bool,
}

/// The admin client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Admin {
    bootstrap: Vec<BrokerId>,
    brokers: Vec<BrokerId>,
    /// Leaders as they last answered: the next question goes to them without a look-up (the partition-leader cache of
    /// the Java client).
    leaders: BTreeMap<(Rc<str>, u32), (BrokerId, Tp)>,
    /// The broker that is taken for the controller: under KRaft brokers name any living one of them, drawn at random for
    /// each answer, and it passes on what it is asked.
    controller: Option<BrokerId>,
    /// The connection to a bootstrap server that has told what it had to.
    forget: Option<BrokerId>,
    /// Whether this client has its first metadata.
    bootstrapped: bool,
    net: Net<ActionId>,
    retry: Backoff,
    tasks: BTreeMap<ActionId, Task>,
    answers: BTreeMap<ActionId, AdminAnswer>,
    client: ClientId,
    closed: bool,
}

/// What an answer means for its task.
enum Next {
    Finish(AdminAnswer),
    /// Again after a pause, from this stage on.
    Retry(Stage),
    /// On to this stage at once.
    Go(Stage),
}

fn refused(error: ErrorCode) -> AdminAnswer {
    AdminAnswer::Refused { error, exception: error.exception(), message: None }
}

/// The time that the request as a whole is given.
fn time_limit(request: &AdminRequest) -> Dur {
    match request {
        AdminRequest::CreateTopic(CreateTopicRequest { timeout, .. }) if *timeout > Dur::ZERO => *timeout,
        AdminRequest::CreateTopic(CreateTopicRequest { placement: Placement::Counts { .. }, .. }) => Dur::secs(15),
        AdminRequest::CreateTopic(_)
        | AdminRequest::DeleteTopic { .. }
        | AdminRequest::CreatePartitions { .. }
        | AdminRequest::DeleteRecords { .. }
        | AdminRequest::AlterConfigs { .. }
        | AdminRequest::ElectLeaders { .. }
        | AdminRequest::DescribeTopics { .. }
        | AdminRequest::Renew => API_TIMEOUT,
        AdminRequest::ListOffsets { .. } => Dur::secs(4),
        AdminRequest::DescribeGroup { .. }
        | AdminRequest::ListCommitted { .. }
        | AdminRequest::DescribeQuorum
        | AdminRequest::DescribeCluster => Dur::secs(5),
    }
}

fn first_stage(request: &AdminRequest) -> Stage {
    match request {
        AdminRequest::DeleteRecords { .. } | AdminRequest::ListOffsets { .. } => Stage::FindLeader,
        AdminRequest::DescribeGroup { .. } | AdminRequest::ListCommitted { .. } => Stage::FindCoordinator,
        AdminRequest::CreateTopic(_)
        | AdminRequest::DeleteTopic { .. }
        | AdminRequest::CreatePartitions { .. }
        | AdminRequest::ElectLeaders { .. } => Stage::AskController,
        AdminRequest::DescribeTopics { .. } => Stage::DescribeCluster,
        AdminRequest::AlterConfigs { resource: ConfigTarget::Broker(broker), .. } => Stage::AskBroker(*broker),
        AdminRequest::AlterConfigs { resource: ConfigTarget::Topic(_) | ConfigTarget::Cluster, .. }
        | AdminRequest::DescribeCluster
        | AdminRequest::DescribeQuorum
        | AdminRequest::Renew => Stage::Any,
    }
}

impl Admin {
    pub fn start(client: ClientId, incarnation: Incarnation, bootstrap: Vec<BrokerId>) -> Admin {
        let retry = Backoff { first: Dur::ms(100), most: Dur::secs(1), exponential: true };
        let reconnect = Backoff { first: Dur::ms(50), most: Dur::secs(1), exponential: true };
        let config = CommonConfig {
            request_timeout: REQUEST_TIMEOUT,
            retry,
            reconnect,
            metadata_max_age: Dur::secs(300),
            rebootstrap: true,
            leader_hints: false,
        };
        let net = Net::new(NodeId::Client(client), incarnation, config, NO_LIMIT);
        Admin {
            brokers: bootstrap.clone(),
            bootstrap,
            leaders: BTreeMap::new(),
            controller: None,
            forget: None,
            bootstrapped: false,
            net,
            retry,
            tasks: BTreeMap::new(),
            answers: BTreeMap::new(),
            client,
            closed: false,
        }
    }

    /// The answer to an action, once there is one.
    pub fn admin_answer(&self, action: ActionId) -> Option<&AdminAnswer> {
        self.answers.get(&action)
    }

    /// Actions that have no answer yet, with the broker that they wait for.
    pub fn pending(&self) -> impl Iterator<Item = (ActionId, Option<BrokerId>, SimTime)> {
        self.tasks.iter().map(|(action, task)| {
            let broker = match task.wire {
                Wire::Idle => None,
                Wire::Connecting(broker) | Wire::Flying(broker) => Some(broker),
            };
            (*action, broker, task.deadline)
        })
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
            Event::Command(ClientCommand::Admin { action, request }) => {
                if request == AdminRequest::Renew {
                    self.renew(ctx);
                    self.finish(ctx, action, AdminAnswer::Done);
                    return self.drive(ctx);
                }
                let (stage, deadline) = (self.stage_for(&request), ctx.now + time_limit(&request));
                let remembered = matches!(stage, Stage::AskLeader(..));
                let task = Task {
                    request,
                    stage,
                    wire: Wire::Idle,
                    deadline,
                    not_before: ctx.now,
                    asked_at: ctx.now,
                    question: 0,
                    offsets: [-1; 3],
                    tries: 1,
                    failures: 0,
                    remembered,
                };
                self.tasks.insert(action, task);
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
                        NetDone::Connected { .. } | NetDone::Lost { .. } => {}
                        NetDone::Done { broker, token, outcome } => self.on_done(ctx, broker, token, outcome),
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
        self.net.forget_failures();
        self.brokers = self.bootstrap.clone();
        for broker in self.bootstrap.clone() {
            if self.net.n_in_flight(broker, Channel::Client) == 0 {
                self.net.close(ctx, broker, Channel::Client);
            }
        }
    }

    /// Where a request begins: at the leader, if one is remembered.
    fn stage_for(&self, request: &AdminRequest) -> Stage {
        if !self.bootstrapped {
            return Stage::Bootstrap;
        }
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
            | AdminRequest::DescribeTopics { .. }
            | AdminRequest::DescribeGroup { .. }
            | AdminRequest::ListCommitted { .. }
            | AdminRequest::DescribeQuorum
            | AdminRequest::DescribeCluster => first_stage(request),
        }
    }

    /// A look-up has waited long enough at one broker: another is asked, the first answer counts.
    fn look_elsewhere(&mut self, ctx: &mut Ctx<'_>, task: &mut Task) {
        let is_look_up = matches!(task.stage, Stage::FindLeader | Stage::FindCoordinator);
        if let Wire::Flying(broker) | Wire::Connecting(broker) = task.wire
            && is_look_up
            && ctx.now >= task.asked_at + LOOK_UP_PATIENCE
        {
            let others: Vec<BrokerId> = self
                .brokers
                .iter()
                .copied()
                .filter(|b| *b != broker && !self.net.unavailable(ctx.now, *b, Channel::Client))
                .collect();
            if !others.is_empty() {
                task.wire = Wire::Connecting(others[ctx.rng.below(others.len() as u32) as usize]);
            }
            task.asked_at = ctx.now;
        }
    }

    fn drive(&mut self, ctx: &mut Ctx<'_>) {
        let actions: Vec<ActionId> = self.tasks.keys().copied().collect();
        let mut wake = self.net.wake(ctx.now);
        for action in actions {
            self.step(ctx, action);
            if let Some(task) = self.tasks.get(&action) {
                let retry = (task.not_before > ctx.now).then_some(task.not_before);
                wake = sooner(wake, sooner(Some(task.deadline), retry));
                if matches!(task.stage, Stage::FindLeader | Stage::FindCoordinator) && task.wire != Wire::Idle {
                    wake = sooner(wake, Some(task.asked_at + LOOK_UP_PATIENCE));
                }
            }
        }
        wake = sooner(wake, self.net.wake(ctx.now));
        let timer = Timer::Client(ClientTimer::Admin(0));
        match wake {
            Some(at) => ctx.set(timer, at.since(ctx.now)),
            None => ctx.cancel(&timer),
        }
    }

    fn step(&mut self, ctx: &mut Ctx<'_>, action: ActionId) {
        let Some(mut task) = self.tasks.remove(&action) else { return };
        if task.deadline <= ctx.now {
            return self.out_of_time(ctx, action, task);
        }
        self.look_elsewhere(ctx, &mut task);
        loop {
            match task.wire {
                Wire::Flying(_) => break,
                Wire::Idle if task.not_before > ctx.now => break,
                Wire::Idle if task.stage == Stage::Bootstrap && self.bootstrapped => {
                    task.stage = self.stage_for(&task.request);
                }
                // One metadata request is enough for all that wait for it.
                Wire::Idle if task.stage == Stage::Bootstrap && self.is_bootstrapping() => break,
                Wire::Idle => match self.choose(ctx, task.stage) {
                    Some(broker) => (task.wire, task.asked_at) = (Wire::Connecting(broker), ctx.now),
                    None => break,
                },
                Wire::Connecting(broker) => {
                    if self.net.ready(ctx, broker, Channel::Client) {
                        let timeout = task.deadline.since(ctx.now).min(REQUEST_TIMEOUT);
                        let request = self.request(&task, timeout);
                        self.net.send(ctx, broker, Channel::Client, request, timeout, action);
                        task.wire = Wire::Flying(broker);
                        break;
                    }
                    if !self.net.unavailable(ctx.now, broker, Channel::Client) {
                        break;
                    }
                    // The connection failed: another node, or whoever leads by now.
                    task.wire = Wire::Idle;
                    match task.stage {
                        Stage::Bootstrap
                        | Stage::Any
                        | Stage::AskController
                        | Stage::DescribeCluster
                        | Stage::FindLeader
                        | Stage::FindCoordinator => {}
                        Stage::AskBroker(_) => break,
                        Stage::AskLeader(..) if task.remembered => break,
                        Stage::AskLeader(..) | Stage::AskCoordinator(_) => {
                            task.stage = first_stage(&task.request);
                            task.failures += 1;
                            task.not_before = ctx.now + self.retry.after(task.failures, ctx.rng);
                        }
                    }
                }
            }
        }
        self.tasks.insert(action, task);
    }

    fn is_bootstrapping(&self) -> bool {
        self.tasks.values().any(|task| task.stage == Stage::Bootstrap && task.wire != Wire::Idle)
    }

    /// The node for a stage, `None` while every candidate rests.
    fn choose(&mut self, ctx: &mut Ctx<'_>, stage: Stage) -> Option<BrokerId> {
        let list = match stage {
            Stage::AskBroker(broker) | Stage::AskLeader(broker, _) | Stage::AskCoordinator(broker) => {
                return Some(broker).filter(|b| !self.net.unavailable(ctx.now, *b, Channel::Client));
            }
            Stage::AskController => match self.controller {
                Some(broker) if !self.net.unavailable(ctx.now, broker, Channel::Client) => return Some(broker),
                Some(_) | None => &self.brokers,
            },
            Stage::Bootstrap => &self.bootstrap,
            Stage::Any | Stage::DescribeCluster | Stage::FindLeader | Stage::FindCoordinator => &self.brokers,
        };
        let open: Vec<BrokerId> =
            list.iter().copied().filter(|b| !self.net.unavailable(ctx.now, *b, Channel::Client)).collect();
        if open.is_empty() {
            self.brokers = self.bootstrap.clone();
            return None;
        }
        if stage == Stage::AskController {
            self.controller = Some(open[ctx.rng.below(open.len() as u32) as usize]);
            return self.controller;
        }
        // A connected node without a request in flight comes first (NetworkClient.leastLoadedNode).
        let idle: Vec<BrokerId> = open
            .iter()
            .copied()
            .filter(|b| self.net.is_ready(*b, Channel::Client) && self.net.n_in_flight(*b, Channel::Client) == 0)
            .collect();
        let list = if idle.is_empty() { open } else { idle };
        Some(list[ctx.rng.below(list.len() as u32) as usize])
    }

    fn request(&self, task: &Task, timeout: Dur) -> Request {
        let metadata = |topics: Vec<Rc<str>>| {
            Request::Metadata(MetadataRequest { topics: Some(topics), allow_auto_topic_creation: false })
        };
        match (task.stage, &task.request) {
            (Stage::Bootstrap | Stage::DescribeCluster, _) => metadata(Vec::new()),
            (
                Stage::FindLeader,
                AdminRequest::DeleteRecords { topic, .. } | AdminRequest::ListOffsets { topic, .. },
            ) => metadata(alloc::vec![topic.clone()]),
            (Stage::FindCoordinator, AdminRequest::DescribeGroup { group } | AdminRequest::ListCommitted { group }) => {
                Request::FindCoordinator { group: group.clone() }
            }
            (Stage::AskLeader(_, tp), AdminRequest::DeleteRecords { before, .. }) => {
                Request::DeleteRecords { tp, before: *before, timeout }
            }
            (Stage::AskLeader(_, tp), _) => {
                let (spec, isolation) = match task.question {
                    0 => (OffsetSpec::Earliest, Isolation::ReadUncommitted),
                    1 => (OffsetSpec::Latest, Isolation::ReadUncommitted),
                    _ => (OffsetSpec::Latest, Isolation::ReadCommitted),
                };
                Request::ListOffsets(ListOffsetsRequest {
                    replica: None,
                    isolation,
                    partitions: alloc::vec![(tp, None, spec)],
                })
            }
            (
                Stage::Any
                | Stage::AskController
                | Stage::AskBroker(_)
                | Stage::FindLeader
                | Stage::FindCoordinator
                | Stage::AskCoordinator(_),
                request,
            ) => match request {
                AdminRequest::CreateTopic(create) => {
                    Request::CreateTopics(CreateTopicRequest { timeout, ..create.clone() })
                }
                AdminRequest::DeleteTopic { name } => Request::DeleteTopics { name: name.clone() },
                AdminRequest::CreatePartitions { name, total } => {
                    Request::CreatePartitions { name: name.clone(), total: *total }
                }
                AdminRequest::AlterConfigs { resource, configs } => {
                    Request::IncrementalAlterConfigs { resource: resource.clone(), configs: configs.clone() }
                }
                AdminRequest::ElectLeaders { topic, partition, unclean } => {
                    Request::ElectLeaders { topic: topic.clone(), partition: *partition, unclean: *unclean }
                }
                AdminRequest::DescribeTopics { topics } => Request::DescribeTopicPartitions { topics: topics.clone() },
                AdminRequest::DescribeGroup { group } => Request::DescribeGroups { group: group.clone() },
                AdminRequest::ListCommitted { group } => Request::OffsetFetch { group: group.clone() },
                AdminRequest::DescribeQuorum => Request::DescribeQuorum,
                AdminRequest::DescribeCluster
                | AdminRequest::DeleteRecords { .. }
                | AdminRequest::ListOffsets { .. }
                | AdminRequest::Renew => metadata(Vec::new()),
            },
        }
    }

    fn out_of_time(&mut self, ctx: &mut Ctx<'_>, action: ActionId, mut task: Task) {
        // A request that nobody answers takes its connection with it.
        if let Wire::Flying(broker) = task.wire {
            for other in self.net.close(ctx, broker, Channel::Client) {
                if let Some(other) = self.tasks.get_mut(&other) {
                    other.wire = Wire::Idle;
                }
            }
        }
        if matches!(task.request, AdminRequest::ListOffsets { .. }) && task.tries < OFFSET_TRIES {
            self.renew(ctx);
            task.tries += 1;
            task.question = 0;
            task.remembered = false;
            task.deadline = ctx.now + time_limit(&task.request);
            (task.stage, task.wire, task.not_before) = (self.stage_for(&task.request), Wire::Idle, ctx.now);
            self.tasks.insert(action, task);
            return self.step(ctx, action);
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

    fn on_done(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, action: ActionId, outcome: Outcome) {
        let Some(mut task) = self.tasks.remove(&action) else { return };
        let is_late_look_up = matches!(task.stage, Stage::FindLeader | Stage::FindCoordinator)
            && matches!(&outcome, Outcome::Answer(Response::Metadata(_) | Response::FindCoordinator { .. }));
        if task.wire != Wire::Flying(broker) && !is_late_look_up {
            self.tasks.insert(action, task);
            return;
        }
        if let Outcome::Failed(_) = outcome
            && !task.remembered
            && let AdminRequest::ListOffsets { topic, partition } | AdminRequest::DeleteRecords { topic, partition, .. } =
                &task.request
        {
            self.leaders.remove(&(topic.clone(), *partition));
        }
        task.wire = Wire::Idle;
        let stage = task.stage;
        let next = match outcome {
            Outcome::Answer(answer) => self.interpret(&mut task, broker, answer),
            // A cluster that was described once is not described again.
            Outcome::Failed(_) if stage == Stage::Any || task.remembered => Next::Retry(stage),
            Outcome::Failed(_) => Next::Retry(self.stage_for(&task.request)),
        };
        if self.controller == Some(broker) && matches!(next, Next::Retry(_)) {
            self.controller = None;
        }
        if stage == Stage::DescribeCluster && matches!(next, Next::Go(_)) {
            task.deadline = ctx.now + DESCRIBE_TOPICS_TIMEOUT;
        }
        if let Some(server) = self.forget.take().filter(|b| self.net.n_in_flight(*b, Channel::Client) == 0) {
            self.net.close(ctx, server, Channel::Client);
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

    fn interpret(&mut self, task: &mut Task, broker: BrokerId, answer: Response) -> Next {
        let changed = |answer: ApiError| match answer.error {
            ErrorCode::None => Next::Finish(AdminAnswer::Done),
            ErrorCode::NotController => Next::Retry(Stage::AskController),
            error => {
                let message = Some(answer.sentence());
                Next::Finish(AdminAnswer::Refused { error, exception: error.exception(), message })
            }
        };
        match answer {
            Response::Metadata(answer) if task.stage == Stage::Bootstrap => {
                // Bootstrap servers have ids of their own (-1, -2, …), of no use any more: whichever broker is asked
                // next is connected to
                // anew, even one that did not answer under its other id.
                self.bootstrapped = true;
                self.net.forget_failures();
                if !answer.brokers.is_empty() {
                    self.brokers = answer.brokers;
                }
                self.forget = Some(broker);
                Next::Go(self.stage_for(&task.request))
            }
            Response::Metadata(answer) if task.stage == Stage::DescribeCluster => {
                if !answer.brokers.is_empty() {
                    self.brokers = answer.brokers;
                }
                Next::Go(Stage::Any)
            }
            Response::Metadata(answer) => self.on_metadata(task, answer),
            Response::CreateTopics(answer)
            | Response::DeleteTopics(answer)
            | Response::CreatePartitions(answer)
            | Response::ElectLeaders(answer)
            | Response::IncrementalAlterConfigs(answer) => changed(answer),
            Response::DeleteRecords { error, .. } if error.refreshes_metadata() => {
                task.remembered = false;
                Next::Retry(Stage::FindLeader)
            }
            Response::DeleteRecords { error, .. } => changed(error.into()),
            Response::FindCoordinator { error: ErrorCode::None, coordinator: Some(coordinator) } => {
                Next::Go(Stage::AskCoordinator(coordinator))
            }
            Response::FindCoordinator { error, .. } if error.is_none() || error.retriable() => {
                Next::Retry(Stage::FindCoordinator)
            }
            Response::FindCoordinator { error, .. } => Next::Finish(refused(error)),
            Response::DescribeGroups(group) if group.error.is_none() => {
                Next::Finish(AdminAnswer::Group { coordinator: broker, group })
            }
            Response::DescribeGroups(DescribedGroup { error, .. }) | Response::OffsetFetch { error, .. }
                if error.retriable() =>
            {
                Next::Retry(Stage::FindCoordinator)
            }
            Response::DescribeGroups(group) => Next::Finish(refused(group.error)),
            Response::OffsetFetch { error: ErrorCode::None, offsets } => Next::Finish(AdminAnswer::Committed(offsets)),
            Response::OffsetFetch { error, .. } => Next::Finish(refused(error)),
            Response::DescribeQuorum(quorum) if quorum.error.is_none() => Next::Finish(AdminAnswer::Quorum(quorum)),
            Response::DescribeQuorum(quorum) if quorum.error.retriable() => Next::Retry(Stage::Any),
            Response::DescribeQuorum(quorum) => Next::Finish(refused(quorum.error)),
            Response::DescribeTopicPartitions { topics } => {
                let named = matches!(&task.request, AdminRequest::DescribeTopics { topics: Some(_) });
                match topics.iter().find(|t| named && !t.error.is_none()) {
                    Some(topic) => Next::Finish(refused(topic.error)),
                    None => Next::Finish(AdminAnswer::Topics(topics)),
                }
            }
            Response::ListOffsets { partitions } => match partitions.first() {
                Some(listed) if listed.error.is_none() => {
                    task.offsets[task.question.min(2) as usize] = listed.offset;
                    task.question += 1;
                    let [earliest, latest, last_stable] = task.offsets;
                    if let (AdminRequest::ListOffsets { topic, partition }, Stage::AskLeader(leader, tp)) =
                        (&task.request, task.stage)
                    {
                        self.leaders.insert((topic.clone(), *partition), (leader, tp));
                        task.remembered = true;
                    }
                    if task.question < 3 {
                        Next::Go(task.stage)
                    } else {
                        Next::Finish(AdminAnswer::Offsets {
                            earliest,
                            latest,
                            last_stable,
                            leader_epoch: listed.leader_epoch,
                        })
                    }
                }
                Some(_) | None => {
                    if let AdminRequest::ListOffsets { topic, partition } = &task.request {
                        self.leaders.remove(&(topic.clone(), *partition));
                    }
                    task.remembered = false;
                    Next::Retry(Stage::FindLeader)
                }
            },
            Response::Produce { .. }
            | Response::Fetch { .. }
            | Response::QuorumFetch(_)
            | Response::OffsetCommit { .. }
            | Response::JoinGroup(_)
            | Response::Heartbeat { .. }
            | Response::LeaveGroup { .. }
            | Response::SyncGroup { .. }
            | Response::InitProducerId { .. }
            | Response::OffsetForLeaderEpoch { .. }
            | Response::Vote { .. }
            | Response::BeginQuorumEpoch { .. }
            | Response::EndQuorumEpoch { .. }
            | Response::AlterPartition { .. }
            | Response::BrokerRegistration { .. }
            | Response::BrokerHeartbeat { .. }
            | Response::AllocateProducerIds { .. }
            | Response::AssignReplicasToDirs { .. } => Next::Finish(refused(ErrorCode::UnknownServerError)),
        }
    }

    fn on_metadata(&mut self, task: &mut Task, answer: MetadataResponse) -> Next {
        if !answer.brokers.is_empty() {
            self.brokers = answer.brokers.clone();
        }
        match (task.stage, &task.request) {
            (_, AdminRequest::DeleteRecords { partition, .. } | AdminRequest::ListOffsets { partition, .. }) => {
                let topic = answer.topics.first();
                let found = topic.and_then(|t| t.topic.zip(t.partitions.get(*partition as usize)));
                match found.and_then(|(id, p)| p.leader.map(|leader| (leader, Tp { topic: id, partition: *partition })))
                {
                    Some((leader, tp)) => Next::Go(Stage::AskLeader(leader, tp)),
                    None => Next::Retry(Stage::FindLeader),
                }
            }
            (_, _) => {
                let mut brokers = answer.brokers;
                brokers.sort();
                Next::Finish(AdminAnswer::Brokers(brokers))
            }
        }
    }
}

#[cfg(test)]
mod tests;
