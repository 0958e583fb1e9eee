//! Where the checkout and its build folder are, and how other programs are started in it.
//!
//! It deliberately never reads standard input and never hides what a program prints.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The checkout that this call works on.
#[derive(Debug, Clone)]
pub struct House {
    /// The folder of the workspace manifest.
    pub root: PathBuf,
    /// Cargo's target folder, wherever the user has put it.
    pub target: PathBuf,
}

impl House {
    /// Finds the checkout from the environment that cargo gives us, else from the current folder upwards.
    ///
    /// # Errors
    /// When neither leads to a folder with `Trunk.toml` beside `Cargo.toml`, or cargo cannot be asked.
    pub fn find() -> Result<Self, String> {
        let start = match std::env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => std::env::current_dir().map_err(|error| format!("no current folder: {error}"))?,
        };
        let root = start
            .ancestors()
            .find(|folder| folder.join("Trunk.toml").is_file() && folder.join("Cargo.toml").is_file())
            .ok_or_else(|| format!("no checkout of Highwater at or above {}", start.display()))?
            .to_owned();
        let target = target_folder(&root)?;
        Ok(Self { root, target })
    }

    /// A program, started in the checkout, with nothing to read.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        command
    }

    /// Cargo, of the toolchain that runs us.
    pub fn cargo(&self) -> Command {
        self.command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }
}

fn target_folder(root: &Path) -> Result<PathBuf, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(["metadata", "--format-version", "1", "--no-deps", "--locked"]);
    let text = captured(&mut command)?;
    target_directory(&text).ok_or_else(|| "cargo metadata names no target folder".to_owned())
}

/// Reads the one field that we need.
fn target_directory(metadata: &str) -> Option<PathBuf> {
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    metadata.get("target_directory")?.as_str().map(PathBuf::from)
}

/// A file in the form of a manifest.
///
/// # Errors
/// When it is missing or not of that form.
pub fn read_toml(path: &Path) -> Result<toml::Table, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    text.parse().map_err(|error| format!("{}: {error}", path.display()))
}

/// Runs a program and lets it print.
///
/// # Errors
/// When it cannot be started or ends with anything but success; the message names the command.
pub fn execute(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("cannot start {}: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(command))) }
}

/// Runs a program and returns what it printed on standard output.
///
/// # Errors
/// As [`execute`], with what the program printed on standard error.
pub fn captured(command: &mut Command) -> Result<String, String> {
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("cannot start {}: {error}", shown(command)))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(format!("{} ended with {}\n{said}", shown(command), output.status))
    }
}

fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let words: Vec<String> = std::iter::once(name).chain(arguments).collect();
    format!("`{}`", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::target_directory;
    use std::path::PathBuf;

    #[test]
    fn the_target_folder_is_read_with_its_escapes() {
        let text = r#"{"packages":[],"target_directory":"C:\\a \"b\"","version":1}"#;
        assert_eq!(target_directory(text), Some(PathBuf::from("C:\\a \"b\"")));
        assert_eq!(target_directory("{}"), None);
    }
}
