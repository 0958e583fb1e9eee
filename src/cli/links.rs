//! `highwater link` and `open`: files and links. Formats are the studio's; this only reads files and prints.

use std::fs;
use std::path::Path;

use highwater_studio::link::{LONG, Link};
use highwater_studio::scenario::{self, Scenario};

use crate::Complaint;
use crate::out::{self, say};

/// Reads a scenario file.
pub fn read_file(path: &Path) -> Result<Scenario, Complaint> {
    let name = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{name}: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        format!("{name}: byte {}: found bytes that are no text, expected UTF-8", error.utf8_error().valid_up_to())
    })?;
    scenario::decode(&text).map_err(|error| format!("{name}:{error}"))
}

/// Reads an address with a link, or what stands behind its `#`.
pub fn read_link(text: &str) -> Result<Link, Complaint> {
    Link::read(text.split_once('#').map_or(text, |(_, fragment)| fragment)).map_err(|error| error.to_string())
}

/// Prints the link of a scenario file and its size.
pub fn link(path: &Path) -> Result<bool, Complaint> {
    let text = format!("#{}", Link::new(read_file(path)?).fragment());
    say!("{text}");
    let length = text.len() - 1;
    let warning = if length > LONG { format!("; some programs cut links of more than {LONG}") } else { String::new() };
    out::note(format_args!("{length} characters{warning}"));
    Ok(true)
}

/// Prints the canonical scenario of a link.
pub fn open(link: &str) -> Result<bool, Complaint> {
    say!("{}", scenario::encode_pretty(&read_link(link)?.scenario));
    Ok(true)
}
