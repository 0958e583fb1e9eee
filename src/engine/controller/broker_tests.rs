//! Registration, heartbeats, fencing, controlled shutdown and AlterPartition, by Kafka's steps and the recordings.

use alloc::vec::Vec;

use super::heartbeats::{BrokerState, HeartbeatFacts, next_state};
use super::testing::{Bench, T};
use crate::base::{BrokerEpoch, Dur, SimTime};
use crate::protocol::{
    AlterPartitionRequest, ControllerRequest, ControllerResponse, ErrorCode, LeaderRecoveryState, Request, Response,
};
use crate::rules::Version;
use crate::trace::Kind;

fn fenced_at(bench: &Bench, id: u32) -> Vec<SimTime> {
    bench
        .node
        .trace
        .iter()
        .filter(|e| matches!(&e.kind, Kind::BrokerFenced { broker, .. } if broker.0 == id))
        .map(|e| e.at)
        .collect()
}

#[test]
fn bootstrap_of_a_new_cluster() {
    let b = Bench::new(Version::V4_1, &[("min.insync.replicas", "2")]);
    assert_eq!(
        b.batches(0)[1],
        ["FeatureLevel", "FeatureLevel", "FeatureLevel", "FeatureLevel", "min.insync.replicas=2"]
    );
    let features: Vec<(&str, i16)> = b.controller.image().features.iter().map(|(k, v)| (*k, *v)).collect();
    assert_eq!(
        features,
        [
            ("eligible.leader.replicas.version", 1),
            ("group.version", 1),
            ("metadata.version", 27),
            ("transaction.version", 2)
        ]
    );
    assert_eq!(Bench::new(Version::V3_9, &[]).batches(0)[1], ["FeatureLevel"]);
}

#[test]
fn c_11_unfencing_needs_the_own_registration() {
    let mut b = Bench::new(Version::V4_1, &[]);
    let (_, epoch) = b.register(1, None);
    assert_eq!(b.heartbeat(1, epoch, epoch.0, false, false), (ErrorCode::None, true, false));
    assert_eq!(b.heartbeat(1, epoch, epoch.0 + 1, true, false), (ErrorCode::None, true, false));
    assert_eq!(b.heartbeat(1, epoch, epoch.0 + 1, false, false), (ErrorCode::None, false, false));
}

#[test]
fn c_12_time_of_fencing() {
    // Runs at multiples of 1125 ms; a session of exactly 9000 ms is not over.
    for (last, expected) in [(1_125, 11_250), (1_124, 10_125)] {
        let mut b = Bench::new(Version::V4_1, &[]);
        b.up(1, None);
        b.run_until(last);
        b.beat(1, false, false);
        b.run_until(20_000);
        assert_eq!(fenced_at(&b, 1), [SimTime(expected * 1_000)], "last heartbeat at {last}");
    }
    let mut b = Bench::new(Version::V3_9, &[]);
    b.up(1, None);
    b.run_until(1_125);
    b.beat(1, false, false);
    b.run_until(20_000);
    assert_eq!(fenced_at(&b, 1), [SimTime(10_125_000)]);
}

#[test]
fn c_10_c_23_a_second_incarnation_waits_for_the_session() {
    // A clean stop: 4.1 refuses until the session is over, 3.9 registers at once.
    for (version, refused) in [(Version::V4_1, true), (Version::V3_9, false)] {
        let mut b = Bench::cluster(version, 3, &[1, 2, 3], "1");
        let epoch = b.epoch(3);
        assert!(b.beat(3, false, true).2, "it leads nothing");
        b.run_until(800);
        let expected = if refused { ErrorCode::DuplicateBrokerRegistration } else { ErrorCode::None };
        assert_eq!(b.register(3, Some(epoch)).0, expected, "{version:?}");
        if refused {
            b.run_until(9_000);
            assert_eq!(b.register(3, Some(epoch)).0, ErrorCode::DuplicateBrokerRegistration);
            b.run_until(9_001);
            assert_eq!(b.register(3, Some(epoch)).0, ErrorCode::None);
        }
    }
    // After a kill nobody registers beside a living session.
    let mut b = Bench::cluster(Version::V3_9, 3, &[1, 2, 3], "1");
    b.run_until(800);
    assert_eq!(b.register(3, None).0, ErrorCode::DuplicateBrokerRegistration);
}

#[test]
fn c_31_registration_before_the_fencing_run() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    b.run_with(&[2, 3], Dur::ms(9_001));
    let from = b.end();
    assert_eq!(b.register(1, None).0, ErrorCode::None);
    b.run_with(&[2, 3], Dur::secs(3));
    assert_eq!(b.batches(from), [["1-0 isr 2,3 leader 2", "register 1"]], "one batch, and no fencing record");
    let (_, registered) = (0, b.epoch(1));
    assert_eq!(registered, BrokerEpoch(from + 1), "the broker epoch is the offset of its record");
}

#[test]
fn c_19_stale_epochs() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    assert_eq!(b.heartbeat(1, BrokerEpoch(1), 100, false, false).0, ErrorCode::StaleBrokerEpoch);
    assert_eq!(b.heartbeat(9, BrokerEpoch(1), 100, false, false).0, ErrorCode::BrokerIdNotRegistered);
    let item = b.item(&[1]);
    let request = AlterPartitionRequest {
        broker: crate::base::BrokerId(1),
        broker_epoch: BrokerEpoch(1),
        partitions: [item].to_vec(),
    };
    assert_eq!(
        b.ask(1, Request::Controller(ControllerRequest::AlterPartition(request))),
        Response::Controller(ControllerResponse::AlterPartition {
            error: ErrorCode::StaleBrokerEpoch,
            partitions: Vec::new()
        })
    );
}

#[test]
fn state_table_of_heartbeats() {
    use BrokerState::*;
    let facts =
        HeartbeatFacts { want_fence: false, want_shut_down: false, caught_up: true, leads: true, others_know: true };
    let fence = HeartbeatFacts { want_fence: true, ..facts };
    let stop = HeartbeatFacts { want_shut_down: true, ..facts };
    let idle_stop = HeartbeatFacts { leads: false, ..stop };
    let table = [
        (Fenced, stop, ShutdownNow),
        (Fenced, facts, Unfenced),
        (Fenced, fence, Fenced),
        (Fenced, HeartbeatFacts { caught_up: false, ..facts }, Fenced),
        (Unfenced, facts, Unfenced),
        (Unfenced, HeartbeatFacts { want_fence: true, ..stop }, ShutdownNow),
        (Unfenced, fence, Fenced),
        (Unfenced, stop, ControlledShutdown),
        (Unfenced, idle_stop, ShutdownNow),
        (ControlledShutdown, stop, ControlledShutdown),
        (ControlledShutdown, idle_stop, ShutdownNow),
        (ControlledShutdown, HeartbeatFacts { others_know: false, ..idle_stop }, ControlledShutdown),
    ];
    for (now, facts, expected) in table {
        assert_eq!(next_state(now, facts), expected, "{now:?} {facts:?}");
    }
}

#[test]
fn c_24_steps_of_a_clean_stop() {
    let mut b = Bench::new(Version::V4_1, &[]);
    for id in 1..=3 {
        b.up(id, None);
    }
    for (name, replicas) in [("a", [3, 1, 2]), ("b", [1, 3, 2]), ("c", [2, 3, 1])] {
        assert_eq!(b.topic(name, &replicas, &[]), ErrorCode::None);
    }
    b.run_with(&[1, 2, 3], Dur::secs(2));
    let from = b.end();
    assert_eq!(b.beat(3, false, true), (ErrorCode::None, false, false));
    assert_eq!(b.batches(from), [["stopping 3", "1-0 isr 1,2 leader 1", "2-0 isr 1,2", "3-0 isr 2,1"]]);
    b.run_until(2_050);
    assert_eq!(b.beat(3, false, true), (ErrorCode::None, false, false), "the others have not reported yet");
    b.run_until(4_000);
    b.beat(1, false, false);
    b.beat(2, false, false);
    b.run_until(4_050);
    let from = b.end();
    assert_eq!(b.beat(3, false, true), (ErrorCode::None, true, true));
    assert_eq!(b.batches(from), [["fence 3"]]);
    // The session goes on without a broker and ends in the same record once more.
    let from = b.end();
    b.run_with(&[1, 2], Dur::secs(12));
    assert_eq!(b.batches(from), [["fence 3"]]);
    assert_eq!(fenced_at(&b, 3).len(), 1);
}

#[test]
fn c_16_stop_of_the_last_member() {
    let mut b = Bench::cluster(Version::V4_1, 1, &[1], "1");
    let from = b.end();
    assert_eq!(b.beat(1, false, true), (ErrorCode::None, false, false));
    assert_eq!(b.batches(from), [["stopping 1", "1-0 isr  leader none elr 1 known 1"]]);
    assert_eq!(
        b.beat(1, false, true),
        (ErrorCode::None, true, true),
        "the last active broker goes with its second heartbeat"
    );
    let mut b = Bench::cluster(Version::V3_9, 1, &[1], "1");
    let from = b.end();
    b.beat(1, false, true);
    assert_eq!(b.batches(from), [["stopping 1", "1-0 leader none"]]);
}

#[test]
fn c_25_stop_of_a_broker_that_leads_nothing() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    let from = b.end();
    assert_eq!(b.beat(2, false, true), (ErrorCode::None, true, true));
    assert_eq!(b.batches(from), [["1-0 isr 1,3", "fence 2"]]);
}

#[test]
fn r_11_order_of_tests_of_alter_partition() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    b.fence(1);
    b.up(1, None);
    // Leader 2 in epoch 1.
    assert_eq!(b.alter_error(2, -1, -1, &[2]), ErrorCode::FencedLeaderEpoch);
    assert_eq!(b.alter_error(2, 0, -1, &[2]), ErrorCode::InvalidUpdateVersion);
    assert_eq!(b.alter_error(2, 1, 0, &[2]), ErrorCode::NotController);
    assert_eq!(b.alter_error(2, 0, 1, &[2]), ErrorCode::NotController);
    assert_eq!(b.alter_error(3, 0, -1, &[3]), ErrorCode::InvalidRequest, "not the leader, before the partition epoch");
    assert_eq!(b.alter_error(2, 0, 0, &[3]), ErrorCode::InvalidRequest, "without the leader");
    assert_eq!(b.alter_error(2, 0, 0, &[2, 9]), ErrorCode::InvalidRequest, "not a replica");
    let mut recovering = b.item(&[2]);
    recovering.leader_recovery = LeaderRecoveryState::Recovering;
    assert_eq!(b.alter(2, recovering).1.map(|p| p.error), Some(ErrorCode::InvalidRequest), "it has recovered");
    let mut old_incarnation = b.item(&[2, 3, 1]);
    old_incarnation.new_isr[2].1 = Some(BrokerEpoch(1));
    assert_eq!(b.alter(2, old_incarnation).1.map(|p| p.error), Some(ErrorCode::IneligibleReplica));
    let mut unknown = b.item(&[2]);
    unknown.tp.partition = 5;
    assert_eq!(b.alter(2, unknown.clone()).1.map(|p| p.error), Some(ErrorCode::UnknownTopicOrPartition));
    unknown.tp.topic.0 = 7;
    assert_eq!(b.alter(2, unknown).1.map(|p| p.error), Some(ErrorCode::UnknownTopicId));
    // And a good one: stored as sent.
    let item = b.item(&[2, 3, 1]);
    let (error, answered) = b.alter(2, item);
    let after = b.partition();
    assert_eq!(error, ErrorCode::None);
    assert_eq!(
        answered.map(|p| (p.error, p.partition_epoch, p.isr)),
        Some((ErrorCode::None, after.partition_epoch, after.isr.clone()))
    );
    assert_eq!(after.isr, super::testing::ids(&[2, 3, 1]));
}

#[test]
fn r_12_a_fenced_or_stopping_replica_cannot_join() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    b.fence(3);
    assert_eq!(b.alter_error(1, 0, 0, &[1, 2, 3]), ErrorCode::IneligibleReplica);
}

#[test]
fn producer_id_blocks_do_not_overlap() {
    let mut b = Bench::cluster(Version::V4_1, 2, &[1, 2], "1");
    for (broker, expected) in [(1, 0), (2, 1_000), (1, 2_000)] {
        let request = Request::Controller(ControllerRequest::AllocateProducerIds {
            broker: crate::base::BrokerId(broker),
            epoch: b.epoch(broker),
        });
        assert_eq!(
            b.ask(broker, request),
            Response::Controller(ControllerResponse::AllocateProducerIds {
                error: ErrorCode::None,
                start: expected,
                len: 1_000
            })
        );
    }
    let stale = Request::Controller(ControllerRequest::AllocateProducerIds {
        broker: crate::base::BrokerId(1),
        epoch: BrokerEpoch(0),
    });
    assert_eq!(
        b.ask(1, stale),
        Response::Controller(ControllerResponse::AllocateProducerIds {
            error: ErrorCode::StaleBrokerEpoch,
            start: -1,
            len: 0
        })
    );
}

#[test]
fn every_note_of_a_change_leads_back_to_its_decision() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    let from = b.end();
    b.fence(1);
    let fenced = b.node.trace.iter().rfind(|e| matches!(e.kind, Kind::BrokerFenced { .. })).expect("a note").seq;
    let elected =
        b.node.trace.iter().rfind(|e| matches!(e.kind, Kind::LeaderElected { tp, .. } if tp == T)).expect("a note");
    assert_eq!(elected.cause, fenced);
    assert_eq!(b.node.disk.metadata_log.batch_at(from).map(|batch| batch.origin), Some(fenced));
}

#[test]
fn an_idle_record_does_not_come_of_whoever_wrote_last() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    let activated = b.node.trace.iter().rfind(|e| matches!(e.kind, Kind::ControllerActivated { .. }));
    let activated = activated.expect("it is active").seq;
    let from = b.end();
    b.run_with(&[], Dur::ms(1_200));
    let idle: Vec<_> = b.node.disk.metadata_log.batches_from(from).map(|batch| batch.origin).collect();
    assert_eq!(idle, [activated, activated], "one each half second, of the activation and not of the last request");
}
