//! The stage at the playhead: controllers, brokers × partitions, clients, cuts. It shows what is so, whoever knows of
//! it.

use highwater_engine::base::{BrokerId, NodeId, Set, Tp};
use highwater_engine::broker::BrokerState;
use highwater_engine::broker::replicas::ReplicaRole as EngineReplica;
use highwater_engine::log::Log;
use highwater_engine::protocol::{CONSUMER_OFFSETS, PartitionRegistration};
use highwater_engine::trace::{Kind, QuorumRole as EngineRole};
use highwater_engine::world::Machine;
use highwater_engine::world::machine::Role;

use super::clients;
use super::model::*;
use crate::playback::fenced_at;
use crate::recording::Ledger;
use crate::story::{Seen, count, ids};

/// What of a scene is chosen and not simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    pub opened: Vec<String>,
    pub group: Option<String>,
}

/// Projects the stage.
pub fn scene(seen: Seen<'_>, ledger: &Ledger, chosen: &Chosen, origin: Origin, revision: u64) -> Scene {
    let stage = Stage { seen, chosen, ledger };
    let topics = stage.topics();
    let internal = stage.internal();
    Scene {
        revision,
        at_us: seen.now_us(),
        origin,
        controllers: stage.controllers(),
        brokers: stage.brokers(&topics, &internal),
        topics,
        internal,
        producers: clients::producers(seen, ledger),
        groups: clients::groups(seen, ledger),
        selected_group: stage.group(),
        cuts: stage.cuts(),
        links: stage.links(),
    }
}

struct Stage<'a> {
    seen: Seen<'a>,
    chosen: &'a Chosen,
    ledger: &'a Ledger,
}

/// How the process of a node stands.
pub fn process(seen: Seen<'_>, id: NodeId, machine: &Machine) -> ProcessState {
    if machine.paused {
        return ProcessState::Paused {
            since_us: since(seen, id, |kind| matches!(kind, Kind::ProcessPaused)).unwrap_or(0),
        };
    }
    if machine.process.is_some() {
        let stopping = machine.broker().is_some_and(|broker| {
            matches!(broker.state(), BrokerState::PendingControlledShutdown | BrokerState::ShuttingDown)
        });
        return if stopping { ProcessState::Stopping } else { ProcessState::Running };
    }
    if machine.incarnation == 0 {
        return ProcessState::NotStarted;
    }
    ProcessState::Down { since_us: seen.us(machine.since), clean: machine.disk.clean_shutdown.is_some() }
}

fn since(seen: Seen<'_>, who: NodeId, fits: impl Fn(&Kind) -> bool) -> Option<Micros> {
    seen.last_turn(|entry| entry.who == who && fits(&entry.kind)).map(|entry| seen.us(entry.at))
}

impl Stage<'_> {
    fn group(&self) -> Option<String> {
        let groups = self.seen.groups();
        self.chosen.group.clone().filter(|group| groups.contains(group)).or_else(|| groups.first().cloned())
    }

    fn is_cut_off(&self, id: NodeId) -> bool {
        self.seen.world().network().cuts().any(|(a, b)| a == id || b == id)
    }

    fn menu(&self, id: NodeId, machine: &Machine) -> Vec<NodeAction> {
        let mut menu = Vec::new();
        if machine.process.is_none() {
            menu.push(NodeAction::Start);
        } else {
            menu.extend([NodeAction::Kill, NodeAction::Stop, NodeAction::Restart]);
            menu.push(if machine.paused { NodeAction::Resume } else { NodeAction::Pause });
        }
        menu.extend([NodeAction::CutFromBrokers, NodeAction::CutFromControllers]);
        if let NodeId::Broker(_) = id {
            menu.push(NodeAction::CutFromClients);
        }
        menu.push(NodeAction::CutFromAll);
        if self.is_cut_off(id) {
            menu.push(NodeAction::Heal);
        }
        menu.extend([NodeAction::SlowLink, NodeAction::LossyLink]);
        let network = self.seen.world().network();
        if self
            .seen
            .world()
            .machines()
            .any(|(other, _)| other != id && network.link_setup(id, other) != network.default_setup())
        {
            menu.push(NodeAction::RestoreLink);
        }
        menu
    }

    fn controllers(&self) -> Vec<ControllerView> {
        let seen = self.seen;
        let mut longest = 0;
        let mut high_watermark = 0;
        for (id, machine) in seen.world().machines() {
            if let NodeId::Controller(_) = id {
                longest = longest.max(machine.disk.metadata_log.end_offset());
                high_watermark =
                    high_watermark.max(machine.controller().map_or(0, |controller| controller.high_watermark()));
            }
        }
        let active = seen.world().active_controller();
        let view = |(id, machine): (NodeId, &Machine)| {
            let NodeId::Controller(number) = id else { return None };
            let controller = machine.controller();
            let end = machine.disk.metadata_log.end_offset();
            let tail = (longest - METADATA_TAIL as i64..longest).map(|offset| match offset {
                offset if offset < 0 || offset >= end => MetadataCell::Absent,
                offset if offset < high_watermark => MetadataCell::Committed,
                _above => MetadataCell::Uncommitted,
            });
            Some(ControllerView {
                id: number.0,
                role: controller.map_or(QuorumRole::Unattached, |controller| {
                    quorum_role(controller.role(), active == Some(number))
                }),
                process: process(seen, id, machine),
                quorum_epoch: controller
                    .map_or(machine.disk.quorum_state.epoch.0, |controller| controller.epoch().0)
                    .max(0) as u32,
                log_end_offset: count(end),
                high_watermark: count(controller.map_or(0, |controller| controller.high_watermark())),
                tail: tail.collect(),
                cut_off: self.is_cut_off(id),
                menu: self.menu(id, machine),
            })
        };
        seen.world().machines().filter_map(view).collect()
    }

    /// Names of the topics that are shown as columns: in the order in which they were made.
    fn topics(&self) -> Vec<TopicView> {
        let Some(image) = self.seen.image() else { return Vec::new() };
        let shown = image.topics.iter().filter(|(_, topic)| {
            !topic.name.starts_with("__") || self.chosen.opened.iter().any(|name| **name == *topic.name)
        });
        shown
            .map(|(id, topic)| {
                let min = image.min_insync_replicas(*id, self.seen.world().config());
                let partitions = topic.partitions.iter().enumerate();
                TopicView {
                    name: topic.name.to_string(),
                    internal: topic.name.starts_with("__"),
                    replication_factor: topic.partitions.first().map_or(0, |p| p.replicas.len() as u32),
                    min_insync_replicas: min,
                    partitions: partitions
                        .map(|(number, partition)| {
                            self.partition(Tp { topic: *id, partition: number as u32 }, partition, min)
                        })
                        .collect(),
                }
            })
            .collect()
    }

    fn log(&self, broker: BrokerId, tp: Tp) -> Option<&Log> {
        self.seen.machine(NodeId::Broker(broker))?.disk.log(tp)
    }

    fn partition(&self, tp: Tp, partition: &PartitionRegistration, min: u32) -> PartitionView {
        let end = partition
            .replicas
            .iter()
            .filter_map(|broker| self.log(*broker, tp))
            .map(Log::end_offset)
            .max()
            .unwrap_or(0);
        let replicas = partition.replicas.len();
        let isr = partition.isr.len();
        PartitionView {
            partition: tp.partition,
            leader: partition.leader.map(|leader| leader.0),
            leader_epoch: partition.leader_epoch.0.max(0) as u32,
            partition_epoch: partition.partition_epoch.0.max(0) as u32,
            isr: ids(&partition.isr),
            elr: ids(&partition.elr),
            last_known_leader: partition.last_known_elr.first().filter(|_| partition.leader.is_none()).map(|id| id.0),
            replicas: ids(&partition.replicas),
            isr_health: match partition.leader {
                None => IsrHealth::Offline,
                Some(_) if (isr as u32) < min.min(replicas as u32) => IsrHealth::BelowMin,
                Some(_) if isr < replicas => IsrHealth::Reduced,
                Some(_) => IsrHealth::Full,
            },
            high_watermark: count(self.seen.partition_high_watermark(tp, partition.leader)),
            first_shown: count(end - LOG_TAIL as i64),
        }
    }

    fn internal(&self) -> Vec<InternalTopic> {
        let Some(image) = self.seen.image() else { return Vec::new() };
        let internal = image.topics.values().filter(|topic| topic.name.starts_with("__"));
        internal
            .map(|topic| InternalTopic {
                name: topic.name.to_string(),
                partitions: topic.partitions.len() as u32,
                replication_factor: topic.partitions.first().map_or(0, |p| p.replicas.len() as u32),
                opened: self.chosen.opened.iter().any(|name| **name == *topic.name),
                outlined: if &*topic.name == CONSUMER_OFFSETS {
                    self.group().map(|group| self.seen.group_partition(&group))
                } else {
                    None
                },
            })
            .collect()
    }

    fn brokers(&self, topics: &[TopicView], internal: &[InternalTopic]) -> Vec<BrokerView> {
        let seen = self.seen;
        let view = |(id, machine): (NodeId, &Machine)| {
            let NodeId::Broker(broker) = id else { return None };
            let registration = seen.image().and_then(|image| image.brokers.get(&broker));
            let rack = if let Role::Broker { rack } = &machine.role {
                rack.as_ref().map(|rack| rack.to_string())
            } else {
                None
            };
            let fenced_since = || {
                let fits = |kind: &Kind| {
                    matches!(
                        kind,
                        Kind::BrokerFenced { broker: other, .. }
                            | Kind::BrokerRegistered { broker: other, .. }
                            if *other == broker
                    )
                };
                seen.last_turn(|entry| fits(&entry.kind)).map_or(0, |entry| seen.us(entry.at))
            };
            Some(BrokerView {
                id: broker.0,
                rack,
                process: process(seen, id, machine),
                standing: match registration {
                    None => BrokerStanding::Unregistered,
                    Some(r) if r.fenced => BrokerStanding::Fenced { since_us: fenced_since() },
                    Some(r) if r.in_controlled_shutdown => BrokerStanding::ControlledShutdown,
                    Some(_) => BrokerStanding::Active,
                },
                phase: self.phase(broker, machine),
                restarting: machine.restarting,
                broker_epoch: registration.map(|r| count(r.epoch.0)),
                fenced_in_us: fenced_at(seen.world(), broker).map(|at| at.since(seen.now()).0),
                cut_off: self.is_cut_off(id),
                menu: self.menu(id, machine),
                replicas: self.replicas(broker, topics),
                internal: internal.iter().map(|topic| self.strip(broker, topic)).collect(),
            })
        };
        seen.world().machines().filter_map(view).collect()
    }

    fn phase(&self, broker: BrokerId, machine: &Machine) -> Option<BrokerPhase> {
        Some(match machine.broker()?.state() {
            BrokerState::Starting => BrokerPhase::Registering { refused: self.refused(broker, machine) },
            BrokerState::Recovery => BrokerPhase::CatchingUp,
            BrokerState::Running => BrokerPhase::AtWork,
            BrokerState::PendingControlledShutdown => {
                let partitions = self.seen.image().into_iter().flat_map(|image| image.topics.values());
                let led = partitions.flat_map(|topic| &topic.partitions).filter(|p| p.leader == Some(broker));
                BrokerPhase::HandingOver { leads: led.count() as u32 }
            }
            BrokerState::ShuttingDown => BrokerPhase::ShuttingDown,
        })
    }

    /// With what the active controller refused this process last.
    fn refused(&self, broker: BrokerId, machine: &Machine) -> Option<Term> {
        let since = self.seen.reel().entries_until(machine.since);
        let notable = self.seen.reel().notable();
        let end = notable.partition_point(|entry| *entry < self.seen.n_entries());
        let mut entries = notable[..end].iter().rev().take_while(|entry| **entry >= since);
        entries.find_map(|entry| match &self.seen.reel().get(*entry)?.kind {
            Kind::RegistrationRefused { broker: other, error } if *other == broker => Some(error.name().into()),
            _other => None,
        })
    }

    fn replicas(&self, broker: BrokerId, topics: &[TopicView]) -> Vec<ReplicaView> {
        let Some(image) = self.seen.image() else { return Vec::new() };
        let mut views = Vec::new();
        for topic in topics {
            let Some(id) = image.topic_id(&topic.name) else { continue };
            for column in &topic.partitions {
                let tp = Tp { topic: id, partition: column.partition };
                if let Some(partition) = image.partition(tp).filter(|partition| partition.replicas.contains(&broker)) {
                    views.push(self.replica(broker, tp, partition, column));
                }
            }
        }
        views
    }

    fn role(&self, broker: BrokerId, tp: Tp, partition: &PartitionRegistration) -> ReplicaRole {
        let believes = self
            .seen
            .world()
            .broker(broker)
            .and_then(|process| process.replica(tp))
            .is_some_and(|view| view.role == EngineReplica::Leader);
        if self.seen.is_down(broker) {
            ReplicaRole::Offline
        } else if partition.leader == Some(broker) {
            ReplicaRole::Leader
        } else if believes {
            ReplicaRole::StaleLeader
        } else if partition.isr.contains(&broker) {
            ReplicaRole::InSync
        } else {
            ReplicaRole::OutOfSync
        }
    }

    fn replica(
        &self,
        broker: BrokerId,
        tp: Tp,
        partition: &PartitionRegistration,
        column: &PartitionView,
    ) -> ReplicaView {
        let log = self.log(broker, tp);
        let high_watermark = self.seen.high_watermark(broker, tp);
        let epoch =
            self.seen.world().broker(broker).and_then(|process| process.replica(tp)).map(|view| view.leader_epoch.0);
        ReplicaView {
            partition: self.seen.partition(tp),
            role: self.role(broker, tp, partition),
            preferred: partition.replicas.first() == Some(&broker),
            eligible: partition.elr.contains(&broker),
            log_start_offset: count(log.map_or(0, Log::start_offset)),
            log_end_offset: count(log.map_or(0, Log::end_offset)),
            high_watermark: count(high_watermark),
            leader_epoch: epoch.or_else(|| log.and_then(Log::latest_epoch)).unwrap_or(0).max(0) as u32,
            cells: cells(log, column.first_shown as i64, high_watermark, self.seen.is_down(broker), self.ledger),
        }
    }

    fn strip(&self, broker: BrokerId, topic: &InternalTopic) -> InternalStrip {
        let mut strip =
            InternalStrip { topic: topic.name.clone(), squares: Vec::new(), nowhere_else: 0, leaderless: 0 };
        let Some((id, image)) = self.seen.image().and_then(|image| Some((image.topic_id(&topic.name)?, image))) else {
            return strip;
        };
        for number in 0..topic.partitions {
            let tp = Tp { topic: id, partition: number };
            let Some(partition) = image.partition(tp).filter(|partition| partition.replicas.contains(&broker)) else {
                continue;
            };
            strip.nowhere_else += u32::from(partition.replicas.len() == 1);
            strip.leaderless += u32::from(partition.leader.is_none());
            strip.squares.push(InternalSquare {
                partition: number,
                role: self.role(broker, tp, partition),
                outlined: topic.outlined == Some(number),
            });
        }
        strip
    }

    fn cuts(&self) -> Vec<CutView> {
        let seen = self.seen;
        let all: Set<(NodeId, NodeId)> = Set::from_iter(seen.world().network().cuts());
        let since = |a: NodeId, b: NodeId| since(seen, a, |kind| *kind == Kind::LinkCut { to: b }).unwrap_or(0);
        all.iter()
            .filter(|(a, b)| a < b || !all.contains(&(*b, *a)))
            .map(|(a, b)| CutView {
                a: seen.node(*a),
                b: seen.node(*b),
                one_way: !all.contains(&(*b, *a)),
                since_us: since(*a, *b),
            })
            .collect()
    }

    fn links(&self) -> Vec<LinkView> {
        let seen = self.seen;
        let network = seen.world().network();
        let default = network.default_setup();
        let nodes: Vec<NodeId> = seen.world().machines().map(|(id, _)| id).collect();
        let mut links = Vec::new();
        for (index, a) in nodes.iter().enumerate() {
            for b in &nodes[index + 1..] {
                let setup = network.link_setup(*a, *b);
                if setup != default {
                    let (latency_us, jitter_us) = (setup.latency.0, setup.jitter.0);
                    links.push(LinkView {
                        a: seen.node(*a),
                        b: seen.node(*b),
                        latency_us,
                        jitter_us,
                        loss_permille: setup.loss_per_million / 1_000,
                    });
                }
            }
        }
        links
    }
}

fn quorum_role(role: EngineRole, active: bool) -> QuorumRole {
    match role {
        EngineRole::Leader if active => QuorumRole::Active,
        EngineRole::Leader => QuorumRole::Leader,
        EngineRole::Follower => QuorumRole::Follower,
        EngineRole::Candidate => QuorumRole::Candidate,
        EngineRole::Prospective => QuorumRole::Prospective,
        EngineRole::Unattached => QuorumRole::Unattached,
        EngineRole::Resigned => QuorumRole::Resigned,
    }
}

/// The tail of one log on the axis of its column.
fn cells(log: Option<&Log>, first: i64, high_watermark: i64, down: bool, ledger: &Ledger) -> Vec<RecordCell> {
    let mut cells = vec![RecordCell::Empty; LOG_TAIL];
    let Some(log) = log else { return cells };
    for batch in log.batches_from(first.max(log.start_offset())) {
        for index in 0..batch.count() {
            let offset = batch.base_offset + index;
            let Some(cell) = usize::try_from(offset - first).ok().and_then(|place| cells.get_mut(place)) else {
                continue;
            };
            let tag = batch.data().get(index as usize).map(|record| record.tag);
            *cell = match tag {
                Some(tag) if ledger.is_lost(tag) => RecordCell::AckedLost,
                // What a dead broker last wrote down of its high watermark is old; what is safe elsewhere is safe here
                // too.
                Some(tag) if down && ledger.is_safe(tag) => RecordCell::Safe,
                _ if offset < high_watermark => RecordCell::Safe,
                Some(tag) if ledger.is_acked(tag) => RecordCell::NotSafeAcked,
                Some(_) | None => RecordCell::NotSafe,
            };
        }
    }
    cells
}
