//! Lists the files of the gallery, so that adding a scenario is adding its file. It reads none of them.

// A build script runs beside the compiler, not inside the studio's walls.
#![allow(clippy::disallowed_methods)]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo names the package's folder");
    let folder = Path::new(&root).join("../../tests/scenarios");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("the folder of the gallery");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.strip_suffix(".json").map(String::from))
        .collect();
    names.sort();
    let mut files = String::from("/// Id and text of each file, by id.\npub const FILES: &[(&str, &str)] = &[\n");
    let mut ids = String::from("/// Every scenario, by id.\npub const ALL: &[ScenarioId] = &[\n");
    for name in names {
        let path = folder.join(format!("{name}.json"));
        let _ = writeln!(files, "    ({name:?}, include_str!({path:?})),");
        let _ = writeln!(ids, "    ScenarioId({name:?}),");
    }
    let out = env::var("OUT_DIR").expect("cargo names the folder of what is built");
    fs::write(Path::new(&out).join("gallery.rs"), format!("{files}];\n{ids}];\n")).expect("the list is written");
}
