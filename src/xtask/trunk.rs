//! That trunk, where it is installed, builds the same page.
//!
//! It deliberately never installs trunk, because nobody needs it and building it takes minutes, and does not let it
//! serve: that every path which it watches is in a fresh clone is a test of `serve.rs`.

use crate::house::{House, captured, execute};
use crate::page::{self, Profile};
use crate::tools;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program that trunk looks for on the path. We are it, in the version of the lock file.
pub const GENERATOR: &str = "wasm-bindgen";

/// Builds with trunk and with our own builder and compares.
///
/// # Errors
/// When trunk fails or makes another page.
pub fn run(house: &House) -> Result<(), String> {
    let Some(trunk) = tools::on_path("trunk") else {
        println!("   no trunk here, so what it would build was not compared");
        return Ok(());
    };
    println!("   {}", captured(Command::new(&trunk).arg("--version"))?.trim());
    let work = house.target.join("trunk");
    remade(&work)?;
    let path = with_ourselves(&work.join("tools"))?;
    let (theirs, ours) = (work.join("theirs"), work.join("ours"));
    let trunk = || {
        let mut command = house.command(&trunk);
        command.env("PATH", &path).env("NO_COLOR", "true");
        command
    };
    execute(trunk().args(["build", "--offline", "--dist"]).arg(&theirs))?;
    page::build(house, Profile::Dev, &ours)?;
    let different = compared(&contents(&ours)?, &contents(&theirs)?);
    if !different.is_empty() {
        return Err(format!("trunk makes another page:\n{}", different.join("\n")));
    }
    Ok(())
}

fn remade(folder: &Path) -> Result<(), String> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("cannot remove {}: {error}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))
}

/// The path of programs with a folder before it in which the bindings generator is this program.
fn with_ourselves(folder: &Path) -> Result<std::ffi::OsString, String> {
    remade(folder)?;
    let ourselves = std::env::current_exe().map_err(|error| format!("this program's own path is unknown: {error}"))?;
    let copy = folder.join(format!("{GENERATOR}{}", std::env::consts::EXE_SUFFIX));
    fs::hard_link(&ourselves, &copy)
        .or_else(|_| fs::copy(&ourselves, &copy).map(drop))
        .map_err(|error| format!("cannot make {}: {error}", copy.display()))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path)))
        .map_err(|error| format!("PATH: {error}"))
}

/// Every file of a page by its path in it.
fn contents(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", inner.display());
        for entry in fs::read_dir(&inner).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                found.insert(name, fs::read(&path).map_err(failed)?);
            }
        }
    }
    Ok(found)
}

/// What differs between two pages. Trunk orders attributes and breaks lines in its own way, so of the page the tags
/// count; and it strips what we keep for stack traces, so of the program the bare existence does: that both do the
/// same is seen from the bindings, which are made of it.
fn compared(ours: &BTreeMap<PathBuf, Vec<u8>>, theirs: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<String> {
    let mut different: Vec<String> = Vec::new();
    for path in ours.keys().chain(theirs.keys().filter(|path| !ours.contains_key(*path))) {
        let shown = path.display();
        let same = match (ours.get(path), theirs.get(path)) {
            (Some(_), None) => {
                different.push(format!("{shown} is not made by trunk"));
                continue;
            }
            (None, _) => {
                different.push(format!("{shown} is made by trunk alone"));
                continue;
            }
            (Some(a), Some(b)) if path.as_os_str() == "index.html" => tags(a) == tags(b),
            (Some(_), Some(_)) if path.extension().is_some_and(|ending| ending == "wasm") => true,
            (Some(a), Some(b)) => a == b,
        };
        if !same {
            different.push(format!("{shown} differs"));
        }
    }
    different
}

/// The tags of a page with their attributes in order.
fn tags(html: &[u8]) -> Vec<String> {
    let html = String::from_utf8_lossy(html);
    let tags = html.split('<').skip(1).filter_map(|tag| Some(tag.split_once('>')?.0));
    let tags = tags.filter(|tag| !(tag.contains("data-trunk") && tag.contains("rel=\"rust\"")));
    tags.map(page::sorted_tag).collect()
}

#[cfg(test)]
mod tests {
    use super::compared;
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    fn page(files: &[(&str, &str)]) -> BTreeMap<PathBuf, Vec<u8>> {
        files.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_file_that_is_missing_added_or_changed_is_named() {
        let ours = page(&[("a.css", "1"), ("b.js", "2"), ("c", "3")]);
        let theirs = page(&[("a.css", "1"), ("b.js", "4"), ("d", "5")]);
        assert_eq!(compared(&ours, &theirs), ["b.js differs", "c is not made by trunk", "d is made by trunk alone"]);
    }

    #[test]
    fn the_order_of_attributes_in_the_page_does_not_matter_and_their_values_do() {
        let ours = page(&[("index.html", "<p>\n<link a=\"1\" b='2'>x</p>")]);
        assert!(compared(&ours, &page(&[("index.html", "<p><link b=\"2\"\n  a=\"1\" />x</p>")])).is_empty());
        assert_eq!(compared(&ours, &page(&[("index.html", "<p><link b=\"2\" a=\"3\">x</p>")])).len(), 1);
    }
}
