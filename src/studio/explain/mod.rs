//! Chains of causes: from what a person asks about back to the action or the setting that began it, as entries of the
//! trace and as facts that stand. It makes no words.

use highwater_engine::base::{NodeId, SimTime, Tag, Tp};
use highwater_engine::protocol::Acks;
use highwater_engine::trace::{Kind, TraceEntry};

use crate::story::{ConfigTarget, Fact, Seen, count, ids, name_of, tell};

/// Steps of a chain, and one more, so that a reader knows that it goes on. What says nothing to a person counts for
/// none.
pub const MAX_STEPS: usize = 24;
/// Entries that a chain goes through, told or not: heartbeats and fetches come of each other for as long as a run is.
const MAX_ENTRIES: usize = 2_000;

/// One cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub at: SimTime,
    pub what: What,
}

/// An entry of the reel by its number, or something that was so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Entry(usize),
    Standing(Fact),
}

/// What can be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    Entry(usize),
    Leader(Tp),
    Isr(Tp),
    HighWatermark(Tp),
    Node(NodeId),
    Member(String),
    Group(String),
    Producer(String),
    /// A record by its tag, for one that is gone.
    Lost {
        tag: Tag,
        tp: Tp,
        offset: i64,
    },
    NoController,
}

/// The causes, the latest first; empty if there is nothing to explain.
pub fn explain(seen: Seen<'_>, question: &Question) -> Vec<Step> {
    let mut chain = Chain { look: seen, steps: Vec::new() };
    match question {
        Question::Entry(entry) => chain.follow(*entry),
        Question::Leader(tp) => chain.leader(*tp),
        Question::Isr(tp) => chain.isr(*tp),
        Question::HighWatermark(tp) => chain.high_watermark(*tp),
        Question::Node(node) => chain.node(*node),
        Question::Member(name) => chain.member(name),
        Question::Group(group) => chain.group(group),
        Question::Producer(name) => chain.producer(name),
        Question::Lost { tag, tp, offset } => chain.lost(*tag, *tp, *offset),
        Question::NoController => chain.no_controller(),
    }
    chain.steps.truncate(MAX_STEPS);
    chain.steps
}

/// Whom brokers work with, clients aside.
const fn is_server(node: NodeId) -> bool {
    match node {
        NodeId::Broker(_) | NodeId::Controller(_) => true,
        NodeId::Client(_) => false,
    }
}

struct Chain<'a> {
    look: Seen<'a>,
    steps: Vec<Step>,
}

impl Chain<'_> {
    fn standing(&mut self, fact: Fact) {
        self.was(self.look.now(), fact);
    }

    fn was(&mut self, at: SimTime, fact: Fact) {
        self.steps.push(Step { at, what: What::Standing(fact) });
    }

    /// A setting that was so from the start.
    fn setting(&mut self, target: ConfigTarget, key: &'static str, value: String) {
        self.was(self.look.origin(), Fact::SettingWas { target, key: key.into(), value: value.into() });
    }

    fn run_began(&mut self) {
        self.was(self.look.origin(), Fact::RunBegan);
    }

    fn min_insync(&mut self, tp: Tp) {
        let min = self.look.min_insync(tp);
        self.setting(ConfigTarget::Topic(self.look.topic_name(tp.topic)), "min.insync.replicas", min.to_string());
    }

    fn has(&self, entry: usize) -> bool {
        self.steps.iter().any(|step| step.what == What::Entry(entry))
    }

    /// An entry and what led to it, until an action or nothing more is known.
    fn follow(&mut self, entry: usize) {
        let mut next = Some(entry);
        for _ in 0..MAX_ENTRIES {
            let Some((entry, found)) = next.and_then(|entry| Some((entry, self.look.get(entry)?))) else { return };
            if self.has(entry) || self.steps.len() >= MAX_STEPS {
                return;
            }
            self.push(entry, found.at);
            next = self.before(entry, found);
            // Whoever truncates was away while another was elected: its return let it learn of that.
            if let (Kind::LogTruncated { .. }, Some(elected)) = (&found.kind, next)
                && let Some(back) = self.look.last_return(found.who, is_server, elected + 1..entry)
                && let Some(at) = self.look.get(back).map(|back| back.at)
            {
                self.push(back, at);
            }
            // A message that had to wait comes of its sender, and of what let it pass.
            if let Some(sent) = self.look.sending(entry) {
                if let Some(passed) = self.look.cause(entry).map(|passed| self.look.speaks_for(passed))
                    && let Some(at) = self.look.get(passed).map(|passed| passed.at)
                {
                    self.push(passed, at);
                }
                next = Some(sent);
            }
        }
    }

    /// A step, if the entry says something to a person.
    fn push(&mut self, entry: usize, at: SimTime) {
        if !self.has(entry) && tell(self.look, entry).is_some() {
            self.steps.push(Step { at, what: What::Entry(entry) });
        }
    }

    /// The cause that a person wants to hear: mostly the noted one, but where a process only noticed an absence,
    /// whatever made it absent.
    fn before(&self, entry: usize, found: &TraceEntry) -> Option<usize> {
        let look = &self.look;
        let noted = look.cause(entry);
        match &found.kind {
            Kind::BrokerUnfenced { broker } => {
                let before =
                    look.last(entry, |e| matches!(&e.kind, Kind::BrokerUnfenced { broker: other } if other == broker));
                let controller = found.who;
                let within = before.unwrap_or(0)..entry;
                look.last_return(NodeId::Broker(*broker), |node| node == controller, within).or(noted)
            }
            Kind::IsrExpanded { tp, added, .. } => {
                let broker = added.first().copied();
                let joined = look.last(entry, |e| match &e.kind {
                    Kind::IsrExpanded { tp: other, added, .. } => other == tp && added.first().copied() == broker,
                    Kind::TopicCreated { topic, .. } => *topic == tp.topic,
                    _other => false,
                });
                let within = joined.unwrap_or(0)..entry;
                broker.and_then(|broker| look.last_return(NodeId::Broker(broker), is_server, within)).or(noted)
            }
            Kind::BrokerFenced { broker, .. } => look.last_fault(NodeId::Broker(*broker), entry).or(noted),
            Kind::QuorumRoleChanged { .. } | Kind::QuorumLeaderElected { .. } | Kind::ControllerActivated { .. } => {
                look.last_controller_fault(entry).or(noted)
            }
            Kind::CoordinatorUnknown { group, .. } => {
                let tp = look.offsets_tp(group);
                let lost = tp.and_then(|tp| {
                    look.last(entry, |e| matches!(&e.kind, Kind::LeaderLost { tp: other, .. } if *other == tp))
                });
                let coordinator = look.last(
                    entry,
                    |e| matches!(&e.kind, Kind::CoordinatorDiscovered { group: other, .. } if other == group),
                );
                let broker = coordinator.and_then(|found| {
                    if let Kind::CoordinatorDiscovered { coordinator, .. } = look.get(found)?.kind {
                        Some(coordinator)
                    } else {
                        None
                    }
                });
                lost.or_else(|| look.last_fault(NodeId::Broker(broker?), entry)).or(noted)
            }
            Kind::CommitFailed { .. } | Kind::PollFailed { .. } => look.first_of_row(entry, found.who).or(noted),
            Kind::ProduceRefused { tp, .. } | Kind::ProduceTimedOut { tp } => {
                look.last(entry, |e| matches!(&e.kind, Kind::IsrShrunk { tp: other, .. } if other == tp)).or(noted)
            }
            Kind::RecordFailed { tp: Some(tp), .. } | Kind::ProducerRetries { tp, .. } => {
                let refuses = |kind: &Kind| {
                    matches!(
                        kind,
                        Kind::ProduceRefused { tp: other, .. } | Kind::ProduceTimedOut { tp: other } if other == tp
                    )
                };
                let refused = look.last(entry, |e| refuses(&e.kind));
                refused.or_else(|| look.last(entry, |e| changes_leader(&e.kind, *tp))).or(noted)
            }
            Kind::LogTruncated { tp, .. } => {
                look.last(entry, |e| matches!(&e.kind, Kind::LeaderElected { tp: other, .. } if other == tp)).or(noted)
            }
            Kind::MemberRemoved { expired: true, .. } => look.last_client_fault(entry).or(noted),
            Kind::IsrShrunk { removed, .. } => {
                // A leader that proposes a shrink has only seen that nobody fetches.
                let fenced = noted.and_then(|cause| look.get(cause)).is_some_and(|cause| {
                    matches!(cause.kind, Kind::BrokerFenced { .. } | Kind::ControlledShutdownBegun { .. })
                });
                if fenced {
                    noted
                } else {
                    removed.first().and_then(|broker| look.last_fault(NodeId::Broker(*broker), entry)).or(noted)
                }
            }
            _as_noted => noted,
        }
    }

    fn created(&mut self, tp: Tp) {
        if let Some(entry) = self.look.created(tp.topic) {
            if let Some(replicas) = self.look.replicas(tp) {
                let partition = self.look.partition(tp);
                self.standing(Fact::HasReplicas { partition, replicas: ids(&replicas) });
            }
            self.follow(entry);
        } else {
            self.run_began();
        }
    }

    fn leader(&mut self, tp: Tp) {
        let changed = self.look.last_now(|e| changes_leader(&e.kind, tp));
        match changed {
            Some(entry) => {
                self.follow(entry);
                self.if_alone(tp);
            }
            None => self.created(tp),
        }
    }

    fn isr(&mut self, tp: Tp) {
        let is_of = |kind: &Kind| match kind {
            Kind::IsrShrunk { tp: other, .. } | Kind::IsrExpanded { tp: other, .. } => *other == tp,
            _of_no_isr => false,
        };
        match self.look.last_now(|e| is_of(&e.kind)) {
            Some(entry) => self.follow(entry),
            None => self.created(tp),
        }
    }

    fn high_watermark(&mut self, tp: Tp) {
        let Some((leader, at, waits_for)) = self.look.stalled(tp) else {
            match self.look.last_now(
                |e| matches!(&e.kind, Kind::HighWatermarkAdvanced { tp: other, leader: true, .. } if *other == tp),
            ) {
                Some(entry) => self.follow(entry),
                None => self.created(tp),
            }
            return;
        };
        self.standing(Fact::HighWatermarkStalled {
            partition: self.look.partition(tp),
            broker: leader.0,
            at: count(at),
            waits_for: ids(&waits_for),
        });
        if waits_for.is_empty() {
            // Frozen below `min.insync.replicas`: the ISR explains it.
            self.isr(tp);
            self.min_insync(tp);
            return;
        }
        for broker in waits_for {
            if self.look.is_down(broker) {
                self.standing(Fact::BrokerIsDown { broker: broker.0 });
            }
            if let Some(fault) = self.look.last_fault(NodeId::Broker(broker), self.look.n_entries()) {
                self.follow(fault);
            }
        }
    }

    fn node(&mut self, node: NodeId) {
        let notable = |e: &TraceEntry| match (&e.kind, node) {
            (Kind::BrokerFenced { broker, .. } | Kind::BrokerUnfenced { broker }, NodeId::Broker(id)) => *broker == id,
            (
                Kind::ProcessKilled
                | Kind::ProcessStarted
                | Kind::ProcessPaused
                | Kind::ProcessResumed
                | Kind::ProcessExited { .. },
                _,
            ) => e.who == node,
            (
                Kind::QuorumLeaderElected { .. } | Kind::ControllerActivated { .. } | Kind::ControllerResigned { .. },
                NodeId::Controller(_),
            ) => e.who == node,
            _ => false,
        };
        match self.look.last_now(notable) {
            Some(entry) => self.follow(entry),
            None => {
                self.run_began();
            }
        }
    }

    fn no_controller(&mut self) {
        if let Some(entry) = self.look.last_controller_fault(self.look.n_entries()) {
            self.follow(entry);
        }
    }

    fn group(&mut self, group: &str) {
        let member = self.look.stuck_member(group);
        match member {
            Some(member) => self.member(&member),
            None => {
                let changed = self
                    .look
                    .last_now(|e| matches!(&e.kind, Kind::GroupStateChanged { group: other, .. } if &**other == group));
                if let Some(entry) = changed {
                    self.follow(entry);
                }
            }
        }
    }

    fn member(&mut self, name: &str) {
        let Some(stuck) = self.look.stuck(name) else {
            let changed = self.look.client_node(name).and_then(|node| {
                self.look.last_now(|e| {
                    e.who == node
                        && matches!(
                            e.kind,
                            Kind::PollFailed { .. }
                                | Kind::CommitFailed { .. }
                                | Kind::CoordinatorDiscovered { .. }
                                | Kind::PositionReset { .. }
                        )
                })
            });
            if let Some(entry) = changed {
                self.follow(entry);
            }
            return;
        };
        let (group, member) = (stuck.group.clone(), name.to_string());
        if stuck.reads_on {
            self.standing(Fact::MemberReadsOn { group: group.clone(), member });
        } else {
            self.standing(Fact::MemberStopped {
                group: group.clone(),
                member,
                error: stuck.error.into(),
                client: stuck.client.clone().into(),
            });
        }
        self.standing(Fact::ClientVersionWaits { client: stuck.client.into(), long_poll: stuck.long_poll });
        let partition = self.look.group_partition(&group);
        if let Some(entry) =
            self.look.client_node(name).and_then(|node| self.look.first_of_row(self.look.n_entries(), node))
        {
            self.steps
                .push(Step { at: self.look.get(entry).map_or(self.look.now(), |e| e.at), what: What::Entry(entry) });
        }
        self.standing(Fact::GroupHashesTo { group: group.clone(), partition });
        let Some(tp) = self.look.offsets_tp(&group) else { return };
        let lost = self.look.last_now(|e| matches!(&e.kind, Kind::LeaderLost { tp: other, .. } if *other == tp));
        let fault = || {
            let broker = self.look.replicas(tp)?.first().copied()?;
            self.look.last_fault(NodeId::Broker(broker), self.look.n_entries())
        };
        if let Some(entry) = lost.or_else(fault) {
            self.follow(entry);
        }
        self.if_alone(tp);
    }

    /// A partition with one replica: why it has one.
    fn if_alone(&mut self, tp: Tp) {
        let Some(replicas) = self.look.replicas(tp) else { return };
        let [only] = replicas.as_slice() else { return };
        let only = *only;
        self.standing(Fact::OnlyReplicaOn { partition: self.look.partition(tp), broker: only.0 });
        let Some(created) = self.look.created(tp.topic) else { return };
        let at = self.look.get(created).map_or(self.look.origin(), |e| e.at);
        let topic = self.look.topic_name(tp.topic);
        if self.look.registered_at(created) == [only] {
            let (topic, broker) = (topic.clone(), only.0);
            self.was(at, Fact::CreatedWhileAlone { topic, broker, replication_factor: 1 });
        }
        if !self.has(created) {
            self.steps.push(Step { at, what: What::Entry(created) });
        }
        if topic == highwater_engine::protocol::CONSUMER_OFFSETS {
            let value = self.look.offsets_replication_factor().to_string();
            self.setting(ConfigTarget::Cluster, "offsets.topic.replication.factor", value);
        }
    }

    fn producer(&mut self, name: &str) {
        let Some(node) = self.look.client_node(name) else { return };
        let Some(entry) = self
            .look
            .last_now(|e| e.who == node && matches!(e.kind, Kind::RecordFailed { .. } | Kind::ProducerRetries { .. }))
        else {
            return;
        };
        self.follow(entry);
        let tp = if let Some(Kind::RecordFailed { tp: Some(tp), .. } | Kind::ProducerRetries { tp, .. }) =
            self.look.get(entry).map(|e| &e.kind)
        {
            Some(*tp)
        } else {
            None
        };
        if let Some(tp) = tp
            && self.look.min_insync(tp) > 1
        {
            self.min_insync(tp);
        }
    }

    fn lost(&mut self, tag: Tag, tp: Tp, offset: i64) {
        let lost = count(offset);
        self.standing(Fact::AckedLost { partition: self.look.partition(tp), first: lost, last: lost });
        let acked = self.look.last_now(|e| matches!(&e.kind, Kind::RecordAcked { tag: other, .. } if *other == tag));
        let truncated = self
            .look
            .last_now(|e| matches!(&e.kind, Kind::LogTruncated { tp: other, to, .. } if *other == tp && *to <= offset));
        let elected = acked.and_then(|acked| {
            self.look.first_after(acked, |e| matches!(&e.kind, Kind::LeaderElected { tp: other, .. } if *other == tp))
        });
        for entry in [truncated, elected].into_iter().flatten() {
            self.follow(entry);
        }
        let Some(acked) = acked else { return };
        let found = self.look.get(acked).map(|e| (e.at, e.who));
        let Some((at, NodeId::Client(client))) = found else { return };
        self.steps.push(Step { at, what: What::Entry(acked) });
        let acks = match self.look.acks(client) {
            Acks::Zero => "0",
            Acks::One => "1",
            Acks::All => "all",
        };
        let name = name_of(self.look.node(NodeId::Client(client)));
        self.setting(ConfigTarget::Client(name), "acks", acks.into());
    }
}

/// Whether an entry says who leads a partition from then on.
fn changes_leader(kind: &Kind, tp: Tp) -> bool {
    matches!(kind, Kind::LeaderElected { tp: other, .. } | Kind::LeaderLost { tp: other, .. } if *other == tp)
}
