//! What becomes of the requests of a connection that one end has closed, as Kafka's SocketServer and TCP make it: each
//! count of records was seen on a real 4.1.1. How a single connection is read has tests of its own beside it.

use highwater_engine::base::{Dur, NodeId, Tp};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{Api, CreateTopicRequest, ErrorCode, Placement};
use highwater_engine::trace::{Failure, Kind};
use highwater_engine::world::{Action, World};

use super::cluster::{Cluster, broker};

/// Sends one record at a time, each in a request of its own, up to five on their way, and tries nothing twice.
const ONCE: [(&str, &str); 4] =
    [("enable.idempotence", "false"), ("retries", "0"), ("linger.ms", "0"), ("batch.size", "1")];

/// A cluster whose producer has sent one record, so that its connections are open.
fn with_producer(acks: &str) -> (Cluster, Tp) {
    let mut c = Cluster::boot(23);
    let tp = c.topic("t", 1);
    c.producer("p", &[&ONCE[..], &[("acks", acks)]].concat());
    c.produce("p", "t", "first", 1, Dur::ZERO);
    c.run(Dur::secs(1));
    assert_eq!(c.log_end(broker(1), tp), 1);
    (c, tp)
}

fn client(world: &World, name: &str) -> NodeId {
    NodeId::Client(world.client_id(name).expect("the client was started"))
}

fn slow(c: &mut Cluster, a: NodeId, others: Vec<NodeId>, latency: Dur) {
    let link = Action::Link {
        between: vec![a],
        and: others,
        latency: Some(latency),
        jitter: Some(Dur::ZERO),
        loss_per_million: None,
    };
    c.act(link);
}

/// A leader whose followers are 100 ms away works on the first of five requests with acks=all.
fn five_on_their_way() -> (Cluster, Tp) {
    let (mut c, tp) = with_producer("all");
    slow(&mut c, broker(1), vec![broker(2), broker(3)], Dur::ms(100));
    c.run(Dur::secs(2));
    c.produce("p", "t", "r", 5, Dur::ms(1));
    c.run(Dur::ms(10));
    assert_eq!(c.log_end(broker(1), tp), 2, "the first is appended and waits for the followers, nobody reads on");
    (c, tp)
}

/// A frozen leader goes on after the sender of the five requests in its socket has died.
fn given_up_while_frozen(acks: &str) -> (Cluster, Tp) {
    let (mut c, tp) = with_producer(acks);
    c.act(Action::Pause(broker(1)));
    c.produce("p", "t", "r", 5, Dur::ms(1));
    c.run(Dur::ms(100));
    c.act(Action::KillClient { name: "p".into() });
    c.run(Dur::ms(100));
    c.act(Action::Resume(broker(1)));
    c.run(Dur::secs(1));
    (c, tp)
}

/// Runs until the leader's log ends there, which is soon.
fn until_end(c: &mut Cluster, tp: Tp, end: i64) {
    assert!(c.until(Dur::secs(2), |c| c.log_end(broker(1), tp) == end));
}

#[test]
fn a_killed_producer_is_noticed_by_the_answer_after_the_first_that_its_kernel_refused() {
    let (mut c, tp) = five_on_their_way();
    c.act(Action::KillClient { name: "p".into() });
    c.run(Dur::secs(10));
    assert_eq!(c.log_end(broker(1), tp), 3, "two of five: the answer to the first went out, that to the second broke");
}

#[test]
fn a_producer_killed_after_two_answers_leaves_four_records_of_five() {
    let (mut c, tp) = five_on_their_way();
    until_end(&mut c, tp, 4);
    c.run(Dur::ms(10));
    assert_eq!(c.acked().len(), 3);
    c.act(Action::KillClient { name: "p".into() });
    c.run(Dur::secs(10));
    assert_eq!(c.log_end(broker(1), tp), 5);
}

#[test]
fn a_process_that_dies_with_an_unread_answer_resets_its_connection_at_once() {
    let (mut c, tp) = five_on_their_way();
    let node = client(&c.world, "p");
    c.act(Action::Pause(node));
    until_end(&mut c, tp, 3);
    c.run(Dur::ms(10));
    c.act(Action::KillClient { name: "p".into() });
    c.run(Dur::secs(10));
    assert_eq!(c.log_end(broker(1), tp), 3, "the second was worked on when the reset came, and its answer broke");
}

#[test]
fn requests_without_answers_are_all_worked_off_after_their_client_is_gone() {
    let (c, tp) = given_up_while_frozen("0");
    assert_eq!(c.log_end(broker(1), tp), 6);
}

#[test]
fn a_frozen_broker_reads_one_request_of_a_connection_that_was_reset_meanwhile() {
    let (mut c, tp) = with_producer("1");
    let node = client(&c.world, "p");
    slow(&mut c, node, vec![broker(1)], Dur::ms(100));
    c.run(Dur::secs(1));
    c.produce("p", "t", "r", 5, Dur::ms(20));
    until_end(&mut c, tp, 2);
    c.act(Action::Pause(broker(1)));
    c.act(Action::Pause(node));
    c.run(Dur::ms(300));
    c.act(Action::KillClient { name: "p".into() });
    c.run(Dur::secs(1));
    c.act(Action::Resume(broker(1)));
    c.run(Dur::secs(1));
    assert_eq!(c.log_end(broker(1), tp), 3, "the second was read, its answer broke, what lay behind it is dropped");
}

#[test]
fn a_frozen_broker_that_a_client_gave_up_appends_two_of_the_five_records_that_lay_there() {
    let (c, tp) = given_up_while_frozen("1");
    assert_eq!(c.log_end(broker(1), tp), 3, "the first answer meets the reset before the second one is written");
}

#[test]
fn an_isr_that_shrinks_late_lets_one_more_request_of_a_given_up_connection_be_appended() {
    let mut c = Cluster::boot(23);
    let tp = c.topic("t", 1);
    let config = [("enable.idempotence", "false"), ("linger.ms", "0"), ("acks", "all"), ("request.timeout.ms", "5000")];
    c.producer("p", &config);
    c.produce("p", "t", "first", 1, Dur::ZERO);
    c.run(Dur::secs(1));
    c.act(Action::Kill(broker(2)));
    c.act(Action::Kill(broker(3)));
    c.run(Dur::ms(500));
    c.produce("p", "t", "r", 5, Dur::ms(100));
    c.run(Dur::secs(30));
    assert_eq!(c.acked().len(), 6);
    // Of the given-up connection: the first, which timed out; the second, which the shrunk ISR let be answered; and the
    // third, which was read before the reset was noticed. Each stands once more by the retry that was acknowledged.
    assert_eq!(c.log_end(broker(1), tp), 6 + 3);
}

#[test]
fn what_follows_on_a_connection_that_the_broker_has_closed_is_not_worked_on() {
    let mut c = Cluster::boot(23);
    let stays = c.topic("stays", 1);
    c.act(Action::Kill(broker(2)));
    c.run(Dur::secs(20));
    let ids = [2, 1, 3].map(highwater_engine::base::BrokerId).to_vec();
    let request = CreateTopicRequest {
        name: "moves".into(),
        placement: Placement::Manual(vec![(0, ids)]),
        configs: config_map(&[]),
        timeout: Dur::secs(15),
    };
    assert_eq!(c.admin(AdminRequest::CreateTopic(request)), ErrorCode::None);
    c.producer("p", &[&ONCE[..], &[("acks", "0")]].concat());
    for topic in ["stays", "moves"] {
        c.produce("p", topic, "first", 1, Dur::ZERO);
    }
    c.run(Dur::secs(1));
    c.act(Action::Start(broker(2)));
    c.run(Dur::secs(20));
    let elect = AdminRequest::ElectLeaders { topic: "moves".into(), partition: 0, unclean: false };
    assert_eq!(c.admin(elect), ErrorCode::None);
    assert_eq!(c.log_end(broker(1), stays), 1);
    let node = client(&c.world, "p");
    slow(&mut c, node, vec![broker(1)], Dur::ms(50));
    c.produce("p", "moves", "refused", 1, Dur::ZERO);
    c.run(Dur::ms(10));
    c.produce("p", "stays", "dropped", 1, Dur::ZERO);
    c.run(Dur::secs(5));
    assert_eq!(c.log_end(broker(1), stays), 1, "it arrived 10 ms after the broker had closed the connection");
    c.produce("p", "stays", "goes", 1, Dur::ZERO);
    c.run(Dur::secs(1));
    assert_eq!(c.log_end(broker(1), stays), 2, "on a new connection");
}

#[test]
fn a_client_learns_by_a_reset_that_its_broker_died_behind_a_cut() {
    let (mut c, _) = with_producer("all");
    let node = client(&c.world, "p");
    c.act(Action::Cut { from: vec![node], to: vec![broker(1)], both: true });
    c.produce("p", "t", "r", 1, Dur::ZERO);
    c.run(Dur::secs(1));
    c.act(Action::Restart(broker(1)));
    c.run(Dur::secs(10));
    let reset = |c: &Cluster| {
        c.saw(|kind| {
            matches!(
                kind,
                Kind::RequestFailed { to, api: Api::Produce, failure: Failure::Disconnected } if *to == broker(1)
            )
        })
    };
    assert!(!reset(&c), "the cut keeps it from knowing");
    c.act(Action::HealAll);
    c.run(Dur::secs(15));
    assert!(reset(&c), "the request is sent again by its kernel, and refused by the other one");
}

#[test]
fn a_connection_that_both_ends_have_closed_leaves_nothing_behind() {
    let (mut c, _) = with_producer("all");
    let node = client(&c.world, "p");
    c.produce("p", "t", "r", 20, Dur::ms(10));
    c.run(Dur::ms(100));
    assert!(!c.world.network().connections_of(node).is_empty());
    c.act(Action::KillClient { name: "p".into() });
    assert!(!c.world.network().connections_of(node).is_empty(), "the brokers do not know yet");
    c.run(Dur::secs(5));
    assert_eq!(c.world.network().connections_of(node), []);
}
