//! Listeners that outlive a component only as long as their handle does. Decides nothing about what an event means.
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, EventTarget, KeyboardEvent};

/// Stops listening when dropped.
pub struct Listener {
    target: EventTarget,
    name: &'static str,
    closure: Closure<dyn FnMut(Event)>,
}

impl Listener {
    fn new(target: EventTarget, name: &'static str, mut f: impl FnMut(Event) + 'static) -> Option<Listener> {
        let closure = Closure::new(move |e| {
            if !super::panic::has_stopped() {
                f(e);
            }
        });
        target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref()).ok()?;
        Some(Listener { target, name, closure })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.target.remove_event_listener_with_callback(self.name, self.closure.as_ref().unchecked_ref());
    }
}

/// Keys that nothing else has used up.
pub fn on_key_down(mut f: impl FnMut(KeyboardEvent) + 'static) -> Option<Listener> {
    let document = super::document::document()?;
    Listener::new(document.into(), "keydown", move |e| {
        if let Ok(k) = e.dyn_into::<KeyboardEvent>()
            && !k.default_prevented()
        {
            f(k);
        }
    })
}

pub fn on_hash_change(mut f: impl FnMut() + 'static) -> Option<Listener> {
    Listener::new(web_sys::window()?.into(), "hashchange", move |_| f())
}

pub fn on_visibility_change(mut f: impl FnMut() + 'static) -> Option<Listener> {
    Listener::new(super::document::document()?.into(), "visibilitychange", move |_| f())
}

pub fn on_resize(mut f: impl FnMut() + 'static) -> Option<Listener> {
    Listener::new(web_sys::window()?.into(), "resize", move |_| f())
}

/// Width and height of the window, in CSS pixels.
pub fn window_size() -> (u32, u32) {
    let Some(w) = web_sys::window() else { return (1_440, 900) };
    let pixels = |v: Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>, otherwise: u32| {
        // A window is between nothing and some ten thousand pixels wide.
        v.ok().and_then(|v| v.as_f64()).map_or(otherwise, |v| v.clamp(0.0, 100_000.0) as u32)
    };
    (pixels(w.inner_width(), 1_440), pixels(w.inner_height(), 900))
}

/// Waits until the page is seen; dropped, it waits no more.
pub struct Seen {
    observer: web_sys::IntersectionObserver,
    _closure: Closure<dyn FnMut(js_sys::Array)>,
}

impl Drop for Seen {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Calls back when some of the page can be seen, in a frame too.
pub fn when_seen(mut f: impl FnMut() + 'static) -> Option<Seen> {
    let closure = Closure::new(move |entries: js_sys::Array| {
        let seen = entries.iter().filter_map(|e| e.dyn_into::<web_sys::IntersectionObserverEntry>().ok());
        if !super::panic::has_stopped() && seen.into_iter().any(|e| e.is_intersecting()) {
            f();
        }
    });
    let observer = web_sys::IntersectionObserver::new(closure.as_ref().unchecked_ref()).ok()?;
    observer.observe(&super::document::document()?.get_element_by_id("app")?);
    Some(Seen { observer, _closure: closure })
}

/// Whether a media query holds now.
pub fn matches_media(query: &str) -> bool {
    web_sys::window().and_then(|w| w.match_media(query).ok().flatten()).is_some_and(|m| m.matches())
}

/// Calls back with the new answer whenever it changes.
pub fn on_media_change(query: &str, mut f: impl FnMut(bool) + 'static) -> Option<Listener> {
    let list = web_sys::window()?.match_media(query).ok()??;
    let asked = list.clone();
    Listener::new(list.into(), "change", move |_| f(asked.matches()))
}
