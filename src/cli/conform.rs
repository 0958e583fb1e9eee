//! `highwater conform`: recordings against the engine. Knows no file by name and judges nothing itself.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use highwater_engine::world::World;
use highwater_studio::reference::{FileReport, Play, Recording, Table, judge, play, play_with_decisions};

use crate::Complaint;
use crate::args::Conform;
use crate::workers;

/// Plays and prints; true if nothing differs.
pub fn run(options: &Conform) -> Result<bool, Complaint> {
    let mut recordings = Vec::new();
    for path in &options.files {
        let name = path.display().to_string();
        let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            format!("{name}: byte {}: found bytes that are no text, expected UTF-8", error.utf8_error().valid_up_to())
        })?;
        recordings.push((name.clone(), Recording::read(&text).map_err(|error| format!("{name}: {error}"))?));
    }
    if options.metadata {
        for (name, recording) in &recordings {
            println!("{name}: {}", recording.title);
            print!("{}", play_with_decisions::<World>(recording, options.seeds.0).1);
        }
    }
    let table = Table { files: conform(&recordings, options.seeds, options.threads) };
    if options.json {
        println!("{:#}", table.json());
    } else {
        print!("{}", table.text(options.verbose));
    }
    Ok(table.counts().different == 0)
}

fn conform(recordings: &[(String, Recording)], (first, last): (u64, u64), threads: usize) -> Vec<(String, FileReport)> {
    let seeds = (last - first + 1) as usize;
    // A panic is told as a difference of its file; the default hook would print each of them between the others.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let plays = workers::each(recordings.len() * seeds, threads, |job| {
        let recording = &recordings[job / seeds].1;
        let seed = first + (job % seeds) as u64;
        let played = catch_unwind(AssertUnwindSafe(|| play::<World>(recording, seed)));
        (
            seed,
            played.unwrap_or_else(|panic| {
                Play::failed(recording, format!("the engine panicked: {}", workers::words(&*panic)))
            }),
        )
    });
    std::panic::set_hook(hook);
    recordings
        .iter()
        .zip(plays.chunks(seeds))
        .map(|((name, recording), plays)| (name.clone(), judge(recording, plays)))
        .collect()
}
