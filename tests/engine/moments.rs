//! What an entry of the trace says of its own moment, so that no reader has to ask the present world. It judges no
//! decision.

use highwater_engine::base::{BrokerId, Dur};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{CreateTopicRequest, ErrorCode, GroupState, Placement};
use highwater_engine::trace::{Creator, Kind};
use highwater_engine::world::Action;

use super::cluster::{Cluster, broker, setup};

fn creators(c: &Cluster) -> Vec<(String, Creator)> {
    c.trace
        .iter()
        .filter_map(|entry| match &entry.kind {
            Kind::TopicCreated { name, by, .. } => Some((name.to_string(), *by)),
            _other => None,
        })
        .collect()
}

#[test]
fn a_topic_says_who_had_it_made() {
    let mut c = Cluster::boot(3);
    c.topic("ordered", 1);
    c.producer("p", &[]);
    c.produce("p", "missed", "a", 1, Dur::ZERO);
    c.consumer("m", "g", "ordered");
    c.run(Dur::secs(3));
    let mut made = creators(&c);
    made.sort();
    let made: Vec<(&str, Creator)> = made.iter().map(|(name, by)| (name.as_str(), *by)).collect();
    assert_eq!(
        made,
        [("__consumer_offsets", Creator::FindCoordinator), ("missed", Creator::Metadata), ("ordered", Creator::Admin)]
    );
}

#[test]
fn a_generation_says_how_many_members_it_had() {
    let mut c = Cluster::boot(3);
    c.topic("t", 1);
    c.consumer("a", "g", "t");
    c.run(Dur::secs(5));
    c.consumer("b", "g", "t");
    c.run(Dur::secs(10));
    c.act(Action::CloseClient { name: "a".into(), within: None });
    c.run(Dur::secs(10));
    let stable: Vec<u32> = c
        .trace
        .iter()
        .filter_map(|entry| match entry.kind {
            Kind::GroupStateChanged { state: GroupState::Stable, members, .. } => Some(members),
            _ => None,
        })
        .collect();
    assert_eq!(stable, [1, 2, 1]);
}

#[test]
fn a_reset_says_from_where_to_where() {
    let mut c = Cluster::boot(3);
    c.topic("t", 1);
    c.producer("p", &[]);
    c.produce("p", "t", "a", 5, Dur::ZERO);
    c.run(Dur::secs(1));
    c.consumer("m", "g", "t");
    c.run(Dur::secs(5));
    c.act(Action::Seek { member: "m".into(), topic: "t".into(), partition: 0, offset: 50 });
    c.run(Dur::secs(3));
    let resets: Vec<(Option<i64>, i64)> = c
        .trace
        .iter()
        .filter_map(|entry| match entry.kind {
            Kind::PositionReset { from, offset, .. } => Some((from, offset)),
            _ => None,
        })
        .collect();
    assert_eq!(resets, [(None, 0), (Some(50), 0)]);
}

#[test]
fn an_elr_comes_with_the_last_known_leader() {
    let mut with_elr = setup(3);
    with_elr.brokers.truncate(2);
    let mut c = Cluster::with(&with_elr);
    let placement = Placement::Manual(vec![(0, vec![BrokerId(1), BrokerId(2)])]);
    let configs = config_map(&[("min.insync.replicas", "2")]);
    let request = CreateTopicRequest { name: "t".into(), placement, configs, timeout: Dur::secs(15) };
    assert_eq!(c.admin(AdminRequest::CreateTopic(request)), ErrorCode::None);
    c.run(Dur::secs(1));
    c.act(Action::Kill(broker(2)));
    c.run(Dur::secs(20));
    c.act(Action::Kill(broker(1)));
    c.run(Dur::secs(20));
    let last = c.trace.iter().rev().find_map(|entry| match &entry.kind {
        Kind::ElrChanged { elr, last_known_leader, .. } => Some((elr.clone(), *last_known_leader)),
        _ => None,
    });
    assert_eq!(last, Some((vec![BrokerId(1), BrokerId(2)], Some(BrokerId(1)))));
}
