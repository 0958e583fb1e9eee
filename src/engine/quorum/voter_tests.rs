//! Decision rules of a single voter: votes, majority, divergence. Elections as a whole are in the simulation.

use alloc::rc::Rc;
use alloc::vec;

use super::leading::majority_end;
use super::voter::successor_wait;
use super::{Voter, VoterStart, divergence, truncation_point};
use crate::base::{ControllerId, CorrelationId, Dur, Incarnation, NodeId, QuorumEpoch, Seq, SimTime};
use crate::log::Log;
use crate::node::testing::TestNode;
use crate::node::{Channel, ConnId, Effect, QuorumStateFile, QuorumTimer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{
    ConfigMap, EpochEnd, ErrorCode, MetadataRecord, Payload, QuorumFetchRequest, QuorumReplica, QuorumRequest,
    QuorumResponse, RecordBatch, Response, VoteRequest,
};
use crate::rules::Version;
use crate::trace::QuorumRole;

fn batch() -> RecordBatch {
    RecordBatch {
        base_offset: 0,
        epoch: 0,
        producer: None,
        timestamp: SimTime::ZERO,
        payload: Payload::Metadata(vec![MetadataRecord::NoOp].into()),
        origin: Seq(0),
    }
}

fn log(ends: &[(i32, i64)]) -> Log {
    let mut log = Log::default();
    for (epoch, end) in ends {
        while log.end_offset() < *end {
            log.append_as_leader(batch(), *epoch);
        }
    }
    log
}

fn voter(node: &mut TestNode, version: Version) -> Voter {
    let config = Rc::new(NodeConfig::parse(&ConfigMap::new()).expect("the defaults are valid"));
    let start = VoterStart {
        id: ControllerId(1),
        incarnation: Incarnation(1),
        config,
        rules: version.rules(),
        voters: (1..=3).map(ControllerId).collect(),
    };
    Voter::start(&mut node.ctx(), start)
}

fn ask(
    voter: &mut Voter,
    node: &mut TestNode,
    candidate: u32,
    epoch: i32,
    last: (i32, i64),
    pre_vote: bool,
) -> (bool, ErrorCode) {
    let me = NodeId::Controller(ControllerId(1));
    let conn = ConnId {
        client: NodeId::Controller(ControllerId(candidate)),
        server: me,
        channel: Channel::Quorum,
        generation: 1,
    };
    let request = VoteRequest {
        candidate: ControllerId(candidate),
        epoch: QuorumEpoch(epoch),
        last_epoch: last.0,
        last_offset: last.1,
        pre_vote,
    };
    match voter.on_request(&mut node.ctx(), conn, CorrelationId(1), &QuorumRequest::Vote(request)) {
        Some(QuorumResponse::Vote { granted, error, .. }) => (granted, error),
        other => panic!("not a vote: {other:?}"),
    }
}

fn at_epoch(epoch: i32, leader: Option<u32>) -> TestNode {
    let mut node = TestNode::new(NodeId::Controller(ControllerId(1)));
    node.disk.metadata_log = Rc::new(log(&[(4, 100)]));
    node.disk.quorum_state =
        QuorumStateFile { epoch: QuorumEpoch(epoch), leader: leader.map(ControllerId), voted: None };
    node
}

#[test]
fn c_05_vote_rule() {
    let mut node = at_epoch(5, None);
    let mut v = voter(&mut node, Version::V4_1);
    assert_eq!(ask(&mut v, &mut node, 2, 6, (4, 99), false), (false, ErrorCode::None));
    assert_eq!((v.epoch(), node.disk.quorum_state.epoch), (QuorumEpoch(6), QuorumEpoch(6)));
    assert_eq!(ask(&mut v, &mut node, 2, 6, (5, 10), false), (true, ErrorCode::None));
    assert_eq!(node.disk.quorum_state.voted, Some(ControllerId(2)), "on disk before the answer");
    assert_eq!(ask(&mut v, &mut node, 3, 6, (5, 10), false), (false, ErrorCode::None));
    assert_eq!(ask(&mut v, &mut node, 2, 6, (5, 10), false), (true, ErrorCode::None));
    assert_eq!(ask(&mut v, &mut node, 3, 5, (5, 10), false), (false, ErrorCode::FencedLeaderEpoch));
}

#[test]
fn c_05_a_vote_outlives_the_process() {
    let mut node = at_epoch(5, None);
    let mut v = voter(&mut node, Version::V4_1);
    assert!(ask(&mut v, &mut node, 2, 6, (4, 100), false).0);
    let mut again = voter(&mut node, Version::V4_1);
    assert_eq!(ask(&mut again, &mut node, 3, 6, (4, 100), false), (false, ErrorCode::None));
}

#[test]
fn kip_996_a_pre_vote_leaves_nothing() {
    let mut node = at_epoch(5, None);
    let mut v = voter(&mut node, Version::V4_1);
    let before = node.disk.clone();
    assert!(ask(&mut v, &mut node, 2, 5, (4, 100), true).0);
    assert!(!ask(&mut v, &mut node, 2, 5, (4, 99), true).0, "its log is too short");
    assert!(ask(&mut v, &mut node, 3, 5, (4, 100), true).0, "as many as ask");
    assert_eq!((v.epoch(), node.disk), (QuorumEpoch(5), before));
}

#[test]
fn kip_996_a_pre_vote_of_a_higher_epoch_moves_the_voter() {
    let mut node = at_epoch(5, None);
    let mut v = voter(&mut node, Version::V4_1);
    assert!(!ask(&mut v, &mut node, 2, 9, (4, 99), true).0, "its log is too short");
    assert_eq!((v.epoch(), node.disk.quorum_state.epoch), (QuorumEpoch(9), QuorumEpoch(9)));
    assert_eq!(node.disk.quorum_state.voted, None, "a pre-vote is no vote");
    assert!(ask(&mut v, &mut node, 3, 9, (4, 100), false).0);
}

#[test]
fn kip_996_a_follower_that_has_not_fetched_grants_a_pre_vote() {
    let mut node = at_epoch(5, Some(3));
    let mut v = voter(&mut node, Version::V4_1);
    assert!(ask(&mut v, &mut node, 2, 5, (4, 100), true).0);
    assert!(!ask(&mut v, &mut node, 2, 5, (4, 100), false).0, "but no vote in the epoch of a leader that it knows");
}

#[test]
fn c_07_high_watermark_by_majority() {
    for (ends, expected) in
        [(vec![10, 8, 5], 8), (vec![10, 9, 7, 3, 1], 7), (vec![10, 4], 4), (vec![501, 501, -1], 501), (vec![7], 7)]
    {
        assert_eq!(majority_end(ends), expected);
    }
}

#[test]
fn c_08_divergence_names_the_end_of_the_common_epoch() {
    let leader = log(&[(3, 50), (4, 60)]);
    assert_eq!(divergence(&leader, 53, 3), Some(EpochEnd { epoch: 3, end_offset: 50 }));
    assert_eq!(divergence(&leader, 50, 3), None);
    assert_eq!(divergence(&leader, 61, 4), Some(EpochEnd { epoch: 4, end_offset: 60 }));
    assert_eq!(divergence(&leader, 0, 0), None);
    let old = log(&[(3, 53)]);
    assert_eq!(truncation_point(&old, EpochEnd { epoch: 3, end_offset: 50 }), 50);
    let older = log(&[(2, 40), (5, 45)]);
    assert_eq!(truncation_point(&older, EpochEnd { epoch: 3, end_offset: 50 }), 40);
}

#[test]
fn c_04_successors_wait_by_their_position() {
    let order: alloc::vec::Vec<ControllerId> = [2, 3].map(ControllerId).to_vec();
    assert_eq!([2, 3].map(|id| successor_wait(&order, ControllerId(id))), [Dur::ZERO, Dur::ms(500)]);
    let order: alloc::vec::Vec<ControllerId> = [2, 3, 4, 5].map(ControllerId).to_vec();
    assert_eq!(
        [2, 3, 4, 5].map(|id| successor_wait(&order, ControllerId(id))),
        [Dur::ZERO, Dur::ms(125), Dur::ms(250), Dur::ms(500)]
    );
}

fn fetch(voter: &mut Voter, node: &mut TestNode, from: u32, offset: i64, last_epoch: i32) {
    let replica = ControllerId(from);
    let conn = ConnId { client: NodeId::Controller(replica), server: node.me, channel: Channel::Quorum, generation: 1 };
    let request = QuorumFetchRequest {
        replica: QuorumReplica::Voter(replica),
        current_leader_epoch: voter.epoch(),
        fetch_offset: offset,
        last_fetched_epoch: last_epoch,
        high_watermark: -1,
        max_wait: Dur::ms(500),
    };
    voter.on_request(&mut node.ctx(), conn, CorrelationId(1), &QuorumRequest::Fetch(request));
}

/// Makes voter 1 the leader of its next epoch by the answer of voter 2.
fn elected(node: &mut TestNode) -> Voter {
    let mut v = voter(node, Version::V3_9);
    v.on_timer(&mut node.ctx(), &QuorumTimer::Election);
    let asked = node.effects.iter().find_map(|effect| match effect {
        Effect::Send { conn, correlation, .. } if conn.server == NodeId::Controller(ControllerId(2)) => {
            Some((*conn, *correlation))
        }
        Effect::Send { .. } | Effect::Close { .. } | Effect::Exit { .. } => None,
    });
    let (conn, correlation) = asked.expect("a vote request");
    let granted = Response::Quorum(QuorumResponse::Vote {
        error: ErrorCode::None,
        epoch: v.epoch(),
        leader: None,
        granted: true,
        pre_vote: false,
    });
    v.on_response(&mut node.ctx(), conn, correlation, granted);
    assert_eq!(v.role(), QuorumRole::Leader);
    v
}

#[test]
fn c_07_a_leader_commits_older_records_only_by_one_of_its_own() {
    let mut node = at_epoch(5, None);
    let mut v = elected(&mut node);
    assert_eq!(v.leadership(), Some((QuorumEpoch(6), 100)));
    fetch(&mut v, &mut node, 2, 98, 4);
    assert_eq!(v.leader_high_watermark(), None);
    fetch(&mut v, &mut node, 2, 100, 4);
    assert_eq!(v.leader_high_watermark(), None, "all that is older, but nothing of this epoch");
    fetch(&mut v, &mut node, 2, 101, 6);
    assert_eq!(v.leader_high_watermark(), Some(101));
    fetch(&mut v, &mut node, 3, 99, 4);
    assert_eq!(v.leader_high_watermark(), Some(101), "never back");
}
