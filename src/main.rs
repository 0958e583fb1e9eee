//! Entry point of the page: starts it. Nothing else happens here.

fn main() {
    highwater_page::run();
}
