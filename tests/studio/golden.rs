//! Golden traces: what small scenarios leave in the trace stands in files, so that a change of the engine is seen as a
//! difference of text. `UPDATE=1` writes them anew. It says nothing of whether they are right.

use highwater_engine::base::{BrokerId, ControllerId, Dur, NodeId, Seq, SimTime};
use highwater_engine::client::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{Api, ConfigTarget, CreateTopicRequest, Placement};
use highwater_engine::rules::{Broken, Version};
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, BrokerSetup, LinkSetup, Setup, World};
use highwater_studio::recording::Recording;
use highwater_studio::scenario::decode;

use crate::text;

/// A cluster of three and three, without the delay of the first rebalance and with one partition of offsets.
struct Play {
    world: World,
    trace: Vec<TraceEntry>,
    /// Where the text begins.
    from: usize,
}

fn broker(id: u32) -> NodeId {
    NodeId::Broker(BrokerId(id))
}

fn controllers() -> Vec<NodeId> {
    (1..=3).map(|id| NodeId::Controller(ControllerId(id))).collect()
}

impl Play {
    fn new(version: Version, config: &[(&str, &str)]) -> Play {
        let base = [
            ("group.initial.rebalance.delay.ms", "0"),
            ("offsets.topic.num.partitions", "1"),
            ("auto.leader.rebalance.enable", "false"),
        ];
        let setup = Setup {
            seed: 1,
            version,
            controllers: 3,
            brokers: (1..=3).map(|id| BrokerSetup { id: BrokerId(id), rack: None, started: true }).collect(),
            config: config_map(&[&base[..], config].concat()),
            link: LinkSetup::default(),
            broken: Broken::NOTHING,
        };
        Play { world: World::boot(&setup).expect("the set-up is possible"), trace: Vec::new(), from: 0 }
    }

    fn act(&mut self, action: Action) {
        self.world.act(action, &mut self.trace).expect("the action is possible");
    }

    fn run(&mut self, span: Dur) {
        self.world.run_until(self.world.now() + span, &mut self.trace);
    }

    fn admin(&mut self, request: AdminRequest) {
        self.act(Action::Admin(request));
        self.run(Dur::ms(500));
    }

    fn topic(&mut self, name: &str, replicas: &[u32], min_isr: &str) {
        let placement = Placement::Manual(vec![(0, replicas.iter().copied().map(BrokerId).collect())]);
        let configs = config_map(&[("min.insync.replicas", min_isr)]);
        self.admin(AdminRequest::CreateTopic(CreateTopicRequest {
            name: name.into(),
            placement,
            configs,
            timeout: Dur::secs(15),
        }));
    }

    fn producer(&mut self, name: &str, acks: &str) {
        let config = config_map(&[
            ("acks", acks),
            ("linger.ms", "0"),
            ("request.timeout.ms", "2000"),
            ("delivery.timeout.ms", "5000"),
        ]);
        let spec = ProducerSpec {
            version: ClientVersion::V4_1,
            config,
            topic: None,
            partition: None,
            rate: 0,
            keys: Keys::None,
            value_size: 4,
        };
        self.act(Action::StartProducer { name: name.into(), spec });
    }

    fn produce(&mut self, client: &str, prefix: &str, count: u32) {
        let values = Values::Numbered(prefix.into());
        self.act(Action::Produce {
            client: client.into(),
            topic: "t".into(),
            partition: Some(0),
            key: None,
            values,
            count,
            every: Dur::ms(20),
        });
    }

    fn consumer(&mut self, name: &str, reset: &str) {
        let config = config_map(&[
            ("auto.offset.reset", reset),
            ("session.timeout.ms", "6000"),
            ("enable.auto.commit", "false"),
            ("request.timeout.ms", "2000"),
        ]);
        let topics = vec!["t".into()];
        let spec = ConsumerSpec {
            version: ClientVersion::V4_1,
            poll: PollForm::Duration,
            group: "g".into(),
            topics,
            config,
            poll_every: Dur::ms(200),
            commit_every: None,
        };
        self.act(Action::Join { name: name.into(), spec });
    }

    fn cut(&mut self, from: &[NodeId], to: &[NodeId]) {
        self.act(Action::Cut { from: from.to_vec(), to: to.to_vec(), both: true });
    }

    fn active(&self) -> NodeId {
        NodeId::Controller(self.world.active_controller().expect("a controller is active"))
    }

    /// What follows is told.
    fn begin(&mut self) {
        self.from = self.trace.len();
    }

    fn told(&self, wire: Wire) -> String {
        told(&self.trace, self.from, self.world.origin(), wire)
    }
}

/// Which of the messages are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wire {
    All,
    /// Those that wait and those that an action loses.
    Odd,
}

/// The variant alone.
fn name(kind: &Kind) -> String {
    let text = format!("{kind:?}");
    text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

/// A line each: seconds since the origin, who, what, and what it came of.
fn told(trace: &[TraceEntry], from: usize, origin: SimTime, wire: Wire) -> String {
    let mut out = String::new();
    let mut failed = Vec::new();
    for entry in &trace[from..] {
        let cause = trace.iter().find(|e| e.seq == entry.cause && entry.cause != Seq(0));
        let is_told = match &entry.kind {
            Kind::MessageSent { .. } => wire == Wire::All,
            Kind::MessageLost { .. } => wire == Wire::All || cause.is_some_and(|sent| sent.who == entry.who),
            // A dead node is tried again and again.
            Kind::RequestFailed { .. } => !failed.contains(&(entry.who, &entry.kind)),
            _ => true,
        };
        if matches!(entry.kind, Kind::RequestFailed { .. }) {
            failed.push((entry.who, &entry.kind));
        }
        if !is_told {
            continue;
        }
        let cause = cause.map_or(String::new(), |e| format!("  < {} at {}", name(&e.kind), e.who));
        let at = entry.at.since(origin).as_ms();
        out.push_str(&format!(
            "{:>3}.{:03}  {:12}  {:?}{cause}\n",
            at / 1_000,
            at % 1_000,
            entry.who.to_string(),
            entry.kind
        ));
    }
    out
}

#[test]
fn one_record() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2, 3], "2");
    play.producer("p", "all");
    play.produce("p", "a", 1);
    play.run(Dur::ms(15));
    text::check("golden/one-record.txt", &play.told(Wire::All));
}

#[test]
fn a_leader_dies_and_returns() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2, 3], "2");
    play.producer("p", "1");
    play.run(Dur::secs(1));
    play.produce("p", "a", 2);
    play.run(Dur::ms(100));
    play.begin();
    // A record that only the leader has.
    play.cut(&[broker(1)], &[broker(2), broker(3)]);
    play.produce("p", "b", 1);
    play.run(Dur::ms(10));
    play.act(Action::Kill(broker(1)));
    play.act(Action::HealAll);
    play.run(Dur::secs(1));
    play.act(Action::Start(broker(1)));
    play.produce("p", "c", 1);
    play.run(Dur::secs(15));
    text::check("golden/a-leader-dies-and-returns.txt", &play.told(Wire::Odd));
}

#[test]
fn a_clean_stop() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2, 3], "2");
    play.begin();
    play.act(Action::Stop(broker(1)));
    play.run(Dur::secs(4));
    text::check("golden/a-clean-stop.txt", &play.told(Wire::Odd));
}

#[test]
fn the_last_replica_dies() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2], "2");
    play.begin();
    play.act(Action::Kill(broker(1)));
    play.act(Action::Kill(broker(2)));
    play.run(Dur::secs(12));
    play.act(Action::LoseDisk(broker(1)));
    play.act(Action::Start(broker(2)));
    play.run(Dur::secs(4));
    text::check("golden/the-last-replica-dies.txt", &play.told(Wire::Odd));
}

#[test]
fn a_group_and_its_coordinator() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2, 3], "2");
    play.producer("p", "all");
    play.produce("p", "a", 2);
    play.run(Dur::ms(200));
    play.begin();
    play.consumer("c", "earliest");
    play.run(Dur::secs(2));
    play.act(Action::Commit { member: "c".into() });
    play.run(Dur::ms(100));
    // The answer to a commit is lost.
    play.act(Action::Drop { api: Api::OffsetCommit, response: true, from: None, to: None, nth: 1 });
    play.act(Action::Commit { member: "c".into() });
    play.run(Dur::secs(3));
    // A second member, then the first one dies.
    play.consumer("d", "earliest");
    play.run(Dur::secs(4));
    play.act(Action::KillClient { name: "c".into() });
    play.run(Dur::secs(10));
    // The coordinator stops.
    let active =
        play.world.active_controller().and_then(|id| play.world.controller(id)).expect("a controller is active");
    let image = active.image();
    let offsets = image.topic_id("__consumer_offsets").expect("the topic is there");
    let coordinator =
        image.partitions().find(|(tp, _)| tp.topic == offsets).and_then(|(_, p)| p.leader).expect("it has a leader");
    play.act(Action::Stop(NodeId::Broker(coordinator)));
    play.act(Action::Commit { member: "d".into() });
    play.run(Dur::secs(3));
    play.act(Action::CloseClient { name: "d".into(), within: None });
    play.run(Dur::secs(1));
    text::check("golden/a-group-and-its-coordinator.txt", &play.told(Wire::Odd));
}

#[test]
fn a_group_without_a_position() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2, 3], "2");
    play.begin();
    play.consumer("c", "none");
    play.run(Dur::ms(2_500));
    play.act(Action::CloseClient { name: "c".into(), within: None });
    play.run(Dur::secs(1));
    text::check("golden/a-group-without-a-position.txt", &play.told(Wire::Odd));
}

#[test]
fn the_active_controller_is_cut_off() {
    let mut play = Play::new(Version::V3_9, &[]);
    play.begin();
    let active = play.active();
    let others: Vec<NodeId> = controllers().into_iter().filter(|node| *node != active).collect();
    play.cut(&[active], &others);
    // A record that only the old leader has.
    let placement = Placement::Manual(vec![(0, vec![BrokerId(1)])]);
    play.admin(AdminRequest::CreateTopic(CreateTopicRequest {
        name: "u".into(),
        placement,
        configs: config_map(&[]),
        timeout: Dur::secs(15),
    }));
    play.run(Dur::secs(5));
    play.act(Action::HealAll);
    play.run(Dur::secs(4));
    text::check("golden/the-active-controller-is-cut-off.txt", &play.told(Wire::Odd));
}

#[test]
fn the_active_controller_dies() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.begin();
    play.act(Action::Kill(play.active()));
    play.run(Dur::secs(5));
    text::check("golden/the-active-controller-dies.txt", &play.told(Wire::Odd));
}

#[test]
fn a_follower_falls_behind() {
    let mut play = Play::new(Version::V4_1, &[("replica.lag.time.max.ms", "2000")]);
    play.topic("t", &[1, 2, 3], "2");
    play.producer("p", "all");
    play.produce("p", "a", 1);
    play.run(Dur::secs(1));
    play.begin();
    play.cut(&[broker(1)], &[broker(3)]);
    play.produce("p", "b", 1);
    play.run(Dur::secs(4));
    play.act(Action::Link {
        between: vec![broker(1)],
        and: vec![broker(3)],
        latency: Some(Dur::ms(2)),
        jitter: None,
        loss_per_million: None,
    });
    play.act(Action::HealAll);
    play.run(Dur::secs(6));
    text::check("golden/a-follower-falls-behind.txt", &play.told(Wire::Odd));
}

#[test]
fn a_proposal_that_comes_too_late() {
    let mut play = Play::new(Version::V4_1, &[("replica.lag.time.max.ms", "2000")]);
    play.topic("t", &[1, 2, 3], "1");
    play.producer("p", "1");
    play.run(Dur::secs(1));
    // Leader 1 is far from the controllers. While its shrink is under way, broker 2 stops and the partition changes,
    // and
    // what would tell the leader of it is lost.
    play.act(Action::Link {
        between: vec![broker(1)],
        and: controllers(),
        latency: Some(Dur::ms(300)),
        jitter: None,
        loss_per_million: None,
    });
    play.begin();
    play.cut(&[broker(1)], &[broker(3)]);
    play.produce("p", "a", 1);
    while !play.trace.iter().any(|e| matches!(e.kind, Kind::IsrShrinkProposed { .. })) {
        assert!(play.world.step(&mut play.trace));
    }
    play.act(Action::Drop { api: Api::Fetch, response: true, from: Some(play.active()), to: Some(broker(1)), nth: 1 });
    play.act(Action::Stop(broker(2)));
    play.run(Dur::secs(4));
    text::check("golden/a-proposal-that-comes-too-late.txt", &play.told(Wire::Odd));
}

#[test]
fn a_frozen_leader() {
    let mut play = Play::new(Version::V4_1, &[("replica.lag.time.max.ms", "2000")]);
    play.topic("t", &[1, 2, 3], "2");
    play.begin();
    play.act(Action::Pause(broker(1)));
    play.run(Dur::secs(12));
    play.act(Action::Resume(broker(1)));
    play.run(Dur::secs(3));
    text::check("golden/a-frozen-leader.txt", &play.told(Wire::Odd));
}

#[test]
fn what_is_refused() {
    let mut play = Play::new(Version::V4_1, &[]);
    play.topic("t", &[1, 2, 3], "2");
    play.producer("p", "all");
    play.run(Dur::secs(1));
    play.begin();
    // One answer is lost: the repetition is recognised.
    play.act(Action::Drop { api: Api::Produce, response: true, from: None, to: None, nth: 1 });
    play.produce("p", "a", 1);
    play.run(Dur::secs(3));
    // More replicas are demanded than there are.
    play.admin(AdminRequest::AlterConfigs {
        resource: ConfigTarget::Topic("t".into()),
        configs: config_map(&[("min.insync.replicas", "3")]),
    });
    play.cut(&[broker(1)], &[broker(3)]);
    play.produce("p", "b", 1);
    play.run(Dur::secs(6));
    play.act(Action::HealAll);
    play.act(Action::Kill(broker(3)));
    play.run(Dur::secs(10));
    play.produce("p", "c", 1);
    play.run(Dur::secs(6));
    play.admin(AdminRequest::DeleteRecords { topic: "t".into(), partition: 0, before: 1 });
    play.admin(AdminRequest::CreatePartitions { name: "t".into(), total: 2 });
    play.admin(AdminRequest::CreatePartitions { name: "t".into(), total: 1 });
    play.admin(AdminRequest::DeleteTopic { name: "t".into() });
    text::check("golden/what-is-refused.txt", &play.told(Wire::Odd));
}

#[test]
fn a_step_that_cannot_be_done() {
    let scenario = decode(
        r#"{"scenario":1,"engine":1,"id":"refused","lang":"en","title":{"en":"Refused"},"seed":1,"cluster":{"brokers":{"1":{}}},
            "script":[{"at":"1s","do":[{"kill":1}]},{"at":"2s","do":[{"kill":1}]}]}"#,
    )
    .expect("a good scenario");
    let mut recording = Recording::new(scenario).expect("it boots");
    recording.run_until(recording.origin() + Dur::secs(3));
    let trace: Vec<TraceEntry> =
        recording.reel().entries(0..recording.n_entries()).map(|(_, entry)| entry.clone()).collect();
    text::check("golden/a-step-that-cannot-be-done.txt", &told(&trace, 0, recording.origin(), Wire::Odd));
}
