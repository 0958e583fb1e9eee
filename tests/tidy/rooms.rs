//! Which room may import which: the tables of `src/README.md`, for engine and studio.
//! Tests beside the code are held to them as well. It deliberately does not look inside rooms.

use crate::rust::tokens;
use crate::tree::{File, files};

/// A room, and what it may import. What those may import it may name too, because their types show it.
type Row = (&'static str, &'static [&'static str]);

/// From the cellar upwards.
const ENGINE: [Row; 14] = [
    ("base", &[]),
    ("protocol", &["base"]),
    ("rules", &["base", "protocol"]),
    ("trace", &["base", "protocol"]),
    ("log", &["base", "protocol"]),
    ("node", &["base", "protocol", "trace", "log"]),
    ("metadata", &["base", "protocol"]),
    ("quorum", &["node", "metadata", "log", "rules"]),
    ("zookeeper", &["node", "metadata"]),
    ("controller", &["node", "metadata", "log", "rules", "quorum", "zookeeper"]),
    ("broker", &["node", "metadata", "log", "rules", "quorum", "zookeeper"]),
    ("client", &["node", "metadata", "log", "rules"]),
    ("world", &["controller", "broker", "client", "quorum", "zookeeper", "rules"]),
    ("check", &["world"]),
];

const STUDIO: [Row; 11] = [
    ("scenario", &[]),
    ("notation", &[]),
    ("link", &["scenario"]),
    ("recording", &["scenario", "notation"]),
    ("reference", &["scenario", "notation"]),
    ("playback", &["recording"]),
    ("lesson", &["scenario", "recording"]),
    ("explain", &["recording"]),
    ("search", &["scenario", "recording", "link"]),
    ("view", &["recording", "playback", "explain"]),
    ("desk", &["link", "lesson", "reference", "search", "view"]),
];

/// Whether `room` may name `other`: itself, what its row lists, and what those may name.
fn may(table: &[Row], room: &str, other: &str) -> bool {
    let row = table.iter().find(|(name, _)| *name == room);
    room == other || row.is_some_and(|(_, imports)| imports.iter().any(|import| may(table, import, other)))
}

/// The room of a file and how deep its module stands below the root of the package.
fn place(folder: &str, path: &str) -> Option<(String, usize)> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    if inner == "lib" {
        return None;
    }
    let mut parts: Vec<&str> = inner.split('/').collect();
    if parts.last() == Some(&"mod") {
        parts.pop();
    }
    Some((parts.first()?.to_string(), parts.len()))
}

/// The rooms that a file names: by `crate::`, in a tree of imports, or upwards by `super::`.
fn named(text: &str, depth: usize) -> Vec<String> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    // For each open brace, whether it opened a module inside this file.
    let mut braces: Vec<bool> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let inner = braces.iter().filter(|module| **module).count();
        match tokens[at].as_str() {
            "{" => braces.push(at >= 2 && tokens[at - 2] == "mod"),
            "}" => drop(braces.pop()),
            "crate" if follows(&tokens, at) && !preceded(&tokens, at) => heads(&tokens, at + 2, &mut found),
            "super" if follows(&tokens, at) && !preceded(&tokens, at) => {
                let mut up = 0;
                let mut end = at;
                while tokens.get(end).is_some_and(|token| token == "super") && follows(&tokens, end) {
                    up += 1;
                    end += 2;
                }
                if up == depth + inner {
                    heads(&tokens, end, &mut found);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

fn follows(tokens: &[String], at: usize) -> bool {
    tokens.get(at + 1).is_some_and(|token| token == "::")
}

fn preceded(tokens: &[String], at: usize) -> bool {
    at > 0 && tokens[at - 1] == "::"
}

/// The first names of a path or of a tree `{a::b, c}` that begins at `at`.
fn heads(tokens: &[String], at: usize, found: &mut Vec<String>) {
    let Some(first) = tokens.get(at) else { return };
    if first != "{" {
        found.push(first.clone());
        return;
    }
    let (mut depth, mut head) = (0, false);
    for token in &tokens[at..] {
        match token.as_str() {
            "{" => (depth, head) = (depth + 1, depth == 0),
            "}" => depth -= 1,
            "," => head = depth == 1,
            word if depth == 1 && head => {
                found.push(word.to_owned());
                head = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
}

fn complaints(table: &[Row], folder: &str, files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let Some((room, depth)) = place(folder, &file.path) else {
            continue;
        };
        if !table.iter().any(|(name, _)| *name == room) {
            found.push(format!("{}: `{room}` is no room of the table in tests/tidy/rooms.rs", file.path));
            continue;
        }
        for other in named(&file.text, depth) {
            if !may(table, &room, &other) {
                found.push(format!("{}: `{room}` must not name `{other}`", file.path));
            }
        }
    }
    found
}

#[test]
fn engine_rooms_import_only_what_they_may() {
    crate::check(&complaints(&ENGINE, "src/engine", &files("src/engine", ".rs")));
}

#[test]
fn studio_rooms_import_only_what_they_may() {
    crate::check(&complaints(&STUDIO, "src/studio", &files("src/studio", ".rs")));
}

#[test]
fn the_tables_point_one_way() {
    for table in [&ENGINE[..], &STUDIO[..]] {
        for (index, (room, imports)) in table.iter().enumerate() {
            for import in *imports {
                assert!(
                    table[..index].iter().any(|(name, _)| name == import),
                    "{room} imports {import}, which is not above it"
                );
            }
        }
    }
}

#[cfg(test)]
fn fires(path: &str, text: &str) -> Vec<String> {
    complaints(&ENGINE, "src/engine", &[File { path: path.to_owned(), text: text.to_owned() }])
}

#[test]
fn an_arrow_in_the_wrong_direction_fires() {
    assert_eq!(fires("src/engine/log.rs", "use crate::world::World;").len(), 1);
    assert_eq!(fires("src/engine/log/read.rs", "use crate::{base::SimTime, node::{Ctx, Disk}, world};").len(), 2);
    assert_eq!(fires("src/engine/broker/fetch.rs", "fn f() { crate::controller::on_fetch() }").len(), 1);
    assert_eq!(fires("src/engine/broker/fetch.rs", "use super::super::client::Producer;").len(), 1);
    assert_eq!(fires("src/engine/broker.rs", "mod tests { use super::super::client::Producer; }").len(), 1);
    assert_eq!(fires("src/engine/cellar.rs", "").len(), 1);
}

#[test]
fn an_arrow_in_the_right_direction_does_not() {
    let text = "use crate::{base::{Rng, SimTime}, quorum, metadata::image::{self, Image}};\nuse super::isr;";
    assert!(fires("src/engine/controller/elect.rs", text).is_empty());
    assert!(fires("src/engine/lib.rs", "pub mod world; pub use crate::world::World;").is_empty());
    assert!(fires("src/engine/log.rs", "// crate::world\nmod tests { use super::*; }").is_empty());
    assert!(fires("src/engine/quorum.rs", "use crate::trace::Kind;").is_empty());
}
