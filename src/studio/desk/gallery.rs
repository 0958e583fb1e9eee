//! The scenarios that the picker offers, as they stand in the repository. It runs none of them.

use crate::scenario::{Scenario, ScenarioError, decode};
use crate::view::model::ScenarioId;

/// The file of a scenario.
pub fn text(id: ScenarioId) -> &'static str {
    match id {
        ScenarioId::AsItHappened => include_str!("../../../tests/scenarios/as-it-happened.json"),
        ScenarioId::SameToday => include_str!("../../../tests/scenarios/same-cluster-today.json"),
        ScenarioId::TheCure => include_str!("../../../tests/scenarios/the-cure.json"),
    }
}

/// A scenario of the picker.
///
/// # Errors
/// None for the files as they are; a test holds them to it.
pub fn scenario(id: ScenarioId) -> Result<Scenario, ScenarioError> {
    decode(text(id))
}

/// Which scenario of the picker this is, if it is one unchanged.
pub fn identify(scenario: &Scenario) -> Option<ScenarioId> {
    ScenarioId::ALL.into_iter().find(|id| self::scenario(*id).is_ok_and(|known| known == *scenario))
}
