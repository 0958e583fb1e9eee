//! A classic group as its coordinator holds it, and the replay of the records that rebuild it. Answers nobody.
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{ClientId, Dur, GenerationId, Map, Set, Tp};
use crate::broker::ReplyTo;
use crate::protocol::{GroupMetadata, GroupRecord, GroupState, MemberMetadata, OffsetAndMetadata, Subscription};

/// A member of a group, with the requests of it that wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    pub instance_id: Option<Rc<str>>,
    pub client: ClientId,
    pub client_id: Rc<str>,
    pub session_timeout: Dur,
    pub rebalance_timeout: Dur,
    /// Assignor names in order of preference, each with the member's subscription.
    pub protocols: Vec<(Rc<str>, Subscription)>,
    pub assignment: Vec<Tp>,
    /// A JoinGroup that waits for the end of the join phase.
    pub join: Option<ReplyTo>,
    /// A SyncGroup that waits for the assignment.
    pub sync: Option<ReplyTo>,
    /// Has not been answered since it was added.
    pub is_new: bool,
}

impl Member {
    pub fn subscription(&self, protocol: Option<&Rc<str>>) -> Subscription {
        self.protocols
            .iter()
            .find(|(name, _)| Some(name) == protocol)
            .map(|(_, subscription)| subscription.clone())
            .unwrap_or_default()
    }
}

/// The initial rebalance of an empty group, which waits for more members (`group.initial.rebalance.delay.ms`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InitialDelay {
    /// How much longer the join phase may become.
    pub remaining: Dur,
    pub member_added: bool,
}

/// One group. `stored` and `offsets` change by replay alone; the rest is memory that a new coordinator does not have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    pub id: Rc<str>,
    pub state: GroupState,
    pub generation: GenerationId,
    pub protocol: Option<Rc<str>>,
    pub leader: Option<Rc<str>>,
    pub members: Map<Rc<str>, Member>,
    /// Member ids that were handed out and not used yet (KIP-394).
    pub pending: Set<Rc<str>>,
    pub initial: Option<InitialDelay>,
    /// Members of this generation that have not sent SyncGroup.
    pub to_sync: Set<Rc<str>>,
    /// The last group metadata that was written.
    pub stored: Option<Rc<GroupMetadata>>,
    /// Committed offsets: those below the high watermark.
    pub offsets: Map<Tp, OffsetAndMetadata>,
}

impl Group {
    pub fn new(id: Rc<str>) -> Group {
        Group {
            id,
            state: GroupState::Empty,
            generation: GenerationId(0),
            protocol: None,
            leader: None,
            members: Map::new(),
            pending: Set::new(),
            initial: None,
            to_sync: Set::new(),
            stored: None,
            offsets: Map::new(),
        }
    }

    /// Largest rebalance time-out of the members: how long a join phase may take.
    pub fn rebalance_timeout(&self) -> Dur {
        self.members.values().map(|m| m.rebalance_timeout).max().unwrap_or_default()
    }

    /// The member that has this `group.instance.id` now.
    pub fn static_member(&self, instance: &str) -> Option<&Rc<str>> {
        self.members.iter().find(|(_, m)| m.instance_id.as_deref() == Some(instance)).map(|(id, _)| id)
    }

    pub fn all_joined(&self) -> bool {
        self.pending.is_empty() && self.members.values().all(|m| m.join.is_some())
    }

    /// Whether one of these protocols is known to every member.
    pub fn accepts(&self, protocols: &[(Rc<str>, Subscription)]) -> bool {
        if self.members.is_empty() {
            return !protocols.is_empty();
        }
        protocols
            .iter()
            .any(|(name, _)| self.members.values().all(|m| m.protocols.iter().any(|(known, _)| known == name)))
    }

    /// Each member votes for the first protocol on its list that all of them know; the most votes win, the name decides
    /// between equals.
    pub fn vote(&self) -> Option<Rc<str>> {
        let common = |name: &Rc<str>| self.members.values().all(|m| m.protocols.iter().any(|(known, _)| known == name));
        let mut votes: Map<&Rc<str>, u32> = Map::new();
        for member in self.members.values() {
            if let Some((name, _)) = member.protocols.iter().find(|(name, _)| common(name)) {
                *votes.entry(name).or_default() += 1;
            }
        }
        let most = votes.values().copied().max()?;
        votes.into_iter().find(|(_, n)| *n == most).map(|(name, _)| name.clone())
    }

    /// What the coordinator writes; `assignment` gives each member its partitions.
    pub fn metadata(&self, mut assignment: impl FnMut(&Rc<str>, &Member) -> Vec<Tp>) -> Rc<GroupMetadata> {
        let member = |(id, m): (&Rc<str>, &Member), assignment: Vec<Tp>| MemberMetadata {
            member_id: id.clone(),
            instance_id: m.instance_id.clone(),
            client: m.client,
            client_id: m.client_id.clone(),
            session_timeout: m.session_timeout,
            rebalance_timeout: m.rebalance_timeout,
            subscription: m.subscription(self.protocol.as_ref()),
            assignment,
        };
        let members = self.members.iter().map(|(id, m)| member((id, m), assignment(id, m))).collect();
        Rc::new(GroupMetadata {
            generation: self.generation,
            protocol: self.protocol.clone(),
            leader: self.leader.clone(),
            members,
        })
    }

    pub fn record(&self, metadata: Rc<GroupMetadata>) -> GroupRecord {
        GroupRecord::Group { group: self.id.clone(), metadata: Some(metadata) }
    }

    /// Takes up the stored metadata after a load: the group is Stable with its members, or Empty. Sessions are armed by
    /// the caller.
    pub fn restore(&mut self) {
        let Some(stored) = self.stored.clone() else { return };
        let name = stored.protocol.clone().unwrap_or_else(|| "".into());
        self.generation = stored.generation;
        self.protocol = stored.protocol.clone();
        self.leader = stored.leader.clone();
        self.members = stored
            .members
            .iter()
            .map(|m| {
                let member = Member {
                    instance_id: m.instance_id.clone(),
                    client: m.client,
                    client_id: m.client_id.clone(),
                    session_timeout: m.session_timeout,
                    rebalance_timeout: m.rebalance_timeout,
                    protocols: [(name.clone(), m.subscription.clone())].into(),
                    assignment: m.assignment.clone(),
                    join: None,
                    sync: None,
                    is_new: false,
                };
                (m.member_id.clone(), member)
            })
            .collect();
        self.state = if self.members.is_empty() { GroupState::Empty } else { GroupState::Stable };
    }
}

/// Applies one record of `__consumer_offsets`; groups come into being by it.
pub fn replay(groups: &mut Map<Rc<str>, Group>, record: &GroupRecord) {
    match record {
        GroupRecord::Offset { group, tp, commit } => {
            let offsets = &mut entry(groups, group).offsets;
            match commit {
                Some(commit) => offsets.insert(*tp, *commit),
                None => offsets.remove(tp),
            };
        }
        GroupRecord::Group { group, metadata } => entry(groups, group).stored = metadata.clone(),
    }
}

/// The group of this name, made if it is not there.
pub fn entry<'a>(groups: &'a mut Map<Rc<str>, Group>, group: &Rc<str>) -> &'a mut Group {
    groups.entry(group.clone()).or_insert_with(|| Group::new(group.clone()))
}
