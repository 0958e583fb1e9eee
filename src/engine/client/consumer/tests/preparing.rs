//! The commit before a rebalance: what is tried again, how long, and what the application gets meanwhile. Who is in the
//! group is the coordinator's affair.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;

use super::{ClientVersion, ConsumerSpec, PollForm, callbacks, spec};
use crate::base::Dur;
use crate::client::testing::{Bench, Reply, TP0};
use crate::client::{Client, ClientKind};
use crate::protocol::{
    BrokerRequest, BrokerResponse, ErrorCode, GroupRequest, GroupResponse, MetadataResponse, OffsetCommitRequest,
    Request, Response, TopicMetadata,
};
use crate::trace::Callback;

/// A member that commits by itself, only before a rebalance, and has read five records. At 5 s its group rebalances,
/// and `answer` says what becomes of its commits (their number, and the request).
fn rebalancing(
    version: ClientVersion,
    config: &[(&str, &str)],
    answer: impl Fn(u32, &OffsetCommitRequest) -> Option<Reply> + 'static,
) -> (Bench, Client) {
    let mut bench = Bench::new(&[2]);
    bench.fill(0, 5);
    let auto = [("enable.auto.commit", "true"), ("auto.commit.interval.ms", "3600000")];
    let spec = ConsumerSpec { commit_every: None, ..spec(version, PollForm::Duration, &[&auto[..], config].concat()) };
    let mut client = bench.start(ClientKind::Consumer(spec)).expect("allowed configs");
    bench.run(&mut client, 5_000);
    assert_eq!(bench.delivered(), 5);
    let (told, commits) = (Cell::new(false), Cell::new(0));
    bench.hook = Some(Box::new(move |_, request| match request {
        Request::Group(GroupRequest::Heartbeat(_)) if !told.replace(true) => {
            Some(Reply::Answer(Response::Group(GroupResponse::Heartbeat { error: ErrorCode::RebalanceInProgress })))
        }
        Request::Group(GroupRequest::OffsetCommit(commit)) => {
            commits.set(commits.get() + 1);
            answer(commits.get(), commit)
        }
        _ => None,
    }));
    (bench, client)
}

fn failing(commit: &OffsetCommitRequest, error: ErrorCode) -> Option<Reply> {
    let results = commit.offsets.iter().map(|(tp, _)| (*tp, error)).collect();
    Some(Reply::Answer(Response::Group(GroupResponse::OffsetCommit { results })))
}

/// When requests of this kind were sent after 5 s, in milliseconds.
fn sent(bench: &Bench, is: impl Fn(&Request) -> bool) -> Vec<u64> {
    let since = bench.requests.iter().filter(|(at, _, r)| at.0 > 5_000_000 && is(r));
    since.map(|(at, _, _)| at.0 / 1_000).collect()
}
fn commits(bench: &Bench) -> Vec<u64> {
    sent(bench, |r| matches!(r, Request::Group(GroupRequest::OffsetCommit(_))))
}
fn joins(bench: &Bench) -> Vec<u64> {
    sent(bench, |r| matches!(r, Request::Group(GroupRequest::JoinGroup(_))))
}

const VERSIONS: [ClientVersion; 5] =
    [ClientVersion::V1_1, ClientVersion::V2_3, ClientVersion::V2_5, ClientVersion::V3_9, ClientVersion::V4_1];

#[test]
fn a_commit_before_a_rebalance_that_fails_for_a_while_is_tried_again_before_the_join() {
    let passing =
        [ErrorCode::CoordinatorLoadInProgress, ErrorCode::UnknownTopicOrPartition, ErrorCode::RequestTimedOut];
    for (version, error) in VERSIONS.into_iter().flat_map(|v| passing.map(|error| (v, error))) {
        let (mut bench, mut client) =
            rebalancing(version, &[], move |n, commit| if n <= 3 { failing(commit, error) } else { None });
        bench.run(&mut client, 15_000);
        let (commits, joins) = (commits(&bench), joins(&bench));
        assert_eq!((commits.len(), joins.len()), (4, 1), "{version:?} {error:?}");
        let pauses = commits.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(pauses.clone().all(|ms| (100..=310).contains(&ms)), "{version:?} {error:?}: {commits:?}");
        assert!(joins[0] >= commits[3], "{version:?} {error:?}");
        assert_eq!(bench.committed.get(&TP0).map(|o| o.offset), Some(5));
        assert!(callbacks(&bench).ends_with(&[(Callback::Revoked, 1), (Callback::Assigned, 1)]));
    }
}

#[test]
fn a_commit_before_a_rebalance_that_fails_for_good_is_not_tried_again() {
    for version in VERSIONS {
        for error in [ErrorCode::RebalanceInProgress, ErrorCode::UnknownServerError] {
            let (mut bench, mut client) = rebalancing(version, &[], move |_, commit| failing(commit, error));
            bench.run(&mut client, 10_000);
            assert_eq!((commits(&bench).len(), joins(&bench).len()), (1, 1), "{version:?} {error:?}");
        }
    }
}

#[test]
fn a_member_that_cannot_commit_joins_when_its_rebalance_time_out_is_over() {
    for version in VERSIONS {
        let config = [("max.poll.interval.ms", "10000"), ("session.timeout.ms", "6000")];
        let (mut bench, mut client) =
            rebalancing(version, &config, |_, commit| failing(commit, ErrorCode::CoordinatorLoadInProgress));
        bench.run(&mut client, 30_000);
        let (commits, joins) = (commits(&bench), joins(&bench));
        assert_eq!(joins.len(), 1, "{version:?}");
        let (first, last) = (commits[0], commits[commits.len() - 1]);
        assert!((9_999..=10_010).contains(&(joins[0] - first)), "{version:?}: {first} {joins:?}");
        assert!(last < joins[0] && commits.len() > 30, "{version:?}: {commits:?}");
    }
}

#[test]
fn a_commit_before_a_rebalance_that_nobody_answers_is_given_up_with_the_rebalance_time_out() {
    let config = [("max.poll.interval.ms", "10000"), ("session.timeout.ms", "6000")];
    let (mut bench, mut client) = rebalancing(ClientVersion::V4_1, &config, |_, _| Some(Reply::Never));
    bench.run(&mut client, 60_000);
    let (commits, joins) = (commits(&bench), joins(&bench));
    assert!((9_999..=10_010).contains(&(joins[0] - commits[0])), "{commits:?} {joins:?}");
}

#[test]
fn what_is_about_to_be_given_up_is_not_handed_out_while_its_commit_is_tried() {
    for version in VERSIONS {
        let (mut bench, mut client) = rebalancing(version, &[], |n, commit| {
            if n <= 20 { failing(commit, ErrorCode::CoordinatorLoadInProgress) } else { None }
        });
        let mut before = 0;
        while commits(&bench).is_empty() {
            let now = bench.node.now.0 / 1_000;
            assert!(now < 20_000, "{version:?}: it commits before it joins");
            before = bench.delivered();
            bench.run(&mut client, now + 10);
        }
        bench.fill(0, 3);
        let now = bench.node.now.0 / 1_000;
        bench.run(&mut client, now + 1_000);
        assert_eq!((bench.delivered(), joins(&bench).len()), (before, 0), "{version:?}");
        bench.run(&mut client, now + 15_000);
        assert_eq!(bench.delivered(), before + 3, "{version:?}: read after the rebalance, from what was committed");
    }
}

#[test]
fn a_coordinator_that_dies_while_it_is_committed_to_is_looked_for_and_committed_to_where_it_is_now() {
    for version in VERSIONS {
        let (mut bench, mut client) = rebalancing(version, &[], |n, _| (n == 1).then_some(Reply::Never));
        while commits(&bench).is_empty() {
            let now = bench.node.now.0 / 1_000;
            assert!(now < 20_000, "{version:?}: it commits before it joins");
            bench.run(&mut client, now + 1);
        }
        bench.kill(1);
        bench.coordinator = Ok(crate::base::BrokerId(3));
        let now = bench.node.now.0 / 1_000;
        bench.run(&mut client, now + 5_000);
        assert_eq!((commits(&bench).len(), joins(&bench).len()), (2, 1), "{version:?}");
        assert_eq!(bench.committed.get(&TP0).map(|o| o.offset), Some(5));
    }
}

#[test]
fn a_topic_that_was_deleted_is_committed_by_its_name_before_the_rebalance_that_follows() {
    let mut bench = Bench::new(&[2]);
    bench.fill(0, 5);
    let config =
        [("enable.auto.commit", "true"), ("auto.commit.interval.ms", "3600000"), ("metadata.max.age.ms", "6000")];
    let spec = ConsumerSpec { commit_every: None, ..spec(ClientVersion::V4_1, PollForm::Duration, &config) };
    let mut client = bench.start(ClientKind::Consumer(spec)).expect("allowed configs");
    bench.run(&mut client, 5_000);
    assert_eq!(bench.delivered(), 5);
    bench.hook = Some(Box::new(|_, request| match request {
        Request::Broker(BrokerRequest::Metadata(asked))
            if asked.topics.as_ref().is_some_and(|topics| !topics.is_empty()) =>
        {
            let error = ErrorCode::UnknownTopicOrPartition;
            let gone = TopicMetadata { error, name: "t".into(), topic: None, partitions: Vec::new() };
            Some(Reply::Answer(Response::Broker(BrokerResponse::Metadata(MetadataResponse {
                brokers: Vec::new(),
                topics: [gone].into(),
            }))))
        }
        _ => None,
    }));
    bench.run(&mut client, 10_000);
    let names = bench.requests.iter().find_map(|(_, _, r)| match r {
        Request::Group(GroupRequest::OffsetCommit(commit)) => Some(commit.names.clone()),
        _ => None,
    });
    assert_eq!(names.expect("the leader of the group joins again").get(&TP0.topic).map(|name| &**name), Some("t"));
}

#[test]
fn an_application_polls_on_while_a_newer_client_commits_before_a_rebalance() {
    let polls = |version| {
        let (mut bench, mut client) = rebalancing(version, &[], |_, _| Some(Reply::After(Dur::secs(4), answer_none())));
        bench.run(&mut client, 9_000);
        client.as_consumer().map_or(0, |c| c.counts().slow_polls)
    };
    assert_eq!([ClientVersion::V3_9, ClientVersion::V4_1].map(polls), [0, 0]);
    assert_eq!([ClientVersion::V1_1, ClientVersion::V2_3, ClientVersion::V2_5].map(polls), [0, 0, 0], "not back yet");
    let after = |version| {
        let (mut bench, mut client) = rebalancing(version, &[], |_, _| Some(Reply::After(Dur::secs(4), answer_none())));
        bench.run(&mut client, 15_000);
        client.as_consumer().map_or(0, |c| c.counts().slow_polls)
    };
    assert_eq!([ClientVersion::V1_1, ClientVersion::V2_3, ClientVersion::V2_5].map(after), [1, 1, 1]);
    assert_eq!([ClientVersion::V3_9, ClientVersion::V4_1].map(after), [0, 0]);
}

fn answer_none() -> Response {
    Response::Group(GroupResponse::OffsetCommit { results: alloc::vec![(TP0, ErrorCode::None)] })
}
