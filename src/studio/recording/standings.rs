//! How nodes, clients and groups fared, each as the changes of one state. Only changes are kept, so that an hour in
//! which nothing happens costs nothing. It knows no lane of a page.
use std::rc::Rc;

use highwater_engine::base::{BrokerId, ClientId, Map, NodeId, SimTime};
use highwater_engine::client::ClientKind;
use highwater_engine::protocol::GroupState;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::World;
use highwater_engine::world::machine::Role;

/// Whose state it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Whose {
    Quorum,
    Broker(BrokerId),
    Producer(ClientId),
    Group(Rc<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Quorum: there is an active controller. Broker: running and unfenced. Client: works.
    Good,
    /// Broker: fenced, paused or in controlled shutdown. Group: rebalancing. Quorum: electing.
    Between,
    /// Client: cannot go on.
    Stuck,
    Down,
}

/// One change, with the number of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub entry: usize,
    pub at: SimTime,
    pub standing: Standing,
}

/// Grows with the reel.
#[derive(Clone, Debug, Default)]
pub(super) struct Standings {
    changes: Map<Whose, Vec<Change>>,
}

impl Standings {
    pub(super) fn learn(&mut self, world: &World, number: usize, entry: &TraceEntry) {
        let Some(standing) = after(&entry.kind, entry.who) else { return };
        let Some(whose) = whose(world, &entry.kind, entry.who) else { return };
        let changes = self.changes.entry(whose).or_default();
        if changes.last().is_none_or(|last| last.standing != standing) {
            changes.push(Change { entry: number, at: entry.at, standing });
        }
    }

    pub(super) fn of(&self, whose: &Whose) -> &[Change] {
        self.changes.get(whose).map_or(&[], Vec::as_slice)
    }

    /// What was known after so many entries.
    pub(super) fn fork(&self, end: usize) -> Standings {
        let cut = |changes: &Vec<Change>| changes[..changes.partition_point(|change| change.entry < end)].to_vec();
        Standings { changes: self.changes.iter().map(|(whose, changes)| (whose.clone(), cut(changes))).collect() }
    }
}

/// Whom an entry is about.
pub fn whose(world: &World, kind: &Kind, node: NodeId) -> Option<Whose> {
    let broker = match kind {
        Kind::BrokerFenced { broker, .. }
        | Kind::BrokerUnfenced { broker }
        | Kind::BrokerRegistered { broker, .. }
        | Kind::ControlledShutdownBegun { broker } => Some(*broker),
        Kind::LeaderElected { leader, .. } => Some(*leader),
        Kind::LeaderLost { previous, .. } => Some(*previous),
        Kind::IsrShrunk { removed, .. } => removed.first().copied(),
        Kind::IsrExpanded { added, .. } => added.first().copied(),
        _elsewhere => None,
    };
    let group = match kind {
        Kind::GroupStateChanged { group, .. }
        | Kind::MemberJoined { group, .. }
        | Kind::MemberRemoved { group, .. } => Some(group.clone()),
        _elsewhere => None,
    };
    match (broker, group, node) {
        (Some(broker), ..) => Some(Whose::Broker(broker)),
        (None, Some(group), _) => Some(Whose::Group(group)),
        (None, None, NodeId::Controller(_)) => Some(Whose::Quorum),
        (None, None, NodeId::Broker(id)) => Some(Whose::Broker(id)),
        (None, None, NodeId::Client(id)) => match &world.machine(node)?.role {
            Role::Client { kind: ClientKind::Producer(_), .. } => Some(Whose::Producer(id)),
            Role::Client { kind: ClientKind::Consumer(spec), .. } => Some(Whose::Group(spec.group.clone())),
            Role::Client { kind: ClientKind::Admin, .. } => Some(Whose::Quorum),
            Role::Controller | Role::Broker { .. } => None,
        },
    }
}

/// What an entry makes of the state.
fn after(kind: &Kind, who: NodeId) -> Option<Standing> {
    Some(match (kind, who) {
        (Kind::ProcessKilled | Kind::ProcessExited { .. }, NodeId::Broker(_) | NodeId::Client(_)) => Standing::Down,
        (Kind::ProcessPaused, NodeId::Broker(_))
        | (Kind::ControlledShutdownBegun { .. }, _)
        | (Kind::ProcessStarted, NodeId::Broker(_)) => Standing::Between,
        (Kind::ProcessResumed, NodeId::Broker(_)) | (Kind::BrokerUnfenced { .. }, _) => Standing::Good,
        (Kind::ControllerResigned { .. } | Kind::QuorumRoleChanged { .. }, NodeId::Controller(_)) => Standing::Between,
        (Kind::ControllerActivated { .. }, _) => Standing::Good,
        (Kind::RecordAcked { .. } | Kind::RecordDelivered { .. }, _) => Standing::Good,
        (Kind::ProcessStarted, NodeId::Client(_)) => Standing::Good,
        (Kind::ProducerRetries { .. } | Kind::RecordFailed { .. } | Kind::CoordinatorUnknown { .. }, _) => {
            Standing::Stuck
        }
        (Kind::GroupStateChanged { state: GroupState::PreparingRebalance, .. }, _) => Standing::Between,
        (Kind::GroupStateChanged { state: GroupState::Stable, .. }, _) => Standing::Good,
        (Kind::ClientClosed { .. }, _) => Standing::Down,
        _no_change => return None,
    })
}
