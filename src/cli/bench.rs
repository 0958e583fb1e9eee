//! `highwater bench`: how many events a second are simulated natively, and what a frame of a page costs early and late
//! in a run. It draws nothing; the page is measured in a browser.

use std::time::Instant;

use highwater_studio::desk::bench;

use crate::Complaint;
use crate::args::Bench;
use crate::out::say;

/// Seconds of the run at which frames are measured, and how many of them.
const MOMENTS: [u64; 3] = [60, 600, 3_600];
const FRAMES: u32 = 240;

/// Simulates, measures and prints.
///
/// # Errors
/// None; the shape is that of the other commands.
pub fn run(options: &Bench) -> Result<bool, Complaint> {
    bench::events(options.events / 10);
    let from = Instant::now();
    let done = bench::events(options.events);
    let each_second = f64::from(done) / from.elapsed().as_secs_f64().max(1e-9);
    let started = Instant::now();
    let now = || started.elapsed().as_secs_f64() * 1_000.0;
    let frames = bench::frames(&MOMENTS, FRAMES, now).unwrap_or_default();
    if options.json {
        let lengths: Vec<String> = frames.iter().map(|f| format!("\"{}\": {:.4}", f.at, f.length)).collect();
        say!("{{\"events_per_second\": {each_second:.0}, \"frame_ms\": {{{}}}}}", lengths.join(", "));
    } else {
        say!("{done} events, {each_second:.0} a second");
        for frame in &frames {
            say!("a frame at {} s: {:.3} ms, the first one {:.3} ms", frame.at, frame.length, frame.first);
        }
    }
    Ok(done == options.events)
}
