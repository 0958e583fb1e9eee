//! A small network for unit tests: latency, order within a connection, losses as delays, cuts, deaths. It knows nothing
//! of what its processes do.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::base::{Dur, Incarnation, MessageId, NodeId, Rng, Seq, SimTime, StreamId};
use crate::node::testing::TestNode;
use crate::node::{Body, ConnId, Ctx, Direction, Effect, Event, Timer};
use crate::trace::{Kind, TraceEntry};

/// Something that runs on a node.
pub(crate) trait Process: Sized {
    fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event);
}

struct Node<P> {
    surroundings: TestNode,
    process: Option<P>,
    starts: u32,
}

struct Packet {
    from: NodeId,
    to: NodeId,
    conn: ConnId,
    event: Event,
}

/// Nodes and what is on its way between them.
pub(crate) struct Network<P> {
    pub now: SimTime,
    pub loss_per_million: u32,
    pub rng: Rng,
    make: fn(&mut Ctx<'_>, NodeId, Incarnation) -> P,
    nodes: BTreeMap<NodeId, Node<P>>,
    agenda: BTreeMap<(SimTime, u64), Packet>,
    held: Vec<Packet>,
    order: BTreeMap<(ConnId, Direction), SimTime>,
    open: BTreeSet<ConnId>,
    closed: BTreeSet<ConnId>,
    cuts: BTreeSet<(NodeId, NodeId)>,
    counter: u64,
    last_seq: Seq,
    last_message: MessageId,
    pub trace: Vec<TraceEntry>,
}

impl<P: Process> Network<P> {
    pub fn new(seed: u64, ids: &[NodeId], make: fn(&mut Ctx<'_>, NodeId, Incarnation) -> P) -> Network<P> {
        let mut network = Network {
            now: SimTime::ZERO,
            loss_per_million: 0,
            rng: Rng::stream(seed, StreamId::World),
            make,
            nodes: BTreeMap::new(),
            agenda: BTreeMap::new(),
            held: Vec::new(),
            order: BTreeMap::new(),
            open: BTreeSet::new(),
            closed: BTreeSet::new(),
            cuts: BTreeSet::new(),
            counter: 0,
            last_seq: Seq(0),
            last_message: MessageId(0),
            trace: Vec::new(),
        };
        for id in ids {
            let mut surroundings = TestNode::new(*id);
            surroundings.rng = Rng::stream(seed, StreamId::Node(*id));
            network.nodes.insert(*id, Node { surroundings, process: None, starts: 0 });
        }
        for id in ids {
            network.start(*id);
        }
        network
    }

    pub fn get(&self, id: NodeId) -> Option<&P> {
        self.nodes[&id].process.as_ref()
    }
    pub fn disk(&self, id: NodeId) -> &crate::node::Disk {
        &self.nodes[&id].surroundings.disk
    }
    pub fn disk_mut(&mut self, id: NodeId) -> &mut crate::node::Disk {
        &mut self.nodes.get_mut(&id).expect("a node").surroundings.disk
    }
    pub fn alive(&self) -> impl Iterator<Item = (NodeId, &P)> {
        self.nodes.iter().filter_map(|(id, n)| n.process.as_ref().map(|p| (*id, p)))
    }

    /// Lets a process do something as if an event had led there.
    pub fn with<R>(&mut self, id: NodeId, f: impl FnOnce(&mut P, &mut Ctx<'_>) -> R) -> Option<R> {
        let node = self.nodes.get_mut(&id)?;
        let process = node.process.as_mut()?;
        node.surroundings.now = self.now;
        node.surroundings.last_seq = self.last_seq;
        node.surroundings.last_message = self.last_message;
        let result = f(process, &mut node.surroundings.ctx());
        self.collect(id);
        Some(result)
    }

    pub fn start(&mut self, id: NodeId) {
        let make = self.make;
        let node = self.nodes.get_mut(&id).expect("a node");
        if node.process.is_some() {
            return;
        }
        node.starts += 1;
        node.surroundings.now = self.now;
        node.surroundings.last_seq = self.last_seq;
        node.surroundings.last_message = self.last_message;
        let incarnation = Incarnation(node.starts);
        node.process = Some(make(&mut node.surroundings.ctx(), id, incarnation));
        self.collect(id);
    }

    pub fn kill(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(&id).expect("a node");
        node.process = None;
        node.surroundings.timers = Default::default();
        let gone: Vec<ConnId> = self.open.iter().copied().filter(|c| c.client == id || c.server == id).collect();
        for conn in gone {
            self.close(id, conn);
        }
    }

    /// No packet passes between the two, in both directions.
    pub fn cut(&mut self, a: NodeId, b: NodeId) {
        self.cuts.insert((a, b));
        self.cuts.insert((b, a));
    }
    pub fn heal(&mut self) {
        self.cuts.clear();
        for packet in core::mem::take(&mut self.held) {
            self.post(packet, None);
        }
    }

    fn collect(&mut self, id: NodeId) {
        let node = self.nodes.get_mut(&id).expect("a node");
        self.last_seq = node.surroundings.last_seq;
        self.last_message = node.surroundings.last_message;
        self.trace.append(&mut node.surroundings.trace);
        let effects = core::mem::take(&mut node.surroundings.effects);
        for effect in effects {
            match effect {
                Effect::Send { conn, direction, correlation, body, .. } => {
                    if self.closed.contains(&conn) {
                        continue;
                    }
                    self.open.insert(conn);
                    let event = match body {
                        Body::Request(body) => Event::Request { conn, correlation, body },
                        Body::Response(body) => Event::Response { conn, correlation, body },
                    };
                    self.post(Packet { from: id, to: conn.peer_of(id), conn, event }, Some(direction));
                }
                Effect::Close { conn, .. } => self.close(id, conn),
                Effect::Exit { .. } => self.kill(id),
            }
        }
    }

    fn close(&mut self, by: NodeId, conn: ConnId) {
        if self.open.remove(&conn) {
            self.closed.insert(conn);
            self.post(Packet { from: by, to: conn.peer_of(by), conn, event: Event::Disconnected { conn } }, None);
        }
    }

    fn post(&mut self, packet: Packet, direction: Option<Direction>) {
        if self.cuts.contains(&(packet.from, packet.to)) {
            self.held.push(packet);
            return;
        }
        let mut at = self.now + self.rng.between(Dur::us(400), Dur::us(700));
        if self.rng.per_million(self.loss_per_million) {
            // A lost packet is sent again.
            at += Dur::ms(200);
        }
        if let Some(direction) = direction {
            let last = self.order.entry((packet.conn, direction)).or_default();
            at = at.max(*last);
            *last = at;
        }
        self.counter += 1;
        self.agenda.insert((at, self.counter), packet);
    }

    /// Handles everything up to a moment.
    pub fn run_until(&mut self, end: SimTime) {
        loop {
            let message = self.agenda.first_key_value().map(|(key, _)| key.0);
            let timer = self
                .nodes
                .iter()
                .filter(|(_, n)| n.process.is_some())
                .filter_map(|(id, n)| n.surroundings.timers.next_at().map(|at| (at, *id)))
                .min();
            match (message, timer) {
                (Some(at), timer) if at <= end && timer.is_none_or(|(t, _)| at <= t) => {
                    self.now = at;
                    let Some((_, packet)) = self.agenda.pop_first() else { return };
                    self.deliver(packet);
                }
                (_, Some((at, id))) if at <= end => {
                    self.now = at.max(self.now);
                    self.fire(id);
                }
                (_, _) => {
                    self.now = end;
                    return;
                }
            }
        }
    }
    pub fn run_for(&mut self, span: Dur) {
        self.run_until(self.now + span);
    }

    fn fire(&mut self, id: NodeId) {
        let now = self.now;
        let due: Option<(Timer, Seq)> = self.nodes.get_mut(&id).and_then(|n| n.surroundings.timers.pop_due(now));
        if let Some((timer, cause)) = due {
            self.handle(id, Event::Timer(timer), cause);
        }
    }

    fn handle(&mut self, id: NodeId, event: Event, cause: Seq) {
        self.with(id, |process, ctx| {
            ctx.cause = cause;
            process.on_event(ctx, event);
        });
    }

    fn deliver(&mut self, packet: Packet) {
        let Packet { from, to, conn, event } = packet;
        let reset = matches!(event, Event::Disconnected { .. });
        if !reset && self.closed.contains(&conn) {
            return;
        }
        if self.get(to).is_none() {
            if !reset && self.open.remove(&conn) {
                self.closed.insert(conn);
                self.post(Packet { from: to, to: from, conn, event: Event::Disconnected { conn } }, None);
            }
            return;
        }
        self.handle(to, event, Seq(0));
    }

    /// What was noted, in order.
    pub fn kinds(&self) -> impl Iterator<Item = (SimTime, NodeId, &Kind)> {
        self.trace.iter().map(|e| (e.at, e.who, &e.kind))
    }
}
