//! The result of a comparison, as data, as a table for people and as JSON for programs. Decides nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

/// One file against the engine.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    pub id: String,
    pub title: String,
    pub kafka: Vec<String>,
    pub seeds: Vec<u64>,
    /// Entries at which something was compared or left out.
    pub entries: Vec<EntryReport>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EntryReport {
    /// Position in the file's `script`, from 0.
    pub entry: usize,
    pub step: String,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// As recorded; the rule by which.
    Equal(String),
    /// As recorded in the run of the engine that fits the file best, otherwise in others: a matter of chance, of which
    /// a recording shows one case.
    InSomeRuns {
        differences: Vec<Difference>,
    },
    Different(Vec<Difference>),
    NotModelled(String),
}

/// Something that is not as recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// `see`, `held`, `took` or `answer`.
    pub part: String,
    pub expected: String,
    /// Values that the engine gave instead, each with its seeds.
    pub got: Vec<(String, Vec<u64>)>,
}

/// Numbers of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// With every seed.
    pub equal: usize,
    pub in_some_runs: usize,
    pub different: usize,
    pub not_modelled: usize,
}

impl FileReport {
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for entry in &self.entries {
            match entry.outcome {
                Outcome::Equal(_) => counts.equal += 1,
                Outcome::InSomeRuns { .. } => counts.in_some_runs += 1,
                Outcome::Different(_) => counts.different += 1,
                Outcome::NotModelled(_) => counts.not_modelled += 1,
            }
        }
        counts
    }

    fn json(&self, file: &str) -> Value {
        let counts = self.counts();
        let entries: Vec<Value> = self
            .entries
            .iter()
            .map(|e| match &e.outcome {
                Outcome::Equal(rule) => json!({ "entry": e.entry, "step": e.step, "outcome": "equal", "rule": rule }),
                Outcome::NotModelled(reason) => json!({
                    "entry": e.entry,
                    "step": e.step,
                    "outcome": "not modelled",
                    "reason": reason,
                }),
                Outcome::InSomeRuns { differences } => {
                    json!({
                        "entry": e.entry,
                        "step": e.step,
                        "outcome": "equal in some runs",
                        "otherwise": differences.iter().map(Difference::json).collect::<Vec<_>>(),
                    })
                }
                Outcome::Different(differences) => {
                    json!({
                        "entry": e.entry,
                        "step": e.step,
                        "outcome": "different",
                        "differences": differences.iter().map(Difference::json).collect::<Vec<_>>(),
                    })
                }
            })
            .collect();
        json!({
            "file": file, "id": self.id, "title": self.title, "kafka": self.kafka, "seeds": self.seeds,
            "equal": counts.equal, "equalInSomeRuns": counts.in_some_runs, "different": counts.different,
            "notModelled": counts.not_modelled, "entries": entries,
        })
    }
}

impl Difference {
    /// How many seeds differ.
    pub fn seeds(&self) -> usize {
        self.got.iter().map(|(_, seeds)| seeds.len()).sum()
    }

    fn json(&self) -> Value {
        let got: Vec<Value> = self.got.iter().map(|(value, seeds)| json!({ "value": value, "seeds": seeds })).collect();
        json!({ "part": self.part, "expected": self.expected, "got": got, "seedsThatDiffer": self.seeds() })
    }
}

/// The reports of all files, by the name under which each was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub files: Vec<(String, FileReport)>,
}

impl Table {
    pub fn counts(&self) -> Counts {
        self.files.iter().fold(Counts::default(), |sum, (_, file)| {
            let one = file.counts();
            Counts {
                equal: sum.equal + one.equal,
                in_some_runs: sum.in_some_runs + one.in_some_runs,
                different: sum.different + one.different,
                not_modelled: sum.not_modelled + one.not_modelled,
            }
        })
    }

    pub fn json(&self) -> Value {
        let counts = self.counts();
        json!({
            "files": self.files.iter().map(|(name, file)| file.json(name)).collect::<Vec<_>>(),
            "equal": counts.equal,
            "equalInSomeRuns": counts.in_some_runs,
            "different": counts.different,
            "notModelled": counts.not_modelled,
        })
    }

    /// The table, then what is not modelled and what differs, entry by entry. `verbose` lists the equal ones too, with
    /// the rule used.
    pub fn text(&self, verbose: bool) -> String {
        let mut out = String::new();
        let width = self.files.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(4);
        let mut row = |name: &str, kafka: &str, counts: Counts| {
            let _ = writeln!(
                out,
                "{name:width$}  {kafka:8}  {:>5}  {:>12}  {:>9}  {:>12}",
                counts.equal, counts.in_some_runs, counts.different, counts.not_modelled
            );
        };
        for (name, file) in &self.files {
            row(name, &file.kafka.join(","), file.counts());
        }
        row("all", "", self.counts());
        let head = format!(
            "{:width$}  {:8}  {:>5}  {:>12}  {:>9}  {:>12}\n",
            "file", "kafka", "equal", "in some runs", "different", "not modelled"
        );
        let mut out = head + &out;
        for (name, file) in &self.files {
            details(&mut out, name, file, verbose);
        }
        out
    }
}

fn details(out: &mut String, name: &str, file: &FileReport, verbose: bool) {
    let mut lines = String::new();
    let mut gaps: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for entry in &file.entries {
        match &entry.outcome {
            Outcome::Equal(rule) if verbose => {
                let _ = writeln!(lines, "  script[{}] equal: {}\n    rule: {rule}", entry.entry, entry.step);
            }
            Outcome::Equal(_) => {}
            Outcome::NotModelled(reason) => gaps.entry(reason).or_default().push(entry.entry),
            Outcome::InSomeRuns { differences } | Outcome::Different(differences) => {
                let is_chance = matches!(entry.outcome, Outcome::InSomeRuns { .. });
                let _ = writeln!(
                    lines,
                    "  script[{}] {}: {}",
                    entry.entry,
                    if is_chance { "equal in some runs" } else { "different" },
                    entry.step
                );
                for difference in differences {
                    let _ = writeln!(lines, "    {} expected: {}", difference.part, difference.expected);
                    for (value, seeds) in &difference.got {
                        let _ = writeln!(
                            lines,
                            "    {} got:      {value}  ({} of {} seeds, such as {})",
                            difference.part,
                            seeds.len(),
                            file.seeds.len(),
                            seeds.first().unwrap_or(&0)
                        );
                    }
                }
            }
        }
    }
    for (reason, entries) in gaps {
        let list: Vec<String> = entries.iter().map(|e| format!("script[{e}]")).collect();
        let _ = writeln!(lines, "  not modelled: {reason}: {}", list.join(", "));
    }
    if !lines.is_empty() {
        let _ = write!(out, "\n{name}: {}\n{lines}", file.title);
    }
}
