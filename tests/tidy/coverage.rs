//! That the closed lists of the engine are exercised: every trace kind occurs in a golden trace, every
//! invariant has a test that names it. It deliberately does not judge those tests.

use crate::check;
use crate::rust::{code_only, variants};
use crate::tree::{File, files};

/// The variants of `pub enum NAME` in whichever of the files declares it.
fn declared(files: &[File], name: &str) -> Vec<String> {
    files.iter().map(|file| variants(&file.text, name)).find(|variants| !variants.is_empty()).unwrap_or_default()
}

/// `IsrShrunk` with the given character between its words, in small letters.
fn split(name: &str, between: char) -> String {
    let mut out = String::new();
    for (index, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && index > 0 {
            out.push(between);
        }
        out.extend(letter.to_lowercase());
    }
    out
}

/// The names that no text holds, in any of the three spellings.
fn missing(names: &[String], texts: &[String]) -> Vec<String> {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let held = |spelling: &str| texts.iter().any(|text| text.split(|c| !part(c)).any(|word| word == spelling));
    names
        .iter()
        .filter(|name| ![(*name).clone(), split(name, '-'), split(name, '_')].iter().any(|s| held(s)))
        .cloned()
        .collect()
}

fn room(name: &str) -> Vec<File> {
    let mut found = files(&format!("src/engine/{name}"), ".rs");
    found.extend(files(&format!("src/engine/{name}.rs"), ""));
    found
}

#[test]
fn every_trace_kind_occurs_in_a_golden_trace() {
    let golden: Vec<String> = files("tests/golden", ".txt").into_iter().map(|file| file.text).collect();
    assert!(!golden.is_empty(), "tests/golden holds nothing");
    let kinds = declared(&room("trace"), "Kind");
    assert!(!kinds.is_empty(), "src/engine/trace declares no `pub enum Kind`");
    let complaints = missing(&kinds, &golden);
    check(
        &complaints
            .iter()
            .map(|kind| format!("trace kind {kind} occurs in no file of tests/golden"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn every_invariant_has_a_test_that_breaks_it() {
    let invariants = declared(&room("check"), "Invariant");
    assert!(!invariants.is_empty(), "src/engine/check declares no `pub enum Invariant`");
    let mut tests = files("tests/engine", ".rs");
    tests.extend(files("tests/studio", ".rs"));
    let tests: Vec<String> = tests.iter().map(|file| code_only(&file.text)).collect();
    let complaints = missing(&invariants, &tests);
    check(
        &complaints
            .iter()
            .map(|name| format!("invariant {name} is broken by no test in tests/engine"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_name_that_no_text_holds_is_missed() {
    let names = ["IsrShrunk", "LeaderElected", "HighWatermarkRaised"].map(str::to_owned);
    let texts = ["12 isr-shrunk orders-0".to_owned(), "LeaderElectedTwice leader_elected".to_owned()];
    assert_eq!(missing(&names, &texts), ["HighWatermarkRaised"]);
    assert_eq!(missing(&names, &[]).len(), 3);
}
