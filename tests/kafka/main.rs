//! What real Apache Kafka did: the same steps, the same outcome. Plays our own few recordings and, where they are at
//! hand, those of a real cluster; knows none by name.
//!
//! The real ones are looked for in the folder named by `HIGHWATER_REFERENCE`, else in `../shared/reference` beside the
//! checkout.
#![allow(clippy::disallowed_methods, reason = "tests read files and use all cores; the studio itself does neither")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use highwater_engine::world::World;
use highwater_studio::reference::{FileReport, MOST_SEEDS, Outcome, Recording, SEEDS, Table, decided, judge, play};

/// Seeds of each file at first; those that cannot tell chance from rule are followed by more.
const AT_FIRST: u64 = 3;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn own() -> PathBuf {
    root().join("tests/kafka/recordings")
}

/// Recordings in a folder and the folders in it, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> Recording {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Recording::read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn judged(recording: &Recording) -> FileReport {
    let mut plays = Vec::new();
    let mut seeds = 1..=AT_FIRST;
    loop {
        plays.extend(seeds.map(|seed| (seed, play::<World>(recording, seed))));
        let last = plays.len() as u64;
        if last >= MOST_SEEDS || decided(recording, &plays) {
            return judge(recording, &plays);
        }
        seeds = last + 1..=(2 * last).clamp(SEEDS, MOST_SEEDS);
    }
}

/// Plays all files of a folder on two threads and prints the table.
fn table(folder: &Path) -> Table {
    let waiting = Mutex::new(files(folder));
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(path) = waiting.lock().expect("no panic while it is held").pop() else { break };
                    let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                    let report = judged(&read(&path));
                    done.lock().expect("no panic while it is held").push((name, report));
                }
            });
        }
    });
    let mut files = done.into_inner().expect("no panic while it was held");
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    let table = Table { files };
    println!("{}", table.text(false));
    table
}

#[test]
fn our_own_recordings_play_as_the_rules_say() {
    let table = table(&own());
    assert!(table.counts().equal > 0, "nothing was compared");
    assert_eq!(table.counts().different, 0, "see the table above");
}

#[test]
fn recordings_of_real_kafka_play_as_they_were() {
    let folder =
        std::env::var_os("HIGHWATER_REFERENCE").map_or_else(|| root().join("../shared/reference"), PathBuf::from);
    if files(&folder).is_empty() {
        println!("no recordings of real Kafka in {}", folder.display());
        return;
    }
    let table = table(&folder);
    assert!(table.counts().equal > 0, "nothing was compared");
    // Folders within hold the same steps on older releases, one run each: they cannot say what varies, so they are
    // printed alone.
    let newest = Table { files: table.files.into_iter().filter(|(name, _)| !name.contains('/')).collect() };
    assert_eq!(newest.counts().different, 0, "see the table above");
}

#[test]
fn what_is_not_modelled_is_listed_with_its_entry_and_takes_nothing_else_away() {
    let report = judged(&read(&own().join("gaps.json")));
    let gaps: Vec<usize> =
        report.entries.iter().filter(|e| matches!(e.outcome, Outcome::NotModelled(_))).map(|e| e.entry).collect();
    let equal: Vec<usize> =
        report.entries.iter().filter(|e| matches!(e.outcome, Outcome::Equal(_))).map(|e| e.entry).collect();
    assert_eq!(gaps, [1, 3, 5, 7, 8]);
    assert_eq!(equal, [2, 4, 6]);
}

/// A judge that finds no difference in a false recording would be worth nothing.
#[test]
fn a_false_recording_is_found_out() {
    let text = fs::read_to_string(own().join("leader-dies.json")).expect("the file is there");
    let mut wrong = 0;
    for (right, false_one) in [
        (r#""acked": 10"#, r#""acked": 9"#),
        (r#""isr": [2, 3, 1]"#, r#""isr": [1, 2, 3]"#),
        (r#""took": [7.0, 10.0]"#, r#""took": [30.0, 31.0]"#),
        ("ElectionNotNeededException", "NotControllerException"),
    ] {
        let altered = text.replacen(right, false_one, 1);
        assert_ne!(text, altered, "{right} is in the file");
        let report = judged(&Recording::read(&altered).expect("it is a recording"));
        assert_eq!(report.counts().different, 1, "{false_one}: {:?}", report.entries);
        wrong += 1;
    }
    assert_eq!(wrong, 4);
}
