//! The cold start: every process starts in its own phase and the real protocol forms the cluster. Nothing of it is
//! scripted.
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::{Machine, Network, Pending, Process, Refusal, Role, Setup, World};
use crate::base::{
    ActionId, BrokerId, ClientId, ControllerId, Dur, Incarnation, Map, MessageId, NodeId, Rng, Seq, SimTime, StreamId,
    limits,
};
use crate::broker::{Broker, BrokerStart};
use crate::client::{Client, ClientKind, ClientStart};
use crate::controller::{Controller, ControllerStart};
use crate::protocol::config::{ConfigError, NodeConfig};
use crate::rules::Rules;
use crate::trace::{Kind, TraceEntry};

/// The administrator's client, which every world has.
pub const ADMIN: ClientId = ClientId(0);

/// How long the cluster may take to form before the set-up is called impossible.
const BOOT_LIMIT: Dur = Dur::secs(120);
/// Processes of the first start begin within this span of each other.
const START_SPREAD: Dur = Dur::ms(500);

impl World {
    /// Starts the cluster and runs it until every broker that is to run does and a controller is active; that moment,
    /// rounded up to a second, is the origin.
    pub fn boot(setup: &Setup) -> Result<World, Refusal> {
        check_setup(setup)?;
        let config = NodeConfig::parse(&setup.config)
            .map_err(|ConfigError { key, value, expected, .. }| Refusal::NodeConfig { key, value, expected })?;
        let mut world = World {
            setup: Rc::new(setup.clone()),
            config: Rc::new(config),
            rules: Rules { broken: setup.broken, ..setup.version.rules() },
            now: SimTime::ZERO,
            origin: SimTime::ZERO,
            agenda: BTreeMap::new(),
            scheduled: 0,
            network: Network::new(setup.seed, setup.link),
            machines: Map::new(),
            names: Map::new(),
            rng: Rng::stream(setup.seed, StreamId::World),
            last_seq: Seq(0),
            last_message: MessageId(0),
            last_action: ActionId(0),
            last_client: ADMIN,
            budget: Default::default(),
        };
        world.add_machines();
        let mut out = Vec::new();
        while !world.is_formed() {
            out.clear();
            if world.now > SimTime::ZERO + BOOT_LIMIT || !world.step(&mut out) {
                if let Some(overrun) = world.overrun() {
                    return Err(Refusal::Setup { what: overrun.to_string() });
                }
                return Err(Refusal::Setup {
                    what: "the cluster does not form: no controller, or a broker that cannot register".to_string(),
                });
            }
        }
        let second = Dur::secs(1).0;
        world.origin = SimTime((world.now.0 / second + 1) * second);
        let origin = world.origin;
        world.run_until(origin, &mut out);
        Ok(world)
    }

    fn add_machines(&mut self) {
        let setup = self.setup.clone();
        let mut add = |id: NodeId, role: Role| {
            self.machines.insert(id, Rc::new(Machine::new(setup.seed, id, role)));
        };
        for id in 1..=setup.controllers {
            add(NodeId::Controller(ControllerId(id)), Role::Controller);
        }
        for broker in &setup.brokers {
            add(NodeId::Broker(broker.id), Role::Broker { rack: broker.rack.clone() });
        }
        add(NodeId::Client(ADMIN), Role::Client { name: "admin".into(), kind: ClientKind::Admin });
        let started: Vec<NodeId> = (1..=setup.controllers)
            .map(|id| NodeId::Controller(ControllerId(id)))
            .chain(setup.brokers.iter().filter(|b| b.started).map(|b| NodeId::Broker(b.id)))
            .chain([NodeId::Client(ADMIN)])
            .collect();
        for node in started {
            let phase = self.rng.between(Dur::ZERO, START_SPREAD);
            self.schedule(SimTime::ZERO + phase, Pending::Start { node, cause: Seq(0) });
        }
    }

    fn is_formed(&self) -> bool {
        let Some(active) = self.active_controller().and_then(|id| self.controller(id)) else { return false };
        self.setup
            .brokers
            .iter()
            .filter(|b| b.started)
            .all(|b| active.image().is_unfenced(b.id) && self.broker(b.id).is_some_and(|broker| broker.is_running()))
    }

    /// Starts the process of a node that has none.
    pub(super) fn start_process(&mut self, node: NodeId, cause: Seq, out: &mut Vec<TraceEntry>) {
        let now = self.now;
        let cause = self.note(node, cause, Kind::ProcessStarted, out);
        let (config, rules, setup) = (self.config.clone(), self.rules, self.setup.clone());
        let voters: Vec<ControllerId> = (1..=setup.controllers).map(ControllerId).collect();
        let bootstrap: Vec<BrokerId> = setup.brokers.iter().map(|b| b.id).collect();
        self.with_machine(node, cause, out, |machine, around| {
            machine.incarnation += 1;
            machine.since = now;
            let incarnation = Incarnation(machine.incarnation);
            let role = machine.role.clone();
            machine.with_ctx(node, around, |process, ctx| {
                *process = match (node, role) {
                    (NodeId::Controller(id), Role::Controller) => Some(Process::Controller(
                        Controller::start(ctx, ControllerStart { id, incarnation, config, rules, voters }).into(),
                    )),
                    (NodeId::Broker(id), Role::Broker { rack }) => Some(Process::Broker(
                        Broker::start(ctx, BrokerStart { id, incarnation, rack, config, rules, voters }).into(),
                    )),
                    (NodeId::Client(id), Role::Client { name, kind }) => {
                        let start = ClientStart {
                            id,
                            name,
                            incarnation,
                            bootstrap,
                            brokers_produce_by_id: rules.produce_by_topic_id,
                            kind,
                        };
                        // Its configuration was checked when the client was made.
                        Client::start(ctx, start).ok().map(|client| Process::Client(client.into()))
                    }
                    (NodeId::Controller(_) | NodeId::Broker(_) | NodeId::Client(_), _) => None,
                };
            });
        });
    }
}

fn check_setup(setup: &Setup) -> Result<(), Refusal> {
    let limit = |what, most: usize| Err(Refusal::Limit { what, most: most as u64 });
    if setup.controllers == 0 || setup.controllers as usize > limits::MAX_CONTROLLERS {
        return limit("controllers", limits::MAX_CONTROLLERS);
    }
    if setup.brokers.is_empty() || setup.brokers.len() > limits::MAX_BROKERS {
        return limit("brokers", limits::MAX_BROKERS);
    }
    if !setup.brokers.iter().any(|b| b.started) {
        return Err(Refusal::Setup { what: "no broker is started".to_string() });
    }
    for (i, broker) in setup.brokers.iter().enumerate() {
        if setup.brokers[..i].iter().any(|other| other.id == broker.id) {
            return Err(Refusal::Setup { what: format!("broker {} is named twice", broker.id) });
        }
    }
    Ok(())
}
