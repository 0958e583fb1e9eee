//! The screen that is shown when the program has hit a bug: the message, the link that reproduces it, a button that
//! reloads. It deliberately uses no Yew, which may be what broke.
use std::cell::RefCell;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// What the screen says, in the language that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanicWords {
    pub title: &'static str,
    pub text: &'static str,
    pub link: &'static str,
    pub reload: &'static str,
}

thread_local! {
    static WORDS: RefCell<Option<PanicWords>> = const { RefCell::new(None) };
}

/// Changes the words when the language changes.
pub fn set_panic_words(words: PanicWords) {
    WORDS.with_borrow_mut(|w| *w = Some(words));
}

/// From now on a panic is shown.
pub fn install_panic_screen(words: PanicWords) {
    set_panic_words(words);
    std::panic::set_hook(Box::new(|info| {
        let message = info.to_string();
        let words = WORDS.try_with(|w| w.try_borrow().ok().and_then(|w| *w)).ok().flatten();
        if let Some(words) = words {
            // If even this fails, the browser's own console still gets the trap.
            let _ = show(words, &message);
        }
    }));
}

fn show(words: PanicWords, message: &str) -> Option<()> {
    let d = super::document::document()?;
    let body = d.body()?;
    // Only the first panic tells the cause; what follows is its debris.
    if d.get_element_by_id("panic").is_some() {
        return None;
    }
    let text = |tag: &str, class: &str, content: &str| {
        let e = d.create_element(tag).ok()?;
        e.set_class_name(class);
        e.set_text_content(Some(content));
        Some(e)
    };
    let card = d.create_element("section").ok()?;
    card.set_id("panic");
    card.set_class_name("panic");
    card.set_attribute("role", "alert").ok()?;
    card.append_child(text("h1", "", words.title)?.as_ref()).ok()?;
    card.append_child(text("p", "", words.text)?.as_ref()).ok()?;
    card.append_child(text("pre", "mono", message)?.as_ref()).ok()?;
    card.append_child(text("p", "", words.link)?.as_ref()).ok()?;
    let href = web_sys::window()?.location().href().ok()?;
    card.append_child(text("p", "mono panic-link", &href)?.as_ref()).ok()?;
    let button = text("button", "btn primary", words.reload)?;
    button.set_attribute("type", "button").ok()?;
    let reload = Closure::once_into_js(|| {
        if let Some(w) = web_sys::window() {
            let _ = w.location().reload();
        }
    });
    button.add_event_listener_with_callback("click", reload.unchecked_ref()).ok()?;
    card.append_child(button.as_ref()).ok()?;
    body.append_child(card.as_ref()).ok()?;
    Some(())
}
