//! `highwater conform`: recordings against the engine. Knows no file by name and judges nothing itself.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use highwater_engine::world::World;
use highwater_studio::reference::{
    FileReport, MOST_SEEDS, Play, Recording, SEEDS, Table, decided, judge, play, play_with_decisions,
};

use crate::Complaint;
use crate::args::Conform;
use crate::out::say;
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
            say!("{name}: {}", recording.title);
            crate::out::write(format_args!(
                "{}",
                play_with_decisions::<World>(recording, options.seeds.map_or(1, |(first, _)| first)).1
            ));
        }
    }
    let table = Table { files: conform(&recordings, options.seeds, options.threads) };
    if options.json {
        say!("{:#}", table.json());
    } else {
        crate::out::write(format_args!("{}", table.text(options.verbose)));
    }
    Ok(table.counts().different == 0)
}

/// Plays with the seeds that were asked for; else with the usual number, and a file with more as long as these do not
/// say what is chance.
fn conform(recordings: &[(String, Recording)], seeds: Option<(u64, u64)>, threads: usize) -> Vec<(String, FileReport)> {
    let mut plays: Vec<Vec<(u64, Play)>> = vec![Vec::new(); recordings.len()];
    let (mut first, mut last) = seeds.unwrap_or((1, SEEDS));
    let mut open: Vec<usize> = (0..recordings.len()).collect();
    while !open.is_empty() {
        let jobs: Vec<(usize, u64)> = open.iter().flat_map(|file| (first..=last).map(|seed| (*file, seed))).collect();
        let played = play_all(recordings, &jobs, threads);
        for ((file, seed), play) in jobs.into_iter().zip(played) {
            plays[file].push((seed, play));
        }
        open.retain(|file| seeds.is_none() && last < MOST_SEEDS && !decided(&recordings[*file].1, &plays[*file]));
        (first, last) = (last + 1, (last + SEEDS).min(MOST_SEEDS));
    }
    recordings.iter().zip(plays).map(|((name, recording), plays)| (name.clone(), judge(recording, &plays))).collect()
}

fn play_all(recordings: &[(String, Recording)], jobs: &[(usize, u64)], threads: usize) -> Vec<Play> {
    // A panic is told as a difference of its file; the default hook would print each of them between the others.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let plays = workers::each(jobs.len(), threads, |job| {
        let (file, seed) = jobs[job];
        let recording = &recordings[file].1;
        catch_unwind(AssertUnwindSafe(|| play::<World>(recording, seed))).unwrap_or_else(|panic| {
            Play::failed(recording, format!("the engine panicked: {}", workers::words(&*panic)))
        })
    });
    std::panic::set_hook(hook);
    plays
}
