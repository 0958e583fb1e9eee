//! What one seed of the swarm stands for: a cluster, its traffic, and a subset of faults. Runs nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use highwater_engine::base::{BrokerId, ControllerId, Dur, NodeId, Rng, StreamId};
use highwater_engine::client::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{ConfigMap, ConfigTarget, CreateTopicRequest, Placement};
use highwater_engine::rules::{Broken, Version};
use highwater_engine::world::{Action, BrokerSetup, LinkSetup, Setup};

/// Everything that a run is made of: enough to play it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    pub setup: Setup,
    /// Actions at times after the origin, in order.
    pub actions: Vec<(Dur, Action)>,
    /// When faults end and everything is healed.
    pub heal_at: Dur,
    pub producers: Vec<Rc<str>>,
}

/// Which kinds of fault this run has; a run with all of them at once hides more than it finds.
#[derive(Clone, Copy, Debug)]
struct Faults {
    kill: bool,
    stop: bool,
    pause: bool,
    cut: bool,
    one_way: bool,
    lossy: bool,
    controllers: bool,
    clients: bool,
    unclean: bool,
    elections: bool,
}

const TRAFFIC: Dur = Dur::secs(60);

/// The run of a seed.
pub fn draw(seed: u64) -> Draw {
    let mut rng = Rng::stream(seed, StreamId::World);
    let mut chance = |percent: u32| rng.below(100) < percent;
    let faults = Faults {
        kill: chance(70),
        stop: chance(40),
        pause: chance(40),
        cut: chance(50),
        one_way: chance(30),
        lossy: chance(30),
        controllers: chance(40),
        clients: chance(30),
        unclean: chance(15),
        elections: chance(30),
    };
    let n_brokers = 3 + rng.below(2);
    let controllers = if rng.below(4) == 0 { 1 } else { 3 };
    let version = match rng.below(10) {
        0 => Version::V3_6,
        1 => Version::V3_9,
        _ => Version::V4_1,
    };
    let offsets_replication = 1 + rng.below(3);
    let offsets_partitions = [1, 3, 10][rng.below(3) as usize];
    let mut config = vec![
        ("offsets.topic.replication.factor".to_string(), offsets_replication.to_string()),
        ("offsets.topic.num.partitions".to_string(), offsets_partitions.to_string()),
        ("group.initial.rebalance.delay.ms".to_string(), ["0", "3000"][rng.below(2) as usize].to_string()),
    ];
    if rng.below(3) == 0 {
        config.push(("replica.lag.time.max.ms".to_string(), "10000".to_string()));
    }
    if rng.below(4) == 0 {
        config.push(("leader.imbalance.check.interval.seconds".to_string(), "10".to_string()));
    }
    if faults.unclean {
        config.push(("unclean.leader.election.enable".to_string(), "true".to_string()));
    }
    let config: ConfigMap = config.iter().map(|(k, v)| (Rc::from(k.as_str()), Rc::from(v.as_str()))).collect();
    let brokers: Vec<BrokerSetup> = (1..=n_brokers).map(|id| BrokerSetup { id: BrokerId(id), rack: None, started: true }).collect();
    let link = LinkSetup {
        latency: Dur::us(200 + u64::from(rng.below(3_000))),
        jitter: Dur::us(u64::from(rng.below(2_000))),
        loss_per_million: if faults.lossy { rng.below(20_000) } else { 0 },
    };
    let setup = Setup { seed, version, controllers, brokers, config, link, broken: Broken::NOTHING };

    let mut actions: Vec<(Dur, Action)> = Vec::new();
    let mut producers = Vec::new();
    traffic(&mut rng, &mut actions, &mut producers, n_brokers, faults);
    fault_schedule(&mut rng, &mut actions, n_brokers, controllers, faults);
    actions.sort_by_key(|(at, _)| *at);
    Draw { setup, actions, heal_at: TRAFFIC, producers }
}

fn traffic(rng: &mut Rng, actions: &mut Vec<(Dur, Action)>, producers: &mut Vec<Rc<str>>, n_brokers: u32, faults: Faults) {
    let n_topics = 1 + rng.below(2);
    let mut topics: Vec<Rc<str>> = Vec::new();
    for i in 0..n_topics {
        let name: Rc<str> = format!("t{i}").into();
        let replication_factor = 1 + rng.below(n_brokers.min(3)) as i16;
        let min_isr = 1 + rng.below(2);
        let configs = config_map(&[("min.insync.replicas", if min_isr == 1 { "1" } else { "2" })]);
        let placement = Placement::Counts { partitions: Some(1 + rng.below(3) as i32), replication_factor: Some(replication_factor) };
        let request = CreateTopicRequest { name: name.clone(), placement, configs, timeout: Dur::secs(15) };
        actions.push((Dur::ZERO, Action::Admin(AdminRequest::CreateTopic(request))));
        topics.push(name);
    }
    for i in 0..1 + rng.below(3) {
        let name: Rc<str> = format!("p{i}").into();
        let acks = ["all", "all", "1", "0"][rng.below(4) as usize];
        let idempotent = acks == "all" && rng.below(3) > 0;
        let mut config = vec![("acks", acks), ("enable.idempotence", if idempotent { "true" } else { "false" })];
        config.push(("linger.ms", ["0", "5", "50"][rng.below(3) as usize]));
        if rng.below(2) == 0 {
            config.extend([("request.timeout.ms", "5000"), ("delivery.timeout.ms", "20000")]);
        }
        let spec = ProducerSpec {
            version: ClientVersion::V4_1,
            config: config_map(&config),
            topic: Some(topics[rng.below(topics.len() as u32) as usize].clone()),
            partition: None,
            rate: 2 + rng.below(20),
            keys: [Keys::None, Keys::Even, Keys::Hot][rng.below(3) as usize].clone(),
            value_size: 20,
        };
        actions.push((Dur::ms(500), Action::StartProducer { name: name.clone(), spec }));
        producers.push(name);
    }
    let n_members = 1 + rng.below(3);
    for i in 0..n_members {
        let name: Rc<str> = format!("c{i}").into();
        let mut config = vec![("auto.offset.reset", "earliest")];
        config.push(("session.timeout.ms", ["10000", "45000"][rng.below(2) as usize]));
        let spec = ConsumerSpec {
            version: [ClientVersion::V4_1, ClientVersion::V4_1, ClientVersion::V3_9, ClientVersion::V2_3][rng.below(4) as usize],
            poll: PollForm::Duration,
            group: "g".into(),
            topics: topics.clone(),
            config: config_map(&config),
            poll_every: Dur::ms(200),
            commit_every: Some(Dur::secs(1)),
        };
        actions.push((Dur::ms(800 + u64::from(rng.below(5_000))), Action::Join { name: name.clone(), spec }));
        if faults.clients && rng.below(2) == 0 {
            let at = Dur::secs(10 + u64::from(rng.below(40)));
            actions.push((at, if rng.below(2) == 0 { Action::KillClient { name } } else { Action::CloseClient { name } }));
        }
    }
}

fn fault_schedule(rng: &mut Rng, actions: &mut Vec<(Dur, Action)>, n_brokers: u32, controllers: u32, faults: Faults) {
    let mut at = Dur::secs(2 + u64::from(rng.below(8)));
    // Per node the moment until which a fault holds it, so that no action meets a node in a state that refuses it.
    let mut busy: BTreeMap<NodeId, Dur> = BTreeMap::new();
    while at < TRAFFIC {
        let node =
            if faults.controllers && rng.below(3) == 0 { NodeId::Controller(ControllerId(1 + rng.below(controllers))) } else { NodeId::Broker(BrokerId(1 + rng.below(n_brokers))) };
        let lasts = Dur::ms(100 + u64::from(rng.below(25_000)));
        let free = busy.get(&node).is_none_or(|until| *until < at);
        match rng.below(6) {
            0 | 1 if faults.kill && free => {
                actions.extend([(at, Action::Kill(node)), (at + lasts, Action::Start(node))]);
                busy.insert(node, at + lasts);
            }
            2 if faults.stop && free && matches!(node, NodeId::Broker(_)) => {
                // A controlled shutdown takes seconds; the start comes long after it, or is refused and tried again by the heal.
                let lasts = lasts + Dur::secs(6);
                actions.extend([(at, Action::Stop(node)), (at + lasts, Action::Start(node))]);
                busy.insert(node, at + lasts);
            }
            3 if faults.pause && free => {
                actions.extend([(at, Action::Pause(node)), (at + lasts, Action::Resume(node))]);
                busy.insert(node, at + lasts);
            }
            4 if faults.cut => {
                let others: Vec<NodeId> = (1..=n_brokers)
                    .map(|id| NodeId::Broker(BrokerId(id)))
                    .chain((1..=controllers).map(|id| NodeId::Controller(ControllerId(id))))
                    .filter(|n| *n != node && rng.below(3) > 0)
                    .collect();
                if !others.is_empty() {
                    let both = !faults.one_way || rng.below(2) == 0;
                    actions.push((at, Action::Cut { from: vec![node], to: others.clone(), both }));
                    actions.push((at + lasts, Action::Heal { from: vec![node], to: others, both }));
                }
            }
            5 if faults.elections => actions.push((at, Action::Admin(AdminRequest::ElectLeaders { topic: "t0".into(), partition: 0, unclean: false }))),
            5 if faults.unclean => {
                let configs = config_map(&[("min.insync.replicas", if rng.below(2) == 0 { "1" } else { "2" })]);
                actions.push((at, Action::Admin(AdminRequest::AlterConfigs { resource: ConfigTarget::Topic("t0".into()), configs })));
            }
            _ => {}
        }
        at = at + Dur::ms(500 + u64::from(rng.below(9_000)));
    }
    actions.retain(|(at, _)| *at < TRAFFIC);
}
