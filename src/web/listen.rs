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
    fn new(target: EventTarget, name: &'static str, f: impl FnMut(Event) + 'static) -> Option<Listener> {
        let closure = Closure::new(f);
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
