//! Decision tables of section 5.11 and checks E-01 to E-25, as far as the controller alone decides them.

use alloc::vec::Vec;

use super::election::Election;
use super::testing::{Bench, T, ids};
use crate::base::{BrokerId, Dur};
use crate::protocol::config::config_map;
use crate::protocol::{
    ClusterRequest, ClusterResponse, ConfigTarget, ErrorCode, MetadataRecord, PartitionChange, Request, Response,
};
use crate::rules::Version;

#[derive(Clone, Copy, Debug)]
enum Event {
    Fence(u32),
    Unfence(u32),
    Stop(u32),
    Preferred,
    Unclean(u32),
    Alter(&'static [u32]),
    /// The configuration came to allow unclean elections: no event at all.
    Allowed,
    UncleanRun,
}
use Event::*;

/// ISR, ELR, last known leader, leader (0: none).
type Before = (&'static [u32], &'static [u32], &'static [u32], u32);
/// ISR, ELR, last known leader, leader, whether the leader epoch rises, whether it is recovering.
type After = (&'static [u32], &'static [u32], &'static [u32], u32, bool, bool);

struct Row(Before, Event, &'static [u32], bool, After);

/// Plays one event on AR [1,2,3] with exactly these brokers alive; returns the record.
fn play(version: Version, min: &str, row: &Row) -> Option<PartitionChange> {
    let Row((isr, elr, known, leader), event, alive, unclean, _) = row;
    let mut bench = Bench::cluster(version, 3, &[1, 2, 3], min);
    let topic = alloc::rc::Rc::make_mut(bench.controller.image.topics.get_mut(&T.topic).expect("the topic"));
    let partition = &mut topic.partitions[0];
    partition.isr = ids(isr);
    partition.elr = ids(elr);
    partition.last_known_elr = ids(known);
    partition.leader = (*leader > 0).then_some(BrokerId(*leader));
    let fenced_now = |id: u32| match event {
        Fence(b) | Stop(b) => !alive.contains(&id) && *b != id,
        Unfence(b) => !alive.contains(&id) || *b == id,
        Preferred | Unclean(_) | Alter(_) | Allowed | UncleanRun => !alive.contains(&id),
    };
    for id in 1..=3 {
        if let Some(b) = bench.controller.image.brokers.get_mut(&BrokerId(id)) {
            b.fenced = fenced_now(id);
        }
    }
    if *unclean {
        let request = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
            resource: ConfigTarget::Topic("t".into()),
            configs: config_map(&[("unclean.leader.election.enable", "true")]),
        });
        assert_eq!(
            bench.ask(1, request),
            Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into()))
        );
    }
    let from = bench.end();
    let controller = &mut bench.controller;
    let records: Vec<MetadataRecord> = match event {
        Fence(b) | Stop(b) => controller.leave_isrs(BrokerId(*b)),
        Unfence(b) => controller.may_lead_again(BrokerId(*b)),
        Preferred => controller
            .elect(T, controller.image.partition(T).expect("the partition"), Election::Preferred)
            .into_iter()
            .collect(),
        Unclean(b) => {
            let id = BrokerId(*b);
            controller.active.as_mut().expect("active").sessions.register(id, crate::base::BrokerEpoch(0));
            bench.register(*b, None);
            return first_change(&bench, from);
        }
        Alter(isr) => {
            bench.isr(isr);
            return first_change(&bench, from);
        }
        Allowed => Vec::new(),
        UncleanRun => {
            bench.run_with(alive, Dur::secs(301));
            return first_change(&bench, from);
        }
    };
    records.into_iter().find_map(|r| if let MetadataRecord::PartitionChange(change) = r { Some(change) } else { None })
}

fn first_change(bench: &Bench, from: i64) -> Option<PartitionChange> {
    let log = &bench.node.disk.metadata_log;
    let batches = log.batches_from(from).filter_map(|b| {
        if let crate::protocol::Payload::Metadata(records) = &b.payload { Some(records) } else { None }
    });
    batches
        .flat_map(|records| records.iter())
        .find_map(|r| if let MetadataRecord::PartitionChange(change) = r { Some(change.clone()) } else { None })
}

fn check(version: Version, min: &str, rows: &[Row]) {
    for row in rows {
        let Row((isr, elr, known, leader), event, alive, unclean, after) = row;
        let change = play(version, min, row);
        let got_isr = change.as_ref().and_then(|c| c.isr.clone()).unwrap_or(ids(isr));
        let got_elr = change.as_ref().and_then(|c| c.elr.clone()).unwrap_or(ids(elr));
        let got_known = change.as_ref().and_then(|c| c.last_known_elr.clone()).unwrap_or(ids(known));
        let got_leader = change.as_ref().and_then(|c| c.leader).unwrap_or((*leader > 0).then_some(BrokerId(*leader)));
        let rises = change.as_ref().is_some_and(|c| c.leader.is_some());
        let recovering = change
            .as_ref()
            .is_some_and(|c| c.leader_recovery == Some(crate::protocol::LeaderRecoveryState::Recovering));
        let got = (got_isr, got_elr, got_known, got_leader.map_or(0, |b| b.0), rises, recovering);
        let expected = (ids(after.0), ids(after.1), ids(after.2), after.3, after.4, after.5);
        assert_eq!(
            got, expected,
            "{version:?}, min {min}: ISR {isr:?} [{elr:?}] ({known:?}) leader {leader}, {event:?}, alive {alive:?}, \
             unclean {unclean}"
        );
    }
}

#[test]
fn decision_table_without_elr() {
    const NO: &[u32] = &[];
    let rows = |u: bool| {
        alloc::vec![
            Row((&[1, 2, 3], NO, NO, 1), Fence(1), &[2, 3], u, (&[2, 3], NO, NO, 2, true, false)),
            Row((&[1, 2, 3], NO, NO, 1), Fence(2), &[1, 3], u, (&[1, 3], NO, NO, 1, false, false)),
            Row((&[1, 3], NO, NO, 1), Fence(1), &[2, 3], u, (&[3], NO, NO, 3, true, false)),
            Row((&[1], NO, NO, 0), Unfence(1), &[1], u, (&[1], NO, NO, 1, true, false)),
            Row((&[1], NO, NO, 1), Fence(1), &[], u, (&[1], NO, NO, 0, true, false)),
            Row((&[2, 3], NO, NO, 2), Unfence(1), &[1, 2, 3], u, (&[2, 3], NO, NO, 2, false, false)),
            Row((&[1, 2, 3], NO, NO, 2), Preferred, &[1, 2, 3], u, (&[1, 2, 3], NO, NO, 1, true, false)),
            Row((&[2, 3], NO, NO, 2), Preferred, &[1, 2, 3], u, (&[2, 3], NO, NO, 2, false, false)),
            Row((&[1, 2, 3], NO, NO, 1), Stop(1), &[2, 3], u, (&[2, 3], NO, NO, 2, true, false)),
        ]
    };
    check(Version::V3_9, "2", &rows(false));
    check(Version::V3_9, "2", &rows(true));
    let by_config = [
        Row((&[1], NO, NO, 1), Fence(1), &[2, 3], false, (&[1], NO, NO, 0, true, false)),
        Row((&[1], NO, NO, 1), Fence(1), &[2, 3], true, (&[2], NO, NO, 2, true, true)),
        Row((&[1], NO, NO, 0), Unfence(2), &[2], false, (&[1], NO, NO, 0, false, false)),
        Row((&[1], NO, NO, 0), Unfence(2), &[2], true, (&[2], NO, NO, 2, true, true)),
        Row((&[1], NO, NO, 1), Stop(1), &[2, 3], false, (&[1], NO, NO, 0, true, false)),
    ];
    check(Version::V3_9, "2", &by_config);
    // Before 3.9 the setting is not read.
    check(Version::V3_6, "2", &[Row((&[1], NO, NO, 1), Fence(1), &[2, 3], true, (&[1], NO, NO, 0, true, false))]);
}

#[test]
fn decision_table_with_elr_and_minimum_2() {
    const NO: &[u32] = &[];
    check(
        Version::V4_1,
        "2",
        &[
            Row((&[1, 2], NO, NO, 1), Fence(2), &[1], false, (&[1], &[2], NO, 1, false, false)),
            Row((&[1], &[2], NO, 1), Fence(1), &[2], false, (&[2], &[1], NO, 2, true, false)),
            Row((&[1], &[2], NO, 1), Fence(1), &[3], false, (NO, &[1, 2], &[1], 0, true, false)),
            Row((NO, &[1, 2], &[1], 0), Unfence(1), &[1], false, (&[1], &[2], NO, 1, true, false)),
            Row((NO, &[1, 2], &[1], 0), Unclean(1), &[], false, (NO, &[2], &[1], 0, false, false)),
            Row((NO, NO, &[1], 0), Unfence(1), &[1], false, (&[1], NO, NO, 1, true, true)),
            Row((NO, NO, &[1], 0), Unfence(2), &[2], false, (NO, NO, &[1], 0, false, false)),
            Row((NO, NO, &[1], 0), Unfence(2), &[2], true, (&[2], NO, NO, 2, true, true)),
            Row((&[1], &[2], NO, 1), Alter(&[1, 2]), &[1, 2], false, (&[1, 2], NO, NO, 1, false, false)),
            Row((&[1], &[2], NO, 1), Alter(&[1, 3]), &[1, 3], false, (&[1, 3], NO, NO, 1, false, false)),
            Row((&[1, 2], NO, NO, 1), Unclean(2), &[1, 2], false, (&[1], NO, NO, 1, false, false)),
            Row((&[1], &[2], NO, 1), Stop(1), &[3], false, (NO, &[1, 2], &[1], 0, true, false)),
            Row((NO, &[1, 2], &[1], 0), Unfence(2), &[2], false, (&[2], &[1], NO, 2, true, false)),
        ],
    );
}

#[test]
fn decision_table_with_elr_and_minimum_1() {
    const NO: &[u32] = &[];
    check(
        Version::V4_1,
        "1",
        &[
            Row((&[1, 2], NO, NO, 1), Fence(2), &[1], false, (&[1], NO, NO, 1, false, false)),
            Row((&[1], NO, NO, 1), Fence(1), &[2], false, (NO, &[1], &[1], 0, true, false)),
            Row((NO, &[1], &[1], 0), Unfence(2), &[2], false, (NO, &[1], &[1], 0, false, false)),
            Row((NO, &[1], &[1], 0), Allowed, &[2], true, (NO, &[1], &[1], 0, false, false)),
            Row((NO, &[1], &[1], 0), UncleanRun, &[2, 3], true, (&[2], NO, NO, 2, true, true)),
            Row((NO, &[1], &[1], 0), Unclean(1), &[], false, (NO, NO, &[1], 0, false, false)),
            Row((NO, &[1], &[1], 0), Unclean(1), &[2], true, (&[2], NO, NO, 2, true, true)),
            Row((NO, &[1], &[1], 0), Unfence(1), &[1], false, (&[1], NO, NO, 1, true, false)),
        ],
    );
}

fn elect(bench: &mut Bench, unclean: bool) -> ErrorCode {
    match bench.ask(1, Request::Cluster(ClusterRequest::ElectLeaders { topic: "t".into(), partition: 0, unclean })) {
        Response::Cluster(ClusterResponse::ElectLeaders(answer)) => answer.error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn e_01_order_of_replicas_decides() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[2, 3, 1], "1");
    b.isr(&[2, 1, 3]);
    b.fence(2);
    assert_eq!(b.state(), (3, 1, [1, 3].to_vec(), Vec::new(), Vec::new()));
}

#[test]
fn e_03_a_follower_that_dies_leaves_the_leader_epoch() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    let before = b.partition().partition_epoch.0;
    b.fence(3);
    assert_eq!((b.state().0, b.state().1, b.state().2), (1, 0, [1, 2].to_vec()));
    assert_eq!(b.partition().partition_epoch.0, before + 1);
}

#[test]
fn e_04_e_06_last_member_without_elr() {
    let mut b = Bench::cluster(Version::V3_9, 3, &[1, 2, 3], "2");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    assert_eq!(b.state(), (0, 1, [1].to_vec(), Vec::new(), Vec::new()));
    b.up(2, None);
    assert_eq!((b.state().0, b.state().1), (0, 1));
    b.up(1, None);
    assert_eq!(b.state(), (1, 2, [1].to_vec(), Vec::new(), Vec::new()));
}

#[test]
fn e_05_elr_sequence_with_clean_stops() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    b.fence(3);
    assert_eq!(b.state(), (1, 0, [1, 2].to_vec(), Vec::new(), Vec::new()));
    let epoch = b.epoch(2);
    b.fence(2);
    assert_eq!(b.state(), (1, 0, [1].to_vec(), [2].to_vec(), Vec::new()));
    b.fence(1);
    assert_eq!(b.state(), (0, 1, Vec::new(), [1, 2].to_vec(), [1].to_vec()));
    b.up(2, Some(epoch));
    assert_eq!(b.state(), (2, 2, [2].to_vec(), [1].to_vec(), Vec::new()));
    assert!(!b.partition().is_recovering());
}

#[test]
fn e_07_e_08_e_23_kills_with_elr() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    b.up(2, None);
    assert_eq!(b.state(), (0, 1, Vec::new(), [1].to_vec(), [1].to_vec()), "2 was struck off when it registered");
    let from = b.end();
    b.up(1, None);
    assert_eq!(b.state(), (1, 2, [1].to_vec(), Vec::new(), Vec::new()));
    assert!(b.partition().is_recovering());
    assert_eq!(
        b.batches(from),
        [["1-0 elr ", "register 1"].to_vec(), ["unfence 1", "1-0 isr 1 leader 1 known  recovering"].to_vec()]
    );
    let from = b.end();
    b.isr(&[1, 2]);
    assert_eq!(b.batches(from), [["1-0 isr 1,2 recovered"]]);
}

#[test]
fn e_09_e_10_unclean_takes_the_first_live_replica() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[3, 1, 2], "1");
    let allow = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
        resource: ConfigTarget::Topic("t".into()),
        configs: config_map(&[("unclean.leader.election.enable", "true")]),
    });
    assert_eq!(b.ask(1, allow), Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into())));
    b.isr(&[3]);
    b.fence(3);
    assert_eq!((b.state().0, b.state().1, b.state().2), (1, 1, [1].to_vec()));
    assert!(b.partition().is_recovering());
}

#[test]
fn e_11_a_setting_turned_on_while_offline_waits_for_a_run_or_an_event() {
    for (version, expected) in [(Version::V3_6, 0), (Version::V3_9, 2), (Version::V4_1, 2)] {
        let mut b = Bench::cluster(version, 3, &[1, 2, 3], "1");
        b.isr(&[1]);
        b.fence(1);
        let allow = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
            resource: ConfigTarget::Topic("t".into()),
            configs: config_map(&[("unclean.leader.election.enable", "true")]),
        });
        assert_eq!(
            b.ask(1, allow),
            Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into()))
        );
        b.run_with(&[2, 3], Dur::secs(299));
        assert_eq!(b.state().0, 0, "{version:?}: not at once");
        b.run_with(&[2, 3], Dur::secs(2));
        assert_eq!(b.state().0, expected, "{version:?}: by the run of 300 s");
    }
}

#[test]
fn e_12_unclean_by_hand() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    assert_eq!(elect(&mut b, true), ErrorCode::ElectionNotNeeded);
    for id in [3, 2, 1] {
        b.fence(id);
    }
    assert_eq!(elect(&mut b, true), ErrorCode::EligibleLeadersNotAvailable);
    assert_eq!(elect(&mut b, false), ErrorCode::PreferredLeaderNotAvailable);
    b.up(2, None);
    assert_eq!(elect(&mut b, true), ErrorCode::None);
    assert_eq!(b.state(), (2, 2, [2].to_vec(), Vec::new(), Vec::new()));
}

#[test]
fn e_13_e_14_preferred_balance() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    b.fence(1);
    b.up(1, None);
    b.run_with(&[1, 2, 3], Dur::secs(301));
    assert_eq!(b.state().0, 2, "1 is not in the ISR");
    b.isr(&[2, 3, 1]);
    b.run_with(&[1, 2, 3], Dur::secs(300));
    assert_eq!((b.state().0, b.state().1, b.state().2), (1, 2, [2, 3, 1].to_vec()));
}

#[test]
fn e_15_unfencing_adds_nobody_to_the_isr() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    b.fence(3);
    b.up(3, None);
    assert_eq!(b.state().2, [1, 2]);
}

#[test]
fn e_16_c_13_two_that_die_together_are_fenced_one_after_the_other() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    b.run_with(&[1, 2, 3], Dur::secs(4));
    let from = b.end();
    b.run_with(&[3], Dur::secs(12));
    assert_eq!(
        b.batches(from),
        [["1-0 isr 2,3 leader 2", "fence 1"].to_vec(), ["1-0 isr 3 leader 3", "fence 2"].to_vec()]
    );
    let fenced: Vec<_> = b
        .node
        .trace
        .iter()
        .filter(|e| matches!(e.kind, crate::trace::Kind::BrokerFenced { .. }))
        .map(|e| e.at)
        .collect();
    assert_eq!(fenced[1].since(fenced[0]), Dur::ms(10));
}

#[test]
fn e_20_last_member_killed_minimum_1() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    assert_eq!(b.state(), (0, 1, Vec::new(), [1].to_vec(), [1].to_vec()));
    b.up(2, None);
    assert_eq!(b.state(), (0, 1, Vec::new(), [1].to_vec(), [1].to_vec()));
    b.register(1, None);
    assert_eq!(b.state(), (0, 1, Vec::new(), Vec::new(), [1].to_vec()));
    b.beat(1, false, false);
    assert_eq!(b.state(), (1, 2, [1].to_vec(), Vec::new(), Vec::new()));
    assert!(b.partition().is_recovering());
}

#[test]
fn e_21_an_unclean_registration_applies_the_setting() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    b.up(2, None);
    b.up(3, None);
    assert_eq!(elect(&mut b, false), ErrorCode::PreferredLeaderNotAvailable);
    let allow = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
        resource: ConfigTarget::Topic("t".into()),
        configs: config_map(&[("unclean.leader.election.enable", "true")]),
    });
    assert_eq!(b.ask(1, allow), Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into())));
    assert_eq!(b.state().0, 0);
    let from = b.end();
    b.register(1, None);
    assert_eq!(b.batches(from), [["1-0 isr 2 leader 2 elr  known  recovering", "register 1"]]);
}

#[test]
fn e_24_one_replica() {
    let mut b = Bench::cluster(Version::V4_1, 1, &[1], "1");
    b.fence(1);
    assert_eq!(b.state(), (0, 1, Vec::new(), [1].to_vec(), [1].to_vec()));
    b.up(1, None);
    assert_eq!(b.state(), (1, 2, [1].to_vec(), Vec::new(), Vec::new()));
    assert!(b.partition().is_recovering());
}

#[test]
fn e_25_preferred_by_hand() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[3, 1, 2], "1");
    b.fence(3);
    assert_eq!(elect(&mut b, false), ErrorCode::PreferredLeaderNotAvailable);
    b.up(3, None);
    b.isr(&[1, 2, 3]);
    assert_eq!(elect(&mut b, false), ErrorCode::None);
    assert_eq!((b.state().0, b.state().1, b.state().2), (3, 2, [1, 2, 3].to_vec()));
    assert_eq!(elect(&mut b, false), ErrorCode::ElectionNotNeeded);
}

#[test]
fn kip_966_a_new_minimum_clears_elrs() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    b.fence(3);
    b.fence(2);
    assert_eq!(b.state().3, [2]);
    let change = Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
        resource: ConfigTarget::Topic("t".into()),
        configs: config_map(&[("min.insync.replicas", "1")]),
    });
    assert_eq!(b.ask(1, change), Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into())));
    assert!(b.state().3.is_empty());
}

#[test]
fn an_election_from_the_elr_leaves_the_recovery_state_as_it_is() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    b.register(1, None);
    b.register(2, None);
    assert_eq!(b.state(), (0, 1, Vec::new(), Vec::new(), [1].to_vec()));
    b.beat(1, false, false);
    assert!(b.partition().is_recovering());
    // The leader dies before it has confirmed; alone it is below the minimum and so eligible.
    b.fence(1);
    assert_eq!((b.state().0, b.state().3), (0, [1].to_vec()));
    b.up(1, Some(b.epoch(1)));
    assert_eq!((b.state().0, b.partition().is_recovering()), (1, true));
}
