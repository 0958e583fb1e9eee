//! What a member may do while it has lost its membership or is about to get it. The group's side is the coordinator's.

use alloc::boxed::Box;

use super::{ClientVersion, PollForm, start};
use crate::base::Dur;
use crate::client::Client;
use crate::client::testing::{Bench, Reply};
use crate::node::message::{ClientCommand, Event};
use crate::protocol::{ErrorCode, GroupRequest, GroupResponse, Request, Response};
use crate::trace::Kind;

fn commits(bench: &Bench) -> usize {
    bench.requests.iter().filter(|(_, _, r)| matches!(r, Request::Group(GroupRequest::OffsetCommit(_)))).count()
}

fn last_failure(bench: &Bench) -> Option<&'static str> {
    let failures = bench
        .notes()
        .filter_map(|(_, k)| if let Kind::CommitFailed { exception, .. } = k { Some(*exception) } else { None });
    failures.last()
}

/// A member that has read something; what the next commits become and how many of them were sent.
fn committing(version: ClientVersion, lose: impl FnOnce(&mut Bench, &mut Client)) -> (Option<&'static str>, usize) {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 5);
    let mut client = start(&mut bench, version, PollForm::Duration, &[]);
    bench.run(&mut client, 5_000);
    lose(&mut bench, &mut client);
    let before = commits(&bench);
    bench.send(&mut client, Event::Command(ClientCommand::Commit));
    let now = bench.node.now.0 / 1_000;
    bench.run(&mut client, now + 100);
    (last_failure(&bench), commits(&bench) - before)
}

/// The application does not poll when the coordinator answers the next heartbeat that it knows no such member.
fn expelled(bench: &mut Bench, client: &mut Client) {
    bench.send(client, Event::Command(ClientCommand::PausePolling { span: Dur::secs(60) }));
    bench.hook = Some(Box::new(|_, request| {
        matches!(request, Request::Group(GroupRequest::Heartbeat(_)))
            .then(|| Reply::Answer(Response::Group(GroupResponse::Heartbeat { error: ErrorCode::UnknownMemberId })))
    }));
    bench.run(client, 10_000);
}

/// The group rebalances, and the join is not answered.
fn joining(bench: &mut Bench, client: &mut Client) {
    bench.hook = Some(Box::new(|_, request| match request {
        Request::Group(GroupRequest::Heartbeat(_)) => {
            Some(Reply::Answer(Response::Group(GroupResponse::Heartbeat { error: ErrorCode::RebalanceInProgress })))
        }
        Request::Group(GroupRequest::JoinGroup(_)) => Some(Reply::Never),
        _ => None,
    }));
    bench.run(client, 10_000);
}

#[test]
fn a_member_that_was_expelled_fails_its_commit_and_sends_nothing() {
    assert_eq!(committing(ClientVersion::V4_1, expelled), (Some("CommitFailedException"), 0));
    assert_eq!(committing(ClientVersion::V2_3, expelled), (Some("CommitFailedException"), 0));
    assert_eq!(committing(ClientVersion::V4_1, |_, _| {}), (None, 1));
}

#[test]
fn a_member_that_joins_fails_its_commit_as_a_rebalance_in_progress() {
    // Without partitions there is nothing to commit: an eager member gives them up before it joins.
    assert_eq!(committing(ClientVersion::V4_1, joining).1, 0);
}

/// Heartbeats and joins of a member whose assignment comes seven seconds after its join.
fn while_syncing(version: ClientVersion) -> (usize, usize) {
    let mut bench = Bench::new(&[1]);
    bench.hook = Some(Box::new(|_, request| match request {
        Request::Group(GroupRequest::SyncGroup(_)) => Some(Reply::After(
            Dur::secs(7),
            Response::Group(GroupResponse::SyncGroup {
                error: ErrorCode::None,
                assignment: alloc::vec![crate::client::testing::TP0],
            }),
        )),
        Request::Group(GroupRequest::Heartbeat(_)) => {
            Some(Reply::Answer(Response::Group(GroupResponse::Heartbeat { error: ErrorCode::RebalanceInProgress })))
        }
        _ => None,
    }));
    let mut client = start(&mut bench, version, PollForm::Duration, &[]);
    bench.run(&mut client, 6_900);
    let count = |is: &dyn Fn(&Request) -> bool| bench.requests.iter().filter(|(_, _, r)| is(r)).count();
    let answered =
        |r: &Request| matches!(r, Request::Group(GroupRequest::JoinGroup(join)) if !join.member_id.is_empty());
    (count(&|r| matches!(r, Request::Group(GroupRequest::Heartbeat(_)))), count(&answered))
}

#[test]
fn heartbeats_run_while_the_assignment_is_waited_for_and_a_rebalance_changes_nothing_then() {
    assert_eq!(while_syncing(ClientVersion::V4_1), (2, 1));
    assert_eq!(while_syncing(ClientVersion::V2_5), (0, 1));
}

/// How commits fail that are answered with this error, and whether the membership is lost by it.
fn answered_with(error: ErrorCode) -> (Option<&'static str>, bool) {
    let mut bench = Bench::new(&[1]);
    bench.fill(0, 5);
    bench.hook = Some(Box::new(move |_, request| {
        let Request::Group(GroupRequest::OffsetCommit(commit)) = request else { return None };
        let results = commit.offsets.iter().map(|(tp, _)| (*tp, error)).collect();
        Some(Reply::Answer(Response::Group(GroupResponse::OffsetCommit { results })))
    }));
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 5_000);
    let joins =
        bench.requests.iter().filter(|(_, _, r)| matches!(r, Request::Group(GroupRequest::SyncGroup(_)))).count();
    (last_failure(&bench), joins > 1)
}

#[test]
fn a_commit_fails_as_the_error_says_and_only_two_errors_end_the_membership() {
    assert_eq!(answered_with(ErrorCode::GroupIdNotFound), (Some("KafkaException"), false));
    assert_eq!(answered_with(ErrorCode::UnknownServerError), (Some("KafkaException"), false));
    assert_eq!(answered_with(ErrorCode::UnknownTopicOrPartition), (Some("RetriableCommitFailedException"), false));
    assert_eq!(answered_with(ErrorCode::IllegalGeneration), (Some("CommitFailedException"), true));
    assert_eq!(answered_with(ErrorCode::UnknownMemberId), (Some("CommitFailedException"), true));
}

#[test]
fn below_version_9_a_commit_does_not_know_a_missing_group() {
    let knows = |version| {
        let mut bench = Bench::new(&[1]);
        bench.fill(0, 5);
        let mut client = start(&mut bench, version, PollForm::Duration, &[]);
        bench.run(&mut client, 5_000);
        bench.requests.iter().find_map(|(_, _, r)| match r {
            Request::Group(GroupRequest::OffsetCommit(commit)) => Some(commit.knows_group_id_not_found),
            _ => None,
        })
    };
    assert_eq!(knows(ClientVersion::V4_1), Some(true));
    assert_eq!(knows(ClientVersion::V3_9), Some(true));
    assert_eq!(knows(ClientVersion::V2_5), Some(false));
}
