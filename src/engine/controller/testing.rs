//! A bench for the controller: a quorum of one, so that every decision is committed at once, and brokers that exist
//! only as requests.
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Controller, ControllerStart};
use crate::base::{
    BrokerEpoch, BrokerId, ControllerId, CorrelationId, Dur, Incarnation, LeaderEpoch, Map, NodeId, PartitionEpoch,
    SimTime, TopicId, Tp,
};
use crate::node::testing::TestNode;
use crate::node::{Body, Channel, ConnId, Direction, Effect, Event};
use crate::protocol::config::{NodeConfig, config_map};
use crate::protocol::{
    AlterPartitionItem, AlterPartitionRequest, AlteredPartition, AssignReplicasToDirsRequest, BrokerHeartbeatRequest,
    BrokerRegistrationRequest, ClusterRequest, ClusterResponse, ControllerRequest, ControllerResponse,
    CreateTopicRequest, ErrorCode, LeaderRecoveryState, MetadataRecord, PartitionRegistration, Payload, Placement,
    Request, Response,
};
use crate::rules::Version;

pub(super) const ME: NodeId = NodeId::Controller(ControllerId(1));
/// The topic of [`Bench::topic`].
pub(super) const T: Tp = Tp { topic: TopicId(1), partition: 0 };

pub(super) fn ids(list: &[u32]) -> Vec<BrokerId> {
    list.iter().map(|id| BrokerId(*id)).collect()
}

pub(super) struct Bench {
    pub node: TestNode,
    pub controller: Controller,
    asked: u32,
    incarnations: u32,
    /// Log directories of brokers; 0 where none is given.
    pub directories: Map<u32, u32>,
}

impl Bench {
    pub fn new(version: Version, config: &[(&str, &str)]) -> Bench {
        let mut node = TestNode::new(ME);
        let config = Rc::new(NodeConfig::parse(&config_map(config)).expect("a valid configuration"));
        let id = ControllerId(1);
        let start =
            ControllerStart { id, incarnation: Incarnation(1), config, rules: version.rules(), voters: [id].to_vec() };
        let controller = Controller::start(&mut node.ctx(), start);
        Bench { node, controller, asked: 0, incarnations: 0, directories: Map::new() }
    }

    /// With brokers 1 to n unfenced and a topic of one partition on them.
    pub fn cluster(version: Version, brokers: u32, replicas: &[u32], min_isr: &str) -> Bench {
        let mut bench = Bench::new(version, &[("leader.imbalance.check.interval.seconds", "300")]);
        for id in 1..=brokers {
            bench.up(id, None);
        }
        assert_eq!(bench.topic("t", replicas, &[("min.insync.replicas", min_isr)]), ErrorCode::None);
        bench
    }

    pub fn ask(&mut self, broker: u32, body: Request) -> Response {
        self.try_ask(broker, body).expect("an answer")
    }

    pub fn try_ask(&mut self, broker: u32, body: Request) -> Option<Response> {
        self.asked += 1;
        let conn = ConnId {
            client: NodeId::Broker(BrokerId(broker)),
            server: ME,
            channel: Channel::Lifecycle,
            generation: self.asked,
        };
        self.controller.on_event(&mut self.node.ctx(), Event::Request { conn, correlation: CorrelationId(1), body });
        self.node.effects.drain(..).find_map(|effect| match effect {
            Effect::Send { conn: to, direction: Direction::Response, body: Body::Response(response), .. }
                if to == conn =>
            {
                Some(response)
            }
            Effect::Send { .. } | Effect::Close { .. } | Effect::Exit { .. } => None,
        })
    }

    /// Moves the clock, firing what is due on the way.
    pub fn run_until(&mut self, ms: u64) {
        let end = SimTime(ms * 1_000);
        while let Some(at) = self.node.timers.next_at().filter(|at| *at <= end) {
            self.node.now = at;
            if let Some((timer, cause)) = self.node.timers.pop_due(at) {
                let mut ctx = self.node.ctx();
                ctx.cause = cause;
                self.controller.on_event(&mut ctx, Event::Timer(timer));
            }
        }
        self.node.now = end;
    }
    /// Moves the clock and lets these brokers send their heartbeats each 2 s meanwhile.
    pub fn run_with(&mut self, alive: &[u32], span: Dur) {
        let end = self.node.now + span;
        while self.node.now < end {
            for id in alive {
                self.beat(*id, false, false);
            }
            let next = (self.node.now + Dur::secs(2)).min(end);
            self.run_until(next.0 / 1_000);
        }
    }

    pub fn register(&mut self, id: u32, previous: Option<BrokerEpoch>) -> (ErrorCode, BrokerEpoch) {
        self.incarnations += 1;
        let request = BrokerRegistrationRequest {
            broker: BrokerId(id),
            incarnation: Incarnation(self.incarnations),
            rack: None,
            directory: self.directories.get(&id).copied().unwrap_or(0),
            previous_broker_epoch: previous,
        };
        match self.ask(id, Request::Controller(ControllerRequest::BrokerRegistration(request))) {
            Response::Controller(ControllerResponse::BrokerRegistration { error, epoch }) => (error, epoch),
            other => panic!("{other:?}"),
        }
    }
    /// A broker tells the controller in which directory its replica of the only partition is.
    pub fn assign(&mut self, id: u32) -> ErrorCode {
        let (broker, broker_epoch) = (BrokerId(id), self.epoch(id));
        let directory = self.directories.get(&id).copied().unwrap_or(0);
        let partitions = [T].to_vec();
        let request = AssignReplicasToDirsRequest { broker, broker_epoch, directory, partitions };
        self.ask(id, Request::Controller(ControllerRequest::AssignReplicasToDirs(request))).error()
    }
    pub fn epoch(&self, id: u32) -> BrokerEpoch {
        self.controller.image.brokers.get(&BrokerId(id)).map_or(BrokerEpoch(-1), |b| b.epoch)
    }
    pub fn heartbeat(
        &mut self,
        id: u32,
        epoch: BrokerEpoch,
        offset: i64,
        want_fence: bool,
        want_shut_down: bool,
    ) -> (ErrorCode, bool, bool) {
        let request = BrokerHeartbeatRequest {
            broker: BrokerId(id),
            epoch,
            current_metadata_offset: offset,
            want_fence,
            want_shut_down,
        };
        match self.ask(id, Request::Controller(ControllerRequest::BrokerHeartbeat(request))) {
            Response::Controller(ControllerResponse::BrokerHeartbeat {
                error, is_fenced, should_shut_down, ..
            }) => (error, is_fenced, should_shut_down),
            other => panic!("{other:?}"),
        }
    }
    /// A heartbeat of a broker that has applied everything.
    pub fn beat(&mut self, id: u32, want_fence: bool, want_shut_down: bool) -> (ErrorCode, bool, bool) {
        let (epoch, offset) = (self.epoch(id), self.end());
        self.heartbeat(id, epoch, offset, want_fence, want_shut_down)
    }
    /// Registers and unfences.
    pub fn up(&mut self, id: u32, previous: Option<BrokerEpoch>) {
        assert_eq!(self.register(id, previous).0, ErrorCode::None, "broker {id}");
        assert_eq!(self.beat(id, false, false), (ErrorCode::None, false, false));
    }
    /// Fences a broker as a session check would, without its time.
    pub fn fence(&mut self, id: u32) {
        assert_eq!(self.beat(id, true, false), (ErrorCode::None, true, false));
        self.forget(id);
    }
    /// The session of a broker is over.
    pub fn forget(&mut self, id: u32) {
        let epoch = self.epoch(id);
        self.controller.active.as_mut().expect("active").sessions.register(BrokerId(id), epoch);
    }
    pub fn end(&self) -> i64 {
        self.node.disk.metadata_log.end_offset()
    }
    pub fn topic(&mut self, name: &str, replicas: &[u32], configs: &[(&str, &str)]) -> ErrorCode {
        self.create(name, Placement::Manual([(0, ids(replicas))].to_vec()), configs)
    }
    pub fn create(&mut self, name: &str, placement: Placement, configs: &[(&str, &str)]) -> ErrorCode {
        let request =
            CreateTopicRequest { name: name.into(), placement, configs: config_map(configs), timeout: Dur::secs(30) };
        match self.ask(1, Request::Controller(ControllerRequest::Envelope(ClusterRequest::CreateTopics(request)))) {
            Response::Cluster(ClusterResponse::CreateTopics(answer)) => answer.error,
            other => panic!("{other:?}"),
        }
    }
    pub fn partition(&self) -> PartitionRegistration {
        self.controller.image.partition(T).expect("a partition").clone()
    }
    /// Leader (0: none), its epoch, ISR, ELR, last known leader of partition 0 of the first topic.
    pub fn state(&self) -> (u32, i32, Vec<u32>, Vec<u32>, Vec<u32>) {
        let p = self.partition();
        let plain = |list: &[BrokerId]| list.iter().map(|b| b.0).collect::<Vec<_>>();
        (p.leader.map_or(0, |b| b.0), p.leader_epoch.0, plain(&p.isr), plain(&p.elr), plain(&p.last_known_elr))
    }
    pub fn item(&self, isr: &[u32]) -> AlterPartitionItem {
        let p = self.partition();
        let new_isr = isr.iter().map(|id| (BrokerId(*id), Some(self.epoch(*id)))).collect();
        AlterPartitionItem {
            tp: T,
            leader_epoch: p.leader_epoch,
            partition_epoch: p.partition_epoch,
            new_isr,
            leader_recovery: LeaderRecoveryState::Recovered,
        }
    }
    pub fn alter(&mut self, sender: u32, item: AlterPartitionItem) -> (ErrorCode, Option<AlteredPartition>) {
        let request = AlterPartitionRequest {
            broker: BrokerId(sender),
            broker_epoch: self.epoch(sender),
            partitions: [item].to_vec(),
        };
        match self.ask(sender, Request::Controller(ControllerRequest::AlterPartition(request))) {
            Response::Controller(ControllerResponse::AlterPartition { error, mut partitions }) => {
                (error, partitions.pop())
            }
            other => panic!("{other:?}"),
        }
    }
    /// The error of a change that the leader asks for with the epochs as known, moved by these.
    pub fn alter_error(&mut self, sender: u32, leader_epoch: i32, partition_epoch: i32, isr: &[u32]) -> ErrorCode {
        let mut item = self.item(isr);
        item.leader_epoch = LeaderEpoch(item.leader_epoch.0 + leader_epoch);
        item.partition_epoch = PartitionEpoch(item.partition_epoch.0 + partition_epoch);
        self.alter(sender, item).1.expect("one partition").error
    }
    pub fn isr(&mut self, isr: &[u32]) {
        let leader = self.partition().leader.expect("a leader").0;
        let item = self.item(isr);
        assert_eq!(self.alter(leader, item).1.map(|p| p.error), Some(ErrorCode::None));
    }

    /// The records from an offset on, one batch an entry, in words.
    pub fn batches(&self, from: i64) -> Vec<Vec<String>> {
        let log = &self.node.disk.metadata_log;
        let words = |records: &[MetadataRecord]| records.iter().map(word).collect::<Vec<String>>();
        let in_words = log.batches_from(from).filter(|b| b.base_offset >= from).map(|batch| match &batch.payload {
            Payload::Metadata(records) => words(records),
            Payload::Data(_) | Payload::Group(_) | Payload::LeaderChange => Vec::new(),
        });
        in_words.filter(|batch| *batch != ["NoOp"]).collect()
    }
}

fn word(record: &MetadataRecord) -> String {
    match record {
        MetadataRecord::PartitionChange(change) => {
            let mut text = alloc::format!("{}-{}", change.tp.topic, change.tp.partition);
            let list = |list: &[BrokerId]| list.iter().map(|b| alloc::format!("{b}")).collect::<Vec<_>>().join(",");
            if let Some(isr) = &change.isr {
                text += &alloc::format!(" isr {}", list(isr));
            }
            if let Some(leader) = &change.leader {
                text += &alloc::format!(" leader {}", leader.map_or("none".into(), |l| alloc::format!("{l}")));
            }
            if let Some(elr) = &change.elr {
                text += &alloc::format!(" elr {}", list(elr));
            }
            if let Some(known) = &change.last_known_elr {
                text += &alloc::format!(" known {}", list(known));
            }
            if change.directories.is_some() {
                text += " directories";
            }
            if let Some(recovery) = change.leader_recovery {
                text += if recovery == LeaderRecoveryState::Recovering { " recovering" } else { " recovered" };
            }
            text
        }
        MetadataRecord::RegisterBroker { broker, .. } => alloc::format!("register {broker}"),
        MetadataRecord::BrokerRegistrationChange { broker, fenced: Some(true), .. } => alloc::format!("fence {broker}"),
        MetadataRecord::BrokerRegistrationChange { broker, fenced: Some(false), .. } => {
            alloc::format!("unfence {broker}")
        }
        MetadataRecord::BrokerRegistrationChange { broker, fenced: None, .. } => alloc::format!("stopping {broker}"),
        MetadataRecord::Config { name, value, .. } => alloc::format!("{name}={}", value.as_deref().unwrap_or("")),
        other => super::record_name(other).into(),
    }
}
