//! A desk that shows one moment of the story: broker 1 was killed at 12 s and fenced at 20.6 s, consumers have no
//! coordinator. It runs no engine; it remembers the commands that it was given.
use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Enough};
use highwater_studio::view::model::*;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

pub const AT: Micros = 21_402_000;
const KILLED: Micros = 12_000_000;
const FENCED: Micros = 20_612_000;

pub struct Fixture {
    pub commands: Rc<RefCell<Vec<Command>>>,
    scene: Rc<Scene>,
    promises: Rc<Promises>,
    playback: Playback,
    board: Storyboard,
}

pub fn orders(partition: u32) -> PartitionRef {
    PartitionRef { topic: "orders".into(), partition }
}

fn lost() -> Vec<Stretch> {
    vec![Stretch { partition: orders(0), first: 45, last: 47 }]
}

fn offsets(partition: u32) -> PartitionRef {
    PartitionRef { topic: "__consumer_offsets".into(), partition }
}

/// Role, log end, own high watermark, acknowledged above it, lost.
type Log = (ReplicaRole, u64, u64, &'static [u64], &'static [u64]);

const FIRST: [u64; 6] = [40, 44, 41, 43, 42, 40];

fn log(partition: u32, broker: u32) -> Log {
    use ReplicaRole::{InSync as I, Leader as L, Offline as D};
    match (partition, broker) {
        (0, 1) => (D, 48, 45, &[], &[45, 46, 47]),
        (0, 2) => (L, 47, 46, &[46], &[]),
        (0, 3) => (I, 46, 45, &[], &[]),
        (1, 1) => (D, 49, 49, &[], &[]),
        (1, 2) => (L, 52, 51, &[51], &[]),
        (1, 3) => (I, 51, 51, &[], &[]),
        (2, 1) => (D, 46, 46, &[], &[]),
        (2, 2) => (I, 48, 47, &[], &[]),
        (2, 3) => (L, 48, 48, &[], &[]),
        (3, 1) => (D, 47, 47, &[], &[]),
        (3, 2) => (L, 50, 49, &[49], &[]),
        (3, 3) => (I, 49, 49, &[], &[]),
        (4, 1) => (D, 47, 46, &[], &[]),
        (4, 2) => (L, 49, 49, &[], &[]),
        (4, 3) => (I, 49, 49, &[], &[]),
        (5, 1) => (D, 45, 45, &[], &[]),
        (5, 2) => (I, 46, 46, &[], &[]),
        _ => (L, 47, 46, &[46], &[]),
    }
}

fn replica(partition: u32, broker: u32) -> ReplicaView {
    let (role, log_end_offset, high_watermark, acked, lost) = log(partition, broker);
    let first = FIRST[partition as usize];
    let cells = (first..first + 8)
        .map(|o| {
            if o >= log_end_offset {
                RecordCell::Empty
            } else if lost.contains(&o) {
                RecordCell::AckedLost
            } else if o < high_watermark {
                RecordCell::Safe
            } else if acked.contains(&o) {
                RecordCell::NotSafeAcked
            } else {
                RecordCell::NotSafe
            }
        })
        .collect();
    ReplicaView {
        partition: orders(partition),
        role,
        preferred: partition % 3 + 1 == broker,
        eligible: false,
        log_start_offset: 0,
        log_end_offset,
        high_watermark,
        leader_epoch: 0,
        cells,
    }
}

fn broker(id: u32) -> BrokerView {
    let down = id == 1;
    let squares = (0..50)
        .filter(|_| down)
        .map(|partition| InternalSquare { partition, role: ReplicaRole::Offline, outlined: partition == 9 })
        .collect();
    let all = u32::from(down) * 50;
    BrokerView {
        id,
        rack: Some(["a", "b", "c"][id as usize - 1].into()),
        process: if down { ProcessState::Down { since_us: KILLED, clean: false } } else { ProcessState::Running },
        standing: if down { BrokerStanding::Fenced { since_us: FENCED } } else { BrokerStanding::Active },
        phase: (!down).then_some(BrokerPhase::AtWork),
        restarting: false,
        broker_epoch: (!down).then_some(29 + u64::from(id)),
        fenced_in_us: None,
        cut_off: false,
        menu: if down {
            vec![NodeAction::Start]
        } else {
            vec![
                NodeAction::Kill,
                NodeAction::Stop,
                NodeAction::Pause,
                NodeAction::CutFromBrokers,
                NodeAction::CutFromControllers,
                NodeAction::CutFromAll,
                NodeAction::SlowLink,
                NodeAction::LossyLink,
            ]
        },
        replicas: (0..6).map(|p| replica(p, id)).collect(),
        internal: vec![InternalStrip {
            topic: "__consumer_offsets".into(),
            squares,
            nowhere_else: all,
            leaderless: all,
        }],
    }
}

pub fn scene() -> Scene {
    let leader = [2, 2, 3, 2, 2, 3];
    let partitions = (0..6)
        .map(|p| {
            let l = leader[p as usize];
            PartitionView {
                partition: p,
                leader: Some(l),
                leader_epoch: u32::from(p == 0 || p == 3),
                partition_epoch: 2,
                isr: if l == 2 { vec![2, 3] } else { vec![3, 2] },
                elr: vec![],
                last_known_leader: None,
                replicas: vec![1, 2, 3],
                isr_health: IsrHealth::Reduced,
                high_watermark: log(p, l).2,
                first_shown: FIRST[p as usize],
            }
        })
        .collect();
    Scene {
        revision: 1,
        at_us: AT,
        origin: Origin::Gallery { id: ScenarioId::STORY, changed: false },
        controllers: (1..=3)
            .map(|id| ControllerView {
                id,
                role: if id == 1 { QuorumRole::Active } else { QuorumRole::Follower },
                process: ProcessState::Running,
                quorum_epoch: 7,
                log_end_offset: if id == 1 { 41 } else { 40 },
                high_watermark: 40,
                tail: vec![
                    MetadataCell::Committed,
                    MetadataCell::Committed,
                    if id == 1 { MetadataCell::Uncommitted } else { MetadataCell::Absent },
                ],
                cut_off: false,
                menu: vec![NodeAction::Kill, NodeAction::Pause, NodeAction::CutFromAll],
            })
            .collect(),
        topics: vec![TopicView {
            name: "orders".into(),
            internal: false,
            replication_factor: 3,
            min_insync_replicas: 1,
            partitions,
        }],
        internal: vec![InternalTopic {
            name: "__consumer_offsets".into(),
            partitions: 50,
            replication_factor: 1,
            opened: false,
            outlined: Some(9),
        }],
        brokers: (1..=3).map(broker).collect(),
        producers: vec![ProducerView {
            name: "checkout".into(),
            topic: "orders".into(),
            client_version: "4.1".into(),
            acks: "1".into(),
            idempotent: false,
            rate_milli: 20_000,
            now: ProducerNow::Sending,
            sent: 242,
            acked: 241,
            lost: 3,
            lost_at: lost(),
            refused: 0,
            in_flight: 1,
            waiting: 0,
        }],
        groups: vec![GroupView {
            name: "billing".into(),
            state: GroupState::Unknown,
            generation: 2,
            offsets_partition: 9,
            coordinator: Coordinator::Missing { last: Some(1), down: true },
            members: ["b1", "b2"]
                .into_iter()
                .map(|name| MemberView {
                    name: name.into(),
                    client_version: "2.3".into(),
                    long_poll: true,
                    assigned: vec![AssignedPartition {
                        partition: orders(u32::from(name == "b2") * 3),
                        position: Some(42),
                        committed: Some(40),
                        lag: 4,
                    }],
                    now: MemberNow::Stopped { error: "COORDINATOR_NOT_AVAILABLE".into() },
                })
                .collect(),
            now: GroupNow::Stopped { error: "COORDINATOR_NOT_AVAILABLE".into() },
            lag: 37,
            delivered: 204,
        }],
        selected_group: Some("billing".into()),
        cuts: vec![],
        links: vec![],
    }
}

pub fn promises() -> Promises {
    Promises {
        revision: 1,
        verdicts: vec![
            VerdictCard {
                verdict: Verdict::EveryConsumerStopped,
                cause: Some(Cause::OffsetsPartitionOneReplica { group: "billing".into(), partition: 9, broker: 1 }),
                has_why: true,
                cure: Some(Cure::OffsetsReplicationFactor { to: 3 }),
            },
            VerdictCard {
                verdict: Verdict::AckedLost { count: 3, at: lost() },
                cause: Some(Cause::AckedByLeaderAlone { partition: orders(0), first: 45, last: 47, broker: 1 }),
                has_why: true,
                cure: Some(Cure::Acks { producer: "checkout".into(), to: "all".into() }),
            },
        ],
        ledger: (0..120)
            .map(|number| LedgerSquare {
                number,
                partition: orders(u32::try_from(number % 6).unwrap_or(0)),
                offset: Some(number / 6),
                fate: match number {
                    61..=63 => RecordFate::AckedLost,
                    116..=119 => RecordFate::AckedNotSafe,
                    _ => RecordFate::Safe,
                },
                delivered: if number < 74 { Delivery::Once } else { Delivery::No },
            })
            .collect(),
        earlier: LedgerCounts { sent: 121, ..LedgerCounts::default() },
        counts: LedgerCounts {
            sent: 242,
            acked: 241,
            safe: 234,
            acked_not_safe: 4,
            lost: 3,
            refused: 0,
            pending: 1,
            delivered: 204,
            delivered_twice: 0,
            out_of_order: 0,
        },
        lost: lost(),
        if_one_fails: vec![
            Survival { promise: Promise::ProducersCanWrite, answer: Answer::Yes },
            Survival {
                promise: Promise::ConsumersGoOn,
                answer: Answer::No { because: Weakness::OffsetsReplicationFactor(1) },
            },
            Survival {
                promise: Promise::NothingAckedIsLost,
                answer: Answer::No { because: Weakness::Acks("1".into()) },
            },
        ],
        if_two_fail: vec![],
    }
}

fn lines() -> Vec<LogLine> {
    let line = |n: u64, at_us: Micros, kind: LogKind, fact: Fact| LogLine {
        trace: TraceId(n),
        at_us,
        kind,
        fact,
        notable: true,
    };
    vec![
        line(1, KILLED, LogKind::Fault, Fact::Killed { node: NodeRef::Broker(1) }),
        line(
            2,
            12_204_000,
            LogKind::Group,
            Fact::CoordinatorUnavailable {
                group: "billing".into(),
                partition: 9,
                error: "COORDINATOR_NOT_AVAILABLE".into(),
            },
        ),
        line(3, FENCED, LogKind::Controller, Fact::Fenced { broker: 1, session_us: 8_612_000 }),
        line(
            4,
            FENCED,
            LogKind::Controller,
            Fact::LeaderElected { partition: orders(0), broker: 2, epoch: 1, how: ElectionKind::Clean },
        ),
        line(
            5,
            FENCED,
            LogKind::Replication,
            Fact::IsrShrunk { partition: orders(0), removed: vec![1], isr: vec![2, 3], by: IsrBy::Controller },
        ),
    ]
}

/// A fetch response with one batch, whose branch was played on.
fn message(id: MessageRef) -> MessageDetail {
    let field = |depth: u8, name: &'static str, value: &str, was: Option<&str>, more: bool| MessageField {
        depth,
        name: name.into(),
        value: value.into(),
        was: was.map(Into::into),
        more,
    };
    MessageDetail {
        id,
        name: "FetchResponse".into(),
        version: 18,
        server: Server::Partition,
        response: true,
        from: NodeRef::Broker(2),
        to: NodeRef::Broker(1),
        sent_us: AT - 170,
        arrives_us: AT + 330,
        kind: FlightKind::Replication,
        left_us: 330,
        held: Holding::No,
        doomed: false,
        place: 1,
        of: 2,
        carries: vec![
            Carried { says: Says::Records, of: "orders-1".into(), value: "4".into() },
            Carried { says: Says::HighWatermark, of: "orders-1".into(), value: "4".into() },
        ],
        fields: vec![
            field(0, "orders-1", "", None, false),
            field(1, "error_code", "0 NONE", None, false),
            field(1, "high_watermark", "4", Some("3"), false),
            field(1, "log_start_offset", "0", None, true),
        ],
        caused_by: vec![MessageStep {
            at_us: AT - 170,
            trace: TraceId(3),
            what: MessageLink::Message {
                name: "ProduceRequest".into(),
                from: NodeRef::Producer("checkout".into()),
                to: NodeRef::Broker(2),
            },
        }],
        caused: Vec::new(),
    }
}

fn flight(id: u64, kind: FlightKind, api: &'static str, from: NodeRef, to: NodeRef, about: u32, ppm: u32) -> Flight {
    Flight {
        id: MessageRef(id),
        kind,
        api: api.into(),
        response: false,
        from,
        to,
        about: Some(orders(about)),
        sent_us: AT - 300,
        arrives_us: AT + 200,
        progress_ppm: ppm,
        doomed: false,
        held: false,
        error: None,
    }
}

impl Fixture {
    pub fn new() -> Fixture {
        Fixture {
            commands: Rc::default(),
            scene: Rc::new(scene()),
            promises: Rc::new(promises()),
            board: Storyboard::default(),
            playback: Playback {
                at_us: AT,
                end_us: 24_000_000,
                recorded_us: AT,
                playing: false,
                pace: Pace::Automatic,
                step: StepKind::Event,
                awaiting: Some(Awaited { what: Waiting::ClientRetry { client: "b1".into() }, in_us: 62_000 }),
                at_start: false,
                can_skip: true,
                events_done: 3,
                caption: None,
                ended: None,
                reached: None,
                can_undo: true,
                travel: None,
            },
        }
    }
}

impl Fixture {
    /// The same moment with something else about it.
    pub fn with(change: impl FnOnce(&mut Scene)) -> Fixture {
        let mut scene = scene();
        change(&mut scene);
        Fixture { scene: Rc::new(scene), ..Fixture::new() }
    }
}

impl Desk for Fixture {
    fn set_enough(&mut self, _enough: Enough) {}
    fn handle(&mut self, command: Command) -> Outcome {
        match &command {
            Command::Play => self.playback.playing = true,
            Command::Pause => self.playback.playing = false,
            Command::SeekTo { at_us } | Command::Scrub { at_us } => self.playback.at_us = *at_us,
            Command::SetPace(p) => self.playback.pace = *p,
            Command::SetStep(s) => self.playback.step = *s,
            // The moment that is shown never changes; that it was asked is remembered.
            _ => {}
        }
        self.commands.borrow_mut().push(command);
        Outcome::Done
    }
    fn tick(&mut self, real_elapsed_us: Micros, _reduced_motion: bool) -> bool {
        self.playback.at_us = (self.playback.at_us + real_elapsed_us).min(self.playback.end_us);
        false
    }
    fn scene(&self) -> Rc<Scene> {
        self.scene.clone()
    }
    fn motion(&self) -> Motion {
        let b = NodeRef::Broker;
        Motion {
            now_us: self.playback.at_us,
            flights: vec![
                flight(1, FlightKind::Produce, "Produce", NodeRef::Producer("checkout".into()), b(2), 1, 420_000),
                flight(2, FlightKind::Replication, "Fetch", b(3), b(2), 2, 400_000),
                flight(3, FlightKind::Replication, "Fetch", b(2), b(3), 4, 600_000),
                flight(4, FlightKind::Control, "BrokerHeartbeat", b(3), NodeRef::Controller(1), 3, 520_000),
                flight(5, FlightKind::Group, "FindCoordinator", NodeRef::Member("b1".into()), b(3), 5, 300_000),
            ],
            hidden: 0,
        }
    }
    fn playback(&self) -> Playback {
        self.playback.clone()
    }
    fn lanes(&self, window: Window, slices: usize) -> Rc<Lanes> {
        let bar = |from_us, to_us, state| LaneBar { from_us, to_us, state };
        let density = |seed: usize| -> Vec<u16> {
            (0..slices)
                .map(|i| if i * 24 < slices * 21 { u16::try_from((i * 7 + seed * 13) % 11).unwrap_or(0) } else { 0 })
                .collect()
        };
        let lane = |who, seed, bars| Lane { who, bars, density: density(seed) };
        let good = || vec![bar(0, AT, LaneState::Good)];
        let mark = |lane, at_us, kind, n: usize| LaneMark {
            lane,
            at_us,
            kind,
            trace: TraceId(n as u64 + 1),
            fact: lines()[n].fact.clone(),
            // Close ones of a kind are one mark with their number.
            count: if kind == MarkKind::Error { 12 } else { 1 },
        };
        Rc::new(Lanes {
            window,
            now_us: self.playback.at_us,
            recorded_us: AT,
            lanes: vec![
                lane(LaneOf::Quorum, 1, good()),
                lane(LaneOf::Broker(1), 2, vec![bar(0, KILLED, LaneState::Good), bar(KILLED, AT, LaneState::Down)]),
                lane(LaneOf::Broker(2), 3, good()),
                lane(LaneOf::Broker(3), 4, good()),
                lane(LaneOf::Producer("checkout".into()), 5, good()),
                lane(
                    LaneOf::Group("billing".into()),
                    6,
                    vec![bar(0, 12_204_000, LaneState::Good), bar(12_204_000, AT, LaneState::Stuck)],
                ),
            ],
            marks: vec![
                mark(1, KILLED, MarkKind::Fault, 0),
                mark(5, 12_204_000, MarkKind::Error, 1),
                mark(2, FENCED, MarkKind::Election, 3),
                mark(3, FENCED, MarkKind::IsrShrink, 4),
            ],
            branches: self.branches(),
            waits: vec![LaneWait { lane: 1, from_us: KILLED, to_us: FENCED, what: Waiting::Fencing { broker: 1 } }],
        })
    }
    fn branches(&self) -> Vec<BranchView> {
        vec![
            BranchView {
                id: BranchId(0),
                parent: None,
                name: None,
                began_with: None,
                forked_at_us: 0,
                end_us: AT,
                current: true,
            },
            BranchView {
                id: BranchId(1),
                parent: Some(BranchId(0)),
                name: Some("offsets RF 3".into()),
                began_with: None,
                forked_at_us: 11_000_000,
                end_us: 17_600_000,
                current: false,
            },
        ]
    }
    fn promises(&self) -> Rc<Promises> {
        self.promises.clone()
    }
    fn log(&self, filter: &LogFilter, range: Range<usize>) -> LogPage {
        let all: Vec<LogLine> =
            lines().into_iter().filter(|l| filter.kinds.is_empty() || filter.kinds.contains(&l.kind)).collect();
        let (from, to) = (range.start.min(all.len()), range.end.min(all.len()));
        let offered = OfferedMessage {
            id: MessageRef(71),
            name: "FetchResponse".into(),
            from: NodeRef::Broker(2),
            to: NodeRef::Broker(1),
        };
        let messages = vec![(TraceId(4), offered)];
        LogPage { total: all.len(), first: from, lines: all[from..to].to_vec(), messages }
    }
    fn log_tail(&self, filter: &LogFilter, _count: usize) -> LogPage {
        self.log(filter, 0..usize::MAX)
    }
    fn news(&self, after: Option<TraceId>) -> Vec<LogLine> {
        lines().into_iter().filter(|l| after.is_none_or(|a| l.trace > a)).collect()
    }
    fn inspect(&self, about: &Subject) -> Option<Inspection> {
        Some(Inspection {
            about: about.clone(),
            message: if let Subject::Message(id) = about { Some(Box::new(message(*id))) } else { None },
            sections: vec![InspectSection {
                kind: InspectKind::Log,
                rows: vec![
                    InspectRow { name: "logEndOffset".into(), value: InspectValue::Number(47) },
                    InspectRow { name: "highWatermark".into(), value: InspectValue::Number(46) },
                ],
            }],
            questions: vec![Subject::Leader(orders(0)), Subject::Isr(orders(0))],
        })
    }
    fn why(&self, about: &Subject) -> Option<WhyChain> {
        let step = |at_us, trace: Option<u64>, fact| WhyStep { at_us, trace: trace.map(TraceId), message: None, fact };
        Some(WhyChain {
            about: about.clone(),
            steps: vec![
                step(
                    12_204_000,
                    Some(2),
                    Fact::CoordinatorUnavailable {
                        group: "billing".into(),
                        partition: 9,
                        error: "COORDINATOR_NOT_AVAILABLE".into(),
                    },
                ),
                step(0, None, Fact::OnlyReplicaOn { partition: offsets(9), broker: 1 }),
                step(KILLED, Some(1), Fact::Killed { node: NodeRef::Broker(1) }),
            ],
            cut_short: false,
        })
    }
    fn storyboard(&self) -> Storyboard {
        self.board.clone()
    }
    fn settings(&self) -> Rc<Settings> {
        use SettingValue::{Bool, Number, PerSecond, Term};
        let n = |all: &[u32]| Choices::OneOf(all.iter().map(|n| Number(*n)).collect());
        let steps = |less, more| Choices::Steps { less, more };
        let terms = |all: &[&'static str]| Choices::OneOf(all.iter().map(|t| Term((*t).into())).collect());
        let one = |key, live, value: SettingValue, default: SettingValue, choices| Setting {
            key,
            live,
            value,
            pending: false,
            default,
            choices,
        };
        let (topic, producer, group) = ("orders".to_owned(), "checkout".to_owned(), "billing".to_owned());
        let keys = [KeyPattern::None, KeyPattern::Hot, KeyPattern::Even].map(SettingValue::Keys).to_vec();
        Rc::new(Settings {
            previous: true,
            notes: vec![Note::NoOffsetsTopic { wants: 3, brokers: 1 }],
            groups: vec![
                SettingsGroup {
                    of: SettingsOf::Topic(topic.clone()),
                    settings: vec![
                        one(
                            SettingKey::Partitions { topic: topic.clone() },
                            false,
                            Number(6),
                            Number(6),
                            steps(Some(Number(5)), Some(Number(7))),
                        ),
                        one(
                            SettingKey::ReplicationFactor { topic: topic.clone() },
                            false,
                            Number(3),
                            Number(3),
                            n(&[1, 2, 3]),
                        ),
                        one(
                            SettingKey::Config { of: ConfigOf::Topic(topic.clone()), name: "min.insync.replicas" },
                            true,
                            Number(1),
                            Number(1),
                            n(&[1, 2, 3]),
                        ),
                        one(
                            SettingKey::Config { of: ConfigOf::Topic(topic), name: "unclean.leader.election.enable" },
                            true,
                            Bool(false),
                            Bool(false),
                            Choices::Toggle,
                        ),
                    ],
                },
                SettingsGroup {
                    of: SettingsOf::Producer(producer.clone()),
                    settings: vec![
                        one(
                            SettingKey::Config { of: ConfigOf::Producer(producer.clone()), name: "acks" },
                            true,
                            Term("1".into()),
                            Term("all".into()),
                            terms(&["0", "1", "all"]),
                        ),
                        one(
                            SettingKey::Config { of: ConfigOf::Producer(producer.clone()), name: "enable.idempotence" },
                            true,
                            Bool(false),
                            Bool(true),
                            Choices::Toggle,
                        ),
                        one(
                            SettingKey::Rate { producer: producer.clone() },
                            true,
                            PerSecond(20),
                            PerSecond(20),
                            steps(Some(PerSecond(10)), Some(PerSecond(50))),
                        ),
                        one(
                            SettingKey::Keys { producer },
                            true,
                            SettingValue::Keys(KeyPattern::None),
                            SettingValue::Keys(KeyPattern::None),
                            Choices::OneOf(keys),
                        ),
                    ],
                },
                SettingsGroup {
                    of: SettingsOf::Group(group.clone()),
                    settings: vec![
                        one(
                            SettingKey::Members { group: group.clone() },
                            true,
                            Number(2),
                            Number(2),
                            steps(Some(Number(1)), Some(Number(3))),
                        ),
                        one(
                            SettingKey::ClientVersion { group },
                            false,
                            Term("2.3".into()),
                            Term("4.1".into()),
                            terms(&["2.3", "4.1"]),
                        ),
                    ],
                },
                SettingsGroup {
                    of: SettingsOf::OffsetsTopic,
                    settings: vec![one(
                        SettingKey::Config { of: ConfigOf::Nodes, name: "offsets.topic.replication.factor" },
                        false,
                        Number(1),
                        Number(3),
                        n(&[1, 2, 3]),
                    )],
                },
                SettingsGroup {
                    of: SettingsOf::Cluster,
                    settings: vec![
                        one(SettingKey::Brokers, true, Number(3), Number(3), steps(None, Some(Number(4)))),
                        one(SettingKey::Controllers, false, Number(3), Number(3), n(&[1, 3, 5])),
                    ],
                },
            ],
        })
    }
    fn text(&self) -> TextView {
        TextView { scene: self.scene.clone(), promises: self.promises.clone(), recent: lines() }
    }
    fn share(&self) -> Share {
        Share {
            fragment: "k1abc.0123456&at=21402000us+3&d=9f3a61c0".into(),
            title: self.scene.origin.clone(),
            length: 40,
            limit: 65_536,
        }
    }
    fn digest_check(&self) -> DigestCheck {
        DigestCheck::NotNamed
    }
}
