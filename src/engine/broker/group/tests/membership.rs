//! Joining, leaving, expiring: what members of a classic group see. Offsets have their own tests.

use alloc::vec::Vec;

use super::desk::{Desk, Me, PARTITION, T0, T1};
use crate::base::Dur;
use crate::broker::group::GroupRequest;
use crate::protocol::{ErrorCode, GroupResponse, GroupState, Subscription};
use crate::rules::Version;
use crate::trace::Kind;

const NEW: Version = Version::V4_1;

fn error_of_join(desk: &Desk, reply: crate::broker::ReplyTo) -> Option<ErrorCode> {
    match desk.answer(reply)? {
        GroupResponse::JoinGroup(answer) => Some(answer.error),
        other => panic!("{other:?}"),
    }
}

#[test]
fn g_13_the_initial_delay_is_prolonged_while_members_come() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let (mut a, mut b, mut c) = (Me::new(1), Me::new(2), Me::new(3));
    let ra = desk.join(&mut a);
    desk.until(2_000);
    let rb = desk.join(&mut b);
    desk.until(4_000);
    let rc = desk.join(&mut c);
    desk.until(8_999);
    assert_eq!(desk.state(), (GroupState::PreparingRebalance, 0, 3));
    assert!([ra, rb, rc].iter().all(|r| desk.answer(*r).is_none()));
    desk.until(9_000);
    assert_eq!(desk.state(), (GroupState::CompletingRebalance, 1, 3));
    let (ja, jb) = (desk.joined(&mut a, ra), desk.joined(&mut b, rb));
    assert_eq!(ja.generation.0, 1);
    assert_eq!(ja.leader, a.id, "the first member leads");
    assert_eq!(ja.members.len(), 3);
    assert_eq!(jb.leader, a.id);
    assert!(jb.members.is_empty(), "only the leader hears of the others");
}

#[test]
fn g_13_alone_the_delay_is_waited_for_once() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let mut a = Me::new(1);
    let reply = desk.join(&mut a);
    desk.until(2_999);
    assert!(desk.answer(reply).is_none());
    desk.until(3_000);
    assert_eq!(desk.joined(&mut a, reply).generation.0, 1);
}

#[test]
fn g_13_the_delay_ends_with_the_rebalance_timeout() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let request = |me: &Me| {
        let mut request = Desk::join_request(me, &["range"]);
        request.knows_member_id_required = false;
        request.rebalance_timeout = Dur::secs(8);
        GroupRequest::JoinGroup(request)
    };
    let first = desk.ask(1, request(&Me::new(1)));
    for (client, ms) in [(2, 1_000), (3, 4_000), (4, 7_000)] {
        desk.until(ms);
        desk.ask(client, request(&Me::new(client)));
    }
    desk.until(7_999);
    assert!(desk.answer(first).is_none());
    desk.until(8_000);
    assert_eq!(error_of_join(&desk, first), Some(ErrorCode::None));
}

#[test]
fn g_13_without_delay_each_member_that_comes_rebalances() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let (mut a, mut b) = (Me::new(1), Me::new(2));
    let ra = desk.join(&mut a);
    desk.until(0);
    assert_eq!(desk.joined(&mut a, ra).generation.0, 1);
    desk.sync(&a, &[(&a, &[T0, T1])]);
    desk.until(1_000);
    let rb = desk.join(&mut b);
    assert_eq!(desk.state(), (GroupState::PreparingRebalance, 1, 2));
    assert_eq!(desk.heartbeat(&a), ErrorCode::RebalanceInProgress);
    let ra = desk.join(&mut a);
    assert_eq!(desk.joined(&mut a, ra).generation.0, 2);
    assert_eq!(desk.joined(&mut b, rb).generation.0, 2);
}

#[test]
fn kip_394_a_member_without_id_gets_one_and_comes_again_with_it() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let reply = desk.ask(1, GroupRequest::JoinGroup(Desk::join_request(&Me::new(1), &["range"])));
    let mut me = Me::new(1);
    assert_eq!(desk.joined(&mut me, reply).error, ErrorCode::MemberIdRequired);
    assert!(me.id.starts_with("app-"));
    assert_eq!(desk.state(), (GroupState::Empty, 0, 0), "an id alone is no member");
    desk.until(45_000);
    let reply = desk.join(&mut me);
    assert_eq!(error_of_join(&desk, reply), Some(ErrorCode::UnknownMemberId), "the id was not used in time");
}

#[test]
fn joins_are_refused_as_kafka_does() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1)];
    desk.stable(&mut members);
    let mut other = Desk::join_request(&Me::new(2), &["sticky"]);
    let reply = desk.ask(2, GroupRequest::JoinGroup(other.clone()));
    assert_eq!(error_of_join(&desk, reply), Some(ErrorCode::InconsistentGroupProtocol));
    other.session_timeout = Dur::secs(5);
    let reply = desk.ask(2, GroupRequest::JoinGroup(other.clone()));
    assert_eq!(error_of_join(&desk, reply), Some(ErrorCode::InvalidSessionTimeout));
    other.group = "".into();
    let reply = desk.ask(2, GroupRequest::JoinGroup(other));
    assert_eq!(error_of_join(&desk, reply), Some(ErrorCode::InvalidGroupId));
    let mut stranger = Me { id: "app-ffffffff".into(), ..Me::new(3) };
    let reply = desk.join(&mut stranger);
    assert_eq!(error_of_join(&desk, reply), Some(ErrorCode::UnknownMemberId));
    let mut elsewhere = Desk::join_request(&Me::new(2), &["range"]);
    elsewhere.group = "g2".into();
    let reply = desk.ask(2, GroupRequest::JoinGroup(elsewhere));
    assert_eq!(error_of_join(&desk, reply), Some(ErrorCode::NotCoordinator), "partition 43 is led by somebody else");
}

#[test]
fn the_protocol_with_most_votes_wins_among_those_that_all_know() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let mut replies = Vec::new();
    for (client, protocols) in
        [(1, &["range", "roundrobin"][..]), (2, &["roundrobin", "range"]), (3, &["sticky", "roundrobin", "range"])]
    {
        let mut request = Desk::join_request(&Me::new(client), protocols);
        request.knows_member_id_required = false;
        replies.push(desk.ask(client, GroupRequest::JoinGroup(request)));
    }
    desk.until(6_000);
    let answer = desk.joined(&mut Me::new(1), replies[0]);
    assert_eq!(answer.protocol.as_deref(), Some("roundrobin"));
}

#[test]
fn g_14_a_member_that_died_is_removed_after_its_session() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    let generation = desk.state().1;
    for ms in (3_000..45_000).step_by(3_000) {
        desk.until(ms);
        assert_eq!(desk.heartbeat(&members[0]), ErrorCode::None, "at {ms}");
    }
    desk.until(44_999);
    assert_eq!(desk.state(), (GroupState::Stable, generation, 2));
    desk.until(45_000);
    assert_eq!(desk.state(), (GroupState::PreparingRebalance, generation, 1));
    assert_eq!(desk.heartbeat(&members[0]), ErrorCode::RebalanceInProgress);
    let reply = desk.join(&mut members[0]);
    assert_eq!(desk.joined(&mut members[0], reply).generation.0, generation + 1);
    assert!(
        desk.node
            .trace
            .iter()
            .any(|e| matches!(&e.kind, Kind::MemberRemoved { member, expired: true, .. } if *member == members[1].id))
    );
}

#[test]
fn g_15_who_leaves_is_out_at_once() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    assert_eq!(desk.leave(&members[1]), ErrorCode::None);
    assert_eq!(desk.state().0, GroupState::PreparingRebalance);
    assert_eq!(desk.state().2, 1);
    assert_eq!(desk.leave(&members[1]), ErrorCode::UnknownMemberId);
    assert_eq!(desk.leave(&members[0]), ErrorCode::None);
    assert_eq!(desk.state().0, GroupState::Empty);
}

#[test]
fn g_16_a_static_member_comes_back_without_rebalance_and_fences_its_old_id() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1), Me::fixed(2, "i1")];
    desk.stable(&mut members);
    let before = desk.state();
    let old = members[1].clone();
    desk.until(20_000);
    assert_eq!(desk.heartbeat(&members[0]), ErrorCode::None);
    let mut again = Me::fixed(3, "i1");
    let reply = desk.join(&mut again);
    let answer = desk.joined(&mut again, reply);
    assert_eq!(answer.error, ErrorCode::None);
    assert!(answer.members.is_empty());
    assert_ne!(again.id, old.id);
    assert_eq!(desk.state(), before);
    let reply = desk.sync(&again, &[]);
    assert_eq!(desk.synced(reply), Ok([T1].into()));
    assert_eq!(desk.heartbeat(&old), ErrorCode::FencedInstanceId);
    assert_eq!(desk.heartbeat(&again), ErrorCode::None);
    let mut next = desk.fail_over(NEW, 20_000);
    next.until(20_005);
    assert_eq!(
        (next.heartbeat(&old), next.heartbeat(&again)),
        (ErrorCode::FencedInstanceId, ErrorCode::None),
        "the new member id is written"
    );
}

#[test]
fn g_16_a_static_member_that_leads_keeps_the_group_stable() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::fixed(1, "i1")];
    desk.stable(&mut members);
    let mut again = Me::fixed(2, "i1");
    let reply = desk.join(&mut again);
    let answer = desk.joined(&mut again, reply);
    assert_eq!(answer.leader, members[0].id, "told the old leader, it does not assign anew");
    assert_eq!(desk.state().0, GroupState::Stable);
    let reply = desk.sync(&again, &[]);
    assert_eq!(desk.synced(reply), Ok([T0].into()));
}

#[test]
fn members_that_join_and_do_not_sync_are_removed() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let (mut a, mut b) = (Me::new(1), Me::new(2));
    let (ra, rb) = (desk.join(&mut a), desk.join(&mut b));
    desk.until(6_000);
    desk.joined(&mut a, ra);
    desk.joined(&mut b, rb);
    let sync = desk.sync(&a, &[(&a, &[T0]), (&b, &[T1])]);
    assert_eq!(desk.synced(sync), Ok([T0].into()));
    for ms in (9_000..66_000).step_by(3_000) {
        desk.until(ms);
        assert_eq!((desk.heartbeat(&a), desk.heartbeat(&b)), (ErrorCode::None, ErrorCode::None), "at {ms}");
    }
    desk.until(66_000);
    assert_eq!(desk.state().2, 1);
    assert_eq!(desk.heartbeat(&b), ErrorCode::UnknownMemberId);
    assert_eq!(desk.heartbeat(&a), ErrorCode::RebalanceInProgress);
}

#[test]
fn a_member_that_syncs_after_the_assignment_is_stored_stays() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let (mut a, mut b) = (Me::new(1), Me::new(2));
    let (ra, rb) = (desk.join(&mut a), desk.join(&mut b));
    desk.until(6_000);
    desk.joined(&mut a, ra);
    desk.joined(&mut b, rb);
    let first = desk.sync(&a, &[(&a, &[T0]), (&b, &[T1])]);
    assert_eq!(desk.synced(first), Ok([T0].into()));
    let late = desk.sync(&b, &[]);
    assert_eq!(desk.synced(late), Ok([T1].into()));
    for ms in (9_000..120_000).step_by(3_000) {
        desk.until(ms);
        assert_eq!((desk.heartbeat(&a), desk.heartbeat(&b)), (ErrorCode::None, ErrorCode::None), "at {ms}");
    }
    assert_eq!(desk.state().2, 2);
}

#[test]
fn members_that_do_not_come_to_a_rebalance_are_out_when_its_time_is_over() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    let mut c = Me::new(3);
    let rc = desk.join(&mut c);
    let ra = desk.join(&mut members[0]);
    for ms in (3_000..60_000).step_by(3_000) {
        desk.until(ms);
        assert_eq!(desk.heartbeat(&members[1]), ErrorCode::RebalanceInProgress);
    }
    assert!(desk.answer(rc).is_none());
    desk.until(60_000);
    assert_eq!(error_of_join(&desk, rc), Some(ErrorCode::None));
    assert_eq!(error_of_join(&desk, ra), Some(ErrorCode::None));
    assert_eq!(desk.state().2, 2);
}

#[test]
fn a_sync_of_a_follower_waits_for_the_leader_and_a_join_in_between_turns_it_away() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let (mut a, mut b, mut c) = (Me::new(1), Me::new(2), Me::new(3));
    let (ra, rb) = (desk.join(&mut a), desk.join(&mut b));
    desk.until(6_000);
    desk.joined(&mut a, ra);
    desk.joined(&mut b, rb);
    let sync = desk.sync(&b, &[]);
    assert!(desk.answer(sync).is_none());
    desk.join(&mut c);
    assert_eq!(desk.synced(sync), Err(ErrorCode::RebalanceInProgress));
    let stale = desk.sync(&a, &[(&a, &[T0])]);
    assert_eq!(desk.synced(stale), Err(ErrorCode::RebalanceInProgress));
}

#[test]
fn a_member_whose_subscription_changed_rebalances_and_one_that_asks_again_does_not() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    let generation = desk.state().1;
    let reply = desk.join(&mut members[1]);
    assert_eq!(desk.joined(&mut members[1], reply).generation.0, generation);
    assert_eq!(desk.state().0, GroupState::Stable);
    let mut request = Desk::join_request(&members[1], &["range"]);
    request.protocols = [("range".into(), Subscription { topics: ["u".into()].into(), owned: Vec::new() })].into();
    desk.ask(2, GroupRequest::JoinGroup(request));
    assert_eq!(desk.state().0, GroupState::PreparingRebalance);
}

#[test]
fn g_07_a_new_coordinator_takes_the_group_up_where_it_was() {
    let mut desk = Desk::new(NEW, Dur::ZERO);
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    let commit = desk.commit(&members[0], T0, 40);
    assert_eq!(desk.committed(commit), Some(ErrorCode::None));
    let before = desk.state();
    // Longer away than a session lasts.
    let mut next = desk.fail_over(NEW, 60_000);
    assert_eq!(next.heartbeat(&members[0]), ErrorCode::None, "heartbeats pass while the partition is loaded");
    assert_eq!(next.fetch(T0), Err(ErrorCode::CoordinatorLoadInProgress));
    let sync = next.sync(&members[0], &[]);
    assert_eq!(next.synced(sync), Err(ErrorCode::RebalanceInProgress));
    next.until(60_005);
    assert_eq!(next.state(), before);
    assert_eq!(next.fetch(T0), Ok(Some(40)));
    assert_eq!((next.heartbeat(&members[0]), next.heartbeat(&members[1])), (ErrorCode::None, ErrorCode::None));
    let sync = next.sync(&members[1], &[]);
    assert_eq!(next.synced(sync), Ok([T1].into()));
    next.until(105_004);
    assert_eq!(next.state(), before, "sessions began anew with the load");
}

#[test]
fn a_coordinator_that_lost_its_partition_sends_everybody_away() {
    let mut desk = Desk::new(NEW, Dur::secs(3));
    let (mut a, mut b) = (Me::new(1), Me::new(2));
    let (ra, rb) = (desk.join(&mut a), desk.join(&mut b));
    desk.until(6_000);
    desk.joined(&mut a, ra);
    desk.joined(&mut b, rb);
    let sync = desk.sync(&b, &[]);
    desk.log.stalled = true;
    let leader_sync = desk.sync(&a, &[(&a, &[T0]), (&b, &[T1])]);
    assert!(desk.answer(leader_sync).is_none(), "the assignment is not safe yet");
    desk.groups.on_resigned(&mut desk.node.ctx(), PARTITION);
    assert_eq!(desk.heartbeat(&a), ErrorCode::NotCoordinator);
    assert_eq!(
        (desk.synced(sync), desk.synced(leader_sync)),
        (Err(ErrorCode::NotCoordinator), Err(ErrorCode::NotCoordinator))
    );
    assert_eq!(desk.node.timers.iter().count(), 0, "nothing is left to wait for");
}
