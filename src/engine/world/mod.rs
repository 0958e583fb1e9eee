//! Agenda, network, machines: the only place that moves anything. It decides nothing that Kafka decides.

pub mod act;
pub mod action;
pub mod boot;
pub mod budget;
mod delivery;
pub mod machine;
pub mod network;
mod wire;

pub use crate::base::LinkSetup;
pub use action::{Action, BrokerSetup, Deed, Needed, Pick, Refusal, Setup};
pub use budget::{Overrun, Resource};
pub use machine::{Machine, Process, Role};
pub use network::Network;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{ActionId, BrokerId, ClientId, ControllerId, Map, MessageId, NodeId, Rng, Seq, SimTime, digest_of};
use crate::node::{Body, Direction, Effect, Event, Message};
use crate::protocol::config::NodeConfig;
use crate::protocol::{Api, ErrorCode};
use crate::rules::Rules;
use crate::trace::{Kind, TraceEntry};

use budget::Budget;
use machine::{Queued, Surroundings};
use network::End;

/// Something that the world will do at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Pending {
    Deliver(Message),
    /// A reset or a FIN reaches a node.
    Disconnect(End),
    /// A process starts by the schedule of the boot, or again after it ended.
    Start {
        node: NodeId,
        cause: Seq,
    },
    /// What lay in the sockets of a process that stood still is handled after it goes on.
    Wake {
        node: NodeId,
        what: Box<Queued>,
        /// The entry of its going on.
        resumed: Seq,
    },
}

/// The whole simulated world. A clone is a keyframe: machines are shared until one of the copies touches them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    setup: Rc<Setup>,
    config: Rc<NodeConfig>,
    rules: Rules,
    now: SimTime,
    origin: SimTime,
    /// By time, then in order of scheduling.
    agenda: BTreeMap<(SimTime, u64), Pending>,
    scheduled: u64,
    network: Network,
    machines: Map<NodeId, Rc<Machine>>,
    /// The latest client of each name; one that was only named has no machine yet.
    names: Map<Rc<str>, ClientId>,
    rng: Rng,
    last_seq: Seq,
    last_message: MessageId,
    last_action: ActionId,
    last_client: ClientId,
    budget: Budget,
}

/// What fires next.
enum Next {
    Agenda(SimTime, u64),
    Timer(SimTime, NodeId),
}

impl World {
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// The moment that people call 0 s: the cluster is up, nothing else has happened.
    pub fn origin(&self) -> SimTime {
        self.origin
    }
    pub fn setup(&self) -> &Setup {
        &self.setup
    }
    pub fn config(&self) -> &NodeConfig {
        &self.config
    }
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
    pub fn network(&self) -> &Network {
        &self.network
    }
    /// Number of the last trace entry.
    pub fn last_seq(&self) -> Seq {
        self.last_seq
    }

    /// Every node's disk and memory, agenda and links, in order of ids. Equal runs have equal digests, natively and in
    /// wasm.
    pub fn digest(&self) -> u64 {
        digest_of(self)
    }

    /// Why this run has ended before anybody wanted it to. Nothing happens any more, everything can be looked at.
    pub fn overrun(&self) -> Option<Overrun> {
        self.budget.overrun
    }

    fn next(&self) -> Option<Next> {
        if self.budget.overrun.is_some() {
            return None;
        }
        let agenda = self.agenda.first_key_value().map(|(key, _)| *key);
        let timer = self
            .machines
            .iter()
            .filter_map(|(id, machine)| machine.next_wake().map(|at| (at.max(self.now), *id)))
            .min();
        match (agenda, timer) {
            // Of what is due at one moment, what was scheduled goes before timers.
            (Some((at, number)), Some((due, _))) if at <= due => Some(Next::Agenda(at, number)),
            (_, Some((due, node))) => Some(Next::Timer(due, node)),
            (Some((at, number)), None) => Some(Next::Agenda(at, number)),
            (None, None) => None,
        }
    }

    /// When the next event happens.
    pub fn next_event_at(&self) -> Option<SimTime> {
        self.next().map(|next| match next {
            Next::Agenda(at, _) | Next::Timer(at, _) => at,
        })
    }

    /// Handles exactly one event and appends what was noticed. `false` if nothing will ever happen, or may.
    pub fn step(&mut self, out: &mut Vec<TraceEntry>) -> bool {
        let Some(next) = self.next() else { return false };
        let at = match next {
            Next::Agenda(at, _) | Next::Timer(at, _) => at,
        };
        if !self.budget.take_event(self.now, at) {
            return false;
        }
        self.now = at;
        match next {
            Next::Agenda(at, number) => {
                if let Some(pending) = self.agenda.remove(&(at, number)) {
                    self.carry_out(pending, out);
                }
            }
            Next::Timer(_, node) => self.fire(node, out),
        }
        true
    }

    /// Handles every event up to and including `until`; then it is `until`, unless the run has used up its budget.
    pub fn run_until(&mut self, until: SimTime, out: &mut Vec<TraceEntry>) {
        while self.next_event_at().is_some_and(|at| at <= until) {
            self.step(out);
        }
        if until > self.now && self.budget.overrun.is_none() {
            self.now = until;
            self.budget.next_instant();
        }
    }

    fn schedule(&mut self, at: SimTime, pending: Pending) {
        self.scheduled += 1;
        self.agenda.insert((at, self.scheduled), pending);
    }

    fn note(&mut self, who: NodeId, cause: Seq, kind: Kind, out: &mut Vec<TraceEntry>) -> Seq {
        self.last_seq.0 += 1;
        out.push(TraceEntry { seq: self.last_seq, at: self.now, cause, who, kind });
        self.last_seq
    }

    fn carry_out(&mut self, pending: Pending, out: &mut Vec<TraceEntry>) {
        match pending {
            Pending::Deliver(message) => self.deliver(message, out),
            Pending::Disconnect(end) => self.disconnect(end, out),
            Pending::Start { node, cause } => self.start_again(node, cause, out),
            Pending::Wake { node, what, resumed } => self.wake(node, *what, resumed, out),
        }
    }

    fn fire(&mut self, node: NodeId, out: &mut Vec<TraceEntry>) {
        let now = self.now;
        let Some(machine) = self.machines.get_mut(&node).map(Rc::make_mut) else { return };
        let due = machine.timers.next_at();
        let Some((timer, armed)) = machine.timers.pop_due(now) else { return };
        // One that was due while the process stood still fires because it goes on.
        let late = machine.resumed.filter(|(at, _)| due.is_some_and(|due| due < *at));
        let cause = late.map_or(armed, |(_, resumed)| resumed);
        self.dispatch(node, cause, Event::Timer(timer), out);
    }

    /// Lets the process of a node handle one event and drains what it caused.
    fn dispatch(&mut self, node: NodeId, cause: Seq, event: Event, out: &mut Vec<TraceEntry>) {
        self.with_machine(node, cause, out, |machine, around| machine.handle(node, around, event));
    }

    fn with_machine<R>(
        &mut self,
        node: NodeId,
        cause: Seq,
        out: &mut Vec<TraceEntry>,
        f: impl FnOnce(&mut Machine, Surroundings<'_>) -> R,
    ) -> Option<R> {
        let mut effects = Vec::new();
        let machine = Rc::make_mut(self.machines.get_mut(&node)?);
        let made = machine.record_bytes();
        let around = Surroundings {
            now: self.now,
            cause,
            effects: &mut effects,
            trace: out,
            last_seq: &mut self.last_seq,
            last_message: &mut self.last_message,
        };
        let result = f(machine, around);
        let made = machine.record_bytes().saturating_sub(made);
        if made > 0 {
            self.budget.take_bytes(made, self.now);
        }
        for effect in effects {
            self.apply(node, effect, out);
        }
        Some(result)
    }

    fn apply(&mut self, node: NodeId, effect: Effect, out: &mut Vec<TraceEntry>) {
        match effect {
            Effect::Send { id, conn, direction, correlation, body, cause } => {
                let (api, error, empty) = match &body {
                    Body::Request(request) => (request.api(), ErrorCode::None, false),
                    Body::Response(response) => (response.api(), response.error(), response.is_empty()),
                };
                let response = direction == Direction::Response;
                let to = conn.peer_of(node);
                if response && !self.network.is_open(conn, node) {
                    return;
                }
                let arrives_at = self.network.arrival(self.now, conn, direction);
                let sent = self.note(
                    node,
                    cause,
                    Kind::MessageSent { message: id, to, api, response, arrives_at, error, empty },
                    out,
                );
                let message = Message {
                    id,
                    conn,
                    direction,
                    correlation,
                    body,
                    sent_at: self.now,
                    arrives_at,
                    sent,
                    passed: None,
                };
                self.schedule(arrives_at, Pending::Deliver(message));
                for rule in self.network.due_rules(api, response, node, to) {
                    self.tamper(id, rule.deed, rule.cause, out);
                }
            }
            Effect::Close { conn, cause } => self.close(conn, node, false, cause),
            Effect::Exit { clean, cause } => {
                let cause = self.note(node, cause, Kind::ProcessExited { clean }, out);
                let restarting = self.machine(node).is_some_and(|machine| machine.restarting);
                self.end_process(node, cause);
                if restarting {
                    self.schedule(self.now, Pending::Start { node, cause });
                }
            }
        }
    }

    // Reading, for views and checks. No node ever sees these.

    pub fn machines(&self) -> impl Iterator<Item = (NodeId, &Machine)> {
        self.machines.iter().map(|(id, machine)| (*id, &**machine))
    }
    pub fn machine(&self, node: NodeId) -> Option<&Machine> {
        self.machines.get(&node).map(|machine| &**machine)
    }
    pub fn client_id(&self, name: &str) -> Option<ClientId> {
        self.names.get(name).copied()
    }
    /// The name of a client; several in turn may have borne it.
    pub fn client_name(&self, id: ClientId) -> Option<&Rc<str>> {
        match self.machine(NodeId::Client(id)).map(|machine| &machine.role) {
            Some(Role::Client { name, .. }) => Some(name),
            Some(Role::Controller | Role::Broker { .. }) => None,
            None => self.names.iter().find(|(_, named)| **named == id).map(|(name, _)| name),
        }
    }
    /// Messages on their way, with the moment at which they arrive if nothing holds them.
    pub fn in_flight(&self) -> impl Iterator<Item = &Message> {
        self.agenda.values().filter_map(|pending| match pending {
            Pending::Deliver(message) => Some(message),
            Pending::Disconnect(_) | Pending::Start { .. } | Pending::Wake { .. } => None,
        })
    }
    /// Messages that a cut holds.
    pub fn held_by_cuts(&self) -> impl Iterator<Item = &Message> {
        self.network.held.iter().map(|held| &held.message)
    }
    /// Messages that an action holds, with the name by which each is released, or that wait behind one that is held.
    pub fn held_by_actions(&self) -> impl Iterator<Item = (&Message, Option<&Rc<str>>)> {
        self.network.pinned.iter().map(|pinned| (&pinned.message, pinned.name.as_ref()))
    }
    /// The controller that believes to be active, with the highest epoch if there are two.
    pub fn active_controller(&self) -> Option<ControllerId> {
        self.machines
            .values()
            .filter_map(|machine| machine.controller())
            .filter(|controller| controller.is_active())
            .max_by_key(|controller| controller.epoch())
            .map(|controller| controller.id())
    }
    /// The state of a broker's process, if it runs.
    pub fn broker(&self, id: BrokerId) -> Option<&crate::broker::Broker> {
        self.machine(NodeId::Broker(id))?.broker()
    }
    pub fn controller(&self, id: ControllerId) -> Option<&crate::controller::Controller> {
        self.machine(NodeId::Controller(id))?.controller()
    }
    pub fn client(&self, id: ClientId) -> Option<&crate::client::Client> {
        self.machine(NodeId::Client(id))?.client()
    }

    /// The answer to an administrator's action, once there is one.
    pub fn admin_answer(&self, action: ActionId) -> Option<&crate::client::AdminAnswer> {
        self.client(boot::ADMIN)?.admin_answer(action)
    }
}

/// The API of a message.
pub fn api_of(body: &Body) -> Api {
    match body {
        Body::Request(request) => request.api(),
        Body::Response(response) => response.api(),
    }
}
