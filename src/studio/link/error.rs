//! Why a link cannot be opened, and what of it could be read. Repairs nothing.

use std::fmt;

use crate::scenario::ScenarioError;

/// The kinds of damage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkProblem {
    /// The end is missing.
    CutShort,
    /// The check does not fit.
    Changed,
    TooLarge,
    NewerVersion,
    UnknownCodec,
    BadMoment,
    BadDigest,
    BadOption,
    /// An option that stands there twice; which one counts is not guessed.
    RepeatedOption,
    /// The link is whole; the scenario in it is not good.
    Scenario(Box<ScenarioError>),
}

/// What of a bad link could be read: what it would have been.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readable {
    pub id: Option<String>,
    pub title: Option<String>,
}

impl Readable {
    /// Looks for `id` and `title` in a text that may be cut anywhere.
    pub fn of(text: &str) -> Readable {
        let text_after = |marker: &str| {
            let rest = &text[text.find(marker)? + marker.len()..];
            // A map of languages: its first text will do.
            let rest = match rest.strip_prefix('{') {
                Some(map) => &map[map.find(':')? + 1..],
                None => rest,
            };
            let body = rest.strip_prefix('"')?;
            let mut end = 0;
            for (index, c) in body.char_indices() {
                if c == '"' && !body[..index].ends_with('\\') {
                    end = index;
                    break;
                }
            }
            let shown: String = body[..end].chars().filter(|c| !c.is_control() && *c != '\u{fffd}').take(200).collect();
            (!shown.is_empty()).then_some(shown)
        };
        Readable { id: text_after("\"id\":"), title: text_after("\"title\":") }
    }
}

/// Why a link cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    pub problem: LinkProblem,
    pub found: String,
    pub expected: String,
    pub nearest: Option<String>,
    pub limit: Option<u64>,
    pub readable: Readable,
}

impl LinkError {
    pub fn new(problem: LinkProblem, found: impl Into<String>, expected: impl Into<String>) -> LinkError {
        LinkError {
            problem,
            found: found.into(),
            expected: expected.into(),
            nearest: None,
            limit: None,
            readable: Readable::default(),
        }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.problem {
            LinkProblem::CutShort => "the link was cut short",
            LinkProblem::Changed => "the link was changed on the way",
            LinkProblem::TooLarge => "the link is too large",
            LinkProblem::NewerVersion => "the link needs a newer version",
            LinkProblem::UnknownCodec => "this is no link of Highwater",
            LinkProblem::BadMoment => "the moment of the link cannot be read",
            LinkProblem::BadDigest => "the digest of the link cannot be read",
            LinkProblem::BadOption => "the link has an unknown option",
            LinkProblem::RepeatedOption => "the link gives an option twice",
            LinkProblem::Scenario(error) => return write!(f, "the scenario of the link: {error}"),
        };
        write!(f, "{what}: found {:?}, expected {}", self.found, self.expected)?;
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean {nearest}?")?;
        }
        if let Some(title) = self.readable.title.as_ref().or(self.readable.id.as_ref()) {
            write!(f, " (it was: {title})")?;
        }
        Ok(())
    }
}

impl std::error::Error for LinkError {}
