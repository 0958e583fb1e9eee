//! Connections of a client with Kafka's NetworkClient states: a node is asked only once its connection stands. Retries
//! no request.
use alloc::vec::Vec;

use super::config::{Backoff, CommonConfig, sooner};
use crate::base::{BrokerId, Dur, Incarnation, Map, NodeId, SimTime};
use crate::node::{Channel, ConnId, Connections, Ctx, Event, Outcome, Timer};
use crate::protocol::{BrokerRequest, MetadataRequest, Request};

/// How long a host may take to accept a connection (`socket.connection.setup.timeout.ms` and its maximum).
const SETUP_TIMEOUT: Backoff = Backoff { first: Dur::secs(10), most: Dur::secs(30), exponential: true };

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Link {
    /// The host has not answered; it may take so long.
    Connecting {
        setup: Dur,
    },
    /// The host has accepted; its process has not answered yet.
    Checking,
    Ready,
    /// The connection failed or broke; the next try is not before `until`.
    Down {
        until: SimTime,
    },
}

/// What a request is for: the first one on a connection only shows that it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Token<P> {
    /// Stands for ApiVersions: an empty Metadata request.
    Handshake,
    Call(P),
}

/// What became of the connections and their requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NetDone<P> {
    Connected { broker: BrokerId },
    Lost { broker: BrokerId, channel: Channel },
    Done { broker: BrokerId, token: P, outcome: Outcome },
}

/// Connections to brokers. `P` says what a request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Net<P> {
    conns: Connections<Token<P>>,
    links: Map<(BrokerId, Channel), Link>,
    /// Failures in a row, kept while a new attempt is under way.
    failed_attempts: Map<(BrokerId, Channel), u32>,
    /// Those of them in a row that no host accepted.
    failed_setups: Map<(BrokerId, Channel), u32>,
    /// When a connection was last opened or lost.
    last_attempt: Map<(BrokerId, Channel), SimTime>,
    config: CommonConfig,
    /// `max.in.flight.requests.per.connection`.
    max_in_flight: usize,
    /// Since when the present `NetworkClient.poll` lasts, for those whose thread waits in it until something happens.
    polling_since: Option<SimTime>,
    wants_metadata: bool,
}

impl<P: Clone> Net<P> {
    pub fn new(me: NodeId, incarnation: Incarnation, config: CommonConfig, max_in_flight: usize) -> Net<P> {
        Net {
            conns: Connections::new(me, incarnation.0 << 16),
            links: Map::new(),
            failed_attempts: Map::new(),
            failed_setups: Map::new(),
            last_attempt: Map::new(),
            config,
            max_in_flight,
            polling_since: None,
            wants_metadata: false,
        }
    }

    /// The client's thread does nothing but wait in `NetworkClient.poll`. Only when a poll ends, by whatever event,
    /// else after `request.timeout.ms`, is it seen that a request is overdue: the answer may come before that. A poll
    /// in which a host is awaited lasts as long as its connection may take to set up, counted anew each time, and no
    /// time worth mentioning while metadata is wanted too.
    pub fn waits_in_poll(self, now: SimTime) -> Net<P> {
        Net { polling_since: Some(now), ..self }
    }

    /// A poll has ended and the next begins: requests that are overdue by now have failed, with all others on their
    /// connections.
    pub fn poll_again(&mut self, ctx: &mut Ctx<'_>) -> Vec<NetDone<P>> {
        self.polling_since = Some(ctx.now);
        let overdue: Vec<ConnId> = self.conns.overdue(ctx.now).collect();
        overdue.into_iter().flat_map(|conn| self.on_event(ctx, Event::Timer(Timer::RequestTimeout(conn)))).collect()
    }

    /// While metadata is wanted and a connection is being made, polls are short (`reconnect.backoff.ms`).
    pub fn polls_for_metadata(&mut self, wanted: bool) {
        self.wants_metadata = wanted;
    }

    /// When the poll ends in which the thread would see that a request on this connection is overdue; `None` if now.
    fn poll_ends_at(&self, now: SimTime, conn: ConnId) -> Option<SimTime> {
        let since = self.polling_since.filter(|since| *since != now)?;
        let NodeId::Broker(broker) = conn.server else { return None };
        let longest = match self.links.get(&(broker, conn.channel))? {
            Link::Connecting { .. } if self.wants_metadata => return None,
            Link::Connecting { setup } => (*setup).min(self.config.request_timeout),
            Link::Checking | Link::Ready => self.config.request_timeout,
            Link::Down { .. } => return None,
        };
        let polls = now.since(since).0.div_ceil(longest.0.max(1));
        Some(since + Dur(polls * longest.0)).filter(|end| *end > now)
    }

    /// Whether requests can be sent now; opens the connection if it may be opened.
    pub fn ready(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, channel: Channel) -> bool {
        match self.links.get(&(broker, channel)) {
            Some(Link::Ready) => true,
            Some(Link::Connecting { .. } | Link::Checking) => false,
            Some(Link::Down { until }) if *until > ctx.now => false,
            Some(Link::Down { .. }) | None => {
                self.last_attempt.insert((broker, channel), ctx.now);
                let hello = Request::Broker(BrokerRequest::Metadata(MetadataRequest {
                    topics: Some(Vec::new()),
                    allow_auto_topic_creation: false,
                }));
                let failed = self.failed_setups.get(&(broker, channel)).copied().unwrap_or(0);
                let setup = SETUP_TIMEOUT.after(failed + 1, ctx.rng);
                self.links.insert((broker, channel), Link::Connecting { setup });
                self.conns.request(ctx, NodeId::Broker(broker), channel, hello, setup, Token::Handshake);
                false
            }
        }
    }

    /// Forgets failed attempts, as a new client knows of none.
    pub fn forget_failures(&mut self) {
        self.failed_attempts.clear();
        self.failed_setups.clear();
        self.last_attempt.clear();
        self.links.retain(|_, link| !matches!(link, Link::Down { .. }));
    }

    /// Whether the connection stands.
    pub fn is_ready(&self, broker: BrokerId, channel: Channel) -> bool {
        self.links.get(&(broker, channel)) == Some(&Link::Ready)
    }

    /// Whether the connection takes another request now.
    fn can_send(&self, broker: BrokerId, channel: Channel) -> bool {
        self.is_ready(broker, channel) && self.n_in_flight(broker, channel) < self.max_in_flight
    }

    /// Whether the last attempt failed and its backoff has not passed.
    pub fn unavailable(&self, now: SimTime, broker: BrokerId, channel: Channel) -> bool {
        matches!(self.links.get(&(broker, channel)), Some(Link::Down { until }) if *until > now)
    }

    /// Sends on a connection that is ready.
    pub fn send(
        &mut self,
        ctx: &mut Ctx<'_>,
        broker: BrokerId,
        channel: Channel,
        body: Request,
        timeout: Dur,
        token: P,
    ) {
        self.conns.request(ctx, NodeId::Broker(broker), channel, body, timeout, Token::Call(token));
    }

    /// Sends what gets no answer (acks=0).
    pub fn send_and_forget(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, body: Request) {
        self.conns.send_and_forget(ctx, NodeId::Broker(broker), Channel::Client, body);
    }

    pub fn n_in_flight(&self, broker: BrokerId, channel: Channel) -> usize {
        self.conns.n_in_flight(NodeId::Broker(broker), channel)
    }

    /// Tokens of all requests in flight.
    pub fn tokens(&self) -> impl Iterator<Item = &P> {
        self.conns.all_tokens().filter_map(|token| match token {
            Token::Handshake => None,
            Token::Call(call) => Some(call),
        })
    }

    /// The node that a request to any node goes to (`NetworkClient.leastLoadedNode`): a connected one with the fewest
    /// requests in flight, unless it has all that it may have, then one that is being connected, then the one whose
    /// last attempt is the longest ago.
    pub fn pick(&self, ctx: &mut Ctx<'_>, brokers: &[BrokerId]) -> Option<BrokerId> {
        // Nodes stand in a random order (`Cluster`), and the search begins anywhere in it.
        let mut order = brokers.to_vec();
        ctx.rng.shuffle(&mut order);
        let ready = order
            .iter()
            .filter(|b| self.can_send(**b, Channel::Client))
            .min_by_key(|b| self.n_in_flight(**b, Channel::Client));
        let link = |broker: &BrokerId| self.links.get(&(*broker, Channel::Client)).copied();
        let connecting = || order.iter().rfind(|b| matches!(link(b), Some(Link::Connecting { .. } | Link::Checking)));
        let now = ctx.now;
        let connectable = || {
            order
                .iter()
                .filter(|b| link(b) != Some(Link::Ready) && !self.unavailable(now, **b, Channel::Client))
                .min_by_key(|b| self.last_attempt.get(&(**b, Channel::Client)).copied())
        };
        ready.or_else(connecting).or_else(connectable).copied()
    }

    /// The same for those who send at once or wait. `Err` if none can be asked now.
    pub fn least_loaded(&mut self, ctx: &mut Ctx<'_>, brokers: &[BrokerId]) -> Result<BrokerId, NoNode> {
        match self.pick(ctx, brokers) {
            Some(broker) if self.ready(ctx, broker, Channel::Client) => Ok(broker),
            Some(_) => Err(NoNode::Connecting),
            None if brokers.iter().any(|b| self.is_ready(*b, Channel::Client)) => Err(NoNode::Busy),
            None => Err(NoNode::AllDown),
        }
    }

    /// Nodes that there is a connection to, or was.
    pub fn peers(&self) -> Vec<BrokerId> {
        self.links.keys().map(|(broker, _)| *broker).collect()
    }

    /// A host has accepted the connection: from now on only `request.timeout.ms` limits the answer to the first
    /// request.
    fn on_accepted(&mut self, ctx: &mut Ctx<'_>, conn: ConnId) {
        let NodeId::Broker(broker) = conn.server else { return };
        let key = (broker, conn.channel);
        if self.conns.is_current(conn) && matches!(self.links.get(&key), Some(Link::Connecting { .. })) {
            self.links.insert(key, Link::Checking);
            self.failed_setups.remove(&key);
            self.conns.extend(ctx, conn, self.config.request_timeout);
        }
    }

    /// Handles what the world tells of connections; other events give nothing.
    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) -> Vec<NetDone<P>> {
        let (conn, broken, completed) = match event {
            Event::Connected { conn } => {
                self.on_accepted(ctx, conn);
                return Vec::new();
            }
            Event::Response { conn, correlation, body } => {
                (conn, false, self.conns.on_response(ctx, conn, correlation, body).into_iter().collect())
            }
            Event::Disconnected { conn } => {
                let before = self.conns.is_open(conn.server, conn.channel);
                let completed = self.conns.on_disconnected(ctx, conn);
                if before == self.conns.is_open(conn.server, conn.channel) {
                    return Vec::new();
                }
                (conn, true, completed)
            }
            Event::Timer(Timer::RequestTimeout(conn)) => {
                if let Some(end) = self.poll_ends_at(ctx.now, conn) {
                    ctx.set(Timer::RequestTimeout(conn), end.since(ctx.now));
                    return Vec::new();
                }
                let before = self.conns.is_open(conn.server, conn.channel);
                let completed = self.conns.on_request_timeout(ctx, conn);
                if before == self.conns.is_open(conn.server, conn.channel) {
                    return Vec::new();
                }
                (conn, true, completed)
            }
            Event::Request { .. } | Event::Reset { .. } | Event::Timer(_) | Event::Shutdown | Event::Command(_) => {
                return Vec::new();
            }
        };
        let NodeId::Broker(broker) = conn.server else { return Vec::new() };
        let key = (broker, conn.channel);
        let mut done = Vec::new();
        if broken {
            let was_accepted = !matches!(self.links.get(&key), Some(Link::Connecting { .. }));
            let failed_setups = if was_accepted { 0 } else { self.failed_setups.get(&key).copied().unwrap_or(0) + 1 };
            self.failed_setups.insert(key, failed_setups);
            self.rest(ctx, key);
            done.push(NetDone::Lost { broker, channel: conn.channel });
        }
        for one in completed {
            match (one.token, one.outcome) {
                (Token::Handshake, Outcome::Answer(_)) => {
                    self.failed_setups.remove(&key);
                    self.failed_attempts.remove(&key);
                    self.links.insert(key, Link::Ready);
                    done.push(NetDone::Connected { broker });
                }
                (Token::Handshake, Outcome::Failed(_)) => {}
                (Token::Call(token), outcome) => done.push(NetDone::Done { broker, token, outcome }),
            }
        }
        done
    }

    /// Closes a connection; what was in flight on it fails as disconnected.
    pub fn close(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, channel: Channel) -> Vec<P> {
        self.links.remove(&(broker, channel));
        let completed = self.conns.close(ctx, NodeId::Broker(broker), channel);
        completed
            .into_iter()
            .filter_map(|one| if let Token::Call(token) = one.token { Some(token) } else { None })
            .collect()
    }

    /// Gives up a connection as one that failed: the next try is not at once. What was in flight on it is returned.
    pub fn disconnect(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, channel: Channel) -> Vec<P> {
        let lost = self.close(ctx, broker, channel);
        self.rest(ctx, (broker, channel));
        lost
    }

    /// A node whose connection is gone rests. An established connection that breaks is tried again at once; attempts
    /// that fail rest longer each time.
    fn rest(&mut self, ctx: &mut Ctx<'_>, key: (BrokerId, Channel)) {
        self.last_attempt.insert(key, ctx.now);
        let failures = self.failed_attempts.get(&key).copied().unwrap_or(0) + 1;
        let rest = self.config.reconnect.after(failures, ctx.rng);
        self.failed_attempts.insert(key, failures);
        self.links.insert(key, Link::Down { until: ctx.now + rest });
    }

    /// When the next node that rests may be tried again.
    pub fn wake(&self, now: SimTime) -> Option<SimTime> {
        self.links.values().fold(None, |soonest, link| match link {
            Link::Down { until } if *until > now => sooner(soonest, Some(*until)),
            Link::Down { .. } | Link::Connecting { .. } | Link::Checking | Link::Ready => soonest,
        })
    }
}

/// Why no node can be asked at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoNode {
    /// A connection is being made.
    Connecting,
    /// Every node that is connected has all the requests in flight that it may have.
    Busy,
    /// Every known node rests after a failed connection.
    AllDown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ClientId;
    use crate::client::config::ProducerConfig;
    use crate::client::spec::ClientVersion;
    use crate::node::testing::TestNode;
    use crate::protocol::config::config_map;
    use crate::protocol::{BrokerResponse, MetadataResponse, Response};

    const ONE: (BrokerId, Channel) = (BrokerId(1), Channel::Client);

    struct Bench {
        node: TestNode,
        net: Net<()>,
    }

    impl Bench {
        fn new(request_timeout: &str, max_in_flight: usize) -> Bench {
            let given = config_map(&[("request.timeout.ms", request_timeout), ("delivery.timeout.ms", "120000")]);
            let config = ProducerConfig::parse(ClientVersion::V4_1, &given).expect("allowed").common;
            let me = NodeId::Client(ClientId(1));
            Bench { node: TestNode::new(me), net: Net::new(me, Incarnation(1), config, max_in_flight) }
        }

        fn conn(&self) -> ConnId {
            self.net.conns.open_connection(NodeId::Broker(ONE.0), ONE.1).expect("it is open")
        }

        /// Opens the connection once it may; how long it is given, in milliseconds.
        fn connect(&mut self) -> u64 {
            self.node.now += Dur::secs(5);
            assert!(!self.net.ready(&mut self.node.ctx(), ONE.0, ONE.1), "it is only being opened");
            self.limit()
        }

        fn limit(&self) -> u64 {
            let due = self.node.timers.due_at(&Timer::RequestTimeout(self.conn())).expect("it is limited");
            due.since(self.node.now).as_ms()
        }

        fn tell(&mut self, event: Event) {
            self.net.on_event(&mut self.node.ctx(), event);
        }

        fn answer(&mut self, broker: BrokerId) {
            let conn = self.net.conns.open_connection(NodeId::Broker(broker), ONE.1).expect("it is open");
            self.tell(Event::Connected { conn });
            let body = Response::Broker(BrokerResponse::Metadata(MetadataResponse {
                brokers: Vec::new(),
                topics: Vec::new(),
            }));
            let correlation = self.net.conns.oldest(conn).expect("the first request waits");
            self.tell(Event::Response { conn, correlation, body });
        }
    }

    #[test]
    fn a_host_that_accepts_for_a_paused_process_is_waited_for_as_long_as_a_request() {
        let mut b = Bench::new("36000", 5);
        assert!((8_000..=12_000).contains(&b.connect()));
        let conn = b.conn();
        b.node.now += Dur::secs(1);
        b.tell(Event::Connected { conn });
        assert_eq!(b.limit(), 36_000);
        assert!(!b.net.is_ready(ONE.0, ONE.1), "the process has not answered");
    }

    #[test]
    fn the_time_for_a_set_up_grows_with_each_failure_and_begins_anew_after_a_connection_stood() {
        let mut b = Bench::new("6000", 5);
        for _ in 0..2 {
            for (least, most) in [(8_000, 12_000), (16_000, 24_000), (24_000, 30_000), (24_000, 30_000)] {
                let limit = b.connect();
                assert!((least..=most).contains(&limit), "{limit} within {least} and {most}");
                let conn = b.conn();
                b.tell(Event::Timer(Timer::RequestTimeout(conn)));
            }
            b.connect();
            b.answer(ONE.0);
            assert!(b.net.is_ready(ONE.0, ONE.1));
            let conn = b.conn();
            b.tell(Event::Disconnected { conn });
        }
    }

    #[test]
    fn a_set_up_that_takes_too_long_is_noticed_when_a_poll_ends() {
        let mut b = Bench::new("60000", 5);
        b.net = b.net.waits_in_poll(b.node.now);
        let setup = b.connect();
        b.net.poll_again(&mut b.node.ctx());
        // A batch that becomes ready ends the poll after 3 s: the next one lasts for a whole set-up time again.
        b.node.now += Dur::secs(3);
        assert_eq!(b.net.poll_again(&mut b.node.ctx()), []);
        let conn = b.conn();
        b.node.now += Dur::ms(setup - 3_000 + 1);
        b.tell(Event::Timer(Timer::RequestTimeout(conn)));
        assert_eq!(b.limit(), 3_000 - 1, "the thread does not look before its poll ends");
        b.node.now += Dur::secs(1);
        let lost = [NetDone::Lost { broker: ONE.0, channel: ONE.1 }];
        assert_eq!(b.net.poll_again(&mut b.node.ctx()), lost, "whatever ends it");
    }

    #[test]
    fn while_metadata_is_wanted_too_a_set_up_that_takes_too_long_is_noticed_at_once() {
        let mut b = Bench::new("60000", 5);
        b.net = b.net.waits_in_poll(b.node.now);
        let setup = b.connect();
        b.net.polls_for_metadata(true);
        b.node.now += Dur::ms(setup + 1);
        let conn = b.conn();
        let done = b.net.on_event(&mut b.node.ctx(), Event::Timer(Timer::RequestTimeout(conn)));
        assert_eq!(done, [NetDone::Lost { broker: ONE.0, channel: ONE.1 }]);
    }

    #[test]
    fn a_node_with_all_its_requests_in_flight_is_not_the_least_loaded() {
        let mut b = Bench::new("30000", 1);
        let brokers = [BrokerId(1), BrokerId(2)];
        assert_eq!(b.net.least_loaded(&mut b.node.ctx(), &brokers[..1]), Err(NoNode::Connecting));
        b.answer(BrokerId(1));
        assert_eq!(b.net.least_loaded(&mut b.node.ctx(), &brokers[..1]), Ok(BrokerId(1)));
        let body = Request::Broker(BrokerRequest::Metadata(MetadataRequest {
            topics: None,
            allow_auto_topic_creation: false,
        }));
        b.net.send(&mut b.node.ctx(), BrokerId(1), ONE.1, body, Dur::secs(30), ());
        assert_eq!(b.net.least_loaded(&mut b.node.ctx(), &brokers[..1]), Err(NoNode::Busy));
        assert_eq!(b.net.least_loaded(&mut b.node.ctx(), &brokers), Err(NoNode::Connecting), "another one is tried");
        b.answer(BrokerId(2));
        assert_eq!(b.net.least_loaded(&mut b.node.ctx(), &brokers), Ok(BrokerId(2)));
    }
}
