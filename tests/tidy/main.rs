//! House rules, checked on the tree as text.
fn main() {}
