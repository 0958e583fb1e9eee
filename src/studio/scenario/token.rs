//! Strict JSON with the place of every value. It knows nothing of scenarios and allocates no more than the limits
//! allow.

use super::error::{Problem, ScenarioError};
use highwater_engine::base::Set;

/// Text of a scenario, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// Values in one text.
pub const MAX_VALUES: usize = 20_000;
/// Nesting.
pub const MAX_DEPTH: usize = 16;

/// Where something begins; both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub place: Place,
    pub data: Data,
}

/// What JSON can hold here: there is no floating point.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Key, Value)>),
}

/// A key with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub place: Place,
    pub text: String,
}

impl Value {
    /// What a message calls it.
    pub fn described(&self) -> String {
        match &self.data {
            Data::Null => "null".into(),
            Data::Bool(value) => value.to_string(),
            Data::Int(value) => value.to_string(),
            Data::Text(value) => quoted(value),
            Data::List(_) => "a list".into(),
            Data::Map(_) => "an object".into(),
        }
    }
}

/// A text in quotes, short enough for a message, with what could deceive a reader made visible.
pub fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    let more = if text.chars().count() > 60 { "…" } else { "" };
    format!("\"{short}{more}\"")
}

/// Reads a whole text.
pub fn parse(text: &str) -> Result<Value, ScenarioError> {
    if text.len() > MAX_TEXT {
        return Err(ScenarioError {
            problem: Problem::TooLarge,
            path: String::new(),
            line: 1,
            column: 1,
            found: format!("{} bytes", text.len()),
            expected: format!("at most {MAX_TEXT} bytes"),
            nearest: None,
            limit: Some(MAX_TEXT as u64),
        });
    }
    let mut parser = Parser { rest: text, place: Place { line: 1, column: 1 }, values: 0, path: Vec::new() };
    parser.space();
    let value = parser.value(1)?;
    parser.space();
    if parser.peek().is_some() {
        return Err(parser.error(parser.place, "the end of the text"));
    }
    Ok(value)
}

struct Parser<'a> {
    rest: &'a str,
    place: Place,
    values: usize,
    path: Vec<String>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(c)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\n' | '\r' | '\t')) {
            self.next();
        }
    }

    fn error(&self, place: Place, expected: &str) -> ScenarioError {
        let found = match self.peek() {
            Some(c) => format!("'{}'", c.escape_debug()),
            None => "the end of the text".into(),
        };
        self.problem(Problem::NotJson, place, found, expected.into(), None)
    }

    fn problem(
        &self,
        problem: Problem,
        place: Place,
        found: String,
        expected: String,
        limit: Option<u64>,
    ) -> ScenarioError {
        ScenarioError {
            problem,
            path: self.path.join("/"),
            line: place.line,
            column: place.column,
            found,
            expected,
            nearest: None,
            limit,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, ScenarioError> {
        let place = self.place;
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.problem(
                Problem::TooLarge,
                place,
                "more values".into(),
                format!("at most {MAX_VALUES} values"),
                Some(MAX_VALUES as u64),
            ));
        }
        if depth > MAX_DEPTH {
            return Err(self.problem(
                Problem::TooLarge,
                place,
                "a deeper value".into(),
                format!("at most {MAX_DEPTH} levels"),
                Some(MAX_DEPTH as u64),
            ));
        }
        let data = match self.peek() {
            Some('{') => self.map(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Data::Text(self.text()?),
            Some('-' | '0'..='9') => self.number(place)?,
            Some('a'..='z') => self.word(place)?,
            Some(_) | None => return Err(self.error(place, "a value")),
        };
        Ok(Value { place, data })
    }

    fn map(&mut self, depth: usize) -> Result<Data, ScenarioError> {
        self.next();
        let mut entries: Vec<(Key, Value)> = Vec::new();
        let mut seen = Set::new();
        self.space();
        if self.peek() == Some('}') {
            self.next();
            return Ok(Data::Map(entries));
        }
        loop {
            self.space();
            let place = self.place;
            if self.peek() != Some('"') {
                return Err(self.error(place, "a key in double quotes"));
            }
            let text = self.text()?;
            self.path.push(text.clone());
            if !seen.insert(text.clone()) {
                return Err(self.problem(Problem::Duplicate, place, quoted(&text), "each key once".into(), None));
            }
            self.space();
            if self.peek() != Some(':') {
                return Err(self.error(self.place, "':'"));
            }
            self.next();
            self.space();
            let value = self.value(depth + 1)?;
            self.path.pop();
            entries.push((Key { place, text }, value));
            self.space();
            match self.peek() {
                Some(',') => drop(self.next()),
                Some('}') => {
                    self.next();
                    return Ok(Data::Map(entries));
                }
                Some(_) | None => return Err(self.error(self.place, "',' or '}'")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Data, ScenarioError> {
        self.next();
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(']') {
            self.next();
            return Ok(Data::List(items));
        }
        loop {
            self.space();
            self.path.push(items.len().to_string());
            items.push(self.value(depth + 1)?);
            self.path.pop();
            self.space();
            match self.peek() {
                Some(',') => drop(self.next()),
                Some(']') => {
                    self.next();
                    return Ok(Data::List(items));
                }
                Some(_) | None => return Err(self.error(self.place, "',' or ']'")),
            }
        }
    }

    fn text(&mut self) -> Result<String, ScenarioError> {
        self.next();
        let mut out = String::new();
        loop {
            let place = self.place;
            match self.next() {
                Some('"') => return Ok(out),
                Some('\\') => out.push(self.escape(place)?),
                Some(c) if c < ' ' => {
                    return Err(self.problem(
                        Problem::NotJson,
                        place,
                        format!("'{}'", c.escape_debug()),
                        "an escaped control character".into(),
                        None,
                    ));
                }
                Some(c) => out.push(c),
                None => return Err(self.error(place, "'\"' at the end of a text")),
            }
        }
    }

    fn escape(&mut self, place: Place) -> Result<char, ScenarioError> {
        Ok(match self.next() {
            Some('"') => '"',
            Some('\\') => '\\',
            Some('/') => '/',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let first = self.hex(place)?;
                let code = if (0xd800..0xdc00).contains(&first) {
                    if self.next() != Some('\\') || self.next() != Some('u') {
                        return Err(self.error(place, "the second half of a surrogate pair"));
                    }
                    let second = self.hex(place)?;
                    if !(0xdc00..0xe000).contains(&second) {
                        return Err(self.error(place, "the second half of a surrogate pair"));
                    }
                    0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                } else {
                    first
                };
                match char::from_u32(code) {
                    Some(c) => c,
                    None => return Err(self.error(place, "a character")),
                }
            }
            Some(_) | None => return Err(self.error(place, "an escape of JSON")),
        })
    }

    fn hex(&mut self, place: Place) -> Result<u32, ScenarioError> {
        let mut code = 0;
        for _ in 0..4 {
            match self.peek().and_then(|c| c.to_digit(16)) {
                Some(digit) => code = code * 16 + digit,
                None => return Err(self.error(place, "four hexadecimal digits")),
            }
            self.next();
        }
        Ok(code)
    }

    fn number(&mut self, place: Place) -> Result<Data, ScenarioError> {
        let mut digits = String::new();
        while let Some(c) = self.peek().filter(|c| matches!(c, '-' | '+' | '.' | 'e' | 'E' | '0'..='9')) {
            // A number of a kilobyte is no number that anything here can hold.
            if digits.len() < 40 {
                digits.push(c);
            }
            self.next();
        }
        if digits.contains(['.', 'e', 'E']) {
            return Err(self.problem(
                Problem::WrongType,
                place,
                digits,
                "a whole number; durations are written \"250ms\", shares \"1%\", versions \"4.1\"".into(),
                None,
            ));
        }
        let plain = digits.strip_prefix('-').unwrap_or(&digits);
        if plain.is_empty() || !plain.bytes().all(|b| b.is_ascii_digit()) || (plain.len() > 1 && plain.starts_with('0'))
        {
            return Err(self.problem(Problem::NotJson, place, digits, "a whole number".into(), None));
        }
        match digits.parse() {
            Ok(number) => Ok(Data::Int(number)),
            Err(_) => Err(self.problem(Problem::OutOfRange, place, digits, "a number of at most 64 bits".into(), None)),
        }
    }

    fn word(&mut self, place: Place) -> Result<Data, ScenarioError> {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(char::is_ascii_alphanumeric) {
            if word.len() < 40 {
                word.push(c);
            }
            self.next();
        }
        match word.as_str() {
            "true" => Ok(Data::Bool(true)),
            "false" => Ok(Data::Bool(false)),
            "null" => Ok(Data::Null),
            _ => Err(self.problem(
                Problem::NotJson,
                place,
                word,
                "true, false, a number, or a text in double quotes".into(),
                None,
            )),
        }
    }
}
