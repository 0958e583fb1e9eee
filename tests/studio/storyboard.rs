//! What a scenario's author says and asks along it, and what the run makes of the answers. It draws nothing.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::view::model::*;

use crate::story::named;

fn seek(studio: &mut Studio, seconds: u64) {
    assert_eq!(studio.handle(Command::SeekTo { at_us: seconds * 1_000_000 }), Outcome::Done);
}

fn said(studio: &Studio) -> String {
    studio.storyboard().said.map_or_else(String::new, |said| said.of("en"))
}

fn answered(studio: &Studio) -> Option<Answered> {
    studio.storyboard().asked.map(|asked| asked.answered)
}

fn shown(right: usize, stopped: &[&str], going_on: &[&str]) -> Option<Answered> {
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_string()).collect();
    Some(Answered::Shown { right: Some(right), stopped: names(stopped), going_on: names(going_on) })
}

#[test]
fn the_story_asks_before_the_kill_and_answers_from_the_run() {
    let mut studio = Studio::opening(named("as-it-happened"));
    assert!(said(&studio).ends_with("Nothing is wrong."), "{}", said(&studio));
    assert_eq!(answered(&studio), Some(Answered::Open));
    assert_eq!(studio.storyboard().asked.map(|asked| asked.choices.len()), Some(4));
    seek(&mut studio, 13);
    assert!(said(&studio).starts_with("Broker 1 is dead"), "{}", said(&studio));
    assert_eq!(answered(&studio), Some(Answered::NotYet), "nobody has been fenced yet");
    seek(&mut studio, 30);
    assert!(said(&studio).contains("billing finds no coordinator"), "{}", said(&studio));
    assert_eq!(answered(&studio), shown(2, &["billing"], &["checkout"]));
    // And back: what is not yet so is not told.
    seek(&mut studio, 11);
    assert_eq!(answered(&studio), Some(Answered::Open));
}

#[test]
fn the_same_question_has_another_answer_where_the_clients_do_otherwise() {
    let mut studio = Studio::opening(named("the-cure"));
    seek(&mut studio, 30);
    assert_eq!(answered(&studio), shown(0, &[], &["checkout", "billing"]));
}

#[test]
fn what_is_not_so_is_not_said_and_another_action_ends_the_question() {
    let mut studio = Studio::opening(named("as-it-happened"));
    seek(&mut studio, 30);
    let act = Command::Act(NodeRef::Broker(1), NodeAction::Start);
    assert_eq!(studio.handle(act), Outcome::Done);
    assert_eq!(answered(&studio), None, "the question was about the kill alone");
    seek(&mut studio, 50);
    assert_eq!(said(&studio), "", "broker 1 is neither dead nor fenced, and of its start the author knew nothing");
}

#[test]
fn what_was_said_before_an_action_by_hand_is_not_said_after_it() {
    let mut studio = Studio::opening(named("as-it-happened"));
    seek(&mut studio, 10);
    assert!(said(&studio).ends_with("Nothing is wrong."), "{}", said(&studio));
    let cut = studio.handle(Command::Act(NodeRef::Broker(2), NodeAction::CutFromBrokers));
    assert!(matches!(cut, Outcome::Branched(_)), "{cut:?}");
    seek(&mut studio, 11);
    assert_eq!(said(&studio), "", "a cluster that is cut is not one in which nothing is wrong");
    seek(&mut studio, 13);
    assert!(said(&studio).starts_with("Broker 1 is dead"), "what is said later holds as before: {}", said(&studio));
    seek(&mut studio, 9);
    assert!(said(&studio).ends_with("Nothing is wrong."), "before the action all is as it was");
}

#[test]
fn a_cut_by_hand_is_the_caption_of_what_follows() {
    let mut studio = Studio::opening(named("as-it-happened"));
    seek(&mut studio, 9);
    let cut = studio.handle(Command::Act(NodeRef::Broker(2), NodeAction::CutFromBrokers));
    assert!(matches!(cut, Outcome::Branched(_)), "{cut:?}");
    studio.handle(Command::SeekTo { at_us: 9_500_000 });
    let fact = studio.playback().caption.and_then(|caption| caption.fact);
    assert!(matches!(fact, Some((_, Fact::Cut { .. }))), "{fact:?}");
}

#[test]
fn a_link_of_before_the_words_is_still_of_the_gallery() {
    let id = named("as-it-happened");
    let known = id.scenario().expect("a scenario");
    let old = known.without_words();
    assert_eq!(old.script.len(), 1, "the kill alone");
    assert_ne!(old, known);
    let studio = Studio::open(&Link::new(old).fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(studio.scene().origin, Origin::Gallery { id, changed: false });
}
