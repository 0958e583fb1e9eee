//! What an administrator asks for, lost. Its client has nothing else to do, so it sleeps until the call's own time is
//! over: `request.timeout.ms` is looked at only when its loop wakes up.

use highwater_engine::base::{ClientId, Dur, NodeId, Tp};
use highwater_engine::client::AdminAnswer;
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::config::config_map;
use highwater_engine::protocol::{Api, ConfigTarget, CreateTopicRequest, ErrorCode, Placement};
use highwater_engine::world::Action;

use super::{Request, Response, Way, lose, loss, ms, with_records};
use crate::cluster::{Cluster, broker, setup};

/// The time of a call with the client's default.
const CALL: std::ops::Range<u64> = 19_800..20_100;
const TIMED_OUT: ErrorCode = ErrorCode::RequestTimedOut;

/// The answer to a request of which one message is lost, and when it came after the loss, in milliseconds.
fn ask(c: &mut Cluster, api: Api, way: Way, request: AdminRequest) -> (ErrorCode, u64) {
    // Of two responses, the controller's to the broker and the broker's to the client, it is the latter.
    let to = (way == Response).then_some(NodeId::Client(ClientId(0)));
    lose(c, api, way, (None, to), 1);
    let error = c.admin(request);
    (error, ms(loss(c, api, way), c.world.now()))
}

fn create(name: &str) -> AdminRequest {
    let placement = Placement::Counts { partitions: Some(1), replication_factor: Some(1) };
    AdminRequest::CreateTopic(CreateTopicRequest {
        name: name.into(),
        placement,
        configs: config_map(&[]),
        timeout: Dur::ZERO,
    })
}

fn has_topic(c: &Cluster, name: &str) -> bool {
    let active = c.world.active_controller().and_then(|id| c.world.controller(id)).expect("a controller is active");
    active.image().topic_id(name).is_some()
}

#[test]
pub fn create_topics_request_lost_is_a_time_out_and_nothing_is_made() {
    let mut c = Cluster::boot(1);
    let (error, after) = ask(&mut c, Api::CreateTopics, Request, create("u"));
    assert!(error == TIMED_OUT && (14_900..15_100).contains(&after), "{error:?} after {after} ms");
    assert!(!has_topic(&c, "u"), "nobody was told");
}

#[test]
pub fn create_topics_response_lost_is_a_time_out_of_what_was_done() {
    let mut c = Cluster::boot(1);
    let (error, after) = ask(&mut c, Api::CreateTopics, Response, create("u"));
    assert!(error == TIMED_OUT && (14_900..15_100).contains(&after), "{error:?} after {after} ms");
    assert!(has_topic(&c, "u"));
    assert_eq!(c.admin(create("u")), ErrorCode::TopicAlreadyExists, "as the administrator learns when he tries again");
}

#[test]
pub fn delete_topics_lost_either_way() {
    for way in [Request, Response] {
        let (mut c, _) = with_records(1);
        let (error, after) = ask(&mut c, Api::DeleteTopics, way, AdminRequest::DeleteTopic { name: "t".into() });
        assert!(error == TIMED_OUT && CALL.contains(&after), "{way:?}: {error:?} after {after} ms");
        assert_eq!(has_topic(&c, "t"), way == Request);
    }
}

#[test]
pub fn create_partitions_lost_either_way() {
    for way in [Request, Response] {
        let (mut c, tp) = with_records(1);
        let (error, after) =
            ask(&mut c, Api::CreatePartitions, way, AdminRequest::CreatePartitions { name: "t".into(), total: 2 });
        assert!(error == TIMED_OUT && CALL.contains(&after), "{way:?}: {error:?} after {after} ms");
        assert_eq!(c.recorded(Tp { partition: 1, ..tp }, |_| ()).is_some(), way == Response);
    }
}

#[test]
pub fn delete_records_lost_either_way() {
    for way in [Request, Response] {
        let (mut c, tp) = with_records(1);
        let (error, after) = ask(
            &mut c,
            Api::DeleteRecords,
            way,
            AdminRequest::DeleteRecords { topic: "t".into(), partition: 0, before: 3 },
        );
        assert!(error == TIMED_OUT && CALL.contains(&after), "{way:?}: {error:?} after {after} ms");
        let start = c.world.machine(broker(1)).and_then(|m| m.disk.log(tp)).map(|log| log.start_offset());
        assert_eq!(start, Some(if way == Response { 3 } else { 0 }));
    }
}

#[test]
pub fn elect_leaders_lost_either_way() {
    for way in [Request, Response] {
        let mut s = setup(1);
        s.config.insert("auto.leader.rebalance.enable".into(), "false".into());
        let mut c = Cluster::with(&s);
        let tp = c.topic("t", 1);
        c.act(Action::Stop(broker(1)));
        assert!(c.until(Dur::secs(10), |c| c.recorded_leader(tp) == Some(2)
            && c.world.broker(highwater_engine::base::BrokerId(1)).is_none()));
        c.act(Action::Start(broker(1)));
        assert!(c.until(Dur::secs(30), |c| c.recorded(tp, |p| p.isr.len()) == Some(3)), "broker 1 is back in the ISR");
        let (error, after) = ask(
            &mut c,
            Api::ElectLeaders,
            way,
            AdminRequest::ElectLeaders { topic: "t".into(), partition: 0, unclean: false },
        );
        assert!(error == TIMED_OUT && CALL.contains(&after), "{way:?}: {error:?} after {after} ms");
        assert_eq!(c.recorded_leader(tp), Some(if way == Response { 1 } else { 2 }));
    }
}

#[test]
pub fn incremental_alter_configs_lost_either_way() {
    for way in [Request, Response] {
        let (mut c, _) = with_records(1);
        let request = AdminRequest::AlterConfigs {
            resource: ConfigTarget::Topic("t".into()),
            configs: config_map(&[("min.insync.replicas", "3")]),
        };
        let (error, after) = ask(&mut c, Api::IncrementalAlterConfigs, way, request);
        assert!(error == TIMED_OUT && CALL.contains(&after), "{way:?}: {error:?} after {after} ms");
    }
}

#[test]
pub fn describe_topic_partitions_lost_is_a_time_out_of_ten_seconds() {
    let (mut c, _) = with_records(1);
    let (error, after) =
        ask(&mut c, Api::DescribeTopicPartitions, Request, AdminRequest::DescribeTopics { topics: None });
    assert!(error == TIMED_OUT && (9_900..10_100).contains(&after), "{error:?} after {after} ms");
}

#[test]
pub fn describe_groups_lost_is_a_time_out() {
    let (mut c, _) = with_records(1);
    super::consumer(&mut c, "c", &[]);
    c.run(Dur::secs(3));
    let (error, after) = ask(&mut c, Api::DescribeGroups, Request, AdminRequest::DescribeGroup { group: "g".into() });
    assert!(error == ErrorCode::RequestTimedOut && (4_500..5_100).contains(&after), "{error:?} after {after} ms");
}

#[test]
pub fn describe_quorum_lost_is_a_time_out() {
    let mut c = Cluster::boot(1);
    let (error, after) = ask(&mut c, Api::DescribeQuorum, Response, AdminRequest::DescribeQuorum);
    assert!(error == ErrorCode::RequestTimedOut && (4_500..5_100).contains(&after), "{error:?} after {after} ms");
}

#[test]
pub fn envelope_lost_the_administrator_gives_up_first() {
    // With one broker every try is behind the lost one on the same channel to the controller.
    let mut s = setup(1);
    s.brokers.truncate(1);
    let mut c = Cluster::with(&s);
    let asked = c.act(Action::Admin(create("u")));
    let controller = c.world.active_controller().map(NodeId::Controller);
    lose(&mut c, Api::Envelope, Request, (None, controller), 1);
    assert!(c.until(Dur::secs(30), |c| c.answered(asked).is_some()));
    let after = ms(loss(&c, Api::Envelope, Request), c.world.now());
    assert!((14_400..15_100).contains(&after), "{after} ms");
    assert!(matches!(
        c.world.admin_answer(asked),
        Some(AdminAnswer::Refused { error: ErrorCode::RequestTimedOut, .. })
    ));
    assert!(!has_topic(&c, "u"));
}
