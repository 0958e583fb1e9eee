//! Groups that do not read all that is there because the process of a member stands still. It knows no cure.

use highwater_engine::base::{BrokerId, Tp};

use super::model::*;
use crate::story::Seen;

/// A member whose frozen process keeps records from its group.
pub struct Unread {
    pub group: String,
    pub member: String,
    /// What nobody reads; `None`: nothing at all, because the group waits for this member.
    pub partition: Option<Tp>,
}

/// One for each group that it happens to.
pub fn unread(seen: Seen<'_>, scene: &Scene) -> Vec<Unread> {
    scene.groups.iter().filter_map(|group| of_group(seen, group)).collect()
}

fn of_group(seen: Seen<'_>, group: &GroupView) -> Option<Unread> {
    let (frozen, others): (Vec<&MemberView>, Vec<&MemberView>) =
        group.members.iter().partition(|member| member.now == MemberNow::Paused);
    // What has gone over to another member is read.
    let is_owned = |partition: &PartitionRef| {
        others.iter().any(|other| other.assigned.iter().any(|assigned| assigned.partition == *partition))
    };
    for member in &frozen {
        if let Some(behind) = member.assigned.iter().find(|one| one.lag > 0 && !is_owned(&one.partition)) {
            let (group, member) = (group.name.clone(), member.name.clone());
            return Some(Unread { group, member, partition: seen.tp(&behind.partition) });
        }
    }
    let waits = group.now == GroupNow::Rebalancing;
    let member = frozen.iter().find(|member| waits && is_waited_for(seen, group, member))?;
    Some(Unread { group: group.name.clone(), member: member.name.clone(), partition: None })
}

/// Whether the coordinator still takes it for a member.
fn is_waited_for(seen: Seen<'_>, group: &GroupView, member: &MemberView) -> bool {
    let Coordinator::Ready { broker } = group.coordinator else { return false };
    let client = seen.world().client_id(&member.name);
    let known = seen.world().broker(BrokerId(broker)).and_then(|b| b.groups().find(|view| **view.name == *group.name));
    known.is_some_and(|view| view.members.iter().any(|known| Some(known.client) == client))
}
