//! What the page advises: it is tried before it is said, so that whoever follows it is helped. It judges no sentence.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::scenario::decode;
use highwater_studio::view::model::*;

use crate::text;

fn open(scenario: &str, seconds: u64) -> Studio {
    open_at(scenario, seconds * 1_000_000)
}

/// Stands at a moment of a scenario, which lasts long enough for that.
fn open_at(scenario: &str, at_us: u64) -> Studio {
    let (script, _) = scenario.rsplit_once("]}").unwrap_or_else(|| panic!("it ends with its script"));
    let lasting = format!("{script},{{\"at\":\"150s\",\"checkpoint\":\"late\"}}]}}");
    let scenario = decode(&lasting).unwrap_or_else(|error| panic!("{error}"));
    let mut studio = Studio::open(&Link::new(scenario).fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    seek(&mut studio, at_us);
    studio
}

fn seek(studio: &mut Studio, at_us: u64) {
    assert_eq!(studio.handle(Command::SeekTo { at_us }), Outcome::Done);
    assert_eq!(studio.seen().now_us(), at_us, "the run goes so far");
}

/// The brokers whose start is advised, a card each.
fn starts(studio: &Studio) -> Vec<u32> {
    let start = |card: &VerdictCard| match card.cure {
        Some(Cure::Start { node: NodeRef::Broker(broker) }) => Some(broker),
        Some(_) | None => None,
    };
    studio.promises().verdicts.iter().filter_map(start).collect()
}

fn has_leaders(studio: &Studio) -> bool {
    studio.scene().topics.iter().flat_map(|topic| &topic.partitions).all(|partition| partition.leader.is_some())
}

#[test]
fn of_three_brokers_that_died_in_turn_only_the_last_is_advised() {
    let scenario = text::read("scenarios/the-cure.json");
    let (head, _) = scenario.split_once("\"script\"").unwrap_or_else(|| panic!("it has a script"));
    let scenario = format!(
        "{head}\"script\":[{{\"at\":\"12s\",\"do\":[{{\"kill\":1}}]}},{{\"at\":\"30s\",\"do\":[{{\"kill\":2}}]}},
        {{\"at\":\"48s\",\"do\":[{{\"kill\":3}}]}},{{\"at\":\"70s\",\"checkpoint\":\"dark\"}}]}}"
    );
    let mut studio = open(&scenario, 70);
    assert!(!has_leaders(&studio));
    let advised = starts(&studio);
    assert!(!advised.is_empty(), "{:#?}", studio.promises().verdicts);
    assert!(advised.iter().all(|broker| *broker == 3), "{advised:?}: {:#?}", studio.promises().verdicts);
    let last = |card: &VerdictCard| matches!(card.cause, Some(Cause::NoLeader { last: Some(3), .. }));
    assert!(studio.promises().verdicts.iter().any(last), "{:#?}", studio.promises().verdicts);
    // Whoever follows it is helped.
    assert_eq!(studio.handle(Command::Try(Cure::Start { node: NodeRef::Broker(3) })), Outcome::Done);
    for _ in 0..60 {
        studio.handle(Command::SkipWait);
    }
    assert!(has_leaders(&studio));
}

#[test]
fn nobody_is_advised_where_no_start_helps() {
    // Without a majority of the controllers nobody is elected, whoever comes back.
    const NO_QUORUM: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2]},
        "config":{"min.insync.replicas":1}}},
        "script":[{"at":"5s","do":[{"kill":2}]},{"at":"25s","do":[{"kill":["controller/1","controller/2"]}]},
        {"at":"26s","do":[{"kill":1}]},{"at":"50s","checkpoint":"dark"}]}"#;
    let studio = open(NO_QUORUM, 50);
    assert_eq!(starts(&studio), Vec::<u32>::new(), "{:#?}", studio.promises().verdicts);
    assert!(studio.promises().verdicts.iter().any(|card| card.verdict == Verdict::NoActiveController));
}

#[test]
fn below_min_insync_replicas_the_start_that_fills_the_isr_is_advised() {
    const BELOW: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2]},
        "config":{"min.insync.replicas":2}}},"producers":{"checkout":{"rate":"5/s"}},
        "script":[{"at":"5s","do":[{"kill":[2,3]}]},{"at":"60s","checkpoint":"end"}]}"#;
    let mut studio = open(BELOW, 60);
    let advised = starts(&studio);
    assert!(advised.contains(&2), "{:#?}", studio.promises().verdicts);
    assert!(!advised.contains(&3), "broker 3 has no replica: {:#?}", studio.promises().verdicts);
    assert_eq!(studio.handle(Command::Try(Cure::Start { node: NodeRef::Broker(2) })), Outcome::Done);
    for _ in 0..40 {
        studio.handle(Command::SkipWait);
    }
    assert_eq!(studio.scene().topics[0].partitions[0].isr.len(), 2);
}

#[test]
fn every_verdict_that_hurts_has_its_cause() {
    let runs = [
        // One broker with its defaults: the offsets topic wants three replicas.
        r#"{"scenario":1,"cluster":{"brokers":1},"topics":{"t":{"partitions":1,"replication":1}},
            "script":[{"at":"40s","checkpoint":"end"}]}"#,
        // A leader that its producer does not hear, followers that do not come, repetitions without idempotence.
        r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]},"config":{"min.insync.replicas":2}}},
            "producers":{"checkout":{"rate":"10/s","config":{"acks":"all","enable.idempotence":false}}},
            "script":[{"at":"5s","do":[{"cut":{"between":1,"and":["client/checkout"]}}]},
            {"at":"20s","do":[{"heal":"all"}]},{"at":"21s","do":[{"cut":{"between":1,"and":[2,3]}}]},
            {"at":"32s","do":[{"kill":1}]},{"at":"40s","checkpoint":"end"}]}"#,
    ];
    let mut judged = 0;
    for run in runs {
        for second in (2..40).step_by(2) {
            for card in &open(run, second).promises().verdicts {
                judged += usize::from(card.verdict != Verdict::EveryPromiseKept);
                assert!(card.cause.is_some() || card.verdict == Verdict::EveryPromiseKept, "{second} s: {card:?}");
            }
        }
    }
    assert!(judged > 15, "{judged}");
    let alone = open(runs[0], 4).promises().verdicts.clone();
    let wanted = |card: &VerdictCard| {
        card.cause == Some(Cause::NoOffsetsTopic { group: "billing".into(), wanted: 3, brokers: 1 })
            && card.cure == Some(Cure::OffsetsReplicationFactor { to: 1 })
    };
    assert!(alone.iter().any(wanted), "{alone:#?}");
}

fn cures(studio: &Studio) -> Vec<Cure> {
    studio.promises().verdicts.iter().filter_map(|card| card.cure.clone()).collect()
}

/// The cure is advised, and whoever follows it is rid of the verdict within 20 s.
fn advises(scenario: &str, seconds: u64, cure: &Cure, verdict: fn(&Verdict) -> bool) {
    let mut studio = open(scenario, seconds);
    let is_there = |studio: &Studio| studio.promises().verdicts.iter().any(|card| verdict(&card.verdict));
    assert!(is_there(&studio), "{:#?}", studio.promises().verdicts);
    assert!(cures(&studio).contains(cure), "{:#?}", studio.promises().verdicts);
    assert_eq!(studio.handle(Command::Try(cure.clone())), Outcome::Done);
    seek(&mut studio, (seconds + 20) * 1_000_000);
    assert!(!is_there(&studio), "{:#?}", studio.promises().verdicts);
}

fn does_not_write(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::WritesRefused { .. } | Verdict::WritesStalled { .. })
}

const TWO_REPLICAS: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2]},
    "config":{"min.insync.replicas":2}}},"producers":{"checkout":{"rate":"5/s"}},"script":["#;

#[test]
fn a_lost_quorum_is_advised_to_start_a_controller_that_is_down() {
    let scenario =
        format!("{TWO_REPLICAS}{{\"at\":\"5s\",\"do\":[{{\"kill\":[\"controller/1\",\"controller/2\"]}}]}}]}}");
    let cure = Cure::Start { node: NodeRef::Controller(1) };
    advises(&scenario, 20, &cure, |verdict| *verdict == Verdict::NoActiveController);
}

#[test]
fn a_lost_quorum_is_advised_to_resume_a_controller_that_stands_still() {
    let scenario =
        format!("{TWO_REPLICAS}{{\"at\":\"5s\",\"do\":[{{\"pause\":[\"controller/1\",\"controller/2\"]}}]}}]}}");
    let cures = cures(&open(&scenario, 20));
    assert!(cures.iter().any(|cure| matches!(cure, Cure::Resume { node: NodeRef::Controller(1 | 2) })), "{cures:?}");
}

#[test]
fn below_min_insync_replicas_a_broker_that_stands_still_is_resumed() {
    let scenario = format!("{TWO_REPLICAS}{{\"at\":\"5s\",\"do\":[{{\"pause\":2}}]}}]}}");
    let cure = Cure::Resume { node: NodeRef::Broker(2) };
    advises(&scenario, 60, &cure, does_not_write);
}

#[test]
fn below_min_insync_replicas_a_broker_that_is_cut_off_from_the_controllers_is_connected_again() {
    let script = r#"{"at":"5s","do":[{"cut":{"between":2,"and":["controller/1","controller/2","controller/3"]}}]}"#;
    let cure = Cure::Heal { node: NodeRef::Broker(2) };
    advises(&format!("{TWO_REPLICAS}{script}]}}"), 60, &cure, does_not_write);
}

#[test]
fn a_leader_that_its_follower_does_not_reach_is_advised_to_heal_the_link() {
    let script = r#"{"at":"5s","do":[{"cut":{"between":2,"and":[1]}}]}"#;
    let cure = Cure::Heal { node: NodeRef::Broker(1) };
    advises(&format!("{TWO_REPLICAS}{script}]}}"), 20, &cure, does_not_write);
}

#[test]
fn a_producer_that_is_cut_off_from_its_leader_is_advised_to_heal_the_link() {
    let scenario = format!(
        "{TWO_REPLICAS}{{\"at\":\"5s\",\"do\":[{{\"cut\":{{\"between\":1,\"and\":[\"client/checkout\"]}}}}]}}]}}"
    );
    let cures = cures(&open(&scenario, 20));
    assert!(cures.iter().any(|cure| matches!(cure, Cure::Heal { .. })), "{cures:?}");
}

/// The verdicts of a moment with their advice.
fn cards(scenario: &str, seconds: u64) -> Vec<VerdictCard> {
    open(scenario, seconds).promises().verdicts.clone()
}

fn scripted(head: &str, script: &str) -> String {
    format!("{head}\"script\":[{script}]}}")
}

const SIX_PARTITIONS: &str = r#"{"scenario":1,"producers":{"checkout":{"rate":"5/s"}},"#;

#[test]
fn what_a_frozen_member_keeps_from_its_group_is_advised_to_resume_it() {
    let scenario = scripted(SIX_PARTITIONS, r#"{"at":"20s","do":[{"pause":"client/b1"}]}"#);
    let member = || "b1".to_string();
    let unread = |card: &&VerdictCard| matches!(card.verdict, Verdict::PartitionsUnread { .. });
    let found = cards(&scenario, 40);
    let found: Vec<&VerdictCard> = found.iter().filter(unread).collect();
    let expected = VerdictCard {
        verdict: Verdict::PartitionsUnread { group: "billing".into(), member: member() },
        cause: Some(Cause::MemberFrozen { member: member() }),
        has_why: true,
        cure: Some(Cure::Resume { node: NodeRef::Member(member()) }),
    };
    assert_eq!(found, [&expected]);
    // Whoever follows it is helped, and after the session time-out the other member reads all.
    let cure = Cure::Resume { node: NodeRef::Member(member()) };
    advises(&scenario, 40, &cure, |verdict| matches!(verdict, Verdict::PartitionsUnread { .. }));
    let later = cards(&scenario, 75);
    assert_eq!(later.iter().filter(unread).count(), 0, "{later:#?}");
}

#[test]
fn a_group_whose_members_are_all_frozen_is_advised_to_resume_one_as_long_as_it_lasts() {
    let scenario = scripted(SIX_PARTITIONS, r#"{"at":"20s","do":[{"pause":["client/b1","client/b2"]}]}"#);
    for seconds in [30, 60, 100, 140] {
        let resume = |card: &VerdictCard| {
            matches!(card.verdict, Verdict::PartitionsUnread { .. })
                && matches!(&card.cure, Some(Cure::Resume { node: NodeRef::Member(_) }))
        };
        let studio = open(&scenario, seconds);
        let found = &studio.promises().verdicts;
        assert!(found.iter().any(resume), "{seconds} s: {found:#?}");
        assert_eq!(studio.scene().groups[0].now, GroupNow::NotPolling);
    }
}

#[test]
fn a_rebalance_that_waits_for_a_frozen_member_is_advised_to_resume_it() {
    let scenario = scripted(
        SIX_PARTITIONS,
        r#"{"at":"20s","do":[{"pause":"client/b1"}]},{"at":"22s","do":[{"join":{"member":"b3","group":"billing","topics":["orders"]}}]}"#,
    );
    let found = cards(&scenario, 40);
    let resume = |card: &VerdictCard| {
        matches!(card.verdict, Verdict::PartitionsUnread { .. })
            && card.cure == Some(Cure::Resume { node: NodeRef::Member("b1".into()) })
    };
    assert!(found.iter().any(resume), "{found:#?}");
}

#[test]
fn a_member_that_asks_a_frozen_broker_for_its_coordinator_is_helped_by_resuming_that_one() {
    // Another broker coordinates soon; the member's question for it may lie with the frozen one for its time-out.
    let head = r#"{"scenario":1,"producers":{"checkout":{"rate":"5/s"}},
        "groups":{"readers":{"topics":["orders"],"members":["r1"]}},"#;
    let verdict = |verdict: &Verdict| matches!(verdict, Verdict::GroupWithoutCommits { .. });
    let mut met = 0;
    for (broker, second) in (1..=3).flat_map(|broker| [(broker, 3), (broker, 9), (broker, 20)]) {
        let scenario = scripted(head, &format!(r#"{{"at":"{second}s","do":[{{"pause":{broker}}}]}}"#));
        for seconds in (second + 2..second + 32).step_by(5) {
            for card in cards(&scenario, seconds).iter().filter(|card| verdict(&card.verdict)) {
                let resume = Cure::Resume { node: NodeRef::Broker(broker) };
                assert_eq!(card.cure.as_ref(), Some(&resume), "{broker} {second} {seconds}: {card:#?}");
                met += 1;
            }
        }
    }
    assert!(met > 0, "some group reads without its coordinator");
}

#[test]
fn a_request_that_lies_with_a_frozen_former_leader_is_helped_by_resuming_it() {
    let scenario = scripted(SIX_PARTITIONS, r#"{"at":"20s","do":[{"pause":2}]}"#);
    let found = cards(&scenario, 35);
    let stalled = found.iter().find(|card| matches!(card.verdict, Verdict::WritesStalled { .. }));
    let stalled = stalled.unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(stalled.cure, Some(Cure::Resume { node: NodeRef::Broker(2) }), "{found:#?}");
}

#[test]
fn what_passes_by_itself_at_once_needs_no_advice() {
    const STEP: u64 = 500_000;
    let scenario = scripted(SIX_PARTITIONS, r#"{"at":"20s","do":[{"pause":2}]}"#);
    let stalled = |studio: &Studio| {
        let verdicts = &studio.promises().verdicts;
        verdicts.iter().find(|card| matches!(card.verdict, Verdict::WritesStalled { .. })).cloned()
    };
    let mut studio = open(&scenario, 20);
    let (mut before, mut passed) = (None, 0);
    for at_us in (20_000_000..70_000_000).step_by(STEP as usize) {
        seek(&mut studio, at_us);
        let now = stalled(&studio);
        if before.is_some() && now.is_none() {
            let card = stalled(&open_at(&scenario, at_us - STEP));
            assert!(card.as_ref().is_some_and(|card| card.cure.is_none()), "{at_us}: {card:#?}");
            passed += 1;
        }
        before = now;
    }
    assert!(passed > 0, "the writes go on some time");
}

#[test]
fn a_leader_waits_for_a_follower_that_is_cut_off_until_it_has_left_the_isr() {
    let head = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]},"config":{"min.insync.replicas":2}}},
        "producers":{"checkout":{"rate":"5/s"}},"#;
    let scenario = scripted(head, r#"{"at":"5s","do":[{"cut":{"between":1,"and":[2]}}]}"#);
    let waits = |card: &VerdictCard| matches!(card.cause, Some(Cause::WaitsForFollowers { .. }));
    let early = cards(&scenario, 20);
    assert!(early.iter().any(waits), "{early:#?}");
    for seconds in [52, 60, 100] {
        let late = cards(&scenario, seconds);
        assert!(late.iter().all(|card| card.verdict == Verdict::EveryPromiseKept), "{seconds} s: {late:#?}");
    }
}
