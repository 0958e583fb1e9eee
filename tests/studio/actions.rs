//! Actions of scripts on names: clients that have not started, that freeze, end and come back; internal topics; what
//! cannot be done. It judges no words of the page.

use highwater_engine::base::{BrokerId, Dur, NodeId};
use highwater_engine::protocol::ErrorCode;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Refusal, Resource};
use highwater_studio::scenario::decode;

use crate::played::Played;

/// A scenario with these parts, run for so many seconds.
fn run(parts: &str, seconds: u64) -> Played {
    let text = format!(r#"{{"scenario":1,{parts}}}"#);
    let mut recording = Played::new(decode(&text).unwrap_or_else(|error| panic!("{error}")));
    recording.run(Dur::secs(seconds));
    recording
}

fn entries(recording: &Played) -> Vec<&TraceEntry> {
    recording.reel().entries(0..recording.n_entries()).map(|(_, entry)| entry).collect()
}

fn client(recording: &Played, name: &str) -> NodeId {
    recording.world().client_id(name).map(NodeId::Client).expect("it has a name")
}

fn at<'a>(recording: &'a Played, is: impl Fn(&Kind) -> bool + 'a) -> Vec<u64> {
    let origin = recording.origin();
    entries(recording).iter().filter(|e| is(&e.kind)).map(|e| e.at.since(origin).as_ms()).collect()
}

fn refusals(recording: &Played) -> Vec<(&'static str, String)> {
    entries(recording)
        .iter()
        .filter_map(|entry| match &entry.kind {
            Kind::ActionRefused { verb, why, .. } => Some((*verb, why.to_string())),
            _other => None,
        })
        .collect()
}

const GROUP: &str = r#""groups":{"billing":{"topics":["orders"],"members":["b1","b2"],
    "config":{"session.timeout.ms":10000}}},"cluster":{"config":{"group.initial.rebalance.delay.ms":0}}"#;

#[test]
fn links_of_a_client_that_has_not_started_are_changed() {
    let parts = r#""script":[{"at":"0s","do":[
        {"link":{"between":["client/checkout"],"and":[1,2,3],"latency":"100ms"}},
        {"cut":{"from":["client/b1"],"to":[1]}}]},
        {"at":"5s","do":[{"restart":"client/checkout"}]}]"#;
    let recording = run(parts, 3);
    assert_eq!(refusals(&recording), []);
    let network = recording.world().network();
    let (checkout, b1, broker) =
        (client(&recording, "checkout"), client(&recording, "b1"), NodeId::Broker(BrokerId(2)));
    assert!(recording.world().machine(checkout).is_some(), "it has started under the name that was given");
    assert_eq!(network.link_setup(checkout, broker).latency, Dur::ms(100));
    assert_eq!(network.link_setup(broker, checkout).latency, Dur::ms(100));
    assert!(network.is_cut(b1, NodeId::Broker(BrokerId(1))));
    let acked = |kind: &Kind| matches!(kind, Kind::RecordAcked { .. });
    let first = at(&recording, acked).first().copied().expect("something is acknowledged");
    assert!(first > 1_400, "metadata, a producer id and the record cross 100 ms each way: {first}");
    // The next process of the name has the same links.
    let recording = run(parts, 8);
    let again = client(&recording, "checkout");
    assert_ne!(again, checkout);
    assert_eq!(recording.world().network().link_setup(broker, again).latency, Dur::ms(100));
}

#[test]
fn what_cannot_be_done_is_told_with_its_verb_and_a_reason() {
    let recording = run(
        r#""topics":{"orders":{"replicas":{"0":[1]}}},"script":[
            {"at":"0s","do":[{"kill-client":"checkout"},{"pause":"client/b1"},
                {"pause-client":{"member":"b1","for":"1s"}}]},
            {"at":"3s","do":[{"kill":{"leader-of":"orders/0"}},{"start":2}]},
            {"at":"20s","do":[{"kill":{"leader-of":"orders/0"}},{"kill":1}]}]"#,
        21,
    );
    let told = refusals(&recording);
    let told: Vec<(&str, &str)> = told.iter().map(|(verb, why)| (*verb, why.as_str())).collect();
    assert_eq!(
        told,
        [
            ("kill-client", "no client checkout has started"),
            ("pause", "client b1 has not started yet"),
            ("pause-client", "client b1 has not started yet"),
            ("start", "broker/2: no running process is needed"),
            ("kill", "nobody is leader-of orders/0 now"),
            ("kill", "broker/1: a running process is needed"),
        ]
    );
    let numbers =
        |is: fn(&Kind) -> Option<u32>| entries(&recording).iter().filter_map(|e| is(&e.kind)).collect::<Vec<_>>();
    let refused = numbers(|kind| if let Kind::ActionRefused { action, .. } = kind { Some(action.0) } else { None });
    let acted = numbers(|kind| if let Kind::Acted { action } = kind { Some(action.0) } else { None });
    assert!(refused.iter().all(|number| !acted.contains(number)), "every action has a number of its own");
}

#[test]
fn a_frozen_member_sends_no_heartbeat_and_is_expelled() {
    let script = r#""script":[{"at":"10s","do":[{"pause":"client/b1"}]},{"at":"30s","do":[{"resume":"client/b1"}]}]"#;
    let recording = run(&format!("{GROUP},{script}"), 45);
    let expired = at(&recording, |kind| matches!(kind, Kind::MemberRemoved { expired: true, .. }));
    let [expired] = expired[..] else { panic!("one member is expelled: {expired:?}") };
    assert!((17_000..=20_500).contains(&expired), "session.timeout.ms after its last heartbeat: {expired}");
    let joined = at(&recording, |kind| matches!(kind, Kind::MemberJoined { .. }));
    assert!(joined.iter().any(|at| *at > 30_000), "it comes back: {joined:?}");
}

#[test]
fn a_dead_member_that_is_started_is_in_its_group_again() {
    for verb in [r#"{"start-client":{"client":"b1"}}"#, r#"{"start":"client/b1"}"#] {
        let script = format!(r#""script":[{{"at":"8s","do":[{{"kill":"client/b1"}}]}},{{"at":"25s","do":[{verb}]}}]"#);
        let recording = run(&format!("{GROUP},{script}"), 35);
        assert_eq!(refusals(&recording), []);
        let b1 = recording.world().client_id("b1").and_then(|id| recording.world().client(id)).expect("it runs");
        assert!(b1.as_consumer().is_some(), "{verb}: a member, not a producer");
        let members = entries(&recording).iter().rev().find_map(|entry| match entry.kind {
            Kind::GroupStateChanged { members, .. } => Some(members),
            _ => None,
        });
        assert_eq!(members, Some(2), "{verb}");
    }
    let error = decode(&format!(
        r#"{{"scenario":1,{GROUP},"script":[{{"at":"9s","do":[{{"start-client":{{"client":"b1","rate":"9/s"}}}}]}}]}}"#
    ))
    .expect_err("a member does not become a producer");
    assert!(error.to_string().contains("member of group billing"), "{error}");
}

#[test]
fn a_restart_stops_first_and_starts_when_the_process_has_ended() {
    let script = r#""script":[{"at":"5s","do":[{"restart":[2,"controller/1","client/b2","client/checkout"]}]},
        {"at":"15s","do":[{"kill":3}]},{"at":"16s","do":[{"restart":3}]}]"#;
    let recording = run(&format!("{GROUP},{script}"), 25);
    assert_eq!(refusals(&recording), []);
    let of = |node: NodeId| -> Vec<&str> {
        entries(&recording)
            .iter()
            .filter(|entry| entry.who == node)
            .filter_map(|entry| match entry.kind {
                Kind::ShutdownRequested => Some("asked"),
                Kind::ProcessExited { clean: true } => Some("ended"),
                Kind::ProcessKilled => Some("killed"),
                Kind::ProcessStarted => Some("started"),
                _ => None,
            })
            .collect()
    };
    assert_eq!(of(NodeId::Broker(BrokerId(2))), ["asked", "ended", "started"]);
    assert_eq!(of(NodeId::Broker(BrokerId(3))), ["killed", "started"]);
    for name in ["b2", "checkout"] {
        let up = recording.world().machine(client(&recording, name)).is_some_and(|machine| machine.is_up());
        assert!(up, "{name}");
    }
    let restarted = entries(&recording).iter().filter(|e| e.kind == Kind::ProcessStarted && e.cause.0 > 0).count();
    assert!(restarted >= 5, "each start has its cause: {restarted}");
}

/// The story of the gallery: one replica of the offsets topic, on the broker that was alone when it was made.
const STORY: &str = r#""cluster":{"brokers":{"1":{},"2":{"start":"3s"},"3":{"start":"3s"}},
    "config":{"auto.create.topics.enable":false,
    "group.initial.rebalance.delay.ms":0,"offsets.topic.replication.factor":1}},
    "topics":{"orders":{"partitions":6,"replication":3,"created":"8s"}},
    "producers":{"checkout":{"start":"9s"}},
    "groups":{"billing":{"client":"2.3","members":{"b1":{"start":"500ms"},"b2":{"start":"500ms"}},
    "config":{"metadata.max.age.ms":1000}}}"#;

#[test]
fn the_cure_of_the_story_is_a_script() {
    let delivered = |recording: &Played, after: u64| {
        at(recording, |kind| matches!(kind, Kind::RecordDelivered { .. })).iter().filter(|at| **at > after).count()
    };
    let sick = run(&format!(r#"{STORY},"script":[{{"at":"25s","do":[{{"kill":1}}]}}]"#), 60);
    assert_eq!(delivered(&sick, 45_000), 0, "no coordinator, no records");
    let cured = run(
        &format!(
            r#"{STORY},"script":[{{"at":"10s","do":[{{"leave":"b1"}},{{"leave":"b2"}}]}},
            {{"at":"12s","do":[{{"delete-topic":"__consumer_offsets"}}]}},
            {{"at":"13s","do":[{{"create-topic":{{"name":"__consumer_offsets","partitions":50,"replication":3,
                "config":{{"cleanup.policy":"compact"}}}}}}]}},
            {{"at":"15s","do":[{{"start-client":{{"client":"b1"}}}},{{"start-client":{{"client":"b2"}}}}]}},
            {{"at":"25s","do":[{{"kill":1}}]}}]"#
        ),
        60,
    );
    assert!(delivered(&cured, 45_000) > 20, "another broker is coordinator");
}

#[test]
fn internal_topics_are_topics_for_every_verb() {
    let recording = run(
        // Calls of one instant are under way together, as with Kafka's own client; these wait for one another.
        r#""script":[{"at":"0s","do":[{"add-partitions":{"topic":"__consumer_offsets","to":60}}]},
            {"at":"8s","do":[{"set-config":{"topic":"__consumer_offsets","config":{"min.insync.replicas":2}}}]},
            {"at":"9s","do":[{"add-partitions":{"topic":"__consumer_offsets","to":60}}]},
            {"at":"10s","do":[{"add-partitions":{"topic":"__consumer_offsets","to":10}}]},
            {"at":"11s","do":[{"create-topic":{"name":"__consumer_offsets","partitions":1,"replication":1}}]},
            {"at":"12s","do":[{"elect-leaders":{"partition":"__consumer_offsets/0"}}]},
            {"at":"13s","do":[{"delete-topic":"__consumer_offsets"}]}]"#,
        15,
    );
    let mut answers: Vec<(u32, ErrorCode)> = entries(&recording)
        .iter()
        .filter_map(|entry| match entry.kind {
            Kind::ActionAnswered { action, error, .. } => Some((action.0, error)),
            _ => None,
        })
        .collect();
    answers.sort_by_key(|(action, _)| *action);
    let errors: Vec<ErrorCode> = answers.into_iter().map(|(_, error)| error).collect();
    assert_eq!(
        errors,
        [
            ErrorCode::None,
            ErrorCode::UnknownTopicOrPartition,
            ErrorCode::None,
            ErrorCode::None,
            ErrorCode::InvalidPartitions,
            ErrorCode::TopicAlreadyExists,
            ErrorCode::ElectionNotNeeded,
            ErrorCode::None,
        ]
    );
}

#[test]
fn a_recording_that_needs_too_much_ends_where_it_is() {
    let recording = run(
        r#""producers":{"checkout":{"rate":"10000/s","value-size":1000000}},"script":[{"at":"9s","do":[{"kill":1}]}]"#,
        10,
    );
    let overrun = recording.world().overrun().expect("it needs too much");
    assert_eq!(overrun.what, Resource::RecordBytes);
    assert_eq!(recording.seen().playhead.next_at(recording.seen().recording), None);
    assert!(at(&recording, |kind| matches!(kind, Kind::ProcessKilled)).is_empty(), "the script ends with the run");
    assert_eq!(overrun.to_string(), "this run needs more than 268435456 bytes of records of one run");
    let limit = Refusal::Limit { what: overrun.what.name(), most: overrun.what.most() };
    assert_eq!(limit.to_string(), "at most 268435456 bytes of records of one run");
}
