//! Messages in flight as fractions of their way. Taken every frame; it decides nothing of where they go.

use highwater_engine::base::NodeId;
use highwater_engine::node::{Body, Direction, Message};
use highwater_engine::protocol::{
    BrokerRequest, BrokerResponse, ControllerRequest, ErrorCode, Fetcher, PartitionRequest, PartitionResponse, Request,
    Response,
};
use highwater_engine::world::network::Network;

use super::model::*;
use crate::story::Seen;

/// Projects what moves.
pub fn motion(seen: Seen<'_>) -> Motion {
    let now = seen.now();
    let mut motion = Motion { now_us: seen.now_us(), ..Motion::default() };
    let held: Vec<_> = seen.world().held_by_actions().map(|(message, _)| message.id).collect();
    for message in seen.world().within_reach().into_iter().filter(|message| message.sent_at <= now) {
        if motion.flights.len() == MAX_FLIGHTS {
            motion.hidden += 1;
        } else {
            motion.flights.push(Flight { held: held.contains(&message.id), ..flight(seen, message) });
        }
    }
    motion
}

fn flight(seen: Seen<'_>, message: &Message) -> Flight {
    let span = message.arrives_at.since(message.sent_at).0.max(1);
    let gone = seen.now().since(message.sent_at).0.min(span);
    let (from, to) = (message.from(), message.to());
    Flight {
        id: MessageRef(message.id.0),
        kind: kind(message),
        api: api(&message.body),
        response: message.direction == Direction::Response,
        from: seen.node(from),
        to: seen.node(to),
        about: about(seen, message),
        sent_us: seen.us(message.sent_at),
        arrives_us: seen.us(message.arrives_at),
        progress_ppm: (gone * 1_000_000 / span) as u32,
        doomed: is_doomed(seen.world().network(), seen, from, to),
        held: false,
        error: error(&message.body).map(|error| error.name().into()),
    }
}

/// A message that a cut or a dead process will not let through.
pub(super) fn is_doomed(network: &Network, seen: Seen<'_>, from: NodeId, to: NodeId) -> bool {
    network.is_cut(from, to) || seen.machine(to).is_none_or(|machine| machine.process.is_none())
}

/// Kafka's name of the API.
pub fn api(body: &Body) -> Term {
    highwater_engine::world::api_of(body).name().into()
}

/// The error in a response.
pub fn error(body: &Body) -> Option<ErrorCode> {
    match body {
        Body::Request(_) => None,
        Body::Response(response) => Some(response.error()).filter(|error| !error.is_none()),
    }
}

pub(super) fn kind(message: &Message) -> FlightKind {
    let replica = matches!(message.conn.client, NodeId::Broker(_)) && matches!(message.conn.server, NodeId::Broker(_));
    let client = matches!(message.conn.client, NodeId::Client(_));
    match &message.body {
        Body::Request(Request::Partition(PartitionRequest::Produce(_)))
        | Body::Response(Response::Partition(PartitionResponse::Produce { .. })) => FlightKind::Produce,
        Body::Request(Request::Partition(PartitionRequest::Fetch(_)))
        | Body::Response(Response::Partition(PartitionResponse::Fetch { .. }))
            if replica =>
        {
            FlightKind::Replication
        }
        Body::Request(Request::Broker(BrokerRequest::Metadata(_) | BrokerRequest::InitProducerId))
        | Body::Response(Response::Broker(BrokerResponse::Metadata(_) | BrokerResponse::InitProducerId { .. })) => {
            FlightKind::Control
        }
        Body::Request(_) | Body::Response(_) if client => FlightKind::Group,
        Body::Request(_) | Body::Response(_) => FlightKind::Control,
    }
}

/// The partition that a message is about, if it is one.
pub fn about(seen: Seen<'_>, message: &Message) -> Option<PartitionRef> {
    let tp = match &message.body {
        Body::Request(Request::Partition(PartitionRequest::Produce(request))) => {
            request.batches.first().map(|(tp, _)| *tp)
        }
        Body::Response(Response::Partition(PartitionResponse::Produce { results })) => {
            results.first().map(|result| result.tp)
        }
        Body::Request(Request::Partition(PartitionRequest::Fetch(request))) => {
            let one = request.partitions.len() == 1 || matches!(request.fetcher, Fetcher::Consumer { .. });
            request.partitions.first().filter(|_| one).map(|partition| partition.tp)
        }
        Body::Response(Response::Partition(PartitionResponse::Fetch { partitions })) => {
            partitions.iter().find(|partition| !partition.batches.is_empty()).map(|partition| partition.tp)
        }
        Body::Request(Request::Controller(ControllerRequest::AlterPartition(request))) => {
            request.partitions.first().map(|item| item.tp)
        }
        Body::Request(_) | Body::Response(_) => None,
    }?;
    Some(seen.partition(tp))
}
