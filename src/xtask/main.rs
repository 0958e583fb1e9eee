//! The helper behind `cargo xtask`.
fn main() {}
