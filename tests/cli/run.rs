//! Runs the built command and keeps what it said. Judges nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs `highwater` with these arguments.
pub fn highwater(args: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_highwater")).args(args).output().expect("the command runs");
    Said {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// One of our own recordings.
pub fn recording(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kafka/recordings").join(name)
}

/// A file with this text, in the folder that cargo gives to tests.
pub fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("the folder for test files is there");
    path
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("the recording is there")
}
