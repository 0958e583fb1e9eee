//! Consumers against a bench of brokers with one member to a group. Rebalances of several members are tested with whole
//! worlds.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use std::rc::Rc as Shared;

use super::assignor;
use crate::base::{BrokerId, Dur, LeaderEpoch, SimTime, TopicId, Tp};
use crate::client::config::ProducerConfig;
use crate::client::metadata::Metadata;
use crate::client::testing::{Bench, Reply, TP0};
use crate::client::{Client, ClientKind, ClientVersion, ConsumerSpec, ConsumerStatus, PollForm};
use crate::node::message::{ClientCommand, Event};
use crate::node::testing::TestNode;
use crate::protocol::config::config_map;
use crate::protocol::*;
use crate::trace::{Callback, Kind};

mod closing;
mod look_ups;
mod membership;
mod preparing;

fn spec(version: ClientVersion, poll: PollForm, config: &[(&str, &str)]) -> ConsumerSpec {
    let mut all = vec![("auto.offset.reset", "earliest"), ("enable.auto.commit", "false")];
    all.retain(|(key, _)| config.iter().all(|(other, _)| other != key));
    all.extend_from_slice(config);
    ConsumerSpec {
        version,
        poll,
        group: "g".into(),
        topics: vec!["t".into()],
        config: config_map(&all),
        poll_every: Dur::ms(200),
        commit_every: Some(Dur::secs(1)),
    }
}

fn start(bench: &mut Bench, version: ClientVersion, poll: PollForm, config: &[(&str, &str)]) -> Client {
    bench.start(ClientKind::Consumer(spec(version, poll, config))).expect("allowed configs")
}

fn callbacks(bench: &Bench) -> Vec<(Callback, usize)> {
    bench
        .notes()
        .filter_map(|(_, k)| {
            if let Kind::RebalanceCallback { callback, partitions, .. } = k {
                Some((*callback, partitions.len()))
            } else {
                None
            }
        })
        .collect()
}

fn failed_commits(bench: &Bench) -> usize {
    bench.count(|k| matches!(k, Kind::CommitFailed { exception: "RetriableCommitFailedException", .. }))
}

#[test]
fn g_17_range_gives_the_first_members_one_more() {
    let config = ProducerConfig::parse(ClientVersion::V4_1, &ConfigMap::new()).expect("defaults").common;
    let mut metadata = Metadata::new(vec![], config, true);
    let partition = PartitionMetadata {
        error: ErrorCode::None,
        leader: Some(BrokerId(1)),
        leader_epoch: LeaderEpoch(0),
        replicas: vec![],
        isr: vec![],
    };
    let topic = TopicMetadata {
        error: ErrorCode::None,
        name: "t".into(),
        topic: Some(TopicId(1)),
        partitions: vec![partition; 10],
    };
    let mut node = TestNode::new(crate::base::NodeId::Client(crate::base::ClientId(1)));
    metadata.on_answer(&mut node.ctx(), MetadataResponse { brokers: vec![], topics: vec![topic] });
    let member = |id: &str, instance: Option<&str>| {
        (Rc::from(id), instance.map(Rc::from), Subscription { topics: vec!["t".into()], owned: vec![] })
    };
    let numbers = |members: &[assignor::Member]| -> Vec<(std::string::String, Vec<u32>)> {
        assignor::range(members, &metadata)
            .into_iter()
            .map(|(id, tps)| (std::string::String::from(&*id), tps.iter().map(|tp| tp.partition).collect()))
            .collect()
    };
    let four = numbers(&[member("c", None), member("a", None), member("d", None), member("b", None)]);
    assert_eq!(
        four,
        [("a".into(), vec![0, 1, 2]), ("b".into(), vec![3, 4, 5]), ("c".into(), vec![6, 7]), ("d".into(), vec![8, 9])]
    );
    let statics = numbers(&[member("a", None), member("z", Some("s2")), member("y", Some("s1"))]);
    assert_eq!(statics.iter().map(|(id, _)| &**id).collect::<Vec<_>>(), ["y", "z", "a"]);
}

#[test]
fn a_member_joins_reads_and_commits() {
    let mut bench = Bench::new(&[1, 2]);
    bench.fill(0, 10);
    bench.fill(1, 5);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 3_000);
    assert_eq!(bench.delivered(), 15);
    assert_eq!(callbacks(&bench), [(Callback::Assigned, 2)]);
    assert_eq!(bench.committed.get(&TP0).map(|o| o.offset), Some(10));
    assert_eq!(client.as_consumer().map(|c| c.status(bench.node.now)), Some(ConsumerStatus::CaughtUp));
    bench.send(&mut client, Event::Shutdown);
    bench.run(&mut client, 4_000);
    assert!(bench.exited);
    assert_eq!(callbacks(&bench).last(), Some(&(Callback::Revoked, 2)));
    assert!(matches!(bench.requests.last(), Some((_, _, Request::Group(GroupRequest::LeaveGroup(_))))));
}

#[test]
fn old_clients_call_revoked_before_their_first_join() {
    let mut bench = Bench::new(&[1, 2]);
    let mut client = start(&mut bench, ClientVersion::V2_3, PollForm::Duration, &[]);
    bench.run(&mut client, 1_000);
    assert_eq!(callbacks(&bench), [(Callback::Revoked, 0), (Callback::Assigned, 2)]);
}

/// The coordinator's broker dies for good; it is named for 8.5 s more. 100 records are produced after 12 s.
fn without_coordinator(version: ClientVersion, poll: PollForm) -> (usize, usize, u64) {
    let mut bench = Bench::new(&[2, 3]);
    let mut client = start(&mut bench, version, poll, &[]);
    bench.run(&mut client, 10_000);
    bench.kill(1);
    bench.run(&mut client, 18_500);
    bench.coordinator = Err(ErrorCode::CoordinatorNotAvailable);
    bench.run(&mut client, 22_000);
    bench.fill(0, 50);
    bench.fill(1, 50);
    bench.run(&mut client, 52_150);
    assert_eq!(callbacks(&bench).iter().filter(|c| c.0 == Callback::Assigned).count(), 1);
    (bench.delivered(), failed_commits(&bench), client.as_consumer().map_or(0, |c| c.counts().slow_polls))
}

#[test]
fn g_28_what_is_read_without_a_coordinator_depends_on_version_and_form_of_poll() {
    let duration = |version| without_coordinator(version, PollForm::Duration);
    let long = |version| without_coordinator(version, PollForm::Long);
    for version in [ClientVersion::V2_5, ClientVersion::V3_9, ClientVersion::V4_1] {
        let (read, failed, slow) = duration(version);
        assert_eq!((read, slow), (100, 0), "{version:?}");
        assert!((39..=44).contains(&failed), "{version:?}: one commit a second fails, {failed} did");
    }
    let (read, failed, _) = duration(ClientVersion::V2_3);
    assert_eq!(read, 0);
    assert!((39..=43).contains(&failed), "{failed}");
    for version in [ClientVersion::V2_3, ClientVersion::V3_9] {
        let (read, failed, slow) = long(version);
        assert_eq!((read, slow), (0, 0), "{version:?}: its poll has not returned");
        assert!(
            (4..=8).contains(&failed),
            "{version:?}: commits are tried only while a dead coordinator is named, {failed}"
        );
    }
    assert_eq!(duration(ClientVersion::V1_1).0, 0, "1.1 has one form of poll");
}

#[test]
fn e_02_a_poll_that_found_a_dead_coordinator_still_takes_its_own_time() {
    const RUNS: usize = 12;
    let versions = [ClientVersion::V1_1, ClientVersion::V2_3, ClientVersion::V3_9];
    for version in versions {
        let failed: usize = (0..RUNS).map(|run| commits_without_a_coordinator(version, run)).sum();
        let each = failed / RUNS;
        // A round of less than a second commits nothing, and the next one does.
        assert!((128..=150).contains(&each), "{version:?}: one in 1.27 s on average, {each} in 177 s");
    }
}

/// How many commits fail in three minutes; `run` shifts chance.
fn commits_without_a_coordinator(version: ClientVersion, run: usize) -> usize {
    let mut bench = Bench::new(&[2, 3]);
    for _ in 0..run {
        bench.node.rng.below(2);
    }
    let mut client = start(&mut bench, version, PollForm::Long, &[]);
    bench.run(&mut client, 3_000);
    bench.kill(1);
    bench.run(&mut client, 183_000);
    let times = |is: fn(&Kind) -> bool| {
        bench
            .notes()
            .filter(|(at, k)| *at > SimTime(6_000_000) && is(k))
            .map(|(at, _)| at.0 / 1_000)
            .collect::<Vec<u64>>()
    };
    let found = times(|k| matches!(k, Kind::CoordinatorDiscovered { .. }));
    let failed = times(|k| matches!(k, Kind::CommitFailed { .. }));
    for at in failed.iter().skip(1) {
        let since = found.iter().rev().find(|f| *f < at).map(|f| at - f);
        assert!(
            since.is_some_and(|ms| (200..300).contains(&ms)),
            "{version:?}: a commit at {at}, {since:?} ms after the last answer that was believed"
        );
    }
    failed.len()
}

#[test]
fn g_29_partitions_whose_leader_moved_stand_still_until_the_coordinator_is_back() {
    let mut bench = Bench::new(&[1, 2, 3]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[("session.timeout.ms", "10000")]);
    (0..3).for_each(|p| bench.fill(p, 1));
    bench.run(&mut client, 5_000);
    assert_eq!(bench.delivered(), 3);
    bench.kill(1);
    bench.coordinator = Err(ErrorCode::CoordinatorNotAvailable);
    bench.partition(0).leader = Some(BrokerId(2));
    bench.partition(0).epoch = 1;
    (0..3).for_each(|p| bench.fill(p, 10));
    bench.run(&mut client, 30_000);
    assert_eq!(bench.delivered(), 23, "the two others are read");
    let status = client.as_consumer().map(|c| c.status(bench.node.now));
    assert_eq!(
        status,
        Some(ConsumerStatus::StuckWithoutCoordinator {
            error: Some(ErrorCode::CoordinatorNotAvailable),
            reads_on: true,
            standing: vec![TP0]
        })
    );
    bench.down.clear();
    bench.coordinator = Ok(BrokerId(1));
    bench.run(&mut client, 36_000);
    assert_eq!(bench.delivered(), 33);
    assert_eq!(callbacks(&bench).len(), 1, "same generation, no rebalance");
    assert!(
        bench.requests.iter().any(|(_, broker, r)| *broker == BrokerId(2)
            && matches!(r, Request::Partition(PartitionRequest::OffsetForLeaderEpoch { .. }))),
        "validated first"
    );
}

#[test]
fn g_27_auto_commit_commits_what_earlier_polls_returned() {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 700);
    let mut spec = spec(ClientVersion::V4_1, PollForm::Duration, &[("enable.auto.commit", "true")]);
    spec.commit_every = None;
    spec.poll_every = Dur::secs(6);
    let mut client = bench.start(ClientKind::Consumer(spec)).expect("allowed");
    bench.run(&mut client, 5_900);
    assert_eq!((bench.delivered(), bench.committed.len()), (500, 0));
    bench.run(&mut client, 6_100);
    assert_eq!(bench.delivered(), 700);
    assert_eq!(bench.committed.get(&TP0).map(|o| o.offset), Some(500));
}

#[test]
fn g_10_and_g_35_reset_decides_where_a_lost_position_goes_on() {
    for (reset, read) in [("earliest", 5), ("latest", 0), ("none", 0)] {
        let mut bench = Bench::new(&[1]);
        bench.fill(0, 20);
        bench.partition(0).start = 15;
        bench.partition(0).log.drain(..15);
        bench
            .committed
            .insert(TP0, OffsetAndMetadata { offset: 10, leader_epoch: None, commit_timestamp: SimTime::ZERO });
        let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[("auto.offset.reset", reset)]);
        bench.run(&mut client, 4_000);
        assert_eq!(bench.delivered(), read, "{reset}");
        let threw = bench.count(|k| matches!(k, Kind::PollFailed { exception: "OffsetOutOfRangeException", .. }));
        assert_eq!(threw > 1, reset == "none", "{reset}: {threw}");
        let committed = bench.committed.get(&TP0).map(|o| o.offset);
        assert_eq!(
            committed,
            Some(if reset == "none" { 10 } else { 20 }),
            "{reset}: positions are committed, also where nothing was read"
        );
    }
}

#[test]
fn a_new_group_without_reset_throws() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[("auto.offset.reset", "none")]);
    bench.run(&mut client, 2_000);
    assert!(bench.count(|k| matches!(k, Kind::PollFailed { exception: "NoOffsetForPartitionException", .. })) > 1);
}

#[test]
fn g_11_a_log_that_was_cut_takes_the_position_back_to_where_histories_part() {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 100);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 3_000);
    assert_eq!(bench.delivered(), 100);
    bench.kill(1);
    bench.coordinator = Ok(BrokerId(2));
    let partition = bench.partition(0);
    (partition.leader, partition.epoch) = (Some(BrokerId(2)), 1);
    partition.log.truncate(60);
    bench.run(&mut client, 6_000);
    assert_eq!(bench.count(|k| matches!(k, Kind::PositionReset { offset: 60, .. })), 1);
    bench.fill(0, 3);
    bench.run(&mut client, 7_000);
    assert_eq!(bench.delivered(), 103);
}

#[test]
fn g_31_a_member_that_does_not_poll_leaves_and_loses_its_partitions() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[("max.poll.interval.ms", "6000")]);
    bench.run(&mut client, 2_000);
    bench.send(&mut client, Event::Command(ClientCommand::PausePolling { span: Dur::secs(15) }));
    bench.run(&mut client, 12_000);
    let left = bench
        .requests
        .iter()
        .find(|(_, _, r)| matches!(r, Request::Group(GroupRequest::LeaveGroup(_))))
        .map(|(at, _, _)| at.0 / 1_000_000);
    assert!(left.is_some_and(|at| (7..=8).contains(&at)), "{left:?}");
    assert_eq!(callbacks(&bench), [(Callback::Assigned, 1)], "the application is not told while it does not poll");
    bench.run(&mut client, 20_000);
    assert_eq!(callbacks(&bench), [(Callback::Assigned, 1), (Callback::Lost, 1), (Callback::Assigned, 1)]);
}

#[test]
fn a_rebalance_revokes_and_assigns_and_an_unknown_member_loses() {
    for (error, told) in
        [(ErrorCode::RebalanceInProgress, Callback::Revoked), (ErrorCode::UnknownMemberId, Callback::Lost)]
    {
        let mut bench = Bench::new(&[1, 2]);
        let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
        bench.run(&mut client, 1_000);
        let once = Cell::new(false);
        bench.hook = Some(Box::new(move |_, r| {
            (matches!(r, Request::Group(GroupRequest::Heartbeat(_))) && !once.replace(true))
                .then_some(Reply::Answer(Response::Group(GroupResponse::Heartbeat { error })))
        }));
        bench.run(&mut client, 5_000);
        assert_eq!(callbacks(&bench), [(Callback::Assigned, 2), (told, 2), (Callback::Assigned, 2)], "{error:?}");
    }
}

#[test]
fn g_07_a_coordinator_that_moves_costs_no_rebalance() {
    let mut bench = Bench::new(&[2]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 4_000);
    bench.kill(1);
    bench.run(&mut client, 12_000);
    bench.coordinator = Ok(BrokerId(3));
    bench.fill(0, 5);
    bench.run(&mut client, 20_000);
    assert_eq!(callbacks(&bench).len(), 1);
    assert_eq!(bench.committed.get(&TP0).map(|o| o.offset), Some(5));
    assert!(
        bench
            .requests
            .iter()
            .any(|(_, broker, r)| *broker == BrokerId(3) && matches!(r, Request::Group(GroupRequest::Heartbeat(_))))
    );
}

#[test]
fn g_18_a_commit_of_a_removed_member_fails_for_good() {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 3);
    let once = Cell::new(false);
    bench.hook = Some(Box::new(move |_, r| {
        let Request::Group(GroupRequest::OffsetCommit(commit)) = r else { return None };
        let results = commit.offsets.iter().map(|(tp, _)| (*tp, ErrorCode::UnknownMemberId)).collect();
        (!once.replace(true)).then_some(Reply::Answer(Response::Group(GroupResponse::OffsetCommit { results })))
    }));
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 4_000);
    assert_eq!(bench.count(|k| matches!(k, Kind::CommitFailed { exception: "CommitFailedException", .. })), 1);
    assert_eq!(callbacks(&bench)[1], (Callback::Lost, 1));
}

#[test]
fn seek_reads_again_from_there() {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 10);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 2_000);
    bench.send(&mut client, Event::Command(ClientCommand::Seek { topic: "t".into(), partition: 0, offset: 4 }));
    bench.run(&mut client, 4_000);
    assert_eq!(bench.delivered(), 16);
    let position = client
        .as_consumer()
        .and_then(|c| c.partitions().next().and_then(|(tp, p)| p.position.map(|at| (tp, at.offset))));
    assert_eq!(position, Some((Tp { topic: TopicId(1), partition: 0 }, 10)));
}

#[test]
fn a_coordinator_that_says_nothing_for_a_session_is_looked_for_again() {
    let mut bench = Bench::new(&[2]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[("session.timeout.ms", "10000")]);
    bench.run(&mut client, 4_000);
    bench.frozen.insert(BrokerId(1));
    bench.coordinator = Ok(BrokerId(3));
    bench.run(&mut client, 12_000);
    let lost = |bench: &Bench| {
        bench.notes().find_map(|(at, k)| matches!(k, Kind::CoordinatorUnknown { .. }).then_some(at.0 / 1_000))
    };
    assert_eq!(lost(&bench), None);
    // The look-up itself may fall on the frozen broker, and then costs a request time-out.
    bench.run(&mut client, 60_000);
    assert!(lost(&bench).is_some_and(|at| (13_000..=14_000).contains(&at)), "{:?}", lost(&bench));
    assert_eq!(callbacks(&bench).len(), 1);
    assert!(
        bench
            .requests
            .iter()
            .any(|(_, broker, r)| *broker == BrokerId(3) && matches!(r, Request::Group(GroupRequest::Heartbeat(_))))
    );
}

#[test]
fn the_same_run_twice_leaves_the_same_client() {
    let run = || {
        let mut bench = Bench::new(&[1, 2, 3]);
        (0..3).for_each(|p| bench.fill(p, 10));
        let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
        bench.run(&mut client, 5_000);
        bench.kill(2);
        bench.run(&mut client, 9_000);
        (crate::base::digest_of(&client), bench.node.trace.len())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_fetch_that_is_told_the_new_leader_asks_it_without_a_rest() {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 1);
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 2_000);
    assert_eq!(bench.delivered(), 1);
    // The old leader answers each fetch after 50 ms, with the name of the new one once there is one.
    let moved = Shared::new(Cell::new(false));
    let seen = moved.clone();
    bench.hook = Some(Box::new(move |broker, request| {
        let hint = LeaderHint { leader: BrokerId(2), epoch: LeaderEpoch(3) };
        (broker == BrokerId(1) && matches!(request, Request::Partition(PartitionRequest::Fetch(_)))).then(|| {
            let partition = FetchedPartition {
                tp: TP0,
                error: if seen.get() { ErrorCode::NotLeaderOrFollower } else { ErrorCode::None },
                high_watermark: 1,
                last_stable_offset: 1,
                log_start_offset: 0,
                diverging: None,
                current_leader: seen.get().then_some(hint),
                batches: vec![],
            };
            Reply::After(Dur::ms(50), Response::Partition(PartitionResponse::Fetch { partitions: vec![partition] }))
        })
    }));
    bench.run(&mut client, 3_000);
    moved.set(true);
    bench.partition(0).leader = Some(BrokerId(2));
    bench.partition(0).epoch = 3;
    bench.run(&mut client, 4_000);
    let fetches = |wanted: u32| {
        bench
            .requests
            .iter()
            .filter(move |(_, broker, r)| {
                *broker == BrokerId(wanted) && matches!(r, Request::Partition(PartitionRequest::Fetch(_)))
            })
            .map(|(at, _, _)| *at)
    };
    let refused = fetches(1).next_back().expect("the old leader was asked") + Dur::ms(50);
    let asked = fetches(2).next().expect("the new leader is asked");
    // A connection and a validation of the position come first.
    assert!(asked.since(refused) < Dur::ms(10), "{:?}", asked.since(refused));
}
