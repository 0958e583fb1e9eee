//! What a member asks its coordinator for, lost. It judges no rebalance that nothing disturbs.

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::protocol::Api;
use highwater_engine::trace::{Callback, Kind};
use highwater_engine::world::Action;

use super::{ANY, Request, Response, Way, consumer, first_after, lose, loss, ms, with_records};
use crate::cluster::Cluster;

/// A consumer starts while a message of an API is lost; how long after the loss the five records are read, in
/// milliseconds.
fn read_after(api: Api, way: Way, nth: u32, config: &[(&str, &str)]) -> (Cluster, u64) {
    let (mut c, _) = with_records(5);
    // The offsets topic is made and the coordinator is there.
    consumer(&mut c, "first", &[]);
    c.run(Dur::secs(3));
    c.act(Action::CloseClient { name: "first".into(), within: None });
    c.run(Dur::secs(1));
    let known = c.delivered();
    lose(&mut c, api, way, ANY, nth);
    consumer(&mut c, "c", config);
    assert!(c.until(Dur::secs(60), |c| c.delivered() == known + 5), "{api:?}: it reads in the end");
    let after = ms(loss(&c, api, way), c.world.now());
    (c, after)
}

#[test]
pub fn find_coordinator_lost_nobody_joins_before_the_time_out() {
    let (_, after) = read_after(Api::FindCoordinator, Request, 1, &[]);
    assert!((5_000..6_500).contains(&after), "{after} ms");
}

#[test]
pub fn join_group_request_lost_it_waits_for_the_poll_interval() {
    let (_, after) = read_after(Api::JoinGroup, Request, 1, &[("max.poll.interval.ms", "12000")]);
    assert!((17_000..18_500).contains(&after), "max.poll.interval.ms and 5 s: {after} ms");
}

#[test]
pub fn join_group_response_lost_the_member_expires_and_joins_anew() {
    let (c, after) = read_after(Api::JoinGroup, Response, 2, &[("max.poll.interval.ms", "12000")]);
    assert!((17_000..18_500).contains(&after), "{after} ms");
    let lost = loss(&c, Api::JoinGroup, Response);
    let removed = first_after(&c, lost, |e| matches!(e.kind, Kind::MemberRemoved { expired: true, .. }))
        .expect("its session ends");
    assert!((9_000..12_500).contains(&ms(lost, removed)), "{} ms", ms(lost, removed));
}

#[test]
pub fn sync_group_request_lost_nobody_owns_anything() {
    let (c, after) = read_after(Api::SyncGroup, Request, 1, &[]);
    assert!((5_000..7_000).contains(&after), "{after} ms");
    let lost = loss(&c, Api::SyncGroup, Request);
    let assigned =
        first_after(&c, lost, |e| matches!(e.kind, Kind::RebalanceCallback { callback: Callback::Assigned, .. }))
            .expect("assigned in the end");
    assert!(ms(lost, assigned) >= 5_000);
}

#[test]
pub fn offset_fetch_lost_the_member_owns_and_does_not_read() {
    let (c, after) = read_after(Api::OffsetFetch, Request, 1, &[]);
    assert!((5_000..6_500).contains(&after), "{after} ms");
    assert!(c.saw(|k| matches!(k, Kind::RebalanceCallback { callback: Callback::Assigned, .. })));
}

#[test]
pub fn list_offsets_lost_there_is_no_position_to_read_from() {
    let (_, after) = read_after(Api::ListOffsets, Request, 1, &[]);
    assert!((5_000..6_500).contains(&after), "{after} ms");
}

/// A reading member, then a message of an API is lost.
fn member(api: Api, way: Way, config: &[(&str, &str)]) -> Cluster {
    let (mut c, _) = with_records(6);
    consumer(&mut c, "c", config);
    assert!(c.until(Dur::secs(10), |c| c.delivered() == 5));
    c.run(Dur::secs(1));
    lose(&mut c, api, way, ANY, 1);
    c
}

fn when(c: &Cluster, since: SimTime, is: impl Fn(&Kind) -> bool) -> Option<u64> {
    first_after(c, since, |e| is(&e.kind)).map(|at| ms(since, at))
}

fn committed(k: &Kind) -> bool {
    matches!(k, Kind::OffsetsCommitted { .. })
}

fn commit_failed(k: &Kind) -> bool {
    matches!(k, Kind::CommitFailed { exception: "RetriableCommitFailedException", .. })
}

#[test]
pub fn offset_commit_request_lost_the_commit_fails_at_the_time_out() {
    let mut c = member(Api::OffsetCommit, Request, &[]);
    c.act(Action::Commit { member: "c".into() });
    c.run(Dur::secs(8));
    let lost = loss(&c, Api::OffsetCommit, Request);
    let failed = when(&c, lost, commit_failed).expect("the callback is told");
    assert!((4_500..6_000).contains(&failed), "{failed} ms");
    assert_eq!(when(&c, lost, committed), None);
    assert!(
        when(&c, lost, |k| matches!(k, Kind::CoordinatorUnknown { .. })).is_some(),
        "and the coordinator is looked for again"
    );
}

#[test]
pub fn offset_commit_response_lost_it_is_committed_and_called_failed() {
    let mut c = member(Api::OffsetCommit, Response, &[]);
    let asked = c.world.now();
    c.act(Action::Commit { member: "c".into() });
    c.run(Dur::secs(8));
    loss(&c, Api::OffsetCommit, Response);
    assert!(when(&c, asked, committed).is_some_and(|after| after < 100));
    assert!(when(&c, asked, commit_failed).is_some_and(|after| after >= 4_500));
}

#[test]
pub fn heartbeat_request_lost_the_coordinator_is_looked_for() {
    let mut c = member(Api::Heartbeat, Request, &[]);
    c.run(Dur::secs(30));
    let lost = loss(&c, Api::Heartbeat, Request);
    let lost_it = when(&c, lost, |k| matches!(k, Kind::CoordinatorUnknown { .. })).expect("its request times out");
    assert!((4_500..7_500).contains(&lost_it), "{lost_it} ms");
    assert!(!c.saw(|k| matches!(k, Kind::MemberRemoved { .. })), "it comes back within its session");
}

#[test]
pub fn heartbeat_request_lost_for_longer_than_the_session_the_member_is_expelled() {
    let mut c = member(Api::Heartbeat, Request, &[("request.timeout.ms", "30000")]);
    c.run(Dur::secs(30));
    let lost = loss(&c, Api::Heartbeat, Request);
    let expelled = when(&c, lost, |k| matches!(k, Kind::MemberRemoved { expired: true, .. }))
        .expect("nothing of it reaches the coordinator");
    assert!((6_500..10_500).contains(&expelled), "{expelled} ms");
    let joined = when(&c, lost, |k| matches!(k, Kind::MemberJoined { .. })).expect("it joins anew once it has looked");
    assert!((expelled..20_000).contains(&joined), "{joined} ms");
}

#[test]
pub fn heartbeat_response_lost_costs_the_same() {
    let mut c = member(Api::Heartbeat, Response, &[]);
    c.run(Dur::secs(30));
    let lost = loss(&c, Api::Heartbeat, Response);
    assert!(
        when(&c, lost, |k| matches!(k, Kind::CoordinatorUnknown { .. }))
            .is_some_and(|after| (4_500..7_500).contains(&after))
    );
    assert!(!c.saw(|k| matches!(k, Kind::MemberRemoved { .. })));
}

#[test]
pub fn leave_group_lost_the_partitions_wait_for_the_end_of_the_session() {
    let mut c = member(Api::LeaveGroup, Request, &[]);
    consumer(&mut c, "d", &[]);
    c.run(Dur::secs(5));
    c.act(Action::CloseClient { name: "c".into(), within: None });
    c.run(Dur::secs(20));
    let lost = loss(&c, Api::LeaveGroup, Request);
    let removed = when(&c, lost, |k| matches!(k, Kind::MemberRemoved { expired: true, .. })).expect("its session ends");
    assert!((6_500..10_500).contains(&removed), "{removed} ms");
    assert!(!c.saw(|k| matches!(k, Kind::MemberRemoved { expired: false, .. })));
}
