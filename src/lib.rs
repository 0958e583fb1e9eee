//! The page: declares `ui` (components) and `web` (the browser), and starts. Holds no logic of its own.
pub mod ui;
pub mod web;

use highwater_studio::desk::{Desk, Studio};
use highwater_studio::view::model::{OpenError, ScenarioId};
use ui::app::travel::{FIRST_MS, Turn};
use ui::app::{App, AppProps, CALM, CRAMPED, narrow_query};
use ui::context::{DeskRef, Theme};
use ui::options::ViewOptions;
use ui::words::{Label, Lang};

/// The language of the address, of the last visit, of the browser, in that order; English if none of them is spoken
/// here.
fn language(asked: Option<Lang>) -> Lang {
    let saved = || web::load("lang").and_then(|l| Lang::of_tag(&l));
    let browser = || web::preferred_languages().iter().find_map(|l| Lang::of_tag(l));
    asked.or_else(saved).or_else(browser).unwrap_or(Lang::En)
}

fn panic_words(l: Lang) -> web::PanicWords {
    let w = l.words();
    web::PanicWords {
        title: w.label(Label::PanicTitle),
        text: w.label(Label::PanicText),
        moment: w.label(Label::PanicMoment),
        report: w.label(Label::PanicReport),
        without_link: w.label(Label::OpenWithoutLink),
        before: w.label(Label::GoBackBefore),
        lang: l.short(),
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
        Theme::Contrast => Some("contrast"),
    });
}

/// Mounts the page into the element `app`. `open` makes a desk from what stands behind `#` in the address; if that
/// cannot be read, it is called again with nothing, and the page says why.
///
/// # Panics
/// If there is no element `app`, or if even the first scenario cannot be opened.
pub fn start(open: fn(&str) -> Result<Box<dyn Desk>, OpenError>) {
    let fragment = web::fragment();
    let mut options = ViewOptions::read(&fragment);
    let lang = language(options.lang);
    web::install_panic_screen(panic_words(lang));
    apply_language(lang);
    let saved = || web::load("theme").and_then(|t| Theme::of_id(&t));
    let theme = options.theme.or_else(saved).unwrap_or(Theme::Auto);
    apply_theme(theme);
    let (mut desk, error) = match open(&fragment) {
        Ok(desk) => (desk, None),
        Err(e) => (open("").expect("the first scenario opens"), Some(e)),
    };
    // A moment that is near is there at the first look.
    Turn::of(&mut *desk).begin(FIRST_MS);
    desk.tick(0, false);
    // A payload carries its moment; without one the first scenario opens at its own.
    if !has_payload(&fragment) {
        options.refused.extend(options.at.iter().map(|at| format!("at={at}")));
    }
    let embed = web::is_embedded();
    web::mount::<App>(AppProps {
        desk: DeskRef::new(desk),
        lang,
        theme,
        embed,
        options,
        window: web::window_size(),
        error,
        narrow: web::matches_media(narrow_query(embed)),
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
        Box::new(Studio::setting_out(fragment)?)
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
