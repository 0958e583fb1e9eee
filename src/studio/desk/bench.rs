//! The work that the benchmarks measure, the same natively and in the page. It deliberately knows no clock: whoever
//! runs it brings one.

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::world::World;

use super::command::Command;
use super::{Desk, Studio};
use crate::link::Link;
use crate::recording::Cursor;
use crate::scenario::{Moment, Scenario, lower};
use crate::view::model::{LogFilter, Micros, OpenError, Pace, ScenarioId, Speed, Window};

/// The cluster that is measured: three brokers, three controllers, a producer and a group, with every client at work to
/// the end.
fn cluster() -> Scenario {
    ScenarioId::named("the-cure").and_then(|id| id.scenario().ok()).unwrap_or_default()
}

/// The length of the run in which is sought.
const RUN: Dur = Dur::secs(600);
const HOUR: Dur = Dur::secs(3_600);
/// A step of the golden ratio goes through a stretch evenly and never in order.
const STRIDE_PER_MILLION: u64 = 618_034;

/// Records ten simulated minutes, then stands at `samples` moments all over them and looks at the stage at each; what
/// `now` gives in milliseconds before and after makes the length of each. The recording is not counted.
///
/// # Errors
/// None for the scenario as it is.
pub fn seeks(samples: u32, now: impl Fn() -> f64) -> Result<Vec<f64>, OpenError> {
    let link = Link { at: Some(Moment::after(RUN)), ..Link::new(cluster()) };
    let mut studio = Studio::open(&link.fragment())?;
    let mut part = 0;
    let mut lengths = Vec::new();
    for _ in 0..samples {
        part = (part + STRIDE_PER_MILLION) % 1_000_000;
        let from = now();
        studio.handle(Command::Scrub { at_us: RUN.0 / 1_000_000 * part });
        studio.scene();
        lengths.push(now() - from);
    }
    Ok(lengths)
}

/// How a frame of a page costs at moments of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Seconds of the run.
    pub at: u64,
    /// Milliseconds of the first frame after the way there.
    pub first: f64,
    /// Milliseconds, on average, of a frame in which something happened.
    pub length: f64,
}

/// A frame of a page, in microseconds.
const FRAME: Micros = 16_667;

/// Goes to each of `moments` (seconds) of a run of the cluster and plays there for `frames` frames at 1 × pace, in
/// which everything that the page shows is made. What `now` gives in milliseconds before and after makes the length.
///
/// # Errors
/// None for the scenario as it is.
pub fn frames(moments: &[u64], frames: u32, now: impl Fn() -> f64) -> Result<Vec<Frame>, OpenError> {
    let mut found = Vec::new();
    for at in moments {
        let link = Link { at: Some(Moment::after(Dur::secs(*at))), ..Link::new(cluster()) };
        let mut studio = Studio::open(&link.fragment())?;
        studio.handle(Command::SetPace(Pace::Fixed(Speed::new(1, 1))));
        studio.handle(Command::Play);
        // As a page that went there: what lies behind is not news, and its log was read on the way.
        let mut heard = studio.news(None).last().map(|line| line.trace);
        studio.log_tail(&LogFilter::default(), LOG_LINES);
        let mut draw = |frame: u32| {
            studio.tick(FRAME, false);
            studio.scene();
            studio.motion();
            studio.promises();
            studio.settings();
            let end = studio.playback().end_us;
            // What nobody reads sixty times a second.
            if frame.is_multiple_of(SELDOM) {
                studio.lanes(Window { from_us: 0, to_us: end }, LANE_SLICES);
                studio.log_tail(&LogFilter::default(), LOG_LINES);
                heard = studio.news(heard).last().map(|line| line.trace).or(heard);
            }
        };
        let arrived = now();
        draw(0);
        let from = now();
        (1..=frames).for_each(draw);
        found.push(Frame { at: *at, first: from - arrived, length: (now() - from) / f64::from(frames.max(1)) });
    }
    Ok(found)
}

/// Frames from one look at the lanes and the log to the next.
const SELDOM: u32 = 15;
/// Slices of a lane, and lines of the log, as a page of 1440 px has them.
const LANE_SLICES: usize = 240;
const LOG_LINES: usize = 40;

/// Records the cluster's first hour and makes what a page shows at its end.
///
/// # Errors
/// None for the scenario as it is.
pub fn hour() -> Result<Studio, OpenError> {
    let link = Link { at: Some(Moment::after(HOUR)), ..Link::new(cluster()) };
    let studio = Studio::open(&link.fragment())?;
    studio.promises();
    studio.log_tail(&LogFilter::default(), LOG_LINES);
    Ok(studio)
}

/// Lets that many events of the cluster happen, with no recording of them, and says how many did.
pub fn events(count: u32) -> u32 {
    let lowered = lower(&cluster());
    let Ok(world) = World::boot(&lowered.setup) else { return 0 };
    let mut cursor = Cursor::new(world);
    let mut entries = Vec::new();
    for done in 0..count {
        entries.clear();
        if cursor.step(&lowered.plan, SimTime(u64::MAX), &mut entries).is_none() {
            return done;
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn as_many_seeks_and_events_are_done_as_were_asked_for() {
        let ticks = Cell::new(0.0);
        let now = || {
            ticks.set(ticks.get() + 1.0);
            ticks.get()
        };
        assert_eq!(events(5_000), 5_000);
        assert_eq!(seeks(3, now).as_deref(), Ok(&[1.0, 1.0, 1.0][..]));
    }
}
