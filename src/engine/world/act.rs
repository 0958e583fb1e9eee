//! What users and scenarios do to the world: each action is checked, noted and carried out at once. Asking the cluster
//! is the admin client's work.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::boot::ADMIN;
use super::machine::Queued;
use super::{Action, Machine, Needed, Pending, Refusal, Role, World};
use crate::base::{ActionId, ClientId, NodeId, Seq, Tag, limits};
use crate::client::{Client, ClientKind, ConfigRefusal, ProducerSpec};
use crate::node::Event;
use crate::node::message::{ClientCommand, Values};
use crate::protocol::ConfigMap;
use crate::trace::{Kind, TraceEntry};

impl World {
    /// Does what it is told, or says why not; both are entries of the trace. What it notices goes to `out`.
    pub fn act(&mut self, action: Action, out: &mut Vec<TraceEntry>) -> Result<ActionId, Refusal> {
        let who = self.subject(&action);
        if let Err(why) = self.check(&action) {
            self.note_refusal(who, action.verb(), &why, out);
            return Err(why);
        }
        self.last_action.0 += 1;
        let id = self.last_action;
        let cause = self.note(who, Seq(0), Kind::Acted { action: id }, out);
        self.carry_out_action(id, action, cause, out);
        Ok(id)
    }

    /// Notes an action that cannot even be named: nobody plays the role that it is about.
    pub fn refuse(&mut self, verb: &'static str, role: &str, out: &mut Vec<TraceEntry>) -> Refusal {
        let why = Refusal::NoSuchRole(role.into());
        self.note_refusal(NodeId::Client(ADMIN), verb, &why, out);
        why
    }

    fn note_refusal(&mut self, who: NodeId, verb: &'static str, why: &Refusal, out: &mut Vec<TraceEntry>) {
        self.last_action.0 += 1;
        let (action, why) = (self.last_action, why.clone());
        self.note(who, Seq(0), Kind::ActionRefused { action, verb, why: Rc::new(why) }, out);
    }

    /// Gives a client that has not started a name in the network, so that its links can be changed before.
    pub fn know_client(&mut self, name: &str) {
        if !self.names.contains_key(name) {
            self.last_client = ClientId(self.last_client.0 + 1);
            self.names.insert(name.into(), self.last_client);
        }
    }

    /// The node under which an action stands in the trace.
    fn subject(&self, action: &Action) -> NodeId {
        let client = |name: &Rc<str>| NodeId::Client(self.client_id(name).unwrap_or(ADMIN));
        match action {
            Action::Kill(node)
            | Action::Stop(node)
            | Action::Start(node)
            | Action::Restart(node)
            | Action::Pause(node)
            | Action::Resume(node)
            | Action::LoseDisk(node) => *node,
            Action::Cut { from, .. } | Action::Heal { from, .. } | Action::Link { between: from, .. } => {
                from.first().copied().unwrap_or(NodeId::Client(ADMIN))
            }
            Action::HealAll
            | Action::Message { .. }
            | Action::Release { .. }
            | Action::Admin(_)
            | Action::StartProducer { .. }
            | Action::Join { .. } => NodeId::Client(ADMIN),
            Action::CloseClient { name, .. } | Action::KillClient { name } | Action::Reconfigure { name, .. } => {
                client(name)
            }
            Action::Produce { client: name, .. } | Action::SetRate { client: name, .. } => client(name),
            Action::PausePolling { member, .. } | Action::Seek { member, .. } | Action::Commit { member } => {
                client(member)
            }
        }
    }

    fn check(&self, action: &Action) -> Result<(), Refusal> {
        if let Some(overrun) = self.overrun() {
            return Err(Refusal::Limit { what: overrun.what.name(), most: overrun.what.most() });
        }
        match action {
            Action::Kill(node) | Action::Stop(node) => self.needs(*node, Needed::Running, |m| m.process.is_some()),
            Action::Start(node) => {
                self.needs(*node, Needed::NotRunning, |m| m.process.is_none())?;
                self.may_start(*node)
            }
            Action::Restart(node) => {
                self.needs(*node, Needed::Running, |_| true)?;
                self.may_start(*node)
            }
            Action::Pause(node) => self.needs(*node, Needed::RunningAndNotPaused, |m| m.process.is_some() && !m.paused),
            Action::Resume(node) => self.needs(*node, Needed::Paused, |m| m.paused),
            Action::LoseDisk(node) => self.needs(*node, Needed::NotRunning, |m| m.process.is_none()),
            Action::Cut { from, to, .. }
            | Action::Heal { from, to, .. }
            | Action::Link { between: from, and: to, .. } => self.all_named(from.iter().chain(to)),
            Action::Message { which, deed } => {
                self.all_named(which.from.iter().chain(&which.to))?;
                self.may_do(deed)
            }
            Action::Release { name } => self.may_release(name),
            Action::HealAll | Action::Admin(_) => Ok(()),
            Action::StartProducer { name, spec } => {
                self.name_is_free(name)?;
                if spec.rate > limits::MAX_RATE_PER_SECOND {
                    return Err(Refusal::Limit {
                        what: "records per second",
                        most: u64::from(limits::MAX_RATE_PER_SECOND),
                    });
                }
                producer_config(spec)
            }
            Action::Join { name, spec } => {
                self.name_is_free(name)?;
                Client::check(&ClientKind::Consumer(spec.clone())).map_err(refused_config)
            }
            Action::CloseClient { name, .. } | Action::KillClient { name } => self.named(name).map(|_| ()),
            Action::Reconfigure { name, config } => {
                let spec = self.producer_spec(name)?;
                self.one_more_client()?;
                producer_config(&with_config(spec, config))
            }
            Action::Produce { client, count, values, .. } => {
                self.named(client)?;
                let bytes = u64::from(*count).saturating_mul(match values {
                    Values::Numbered(text) | Values::Exactly(text) => text.len() as u64,
                });
                if bytes > limits::MAX_BYTES_OF_ONE_ACTION {
                    Err(Refusal::Limit { what: "bytes of one action", most: limits::MAX_BYTES_OF_ONE_ACTION })
                } else if *count > limits::MAX_RATE_PER_SECOND {
                    Err(Refusal::Limit { what: "records of one action", most: u64::from(limits::MAX_RATE_PER_SECOND) })
                } else {
                    Ok(())
                }
            }
            Action::SetRate { client, per_second } => {
                self.named(client)?;
                if *per_second > limits::MAX_RATE_PER_SECOND {
                    Err(Refusal::Limit { what: "records per second", most: u64::from(limits::MAX_RATE_PER_SECOND) })
                } else {
                    Ok(())
                }
            }
            Action::PausePolling { member, .. } | Action::Seek { member, .. } | Action::Commit { member } => {
                self.named(member).map(|_| ())
            }
        }
    }

    /// Links and messages are between names: a client need not have started.
    fn all_named<'a>(&self, mut nodes: impl Iterator<Item = &'a NodeId>) -> Result<(), Refusal> {
        let is_named =
            |node: NodeId| matches!(node, NodeId::Client(id) if id <= self.last_client) || self.machine(node).is_some();
        nodes.find(|node| !is_named(**node)).map_or(Ok(()), |node| Err(Refusal::NoSuchNode(*node)))
    }

    fn needs(&self, node: NodeId, needed: Needed, is: impl Fn(&Machine) -> bool) -> Result<(), Refusal> {
        let machine = self.machine(node).ok_or_else(|| match node {
            NodeId::Client(id) => {
                self.client_name(id).map_or(Refusal::NoSuchNode(node), |name| Refusal::NotStarted(name.clone()))
            }
            NodeId::Controller(_) | NodeId::Broker(_) => Refusal::NoSuchNode(node),
        })?;
        if is(machine) { Ok(()) } else { Err(Refusal::WrongState { node, needed }) }
    }

    fn named(&self, name: &Rc<str>) -> Result<NodeId, Refusal> {
        let node = self.client_id(name).map(NodeId::Client).ok_or_else(|| Refusal::NoSuchClient(name.clone()))?;
        self.needs(node, Needed::Running, |m| m.process.is_some())?;
        Ok(node)
    }

    fn name_is_free(&self, name: &Rc<str>) -> Result<(), Refusal> {
        if self.named(name).is_ok() {
            return Err(Refusal::NameTaken(name.clone()));
        }
        self.one_more_client()
    }

    fn one_more_client(&self) -> Result<(), Refusal> {
        let all = || self.machines().filter(|(id, _)| matches!(id, NodeId::Client(_)));
        if all().filter(|(_, machine)| machine.process.is_some()).count() >= limits::MAX_CLIENTS {
            return Err(Refusal::Limit { what: "clients at a time", most: limits::MAX_CLIENTS as u64 });
        }
        if all().count() >= limits::MAX_CLIENT_STARTS {
            return Err(Refusal::Limit { what: "starts of clients", most: limits::MAX_CLIENT_STARTS as u64 });
        }
        Ok(())
    }

    /// A process of a client is a new client; those of the other nodes are bound by the set-up.
    fn may_start(&self, node: NodeId) -> Result<(), Refusal> {
        match node {
            NodeId::Client(_) => self.one_more_client(),
            NodeId::Controller(_) | NodeId::Broker(_) => Ok(()),
        }
    }

    fn producer_spec(&self, name: &Rc<str>) -> Result<ProducerSpec, Refusal> {
        let node = self.named(name)?;
        match self.machine(node).map(|m| &m.role) {
            Some(Role::Client { kind: ClientKind::Producer(spec), .. }) => Ok(spec.clone()),
            Some(Role::Client { .. } | Role::Controller | Role::Broker { .. }) | None => {
                Err(Refusal::WrongState { node, needed: Needed::Producer })
            }
        }
    }

    fn carry_out_action(&mut self, id: ActionId, action: Action, cause: Seq, out: &mut Vec<TraceEntry>) {
        match action {
            Action::Kill(node) => self.kill(node, cause, out),
            Action::Stop(node) => self.shut_down(node, cause, out),
            Action::Start(node) => self.start_again(node, cause, out),
            Action::Restart(node) => {
                if self.machine(node).is_some_and(|machine| machine.process.is_none()) {
                    self.start_again(node, cause, out);
                } else {
                    self.machine_mut(node, |machine| machine.restarting = true);
                    self.shut_down(node, cause, out);
                }
            }
            Action::Pause(node) => {
                self.note(node, cause, Kind::ProcessPaused, out);
                self.machine_mut(node, |machine| machine.paused = true);
            }
            Action::Resume(node) => self.resume(node, cause, out),
            Action::LoseDisk(node) => {
                self.note(node, cause, Kind::DiskLost, out);
                self.machine_mut(node, |machine| {
                    let directory = machine.disk.directory + 1;
                    machine.disk = crate::node::Disk { directory, ..Default::default() };
                });
            }
            Action::Cut { from, to, both } => {
                self.each_way(&from, &to, both, |world, a, b, out| world.cut(a, b, cause, out), out)
            }
            Action::Heal { from, to, both } => {
                self.each_way(&from, &to, both, |world, a, b, out| world.heal(a, b, cause, out), out)
            }
            Action::HealAll => {
                let cuts: Vec<(NodeId, NodeId)> = self.network.cuts().collect();
                for (from, to) in cuts {
                    self.heal(from, to, cause, out);
                }
            }
            Action::Link { between, and, latency, jitter, loss_per_million } => self.each_way(
                &between,
                &and,
                true,
                |world, a, b, out| {
                    world.network.set_link(a, b, |setup| {
                        setup.latency = latency.unwrap_or(setup.latency);
                        setup.jitter = jitter.unwrap_or(setup.jitter);
                        setup.loss_per_million = loss_per_million.unwrap_or(setup.loss_per_million);
                    });
                    let setup = world.network.link_setup(a, b);
                    world.note(a, cause, Kind::LinkChanged { to: b, setup }, out);
                },
                out,
            ),
            Action::Message { which, deed } => self.do_to_message(which, deed, cause, out),
            Action::Release { name } => self.release_held(&name, cause, out),
            Action::Admin(request) => {
                self.command(NodeId::Client(ADMIN), ClientCommand::Admin { action: id, request }, cause, out)
            }
            Action::StartProducer { name, spec } => self.add_client(name, ClientKind::Producer(spec), cause, out),
            Action::Join { name, spec } => self.add_client(name, ClientKind::Consumer(spec), cause, out),
            Action::CloseClient { name, within: None } => {
                self.tell_client(&name, |world, node, out| world.shut_down(node, cause, out), out)
            }
            Action::CloseClient { name, within: Some(within) } => self.tell_client(
                &name,
                |world, node, out| {
                    let cause = world.note(node, cause, Kind::ShutdownRequested, out);
                    world.command(node, ClientCommand::Close { within }, cause, out);
                },
                out,
            ),
            Action::KillClient { name } => {
                self.tell_client(&name, |world, node, out| world.kill(node, cause, out), out)
            }
            Action::Reconfigure { name, config } => {
                if let Ok(spec) = self.producer_spec(&name) {
                    self.tell_client(&name, |world, node, out| world.shut_down(node, cause, out), out);
                    self.add_client(name, ClientKind::Producer(with_config(spec, &config)), cause, out);
                }
            }
            Action::Produce { client, topic, partition, key, values, count, every } => {
                // Tags of bursts have the highest bit, so that they never meet those of a steady rate.
                let first_tag = Tag(1 << 63 | u64::from(id.0) << 24);
                let command =
                    ClientCommand::Produce { action: id, topic, partition, key, values, count, every, first_tag };
                self.tell_client(&client, |world, node, out| world.command(node, command, cause, out), out);
            }
            Action::SetRate { client, per_second } => self.tell_client(
                &client,
                |world, node, out| world.command(node, ClientCommand::SetRate { per_second }, cause, out),
                out,
            ),
            Action::PausePolling { member, span } => self.tell_client(
                &member,
                |world, node, out| world.command(node, ClientCommand::PausePolling { span }, cause, out),
                out,
            ),
            Action::Seek { member, topic, partition, offset } => self.tell_client(
                &member,
                |world, node, out| world.command(node, ClientCommand::Seek { topic, partition, offset }, cause, out),
                out,
            ),
            Action::Commit { member } => self.tell_client(
                &member,
                |world, node, out| world.command(node, ClientCommand::Commit, cause, out),
                out,
            ),
        }
    }

    pub(super) fn machine_mut(&mut self, node: NodeId, f: impl FnOnce(&mut Machine)) {
        if let Some(machine) = self.machines.get_mut(&node) {
            f(Rc::make_mut(machine));
        }
    }

    fn tell_client(
        &mut self,
        name: &Rc<str>,
        f: impl FnOnce(&mut World, NodeId, &mut Vec<TraceEntry>),
        out: &mut Vec<TraceEntry>,
    ) {
        if let Ok(node) = self.named(name) {
            f(self, node, out);
        }
    }

    fn each_way(
        &mut self,
        from: &[NodeId],
        to: &[NodeId],
        both: bool,
        mut f: impl FnMut(&mut World, NodeId, NodeId, &mut Vec<TraceEntry>),
        out: &mut Vec<TraceEntry>,
    ) {
        for &a in from {
            for &b in to {
                if a != b {
                    f(self, a, b, out);
                    if both {
                        f(self, b, a, out);
                    }
                }
            }
        }
    }

    fn kill(&mut self, node: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        let cause = self.note(node, cause, Kind::ProcessKilled, out);
        self.end_process(node, cause);
    }

    fn shut_down(&mut self, node: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        let cause = self.note(node, cause, Kind::ShutdownRequested, out);
        if self.machine(node).is_some_and(|m| m.paused) {
            self.machine_mut(node, |machine| machine.socket.push_back(Queued::Shutdown(cause)));
        } else {
            self.dispatch(node, cause, Event::Shutdown, out);
        }
    }

    fn command(&mut self, node: NodeId, command: ClientCommand, cause: Seq, out: &mut Vec<TraceEntry>) {
        if self.machine(node).is_some_and(|m| m.paused) {
            self.machine_mut(node, |machine| machine.socket.push_back(Queued::Command(Box::new(command), cause)));
        } else {
            self.dispatch(node, cause, Event::Command(command), out);
        }
    }

    fn resume(&mut self, node: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        let resumed = self.note(node, cause, Kind::ProcessResumed, out);
        let mut queued = Default::default();
        let now = self.now;
        self.machine_mut(node, |machine| {
            machine.paused = false;
            machine.resumed = Some((now, resumed));
            queued = core::mem::take(&mut machine.socket);
        });
        for what in queued {
            self.schedule(now, Pending::Wake { node, what: Box::new(what), resumed });
        }
    }

    fn cut(&mut self, from: NodeId, to: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        if self.network.set_cut(from, to, true) {
            self.note(from, cause, Kind::LinkCut { to }, out);
        }
    }

    fn heal(&mut self, from: NodeId, to: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        if self.network.set_cut(from, to, false) {
            let healed = self.note(from, cause, Kind::LinkHealed { to }, out);
            for (at, mut message) in self.network.release(self.now, from, to) {
                message.arrives_at = at;
                let kind = Kind::MessageDelivered { message: message.id, sent: message.sent };
                message.passed = Some(self.note(from, healed, kind, out));
                self.schedule(at, Pending::Deliver(message));
            }
        }
    }

    /// Starts the process of a node that may have had one. A client comes back as it was, under its name.
    pub(super) fn start_again(&mut self, node: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        match self.machine(node).map(|machine| (&machine.role, machine.incarnation)) {
            Some((Role::Client { name, kind }, 1..)) => {
                let (name, kind) = (name.clone(), kind.clone());
                self.add_client(name, kind, cause, out);
            }
            Some((Role::Client { .. }, 0)) | Some((Role::Controller | Role::Broker { .. }, _)) => {
                self.start_process(node, cause, out)
            }
            None => {}
        }
    }

    fn add_client(&mut self, name: Rc<str>, kind: ClientKind, cause: Seq, out: &mut Vec<TraceEntry>) {
        let before = self.client_id(&name);
        // A name that was given before its client started is that of its first process.
        let given = before.filter(|id| !self.machines.contains_key(&NodeId::Client(*id)));
        let id = given.unwrap_or_else(|| {
            self.last_client = ClientId(self.last_client.0 + 1);
            self.last_client
        });
        let node = NodeId::Client(id);
        if let Some(before) = before.filter(|before| *before != id) {
            self.network.succeed(node, NodeId::Client(before));
        }
        self.machines
            .insert(node, Rc::new(Machine::new(self.setup.seed, node, Role::Client { name: name.clone(), kind })));
        self.names.insert(name, id);
        self.start_process(node, cause, out);
    }
}

fn with_config(mut spec: ProducerSpec, config: &ConfigMap) -> ProducerSpec {
    spec.config.extend(config.iter().map(|(k, v)| (k.clone(), v.clone())));
    spec
}

fn producer_config(spec: &ProducerSpec) -> Result<(), Refusal> {
    Client::check(&ClientKind::Producer(spec.clone())).map_err(refused_config)
}

fn refused_config(refusal: ConfigRefusal) -> Refusal {
    Refusal::ClientConfig {
        exception: refusal.exception,
        key: refusal.key,
        value: refusal.value,
        expected: refusal.expected,
    }
}
