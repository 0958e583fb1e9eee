//! The client side of connections (Kafka's NetworkClient): requests in flight, time-outs, disconnects. It retries
//! nothing; that is its owner's affair.
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::{Channel, ConnId, Ctx, Timer};
use crate::base::{CorrelationId, Dur, Map, NodeId, SimTime};
use crate::protocol::{Api, Request, Response};
use crate::trace::{Failure, Kind};

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Answer(Response),
    Failed(Failure),
}

/// A request that ended, with the token that its sender attached.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Completed<P> {
    pub to: NodeId,
    pub channel: Channel,
    pub token: P,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct InFlight<P> {
    correlation: CorrelationId,
    api: Api,
    deadline: SimTime,
    token: P,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Connection<P> {
    id: ConnId,
    /// Oldest first: a server answers a connection in order.
    in_flight: VecDeque<InFlight<P>>,
}

/// Connections that a process has opened, one per peer and channel. `P` says what a request was for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Connections<P> {
    me: NodeId,
    opened: u32,
    sent: u32,
    open: Map<(NodeId, Channel), Connection<P>>,
}

impl<P> Connections<P> {
    /// `first_generation` must differ between incarnations of one node, so that no old answer is taken for a new one:
    /// the number of the incarnation times a large stride.
    pub fn new(me: NodeId, first_generation: u32) -> Connections<P> {
        Connections { me, opened: first_generation, sent: 0, open: Map::new() }
    }

    /// Sends a request, opening the connection if there is none. Its outcome comes from one of the `on_…` functions.
    pub fn request(
        &mut self,
        ctx: &mut Ctx<'_>,
        to: NodeId,
        channel: Channel,
        body: Request,
        timeout: Dur,
        token: P,
    ) -> CorrelationId {
        let (me, opened) = (self.me, &mut self.opened);
        let connection = self.open.entry((to, channel)).or_insert_with(|| {
            *opened += 1;
            Connection {
                id: ConnId { client: me, server: to, channel, generation: *opened },
                in_flight: VecDeque::new(),
            }
        });
        self.sent += 1;
        let correlation = CorrelationId(self.sent);
        let deadline = ctx.now + timeout;
        connection.in_flight.push_back(InFlight { correlation, api: body.api(), deadline, token });
        let timer = Timer::RequestTimeout(connection.id);
        // A request may be given less time than those before it.
        if ctx.timers.due_at(&timer).is_none_or(|at| at > deadline) {
            ctx.set(timer, timeout);
        }
        ctx.send_request(connection.id, correlation, body);
        correlation
    }

    /// Sends a request that gets no answer (Produce with acks=0).
    pub fn send_and_forget(&mut self, ctx: &mut Ctx<'_>, to: NodeId, channel: Channel, body: Request) {
        let (me, opened) = (self.me, &mut self.opened);
        let connection = self.open.entry((to, channel)).or_insert_with(|| {
            *opened += 1;
            Connection {
                id: ConnId { client: me, server: to, channel, generation: *opened },
                in_flight: VecDeque::new(),
            }
        });
        self.sent += 1;
        ctx.send_request(connection.id, CorrelationId(self.sent), body);
    }

    /// Requests in flight to a peer on a channel.
    pub fn n_in_flight(&self, to: NodeId, channel: Channel) -> usize {
        self.open.get(&(to, channel)).map_or(0, |c| c.in_flight.len())
    }
    /// Whether a connection is open.
    pub fn is_open(&self, to: NodeId, channel: Channel) -> bool {
        self.open.contains_key(&(to, channel))
    }
    /// Whether this is the connection that is open to its server.
    pub fn is_current(&self, conn: ConnId) -> bool {
        self.open.get(&(conn.server, conn.channel)).is_some_and(|c| c.id == conn)
    }
    /// Connections on which a request should have been answered by now.
    pub fn overdue(&self, now: SimTime) -> impl Iterator<Item = ConnId> {
        let is_overdue = move |c: &&Connection<P>| c.in_flight.iter().any(|f| f.deadline <= now);
        self.open.values().filter(is_overdue).map(|c| c.id)
    }
    /// Tokens of the requests in flight to a peer on a channel, oldest first.
    pub fn tokens(&self, to: NodeId, channel: Channel) -> impl Iterator<Item = &P> {
        self.open.get(&(to, channel)).into_iter().flat_map(|c| c.in_flight.iter().map(|f| &f.token))
    }
    /// Tokens of all requests in flight.
    pub fn all_tokens(&self) -> impl Iterator<Item = &P> {
        self.open.values().flat_map(|c| c.in_flight.iter().map(|f| &f.token))
    }

    /// An answer came. `None` if nobody waits for it any more.
    pub fn on_response(
        &mut self,
        ctx: &mut Ctx<'_>,
        conn: ConnId,
        correlation: CorrelationId,
        body: Response,
    ) -> Option<Completed<P>> {
        let connection = self.open.get_mut(&(conn.server, conn.channel)).filter(|c| c.id == conn)?;
        let position = connection.in_flight.iter().position(|f| f.correlation == correlation)?;
        let done = connection.in_flight.remove(position)?;
        Self::rearm(ctx, connection);
        Some(Completed { to: conn.server, channel: conn.channel, token: done.token, outcome: Outcome::Answer(body) })
    }

    /// The other end is gone: every request in flight failed, the oldest first.
    pub fn on_disconnected(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) -> Vec<Completed<P>> {
        self.fail(ctx, conn, Failure::Disconnected)
    }

    /// The oldest request was not answered in time: the connection is closed and *all* its requests in flight fail as
    /// timed out.
    pub fn on_request_timeout(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) -> Vec<Completed<P>> {
        if self.open.get(&(conn.server, conn.channel)).is_some_and(|c| c.id == conn) {
            ctx.close(conn);
        }
        self.fail(ctx, conn, Failure::TimedOut)
    }

    /// What is in flight on a connection gets this much time from now on.
    pub fn extend(&mut self, ctx: &mut Ctx<'_>, conn: ConnId, timeout: Dur) {
        let Some(connection) = self.open.get_mut(&(conn.server, conn.channel)).filter(|c| c.id == conn) else { return };
        for request in &mut connection.in_flight {
            request.deadline = ctx.now + timeout;
        }
        Self::rearm(ctx, connection);
    }

    /// The connection that is open to a peer on a channel.
    #[cfg(test)]
    pub fn open_connection(&self, to: NodeId, channel: Channel) -> Option<ConnId> {
        self.open.get(&(to, channel)).map(|c| c.id)
    }
    /// The oldest request that waits on a connection.
    #[cfg(test)]
    pub fn oldest(&self, conn: ConnId) -> Option<CorrelationId> {
        self.open.get(&(conn.server, conn.channel))?.in_flight.front().map(|f| f.correlation)
    }

    /// Gives up the connection to a peer, if there is one; what was in flight fails as disconnected.
    pub fn close(&mut self, ctx: &mut Ctx<'_>, to: NodeId, channel: Channel) -> Vec<Completed<P>> {
        let Some(conn) = self.open.get(&(to, channel)).map(|c| c.id) else { return Vec::new() };
        ctx.close(conn);
        self.fail(ctx, conn, Failure::Disconnected)
    }

    fn fail(&mut self, ctx: &mut Ctx<'_>, conn: ConnId, failure: Failure) -> Vec<Completed<P>> {
        let key = (conn.server, conn.channel);
        if self.open.get(&key).is_none_or(|c| c.id != conn) {
            return Vec::new();
        }
        ctx.cancel(&Timer::RequestTimeout(conn));
        let Some(connection) = self.open.remove(&key) else { return Vec::new() };
        let mut completed = Vec::new();
        let mut noted = ctx.cause;
        for request in connection.in_flight {
            noted = ctx.note(Kind::RequestFailed { to: conn.server, api: request.api, failure });
            completed.push(Completed {
                to: conn.server,
                channel: conn.channel,
                token: request.token,
                outcome: Outcome::Failed(failure),
            });
        }
        // What is done about it comes of it.
        ctx.cause = noted;
        completed
    }

    fn rearm(ctx: &mut Ctx<'_>, connection: &Connection<P>) {
        let timer = Timer::RequestTimeout(connection.id);
        ctx.cancel(&timer);
        if let Some(deadline) = connection.in_flight.iter().map(|f| f.deadline).min() {
            ctx.set(timer, deadline.since(ctx.now));
        }
    }
}
