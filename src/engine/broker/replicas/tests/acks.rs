//! acks, admission, sequences and the purgatory of produce requests. What a producer makes of an answer is not tested
//! here.

use super::rig::*;
use crate::base::*;
use crate::broker::replicas::Handled;
use crate::log::Log;
use crate::node::BrokerTimer;
use crate::protocol::*;
use crate::rules::Version;
use crate::trace::Kind;

fn send(rig: &mut Rig, epoch: i16, first: i32, count: usize) -> (ErrorCode, Offset) {
    produced_now(rig.produce_batches(Acks::One, alloc::vec![(T0, sequenced(epoch, first, count))]))
}

#[test]
fn p_01_acks_0_gets_no_answer_and_a_closed_connection_elsewhere() {
    let mut leader = Rig::leader(Setup::default());
    assert_eq!(leader.produce(Acks::Zero, 1), Handled::Now(None));
    assert_eq!(leader.ends(), (1, 0));
    let mut follower = Rig::follower(Setup::default());
    assert_eq!(follower.produce(Acks::Zero, 1), Handled::CloseConnection);
    assert_eq!(follower.ends(), (0, 0));
}

#[test]
fn p_02_p_03_acks_1_is_answered_at_once_and_acks_all_is_not() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    assert_eq!(produced_now(rig.produce(Acks::One, 1)), (ErrorCode::None, 10));
    assert_eq!(rig.produce(Acks::All, 1), Handled::Parked);
    assert_eq!(rig.ends(), (12, 10));
}

#[test]
fn p_04_acks_all_waits_for_every_member_of_the_isr() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 5);
    rig.produce(Acks::All, 5);
    rig.ready();
    rig.fetch_of(2, 10);
    assert!(rig.ready().is_empty(), "2 of 3 have it and the minimum is 2");
    rig.at(40_000).change(|change| change.isr = Some(ids(&[1, 2])));
    assert_eq!(produced(&rig.ready()[0]), (ErrorCode::None, 5));
}

#[test]
fn p_05_admission_by_the_committed_isr() {
    let setup = Setup { log: log_of(&[(5, 10)]), checkpoint: 10, ..Setup::default() };
    let mut rig = Rig::new(1, setup, registration(&[1, 2, 3], &[1], Some(1), 5));
    assert_eq!(produced_now(rig.produce(Acks::All, 1)), (ErrorCode::NotEnoughReplicas, -1));
    assert_eq!(rig.ends(), (10, 10));
    assert_eq!(produced_now(rig.produce(Acks::One, 1)), (ErrorCode::None, 10));
    assert_eq!(rig.ends(), (11, 10));
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::ProduceRefused { error: ErrorCode::NotEnoughReplicas, .. })), 1);
}

#[test]
fn p_06_before_3_7_a_shrink_below_the_minimum_ends_with_20() {
    let mut rig = Rig::caught_up_leader(Setup { version: Version::V3_6, ..Setup::default() }, 10);
    rig.produce(Acks::All, 1);
    rig.ready();
    rig.at(31_000).change(|change| change.isr = Some(ids(&[1])));
    assert_eq!(produced(&rig.ready()[0]), (ErrorCode::NotEnoughReplicasAfterAppend, -1));
    assert_eq!(rig.ends(), (11, 11), "the record stays");
}

#[test]
fn p_07_from_3_7_on_it_ends_with_the_time_out() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    rig.produce(Acks::All, 1);
    rig.ready();
    rig.at(29_999).change(|change| change.isr = Some(ids(&[1])));
    rig.fire_due();
    assert!(rig.ready().is_empty());
    rig.at(30_000).fire_due();
    assert_eq!(produced(&rig.ready()[0]), (ErrorCode::RequestTimedOut, -1));
    assert_eq!(rig.ends(), (11, 10));
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::ProduceTimedOut { .. })), 1);
}

#[test]
fn p_08_p_13_a_repeated_batch_gets_its_old_offset() {
    let mut rig = Rig::leader(Setup::default());
    send(&mut rig, 0, 0, 5);
    send(&mut rig, 0, 5, 5);
    assert_eq!(send(&mut rig, 0, 5, 5), (ErrorCode::None, 5));
    assert_eq!(rig.ends().0, 10);
    assert_eq!(rig.noted(|kind| matches!(kind, Kind::DuplicateRecognised { base_offset: 5, .. })), 1);
    // The same log on the next leader.
    let log = rig.node.disk.log(T0).cloned().expect("a log");
    let mut next = Rig::new(2, Setup { log, ..Setup::default() }, registration(&[1, 2, 3], &[2, 3], Some(2), 6));
    assert_eq!(send(&mut next, 0, 0, 5), (ErrorCode::None, 0));
}

#[test]
fn p_08_a_repeated_batch_with_acks_all_still_waits_for_the_high_watermark() {
    let mut rig = Rig::leader(Setup::default());
    send(&mut rig, 0, 0, 5);
    assert_eq!(rig.produce_batches(Acks::All, alloc::vec![(T0, sequenced(0, 0, 5))]), Handled::Parked);
    rig.fetch_of(2, 5);
    rig.fetch_of(3, 5);
    assert_eq!(produced(&rig.ready()[0]), (ErrorCode::None, 0));
}

#[test]
fn p_09_p_10_p_11_p_12_sequences() {
    let mut rig = Rig::leader(Setup::default());
    for sequence in 0..7 {
        send(&mut rig, 0, sequence, 1);
    }
    assert_eq!(send(&mut rig, 0, 1, 1).0, ErrorCode::OutOfOrderSequenceNumber, "not among the last five");
    assert_eq!(send(&mut rig, 0, 2, 1), (ErrorCode::None, 2));
    assert_eq!(send(&mut rig, 0, 8, 1).0, ErrorCode::OutOfOrderSequenceNumber);
    assert_eq!(send(&mut rig, 1, 0, 1), (ErrorCode::None, 7));
    assert_eq!(send(&mut rig, 0, 7, 1).0, ErrorCode::InvalidProducerEpoch);
    assert_eq!(send(&mut rig, 2, 3, 1).0, ErrorCode::OutOfOrderSequenceNumber);
    assert_eq!(rig.ends().0, 8);
    let mut wrapped = Rig::leader(Setup::default());
    assert_eq!(send(&mut wrapped, 0, i32::MAX, 1), (ErrorCode::None, 0), "an unknown producer may begin anywhere");
    assert_eq!(send(&mut wrapped, 0, 0, 1), (ErrorCode::None, 1));
}

#[test]
fn p_14_after_lost_batches_the_next_sequence_is_out_of_order() {
    let mut log = crate::log::Log::default();
    log.append_as_leader(sequenced(0, 0, 5), 5);
    let mut rig = Rig::new(2, Setup { log, ..Setup::default() }, registration(&[1, 2], &[2], Some(2), 6));
    assert_eq!(send(&mut rig, 0, 10, 5), (ErrorCode::OutOfOrderSequenceNumber, -1));
    assert_eq!(send(&mut rig, 1, 0, 5), (ErrorCode::None, 5));
}

#[test]
fn p_22_admission_comes_before_the_look_for_duplicates() {
    let mut log = crate::log::Log::default();
    log.append_as_leader(sequenced(0, 0, 5), 5);
    let mut rig =
        Rig::new(1, Setup { log, checkpoint: 5, ..Setup::default() }, registration(&[1, 2, 3], &[1], Some(1), 5));
    let handled = rig.produce_batches(Acks::All, alloc::vec![(T0, sequenced(0, 0, 5))]);
    assert_eq!(produced_now(handled), (ErrorCode::NotEnoughReplicas, -1));
}

#[test]
fn p_23_one_answer_with_a_result_for_each_partition() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    rig.image.replay(&MetadataRecord::Partition { tp: T1, registration: registration(&[1, 2, 3], &[1], Some(1), 0) });
    rig.apply(&[T1]);
    let handled = rig.produce_batches(Acks::All, alloc::vec![(T0, batch(1)), (T1, batch(1))]);
    assert_eq!(handled, Handled::Parked, "the whole request waits for its last partition");
    rig.ready();
    rig.fetch_of(2, 11);
    rig.fetch_of(3, 11);
    match &rig.ready()[0] {
        Response::Partition(PartitionResponse::Produce { results }) => assert_eq!(
            results.iter().map(|r| r.error).collect::<alloc::vec::Vec<_>>(),
            [ErrorCode::None, ErrorCode::NotEnoughReplicas]
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_leader_that_is_deposed_answers_what_waits() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 10);
    rig.produce(Acks::All, 1);
    rig.ready();
    rig.fetch_of(2, 11);
    rig.change(|change| change.leader = Some(Some(b(2))));
    let ready = rig.ready();
    assert_eq!(ready.len(), 2);
    assert_eq!(produced(&ready[0]), (ErrorCode::NotLeaderOrFollower, -1));
    assert_eq!(partitions_of(&ready[1])[0].error, ErrorCode::FencedLeaderEpoch);
    rig.at(30_000).timer(BrokerTimer::ParkedProduce(1));
    assert!(rig.ready().is_empty(), "answered once");
}

#[test]
fn batches_larger_than_the_topic_allows_are_refused() {
    let mut rig = Rig::leader(Setup::default());
    let config = |name: &str, value: &str| MetadataRecord::Config {
        resource: ConfigResource::Topic(TopicId(1)),
        name: name.into(),
        value: Some(value.into()),
    };
    rig.image.replay(&config("max.message.bytes", "80"));
    assert_eq!(produced_now(rig.produce(Acks::One, 1)), (ErrorCode::None, 0));
    assert_eq!(produced_now(rig.produce(Acks::One, 3)), (ErrorCode::MessageTooLarge, -1));
}

#[test]
fn coordinators_append_with_and_without_admission() {
    let mut rig = Rig::new(1, Setup::default(), registration(&[1, 2, 3], &[1], Some(1), 5));
    let mut append = |admission| {
        let record = GroupRecord::Offset { group: "g".into(), tp: T0, commit: None };
        rig.with(|replicas, ctx, image| replicas.append_as_coordinator(ctx, image, T0, alloc::vec![record], admission))
    };
    assert_eq!(append(true), Err(ErrorCode::NotEnoughReplicas));
    assert_eq!(append(false), Ok(1));
    assert_eq!(append(false), Ok(2));
}

#[test]
fn p_32_a_topic_made_anew_is_unknown_by_its_old_id_and_written_by_its_name() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 0);
    let name: alloc::rc::Rc<str> = rig.image.topic_name(T0.topic).expect("the topic").clone();
    rig.image.replay(&MetadataRecord::RemoveTopic { topic: T0.topic });
    rig.with(|replicas, ctx, image| replicas.apply(ctx, image, &[], &[T0]));
    let send = |rig: &mut Rig, topics: &ProducedTopics| {
        let reply = rig.reply_to(NodeId::Client(ClientId(1)));
        let (timeout, topics) = (Dur::secs(30), topics.clone());
        let request = ProduceRequest { acks: Acks::One, timeout, batches: alloc::vec![(T0, batch(1))], topics };
        produced_now(rig.with(|replicas, ctx, image| replicas.produce(ctx, image, request, reply)))
    };
    let by_name = ProducedTopics::ByName([(T0.topic, name.clone())].into());
    assert_eq!(send(&mut rig, &ProducedTopics::ById), (ErrorCode::UnknownTopicId, -1));
    assert_eq!(send(&mut rig, &by_name), (ErrorCode::UnknownTopicOrPartition, -1));
    let again = Tp { topic: TopicId(2), partition: 0 };
    rig.image.replay(&MetadataRecord::Topic { name, topic: again.topic });
    rig.image.replay(&MetadataRecord::Partition { tp: again, registration: registration(&[1], &[1], Some(1), 0) });
    rig.with(|replicas, ctx, image| replicas.apply(ctx, image, &[(again, Seq(0))], &[]));
    assert_eq!(send(&mut rig, &ProducedTopics::ById), (ErrorCode::UnknownTopicId, -1));
    assert_eq!(send(&mut rig, &by_name), (ErrorCode::None, 0));
    assert_eq!(rig.node.disk.log(again).map(Log::end_offset), Some(1));
}

#[test]
fn a_client_writes_to_no_internal_topic_and_a_coordinator_does() {
    let mut rig = Rig::caught_up_leader(Setup::default(), 0);
    rig.image.replay(&MetadataRecord::Topic { name: CONSUMER_OFFSETS.into(), topic: T0.topic });
    let registered = registration(&[1, 2, 3], &[1, 2, 3], Some(1), 0);
    rig.image.replay(&MetadataRecord::Partition { tp: T0, registration: registered });
    assert_eq!(produced_now(rig.produce(Acks::One, 1)), (ErrorCode::InvalidTopicException, -1));
    assert_eq!(produced_now(rig.produce(Acks::All, 1)), (ErrorCode::InvalidTopicException, -1));
    assert!(matches!(rig.produce(Acks::Zero, 1), Handled::CloseConnection));
    let reply = rig.reply_to(NodeId::Client(ClientId(1)));
    let deleted = rig.with(|replicas, ctx, image| replicas.delete_records(ctx, image, T0, 0, Dur::secs(30), reply));
    let refused = Response::Partition(PartitionResponse::DeleteRecords {
        error: ErrorCode::InvalidTopicException,
        low_watermark: -1,
    });
    assert!(matches!(deleted, Handled::Now(Some(response)) if response == refused));
    let nowhere = Tp { partition: 9, ..T0 };
    let answer = produced_now(rig.produce_batches(Acks::One, alloc::vec![(nowhere, batch(1))]));
    assert_eq!(answer, (ErrorCode::UnknownTopicOrPartition, -1), "first of all it has to be there");
    let record = GroupRecord::Group { group: "g".into(), metadata: None };
    let appended =
        rig.with(|replicas, ctx, image| replicas.append_as_coordinator(ctx, image, T0, alloc::vec![record], false));
    assert_eq!(appended, Ok(1));
}
