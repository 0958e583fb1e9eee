//! `cargo xtask bench`: builds the release page and the native command, and measures both.
//!
//! It deliberately holds no figures and no budgets: those stand in `tests/e2e/bench.mjs`.

use crate::house::{House, execute};
use crate::page::{self, Profile};
use crate::{suite, tools};

/// Builds, measures and prints.
///
/// # Errors
/// A failing build, a missing tool, or a figure over its budget.
pub fn run(house: &House) -> Result<(), String> {
    tools::wasm_target(house)?;
    tools::node_installed(house)?;
    tools::npm_packages(house)?;
    page::build(house, Profile::Release, &house.root.join("dist"))?;
    execute(house.cargo().args(["build", "--locked", "--profile", "native", "-p", "highwater-cli"]))?;
    let command = house.target.join("native").join(format!("highwater{}", std::env::consts::EXE_SUFFIX));
    execute(suite::browser_script(house, "tests/e2e/bench.mjs")?.env("HIGHWATER_COMMAND", command))
}
