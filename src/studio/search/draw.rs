//! What one seed of the swarm stands for: a scenario with a cluster, its traffic, and a subset of faults. Runs nothing.

use highwater_engine::base::{Dur, Map, Rng, StreamId};
use highwater_engine::client::{Keys, PollForm};
use highwater_engine::rules::Version;
use highwater_engine::world::LinkSetup;

use crate::scenario::model::{
    At, Broker, Cluster, Config, Entry, Group, Member, Moment, Node, Nodes, Partition, Placement, Producer, Scenario,
    Sides, Target, Topic, Verb,
};

/// How long a run has traffic and faults, before everything is healed.
pub const TRAFFIC: Dur = Dur::secs(60);

/// Which kinds of fault a run has; one with all of them at once hides more than it finds.
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
    admin: bool,
}

struct Drawing {
    rng: Rng,
    faults: Faults,
    n_brokers: u32,
    n_controllers: u32,
    script: Vec<(Dur, Verb)>,
}

/// The run of a seed: the same scenario that a person could write, so that a failure has a link.
pub fn draw(seed: u64) -> Scenario {
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
        admin: chance(30),
    };
    let n_brokers = 3 + rng.below(2);
    let n_controllers = if rng.below(4) == 0 { 1 } else { 3 };
    let mut d = Drawing { rng, faults, n_brokers, n_controllers, script: Vec::new() };
    let rules = match d.rng.below(10) {
        0 => Version::V3_6,
        1 => Version::V3_9,
        _ => Version::V4_1,
    };
    let cluster = d.cluster();
    let topics = d.topics();
    let producers = d.producers(&topics);
    let groups = d.groups(&topics);
    d.faults();
    d.script.sort_by_key(|(at, _)| *at);
    let script =
        d.script.into_iter().map(|(at, verb)| Entry::doing(At::Absolute(Moment::after(at)), vec![verb])).collect();
    Scenario {
        engine: None,
        id: None,
        lang: None,
        title: None,
        about: None,
        rules,
        seed,
        cluster,
        topics,
        producers,
        groups,
        script,
    }
}

fn config(pairs: &[(&str, &str)]) -> Config {
    pairs.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect()
}

impl Drawing {
    fn one_of<'a, T: ?Sized>(&mut self, values: &[&'a T]) -> &'a T {
        values[self.rng.below(values.len() as u32) as usize]
    }

    fn cluster(&mut self) -> Cluster {
        let mut c = config(&[
            ("offsets.topic.replication.factor", self.one_of(&["1", "2", "3"])),
            ("offsets.topic.num.partitions", self.one_of(&["1", "3", "10"])),
            ("group.initial.rebalance.delay.ms", self.one_of(&["0", "3000"])),
        ]);
        if self.rng.below(3) == 0 {
            c.insert("replica.lag.time.max.ms".into(), "10000".into());
        }
        if self.rng.below(4) == 0 {
            c.insert("leader.imbalance.check.interval.seconds".into(), "10".into());
        }
        if self.faults.unclean {
            c.insert("unclean.leader.election.enable".into(), "true".into());
        }
        let link = LinkSetup {
            latency: Dur::us(200 + u64::from(self.rng.below(3_000))),
            jitter: Dur::us(u64::from(self.rng.below(2_000))),
            loss_per_million: if self.faults.lossy { 10_000 * self.rng.below(3) } else { 0 },
        };
        let brokers: Map<u32, Broker> = (1..=self.n_brokers).map(|id| (id, Broker::default())).collect();
        Cluster { controllers: self.n_controllers, brokers, config: c, link, links: Vec::new() }
    }

    fn topics(&mut self) -> Vec<(String, Topic)> {
        (0..1 + self.rng.below(2))
            .map(|i| {
                let placement = Placement::Counts {
                    partitions: Some(1 + self.rng.below(3)),
                    replication: Some(1 + self.rng.below(3)),
                };
                let topic = Topic {
                    placement,
                    config: config(&[("min.insync.replicas", self.one_of(&["1", "2"]))]),
                    created: Dur::ZERO,
                };
                (format!("t{i}"), topic)
            })
            .collect()
    }

    fn producers(&mut self, topics: &[(String, Topic)]) -> Vec<(String, Producer)> {
        (0..1 + self.rng.below(3))
            .map(|i| {
                let acks = self.one_of(&["all", "all", "1", "0"]);
                let idempotent = acks == "all" && self.rng.below(3) > 0;
                let mut c = config(&[
                    ("acks", acks),
                    ("enable.idempotence", if idempotent { "true" } else { "false" }),
                    ("linger.ms", self.one_of(&["0", "5", "50"])),
                ]);
                if self.rng.below(2) == 0 {
                    c.extend(config(&[("request.timeout.ms", "5000"), ("delivery.timeout.ms", "20000")]));
                }
                let topic = Some(topics[self.rng.below(topics.len() as u32) as usize].0.clone());
                let keys = match self.rng.below(3) {
                    0 => Keys::None,
                    1 => Keys::Even,
                    _ => Keys::Hot,
                };
                let producer = Producer {
                    topic,
                    rate: 2 + self.rng.below(20),
                    keys,
                    value_size: 20,
                    start: Some(Dur::ms(500)),
                    config: c,
                    ..Producer::default()
                };
                (format!("p{i}"), producer)
            })
            .collect()
    }

    fn groups(&mut self, topics: &[(String, Topic)]) -> Vec<(String, Group)> {
        let mut members = Vec::new();
        for i in 0..1 + self.rng.below(3) {
            let name = format!("c{i}");
            let member = Member {
                start: Some(Dur::ms(800 + u64::from(self.rng.below(5_000)))),
                client: Some(self.one_of(&["4.1", "4.1", "3.9", "2.3"]).to_string()),
                poll: Some(PollForm::Duration),
                config: config(&[("session.timeout.ms", self.one_of(&["10000", "45000"]))]),
            };
            if self.faults.clients && self.rng.below(2) == 0 {
                let at = Dur::secs(10 + u64::from(self.rng.below(40)));
                let verb =
                    if self.rng.below(2) == 0 { Verb::KillClient(name.clone()) } else { Verb::Leave(name.clone()) };
                self.script.push((at, verb));
            }
            members.push((name, member));
        }
        let group = Group {
            topics: topics.iter().map(|(name, _)| name.clone()).collect(),
            members,
            config: config(&[("auto.offset.reset", "earliest")]),
            ..Group::default()
        };
        vec![("g".to_string(), group)]
    }

    fn faults(&mut self) {
        let mut at = Dur::secs(2 + u64::from(self.rng.below(8)));
        // Per node the moment until which a fault holds it, so that no action meets a node in a state that refuses it.
        let mut busy: Map<(bool, u32), Dur> = Map::new();
        while at < TRAFFIC {
            let is_controller = self.faults.controllers && self.rng.below(3) == 0;
            let id = 1 + self.rng.below(if is_controller { self.n_controllers } else { self.n_brokers });
            let node = if is_controller { Node::Controller(id) } else { Node::Broker(id) };
            let lasts = Dur::ms(100 + u64::from(self.rng.below(25_000)));
            let is_free = busy.get(&(is_controller, id)).is_none_or(|until| *until < at);
            // A controlled shutdown takes seconds; the start comes long after it, or is refused and tried again by the
            // heal.
            let stopping = lasts + Dur::secs(6);
            let one = vec![node.clone()];
            match self.rng.below(6) {
                0 | 1 if self.faults.kill && is_free => {
                    self.script.extend([(at, Verb::Kill(one.clone())), (at + lasts, Verb::Start(one))]);
                    busy.insert((is_controller, id), at + lasts);
                }
                2 if self.faults.stop && is_free && !is_controller => {
                    self.script.extend([(at, Verb::Stop(one.clone())), (at + stopping, Verb::Start(one))]);
                    busy.insert((is_controller, id), at + stopping);
                }
                3 if self.faults.pause && is_free => {
                    self.script.extend([(at, Verb::Pause(one.clone())), (at + lasts, Verb::Resume(one))]);
                    busy.insert((is_controller, id), at + lasts);
                }
                4 if self.faults.cut => self.cut(at, lasts, node),
                5 if self.faults.admin => {
                    let verb = self.request();
                    self.script.push((at, verb));
                }
                _ => {}
            }
            at = at + Dur::ms(500 + u64::from(self.rng.below(9_000)));
        }
        self.script.retain(|(at, _)| *at < TRAFFIC);
    }

    fn cut(&mut self, at: Dur, lasts: Dur, node: Node) {
        let (n_brokers, n_controllers) = (self.n_brokers, self.n_controllers);
        let all = (1..=n_brokers).map(Node::Broker).chain((1..=n_controllers).map(Node::Controller));
        let others: Nodes = all.filter(|n| *n != node && self.rng.below(3) > 0).collect();
        if !others.is_empty() {
            let sides = Sides { from: vec![node], to: others, both: !self.faults.one_way || self.rng.below(2) == 0 };
            self.script.extend([(at, Verb::Cut(sides.clone())), (at + lasts, Verb::Heal(Some(sides)))]);
        }
    }

    fn request(&mut self) -> Verb {
        match self.rng.below(3) {
            0 => Verb::ElectLeaders { unclean: false, partition: Partition { topic: "t0".into(), partition: 0 } },
            1 => Verb::AddPartitions { topic: "t0".into(), to: 4 },
            _ => Verb::SetConfig {
                target: Target::Topic("t0".into()),
                config: config(&[("min.insync.replicas", self.one_of(&["1", "2"]))]),
            },
        }
    }
}
