//! From the errors of the rooms below to those of the page. It repairs nothing and adds no words.

use highwater_engine::world::Refusal;

use super::command::{Refused, Thing};
use crate::link::{LinkError, LinkProblem};
use crate::notation::{self, Book};
use crate::recording::NotDone;
use crate::scenario::{Problem, ScenarioError};
use crate::story::{Seen, reason};
use crate::view::model::{OpenError, OpenProblem};

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_string())
}

/// Why a scenario could not be opened.
pub fn of_scenario(e: &ScenarioError) -> OpenError {
    OpenError {
        what: match e.problem {
            Problem::NotJson => OpenProblem::NotJson,
            Problem::UnknownKey => OpenProblem::UnknownKey,
            Problem::WrongType => OpenProblem::WrongType,
            Problem::OutOfRange | Problem::Duplicate => OpenProblem::OutOfRange,
            Problem::Missing => OpenProblem::Missing,
            Problem::Impossible => OpenProblem::Impossible,
            Problem::Refused => OpenProblem::Refused,
            Problem::TooLarge => OpenProblem::TooLarge,
            Problem::NewerVersion => OpenProblem::NewerVersion,
        },
        place: Some(if e.path.is_empty() { format!("{}:{}", e.line, e.column) } else { e.path.clone() }),
        found: some(&e.found),
        expected: some(&e.expected),
        nearest: e.nearest.clone(),
        limit: e.limit,
    }
}

/// Why a link could not be opened. What could still be read of it stands in `found` if nothing nearer does.
pub fn of_link(e: &LinkError) -> OpenError {
    let what = match &e.problem {
        LinkProblem::CutShort => OpenProblem::CutShort,
        LinkProblem::Changed => OpenProblem::Changed,
        LinkProblem::TooLarge => OpenProblem::TooLarge,
        LinkProblem::NewerVersion => OpenProblem::NewerVersion,
        LinkProblem::UnknownCodec => OpenProblem::UnknownCodec,
        LinkProblem::BadMoment | LinkProblem::BadDigest => OpenProblem::BadMoment,
        LinkProblem::BadOption => OpenProblem::UnknownOption,
        LinkProblem::RepeatedOption => OpenProblem::Repeated,
        LinkProblem::Scenario(error) => return of_scenario(error),
    };
    let readable = e.readable.title.clone().or_else(|| e.readable.id.clone());
    // Where the scenario was read, its title would only hide which option is meant.
    let nearer = match &e.problem {
        LinkProblem::BadMoment | LinkProblem::BadDigest | LinkProblem::BadOption | LinkProblem::RepeatedOption => {
            some(&e.found)
        }
        LinkProblem::CutShort
        | LinkProblem::Changed
        | LinkProblem::TooLarge
        | LinkProblem::NewerVersion
        | LinkProblem::UnknownCodec
        | LinkProblem::Scenario(_) => None,
    };
    OpenError {
        what,
        place: None,
        found: nearer.or(readable).or_else(|| some(&e.found)),
        expected: some(&e.expected),
        nearest: e.nearest.clone(),
        limit: e.limit,
    }
}

/// Why a scenario that reads well cannot be booted.
pub fn of_boot(refusal: &Refusal) -> OpenError {
    let limit = if let Refusal::Limit { most, .. } = refusal { Some(*most) } else { None };
    OpenError {
        what: OpenProblem::Impossible,
        place: None,
        found: Some(notation::refusal(refusal, &Book::default())),
        expected: None,
        nearest: None,
        limit,
    }
}

/// Why an action was not done.
pub fn of_action(seen: Seen<'_>, not_done: &NotDone) -> Refused {
    match not_done {
        NotDone::World(Refusal::Limit { what, most }) => Refused::Limit { what: (*what).into(), bound: *most },
        NotDone::World(
            refusal @ (Refusal::NoSuchNode(_)
            | Refusal::NoSuchClient(_)
            | Refusal::NotStarted(_)
            | Refusal::NoSuchRole(_)
            | Refusal::NameTaken(_)
            | Refusal::WrongState { .. }
            | Refusal::HoldTaken(_)
            | Refusal::NothingHeld(_)
            | Refusal::ClientConfig { .. }
            | Refusal::NodeConfig { .. }
            | Refusal::Setup { .. }),
        ) => Refused::Because(reason(seen, refusal)),
        NotDone::NoSuchRole => Refused::Unknown(Thing::Node),
        NotDone::TooMany { what, bound } => Refused::Limit { what: (*what).into(), bound: *bound },
    }
}
