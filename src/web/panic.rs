//! The screen that is shown when the program has hit a bug: what happened, at which moment, a report to send, and two
//! ways on that do not lead into the same bug again. It deliberately uses no Yew, which may be what broke.
use std::cell::{Cell, RefCell};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Document, Element};

/// What the screen says, in the language that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PanicWords {
    pub title: &'static str,
    pub text: &'static str,
    /// Before the moment at which it happened.
    pub moment: &'static str,
    pub report: &'static str,
    pub without_link: &'static str,
    pub before: &'static str,
    /// As it stands in an address.
    pub lang: &'static str,
}

/// Where the run last stood still, and where it was seen last.
#[derive(Default)]
struct Place {
    /// What stood behind `#` then.
    fragment: String,
    moment: String,
}

thread_local! {
    static WORDS: Cell<Option<PanicWords>> = const { Cell::new(None) };
    static PLACE: RefCell<Option<Place>> = const { RefCell::new(None) };
    static STOPPED: Cell<bool> = const { Cell::new(false) };
}

/// Changes the words when the language changes.
pub fn set_panic_words(words: PanicWords) {
    WORDS.with(|w| w.set(Some(words)));
}

/// Time stands still here: what the screen calls "before it", should the next thing go wrong.
pub fn remember_place(fragment: &str, moment: &str) {
    PLACE.with_borrow_mut(|p| *p = Some(Place { fragment: fragment.into(), moment: moment.into() }));
}

/// Time has come to here.
pub fn remember_moment(moment: String) {
    PLACE.with_borrow_mut(|p| p.get_or_insert_default().moment = moment);
}

/// The program has panicked: nothing may call into it any more.
pub(super) fn has_stopped() -> bool {
    STOPPED.try_with(Cell::get).unwrap_or(true)
}

/// From now on a panic is shown. Yew is told, since it would put a hook of its own in the place of one that it does not
/// know.
pub fn install_panic_screen(words: PanicWords) {
    set_panic_words(words);
    yew::set_custom_panic_hook(Box::new(|info| {
        let message = info.to_string();
        web_sys::console::error_1(&message.as_str().into());
        // Only the first panic tells the cause; what follows is its debris.
        if STOPPED.try_with(|s| s.replace(true)).unwrap_or(true) {
            return;
        }
        if let Some(words) = WORDS.try_with(Cell::get).ok().flatten() {
            // If even this fails, the browser's own console has the message.
            let _ = show(words, &message);
        }
    }));
}

/// What stands behind `#` at a moment that is certainly before: where time last stood still, or, for a link that broke
/// while it was opened, the start of its run.
fn before(place: Option<&Place>, address: &str) -> Option<String> {
    if let Some(p) = place.filter(|p| !p.fragment.is_empty()) {
        return Some(p.fragment.clone());
    }
    let payload = address.split('&').next().filter(|first| !first.is_empty() && !first.contains('='))?;
    let at_a_moment = address.split('&').any(|option| option.starts_with("at="));
    at_a_moment.then(|| payload.to_owned())
}

struct Maker(Document);

impl Maker {
    fn element(&self, tag: &str, class: &str, text: &str) -> Option<Element> {
        let e = self.0.create_element(tag).ok()?;
        e.set_class_name(class);
        e.set_text_content(Some(text));
        Some(e)
    }

    /// A button that leaves for another fragment of this page, which is then loaded anew.
    fn way_out(&self, text: &str, class: &str, fragment: String) -> Option<Element> {
        let button = self.element("button", class, text)?;
        button.set_attribute("type", "button").ok()?;
        let go = Closure::once_into_js(move || {
            let Some(w) = web_sys::window() else { return };
            super::location::replace_fragment(&fragment);
            let _ = w.location().reload();
        });
        button.add_event_listener_with_callback("click", go.unchecked_ref()).ok()?;
        Some(button)
    }
}

fn show(words: PanicWords, message: &str) -> Option<()> {
    let d = super::document::document()?;
    let body = d.body()?;
    // The program that drew this answers no more.
    let app = d.get_element_by_id("app")?;
    let place = PLACE.try_with(|p| p.try_borrow_mut().ok().and_then(|mut p| p.take())).ok().flatten();
    if place.as_ref().is_some_and(|p| !p.fragment.is_empty()) {
        app.set_attribute("inert", "").ok()?;
    } else {
        // It was never drawn whole: half a page explains nothing.
        app.set_text_content(None);
    }
    let address = super::location::fragment();
    let here = web_sys::window()?.location().href().ok()?;
    let link = match place.as_ref().filter(|p| !p.fragment.is_empty()) {
        Some(p) => format!("{}#{}", here.split('#').next().unwrap_or_default(), p.fragment),
        None => here,
    };
    let m = Maker(d);
    let card = m.element("main", "panic", "")?;
    card.set_id("panic");
    card.set_attribute("lang", words.lang).ok()?;
    let alert = m.element("div", "", "")?;
    alert.set_attribute("role", "alert").ok()?;
    alert.append_child(m.element("h1", "", words.title)?.as_ref()).ok()?;
    alert.append_child(m.element("p", "", words.text)?.as_ref()).ok()?;
    let mut report = String::new();
    if let Some(p) = place.as_ref().filter(|p| !p.moment.is_empty()) {
        let moment = format!("{} {}", words.moment, p.moment);
        alert.append_child(m.element("p", "panic-moment", &moment)?.as_ref()).ok()?;
        report.push_str(&moment);
        report.push('\n');
    }
    card.append_child(alert.as_ref()).ok()?;
    report.push_str(&format!("{message}\n{link}"));
    let label = m.element("label", "", words.report)?;
    label.set_attribute("for", "panic-report").ok()?;
    card.append_child(label.as_ref()).ok()?;
    let field = m.element("textarea", "mono", &report)?;
    field.set_id("panic-report");
    field.set_attribute("readonly", "").ok()?;
    field.set_attribute("rows", "6").ok()?;
    card.append_child(field.as_ref()).ok()?;
    let buttons = m.element("div", "card-buttons", "")?;
    if let Some(fragment) = before(place.as_ref(), &address) {
        buttons.append_child(m.way_out(words.before, "btn primary", fragment)?.as_ref()).ok()?;
    }
    let plain = format!("&lang={}", words.lang);
    buttons.append_child(m.way_out(words.without_link, "btn", plain)?.as_ref()).ok()?;
    card.append_child(buttons.as_ref()).ok()?;
    body.append_child(card.as_ref()).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still(fragment: &str) -> Place {
        Place { fragment: fragment.into(), moment: "12.000 s".into() }
    }

    #[test]
    fn before_it_is_where_time_last_stood_still() {
        let place = still("k1abc&at=1us");
        assert_eq!(before(Some(&place), "k1abc&at=9us").as_deref(), Some("k1abc&at=1us"));
    }

    #[test]
    fn a_link_that_broke_while_it_opened_is_left_for_the_start_of_its_run_and_not_opened_again() {
        assert_eq!(before(None, "k1abc&at=9us&d=00000000&lang=zh").as_deref(), Some("k1abc"));
        assert_eq!(before(None, "k1abc&lang=zh"), None);
        assert_eq!(before(None, "lang=zh"), None);
        assert_eq!(before(Some(&still("")), ""), None);
    }
}
