//! The scenario: strict reader, canonical form, checks, and the lowering to what the engine can do. YAML is not read
//! here; this is its JSON.

mod check;
mod configs;
pub mod error;
pub mod gallery;
mod hints;
pub mod lower;
pub mod model;
mod notes;
mod object;
mod read;
pub mod shown;
pub mod storyboard;
mod token;
pub mod unit;
mod verb;
mod wire;
mod write;

pub use error::{Problem, ScenarioError};
pub use gallery::ScenarioId;
pub use lower::{Due, Lowered, Need, lower};
pub use model::*;
pub use notes::{Note, notes};
pub use token::{MAX_DEPTH, MAX_TEXT, MAX_VALUES};

/// Reads a scenario and checks everything that can be known without running it.
///
/// # Errors
/// The first mistake, with its path, line and column, and what was expected.
pub fn decode(text: &str) -> Result<Scenario, ScenarioError> {
    let value = token::parse(text)?;
    let scenario = read::scenario(&object::At::root(&value))?;
    check::check(&scenario, &value)?;
    Ok(scenario)
}

/// Whether a scenario that was made, and not read, fits together.
///
/// # Errors
/// The first mistake, with its path; there is no text that has a line.
pub fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    check::check(scenario, &object::nowhere())
}

/// The canonical form: keys in the order of the schema, defaults left out, the shortest durations, no space.
pub fn encode(scenario: &Scenario) -> String {
    write::scenario(scenario).to_string()
}

/// One verb as a script has it.
pub fn verb_text(verb: &Verb) -> String {
    write::verb(verb).to_string()
}

/// The canonical form with line breaks, for people.
pub fn encode_pretty(scenario: &Scenario) -> String {
    let value = write::scenario(scenario);
    serde_json::to_string_pretty(&value).unwrap_or_default()
}
