//! Links, connections and what TCP does with them: latency, order, loss as delay, cuts as retransmission, resets. Reads
//! no message.
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{Deed, LinkSetup, Pick};
use crate::base::{Dur, Map, NodeId, Rng, Seq, Set, SimTime, StreamId};
use crate::node::{ConnId, Direction, Message};
use crate::protocol::Api;

/// First retransmission of an established connection; each further one waits twice as long (RFC 6298, Linux's minimum).
const DATA_RTO: Dur = Dur::ms(200);
/// First repetition of the SYN of a new connection; each further one waits twice as long.
const SYN_RTO: Dur = Dur::secs(1);
/// Longest pause between two retransmissions.
const RTO_DOUBLINGS: u32 = 9;

/// A link in one direction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Link {
    setup: LinkSetup,
    cut: bool,
    rng: Rng,
}

/// A connection that one end at least believes in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Connection {
    /// The handshake is over: something has arrived at the server.
    established: bool,
    /// The client's process has closed its socket, or is gone.
    client_closed: bool,
    /// The server's process has.
    server_closed: bool,
    /// When the last message of each direction arrives; none overtakes another.
    last_request: SimTime,
    last_response: SimTime,
}

impl Connection {
    fn closed(&mut self, is_client: bool) -> &mut bool {
        if is_client { &mut self.client_closed } else { &mut self.server_closed }
    }
}

/// The end of a connection, on its way to one of its nodes: a FIN, or a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct End {
    pub conn: ConnId,
    pub to: NodeId,
    pub reset: bool,
    pub cause: Seq,
}

/// A message that a cut keeps in retransmission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Held {
    pub message: Message,
    /// When it would have arrived.
    pub since: SimTime,
    /// On a connection that is not yet established it is the SYN that is repeated.
    pub handshake: bool,
}

/// A message that an action holds, or that waits behind one on its connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pinned {
    /// By which it is released; `None` for one that only waits.
    pub name: Option<Rc<str>>,
    pub message: Message,
}

/// What is to be done to a message that has not been sent yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rule {
    pub which: Pick,
    pub deed: Deed,
    /// The trace entry of the action.
    pub cause: Seq,
}

/// All links and connections.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    seed: u64,
    default: LinkSetup,
    links: Map<(NodeId, NodeId), Link>,
    connections: Map<ConnId, Connection>,
    /// Connections by the node that takes part, so that a death finds them.
    by_node: Map<NodeId, Set<ConnId>>,
    /// A client that is started again has a new id; its links are those of the first process of its name.
    hosts: Map<NodeId, NodeId>,
    /// The latest process at each of those.
    latest: Map<NodeId, NodeId>,
    pub(super) held: Vec<Held>,
    /// In order of arrival.
    pub(super) pinned: Vec<Pinned>,
    /// The ends of connections that wait behind what is pinned.
    pub(super) waiting_ends: Vec<End>,
    pub(super) rules: Vec<Rule>,
}

impl Network {
    pub(super) fn new(seed: u64, default: LinkSetup) -> Network {
        Network {
            seed,
            default,
            links: Map::new(),
            connections: Map::new(),
            by_node: Map::new(),
            hosts: Map::new(),
            latest: Map::new(),
            held: Vec::new(),
            pinned: Vec::new(),
            waiting_ends: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// A process that takes the place of an earlier one takes its links too.
    pub(super) fn succeed(&mut self, new: NodeId, old: NodeId) {
        let host = self.host(old);
        self.hosts.insert(new, host);
        self.latest.insert(host, new);
    }

    fn host(&self, node: NodeId) -> NodeId {
        self.hosts.get(&node).copied().unwrap_or(node)
    }

    fn link(&mut self, from: NodeId, to: NodeId) -> &mut Link {
        let (from, to) = (self.host(from), self.host(to));
        let (seed, setup) = (self.seed, self.default);
        self.links.entry((from, to)).or_insert_with(|| Link {
            setup,
            cut: false,
            rng: Rng::stream(seed, StreamId::Link(from, to)),
        })
    }

    /// Time for one packet from one node to another: latency, jitter, and a retransmission for each loss.
    fn flight(&mut self, from: NodeId, to: NodeId) -> Dur {
        let link = self.link(from, to);
        let setup = link.setup;
        let mut span = setup.latency + link.rng.between(Dur::ZERO, setup.jitter);
        let mut rto = DATA_RTO;
        for _ in 0..RTO_DOUBLINGS {
            if !link.rng.per_million(setup.loss_per_million) {
                break;
            }
            span = span + rto;
            rto = rto.scaled(2, 1);
        }
        span
    }

    /// When a message that is sent now arrives, if no cut holds it.
    pub(super) fn arrival(&mut self, now: SimTime, conn: ConnId, direction: Direction) -> SimTime {
        let (from, to) = match direction {
            Direction::Request => (conn.client, conn.server),
            Direction::Response => (conn.server, conn.client),
        };
        let mut at = now + self.flight(from, to);
        let known = self.connections.contains_key(&conn);
        if !known && direction == Direction::Request {
            // SYN and SYN-ACK come first.
            at = at + self.flight(from, to) + self.flight(to, from);
            self.connections.insert(conn, Connection::default());
            self.by_node.entry(conn.client).or_default().insert(conn);
            self.by_node.entry(conn.server).or_default().insert(conn);
        }
        if let Some(connection) = self.connections.get_mut(&conn) {
            let last = match direction {
                Direction::Request => &mut connection.last_request,
                Direction::Response => &mut connection.last_response,
            };
            at = at.max(*last);
            *last = at;
        }
        at
    }

    /// Whether the socket that a node has of this connection is open.
    pub(super) fn is_open(&self, conn: ConnId, node: NodeId) -> bool {
        let closed = |c: &Connection| if node == conn.client { c.client_closed } else { c.server_closed };
        self.connections.get(&conn).is_some_and(|c| !closed(c))
    }

    pub(super) fn is_established(&self, conn: ConnId) -> bool {
        self.connections.get(&conn).is_some_and(|c| c.established)
    }

    pub(super) fn establish(&mut self, conn: ConnId) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            connection.established = true;
        }
    }

    /// A node closes its socket of a connection; answers when the other end learns of it, `None` if it need not, or a
    /// cut keeps that from it.
    pub(super) fn close(&mut self, now: SimTime, conn: ConnId, by: NodeId) -> Option<SimTime> {
        if !self.is_open(conn, by) {
            return None;
        }
        let peer = conn.peer_of(by);
        let is_cut = self.is_cut(by, peer);
        self.held.retain(|held| held.message.conn != conn || held.message.from() != by);
        if is_cut && !self.is_established(conn) {
            // Nobody at the other end has ever heard of it.
            self.forget(conn);
            return None;
        }
        self.end(conn, by);
        if is_cut || !self.is_open(conn, peer) {
            return None;
        }
        self.reset_arrival(now, conn, by)
    }

    /// A node has no socket of this connection any more. What neither end has is forgotten.
    pub(super) fn end(&mut self, conn: ConnId, node: NodeId) {
        let Some(connection) = self.connections.get_mut(&conn) else { return };
        *connection.closed(node == conn.client) = true;
        if connection.client_closed && connection.server_closed {
            self.forget(conn);
        }
    }

    fn forget(&mut self, conn: ConnId) {
        self.connections.remove(&conn);
        for node in [conn.client, conn.server] {
            if let Some(conns) = self.by_node.get_mut(&node) {
                conns.remove(&conn);
            }
        }
        self.held.retain(|held| held.message.conn != conn);
    }

    /// Connections in which a node takes part, those of which only one end has a socket included.
    pub fn connections_of(&self, node: NodeId) -> Vec<ConnId> {
        self.by_node.get(&node).map_or_else(Vec::new, |conns| conns.iter().copied().collect())
    }

    /// When a FIN or a reset that a node sends now arrives: after all that it has sent before, never if a cut swallows
    /// it.
    pub(super) fn reset_arrival(&mut self, now: SimTime, conn: ConnId, from: NodeId) -> Option<SimTime> {
        let to = conn.peer_of(from);
        if self.is_cut(from, to) {
            return None;
        }
        let at = now + self.flight(from, to);
        let last = |c: &Connection| if from == conn.client { c.last_request } else { c.last_response };
        Some(self.connections.get(&conn).map_or(at, |c| at.max(last(c))))
    }

    pub fn is_cut(&self, from: NodeId, to: NodeId) -> bool {
        self.links.get(&(self.host(from), self.host(to))).is_some_and(|link| link.cut)
    }

    /// Every direction in which nothing passes.
    pub fn cuts(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        let now = |node: NodeId| self.latest.get(&node).copied().unwrap_or(node);
        self.links.iter().filter(|(_, link)| link.cut).map(move |((from, to), _)| (now(*from), now(*to)))
    }

    /// The behaviour of a link in one direction.
    pub fn link_setup(&self, from: NodeId, to: NodeId) -> LinkSetup {
        self.links.get(&(self.host(from), self.host(to))).map_or(self.default, |link| link.setup)
    }

    /// The default of every link.
    pub fn default_setup(&self) -> LinkSetup {
        self.default
    }

    pub(super) fn set_cut(&mut self, from: NodeId, to: NodeId, cut: bool) -> bool {
        let link = self.link(from, to);
        core::mem::replace(&mut link.cut, cut) != cut
    }

    pub(super) fn set_link(&mut self, from: NodeId, to: NodeId, change: impl Fn(&mut LinkSetup)) {
        change(&mut self.link(from, to).setup);
    }

    /// Takes what a healed link lets through again, with the time of the retransmission that arrives.
    pub(super) fn release(&mut self, now: SimTime, from: NodeId, to: NodeId) -> Vec<(SimTime, Message)> {
        let mut released = Vec::new();
        let mut rest = Vec::new();
        for held in core::mem::take(&mut self.held) {
            if (self.host(held.message.from()), self.host(held.message.to())) == (self.host(from), self.host(to)) {
                released.push(held);
            } else {
                rest.push(held);
            }
        }
        self.held = rest;
        let mut out = Vec::new();
        for held in released {
            let at = next_retransmission(held.since, now, if held.handshake { SYN_RTO } else { DATA_RTO })
                + self.flight(from, to);
            let at = match self.connections.get_mut(&held.message.conn) {
                Some(connection) => {
                    let last = match held.message.direction {
                        Direction::Request => &mut connection.last_request,
                        Direction::Response => &mut connection.last_response,
                    };
                    // What lies in the same queue goes with the first retransmission that succeeds.
                    let at = if *last > now { *last } else { at };
                    *last = at;
                    at
                }
                None => at,
            };
            out.push((at, held.message));
        }
        out
    }

    /// What is to be done to this message, which is being sent. Counts down the rules that match.
    pub(super) fn due_rules(&mut self, api: Api, response: bool, from: NodeId, to: NodeId) -> Vec<Rule> {
        for rule in self.rules.iter_mut().filter(|rule| rule.which.matches(api, response, from, to)) {
            rule.which.nth = rule.which.nth.saturating_sub(1);
        }
        let due = self.rules.iter().filter(|rule| rule.which.nth == 0).cloned().collect();
        self.rules.retain(|rule| rule.which.nth > 0);
        due
    }

    /// Whatever is sent from now on in this direction of a connection arrives at `at` or later.
    pub(super) fn none_before(&mut self, conn: ConnId, direction: Direction, at: SimTime) {
        if let Some(connection) = self.connections.get_mut(&conn) {
            match direction {
                Direction::Request => connection.last_request = at,
                Direction::Response => connection.last_response = at,
            }
        }
    }
}

/// The first retransmission at or after `now` of a packet first lost at `since`.
fn next_retransmission(since: SimTime, now: SimTime, first: Dur) -> SimTime {
    let mut at = since + first;
    let mut pause = first;
    let longest = first.scaled(1 << RTO_DOUBLINGS, 1);
    while at < now {
        pause = if pause < longest { pause.scaled(2, 1) } else { longest };
        at += pause;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retransmissions_double_their_pause() {
        let at = |now| next_retransmission(SimTime(0), SimTime(now), DATA_RTO).0 / 1_000;
        assert_eq!([at(1), at(200_001), at(600_001), at(20_000_000)], [200, 600, 1_400, 25_400]);
    }
}
