//! Finds the programs that building and testing need, installs them where that is possible, and
//! otherwise says exactly what to do.
//!
//! It deliberately installs nothing outside what a step needs, and nothing at all without saying so.

use crate::house::{House, captured, execute};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The oldest major version of Node that the browser tests run with.
const NODE: u32 = 20;

/// The compiler's standard library for WebAssembly.
///
/// # Errors
/// When it is missing and rustup cannot add it.
pub fn wasm_target(house: &House) -> Result<(), String> {
    let folder =
        captured(house.command("rustc").args(["--print", "target-libdir", "--target", "wasm32-unknown-unknown"]))?;
    if fs::read_dir(folder.trim()).is_ok_and(|mut entries| entries.next().is_some()) {
        return Ok(());
    }
    println!("   installing the target wasm32-unknown-unknown");
    execute(house.command("rustup").args(["target", "add", "wasm32-unknown-unknown"])).map_err(|error| {
        format!(
            "{error}\nThe compiler lacks the target wasm32-unknown-unknown. \
                 With rustup: `rustup target add wasm32-unknown-unknown`."
        )
    })
}

/// A browser of the Chromium family, and the driver of the same version.
#[derive(Debug, Clone)]
pub struct Browser {
    /// The browser itself.
    pub chromium: PathBuf,
    /// Its driver, for the wasm tests.
    pub chromedriver: PathBuf,
}

/// Finds Chromium and its driver, through `CHROMIUM`, `CHROMEDRIVER` and the path.
pub fn find_browser() -> Option<Browser> {
    const MAC: &str = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
    let chromium = named("CHROMIUM")
        .or_else(|| {
            ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].into_iter().find_map(on_path)
        })
        .or_else(|| Some(PathBuf::from(MAC)).filter(|path| path.is_file()))?;
    let chromedriver = named("CHROMEDRIVER").or_else(|| on_path("chromedriver"))?;
    Some(Browser { chromium, chromedriver })
}

/// Finds Chromium, or installs it where we are root on Debian.
///
/// # Errors
/// What to install, where we cannot.
pub fn browser(house: &House) -> Result<Browser, String> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    if root_on_debian() {
        // The font is for the Chinese page: without one its pictures show empty boxes.
        apt(house, &["chromium", "chromium-driver", "fonts-wqy-microhei"])?;
        if let Some(found) = find_browser() {
            return Ok(found);
        }
    }
    Err("the browser tests need Chromium (or Chrome) and the chromedriver of the same version.\n\
         Debian: `sudo apt-get install chromium chromium-driver`. Fedora: `sudo dnf install chromium chromedriver`.\n\
         macOS: `brew install --cask google-chrome chromedriver`.\n\
         Elsewhere set CHROMIUM and CHROMEDRIVER to their paths."
        .to_owned())
}

/// Finds Node, or installs Debian's where we are root.
///
/// # Errors
/// When there is none, or it is too old.
pub fn node_installed(house: &House) -> Result<PathBuf, String> {
    if (on_path("node").is_none() || on_path("npm").is_none()) && root_on_debian() {
        apt(house, &["nodejs", "npm"])?;
    }
    node()
}

/// Finds Node.
///
/// # Errors
/// When there is none, or it is too old.
pub fn node() -> Result<PathBuf, String> {
    let advice = format!("the browser tests need Node {NODE} or newer with npm: see https://nodejs.org/en/download");
    let path = on_path("node").ok_or_else(|| format!("there is no `node`; {advice}"))?;
    let said = captured(Command::new(&path).arg("--version"))?;
    match major(&said) {
        Some(found) if found >= NODE => Ok(path),
        Some(_) | None => Err(format!("`node --version` says {}; {advice}", said.trim())),
    }
}

/// The npm packages of the lock file, installed once for each state of that file.
///
/// # Errors
/// When npm is missing or fails.
pub fn npm_packages(house: &House) -> Result<(), String> {
    let lock = fs::read(house.root.join("package-lock.json")).map_err(|error| format!("package-lock.json: {error}"))?;
    let stamp = house.root.join("node_modules/.installed-lock");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    println!("   npm ci");
    execute(house.command("npm").args(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, lock).map_err(|error| format!("{}: {error}", stamp.display()))
}

fn apt(house: &House, packages: &[&str]) -> Result<(), String> {
    println!("   apt-get install {}", packages.join(" "));
    let quiet = |house: &House| {
        let mut command = house.command("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").stdout(std::process::Stdio::null());
        command
    };
    execute(quiet(house).args(["update", "-qq"]))?;
    execute(quiet(house).args(["install", "-y", "-qq"]).args(packages))
}

fn root_on_debian() -> bool {
    let debian = fs::metadata("/etc/debian_version").is_ok() && on_path("apt-get").is_some();
    debian && captured(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}

fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Where a program of that name is.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(major("v20.20.2\n"), Some(20));
        assert_eq!(major("unknown"), None);
    }
}
