//! From an entry of the trace to a fact with its values. What says nothing to a person has no fact; sentences are made
//! elsewhere.

use highwater_engine::base::{ActionId, BrokerId, NodeId, Seq};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::{Acks, Api, ConfigTarget as EngineTarget, ElectionKind as EngineElection, GroupState};
use highwater_engine::trace::{Creator, IsrChanger, Kind, QuorumRole, TraceEntry};
use highwater_engine::world::{Action, Deed, LinkSetup, Refusal};

use super::fact::{AckedBy, ConfigTarget, CreatedBy, ElectionKind, Fact, IsrBy, MessageDeed};
use super::names::{NodeRef, Term, count, ids, name_of};
use super::seen::Seen;
use crate::recording::Weight;
use crate::scenario::{Node, Target, Verb};

/// How far back the value before a change is looked for.
const LOOK_BACK: usize = 4_000;
/// How many causes are followed to find who began something.
const CAUSES: usize = 24;

/// The parts of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    Fault,
    Controller,
    Replication,
    Producer,
    Group,
    Setting,
}

impl Part {
    /// Every part, in the order of the filter.
    pub const ALL: [Part; 6] =
        [Part::Fault, Part::Controller, Part::Replication, Part::Producer, Part::Group, Part::Setting];
}

/// What is told of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub part: Part,
    pub weight: Weight,
    pub fact: Fact,
}

/// What is told of an entry, if it says anything to a person.
pub fn tell(seen: Seen<'_>, index: usize) -> Option<Told> {
    let (part, fact) = fact(seen, index)?;
    let weight = if seen.reel().is_notable(index) { Weight::Notable } else { Weight::Routine };
    Some(Told { part, weight, fact })
}

/// The table: of each kind the part of the log that it belongs to, and its fact.
fn fact(seen: Seen<'_>, index: usize) -> Option<(Part, Fact)> {
    let entry = seen.reel().get(index)?;
    use Part::{Controller, Fault, Group, Producer, Replication, Setting};
    let at = Reader { seen, index, entry };
    Some(match &entry.kind {
        Kind::ActionRefused { verb, why, .. } => {
            (Setting, Fact::ActionRefused { action: (*verb).into(), error: refusal_term(why) })
        }
        Kind::ProcessStarted => at.started(),
        Kind::ProcessKilled => (Fault, Fact::Killed { node: at.who() }),
        Kind::ProcessExited { .. } => (Fault, Fact::Stopped { node: at.who() }),
        Kind::ProcessPaused => (Fault, Fact::Paused { node: at.who() }),
        Kind::ProcessResumed => (Fault, Fact::Resumed { node: at.who() }),
        Kind::DiskLost => (Fault, Fact::Other { term: "disk lost".into(), who: Some(at.who()) }),
        Kind::LinkCut { .. } => {
            let (a, b, one_way) = at.ends(|kind| if let Kind::LinkCut { to } = kind { Some(*to) } else { None })?;
            (Fault, Fact::Cut { a, b, one_way })
        }
        Kind::LinkHealed { .. } => {
            let (a, b, _) = at.ends(|kind| if let Kind::LinkHealed { to } = kind { Some(*to) } else { None })?;
            (Fault, Fact::Healed { a, b })
        }
        Kind::LinkChanged { to, setup } => (Fault, at.link_changed(*to, *setup)?),
        Kind::QuorumRoleChanged { role: QuorumRole::Candidate, epoch } => {
            (Controller, Fact::QuorumElectionBegan { controller: at.controller()?, epoch: epoch.0 as u32 })
        }
        Kind::QuorumLeaderElected { leader, epoch } => {
            (Controller, Fact::QuorumLeaderElected { controller: leader.0, epoch: epoch.0 as u32 })
        }
        Kind::ControllerActivated { epoch } => {
            (Controller, Fact::ActiveController { controller: at.controller()?, epoch: epoch.0 as u32 })
        }
        Kind::ControllerResigned { epoch } => {
            (Controller, Fact::QuorumLeaderResigned { controller: at.controller()?, epoch: epoch.0 as u32 })
        }
        Kind::QuorumLogTruncated { .. } => {
            (Controller, Fact::Other { term: "metadata log truncated".into(), who: Some(at.who()) })
        }
        Kind::BrokerRegistered { broker, epoch, clean } => {
            (Controller, Fact::Registered { broker: broker.0, epoch: count(epoch.0), clean: *clean })
        }
        Kind::RegistrationRefused { broker, error } => {
            (Controller, Fact::Other { term: error.name().into(), who: Some(NodeRef::Broker(broker.0)) })
        }
        Kind::BrokerFenced { broker, last_contact } => {
            let session = seen.world().config().broker_session_timeout.0;
            (
                Controller,
                Fact::Fenced {
                    broker: broker.0,
                    session_us: last_contact.map_or(session, |last| entry.at.since(last).0),
                },
            )
        }
        Kind::BrokerUnfenced { broker } => (Controller, Fact::Unfenced { broker: broker.0 }),
        Kind::ControlledShutdownBegun { broker } => (Controller, Fact::ControlledShutdownBegan { broker: broker.0 }),
        Kind::TopicCreated { name, partitions, replication_factor, by, .. } => (
            Setting,
            Fact::TopicCreated {
                topic: name.to_string(),
                partitions: *partitions,
                replication_factor: *replication_factor,
                by: created_by(*by),
            },
        ),
        Kind::TopicDeleted { name, .. } => (Setting, Fact::Other { term: format!("{name} deleted").into(), who: None }),
        Kind::PartitionsAdded { topic, total } => (
            Setting,
            Fact::Other { term: format!("{}: {total} partitions", seen.topic_name(*topic)).into(), who: None },
        ),
        Kind::ConfigChanged { name, value } => (
            Setting,
            Fact::ConfigChanged {
                target: at.config_target(),
                key: name.to_string().into(),
                value: value.as_ref().map_or_else(String::new, |v| v.to_string()).into(),
            },
        ),
        Kind::ActionAnswered { action, error, message } => (Setting, at.answered(*action, *error, message.as_deref())?),
        Kind::LeaderElected { tp, leader, epoch, election, .. } => (
            Controller,
            Fact::LeaderElected {
                partition: seen.partition(*tp),
                broker: leader.0,
                epoch: epoch.0.max(0) as u32,
                how: how(*election),
            },
        ),
        Kind::LeaderLost { tp, previous, .. } => {
            (Controller, Fact::PartitionOffline { partition: seen.partition(*tp), last: Some(previous.0) })
        }
        Kind::ElrChanged { tp, elr, last_known_leader } => (
            Replication,
            Fact::ElrChanged {
                partition: seen.partition(*tp),
                elr: ids(elr),
                last_known_leader: last_known_leader.map(|broker| broker.0),
            },
        ),
        Kind::IsrShrunk { tp, isr, removed, by, .. } => (
            Replication,
            Fact::IsrShrunk { partition: seen.partition(*tp), removed: ids(removed), isr: ids(isr), by: isr_by(*by) },
        ),
        Kind::IsrExpanded { tp, isr, added, .. } => (
            Replication,
            Fact::IsrExpanded {
                partition: seen.partition(*tp),
                added: ids(added),
                isr: ids(isr),
                by: at.expanded_by(),
            },
        ),
        Kind::AlterPartitionRefused { tp, error } => {
            (Replication, Fact::IsrChangeRefused { partition: seen.partition(*tp), error: error.name().into() })
        }
        Kind::BecameLeader { tp, epoch, .. } => (
            Replication,
            Fact::BecameLeader { partition: seen.partition(*tp), broker: at.broker()?, epoch: epoch.0.max(0) as u32 },
        ),
        Kind::BecameFollower { tp, epoch, leader } => (
            Replication,
            Fact::BecameFollower {
                partition: seen.partition(*tp),
                broker: at.broker()?,
                leader: leader.0,
                epoch: epoch.0.max(0) as u32,
            },
        ),
        Kind::Appended { tp, base_offset, count: n, .. } => (
            Replication,
            Fact::Appended {
                partition: seen.partition(*tp),
                broker: at.broker()?,
                first: count(*base_offset),
                last: count(base_offset + i64::from(*n) - 1),
            },
        ),
        Kind::HighWatermarkAdvanced { tp, high_watermark, leader: true } => {
            let from = at.before(|kind| {
                if let Kind::HighWatermarkAdvanced { tp: other, high_watermark, leader: true } = kind {
                    (other == tp).then_some(*high_watermark)
                } else {
                    None
                }
            });
            (
                Replication,
                Fact::HighWatermarkAdvanced {
                    partition: seen.partition(*tp),
                    broker: at.broker()?,
                    from: count(from.unwrap_or(0)),
                    to: count(*high_watermark),
                },
            )
        }
        Kind::LogTruncated { tp, from, to, .. } => (
            Replication,
            Fact::Truncated {
                partition: seen.partition(*tp),
                broker: at.broker()?,
                from: count(*from),
                to: count(*to),
            },
        ),
        Kind::ProduceRefused { tp, error } => (
            Producer,
            Fact::Refused { producer: at.asker(), partition: seen.partition(*tp), error: error.name().into() },
        ),
        Kind::ProduceTimedOut { tp } => {
            (Producer, Fact::ProduceTimedOut { producer: at.asker(), partition: seen.partition(*tp), count: 1 })
        }
        Kind::RecordAcked { tp, offset, .. } => (
            Producer,
            Fact::Acked {
                producer: at.client(),
                partition: seen.partition(*tp),
                first: count(*offset),
                last: count(*offset),
                by: at.acked_by(),
            },
        ),
        Kind::RecordFailed { tp: Some(tp), exception, .. } => (
            Producer,
            Fact::Refused { producer: at.client(), partition: seen.partition(*tp), error: (*exception).into() },
        ),
        Kind::RecordFailed { tp: None, exception, .. } => {
            (Producer, Fact::ClientError { client: at.who(), error: (*exception).into() })
        }
        Kind::ProducerRetries { tp, error } => (
            Producer,
            Fact::Retried { producer: at.client(), partition: seen.partition(*tp), error: error.name().into() },
        ),
        Kind::CoordinatorLoading { partition } => (
            Group,
            Fact::CoordinatorLoading { group: at.group_of(*partition)?, broker: at.broker()?, partition: *partition },
        ),
        Kind::CoordinatorLoaded { partition, .. } => {
            at.group_of(*partition)?;
            (Group, Fact::CoordinatorLoaded { broker: at.broker()?, partition: *partition })
        }
        Kind::GroupStateChanged { group, state: GroupState::PreparingRebalance, generation, .. } => {
            (Group, Fact::Rebalancing { group: group.to_string(), generation: generation.0.max(0) as u32 })
        }
        Kind::GroupStateChanged { group, state: GroupState::Stable, generation, members } => (
            Group,
            Fact::GroupStable { group: group.to_string(), generation: generation.0.max(0) as u32, members: *members },
        ),
        Kind::MemberJoined { group, member } => {
            (Group, Fact::MemberJoined { group: group.to_string(), member: at.member_name(member) })
        }
        Kind::MemberRemoved { group, member, expired: true } => {
            (Group, Fact::MemberExpired { group: group.to_string(), member: at.member_name(member) })
        }
        Kind::MemberRemoved { group, member, expired: false } => {
            (Group, Fact::MemberLeft { group: group.to_string(), member: at.member_name(member) })
        }
        Kind::OffsetsCommitted { group, offsets } => {
            let (tp, offset) = offsets.first()?;
            (
                Group,
                Fact::OffsetsCommitted {
                    group: group.to_string(),
                    member: at.asker(),
                    partition: seen.partition(*tp),
                    offset: count(*offset),
                },
            )
        }
        Kind::CoordinatorDiscovered { group, coordinator } => (
            Group,
            Fact::CoordinatorFound {
                group: group.to_string(),
                broker: coordinator.0,
                partition: seen.group_partition(group),
            },
        ),
        Kind::CoordinatorUnknown { group, error } => (
            Group,
            Fact::CoordinatorUnavailable {
                group: group.to_string(),
                partition: seen.group_partition(group),
                error: error.name().into(),
            },
        ),
        Kind::CommitFailed { group, exception } => {
            (Group, Fact::CommitFailed { group: group.to_string(), member: at.client(), error: (*exception).into() })
        }
        Kind::PollFailed { exception, .. } => {
            (Group, Fact::ClientError { client: at.who(), error: (*exception).into() })
        }
        Kind::RecordDelivered { tp, offset, .. } => (
            Group,
            Fact::Delivered {
                member: at.client(),
                partition: seen.partition(*tp),
                first: count(*offset),
                last: count(*offset),
            },
        ),
        Kind::PositionReset { tp, from, offset } => (
            Group,
            Fact::PositionReset {
                member: at.client(),
                partition: seen.partition(*tp),
                from: from.map(count),
                to: count(*offset),
            },
        ),
        Kind::ClientClosed { .. } => (at.client_kind(), Fact::ClientClosed { client: at.who() }),
        Kind::Acted { action } => (Setting, at.acted(*action)?),
        Kind::ShutdownRequested
        | Kind::MessageSent { .. }
        | Kind::MessageDelivered { .. }
        | Kind::MessageLost { .. }
        | Kind::MessageHeld { .. }
        | Kind::MessageMoved { .. }
        | Kind::RequestFailed { .. }
        | Kind::QuorumRoleChanged { .. }
        | Kind::VoteGranted { .. }
        | Kind::VoteRefused { .. }
        | Kind::ControlledShutdownAllowed { .. }
        | Kind::ControllerRefused { .. }
        | Kind::BrokerRunning { .. }
        | Kind::BecameLeaderless { .. }
        | Kind::Replicated { .. }
        | Kind::HighWatermarkAdvanced { .. }
        | Kind::IsrShrinkProposed { .. }
        | Kind::IsrExpandProposed { .. }
        | Kind::DuplicateRecognised { .. }
        | Kind::LogStartAdvanced { .. }
        | Kind::CoordinatorUnloaded { .. }
        | Kind::GroupStateChanged { .. }
        | Kind::CoordinatorRefused { .. }
        | Kind::RecordSent { .. }
        | Kind::ProducerIdAssigned { .. }
        | Kind::LeaderDiscovered { .. }
        | Kind::RebalanceCallback { .. }
        | Kind::CommitSucceeded { .. } => return None,
    })
}

fn how(election: EngineElection) -> ElectionKind {
    match election {
        EngineElection::Clean => ElectionKind::Clean,
        EngineElection::FromElr => ElectionKind::Elr,
        EngineElection::LastKnown => ElectionKind::LastKnown,
        EngineElection::Unclean => ElectionKind::Unclean,
        EngineElection::Preferred => ElectionKind::Preferred,
    }
}

fn created_by(by: Creator) -> CreatedBy {
    match by {
        Creator::Admin => CreatedBy::Admin,
        Creator::Metadata => CreatedBy::Metadata,
        Creator::FindCoordinator => CreatedBy::FindCoordinator,
    }
}

fn isr_by(by: IsrChanger) -> IsrBy {
    match by {
        IsrChanger::Leader(broker) => IsrBy::Leader(broker.0),
        IsrChanger::Controller => IsrBy::Controller,
    }
}

/// Kafka's word for a refusal of the world.
pub fn refusal_term(refusal: &Refusal) -> Term {
    match refusal {
        Refusal::NoSuchNode(node) => format!("no {node}").into(),
        Refusal::NoSuchClient(name) => format!("no client {name}").into(),
        Refusal::NotStarted(_) | Refusal::NoSuchRole(_) | Refusal::HoldTaken(_) | Refusal::NothingHeld(_) => {
            refusal.to_string().into()
        }
        Refusal::NameTaken(name) => format!("{name} is taken").into(),
        Refusal::WrongState { needed, .. } => (*needed).into(),
        Refusal::Limit { what, most } => format!("{what}: at most {most}").into(),
        Refusal::ClientConfig { exception, key, value, .. } => format!("{exception}: {key}={value}").into(),
        Refusal::NodeConfig { key, value, .. } => format!("{key}={value}").into(),
        Refusal::Setup { what } => what.clone().into(),
    }
}

/// Kafka's or the format's word for an action.
pub fn action_term(action: &Action) -> &'static str {
    match action {
        Action::Kill(_) => "kill",
        Action::Stop(_) => "stop",
        Action::Start(_) => "start",
        Action::Restart(_) => "restart",
        Action::Pause(_) => "pause",
        Action::Resume(_) => "resume",
        Action::LoseDisk(_) => "lose-disk",
        Action::Cut { .. } => "cut",
        Action::Heal { .. } | Action::HealAll => "heal",
        Action::Link { .. } => "link",
        Action::Message { deed, .. } => deed.verb(),
        Action::Release { .. } => "release",
        Action::Admin(AdminRequest::CreateTopic(_)) => "CreateTopics",
        Action::Admin(AdminRequest::DeleteTopic { .. }) => "DeleteTopics",
        Action::Admin(AdminRequest::CreatePartitions { .. }) => "CreatePartitions",
        Action::Admin(AdminRequest::DeleteRecords { .. }) => "DeleteRecords",
        Action::Admin(AdminRequest::AlterConfigs { .. }) => "IncrementalAlterConfigs",
        Action::Admin(AdminRequest::ElectLeaders { .. }) => "ElectLeaders",
        Action::Admin(_) => "describe",
        Action::StartProducer { .. } => "start-client",
        Action::Join { .. } => "join",
        Action::CloseClient { .. } => "stop-client",
        Action::KillClient { .. } => "kill-client",
        Action::Reconfigure { .. } | Action::SetRate { .. } => "set-client",
        Action::Produce { .. } => "produce",
        Action::PausePolling { .. } => "pause-client",
        Action::Seek { .. } => "seek",
        Action::Commit { .. } => "commit",
    }
}

/// One entry with what is around it.
struct Reader<'a> {
    seen: Seen<'a>,
    index: usize,
    entry: &'a TraceEntry,
}

impl<'a> Reader<'a> {
    fn who(&self) -> NodeRef {
        self.seen.node(self.entry.who)
    }
    fn client(&self) -> String {
        name_of(self.who())
    }
    fn broker(&self) -> Option<u32> {
        if let NodeId::Broker(id) = self.entry.who { Some(id.0) } else { None }
    }
    fn controller(&self) -> Option<u32> {
        if let NodeId::Controller(id) = self.entry.who { Some(id.0) } else { None }
    }
    fn client_kind(&self) -> Part {
        if let NodeRef::Producer(_) = self.who() { Part::Producer } else { Part::Group }
    }

    fn started(&self) -> (Part, Fact) {
        match self.who() {
            node @ (NodeRef::Controller(_) | NodeRef::Broker(_)) => (Part::Fault, Fact::Started { node }),
            client @ (NodeRef::Producer(_) | NodeRef::Member(_) | NodeRef::Admin) => {
                (self.client_kind(), Fact::ClientStarted { client })
            }
        }
    }

    /// The causes of this entry, the nearest first.
    fn causes(&self) -> impl Iterator<Item = &'a TraceEntry> {
        let reel = self.seen.reel();
        std::iter::successors(reel.cause(self.index), move |index| reel.cause(*index))
            .take(CAUSES)
            .filter_map(move |index| reel.get(index))
    }

    /// The client whose request led here.
    fn asker(&self) -> String {
        let client = self.causes().map(|entry| entry.who).find(|who| matches!(who, NodeId::Client(_)));
        client.map_or_else(String::new, |who| name_of(self.seen.node(who)))
    }

    fn before<T>(&self, pick: impl Fn(&Kind) -> Option<T>) -> Option<T> {
        self.seen
            .reel()
            .entries(self.index.saturating_sub(LOOK_BACK)..self.index)
            .rev()
            .find_map(|(_, entry)| pick(&entry.kind))
    }

    /// One action changes many directions of links; the first entry speaks for all of them.
    fn ends(&self, to: impl Fn(&Kind) -> Option<NodeId>) -> Option<(Vec<NodeRef>, Vec<NodeRef>, bool)> {
        let reel = self.seen.reel();
        let same = |entry: &TraceEntry| entry.cause == self.entry.cause && entry.cause != Seq(0);
        if self.index > 0 && reel.get(self.index - 1).is_some_and(|before| same(before) && to(&before.kind).is_some()) {
            return None;
        }
        let mut pairs = vec![(self.entry.who, to(&self.entry.kind)?)];
        for (_, entry) in reel.entries(self.index + 1..reel.len()) {
            match to(&entry.kind) {
                Some(end) if same(entry) => pairs.push((entry.who, end)),
                Some(_) | None if !same(entry) => break,
                // Messages that a healed link lets through stand between its entries.
                Some(_) | None => {}
            }
        }
        let one_way = !pairs.contains(&(pairs[0].1, pairs[0].0));
        let (mut a, mut b): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
        for (from, to) in pairs {
            if !a.contains(&from) && !b.contains(&from) {
                a.push(from);
            }
            if !a.contains(&to) && !b.contains(&to) {
                b.push(to);
            }
        }
        let nodes = |ids: Vec<NodeId>| ids.into_iter().map(|id| self.seen.node(id)).collect();
        Some((nodes(a), nodes(b), one_way))
    }

    fn link_changed(&self, to: NodeId, setup: LinkSetup) -> Option<Fact> {
        let before = self.index.checked_sub(1).and_then(|index| self.seen.reel().get(index));
        let mirror = before.is_some_and(|entry| {
            entry.cause == self.entry.cause && entry.kind == Kind::LinkChanged { to: self.entry.who, setup }
        });
        if mirror {
            return None;
        }
        Some(Fact::LinkChanged {
            a: self.who(),
            b: self.seen.node(to),
            latency_us: setup.latency.0,
            loss_permille: setup.loss_per_million / 1_000,
        })
    }

    /// The action at the root of this entry.
    fn action<T>(&self, pick: impl Fn(&Action) -> Option<T>) -> Option<T> {
        let acted = |entry: &TraceEntry| {
            if let Kind::Acted { action } = entry.kind { self.seen.reel().action(action) } else { None }
        };
        std::iter::once(self.entry).chain(self.causes()).find_map(|entry| acted(entry).and_then(|action| pick(action)))
    }

    fn config_target(&self) -> ConfigTarget {
        let resource = self.action(|action| {
            if let Action::Admin(AdminRequest::AlterConfigs { resource, .. }) = action {
                Some(resource.clone())
            } else {
                None
            }
        });
        match resource {
            Some(EngineTarget::Topic(name)) => ConfigTarget::Topic(name.to_string()),
            Some(EngineTarget::Broker(id)) => ConfigTarget::Broker(id.0),
            Some(EngineTarget::Cluster) | None => ConfigTarget::Cluster,
        }
    }

    /// What was done by an action that leaves no other mark.
    fn acted(&self, id: ActionId) -> Option<Fact> {
        let action = self.seen.reel().action(id)?;
        match &**action {
            Action::Reconfigure { name, config } => {
                let (key, value) = config.iter().next()?;
                Some(Fact::ConfigChanged {
                    target: ConfigTarget::Client(name.to_string()),
                    key: key.to_string().into(),
                    value: value.to_string().into(),
                })
            }
            Action::SetRate { client, per_second } => Some(Fact::ConfigChanged {
                target: ConfigTarget::Client(client.to_string()),
                key: "rate".into(),
                value: format!("{per_second}/s").into(),
            }),
            Action::Message { which, deed } => Some(Fact::MessageActed {
                deed: deed_done(deed),
                message: message_term(which.api, which.response),
                from: which.from.map(|node| self.seen.node(node)),
                to: which.to.map(|node| self.seen.node(node)),
            }),
            Action::Release { name } => Some(Fact::MessageReleased { name: name.to_string() }),
            _shown_by_its_effects => None,
        }
    }

    fn answered(
        &self,
        id: ActionId,
        error: highwater_engine::protocol::ErrorCode,
        message: Option<&str>,
    ) -> Option<Fact> {
        if error.is_none() {
            return None;
        }
        let said = message.map_or_else(|| error.name().to_string(), |said| format!("{}: {said}", error.name()));
        let action = self.seen.reel().action(id)?;
        Some(match &**action {
            Action::Admin(AdminRequest::CreateTopic(request)) => {
                Fact::TopicCreateRefused { topic: request.name.to_string(), error: said.into() }
            }
            other => Fact::ActionRefused { action: action_term(other).into(), error: said.into() },
        })
    }

    fn expanded_by(&self) -> IsrBy {
        let proposer = self.causes().find_map(|entry| {
            if let (Kind::IsrExpandProposed { .. }, NodeId::Broker(BrokerId(id))) = (&entry.kind, entry.who) {
                Some(id)
            } else {
                None
            }
        });
        proposer.map_or(IsrBy::Controller, IsrBy::Leader)
    }

    fn acked_by(&self) -> AckedBy {
        let NodeId::Client(id) = self.entry.who else { return AckedBy::Nobody };
        match self.seen.acks(id) {
            Acks::Zero => AckedBy::Nobody,
            Acks::One => AckedBy::LeaderAlone,
            Acks::All => AckedBy::WholeIsr,
        }
    }

    /// A group of this run that lives in the partition.
    fn group_of(&self, partition: u32) -> Option<String> {
        self.seen.groups().into_iter().find(|group| self.seen.group_partition(group) == partition)
    }

    /// A member id begins with the `client.id`, which here is the member's name.
    fn member_name(&self, id: &str) -> String {
        let names = self.seen.world().machines().filter_map(|(node, _)| {
            if let NodeId::Client(id) = node { self.seen.world().client_name(id) } else { None }
        });
        let best = names
            .filter(|name| id.strip_prefix(&***name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
            .max_by_key(|name| name.len());
        best.map_or_else(|| id.to_string(), |name| name.to_string())
    }
}

/// The fact that a verb of a user would leave, for the name of the branch that it opened.
pub fn of_verb(verb: &Verb) -> Option<Fact> {
    let node = |nodes: &[Node]| nodes.first().and_then(node_ref);
    let all = |nodes: &[Node]| nodes.iter().filter_map(node_ref).collect::<Vec<NodeRef>>();
    Some(match verb {
        Verb::Kill(nodes) => Fact::Killed { node: node(nodes)? },
        Verb::Stop(nodes) => Fact::Stopped { node: node(nodes)? },
        Verb::Start(nodes) | Verb::Restart(nodes) => Fact::Started { node: node(nodes)? },
        Verb::Pause(nodes) => Fact::Paused { node: node(nodes)? },
        Verb::Resume(nodes) => Fact::Resumed { node: node(nodes)? },
        Verb::LoseDisk(nodes) => Fact::Other { term: "disk lost".into(), who: node(nodes) },
        Verb::Cut(sides) => Fact::Cut { a: all(&sides.from), b: all(&sides.to), one_way: !sides.both },
        Verb::Heal(Some(sides)) => Fact::Healed { a: all(&sides.from), b: all(&sides.to) },
        Verb::Heal(None) => Fact::Healed { a: Vec::new(), b: Vec::new() },
        Verb::Link(link) => Fact::LinkChanged {
            a: node(&link.between)?,
            b: node(&link.and)?,
            latency_us: link.change.latency.unwrap_or_default().0,
            loss_permille: link.change.loss_per_million.unwrap_or(0) / 1_000,
        },
        Verb::SetConfig { target, config } => {
            let target = match target {
                Target::Topic(topic) => ConfigTarget::Topic(topic.clone()),
                Target::Broker(id) => ConfigTarget::Broker(*id),
                Target::Cluster => ConfigTarget::Cluster,
            };
            let (key, value) = config.iter().next()?;
            Fact::ConfigChanged { target, key: key.clone().into(), value: value.clone().into() }
        }
        Verb::SetClient { name, rate, config } => {
            let (key, value) = config
                .iter()
                .next()
                .map(|(key, value)| (key.clone(), value.clone()))
                .or_else(|| rate.map(|rate| ("rate".to_string(), format!("{rate}/s"))))?;
            Fact::ConfigChanged { target: ConfigTarget::Client(name.clone()), key: key.into(), value: value.into() }
        }
        Verb::StartClient { name, .. } => Fact::ClientStarted { client: NodeRef::Producer(name.clone()) },
        Verb::Join(join) => Fact::ClientStarted { client: NodeRef::Member(join.member.clone()) },
        Verb::Leave(name) | Verb::StopClient(name) => Fact::ClientClosed { client: NodeRef::Member(name.clone()) },
        Verb::KillClient(name) => Fact::Killed { node: NodeRef::Member(name.clone()) },
        Verb::ElectLeaders { partition, .. } => {
            Fact::Other { term: format!("ElectLeaders {}-{}", partition.topic, partition.partition).into(), who: None }
        }
        Verb::CreateTopic { name, .. } => Fact::Other { term: format!("CreateTopics {name}").into(), who: None },
        Verb::AddPartitions { topic, .. } => {
            Fact::Other { term: format!("CreatePartitions {topic}").into(), who: None }
        }
        Verb::DeleteTopic(topic) => Fact::Other { term: format!("DeleteTopics {topic}").into(), who: None },
        Verb::DeleteRecords { partition, .. } => {
            Fact::Other { term: format!("DeleteRecords {}-{}", partition.topic, partition.partition).into(), who: None }
        }
        Verb::Produce(produce) => {
            Fact::Other { term: "Produce".into(), who: Some(NodeRef::Producer(produce.client.clone())) }
        }
        Verb::PauseClient { member, .. } => Fact::Paused { node: NodeRef::Member(member.clone()) },
        Verb::Seek { member, .. } => Fact::Other { term: "seek".into(), who: Some(NodeRef::Member(member.clone())) },
        Verb::Commit(member) => Fact::Other { term: "OffsetCommit".into(), who: Some(NodeRef::Member(member.clone())) },
        Verb::Message { which, deed } => Fact::MessageActed {
            deed: deed_done(deed),
            message: message_term(which.api, which.response),
            from: which.from.as_ref().and_then(node_ref),
            to: which.to.as_ref().and_then(node_ref),
        },
        Verb::Release(name) => Fact::MessageReleased { name: name.clone() },
    })
}

fn deed_done(deed: &Deed) -> MessageDeed {
    match deed {
        Deed::Drop => MessageDeed::Dropped,
        Deed::Hold { .. } => MessageDeed::Held,
        Deed::Delay { by } => MessageDeed::Delayed { by_us: by.0 },
        Deed::Duplicate => MessageDeed::Duplicated,
        Deed::Deliver => MessageDeed::Delivered,
    }
}

/// Kafka's name of a message.
pub fn message_term(api: Api, response: bool) -> Term {
    format!("{}{}", api.name(), if response { "Response" } else { "Request" }).into()
}

fn node_ref(node: &Node) -> Option<NodeRef> {
    match node {
        Node::Broker(id) => Some(NodeRef::Broker(*id)),
        Node::Controller(id) => Some(NodeRef::Controller(*id)),
        Node::Client(name) => Some(NodeRef::Producer(name.clone())),
        Node::ActiveController | Node::LeaderOf(_) | Node::CoordinatorOf(_) => None,
    }
}
