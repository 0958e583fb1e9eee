//! Fetchers: requests, appends, truncation, errors; and a leader and a follower that talk to each other.

use super::rig::*;
use crate::base::*;
use crate::broker::BrokerCall;
use crate::broker::replicas::{FetchState, Handled};
use crate::log::Log;
use crate::node::{BrokerTimer, Outcome};
use crate::protocol::*;
use crate::trace::{Failure, Kind};

/// The only partition that the only Fetch asks for.
fn asked(rig: &mut Rig) -> Option<FetchPartition> {
    match &rig.drive()[..] {
        [(NodeId::Broker(BrokerId(1)), Request::Partition(PartitionRequest::Fetch(request)))] => {
            Some(request.partitions[0])
        }
        [] => None,
        other => panic!("{other:?}"),
    }
}

fn record(base_offset: Offset, count: usize, epoch: i32) -> RecordBatch {
    RecordBatch { base_offset, epoch, ..batch(count) }
}

fn refused(error: ErrorCode) -> FetchedPartition {
    FetchedPartition { error, ..answered(-1, -1, alloc::vec![]) }
}

/// Fetches of `follower` served by `leader` until nothing is ready to be said any more. Returns how many rounds brought
/// something.
fn talk(leader: &mut Rig, follower: &mut Rig) -> usize {
    for round in 0..10 {
        let Some((_, Request::Partition(PartitionRequest::Fetch(request)))) = follower.drive().pop() else {
            panic!("a fetch")
        };
        match leader.fetch_request(request) {
            Handled::Now(Some(Response::Partition(PartitionResponse::Fetch { partitions }))) => {
                follower.fetched(partitions)
            }
            Handled::Parked => return round,
            other => panic!("{other:?}"),
        }
    }
    panic!("no end")
}

#[test]
fn l_05_l_06_the_high_watermark_is_the_leaders_within_the_own_log() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(5, 12)]), checkpoint: 10, ..Setup::default() });
    for (leaders, expected) in [(8, 8), (20, 12)] {
        rig.drive();
        rig.fetched(alloc::vec![answered(leaders, 0, alloc::vec![])]);
        assert_eq!(rig.ends(), (12, expected));
    }
}

#[test]
fn a_fetch_asks_from_the_log_end_with_the_latest_epoch() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(3, 5), (4, 5)]), checkpoint: 5, ..Setup::default() });
    let first = asked(&mut rig).expect("a fetch");
    assert_eq!(
        (first.fetch_offset, first.last_fetched_epoch, first.current_leader_epoch),
        (10, Some(4), Some(LeaderEpoch(5)))
    );
    assert_eq!(asked(&mut rig), None, "one outstanding");
    rig.fetched(alloc::vec![answered(5, 0, alloc::vec![record(10, 2, 5)])]);
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::Replicated { log_end: 12, .. })), 1);
    let next = asked(&mut rig).expect("the next at once");
    assert_eq!((next.fetch_offset, next.last_fetched_epoch), (12, Some(5)));
}

#[test]
fn l_12_truncation_takes_one_round_where_the_epochs_meet() {
    let mut leader = Rig::new(
        1,
        Setup { log: log_of(&[(0, 20), (1, 10), (1, 5), (3, 5)]), ..Setup::default() },
        registration(&[1, 2, 3], &[1, 2, 3], Some(1), 3),
    );
    let mut follower = Rig::new(
        2,
        Setup { log: log_of(&[(0, 20), (1, 10), (2, 15)]), ..Setup::default() },
        registration(&[1, 2, 3], &[1, 2, 3], Some(1), 3),
    );
    assert_eq!(follower.ends().0, 45);
    talk(&mut leader, &mut follower);
    assert_eq!(follower.ends().0, 40);
    assert_eq!(
        follower.node.disk.log(T0).map(|log| log.epochs().entries().to_vec()),
        leader.node.disk.log(T0).map(|log| log.epochs().entries().to_vec())
    );
    assert_eq!(follower.noted(|kind| matches!(kind, Kind::LogTruncated { from: 45, to: 30, .. })), 1);
}

#[test]
fn l_13_truncation_takes_two_rounds_where_they_do_not() {
    let mut leader = Rig::new(
        1,
        Setup { log: log_of(&[(0, 20), (1, 15), (3, 5)]), ..Setup::default() },
        registration(&[1, 2, 3], &[1, 2, 3], Some(1), 3),
    );
    let mut follower = Rig::new(
        2,
        Setup { log: log_of(&[(0, 20), (0, 10), (2, 15)]), ..Setup::default() },
        registration(&[1, 2, 3], &[1, 2, 3], Some(1), 3),
    );
    assert_eq!(talk(&mut leader, &mut follower), 3, "two truncations and the records");
    let cuts: alloc::vec::Vec<Offset> = follower
        .node
        .trace
        .iter()
        .filter_map(|entry| if let Kind::LogTruncated { to, .. } = entry.kind { Some(to) } else { None })
        .collect();
    assert_eq!(cuts, [30, 20]);
    assert_eq!(follower.ends().0, 40);
}

#[test]
fn l_14_truncation_lowers_the_high_watermark() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(4, 30), (4, 15)]), checkpoint: 40, ..Setup::default() });
    rig.drive();
    rig.fetched(alloc::vec![FetchedPartition {
        diverging: Some(EpochEnd { epoch: 4, end_offset: 30 }),
        ..answered(50, 0, alloc::vec![])
    }]);
    assert_eq!(rig.ends(), (30, 30));
    assert_eq!(asked(&mut rig).map(|ask| ask.fetch_offset), Some(30), "asks again at once");
}

#[test]
fn l_16_an_empty_leader_empties_its_follower() {
    let mut leader = Rig::new(1, Setup::default(), registration(&[1, 2], &[1], Some(1), 8));
    let mut follower = Rig::new(
        2,
        Setup { log: log_of(&[(7, 100)]), checkpoint: 100, ..Setup::default() },
        registration(&[1, 2], &[1], Some(1), 8),
    );
    talk(&mut leader, &mut follower);
    assert_eq!(follower.ends(), (0, 0));
}

#[test]
fn l_20_a_follower_below_the_leaders_start_begins_anew_there() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(4, 100)]), checkpoint: 100, ..Setup::default() });
    rig.drive();
    rig.fetched(alloc::vec![refused(ErrorCode::OffsetOutOfRange)]);
    assert_eq!(rig.view().fetch_state, Some(FetchState::AskingForOffsets));
    assert!(matches!(
        &rig.drive()[..],
        [(_, Request::Partition(PartitionRequest::ListOffsets(request)))] if request.replica == Some(b(2))
    ));
    let listed = |offset| ListedOffset { tp: T0, error: ErrorCode::None, offset, leader_epoch: None };
    let call = BrokerCall::ReplicaListOffsets { leader: b(1), tp: T0, fetch_offset: 100 };
    rig.completed(
        call,
        Outcome::Answer(Response::Partition(PartitionResponse::ListOffsets {
            partitions: alloc::vec![listed(900), listed(500)],
        })),
    );
    assert_eq!((rig.view().log_start, rig.ends()), (500, (500, 500)));
    let next = asked(&mut rig).expect("a fetch");
    assert_eq!((next.fetch_offset, next.last_fetched_epoch), (500, None));
}

#[test]
fn a_follower_beyond_the_leaders_end_is_cut_there() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(4, 60), (4, 40)]), checkpoint: 100, ..Setup::default() });
    rig.drive();
    rig.fetched(alloc::vec![refused(ErrorCode::OffsetOutOfRange)]);
    rig.drive();
    let listed = |offset| ListedOffset { tp: T0, error: ErrorCode::None, offset, leader_epoch: None };
    let call = BrokerCall::ReplicaListOffsets { leader: b(1), tp: T0, fetch_offset: 100 };
    rig.completed(
        call,
        Outcome::Answer(Response::Partition(PartitionResponse::ListOffsets {
            partitions: alloc::vec![listed(60), listed(0)],
        })),
    );
    assert_eq!(rig.ends(), (60, 60));
}

#[test]
fn errors_of_a_partition_rest_it_for_a_second_or_until_metadata() {
    let mut rig = Rig::follower(Setup::default());
    for error in [ErrorCode::UnknownLeaderEpoch, ErrorCode::NotLeaderOrFollower, ErrorCode::UnknownTopicId] {
        rig.drive();
        rig.fetched(alloc::vec![refused(error)]);
        assert_eq!((rig.view().fetch_state, asked(&mut rig)), (Some(FetchState::Resting), None), "{}", error.name());
        let at = rig.node.now + Dur::ms(1_000);
        rig.node.now = at;
        rig.fire_due();
        assert_eq!(rig.view().fetch_state, Some(FetchState::Fetching));
    }
    rig.drive();
    rig.fetched(alloc::vec![refused(ErrorCode::FencedLeaderEpoch)]);
    assert_eq!((rig.view().fetch_state, asked(&mut rig)), (Some(FetchState::Failed), None));
    rig.change(|change| change.leader = Some(Some(b(1))));
    assert_eq!(asked(&mut rig).and_then(|ask| ask.current_leader_epoch), Some(LeaderEpoch(6)));
}

#[test]
fn a_failed_connection_rests_the_whole_fetcher_new_epochs_included() {
    let mut rig = Rig::follower(Setup::default());
    rig.drive();
    rig.completed(BrokerCall::ReplicaFetch { leader: b(1) }, Outcome::Failed(Failure::Disconnected));
    assert_eq!((rig.view().fetch_state, asked(&mut rig)), (Some(FetchState::Resting), None));
    rig.timer(BrokerTimer::FetcherBackoff(b(1)));
    assert!(asked(&mut rig).is_some());
    rig.change(|change| change.leader = Some(Some(b(1))));
    rig.completed(BrokerCall::ReplicaFetch { leader: b(1) }, Outcome::Failed(Failure::Disconnected));
    assert_eq!((rig.view().fetch_state, asked(&mut rig)), (Some(FetchState::Resting), None), "it had come before");
    rig.change(|change| change.leader = Some(Some(b(1))));
    assert!(asked(&mut rig).is_some(), "it came after");
}

#[test]
fn in_controlled_shutdown_a_replica_out_of_the_isr_stops_fetching() {
    let mut rig = Rig::follower(Setup::default());
    rig.change(|change| change.isr = Some(ids(&[1, 3])));
    assert!(asked(&mut rig).is_some(), "out of the ISR it catches up");
    rig.fetched(alloc::vec![answered(0, 0, alloc::vec![record(0, 3, 5)])]);
    rig.replicas.begin_controlled_shutdown();
    assert!(asked(&mut rig).is_some(), "until metadata says so again");
    rig.fetched(alloc::vec![answered(3, 0, alloc::vec![])]);
    rig.change(|change| change.isr = Some(ids(&[1])));
    assert_eq!((rig.view().fetch_state, asked(&mut rig)), (None, None));
    rig.change(|change| change.leader = Some(Some(b(3))));
    assert_eq!(asked(&mut rig), None, "nor does it follow a new leader");
}

#[test]
fn kafka_18723_an_answer_to_an_older_epoch_is_ignored() {
    let mut rig = Rig::follower(Setup::default());
    rig.drive();
    rig.change(|change| change.leader = Some(Some(b(1))));
    rig.fetched(alloc::vec![answered(0, 0, alloc::vec![record(0, 3, 5)])]);
    assert_eq!(rig.ends(), (0, 0));
    assert!(asked(&mut rig).is_some());
}

#[test]
fn kafka_18723_batches_of_a_newer_epoch_are_dropped() {
    let mut rig = Rig::follower(Setup::default());
    rig.drive();
    rig.fetched(alloc::vec![answered(0, 0, alloc::vec![record(0, 3, 5), record(3, 2, 6), record(5, 1, 5)])]);
    assert_eq!(rig.ends().0, 3);
}

#[test]
fn a_change_of_the_isr_does_not_disturb_the_fetcher() {
    let mut rig = Rig::follower(Setup::default());
    rig.drive();
    rig.change(|change| change.isr = Some(ids(&[1, 2])));
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::BecameFollower { .. })), 1);
    rig.fetched(alloc::vec![answered(3, 0, alloc::vec![record(0, 3, 5)])]);
    assert_eq!(rig.ends(), (3, 3));
}

#[test]
fn a_follower_follows_the_log_start() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(5, 10), (5, 10)]), checkpoint: 20, ..Setup::default() });
    rig.drive();
    rig.fetched(alloc::vec![answered(20, 10, alloc::vec![])]);
    assert_eq!(rig.view().log_start, 10);
    assert_eq!(asked(&mut rig).map(|ask| ask.log_start_offset), Some(10));
}

#[test]
fn a_restarted_log_takes_the_whole_batch_that_holds_its_start() {
    let mut rig = Rig::follower(Setup { log: Log::starting_at(12), ..Setup::default() });
    // An empty log is not loaded as one with records; it is on the disk all the same.
    rig.node.disk.logs.insert(T0, alloc::rc::Rc::new(Log::starting_at(12)));
    let config = alloc::rc::Rc::new(config::NodeConfig::parse(&ConfigMap::new()).expect("valid"));
    rig.replicas = crate::broker::replicas::ReplicaManager::load(
        &mut rig.node.ctx(),
        b(2),
        config,
        crate::rules::Version::V4_1.rules(),
    );
    rig.apply(&[T0]);
    assert_eq!(asked(&mut rig).map(|ask| ask.fetch_offset), Some(12));
    rig.fetched(alloc::vec![answered(20, 12, alloc::vec![record(10, 10, 5)])]);
    assert_eq!((rig.view().log_start, rig.ends()), (12, (20, 20)));
}

#[test]
fn r_20_the_old_leader_is_cut_to_what_the_first_answer_carried() {
    let mut old = Rig::caught_up_leader(Setup::default(), 10);
    for _ in 0..5 {
        old.produce(Acks::One, 1);
    }
    let mut log = log_of(&[(5, 10)]);
    log.append_as_leader(batch(1), 5);
    let mut new = Rig::new(
        2,
        Setup { log, checkpoint: 10, min_isr: "1", ..Setup::default() },
        registration(&[1, 2, 3], &[2, 3], Some(2), 6),
    );
    new.fetch_request(follower_fetch(3, 11, Some(5), Some(6)));
    assert_eq!(new.ends(), (11, 11));
    old.change(|change| {
        change.leader = Some(Some(b(2)));
        change.isr = Some(ids(&[2, 3]));
    });
    let Some((_, Request::Partition(PartitionRequest::Fetch(request)))) = old.drive().pop() else { panic!("a fetch") };
    let handled = new.fetch_request(request);
    old.completed(
        BrokerCall::ReplicaFetch { leader: b(2) },
        Outcome::Answer(Response::Partition(PartitionResponse::Fetch { partitions: alloc::vec![now(handled)] })),
    );
    assert_eq!(old.ends(), (11, 10));
}

#[test]
fn a_fetcher_without_partitions_closes_its_connection() {
    let mut rig = Rig::follower(Setup::default());
    assert_eq!(rig.drive().len(), 1);
    rig.change(|change| change.leader = Some(Some(b(3))));
    assert!(matches!(
        &rig.drive()[..],
        [(NodeId::Broker(BrokerId(3)), Request::Partition(PartitionRequest::Fetch(_)))]
    ));
    assert!(!rig.conns.is_open(NodeId::Broker(b(1)), crate::node::Channel::Replica));
}

#[test]
fn a_failed_look_up_of_offsets_rests_its_own_partition_alone() {
    let listed = |error| ListedOffset { tp: T0, error, offset: -1, leader_epoch: None };
    let refused_list = |error| {
        Outcome::Answer(Response::Partition(PartitionResponse::ListOffsets {
            partitions: alloc::vec![listed(error), listed(error)],
        }))
    };
    for outcome in [
        Outcome::Failed(Failure::Disconnected),
        Outcome::Failed(Failure::TimedOut),
        refused_list(ErrorCode::NotLeaderOrFollower),
        Outcome::Answer(Response::Partition(PartitionResponse::ListOffsets { partitions: alloc::vec![] })),
    ] {
        let mut rig = Rig::follower(Setup { log: log_of(&[(4, 100)]), checkpoint: 100, ..Setup::default() });
        let registered = registration(&[1, 2], &[1, 2], Some(1), 5);
        rig.image.replay(&MetadataRecord::Partition { tp: T1, registration: registered });
        rig.apply(&[T1]);
        let fetch_of = |rig: &mut Rig| -> alloc::vec::Vec<Tp> {
            match &rig.drive()[..] {
                [(_, Request::Partition(PartitionRequest::Fetch(request)))] => {
                    request.partitions.iter().map(|ask| ask.tp).collect()
                }
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(fetch_of(&mut rig), [T0, T1]);
        rig.fetched(alloc::vec![refused(ErrorCode::OffsetOutOfRange)]);
        assert!(matches!(&rig.drive()[..], [(_, Request::Partition(PartitionRequest::ListOffsets(_)))]));
        let call = BrokerCall::ReplicaListOffsets { leader: b(1), tp: T0, fetch_offset: 100 };
        rig.completed(call, outcome.clone());
        assert_eq!(rig.view().fetch_state, Some(FetchState::Resting), "{outcome:?}");
        assert_eq!(fetch_of(&mut rig), [T1], "the other one is fetched at once: {outcome:?}");
        rig.fetched(alloc::vec![]);
        rig.node.now += Dur::ms(1_000);
        rig.fire_due();
        assert_eq!(fetch_of(&mut rig), [T0, T1], "{outcome:?}");
    }
}
