//! `highwater trace`: a line for each action, what waits, the totals, and readers who go away. Does not judge the
//! engine.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::{Said, highwater};

/// One of the golden scenarios.
fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

fn traced(name: &str, until: &str) -> Said {
    let said = highwater(&["trace", &golden(name).display().to_string(), "--until", until]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    said
}

/// The lines that hold a text.
fn lines<'a>(said: &'a Said, text: &str) -> Vec<&'a str> {
    said.out.lines().filter(|line| line.contains(text)).collect()
}

#[test]
fn every_action_has_its_line_and_a_refusal_names_it_with_its_reason() {
    let said = traced("a-step-that-cannot-be-done.json", "3s");
    assert_eq!(lines(&said, "acted kill broker/1").len(), 1, "{}", said.out);
    let refused = lines(&said, "action-refused");
    assert_eq!(refused.len(), 1, "{}", said.out);
    assert!(refused[0].contains("kill") && refused[0].contains("needed: a running process"), "{}", refused[0]);
}

#[test]
fn an_acknowledged_record_that_is_gone_is_named_by_its_offset() {
    let said = traced("a-leader-dies-and-returns.json", "17s");
    assert_eq!(lines(&said, "lost t-0 offsets=2").len(), 1, "{}", said.out);
    let totals = lines(&said, "client/p  sent=");
    assert_eq!(totals.len(), 1, "{}", said.out);
    assert!(totals[0].contains("sent=4 acknowledged=3 failed=1 pending=0 lost=1 duplicated=0"), "{}", totals[0]);
}

#[test]
fn all_records_that_are_lost_are_named_in_runs_of_neighbours() {
    let scenario = r#"{"scenario":1,"id":"lost","topics":{"t":{"partitions":1,"replication":3}},
        "producers":{"a":{"topic":"t","rate":"20/s","config":{"acks":"1"}},
            "b":{"topic":"t","rate":"2/s","config":{"acks":"1"}}},
        "script":[{"at":"10s","do":[{"cut":{"between":[1],"and":[2,3,"controller/1","controller/2","controller/3"]}}]},
            {"at":"30s","do":[{"heal":"all"}]}]}"#;
    let path = crate::run::file("lost.json", scenario);
    let said = highwater(&["trace", &path.display().to_string(), "--until", "40s"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let counted: usize = lines(&said, "  sent=")
        .iter()
        .filter_map(|line| line.split_once(" lost=")?.1.split(' ').next()?.parse::<usize>().ok())
        .sum();
    assert!(counted > 150, "{}", said.out);
    let mut named: Vec<i64> = Vec::new();
    for line in lines(&said, "lost t-0 offsets=") {
        let offsets = line.split_once("offsets=").map_or("", |(_, offsets)| offsets);
        for span in offsets.split(',') {
            let (from, to) = span.split_once('-').unwrap_or((span, span));
            let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("{line}"));
            named.extend(number(from)..=number(to));
        }
    }
    assert_eq!(named.len(), counted, "{}", said.out);
}

#[test]
fn a_partition_without_a_leader_waits_from_its_beginning_and_says_who_may_not_lead() {
    let said = traced("the-last-replica-dies.json", "16s");
    let begins = lines(&said, "wait-begins no-leader t-0");
    assert_eq!(begins.len(), 1, "{}", said.out);
    assert!(begins[0].contains("until="), "{}", begins[0]);
    let not = lines(&said, "may-not-lead t-0 broker=2 isr=[] elr=[1]");
    assert_eq!(not.len(), 1, "when broker 2 is back: {}", said.out);
    assert!(said.out.contains("replica=2 running=true fenced=false in-isr=false in-elr=false"), "{}", said.out);
}

#[test]
fn records_that_fail_are_counted_and_their_wait_is_told_when_it_begins() {
    let said = traced("what-is-refused.json", "25s");
    let ends = lines(&said, "records-fail");
    assert!(ends.iter().any(|line| line.contains("count=")), "{}", said.out);
    let waits = lines(&said, "wait-begins unanswered t-0");
    assert!(waits.iter().any(|line| line.trim_start().starts_with("2.000000 s")), "{waits:?}");
    assert!(said.out.contains("failed exception="), "{}", said.out);
}

#[test]
fn a_client_that_knows_no_living_broker_waits_for_one() {
    let scenario = r#"{"scenario":1,"engine":1,"id":"dark","lang":"en","title":"Dark","cluster":{"brokers":1,
        "config":{"offsets.topic.replication.factor":1}},"topics":{"t":{"partitions":1,"replication":1}},
        "script":[{"at":"5s","do":[{"kill":1}]},{"at":"15s","do":[{"start":1}]}]}"#;
    let path = crate::run::file("dark.json", scenario);
    let said = highwater(&["trace", &path.display().to_string(), "--until", "30s"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let begins = lines(&said, "wait-begins no-living-broker");
    assert_eq!(begins.len(), 3, "the producer and both members: {}", said.out);
    assert_eq!(lines(&said, "wait-ends no-living-broker").len(), 3, "{}", said.out);
}

#[test]
fn a_single_broker_says_at_once_why_no_group_can_work() {
    let scenario = r#"{"scenario":1,"engine":1,"id":"one","lang":"en","title":"One","cluster":{"brokers":1},
        "topics":{"t":{"partitions":1,"replication":1}}}"#;
    let path = crate::run::file("one.json", scenario);
    let said = highwater(&["trace", &path.display().to_string(), "--until", "20s"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let refused = lines(&said, "controller-refused CreateTopicsRequest error=INVALID_REPLICATION_FACTOR");
    assert_eq!(refused.len(), 1, "{}", said.out);
    let begins = lines(&said, "wait-begins no-coordinator");
    assert!(!begins.is_empty() && begins.iter().all(|line| line.contains("until=open")), "{}", said.out);
}

#[test]
fn no_debug_text_is_left() {
    for name in ["what-is-refused.json", "a-group-and-its-coordinator.json"] {
        let path = golden(name).display().to_string();
        let said = highwater(&["trace", &path, "--all", "--until", "24s"]);
        for debug in ["Some(", "Id(", " { ", "Epoch("] {
            assert_eq!(lines(&said, debug), Vec::<&str>::new(), "{name}");
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_said() {
    let said = highwater(&["trace", "nowhere.json"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("nowhere.json: there is no such file"), "{}", said.err);
}

#[test]
fn a_reader_who_goes_away_is_no_panic() {
    let path = golden("what-is-refused.json").display().to_string();
    let mut child = Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(["trace", &path, "--all"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut first = String::new();
    let mut reader = BufReader::with_capacity(64, child.stdout.take().expect("it is piped"));
    reader.read_line(&mut first).expect("there is a first line");
    drop(reader);
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_broker_that_lost_its_disk_may_not_lead_because_its_directory_is_lost() {
    let scenario = r#"{"scenario":1,"engine":1,"id":"wiped","lang":"en","title":"Wiped","cluster":{"brokers":3},
        "topics":{"t":{"replicas":{"0":[1,2,3]}}},"producers":{},"groups":{},
        "script":[{"at":"2s","do":[{"kill":2},{"kill":3}]},{"at":"20s","do":[{"kill":1},{"lose-disk":1}]},
        {"at":"22s","do":[{"start":1}]}]}"#;
    let path = crate::run::file("wiped.json", scenario);
    let said = highwater(&["trace", &path.display().to_string(), "--until", "45s"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let not = lines(&said, "may-not-lead t-0 broker=1");
    assert!(not.iter().any(|line| line.ends_with("directory=lost")), "{}", said.out);
}

#[test]
fn what_an_author_should_know_stands_above_the_first_line() {
    let scenario = r#"{"scenario":1,"id":"notes","cluster":{"brokers":1},"topics":{"t":{}},
        "producers":{"p":{"topic":"t","config":{"compression.type":"zstd"}}},
        "script":[{"at":"2s","do":[{"set-config":{"topic":"t","config":{"retention.ms":"1000"}}}]}]}"#;
    let path = crate::run::file("notes.json", scenario);
    let said = highwater(&["trace", &path.display().to_string(), "--until", "3s"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let notes: Vec<&str> = said.out.lines().take_while(|line| line.starts_with("note  ")).collect();
    assert_eq!(
        notes,
        [
            "note  the offsets topic wants 3 replicas (offsets.topic.replication.factor), and there is 1 broker: no \
             group finds its coordinator, and consumers read nothing",
            "note  topics/t: num.partitions decides: 1",
            "note  topics/t: default.replication.factor decides: 1",
            "note  producers/p/config/compression.type: compression.type is a setting of Kafka that has no effect in \
             this simulation",
            "note  script/0/do/0/set-config/config/retention.ms: retention.ms is a setting of Kafka that has no effect \
             in this simulation",
        ]
    );
}

#[test]
fn a_run_comes_to_the_last_entry_of_its_script_even_if_that_does_nothing() {
    for entry in [r#"{"at":"200s"}"#, r#"{"at":"200s","do":[]}"#, r#"{"at":"200s","note":"here"}"#] {
        let path = crate::run::file("far.json", &format!(r#"{{"scenario":1,"id":"far","script":[{entry}]}}"#));
        let said = highwater(&["trace", &path.display().to_string()]);
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.out.contains("digest after 230000 ms"), "{entry}: {}", said.out);
    }
}
