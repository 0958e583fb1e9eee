//! The native command `highwater`. Holds argument parsing and printing only.
fn main() {}
