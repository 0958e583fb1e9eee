//! A small cluster to test with: boots, acts, waits, asks. It asserts nothing about Kafka.

use std::rc::Rc;

use highwater_engine::base::{ActionId, BrokerId, Dur, NodeId, Offset, Tag, Tp};
use highwater_engine::client::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{Api, CreateTopicRequest, ErrorCode, Placement};
use highwater_engine::rules::{Broken, Version};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, BrokerSetup, Deed, LinkSetup, Pick, Setup, World};

/// A world with everything that it ever noticed.
pub struct Cluster {
    pub world: World,
    pub trace: Vec<TraceEntry>,
}

pub fn broker(id: u32) -> NodeId {
    NodeId::Broker(BrokerId(id))
}

/// Three brokers, three controllers, no delay for first rebalances.
pub fn setup(seed: u64) -> Setup {
    Setup {
        seed,
        version: Version::V4_1,
        controllers: 3,
        brokers: (1..=3).map(|id| BrokerSetup { id: BrokerId(id), rack: None, started: true }).collect(),
        config: config_map(&[("group.initial.rebalance.delay.ms", "0")]),
        link: LinkSetup::default(),
        broken: Broken::NOTHING,
    }
}

impl Cluster {
    pub fn boot(seed: u64) -> Cluster {
        Cluster::with(&setup(seed))
    }

    pub fn with(setup: &Setup) -> Cluster {
        Cluster { world: World::boot(setup).expect("the set-up is possible"), trace: Vec::new() }
    }

    pub fn act(&mut self, action: Action) -> ActionId {
        self.world.act(action, &mut self.trace).expect("the action is possible")
    }

    pub fn run(&mut self, span: Dur) {
        let until = self.world.now() + span;
        self.world.run_until(until, &mut self.trace);
    }

    /// Runs until the condition holds, at most `limit`. Answers whether it did.
    pub fn until(&mut self, limit: Dur, mut holds: impl FnMut(&Cluster) -> bool) -> bool {
        let end = self.world.now() + limit;
        while !holds(self) {
            if self.world.next_event_at().is_none_or(|at| at > end) {
                return false;
            }
            self.world.step(&mut self.trace);
        }
        true
    }

    /// Asks as an administrator and waits for the answer.
    pub fn admin(&mut self, request: AdminRequest) -> ErrorCode {
        let action = self.act(Action::Admin(request));
        self.until(Dur::secs(120), |c| c.answered(action).is_some());
        self.answered(action).expect("an administrator always gets an answer, if only a time-out")
    }

    pub fn answered(&self, action: ActionId) -> Option<ErrorCode> {
        self.trace.iter().rev().find_map(|entry| match entry.kind {
            Kind::ActionAnswered { action: a, error, .. } if a == action => Some(error),
            _ => None,
        })
    }

    /// A topic of one partition with replicas on brokers 1, 2, 3, led by 1.
    pub fn topic(&mut self, name: &str, min_isr: u32) -> Tp {
        let placement = Placement::Manual(vec![(0, vec![BrokerId(1), BrokerId(2), BrokerId(3)])]);
        let configs = config_map(&[("min.insync.replicas", if min_isr == 1 { "1" } else { "2" })]);
        let request = CreateTopicRequest { name: name.into(), placement, configs, timeout: Dur::secs(15) };
        assert_eq!(self.admin(AdminRequest::CreateTopic(request)), ErrorCode::None);
        let leads = |c: &Cluster, tp| c.world.broker(BrokerId(1)).and_then(|b| b.leader_epoch(tp)).is_some();
        let tp = Tp { topic: self.image_topic(name), partition: 0 };
        assert!(self.until(Dur::secs(5), |c| leads(c, tp)), "brokers learn of the topic");
        tp
    }

    fn image_topic(&self, name: &str) -> highwater_engine::base::TopicId {
        let active = self.world.active_controller().expect("a controller is active");
        self.world.controller(active).and_then(|c| c.image().topic_id(name)).expect("the topic exists")
    }

    pub fn producer(&mut self, name: &str, config: &[(&str, &str)]) {
        let spec = ProducerSpec {
            version: ClientVersion::V4_1,
            config: config_map(config),
            topic: None,
            partition: None,
            rate: 0,
            keys: Keys::None,
            value_size: 10,
        };
        self.act(Action::StartProducer { name: name.into(), spec });
    }

    pub fn produce(&mut self, client: &str, topic: &str, prefix: &str, count: u32, every: Dur) {
        let action = Action::Produce {
            client: client.into(),
            topic: topic.into(),
            partition: Some(0),
            key: None,
            values: Values::Numbered(prefix.into()),
            count,
            every,
        };
        self.act(action);
    }

    pub fn consumer(&mut self, name: &str, group: &str, topic: &str) {
        let spec = ConsumerSpec {
            version: ClientVersion::V4_1,
            poll: PollForm::Duration,
            group: group.into(),
            topics: vec![Rc::from(topic)],
            config: config_map(&[("auto.offset.reset", "earliest"), ("session.timeout.ms", "10000")]),
            poll_every: Dur::ms(200),
            commit_every: Some(Dur::secs(1)),
        };
        self.act(Action::Join { name: name.into(), spec });
    }

    /// Loses the next message of this API and direction.
    pub fn lose_next(&mut self, api: Api, response: bool) {
        let which = Pick { api, response, from: None, to: None, nth: 1 };
        self.act(Action::Message { which, deed: Deed::Drop });
    }

    pub fn acked(&self) -> Vec<(Tag, Offset)> {
        self.trace
            .iter()
            .filter_map(|e| if let Kind::RecordAcked { tag, offset, .. } = e.kind { Some((tag, offset)) } else { None })
            .collect()
    }

    pub fn failed(&self) -> Vec<&'static str> {
        self.trace
            .iter()
            .filter_map(|e| if let Kind::RecordFailed { exception, .. } = e.kind { Some(exception) } else { None })
            .collect()
    }

    pub fn delivered(&self) -> usize {
        self.trace.iter().filter(|e| matches!(e.kind, Kind::RecordDelivered { .. })).count()
    }

    pub fn log_end(&self, node: NodeId, tp: Tp) -> Offset {
        self.world.machine(node).and_then(|m| m.disk.log(tp)).map_or(0, |log| log.end_offset())
    }

    pub fn recorded_leader(&self, tp: Tp) -> Option<u32> {
        self.recorded(tp, |p| p.leader.map(|b| b.0)).flatten()
    }

    pub fn recorded<R>(
        &self,
        tp: Tp,
        f: impl Fn(&highwater_engine::protocol::PartitionRegistration) -> R,
    ) -> Option<R> {
        let active = self.world.active_controller()?;
        self.world.controller(active)?.image().partition(tp).map(f)
    }

    /// Whether anything of this kind was noticed so far.
    pub fn saw(&self, is: impl Fn(&Kind) -> bool) -> bool {
        self.trace.iter().any(|e| is(&e.kind))
    }
}
