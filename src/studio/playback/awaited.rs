//! What a run waits for: the timers that a person wants to see counted down. Fires none of them.

use highwater_engine::base::{BrokerId, Dur, NodeId, SimTime};
use highwater_engine::client::{Client, ProducerStatus};
use highwater_engine::node::{ControllerTimer, GroupTimer, QuorumTimer, Timer};
use highwater_engine::world::{Machine, World};

use crate::recording::{Playhead, Recording};

/// What is counted down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// A broker's session runs out.
    Fencing {
        broker: u32,
    },
    QuorumElection {
        controller: u32,
    },
    /// A member is removed from its group.
    MemberTimeout {
        group: String,
        member: String,
    },
    RebalanceEnd {
        group: String,
    },
    ClientRetry {
        client: String,
    },
    ScriptEntry,
}

/// A wait and when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub what: Waiting,
    pub at: SimTime,
}

/// When a broker that no longer answers will be fenced, as the active controller reckons.
pub fn fenced_at(world: &World, broker: BrokerId) -> Option<SimTime> {
    let machine = world.machine(NodeId::Broker(broker))?;
    let active = world.active_controller()?;
    let controller = world.controller(active)?;
    let silent = !machine.is_up()
        || world.network().is_cut(NodeId::Broker(broker), NodeId::Controller(active))
        || world.network().is_cut(NodeId::Controller(active), NodeId::Broker(broker));
    if !silent || !controller.image().is_unfenced(broker) {
        return None;
    }
    let session = world.config().broker_session_timeout;
    let over = controller.sessions()?.get(broker)?.last_contact? + session;
    // From 4.0 on the controller looks for sessions that are over now and then: the next look after the end counts.
    let mut timers = world.machine(NodeId::Controller(active))?.timers.iter();
    let look = timers.find(|(_, timer)| **timer == Timer::Controller(ControllerTimer::SessionCheck));
    let Some((look, _)) = look else { return Some(over) };
    let every = session.scaled(1, 8);
    Some(look + Dur(over.since(look).0.div_ceil(every.0.max(1)) * every.0))
}

/// The most telling wait.
pub fn awaited(recording: &Recording, playhead: &Playhead) -> Option<Wait> {
    let world = playhead.world();
    let now = playhead.at();
    let ahead = |at: SimTime| at > now;
    let brokers = world.setup().brokers.iter().map(|broker| broker.id);
    let fencing = brokers
        .filter_map(|id| Some(Wait { what: Waiting::Fencing { broker: id.0 }, at: fenced_at(world, id)? }))
        .min_by_key(|wait| wait.at);
    if let Some(fencing) = fencing {
        return Some(Wait { at: fencing.at.max(now), ..fencing });
    }
    let timers = || {
        world
            .machines()
            .filter(|(_, machine)| machine.is_up())
            .flat_map(|(id, machine)| machine.timers.iter().map(move |(at, timer)| (id, machine, at, timer)))
    };
    if world.active_controller().is_none() {
        let election = |(id, _, at, timer): (NodeId, &Machine, SimTime, &Timer)| match (id, timer) {
            (NodeId::Controller(id), Timer::Quorum(QuorumTimer::Election | QuorumTimer::Fetch)) if ahead(at) => {
                Some(Wait { what: Waiting::QuorumElection { controller: id.0 }, at })
            }
            _other => None,
        };
        if let Some(found) = timers().filter_map(election).min_by_key(|wait| wait.at) {
            return Some(found);
        }
    }
    let group = |(_, _, at, timer): (NodeId, &Machine, SimTime, &Timer)| match timer {
        Timer::Group(GroupTimer::Join { group }) if ahead(at) => {
            Some(Wait { what: Waiting::RebalanceEnd { group: group.to_string() }, at })
        }
        _other => None,
    };
    if let Some(found) = timers().filter_map(group).min_by_key(|wait| wait.at) {
        return Some(found);
    }
    let silent_members: Vec<String> =
        world
            .machines()
            .filter(|(id, machine)| matches!(id, NodeId::Client(_)) && !machine.is_up())
            .filter_map(|(id, _)| {
                if let NodeId::Client(id) = id { world.client_name(id).map(|name| name.to_string()) } else { None }
            })
            .collect();
    let member = |(_, _, at, timer): (NodeId, &Machine, SimTime, &Timer)| match timer {
        Timer::Group(GroupTimer::Session { group, member }) if ahead(at) => {
            let name = silent_members.iter().find(|name| member.starts_with(name.as_str()))?;
            Some(Wait { what: Waiting::MemberTimeout { group: group.to_string(), member: name.clone() }, at })
        }
        _other => None,
    };
    if let Some(found) = timers().filter_map(member).min_by_key(|wait| wait.at) {
        return Some(found);
    }
    let plan = &playhead.branch(recording).lowered.plan;
    if let Some(at) = playhead.cursor().next_scripted(plan).filter(|at| ahead(*at)) {
        return Some(Wait { what: Waiting::ScriptEntry, at });
    }
    let retry = |(id, machine): (NodeId, &Machine)| match (id, machine.client()) {
        (NodeId::Client(id), Some(Client::Producer(producer))) => match producer.status() {
            ProducerStatus::Retrying { next_at, .. } if ahead(next_at) => {
                Some(Wait { what: Waiting::ClientRetry { client: world.client_name(id)?.to_string() }, at: next_at })
            }
            _other => None,
        },
        _other => None,
    };
    world.machines().filter_map(retry).min_by_key(|wait| wait.at)
}
