//! The automatic pace: how long a person watches what. It is counted in frames that are handed to the desk; no clock is
//! read.

use std::cell::Cell;
use std::rc::Rc;

use highwater_engine::world::Resource;
use highwater_studio::desk::command::Command;
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::recording::STRIDE;
use highwater_studio::scenario::decode;
use highwater_studio::view::model::*;

use crate::story::named;

const FRAME_US: u64 = 16_000;

/// What a viewer gets of a run that is played from its opening moment.
struct Shown {
    /// Real time that the viewer had spent at the end of each frame, with the simulated time then.
    times: Vec<(u64, u64)>,
    /// Captions with the real time that each stood there while time went slowly.
    captions: Vec<(u64, Fact, u64)>,
    doings: Vec<Doing>,
    ended: Option<Ended>,
}

impl Shown {
    fn of(id: &str) -> Shown {
        let mut studio = Studio::opening(named(id));
        studio.handle(Command::Play);
        let mut shown = Shown { times: Vec::new(), captions: Vec::new(), doings: Vec::new(), ended: None };
        let mut real = 0;
        for _ in 0..60_000 {
            let before = studio.playback().at_us;
            studio.tick(FRAME_US, false);
            real += FRAME_US;
            let now = studio.playback();
            shown.times.push((real, now.at_us));
            let slow = now.at_us - before < FRAME_US;
            if let Some(caption) = now.caption {
                if let Some((at, fact)) = caption.fact.filter(|_| slow) {
                    match shown.captions.last_mut() {
                        Some(last) if (last.0, &last.1) == (at, &fact) => last.2 += FRAME_US,
                        Some(_) | None => shown.captions.push((at, fact, FRAME_US)),
                    }
                }
                shown.doings.extend(caption.doing);
            }
            if !now.playing {
                shown.ended = now.ended;
                break;
            }
        }
        shown
    }

    /// Real time between two simulated moments, in milliseconds.
    fn between(&self, from_us: u64, to_us: u64) -> u64 {
        let real = |at: u64| self.times.iter().find(|(_, sim)| *sim >= at).map_or(0, |(real, _)| *real);
        (real(to_us) - real(from_us)) / 1_000
    }

    fn stood(&self, is: impl Fn(&Fact) -> bool) -> Vec<u64> {
        self.captions.iter().filter(|(_, fact, _)| is(fact)).map(|(_, _, real)| real / 1_000).collect()
    }
}

#[test]
fn a_failover_takes_longer_to_watch_than_the_wait_before_it() {
    let shown = Shown::of("as-it-happened");
    let fenced = shown.captions.iter().find(|(_, fact, _)| matches!(fact, Fact::Fenced { .. }));
    let fenced = fenced.map_or(0, |(at, _, _)| *at);
    let wait = shown.between(15_000_000, fenced - 100_000);
    let failover = shown.between(fenced - 100_000, fenced + 100_000);
    assert!(wait < 3_000, "the wait takes {wait} ms");
    assert!((6_000..20_000).contains(&failover), "the failover takes {failover} ms");
}

/// A run that was opened from the picker has told nobody yet which troubles its nodes had before.
#[test]
fn the_first_trouble_after_a_kill_does_not_hide_the_kill() {
    let mut studio = Studio::scenario(named("the-cure"));
    studio.handle(Command::OpenScenario(named("as-it-happened")));
    studio.handle(Command::Play);
    let mut killed = 0;
    for _ in 0..2_000 {
        studio.tick(FRAME_US, false);
        let caption = studio.playback().caption.and_then(|caption| caption.fact);
        killed += u64::from(caption.is_some_and(|(_, fact)| matches!(fact, Fact::Killed { .. })));
    }
    assert!((2_500..4_500).contains(&(killed * FRAME_US / 1_000)), "{killed} frames");
}

#[test]
fn a_kill_a_fencing_and_an_election_stand_about_three_seconds_each() {
    let shown = Shown::of("as-it-happened");
    for (what, stood) in [
        ("kill", shown.stood(|fact| matches!(fact, Fact::Killed { .. }))),
        ("fencing", shown.stood(|fact| matches!(fact, Fact::Fenced { .. }))),
        ("election", shown.stood(|fact| matches!(fact, Fact::LeaderElected { .. }))),
    ] {
        assert!(stood.first().is_some_and(|ms| (2_500..4_500).contains(ms)), "{what}: {stood:?}: {:?}", shown.captions);
    }
    let told = |doing: &Doing| doing.did == Did::TellsMetadata && doing.to.contains(&NodeRef::Broker(2));
    assert!(shown.doings.iter().any(told), "a controller tells broker 2 what was decided");
}

#[test]
fn what_goes_on_all_the_time_is_slow_once_and_then_fast() {
    let mut studio = Studio::scenario(named("the-cure"));
    studio.handle(Command::SeekTo { at_us: 5_000_000 });
    studio.handle(Command::Play);
    let second = |studio: &mut Studio| {
        let (from, mut frames) = (studio.playback().at_us, 0_u64);
        while studio.playback().at_us < from + 1_000_000 && frames < 5_000 {
            studio.tick(FRAME_US, false);
            frames += 1;
        }
        frames
    };
    let first = second(&mut studio);
    let mut later = first;
    while studio.playback().at_us < 11_000_000 {
        later = second(&mut studio);
    }
    assert!(later * 4 < first, "{first} frames for the first second of traffic, {later} for a later one");
}

#[test]
fn play_ends_when_nothing_new_is_coming_and_says_so() {
    for id in ["as-it-happened", "same-cluster-today", "the-cure"] {
        let shown = Shown::of(id);
        assert!(shown.ended.is_some(), "{id}: play goes on for ever");
    }
    let mut studio = Studio::scenario(named("the-cure"));
    studio.handle(Command::SeekTo { at_us: 100_000_000 });
    studio.handle(Command::Play);
    let mut frames = 0;
    while studio.tick(FRAME_US, false) && studio.playback().playing && frames < 20_000 {
        frames += 1;
    }
    assert_eq!(studio.playback().ended, Some(Ended::NothingNew), "{frames} frames");
    studio.handle(Command::SeekTo { at_us: 1_000_000 });
    assert_eq!(studio.playback().ended, None);
}

#[test]
fn the_countdown_of_a_fencing_ends_with_the_fencing() {
    for id in ScenarioId::ALL {
        let mut studio = Studio::scenario(*id);
        studio.handle(Command::SeekTo { at_us: 15_000_000 });
        let Some(Awaited { what: Waiting::Fencing { broker: 1 }, in_us }) = studio.playback().awaiting else {
            panic!("{id:?}: broker 1 is dead and its session runs")
        };
        let fenced = |studio: &Studio| matches!(studio.scene().brokers[0].standing, BrokerStanding::Fenced { .. });
        studio.handle(Command::SeekTo { at_us: 15_000_000 + in_us - 1_000 });
        assert!(!fenced(&studio), "{id:?}");
        studio.handle(Command::SeekTo { at_us: 15_000_000 + in_us + 20_000 });
        assert!(fenced(&studio), "{id:?}: fenced later than {in_us} us");
    }
}

#[test]
fn play_of_a_run_that_needs_more_than_it_may_ends_and_says_of_what() {
    let text = r#"{"scenario":1,"topics":{"t":{"partitions":1,"replication":1}},
        "producers":{"checkout":{"topic":"t","rate":"10000/s","value-size":1000000}}}"#;
    let scenario = decode(text).unwrap_or_else(|error| panic!("{error}"));
    let mut studio = Studio::open(&Link::new(scenario).fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    studio.handle(Command::SetPace(Pace::Fixed(Speed::SCALE[6])));
    studio.handle(Command::Play);
    let mut frames = 0;
    while studio.playback().playing && frames < 20_000 {
        studio.tick(FRAME_US, false);
        frames += 1;
    }
    let most = Resource::RecordBytes.most();
    assert_eq!(studio.playback().ended, Some(Ended::Needs(Limit::RecordBytes(most))), "{frames} frames");
}

/// A cluster that makes ten thousand records a second, played at a pace.
fn busy(pace: Speed) -> Studio {
    let text = r#"{"scenario":1,"topics":{"t":{"partitions":3,"replication":3}},
        "producers":{"checkout":{"topic":"t","rate":"10000/s","value-size":100}}}"#;
    let scenario = decode(text).unwrap_or_else(|error| panic!("{error}"));
    let mut studio = Studio::open(&Link::new(scenario).fragment()).unwrap_or_else(|error| panic!("{error:?}"));
    studio.handle(Command::SetPace(Pace::Fixed(pace)));
    studio.handle(Command::Play);
    // What a device may do in a frame.
    let asked = Cell::new(0_usize);
    studio.set_enough(Rc::new(move || {
        asked.set(asked.get() + 1);
        asked.get().is_multiple_of(2_000 / STRIDE)
    }));
    studio
}

/// Lets that many frames pass. Returns the simulated time of them in thousandths of the real one.
fn frames(studio: &mut Studio, count: u64, length_us: u64) -> u64 {
    let from = studio.playback().at_us;
    for _ in 0..count {
        studio.tick(length_us, false);
    }
    (studio.playback().at_us - from) * 1_000 / (count * length_us)
}

#[test]
fn play_that_cannot_keep_its_pace_says_which_one_it_reaches() {
    let mut studio = busy(Speed::new(100, 1));
    let reached = frames(&mut studio, 10, 100_000);
    assert!(reached < 90_000, "the run is too light for this test: {reached}");
    assert_eq!(studio.playback().reached, Some(reached));
    // Said for as long as it is so.
    frames(&mut studio, 3, 100_000);
    assert_eq!(studio.playback().reached, Some(reached));

    studio.handle(Command::SetPace(Pace::Fixed(Speed::new(1, 100))));
    assert_eq!(studio.playback().reached, None);
    frames(&mut studio, 30, 100_000);
    assert_eq!(studio.playback().reached, None);
}

#[test]
fn a_page_that_draws_too_slowly_is_said_and_one_that_was_hidden_is_not() {
    let mut studio = busy(Speed::new(1, 10));
    // A tenth of the pace, and only half of each frame is played.
    let reached = frames(&mut studio, 5, 200_000);
    assert_eq!((reached, studio.playback().reached), (50, Some(50)));

    studio.handle(Command::Pause);
    assert_eq!(studio.playback().reached, None);
    studio.handle(Command::Play);
    frames(&mut studio, 1, 60_000_000);
    frames(&mut studio, 100, 10_000);
    assert_eq!(studio.playback().reached, None);
}
