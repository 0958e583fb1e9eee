//! Entry point of the page: mounts the root component. Nothing else happens here.
fn main() {}
