//! Caught-up arithmetic, shrinking, expanding, AlterPartition and its answers. The controller's side is tested with the
//! controller.

use super::rig::*;
use crate::base::*;
use crate::broker::BrokerCall;
use crate::broker::replicas::partition::Edges;
use crate::broker::replicas::{IsrChange, Remote, Replica, Stage};
use crate::node::{BrokerTimer, Outcome};
use crate::protocol::*;
use crate::trace::{Failure, Kind};

const LAG: Dur = Dur::secs(30);

fn ms(at: u64) -> SimTime {
    SimTime::ZERO + Dur::ms(at)
}

fn fetched(remote: &mut Remote, at: u64, offset: Offset, leader_end: Offset) -> Option<SimTime> {
    remote.fetched(ms(at), offset, 0, leader_end, BrokerEpoch(1));
    remote.last_caught_up
}

/// ISR {1}, follower 2 outside at `end`, leader 1 with all of it committed.
fn alone(end: usize, min_isr: &str) -> Rig {
    let setup = Setup { log: log_of(&[(5, end)]), checkpoint: end as Offset, min_isr, ..Setup::default() };
    Rig::new(1, setup, registration(&[1, 2, 3], &[1], Some(1), 5))
}

#[test]
fn r_01_caught_up_arithmetic() {
    let mut remote = Remote::unknown(b(2));
    assert_eq!(fetched(&mut remote, 1_000, 100, 100), Some(ms(1_000)));
    assert_eq!(fetched(&mut remote, 1_600, 150, 180), Some(ms(1_000)));
    assert_eq!(fetched(&mut remote, 1_700, 180, 200), Some(ms(1_600)));
}

#[test]
fn r_02_a_follower_that_is_never_at_the_end_stays_in_sync() {
    let mut remote = Remote::unknown(b(2));
    for n in 1..1_000u64 {
        let caught_up = fetched(&mut remote, 100 * n, 50 * (n as i64 - 1), 50 * n as i64);
        assert!(n < 2 || caught_up == Some(ms(100 * (n - 1))), "one interval behind at fetch {n}");
    }
}

#[test]
fn r_03_a_follower_that_is_too_slow_falls_out() {
    let mut remote = Remote::unknown(b(2));
    for n in 1..500i64 {
        let caught_up = fetched(&mut remote, 100 * n as u64, 40 * n, 50 * n);
        if n >= 5 {
            assert_eq!(caught_up, Some(ms(400)), "at fetch {n}");
        }
    }
    assert!(remote.is_caught_up(ms(30_000), 25_000, LAG));
    assert!(!remote.is_caught_up(ms(45_000), 25_000, LAG));
}

#[test]
fn r_04_r_05_removal_happens_at_ticks() {
    for (caught_up, lasts) in [(1_000, 30_000), (0, 30_000)] {
        let mut rig = Rig::leader(Setup { log: log_of(&[(5, 10)]), checkpoint: 10, ..Setup::default() });
        rig.at(caught_up).fetch_of(3, 10);
        rig.produce(Acks::One, 1);
        for tick in (15_000..=45_000).step_by(15_000) {
            // 2 goes on fetching.
            rig.at(tick).fetch_of(2, 11);
            rig.timer(BrokerTimer::IsrExpiration);
            let out = rig.view().pending.map(|p| p.change.clone());
            let expected = (tick > lasts).then(|| IsrChange::Shrink(ids(&[3])));
            assert_eq!(out, expected, "caught up at {caught_up}, tick {tick}");
        }
    }
}

#[test]
fn r_06_an_idle_partition_keeps_a_follower_that_does_not_fetch() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 100);
    rig.at(600_000).timer(BrokerTimer::IsrExpiration);
    assert_eq!(rig.view().pending, None);
    rig.produce(Acks::One, 1);
    rig.at(615_000).timer(BrokerTimer::IsrExpiration);
    assert_eq!(rig.view().pending.map(|p| p.change.clone()), Some(IsrChange::Shrink(ids(&[2, 3]))));
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::IsrShrinkProposed { .. })), 1);
}

#[test]
fn r_07_joining_needs_the_high_watermark_and_the_start_of_the_epoch() {
    let setup = Setup { log: log_of(&[(4, 90), (4, 5), (4, 5)]), checkpoint: 90, ..Setup::default() };
    let mut rig = Rig::new(1, setup, registration(&[1, 2, 3], &[1, 3], Some(1), 5));
    rig.fetch_request(follower_fetch(2, 95, Some(4), Some(5)));
    assert_eq!(rig.view().pending, None, "above the high watermark, below the epoch's start (KAFKA-7128)");
    rig.fetch_request(follower_fetch(2, 100, Some(4), Some(5)));
    assert_eq!(rig.view().pending.map(|p| p.change.clone()), Some(IsrChange::Expand(b(2))));
}

#[test]
fn r_08_the_maximal_isr_bounds_the_high_watermark() {
    let mut rig = alone(10, "1");
    rig.at(100_000).fetch_of(2, 10);
    assert!(rig.alter().is_some());
    rig.produce(Acks::One, 2);
    assert_eq!(rig.ends(), (12, 10));
    rig.fetch_of(2, 12);
    assert_eq!(rig.ends(), (12, 12), "although it is not yet committed");
    assert_eq!((rig.view().isr, rig.view().maximal_isr), (&ids(&[1])[..], ids(&[1, 2])));
}

#[test]
fn r_09_r_10_during_a_shrink_the_larger_isr_counts() {
    let mut rig = Rig::leader(Setup { log: log_of(&[(5, 40), (5, 10)]), checkpoint: 40, ..Setup::default() });
    rig.fetch_of(3, 40);
    rig.at(44_000).fetch_of(2, 50);
    rig.at(45_000).timer(BrokerTimer::IsrExpiration);
    let item = rig.alter().expect("a request");
    assert_eq!(item.new_isr, [(b(1), Some(broker_epoch(1))), (b(2), Some(broker_epoch(2)))]);
    assert_eq!((item.leader_epoch, item.partition_epoch), (LeaderEpoch(5), PartitionEpoch(5)));
    // No controller: for ever.
    for at in [45_100, 75_000] {
        rig.at(at)
            .completed(BrokerCall::AlterPartition { partitions: alloc::vec![T0] }, Outcome::Failed(Failure::TimedOut));
        assert_eq!(rig.alter(), None, "a pause of 50 ms");
        rig.timer(BrokerTimer::AlterPartitionRetry);
        assert_eq!(rig.alter().map(|again| again.new_isr), Some(item.new_isr.clone()));
        assert_eq!(rig.ends(), (50, 40));
    }
    rig.altered(ErrorCode::None, &[1, 2], 6);
    assert_eq!(rig.ends(), (50, 50));
    assert_eq!((rig.view().partition_epoch, rig.view().pending), (PartitionEpoch(6), None));
}

#[test]
fn r_12_a_fenced_replica_is_not_proposed() {
    let mut rig = alone(10, "1");
    rig.fence(3, true);
    rig.fetch_of(3, 10);
    assert_eq!(rig.view().pending, None);
}

#[test]
fn r_12_an_ineligible_replica_reverts_the_proposal() {
    let mut rig = alone(10, "1");
    rig.fetch_of(3, 10);
    rig.alter();
    rig.altered(ErrorCode::IneligibleReplica, &[], 0);
    assert_eq!((rig.view().pending, rig.view().isr), (None, &ids(&[1])[..]));
    assert_eq!(
        rig.noted(|kind| matches!(kind, Kind::AlterPartitionRefused { error: ErrorCode::IneligibleReplica, .. })),
        1
    );
    rig.fetch_of(3, 10);
    assert!(rig.alter().is_some(), "the next fetch may try again");
}

#[test]
fn kip_841_a_replica_in_controlled_shutdown_is_not_proposed() {
    let mut rig = alone(10, "1");
    rig.image.replay(&MetadataRecord::BrokerRegistrationChange {
        broker: b(3),
        epoch: broker_epoch(3),
        fenced: None,
        in_controlled_shutdown: true,
    });
    rig.fetch_of(3, 10);
    assert_eq!(rig.view().pending, None);
}

#[test]
fn kip_903_a_fetch_of_another_incarnation_does_not_qualify() {
    let mut rig = alone(10, "1");
    let mut request = follower_fetch(3, 10, Some(5), Some(5));
    request.fetcher = Fetcher::Follower { broker: b(3), epoch: BrokerEpoch(31) };
    rig.fetch_request(request.clone());
    assert_eq!(rig.view().pending, None);
    request.fetcher = Fetcher::Follower { broker: b(3), epoch: BrokerEpoch(-1) };
    rig.fetch_request(request);
    assert_eq!(rig.view().pending.map(|p| p.change.clone()), Some(IsrChange::Expand(b(3))), "an unknown epoch does");
}

#[test]
fn answers_that_only_metadata_can_settle_leave_the_change_pending() {
    let errors = [
        ErrorCode::FencedLeaderEpoch,
        ErrorCode::InvalidUpdateVersion,
        ErrorCode::InvalidRequest,
        ErrorCode::UnknownTopicId,
        ErrorCode::NewLeaderElected,
    ];
    for error in errors {
        let mut rig = alone(10, "1");
        rig.fetch_of(2, 10);
        rig.alter();
        rig.altered(error, &[], 0);
        assert_eq!(rig.view().pending.map(|p| p.stage), Some(Stage::AwaitsMetadata), "{}", error.name());
        rig.fetch_of(3, 10);
        assert_eq!(rig.alter(), None);
        rig.change(|change| change.isr = Some(ids(&[1, 2])));
        assert_eq!((rig.view().pending, rig.view().isr), (None, &ids(&[1, 2])[..]));
    }
}

#[test]
fn a_controller_that_is_behind_is_asked_again() {
    let mut rig = alone(10, "1");
    rig.fetch_of(2, 10);
    rig.alter();
    rig.altered(ErrorCode::NotController, &[], 0);
    assert_eq!(rig.view().pending.map(|p| p.stage), Some(Stage::Queued));
    rig.timer(BrokerTimer::AlterPartitionRetry);
    assert!(rig.alter().is_some());
}

#[test]
fn a_stale_answer_is_ignored_after_metadata() {
    let mut rig = alone(10, "1");
    rig.fetch_of(2, 10);
    rig.alter();
    rig.change(|change| change.isr = Some(ids(&[1, 2])));
    rig.change(|change| change.isr = Some(ids(&[1])));
    rig.altered(ErrorCode::None, &[1, 2], 6);
    assert_eq!((rig.view().isr, rig.view().partition_epoch), (&ids(&[1])[..], PartitionEpoch(7)));
}

#[test]
fn r_16_a_new_leader_gives_the_isr_a_time_of_grace() {
    let log = log_of(&[(4, 10)]);
    let mut rig = Rig::new(
        2,
        Setup { log, checkpoint: 10, ..Setup::default() },
        registration(&[1, 2, 3], &[1, 2, 3], Some(1), 4),
    );
    rig.at(100_000).change(|change| change.leader = Some(Some(b(2))));
    rig.produce(Acks::One, 1);
    rig.at(129_000).fetch_of(1, 11);
    assert_eq!(rig.ends(), (11, 10), "the log end of 3 is unknown");
    rig.at(130_000).timer(BrokerTimer::IsrExpiration);
    assert_eq!(rig.view().pending, None);
    rig.at(135_000).timer(BrokerTimer::IsrExpiration);
    assert_eq!(rig.view().pending.map(|p| p.change.clone()), Some(IsrChange::Shrink(ids(&[3]))));
}

#[test]
fn r_18_one_change_at_a_time() {
    let mut rig = alone(10, "1");
    rig.fetch_of(2, 10);
    rig.alter();
    rig.fetch_of(3, 10);
    assert_eq!(rig.alter(), None);
    rig.altered(ErrorCode::None, &[1, 2], 6);
    assert_eq!(rig.alter(), None, "the answer alone proposes nothing");
    rig.fetch_of(3, 10);
    assert_eq!(rig.alter().map(|item| item.new_isr.len()), Some(3));
}

#[test]
fn r_19_a_returning_replica_is_appended_to_the_isr() {
    let setup = Setup { log: log_of(&[(5, 10)]), checkpoint: 10, min_isr: "1", ..Setup::default() };
    let mut rig = Rig::new(2, setup, registration(&[1, 2, 3], &[2, 3], Some(2), 5));
    rig.fetch_of(1, 10);
    let sent: alloc::vec::Vec<BrokerId> =
        rig.alter().expect("a request").new_isr.into_iter().map(|(broker, _)| broker).collect();
    assert_eq!(sent, ids(&[2, 3, 1]));
}

#[test]
fn r_19_a_set_of_five_is_in_ascending_order() {
    let mut replica = Replica::loaded(Edges::default(), 0);
    replica.isr = ids(&[4, 2, 3]);
    assert_eq!(replica.proposed_isr(&IsrChange::Expand(b(1))), ids(&[4, 2, 3, 1]));
    replica.isr = ids(&[4, 2, 3, 1]);
    assert_eq!(replica.proposed_isr(&IsrChange::Expand(b(5))), ids(&[1, 2, 3, 4, 5]));
    replica.isr = ids(&[4, 2, 3, 5, 1]);
    assert_eq!(replica.proposed_isr(&IsrChange::Shrink(ids(&[5]))), ids(&[1, 2, 3, 4]));
    replica.isr = ids(&[4, 2, 3, 1]);
    assert_eq!(replica.proposed_isr(&IsrChange::Shrink(ids(&[2]))), ids(&[4, 3, 1]));
}

#[test]
fn r_21_unfencing_alone_proposes_nothing() {
    let mut rig = alone(10, "1");
    rig.fence(3, true);
    rig.fetch_of(3, 10);
    rig.fence(3, false);
    assert_eq!(rig.alter(), None, "not before its next fetch");
    rig.fetch_of(3, 10);
    assert!(rig.alter().is_some());
}

#[test]
fn kip_704_the_next_alter_partition_confirms_an_unclean_election() {
    let mut partition = registration(&[1, 2, 3], &[1], Some(1), 5);
    partition.leader_recovery = LeaderRecoveryState::Recovering;
    let mut rig = Rig::new(1, Setup { min_isr: "1", ..Setup::default() }, partition);
    rig.fetch_of(2, 0);
    assert_eq!(rig.alter().map(|item| item.leader_recovery), Some(LeaderRecoveryState::Recovered));
}

#[test]
fn a_replica_away_for_less_than_the_lag_holds_the_high_watermark_once_it_is_back() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    rig.at(1_000).change(|change| change.isr = Some(ids(&[1, 2])));
    rig.produce(Acks::One, 10);
    rig.fence(3, true);
    rig.at(2_000).fetch_of(2, 20);
    assert_eq!(rig.ends(), (20, 20), "a fenced replica is not waited for");
    rig.fence(3, false);
    rig.produce(Acks::One, 1);
    rig.at(3_000).fetch_of(2, 21);
    assert_eq!(rig.ends(), (21, 20), "unfenced and caught up by time: waited for, though not in the ISR");
    rig.at(31_000).fetch_of(2, 21);
    rig.produce(Acks::One, 1);
    rig.fetch_of(2, 22);
    assert_eq!(rig.ends(), (22, 22));
}

#[test]
fn a_follower_that_a_fetch_brings_into_the_isr_bounds_the_high_watermark_of_that_fetch() {
    let mut rig = alone(10, "1");
    rig.at(1_000).fetch_of(3, 10);
    rig.alter();
    rig.altered(ErrorCode::IneligibleReplica, &[], 0);
    rig.produce(Acks::One, 2);
    assert_eq!(rig.ends(), (12, 10), "3 is out of the ISR, caught up by time, and waited for");
    rig.at(40_000).fetch_of(2, 11);
    assert_eq!(rig.view().pending.map(|p| p.change.clone()), Some(IsrChange::Expand(b(2))));
    assert_eq!(rig.ends(), (12, 11), "3 is not waited for any more, 2 from this fetch on");
}

#[test]
fn several_partitions_go_into_one_request() {
    let mut rig = alone(10, "1");
    rig.image.replay(&MetadataRecord::Partition { tp: T1, registration: registration(&[1, 2], &[1], Some(1), 0) });
    rig.apply(&[T1]);
    let mut request = follower_fetch(2, 10, Some(5), None);
    let mut second = ask(0, None, None);
    second.tp = T1;
    request.partitions.push(second);
    rig.fetch_request(request);
    let sent = rig.drive();
    match &sent[..] {
        [(NodeId::Controller(CONTROLLER), Request::Controller(ControllerRequest::AlterPartition(request)))] => {
            assert_eq!(request.partitions.len(), 2)
        }
        other => panic!("{other:?}"),
    }
}
