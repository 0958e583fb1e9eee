//! What was done by hand: a branch holds only its own, all of it is kept by a changed set-up, any of it is taken back.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::scenario::{Entry, Verb};
use highwater_studio::view::model::*;

use crate::story::named;

fn at(seconds: u64) -> Studio {
    let mut studio = Studio::scenario(named("as-it-happened"));
    seek(&mut studio, seconds);
    studio
}

fn seek(studio: &mut Studio, seconds: u64) {
    assert_eq!(studio.handle(Command::SeekTo { at_us: seconds * 1_000_000 }), Outcome::Done);
}

fn act(studio: &mut Studio, node: NodeRef, action: NodeAction) {
    let outcome = studio.handle(Command::Act(node, action));
    assert!(matches!(outcome, Outcome::Done | Outcome::Branched(_)), "{outcome:?}");
}

/// What a link of the run says is done in it.
fn verbs(studio: &Studio) -> Vec<Verb> {
    let link = Link::read(&studio.share().fragment).expect("a link");
    link.scenario.script.into_iter().flat_map(|entry: Entry| entry.actions).collect()
}

fn rate(studio: &Studio) -> u64 {
    studio.scene().producers[0].rate_milli / 1_000
}

fn set_rate(rate: u32) -> Command {
    Command::Set(SettingKey::Rate { producer: "checkout".into() }, SettingValue::PerSecond(rate))
}

fn set_replicas(to: u32) -> Command {
    Command::Set(SettingKey::ReplicationFactor { topic: "orders".into() }, SettingValue::Number(to))
}

#[test]
fn a_branch_holds_only_its_own_actions() {
    let mut studio = at(10);
    act(&mut studio, NodeRef::Broker(3), NodeAction::Kill);
    seek(&mut studio, 20);
    act(&mut studio, NodeRef::Broker(2), NodeAction::Kill);
    seek(&mut studio, 15);
    act(&mut studio, NodeRef::Controller(1), NodeAction::Kill);
    let texts: Vec<String> = verbs(&studio).iter().map(highwater_studio::scenario::verb_text).collect();
    let expected = [r#"{"kill":3}"#, r#"{"kill":1}"#, r#"{"kill":"controller/1"}"#];
    assert_eq!(texts, expected, "the kill of broker 2 at 20 s belongs to the branch that was left");
    seek(&mut studio, 25);
    assert_eq!(studio.scene().brokers[1].process, ProcessState::Running);
    // And what its link says is what it did.
    let again = Studio::open(&studio.share().fragment).expect("a run");
    assert_eq!(again.digest_check(), DigestCheck::Same);
}

#[test]
fn an_action_of_this_very_instant_that_has_not_been_done_is_not_the_branchs() {
    let mut studio = at(11);
    act(&mut studio, NodeRef::Broker(3), NodeAction::Kill);
    let mut back = 0;
    while studio.scene().brokers[2].process != ProcessState::Running {
        assert_eq!(studio.handle(Command::StepBack(StepKind::Event)), Outcome::Done);
        back += 1;
        assert!(back < 20, "it was killed a moment ago");
    }
    act(&mut studio, NodeRef::Broker(2), NodeAction::Kill);
    seek(&mut studio, 12);
    let down = |id: usize| matches!(studio.scene().brokers[id].process, ProcessState::Down { .. });
    assert_eq!([down(1), down(2)], [true, false]);
    assert_eq!(Studio::open(&studio.share().fragment).expect("a run").digest_check(), DigestCheck::Same);
}

#[test]
fn a_set_up_change_keeps_the_moment_and_what_was_turned_live() {
    let mut studio = at(11);
    assert!(!matches!(studio.handle(set_rate(20)), Outcome::Refused(_)));
    seek(&mut studio, 14);
    assert_eq!(studio.handle(set_replicas(2)), Outcome::NewRun);
    assert_eq!(studio.playback().at_us, 14_000_000);
    assert_eq!(studio.scene().topics[0].replication_factor, 2);
    assert_eq!(rate(&studio), 20);
    // What was done by hand is still by hand: a branch from before it is without it.
    seek(&mut studio, 10);
    act(&mut studio, NodeRef::Controller(3), NodeAction::Kill);
    seek(&mut studio, 14);
    assert_eq!(rate(&studio), 6);
}

#[test]
fn undo_takes_back_any_action() {
    let members = Command::Set(SettingKey::Members { group: "billing".into() }, SettingValue::Number(5));
    let acts = [
        Command::Act(NodeRef::Broker(2), NodeAction::Kill),
        Command::Act(NodeRef::Broker(2), NodeAction::CutFromAll),
        set_rate(20),
        members,
        set_replicas(2),
        Command::Try(Cure::OffsetsReplicationFactor { to: 3 }),
        Command::OpenScenario(named("the-cure")),
    ];
    for ahead in [false, true] {
        let mut studio = at(14);
        if ahead {
            seek(&mut studio, 18);
            seek(&mut studio, 14);
        }
        assert!(!studio.playback().can_undo);
        let mut before = Vec::new();
        for command in acts.clone() {
            before.push((studio.share(), studio.branches().len(), studio.scene().origin.clone()));
            let outcome = studio.handle(command.clone());
            assert!(!matches!(outcome, Outcome::Refused(_) | Outcome::NotOpened(_)), "{command:?}: {outcome:?}");
            let at_us = studio.playback().at_us;
            assert_eq!(studio.handle(Command::SeekTo { at_us: at_us + 300_000 }), Outcome::Done);
        }
        for (share, branches, origin) in before.into_iter().rev() {
            assert!(studio.playback().can_undo);
            studio.handle(Command::Undo);
            assert_eq!(studio.share(), share, "ahead: {ahead}");
            assert_eq!((studio.branches().len(), studio.scene().origin.clone()), (branches, origin));
        }
        assert!(!studio.playback().can_undo);
        // And on from there it goes as if nothing had been done.
        seek(&mut studio, 30);
        assert_eq!(studio.share(), at(30).share());
    }
}
