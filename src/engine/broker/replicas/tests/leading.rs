//! High watermark, parked fetches and checks at the leader. Acks have their own file.

use alloc::vec::Vec;

use super::rig::*;
use crate::base::*;
use crate::broker::replicas::Handled;
use crate::node::BrokerTimer;
use crate::protocol::*;
use crate::rules::Version;
use crate::trace::Kind;

#[test]
fn l_01_appending_gives_offsets_the_epoch_and_a_cache_entry() {
    let mut rig = Rig::leader(Setup::default());
    rig.produce(Acks::One, 5);
    let log = rig.node.disk.log(T0).expect("a log");
    assert_eq!((log.end_offset(), log.epochs().entries()), (5, &[(5, 0)][..]));
    assert_eq!(log.batches().next().map(|batch| batch.epoch), Some(5));
}

#[test]
fn l_02_a_single_replica_commits_at_once() {
    let mut rig = Rig::new(1, Setup { min_isr: "1", ..Setup::default() }, registration(&[1], &[1], Some(1), 0));
    assert_eq!(produced_now(rig.produce(Acks::All, 5)), (ErrorCode::None, 0));
    assert_eq!(rig.ends(), (5, 5));
    assert_eq!(rig.replicas.take_high_watermarks(), [(T0, 5)]);
}

#[test]
fn l_03_the_high_watermark_needs_a_second_fetch_of_every_member() {
    let mut rig = Rig::leader(Setup::default());
    assert_eq!(rig.produce(Acks::All, 10), Handled::Parked);
    for follower in [2, 3] {
        let fetched = now(rig.fetch_of(follower, 0));
        assert_eq!((offsets(&fetched).len(), fetched.high_watermark), (10, 0));
    }
    assert_eq!(rig.fetch_of(2, 10), Handled::Parked);
    assert_eq!(rig.ends(), (10, 0), "3 is known at 0");
    assert!(rig.ready().is_empty());
    assert_eq!(rig.fetch_of(3, 10), Handled::Parked);
    assert_eq!(rig.ends(), (10, 10));
    let ready = rig.ready();
    assert_eq!(
        (ready.len(), produced(&ready[0])),
        (1, (ErrorCode::None, 0)),
        "the producer is answered, the followers' fetches stay parked (KAFKA-9952)"
    );
}

#[test]
fn l_04_answers_carry_the_high_watermark_of_the_read() {
    let mut rig = Rig::leader(Setup::default());
    rig.produce(Acks::One, 10);
    rig.fetch_of(2, 0);
    rig.fetch_of(3, 0);
    rig.produce(Acks::One, 10);
    for follower in [2, 3] {
        let fetched = now(rig.fetch_of(follower, 10));
        assert_eq!((offsets(&fetched).first(), fetched.high_watermark), (Some(&10), 0));
    }
    assert_eq!(rig.ends(), (20, 10));
    assert_eq!(rig.fetch_of(2, 20), Handled::Parked);
    rig.timer(BrokerTimer::ParkedFetch(1));
    assert_eq!(partitions_of(&rig.ready()[0])[0].high_watermark, 10);
}

#[test]
fn golden_trace_of_one_produce_with_parked_fetches() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 100);
    rig.ready();
    assert_eq!(rig.consume(100), Handled::Parked);
    assert_eq!(rig.produce(Acks::All, 10), Handled::Parked);
    let woken = rig.ready();
    assert_eq!(woken.len(), 2, "both followers, not the consumer");
    assert!(
        woken.iter().all(|r| partitions_of(r)[0].high_watermark == 100 && offsets(&partitions_of(r)[0]).len() == 10)
    );
    assert_eq!(rig.fetch_of(2, 110), Handled::Parked);
    assert_eq!(rig.ends(), (110, 100));
    assert_eq!(rig.fetch_of(3, 110), Handled::Parked);
    assert_eq!(rig.ends(), (110, 110));
    let ready = rig.ready();
    assert_eq!(produced(&ready[0]), (ErrorCode::None, 100));
    assert_eq!(offsets(&partitions_of(&ready[1])[0]).len(), 10);
    assert_eq!(ready.len(), 2);
    rig.produce(Acks::One, 10);
    let re_read = rig.ready();
    assert!(re_read.iter().all(|r| partitions_of(r)[0].high_watermark == 110), "read again on completion");
}

#[test]
fn l_07_a_member_that_has_not_fetched_in_this_epoch_holds_the_high_watermark() {
    let start = || {
        let mut rig = Rig::leader(Setup { log: log_of(&[(4, 40), (4, 10)]), checkpoint: 40, ..Setup::default() });
        rig.fetch_request(follower_fetch(2, 50, Some(4), Some(5)));
        assert_eq!(rig.ends(), (50, 40));
        rig
    };
    let mut leaves = start();
    leaves.change(|change| change.isr = Some(ids(&[1, 2])));
    assert_eq!(leaves.ends(), (50, 50));
    let mut fetches = start();
    fetches.fetch_request(follower_fetch(3, 50, Some(4), Some(5)));
    assert_eq!(fetches.ends(), (50, 50));
}

#[test]
fn l_08_below_the_minimum_the_high_watermark_stands_from_3_7_on() {
    for (version, expected) in [(Version::V4_1, (35, 30)), (Version::V3_9, (35, 30)), (Version::V3_6, (35, 35))] {
        let setup = Setup { version, log: log_of(&[(5, 30)]), checkpoint: 30, ..Setup::default() };
        let mut rig = Rig::new(1, setup, registration(&[1, 2, 3], &[1], Some(1), 5));
        assert_eq!(produced_now(rig.produce(Acks::One, 5)), (ErrorCode::None, 30));
        assert_eq!(rig.ends(), expected, "{}", version.name());
    }
}

#[test]
fn l_09_the_minimum_is_bounded_by_the_number_of_replicas_from_3_7_on() {
    for (version, expected) in
        [(Version::V4_1, (ErrorCode::None, 0)), (Version::V3_6, (ErrorCode::NotEnoughReplicas, -1))]
    {
        let mut rig = Rig::new(1, Setup { version, ..Setup::default() }, registration(&[1], &[1], Some(1), 0));
        assert_eq!(produced_now(rig.produce(Acks::All, 1)), expected, "{}", version.name());
    }
}

#[test]
fn l_12_l_24_a_diverging_answer_leaves_the_followers_state_alone() {
    let setup = Setup { log: log_of(&[(0, 20), (1, 15), (3, 5)]), checkpoint: 30, ..Setup::default() };
    let mut rig = Rig::new(1, setup, registration(&[1, 2, 3], &[1, 2, 3], Some(1), 3));
    rig.at(100).fetch_request(follower_fetch(2, 20, Some(0), Some(3)));
    let before = rig.view().remotes[0];
    let fetched = now(rig.at(900).fetch_request(follower_fetch(2, 45, Some(2), Some(3))));
    assert_eq!(fetched.diverging, Some(EpochEnd { epoch: 1, end_offset: 35 }));
    assert!(fetched.batches.is_empty() && fetched.error.is_none());
    let after = rig.view().remotes[0];
    assert_eq!(
        (after.log_end, after.last_caught_up, after.last_fetch),
        (before.log_end, before.last_caught_up, before.last_fetch)
    );
}

#[test]
fn l_16_an_empty_leader_makes_everybody_cut_everything() {
    let mut rig = Rig::new(1, Setup::default(), registration(&[1, 2], &[1], Some(1), 8));
    let fetched = now(rig.fetch_request(follower_fetch(2, 100, Some(7), Some(8))));
    assert_eq!(fetched.diverging, Some(EpochEnd { epoch: 7, end_offset: 0 }));
}

#[test]
fn l_21_the_leader_epoch_of_a_fetch_is_checked() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    let mut error = |current| now(rig.fetch_request(consumer_fetch(0, current))).error;
    assert_eq!(
        [error(Some(4)), error(Some(6)), error(Some(5)), error(None)],
        [ErrorCode::FencedLeaderEpoch, ErrorCode::UnknownLeaderEpoch, ErrorCode::None, ErrorCode::None]
    );
}

#[test]
fn l_23_bounds_of_a_read() {
    let mut log = log_of(&[(5, 10), (5, 40), (5, 5), (5, 5)]);
    log.advance_start(10);
    let mut rig = Rig::leader(Setup { log, checkpoint: 50, ..Setup::default() });
    assert_eq!(now(rig.consume(9)).error, ErrorCode::OffsetOutOfRange);
    for offset in [50, 55, 60] {
        assert_eq!(rig.consume(offset), Handled::Parked, "at {offset}");
    }
    assert_eq!(now(rig.consume(61)).error, ErrorCode::OffsetOutOfRange);
    assert_eq!(offsets(&now(rig.fetch_of(2, 55))), (55..60).collect::<Vec<_>>());
}

#[test]
fn r_13_a_fetch_of_an_older_incarnation_is_refused_and_changes_nothing() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    rig.image.replay(&MetadataRecord::RegisterBroker {
        broker: b(3),
        incarnation: Incarnation(2),
        rack: None,
        directory: 0,
        epoch: BrokerEpoch(70),
    });
    rig.fence(3, false);
    let before = rig.view().remotes[1];
    assert_eq!(now(rig.at(500).fetch_of(3, 10)).error, ErrorCode::NotLeaderOrFollower);
    assert_eq!(rig.view().remotes[1], before);
}

#[test]
fn r_15_a_replica_that_is_not_assigned_is_refused() {
    let mut rig = Rig::leader(Setup::default());
    assert_eq!(now(rig.fetch_request(follower_fetch(4, 0, None, Some(5)))).error, ErrorCode::UnknownLeaderEpoch);
    assert_eq!(now(rig.fetch_request(follower_fetch(4, 0, None, None))).error, ErrorCode::NotLeaderOrFollower);
}

#[test]
fn r_17_a_follower_serves_up_to_its_own_high_watermark() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(5, 90), (5, 10)]), checkpoint: 90, ..Setup::default() });
    assert_eq!(rig.consume(90), Handled::Parked);
    assert_eq!(now(rig.consume(101)).error, ErrorCode::OffsetOutOfRange);
    rig.drive();
    rig.fetched(alloc::vec![answered(100, 0, alloc::vec![])]);
    assert_eq!(offsets(&partitions_of(&rig.ready()[0])[0]), (90..100).collect::<Vec<_>>());
}

#[test]
fn r_20_a_parked_fetch_takes_the_first_batch_and_no_other() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    for _ in 0..5 {
        rig.produce(Acks::One, 1);
    }
    let ready = rig.ready();
    assert_eq!(ready.len(), 2);
    assert!(
        ready.iter().all(|response| offsets(&partitions_of(response)[0]) == [10]),
        "the answers wait in the sockets of the stopped followers"
    );
    assert_eq!(rig.ends(), (15, 10));
}

#[test]
fn kip_227_an_answer_leaves_out_what_the_follower_knows() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    let expire = |rig: &mut Rig, id| {
        rig.timer(BrokerTimer::ParkedFetch(id));
        partitions_of(&rig.ready()[0]).len()
    };
    assert_eq!(expire(&mut rig, 1), 1, "a first answer tells everything");
    rig.fetch_of(2, 10);
    assert_eq!(expire(&mut rig, 3), 0, "nothing changed");
    let mut request = follower_fetch(2, 10, Some(5), Some(5));
    request.max_wait = Dur::ZERO;
    let mut reply = rig.reply_to(NodeId::Broker(b(2)));
    reply.conn.generation = 2;
    let handled = rig.with(|replicas, ctx, image| replicas.fetch(ctx, image, request, reply));
    assert_eq!(now(handled).high_watermark, 10, "a new connection is told again");
}

#[test]
fn kip_951_errors_name_the_newer_leader_from_3_7_on() {
    for (version, hinted) in [(Version::V4_1, true), (Version::V3_6, false)] {
        let mut rig =
            Rig::new(3, Setup { version, ..Setup::default() }, registration(&[1, 2, 3], &[1, 2, 3], Some(1), 5));
        let expected = hinted.then_some(LeaderHint { leader: b(1), epoch: LeaderEpoch(5) });
        assert_eq!(now(rig.fetch_request(consumer_fetch(0, Some(4)))).current_leader, expected);
        match rig.produce(Acks::One, 1) {
            Handled::Now(Some(Response::Partition(PartitionResponse::Produce { results }))) => {
                assert_eq!((results[0].error, results[0].current_leader), (ErrorCode::NotLeaderOrFollower, expected))
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn partitions_that_are_not_here_are_told_apart_from_unknown_ones() {
    let mut rig = Rig::new(4, Setup::default(), registration(&[1, 2, 3], &[1, 2, 3], Some(1), 5));
    assert_eq!(now(rig.consume(0)).error, ErrorCode::NotLeaderOrFollower);
    let mut elsewhere = consumer_fetch(0, None);
    elsewhere.partitions[0].tp = Tp { topic: TopicId(9), partition: 0 };
    assert_eq!(now(rig.fetch_request(elsewhere)).error, ErrorCode::UnknownTopicId);
    assert_eq!(
        produced_now(rig.produce_batches(Acks::One, alloc::vec![(T1, batch(1))])).0,
        ErrorCode::UnknownTopicOrPartition
    );
}

#[test]
fn min_bytes_counts_over_all_partitions_and_max_wait_ends_the_wait() {
    let setup = Setup { log: log_of(&[(5, 10)]), checkpoint: 10, min_isr: "1", ..Setup::default() };
    let mut rig = Rig::new(1, setup, registration(&[1], &[1], Some(1), 5));
    rig.image.replay(&MetadataRecord::Partition { tp: T1, registration: registration(&[1], &[1], Some(1), 0) });
    rig.apply(&[T1]);
    let mut request = consumer_fetch(10, None);
    request.min_bytes = 130;
    request.partitions.push(FetchPartition { tp: T1, ..ask(0, None, None) });
    assert_eq!(rig.fetch_request(request.clone()), Handled::Parked);
    rig.produce(Acks::One, 1);
    assert!(rig.ready().is_empty(), "69 bytes are not enough");
    rig.produce_batches(Acks::One, alloc::vec![(T1, batch(1))]);
    let ready = rig.ready();
    assert_eq!(partitions_of(&ready[0]).iter().map(|p| p.high_watermark).collect::<Vec<_>>(), [11, 1]);
    request.min_bytes = 1_000;
    assert_eq!(rig.fetch_request(request), Handled::Parked);
    rig.at(500).fire_due();
    assert_eq!(
        partitions_of(&rig.ready()[0]).iter().map(|p| p.batches.len()).collect::<Vec<_>>(),
        [1, 1],
        "after the wait it gets what there is"
    );
}

#[test]
fn idle_partitions_leave_no_trace() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    let before = rig.node.trace.len();
    for ms in [500, 1_000, 1_500] {
        rig.at(ms).fire_due();
        rig.fetch_of(2, 10);
        rig.fetch_of(3, 10);
    }
    assert_eq!(rig.node.trace.len(), before);
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::HighWatermarkAdvanced { .. })), 0);
}
