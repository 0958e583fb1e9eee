//! The story as it happened, the same cluster today, and the cure, through the desk alone: what the page says of them,
//! and why.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::view::model::*;

/// A scenario of the gallery.
pub fn named(id: &str) -> ScenarioId {
    ScenarioId::named(id).unwrap_or_else(|| panic!("no scenario {id}"))
}

fn at(id: ScenarioId, seconds: u64) -> Studio {
    let mut studio = Studio::scenario(id);
    assert_eq!(studio.handle(Command::SeekTo { at_us: seconds * 1_000_000 }), Outcome::Done);
    studio
}

fn group(studio: &Studio) -> GroupView {
    studio.scene().groups[0].clone()
}

#[test]
fn before_the_crash_every_promise_is_kept() {
    for &id in ScenarioId::ALL {
        let studio = at(id, 11);
        let (scene, promises) = (studio.scene(), studio.promises());
        assert_eq!(promises.verdicts[0].verdict, Verdict::EveryPromiseKept, "{id:?}: {:?}", promises.verdicts);
        assert_eq!(scene.topics[0].partitions.len(), 6, "{id:?}");
        assert!(scene.topics[0].partitions.iter().all(|partition| partition.isr.len() == 3), "{id:?}");
        assert!(promises.counts.delivered > 20, "{id:?}: {:?}", promises.counts);
        assert!(matches!(group(&studio).coordinator, Coordinator::Ready { .. }), "{id:?}");
    }
    let alone = at(named("as-it-happened"), 11).scene();
    assert_eq!(alone.internal[0].replication_factor, 1);
    assert_eq!(alone.brokers[0].internal[0].squares.len(), 50, "all of the offsets topic is on broker 1");
    assert!(alone.brokers[1].internal[0].squares.is_empty());
}

#[test]
fn as_it_happened_every_consumer_stops_and_the_page_says_why() {
    let studio = at(named("as-it-happened"), 40);
    let promises = studio.promises();
    assert_eq!(promises.verdicts[0].verdict, Verdict::EveryConsumerStopped, "{:?}", promises.verdicts);
    let cause = Cause::OffsetsPartitionOneReplica { group: "billing".into(), partition: 9, broker: 1 };
    assert_eq!(promises.verdicts[0].cause, Some(cause));
    assert_eq!(promises.verdicts[0].cure, Some(Cure::OffsetsReplicationFactor { to: 3 }));
    // The data partitions failed over.
    assert!(
        studio.scene().topics[0]
            .partitions
            .iter()
            .all(|partition| partition.leader.is_some() && partition.isr == [2, 3] || partition.isr == [3, 2])
    );
    let why = studio.why(&Subject::Verdict(0)).expect("a chain");
    let facts: Vec<&Fact> = why.steps.iter().map(|step| &step.fact).collect();
    let has = |fits: &dyn Fn(&Fact) -> bool| assert!(facts.iter().any(|fact| fits(fact)), "{facts:#?}");
    has(&|fact| matches!(fact, Fact::MemberStopped { client, .. } if client == "2.3"));
    has(&|fact| matches!(fact, Fact::GroupHashesTo { partition: 9, .. }));
    has(&|fact| *fact == Fact::Killed { node: NodeRef::Broker(1) });
    has(&|fact| matches!(fact, Fact::OnlyReplicaOn { broker: 1, .. }));
    has(&|fact| matches!(fact, Fact::CreatedWhileAlone { broker: 1, .. }));
    has(&|fact| {
        matches!(
            fact,
            Fact::SettingWas { key, value, .. } if key == "offsets.topic.replication.factor" && value == "1"
        )
    });
    assert!(why.steps.len() <= MAX_WHY);
    // Whoever has a trace can be jumped to.
    let jump = why
        .steps
        .iter()
        .find(|step| matches!(step.fact, Fact::Killed { .. }))
        .and_then(|step| step.trace)
        .expect("a moment");
    let mut studio = studio;
    assert_eq!(studio.handle(Command::SeekToTrace(jump)), Outcome::Done);
    assert_eq!(studio.playback().at_us, 12_000_000);
}

#[test]
fn today_reading_goes_on_without_commits() {
    let studio = at(named("same-cluster-today"), 40);
    let group = group(&studio);
    // Broker 1 led two of the six partitions; nobody tells the members who leads them now.
    assert!(
        matches!(group.now, GroupNow::ReadsWithoutCoordinator { partitions_read: 4, partitions_still: 2, .. }),
        "{group:#?}"
    );
    assert!(
        studio
            .promises()
            .verdicts
            .iter()
            .any(|card| card.verdict == Verdict::GroupWithoutCommits { group: "billing".into() }),
        "{:?}",
        studio.promises().verdicts
    );
    let then = at(named("as-it-happened"), 40).promises().counts.delivered;
    assert!(studio.promises().counts.delivered > then, "clients of today go on reading");
}

#[test]
fn with_the_cure_nobody_stops() {
    let studio = at(named("the-cure"), 40);
    let group = group(&studio);
    assert!(matches!(group.now, GroupNow::Reading | GroupNow::CaughtUp), "{group:#?}");
    assert!(matches!(group.coordinator, Coordinator::Ready { broker: 2 | 3 }));
    assert!(
        !studio
            .promises()
            .verdicts
            .iter()
            .any(|card| matches!(card.verdict, Verdict::EveryConsumerStopped | Verdict::GroupStopped { .. }))
    );
}

#[test]
fn trying_the_cure_opens_a_run_of_its_own_and_the_old_one_stays() {
    let mut studio = at(named("as-it-happened"), 40);
    assert_eq!(studio.handle(Command::Try(Cure::OffsetsReplicationFactor { to: 3 })), Outcome::NewRun);
    assert_eq!(studio.playback().at_us, 40_000_000);
    assert!(!matches!(group(&studio).now, GroupNow::Stopped { .. }));
    assert_eq!(studio.scene().origin, Origin::Gallery { id: named("as-it-happened"), changed: true });
    assert_eq!(studio.handle(Command::PreviousRun), Outcome::NewRun);
    assert!(matches!(group(&studio).now, GroupNow::Stopped { .. }));
}

#[test]
fn bringing_the_broker_back_ends_the_standstill() {
    let mut studio = at(named("as-it-happened"), 40);
    let before = studio.promises().counts.delivered;
    assert_eq!(studio.handle(Command::Act(NodeRef::Broker(1), NodeAction::Start)), Outcome::Done);
    assert_eq!(studio.handle(Command::ToEnd), Outcome::Done);
    for _ in 0..80 {
        studio.handle(Command::SkipWait);
    }
    assert!(!matches!(group(&studio).now, GroupNow::Stopped { .. }), "{:#?}", group(&studio));
    assert!(studio.promises().counts.delivered > before);
}

#[test]
fn every_setting_and_menu_entry_that_is_offered_does_something() {
    for &id in ScenarioId::ALL {
        let settings = at(id, 11).settings();
        let mut n = 0;
        for setting in settings.groups.iter().flat_map(|group| &group.settings) {
            let values: Vec<SettingValue> = match &setting.choices {
                Choices::OneOf(values) => values.iter().filter(|value| **value != setting.value).cloned().collect(),
                Choices::Steps { less, more } => less.iter().chain(more).cloned().collect(),
                Choices::Toggle => vec![SettingValue::Bool(setting.value == SettingValue::Bool(false))],
            };
            for value in values {
                let mut studio = at(id, 11);
                let outcome = studio.handle(Command::Set(setting.key.clone(), value.clone()));
                assert!(
                    matches!(outcome, Outcome::Done | Outcome::Branched(_) | Outcome::NewRun),
                    "{:?} to {value:?}: {outcome:?}",
                    setting.key
                );
                studio.handle(Command::SeekTo { at_us: 12_500_000 });
                let now = studio
                    .settings()
                    .groups
                    .iter()
                    .flat_map(|group| group.settings.clone())
                    .find(|now| now.key == setting.key);
                assert_eq!(now.map(|now| now.value), Some(value), "{:?}", setting.key);
                n += 1;
            }
        }
        assert!(n > 20, "{n} settings");
        let scene = at(id, 11).scene();
        let menus = scene
            .brokers
            .iter()
            .map(|broker| (NodeRef::Broker(broker.id), &broker.menu))
            .chain(scene.controllers.iter().map(|c| (NodeRef::Controller(c.id), &c.menu)));
        for (node, menu) in menus {
            for action in menu {
                let mut studio = at(id, 11);
                let outcome = studio.handle(Command::Act(node.clone(), *action));
                assert!(matches!(outcome, Outcome::Done | Outcome::Branched(_)), "{node:?} {action:?}: {outcome:?}");
            }
        }
    }
}

#[test]
fn a_shared_link_opens_at_the_same_moment_with_the_same_digest() {
    let mut studio = at(named("same-cluster-today"), 13);
    studio.handle(Command::Act(NodeRef::Broker(2), NodeAction::Pause));
    studio.handle(Command::StepForward(StepKind::Event));
    let share = studio.share();
    let opened = Studio::open(&share.fragment).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(opened.digest_check(), DigestCheck::Same);
    assert_eq!(opened.playback().at_us, studio.playback().at_us);
    let other = share.fragment.replace("&d=", "&d=0").chars().collect::<String>();
    let other = &other[..other.len() - 1];
    assert_eq!(Studio::open(other).map(|studio| studio.digest_check()).ok(), Some(DigestCheck::Different));
    let bad = Studio::open(&share.fragment[..40]).map(|_| ()).expect_err("it is cut");
    assert_eq!(bad.what, OpenProblem::CutShort);
    // Of an option that is not known, or stands there twice, the option is named and not the scenario.
    let at_fault = |option: &str| {
        let bad = Studio::open(&format!("{}&{option}", share.fragment)).map(|_| ()).expect_err(option);
        (bad.what, bad.found)
    };
    assert_eq!(at_fault("lang=zh&lang=en"), (OpenProblem::Repeated, Some("lang=en".into())));
    assert_eq!(at_fault("colour=red"), (OpenProblem::UnknownOption, Some("colour".into())));
    assert_eq!(at_fault("at=soon").0, OpenProblem::Repeated, "the moment of the link stands there already");
    // The running scenario is untouched by a bad link.
    let before = studio.scene();
    assert!(matches!(studio.handle(Command::OpenLink("k1zzz".into())), Outcome::NotOpened(_)));
    assert!(std::rc::Rc::ptr_eq(&before, &studio.scene()));
}

#[test]
fn a_scene_is_made_once_for_each_state() {
    let mut studio = at(named("the-cure"), 9);
    let first = studio.scene();
    assert!(std::rc::Rc::ptr_eq(&first, &studio.scene()));
    studio.handle(Command::OpenTopic("__consumer_offsets".into()));
    let opened = studio.scene();
    assert_eq!(opened.topics.len(), 2);
    assert!(opened.revision > first.revision);
    studio.handle(Command::StepForward(StepKind::Event));
    assert!(studio.scene().revision > opened.revision);
}

#[test]
fn a_fixed_pace_is_exact() {
    let mut studio = at(named("as-it-happened"), 11);
    studio.handle(Command::Play);
    // A second at 1:1 takes a second.
    studio.handle(Command::SetPace(Pace::Fixed(Speed::new(1, 1))));
    let before = studio.playback().at_us;
    for _ in 0..100 {
        studio.tick(10_000, false);
    }
    assert_eq!(studio.playback().at_us, before + 1_000_000);
    studio.handle(Command::Pause);
    assert!(!studio.tick(16_000, false));
}
