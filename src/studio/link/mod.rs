//! What stands behind `#`: a scenario, a moment and how to show it. It opens nothing and knows no address.

mod codec;
mod error;
mod letters;

pub use codec::{Codec, MAX_FRAGMENT, MAX_OUTPUT};
pub use error::{LinkError, LinkProblem, Readable};

use crate::scenario::{self, Moment, Scenario, error::nearest};

/// Characters from which on Slack and some mail cut a link.
pub const LONG: usize = 2_000;

/// Words after the check that only say how to show a run. They are not covered by the check: an author edits them by
/// hand.
pub const VIEW_OPTIONS: [&str; 15] = [
    "v", "lang", "mode", "theme", "play", "step", "focus", "speed", "parts", "controls", "load", "links", "answers",
    "size", "label",
];

/// A link, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub scenario: Scenario,
    pub codec: Codec,
    /// The moment that it opens at.
    pub at: Option<Moment>,
    /// The first 32 bits of the world's digest there.
    pub digest: Option<u32>,
    /// View options in their order, as written.
    pub options: Vec<(String, String)>,
}

impl Link {
    /// A link to the beginning of a scenario.
    pub fn new(scenario: Scenario) -> Link {
        Link { scenario, codec: Codec::K1, at: None, digest: None, options: Vec::new() }
    }

    /// What stands behind `#`.
    pub fn fragment(&self) -> String {
        let mut out = codec::encode(self.codec, &scenario::encode(&self.scenario));
        if let Some(at) = self.at {
            out.push_str(&format!("&at={}", at.text()));
        }
        if let Some(digest) = self.digest {
            out.push_str(&format!("&d={digest:08x}"));
        }
        for (name, value) in &self.options {
            out.push_str(&format!("&{name}={value}"));
        }
        out
    }

    /// Reads what stands behind `#`, with or without the mark itself.
    ///
    /// # Errors
    /// Whether it was cut short, changed, is too large or newer, or what is wrong inside, and what of it could be read.
    pub fn read(fragment: &str) -> Result<Link, LinkError> {
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        if fragment.len() > MAX_FRAGMENT {
            let mut e = LinkError::new(
                LinkProblem::TooLarge,
                format!("{} characters", fragment.len()),
                format!("at most {MAX_FRAGMENT}"),
            );
            e.limit = Some(MAX_FRAGMENT as u64);
            return Err(e);
        }
        let (body, options) = fragment.split_once('&').unwrap_or((fragment, ""));
        let (codec, text) = codec::decode(body)?;
        let scenario = scenario::decode(&text).map_err(|error| LinkError {
            readable: Readable::of(&text),
            ..LinkError::new(LinkProblem::Scenario(Box::new(error)), "", "")
        })?;
        let mut link = Link { scenario, codec, at: None, digest: None, options: Vec::new() };
        link.read_options(options).map_err(|e| LinkError { readable: Readable::of(&text), ..e })?;
        Ok(link)
    }

    fn read_options(&mut self, options: &str) -> Result<(), LinkError> {
        let mut seen = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if seen.contains(&name) {
                return Err(LinkError::new(LinkProblem::RepeatedOption, option, "each option once"));
            }
            seen.push(name);
            match name {
                "at" => {
                    let at = Moment::parse(value).filter(|moment| moment.at.0 <= MAX_MOMENT_US);
                    let bad = || {
                        LinkError::new(
                            LinkProblem::BadMoment,
                            value,
                            "a moment such as 12s or 14802317us+3, at most 24h",
                        )
                    };
                    self.at = Some(at.ok_or_else(bad)?);
                }
                "d" => {
                    let plain =
                        value.len() == 8 && value.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                    let bad = || LinkError::new(LinkProblem::BadDigest, value, "8 hexadecimal digits");
                    self.digest = Some(u32::from_str_radix(value, 16).ok().filter(|_| plain).ok_or_else(bad)?);
                }
                name if VIEW_OPTIONS.contains(&name) => self.options.push((name.into(), value.into())),
                name => {
                    let mut e = LinkError::new(LinkProblem::BadOption, name, "at, d or a view option");
                    e.nearest = nearest(name, VIEW_OPTIONS.iter().copied().chain(["at", "d"]));
                    return Err(e);
                }
            }
        }
        Ok(())
    }
}

/// No run goes on longer than a day.
const MAX_MOMENT_US: u64 = 24 * 3_600 * 1_000_000;

/// The part of a digest that a link carries.
pub fn short_digest(digest: u64) -> u32 {
    (digest >> 32) as u32
}
