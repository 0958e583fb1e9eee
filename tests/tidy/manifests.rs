//! What the packages depend on: each dependency has its reason beside it, and is used.
//! It deliberately does not judge versions; licences and sources are the business of `.cargo/deny.toml`.

use crate::check;
use crate::rust::tokens;
use crate::tree::{File, files, text};

/// Each manifest, and where the code stands that it is for.
const MANIFESTS: [(&str, &[&str]); 5] = [
    ("Cargo.toml", &["src/lib.rs", "src/main.rs", "src/ui", "src/web", "tests/ui", "tests/web"]),
    ("src/engine/Cargo.toml", &["src/engine", "tests/engine"]),
    ("src/studio/Cargo.toml", &["src/studio", "tests/studio", "tests/kafka"]),
    ("src/cli/Cargo.toml", &["src/cli", "tests/cli", "tests/tidy"]),
    ("src/xtask/Cargo.toml", &["src/xtask"]),
];

/// The names of dependencies, each with the line above it.
fn dependencies(manifest: &str) -> Vec<(String, String)> {
    let (mut found, mut inside, mut above) = (Vec::new(), false, "");
    for line in manifest.lines().map(str::trim) {
        let section = line.strip_prefix('[').map(|section| section.trim_matches(['[', ']']));
        if let Some(section) = section {
            inside = section.ends_with("dependencies");
            // A dependency may also be a table of its own: `[dependencies.name]`.
            if let Some((_, name)) = section.split_once("dependencies.") {
                found.push((name.to_owned(), above.to_owned()));
            }
        } else if inside
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once(['=', '.'])
        {
            found.push((name.trim().to_owned(), above.to_owned()));
        }
        above = line;
    }
    found
}

fn unreasoned(path: &str, manifest: &str) -> Vec<String> {
    let without = dependencies(manifest).into_iter().filter(|(_, above)| !above.starts_with('#'));
    without.map(|(name, _)| format!("{path}: `{name}` has no reason in the line above it")).collect()
}

fn unused(path: &str, manifest: &str, code: &[File]) -> Vec<String> {
    let used: Vec<String> = code.iter().flat_map(|file| tokens(&file.text)).collect();
    let names = dependencies(manifest).into_iter().map(|(name, _)| name);
    let idle = names.filter(|name| !used.contains(&name.replace('-', "_")));
    idle.map(|name| format!("{path}: `{name}` is used nowhere")).collect()
}

#[test]
fn every_dependency_has_its_reason_and_is_used() {
    let mut complaints = Vec::new();
    for (path, folders) in MANIFESTS {
        let manifest = text(path);
        assert!(!dependencies(&manifest).is_empty(), "{path} has no dependencies");
        let code: Vec<File> = folders.iter().flat_map(|folder| files(folder, ".rs")).collect();
        complaints.extend(unreasoned(path, &manifest));
        complaints.extend(unused(path, &manifest, &code));
    }
    check(&complaints);
}

#[test]
fn a_dependency_without_reason_or_use_is_named() {
    let manifest = "[dependencies]\n# Why.\na-b = \"1\"\nc = \"1\"\n# Why not.\n\n[dependencies.d]\nversion = \"1\"\n";
    assert_eq!(unreasoned("x", manifest).len(), 2);
    let code = File { path: "a.rs".to_owned(), text: "use a_b::C; // c::d\nlet d = 1;".to_owned() };
    assert_eq!(unused("x", manifest, &[code]), ["x: `c` is used nowhere"]);
}
