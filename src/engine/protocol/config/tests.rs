//! The table holds together, and values are refused in Kafka's words. No behaviour of a setting is tested here.
use crate::base::Set;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::*;

fn refused(scope: Scope, name: &str, value: &str) -> (RefusedBy, String) {
    let e = check(scope, name, value).expect_err("refused");
    (e.by, e.to_string())
}

#[test]
fn every_name_stands_once_for_each_thing_that_it_configures() {
    let mut seen = Set::new();
    for setting in settings() {
        assert!(!setting.scopes.is_empty(), "{}", setting.name);
        for scope in setting.scopes {
            assert!(seen.insert((*scope, setting.name)), "{} of a {}", setting.name, scope.name());
        }
    }
}

#[test]
fn every_default_of_every_release_is_a_value_that_is_taken() {
    for setting in settings().filter(|setting| setting.modelled && !setting.default.is_empty()) {
        for release in [(0, 11), (1, 1), (2, 3), (2, 5), (3, 9), NEWEST] {
            assert_eq!(setting.check(setting.default_at(release)), Ok(()), "{} {release:?}", setting.name);
        }
        assert!(setting.before.windows(2).all(|pair| pair[0].0 < pair[1].0), "{}", setting.name);
    }
}

#[test]
fn a_number_that_has_an_effect_is_never_negative_and_never_beyond_time() {
    for setting in settings().filter(|setting| setting.modelled) {
        let Some((least, most)) = setting.limits() else { continue };
        assert!(0 <= least && least <= most, "{}", setting.name);
        if setting.unit() == Unit::Millis {
            assert!(most <= MOST_MILLIS, "{}", setting.name);
        }
        for number in [least, most] {
            assert_eq!(setting.check(&number.to_string()), Ok(()), "{}={number}", setting.name);
        }
        assert!(setting.check(&(least - 1).to_string()).is_err(), "{}", setting.name);
    }
}

#[test]
fn values_are_refused_in_kafkas_own_words() {
    for (scope, name, value, sentence) in [
        (Scope::Producer, "acks", "ackz", "String must be one of: all, -1, 0, 1"),
        (Scope::Producer, "linger.ms", "5ms", "Not a number of type LONG"),
        (Scope::Producer, "linger.ms", "-1", "Value must be at least 0"),
        (Scope::Producer, "enable.idempotence", "yes", "Expected value to be either true or false"),
        (Scope::Consumer, "session.timeout.ms", "9999999999", "Not a number of type INT"),
        (Scope::Consumer, "max.poll.interval.ms", "0", "Value must be at least 1"),
        (Scope::Consumer, "group.instance.id", " ", "String must be non-empty"),
        (Scope::Topic, "min.insync.replicas", "0", "Value must be at least 1"),
        (
            Scope::Topic,
            "compression.type",
            "zip",
            "String must be one of: uncompressed, zstd, lz4, snappy, gzip, producer",
        ),
        (Scope::Topic, "cleanup.policy", "shred", "String must be one of: compact, delete"),
        (Scope::Node, "compression.lz4.level", "18", "Value must be no more than 17"),
        (Scope::Producer, "compression.gzip.level", "0", "Value must be between 1 and 9 or equal to -1"),
        (Scope::Topic, "min.cleanable.dirty.ratio", "1.01", "Value must be no more than 1"),
        (Scope::Node, "log.cleaner.min.cleanable.ratio", "-0.1", "Value must be at least 0"),
    ] {
        let expected = format!("Invalid value {value} for configuration {name}: {sentence}");
        assert_eq!(refused(scope, name, value), (RefusedBy::Kafka, expected));
    }
}

#[test]
fn the_playgrounds_own_limits_are_told_from_kafkas() {
    let (by, sentence) = refused(Scope::Node, "num.partitions", "1000000000");
    assert_eq!(by, RefusedBy::Playground);
    assert_eq!(sentence, "num.partitions=1000000000: expected at most 1000 in this playground");
    assert_eq!(refused(Scope::Consumer, "group.protocol", "consumer").0, RefusedBy::Playground);
    assert_eq!(refused(Scope::Consumer, "group.protocol", "other").0, RefusedBy::Kafka);
    let unknown = refused(Scope::Topic, "num.partitions", "1");
    assert_eq!(unknown, (RefusedBy::NoSuchSetting, "Unknown topic config name: num.partitions".into()));
}

#[test]
fn what_kafka_knows_and_nobody_simulates_is_known() {
    for (scope, name) in [
        (Scope::Topic, "retention.ms"),
        (Scope::Topic, "compression.type"),
        (Scope::Node, "log.retention.hours"),
        (Scope::Producer, "compression.type"),
        (Scope::Producer, "transactional.id"),
        (Scope::Consumer, "client.rack"),
        (Scope::Consumer, "ssl.protocol"),
    ] {
        let setting = setting(scope, name).expect(name);
        assert!(!setting.modelled, "{name}");
    }
}

#[test]
fn defaults_follow_the_release() {
    let default = |name, release| setting(Scope::Producer, name).map(|setting| setting.default_at(release));
    assert_eq!(default("linger.ms", (3, 9)), Some("0"));
    assert_eq!(default("linger.ms", (4, 0)), Some("5"));
    assert_eq!(default("acks", (2, 8)), Some("1"));
    assert_eq!(default("acks", (3, 0)), Some("all"));
}

#[test]
fn what_kafka_marks_as_internal_is_known_all_the_same() {
    for (scope, name, value) in [
        (Scope::Node, "group.share.enable", "true"),
        (Scope::Node, "unstable.api.versions.enable", "true"),
        (Scope::Node, "internal.metadata.delete.delay.millis", "1"),
        (Scope::Topic, "internal.segment.bytes", "1"),
        (Scope::Consumer, "internal.leave.group.on.close", "false"),
    ] {
        assert!(check(scope, name, value).is_ok_and(|setting| !setting.modelled), "{name}");
    }
}

#[test]
fn a_reset_by_duration_is_kafkas_word_and_not_simulated() {
    let name = "auto.offset.reset";
    for span in ["P1D", "PT1H", "PT5M3S", "P2DT1H30M0.5S", "pt1s"] {
        let (by, sentence) = refused(Scope::Consumer, name, &format!("by_duration:{span}"));
        assert_eq!(by, RefusedBy::Playground, "{span}");
        assert!(sentence.contains("latest or earliest or none"), "{sentence}");
    }
    for value in [
        "earlist",
        "Latest",
        "by_duration",
        "by_duration:",
        "by_duration:1h",
        "by_duration:P",
        "by_duration:PT",
        "by_duration:PT-1H",
        "by_duration:P1H",
        "by_duration:PT1S1M",
    ] {
        let (by, sentence) = refused(Scope::Consumer, name, value);
        assert_eq!(by, RefusedBy::Kafka, "{value}");
        assert!(
            sentence.contains("The value must be either 'earliest', 'latest', 'none' or of the format"),
            "{sentence}"
        );
    }
}

#[test]
fn a_share_is_compared_without_a_float() {
    let ratio = "min.cleanable.dirty.ratio";
    for value in ["0", "1", "0.5", "1.0", "+.5", "-0", "00.1", "5e-1"] {
        assert!(check(Scope::Topic, ratio, value).is_ok(), "{value}");
    }
    for value in ["2", "1.001", "-1", "10.0", "half"] {
        assert_eq!(refused(Scope::Topic, ratio, value).0, RefusedBy::Kafka, "{value}");
    }
}

#[test]
fn what_kafka_gave_up_is_told_from_what_it_has_and_from_what_it_never_had() {
    for (scope, name) in [
        (Scope::Node, "inter.broker.protocol.version"),
        (Scope::Node, "zookeeper.connect"),
        (Scope::Topic, "message.format.version"),
        (Scope::Producer, "auto.include.jmx.reporter"),
    ] {
        assert!(is_former(scope, name) && setting(scope, name).is_none(), "{name}");
    }
    assert!(!is_former(Scope::Topic, "zookeeper.connect") && !is_former(Scope::Node, "zookeeper.conect"));
    for scope in Scope::ALL {
        assert!(settings().all(|s| !s.scopes.contains(&scope) || !is_former(scope, s.name)));
    }
}

#[test]
fn lists_of_replicas_and_of_voters_have_kafkas_form() {
    let (throttled, voters) = ("leader.replication.throttled.replicas", "controller.quorum.voters");
    for (scope, name, value) in [
        (Scope::Topic, throttled, "*"),
        (Scope::Topic, throttled, ""),
        (Scope::Topic, throttled, "0:1, 1:2"),
        (Scope::Node, voters, "1@localhost:9093,2@[::1]:9093"),
    ] {
        assert!(check(scope, name, value).is_ok(), "{name}={value}");
    }
    for (scope, name, value, sentence) in [
        (Scope::Topic, throttled, "0-1", "must be the literal '*' or a list of replicas"),
        (Scope::Topic, throttled, "*,0:1", "must be the literal '*' or a list of replicas"),
        (Scope::Topic, throttled, "0:", "must be the literal '*' or a list of replicas"),
        (Scope::Node, voters, "1@localhost", "`{id}@{host}:{port}`"),
        (Scope::Node, voters, "localhost:9093", "`{id}@{host}:{port}`"),
        (Scope::Node, voters, "one@localhost:9093", "`{id}@{host}:{port}`"),
    ] {
        let (by, found) = refused(scope, name, value);
        assert!(by == RefusedBy::Kafka && found.contains(sentence), "{name}={value}: {found}");
    }
}

/// A setting that can be changed in a running cluster acts when Kafka's does, not when it is changed. Each that joins
/// them has to be looked up in Kafka, and gets its tests.
#[test]
fn each_setting_that_acts_in_a_running_cluster_has_tests_of_when_it_acts() {
    let live = |scope: Scope| {
        settings().filter(move |s| s.modelled && s.scopes.contains(&scope) && s.is_live(scope)).map(|s| s.name)
    };
    let topic = [
        // Read by an append with acks=all and where a waiting one ends (`broker/replicas/tests/acks.rs`). Lowering it
        // moves no high watermark (`l_29_a_lowered_minimum_…`); any change of it ends ELRs (`kip_966_a_new_minimum_…`).
        "min.insync.replicas",
        // Read by elections that something else begins, and by the run of its release (`controller/election_tests.rs`).
        "unclean.leader.election.enable",
        // Read by an append (`broker/replicas/tests/acks.rs`).
        "max.message.bytes",
        "segment.bytes",
    ];
    assert_eq!(live(Scope::Topic).collect::<Vec<_>>(), topic);
    assert_eq!(live(Scope::Node).collect::<Vec<_>>(), &topic[..2]);
}
