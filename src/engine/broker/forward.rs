//! What a broker asks of the active controller on behalf of others: clients' requests in Envelopes (KIP-590), topics to
//! be made, producer ids. Repeats for up to 60 s; decides nothing.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::assignments::Assignments;
use super::producer_ids::ProducerIds;
use super::{BrokerCall, ReplyTo};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, Dur, Map, NodeId, SimTime};
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Channel, Connections, Ctx, Outcome, Timer};
use crate::protocol::{
    ClusterRequest, ControllerRequest, ControllerResponse, CreateTopicRequest, ErrorCode, Request, Response,
};
use crate::rules::fixed::FORWARD_LIMIT;

/// Pause before the next try when a controller was not there or was not the active one.
const RETRY: Dur = Dur::ms(100);

/// For whom something is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    Client(ReplyTo),
    AutoCreate(Rc<str>),
    ProducerIds,
    Directories,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Forwarded {
    purpose: Purpose,
    body: Request,
    deadline: SimTime,
}

/// Requests on their way to the controller, in order; one is in flight at a time, as on Kafka's channel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Forwarder {
    id: BrokerId,
    next: u64,
    waiting: Map<u64, Forwarded>,
    in_flight: Option<u64>,
    resting: bool,
    pub producer_ids: ProducerIds,
    pub assignments: Assignments,
    answers: Vec<(ReplyTo, Response)>,
}

impl Forwarder {
    pub fn new(id: BrokerId) -> Forwarder {
        Forwarder {
            id,
            next: 0,
            waiting: Map::new(),
            in_flight: None,
            resting: false,
            producer_ids: ProducerIds::default(),
            assignments: Assignments::default(),
            answers: Vec::new(),
        }
    }

    fn push(&mut self, now: SimTime, purpose: Purpose, body: impl Into<Request>) {
        self.next += 1;
        self.waiting.insert(self.next, Forwarded { purpose, body: body.into(), deadline: now + FORWARD_LIMIT });
    }

    /// Passes a client's request on. It stays until it is answered or 60 s are over, also when the client has given up.
    pub fn forward(&mut self, ctx: &Ctx<'_>, reply: ReplyTo, request: ClusterRequest) {
        self.push(ctx.now, Purpose::Client(reply), ControllerRequest::Envelope(request));
    }

    /// Has a topic made, unless that is under way.
    pub fn auto_create(&mut self, ctx: &Ctx<'_>, request: CreateTopicRequest) {
        let wanted = Purpose::AutoCreate(request.name.clone());
        if !self.waiting.values().any(|f| f.purpose == wanted) {
            self.push(ctx.now, wanted, ClusterRequest::CreateTopics(request));
        }
    }

    /// Asks for a block of producer ids, if one is needed and none is asked for.
    pub fn fetch_producer_ids(&mut self, ctx: &Ctx<'_>, epoch: Option<BrokerEpoch>) {
        let Some(epoch) = epoch else { return };
        if self.producer_ids.wants_block() && !self.waiting.values().any(|f| f.purpose == Purpose::ProducerIds) {
            self.push(ctx.now, Purpose::ProducerIds, ControllerRequest::AllocateProducerIds { broker: self.id, epoch });
        }
    }

    /// Tells the controller in which directory replicas are that it believes in another one.
    pub fn assign_directories(&mut self, now: SimTime, image: &MetadataImage, directory: u32) {
        if let Some(request) = self.assignments.next_request(image, self.id, directory) {
            self.push(now, Purpose::Directories, ControllerRequest::AssignReplicasToDirs(request));
        }
    }

    pub fn take_answers(&mut self) -> Vec<(ReplyTo, Response)> {
        core::mem::take(&mut self.answers)
    }

    /// Requests that wait for the controller, with the moment at which they are given up.
    pub fn waiting(&self) -> impl Iterator<Item = (&Request, SimTime)> {
        self.waiting.values().map(|f| (&f.body, f.deadline))
    }

    /// Sends the next request, if a controller is known. Called after every event.
    pub fn drive(&mut self, ctx: &mut Ctx<'_>, conns: &mut Connections<BrokerCall>, controller: Option<ControllerId>) {
        self.assignments.arm(ctx);
        if self.in_flight.is_some() || self.resting {
            return;
        }
        self.expire(ctx.now);
        let Some((id, next)) = self.waiting.first_key_value() else { return };
        let Some(controller) = controller else { return self.rest(ctx) };
        let call = match &next.purpose {
            Purpose::Client(_) => BrokerCall::Forward { request: *id },
            Purpose::AutoCreate(_) => BrokerCall::AutoCreate,
            Purpose::ProducerIds => BrokerCall::AllocateProducerIds,
            Purpose::Directories => BrokerCall::AssignReplicasToDirs,
        };
        self.in_flight = Some(*id);
        conns.request(
            ctx,
            NodeId::Controller(controller),
            Channel::Forward,
            next.body.clone(),
            next.deadline.since(ctx.now),
            call,
        );
    }

    fn rest(&mut self, ctx: &mut Ctx<'_>) {
        self.resting = true;
        ctx.set(Timer::Broker(BrokerTimer::ForwardRetry), RETRY);
    }

    pub fn on_timer(&mut self) {
        self.resting = false;
    }

    /// The controller answered, or did not.
    pub fn on_outcome(&mut self, ctx: &mut Ctx<'_>, outcome: Outcome) {
        let Some(id) = self.in_flight.take() else { return };
        match outcome {
            Outcome::Answer(response) if response.error() != ErrorCode::NotController => {
                if let Some(done) = self.waiting.remove(&id) {
                    self.finish(done, Some(response));
                }
            }
            // There is no active controller just now, or another one.
            Outcome::Answer(_) | Outcome::Failed(_) => self.rest(ctx),
        }
    }

    fn expire(&mut self, now: SimTime) {
        let late: Vec<u64> = self.waiting.iter().filter(|(_, f)| f.deadline <= now).map(|(id, _)| *id).collect();
        for id in late {
            if let Some(done) = self.waiting.remove(&id) {
                self.finish(done, None);
            }
        }
    }

    fn finish(&mut self, done: Forwarded, response: Option<Response>) {
        match (done.purpose, response) {
            (Purpose::Client(reply), Some(response)) => self.answers.push((reply, response)),
            // No controller answered in time.
            (Purpose::Client(reply), None) => {
                if let Request::Controller(ControllerRequest::Envelope(request)) = done.body {
                    self.answers.push((reply, request.refused(ErrorCode::RequestTimedOut).into()));
                }
            }
            (
                Purpose::ProducerIds,
                Some(Response::Controller(ControllerResponse::AllocateProducerIds {
                    error: ErrorCode::None,
                    start,
                    len,
                })),
            ) => self.producer_ids.add_block(start, len),
            (
                Purpose::Directories,
                Some(Response::Controller(ControllerResponse::AssignReplicasToDirs {
                    error: ErrorCode::None,
                    partitions,
                })),
            ) => self.assignments.on_answer(Some(partitions)),
            (Purpose::Directories, _) => self.assignments.on_answer(None),
            // The next one who needs ids or the topic asks again.
            (Purpose::ProducerIds | Purpose::AutoCreate(_), _) => {}
        }
    }
}
