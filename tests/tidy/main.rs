//! House rules, checked on the tree as text: table of contents.
//!
//! Each rule is a function from text to complaints, with one test that runs it over the tree and one
//! that shows it fires. Nothing here compiles, runs or fixes what it reads.

mod coverage;
mod manifests;
mod rooms;
mod rust;
mod top;
mod tree;
mod words;

/// Fails with every complaint, one a line.
fn check(complaints: &[String]) {
    assert!(complaints.is_empty(), "house rules broken:\n{}\n", complaints.join("\n"));
}
