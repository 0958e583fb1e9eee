//! How many seeds of the engine must agree with what real runs agreed on, and how many must be played to know it. Looks
//! at no value: it counts.
//!
//! A recording shows what n runs of a real cluster agreed on. Were the engine that cluster and p the share of its seeds
//! that give this value, then n runs agree on it with probability pⁿ. Below one in twenty the engine does something
//! else as a rule and the recorded thing as a rare case: that is a difference. Where the runs varied, each of their
//! values is one case among many, and one seed must give one of them.
//!
//! Values of one file depend on each other: who was elected decides all that follows. So the seeds that agree are
//! followed through the script, and at each entry some of those that have agreed with everything before must agree with
//! it too; values that each come, but never together, are those of another cluster. Chances of entries that do not
//! depend on each other multiply, so there is no bound for the share of the whole file, only for each entry.
//!
//! A share is known when a real share at the bound would give so many or so few agreeing seeds with less than one in
//! twenty; until then more seeds are played, up to [`MOST_SEEDS`], and then the share that was seen decides.

/// Seeds that are played at first, and those whose times are compared.
pub const SEEDS: u64 = 20;
/// Seeds that are played at most.
pub const MOST_SEEDS: u64 = 100;
/// What is held to be no chance any more.
const RARE: f64 = 0.05;

/// The least share of seeds that must agree with what this many runs agreed on.
pub fn bound(runs: i64) -> f64 {
    RARE.powf(1.0 / runs.max(1) as f64)
}

/// One entry: whether the recorded runs agreed at it, and whether each play agrees with them.
pub struct Row {
    pub entry: usize,
    pub same: bool,
    pub agrees: Vec<bool>,
}

/// What the counts of an entry say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Enough seeds agree.
    Enough,
    /// Too few do.
    TooFew,
    /// Enough do, but none of those that agree with all entries before.
    NeverTogether,
}

/// The standing of each row, and whether it is known or more seeds may still change it.
pub fn standings(rows: &[Row], runs: i64) -> Vec<(usize, Standing, bool)> {
    let bound = bound(runs);
    let mut so_far: Vec<bool> = vec![true; rows.first().map_or(0, |row| row.agrees.len())];
    let mut found = Vec::new();
    for row in rows {
        let (all, agreeing) = (row.agrees.len(), row.agrees.iter().filter(|agrees| **agrees).count());
        let enough = if row.same { agreeing as f64 >= bound * all as f64 } else { agreeing > 0 };
        let known = agreeing == all
            || at_most(agreeing, all, bound) < RARE
            || (!row.same && agreeing > 0)
            || at_least(agreeing, all, bound) < RARE;
        if !enough {
            found.push((row.entry, Standing::TooFew, known));
            continue;
        }
        let together: Vec<bool> = so_far.iter().zip(&row.agrees).map(|(before, now)| *before && *now).collect();
        if together.contains(&true) {
            so_far = together;
            found.push((row.entry, Standing::Enough, known));
            continue;
        }
        // So few may be left that none of them agrees by chance.
        let left = so_far.iter().filter(|before| **before).count();
        found.push((row.entry, Standing::NeverTogether, at_most(0, left, bound) < RARE));
    }
    found
}

/// The probability of at most `k` agreeing seeds of `n` where each agrees with probability `p`.
fn at_most(k: usize, n: usize, p: f64) -> f64 {
    let mut term = (1.0 - p).powi(n as i32);
    let mut sum = term;
    for i in 1..=k.min(n) {
        term *= (n - i + 1) as f64 / i as f64 * p / (1.0 - p);
        sum += term;
    }
    sum
}

/// The probability of at least `k`.
fn at_least(k: usize, n: usize, p: f64) -> f64 {
    if k == 0 { 1.0 } else { 1.0 - at_most(k - 1, n, p) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of this many agreeing seeds, then this many others.
    fn row(entry: usize, same: bool, agreeing: usize, others: usize) -> Row {
        Row { entry, same, agrees: [vec![true; agreeing], vec![false; others]].concat() }
    }

    #[test]
    fn a_recordings_rare_case_is_not_agreement() {
        for (runs, agreeing, expected) in [
            (1, 0, Standing::TooFew),
            (1, 1, Standing::Enough),
            (2, 4, Standing::TooFew),
            (2, 5, Standing::Enough),
            (3, 7, Standing::TooFew),
            (3, 8, Standing::Enough),
        ] {
            let found = standings(&[row(0, true, agreeing, 20 - agreeing)], runs);
            assert_eq!(found[0].1, expected, "{agreeing} of 20 for {runs} runs");
        }
    }

    #[test]
    fn of_values_that_varied_one_seed_must_give_one() {
        assert_eq!(standings(&[row(0, false, 1, 19)], 2), [(0, Standing::Enough, true)]);
        assert_eq!(standings(&[row(0, false, 0, 20)], 2), [(0, Standing::TooFew, true)]);
    }

    #[test]
    fn a_share_near_the_bound_asks_for_more_seeds() {
        for (agreeing, others, known) in [(3, 0, true), (0, 3, false), (0, 20, true), (4, 16, false), (30, 70, true)] {
            assert_eq!(standings(&[row(0, true, agreeing, others)], 2)[0].2, known, "{agreeing} and {others}");
        }
    }

    #[test]
    fn values_that_never_come_together_are_a_difference() {
        let first = row(0, true, 20, 20);
        let second = Row { entry: 1, same: true, agrees: first.agrees.iter().map(|agrees| !agrees).collect() };
        let third = row(2, true, 20, 20);
        let found: Vec<Standing> =
            standings(&[first, second, third], 2).iter().map(|(_, standing, _)| *standing).collect();
        assert_eq!(found, [Standing::Enough, Standing::NeverTogether, Standing::Enough]);
    }

    #[test]
    fn too_few_seeds_that_agree_so_far_ask_for_more() {
        let first = row(0, true, 5, 15);
        let second = row(1, true, 0, 5);
        let second = Row { agrees: [second.agrees, vec![true; 15]].concat(), ..second };
        assert_eq!(standings(&[first, second], 2)[1], (1, Standing::NeverTogether, false));
    }
}
