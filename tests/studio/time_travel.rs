//! Time travel: any moment has the digest of a straight run, a branch replayed has the same reel, links reproduce the
//! moment. It judges no view.

use highwater_engine::base::{Dur, Rng, SimTime, StreamId};
use highwater_studio::link::{Link, short_digest};
use highwater_studio::playback::{self, Unit};
use highwater_studio::recording::{Acted, Recording};
use highwater_studio::scenario::{Moment, Node, Scenario, Sides, Verb, decode, encode};

use crate::text;

fn gallery(name: &str) -> Scenario {
    decode(&text::read(&format!("scenarios/{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn recording(scenario: Scenario) -> Recording {
    Recording::new(scenario).unwrap_or_else(|refusal| panic!("{refusal:?}"))
}

fn run_to(scenario: &Scenario, at: Dur) -> Recording {
    let mut recording = recording(scenario.clone());
    let at = recording.origin() + at;
    recording.run_until(at);
    recording
}

#[test]
fn seek_gives_the_digest_of_a_straight_run() {
    for seed in 1..4 {
        let scenario = Scenario { seed, ..gallery("as-it-happened") };
        let mut travelled = run_to(&scenario, Dur::secs(25));
        let mut rng = Rng::stream(seed, StreamId::World);
        for _ in 0..12 {
            let at = rng.between(Dur::ZERO, Dur::secs(25));
            travelled.seek(travelled.origin() + at);
            let straight = run_to(&scenario, at);
            assert_eq!(travelled.digest(), straight.digest(), "seed {seed} at {at:?}");
            assert_eq!(travelled.n_entries(), straight.reel().len());
            assert_eq!(travelled.at(), straight.at());
        }
        // Nothing of the past was written twice.
        travelled.seek(travelled.origin() + Dur::secs(25));
        let straight = run_to(&scenario, Dur::secs(25));
        assert_eq!(travelled.reel().len(), straight.reel().len());
        for index in 0..straight.reel().len() {
            assert_eq!(travelled.reel().get(index), straight.reel().get(index));
        }
    }
}

#[test]
fn every_step_can_be_reached_from_both_sides() {
    let scenario = gallery("the-cure");
    let mut there = run_to(&scenario, Dur::secs(8));
    let n = there.reel().n_ops();
    let mut digests = Vec::new();
    for ops in n - 300..=n {
        there.seek_ops(ops);
        digests.push((ops, there.at(), there.digest()));
    }
    for (ops, at, digest) in digests.into_iter().rev() {
        there.seek_ops(ops);
        assert_eq!((there.cursor().ops, there.at(), there.digest()), (ops, at, digest));
    }
}

#[test]
fn steps_back_undo_steps_forward() {
    let mut recording = run_to(&gallery("as-it-happened"), Dur::secs(13));
    for unit in [Unit::Event, Unit::Message, Unit::Notable] {
        recording.seek(recording.origin() + Dur::secs(6));
        assert!(playback::forward(&mut recording, unit));
        let mut seen = vec![(recording.at(), recording.cursor().ops)];
        for _ in 0..if unit == Unit::Notable { 4 } else { 20 } {
            assert!(playback::forward(&mut recording, unit), "{unit:?}");
            seen.push((recording.at(), recording.cursor().ops));
        }
        for place in seen.iter().rev().skip(1) {
            assert!(playback::back(&mut recording, unit));
            assert_eq!((recording.at(), recording.cursor().ops), *place, "{unit:?}");
        }
    }
    while playback::back(&mut recording, Unit::Notable) {}
    assert_eq!(recording.at(), recording.origin());
    assert_eq!(recording.cursor().ops, 0);
}

#[test]
fn an_action_in_the_past_opens_a_branch_and_keeps_the_old_one() {
    let scenario = gallery("as-it-happened");
    let mut recording = run_to(&scenario, Dur::secs(20));
    let (old_end, old_digest) = (recording.at(), recording.digest());
    recording.seek(recording.origin() + Dur::secs(10));
    assert_eq!(recording.act(Verb::Kill(vec![Node::Broker(2)])), Ok(Acted::InBranch(1)));
    recording.run_until(recording.origin() + Dur::secs(20));
    let branch_digest = recording.digest();
    assert_ne!(branch_digest, old_digest);
    // Acting at the end of what is known opens none.
    assert_eq!(recording.act(Verb::Start(vec![Node::Broker(2)])), Ok(Acted::Here));
    assert_eq!(recording.branches().len(), 2);
    assert!(recording.select(0));
    recording.seek(old_end);
    assert_eq!(recording.digest(), old_digest);
    // What the world refuses changes nothing.
    assert!(recording.act(Verb::Start(vec![Node::Broker(3)])).is_err());
    assert_eq!((recording.branches().len(), recording.digest()), (2, old_digest));
}

/// Acts by hand at random places, also in the middle of an instant, and holds each branch against a straight run of its
/// recipe.
#[test]
fn a_branch_replayed_from_its_recipe_has_the_same_reel() {
    let scenario = gallery("the-cure");
    let mut recording = run_to(&scenario, Dur::secs(18));
    let mut rng = Rng::stream(11, StreamId::World);
    let verbs = [
        Verb::Pause(vec![Node::Broker(3)]),
        Verb::Cut(Sides { from: vec![Node::Broker(1)], to: vec![Node::Broker(2), Node::Controller(1)], both: true }),
        Verb::SetClient { name: "checkout".into(), rate: Some(20), config: Default::default() },
        Verb::Resume(vec![Node::Broker(3)]),
        Verb::Heal(None),
        Verb::Kill(vec![Node::ActiveController]),
        Verb::Kill(vec![Node::Broker(2)]),
        Verb::SetClient {
            name: "checkout".into(),
            rate: None,
            config: [("acks".to_string(), "all".to_string())].into(),
        },
    ];
    let mut done = 0;
    for verb in verbs {
        let n = recording.reel().n_ops();
        recording.seek_ops(n - 1 - rng.below(200) as usize);
        done += usize::from(recording.act(verb).is_ok());
        let on = recording.at() + rng.between(Dur::ms(200), Dur::secs(2));
        recording.run_until(on);
    }
    assert!(done >= 6, "only {done} actions were accepted");
    let end = recording.at().since(recording.origin());
    let recipe = decode(&encode(&recording.branch().scenario)).unwrap_or_else(|error| panic!("{error}"));
    let straight = run_to(&recipe, end);
    assert_eq!(straight.reel().len(), recording.reel().len());
    for index in 0..straight.reel().len() {
        assert_eq!(recording.reel().get(index), straight.reel().get(index), "entry {index}");
    }
    assert_eq!(straight.digest(), recording.digest());
}

#[test]
fn a_link_reproduces_the_run_and_the_moment() {
    let mut recording = run_to(&gallery("as-it-happened"), Dur::secs(14));
    recording.seek_ops(recording.reel().n_ops() - 37);
    assert!(recording.act(Verb::Pause(vec![Node::Broker(2)])).is_ok());
    for _ in 0..25 {
        playback::forward(&mut recording, Unit::Event);
    }
    let link = Link {
        at: Some(recording.moment()),
        digest: Some(short_digest(recording.digest())),
        ..Link::new((*recording.branch().scenario).clone())
    };
    let read = Link::read(&link.fragment()).unwrap_or_else(|error| panic!("{error}"));
    let mut opened = self::recording(read.scenario);
    opened.seek_moment(read.at.unwrap_or(Moment::after(Dur::ZERO)));
    assert_eq!(Some(short_digest(opened.digest())), read.digest);
    assert_eq!((opened.at(), opened.cursor().ops), (recording.at(), recording.cursor().ops));
}

#[test]
fn keyframes_stay_within_their_number_and_serve_every_age() {
    let mut recording = run_to(&gallery("the-cure"), Dur::secs(240));
    let n = recording.reel().n_ops();
    assert!(n > 20_000, "{n} steps");
    for place in [0, n / 7, n / 3, n / 2, n - 1] {
        recording.seek_ops(place);
        assert_eq!(recording.cursor().ops, place);
    }
    recording.seek(SimTime(0));
    assert_eq!(recording.at(), recording.origin());
}
