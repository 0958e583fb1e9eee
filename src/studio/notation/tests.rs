//! Entries and their lines, as pairs. Looks at no run.

use highwater_engine::base::{
    ActionId, BrokerId, ClientId, ControllerId, LeaderEpoch, MessageId, NodeId, PartitionEpoch, Seq, SimTime, Tag,
    TopicId, Tp,
};
use highwater_engine::node::message::{AdminRequest, Values};
use highwater_engine::protocol::{Api, ElectionKind, ErrorCode};
use highwater_engine::trace::{Callback, Failure, IsrChanger, Kind, TraceEntry};
use highwater_engine::world::{Action, Needed, Refusal};

use super::*;

const ORIGIN: SimTime = SimTime(3_000_000);
const TP: Tp = Tp { topic: TopicId(1), partition: 0 };
const P: NodeId = NodeId::Client(ClientId(7));

fn entry(who: NodeId, kind: Kind) -> TraceEntry {
    TraceEntry { seq: Seq(1), at: SimTime(15_000_000), cause: Seq(0), who, kind }
}

fn broker(id: u32) -> NodeId {
    NodeId::Broker(BrokerId(id))
}

/// A topic `orders`, a client `p`, a record `a0` and a fetch on its way.
fn book() -> Book {
    let mut book = Book::default();
    book.topics.insert(TopicId(1), "orders".into());
    book.name_client(ClientId(7), "p".into());
    book.name_action(ActionId(3), "kill broker/1".into());
    book.learn(&entry(
        P,
        Kind::RecordSent { tag: Tag(9), topic: "orders".into(), partition: None, value: "a0".into() },
    ));
    let sent = Kind::MessageSent {
        message: MessageId(814),
        to: broker(2),
        api: Api::Fetch,
        response: true,
        arrives_at: SimTime(15_000_500),
        error: ErrorCode::None,
        empty: true,
    };
    book.learn(&entry(broker(1), sent));
    book
}

#[test]
fn entries_have_kafkas_names_and_plain_values() {
    let ids = |ids: &[u32]| ids.iter().copied().map(BrokerId).collect::<Vec<_>>();
    let table = [
        (broker(1), Kind::ProcessKilled, "broker/1          process-killed"),
        (P, Kind::Acted { action: ActionId(3) }, "client/p          acted kill broker/1"),
        (
            NodeId::Controller(ControllerId(3)),
            Kind::LeaderElected {
                tp: TP,
                leader: BrokerId(2),
                previous: Some(BrokerId(1)),
                epoch: LeaderEpoch(4),
                election: ElectionKind::FromElr,
            },
            "controller/3      leader-elected orders-0 leader=2 previous=1 leader-epoch=4 election=from-elr",
        ),
        (
            NodeId::Controller(ControllerId(3)),
            Kind::IsrShrunk {
                tp: TP,
                isr: ids(&[2, 3]),
                removed: ids(&[1]),
                by: IsrChanger::Leader(BrokerId(2)),
                epoch: PartitionEpoch(5),
            },
            "controller/3      isr-shrunk orders-0 isr=[2,3] removed=[1] by=broker/2 partition-epoch=5",
        ),
        (
            broker(2),
            Kind::MessageDelivered { message: MessageId(814), sent: Seq(1) },
            "broker/2          message-delivered FetchResponse broker/1->broker/2",
        ),
        (
            P,
            Kind::RequestFailed { to: broker(1), api: Api::Produce, failure: Failure::TimedOut },
            "client/p          request-failed ProduceRequest to=broker/1 timed-out",
        ),
        (
            P,
            Kind::RecordAcked { tag: Tag(9), tp: TP, offset: 4 },
            "client/p          record-acked orders-0 offset=4 value=a0",
        ),
        (
            P,
            Kind::RecordFailed { tag: Tag(9), tp: None, exception: "TimeoutException" },
            "client/p          record-failed exception=TimeoutException value=a0",
        ),
        (
            P,
            Kind::RebalanceCallback { group: "g".into(), callback: Callback::Lost, partitions: vec![TP] },
            "client/p          rebalance-callback group=g onPartitionsLost[orders-0]",
        ),
        (
            broker(1),
            Kind::ProduceRefused { tp: TP, error: ErrorCode::NotEnoughReplicas },
            "broker/1          produce-refused orders-0 error=NOT_ENOUGH_REPLICAS",
        ),
    ];
    for (who, kind, expected) in table {
        assert_eq!(line(&entry(who, kind), ORIGIN, &book()), format!("   12.000000 s  {expected}"));
    }
}

#[test]
fn a_moment_is_seconds_before_or_after_the_origin() {
    assert_eq!(moment(SimTime(15_000_001), ORIGIN).trim(), "12.000001 s");
    assert_eq!(moment(SimTime(2_500_000), ORIGIN).trim(), "-0.500000 s");
}

#[test]
fn actions_and_refusals_are_written_as_in_a_script() {
    let book = book();
    let table = [
        (Action::Kill(broker(1)), "kill broker/1"),
        (
            Action::Cut { from: vec![broker(1)], to: vec![broker(2), P], both: true },
            "cut [broker/1]<->[broker/2,client/p]",
        ),
        (
            Action::Produce {
                client: "p".into(),
                topic: "orders".into(),
                partition: Some(0),
                key: None,
                values: Values::Numbered("a".into()),
                count: 3,
                every: highwater_engine::base::Dur::ms(20),
            },
            "produce p orders-0 value=a0..2 count=3 every=20000us",
        ),
        (
            Action::Admin(AdminRequest::ElectLeaders { topic: "orders".into(), partition: 0, unclean: true }),
            "elect-leaders orders-0 type=unclean",
        ),
    ];
    for (what, expected) in table {
        assert_eq!(action(&what, &book), expected);
    }
    let why = Refusal::WrongState { node: broker(1), needed: Needed::Running };
    assert_eq!(refusal(&why, &book), "wrong-state broker/1 needed: a running process");
}

#[test]
fn a_text_stays_on_its_line_and_is_cut() {
    assert_eq!(text("a\nb"), "a\\nb");
    assert_eq!(text(&"x".repeat(41)), format!("{}…", "x".repeat(40)));
}
