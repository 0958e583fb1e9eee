//! Connections of a client with Kafka's NetworkClient states: a node is asked only once its connection stands. Retries
//! no request.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::config::{CommonConfig, sooner};
use crate::base::{BrokerId, Dur, Incarnation, NodeId, SimTime};
use crate::node::{Channel, Connections, Ctx, Event, Outcome, Timer};
use crate::protocol::{MetadataRequest, Request};

/// A connection attempt is given up after this (`socket.connection.setup.timeout.ms`).
const SETUP_TIMEOUT: Dur = Dur::secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Link {
    Connecting,
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
    links: BTreeMap<(BrokerId, Channel), Link>,
    /// Failures in a row, kept while a new attempt is under way.
    failed_attempts: BTreeMap<(BrokerId, Channel), u32>,
    config: CommonConfig,
}

impl<P: Clone> Net<P> {
    pub fn new(me: NodeId, incarnation: Incarnation, config: CommonConfig) -> Net<P> {
        Net {
            conns: Connections::new(me, incarnation.0 << 16),
            links: BTreeMap::new(),
            failed_attempts: BTreeMap::new(),
            config,
        }
    }

    /// Whether requests can be sent now; opens the connection if it may be opened.
    pub fn ready(&mut self, ctx: &mut Ctx<'_>, broker: BrokerId, channel: Channel) -> bool {
        match self.links.get(&(broker, channel)) {
            Some(Link::Ready) => true,
            Some(Link::Connecting) => false,
            Some(Link::Down { until }) if *until > ctx.now => false,
            Some(Link::Down { .. }) | None => {
                let failures = self.failures(broker, channel);
                self.links.insert((broker, channel), Link::Connecting);
                let hello =
                    Request::Metadata(MetadataRequest { topics: Some(Vec::new()), allow_auto_topic_creation: false });
                // Repeated attempts at a host that does not answer wait longer, up to 30 s.
                let setup = Dur(SETUP_TIMEOUT.0 << failures.min(1)).min(self.config.request_timeout);
                self.conns.request(ctx, NodeId::Broker(broker), channel, hello, setup, Token::Handshake);
                false
            }
        }
    }

    /// Forgets failed attempts, as a new client knows of none.
    pub fn forget_failures(&mut self) {
        self.failed_attempts.clear();
        self.links.retain(|_, link| !matches!(link, Link::Down { .. }));
    }

    /// Whether the connection stands.
    pub fn is_ready(&self, broker: BrokerId, channel: Channel) -> bool {
        self.links.get(&(broker, channel)) == Some(&Link::Ready)
    }

    fn failures(&self, broker: BrokerId, channel: Channel) -> u32 {
        self.failed_attempts.get(&(broker, channel)).copied().unwrap_or(0)
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

    /// Least loaded first: a connected node with the fewest requests in flight, then one that is being connected, then
    /// one that can be; ties at random. `Err` if every node rests after a failure.
    pub fn least_loaded(&mut self, ctx: &mut Ctx<'_>, brokers: &[BrokerId]) -> Result<BrokerId, NoNode> {
        let mut order = brokers.to_vec();
        ctx.rng.shuffle(&mut order);
        let link = |broker: &BrokerId| self.links.get(&(*broker, Channel::Client)).copied();
        let ready = order
            .iter()
            .filter(|b| link(b) == Some(Link::Ready))
            .min_by_key(|b| self.n_in_flight(**b, Channel::Client));
        if let Some(broker) = ready {
            return Ok(*broker);
        }
        if order.iter().any(|b| link(b) == Some(Link::Connecting)) {
            return Err(NoNode::Connecting);
        }
        let now = ctx.now;
        let connectable = order
            .iter()
            .filter(|b| !self.unavailable(now, **b, Channel::Client))
            .min_by_key(|b| self.failures(**b, Channel::Client))
            .copied();
        match connectable {
            Some(broker) => {
                self.ready(ctx, broker, Channel::Client);
                Err(NoNode::Connecting)
            }
            None => Err(NoNode::AllDown),
        }
    }

    /// Handles what the world tells of connections; other events give nothing.
    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) -> Vec<NetDone<P>> {
        let (conn, broken, completed) = match event {
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
                let before = self.conns.is_open(conn.server, conn.channel);
                let completed = self.conns.on_request_timeout(ctx, conn);
                if before == self.conns.is_open(conn.server, conn.channel) {
                    return Vec::new();
                }
                (conn, true, completed)
            }
            Event::Request { .. } | Event::Timer(_) | Event::Shutdown | Event::Command(_) => return Vec::new(),
        };
        let NodeId::Broker(broker) = conn.server else { return Vec::new() };
        let key = (broker, conn.channel);
        let mut done = Vec::new();
        if broken {
            // An established connection that breaks is tried again at once; attempts that fail rest longer each time.
            let failures = self.failed_attempts.remove(&key).unwrap_or(0) + 1;
            let rest = self.config.reconnect.after(failures, ctx.rng);
            self.failed_attempts.insert(key, failures);
            self.links.insert(key, Link::Down { until: ctx.now + rest });
            done.push(NetDone::Lost { broker, channel: conn.channel });
        }
        for one in completed {
            match (one.token, one.outcome) {
                (Token::Handshake, Outcome::Answer(_)) => {
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

    /// When the next node that rests may be tried again.
    pub fn wake(&self, now: SimTime) -> Option<SimTime> {
        self.links.values().fold(None, |soonest, link| match link {
            Link::Down { until } if *until > now => sooner(soonest, Some(*until)),
            Link::Down { .. } | Link::Connecting | Link::Ready => soonest,
        })
    }
}

/// Why no node can be asked at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoNode {
    /// A connection is being made.
    Connecting,
    /// Every known node rests after a failed connection.
    AllDown,
}
