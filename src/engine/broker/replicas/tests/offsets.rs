//! ListOffsets, OffsetForLeaderEpoch, DeleteRecords and what is on the disk.

use super::rig::*;
use crate::base::*;
use crate::broker::replicas::{Handled, ReplicaRole};
use crate::node::BrokerTimer;
use crate::protocol::*;
use crate::trace::Kind;

fn delete(rig: &mut Rig, before: Offset) -> Handled {
    let reply = rig.reply_to(NodeId::Client(ClientId(1)));
    rig.with(|replicas, ctx, image| replicas.delete_records(ctx, image, T0, before, Dur::secs(30), reply))
}

fn deleted(error: ErrorCode, low_watermark: Offset) -> Response {
    Response::Partition(PartitionResponse::DeleteRecords { error, low_watermark })
}

#[test]
fn l_22_a_new_leader_does_not_name_its_end_before_its_epoch_is_committed() {
    let mut rig = Rig::leader(Setup { log: log_of(&[(4, 95), (4, 5)]), checkpoint: 95, ..Setup::default() });
    assert_eq!(rig.list_latest().error, ErrorCode::OffsetNotAvailable);
    rig.fetch_request(follower_fetch(2, 100, Some(4), Some(5)));
    rig.fetch_request(follower_fetch(3, 100, Some(4), Some(5)));
    let listed = rig.list_latest();
    assert_eq!((listed.error, listed.offset, listed.leader_epoch), (ErrorCode::None, 100, Some(LeaderEpoch(5))));
}

#[test]
fn followers_are_told_the_log_end_and_the_log_start() {
    let mut log = log_of(&[(4, 10), (5, 10)]);
    log.advance_start(10);
    let mut rig = Rig::leader(Setup { log, checkpoint: 10, ..Setup::default() });
    let request = ListOffsetsRequest {
        replica: Some(b(2)),
        isolation: Isolation::ReadUncommitted,
        partitions: alloc::vec![
            (T0, None, OffsetSpec::Latest),
            (T0, Some(LeaderEpoch(4)), OffsetSpec::Earliest),
            (T0, None, OffsetSpec::Earliest)
        ],
    };
    match rig.with(|replicas, ctx, image| replicas.list_offsets(ctx, image, &request)) {
        PartitionResponse::ListOffsets { partitions } => {
            assert_eq!(
                partitions.iter().map(|p| (p.error, p.offset)).collect::<alloc::vec::Vec<_>>(),
                [(ErrorCode::None, 20), (ErrorCode::FencedLeaderEpoch, -1), (ErrorCode::None, 10)]
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn l_10_offset_for_leader_epoch() {
    let mut rig = Rig::new(
        1,
        Setup { log: log_of(&[(0, 20), (1, 15), (3, 5)]), ..Setup::default() },
        registration(&[1, 2], &[1, 2], Some(1), 3),
    );
    let mut ask = |current: Option<i32>, epoch| {
        rig.with(|replicas, ctx, image| {
            replicas.offset_for_leader_epoch(ctx, image, T0, current.map(LeaderEpoch), epoch)
        })
    };
    let end = |epoch, end_offset| PartitionResponse::OffsetForLeaderEpoch {
        tp: T0,
        error: ErrorCode::None,
        end: Some(EpochEnd { epoch, end_offset }),
    };
    assert_eq!([ask(None, 0), ask(Some(3), 2), ask(None, 3)], [end(0, 20), end(1, 35), end(3, 40)]);
    assert_eq!(
        ask(Some(2), 0),
        PartitionResponse::OffsetForLeaderEpoch { tp: T0, error: ErrorCode::FencedLeaderEpoch, end: None }
    );
    assert_eq!(ask(None, 4), PartitionResponse::OffsetForLeaderEpoch { tp: T0, error: ErrorCode::None, end: None });
}

#[test]
fn deleting_records_waits_for_the_followers_log_starts() {
    let mut rig = Rig::leader(Setup { log: log_of(&[(5, 10), (5, 10)]), checkpoint: 20, ..Setup::default() });
    assert_eq!(delete(&mut rig, 21), Handled::Now(Some(deleted(ErrorCode::OffsetOutOfRange, -1))));
    assert_eq!(delete(&mut rig, 10), Handled::Parked);
    assert_eq!(rig.view().log_start, 10);
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::LogStartAdvanced { log_start: 10, .. })), 1);
    for (follower, done) in [(2, 0), (3, 1)] {
        let mut request = follower_fetch(follower, 20, Some(5), Some(5));
        request.partitions[0].log_start_offset = 10;
        rig.fetch_request(request);
        let ready = rig.ready();
        assert_eq!(ready.len(), done);
        assert!(ready.iter().all(|response| *response == deleted(ErrorCode::None, 10)));
    }
}

#[test]
fn deleting_records_does_not_wait_for_fenced_replicas_and_ends_with_its_time_out() {
    let mut rig = Rig::leader(Setup { log: log_of(&[(5, 10)]), checkpoint: 10, ..Setup::default() });
    assert_eq!(delete(&mut rig, -1), Handled::Parked);
    rig.at(30_000).fire_due();
    assert_eq!(rig.ready(), [deleted(ErrorCode::RequestTimedOut, -1)]);
    rig.fence(2, true);
    rig.fence(3, true);
    assert_eq!(delete(&mut rig, -1), Handled::Now(Some(deleted(ErrorCode::None, 10))));
}

#[test]
fn l_17_a_killed_process_finds_its_log_and_its_checkpoint() {
    let rig = Rig::follower(Setup { log: log_of(&[(5, 90), (5, 10)]), checkpoint: 90, ..Setup::default() });
    assert_eq!(rig.ends(), (100, 90));
    let beyond = Rig::follower(Setup { log: log_of(&[(5, 70)]), checkpoint: 90, ..Setup::default() });
    assert_eq!(beyond.ends(), (70, 70), "bounded by the log");
}

#[test]
fn high_watermarks_are_checkpointed_every_5_s_and_at_a_clean_stop() {
    let mut rig = Rig::leader(Setup::default());
    rig.produce(Acks::One, 10);
    rig.fetch_of(2, 10);
    rig.fetch_of(3, 10);
    assert_eq!(rig.node.disk.hw_checkpoint.get(&T0), None);
    rig.at(5_000).fire_due();
    assert_eq!(rig.node.disk.hw_checkpoint.get(&T0), Some(&10));
    rig.produce(Acks::One, 1);
    rig.fetch_of(2, 11);
    rig.fetch_of(3, 11);
    rig.with(|replicas, ctx, _| replicas.shutdown(ctx));
    assert_eq!(rig.node.disk.hw_checkpoint.get(&T0), Some(&11));
}

#[test]
fn a_deleted_topic_leaves_nothing_behind() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    rig.produce(Acks::All, 1);
    rig.ready();
    rig.image.replay(&MetadataRecord::RemoveTopic { topic: TopicId(1) });
    rig.with(|replicas, ctx, image| replicas.apply(ctx, image, &[], &[T0]));
    assert_eq!(produced(&rig.ready()[0]), (ErrorCode::UnknownTopicOrPartition, -1));
    assert!(rig.node.disk.logs.is_empty() && rig.replicas.replica(T0).is_none());
}

#[test]
fn a_leaderless_partition_is_neither_led_nor_followed() {
    let mut rig = Rig::follower(Setup { log: log_of(&[(5, 10)]), checkpoint: 10, ..Setup::default() });
    rig.change(|change| change.leader = Some(None));
    assert_eq!((rig.view().role, rig.view().leader_epoch), (ReplicaRole::Leaderless, LeaderEpoch(6)));
    assert!(rig.drive().is_empty());
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::BecameLeaderless { .. })), 1);
    assert_eq!(rig.list_latest().error, ErrorCode::NotLeaderOrFollower);
}

#[test]
fn an_older_record_changes_nothing() {
    let mut rig = Rig::leader(Setup::default());
    let newer = rig.image.clone();
    rig.change(|change| change.isr = Some(ids(&[1, 2])));
    rig.image = newer;
    rig.apply(&[T0]);
    assert_eq!((rig.view().isr, rig.view().partition_epoch), (&ids(&[1, 2])[..], PartitionEpoch(6)));
}

#[test]
fn timers_of_others_are_left_alone() {
    let mut rig = Rig::leader(Setup::default());
    let before = rig.replicas.clone();
    rig.timer(BrokerTimer::Heartbeat);
    assert_eq!(rig.replicas, before);
}
