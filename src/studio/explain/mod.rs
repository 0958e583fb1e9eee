//! Chains of causes: from what a person asks about back to the action or the setting that began it, as entries of the
//! trace and as facts that stand. It makes no words.

mod lookup;

use highwater_engine::base::{BrokerId, NodeId, SimTime, Tag, Tp};
use highwater_engine::trace::{Kind, TraceEntry};

use crate::recording::Recording;
pub use lookup::Lookup;

/// Steps of a chain, and one more, so that a reader knows that it goes on.
pub const MAX_STEPS: usize = 24;

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
    Standing(Standing),
}

/// Facts that no entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    MemberStopped { group: String, member: String, error: String, client: String },
    MemberReadsOn { group: String, member: String },
    ClientVersionWaits { client: String, long_poll: bool },
    GroupHashesTo { group: String, partition: u32 },
    HasReplicas { tp: Tp, replicas: Vec<BrokerId> },
    OnlyReplicaOn { tp: Tp, broker: BrokerId },
    CreatedWhileAlone { topic: String, broker: BrokerId, replication_factor: u32 },
    NodeSettingWas { key: String, value: String },
    TopicSettingWas { topic: String, key: String, value: String },
    ClientSettingWas { client: String, key: String, value: String },
    BrokerIsDown { broker: BrokerId },
    HighWatermarkStalled { tp: Tp, broker: BrokerId, at: i64, waits_for: Vec<BrokerId> },
    AckedLost { tp: Tp, offset: i64 },
    RunBegan,
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
pub fn explain(recording: &Recording, question: &Question) -> Vec<Step> {
    let mut chain = Chain { look: Lookup::new(recording), steps: Vec::new() };
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

struct Chain<'a> {
    look: Lookup<'a>,
    steps: Vec<Step>,
}

impl Chain<'_> {
    fn standing(&mut self, standing: Standing) {
        let at = self.look.now();
        self.steps.push(Step { at, what: What::Standing(standing) });
    }

    fn was(&mut self, at: SimTime, standing: Standing) {
        self.steps.push(Step { at, what: What::Standing(standing) });
    }

    fn has(&self, entry: usize) -> bool {
        self.steps.iter().any(|step| step.what == What::Entry(entry))
    }

    /// An entry and what led to it, until an action or nothing more is known.
    fn follow(&mut self, entry: usize) {
        let mut next = Some(entry);
        while let Some(entry) = next {
            let Some(found) = self.look.get(entry) else { return };
            if self.has(entry) || self.steps.len() >= MAX_STEPS {
                return;
            }
            self.steps.push(Step { at: found.at, what: What::Entry(entry) });
            next = self.before(entry, found);
        }
    }

    /// The cause that a person wants to hear: mostly the noted one, but where a process only noticed an absence,
    /// whatever made it absent.
    fn before(&self, entry: usize, found: &TraceEntry) -> Option<usize> {
        let look = &self.look;
        let noted = look.cause(entry);
        match &found.kind {
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
                let refused = look.last(entry, |e| matches!(&e.kind, Kind::ProduceRefused { tp: other, .. } | Kind::ProduceTimedOut { tp: other } if other == tp));
                refused.or_else(|| look.last(entry, |e| matches!(&e.kind, Kind::LeaderLost { tp: other, .. } | Kind::LeaderElected { tp: other, .. } if other == tp))).or(noted)
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
                self.standing(Standing::HasReplicas { tp, replicas });
            }
            self.follow(entry);
        } else {
            let origin = self.look.origin();
            self.was(origin, Standing::RunBegan);
        }
    }

    fn leader(&mut self, tp: Tp) {
        let changed = self.look.last_now(|e| matches!(&e.kind, Kind::LeaderElected { tp: other, .. } | Kind::LeaderLost { tp: other, .. } if *other == tp));
        match changed {
            Some(entry) => {
                self.follow(entry);
                self.if_alone(tp);
            }
            None => self.created(tp),
        }
    }

    fn isr(&mut self, tp: Tp) {
        match self.look.last_now(|e| matches!(&e.kind, Kind::IsrShrunk { tp: other, .. } | Kind::IsrExpanded { tp: other, .. } if *other == tp)) {
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
        self.standing(Standing::HighWatermarkStalled { tp, broker: leader, at, waits_for: waits_for.clone() });
        if waits_for.is_empty() {
            // Frozen below `min.insync.replicas`: the ISR explains it.
            let (topic, min) = (self.look.topic_name(tp.topic), self.look.min_insync(tp));
            self.isr(tp);
            let origin = self.look.origin();
            self.was(
                origin,
                Standing::TopicSettingWas { topic, key: "min.insync.replicas".into(), value: min.to_string() },
            );
            return;
        }
        for broker in waits_for {
            if self.look.is_down(broker) {
                self.standing(Standing::BrokerIsDown { broker });
            }
            if let Some(fault) = self.look.last_fault(NodeId::Broker(broker), self.look.end()) {
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
                let origin = self.look.origin();
                self.was(origin, Standing::RunBegan);
            }
        }
    }

    fn no_controller(&mut self) {
        if let Some(entry) = self.look.last_controller_fault(self.look.end()) {
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
            self.standing(Standing::MemberReadsOn { group: group.clone(), member });
        } else {
            self.standing(Standing::MemberStopped {
                group: group.clone(),
                member,
                error: stuck.error.clone(),
                client: stuck.client.clone(),
            });
        }
        self.standing(Standing::ClientVersionWaits { client: stuck.client.clone(), long_poll: stuck.long_poll });
        let partition = self.look.group_partition(&group);
        if let Some(entry) = self.look.client_node(name).and_then(|node| self.look.first_of_row(self.look.end(), node))
        {
            self.steps
                .push(Step { at: self.look.get(entry).map_or(self.look.now(), |e| e.at), what: What::Entry(entry) });
        }
        self.standing(Standing::GroupHashesTo { group: group.clone(), partition });
        let Some(tp) = self.look.offsets_tp(&group) else { return };
        let lost = self.look.last_now(|e| matches!(&e.kind, Kind::LeaderLost { tp: other, .. } if *other == tp));
        let fault = || {
            let broker = self.look.replicas(tp)?.first().copied()?;
            self.look.last_fault(NodeId::Broker(broker), self.look.end())
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
        self.standing(Standing::OnlyReplicaOn { tp, broker: only });
        let Some(created) = self.look.created(tp.topic) else { return };
        let at = self.look.get(created).map_or(self.look.origin(), |e| e.at);
        let topic = self.look.topic_name(tp.topic);
        if self.look.registered_at(created) == [only] {
            self.was(at, Standing::CreatedWhileAlone { topic: topic.clone(), broker: only, replication_factor: 1 });
        }
        if !self.has(created) {
            self.steps.push(Step { at, what: What::Entry(created) });
        }
        if topic == highwater_engine::protocol::CONSUMER_OFFSETS {
            let value = self.look.offsets_replication_factor().to_string();
            let origin = self.look.origin();
            self.was(origin, Standing::NodeSettingWas { key: "offsets.topic.replication.factor".into(), value });
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
        if let Some(tp) = tp {
            let (topic, min) = (self.look.topic_name(tp.topic), self.look.min_insync(tp));
            if min > 1 {
                let origin = self.look.origin();
                self.was(
                    origin,
                    Standing::TopicSettingWas { topic, key: "min.insync.replicas".into(), value: min.to_string() },
                );
            }
        }
    }

    fn lost(&mut self, tag: Tag, tp: Tp, offset: i64) {
        self.standing(Standing::AckedLost { tp, offset });
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
        if let Some((name, acks)) = self.look.acks(client) {
            let origin = self.look.origin();
            self.was(origin, Standing::ClientSettingWas { client: name, key: "acks".into(), value: acks.into() });
        }
    }
}
