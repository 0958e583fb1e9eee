//! The address. Never adds a history entry: moving in time is not a page visit.

/// What stands behind `#`, without it.
pub fn fragment() -> String {
    let hash = web_sys::window().and_then(|w| w.location().hash().ok()).unwrap_or_default();
    hash.strip_prefix('#').unwrap_or("").to_owned()
}

/// Writes the part behind `#`. In a sandbox the browser may refuse; the page goes on without.
pub fn replace_fragment(fragment: &str) -> bool {
    let Some(w) = web_sys::window() else { return false };
    let Ok(h) = w.history() else { return false };
    h.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&format!("#{fragment}"))).is_ok()
}

/// The address of the playground itself, ending in `/`: in an embed two folders up.
pub fn base_address() -> String {
    let Some(l) = web_sys::window().map(|w| w.location()) else { return "./".into() };
    let (origin, path) = (l.origin().unwrap_or_default(), l.pathname().unwrap_or_default());
    // A frame with an opaque origin still knows its own address.
    let origin = if origin == "null" {
        let href = l.href().unwrap_or_default();
        href.split('/').take(3).collect::<Vec<_>>().join("/")
    } else {
        origin
    };
    let folder = path.rsplit_once('/').map_or("", |(f, _)| f);
    let folder = folder.strip_suffix("/embed/1").unwrap_or(folder);
    format!("{origin}{folder}/")
}
