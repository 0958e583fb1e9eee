//! Producers against a bench of brokers. What a real cluster keeps of their records is tested with whole worlds.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use std::rc::Rc as Shared;

use crate::base::{BrokerId, Dur};
use crate::client::testing::{Bench, Reply, TP0};
use crate::client::{Client, ClientKind, ClientVersion, Keys, ProducerSpec};
use crate::node::Event;
use crate::node::message::ClientCommand;
use crate::protocol::config::config_map;
use crate::protocol::{ErrorCode, PartitionRequest, PartitionResponse, ProduceResult, Request, Response};
use crate::trace::Kind;

fn start(bench: &mut Bench, version: ClientVersion, config: &[(&str, &str)]) -> Client {
    let spec = ProducerSpec {
        version,
        config: config_map(config),
        topic: None,
        partition: None,
        rate: 0,
        keys: Keys::None,
        value_size: 0,
    };
    bench.start(ClientKind::Producer(spec)).expect("allowed configs")
}

fn refusal(error: ErrorCode) -> Reply {
    Reply::Answer(Response::Partition(PartitionResponse::Produce {
        results: vec![ProduceResult { tp: TP0, error, base_offset: -1, current_leader: None }],
    }))
}

const PLAIN: &[(&str, &str)] = &[
    ("enable.idempotence", "false"),
    ("linger.ms", "0"),
    ("acks", "all"),
    ("request.timeout.ms", "6000"),
    ("delivery.timeout.ms", "40000"),
];

#[test]
fn p_15_without_a_leader_a_batch_fails_at_its_delivery_timeout_and_not_before() {
    let mut bench = Bench::new(&[0]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[]);
    bench.run(&mut client, 1_000);
    bench.produce(&mut client, Some(0), None, "v", 1, Dur::ZERO);
    bench.run(&mut client, 120_900);
    assert!(bench.failed().is_empty());
    bench.run(&mut client, 125_000);
    assert_eq!(bench.failed(), [(121_002, "TimeoutException")], "the record waited 2 ms for the topic's metadata");
    assert_eq!(bench.produced().count(), 0);
}

#[test]
fn p_16_a_retried_batch_is_overtaken_without_idempotence() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PLAIN);
    // The connection to the leader stands, whichever broker told of it.
    bench.produce(&mut client, Some(0), None, "w", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    let refused = Cell::new(false);
    bench.hook = Some(Box::new(move |_, request| {
        (matches!(request, Request::Partition(PartitionRequest::Produce(_))) && !refused.replace(true))
            .then(|| refusal(ErrorCode::NotLeaderOrFollower))
    }));
    bench.produce(&mut client, Some(0), None, "v", 2, Dur::us(500));
    bench.run(&mut client, 3_000);
    let values: Vec<_> = bench.partition(0).values();
    assert_eq!(values.iter().map(|v| &**v).collect::<Vec<_>>(), ["w0", "v1", "v0"]);
    assert_eq!(bench.count(|k| matches!(k, Kind::ProducerRetries { error: ErrorCode::NotLeaderOrFollower, .. })), 1);
}

/// Five requests are under way to a leader that dies; another leads 9 s later.
fn failover(config: &[(&str, &str)]) -> Vec<std::string::String> {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, config);
    bench.run(&mut client, 1_000);
    bench.hook = Some(Box::new(|broker, request| {
        (broker == BrokerId(1) && matches!(request, Request::Partition(PartitionRequest::Produce(_))))
            .then_some(Reply::Never)
    }));
    bench.produce(&mut client, Some(0), None, "b", 5, Dur::ms(20));
    bench.run(&mut client, 2_000);
    assert_eq!(bench.produced().count(), 5);
    bench.kill(1);
    bench.produce(&mut client, Some(0), None, "c", 1, Dur::ZERO);
    bench.run(&mut client, 11_000);
    assert_eq!(bench.produced().count(), 5, "nothing is sent to a dead node");
    let partition = bench.partition(0);
    partition.leader = Some(BrokerId(2));
    partition.epoch = 1;
    bench.run(&mut client, 20_000);
    bench.partition(0).values().iter().map(|v| std::string::String::from(&**v)).collect()
}

#[test]
fn p_25_batches_that_fail_together_come_back_in_reverse() {
    assert_eq!(failover(PLAIN), ["b4", "b3", "b2", "b1", "b0", "c0"]);
}

#[test]
fn p_25_idempotence_keeps_their_order() {
    assert_eq!(failover(&[("linger.ms", "0"), ("request.timeout.ms", "6000")]), ["b0", "b1", "b2", "b3", "b4", "c0"]);
}

#[test]
fn p_19_linger_holds_a_lone_record_for_five_milliseconds_since_4_0() {
    for (version, least) in [(ClientVersion::V4_1, 5), (ClientVersion::V3_9, 0)] {
        let mut bench = Bench::new(&[1]);
        let mut client = start(&mut bench, version, &[]);
        bench.produce(&mut client, Some(0), None, "w", 1, Dur::ZERO);
        bench.run(&mut client, 1_000);
        bench.produce(&mut client, Some(0), None, "v", 1, Dur::ZERO);
        bench.run(&mut client, 2_000);
        let at = bench.produced().last().expect("sent").0;
        assert_eq!(at.0 / 1_000, 1_000 + least + 1, "{version:?}");
    }
}

#[test]
fn p_30_a_partition_that_the_topic_lacks_blocks_send_for_max_block() {
    let mut bench = Bench::new(&[1, 2]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[("max.block.ms", "4000")]);
    bench.run(&mut client, 1_000);
    bench.produce(&mut client, Some(7), None, "b", 1, Dur::ZERO);
    bench.run(&mut client, 9_000);
    assert_eq!(bench.failed(), [(5_000, "TimeoutException")]);
    assert_eq!(bench.produced().count(), 0);
}

#[test]
fn p_14_a_lost_batch_makes_the_producer_bump_its_epoch_and_begin_at_sequence_0() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[("linger.ms", "0")]);
    bench.produce(&mut client, Some(0), None, "a", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    let refused = Cell::new(false);
    bench.hook = Some(Box::new(move |_, request| {
        (matches!(request, Request::Partition(PartitionRequest::Produce(_))) && !refused.replace(true))
            .then(|| refusal(ErrorCode::OutOfOrderSequenceNumber))
    }));
    bench.produce(&mut client, Some(0), None, "b", 1, Dur::ZERO);
    bench.run(&mut client, 3_000);
    let stamps: Vec<_> =
        bench.produced().map(|(_, _, p)| p.batches[0].1.producer.map(|s| (s.epoch.0, s.base_sequence))).collect();
    assert_eq!(stamps, [Some((0, 0)), Some((0, 1)), Some((1, 0))]);
    assert!(bench.failed().is_empty());
}

/// Epochs that a producer raised, each with the batches that it gave new numbers though a leader may have them.
fn raised(bench: &Bench) -> Vec<(i16, u32)> {
    let raised = |kind: &Kind| match kind {
        Kind::ProducerIdAssigned { epoch, renumbered, .. } if *epoch > 0 => Some((*epoch, *renumbered)),
        _ => None,
    };
    bench.notes().filter_map(|(_, kind)| raised(kind)).collect()
}

/// A producer whose batch `a`, sent at 1 s, nobody answers, nor `b` behind it.
fn two_without_answers(delivery_timeout: &str, second_at: u64, until: u64) -> Bench {
    let mut bench = Bench::new(&[1]);
    let config = [("linger.ms", "0"), ("request.timeout.ms", "5000"), ("delivery.timeout.ms", delivery_timeout)];
    let mut client = start(&mut bench, ClientVersion::V4_1, &config);
    bench.produce(&mut client, Some(0), None, "w", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    bench.hook = Some(Box::new(|_, request| {
        matches!(request, Request::Partition(PartitionRequest::Produce(_))).then_some(Reply::Never)
    }));
    bench.produce(&mut client, Some(0), None, "a", 1, Dur::ZERO);
    bench.run(&mut client, second_at);
    bench.produce(&mut client, Some(0), None, "b", 1, Dur::ZERO);
    bench.run(&mut client, until);
    bench
}

#[test]
fn a_batch_whose_time_ends_with_its_request_raises_no_epoch_while_those_behind_it_are_in_doubt() {
    let bench = two_without_answers("5000", 2_000, 6_900);
    assert_eq!(bench.failed(), [(6_000, "TimeoutException")]);
    assert_eq!(raised(&bench), [], "the batch ran out of time, its request was not overdue yet");
}

#[test]
fn a_batch_that_fails_by_an_overdue_request_after_its_time_gives_those_behind_it_new_numbers() {
    // The poll that begins with `b` ends when the delivery time of `a` is over, a second after its request was overdue.
    let bench = two_without_answers("6000", 2_500, 8_000);
    assert_eq!(bench.failed(), [(7_000, "TimeoutException")]);
    assert_eq!(raised(&bench), [(1, 1)], "as in Kafka: `b` may be written, and is sent again with number 0");
}

#[test]
fn a_duplicate_is_a_success_without_an_offset_and_acks_0_too() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[]);
    bench.hook = Some(Box::new(|_, request| {
        matches!(request, Request::Partition(PartitionRequest::Produce(_)))
            .then(|| refusal(ErrorCode::DuplicateSequenceNumber))
    }));
    bench.produce(&mut client, Some(0), None, "a", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    assert_eq!(bench.acked(), [(0, -1)]);

    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[("acks", "0")]);
    bench.produce(&mut client, Some(0), None, "a", 3, Dur::ms(20));
    bench.run(&mut client, 1_000);
    assert_eq!(bench.acked(), [(0, -1), (1, -1), (2, -1)]);
    assert_eq!(bench.partition(0).end(), 3);
}

#[test]
fn p_31_one_request_that_times_out_takes_all_under_way_with_it() {
    let mut bench = Bench::new(&[1]);
    let mut config = PLAIN.to_vec();
    config.push(("retries", "0"));
    let mut client = start(&mut bench, ClientVersion::V4_1, &config);
    bench.run(&mut client, 1_000);
    bench.hook = Some(Box::new(|_, request| {
        matches!(request, Request::Partition(PartitionRequest::Produce(_))).then_some(Reply::Never)
    }));
    bench.produce(&mut client, Some(0), None, "b", 3, Dur::ms(20));
    bench.run(&mut client, 20_000);
    let failed = bench.failed();
    assert_eq!(failed.len(), 3);
    assert!(failed.iter().all(|f| *f == (failed[0].0, "TimeoutException")), "{failed:?}");
    assert!(bench.acked().is_empty());
}

#[test]
fn m_07_a_hint_saves_the_round_trip_for_metadata() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PLAIN);
    bench.produce(&mut client, Some(0), None, "a", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    bench.partition(0).leader = Some(BrokerId(2));
    bench.partition(0).epoch = 3;
    let hint = crate::protocol::LeaderHint { leader: BrokerId(2), epoch: crate::base::LeaderEpoch(3) };
    bench.hook = Some(Box::new(move |broker, request| {
        let result = ProduceResult {
            tp: TP0,
            error: ErrorCode::NotLeaderOrFollower,
            base_offset: -1,
            current_leader: Some(hint),
        };
        (broker == BrokerId(1) && matches!(request, Request::Partition(PartitionRequest::Produce(_))))
            .then(|| Reply::Answer(Response::Partition(PartitionResponse::Produce { results: vec![result] })))
    }));
    bench.produce(&mut client, Some(0), None, "b", 1, Dur::ZERO);
    bench.run(&mut client, 1_040);
    let last = bench.produced().last().expect("sent");
    assert_eq!((last.1, last.0.0 / 1_000 <= 1_006), (BrokerId(2), true), "at once, after connecting to the new leader");
}

#[test]
fn the_steady_rate_keeps_its_pace_and_close_flushes() {
    let mut bench = Bench::new(&[1]);
    let spec = ProducerSpec {
        version: ClientVersion::V4_1,
        config: config_map(&[("linger.ms", "300")]),
        topic: Some("t".into()),
        partition: None,
        rate: 50,
        keys: Keys::Hot,
        value_size: 20,
    };
    let mut client = bench.start(ClientKind::Producer(spec)).expect("allowed");
    bench.run(&mut client, 10_000);
    let sent = bench.count(|k| matches!(k, Kind::RecordSent { .. }));
    assert!((499..=501).contains(&sent), "{sent}");
    bench.send(&mut client, Event::Command(ClientCommand::SetRate { per_second: 0 }));
    bench.send(&mut client, Event::Shutdown);
    bench.run(&mut client, 11_000);
    assert!(bench.exited);
    assert_eq!(bench.count(|k| matches!(k, Kind::RecordAcked { .. })), sent);
    let mut tags: Vec<u64> = bench
        .notes()
        .filter_map(|(_, k)| if let Kind::RecordSent { tag, .. } = k { Some(tag.0) } else { None })
        .collect();
    tags.sort();
    tags.dedup();
    assert_eq!((tags.len(), tags[0] >> 40), (sent, 7));
}

#[test]
fn idempotent_batches_go_in_order_although_one_is_refused() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[("linger.ms", "0")]);
    bench.run(&mut client, 1_000);
    // A broker that checks sequences: the first batch is refused, so that those behind it are out of order.
    let state = Shared::new(Cell::new((false, 0i32)));
    bench.hook = Some(Box::new(move |_, request| {
        let Request::Partition(PartitionRequest::Produce(produce)) = request else { return None };
        let (refused, next) = state.get();
        let sequence = produce.batches[0].1.producer.expect("idempotent").base_sequence;
        if !refused {
            state.set((true, next));
            return Some(refusal(ErrorCode::NotEnoughReplicas));
        }
        if sequence != next {
            return Some(refusal(ErrorCode::OutOfOrderSequenceNumber));
        }
        state.set((true, next + produce.batches[0].1.count() as i32));
        None
    }));
    bench.produce(&mut client, Some(0), None, "v", 5, Dur::ms(1));
    bench.run(&mut client, 10_000);
    let values: Vec<_> = bench.partition(0).values();
    assert_eq!(values.iter().map(|v| &**v).collect::<Vec<_>>(), ["v0", "v1", "v2", "v3", "v4"]);
    assert_eq!(bench.count(|k| matches!(k, Kind::ProducerIdAssigned { .. })), 1, "no epoch bump");
}

#[test]
fn a_batch_that_is_too_large_is_split_and_keeps_its_numbers() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[]);
    bench.run(&mut client, 1_000);
    bench.hook = Some(Box::new(|_, request| {
        let Request::Partition(PartitionRequest::Produce(produce)) = request else { return None };
        (produce.batches[0].1.count() > 2).then(|| refusal(ErrorCode::MessageTooLarge))
    }));
    bench.produce(&mut client, Some(0), None, "v", 5, Dur::ZERO);
    bench.run(&mut client, 5_000);
    let values: Vec<_> = bench.partition(0).values();
    assert_eq!(values.iter().map(|v| &**v).collect::<Vec<_>>(), ["v0", "v1", "v2", "v3", "v4"]);
    let kept: Vec<_> =
        bench.partition(0).log.iter().map(|b| (b.producer.map(|s| (s.epoch.0, s.base_sequence)), b.count())).collect();
    assert_eq!(kept, [(Some((0, 0)), 2), (Some((0, 2)), 1), (Some((0, 3)), 2)]);
}

#[test]
fn a_record_above_max_request_size_is_refused_by_send() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[("max.request.size", "5")]);
    bench.run(&mut client, 1_000);
    bench.produce(&mut client, Some(0), None, "v", 1, Dur::ZERO);
    assert_eq!(bench.failed(), [(1_000, "RecordTooLargeException")]);
}

#[test]
fn p_15_a_frozen_leader_is_waited_for_until_the_delivery_timeout() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, &[("linger.ms", "0")]);
    bench.produce(&mut client, Some(0), None, "w", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    bench.frozen.insert(BrokerId(1));
    bench.produce(&mut client, Some(0), None, "v", 1, Dur::ZERO);
    bench.run(&mut client, 130_000);
    assert_eq!(bench.failed(), [(121_000, "TimeoutException")]);
    assert_eq!(bench.produced().count(), 2, "after the first try no connection stands, so that nothing more is sent");
}

#[test]
fn one_partition_that_must_wait_holds_up_the_others_of_its_node() {
    let mut bench = Bench::new(&[1, 1]);
    let config = [("linger.ms", "0"), ("request.timeout.ms", "6000")];
    let mut client = start(&mut bench, ClientVersion::V4_1, &config);
    bench.produce(&mut client, Some(1), None, "w", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    // The first batch stays without an answer; the second one is refused and must wait for it.
    let tries = Cell::new(0);
    bench.hook = Some(Box::new(move |_, request| {
        let Request::Partition(PartitionRequest::Produce(produce)) = request else { return None };
        if produce.batches[0].0 != TP0 {
            return None;
        }
        tries.set(tries.get() + 1);
        match tries.get() {
            1 => Some(Reply::Never),
            2 => Some(refusal(ErrorCode::NotEnoughReplicas)),
            _ => None,
        }
    }));
    bench.produce(&mut client, Some(0), None, "a", 2, Dur::ms(10));
    bench.run(&mut client, 2_000);
    bench.produce(&mut client, Some(1), None, "b", 1, Dur::ZERO);
    bench.run(&mut client, 6_900);
    assert_eq!(bench.partition(1).end(), 1, "the other partition waits too");
    bench.run(&mut client, 9_000);
    assert_eq!((bench.partition(0).end(), bench.partition(1).end()), (2, 2));
}

#[test]
fn a_record_that_joins_a_batch_ends_no_poll_of_the_sender() {
    let mut bench = Bench::new(&[1]);
    let mut client = start(&mut bench, ClientVersion::V4_1, PLAIN);
    bench.produce(&mut client, Some(0), None, "a", 1, Dur::ZERO);
    bench.run(&mut client, 1_000);
    bench.hook = Some(Box::new(|_, request| {
        matches!(request, Request::Partition(PartitionRequest::Produce(_))).then_some(Reply::Never)
    }));
    // Five go out, the sixth opens a batch and wakes the sender at 1.5 s, those behind it join that batch.
    bench.produce(&mut client, Some(0), None, "b", 10, Dur::ms(100));
    bench.run(&mut client, 20_000);
    let lost = |kind: &Kind| matches!(kind, Kind::RequestFailed { .. });
    let seen: Vec<u64> = bench.notes().filter(|(_, kind)| lost(kind)).map(|(at, _)| at.0 / 1_000).collect();
    assert_eq!(seen.first(), Some(&7_500), "request.timeout.ms after the sender was woken last");
}

#[test]
fn an_overdue_request_is_noticed_when_the_poll_ends_in_which_the_sender_waits() {
    // Without the answer that ends its poll at 6.5 s, the sender wakes request.timeout.ms after the last request.
    let failures = |answered: bool| {
        let mut bench = Bench::new(&[1]);
        let mut client = start(&mut bench, ClientVersion::V4_1, &[PLAIN, &[("retries", "0")]].concat());
        bench.produce(&mut client, Some(0), None, "a", 1, Dur::ZERO);
        bench.run(&mut client, 1_000);
        let first = Cell::new(answered);
        bench.hook = Some(Box::new(move |_, request| {
            let Request::Partition(PartitionRequest::Produce(produce)) = request else { return None };
            if !first.replace(false) {
                return Some(Reply::Never);
            }
            assert_eq!(produce.batches.len(), 1);
            let Reply::Answer(answer) = refusal(ErrorCode::RequestTimedOut) else { return None };
            Some(Reply::After(Dur::ms(6_002), answer))
        }));
        for n in 0..3 {
            bench.produce(&mut client, Some(0), None, "b", 1, Dur::ZERO);
            bench.run(&mut client, 1_000 + 20 * (n + 1));
        }
        bench.run(&mut client, 20_000);
        bench.failed().iter().map(|(at, _)| *at).collect::<Vec<u64>>()
    };
    assert_eq!(failures(false), [7_040, 7_040, 7_040]);
    assert_eq!(failures(true), [7_003, 13_003, 13_003]);
}
