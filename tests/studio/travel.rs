//! A long way through a run is gone in parts: the same moments are reached, it says how far it is, and it can be given
//! up anywhere.

use std::rc::Rc;

use highwater_engine::base::Dur;
use highwater_engine::world::Resource;
use highwater_studio::desk::command::{Command, Outcome, Refused};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::scenario::{Moment, decode};
use highwater_studio::view::model::*;

use crate::story::named;

const FRAME_US: u64 = 16_000;
const S: u64 = 1_000_000;

/// A studio that may do little at once.
fn slow(id: &str) -> Studio {
    let mut studio = Studio::scenario(named(id));
    studio.set_enough(Rc::new(|| true));
    studio
}

/// Frames until the way has ended, with the moments that were shown.
fn arrive(studio: &mut Studio) -> Vec<u64> {
    let mut shown = Vec::new();
    for _ in 0..100_000 {
        if studio.playback().travel.is_none() {
            return shown;
        }
        if studio.tick(FRAME_US, false) {
            shown.push(studio.playback().at_us);
        }
    }
    panic!("the way has no end: {:?}", studio.playback());
}

fn digest(studio: &Studio) -> String {
    studio.share().fragment
}

fn seek(studio: &mut Studio, seconds: u64) -> Outcome {
    studio.handle(Command::SeekTo { at_us: seconds * S })
}

#[test]
fn a_long_way_leads_to_the_same_moment_and_says_how_far_it_is() {
    let mut at_once = Studio::scenario(named("as-it-happened"));
    seek(&mut at_once, 60);
    let mut studio = slow("as-it-happened");
    seek(&mut studio, 60);
    assert_eq!(studio.playback().travel, Some(Travel { from_us: 0, to_us: at_once.playback().at_us }));
    let shown = arrive(&mut studio);
    assert!(shown.len() > 3 && shown.is_sorted(), "{shown:?}");
    assert_eq!(shown.last(), Some(&at_once.playback().at_us));
    assert_eq!(digest(&studio), digest(&at_once));
    // A short way is gone at once.
    studio.handle(Command::StepBack(StepKind::Event));
    assert_eq!(studio.playback().travel, None);
}

#[test]
fn a_way_that_is_given_up_ends_where_it_has_come() {
    let mut studio = slow("as-it-happened");
    seek(&mut studio, 60);
    while studio.playback().travel.is_some() && studio.playback().at_us < 5 * S {
        studio.tick(FRAME_US, false);
    }
    let at = studio.playback().at_us;
    assert!(at < 60 * S, "{at}");
    // Nothing is done to a cluster that nobody sees.
    let kill = Command::Act(NodeRef::Broker(3), NodeAction::Kill);
    assert_eq!(studio.handle(kill.clone()), Outcome::Refused(Refused::OnTheWay));
    assert!(studio.playback().travel.is_some());
    assert_eq!(studio.handle(Command::Pause), Outcome::Done);
    let stands = studio.playback();
    assert_eq!((stands.travel, stands.playing, stands.at_us), (None, false, at));
    assert!(!studio.tick(FRAME_US, false), "nothing moves on");
    // What is done there is done there, and the moment is like any other.
    assert_eq!(studio.handle(kill), Outcome::Done);
    let opened = Studio::open(&studio.share().fragment).expect("a run");
    assert_eq!((opened.digest_check(), opened.playback().at_us), (DigestCheck::Same, at));
}

#[test]
fn who_presses_play_on_the_way_plays_from_its_end() {
    let mut studio = slow("as-it-happened");
    seek(&mut studio, 30);
    studio.handle(Command::Play);
    assert!(studio.playback().travel.is_some() && studio.playback().playing);
    arrive(&mut studio);
    assert_eq!((studio.playback().at_us, studio.playback().playing), (30 * S, true));
    studio.tick(FRAME_US, false);
    assert!(studio.playback().at_us > 30 * S);
}

#[test]
fn another_goal_replaces_the_one_before() {
    let mut studio = slow("as-it-happened");
    seek(&mut studio, 60);
    studio.tick(FRAME_US, false);
    seek(&mut studio, 20);
    arrive(&mut studio);
    let mut at_once = Studio::scenario(named("as-it-happened"));
    seek(&mut at_once, 20);
    assert_eq!(digest(&studio), digest(&at_once));
}

/// Everything that replays a run: a link, a changed set-up, an action taken back, a branch, a step that finds nothing
/// near.
#[test]
fn whatever_replays_a_run_does_it_in_parts() {
    let mut at_once = Studio::scenario(named("same-cluster-today"));
    let mut studio = slow("same-cluster-today");
    let set_up = Command::Set(SettingKey::ReplicationFactor { topic: "orders".into() }, SettingValue::Number(2));
    let kill = Command::Act(NodeRef::Broker(2), NodeAction::Kill);
    let steps = [
        Command::SeekTo { at_us: 50 * S },
        set_up,
        kill.clone(),
        Command::StepForward(StepKind::Notable),
        Command::SeekTo { at_us: 100 * S },
        Command::Undo,
        Command::SeekTo { at_us: 80 * S },
        Command::SeekTo { at_us: 30 * S },
        kill,
        Command::SeekTo { at_us: 45 * S },
        Command::SelectBranch(BranchId(0)),
        Command::StepBack(StepKind::Notable),
        Command::SkipWait,
        Command::ToStart,
        Command::ToEnd,
        Command::OpenScenario(named("as-it-happened")),
        Command::PreviousRun,
    ];
    let mut travelled = 0;
    for command in steps {
        let expected = at_once.handle(command.clone());
        assert_eq!(studio.handle(command.clone()), expected, "{command:?}");
        travelled += usize::from(studio.playback().travel.is_some());
        arrive(&mut studio);
        let (one, other) = (studio.playback(), at_once.playback());
        assert_eq!(digest(&studio), digest(&at_once), "{command:?}: {} and {}", one.at_us, other.at_us);
        assert_eq!(one, other, "{command:?}");
    }
    assert!(travelled > 6, "{travelled} of the ways took longer than a frame");
    let fragment = at_once.share().fragment;
    let mut opened = Studio::setting_out(&fragment).expect("a run");
    opened.set_enough(Rc::new(|| true));
    assert_eq!((opened.playback().at_us, opened.digest_check()), (0, DigestCheck::NotNamed));
    arrive(&mut opened);
    assert_eq!((digest(&opened), opened.digest_check()), (fragment, DigestCheck::Same));
}

#[test]
fn with_reduced_motion_a_change_that_is_far_is_looked_for_in_parts() {
    let mut studio = slow("as-it-happened");
    studio.handle(Command::Play);
    let mut shown = Vec::new();
    for _ in 0..1_000 {
        if studio.tick(FRAME_US, true) {
            shown.push(studio.playback().at_us);
        }
    }
    let mut at_once = Studio::scenario(named("as-it-happened"));
    at_once.handle(Command::Play);
    let mut expected = Vec::new();
    for _ in 0..1_000 {
        if at_once.tick(FRAME_US, true) {
            expected.push(at_once.playback().at_us);
        }
    }
    assert!(shown.len() > 2 && expected.starts_with(&shown), "{shown:?} {expected:?}");
}

/// Records of a megabyte, ten thousand a second: a run may hold less than what a minute of it would need.
#[test]
fn a_link_to_a_moment_that_a_run_cannot_reach_ends_where_it_can_go_no_further() {
    let text = r#"{"scenario":1,"topics":{"t":{"partitions":1,"replication":1}},
        "producers":{"checkout":{"topic":"t","rate":"10000/s","value-size":1000000}}}"#;
    let scenario = decode(text).unwrap_or_else(|error| panic!("{error}"));
    let link = Link { at: Some(Moment::after(Dur::secs(60))), ..Link::new(scenario) };
    let studio = Studio::open(&link.fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    let playback = studio.playback();
    let most = Resource::RecordBytes.most();
    assert_eq!(playback.ended, Some(Ended::Needs(Limit::RecordBytes(most))));
    assert!(playback.at_us > 0 && playback.at_us < 60 * S, "{}", playback.at_us);
    assert_eq!(playback.travel, None);
}
