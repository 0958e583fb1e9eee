//! What brokers ask each other and the active controller for, lost. Clients are only there to notice.

use highwater_engine::base::{BrokerId, Dur, NodeId, Tp};
use highwater_engine::protocol::Api;
use highwater_engine::protocol::config::config_map;
use highwater_engine::trace::Kind;
use highwater_engine::world::Action;

use super::{ANY, Request, Response, Way, first_after, lose, loss, losses, ms};
use crate::cluster::{Cluster, broker, setup};

/// A cluster whose followers may lag for ten seconds, and one record acknowledged.
fn impatient() -> (Cluster, Tp) {
    let mut s = setup(7);
    s.config.extend(config_map(&[("replica.lag.time.max.ms", "10000")]));
    let mut c = Cluster::with(&s);
    let tp = c.topic("t", 1);
    c.producer(
        "p",
        &[("acks", "all"), ("linger.ms", "0"), ("request.timeout.ms", "60000"), ("delivery.timeout.ms", "90000")],
    );
    c.produce("p", "t", "a", 1, Dur::ZERO);
    c.run(Dur::secs(2));
    assert_eq!(c.acked().len(), 1);
    (c, tp)
}

fn replica_fetch_lost(way: Way) {
    let (mut c, tp) = impatient();
    let ends = if way == Request { (Some(broker(3)), Some(broker(1))) } else { (Some(broker(1)), Some(broker(3))) };
    lose(&mut c, Api::Fetch, way, ends, 1);
    assert!(c.until(Dur::secs(2), |c| !losses(c, Api::Fetch, way).is_empty()));
    let lost = loss(&c, Api::Fetch, way);
    c.produce("p", "t", "b", 1, Dur::ZERO);
    c.run(Dur::secs(8));
    assert_eq!((c.log_end(broker(1), tp), c.log_end(broker(2), tp), c.log_end(broker(3), tp)), (2, 2, 1));
    assert_eq!(
        c.world.broker(BrokerId(1)).and_then(|b| b.high_watermark(tp)),
        Some(1),
        "the high watermark waits for broker 3"
    );
    assert!(c.until(Dur::secs(10), |c| c.acked().len() == 2));
    let acked = ms(lost, c.world.now());
    let shrunk =
        first_after(&c, lost, |e| matches!(&e.kind, Kind::IsrShrunk { removed, .. } if removed == &[BrokerId(3)]))
            .expect("broker 3 leaves the ISR");
    assert!(
        (9_500..16_000).contains(&ms(lost, shrunk)) && acked >= ms(lost, shrunk),
        "shrunk after {} ms, acknowledged after {acked} ms",
        ms(lost, shrunk)
    );
    // The fetcher itself waits for replica.socket.timeout.ms.
    assert!(c.until(Dur::secs(30), |c| c.log_end(broker(3), tp) == 2));
    let caught_up = ms(lost, c.world.now());
    assert!((29_000..32_000).contains(&caught_up), "{caught_up} ms");
    assert!(c.until(Dur::secs(3), |c| c.recorded(tp, |p| p.isr.len()) == Some(3)));
}

#[test]
pub fn replica_fetch_response_lost_the_high_watermark_stands_until_the_isr_shrinks() {
    replica_fetch_lost(Response);
}

#[test]
pub fn replica_fetch_request_lost_costs_the_same() {
    replica_fetch_lost(Request);
}

/// Follower 3 cannot reach the leader any more, and what becomes of the shrink is lost in one way.
fn shrink_lost(way: Way) -> (Cluster, Tp) {
    let (mut c, tp) = impatient();
    lose(&mut c, Api::AlterPartition, way, ANY, 1);
    c.act(Action::Cut { from: vec![broker(1)], to: vec![broker(3)], both: true });
    c.run(Dur::ms(600));
    c.produce("p", "t", "b", 1, Dur::ZERO);
    assert!(c.until(Dur::secs(20), |c| !losses(c, Api::AlterPartition, way).is_empty()), "the leader proposes");
    (c, tp)
}

#[test]
pub fn alter_partition_request_lost_the_isr_stays_recorded() {
    let (mut c, tp) = shrink_lost(Request);
    let lost = loss(&c, Api::AlterPartition, Request);
    c.run(Dur::secs(25));
    assert_eq!(c.recorded(tp, |p| p.isr.len()), Some(3), "the controller has heard of nothing");
    assert_eq!(c.acked().len(), 1, "a shrink that is not committed moves no high watermark");
    assert!(c.until(Dur::secs(10), |c| c.acked().len() == 2));
    let after = ms(lost, c.world.now());
    assert!((29_500..31_500).contains(&after), "controller.socket.timeout.ms: {after} ms");
    assert_eq!(c.recorded(tp, |p| p.isr.len()), Some(2));
}

#[test]
pub fn alter_partition_response_lost_metadata_tells_it_and_the_next_change_waits() {
    let (mut c, tp) = shrink_lost(Response);
    let lost = loss(&c, Api::AlterPartition, Response);
    assert!(
        c.until(Dur::secs(1), |c| c.acked().len() == 2),
        "the record of the change reaches the leader with the metadata"
    );
    c.act(Action::HealAll);
    c.run(Dur::secs(10));
    c.run(Dur::secs(10));
    assert_eq!(c.log_end(broker(3), tp), 2, "broker 3 has caught up");
    assert_eq!(c.recorded(tp, |p| p.isr.len()), Some(2), "but the leader's channel to the controller is taken");
    assert!(c.until(Dur::secs(40), |c| c.recorded(tp, |p| p.isr.len()) == Some(3)));
    let after = ms(lost, c.world.now());
    assert!((29_500..31_500).contains(&after), "{after} ms");
}

/// How long a broker takes from its start to running, in milliseconds, if this many registrations are lost.
fn start_takes(lost: u32) -> u64 {
    let mut s = setup(8);
    s.brokers[2].started = false;
    let mut c = Cluster::with(&s);
    for nth in 1..=lost {
        lose(&mut c, Api::BrokerRegistration, Request, (Some(broker(3)), None), nth);
    }
    let from = c.world.now();
    c.act(Action::Start(broker(3)));
    assert!(c.until(Dur::secs(60), |c| c.world.broker(BrokerId(3)).is_some_and(|b| b.is_running())));
    assert_eq!(losses(&c, Api::BrokerRegistration, Request).len(), lost as usize);
    ms(from, c.world.now())
}

#[test]
pub fn broker_registration_lost_the_start_takes_longer() {
    let (smooth, once) = (start_takes(0), start_takes(1));
    // 2 s until the try is given up and 2 s of rest.
    assert!((3_000..5_000).contains(&(once - smooth)), "{smooth} ms, {once} ms");
}

#[test]
pub fn one_heartbeat_lost_nobody_is_fenced() {
    let mut c = Cluster::boot(9);
    let from = c.world.now();
    lose(&mut c, Api::BrokerHeartbeat, Request, (Some(broker(2)), None), 1);
    c.run(Dur::secs(20));
    loss(&c, Api::BrokerHeartbeat, Request);
    assert_eq!(first_after(&c, from, |e| matches!(e.kind, Kind::BrokerFenced { .. })), None);
}

#[test]
pub fn two_heartbeats_lost_a_healthy_broker_is_fenced() {
    let mut c = Cluster::boot(9);
    let from = c.world.now();
    lose(&mut c, Api::BrokerHeartbeat, Request, (Some(broker(2)), None), 1);
    lose(&mut c, Api::BrokerHeartbeat, Request, (Some(broker(2)), None), 2);
    c.run(Dur::secs(20));
    let lost = losses(&c, Api::BrokerHeartbeat, Request);
    assert_eq!(lost.len(), 2);
    let of_2 = |k: &Kind| matches!(k, Kind::BrokerFenced { broker: BrokerId(2), .. });
    let fenced = first_after(&c, from, |e| of_2(&e.kind)).expect("its session ends");
    // The session began with the heartbeat before the lost one.
    assert!((6_500..8_500).contains(&ms(lost[0], fenced)), "{} ms", ms(lost[0], fenced));
    assert!(c.world.machine(broker(2)).is_some_and(|m| m.is_up()), "the process never stopped");
    assert!(
        first_after(&c, fenced, |e| matches!(e.kind, Kind::BrokerUnfenced { broker: BrokerId(2) }))
            .is_some_and(|at| ms(fenced, at) < 4_000)
    );
}

#[test]
pub fn allocate_producer_ids_lost_idempotent_producers_wait() {
    let mut s = setup(10);
    s.brokers.truncate(1);
    s.brokers[0].started = true;
    let mut c = Cluster::with(&s);
    let request = highwater_engine::protocol::CreateTopicRequest {
        name: "t".into(),
        placement: highwater_engine::protocol::Placement::Manual(vec![(0, vec![BrokerId(1)])]),
        configs: config_map(&[]),
        timeout: Dur::secs(15),
    };
    assert!(c.admin(highwater_engine::node::message::AdminRequest::CreateTopic(request)).is_none());
    let controller = c.world.active_controller().map(NodeId::Controller);
    lose(&mut c, Api::AllocateProducerIds, Request, (None, controller), 1);
    c.producer("p", &[("acks", "all"), ("linger.ms", "0")]);
    c.produce("p", "t", "a", 1, Dur::ZERO);
    c.producer("q", &[("acks", "all"), ("linger.ms", "0"), ("enable.idempotence", "false")]);
    c.produce("q", "t", "b", 1, Dur::ZERO);
    c.run(Dur::secs(30));
    loss(&c, Api::AllocateProducerIds, Request);
    assert_eq!(c.acked().len(), 1, "only the producer that needs no id got through");
    assert!(c.until(Dur::secs(60), |c| c.acked().len() == 2), "the broker asks again in the end");
}

#[test]
pub fn assign_replicas_to_dirs_lost_the_new_disk_waits_longer() {
    let mut c = Cluster::with(&setup(12));
    let tp = c.topic("t", 1);
    let controller = c.world.active_controller().map(NodeId::Controller);
    for action in [Action::Kill(broker(3)), Action::LoseDisk(broker(3))] {
        c.act(action);
    }
    lose(&mut c, Api::AssignReplicasToDirs, Request, (Some(broker(3)), controller), 1);
    c.act(Action::Start(broker(3)));
    let assigned = |c: &Cluster| c.recorded(tp, |p| p.directory(BrokerId(3))).flatten();
    assert!(c.until(Dur::secs(30), |c| !losses(c, Api::AssignReplicasToDirs, Request).is_empty()));
    assert_eq!(assigned(&c), Some(0));
    assert!(c.until(Dur::secs(120), |c| assigned(c) == Some(1)), "the broker tells it again");
}
