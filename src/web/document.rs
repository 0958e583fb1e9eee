//! The document: attributes of its root, focus, dialogs, pointer positions. Builds no element; Yew does that.
use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlDialogElement, HtmlElement, PointerEvent, WheelEvent};

pub(super) fn document() -> Option<Document> {
    web_sys::window()?.document()
}

fn root() -> Option<Element> {
    document()?.document_element()
}

/// Whether the markup says `data-embed` on its root.
pub fn is_embedded() -> bool {
    root().is_some_and(|r| r.has_attribute("data-embed"))
}

/// `lang` of the root, as a BCP 47 tag.
pub fn set_language(tag: &str) {
    if let Some(r) = root() {
        // Setting a fixed, well-formed name cannot fail.
        let _ = r.set_attribute("lang", tag);
    }
}

/// `light`, `dark`, or `None` to follow the system.
pub fn set_theme(theme: Option<&str>) {
    let Some(r) = root() else { return };
    let _ = match theme {
        Some(t) => r.set_attribute("data-theme", t),
        None => r.remove_attribute("data-theme"),
    };
}

/// What an embedding page asked for in `data-lang`, then the browser's languages, best first.
pub fn preferred_languages() -> Vec<String> {
    let mut all = Vec::new();
    if let Some(l) = root().and_then(|r| r.get_attribute("data-lang")) {
        all.push(l);
    }
    if let Some(w) = web_sys::window() {
        all.extend(w.navigator().languages().iter().filter_map(|l| l.as_string()));
    }
    all
}

pub fn document_hidden() -> bool {
    document().is_some_and(|d| d.hidden())
}

/// Moves the focus; does nothing if there is no such element.
pub fn focus_by_id(id: &str) {
    if let Some(e) = document().and_then(|d| d.get_element_by_id(id))
        && let Some(h) = e.dyn_ref::<HtmlElement>()
    {
        let _ = h.focus();
    }
}

/// Moves the focus to the first element that the selector names, if there is one.
pub fn focus_first(selector: &str) {
    if let Some(e) = document().and_then(|d| d.query_selector(selector).ok().flatten())
        && let Some(h) = e.dyn_ref::<HtmlElement>()
    {
        let _ = h.focus();
    }
}

/// Presses a button. Returns whether there is one.
pub fn press_by_id(id: &str) -> bool {
    let found = document().and_then(|d| d.get_element_by_id(id)).and_then(|e| e.dyn_into::<HtmlElement>().ok());
    if let Some(button) = &found {
        button.click();
    }
    found.is_some()
}

pub fn scroll_to_top(id: &str) {
    if let Some(e) = document().and_then(|d| d.get_element_by_id(id)) {
        e.set_scroll_top(0);
    }
}

/// Opens a `<dialog>` so that the browser keeps the focus inside and closes it on Escape.
pub fn show_modal(id: &str) {
    if let Some(e) = document().and_then(|d| d.get_element_by_id(id))
        && let Some(d) = e.dyn_ref::<HtmlDialogElement>()
        && !d.open()
    {
        let _ = d.show_modal();
    }
}

/// Whether the target of an event is inside something that the selector names.
pub fn closest_matches(target: Option<web_sys::EventTarget>, selector: &str) -> bool {
    target.and_then(|t| t.dyn_into::<Element>().ok()).and_then(|e| e.closest(selector).ok().flatten()).is_some()
}

fn fraction(x: i32, track: Option<Element>) -> Option<f64> {
    let r = track?.get_bounding_client_rect();
    (r.width() > 0.0).then(|| ((f64::from(x) - r.left()) / r.width()).clamp(0.0, 1.0))
}

/// The element marked `data-track` in which an event happened. Events are heard at the root of the page, so that the
/// event itself does not say which element listens.
fn track(e: &web_sys::Event) -> Option<Element> {
    e.target()?.dyn_into::<Element>().ok()?.closest("[data-track]").ok().flatten()
}

/// Where a pointer stands in its track, from 0 at its left to 1 at its right.
pub fn pointer_fraction(e: &PointerEvent) -> Option<f64> {
    fraction(e.client_x(), track(e))
}

/// The same for a wheel.
pub fn wheel_fraction(e: &WheelEvent) -> Option<f64> {
    fraction(e.client_x(), track(e))
}

/// Keeps all further moves of this pointer with its track, until it is released.
pub fn pointer_capture(e: &PointerEvent) {
    if let Some(el) = track(e) {
        let _ = el.set_pointer_capture(e.pointer_id());
    }
}

/// If the element that has the focus is called `id-NUMBER`, the number.
pub fn focused_number(id: &str) -> Option<usize> {
    let focused = document()?.active_element()?.id();
    focused.strip_prefix(id)?.strip_prefix('-')?.parse().ok()
}

/// Where the mouse stands in its track, in whole pixels of its own `width` from its upper left, however much
/// it is enlarged.
pub fn place_in_target(e: &web_sys::MouseEvent) -> Option<(u32, u32)> {
    let el = track(e)?;
    let r = el.get_bounding_client_rect();
    // Our own pictures have whole widths; to read a fraction takes 10 kB of tables.
    let own = el.get_attribute("width").and_then(|w| w.parse::<u32>().ok()).filter(|_| r.width() > 0.0);
    let scale = own.map_or(1.0, |w| f64::from(w) / r.width());
    let (x, y) = ((f64::from(e.client_x()) - r.left()) * scale, (f64::from(e.client_y()) - r.top()) * scale);
    // Between nothing and the width of a screen: the cast cannot lose anything that matters.
    (x >= 0.0 && y >= 0.0).then_some((x as u32, y as u32))
}

/// What was chosen or typed in the control that the event is about.
pub fn chosen_value(e: &web_sys::Event) -> Option<String> {
    let t = e.target()?;
    if let Some(s) = t.dyn_ref::<web_sys::HtmlSelectElement>() {
        return Some(s.value());
    }
    t.dyn_ref::<web_sys::HtmlInputElement>().map(web_sys::HtmlInputElement::value)
}

/// Selects all text of a field, so that it can be copied by hand.
pub fn select_all(id: &str) {
    let Some(e) = document().and_then(|d| d.get_element_by_id(id)) else { return };
    if let Some(i) = e.dyn_ref::<web_sys::HtmlInputElement>() {
        i.select();
    } else if let Some(a) = e.dyn_ref::<web_sys::HtmlTextAreaElement>() {
        a.select();
    }
}
