//! The contract between a node and the world: events in, effects out, timers, disk, connections. A node reads nobody's
//! state but its own.

pub mod connections;
pub mod disk;
pub mod inbox;
pub mod message;
#[cfg(test)]
pub mod testing;
pub mod timers;

pub use connections::{Completed, Connections, Outcome};
pub use disk::{Disk, QuorumStateFile};
pub use inbox::Inbox;
pub use message::{Body, Channel, ConnId, Direction, Effect, Event, Message};
pub use timers::*;

use alloc::vec::Vec;

use crate::base::{CorrelationId, Dur, MessageId, NodeId, Rng, Seq, SimTime};
use crate::protocol::{Request, Response};
use crate::trace::{Kind, TraceEntry};

/// All that a handler may use. It is made anew for each event; the world drains `effects` when the handler returns.
pub struct Ctx<'a> {
    pub now: SimTime,
    /// The node that handles.
    pub me: NodeId,
    /// The entry that led here; sends, timers and notes of this handler carry it until [`Ctx::because`] names a nearer
    /// one.
    pub cause: Seq,
    pub rng: &'a mut Rng,
    pub disk: &'a mut Disk,
    pub timers: &'a mut Timers,
    pub effects: &'a mut Vec<Effect>,
    pub trace: &'a mut Vec<TraceEntry>,
    /// Number of the last trace entry of the run.
    pub last_seq: &'a mut Seq,
    /// Number of the last message of the run.
    pub last_message: &'a mut MessageId,
}

impl Ctx<'_> {
    /// Notes something, caused by what led to this handler.
    pub fn note(&mut self, kind: Kind) -> Seq {
        self.last_seq.0 += 1;
        let seq = *self.last_seq;
        self.trace.push(TraceEntry { seq, at: self.now, cause: self.cause, who: self.me, kind });
        seq
    }

    /// Notes something that becomes the cause of what follows in this handler.
    pub fn because(&mut self, kind: Kind) -> Seq {
        self.cause = self.note(kind);
        self.cause
    }

    /// Runs `f` with another cause and restores the present one.
    pub fn caused_by<R>(&mut self, cause: Seq, f: impl FnOnce(&mut Self) -> R) -> R {
        let before = core::mem::replace(&mut self.cause, cause);
        let result = f(self);
        self.cause = before;
        result
    }

    /// Sends a request; [`Connections::request`] is what processes use.
    pub fn send_request(&mut self, conn: ConnId, correlation: CorrelationId, body: Request) {
        self.send(conn, Direction::Request, correlation, Body::Request(body));
    }

    /// Sends a response on the connection on which the request came.
    pub fn send_response(&mut self, conn: ConnId, correlation: CorrelationId, body: Response) {
        self.send(conn, Direction::Response, correlation, Body::Response(body));
    }

    fn send(&mut self, conn: ConnId, direction: Direction, correlation: CorrelationId, body: Body) {
        self.last_message.0 += 1;
        self.effects.push(Effect::Send {
            id: *self.last_message,
            conn,
            direction,
            correlation,
            body,
            cause: self.cause,
        });
    }

    /// Closes a connection from this side.
    pub fn close(&mut self, conn: ConnId) {
        self.effects.push(Effect::Close { conn, cause: self.cause });
    }

    /// The process ends by itself.
    pub fn exit(&mut self, clean: bool) {
        self.effects.push(Effect::Exit { clean, cause: self.cause });
    }

    /// Arms a timer; one that is armed already is moved.
    pub fn set(&mut self, timer: Timer, after: Dur) {
        self.timers.set(timer, self.now + after, self.cause);
    }

    /// Arms a timer unless it is armed already.
    pub fn set_if_absent(&mut self, timer: Timer, after: Dur) {
        if self.timers.due_at(&timer).is_none() {
            self.set(timer, after);
        }
    }

    pub fn cancel(&mut self, timer: &Timer) {
        self.timers.cancel(timer);
    }
}
