//! One message on its way: what it carries, what caused it and what it caused, and how an action names it. It decides
//! nothing of where it goes.

mod answers;
mod fields;
mod gist;
pub mod shown;
mod version;

use std::rc::Rc;

use highwater_engine::base::{Dur, NodeId};
use highwater_engine::node::{Body, Channel, Direction, Message};
use highwater_engine::trace::Kind;
use highwater_engine::world::api_of;

use super::model::*;
use super::motion;
use crate::scenario::{Deed, Node, Verb, Which};
use crate::story::{Seen, message_term, tell};
use fields::Fields;

/// Lines of what caused it, and of what it caused.
const MOST: usize = 4;
/// How many causes are followed to find those that say something.
const FOLLOWED: usize = 12;

/// A message within reach of an action.
pub fn find<'a>(seen: Seen<'a>, id: MessageRef) -> Option<&'a Message> {
    seen.world().within_reach().into_iter().find(|message| message.id.0 == id.0)
}

/// Everything that is said of a message; `None`: it has arrived, or is gone.
pub fn detail(seen: Seen<'_>, id: MessageRef) -> Option<MessageDetail> {
    let all = seen.world().within_reach();
    let place = all.iter().position(|message| message.id.0 == id.0)?;
    let message = all[place];
    let held = seen.world().held_by_actions().find(|(held, _)| held.id == message.id);
    let response = message.direction == Direction::Response;
    let mut rows = Fields::new(seen);
    match &message.body {
        Body::Request(request) => fields::request(&mut rows, request),
        Body::Response(response) => answers::response(&mut rows, response, message.to()),
    }
    let carries = gist::carried(&rows.rows, motion::kind(message), response);
    let (caused_by, caused) = (causes(seen, message), effects(seen, message));
    Some(MessageDetail {
        id,
        name: message_term(api_of(&message.body), response),
        version: version::version(seen, message.conn, api_of(&message.body)),
        server: served_by(message),
        response,
        kind: motion::kind(message),
        from: seen.node(message.from()),
        to: seen.node(message.to()),
        sent_us: seen.us(message.sent_at),
        arrives_us: seen.us(message.arrives_at),
        left_us: message.arrives_at.since(seen.now()).0,
        held: match held {
            None => Holding::No,
            Some((_, Some(name))) => Holding::Held { name: name.to_string() },
            Some((_, None)) => Holding::Behind,
        },
        doomed: motion::is_doomed(seen.world().network(), seen, message.from(), message.to()),
        place: place + 1,
        of: all.len(),
        carries,
        fields: rows.rows,
        caused_by,
        caused,
    })
}

/// Fetch alone has two servers: the metadata log is read of the quorum.
fn served_by(message: &Message) -> Server {
    if message.conn.channel == Channel::Quorum { Server::Quorum } else { api_of(&message.body).server() }
}

fn step(seen: Seen<'_>, index: usize) -> Option<MessageStep> {
    let entry = seen.reel().get(index)?;
    let what = match &entry.kind {
        Kind::MessageSent { to, api, response, .. } => {
            MessageLink::Message { name: message_term(*api, *response), from: seen.node(entry.who), to: seen.node(*to) }
        }
        _other => MessageLink::Fact(tell(seen, index)?.fact),
    };
    Some(MessageStep { at_us: seen.us(entry.at), trace: TraceId(index as u64), what })
}

/// What went before it, the latest first.
fn causes(seen: Seen<'_>, message: &Message) -> Vec<MessageStep> {
    let reel = seen.reel();
    let mut found = Vec::new();
    let mut next = reel.find(message.sent).and_then(|sent| reel.cause(sent));
    for _ in 0..FOLLOWED {
        let Some(index) = next.filter(|_| found.len() < MOST) else { break };
        found.extend(step(seen, index));
        next = reel.cause(index);
    }
    found
}

/// What came of it where the branch was played on before; nothing else is known of the future.
fn effects(seen: Seen<'_>, message: &Message) -> Vec<MessageStep> {
    let reel = seen.reel();
    let caused = reel.entries(seen.n_entries()..reel.len()).filter(|(_, entry)| entry.cause == message.sent);
    caused.filter_map(|(index, _)| step(seen, index)).take(MOST).collect()
}

/// A node as a script names it; `None` for one that it cannot name: the administrator, or a process that was followed
/// by another of its name.
fn named(seen: Seen<'_>, node: NodeId) -> Option<Node> {
    match (node, seen.node(node)) {
        (NodeId::Broker(id), _) => Some(Node::Broker(id.0)),
        (NodeId::Controller(id), _) => Some(Node::Controller(id.0)),
        (NodeId::Client(id), NodeRef::Producer(name) | NodeRef::Member(name)) => {
            (seen.world().client_id(&name) == Some(id)).then_some(Node::Client(name))
        }
        (NodeId::Client(_), NodeRef::Admin | NodeRef::Broker(_) | NodeRef::Controller(_)) => None,
    }
}

/// The entry of the script that does this to the message, whenever the run is played again.
pub fn verb(seen: Seen<'_>, id: MessageRef, act: &MessageAct) -> Option<Verb> {
    let message = find(seen, id)?;
    let (api, response) = (api_of(&message.body), message.direction == Direction::Response);
    let (from, to) = (named(seen, message.from()), named(seen, message.to()));
    let is_meant = |other: &&Message| {
        api_of(&other.body) == api
            && (other.direction == Direction::Response) == response
            && (from.is_none() || other.from() == message.from())
            && (to.is_none() || other.to() == message.to())
    };
    let nth = seen.world().within_reach().into_iter().filter(is_meant).position(|other| other.id == message.id)? + 1;
    let deed = match act {
        MessageAct::Drop => Deed::Drop,
        MessageAct::Hold => Deed::Hold { name: Rc::from(free_name(seen)) },
        MessageAct::Release => {
            let (_, name) = seen.world().held_by_actions().find(|(held, _)| held.id == message.id)?;
            return Some(Verb::Release(name?.to_string()));
        }
        MessageAct::Delay { by_us } => Deed::Delay { by: Dur(*by_us) },
        MessageAct::Duplicate => Deed::Duplicate,
        MessageAct::Deliver => Deed::Deliver,
    };
    Some(Verb::Message { which: Which { api, response, from, to, nth: nth as u32 }, deed })
}

/// The first name of a hold that the script does not have.
fn free_name(seen: Seen<'_>) -> String {
    let verbs = || seen.scenario().script.iter().flat_map(|entry| &entry.actions);
    let is_taken = |name: &str| {
        verbs().any(|verb| matches!(verb, Verb::Message { deed: Deed::Hold { name: taken }, .. } if **taken == *name))
    };
    (1..).map(|number: u32| format!("h{number}")).find(|name| !is_taken(name)).unwrap_or_default()
}
