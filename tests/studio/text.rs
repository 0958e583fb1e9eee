//! Text pairs: what is expected stands in a file, and is written anew when `UPDATE` is set. It judges nothing.

// Tests stand outside the walls of the studio: here files are read, and nothing depends on what they say but the test.
#![allow(clippy::disallowed_methods)]

use std::path::PathBuf;

/// A file under `tests/`.
pub fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)
}

/// The text of a file under `tests/`.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("tests/{name}: {error}"))
}

/// Files of a folder under `tests/` with this ending, by name.
pub fn names(folder: &str, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(path(folder)).unwrap_or_else(|error| panic!("tests/{folder}: {error}"));
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    names
}

/// Compares with a file, or writes it if `UPDATE` is set.
pub fn check(name: &str, actual: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path(name), actual).unwrap_or_else(|error| panic!("tests/{name}: {error}"));
    }
    let expected = read(name);
    for (number, (expected, actual)) in expected.lines().zip(actual.lines()).enumerate() {
        assert_eq!(actual, expected, "tests/{name}, line {}", number + 1);
    }
    assert_eq!(actual.lines().count(), expected.lines().count(), "number of lines of tests/{name}");
}
