//! The log of the page: which entries are lines, and of what. Sentences are the page's.

use highwater_engine::base::Dur;
use highwater_engine::trace::Kind;
use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::scenario::{Scenario, decode};
use highwater_studio::story::tell;
use highwater_studio::view::model::*;

use crate::played::Played;

/// A script with every verb, some of them in vain.
const EVERY_VERB: &str = r#"{"scenario":1,"cluster":{"config":{"group.initial.rebalance.delay.ms":0}},
    "topics":{"orders":{"partitions":2,"replication":3}},"producers":{"checkout":{"rate":"10/s"}},
    "groups":{"billing":{"topics":["orders"],"members":["b1","b2"]}},
    "script":[
    {"at":"4s","do":[{"create-topic":{"name":"extra","partitions":1,"replication":3}},
        {"link":{"between":["client/late"],"and":[1],"latency":"5ms"}},{"heal":"all"}]},
    {"at":"5s","do":[{"create-topic":{"name":"orders","partitions":1,"replication":3}},
        {"set-config":{"topic":"extra","config":{"min.insync.replicas":2}}},
        {"produce":{"client":"checkout","count":3,"every":"10ms"}}]},
    {"at":"6s","do":[{"add-partitions":{"topic":"extra","to":3}},{"elect-leaders":{"partition":"orders/0"}},
        {"delete-records":{"partition":"orders/0","before":2}},{"seek":{"member":"b1","to":{"orders/0":1}}},
        {"commit":"b1"}]},
    {"at":"7s","do":[{"hold":{"api":"Produce","kind":"request","name":"h"}},
        {"drop":{"api":"Fetch","kind":"request","from":2}},{"pause-client":{"member":"b2","for":"1s"}}]},
    {"at":"8s","do":[{"release":"h"},{"release":"h"},{"delay":{"api":"Produce","kind":"response","by":"5ms"}},
        {"duplicate":{"api":"Produce","kind":"request"}},{"cut":{"between":1,"and":2}},{"cut":{"between":1,"and":2}}]},
    {"at":"9s","do":[{"heal":{"between":1,"and":2}},{"set-client":{"client":"checkout","rate":"5/s"}},
        {"set-client":{"client":"checkout","config":{"linger.ms":5}}},{"delete-topic":"extra"}]},
    {"at":"10s","do":[{"start-client":{"client":"late","topic":"orders","rate":"2/s"}},
        {"join":{"member":"b3","group":"billing"}},{"restart":3}]},
    {"at":"12s","do":[{"stop-client":"late"},{"leave":"b2"},{"kill-client":"b3"},{"pause":2},{"pause":2}]},
    {"at":"13s","do":[{"resume":2},{"kill":1},{"kill":1},{"stop":"controller/1"}]},
    {"at":"14s","do":[{"lose-disk":1},{"start":1},{"kill":{"leader-of":"extra/0"}}]}]}"#;

fn scenario(text: &str) -> Scenario {
    decode(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The script with every verb.
pub fn every_verb() -> Scenario {
    scenario(EVERY_VERB)
}

fn open(text: &str, seconds: u64) -> Studio {
    let mut studio = Studio::open(&Link::new(scenario(text)).fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(studio.handle(Command::SeekTo { at_us: seconds * 1_000_000 }), Outcome::Done);
    studio
}

fn facts(studio: &Studio) -> Vec<Fact> {
    studio.log(&LogFilter::default(), 0..usize::MAX).lines.into_iter().map(|line| line.fact).collect()
}

#[test]
fn every_action_has_its_line_by_itself_or_by_what_it_did() {
    let mut played = Played::new(every_verb());
    played.run(Dur::secs(20));
    let (seen, reel) = (played.seen(), played.reel());
    let mut actions = 0;
    for (index, entry) in reel.entries(0..played.n_entries()) {
        match &entry.kind {
            Kind::Acted { action } => {
                actions += 1;
                let end = reel.op(reel.op_of(index)).map_or(index, |op| op.end);
                let effects = reel.entries(index + 1..end).filter(|(_, effect)| effect.cause == entry.seq);
                let told = effects.filter(|(effect, _)| tell(seen, *effect).is_some()).count();
                let own = tell(seen, index);
                assert!(own.is_some() || told > 0, "{:?}", reel.action(*action));
            }
            Kind::ActionRefused { verb, .. } => {
                actions += 1;
                let told = tell(seen, index).map(|told| told.fact);
                assert!(matches!(&told, Some(Fact::ActionRefused { action, .. }) if action == verb), "{told:?}");
            }
            _other => {}
        }
    }
    assert!(actions > 40, "{actions}");
}

#[test]
fn a_refusal_names_the_action_and_the_reason() {
    let facts = facts(&open(EVERY_VERB, 20));
    let refused: Vec<(&str, &Reason)> = facts
        .iter()
        .filter_map(|fact| match fact {
            Fact::ActionRefused { action, reason } => Some((action.as_ref(), reason)),
            _other => None,
        })
        .collect();
    let kafka = |error: &str, exception: &str, said: &str| Reason::Kafka {
        error: error.to_string().into(),
        exception: exception.to_string().into(),
        message: Some(said.to_string().into()),
    };
    for (action, reason) in [
        (
            "create-topic orders",
            kafka("TOPIC_ALREADY_EXISTS", "TopicExistsException", "Topic 'orders' already exists."),
        ),
        (
            "elect-leaders orders-0",
            kafka(
                "ELECTION_NOT_NEEDED",
                "ElectionNotNeededException",
                "Leader election not needed for topic partition.",
            ),
        ),
        ("release", Reason::NothingHeld { name: "h".into() }),
        ("pause", Reason::WrongState { node: NodeRef::Broker(2), needed: Needed::RunningAndNotPaused }),
        ("kill", Reason::WrongState { node: NodeRef::Broker(1), needed: Needed::Running }),
        ("kill", Reason::NoSuchRole { role: "leader-of extra/0".into() }),
    ] {
        assert!(refused.contains(&(action, &reason)), "{action} {reason:?}: {refused:#?}");
    }
    assert!(facts.contains(&Fact::WithoutEffect { action: "cut".into() }), "the second cut finds the first");
}

#[test]
fn the_log_of_a_thing_is_what_names_it() {
    let studio = open(EVERY_VERB, 20);
    let about = |about: Subject| {
        let filter = LogFilter { about: Some(about), ..LogFilter::default() };
        studio.log(&filter, 0..usize::MAX).lines.into_iter().map(|line| line.fact).collect::<Vec<_>>()
    };
    let one = about(Subject::Broker(1));
    assert!(one.contains(&Fact::Killed { node: NodeRef::Broker(1) }), "{one:#?}");
    assert!(one.iter().any(|fact| matches!(fact, Fact::Cut { .. })));
    assert!(!one.contains(&Fact::Paused { node: NodeRef::Broker(2) }));
    let b3 = about(Subject::Member("b3".into()));
    assert!(b3.iter().any(|fact| matches!(fact, Fact::MemberJoined { member, .. } if member == "b3")), "{b3:#?}");
    assert!(!b3.iter().any(|fact| matches!(fact, Fact::MemberJoined { member, .. } if member == "b1")));
    let controller = about(Subject::Controller(1));
    assert!(controller.contains(&Fact::StopRequested { node: NodeRef::Controller(1) }), "{controller:#?}");
}

/// One broker of three stands still for the group and the producer: its partitions wait, the others go on.
const ONE_OF_THREE: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1],"1":[2],"2":[3]}}},
    "producers":{"checkout":{"rate":"30/s","keys":"even"}},
    "groups":{"billing":{"topics":["orders"],"members":["b1"]}},
    "script":[{"at":"10s","do":[{"cut":{"between":3,"and":["client/b1"]}}]},
    {"at":"20s","do":[{"heal":"all"}]},{"at":"40s","checkpoint":"end"}]}"#;

#[test]
fn one_partition_that_nobody_reads_is_a_wait_with_its_end_while_the_others_go_on() {
    let partition = |partition| PartitionRef { topic: "orders".into(), partition };
    let reading = |partition| WaitFor::Reading { group: "billing".into(), partition };
    let waits = |facts: Vec<Fact>| -> Vec<(WaitFor, bool)> {
        facts
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::WaitBegan { what, .. } => Some((what, false)),
                Fact::WaitEnded { what, .. } => Some((what, true)),
                _other => None,
            })
            .filter(|(what, _)| matches!(what, WaitFor::Reading { .. }))
            .collect()
    };
    let stopped = waits(facts(&open(ONE_OF_THREE, 18)));
    assert_eq!(stopped, [(reading(partition(2)), false)]);
    let healed = waits(facts(&open(ONE_OF_THREE, 40)));
    assert_eq!(healed.len() % 2, 0, "{healed:?}");
    assert!(healed.contains(&(reading(partition(2)), true)), "{healed:?}");
    assert!(healed.iter().all(|(what, _)| *what == reading(partition(2))), "{healed:?}");
}

/// A consumer beside the leader is often given a record before its producer hears of it. The producer leaves the
/// partition after that, so that no later record would end the wait.
#[test]
fn a_record_that_was_read_before_its_producer_heard_of_it_waits_for_nobody() {
    const HEALTHY: &str = r#"{"scenario":1,"topics":{"orders":{"partitions":3,"replication":3}},
        "producers":{"checkout":{"topic":"orders","rate":"5/s"}},
        "groups":{"billing":{"topics":["orders"],"members":["b1","b2"]}}}"#;
    let facts = facts(&open(HEALTHY, 60));
    let reading = |fact: &&Fact| matches!(fact, Fact::WaitBegan { what: WaitFor::Reading { .. }, .. });
    let waits: Vec<&Fact> = facts.iter().filter(reading).collect();
    assert!(waits.is_empty(), "{waits:#?}");
}

#[test]
fn the_initial_rebalance_delay_and_a_dark_cluster_are_waits_with_their_ends() {
    const DARK: &str = r#"{"scenario":1,"cluster":{"brokers":1,"config":{"offsets.topic.replication.factor":1}},
        "topics":{"t":{"partitions":1,"replication":1}},
        "script":[{"at":"8s","do":[{"kill":1}]},{"at":"15s","do":[{"start":1}]},{"at":"40s","checkpoint":"end"}]}"#;
    let facts = facts(&open(DARK, 40));
    let pairs = |is: &dyn Fn(&WaitFor) -> bool| {
        let began = facts.iter().filter(|fact| matches!(fact, Fact::WaitBegan { what, .. } if is(what))).count();
        let ended = facts.iter().filter(|fact| matches!(fact, Fact::WaitEnded { what, .. } if is(what))).count();
        (began, ended)
    };
    let (began, ended) = pairs(&|what| matches!(what, WaitFor::MoreMembers { .. }));
    assert!(began >= 1 && began == ended, "each round ends with its coordinator or by itself: {began}, {ended}");
    let (began, ended) = pairs(&|what| matches!(what, WaitFor::LivingBroker { .. }));
    assert!(began >= 3 && began == ended, "the producer and both members: {began}, {ended}");
}

#[test]
fn lines_of_the_log_stand_when_time_goes_on() {
    let lines = |studio: &Studio| studio.log(&LogFilter::default(), 0..usize::MAX).lines;
    let mut studio = open(ONE_OF_THREE, 1);
    let mut before = Vec::new();
    for at in (1..30).chain([12, 25]) {
        let earlier = studio.playback().at_us;
        studio.handle(Command::SeekTo { at_us: at * 1_000_000 });
        let now = lines(&studio);
        if studio.playback().at_us >= earlier {
            assert_eq!(now[..before.len().min(now.len())], before[..], "at {at} s");
        } else {
            assert_eq!(now[..], before[..now.len()], "back at {at} s");
        }
        before = now;
    }
    // And they are those of whoever looks for the first time.
    assert_eq!(before, lines(&open(ONE_OF_THREE, 25)));
}

#[test]
fn failed_records_are_counted_record_by_record() {
    const FAILING: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2]},
        "config":{"min.insync.replicas":2}}},"groups":{},
        "producers":{"checkout":{"rate":"20/s","stop":"30s","config":
            {"delivery.timeout.ms":3000,"request.timeout.ms":1000,"linger.ms":0}}},
        "script":[{"at":"5s","do":[{"kill":2}]},{"at":"32s","do":[{"start":2}]},
        {"at":"33s","do":[{"produce":{"client":"checkout","count":1}}]},{"at":"60s","checkpoint":"end"}]}"#;
    let studio = open(FAILING, 60);
    // Some of them stand in the log all the same: the answer came too late.
    let failed = studio.seen().entries().filter(|(_, entry)| matches!(entry.kind, Kind::RecordFailed { .. })).count();
    assert!(failed > 100 && failed as u64 >= studio.promises().counts.refused, "{failed}");
    let facts = facts(&studio);
    let lines = facts.iter().filter(|fact| match fact {
        Fact::Refused { error, .. } | Fact::ClientError { error, .. } => error.ends_with("Exception"),
        _other => false,
    });
    assert_eq!(lines.count(), failed, "a line a record");
    let ends = facts.iter().filter_map(|fact| match fact {
        Fact::WaitEnded { what: WaitFor::Success { .. }, count, .. } => Some(*count),
        _other => None,
    });
    assert_eq!(ends.sum::<u64>(), failed as u64, "and their number where they end");
}
