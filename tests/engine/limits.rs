//! What a world may cost: no setting that is admitted makes it panic, stand still or grow without end. It does not say
//! which settings make sense.

use std::rc::Rc;

use highwater_engine::base::{BrokerId, Dur, limits};
use highwater_engine::client::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{ConfigTarget, CreateTopicRequest, ErrorCode, Placement};
use highwater_engine::trace::Kind;
use highwater_engine::world::{Action, Refusal, Resource, Setup, World};

use super::cluster::{Cluster, broker, setup};

const LONGEST: &str = "9223372036854775807";

/// A group that reads and a producer that writes, if their configs are admitted.
fn clients(world: &mut World, producer: &[(&str, &str)], consumer: &[(&str, &str)], rate: u32, value_size: u32) {
    let mut trace = Vec::new();
    let counts = Placement::Counts { partitions: Some(3), replication_factor: Some(3) };
    let create =
        CreateTopicRequest { name: "t".into(), placement: counts, configs: config_map(&[]), timeout: Dur::secs(15) };
    let _ = world.act(Action::Admin(AdminRequest::CreateTopic(create)), &mut trace);
    world.run_until(world.now() + Dur::secs(1), &mut trace);
    let spec = ProducerSpec {
        version: ClientVersion::V4_1,
        config: config_map(producer),
        topic: Some("t".into()),
        partition: None,
        rate,
        keys: Keys::None,
        value_size,
    };
    let _ = world.act(Action::StartProducer { name: "p".into(), spec }, &mut trace);
    for name in ["a", "b"] {
        let spec = ConsumerSpec {
            version: ClientVersion::V4_1,
            poll: PollForm::Duration,
            group: "g".into(),
            topics: vec!["t".into()],
            config: config_map(consumer),
            poll_every: Dur::ms(50),
            commit_every: None,
        };
        let _ = world.act(Action::Join { name: name.into(), spec }, &mut trace);
    }
}

/// Plays some seconds with a death in them; says whether time went on to the end.
fn play(setup: &Setup, producer: &[(&str, &str)], consumer: &[(&str, &str)]) -> Option<bool> {
    let mut world = World::boot(setup).ok()?;
    clients(&mut world, producer, consumer, 20, 100);
    let mut trace = Vec::new();
    world.run_until(world.now() + Dur::secs(3), &mut trace);
    let _ = world.act(Action::Kill(broker(1)), &mut trace);
    let end = world.now() + Dur::secs(8);
    world.run_until(end, &mut trace);
    assert_eq!(world.now() == end, world.overrun().is_none(), "{:?}", world.overrun());
    Some(world.overrun().is_none())
}

fn with(node: &[(&str, &str)]) -> Setup {
    let mut s = setup(1);
    s.config.extend(config_map(node));
    s
}

#[test]
fn intervals_of_any_length_let_time_go_on() {
    for name in [
        "broker.heartbeat.interval.ms",
        "leader.imbalance.check.interval.seconds",
        "metadata.max.idle.interval.ms",
        "replica.high.watermark.checkpoint.interval.ms",
        "controller.quorum.election.timeout.ms",
        "controller.quorum.fetch.timeout.ms",
    ] {
        for value in [LONGEST, "2147483647"] {
            let went_on = play(&with(&[(name, value)]), &[], &[]);
            assert_ne!(went_on, Some(false), "{name}={value} is refused, or plays to its end");
        }
    }
}

#[test]
fn a_group_without_time_to_poll_ends_with_a_reason_if_it_is_admitted_at_all() {
    play(&setup(1), &[], &[("max.poll.interval.ms", "0")]);
    play(&setup(1), &[], &[("session.timeout.ms", "1"), ("heartbeat.interval.ms", "0")]);
    play(&setup(1), &[("retry.backoff.ms", "0"), ("request.timeout.ms", "0"), ("linger.ms", "0")], &[]);
}

#[test]
fn a_number_of_partitions_is_bounded_however_it_came_in() {
    let counts = |partitions| Placement::Counts { partitions, replication_factor: Some(1) };
    let create = |name: &str, placement| {
        AdminRequest::CreateTopic(CreateTopicRequest {
            name: name.into(),
            placement,
            configs: config_map(&[]),
            timeout: Dur::secs(15),
        })
    };
    // A default that is too large is refused at boot or when a topic is to be made of it.
    if let Ok(world) = World::boot(&with(&[("num.partitions", "1000000000")])) {
        let mut c = Cluster { world, trace: Vec::new() };
        assert_eq!(c.admin(create("t", counts(None))), ErrorCode::PolicyViolation);
        c.producer("p", &[]);
        c.produce("p", "missing", "a", 1, Dur::ZERO);
        c.run(Dur::secs(5));
        assert!(!c.saw(|kind| matches!(kind, Kind::TopicCreated { .. })));
    }
    let mut c = Cluster::boot(1);
    assert_eq!(c.admin(create("t", counts(Some(1_000_000_000)))), ErrorCode::PolicyViolation);
    assert_eq!(c.admin(create("t", counts(Some(limits::MAX_PARTITIONS as i32 + 1)))), ErrorCode::PolicyViolation);
    let many = (0..=limits::MAX_PARTITIONS).map(|number| (number, vec![BrokerId(1)])).collect();
    assert_eq!(c.admin(create("t", Placement::Manual(many))), ErrorCode::PolicyViolation);
    assert_eq!(c.admin(create("a", counts(Some(limits::MAX_PARTITIONS as i32)))), ErrorCode::None);
    assert_eq!(c.admin(create("b", counts(Some(600)))), ErrorCode::None);
    assert_eq!(c.admin(create("c", counts(Some(401)))), ErrorCode::PolicyViolation);
    assert_eq!(c.admin(AdminRequest::CreatePartitions { name: "b".into(), total: 1_001 }), ErrorCode::PolicyViolation);
    assert_eq!(c.admin(AdminRequest::CreatePartitions { name: "b".into(), total: 1_000 }), ErrorCode::None);
    assert_eq!(c.admin(create("d", counts(Some(1)))), ErrorCode::PolicyViolation, "2,000 of all topics");
    // The offsets topic is not one of the users' topics.
    c.consumer("m", "g", "a");
    c.run(Dur::secs(3));
    assert!(c.saw(|kind| matches!(kind, Kind::TopicCreated { name, .. } if &**name == "__consumer_offsets")));
}

#[test]
fn a_run_that_needs_more_memory_ends_and_stays_to_be_looked_at() {
    let mut world = World::boot(&setup(1)).expect("it boots");
    clients(&mut world, &[], &[], 10_000, 1_000_000);
    let (mut trace, until) = (Vec::new(), world.now() + Dur::secs(10));
    world.run_until(until, &mut trace);
    let overrun = world.overrun().expect("ten gigabytes a second are too many");
    assert_eq!(overrun.what, Resource::RecordBytes);
    assert!(world.now() < until && overrun.at == world.now());
    assert_eq!(world.next_event_at(), None);
    let digest = world.digest();
    assert!(!world.step(&mut trace));
    assert_eq!(world.digest(), digest, "nothing happens any more");
    assert!(world.machines().filter(|(_, machine)| machine.process.is_some()).count() > 6);
    let refusal = world.act(Action::Kill(broker(1)), &mut trace);
    assert!(matches!(refusal, Err(Refusal::Limit { most: limits::MAX_RECORD_BYTES_PER_RUN, .. })), "{refusal:?}");
}

#[test]
fn a_producer_that_stood_still_does_not_make_up_for_it_at_one_stroke() {
    let mut world = World::boot(&setup(1)).expect("it boots");
    clients(&mut world, &[], &[], 100, 1_000_000);
    let mut trace = Vec::new();
    let producer = world.client_id("p").map(highwater_engine::base::NodeId::Client).expect("it runs");
    // It knows where to send before it stands still.
    world.run_until(world.now() + Dur::ms(500), &mut trace);
    world.act(Action::Pause(producer), &mut trace).expect("it runs");
    world.run_until(world.now() + Dur::secs(600), &mut trace);
    assert_eq!(world.overrun(), None);
    world.act(Action::Resume(producer), &mut trace).expect("it is paused");
    world.run_until(world.now() + Dur::secs(1), &mut trace);
    assert_eq!(world.overrun().map(|over| over.what), Some(Resource::RecordBytes));
    let made = trace.iter().filter(|entry| matches!(entry.kind, Kind::RecordSent { .. })).count();
    assert!(made < 300, "{made} records of 1 MB, and not the 60,000 of ten minutes");
}

#[test]
fn one_action_makes_no_more_than_a_turn_can_hold() {
    let mut c = Cluster::boot(1);
    c.topic("t", 1);
    c.producer("p", &[]);
    let value: Rc<str> = "x".repeat(100_000).into();
    let refused = c.world.act(
        Action::Produce {
            client: "p".into(),
            topic: "t".into(),
            partition: None,
            key: None,
            values: Values::Numbered(value),
            count: 10_000,
            every: Dur::ZERO,
        },
        &mut c.trace,
    );
    assert_eq!(refused, Err(Refusal::Limit { what: "bytes of one action", most: limits::MAX_BYTES_OF_ONE_ACTION }));
}

/// Small, usual and absurd values.
const VALUES: [&str; 12] =
    ["0", "1", "2", "7", "50", "1000", "6000", "60000", "2147483647", "2147483648", LONGEST, "-1"];

const NODE: [&str; 26] = [
    "min.insync.replicas",
    "num.partitions",
    "default.replication.factor",
    "leader.imbalance.check.interval.seconds",
    "offsets.topic.num.partitions",
    "offsets.topic.replication.factor",
    "offsets.commit.timeout.ms",
    "group.initial.rebalance.delay.ms",
    "group.min.session.timeout.ms",
    "group.max.session.timeout.ms",
    "replica.lag.time.max.ms",
    "replica.fetch.wait.max.ms",
    "replica.fetch.min.bytes",
    "replica.fetch.max.bytes",
    "replica.fetch.backoff.ms",
    "replica.socket.timeout.ms",
    "replica.high.watermark.checkpoint.interval.ms",
    "broker.heartbeat.interval.ms",
    "broker.session.timeout.ms",
    "initial.broker.registration.timeout.ms",
    "controller.quorum.election.timeout.ms",
    "controller.quorum.fetch.timeout.ms",
    "controller.quorum.election.backoff.max.ms",
    "controller.quorum.request.timeout.ms",
    "controller.quorum.retry.backoff.ms",
    "metadata.max.idle.interval.ms",
];

const PRODUCER: [&str; 12] = [
    "request.timeout.ms",
    "retry.backoff.ms",
    "retry.backoff.max.ms",
    "reconnect.backoff.ms",
    "reconnect.backoff.max.ms",
    "metadata.max.age.ms",
    "delivery.timeout.ms",
    "linger.ms",
    "batch.size",
    "max.request.size",
    "max.in.flight.requests.per.connection",
    "max.block.ms",
];

const CONSUMER: [&str; 13] = [
    "request.timeout.ms",
    "retry.backoff.ms",
    "reconnect.backoff.ms",
    "metadata.max.age.ms",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "auto.commit.interval.ms",
    "fetch.min.bytes",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "max.partition.fetch.bytes",
];

/// A small generator; its draws are the same everywhere.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
    fn configs(&mut self, names: &[&'static str]) -> Vec<(&'static str, &'static str)> {
        (0..self.below(3)).map(|_| (names[self.below(names.len())], VALUES[self.below(VALUES.len())])).collect()
    }
}

#[test]
fn no_admitted_config_makes_a_world_panic_or_stand_still() {
    let runs = std::env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(60);
    let mut played = 0;
    for seed in 0..runs {
        let mut draw = Draw(seed);
        let (node, producer, consumer) = (draw.configs(&NODE), draw.configs(&PRODUCER), draw.configs(&CONSUMER));
        let went_on = std::panic::catch_unwind(|| play(&with(&node), &producer, &consumer))
            .unwrap_or_else(|_| panic!("seed {seed}: {node:?} {producer:?} {consumer:?}"));
        played += u64::from(went_on == Some(true));
    }
    assert!(played * 4 > runs, "only {played} of {runs} were played to their end");
}

#[test]
fn a_config_that_is_set_on_the_way_is_bounded_too() {
    let mut c = Cluster::boot(1);
    c.topic("t", 1);
    for name in NODE {
        for value in [LONGEST, "0", "2147483647"] {
            let request =
                AdminRequest::AlterConfigs { resource: ConfigTarget::Cluster, configs: config_map(&[(name, value)]) };
            c.admin(request);
        }
    }
    let end = c.world.now() + Dur::secs(10);
    c.run(Dur::secs(10));
    assert_eq!(c.world.now(), end);
}
