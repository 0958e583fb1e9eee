//! The browser, as the page needs it. It deliberately renders nothing.

/// The element of the page's HTML into which the page is mounted.
///
/// # Panics
/// When the HTML has no element `app`; then nothing can be shown.
pub fn mount_point() -> web_sys::Element {
    let document = web_sys::window().and_then(|window| window.document());
    document.and_then(|document| document.get_element_by_id("app")).expect("index.html has an element `app`")
}
