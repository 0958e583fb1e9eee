//! A walk over a JSON value that knows where it is: every error names the place, what was found and what was expected.
//! Interprets nothing.

use std::fmt;

use highwater_engine::base::Dur;
use serde_json::Value;

/// Why a recording cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// A path such as `script[3].do`, or line and column where the text is not JSON at all.
    pub at: String,
    pub found: String,
    pub expected: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, expected {}", self.at, self.found, self.expected)
    }
}

impl std::error::Error for ReadError {}

/// A value and its path.
#[derive(Clone, Debug)]
pub struct Spot<'a> {
    pub value: &'a Value,
    pub path: String,
}

/// An object whose keys were checked.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    spot: Spot<'a>,
}

impl<'a> Spot<'a> {
    pub fn root(value: &'a Value) -> Spot<'a> {
        Spot { value, path: String::new() }
    }

    /// The error that this place holds something else than `expected`.
    pub fn wrong(&self, expected: impl Into<String>) -> ReadError {
        ReadError {
            at: if self.path.is_empty() { "the file".to_string() } else { self.path.clone() },
            found: shown(self.value),
            expected: expected.into(),
        }
    }

    fn child(&self, key: &str, value: &'a Value) -> Spot<'a> {
        Spot { value, path: if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) } }
    }

    /// An object that has no other keys than these.
    pub fn object(&self, known: &[&str]) -> Result<Fields<'a>, ReadError> {
        let Value::Object(map) = self.value else {
            return Err(self.wrong(format!("an object with the keys {}", known.join(", "))));
        };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => Err(ReadError {
                at: self.child(key, self.value).path,
                found: format!("the unknown key \"{key}\""),
                expected: format!("one of the keys {}", known.join(", ")),
            }),
            None => Ok(Fields { spot: self.clone() }),
        }
    }

    /// An object with any keys.
    pub fn map(&self) -> Result<Vec<(&'a str, Spot<'a>)>, ReadError> {
        match self.value {
            Value::Object(map) => Ok(map.iter().map(|(key, value)| (key.as_str(), self.child(key, value))).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(self.wrong("an object"))
            }
        }
    }

    /// An object with exactly one key.
    pub fn single(&self, expected: &str) -> Result<(&'a str, Spot<'a>), ReadError> {
        match self.map()?.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(self.wrong(format!("an object with exactly one key: {expected}"))),
        }
    }

    pub fn list(&self) -> Result<Vec<Spot<'a>>, ReadError> {
        match self.value {
            Value::Array(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(i, value)| Spot { value, path: format!("{}[{i}]", self.path) })
                .collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err(self.wrong("a list"))
            }
        }
    }

    /// A list, each item read alike.
    pub fn each<T>(&self, read: impl Fn(&Spot<'a>) -> Result<T, ReadError>) -> Result<Vec<T>, ReadError> {
        self.list()?.iter().map(read).collect()
    }

    pub fn text(&self) -> Result<&'a str, ReadError> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    pub fn owned(&self) -> Result<String, ReadError> {
        self.text().map(str::to_string)
    }

    pub fn flag(&self) -> Result<bool, ReadError> {
        self.value.as_bool().ok_or_else(|| self.wrong("true or false"))
    }

    /// A whole number within `least..=most`.
    pub fn int(&self, least: i64, most: i64) -> Result<i64, ReadError> {
        match self.value.as_i64() {
            Some(number) if (least..=most).contains(&number) => Ok(number),
            Some(_) | None => Err(self.wrong(format!("a whole number from {least} to {most}"))),
        }
    }

    /// A number of seconds, whole or not, to the microsecond.
    pub fn seconds(&self) -> Result<Dur, ReadError> {
        match self.value.as_f64() {
            Some(seconds) if (0.0..=1e6).contains(&seconds) => Ok(Dur((seconds * 1e6).round() as u64)),
            Some(_) | None => Err(self.wrong("a number of seconds")),
        }
    }

    /// A span such as `250ms`, `2s` or `1.5s`, at most `most`.
    pub fn span(&self, most: Dur) -> Result<Dur, ReadError> {
        let wrong = || self.wrong(format!("a span such as \"250ms\" or \"2s\", at most {} s", most.0 / 1_000_000));
        let text = self.text().map_err(|_| wrong())?;
        let (digits, unit) = match text.strip_suffix("ms") {
            Some(digits) => (digits, 1e3),
            None => (text.strip_suffix('s').ok_or_else(wrong)?, 1e6),
        };
        let plain = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        match digits.parse::<f64>() {
            Ok(number) if plain && number * unit <= most.0 as f64 => Ok(Dur((number * unit).round() as u64)),
            Ok(_) | Err(_) => Err(wrong()),
        }
    }

    /// A config value: texts, numbers and flags are written alike.
    pub fn config_value(&self) -> Result<String, ReadError> {
        match self.value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(flag) => Ok(flag.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err(self.wrong("a config value: a text, a number, true or false"))
            }
        }
    }
}

impl<'a> Fields<'a> {
    pub fn spot(&self) -> &Spot<'a> {
        &self.spot
    }

    pub fn get(&self, key: &str) -> Option<Spot<'a>> {
        self.spot.value.get(key).map(|value| self.spot.child(key, value))
    }

    /// The value of a key that must be there.
    pub fn need(&self, key: &str) -> Result<Spot<'a>, ReadError> {
        self.get(key).ok_or_else(|| self.spot.wrong(format!("the key \"{key}\"")))
    }
}

/// A value in few characters.
pub fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str) -> Result<Dur, ReadError> {
        let value = Value::String(text.to_string());
        Spot::root(&value).span(Dur::secs(100))
    }

    #[test]
    fn spans_are_read_in_both_units() {
        assert_eq!(span("250ms"), Ok(Dur::ms(250)));
        assert_eq!(span("2s"), Ok(Dur::secs(2)));
        assert_eq!(span("1.5s"), Ok(Dur::ms(1500)));
    }

    #[test]
    fn spans_that_are_none_are_refused() {
        for text in ["", "s", "ms", "2", "-1s", "101s", "1e1s", "infs", "2 s", "1.2.3s"] {
            assert!(span(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_place() {
        let value: Value = serde_json::json!({ "script": [{ "wait": "2s", "why": 1 }] });
        let script = Spot::root(&value)
            .object(&["script"])
            .and_then(|f| f.need("script"))
            .and_then(|s| s.list())
            .expect("a list");
        let error = script[0].object(&["wait"]).expect_err("the key is unknown");
        assert_eq!(error.at, "script[0].why");
        assert!(error.to_string().contains("unknown key"), "{error}");
    }
}
