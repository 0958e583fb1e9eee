//! For each API: one message is lost, and what Kafka does about it is seen. No node may know what that message would have told it.

use highwater_engine::base::Dur;
use highwater_engine::protocol::Api;
use highwater_engine::trace::Kind;

use super::cluster::Cluster;

const PATIENT: &[(&str, &str)] = &[("acks", "all"), ("linger.ms", "0"), ("request.timeout.ms", "5000"), ("delivery.timeout.ms", "30000")];

/// When the record was acknowledged, counted from now, in milliseconds.
fn ack_after(c: &mut Cluster, config: &[(&str, &str)], api: Api, response: bool) -> Option<u64> {
    c.producer("p", config);
    c.run(Dur::secs(1));
    c.lose_next(api, response);
    let from = c.world.now();
    let known = c.acked().len();
    c.produce("p", "t", "a", 1, Dur::ZERO);
    c.until(Dur::secs(60), |c| c.acked().len() > known || !c.failed().is_empty()).then(|| c.world.now().since(from).as_ms())
}

#[test]
fn produce_request_lost_the_record_is_sent_again_after_the_time_out() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let after = ack_after(&mut c, PATIENT, Api::Produce, false).expect("acknowledged at the second try");
    assert!((5_000..6_500).contains(&after), "{after} ms");
    assert_eq!(c.log_end(super::cluster::broker(1), tp), 1);
}

#[test]
fn produce_response_lost_idempotence_recognises_the_retry() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let after = ack_after(&mut c, PATIENT, Api::Produce, true).expect("acknowledged at the second try");
    assert!((5_000..6_500).contains(&after), "{after} ms");
    assert_eq!(c.log_end(super::cluster::broker(1), tp), 1, "appended once");
    assert!(c.saw(|k| matches!(k, Kind::DuplicateRecognised { .. })));
}

#[test]
fn produce_response_lost_without_idempotence_the_record_stands_twice() {
    let mut c = Cluster::boot(1);
    let tp = c.topic("t", 1);
    let config = [PATIENT, &[("enable.idempotence", "false")]].concat();
    ack_after(&mut c, &config, Api::Produce, true).expect("acknowledged at the second try");
    assert_eq!(c.log_end(super::cluster::broker(1), tp), 2);
}
