//! Printing to whoever reads, who may have gone: a closed pipe ends the command quietly. Formats nothing.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::process::exit;

use crate::BAD_INPUT;

/// Writes to standard output. Who reads `highwater … | head` has what they wanted; a full disk is said.
pub fn write(text: Arguments<'_>) {
    let written = stdout().lock().write_fmt(text);
    if let Err(error) = written {
        if error.kind() == ErrorKind::BrokenPipe {
            exit(0);
        }
        complain(format_args!("the output cannot be written: {error}"));
        exit(i32::from(BAD_INPUT));
    }
}

/// Says what went wrong.
pub fn complain(text: Arguments<'_>) {
    note(format_args!("highwater: {text}"));
}

/// Writes a line to the error stream; if nobody reads that either, nothing can be said.
pub fn note(text: Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{text}");
}

macro_rules! say {
    ($($arguments:tt)*) => {
        $crate::out::write(format_args!("{}\n", format_args!($($arguments)*)))
    };
}

pub(crate) use say;
