//! That a node knows only what a message told it: whoever hears nothing goes on believing what it believed.

use highwater_engine::base::{BrokerId, ControllerId, Dur, NodeId};
use highwater_engine::broker::replicas::ReplicaRole;
use highwater_engine::trace::Kind;
use highwater_engine::world::Action;

use super::{first_after, with_records};
use crate::cluster::{Cluster, broker};

fn everyone_but(id: u32) -> Vec<NodeId> {
    let brokers = (1..=3).map(|b| NodeId::Broker(BrokerId(b))).filter(|n| *n != broker(id));
    brokers.chain((1..=3).map(|c| NodeId::Controller(ControllerId(c)))).collect()
}

#[test]
fn a_broker_that_is_cut_off_goes_on_believing_that_it_leads() {
    let (mut c, tp) = with_records(1);
    c.act(Action::Cut { from: vec![broker(1)], to: everyone_but(1), both: true });
    assert!(c.until(Dur::secs(15), |c| c.recorded_leader(tp) == Some(2)), "it is fenced and another one leads");
    c.run(Dur::secs(5));
    let view =
        |c: &Cluster, id| c.world.broker(BrokerId(id)).and_then(|b| b.replica(tp).map(|r| (r.role, r.leader_epoch)));
    let ((old_role, old), (new_role, new)) =
        (view(&c, 1).expect("it has a replica"), view(&c, 2).expect("it has a replica"));
    assert_eq!((old_role, new_role), (ReplicaRole::Leader, ReplicaRole::Leader));
    assert!(new > old, "two believe that they lead, each in its own epoch: {old:?}, {new:?}");
    assert!(!c.world.broker(BrokerId(1)).is_some_and(|b| b.is_fenced()), "nobody has told it that it is fenced");
    c.act(Action::HealAll);
    assert!(c.until(Dur::secs(60), |c| view(c, 1) == Some((ReplicaRole::Follower, new))), "now it hears of it");
}

#[test]
fn controllers_know_a_dead_broker_only_by_its_silence() {
    let (mut c, tp) = with_records(2);
    let killed = c.world.now();
    c.act(Action::Kill(broker(1)));
    c.run(Dur::secs(5));
    assert_eq!(c.recorded_leader(tp), Some(1), "five seconds after its death it is still recorded as leader");
    assert!(c.until(Dur::secs(10), |c| c.recorded_leader(tp) == Some(2)));
    assert!(first_after(&c, killed, |e| matches!(e.kind, Kind::BrokerFenced { broker: BrokerId(1), .. })).is_some());
}

#[test]
fn a_follower_learns_of_a_high_watermark_after_its_leader() {
    let (c, tp) = with_records(3);
    let advanced = |who: u32, by_leader: bool| {
        c.trace
            .iter()
            .filter(|e| e.who == broker(who))
            .filter_map(|e| match e.kind {
                Kind::HighWatermarkAdvanced { tp: t, high_watermark, leader } if t == tp && leader == by_leader => {
                    Some((high_watermark, e.at))
                }
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let leader = advanced(1, true);
    for follower in [2, 3] {
        let seen = advanced(follower, false);
        assert_eq!(seen.last().map(|(hw, _)| *hw), Some(5));
        for (high_watermark, at) in seen {
            let told = leader.iter().find(|(hw, _)| *hw == high_watermark).expect("the leader had it first").1;
            assert!(at > told, "broker {follower} knew of {high_watermark} at {at:?}, the leader at {told:?}");
        }
    }
}

#[test]
fn a_broker_that_hears_no_metadata_serves_what_it_last_heard() {
    let (mut c, tp) = with_records(4);
    let controllers: Vec<NodeId> = (1..=3).map(|id| NodeId::Controller(ControllerId(id))).collect();
    c.act(Action::Cut { from: vec![broker(3)], to: controllers, both: true });
    c.act(Action::Stop(broker(1)));
    assert!(c.until(Dur::secs(10), |c| c.recorded_leader(tp) == Some(2)));
    c.run(Dur::secs(1));
    let believed =
        |c: &Cluster, id| c.world.broker(BrokerId(id)).and_then(|b| b.image().partition(tp).and_then(|p| p.leader));
    assert_eq!((believed(&c, 2), believed(&c, 3)), (Some(BrokerId(2)), Some(BrokerId(1))));
}
