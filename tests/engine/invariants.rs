//! Each invariant, once with a world that keeps it and once with what it guards broken on purpose. Not a list of what
//! Kafka does.

use std::rc::Rc;

use highwater_engine::base::{
    BrokerId, ClientId, ControllerId, Dur, GenerationId, LeaderEpoch, NodeId, Offset, ProducerEpoch, ProducerId,
    QuorumEpoch, Seq, SimTime, Tag, Tp,
};
use highwater_engine::check::observe::GroupSeen;
use highwater_engine::check::{Checker, Invariant, Observation, Violation};
use highwater_engine::log::Log;
use highwater_engine::metadata::MetadataImage;
use highwater_engine::protocol::{Api, PartitionRegistration, Payload, ProducerStamp, Record, RecordBatch};
use highwater_engine::trace::{Kind, QuorumRole, TraceEntry};
use highwater_engine::world::{Action, World};

use super::cluster::{Cluster, broker};

/// A cluster with traffic, its checker having followed everything.
struct Watched {
    cluster: Cluster,
    checker: Checker,
    tp: Tp,
}

fn watched() -> Watched {
    let mut cluster = Cluster::boot(11);
    let tp = cluster.topic("t", 2);
    cluster.producer("p", &[("acks", "all")]);
    cluster.consumer("c", "g", "t");
    cluster.produce("p", "t", "a", 30, Dur::ms(20));
    let mut checker = Checker::default();
    checker.follow(&cluster.world, &cluster.trace).expect("nothing is wrong yet");
    let end = cluster.world.now() + Dur::secs(4);
    while cluster.world.next_event_at().is_some_and(|at| at <= end) {
        let from = cluster.trace.len();
        cluster.world.step(&mut cluster.trace);
        checker.follow(&cluster.world, &cluster.trace[from..]).expect("every event keeps every invariant");
    }
    assert!(checker.committed_end(tp) == 30 && cluster.delivered() == 30, "the world does something");
    Watched { cluster, checker, tp }
}

impl Watched {
    fn seen(&self) -> Observation {
        Observation::of(&self.cluster.world)
    }

    /// The invariant that an altered observation breaks.
    fn broken(&self, alter: impl FnOnce(&mut Observation)) -> Invariant {
        let mut seen = self.seen();
        self.checker.inspect(&seen).expect("the world as it is keeps every invariant");
        alter(&mut seen);
        self.checker.inspect(&seen).expect_err("the broken world breaks one").invariant
    }

    /// The invariant that entries break, the last of which must not have come.
    fn forged(&mut self, entries: &[(NodeId, Kind)]) -> Invariant {
        let (last, before) = entries.split_last().expect("at least one entry");
        for entry in before {
            self.feed(entry).expect("only the last entry is wrong");
        }
        self.feed(last).expect_err("the last entry breaks an invariant").invariant
    }

    fn feed(&mut self, (who, kind): &(NodeId, Kind)) -> Result<(), Violation> {
        let world: &World = &self.cluster.world;
        let entry = TraceEntry { seq: Seq(u64::MAX), at: world.now(), cause: Seq(0), who: *who, kind: kind.clone() };
        self.checker.follow(world, &[entry])
    }

    fn log(&self, id: u32) -> Rc<Log> {
        self.seen().logs[&(BrokerId(id), self.tp)].clone()
    }
}

fn image(seen: &mut Observation) -> &mut MetadataImage {
    seen.image.as_mut().expect("a controller is active")
}

fn partition(seen: &mut Observation, tp: Tp, alter: impl FnOnce(&mut PartitionRegistration)) {
    let topic = image(seen).topics.get_mut(&tp.topic).expect("the topic is there");
    alter(&mut Rc::make_mut(topic).partitions[tp.partition as usize]);
}

fn batch(epoch: i32, tag: u64, producer: Option<ProducerStamp>) -> RecordBatch {
    let records: Vec<Record> = vec![Record { tag: Tag(tag), key: None, value: "x".into() }];
    RecordBatch {
        base_offset: 0,
        epoch,
        producer,
        timestamp: SimTime::ZERO,
        payload: Payload::Data(records.into()),
        origin: Seq(0),
    }
}

fn log_of(batches: &[(i32, u64, Option<ProducerStamp>)]) -> Rc<Log> {
    let mut log = Log::default();
    for (epoch, tag, producer) in batches {
        log.append_as_leader(batch(*epoch, *tag, *producer), *epoch);
    }
    Rc::new(log)
}

#[test]
fn one_leader_an_epoch() {
    let mut w = watched();
    let lead = |epoch| Kind::BecameLeader { tp: w.tp, epoch: LeaderEpoch(epoch), log_end: 30 };
    let entries = [(broker(2), lead(9)), (broker(3), lead(9))];
    // The recorded leader is neither, so that only the epoch is judged.
    assert_eq!(w.forged(&entries), Invariant::OneLeaderAnEpoch);
}

#[test]
fn epochs_never_fall() {
    let mut w = watched();
    let follow = |epoch| Kind::BecameFollower { tp: w.tp, epoch: LeaderEpoch(epoch), leader: BrokerId(1) };
    let entries = [(broker(2), follow(5)), (broker(2), follow(4))];
    assert_eq!(w.forged(&entries), Invariant::EpochsNeverFall);
}

#[test]
fn high_watermark_never_falls() {
    let mut w = watched();
    let hw = |high_watermark| Kind::HighWatermarkAdvanced { tp: w.tp, high_watermark, leader: true };
    let entries = [(broker(1), hw(30)), (broker(1), hw(29))];
    assert_eq!(w.forged(&entries), Invariant::HighWatermarkNeverFalls);
}

#[test]
fn offsets_in_bounds() {
    let w = watched();
    let tp = w.tp;
    let invariant =
        w.broken(|seen| seen.replicas.get_mut(&(BrokerId(2), tp)).expect("broker 2 has a replica").high_watermark = 31);
    assert_eq!(invariant, Invariant::OffsetsInBounds);
}

#[test]
fn isr_within_replicas() {
    let w = watched();
    let tp = w.tp;
    assert_eq!(w.broken(|seen| partition(seen, tp, |p| p.isr.push(BrokerId(9)))), Invariant::IsrWithinReplicas);
}

#[test]
fn leader_in_isr() {
    let w = watched();
    let tp = w.tp;
    assert_eq!(w.broken(|seen| partition(seen, tp, |p| p.isr.retain(|b| b.0 != 1))), Invariant::LeaderInIsr);
}

#[test]
fn fenced_not_in_isr() {
    let w = watched();
    let invariant =
        w.broken(|seen| image(seen).brokers.get_mut(&BrokerId(3)).expect("broker 3 is registered").fenced = true);
    assert_eq!(invariant, Invariant::FencedNotInIsr);
}

#[test]
fn elr_shape() {
    let w = watched();
    let tp = w.tp;
    assert_eq!(w.broken(|seen| partition(seen, tp, |p| p.elr = vec![BrokerId(3)])), Invariant::ElrShape);
}

#[test]
fn strong_isr() {
    let w = watched();
    let tp = w.tp;
    let mut short = (*w.log(3)).clone();
    short.truncate_to(29);
    let invariant = w.broken(|seen| {
        seen.replicas.get_mut(&(BrokerId(3), tp)).expect("broker 3 has a replica").high_watermark = 29;
        seen.logs.insert((BrokerId(3), tp), Rc::new(short));
    });
    assert_eq!(invariant, Invariant::StrongIsr);
}

#[test]
fn log_matching() {
    let w = watched();
    let tp = w.tp;
    let mut other = Log::default();
    for b in w.log(3).batches() {
        let mut b = b.clone();
        b.origin = Seq(0);
        if b.base_offset == 0 {
            b.payload =
                Payload::Data(b.data().iter().map(|r| Record { value: "another".into(), ..r.clone() }).collect());
        }
        other.append_as_leader(b.clone(), b.epoch);
    }
    assert_eq!(w.broken(|seen| drop(seen.logs.insert((BrokerId(3), tp), Rc::new(other)))), Invariant::LogMatching);
}

#[test]
fn logs_match_when_they_part_at_different_epochs_only() {
    use highwater_engine::check::logs::mismatch;
    let a = log_of(&[(0, 1, None), (0, 2, None), (1, 3, None)]);
    let b = log_of(&[(0, 1, None), (0, 2, None), (2, 4, None), (2, 5, None)]);
    assert_eq!(mismatch(&a, &b), None, "an unreplicated tail is no contradiction");
    let c = log_of(&[(0, 1, None), (0, 9, None), (1, 3, None)]);
    assert_eq!(mismatch(&a, &c), Some(1), "they share epoch 1 at offset 2 and differ below it");
}

#[test]
fn metadata_log_matching() {
    let w = watched();
    let node = NodeId::Controller(ControllerId(2));
    let mut other = Log::default();
    for b in w.seen().metadata_logs[&node].batches() {
        other.append_as_leader(RecordBatch { payload: Payload::LeaderChange, ..b.clone() }, b.epoch);
    }
    assert_eq!(w.broken(|seen| drop(seen.metadata_logs.insert(node, Rc::new(other)))), Invariant::MetadataLogMatching);
}

#[test]
fn quorum_election_safety() {
    let mut w = watched();
    let lead = || Kind::QuorumRoleChanged { role: QuorumRole::Leader, epoch: QuorumEpoch(77) };
    let entries = [(NodeId::Controller(ControllerId(1)), lead()), (NodeId::Controller(ControllerId(2)), lead())];
    assert_eq!(w.forged(&entries), Invariant::QuorumElectionSafety);
}

#[test]
fn committed_records_stay() {
    let mut w = watched();
    let epoch = w.cluster.recorded(w.tp, |p| p.leader_epoch).expect("the partition is there");
    let leads = (broker(1), Kind::BecameLeader { tp: w.tp, epoch, log_end: 30 });
    w.feed(&leads).expect("its log holds every committed record");
    // Its disk goes, the checker is not told, and the controller has not noticed yet: it would lead on without them.
    w.cluster.act(Action::Kill(broker(1)));
    w.cluster.act(Action::LoseDisk(broker(1)));
    assert_eq!(w.cluster.recorded_leader(w.tp), Some(1));
    let violation = w.feed(&leads).expect_err("the committed records are gone");
    assert_eq!(violation.invariant, Invariant::CommittedRecordsStay);
}

#[test]
fn acknowledged_records_kept() {
    let mut w = watched();
    let tag = Tag(5);
    w.feed(&(NodeId::Client(ClientId(1)), Kind::RecordAcked { tag, tp: w.tp, offset: 3 }))
        .expect("an acknowledgement alone breaks nothing");
    let violation = w.checker.inspect(&w.seen()).expect_err("another record stands at offset 3");
    assert_eq!(violation.invariant, Invariant::AcknowledgedRecordsKept);
}

fn delivered(w: &Watched, tag: Tag, offset: Offset) -> (NodeId, Kind) {
    (NodeId::Client(ClientId(2)), Kind::RecordDelivered { tag, tp: w.tp, offset, epoch: 0 })
}

fn sent(tag: Tag) -> (NodeId, Kind) {
    (NodeId::Client(ClientId(1)), Kind::RecordSent { tag, topic: "t".into(), partition: Some(0), value: "x".into() })
}

#[test]
fn reads_stable() {
    let mut w = watched();
    let entries = [sent(Tag(5)), delivered(&w, Tag(5), 3)];
    assert_eq!(w.forged(&entries), Invariant::ReadsStable);
}

#[test]
fn no_phantom() {
    let mut w = watched();
    let entries = [delivered(&w, Tag(5), 3)];
    assert_eq!(w.forged(&entries), Invariant::NoPhantom);
}

#[test]
fn no_read_beyond_high_watermark() {
    let mut w = watched();
    let entries = [sent(Tag(5)), delivered(&w, Tag(5), 30)];
    assert_eq!(w.forged(&entries), Invariant::NoReadBeyondHighWatermark);
}

/// A partition that nobody has promised anything about.
const OTHER: Tp = Tp { topic: highwater_engine::base::TopicId(900), partition: 0 };

fn stamp(sequence: i32) -> Option<ProducerStamp> {
    Some(ProducerStamp { id: ProducerId(7), epoch: ProducerEpoch(0), base_sequence: sequence })
}

#[test]
fn no_duplicates() {
    let w = watched();
    let log = log_of(&[(0, 1, stamp(0)), (0, 1, stamp(1))]);
    assert_eq!(w.broken(|seen| drop(seen.logs.insert((BrokerId(1), OTHER), log))), Invariant::NoDuplicates);
}

#[test]
fn order_kept() {
    let w = watched();
    let log = log_of(&[(0, 2, stamp(0)), (0, 1, stamp(1))]);
    assert_eq!(w.broken(|seen| drop(seen.logs.insert((BrokerId(1), OTHER), log))), Invariant::OrderKept);
}

/// A leader without a record of the producer takes a later record while an earlier one waits for the old leader, whose
/// retry then begins a new epoch behind it.
#[test]
fn order_is_not_promised_where_a_leader_knows_nothing_of_the_producer() {
    let mut c = Cluster::boot(5);
    let tp = c.topic("t", 1);
    c.topic("s", 1);
    c.producer("p", &[("metadata.max.age.ms", "4000"), ("linger.ms", "0"), ("request.timeout.ms", "20000")]);
    c.produce("p", "s", "x", 1, Dur::ZERO);
    c.produce("p", "other", "y", 1, Dur::ZERO);
    c.run(Dur::secs(2));
    // The record is under way to the old leader when nobody reaches that any more.
    c.produce("p", "t", "a", 1, Dur::ZERO);
    let to_leader = |k: &Kind| matches!(k, Kind::MessageSent { to, api: Api::Produce, .. } if *to == broker(1));
    let sent = |c: &Cluster| c.trace.iter().filter(|e| to_leader(&e.kind)).count();
    let before = sent(&c);
    assert!(c.until(Dur::secs(1), |c| sent(c) > before));
    let rest = [2, 3].map(broker).into_iter().chain((1..=3).map(|id| NodeId::Controller(ControllerId(id))));
    let client = c.world.client_id("p").map(NodeId::Client).expect("it is there");
    c.act(Action::Cut { from: vec![broker(1)], to: rest.chain([client]).collect(), both: true });
    assert!(c.until(Dur::secs(30), |c| c.recorded_leader(tp).is_some_and(|leader| leader != 1)));
    let mut checker = Checker::default();
    let mut followed = 0;
    let mut watch = |c: &mut Cluster, span: Dur| {
        let end = c.world.now() + span;
        while c.world.next_event_at().is_some_and(|at| at <= end) {
            c.world.step(&mut c.trace);
            checker.follow(&c.world, &c.trace[followed..]).expect("nothing else is wrong");
            followed = c.trace.len();
        }
        let seen = Observation::of(&c.world);
        (checker.inspect(&seen), Checker::default().inspect(&seen))
    };
    watch(&mut c, Dur::secs(6)).0.expect("nothing is wrong yet");
    // The next record is written, but the producer has not heard of it when the first one comes back.
    c.lose_next(Api::Produce, true);
    c.produce("p", "t", "b", 1, Dur::ZERO);
    let (knowing, forgetful) = watch(&mut c, Dur::secs(10));
    knowing.expect("the checker knows where the promise ends");
    assert_eq!(forgetful.expect_err("the records are out of order").invariant, Invariant::OrderKept);
}

fn group(assignments: &[(&str, Tp)], committed: &[(Tp, Offset)]) -> GroupSeen {
    GroupSeen {
        group: "forged".into(),
        coordinator: BrokerId(1),
        generation: GenerationId(1),
        is_stable: true,
        assignments: assignments.iter().map(|(m, tp)| (Rc::from(*m), vec![*tp])).collect(),
        committed: committed.to_vec(),
    }
}

#[test]
fn one_owner() {
    let w = watched();
    let forged = group(&[("a", w.tp), ("b", w.tp)], &[]);
    assert_eq!(w.broken(|seen| seen.groups.push(forged)), Invariant::OneOwner);
}

#[test]
fn commits_within_log() {
    let w = watched();
    let forged = group(&[], &[(w.tp, 31)]);
    assert_eq!(w.broken(|seen| seen.groups.push(forged)), Invariant::CommitsWithinLog);
}
