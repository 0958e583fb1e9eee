//! Reads the few options of each command. Deliberately no abbreviations and no defaults by position.

use crate::house::House;
use lexopt::{Arg, Parser, ValueExt};
use std::path::PathBuf;

/// The options of one call: every name that was given, in order, with its value where it takes one.
#[derive(Debug)]
pub struct Options {
    given: Vec<(String, Option<String>)>,
}

impl Options {
    /// Reads what is left of the call; `valued` options have a value, `flags` have none. Names are without dashes.
    ///
    /// # Errors
    /// An unknown option with the list of what is known, a missing value, or one too many.
    pub fn read(mut parser: Parser, valued: &[&str], flags: &[&str]) -> Result<Self, String> {
        let mut given = Vec::new();
        while let Some(argument) = parser.next().map_err(|error| error.to_string())? {
            let shown = match argument {
                Arg::Long(name) => format!("--{name}"),
                Arg::Short(letter) => format!("-{letter}"),
                Arg::Value(value) => value.to_string_lossy().into_owned(),
            };
            let name = shown.strip_prefix("--").unwrap_or_default();
            if valued.contains(&name) {
                let value = parser.value().and_then(|value| value.string()).map_err(|error| error.to_string())?;
                given.push((name.to_owned(), Some(value)));
            } else if flags.contains(&name) {
                given.push((name.to_owned(), None));
            } else {
                let known: Vec<String> = valued.iter().chain(flags).map(|name| format!("--{name}")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(format!("`{shown}` is not known here; known are: {known}"));
            }
        }
        Ok(Self { given })
    }

    /// Whether the flag was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| given == name)
    }

    /// All values of an option that may be repeated.
    pub fn values(&self, name: &str) -> Vec<&str> {
        self.given.iter().filter(|(given, _)| given == name).filter_map(|(_, value)| value.as_deref()).collect()
    }

    /// The last value given, if any.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values(name).last().copied()
    }

    /// A path option, relative to the checkout.
    pub fn path(&self, house: &House, name: &str, default: &str) -> PathBuf {
        house.root.join(self.value(name).unwrap_or(default))
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn read(arguments: &[&str]) -> Result<Options, String> {
        Options::read(lexopt::Parser::from_args(arguments), &["port"], &["release"])
    }

    #[test]
    fn values_come_after_a_space_or_an_equals_sign() {
        assert_eq!(read(&["--port", "81"]).unwrap().value("port"), Some("81"));
        assert_eq!(read(&["--port=82", "--release"]).unwrap().value("port"), Some("82"));
        assert!(read(&["--release"]).unwrap().has("release"));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(read(&["--prot", "81"]).unwrap_err().contains("`--prot` is not known here; known are: --port"));
        assert!(read(&["--port"]).unwrap_err().contains("--port"));
        assert!(read(&["--release=yes"]).is_err());
        assert!(read(&["-p", "81"]).unwrap_err().contains("`-p`"));
        assert!(read(&["release"]).unwrap_err().contains("`release`"));
    }
}
