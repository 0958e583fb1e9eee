//! The page: declares `ui` (components) and `web` (the browser), and starts. Holds no logic of its own.
pub mod ui;
pub mod web;

use highwater_studio::desk::{Desk, Studio};
use highwater_studio::view::model::{OpenError, ScenarioId};
use ui::app::{App, AppProps, CALM, CRAMPED, NARROW};
use ui::context::{DeskRef, Theme};
use ui::words::{Label, Lang};

/// A view option of the address: what stands behind `&name=`.
fn option(fragment: &str, name: &str) -> Option<String> {
    fragment.split('&').skip(1).filter_map(|p| p.split_once('=')).find(|(n, _)| *n == name).map(|(_, v)| v.to_owned())
}

/// The language of the address, of the last visit, of the browser, in that order; English if none of them is spoken
/// here.
fn language(fragment: &str) -> Lang {
    let asked = option(fragment, "lang").and_then(|l| Lang::of_tag(&l));
    let saved = || web::load("lang").and_then(|l| Lang::of_tag(&l));
    let browser = || web::preferred_languages().iter().find_map(|l| Lang::of_tag(l));
    asked.or_else(saved).or_else(browser).unwrap_or(Lang::En)
}

fn panic_words(l: Lang) -> web::PanicWords {
    let w = l.words();
    web::PanicWords {
        title: w.label(Label::PanicTitle),
        text: w.label(Label::PanicText),
        link: w.label(Label::PanicLink),
        reload: w.label(Label::Reload),
    }
}

/// Tells the document which language it is in.
pub(crate) fn apply_language(l: Lang) {
    web::set_language(l.words().tag());
    web::set_panic_words(panic_words(l));
}

/// Tells the document which colours to take.
pub(crate) fn apply_theme(t: Theme) {
    web::set_theme(match t {
        Theme::Auto => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
    });
}

/// Mounts the page into the element `app`. `open` makes a desk from what stands behind `#` in the address; if that
/// cannot be
/// read, it is called again with nothing, and the page says why.
///
/// # Panics
/// If there is no element `app`, or if even the first scenario cannot be opened.
pub fn start(open: fn(&str) -> Result<Box<dyn Desk>, OpenError>) {
    let fragment = web::fragment();
    let lang = language(&fragment);
    web::install_panic_screen(panic_words(lang));
    apply_language(lang);
    let theme =
        option(&fragment, "theme").or_else(|| web::load("theme")).and_then(|t| Theme::of_id(&t)).unwrap_or(Theme::Auto);
    apply_theme(theme);
    let (desk, error) = match open(&fragment) {
        Ok(desk) => (desk, None),
        Err(e) => (open("").expect("the first scenario opens"), Some(e)),
    };
    web::mount::<App>(AppProps {
        desk: DeskRef::new(desk),
        lang,
        theme,
        embed: web::is_embedded(),
        error,
        narrow: web::matches_media(NARROW),
        reduced_motion: web::matches_media(CALM),
        folded: web::matches_media(CRAMPED),
        single_keys: web::load("single-keys").as_deref() != Some("off"),
        base: web::base_address().into(),
    });
}

/// What stands behind `#` without a payload opens the first scenario; view options alone are no payload.
fn has_payload(fragment: &str) -> bool {
    let first = fragment.split('&').next().unwrap_or_default();
    !first.is_empty() && !first.contains('=')
}

fn open(fragment: &str) -> Result<Box<dyn Desk>, OpenError> {
    Ok(if has_payload(fragment) {
        Box::new(Studio::open(fragment)?)
    } else {
        Box::new(Studio::opening(ScenarioId::STORY))
    })
}

/// Entry point: mounts the page into the element `app`.
///
/// # Panics
/// If there is no element `app`.
pub fn run() {
    start(open);
}
