//! What the kernels of the machines do with what arrives: sockets are opened, filled, reset and closed, whether a
//! process runs or stands still. It knows nothing of what is in a message.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::machine::Queued;
use super::network::{End, Held};
use super::{Pending, World};
use crate::base::{NodeId, Seq};
use crate::node::{Body, ConnId, Direction, Event, Message};
use crate::trace::{Kind, TraceEntry};

impl World {
    pub(super) fn deliver(&mut self, message: Message, out: &mut Vec<TraceEntry>) {
        let (from, to) = (message.from(), message.to());
        if self.waits_behind_another(&message) {
            self.note(to, message.sent, Kind::MessageHeld { message: message.id }, out);
            self.pin(None, message);
            return;
        }
        if self.network.is_cut(from, to) {
            if self.network.is_open(message.conn, from) {
                self.note(to, message.sent, Kind::MessageHeld { message: message.id }, out);
                let handshake = !self.network.is_established(message.conn);
                self.network.held.push(Held { since: message.arrives_at, handshake, message });
            } else {
                self.note(to, message.sent, Kind::MessageLost { message: message.id }, out);
            }
            return;
        }
        let Some(machine) = self.machines.get(&to) else { return };
        let (runs, is_paused) = (machine.process.is_some(), machine.paused);
        if !runs || !self.network.is_open(message.conn, to) {
            // A kernel without the process, or with one that has closed this socket, answers with a reset.
            self.note(to, message.sent, Kind::MessageLost { message: message.id }, out);
            self.network.end(message.conn, to);
            if self.network.is_open(message.conn, from)
                && let Some(at) = self.network.reset_arrival(self.now, message.conn, to)
            {
                let end = End { conn: message.conn, to: from, reset: true, cause: message.sent };
                self.schedule(at, Pending::Disconnect(end));
            }
            return;
        }
        if message.direction == Direction::Request {
            self.accept(message.conn);
        }
        if is_paused {
            self.machine_mut(to, |machine| machine.socket.push_back(Queued::Message(message.clone())));
            self.note(to, message.sent, Kind::MessageHeld { message: message.id }, out);
            return;
        }
        self.hand_over(message, out);
    }

    /// The kernel of a machine takes a connection, whether its process runs or stands still, and tells the other one.
    fn accept(&mut self, conn: ConnId) {
        if self.network.is_established(conn) {
            return;
        }
        self.network.establish(conn);
        if matches!(conn.client, NodeId::Client(_)) && !self.network.is_cut(conn.server, conn.client) {
            let what = Box::new(Queued::Connected(conn));
            self.schedule(self.now, Pending::Wake { node: conn.client, what, resumed: Seq(0) });
        }
    }

    fn hand_over(&mut self, message: Message, out: &mut Vec<TraceEntry>) {
        let (to, cause) = (message.to(), message.passed.unwrap_or(message.sent));
        let event = match message.body {
            Body::Request(body) => Event::Request { conn: message.conn, correlation: message.correlation, body },
            Body::Response(body) => Event::Response { conn: message.conn, correlation: message.correlation, body },
        };
        self.dispatch(to, cause, event, out);
    }

    pub(super) fn disconnect(&mut self, end: End, out: &mut Vec<TraceEntry>) {
        let End { conn, to, reset, cause } = end;
        if !self.network.is_open(conn, to) {
            return;
        }
        // The end of a stream of bytes comes after its bytes.
        if self.network.pinned.iter().any(|pinned| pinned.message.conn == conn && pinned.message.to() == to) {
            self.network.waiting_ends.push(end);
            return;
        }
        if self.machine(to).is_some_and(|machine| machine.paused) {
            self.machine_mut(to, |machine| {
                // What came before a reset can still be read, but the kernel takes no answer to it any more.
                if reset {
                    machine.socket.push_front(Queued::Reset(conn, cause));
                }
                machine.socket.push_back(Queued::Disconnected(conn, cause));
            });
            return;
        }
        if reset {
            self.tell_reset(conn, to, cause, out);
        }
        self.tell_end(conn, to, cause, out);
    }

    /// A client reads all that it is sent and sees the end at once; to a server that works on a request, a reset says
    /// more than a FIN.
    fn tell_reset(&mut self, conn: ConnId, to: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        if to == conn.server && self.network.is_open(conn, to) {
            self.dispatch(to, cause, Event::Reset { conn }, out);
        }
    }

    /// A server closes its socket when it has read all; a client whose server is gone has none any more.
    fn tell_end(&mut self, conn: ConnId, to: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        if !self.network.is_open(conn, to) {
            return;
        }
        if to == conn.client {
            self.network.end(conn, to);
        }
        self.dispatch(to, cause, Event::Disconnected { conn }, out);
    }

    /// A process that stood still goes on, and handles what has come meanwhile.
    pub(super) fn wake(&mut self, node: NodeId, what: Queued, resumed: Seq, out: &mut Vec<TraceEntry>) {
        let Some(machine) = self.machines.get_mut(&node) else { return };
        if machine.process.is_none() {
            return;
        }
        if machine.paused {
            Rc::make_mut(machine).socket.push_back(what);
            return;
        }
        match what {
            // It has closed the socket in which this lay.
            Queued::Message(message) if !self.network.is_open(message.conn, node) => {
                self.note(node, message.sent, Kind::MessageLost { message: message.id }, out);
            }
            Queued::Message(mut message) => {
                let kind = Kind::MessageDelivered { message: message.id, sent: message.sent };
                message.passed = Some(self.note(node, resumed, kind, out));
                self.hand_over(message, out);
            }
            Queued::Connected(conn) => self.dispatch(node, Seq(0), Event::Connected { conn }, out),
            Queued::Reset(conn, cause) => self.tell_reset(conn, node, cause, out),
            Queued::Disconnected(conn, cause) => self.tell_end(conn, node, cause, out),
            Queued::Shutdown(cause) => self.dispatch(node, cause, Event::Shutdown, out),
            Queued::Command(command, cause) => self.dispatch(node, cause, Event::Command(*command), out),
        }
    }

    /// A node closes its socket: with a FIN, or with a reset if something lies in it that nobody has read.
    pub(super) fn close(&mut self, conn: ConnId, by: NodeId, reset: bool, cause: Seq) {
        if let Some(at) = self.network.close(self.now, conn, by) {
            self.schedule(at, Pending::Disconnect(End { conn, to: conn.peer_of(by), reset, cause }));
        }
    }

    /// The process of a node is gone; its peers learn of it as TCP lets them.
    pub(super) fn end_process(&mut self, node: NodeId, cause: Seq) {
        let now = self.now;
        let mut unread: Vec<ConnId> = Vec::new();
        self.machine_mut(node, |machine| {
            unread.extend(machine.unread());
            machine.end(now);
        });
        for conn in self.network.connections_of(node) {
            self.close(conn, node, unread.contains(&conn), cause);
        }
    }
}
