//! What an action does to one message: it is found, held, delayed, delivered, doubled or lost. TCP's order on a
//! connection is kept by all of these but the loss; nothing here reads what a message says.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::network::{End, Pinned, Rule};
use super::{Deed, Pending, Pick, Refusal, World, api_of};
use crate::base::{MessageId, Seq, SimTime, sort_by};
use crate::node::{Body, ConnId, Direction, Message};
use crate::protocol::ErrorCode;
use crate::trace::{Kind, TraceEntry};

/// One direction of a connection: what TCP keeps in order.
type Stream = (ConnId, Direction);

fn stream(message: &Message) -> Stream {
    (message.conn, message.direction)
}

/// The place of a message among all others.
fn order(message: &Message) -> (SimTime, MessageId) {
    (message.arrives_at, message.id)
}

impl World {
    /// The messages that an action can name, in the order in which it counts them: on their way or held by an action,
    /// by arrival.
    pub fn within_reach(&self) -> Vec<&Message> {
        let held = self.network.pinned.iter().map(|pinned| &pinned.message);
        let mut all: Vec<&Message> = self.in_flight().chain(held).collect();
        sort_by(&mut all, |a, b| order(a).cmp(&order(b)));
        all
    }

    pub(super) fn may_do(&self, deed: &Deed) -> Result<(), Refusal> {
        match deed {
            Deed::Hold { name } => {
                let held = self.network.pinned.iter().any(|pinned| pinned.name.as_ref() == Some(name));
                let will_be = self.network.rules.iter().any(|rule| rule.deed == *deed);
                if held || will_be { Err(Refusal::HoldTaken(name.clone())) } else { Ok(()) }
            }
            Deed::Drop | Deed::Delay { .. } | Deed::Duplicate | Deed::Deliver => Ok(()),
        }
    }

    pub(super) fn may_release(&self, name: &Rc<str>) -> Result<(), Refusal> {
        let held = self.network.pinned.iter().any(|pinned| pinned.name.as_ref() == Some(name));
        if held { Ok(()) } else { Err(Refusal::NothingHeld(name.clone())) }
    }

    /// Does it now, or when the message is sent.
    pub(super) fn do_to_message(&mut self, which: Pick, deed: Deed, cause: Seq, out: &mut Vec<TraceEntry>) {
        let is_meant =
            |m: &&Message| which.matches(api_of(&m.body), m.direction == Direction::Response, m.from(), m.to());
        let ids: Vec<MessageId> = self.within_reach().into_iter().filter(is_meant).map(|m| m.id).collect();
        match ids.get((which.nth as usize).saturating_sub(1)) {
            Some(id) => self.tamper(*id, deed, cause, out),
            None => {
                let nth = which.nth - ids.len() as u32;
                self.network.rules.push(Rule { which: Pick { nth, ..which }, deed, cause });
            }
        }
    }

    /// Does it to a message within reach.
    pub(super) fn tamper(&mut self, id: MessageId, deed: Deed, cause: Seq, out: &mut Vec<TraceEntry>) {
        let Some(message) = self.within_reach().into_iter().find(|message| message.id == id).cloned() else { return };
        match deed {
            Deed::Drop => {
                self.take(id);
                self.note(message.from(), message.sent, Kind::MessageLost { message: id }, out);
                self.let_pass(stream(&message), cause, out);
            }
            Deed::Hold { name } => {
                self.take(id);
                self.note(message.to(), cause, Kind::MessageHeld { message: id }, out);
                self.pin(Some(name), message);
            }
            Deed::Delay { by } => {
                let at = message.arrives_at.max(self.now) + by;
                let (behind, place) = (stream(&message), order(&message));
                self.move_arrivals(behind, cause, out, |m| (order(m) >= place && m.arrives_at < at).then_some(at));
            }
            Deed::Duplicate => self.double(message, cause, out),
            Deed::Deliver => {
                let (now, before, place) = (self.now, stream(&message), order(&message));
                for pinned in &mut self.network.pinned {
                    if pinned.message.id == id {
                        pinned.name = None;
                    }
                }
                self.move_arrivals(before, cause, out, |m| (order(m) <= place && m.arrives_at > now).then_some(now));
                self.let_pass(before, cause, out);
            }
        }
    }

    pub(super) fn release_held(&mut self, name: &Rc<str>, cause: Seq, out: &mut Vec<TraceEntry>) {
        let held = self.network.pinned.iter_mut().find(|pinned| pinned.name.as_ref() == Some(name));
        if let Some(held) = held {
            held.name = None;
            let of = stream(&held.message);
            self.let_pass(of, cause, out);
        }
    }

    /// Keeps a message where it is.
    pub(super) fn pin(&mut self, name: Option<Rc<str>>, message: Message) {
        self.network.pinned.push(Pinned { name, message });
        sort_by(&mut self.network.pinned, |a, b| order(&a.message).cmp(&order(&b.message)));
    }

    /// Whether something that goes before it on its connection is held.
    pub(super) fn waits_behind_another(&self, message: &Message) -> bool {
        let goes_before = |other: &Message| stream(other) == stream(message) && order(other) < order(message);
        self.network.pinned.iter().any(|pinned| goes_before(&pinned.message))
    }

    /// Takes a message off its way, or out of a hold.
    fn take(&mut self, id: MessageId) {
        self.agenda.retain(|_, pending| !matches!(pending, Pending::Deliver(message) if message.id == id));
        self.network.pinned.retain(|pinned| pinned.message.id != id);
    }

    /// Gives the messages of a stream the arrivals that `to` says, in their order.
    fn move_arrivals(
        &mut self,
        of: Stream,
        cause: Seq,
        out: &mut Vec<TraceEntry>,
        to: impl Fn(&Message) -> Option<SimTime>,
    ) {
        let moved = |pending: &Pending| match pending {
            Pending::Deliver(message) if stream(message) == of => to(message),
            Pending::Deliver(_) | Pending::Disconnect(_) | Pending::Start { .. } | Pending::Wake { .. } => None,
        };
        let due: Vec<((SimTime, u64), SimTime)> =
            self.agenda.iter().filter_map(|(key, pending)| Some((*key, moved(pending)?))).collect();
        for (key, at) in due {
            if let Some(Pending::Deliver(mut message)) = self.agenda.remove(&key) {
                message.arrives_at = at;
                self.send_on(message, cause, out);
            }
        }
        for pinned in self.network.pinned.iter_mut().filter(|pinned| stream(&pinned.message) == of) {
            if let Some(at) = to(&pinned.message) {
                pinned.message.arrives_at = at;
            }
        }
        self.settle(of);
    }

    /// Sends on what waits in a stream and is not held, and the end of its connection after all of it.
    fn let_pass(&mut self, of: Stream, cause: Seq, out: &mut Vec<TraceEntry>) {
        while let Some(first) = self.network.pinned.iter().position(|pinned| stream(&pinned.message) == of) {
            if self.network.pinned[first].name.is_some() {
                break;
            }
            let mut message = self.network.pinned.remove(first).message;
            message.arrives_at = message.arrives_at.max(self.now);
            self.send_on(message, cause, out);
        }
        self.settle(of);
        if !self.network.pinned.iter().any(|pinned| stream(&pinned.message) == of) {
            let (conn, direction) = of;
            let receiver = if direction == Direction::Request { conn.server } else { conn.client };
            let last = self.last_arrival(of);
            let ends = core::mem::take(&mut self.network.waiting_ends);
            let (due, rest): (Vec<End>, Vec<End>) =
                ends.into_iter().partition(|end| end.conn == conn && end.to == receiver);
            self.network.waiting_ends = rest;
            for end in due {
                self.schedule(last, Pending::Disconnect(end));
            }
        }
    }

    fn send_on(&mut self, mut message: Message, cause: Seq, out: &mut Vec<TraceEntry>) {
        let (arrives_at, sent) = (message.arrives_at, message.sent);
        let kind = Kind::MessageMoved { message: message.id, arrives_at, sent };
        message.passed = Some(self.note(message.from(), cause, kind, out));
        self.schedule(arrives_at, Pending::Deliver(message));
    }

    /// A second copy of a message, with its own number and its own entry in the trace.
    fn double(&mut self, original: Message, cause: Seq, out: &mut Vec<TraceEntry>) {
        self.last_message.0 += 1;
        let (id, arrives_at) = (self.last_message, original.arrives_at.max(self.now));
        let (error, empty) = match &original.body {
            Body::Request(_) => (ErrorCode::None, false),
            Body::Response(response) => (response.error(), response.is_empty()),
        };
        let kind = Kind::MessageSent {
            message: id,
            to: original.to(),
            api: api_of(&original.body),
            response: original.direction == Direction::Response,
            arrives_at,
            error,
            empty,
        };
        let sent = self.note(original.from(), cause, kind, out);
        let copy = Message { id, sent_at: self.now, arrives_at, sent, passed: None, ..original };
        self.schedule(arrives_at, Pending::Deliver(copy));
    }

    fn last_arrival(&self, of: Stream) -> SimTime {
        let held = self.network.pinned.iter().map(|pinned| &pinned.message);
        let all = self.in_flight().chain(held).filter(|message| stream(message) == of);
        all.map(|message| message.arrives_at).max().unwrap_or(self.now).max(self.now)
    }

    /// What is sent next on this stream comes after all that is on its way.
    fn settle(&mut self, of: Stream) {
        let last = self.last_arrival(of);
        self.network.none_before(of.0, of.1, last);
    }
}
