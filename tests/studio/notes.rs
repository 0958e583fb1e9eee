//! What is remarked of scenarios that are right as they stand. Refusals have a file of their own.

use highwater_studio::scenario::{Note, decode, notes};

fn of(text: &str) -> Vec<Note> {
    notes(&decode(text).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_topic_that_says_nothing_names_the_defaults_that_it_takes() {
    let default = |setting, value| Note::DefaultTaken { topic: "orders".into(), setting, value };
    assert_eq!(
        of(r#"{"scenario": 1, "topics": {"orders": {}}}"#),
        [default("num.partitions", 1), default("default.replication.factor", 1)]
    );
    assert_eq!(
        of(
            r#"{"scenario": 1, "cluster": {"config": {"num.partitions": 4}}, "topics": {"orders": {"replication": 3}}}"#
        ),
        [default("num.partitions", 4)]
    );
    assert_eq!(of(r#"{"scenario": 1, "topics": {"orders": {"partitions": 1, "replication": 1}}}"#), []);
}

#[test]
fn a_setting_without_effect_is_named_once_wherever_it_is_given() {
    let found = of(r#"{"scenario": 1,
        "topics": {"orders": {"partitions": 1, "replication": 1, "config": {"retention.ms": 1000}},
                   "bills": {"partitions": 1, "replication": 1, "config": {"retention.ms": 2000}}},
        "producers": {"checkout": {"config": {"compression.type": "lz4", "linger.ms": 5}}},
        "script": [{"do": [{"set-config": {"topic": "orders", "config": {"retention.ms": 1, "flush.ms": 7}}}]}]}"#);
    let none = |path: &str, name| Note::NotModelled { path: path.into(), name };
    assert_eq!(
        found,
        [
            none("topics/orders/config/retention.ms", "retention.ms"),
            none("producers/checkout/config/compression.type", "compression.type"),
            none("script/0/do/0/set-config/config/flush.ms", "flush.ms"),
        ]
    );
}

#[test]
fn a_single_broker_with_its_defaults_is_told_that_no_group_will_read() {
    let alone = r#"{"scenario": 1, "cluster": {"brokers": 1}}"#;
    assert_eq!(of(alone), [Note::NoOffsetsTopic { wants: 3, brokers: 1 }]);
    let cured = r#"{"scenario": 1, "cluster": {"brokers": 1, "config": {"offsets.topic.replication.factor": 1}}}"#;
    assert_eq!(of(cured), []);
    assert_eq!(of(r#"{"scenario": 1, "cluster": {"brokers": 1}, "groups": {}}"#), []);
    assert_eq!(of(r#"{"scenario": 1}"#), []);
}

#[test]
fn a_topic_whose_brokers_come_later_is_remarked() {
    let found = of(r#"{"scenario": 1, "cluster": {"brokers": {"1": {}, "2": {"start": "5s"}, "3": {}}},
        "topics": {"orders": {"replicas": {"0": [1, 2]}, "created": "4s"}}}"#);
    assert!(matches!(&found[..], [Note::TopicRefused { topic, .. }] if topic == "orders"), "{found:?}");
}
