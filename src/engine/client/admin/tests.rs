//! The admin client against a bench of brokers, after the recordings. Holds no world.

use alloc::boxed::Box;

use super::*;
use crate::client::testing::{Bench, Reply};
use crate::client::{Client, ClientKind};
use crate::protocol::{
    ClusterRequest, ClusterResponse, ConfigMap, ConfigTarget, CreateTopicRequest, GroupRequest, GroupResponse,
    GroupState, Placement,
};

fn ask(bench: &mut Bench, client: &mut Client, number: u32, request: AdminRequest) {
    bench.send(client, Event::Command(ClientCommand::Admin { action: ActionId(number), request }));
}

/// When the action was answered, in milliseconds.
fn answered(bench: &Bench, number: u32) -> Option<u64> {
    bench.notes().find_map(|(at, k)| {
        matches!(k, Kind::ActionAnswered { action, .. } if action.0 == number).then_some(at.0 / 1_000)
    })
}

fn timed_out() -> AdminAnswer {
    refused(ErrorCode::RequestTimedOut)
}

#[test]
fn r10_a_change_that_nobody_confirms_times_out_after_fifteen_seconds() {
    let mut bench = Bench::new(&[1]);
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    bench.hook =
        Some(Box::new(|_, r| matches!(r, Request::Cluster(ClusterRequest::CreateTopics(_))).then_some(Reply::Never)));
    let placement = Placement::Counts { partitions: Some(1), replication_factor: Some(1) };
    ask(
        &mut bench,
        &mut client,
        1,
        AdminRequest::CreateTopic(CreateTopicRequest {
            name: "u".into(),
            placement,
            configs: ConfigMap::new(),
            timeout: Dur::ZERO,
        }),
    );
    bench.run(&mut client, 30_000);
    assert_eq!(client.admin_answer(ActionId(1)), Some(&timed_out()));
    assert_eq!(answered(&bench, 1), Some(15_002), "after the millisecond of its deadline");
}

#[test]
fn what_the_controller_refuses_is_told_at_once() {
    let mut bench = Bench::new(&[1]);
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    let error = ErrorCode::UnknownTopicOrPartition;
    bench.hook = Some(Box::new(move |_, r| {
        matches!(r, Request::Cluster(ClusterRequest::DeleteTopics { .. }))
            .then_some(Reply::Answer(Response::Cluster(ClusterResponse::DeleteTopics(error.into()))))
    }));
    ask(&mut bench, &mut client, 1, AdminRequest::DeleteTopic { name: "zzz".into() });
    bench.run(&mut client, 100);
    assert_eq!(
        client.admin_answer(ActionId(1)),
        Some(&AdminAnswer::Refused {
            error,
            exception: "UnknownTopicOrPartitionException",
            message: Some("This server does not host this topic-partition.".into())
        })
    );
}

#[test]
fn r11_asking_a_frozen_broker_costs_the_request_timeout() {
    let mut bench = Bench::new(&[2]);
    bench.frozen.insert(BrokerId(1));
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    for number in 0..40 {
        ask(&mut bench, &mut client, 1_000 + number, AdminRequest::Renew);
        ask(&mut bench, &mut client, number, AdminRequest::DescribeTopics { topics: None });
        bench.run(&mut client, u64::from(number + 1) * 40_000);
    }
    let took: Vec<u64> = (0..40).filter_map(|n| answered(&bench, n).map(|at| at - u64::from(n) * 40_000)).collect();
    assert_eq!(took.len(), 40);
    let stuck = took.iter().filter(|ms| **ms >= 8_000).count();
    // A bootstrap server, the broker that describes the cluster, the one that describes the topics: each may be it.
    assert!((12..=34).contains(&stuck), "two of three at least go well in (2/3)² to (2/3)³ of the cases: {stuck}");
    assert!(took.iter().any(|ms| *ms >= 16_000), "some meet it twice: {took:?}");
    assert!(took.iter().all(|ms| *ms < 15 || *ms >= 8_000), "{took:?}");
}

#[test]
fn a_metadata_call_that_is_given_up_before_its_connection_waits_for_the_same_frozen_broker_again() {
    let mut bench = Bench::new(&[2]);
    bench.frozen.extend([BrokerId(1), BrokerId(2), BrokerId(3)]);
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    let mut held = Vec::new();
    for number in 0..40 {
        // The loop begins its wait anywhere within a millisecond.
        bench.node.now += Dur(u64::from(number) * 25);
        let (began, first) = (bench.node.now, bench.connections());
        ask(&mut bench, &mut client, number, AdminRequest::Renew);
        let mut ms = 0;
        while bench.connections() < first + 2 && ms < 60_000 {
            ms += 100;
            bench.run(&mut client, began.0 / 1_000 + ms);
        }
        held.push(ms / 1_000);
    }
    let rounds = |n: u64| held.iter().filter(|s| **s / 8 == n).count();
    assert_eq!(rounds(1) + rounds(2) + rounds(3) + rounds(4), 40, "whole rounds of the request time-out: {held:?}");
    assert!(rounds(1) > 0 && rounds(2) > 0, "{held:?}");
}

#[test]
fn r01_a_group_without_a_coordinator_cannot_be_described() {
    let mut bench = Bench::new(&[1]);
    bench.coordinator = Err(ErrorCode::CoordinatorNotAvailable);
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    ask(&mut bench, &mut client, 1, AdminRequest::DescribeGroup { group: "g".into() });
    ask(&mut bench, &mut client, 2, AdminRequest::ListCommitted { group: "g".into() });
    bench.run(&mut client, 6_000);
    assert_eq!((answered(&bench, 1), answered(&bench, 2)), (Some(5_002), Some(5_002)));
    assert_eq!(client.admin_answer(ActionId(2)), Some(&timed_out()));
    bench.coordinator = Ok(BrokerId(3));
    let described = DescribedGroup { error: ErrorCode::None, state: GroupState::Stable, members: Vec::new() };
    let answer = described.clone();
    bench.hook = Some(Box::new(move |_, r| {
        matches!(r, Request::Group(GroupRequest::DescribeGroups { .. }))
            .then(|| Reply::Answer(Response::Group(GroupResponse::DescribeGroups(answer.clone()))))
    }));
    ask(&mut bench, &mut client, 3, AdminRequest::DescribeGroup { group: "g".into() });
    bench.run(&mut client, 7_000);
    assert_eq!(
        client.admin_answer(ActionId(3)),
        Some(&AdminAnswer::Group { coordinator: BrokerId(3), group: described })
    );
}

#[test]
fn offsets_come_from_the_leader_and_time_out_without_one() {
    let mut bench = Bench::new(&[2, 0]);
    bench.fill(0, 8);
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    ask(&mut bench, &mut client, 1, AdminRequest::ListOffsets { topic: "t".into(), partition: 0 });
    ask(&mut bench, &mut client, 2, AdminRequest::ListOffsets { topic: "t".into(), partition: 1 });
    bench.run(&mut client, 20_000);
    let offsets = AdminAnswer::Offsets { earliest: 0, latest: 8, last_stable: 8, leader_epoch: Some(LeaderEpoch(0)) };
    assert_eq!(client.admin_answer(ActionId(1)), Some(&offsets));
    assert_eq!((client.admin_answer(ActionId(2)), answered(&bench, 2)), (Some(&timed_out()), Some(12_004)));
    ask(&mut bench, &mut client, 3, AdminRequest::DescribeCluster);
    bench.kill(3);
    bench.run(&mut client, 21_000);
    assert_eq!(client.admin_answer(ActionId(3)), Some(&AdminAnswer::Brokers(alloc::vec![BrokerId(1), BrokerId(2)])));
}

#[test]
fn a_call_asks_the_leader_that_it_remembers_until_its_time_out() {
    let mut bench = Bench::new(&[2]);
    bench.fill(0, 8);
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    let offsets = AdminRequest::ListOffsets { topic: "t".into(), partition: 0 };
    ask(&mut bench, &mut client, 1, offsets.clone());
    bench.run(&mut client, 1_000);
    assert!(answered(&bench, 1).is_some());
    bench.kill(2);
    bench.partition(0).leader = Some(BrokerId(3));
    ask(&mut bench, &mut client, 2, offsets);
    bench.run(&mut client, 10_000);
    let after = answered(&bench, 2).expect("a new client finds the new leader") - 1_000;
    assert!((4_000..4_200).contains(&after), "{after}");
}

#[test]
fn changes_keep_their_order_because_one_broker_passes_for_the_controller() {
    let mut bench = Bench::new(&[1]);
    bench.hook = Some(Box::new(|_, r| {
        let error = ErrorCode::None;
        matches!(r, Request::Cluster(ClusterRequest::CreatePartitions { .. }))
            .then_some(Reply::Answer(Response::Cluster(ClusterResponse::CreatePartitions(error.into()))))
    }));
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    for total in 1..=12 {
        ask(&mut bench, &mut client, total, AdminRequest::CreatePartitions { name: "t".into(), total });
    }
    bench.run(&mut client, 1_000);
    let asked = bench.requests.iter().filter_map(|(_, broker, r)| match r {
        Request::Cluster(ClusterRequest::CreatePartitions { total, .. }) => Some((*broker, *total)),
        _ => None,
    });
    let (brokers, totals): (Vec<BrokerId>, Vec<u32>) = asked.unzip();
    assert!(brokers.iter().all(|b| *b == brokers[0]), "{brokers:?}");
    assert_eq!(totals, (1..=12).collect::<Vec<_>>());
}

#[test]
fn a_lost_request_is_tried_again_after_its_time_out_only_while_the_loop_has_other_things_to_do() {
    for is_busy in [false, true] {
        let mut bench = Bench::new(&[1, 0]);
        bench.hook = Some(Box::new(|_, r| {
            matches!(r, Request::Cluster(ClusterRequest::CreatePartitions { .. })).then_some(Reply::Never)
        }));
        let mut client = bench.start(ClientKind::Admin).expect("an admin client");
        ask(&mut bench, &mut client, 1, AdminRequest::CreatePartitions { name: "t".into(), total: 3 });
        bench.run(&mut client, 1_000);
        if is_busy {
            // The partition has no leader, so this call looks for one again and again.
            ask(&mut bench, &mut client, 2, AdminRequest::ListOffsets { topic: "t".into(), partition: 1 });
        }
        bench.run(&mut client, 19_000);
        let asked: Vec<u64> = bench
            .requests
            .iter()
            .filter(|(_, _, r)| matches!(r, Request::Cluster(ClusterRequest::CreatePartitions { .. })))
            .map(|(at, _, _)| at.0 / 1_000_000)
            .collect();
        assert_eq!(asked, if is_busy { alloc::vec![0, 8] } else { alloc::vec![0] });
        bench.run(&mut client, 21_000);
        assert_eq!(client.admin_answer(ActionId(1)), Some(&timed_out()));
    }
}

#[test]
fn a_change_of_one_brokers_configs_is_asked_of_that_broker_and_waits_for_it() {
    let change = || AdminRequest::AlterConfigs {
        resource: ConfigTarget::Broker(BrokerId(2)),
        configs: crate::protocol::config::config_map(&[("min.insync.replicas", "1")]),
    };
    let mut bench = Bench::new(&[1]);
    bench.hook = Some(Box::new(|_, r| {
        matches!(r, Request::Cluster(ClusterRequest::IncrementalAlterConfigs { .. }))
            .then(|| Reply::Answer(Response::Cluster(ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into()))))
    }));
    let mut client = bench.start(ClientKind::Admin).expect("an admin client");
    for number in 1..=8 {
        ask(&mut bench, &mut client, number, change());
        bench.run(&mut client, u64::from(number) * 100);
        assert_eq!(client.admin_answer(ActionId(number)), Some(&AdminAnswer::Done));
    }
    let asked = bench
        .requests
        .iter()
        .filter(|(_, _, r)| matches!(r, Request::Cluster(ClusterRequest::IncrementalAlterConfigs { .. })));
    let asked: Vec<BrokerId> = asked.map(|(_, broker, _)| *broker).collect();
    assert_eq!(asked, [BrokerId(2); 8]);
    bench.kill(2);
    ask(&mut bench, &mut client, 9, change());
    bench.run(&mut client, 40_000);
    assert_eq!(client.admin_answer(ActionId(9)), Some(&timed_out()));
    assert_eq!(answered(&bench, 9), Some(20_802));
}
