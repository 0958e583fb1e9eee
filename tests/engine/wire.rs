//! What an action does to one message, a verb a test, and what Kafka makes of it. Losses by API have tests of their
//! own.

use highwater_engine::base::{BrokerId, Dur, Seq, SimTime, Tp};
use highwater_engine::protocol::Api;
use highwater_engine::trace::Kind;
use highwater_engine::world::{Action, Deed, Pick, Refusal};

use super::cluster::{Cluster, broker};

/// A cluster whose producer has sent a record before, so that its connections are open.
fn with_producer(config: &[(&str, &str)]) -> (Cluster, Tp) {
    let mut c = Cluster::boot(11);
    let tp = c.topic("t", 1);
    c.producer("p", &[&[("acks", "all"), ("linger.ms", "0")], config].concat());
    one_more(&mut c);
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (1, 1));
    (c, tp)
}

fn one_more(c: &mut Cluster) {
    c.produce("p", "t", "v", 1, Dur::ZERO);
}

fn produce(response: bool) -> Pick {
    Pick { api: Api::Produce, response, from: None, to: None, nth: 1 }
}

fn act(c: &mut Cluster, which: Pick, deed: Deed) {
    c.act(Action::Message { which, deed });
}

fn hold(c: &mut Cluster, which: Pick, name: &str) {
    act(c, which, Deed::Hold { name: name.into() });
}

fn release(c: &mut Cluster, name: &str) {
    c.act(Action::Release { name: name.into() });
}

fn acked_at(c: &Cluster) -> Vec<SimTime> {
    c.trace.iter().filter(|e| matches!(e.kind, Kind::RecordAcked { .. })).map(|e| e.at).collect()
}

/// Messages of produce requests on their way or held, as an action counts them.
fn produce_requests(c: &Cluster) -> usize {
    use highwater_engine::node::{Body, message::Message};
    use highwater_engine::protocol::{PartitionRequest, Request};
    let is_produce =
        |message: &&&Message| matches!(message.body, Body::Request(Request::Partition(PartitionRequest::Produce(_))));
    c.world.within_reach().iter().filter(is_produce).count()
}

#[test]
fn a_held_request_waits_until_it_is_released() {
    let (mut c, tp) = with_producer(&[]);
    one_more(&mut c);
    assert_eq!(produce_requests(&c), 1, "it is on its way");
    hold(&mut c, produce(false), "h1");
    c.run(Dur::secs(5));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (1, 1), "nobody has seen it");
    assert_eq!(produce_requests(&c), 1, "it can still be named");
    release(&mut c, "h1");
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (2, 2));
}

#[test]
fn what_follows_a_held_message_on_its_connection_waits_behind_it() {
    let (mut c, tp) = with_producer(&[]);
    hold(&mut c, produce(false), "h1");
    for _ in 0..3 {
        one_more(&mut c);
        c.run(Dur::ms(10));
    }
    assert_eq!(c.world.held_by_actions().count(), 3, "one is held, two wait behind it");
    assert_eq!(c.world.held_by_actions().filter(|(_, name)| name.is_some()).count(), 1);
    assert_eq!(c.log_end(broker(1), tp), 1);
    release(&mut c, "h1");
    c.run(Dur::secs(1));
    let offsets: Vec<i64> = c.acked().iter().map(|(_, offset)| *offset).collect();
    assert_eq!(offsets, [0, 1, 2, 3], "in the order in which they were sent");
}

#[test]
fn one_held_message_is_passed_by_none_when_an_earlier_one_is_released_first() {
    let (mut c, tp) = with_producer(&[]);
    hold(&mut c, produce(false), "first");
    hold(&mut c, Pick { nth: 2, ..produce(false) }, "second");
    one_more(&mut c);
    c.run(Dur::ms(10));
    one_more(&mut c);
    c.run(Dur::ms(10));
    release(&mut c, "second");
    c.run(Dur::ms(100));
    assert_eq!(c.log_end(broker(1), tp), 1, "the second waits behind the first");
    release(&mut c, "first");
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (3, 3));
}

#[test]
fn a_delayed_message_is_overtaken_by_nothing_on_its_connection() {
    let (mut c, _) = with_producer(&[]);
    let began = c.world.now();
    one_more(&mut c);
    act(&mut c, produce(false), Deed::Delay { by: Dur::secs(2) });
    c.run(Dur::ms(100));
    one_more(&mut c);
    c.run(Dur::secs(5));
    let at: Vec<u64> = acked_at(&c)[1..].iter().map(|at| at.since(began).as_ms()).collect();
    assert_eq!(at.len(), 2);
    assert!(at.iter().all(|ms| (2_000..2_020).contains(ms)), "both arrive after two seconds: {at:?}");
}

#[test]
fn a_message_that_is_delivered_now_takes_no_time() {
    let (mut c, _) = with_producer(&[]);
    one_more(&mut c);
    let sent = c.world.now();
    act(&mut c, produce(false), Deed::Deliver);
    c.run(Dur::ZERO);
    let appended = c.trace.iter().rev().find(|e| matches!(e.kind, Kind::Appended { .. })).map(|e| e.at);
    assert_eq!(appended, Some(sent));
}

#[test]
fn a_delayed_message_that_is_delivered_now_holds_up_nothing_more() {
    let (mut c, _) = with_producer(&[]);
    one_more(&mut c);
    act(&mut c, produce(false), Deed::Delay { by: Dur::secs(20) });
    c.run(Dur::secs(1));
    act(&mut c, produce(false), Deed::Deliver);
    one_more(&mut c);
    let began = c.world.now();
    c.run(Dur::secs(1));
    let last = *acked_at(&c).last().expect("the first record was acknowledged long before");
    assert_eq!(c.acked().len(), 3);
    assert!(last.since(began).as_ms() < 50, "the next one goes at its own pace");
}

#[test]
fn a_held_message_that_is_delivered_now_is_held_no_more() {
    let (mut c, tp) = with_producer(&[]);
    one_more(&mut c);
    hold(&mut c, produce(false), "h1");
    c.run(Dur::secs(1));
    act(&mut c, produce(false), Deed::Deliver);
    c.run(Dur::ms(100));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (2, 2));
    assert_eq!(
        c.world.act(Action::Release { name: "h1".into() }, &mut c.trace),
        Err(Refusal::NothingHeld("h1".into()))
    );
}

#[test]
fn a_duplicated_request_is_recognised_by_its_sequence() {
    let (mut c, tp) = with_producer(&[("enable.idempotence", "true")]);
    one_more(&mut c);
    act(&mut c, produce(false), Deed::Duplicate);
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (2, 2));
}

#[test]
fn a_duplicated_request_without_idempotence_stands_twice_and_is_acknowledged_once() {
    let (mut c, tp) = with_producer(&[("enable.idempotence", "false")]);
    act(&mut c, produce(false), Deed::Duplicate);
    one_more(&mut c);
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (2, 3));
}

#[test]
fn a_duplicated_response_finds_nobody_who_waits_for_it() {
    let (mut c, tp) = with_producer(&[]);
    act(&mut c, produce(true), Deed::Duplicate);
    one_more(&mut c);
    c.run(Dur::ms(100));
    one_more(&mut c);
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp), c.failed().len()), (3, 3, 0));
}

#[test]
fn a_duplicate_has_a_number_and_an_entry_of_its_own_that_the_action_caused() {
    let (mut c, _) = with_producer(&[]);
    one_more(&mut c);
    act(&mut c, produce(false), Deed::Duplicate);
    let acted = c.trace.iter().rev().find(|e| matches!(e.kind, Kind::Acted { .. })).map(|e| e.seq);
    let sent = c.trace.iter().rev().find(|e| matches!(e.kind, Kind::MessageSent { .. })).map(|e| e.cause);
    assert_eq!(acted, sent);
    assert_ne!(acted, Some(Seq(0)));
    assert_eq!(produce_requests(&c), 2);
}

/// The producer gives up after its time-out, sends again on a new connection, and then the old request arrives.
fn arrives_after_its_retry(idempotence: &str) -> (usize, i64) {
    let (mut c, tp) = with_producer(&[("request.timeout.ms", "2000"), ("enable.idempotence", idempotence)]);
    one_more(&mut c);
    hold(&mut c, produce(false), "h1");
    assert!(c.until(Dur::secs(10), |c| c.acked().len() == 2), "the retry is acknowledged");
    assert_eq!(c.log_end(broker(1), tp), 2);
    release(&mut c, "h1");
    c.run(Dur::secs(1));
    (c.acked().len(), c.log_end(broker(1), tp))
}

#[test]
fn a_held_request_that_outlives_its_connection_is_appended_after_its_retry() {
    assert_eq!(arrives_after_its_retry("false"), (2, 3));
}

#[test]
fn a_held_request_that_outlives_its_connection_is_recognised_with_idempotence() {
    assert_eq!(arrives_after_its_retry("true"), (2, 2));
}

#[test]
fn a_request_to_a_process_that_has_died_does_not_reach_the_one_that_started_after_it() {
    let (mut c, tp) = with_producer(&[("enable.idempotence", "false"), ("acks", "1")]);
    one_more(&mut c);
    hold(&mut c, produce(false), "h1");
    c.act(Action::Kill(broker(1)));
    c.run(Dur::ms(10));
    c.act(Action::Start(broker(1)));
    c.run(Dur::secs(60));
    let end = c.log_end(broker(1), tp);
    release(&mut c, "h1");
    c.run(Dur::secs(1));
    assert_eq!(c.log_end(broker(1), tp), end, "the kernel answers with a reset");
}

#[test]
fn the_end_of_a_connection_comes_after_what_is_held_on_it() {
    let (mut c, _) = with_producer(&[]);
    let fetch = Pick { api: Api::Fetch, response: true, from: Some(broker(1)), to: Some(broker(2)), nth: 1 };
    hold(&mut c, fetch, "h1");
    c.run(Dur::secs(2));
    assert_eq!(c.world.held_by_actions().count(), 1);
    c.act(Action::Kill(broker(1)));
    let killed = c.trace.len();
    c.run(Dur::secs(2));
    let failed = |c: &Cluster| {
        c.trace[killed..].iter().any(|e| {
            e.who == broker(2) && matches!(e.kind, Kind::RequestFailed { to, api: Api::Fetch, .. } if to == broker(1))
        })
    };
    let connected = c.world.broker(BrokerId(2)).is_some();
    assert!(connected && !failed(&c), "broker 2 still waits for the answer");
    release(&mut c, "h1");
    c.run(Dur::ms(600));
    assert_eq!(c.world.held_by_actions().count(), 0);
    c.run(Dur::secs(40));
    assert!(failed(&c), "and then it learns that nobody is there");
}

#[test]
fn the_nth_message_is_counted_among_those_on_their_way_and_then_those_to_come() {
    let (mut c, tp) = with_producer(&[]);
    one_more(&mut c);
    hold(&mut c, Pick { nth: 2, ..produce(false) }, "second");
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (2, 2), "the first is not meant");
    one_more(&mut c);
    c.run(Dur::secs(1));
    assert_eq!((c.acked().len(), c.log_end(broker(1), tp)), (2, 2), "the second is");
}

#[test]
fn a_name_holds_one_message_at_a_time() {
    let (mut c, _) = with_producer(&[]);
    hold(&mut c, produce(false), "h1");
    let again = Action::Message { which: produce(true), deed: Deed::Hold { name: "h1".into() } };
    assert_eq!(c.world.act(again, &mut c.trace), Err(Refusal::HoldTaken("h1".into())));
    let nothing = Action::Release { name: "h1".into() };
    assert_eq!(c.world.act(nothing, &mut c.trace), Err(Refusal::NothingHeld("h1".into())), "nothing was sent yet");
}
