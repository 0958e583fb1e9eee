//! The server side of connections (Kafka's SocketServer): one request of a connection is worked on at a time, the next
//! is read when it is answered. It works on none itself.
//!
//! A request that finds its connection idle is worked on at once: what that takes is part of the link's latency. One
//! that lay unread meanwhile is worked on `HANDLING` later, so that a reset that the answer before it has provoked
//! comes first where the client is near.
//!
//! While a request is worked on, nobody reads the connection, so that neither a FIN nor a reset is noticed: the first
//! answer that is written after a reset tells, and what lies unread then is never worked on. An answer that is written
//! after a FIN alone is what the reset comes for. Produce with acks=0 writes no answer, and reading goes on to the end.
use alloc::collections::VecDeque;

use super::{ConnId, Ctx, Timer};
use crate::base::{CorrelationId, Dur, Map, Seq, SimTime};
use crate::protocol::{Request, Response};
use crate::trace::Kind;

/// From an answer to the moment at which the next request, which lies unread, has its effect: as measured on Kafka
/// 4.1.1, where the queue and the log take most of it.
const HANDLING: (Dur, Dur) = (Dur::us(1300), Dur::us(2300));
/// What comes this soon after an answer lay in the socket already when that was written.
const BEHIND: Dur = Dur::us(500);

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
    /// When the last answer was written.
    answered_at: Option<SimTime>,
    /// Nothing comes after what waits.
    ended: bool,
    /// A reset has come: the next answer cannot be written.
    broken: bool,
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
        ctx: &mut Ctx<'_>,
        conn: ConnId,
        correlation: CorrelationId,
        body: Request,
    ) -> Option<Ready> {
        let served = self.served.entry(conn).or_default();
        let idle = served.busy.is_none() && served.waiting.is_empty();
        if !idle || served.answered_at.is_some_and(|at| ctx.now < at + BEHIND) {
            served.waiting.push_back(Waiting { correlation, body, cause: ctx.cause });
            if idle {
                read_later(ctx, conn);
            }
            return None;
        }
        served.busy = Some(correlation);
        Some(Ready { conn, correlation, body, cause: ctx.cause })
    }

    /// Answers, and reads on a little later.
    pub fn answer(&mut self, ctx: &mut Ctx<'_>, conn: ConnId, correlation: CorrelationId, response: Response) {
        let Some(served) = self.ended(conn, correlation) else { return };
        if served.broken {
            return self.close(ctx, conn);
        }
        served.answered_at = Some(ctx.now);
        ctx.send_response(conn, correlation, response);
        if !served.waiting.is_empty() {
            read_later(ctx, conn);
        } else if served.ended {
            self.close(ctx, conn);
        }
    }

    /// A request that gets no answer, such as Produce with acks=0, is over: the next one of its connection is returned
    /// and must be handled now.
    #[must_use]
    pub fn pass_over(&mut self, ctx: &mut Ctx<'_>, conn: ConnId, correlation: CorrelationId) -> Option<Ready> {
        self.ended(conn, correlation)?;
        self.read(ctx, conn)
    }

    /// The connection on which this request is worked on no longer.
    fn ended(&mut self, conn: ConnId, correlation: CorrelationId) -> Option<&mut Served> {
        let served = self.served.get_mut(&conn).filter(|served| served.busy == Some(correlation))?;
        served.busy = None;
        Some(served)
    }

    /// Takes the next request of a connection, which must be handled now.
    #[must_use]
    pub fn read(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) -> Option<Ready> {
        let served = self.served.get_mut(&conn)?;
        match served.waiting.pop_front() {
            Some(next) => {
                served.busy = Some(next.correlation);
                Some(Ready { conn, correlation: next.correlation, body: next.body, cause: next.cause })
            }
            None => {
                if served.ended {
                    self.close(ctx, conn);
                }
                None
            }
        }
    }

    /// The client's kernel has reset the connection.
    pub fn on_reset(&mut self, conn: ConnId) {
        self.served.entry(conn).or_default().broken = true;
    }

    /// The client closed the connection or died: what it sent before is all that there is to read.
    pub fn on_disconnected(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        match self.served.get_mut(&conn) {
            Some(served) if served.busy.is_some() || !served.waiting.is_empty() => served.ended = true,
            Some(_) | None => self.close(ctx, conn),
        }
    }

    /// Closes a connection from the server's side; what lies unread in it is dropped.
    pub fn close(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        for Waiting { body, cause, .. } in self.served.remove(&conn).map(|served| served.waiting).unwrap_or_default() {
            let records = body.records();
            ctx.caused_by(cause, |ctx| ctx.note(Kind::RequestUnread { of: conn.client, api: body.api(), records }));
        }
        ctx.cancel(&Timer::Read(conn));
        ctx.close(conn);
    }
}

fn read_later(ctx: &mut Ctx<'_>, conn: ConnId) {
    let span = ctx.rng.between(HANDLING.0, HANDLING.1);
    ctx.set(Timer::Read(conn), span);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BrokerId, ClientId, NodeId};
    use crate::node::testing::TestNode;
    use crate::node::{Channel, Effect};
    use crate::protocol::{Api, BrokerRequest, ClusterResponse, ErrorCode};

    const SERVER: NodeId = NodeId::Broker(BrokerId(1));
    const CONN: ConnId =
        ConnId { client: NodeId::Client(ClientId(1)), server: SERVER, channel: Channel::Client, generation: 1 };

    /// An inbox that has got five requests of one connection, and works on the first.
    struct Bench {
        node: TestNode,
        inbox: Inbox,
        /// What is worked on, and what was worked on before it.
        begun: alloc::vec::Vec<u32>,
    }

    impl Bench {
        fn new() -> Bench {
            let mut bench = Bench { node: TestNode::new(SERVER), inbox: Inbox::default(), begun: Default::default() };
            (1..=5).for_each(|n| bench.request(n));
            bench
        }

        /// The request that is worked on ends, with an answer or (acks=0) without.
        fn answer(&mut self, answers: bool) {
            let correlation = CorrelationId(*self.begun.last().expect("the first request was begun at once"));
            if answers {
                let response = Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into()));
                self.inbox.answer(&mut self.node.ctx(), CONN, correlation, response);
            } else {
                let ready = self.inbox.pass_over(&mut self.node.ctx(), CONN, correlation);
                self.begun.extend(ready.map(|ready| ready.correlation.0));
            }
        }

        /// Time goes on until the next request is read.
        fn read(&mut self) {
            self.node.now = self.node.timers.due_at(&Timer::Read(CONN)).expect("a request lies unread");
            self.node.timers.cancel(&Timer::Read(CONN));
            let ready = self.inbox.read(&mut self.node.ctx(), CONN);
            self.begun.extend(ready.map(|ready| ready.correlation.0));
        }

        fn request(&mut self, n: u32) {
            let body = Request::Broker(BrokerRequest::InitProducerId);
            let ready = self.inbox.on_request(&mut self.node.ctx(), CONN, CorrelationId(n), body);
            self.begun.extend(ready.map(|ready| ready.correlation.0));
        }

        fn reset(&mut self) {
            self.inbox.on_reset(CONN);
            self.end();
        }

        fn end(&mut self) {
            self.inbox.on_disconnected(&mut self.node.ctx(), CONN);
        }

        /// Answers that were written, and whether the connection was closed.
        fn seen(&self) -> (usize, bool) {
            let written = self.node.effects.iter().filter(|effect| matches!(effect, Effect::Send { .. })).count();
            (written, self.node.effects.iter().any(|e| matches!(e, Effect::Close { conn: CONN, .. })))
        }
    }

    #[test]
    fn the_first_answer_after_a_reset_breaks_and_what_lies_unread_is_never_worked_on() {
        let mut bench = Bench::new();
        bench.answer(true);
        bench.read();
        bench.reset();
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2][..], (1, false)), "nobody has noticed it yet");
        bench.answer(true);
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2][..], (1, true)));
        assert_eq!(bench.inbox, Inbox::default(), "nothing of the connection is left");
        let unread = Kind::RequestUnread { of: CONN.client, api: Api::InitProducerId, records: 0 };
        assert_eq!(bench.node.trace.iter().filter(|entry| entry.kind == unread).count(), 3, "and that is noted");
    }

    #[test]
    fn answers_to_a_client_that_only_closed_are_written_until_its_reset_comes() {
        let mut bench = Bench::new();
        bench.end();
        for _ in 0..2 {
            bench.answer(true);
            bench.read();
        }
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2, 3][..], (2, false)));
        bench.reset();
        bench.answer(true);
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2, 3][..], (2, true)));
    }

    #[test]
    fn without_answers_all_is_read_even_after_a_reset() {
        let mut bench = Bench::new();
        bench.reset();
        (0..5).for_each(|_| bench.answer(false));
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2, 3, 4, 5][..], (0, true)));
        assert_eq!(bench.inbox, Inbox::default());
    }

    #[test]
    fn a_closed_connection_that_nobody_works_on_is_closed_at_once() {
        let mut bench = Bench::new();
        bench.answer(true);
        for _ in 1..5 {
            bench.read();
            bench.answer(true);
        }
        assert_eq!(bench.seen(), (5, false));
        bench.end();
        assert_eq!((bench.seen(), bench.inbox), ((5, true), Inbox::default()));
    }

    #[test]
    fn a_reset_that_came_before_its_requests_were_read_breaks_the_first_answer() {
        let mut bench = Bench { node: TestNode::new(SERVER), inbox: Inbox::default(), begun: Default::default() };
        bench.inbox.on_reset(CONN);
        (1..=2).for_each(|n| bench.request(n));
        bench.answer(true);
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1][..], (0, true)));
    }

    #[test]
    fn a_reset_that_an_answer_provoked_comes_before_the_answer_to_what_lay_unread_behind_it() {
        // A frozen broker: everything is delivered at the instant at which it goes on.
        let mut bench = Bench { node: TestNode::new(SERVER), inbox: Inbox::default(), begun: Default::default() };
        bench.request(1);
        bench.answer(true);
        bench.request(2);
        bench.request(3);
        bench.end();
        assert_eq!(bench.begun, [1], "the second is not read at the instant of the first one's answer");
        let near = Dur::us(1200);
        assert!(bench.node.timers.due_at(&Timer::Read(CONN)).is_some_and(|at| at > bench.node.now + near));
        bench.reset();
        bench.read();
        bench.answer(true);
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2][..], (1, true)));
        assert_eq!(bench.node.timers.due_at(&Timer::Read(CONN)), None, "nothing is read of a closed connection");
    }

    #[test]
    fn a_request_that_finds_its_connection_idle_is_worked_on_at_once() {
        let mut bench = Bench { node: TestNode::new(SERVER), inbox: Inbox::default(), begun: Default::default() };
        for n in 1..=3 {
            bench.request(n);
            bench.answer(true);
            bench.node.now += BEHIND;
        }
        assert_eq!((bench.begun.as_slice(), bench.seen()), (&[1, 2, 3][..], (3, false)));
    }
}
