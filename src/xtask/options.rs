//! Reads the few options of each command. Deliberately no abbreviations and no defaults by position.

use crate::house::House;
use std::path::PathBuf;

/// The options of one call: every name that was given, in order, with its value where it takes one.
#[derive(Debug)]
pub struct Options {
    given: Vec<(String, Option<String>)>,
}

impl Options {
    /// Reads `arguments`; `valued` options take the next argument as their value, `flags` take none.
    ///
    /// # Errors
    /// An unknown option, or a missing value, with the list of what is known.
    pub fn read(arguments: &[String], valued: &[&str], flags: &[&str]) -> Result<Self, String> {
        let mut given = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            if flags.contains(&name) && inline.is_none() {
                given.push((name.to_owned(), None));
            } else if valued.contains(&name) {
                let value = inline.or_else(|| rest.next().cloned());
                let value = value.ok_or_else(|| format!("`{name}` needs a value"))?;
                given.push((name.to_owned(), Some(value)));
            } else {
                let known: Vec<&str> = valued.iter().chain(flags).copied().collect();
                return Err(format!("`{argument}` is not known here; known are: {}", known.join(", ")));
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
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Options::read(&arguments, &["--port"], &["--release"])
    }

    #[test]
    fn values_come_after_a_space_or_an_equals_sign() {
        assert_eq!(read(&["--port", "81"]).unwrap().value("--port"), Some("81"));
        assert_eq!(read(&["--port=82", "--release"]).unwrap().value("--port"), Some("82"));
        assert!(read(&["--release"]).unwrap().has("--release"));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(read(&["--prot", "81"]).unwrap_err().contains("--prot"));
        assert!(read(&["--port"]).unwrap_err().contains("needs a value"));
        assert!(read(&["--release=yes"]).is_err());
    }
}
