//! What a checker sees of a world at one moment, as plain data that a test can alter. Judges nothing.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{BrokerId, ControllerId, GenerationId, LeaderEpoch, NodeId, Offset, QuorumEpoch, SimTime, Tp};
use crate::broker::replicas::ReplicaRole;
use crate::log::Log;
use crate::metadata::MetadataImage;
use crate::protocol::GroupState;
use crate::world::World;

/// A replica on a running broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSeen {
    pub is_leader: bool,
    pub leader_epoch: LeaderEpoch,
    pub high_watermark: Offset,
    pub isr: Vec<BrokerId>,
}

/// A group as its coordinator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSeen {
    pub group: Rc<str>,
    pub coordinator: BrokerId,
    pub generation: GenerationId,
    pub is_stable: bool,
    pub assignments: Vec<(Rc<str>, Vec<Tp>)>,
    pub committed: Vec<(Tp, Offset)>,
}

/// One moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    pub at: SimTime,
    /// Replicas of running brokers.
    pub replicas: BTreeMap<(BrokerId, Tp), ReplicaSeen>,
    /// Logs on the disks of all brokers, running or not.
    pub logs: BTreeMap<(BrokerId, Tp), Rc<Log>>,
    pub metadata_logs: BTreeMap<NodeId, Rc<Log>>,
    /// Controllers that lead the quorum in their own view.
    pub quorum_leaders: Vec<(ControllerId, QuorumEpoch)>,
    /// What the active controller has decided.
    pub image: Option<MetadataImage>,
    /// Default of `min.insync.replicas` of the nodes.
    pub min_insync_replicas: BTreeMap<Tp, u32>,
    pub elr_on: bool,
    pub groups: Vec<GroupSeen>,
}

impl Observation {
    pub fn of(world: &World) -> Observation {
        let mut seen = Observation {
            at: world.now(),
            replicas: BTreeMap::new(),
            logs: BTreeMap::new(),
            metadata_logs: BTreeMap::new(),
            quorum_leaders: Vec::new(),
            image: world.active_controller().and_then(|id| world.controller(id)).map(|c| c.image().clone()),
            min_insync_replicas: BTreeMap::new(),
            elr_on: world.rules().eligible_leader_replicas,
            groups: Vec::new(),
        };
        for (node, machine) in world.machines() {
            match node {
                NodeId::Broker(id) => {
                    seen.logs.extend(machine.disk.logs.iter().map(|(tp, log)| ((id, *tp), log.clone())));
                    seen.metadata_logs.insert(node, machine.disk.metadata_log.clone());
                    if let Some(broker) = machine.broker() {
                        observe_broker(&mut seen, id, broker);
                    }
                }
                NodeId::Controller(id) => {
                    seen.metadata_logs.insert(node, machine.disk.metadata_log.clone());
                    if let Some(controller) = machine.controller()
                        && controller.is_quorum_leader()
                    {
                        seen.quorum_leaders.push((id, controller.epoch()));
                    }
                }
                NodeId::Client(_) => {}
            }
        }
        if let Some(image) = &seen.image {
            for (tp, registration) in image.partitions() {
                let min = image.min_insync_replicas(tp.topic, world.config()).min(registration.replicas.len() as u32);
                seen.min_insync_replicas.insert(tp, min);
            }
        }
        seen
    }
}

fn observe_broker(seen: &mut Observation, id: BrokerId, broker: &crate::broker::Broker) {
    for (tp, view) in broker.replicas() {
        let is_leader = view.role == ReplicaRole::Leader;
        let replica = ReplicaSeen {
            is_leader,
            leader_epoch: view.leader_epoch,
            high_watermark: view.high_watermark,
            isr: view.isr.to_vec(),
        };
        seen.replicas.insert((id, tp), replica);
    }
    for group in broker.groups() {
        seen.groups.push(GroupSeen {
            group: group.name.clone(),
            coordinator: id,
            generation: group.generation,
            is_stable: group.state == GroupState::Stable,
            assignments: group.members.iter().map(|m| (m.member_id.clone(), m.assignment.to_vec())).collect(),
            committed: group.committed.clone(),
        });
    }
}
