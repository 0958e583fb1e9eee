//! What voters and observers of the metadata quorum tell each other, lost. It counts no majority itself.

use highwater_engine::base::{ControllerId, Dur, NodeId, QuorumEpoch, SimTime};
use highwater_engine::protocol::Api;
use highwater_engine::rules::Version;
use highwater_engine::trace::{Kind, QuorumRole};
use highwater_engine::world::Action;

use super::{ANY, Request, Response, first_after, lose, loss, losses, ms};
use crate::cluster::{Cluster, broker, setup};

fn voter(id: u32) -> NodeId {
    NodeId::Controller(ControllerId(id))
}

fn active(c: &Cluster) -> ControllerId {
    c.world.active_controller().expect("a controller is active")
}

/// The two that do not lead.
fn others(c: &Cluster) -> Vec<NodeId> {
    (1..=3).map(ControllerId).filter(|id| *id != active(c)).map(NodeId::Controller).collect()
}

#[test]
pub fn metadata_fetch_of_a_broker_lost_it_alone_knows_nothing_of_a_new_topic() {
    let mut c = Cluster::boot(1);
    let leader = NodeId::Controller(active(&c));
    // The answer that carries the topic: the first after the request that is parked now.
    lose(&mut c, Api::Fetch, Response, (Some(leader), Some(broker(2))), 1);
    assert!(c.until(Dur::secs(1), |c| !losses(c, Api::Fetch, Response).is_empty()));
    let lost = loss(&c, Api::Fetch, Response);
    let tp = c.topic("t", 1);
    let knows = |c: &Cluster, id| {
        c.world.broker(highwater_engine::base::BrokerId(id)).is_some_and(|b| b.image().partition(tp).is_some())
    };
    assert!(knows(&c, 1) && !knows(&c, 2) && knows(&c, 3));
    assert!(c.until(Dur::secs(5), |c| knows(c, 2)));
    let after = ms(lost, c.world.now());
    assert!((1_400..2_700).contains(&after), "controller.quorum.request.timeout.ms: {after} ms");
}

/// A fetch of a following voter is lost; the epochs before and after.
fn voter_fetch_lost(version: Version) -> (Cluster, QuorumEpoch, QuorumEpoch) {
    let mut s = setup(2);
    s.version = version;
    // The voter notices before its request is given up.
    s.config.insert("controller.quorum.request.timeout.ms".into(), "4000".into());
    let mut c = Cluster::with(&s);
    let (leader, follower) = (NodeId::Controller(active(&c)), others(&c)[0]);
    let epoch = |c: &Cluster| c.world.controller(active(c)).expect("it runs").epoch();
    let before = epoch(&c);
    lose(&mut c, Api::Fetch, Response, (Some(leader), Some(follower)), 1);
    // The leader of 4.x tells a silent voter again that it leads, which would calm it.
    for nth in 1..=3 {
        lose(&mut c, Api::BeginQuorumEpoch, Request, (Some(leader), Some(follower)), nth);
    }
    c.run(Dur::secs(12));
    loss(&c, Api::Fetch, Response);
    let after = epoch(&c);
    (c, before, after)
}

#[test]
pub fn metadata_fetch_of_a_voter_lost_pre_votes_are_refused_and_the_leader_stays() {
    let (c, before, after) = voter_fetch_lost(Version::V4_1);
    let lost = loss(&c, Api::Fetch, Response);
    let doubts =
        first_after(&c, lost, |e| matches!(e.kind, Kind::QuorumRoleChanged { role: QuorumRole::Prospective, .. }))
            .expect("its fetch time-out is over");
    assert!((1_400..2_700).contains(&ms(lost, doubts)), "{} ms", ms(lost, doubts));
    assert!(first_after(&c, doubts, |e| matches!(e.kind, Kind::VoteRefused { pre_vote: true, .. })).is_some());
    assert_eq!(before, after, "KIP-996: the others have a leader");
}

#[test]
pub fn metadata_fetch_of_a_voter_lost_without_pre_vote_the_leader_is_deposed() {
    let (c, before, after) = voter_fetch_lost(Version::V3_9);
    assert!(after > before, "epoch {before}, then {after}");
    assert!(c.saw(|k| matches!(k, Kind::ControllerResigned { .. })));
}

/// The active controller dies or stops; how long until another is active, in milliseconds, with these messages lost.
fn failover(clean: bool, api: Option<(Api, u32)>) -> (u64, SimTime) {
    let mut c = Cluster::boot(3);
    let from = c.world.now();
    if let Some((api, count)) = api {
        for nth in 1..=count {
            lose(&mut c, api, Request, ANY, nth);
        }
    }
    let old = active(&c);
    c.act(if clean { Action::Stop(voter(old.0)) } else { Action::Kill(voter(old.0)) });
    assert!(c.until(Dur::secs(30), |c| c.world.active_controller().is_some_and(|now| now != old)));
    if let Some((api, count)) = api {
        assert_eq!(losses(&c, api, Request).len(), count as usize, "{api:?}");
    }
    (ms(from, c.world.now()), c.world.now())
}

#[test]
pub fn votes_lost_nobody_leads_longer() {
    let (smooth, lossy) = (failover(false, None).0, failover(false, Some((Api::Vote, 4))).0);
    assert!(lossy >= smooth + 900, "{smooth} ms, {lossy} ms");
}

#[test]
pub fn begin_quorum_epoch_lost_the_new_leader_is_not_active_yet() {
    // One goes to the dead controller, one to the other survivor.
    let (smooth, lossy) = (failover(false, None).0, failover(false, Some((Api::BeginQuorumEpoch, 2))).0);
    assert!(
        (800..1_300).contains(&(lossy - smooth)),
        "told again after half the fetch time-out: {smooth} ms, {lossy} ms"
    );
}

#[test]
pub fn end_quorum_epoch_lost_the_leader_is_missed_only_at_the_time_out() {
    let (told, untold) = (failover(true, None).0, failover(true, Some((Api::EndQuorumEpoch, 2))).0);
    assert!(told < 500 && untold >= 1_400, "{told} ms, {untold} ms");
}
