//! Convergence: what must be true once every fault is healed and some time has passed. Says what is missing, never how
//! to repair it.

use alloc::format;
use alloc::string::String;

use crate::base::NodeId;
use crate::protocol::CONSUMER_OFFSETS;
use crate::world::World;

/// What has not come back yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotConverged {
    pub what: String,
}

/// Every broker unfenced, every partition led with a full ISR and equal logs, every broker of the controller's opinion,
/// every group settled.
pub fn converged(world: &World) -> Result<(), NotConverged> {
    let no = |what: String| Err(NotConverged { what });
    let Some(active) = world.active_controller().and_then(|id| world.controller(id)) else {
        return no("no active controller".into());
    };
    let image = active.image();
    for (node, machine) in world.machines() {
        let NodeId::Broker(id) = node else { continue };
        if machine.process.is_none() {
            return no(format!("{node} is not running"));
        }
        if !image.is_active(id) {
            return no(format!("{node} is fenced"));
        }
    }
    for (tp, partition) in image.partitions() {
        let name = image.topic_name(tp.topic).map_or("?", |n| &**n);
        let Some(leader) = partition.leader else { return no(format!("{name}-{} has no leader", tp.partition)) };
        if partition.isr.len() < partition.replicas.len() {
            return no(format!("{name}-{}: ISR {:?} of {:?}", tp.partition, partition.isr, partition.replicas));
        }
        let end_on = |broker| {
            world.machine(NodeId::Broker(broker)).and_then(|m| m.disk.log(tp)).map_or(0, |log| log.end_offset())
        };
        for &broker in &partition.replicas {
            let Some(process) = world.broker(broker) else { continue };
            let (end, leader_end) = (end_on(broker), end_on(leader));
            // Members commit for ever: their topic is never quiet, so that only its leader, ISR and epochs can be
            // judged.
            let is_quiet = name != CONSUMER_OFFSETS;
            if is_quiet && end != leader_end {
                return no(format!(
                    "{name}-{}: log ends {end} on {broker}, {leader_end} on leader {leader}",
                    tp.partition
                ));
            }
            if process.leader_epoch(tp) != Some(partition.leader_epoch) {
                return no(format!(
                    "{name}-{}: broker {broker} is in epoch {:?}, recorded is {}",
                    tp.partition,
                    process.leader_epoch(tp),
                    partition.leader_epoch
                ));
            }
            if is_quiet && process.high_watermark(tp) != Some(leader_end) {
                return no(format!(
                    "{name}-{}: high watermark {:?} on {broker}, log end {leader_end}",
                    tp.partition,
                    process.high_watermark(tp)
                ));
            }
        }
    }
    for (node, machine) in world.machines() {
        if let Some(client) = machine.client()
            && let Some(waiting) = client.unsettled(world.now())
        {
            return no(format!("{node} still waits: {waiting}"));
        }
    }
    Ok(())
}
