//! Just enough of Rust's grammar for the rules: tokens without comments and literals.
//! It deliberately understands no types and expands no macros.

/// The code with comments and the insides of string and character literals blanked, lines kept.
pub fn code_only(text: &str) -> String {
    let source: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < source.len() {
        let next = source.get(at + 1).copied();
        let end = match source[at] {
            '/' if next == Some('/') => line_end(&source, at),
            '/' if next == Some('*') => comment_end(&source, at),
            '"' => string_end(&source, at, 0),
            'r' if !joined(&source, at) => match raw_string(&source, at) {
                Some(end) => end,
                None => at,
            },
            '\'' => character_end(&source, at),
            _ => at,
        };
        if end == at {
            out.push(source[at]);
            at += 1;
        } else {
            for &blanked in &source[at..end] {
                out.push(if blanked == '\n' { '\n' } else { ' ' });
            }
            at = end;
        }
    }
    out
}

fn line_end(source: &[char], at: usize) -> usize {
    (at..source.len()).find(|&i| source[i] == '\n').unwrap_or(source.len())
}

fn comment_end(source: &[char], at: usize) -> usize {
    let (mut depth, mut i) = (0, at);
    while i + 1 < source.len() {
        match (source[i], source[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            return i;
        }
    }
    source.len()
}

fn string_end(source: &[char], at: usize, hashes: usize) -> usize {
    let mut i = at + 1;
    while i < source.len() {
        match source[i] {
            '\\' if hashes == 0 => i += 1,
            '"' if source[i + 1..].iter().take_while(|&&c| c == '#').count() >= hashes => {
                return i + 1 + hashes;
            }
            _ => {}
        }
        i += 1;
    }
    source.len()
}

fn raw_string(source: &[char], at: usize) -> Option<usize> {
    let hashes = source[at + 1..].iter().take_while(|&&c| c == '#').count();
    let quote = at + 1 + hashes;
    (source.get(quote) == Some(&'"')).then(|| {
        if hashes == 0 {
            // A raw string without hashes has no escapes: it ends at the next quote.
            (quote + 1..source.len()).find(|&i| source[i] == '"').map_or(source.len(), |i| i + 1)
        } else {
            string_end(source, quote, hashes)
        }
    })
}

/// The end of a character literal; `at` itself where the quote begins a lifetime.
fn character_end(source: &[char], at: usize) -> usize {
    match (source.get(at + 1), source.get(at + 2)) {
        (Some('\\'), _) => (at + 3..source.len()).find(|&i| source[i] == '\'').map_or(at, |i| i + 1),
        (Some(_), Some('\'')) => at + 3,
        (Some(_) | None, _) => at,
    }
}

/// Whether the character belongs to an identifier that began before it.
fn joined(source: &[char], at: usize) -> bool {
    let word = |n: usize| at.checked_sub(n).is_some_and(|i| source[i].is_alphanumeric() || source[i] == '_');
    // The `b` of a raw byte string is no identifier of its own.
    let byte = word(1) && source[at - 1] == 'b' && !word(2);
    word(1) && !byte
}

/// Identifiers and single characters of punctuation, `::` as one.
pub fn tokens(text: &str) -> Vec<String> {
    let code: Vec<char> = code_only(text).chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let start = at;
        if code[at].is_alphanumeric() || code[at] == '_' {
            while at < code.len() && (code[at].is_alphanumeric() || code[at] == '_') {
                at += 1;
            }
        } else if code[at] == ':' && code.get(at + 1) == Some(&':') {
            at += 2;
        } else {
            at += 1;
            if code[start].is_whitespace() {
                continue;
            }
        }
        found.push(code[start..at].iter().collect());
    }
    found
}

/// The variants of `pub enum NAME`, or nothing where the text has no such enum.
pub fn variants(text: &str, name: &str) -> Vec<String> {
    let tokens = tokens(text);
    let start =
        tokens.windows(4).position(|four| four[0] == "pub" && four[1] == "enum" && four[2] == name && four[3] == "{");
    let Some(start) = start else {
        return Vec::new();
    };
    let (mut depth, mut found, mut fresh) = (0_i32, Vec::new(), true);
    for (index, token) in tokens.iter().enumerate().skip(start + 3) {
        match token.as_str() {
            "{" | "(" | "[" | "<" => depth += 1,
            "}" | ")" | "]" | ">" => depth -= 1,
            "," if depth == 1 => fresh = true,
            "#" => {}
            // An attribute stands in brackets, so a plain word at this depth is the name of a variant.
            word if depth == 1 && fresh && word.starts_with(char::is_alphabetic) => {
                found.push(tokens[index].clone());
                fresh = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

#[test]
fn comments_and_literals_are_no_code() {
    let text = "a // b\n/* c /* d */ e */ f \"g \\\" h\" r#\"i \" j\"# br\"k\" 'l' '\\'' '\\u{6d}' &'static n";
    assert_eq!(tokens(text), ["a", "f", "b", "&", "'", "static", "n"]);
    assert_eq!(code_only("x /* \n */ y").lines().count(), 2);
}

#[test]
fn variants_are_read_with_fields_and_attributes() {
    let text = "/// pub enum Kind { No }\n\
                pub enum Kind { #[doc = \"x\"] One, Two { a: B, c: Vec<D> }, Three(E, F), Four = 4 }";
    assert_eq!(variants(text, "Kind"), ["One", "Two", "Three", "Four"]);
    assert!(variants(text, "Other").is_empty());
}
