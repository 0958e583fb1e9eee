//! Everything that touches the browser, and nothing that knows Kafka. No other file names `web_sys` or `js_sys`.
//! It deliberately keeps no state of the run: what the browser refuses (storage in a sandbox, a clipboard without
//! permission) becomes `None` or `false`, never a panic.
mod bench;
mod clipboard;
mod document;
mod frames;
mod listen;
mod location;
mod panic;
mod storage;

pub use clipboard::{copy_text, download_text};
pub use document::{
    chosen_value, closest_matches, document_hidden, focus_by_id, focus_first, focused_number, is_embedded,
    place_in_target, pointer_capture, pointer_fraction, preferred_languages, press_by_id, scroll_to_top, select_all,
    set_language, set_theme, show_modal, wheel_fraction,
};
pub use frames::{Frames, now_ms};
pub use listen::{
    Listener, Seen, matches_media, on_hash_change, on_key_down, on_media_change, on_resize, on_visibility_change,
    when_seen, window_size,
};
pub use location::{base_address, fragment, replace_fragment};
pub use panic::{PanicWords, install_panic_screen, remember_moment, remember_place, set_panic_words};
pub use storage::{load, save};

/// The element of the page's HTML into which the page is mounted.
///
/// # Panics
/// When the HTML has no element `app`; then nothing can be shown.
pub fn mount_point() -> web_sys::Element {
    document::document().and_then(|d| d.get_element_by_id("app")).expect("the page's HTML has an element `app`")
}

/// Replaces what the mount point shows by a component.
///
/// # Panics
/// As `mount_point`.
pub fn mount<C>(props: C::Properties)
where
    C: yew::BaseComponent,
{
    let root = mount_point();
    root.set_text_content(None);
    yew::Renderer::<C>::with_root_and_props(root, props).render();
}
