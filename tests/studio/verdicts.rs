//! Verdicts and chains of causes of failures that no scenario of the gallery has: lost, refused and unreachable. It
//! scripts faults, never outcomes.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::scenario::decode;
use highwater_studio::view::model::*;

/// A studio on a scenario of the test, at a moment.
fn open(scenario: &str, seconds: u64) -> Studio {
    let scenario = decode(scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut studio = Studio::open(&Link::new(scenario).fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(studio.handle(Command::SeekTo { at_us: seconds * 1_000_000 }), Outcome::Done);
    studio
}

fn verdict(studio: &Studio, fits: impl Fn(&Verdict) -> bool) -> (usize, VerdictCard) {
    let promises = studio.promises();
    let found = promises.verdicts.iter().enumerate().find(|(_, card)| fits(&card.verdict));
    found.map(|(index, card)| (index, card.clone())).unwrap_or_else(|| panic!("{:#?}", promises.verdicts))
}

fn chain(studio: &Studio, about: &Subject) -> Vec<Fact> {
    studio.why(about).map(|chain| chain.steps.into_iter().map(|step| step.fact).collect()).unwrap_or_default()
}

fn has(facts: &[Fact], fits: impl Fn(&Fact) -> bool) {
    assert!(facts.iter().any(fits), "{facts:#?}");
}

/// The followers cannot fetch, are still in the ISR, and one of them is elected when the leader dies.
const LOSS: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]}}},
    "producers":{"checkout":{"rate":"10/s","stop":"8s","config":{"acks":1,"enable.idempotence":false}}},
    "script":[{"at":"5s","do":[{"cut":{"between":1,"and":[2,3]}}]},{"at":"8s","do":[{"kill":1},{"heal":"all"}]},{"at":"30s","do":[{"start":1}]}]}"#;

#[test]
fn records_that_the_leader_alone_acknowledged_are_lost_with_it() {
    let studio = open(LOSS, 8);
    verdict(&studio, |verdict| matches!(verdict, Verdict::AtRisk { .. }));
    let studio = open(LOSS, 25);
    let (index, card) = verdict(&studio, |verdict| matches!(verdict, Verdict::AckedLost { .. }));
    let Verdict::AckedLost { count, at } = card.verdict.clone() else { panic!("{card:?}") };
    assert_eq!(at.iter().map(|s| s.last - s.first + 1).sum::<u64>(), count, "each is named by its offset: {at:?}");
    assert_eq!(at, studio.promises().lost);
    assert_eq!(at, studio.scene().producers[0].lost_at);
    assert!((20..60).contains(&count), "{count}");
    assert!(matches!(card.cause, Some(Cause::AckedByLeaderAlone { broker: 1, .. })), "{card:?}");
    assert_eq!(card.cure, Some(Cure::Acks { producer: "checkout".into(), to: "all".into() }));
    let facts = chain(&studio, &Subject::Verdict(index));
    has(&facts, |fact| matches!(fact, Fact::AckedLost { .. }));
    has(&facts, |fact| matches!(fact, Fact::LeaderElected { how: ElectionKind::Clean, .. }));
    has(&facts, |fact| *fact == Fact::Killed { node: NodeRef::Broker(1) });
    has(&facts, |fact| matches!(fact, Fact::Acked { by: AckedBy::LeaderAlone, .. }));
    has(&facts, |fact| matches!(fact, Fact::SettingWas { key, value, .. } if key == "acks" && value == "1"));
    // The same records in the ledger, on the stage and in the counts.
    let promises = studio.promises();
    assert_eq!(promises.ledger.iter().filter(|square| square.fate == RecordFate::AckedLost).count() as u64, count);
    assert_eq!(promises.counts.lost, count);
    assert_eq!(studio.scene().producers[0].lost, count);
    assert!(
        studio.scene().brokers[0].replicas[0].cells.contains(&RecordCell::AckedLost),
        "the old leader's log still has them"
    );
    // The old leader comes back and cuts its log.
    let studio = open(LOSS, 45);
    assert!(!studio.scene().brokers[0].replicas[0].cells.contains(&RecordCell::AckedLost));
    let facts =
        chain(&studio, &Subject::Verdict(verdict(&studio, |verdict| matches!(verdict, Verdict::AckedLost { .. })).0));
    has(&facts, |fact| matches!(fact, Fact::Truncated { broker: 1, .. }));
}

#[test]
fn the_cure_that_is_offered_for_a_loss_helps() {
    let mut studio = open(LOSS, 25);
    let (_, card) = verdict(&studio, |verdict| matches!(verdict, Verdict::AckedLost { .. }));
    let cure = card.cure.unwrap_or_else(|| panic!("no cure"));
    assert_eq!(studio.handle(Command::Try(cure)), Outcome::NewRun);
    assert_eq!(studio.promises().counts.lost, 0);
}

#[test]
fn writes_below_min_insync_replicas_are_refused_by_kafkas_name() {
    const REFUSED: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]},"config":{"min.insync.replicas":2}}},
        "producers":{"checkout":{"rate":"10/s"}},"script":[{"at":"6s","do":[{"kill":[2,3]}]},{"at":"50s","checkpoint":"later"}]}"#;
    // Requests that wait in the purgatory when the ISR shrinks end with their own time-out; until then nothing is
    // answered.
    let studio = open(REFUSED, 10);
    let (_, card) = verdict(&studio, |verdict| matches!(verdict, Verdict::WritesStalled { .. }));
    assert!(matches!(card.cause, Some(Cause::FencingPending { broker: 2 | 3, .. })), "{card:?}");
    let studio = open(REFUSED, 30);
    let (index, card) = verdict(&studio, |verdict| matches!(verdict, Verdict::WritesStalled { .. }));
    assert!(matches!(card.cause, Some(Cause::IsrBelowMin { isr: 1, min: 2, .. })), "{card:?}");
    has(&chain(&studio, &Subject::Verdict(index)), |fact| matches!(fact, Fact::IsrShrunk { .. }));
    let studio = open(REFUSED, 45);
    let (index, card) = verdict(
        &studio,
        |verdict| matches!(verdict, Verdict::WritesRefused { error, .. } if error == "NOT_ENOUGH_REPLICAS"),
    );
    assert!(matches!(card.cause, Some(Cause::IsrBelowMin { isr: 1, min: 2, .. })), "{card:?}");
    let facts = chain(&studio, &Subject::Verdict(index));
    has(&facts, |fact| matches!(fact, Fact::IsrShrunk { .. }));
    has(&facts, |fact| matches!(fact, Fact::Killed { node: NodeRef::Broker(2 | 3) }));
    has(&facts, |fact| matches!(fact, Fact::SettingWas { key, .. } if key == "min.insync.replicas"));
    let partition = PartitionRef { topic: "orders".into(), partition: 0 };
    assert_eq!(studio.scene().topics[0].partitions[0].isr_health, IsrHealth::BelowMin);
    let facts = chain(&studio, &Subject::Isr(partition));
    has(&facts, |fact| matches!(fact, Fact::Fenced { .. }));
}

#[test]
fn a_lost_quorum_is_named_with_what_took_it() {
    const QUORUM: &str = r#"{"scenario":1,"script":[{"at":"6s","do":[{"kill":["controller/1","controller/2"]}]}]}"#;
    let studio = open(QUORUM, 20);
    let (index, card) = verdict(&studio, |verdict| *verdict == Verdict::NoActiveController);
    assert_eq!(card.cause, Some(Cause::QuorumLost { alive: 1, voters: 3 }));
    has(&chain(&studio, &Subject::Verdict(index)), |fact| {
        matches!(fact, Fact::Killed { node: NodeRef::Controller(_) })
    });
    assert!(!studio.scene().controllers.iter().any(|controller| controller.role == QuorumRole::Active));
}

#[test]
fn a_stalled_high_watermark_names_whom_it_waits_for() {
    const STALLED: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]}}},"producers":{"checkout":{"rate":"10/s"}},"script":[{"at":"6s","do":[{"pause":3}]}]}"#;
    let studio = open(STALLED, 8);
    let partition = PartitionRef { topic: "orders".into(), partition: 0 };
    let facts = chain(&studio, &Subject::HighWatermark(partition.clone()));
    has(&facts, |fact| matches!(fact, Fact::HighWatermarkStalled { broker: 1, waits_for, .. } if *waits_for == [3]));
    has(&facts, |fact| *fact == Fact::Paused { node: NodeRef::Broker(3) });
    let inspected = studio.inspect(&Subject::Partition(partition)).unwrap_or_else(|| panic!("the partition exists"));
    assert!(inspected.questions.iter().any(|question| matches!(question, Subject::HighWatermark(_))));
    let waiting = studio.playback().awaiting.map(|wait| wait.what);
    assert_eq!(waiting, Some(Waiting::Fencing { broker: 3 }));
}

#[test]
fn everything_on_the_stage_can_be_inspected_and_asked_why() {
    let mut studio = open(LOSS, 20);
    studio.handle(Command::OpenTopic("__consumer_offsets".into()));
    let scene = studio.scene();
    let mut subjects: Vec<Subject> =
        scene.controllers.iter().map(|controller| Subject::Controller(controller.id)).collect();
    for broker in &scene.brokers {
        subjects.push(Subject::Broker(broker.id));
        subjects.extend(
            broker
                .replicas
                .iter()
                .map(|replica| Subject::Replica { partition: replica.partition.clone(), broker: broker.id }),
        );
    }
    subjects.extend(scene.producers.iter().map(|producer| Subject::Producer(producer.name.clone())));
    subjects.extend(scene.groups.iter().map(|group| Subject::Group(group.name.clone())));
    subjects.extend(
        scene.groups.iter().flat_map(|group| &group.members).map(|member| Subject::Member(member.name.clone())),
    );
    subjects.extend(studio.promises().ledger.iter().map(|square| Subject::LedgerRecord(square.number)));
    subjects.extend(studio.log_tail(&LogFilter::default(), 300).lines.iter().map(|line| Subject::Trace(line.trace)));
    assert!(subjects.len() > 300, "{}", subjects.len());
    for subject in subjects {
        assert!(studio.inspect(&subject).is_some(), "{subject:?}");
        if let Some(chain) = studio.why(&subject) {
            assert!(!chain.steps.is_empty() && chain.steps.len() <= MAX_WHY, "{subject:?}");
        }
    }
    for flight in studio.motion().flights {
        assert!(studio.inspect(&Subject::Message(flight.id)).is_some());
    }
    assert_eq!(studio.inspect(&Subject::Broker(9)), None);
}

#[test]
fn one_healing_is_one_line_though_messages_were_held() {
    const HEALED: &str = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]}}},
        "script":[{"at":"5s","do":[{"cut":{"between":1,"and":[2,3]}}]},{"at":"7s","do":[{"heal":"all"}]},
        {"at":"9s","checkpoint":"end"}]}"#;
    let log = open(HEALED, 8).log_tail(&LogFilter::default(), 300);
    let healed = log.lines.iter().filter(|line| matches!(line.fact, Fact::Healed { .. })).count();
    assert_eq!(healed, 1);
}

/// Broker 3 is taken away by one action and given back by another, long enough for it to be fenced in between.
fn away_and_back(away: &str, back: &str) -> Studio {
    let scenario = format!(
        r#"{{"scenario":1,"topics":{{"orders":{{"replicas":{{"0":[3,1,2]}}}}}},
        "producers":{{"checkout":{{"rate":"10/s"}}}},
        "script":[{{"at":"5s","do":[{away}]}},{{"at":"30s","do":[{back}]}}]}}"#
    );
    open(&scenario, 45)
}

#[test]
fn what_follows_a_return_leads_to_what_let_it_through() {
    let broker = NodeRef::Broker(3);
    let cut = r#"{"cut":{"between":3,"and":["controller/1","controller/2","controller/3",1,2]}}"#;
    let healed = |fact: &Fact| matches!(fact, Fact::Healed { .. });
    let started = |fact: &Fact| matches!(fact, Fact::Started { node, .. } if *node == NodeRef::Broker(3));
    let resumed = |fact: &Fact| *fact == Fact::Resumed { node: NodeRef::Broker(3) };
    type Way<'a> = (&'a str, &'a str, &'a dyn Fn(&Fact) -> bool);
    let ways: [Way<'_>; 3] = [
        (cut, r#"{"heal":"all"}"#, &healed),
        (r#"{"kill":3}"#, r#"{"start":3}"#, &started),
        (r#"{"pause":3}"#, r#"{"resume":3}"#, &resumed),
    ];
    for (away, back, fits) in ways {
        let studio = away_and_back(away, back);
        let unfenced = chain(&studio, &Subject::Broker(3));
        assert!(matches!(unfenced.first(), Some(Fact::Unfenced { .. })), "{broker:?} after {back}: {unfenced:#?}");
        has(&unfenced, fits);
        let partition = PartitionRef { topic: "orders".into(), partition: 0 };
        let expanded = chain(&studio, &Subject::Isr(partition));
        assert!(matches!(expanded.first(), Some(Fact::IsrExpanded { .. })), "after {back}: {expanded:#?}");
        has(&expanded, fits);
    }
}

/// The causes of the last line of the log that fits.
fn causes_of_last(studio: &Studio, fits: impl Fn(&Fact) -> bool) -> Vec<Fact> {
    let log = studio.log_tail(&LogFilter::default(), 2_000);
    let line = log.lines.iter().rfind(|line| fits(&line.fact)).expect("there is such a line");
    chain(studio, &Subject::Trace(line.trace))
}

#[test]
fn what_a_message_does_that_had_to_wait_comes_of_what_let_it_pass_and_of_its_sender() {
    // What the member asks first lies in the cut until it is healed, and makes the offsets topic then.
    let late = r#"{"scenario":1,"topics":{"orders":{}},"groups":{"billing":{"members":{"b1":{"start":"4s"}}}},
        "script":[{"at":"3s","do":[{"cut":{"between":"client/b1","and":[1,2,3]}}]},{"at":"6s","do":[{"heal":"all"}]}]}"#;
    let created = causes_of_last(&open(late, 12), |fact| matches!(fact, Fact::TopicCreated { .. }));
    has(&created, |fact| matches!(fact, Fact::Healed { .. }));
    has(&created, |fact| matches!(fact, Fact::ClientStarted { .. }));
}

#[test]
fn a_clean_stop_leads_to_whoever_asked_for_it() {
    let stopped = r#"{"scenario":1,"topics":{"orders":{}},"script":[{"at":"5s","do":[{"stop":2}]}]}"#;
    let facts = causes_of_last(&open(stopped, 12), |fact| matches!(fact, Fact::Stopped { .. }));
    has(&facts, |fact| matches!(fact, Fact::StopRequested { node: NodeRef::Broker(2) }));
}

#[test]
fn requests_that_nobody_will_read_any_more_are_told() {
    let frozen = r#"{"scenario":1,"topics":{"orders":{"replicas":{"0":[1,2,3]}}},
        "producers":{"checkout":{"rate":"20/s","config":{"acks":"1","enable.idempotence":false,"linger.ms":0}}},
        "script":[{"at":"8s","do":[{"pause":1}]},{"at":"9s","do":[{"kill-client":"checkout"}]},
        {"at":"10s","do":[{"resume":1}]}]}"#;
    let log = open(frozen, 12).log_tail(&LogFilter::default(), 2_000);
    let unread = log.lines.iter().filter(|line| match &line.fact {
        Fact::RequestUnread { node: NodeRef::Broker(1), of: NodeRef::Producer(of), records, .. } => {
            of == "checkout" && *records > 0
        }
        _other => false,
    });
    assert_eq!(unread.count(), 3, "five lay there: the first was answered, the answer to the second broke");
}

#[test]
fn a_step_offers_its_message_only_while_that_is_on_its_way() {
    let studio = open(LOSS, 45);
    for subject in [Subject::Broker(1), Subject::Broker(2), Subject::Verdict(0)] {
        for step in studio.why(&subject).iter().flat_map(|chain| &chain.steps) {
            let Some(message) = step.message else { continue };
            assert!(studio.inspect(&Subject::Message(message)).is_some(), "{step:?} of {subject:?}");
        }
    }
}

#[test]
fn a_truncation_is_told_with_the_return_and_with_the_election_that_it_missed() {
    let studio = open(LOSS, 45);
    let log = studio.log_tail(&LogFilter::default(), 2_000);
    let truncated =
        log.lines.iter().find(|line| matches!(line.fact, Fact::Truncated { .. })).expect("broker 1 truncates");
    let facts = chain(&studio, &Subject::Trace(truncated.trace));
    has(&facts, |fact| matches!(fact, Fact::Started { node: NodeRef::Broker(1), .. }));
    has(&facts, |fact| matches!(fact, Fact::LeaderElected { .. }));
}

#[test]
fn a_cut_is_told_whichever_of_its_directions_is_found() {
    let studio = away_and_back(
        r#"{"cut":{"between":[1,2,"controller/1","controller/2","controller/3"],"and":3}}"#,
        r#"{"pause":"client/checkout"}"#,
    );
    let fenced = chain(&studio, &Subject::Broker(3));
    has(&fenced, |fact| matches!(fact, Fact::Cut { .. }));
}
