//! `highwater swarm`: many random runs on all cores. What is drawn and checked is the studio's search.

use std::panic::{AssertUnwindSafe, catch_unwind};

use highwater_studio::link::Link;
use highwater_studio::notation::{self, Book};
use highwater_studio::scenario;
use highwater_studio::search::{Counts, draw, link, run as run_one, shrink};

use crate::Complaint;
use crate::args::Swarm;
use crate::out::say;
use crate::workers;

/// Runs that are tried to find fewer actions that still go wrong.
const SHRINK_TRIES: u32 = 200;
/// From so many runs on, each of the hard things must have happened.
const ENOUGH_RUNS: u64 = 1_000;
/// Runs that went wrong and are told in full; of the others only the seed.
const TOLD: usize = 3;

/// Runs and prints; true if no run went wrong.
pub fn run(options: &Swarm) -> Result<bool, Complaint> {
    let results = workers::each(options.runs as usize, options.threads, |index| {
        let seed = options.seed.wrapping_add(index as u64);
        let report = catch_unwind(AssertUnwindSafe(|| {
            let report = run_one(&draw(seed));
            (report.counts, report.failure.map(|failure| failure.what))
        }));
        (
            seed,
            report.unwrap_or_else(|panic| {
                (Counts::default(), Some(format!("the engine panicked: {}", workers::words(&*panic))))
            }),
        )
    });
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for (seed, (one, failure)) in results {
        counts.add(&one);
        wrong.extend(failure.map(|what| (seed, what)));
    }
    for (name, value) in counts.fields() {
        say!("{name:32} {value:>14}");
    }
    let never = counts.never_happened();
    for name in &never {
        say!("never happened: {name}");
    }
    for (i, (seed, what)) in wrong.iter().enumerate() {
        say!("\nseed {seed}: {what}");
        if i < TOLD {
            tell(*seed);
        }
    }
    say!("\n{} of {} runs went wrong", wrong.len(), options.runs);
    // A few runs may miss something; many that do are too benign to prove anything.
    let is_benign = options.runs >= ENOUGH_RUNS && !never.is_empty();
    Ok(wrong.is_empty() && !is_benign)
}

/// The shrunken run of a seed, its link, and the last lines of its trace.
fn tell(seed: u64) {
    let told = catch_unwind(AssertUnwindSafe(|| {
        let drawn = draw(seed);
        let small = shrink(&drawn, SHRINK_TRIES);
        say!("  {} of {} entries of the script still go wrong:", small.script.len(), drawn.script.len());
        say!("  {}", scenario::encode(&small));
        if let Some(failure) = run_one(&small).failure {
            say!("  after {} ms: {}", failure.at.since(failure.origin).as_ms(), failure.what);
            say!("  opens at that moment: {}", link(&small, failure.at, failure.origin));
            let mut book = Book::default();
            for entry in &failure.last_entries {
                book.learn(entry);
                say!("  {}", notation::line(entry, failure.origin, &book));
            }
        }
    }));
    if let Err(panic) = told {
        say!("  it cannot be shrunk: the engine panicked: {}", workers::words(&*panic));
        say!("  the drawn run: #{}", Link::new(draw(seed)).fragment());
    }
}
