//! The files of the checkout, as text. It deliberately leaves out whatever the version control ignores.

use std::fs;
use std::path::{Path, PathBuf};

/// A file, by its path from the top with `/` between folders.
pub struct File {
    pub path: String,
    pub text: String,
}

/// The top of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files in a folder (or the one file) at `path` whose name ends so; none where it is missing.
pub fn files(path: &str, ending: &str) -> Vec<File> {
    let mut found = Vec::new();
    collect(&root().join(path), path, ending, &mut found);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// One file, or an empty text where it is missing.
pub fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// The names of what stands at the top.
pub fn top() -> Vec<String> {
    let entries = fs::read_dir(root()).expect("the top of the checkout can be listed");
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn collect(path: &Path, name: &str, ending: &str, found: &mut Vec<File>) {
    if let Ok(entries) = fs::read_dir(path) {
        for entry in entries.flatten() {
            let inner = entry.file_name().to_string_lossy().into_owned();
            collect(&entry.path(), &format!("{name}/{inner}"), ending, found);
        }
    } else if name.ends_with(ending)
        && let Ok(text) = fs::read_to_string(path)
    {
        // What is no UTF-8 is a picture, and no rule here is about pictures.
        found.push(File { path: name.to_owned(), text });
    }
}
