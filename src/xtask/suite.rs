//! `cargo xtask test`: installs what is missing, then runs every test there is, saying what it does.
//!
//! It deliberately skips nothing: a step that cannot run has failed.

use crate::house::{House, execute};
use crate::options::Options;
use crate::page::{self, Profile};
use crate::{deny, tools, trunk};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// One line of the list below.
struct Step {
    /// How `--only` calls it.
    name: &'static str,
    /// What it is for, in a few words.
    about: &'static str,
    /// Which steps must have gone well before it.
    needs: &'static [&'static str],
    run: fn(&House) -> Result<(), String>,
}

/// The order goes from quick and telling to slow.
const STEPS: [Step; 16] = [
    Step { name: "target", about: "the compiler's wasm target", needs: &[], run: tools::wasm_target },
    Step {
        name: "node",
        about: "Node for the browser tests",
        needs: &[],
        run: |house| tools::node_installed(house).map(drop),
    },
    Step { name: "npm", about: "npm packages of the browser tests", needs: &["node"], run: tools::npm_packages },
    Step {
        name: "browser",
        about: "Chromium and its driver",
        needs: &[],
        run: |house| tools::browser(house).map(drop),
    },
    Step { name: "fmt", about: "formatting", needs: &[], run: fmt },
    Step { name: "tidy", about: "house rules", needs: &[], run: tidy },
    Step { name: "deny", about: "licences, sources and bans of what is depended on", needs: &[], run: deny::run },
    Step { name: "clippy", about: "lints, native", needs: &[], run: clippy },
    Step { name: "clippy-wasm", about: "lints, as the browser compiles it", needs: &["target"], run: clippy_wasm },
    Step { name: "native", about: "tests of engine, studio, command and page", needs: &[], run: native },
    Step { name: "swarm", about: "ten thousand known random clusters, and new ones", needs: &[], run: swarm },
    Step { name: "helper", about: "tests of xtask", needs: &[], run: helper },
    Step { name: "wasm", about: "tests in a headless browser", needs: &["target", "browser"], run: wasm },
    Step { name: "build", about: "release build of the page", needs: &["target", "npm"], run: build },
    Step { name: "e2e", about: "the built page in Chromium", needs: &["npm", "browser", "build"], run: e2e },
    Step { name: "trunk", about: "the same page by trunk, where that is", needs: &["target"], run: trunk::run },
];

/// Runs all steps, or those named by `--only` with what they need.
///
/// # Errors
/// When a step failed, or `--only` names none that there is.
fn run_steps(house: &House, chosen: &[&Step]) -> Result<(), String> {
    let start = Instant::now();
    let mut results: Vec<(&str, Duration, Result<(), String>)> = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        println!(
            "\n== [{}/{}] {}: {} (after {})",
            index + 1,
            chosen.len(),
            step.name,
            step.about,
            shown(start.elapsed())
        );
        let from = Instant::now();
        let broken =
            step.needs.iter().find(|need| results.iter().any(|(name, _, result)| name == *need && result.is_err()));
        let result = match broken {
            Some(need) => Err(format!("could not run, because `{need}` failed")),
            None => (step.run)(house),
        };
        match &result {
            Ok(()) => println!("== {}: ok in {}", step.name, shown(from.elapsed())),
            Err(error) => println!("== {}: FAILED in {}\n{error}", step.name, shown(from.elapsed())),
        }
        results.push((step.name, from.elapsed(), result));
    }
    println!("\n== Steps");
    for (name, took, result) in &results {
        println!("   {:<12} {:>8}  {}", name, shown(*took), if result.is_ok() { "ok" } else { "FAILED" });
    }
    let failed: Vec<&str> = results.iter().filter(|(_, _, result)| result.is_err()).map(|(name, _, _)| *name).collect();
    println!("{} steps passed, {} failed, in {}", results.len() - failed.len(), failed.len(), shown(start.elapsed()));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// Reads the options and runs.
///
/// # Errors
/// As [`run_steps`].
pub fn run(house: &House, options: &Options) -> Result<(), String> {
    if options.has("list") {
        for step in &STEPS {
            println!("{:<12} {}", step.name, step.about);
        }
        return Ok(());
    }
    run_steps(house, &choose(&options.values("only"))?)
}

/// The steps of that name and, before them, those that they need; all of them for no name.
fn choose(only: &[&str]) -> Result<Vec<&'static Step>, String> {
    let mut wanted: Vec<&str> = only.to_vec();
    let mut at = 0;
    while at < wanted.len() {
        let step = STEPS.iter().find(|step| step.name == wanted[at]).ok_or_else(|| {
            let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            format!("there is no step `{}`; there are: {}", wanted[at], names.join(", "))
        })?;
        wanted.extend(step.needs);
        at += 1;
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || wanted.contains(&step.name)).collect())
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 100.0 {
        format!("{seconds:.1} s")
    } else {
        format!("{} min {:02} s", seconds as u64 / 60, seconds as u64 % 60)
    }
}

fn fmt(house: &House) -> Result<(), String> {
    execute(house.cargo().args(["fmt", "--all", "--check"]))
}

fn tidy(house: &House) -> Result<(), String> {
    execute(house.cargo().args(["test", "--locked", "-p", "highwater-cli", "--test", "tidy"]))
}

fn clippy(house: &House) -> Result<(), String> {
    execute(house.cargo().args(["clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn clippy_wasm(house: &House) -> Result<(), String> {
    let page = ["clippy", "--locked", "-p", "highwater-page", "--target", "wasm32-unknown-unknown"];
    execute(house.cargo().args(page).args(["--lib", "--bins", "--test", "web", "--", "-D", "warnings"]))
}

/// Every default member of the workspace: the page (rendered natively), engine, studio and command.
fn native(house: &House) -> Result<(), String> {
    execute(house.cargo().args(["test", "--locked", "--no-fail-fast"]))
}

/// The seeds that every change must pass. The command fails if an invariant breaks, a run does not converge, or one
/// of the hard things never happened.
const KNOWN_RUNS: u32 = 10_000;
/// How many runs follow from a seed that nobody has seen yet, so that the tests do not only look where they looked.
const NEW_RUNS: u32 = 1_000;

fn swarm(house: &House) -> Result<(), String> {
    swarm_from(house, KNOWN_RUNS, 1)?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = new_seed(since.as_nanos());
    println!("\n   {NEW_RUNS} runs from a new seed: swarm --runs {NEW_RUNS} --seed {seed}");
    swarm_from(house, NEW_RUNS, seed).map_err(|error| {
        format!(
            "{error}\nThe seed was new: `cargo run --profile native -p highwater-cli -- \
             swarm --runs {NEW_RUNS} --seed {seed}` runs the same again."
        )
    })
}

/// A seed above all the known ones and short enough to be typed.
fn new_seed(nanoseconds: u128) -> u64 {
    const SPAN: u128 = 1_000_000_000;
    u64::from(KNOWN_RUNS) + 1 + (nanoseconds / 1_000 % SPAN) as u64
}

fn swarm_from(house: &House, runs: u32, seed: u64) -> Result<(), String> {
    let mut cargo = house.cargo();
    cargo.args(["run", "--locked", "--profile", "native", "-p", "highwater-cli", "--", "swarm"]);
    execute(cargo.args(["--runs", &runs.to_string(), "--seed", &seed.to_string()]))
}

/// Under the helper's own profile, so that the bindings generator is not compiled a second time.
fn helper(house: &House) -> Result<(), String> {
    execute(house.cargo().args(["test", "--locked", "--profile", "xtask", "-p", "xtask"]))
}

fn wasm(house: &House) -> Result<(), String> {
    let browser = tools::browser(house)?;
    let ourselves = std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))?;
    // Given as a list, because cargo splits the environment variable of the same meaning at spaces.
    let runner =
        format!("target.wasm32-unknown-unknown.runner=[{:?}, \"wasm-test-runner\"]", ourselves.display().to_string());
    let mut cargo = house.cargo();
    cargo.args(["test", "--locked", "--target", "wasm32-unknown-unknown", "-p", "highwater-page", "--test", "web"]);
    cargo.args(["--config", &runner]);
    cargo.env("CHROMEDRIVER", browser.chromedriver);
    // The runner prefers Firefox where it sees its driver; the tests are written for one browser.
    cargo.env_remove("GECKODRIVER");
    cargo.env("WASM_BINDGEN_TEST_DRIVER_TIMEOUT", "30").env("WASM_BINDGEN_TEST_TIMEOUT", "600");
    cargo.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", house.root.join("tests/web/webdriver.json"));
    execute(&mut cargo)
}

fn build(house: &House) -> Result<(), String> {
    page::build(house, Profile::Release, &house.root.join("dist"))
}

fn e2e(house: &House) -> Result<(), String> {
    execute(&mut browser_script(house, "tests/e2e/run.mjs")?)
}

/// A script of the browser tests, told where the browser is and how to start our server.
///
/// # Errors
/// When Node or the browser is missing.
pub fn browser_script(house: &House, script: &str) -> Result<std::process::Command, String> {
    let browser = tools::browser(house)?;
    let ourselves = std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))?;
    let mut node = house.command(tools::node()?);
    node.arg(script).env("CHROMIUM", browser.chromium).env("HIGHWATER_XTASK", ourselves);
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::{KNOWN_RUNS, STEPS, choose, new_seed, shown};
    use std::time::Duration;

    fn names(only: &[&str]) -> Vec<&'static str> {
        choose(only).unwrap().iter().map(|step| step.name).collect()
    }

    #[test]
    fn without_a_name_nothing_is_left_out() {
        assert_eq!(names(&[]).len(), STEPS.len());
    }

    #[test]
    fn a_step_brings_what_it_needs_in_order() {
        assert_eq!(names(&["fmt"]), ["fmt"]);
        assert_eq!(names(&["e2e"]), ["target", "node", "npm", "browser", "build", "e2e"]);
        assert!(choose(&["nothing"]).err().unwrap().contains("there are: target"));
    }

    #[test]
    fn every_need_stands_before_the_step() {
        for (index, step) in STEPS.iter().enumerate() {
            for need in step.needs {
                assert!(STEPS[..index].iter().any(|before| before.name == *need), "{} needs {need}", step.name);
            }
        }
    }

    #[test]
    fn a_new_seed_is_none_of_the_known_ones() {
        assert!(new_seed(0) > u64::from(KNOWN_RUNS));
        assert_ne!(new_seed(1_000_000), new_seed(2_000_000));
    }

    #[test]
    fn times_are_shown_for_people() {
        assert_eq!(shown(Duration::from_millis(1_234)), "1.2 s");
        assert_eq!(shown(Duration::from_secs(125)), "2 min 05 s");
    }
}
