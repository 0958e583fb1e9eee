//! Commits and the writes behind them: admission, high watermark, time-outs. Membership has its own tests.

use alloc::vec::Vec;

use super::desk::{Desk, GROUP, Me, T0, T1};
use crate::base::Dur;
use crate::broker::group::GroupRequest;
use crate::protocol::{ErrorCode, GroupResponse, GroupState};
use crate::rules::Version;

fn with_committed_40(version: Version) -> (Desk, Me) {
    let mut desk = Desk::new(version, Dur::ZERO);
    let mut members = [Me::new(1)];
    desk.stable(&mut members);
    let reply = desk.commit(&members[0], T0, 40);
    assert_eq!(desk.committed(reply), Some(ErrorCode::None));
    desk.log.stalled = true;
    desk.log.below_min_isr = true;
    let [me] = members;
    (desk, me)
}

#[test]
fn g_08_the_older_coordinator_refuses_a_commit_at_once_if_the_isr_is_too_small() {
    for version in [Version::V3_6, Version::V3_9] {
        let (mut desk, me) = with_committed_40(version);
        let end = desk.log.end();
        let reply = desk.commit(&me, T0, 50);
        assert_eq!(desk.committed(reply), Some(ErrorCode::CoordinatorNotAvailable));
        assert_eq!(desk.log.end(), end, "nothing is appended");
        assert_eq!(desk.fetch(T0), Ok(Some(40)));
    }
}

#[test]
fn g_08_the_newer_coordinator_appends_and_answers_after_five_seconds_and_the_commit_counts_later() {
    let (mut desk, me) = with_committed_40(Version::V4_1);
    let end = desk.log.end();
    let reply = desk.commit(&me, T0, 50);
    assert_eq!(desk.log.end(), end + 1);
    desk.until(4_999);
    assert_eq!(desk.committed(reply), None);
    desk.until(5_000);
    assert_eq!(desk.committed(reply), Some(ErrorCode::CoordinatorNotAvailable));
    assert_eq!(desk.fetch(T0), Ok(Some(40)), "what is not safe is not committed");
    desk.replicate();
    assert_eq!(desk.fetch(T0), Ok(Some(50)), "even though the client gave up");
}

#[test]
fn the_older_coordinator_forgets_a_commit_that_timed_out() {
    let (mut desk, me) = with_committed_40(Version::V3_9);
    desk.log.below_min_isr = false;
    let reply = desk.commit(&me, T0, 50);
    desk.until(5_000);
    assert_eq!(desk.committed(reply), Some(ErrorCode::CoordinatorNotAvailable));
    desk.replicate();
    assert_eq!(desk.fetch(T0), Ok(Some(40)));
    let mut next = desk.fail_over(Version::V3_9, 5_000);
    next.until(5_005);
    assert_eq!(next.fetch(T0), Ok(Some(50)), "the log has it, and who reads the log finds it");
}

#[test]
fn a_commit_is_answered_when_the_high_watermark_passes_it() {
    let (mut desk, me) = with_committed_40(Version::V4_1);
    let (first, second) = (desk.commit(&me, T0, 50), desk.commit(&me, T1, 7));
    desk.log.high_watermark = desk.log.end() - 1;
    desk.groups.on_high_watermark(&mut desk.node.ctx(), &mut desk.log, super::desk::PARTITION);
    desk.collect();
    assert_eq!((desk.committed(first), desk.committed(second)), (Some(ErrorCode::None), None));
    assert_eq!((desk.fetch(T0), desk.fetch(T1)), (Ok(Some(50)), Ok(None)));
    desk.replicate();
    assert_eq!(desk.committed(second), Some(ErrorCode::None));
}

#[test]
fn a_new_coordinator_shows_only_commits_below_the_high_watermark() {
    let (mut desk, me) = with_committed_40(Version::V4_1);
    desk.commit(&me, T0, 50);
    let mut next = desk.fail_over(Version::V4_1, 0);
    next.until(5);
    assert_eq!(next.fetch(T0), Ok(Some(40)));
    next.replicate();
    assert_eq!(next.fetch(T0), Ok(Some(50)));
}

#[test]
fn g_18_a_member_that_was_removed_commits_in_vain() {
    let mut desk = Desk::new(Version::V4_1, Dur::ZERO);
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    desk.leave(&members[1]);
    let reply = desk.commit(&members[1], T1, 5);
    assert_eq!(desk.committed(reply), Some(ErrorCode::UnknownMemberId));
    let old = members[0].clone();
    desk.join(&mut members[0]);
    let reply = desk.commit(&old, T0, 5);
    assert_eq!(desk.committed(reply), Some(ErrorCode::IllegalGeneration), "still a member, of a later generation");
}

#[test]
fn a_commit_to_a_missing_group_is_answered_by_the_version_of_its_request() {
    let answer = |version, knows_group_id_not_found, generation| {
        let mut desk = Desk::new(version, Dur::ZERO);
        let me = Me { id: "gone".into(), generation, knows_group_id_not_found, ..Me::new(1) };
        let reply = desk.commit(&me, T0, 5);
        desk.replicate();
        (desk.committed(reply), desk.fetch(T0))
    };
    assert_eq!(answer(Version::V4_1, true, 3), (Some(ErrorCode::GroupIdNotFound), Ok(None)));
    assert_eq!(answer(Version::V4_1, false, 3), (Some(ErrorCode::IllegalGeneration), Ok(None)), "below v9");
    assert_eq!(answer(Version::V3_9, true, 3), (Some(ErrorCode::IllegalGeneration), Ok(None)), "the old coordinator");
    assert_eq!(answer(Version::V4_1, true, -1), (Some(ErrorCode::None), Ok(Some(5))), "a simple consumer makes it");
}

#[test]
fn g_19_commits_are_accepted_while_members_join_and_refused_while_they_sync() {
    let mut desk = Desk::new(Version::V4_1, Dur::ZERO);
    let mut members = [Me::new(1)];
    desk.stable(&mut members);
    let mut other = Me::new(2);
    desk.join(&mut other);
    assert_eq!(desk.state().0, GroupState::PreparingRebalance);
    let reply = desk.commit(&members[0], T0, 1);
    assert_eq!(desk.committed(reply), Some(ErrorCode::None));
    let reply = desk.join(&mut members[0]);
    desk.joined(&mut members[0], reply);
    assert_eq!(desk.state().0, GroupState::CompletingRebalance);
    let reply = desk.commit(&members[0], T0, 2);
    assert_eq!(desk.committed(reply), Some(ErrorCode::RebalanceInProgress));
}

#[test]
fn a_consumer_without_group_membership_commits_only_to_a_group_without_members() {
    let mut desk = Desk::new(Version::V4_1, Dur::ZERO);
    let simple = Me::new(7);
    let reply = desk.commit(&simple, T0, 3);
    assert_eq!(desk.committed(reply), Some(ErrorCode::None));
    assert_eq!(desk.fetch(T0), Ok(Some(3)));
    let mut members = [Me::new(1)];
    desk.stable(&mut members);
    let reply = desk.commit(&simple, T0, 4);
    assert_eq!(desk.committed(reply), Some(ErrorCode::UnknownMemberId));
}

#[test]
fn an_assignment_that_cannot_be_written_makes_the_members_join_again() {
    for (version, error) in
        [(Version::V3_9, ErrorCode::CoordinatorNotAvailable), (Version::V4_1, ErrorCode::CoordinatorNotAvailable)]
    {
        let mut desk = Desk::new(version, Dur::ZERO);
        let mut me = Me::new(1);
        let reply = desk.join(&mut me);
        desk.until(0);
        desk.joined(&mut me, reply);
        desk.log.stalled = true;
        desk.log.below_min_isr = true;
        let sync = desk.sync(&me, &[(&me, &[T0])]);
        desk.until(5_000);
        assert_eq!(desk.synced(sync), Err(error));
        assert_eq!(desk.state().0, GroupState::PreparingRebalance);
    }
}

#[test]
fn an_older_coordinator_whose_assignment_times_out_says_that_a_rebalance_runs() {
    let mut desk = Desk::new(Version::V3_9, Dur::ZERO);
    let mut me = Me::new(1);
    let reply = desk.join(&mut me);
    desk.until(0);
    desk.joined(&mut me, reply);
    desk.log.stalled = true;
    let sync = desk.sync(&me, &[(&me, &[T0])]);
    desk.until(5_000);
    assert_eq!(desk.synced(sync), Err(ErrorCode::RebalanceInProgress));
}

#[test]
fn a_description_shows_assignments_only_of_a_stable_group() {
    let mut desk = Desk::new(Version::V4_1, Dur::ZERO);
    let reply = desk.ask(9, GroupRequest::DescribeGroups { group: GROUP.into() });
    assert!(matches!(
        desk.answer(reply),
        Some(GroupResponse::DescribeGroups(d))
            if d.error == ErrorCode::GroupIdNotFound && d.state == GroupState::Dead
    ));
    let mut members = [Me::new(1), Me::new(2)];
    desk.stable(&mut members);
    let assigned = |desk: &mut Desk| {
        let reply = desk.ask(9, GroupRequest::DescribeGroups { group: GROUP.into() });
        match desk.answer(reply) {
            Some(GroupResponse::DescribeGroups(d)) => {
                (d.members.len(), d.members.iter().map(|(_, _, tps)| tps.len()).sum::<usize>())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(assigned(&mut desk), (2, 2));
    let mut third = Me::new(3);
    desk.join(&mut third);
    assert_eq!(assigned(&mut desk), (3, 0));
}

#[test]
fn offsets_of_a_deleted_topic_go() {
    let (mut desk, _) = with_committed_40(Version::V4_1);
    desk.log.stalled = false;
    desk.groups.on_topics_deleted(&mut desk.node.ctx(), &mut desk.log, &[T0.topic]);
    assert_eq!(desk.fetch(T0), Ok(None));
}

/// A stable group at a coordinator that gathers writes for 5 ms.
fn lingering(version: Version) -> (Desk, Me) {
    let mut desk = Desk::with_linger(version, Dur::ZERO, Dur::ms(5));
    let mut me = Me::new(1);
    let join = desk.join(&mut me);
    desk.until(0);
    desk.joined(&mut me, join);
    desk.sync(&me, &[(&me.clone(), &[T0, T1])]);
    desk.until(100);
    assert_eq!(desk.state().0, GroupState::Stable);
    (desk, me)
}

#[test]
fn the_newer_coordinator_gathers_writes_and_appends_them_as_one_batch() {
    let (mut desk, me) = lingering(Version::V4_1);
    let batches = desk.log.batches.len();
    let first = desk.commit(&me, T0, 40);
    desk.until(102);
    let second = desk.commit(&me, T1, 7);
    desk.until(104);
    assert_eq!((desk.log.batches.len(), desk.committed(first)), (batches, None), "nothing is appended yet");
    desk.until(105);
    assert_eq!(desk.log.batches.len(), batches + 1);
    assert_eq!(desk.log.batches.last().map(|(_, records)| records.len()), Some(2));
    assert_eq!((desk.committed(first), desk.committed(second)), (Some(ErrorCode::None), Some(ErrorCode::None)));
    assert_eq!((desk.fetch(T0), desk.fetch(T1)), (Ok(Some(40)), Ok(Some(7))));
    let third = desk.commit(&me, T0, 50);
    desk.until(109);
    assert_eq!(desk.committed(third), None, "each batch has its own time");
    desk.until(110);
    assert_eq!(desk.committed(third), Some(ErrorCode::None));
}

#[test]
fn the_older_coordinator_gathers_nothing() {
    let (mut desk, me) = lingering(Version::V3_9);
    let reply = desk.commit(&me, T0, 40);
    assert_eq!(desk.committed(reply), Some(ErrorCode::None));
}

#[test]
fn writes_that_do_not_fit_into_one_batch_go_into_several() {
    let (mut desk, me) = lingering(Version::V4_1);
    let batches = desk.log.batches.len();
    desk.log.most = Some(2);
    for offset in 0..5 {
        desk.commit(&me, T0, offset);
    }
    desk.until(105);
    let sizes: Vec<usize> = desk.log.batches[batches..].iter().map(|(_, records)| records.len()).collect();
    assert_eq!(sizes, [2, 2, 1]);
}

#[test]
fn a_batch_that_cannot_be_appended_fails_all_that_is_in_it() {
    let (mut desk, me) = lingering(Version::V4_1);
    let (first, second) = (desk.commit(&me, T0, 40), desk.commit(&me, T1, 7));
    let beat = desk.ask(1, GroupRequest::Heartbeat(me.request()));
    desk.log.lost = true;
    desk.until(105);
    let gone = Some(ErrorCode::NotCoordinator);
    assert_eq!((desk.committed(first), desk.committed(second), desk.beaten(beat)), (gone, gone, gone));
    desk.log.lost = false;
    assert_eq!(desk.fetch(T0), Ok(None));
    let again = desk.commit(&me, T0, 41);
    desk.until(110);
    assert_eq!(desk.committed(again), Some(ErrorCode::None));
}

#[test]
fn a_coordinator_that_resigns_with_an_open_batch_sends_everybody_away() {
    let (mut desk, me) = lingering(Version::V4_1);
    let batches = desk.log.batches.len();
    let reply = desk.commit(&me, T0, 40);
    desk.resign();
    assert_eq!(desk.committed(reply), Some(ErrorCode::NotCoordinator));
    desk.until(200);
    assert_eq!(desk.log.batches.len(), batches);
}

#[test]
fn the_newer_coordinator_answers_a_heartbeat_behind_the_writes_before_it() {
    let (mut desk, me) = with_committed_40(Version::V4_1);
    assert_eq!(desk.heartbeat(&me), ErrorCode::None, "nothing is pending");
    let commit = desk.commit(&me, T0, 50);
    let beat = desk.ask(1, GroupRequest::Heartbeat(me.request()));
    let strange = Me { id: "nobody".into(), ..me.clone() };
    assert_eq!(desk.heartbeat(&strange), ErrorCode::UnknownMemberId, "an error waits for nothing");
    assert_eq!(desk.beaten(beat), None);
    desk.replicate();
    assert_eq!((desk.committed(commit), desk.beaten(beat)), (Some(ErrorCode::None), Some(ErrorCode::None)));
    desk.commit(&me, T0, 60);
    let beat = desk.ask(1, GroupRequest::Heartbeat(me.request()));
    desk.until(4_999);
    assert_eq!(desk.beaten(beat), None);
    desk.until(5_000);
    assert_eq!(desk.beaten(beat), Some(ErrorCode::CoordinatorNotAvailable));
    let leave = desk.ask(1, GroupRequest::LeaveGroup(me.request()));
    assert_eq!(desk.answer(leave), None);
    assert_eq!(desk.state(), (GroupState::Empty, 2, 0), "it takes effect at once");
    desk.replicate();
    assert_eq!(desk.answer(leave), Some(&GroupResponse::LeaveGroup { error: ErrorCode::None }));
}

#[test]
fn the_older_coordinator_answers_a_heartbeat_at_once() {
    let (mut desk, me) = with_committed_40(Version::V3_9);
    desk.log.below_min_isr = false;
    let commit = desk.commit(&me, T0, 50);
    assert_eq!((desk.heartbeat(&me), desk.committed(commit)), (ErrorCode::None, None));
}
