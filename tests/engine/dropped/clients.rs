//! What producers and consumers ask brokers for, lost. The group's own requests are elsewhere.

use highwater_engine::base::{Dur, NodeId};
use highwater_engine::protocol::Api;
use highwater_engine::trace::Kind;
use highwater_engine::world::Action;

use super::{ANY, Request, Response, consumer, first_after, lose, loss, ms, with_records};
use crate::cluster::{Cluster, broker};

const PATIENT: &[(&str, &str)] =
    &[("acks", "all"), ("linger.ms", "0"), ("request.timeout.ms", "5000"), ("delivery.timeout.ms", "30000")];

/// When the record was acknowledged, counted from now, in milliseconds.
fn ack_after(c: &mut Cluster, config: &[(&str, &str)], api: Api, response: bool) -> Option<u64> {
    c.producer("p", config);
    c.run(Dur::secs(1));
    c.lose_next(api, response);
    let from = c.world.now();
    let known = c.acked().len();
    c.produce("p", "t", "a", 1, Dur::ZERO);
    c.until(Dur::secs(60), |c| c.acked().len() > known || !c.failed().is_empty())
        .then(|| c.world.now().since(from).as_ms())
}

#[test]
pub fn produce_request_lost_the_record_is_sent_again_after_the_time_out() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let after = ack_after(&mut c, PATIENT, Api::Produce, false).expect("acknowledged at the second try");
    assert!((5_000..6_500).contains(&after), "{after} ms");
    assert_eq!(c.log_end(broker(1), tp), 1);
}

#[test]
pub fn produce_response_lost_idempotence_recognises_the_retry() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let after = ack_after(&mut c, PATIENT, Api::Produce, true).expect("acknowledged at the second try");
    assert!((5_000..6_500).contains(&after), "{after} ms");
    assert_eq!(c.log_end(broker(1), tp), 1, "appended once");
    assert!(c.saw(|k| matches!(k, Kind::DuplicateRecognised { .. })));
}

#[test]
pub fn produce_response_lost_without_idempotence_the_record_stands_twice() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let config = [PATIENT, &[("enable.idempotence", "false")]].concat();
    ack_after(&mut c, &config, Api::Produce, true).expect("acknowledged at the second try");
    assert_eq!(c.log_end(broker(1), tp), 2);
}

#[test]
pub fn produce_request_lost_without_acks_nobody_notices() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let after = ack_after(&mut c, &[("acks", "0"), ("linger.ms", "0")], Api::Produce, false)
        .expect("the producer believes it sent");
    assert!(after < 100, "{after} ms");
    c.run(Dur::secs(60));
    assert_eq!((c.acked()[0].1, c.log_end(broker(1), tp)), (-1, 0), "no offset, and nothing in the log");
    assert!(c.failed().is_empty());
}

/// The second record of a producer is acknowledged this late if the `nth` of its first messages of an API is lost.
fn first_ack_with(api: Api, nth: u32) -> u64 {
    let mut c = Cluster::boot(2);
    c.topic("t", 1);
    lose(&mut c, api, Request, ANY, nth);
    let from = c.world.now();
    c.producer("p", PATIENT);
    c.produce("p", "t", "a", 1, Dur::ZERO);
    assert!(c.until(Dur::secs(60), |c| !c.acked().is_empty()));
    loss(&c, api, Request);
    ms(from, c.world.now())
}

#[test]
pub fn metadata_lost_the_first_record_waits_for_the_time_out() {
    // The first such request stands for the handshake of the connection, the second asks for the topic.
    let after = first_ack_with(Api::Metadata, 2);
    assert!((5_000..6_500).contains(&after), "{after} ms");
}

#[test]
pub fn init_producer_id_lost_nothing_is_sent_before_the_time_out() {
    let after = first_ack_with(Api::InitProducerId, 1);
    assert!((5_000..6_500).contains(&after), "{after} ms");
}

#[test]
pub fn consumer_fetch_lost_the_partition_stands_for_the_request_time_out() {
    let (mut c, _) = with_records(3);
    consumer(&mut c, "c", &[]);
    assert!(c.until(Dur::secs(5), |c| c.delivered() == 5));
    let client = c.world.client_id("c").map(NodeId::Client);
    lose(&mut c, Api::Fetch, Response, (None, client), 1);
    c.produce("p", "t", "b", 5, Dur::ms(10));
    assert!(c.until(Dur::secs(20), |c| c.delivered() == 10));
    let stood = ms(loss(&c, Api::Fetch, Response), c.world.now());
    assert!((4_000..6_000).contains(&stood), "{stood} ms");
    assert!(!c.saw(|k| matches!(k, Kind::MemberRemoved { .. })), "the group notices nothing");
}

#[test]
pub fn offset_for_leader_epoch_lost_the_position_cannot_be_trusted() {
    let (mut c, tp) = with_records(4);
    consumer(&mut c, "c", &[]);
    assert!(c.until(Dur::secs(5), |c| c.delivered() == 5));
    lose(&mut c, Api::OffsetForLeaderEpoch, Request, ANY, 1);
    c.act(Action::Stop(broker(1)));
    assert!(c.until(Dur::secs(5), |c| c.recorded_leader(tp) == Some(2)));
    c.produce("p", "t", "b", 5, Dur::ms(10));
    assert!(c.until(Dur::secs(20), |c| c.delivered() == 10));
    let lost = loss(&c, Api::OffsetForLeaderEpoch, Request);
    let acked =
        first_after(&c, lost, |e| matches!(e.kind, Kind::RecordAcked { .. })).expect("the new leader takes records");
    let stood = ms(lost, c.world.now());
    assert!(
        ms(lost, acked) < 2_500 && (5_000..6_500).contains(&stood),
        "acked after {} ms, read after {stood} ms",
        ms(lost, acked)
    );
}
