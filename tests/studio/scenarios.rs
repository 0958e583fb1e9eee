//! Scenarios: the gallery is canonical, every verb makes the round trip, lowering keeps the order. Runs none of them.

use highwater_engine::base::{BrokerId, Dur, NodeId};
use highwater_engine::world::Action;
use highwater_studio::scenario::{self, Moment, Need, Node, Verb, decode, encode, encode_pretty, lower};

use crate::text;

#[test]
fn the_gallery_is_written_in_the_canonical_form() {
    let names = text::names("scenarios", ".json");
    assert!(names.len() >= 3, "{names:?}");
    for name in names {
        let written = text::read(&format!("scenarios/{name}"));
        let scenario = decode(&written).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(encode_pretty(&scenario) + "\n", written, "{name}");
        assert_eq!(scenario.id.as_deref(), name.strip_suffix(".json"), "the id is the file's name");
        assert_eq!(decode(&encode(&scenario)), Ok(scenario), "{name}");
    }
}

/// Every key and verb once, in the canonical form.
const EVERYTHING: &str = r#"{"scenario":1,"engine":1,"id":"all","lang":"en","title":"All","about":{"en":"a","zh":"b"},"rules":"3.9","seed":9,"cluster":{"controllers":1,"brokers":{"1":{"rack":"a"},"2":{"start":"3s"},"5":{}},"config":{"offsets.topic.replication.factor":1},"link":{"latency":"2ms","jitter":"0s","loss":"1%"},"links":[{"between":1,"and":[2,"controller/1"],"latency":"50ms"}]},"topics":{"orders":{"partitions":3,"replication":2,"config":{"min.insync.replicas":2}},"fixed":{"replicas":{"0":[1,2],"1":[2,5]},"created":"2s"},"plain":{}},"producers":{"checkout":{"client":"2.3","partition":1,"rate":"20/s","keys":["a","b"],"value-size":10,"start":"4s","stop":"1m","config":{"acks":"all"}},"other":{"topic":"fixed","keys":"hot"}},"groups":{"billing":{"topics":["orders","fixed"],"members":{"b1":{"start":"5s","client":"2.3","poll":"long","config":{"auto.offset.reset":"earliest"}},"b2":{}}},"audit":{"members":["a1"],"client":"3.9","poll":"long"}},"script":[{"at":"10s","do":[{"kill":1},{"stop":[2,5]},{"start":"controller/1"},{"restart":["controller/1","client/b1"]},{"pause":{"leader-of":"orders/0"}},{"resume":{"coordinator-of":"billing"}},{"lose-disk":"active-controller"}],"expect":{"stopped":{"checkout":true,"billing":false},"broker-state":{"1":"down","2":"fenced","5":"running"}},"checkpoint":"c","say":{"en":"a","zh":"b"},"ask":{"id":"q","text":"?","choices":[{"text":"yes","why":"so","expect":{"stopped":{"other":true}}},{"text":"no","expect":{"broker-state":{"1":"running"}}}]},"note":"n"},{"do":[{"cut":{"between":1,"and":[2,5]}},{"cut":{"from":1,"to":"client/checkout"}},{"heal":"all"},{"heal":{"between":1,"and":2}},{"link":{"between":1,"and":2,"latency":"1s","jitter":"1ms","loss":"5%"}}]},{"at":"+2s","do":[{"create-topic":{"name":"t","partitions":6,"replication":3,"config":{"min.insync.replicas":2}}},{"add-partitions":{"topic":"t","to":12}},{"delete-records":{"partition":"t/7","before":20}},{"delete-topic":"t"},{"set-config":{"topic":"orders","config":{"unclean.leader.election.enable":true}}},{"set-config":{"broker":1,"config":{"replica.lag.time.max.ms":10000}}},{"set-config":{"cluster":true,"config":{"min.insync.replicas":2}}},{"elect-leaders":{"partition":"orders/0"}},{"elect-leaders":{"type":"unclean","partition":"__consumer_offsets/9"}}]},{"at":"14802317us+3","do":[{"produce":{"client":"checkout","topic":"orders","partition":0,"key":"a","value":"v","count":5,"every":"20ms"}},{"start-client":{"client":"p2","version":"3.9","topic":"orders","rate":"0/s","config":{"linger.ms":0}}},{"set-client":{"client":"checkout","rate":"50/s","config":{"acks":1}}},{"stop-client":"p2"},{"kill-client":"other"},{"pause-client":{"member":"b1","for":"15s"}},{"join":{"member":"b3","group":"billing","topics":["orders"],"client":"2.3","poll":"long","config":{"auto.offset.reset":"latest"}}},{"leave":"b3"},{"seek":{"member":"b1","to":{"orders/0":5}}},{"commit":"b1"}]}]}"#;

#[test]
fn every_key_and_verb_makes_the_round_trip() {
    let scenario = decode(EVERYTHING).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(encode(&scenario), EVERYTHING);
    for verb in [
        "kill",
        "stop",
        "start",
        "restart",
        "pause",
        "resume",
        "lose-disk",
        "cut",
        "heal",
        "link",
        "create-topic",
        "add-partitions",
        "delete-topic",
        "delete-records",
    ]
    .into_iter()
    .chain([
        "set-config",
        "elect-leaders",
        "produce",
        "start-client",
        "set-client",
        "stop-client",
        "kill-client",
        "pause-client",
        "join",
        "leave",
        "seek",
        "commit",
    ]) {
        assert!(EVERYTHING.contains(&format!("{{\"{verb}\":")), "{verb} is not in the text");
    }
    // Canonical JSON is also JSON.
    assert!(serde_json::from_str::<serde_json::Value>(EVERYTHING).is_ok());
}

#[test]
fn what_is_left_out_is_the_default_and_defaults_are_left_out() {
    let smallest = decode("{\"scenario\":1}").expect("the smallest file");
    assert_eq!(encode(&smallest), "{\"scenario\":1}");
    assert_eq!(smallest, scenario::Scenario::default());
    let spelled = r#"{ "scenario": 1, "rules": "4.1", "seed": 1, "cluster": { "controllers": 3, "brokers": 3, "link": { "latency": "0.5ms" } } }"#;
    assert!(decode(spelled).is_err(), "half a millisecond is 500us");
    let spelled = r#"{ "scenario": 1, "x-note": [1], "rules": "4.1", "cluster": { "brokers": { "1": {}, "2": { "start": "0ms" }, "3": {} }, "link": { "latency": "500us" } },
        "topics": { "orders": { "partitions": 6, "replication": 3 } }, "producers": { "checkout": { "topic": "orders", "rate": "5/s" } },
        "groups": { "billing": { "members": { "b1": {}, "b2": {} }, "poll": "duration" } }, "script": [] }"#;
    assert_eq!(decode(spelled).map(|s| encode(&s)).as_deref(), Ok("{\"scenario\":1}"));
    // Two brokers carry at most two replicas.
    let two = decode(r#"{"scenario":1,"cluster":{"brokers":2}}"#).expect("two brokers");
    assert_eq!(encode(&two), r#"{"scenario":1,"cluster":{"brokers":2}}"#);
}

#[test]
fn lowering_keeps_time_and_the_order_of_the_file() {
    let scenario = decode(EVERYTHING).expect("a scenario");
    let lowered = lower(&scenario);
    assert!(lowered.plan.windows(2).all(|pair| pair[0].at.at <= pair[1].at.at));
    assert!(lowered.setup.brokers.iter().map(|b| (b.id.0, b.started)).eq([(1, true), (2, false), (5, true)]));
    let start = Need::Ready(Action::Start(NodeId::Broker(BrokerId(2))));
    assert!(lowered.plan.iter().any(|due| due.at == Moment::after(Dur::secs(3)) && due.need == start));
    assert_eq!(lowered.checkpoints, [("c".to_string(), Moment::after(Dur::secs(10)))]);
    // Several nodes of one verb are several actions.
    let stops = lowered.plan.iter().filter(|due| matches!(due.need, Need::Role(Verb::Stop(_)))).count();
    assert_eq!(stops, 2);
    assert!(lowered.end > Dur(14_802_317));
    // A role waits for its moment, a name does not.
    let find = |node: &Node| scenario::lower::plain_node(node);
    let resolved = lowered.plan.iter().filter(|due| due.need.action(&find).is_none()).count();
    assert_eq!(resolved, 5, "leader-of, coordinator-of, active-controller, a client in a cut and a restarted one");
}

#[test]
fn a_hand_action_is_an_entry_of_the_script() {
    let scenario = decode(r#"{"scenario":1,"script":[{"at":"2s","do":[{"kill":1}]},{"at":"+3s","do":[{"start":1}]}]}"#)
        .expect("a scenario");
    let by_hand =
        scenario.with_action(Moment { at: Dur(4_000_001), done: Some(2) }, Verb::Pause(vec![Node::Broker(2)]));
    assert_eq!(
        encode(&by_hand),
        r#"{"scenario":1,"script":[{"at":"2s","do":[{"kill":1}]},{"at":"4000001us+2","do":[{"pause":2}]},{"at":"5s","do":[{"start":1}]}]}"#
    );
    let with = scenario.with_action(Moment::after(Dur::secs(2)), Verb::Heal(None));
    assert_eq!(
        encode(&with),
        r#"{"scenario":1,"script":[{"at":"2s","do":[{"kill":1}]},{"at":"2s","do":[{"heal":"all"}]},{"at":"5s","do":[{"start":1}]}]}"#
    );
}
