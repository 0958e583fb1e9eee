//! `highwater bench`: how many events a second are simulated natively. It measures no more than that; the page is
//! measured in a browser.

use std::time::Instant;

use highwater_studio::desk::bench;

use crate::Complaint;
use crate::args::Bench;
use crate::out::say;

/// Simulates, measures and prints.
///
/// # Errors
/// None; the shape is that of the other commands.
pub fn run(options: &Bench) -> Result<bool, Complaint> {
    bench::events(options.events / 10);
    let from = Instant::now();
    let done = bench::events(options.events);
    let each_second = f64::from(done) / from.elapsed().as_secs_f64().max(1e-9);
    match options.json {
        true => say!("{{\"events_per_second\": {each_second:.0}}}"),
        false => say!("{done} events, {each_second:.0} a second"),
    }
    Ok(done == options.events)
}
