//! What is wrong with a scenario, where, and what was expected. Holds no sentence for the page: its words are made from
//! the parts.

use std::fmt;

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Problem {
    /// The text is not strict JSON.
    NotJson,
    UnknownKey,
    /// The same key twice in one object.
    Duplicate,
    WrongType,
    OutOfRange,
    Missing,
    /// Well formed, and cannot be.
    Impossible,
    /// Kafka does not take it; what was expected is Kafka's own sentence.
    Refused,
    /// Beyond a limit of the reader or of the simulation.
    TooLarge,
    /// Part of the format, but of a later version than this reader or this build knows.
    NewerVersion,
}

/// A mistake with its place. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    pub problem: Problem,
    /// Keys and indexes from the root, such as `topics/orders/replication`; empty at the root.
    pub path: String,
    pub line: u32,
    pub column: u32,
    pub found: String,
    pub expected: String,
    pub nearest: Option<String>,
    pub limit: Option<u64>,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.problem {
            Problem::NotJson => "not JSON",
            Problem::UnknownKey => "unknown",
            Problem::Duplicate => "given twice",
            Problem::WrongType => "wrong type",
            Problem::OutOfRange => "out of range",
            Problem::Missing => "missing",
            Problem::Impossible => "impossible",
            Problem::Refused => "refused by Kafka",
            Problem::TooLarge => "too large",
            Problem::NewerVersion => "needs a newer version",
        };
        // A scenario that was made and not read has no lines.
        if self.line > 0 {
            write!(f, "{}:{}: ", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{what}")?;
        if !self.found.is_empty() {
            let before = if self.problem == Problem::Refused { " " } else { ": found " };
            write!(f, "{before}{}", self.found)?;
        }
        if !self.expected.is_empty() {
            let before = if self.problem == Problem::Refused { ": " } else { ", expected " };
            write!(f, "{before}{}", self.expected)?;
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean {nearest}?")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioError {}

/// The known name that is nearest to what was written, if any is near enough to be meant.
pub fn nearest<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let allowed = (written.chars().count() / 3).max(2);
    known
        .into_iter()
        .map(|name| (distance(written, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_string())
}

/// The version that stands nearest to the written one: the newest of all to what is newer, the oldest to what is older.
pub fn nearest_version<'a>(written: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.trim_start_matches('v').split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next().unwrap_or(Ok(0)).ok()?))
    };
    let wanted = numbers(written)?;
    let rank = |version: (u32, u32)| u64::from(version.0) * 1_000 + u64::from(version.1);
    let all = known.into_iter().filter_map(|name| Some((rank(numbers(name)?).abs_diff(rank(wanted)), name)));
    all.min_by_key(|(distance, _)| *distance).map(|(_, name)| name.to_string())
}

/// Edits (insert, remove, replace, swap of neighbours) that lead from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    // Nobody means a short key with a word of a kilobyte; this bounds the table.
    let a: Vec<char> = a.chars().take(80).collect();
    let b: Vec<char> = b.chars().take(80).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + same);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_and_nonsense_has_none() {
        let known = ["partitions", "replication", "replicas", "config"];
        assert_eq!(nearest("partitons", known).as_deref(), Some("partitions"));
        assert_eq!(nearest("replicaton", known).as_deref(), Some("replication"));
        assert_eq!(nearest("ocnfig", known).as_deref(), Some("config"));
        assert_eq!(nearest("zzzzzzzz", known), None);
    }
}
