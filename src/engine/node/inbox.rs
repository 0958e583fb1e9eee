//! The server side of connections (Kafka's SocketServer): one request of a connection is worked on at a time, the next
//! is read when it is answered.
use alloc::collections::VecDeque;

use super::{ConnId, Ctx};
use crate::base::{CorrelationId, Map, Seq};
use crate::protocol::{Request, Response};

/// A request that waits in the socket behind another, with its cause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    correlation: CorrelationId,
    body: Request,
    cause: Seq,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Served {
    busy: Option<CorrelationId>,
    waiting: VecDeque<Waiting>,
    /// The client is gone: what it sent is still worked off (a client that gives up stops nothing), answers go nowhere.
    gone: bool,
}

/// A request ready to be handled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ready {
    pub conn: ConnId,
    pub correlation: CorrelationId,
    pub body: Request,
    pub cause: Seq,
}

/// Muting of connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inbox {
    served: Map<ConnId, Served>,
}

impl Inbox {
    /// A request came; it is returned if its connection is free.
    pub fn on_request(
        &mut self,
        ctx: &Ctx<'_>,
        conn: ConnId,
        correlation: CorrelationId,
        body: Request,
    ) -> Option<Ready> {
        let served = self.served.entry(conn).or_default();
        if served.busy.is_some() {
            served.waiting.push_back(Waiting { correlation, body, cause: ctx.cause });
            return None;
        }
        served.busy = Some(correlation);
        Some(Ready { conn, correlation, body, cause: ctx.cause })
    }

    /// Answers (`None`: Produce with acks=0 gets no answer) and returns the next request of the connection, which must
    /// be handled now.
    #[must_use]
    pub fn answer(
        &mut self,
        ctx: &mut Ctx<'_>,
        conn: ConnId,
        correlation: CorrelationId,
        response: Option<Response>,
    ) -> Option<Ready> {
        let served = self.served.get_mut(&conn)?;
        if served.busy != Some(correlation) {
            return None;
        }
        if let Some(response) = response
            && !served.gone
        {
            ctx.send_response(conn, correlation, response);
        }
        served.busy = None;
        match served.waiting.pop_front() {
            Some(next) => {
                served.busy = Some(next.correlation);
                Some(Ready { conn, correlation: next.correlation, body: next.body, cause: next.cause })
            }
            None => {
                if served.gone {
                    self.served.remove(&conn);
                }
                None
            }
        }
    }

    /// The client closed the connection or died.
    pub fn on_disconnected(&mut self, conn: ConnId) {
        if let Some(served) = self.served.get_mut(&conn) {
            served.gone = true;
            if served.busy.is_none() && served.waiting.is_empty() {
                self.served.remove(&conn);
            }
        }
    }

    /// Closes a connection from the server's side (acks=0 that failed).
    pub fn close(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        self.served.remove(&conn);
        ctx.close(conn);
    }
}
