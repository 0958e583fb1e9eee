//! The work that the benchmarks measure, the same natively and in the page. It deliberately knows no clock: whoever
//! runs it
//! brings one.

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::world::World;

use super::command::Command;
use super::{Desk, Studio};
use crate::link::Link;
use crate::recording::Cursor;
use crate::scenario::{Moment, Scenario, lower};
use crate::view::model::{OpenError, ScenarioId};

/// The cluster that is measured: three brokers, three controllers, a producer and a group, with every client at work to
/// the end.
fn cluster() -> Scenario {
    ScenarioId::named("the-cure").and_then(|id| id.scenario().ok()).unwrap_or_default()
}

/// The length of the run in which is sought.
const RUN: Dur = Dur::secs(600);
/// A step of the golden ratio goes through a stretch evenly and never in order.
const STRIDE_PER_MILLION: u64 = 618_034;

/// Records ten simulated minutes, then stands at `samples` moments all over them and looks at the stage at each; what
/// `now`
/// gives in milliseconds before and after makes the length of each. The recording is not counted.
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
