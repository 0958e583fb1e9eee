//! Which room may import which: the tables in the packages' own READMEs.
//! Tests beside the code are held to them as well. It deliberately does not look inside rooms.

use crate::rust::tokens;
use crate::tree::{File, files, text};

/// A room, and what it may import. What those may import it may name too, because their types show it.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    room: String,
    imports: Vec<String>,
}

/// The packages whose README has such a table.
const PACKAGES: [&str; 2] = ["engine", "studio"];

/// Reads the table under the heading `room`: the first column names the room, the last one what it may import. Other
/// packages are the business of the manifests; `all above` is what it says.
fn table(readme: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let cells = |line: &str| line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    for line in readme.lines().skip_while(|line| !line.starts_with("| room |")).take_while(|line| line.starts_with('|'))
    {
        let cells: Vec<String> = cells(line);
        let (Some(first), Some(last)) = (cells.first(), cells.last()) else { continue };
        let Some(room) = first.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else { continue };
        let imports = match last.as_str() {
            "—" => Vec::new(),
            "all above" => rows.iter().map(|row| row.room.clone()).collect(),
            list => list.split(", ").filter(|name| !PACKAGES.contains(name)).map(str::to_owned).collect(),
        };
        rows.push(Row { room: room.to_owned(), imports });
    }
    rows
}

fn table_of(package: &str) -> Vec<Row> {
    table(&text(&format!("src/{package}/README.md")))
}

/// Whether `room` may name `other`: itself, what its row lists, and what those may name.
fn may(table: &[Row], room: &str, other: &str) -> bool {
    let row = table.iter().find(|row| row.room == room);
    room == other || row.is_some_and(|row| row.imports.iter().any(|import| may(table, import, other)))
}

/// The rows that import what does not stand above them, and the rooms that nothing holds.
fn astray(table: &[Row], folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, row) in table.iter().enumerate() {
        for import in &row.imports {
            if !table[..index].iter().any(|above| above.room == *import) {
                found.push(format!("{folder}/README.md: `{}` imports `{import}`, which is not above it", row.room));
            }
        }
    }
    found
}

/// The room of a file and how deep its module stands below the root of the package.
fn place(folder: &str, path: &str) -> Option<(String, usize)> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    // The root of the package and its build script stand in no room.
    if inner == "lib" || inner == "build" {
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
        if !table.iter().any(|row| row.room == room) {
            found.push(format!("{}: `{room}` is no room of the table in {folder}/README.md", file.path));
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
fn rooms_import_only_what_their_tables_say() {
    for package in PACKAGES {
        let (table, folder) = (table_of(package), format!("src/{package}"));
        assert!(!table.is_empty(), "{folder}/README.md has no table of rooms");
        crate::check(&astray(&table, &folder));
        crate::check(&complaints(&table, &folder, &files(&folder, ".rs")));
        for row in &table {
            let held = !files(&format!("{folder}/{}", row.room), ".rs").is_empty();
            assert!(held || !text(&format!("{folder}/{}.rs", row.room)).is_empty(), "{folder} has no `{}`", row.room);
        }
    }
}

#[test]
fn a_table_is_read_from_its_readme() {
    let readme = "# x\n| other | y |\n|---|---|\n| `no` | z |\n\n| room | about | may import |\n|---|---|---|\n\
                  | `a` | `b`, c | — |\n| `b` | d | engine, a |\n| `c` | e | all above |\n\nend\n| `d` | f | a |\n";
    let row = |room: &str, imports: &[&str]| Row {
        room: room.to_owned(),
        imports: imports.iter().map(|import| (*import).to_owned()).collect(),
    };
    assert_eq!(table(readme), [row("a", &[]), row("b", &["a"]), row("c", &["a", "b"])]);
    assert_eq!(astray(&[row("a", &["b"]), row("b", &["b"])], "x").len(), 2);
}

#[cfg(test)]
fn fires(path: &str, text: &str) -> Vec<String> {
    complaints(&table_of("engine"), "src/engine", &[File { path: path.to_owned(), text: text.to_owned() }])
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
