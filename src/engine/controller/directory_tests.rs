//! Brokers that come back with another disk: when their replicas may lead, and what that does to the ELR. What is in
//! the logs is not looked at.

use alloc::vec::Vec;

use super::testing::Bench;
use crate::protocol::{ClusterRequest, ClusterResponse, ErrorCode, Request, Response};
use crate::rules::Version;

/// Replicas 1, 2, 3 that die in the order 3, 2, 1; then 1 comes back with a new disk.
fn last_one_wiped(version: Version) -> Bench {
    let mut b = Bench::cluster(version, 3, &[1, 2, 3], "1");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    assert_eq!(b.state().0, 0);
    b.directories.insert(1, 1);
    b.up(1, None);
    b
}

#[test]
fn a_wiped_disk_is_not_eligible_before_it_is_assigned_and_another_broker_comes() {
    let mut b = last_one_wiped(Version::V4_1);
    assert_eq!(b.state(), (0, 1, Vec::new(), Vec::new(), [1].to_vec()), "unfenced, in a directory nobody knows");
    let from = b.end();
    assert_eq!(b.assign(1), ErrorCode::None);
    assert_eq!(b.batches(from), [["1-0 directories"]], "the election looked at the directory from before");
    b.beat(1, false, false);
    assert_eq!(b.state().0, 0, "a heartbeat of a broker that runs looks at nothing");
    b.up(2, None);
    assert_eq!(b.state(), (1, 2, [1].to_vec(), Vec::new(), Vec::new()));
    assert!(b.partition().is_recovering());
}

#[test]
fn before_4_1_a_wiped_disk_waits_too_and_before_3_7_it_does_not() {
    let mut b = last_one_wiped(Version::V3_9);
    assert_eq!((b.state().0, b.state().2), (0, [1].to_vec()));
    assert_eq!(b.assign(1), ErrorCode::None);
    assert_eq!(b.state().0, 0);
    b.up(2, None);
    assert_eq!(b.state().0, 1);
    assert_eq!(last_one_wiped(Version::V3_6).state().0, 1);
}

#[test]
fn a_broker_with_its_old_disk_is_eligible_at_once() {
    let mut b = Bench::cluster(Version::V3_9, 3, &[1, 2, 3], "1");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    b.up(1, None);
    assert_eq!(b.state().0, 1);
    let from = b.end();
    assert_eq!(b.assign(1), ErrorCode::None);
    assert!(b.batches(from).is_empty(), "nothing to say");
}

#[test]
fn c_33_a_new_directory_empties_the_elr_and_keeps_the_last_known_leader() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    for id in [3, 2, 1] {
        b.fence(id);
    }
    assert_eq!(b.state(), (0, 1, Vec::new(), [1, 2].to_vec(), [1].to_vec()));
    b.directories.insert(3, 1);
    b.up(3, None);
    let from = b.end();
    assert_eq!(b.assign(3), ErrorCode::None);
    assert_eq!(b.batches(from), [["1-0 elr  directories"]]);
    assert_eq!(b.state(), (0, 1, Vec::new(), Vec::new(), [1].to_vec()));
    b.up(2, Some(b.epoch(2)));
    assert_eq!(b.state().0, 0, "2 has everything and is eligible no more");
    let preferred = Request::Cluster(ClusterRequest::ElectLeaders { topic: "t".into(), partition: 0, unclean: false });
    let refused = Response::Cluster(ClusterResponse::ElectLeaders(ErrorCode::PreferredLeaderNotAvailable.into()));
    assert_eq!(b.ask(2, preferred), refused);
    b.up(1, Some(b.epoch(1)));
    assert_eq!(b.state(), (1, 2, [1].to_vec(), Vec::new(), Vec::new()));
}

#[test]
fn an_assignment_is_refused_to_a_stale_broker_and_for_what_is_not_its_own() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2], "1");
    b.directories.insert(3, 1);
    assert_eq!(b.assign(3), ErrorCode::NotLeaderOrFollower);
    assert_eq!(b.assign(4), ErrorCode::StaleBrokerEpoch);
}
