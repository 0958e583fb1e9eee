//! Typed access to the keys of an object, with errors that name the place and the nearest known key. Knows no key by
//! itself.

use super::error::{Problem, ScenarioError, nearest};
use super::hints::{self, Found};
use super::token::{Data, Place, Value, quoted};

/// An error at a value.
pub fn error(
    problem: Problem,
    path: &str,
    place: Place,
    found: impl Into<String>,
    expected: impl Into<String>,
) -> ScenarioError {
    ScenarioError {
        problem,
        path: path.into(),
        line: place.line,
        column: place.column,
        found: found.into(),
        expected: expected.into(),
        nearest: None,
        limit: None,
    }
}

/// What stands for the text of a scenario that was made and never written.
pub fn nowhere() -> Value {
    Value { place: Place { line: 0, column: 0 }, data: Data::Null }
}

/// A value with its path.
#[derive(Clone)]
pub struct At<'a> {
    pub value: &'a Value,
    pub path: String,
}

/// An object all of whose keys are known.
pub struct Object<'a> {
    pub place: Place,
    pub path: String,
    entries: Vec<(&'a str, &'a Value)>,
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}/{key}") }
}

impl<'a> At<'a> {
    pub fn root(value: &'a Value) -> At<'a> {
        At { value, path: String::new() }
    }

    pub fn error(&self, problem: Problem, expected: impl Into<String>) -> ScenarioError {
        error(problem, &self.path, self.value.place, self.value.described(), expected)
    }

    pub fn wrong_type(&self, expected: impl Into<String>) -> ScenarioError {
        let mut e = self.error(Problem::WrongType, expected);
        let numbers = self.numbers();
        let found = match &self.value.data {
            Data::Int(number) => Found::Number(*number),
            Data::Text(text) => Found::Text(text),
            Data::List(_) => numbers.as_deref().map_or(Found::List, Found::Numbers),
            Data::Map(_) => Found::Map,
            Data::Null | Data::Bool(_) => Found::Other,
        };
        e.nearest = hints::value(&self.path, found);
        e
    }

    /// A list of whole numbers, as it is written.
    fn numbers(&self) -> Option<String> {
        let Data::List(items) = &self.value.data else { return None };
        let number = |value: &Value| if let Data::Int(n) = value.data { Some(n.to_string()) } else { None };
        let numbers = items.iter().map(number).collect::<Option<Vec<String>>>()?;
        (!numbers.is_empty()).then(|| numbers.join(", "))
    }

    /// An object with these keys; those of `later` belong to the format, but to no reader of this build.
    pub fn object(&self, known: &[&str], later: &[&str]) -> Result<Object<'a>, ScenarioError> {
        let Data::Map(entries) = &self.value.data else { return Err(self.wrong_type("an object")) };
        for (key, _) in entries {
            // Keys of this form are an author's own notes.
            if key.text.starts_with("x-") || known.contains(&key.text.as_str()) {
                continue;
            }
            let path = join(&self.path, &key.text);
            if later.contains(&key.text.as_str()) {
                return Err(error(
                    Problem::NewerVersion,
                    &path,
                    key.place,
                    quoted(&key.text),
                    "a key of this build; this one belongs to the format but is not in this build",
                ));
            }
            let mut unknown =
                error(Problem::UnknownKey, &path, key.place, quoted(&key.text), format!("one of {}", known.join(", ")));
            unknown.nearest =
                hints::key(&self.path, &key.text).or_else(|| nearest(&key.text, known.iter().chain(later).copied()));
            return Err(unknown);
        }
        let entries = entries.iter().map(|(key, value)| (key.text.as_str(), value)).collect();
        Ok(Object { place: self.value.place, path: self.path.clone(), entries })
    }

    /// Keys that are names of things, in their order.
    pub fn named(&self) -> Result<Vec<(&'a str, At<'a>)>, ScenarioError> {
        let Data::Map(entries) = &self.value.data else { return Err(self.wrong_type("an object of names")) };
        Ok(entries
            .iter()
            .map(|(key, value)| (key.text.as_str(), At { value, path: join(&self.path, &key.text) }))
            .collect())
    }

    pub fn is_map(&self) -> bool {
        matches!(self.value.data, Data::Map(_))
    }

    pub fn is_list(&self) -> bool {
        matches!(self.value.data, Data::List(_))
    }

    pub fn list(&self) -> Result<Vec<At<'a>>, ScenarioError> {
        let Data::List(items) = &self.value.data else { return Err(self.wrong_type("a list")) };
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| At { value, path: join(&self.path, &index.to_string()) })
            .collect())
    }

    pub fn text(&self, expected: &str) -> Result<&'a str, ScenarioError> {
        match &self.value.data {
            Data::Text(text) => Ok(text),
            Data::Null | Data::Bool(_) | Data::Int(_) | Data::List(_) | Data::Map(_) => Err(self.wrong_type(expected)),
        }
    }

    /// A whole number within bounds, both included.
    pub fn int(&self, least: i64, most: i64) -> Result<i64, ScenarioError> {
        let Data::Int(number) = self.value.data else {
            let mut e = self.wrong_type("a whole number");
            if let Data::Text(text) = &self.value.data
                && text.parse::<i64>().is_ok()
            {
                e.nearest = e.nearest.or_else(|| Some(format!("{text}, without quotes")));
            }
            return Err(e);
        };
        if number < least || number > most {
            let mut e = self.error(Problem::OutOfRange, format!("{least} to {most}"));
            e.limit = Some(if number < least { least.max(0) as u64 } else { most as u64 });
            return Err(e);
        }
        Ok(number)
    }

    pub fn boolean(&self) -> Result<bool, ScenarioError> {
        match self.value.data {
            Data::Bool(value) => Ok(value),
            Data::Null | Data::Int(_) | Data::Text(_) | Data::List(_) | Data::Map(_) => {
                Err(self.wrong_type("true or false"))
            }
        }
    }

    /// One of a closed list of words.
    pub fn one_of(&self, words: &[&'static str]) -> Result<&'static str, ScenarioError> {
        let expected = format!("one of {}", words.join(", "));
        let text = self.text(&expected)?;
        words.iter().find(|word| **word == text).copied().ok_or_else(|| {
            let mut e = self.error(Problem::OutOfRange, expected);
            e.nearest = nearest(text, words.iter().copied());
            e
        })
    }
}

impl<'a> Object<'a> {
    pub fn get(&self, key: &str) -> Option<At<'a>> {
        self.entries
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(name, value)| At { value, path: join(&self.path, name) })
    }

    pub fn need(&self, key: &str) -> Result<At<'a>, ScenarioError> {
        self.get(key).ok_or_else(|| {
            error(Problem::Missing, &join(&self.path, key), self.place, "", format!("the key \"{key}\""))
        })
    }

    /// Reads a key if it is there.
    pub fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(&At<'a>) -> Result<T, ScenarioError>,
    ) -> Result<Option<T>, ScenarioError> {
        self.get(key).map(|at| read(&at)).transpose()
    }
}
