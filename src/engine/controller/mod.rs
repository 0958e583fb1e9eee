//! A controller: a voter of the quorum that, while it leads and has caught up with its own past, decides for the
//! cluster (KIP-500, KIP-631). It never acts on a record before it is in its log.

mod balance;
mod brokers;
mod configs;
mod directories;
mod election;
mod heartbeats;
mod partitions;
mod placer;
mod refusals;
mod sessions;
mod topics;
mod view;
mod writing;

#[cfg(test)]
mod broker_tests;
#[cfg(test)]
mod directory_tests;
#[cfg(test)]
mod election_tests;
#[cfg(test)]
mod failover_tests;
#[cfg(test)]
mod placer_tests;
#[cfg(test)]
mod sequence_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod topic_tests;

use alloc::rc::Rc;
use alloc::vec::Vec;
pub use sessions::{BrokerSession, Sessions};
pub use view::{RecordView, record_name};

use crate::base::{ControllerId, CorrelationId, Incarnation, Map, NodeId, Offset, QuorumEpoch, Seq};
use crate::metadata::MetadataImage;
use crate::node::inbox::Ready;
use crate::node::{ConnId, ControllerTimer, Ctx, Event, Inbox, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{
    Api, CONSUMER_OFFSETS, ClusterRequest, ControllerRequest, ErrorCode, MetadataRecord, Request, Response,
};
use crate::quorum::{Voter, VoterStart};
use crate::rules::Rules;
use crate::trace::{Creator, IsrChanger, Kind};

/// How a controller is started.
#[derive(Clone, Debug)]
pub struct ControllerStart {
    pub id: ControllerId,
    pub incarnation: Incarnation,
    pub config: Rc<NodeConfig>,
    pub rules: Rules,
    /// All controllers, this one included.
    pub voters: Vec<ControllerId>,
}

/// A controller process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Controller {
    id: ControllerId,
    config: Rc<NodeConfig>,
    rules: Rules,
    voter: Voter,
    inbox: Inbox,
    /// Committed records; those that are not yet committed too while this controller is active.
    image: MetadataImage,
    active: Option<Active>,
    /// Answers that are due, with the entry that made them.
    due: Vec<Due>,
}

/// What only the active controller has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Active {
    epoch: QuorumEpoch,
    /// The entry of its activation: what it does because time passes comes of that.
    since: Seq,
    sessions: Sessions,
    /// Answers that wait for the high watermark to reach an offset.
    waiting: Map<Offset, Vec<Waiting>>,
}

/// A decided answer whose records are not committed yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    conn: ConnId,
    correlation: CorrelationId,
    asked: Asked,
    response: Response,
    cause: Seq,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Due {
    conn: ConnId,
    correlation: CorrelationId,
    response: Option<Response>,
    /// `None`: whatever is being handled.
    cause: Option<Seq>,
}

/// What the active controller is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Cluster { request: ClusterRequest, by: Creator },
    Controller(ControllerRequest),
}

impl Asked {
    const fn api(&self) -> Api {
        match self {
            Asked::Cluster { request, .. } => request.api(),
            Asked::Controller(request) => request.api(),
        }
    }
}

/// What a handler has decided.
struct Decision {
    records: Vec<MetadataRecord>,
    response: Response,
    /// Who is named as having changed an ISR.
    by: IsrChanger,
}

impl Decision {
    fn new(records: Vec<MetadataRecord>, response: impl Into<Response>) -> Decision {
        Decision { records, response: response.into(), by: IsrChanger::Controller }
    }
    fn answer(response: impl Into<Response>) -> Decision {
        Decision::new(Vec::new(), response)
    }
}

impl Controller {
    /// Starts the process on what its disk holds. A single voter is active when this returns.
    pub fn start(ctx: &mut Ctx<'_>, start: ControllerStart) -> Controller {
        let ControllerStart { id, incarnation, config, rules, voters } = start;
        let voter = Voter::start(ctx, VoterStart { id, incarnation, config: config.clone(), rules, voters });
        let mut controller = Controller {
            id,
            config,
            rules,
            voter,
            inbox: Inbox::default(),
            image: MetadataImage::default(),
            active: None,
            due: Vec::new(),
        };
        controller.settle(ctx);
        controller
    }

    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match event {
            Event::Request { conn, correlation, body } => {
                if let Some(ready) = self.inbox.on_request(ctx, conn, correlation, body) {
                    self.serve(ctx, ready);
                }
            }
            Event::Response { conn, correlation, body } => self.voter.on_response(ctx, conn, correlation, body),
            Event::Reset { conn } => self.inbox.on_reset(conn),
            Event::Disconnected { conn } => {
                if conn.client == NodeId::Controller(self.id) {
                    self.voter.on_disconnected(ctx, conn);
                } else {
                    self.inbox.on_disconnected(ctx, conn);
                    self.voter.on_client_gone(ctx, conn);
                }
            }
            Event::Timer(timer) => self.on_timer(ctx, timer),
            Event::Shutdown => self.voter.shutdown(ctx),
            Event::Connected { .. } | Event::Command(_) => {}
        }
        self.settle(ctx);
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>, timer: Timer) {
        match timer {
            Timer::RequestTimeout(conn) => self.voter.on_request_timeout(ctx, conn),
            Timer::Read(conn) => {
                if let Some(ready) = self.inbox.read(ctx, conn) {
                    self.serve(ctx, ready);
                }
            }
            Timer::Quorum(timer) => self.voter.on_timer(ctx, &timer),
            Timer::Controller(timer) => {
                // A timer of a leadership that has just ended decides nothing.
                if self.is_leading() {
                    match timer {
                        ControllerTimer::Session(broker) => self.on_session_timer(ctx, broker),
                        ControllerTimer::SessionCheck => self.on_session_check(ctx),
                        ControllerTimer::NoOp => self.on_no_op(ctx),
                        ControllerTimer::PreferredBalance => self.on_preferred_balance(ctx),
                        ControllerTimer::UncleanBalance => self.on_unclean_balance(ctx),
                    }
                }
            }
            Timer::Broker(_) | Timer::Group(_) | Timer::Client(_) => {}
        }
    }

    /// Active, and the quorum still agrees.
    fn is_leading(&self) -> bool {
        match (&self.active, self.voter.leadership()) {
            (Some(active), Some((epoch, _))) => active.epoch == epoch,
            (Some(_) | None, Some(_) | None) => false,
        }
    }

    /// Follows the quorum and gives the answers that are due, until nothing moves any more.
    fn settle(&mut self, ctx: &mut Ctx<'_>) {
        loop {
            self.follow_quorum(ctx);
            let mut due = core::mem::take(&mut self.due);
            due.extend(self.voter.take_ready().into_iter().map(|(conn, correlation, response)| Due {
                conn,
                correlation,
                response: response.map(Into::into),
                cause: None,
            }));
            if due.is_empty() {
                return;
            }
            for Due { conn, correlation, response, cause } in due {
                let cause = cause.unwrap_or(ctx.cause);
                ctx.caused_by(cause, |ctx| match response {
                    Some(response) => self.inbox.answer(ctx, conn, correlation, response),
                    None => {
                        if let Some(next) = self.inbox.pass_over(ctx, conn, correlation) {
                            self.serve(ctx, next);
                        }
                    }
                });
            }
        }
    }

    /// Handles one request; its answer becomes due now or when its records are committed.
    fn serve(&mut self, ctx: &mut Ctx<'_>, ready: Ready) {
        let Ready { conn, correlation, body, cause } = ready;
        ctx.caused_by(cause, |ctx| {
            let asked = match body {
                Request::Quorum(request) => {
                    if let Some(response) = self.voter.on_request(ctx, conn, correlation, &request) {
                        let response = Some(response.into());
                        self.due.push(Due { conn, correlation, response, cause: Some(ctx.cause) });
                    }
                    return;
                }
                Request::Cluster(request) => Asked::Cluster { by: creator(conn, &request), request },
                Request::Controller(ControllerRequest::Envelope(request)) => {
                    Asked::Cluster { by: Creator::Admin, request }
                }
                Request::Controller(request) => Asked::Controller(request),
                // For brokers alone: Kafka closes a connection on which a controller is asked for what it does not
                // serve.
                Request::Partition(_) | Request::Group(_) | Request::Broker(_) => {
                    return self.inbox.close(ctx, conn);
                }
            };
            // A handler must not decide with a leadership that an earlier event of this instant has ended.
            self.follow_quorum(ctx);
            if !self.is_leading() {
                let response = Some(self.refusal(&asked, ErrorCode::NotController));
                self.due.push(Due { conn, correlation, response, cause: Some(ctx.cause) });
                return;
            }
            let decision = self.decide(ctx, &asked);
            let until = self.write(ctx, decision.records, decision.by);
            let waiting = Waiting { conn, correlation, asked, response: decision.response, cause: ctx.cause };
            if let Some(active) = &mut self.active {
                active.waiting.entry(until).or_default().push(waiting);
            }
        });
    }

    fn decide(&mut self, ctx: &mut Ctx<'_>, asked: &Asked) -> Decision {
        let decision = match asked {
            Asked::Cluster { request, by } => self.decide_for_client(ctx, request, *by),
            Asked::Controller(request) => self.decide_for_broker(ctx, request),
        };
        let error = decision.response.error();
        if !error.is_none() && !matches!(asked, Asked::Controller(ControllerRequest::BrokerRegistration(_))) {
            ctx.note(Kind::ControllerRefused { api: asked.api(), error });
        }
        decision
    }

    fn decide_for_client(&mut self, ctx: &mut Ctx<'_>, request: &ClusterRequest, by: Creator) -> Decision {
        match request {
            ClusterRequest::CreateTopics(request) => self.create_topic(ctx, request, by),
            ClusterRequest::DeleteTopics { name } => self.delete_topic(ctx, name),
            ClusterRequest::CreatePartitions { name, total } => self.create_partitions(ctx, name, *total),
            ClusterRequest::IncrementalAlterConfigs { resource, configs } => self.alter_configs(ctx, resource, configs),
            ClusterRequest::ElectLeaders { topic, partition, unclean } => {
                self.elect_leaders(topic, *partition, *unclean)
            }
            ClusterRequest::DescribeQuorum => Decision::answer(self.describe_quorum()),
        }
    }

    fn decide_for_broker(&mut self, ctx: &mut Ctx<'_>, request: &ControllerRequest) -> Decision {
        match request {
            ControllerRequest::Envelope(request) => self.decide_for_client(ctx, request, Creator::Admin),
            ControllerRequest::BrokerRegistration(request) => self.register_broker(ctx, request),
            ControllerRequest::BrokerHeartbeat(request) => self.heartbeat(ctx, request),
            ControllerRequest::AlterPartition(request) => self.alter_partition(request),
            ControllerRequest::AssignReplicasToDirs(request) => self.assign_replicas_to_dirs(request),
            ControllerRequest::AllocateProducerIds { broker, epoch } => self.allocate_producer_ids(*broker, *epoch),
        }
    }
}

/// Who wants a topic made: brokers ask for themselves, without an Envelope, when a topic is missed. A label of the
/// trace; no decision reads it.
fn creator(conn: ConnId, request: &ClusterRequest) -> Creator {
    match (conn.client, request) {
        (NodeId::Broker(_), ClusterRequest::CreateTopics(topic)) if &*topic.name == CONSUMER_OFFSETS => {
            Creator::FindCoordinator
        }
        (NodeId::Broker(_), ClusterRequest::CreateTopics(_)) => Creator::Metadata,
        (NodeId::Broker(_) | NodeId::Controller(_) | NodeId::Client(_), _) => Creator::Admin,
    }
}
