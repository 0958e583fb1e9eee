//! The header: name, scenario, share, language, theme. Opens nothing itself; it asks.
use super::context::{Ask, Dialog, Theme, use_ui};
use super::marks;
use super::words::{Label, Lang, shown};
use crate::web;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct HeaderProps {
    pub scene: Rc<Scene>,
    pub theme: Theme,
    #[prop_or_default]
    pub narrow: bool,
    /// There is an action to take back.
    #[prop_or_default]
    pub can_undo: bool,
}

#[component]
pub fn Header(props: &HeaderProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let next = match props.theme {
        Theme::Auto => Theme::Light,
        Theme::Light => Theme::Dark,
        Theme::Dark => Theme::Contrast,
        Theme::Contrast => Theme::Auto,
    };
    let sign = match props.theme {
        Theme::Auto => "◐",
        Theme::Light => "○",
        Theme::Dark => "●",
        Theme::Contrast => "◑",
    };
    let theme_name = w.titled(w.label(Label::Theme), w.label(props.theme.label()));
    html! {
        <header class="top">
            <h1 class="brand">{ marks::waves() }<span>{ "Highwater" }</span></h1>
            if !props.narrow { <ScenarioPicker origin={props.scene.origin.clone()} /> }
            if !props.narrow { { about(&ui, &props.scene.origin) } }
            <span class="grow" />
            if props.can_undo { <UndoButton /> }
            <button type="button" class="btn primary" onclick={ui.on(Ask::OpenDialog(Dialog::Share))}>
                { w.label(Label::Share) }
            </button>
            <LanguagePicker />
            <button
                type="button" class="btn square" aria-label={theme_name.clone()} title={theme_name}
                onclick={ui.on(Ask::SetTheme(next))}
            >
                <span aria-hidden="true">
                    { sign }
                </span>
            </button>
            if !props.narrow {
                <button
                    type="button" class="btn square" aria-label={w.label(Label::Keys)} title={w.label(Label::Keys)}
                    onclick={ui.on(Ask::OpenDialog(Dialog::Keys))}
                >
                    <span aria-hidden="true">{ "?" }</span>
                </button>
            }
        </header>
    }
}

/// Takes back the last action.
#[component]
pub fn UndoButton() -> Html {
    let ui = use_ui();
    let name = ui.label(Label::Undo);
    html! {
        <button
            type="button" class="btn square undo" aria-label={name} title={format!("{name} (Ctrl Z)")}
            onclick={ui.on_do(Command::Undo)}
        ><span aria-hidden="true">{ "↶" }</span></button>
    }
}

/// The sentence of a scenario; nobody here has written one for what came by a link, or vouches for it.
fn about(ui: &super::context::Ui, o: &Origin) -> Html {
    match o {
        Origin::Gallery { id, .. } => html! { <span class="about muted">{ ui.words().scenario_about(*id) }</span> },
        Origin::Link { .. } => html! { <b class="shared-mark">{ ui.label(Label::SharedScenario) }</b> },
    }
}

#[derive(PartialEq, Properties)]
pub struct PickerProps {
    pub origin: Origin,
}

#[component]
pub fn ScenarioPicker(props: &PickerProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let send = ui.ask.clone();
    let change = Callback::from(move |e: Event| {
        let id =
            web::chosen_value(&e).and_then(|v| v.parse::<usize>().ok()).and_then(|i| ScenarioId::ALL.get(i).copied());
        if let Some(id) = id {
            send.emit(Ask::Scenario(id));
        }
    });
    // A run that is none of the gallery's has an entry of its own, so that the picker always says what is shown.
    let own = match &props.origin {
        Origin::Gallery { changed: false, .. } => None,
        Origin::Gallery { id, changed: true } => {
            Some(format!("{} ({})", w.scenario(*id), w.label(Label::ScenarioChanged)))
        }
        Origin::Link { title } => {
            Some(title.as_ref().map_or_else(|| w.label(Label::ShareLink).to_owned(), |t| shown(t)))
        }
    };
    let shown = match props.origin {
        Origin::Gallery { id, changed: false } => Some(id),
        Origin::Gallery { changed: true, .. } | Origin::Link { .. } => None,
    };
    html! {
        <select class="btn scenario" aria-label={w.label(Label::Scenario)} onchange={change}>
            if let Some(own) = own { <option value="own" selected=true>{ own }</option> }
            <optgroup label={w.label(Label::Story)}>
                { for ScenarioId::ALL.iter().enumerate().map(|(i, id)| html! {
                    <option value={i.to_string()} selected={shown == Some(*id)}>{ w.scenario(*id) }</option>
                }) }
            </optgroup>
        </select>
    }
}

#[component]
pub fn LanguagePicker() -> Html {
    let ui = use_ui();
    let send = ui.ask.clone();
    let change = Callback::from(move |e: Event| {
        if let Some(l) = web::chosen_value(&e).and_then(|v| Lang::of_tag(&v)) {
            send.emit(Ask::SetLanguage(l));
        }
    });
    html! {
        <select class="btn language" aria-label={ui.label(Label::Language)} onchange={change}>
            { for Lang::ALL.into_iter().map(|l| html! {
                <option value={l.short()} lang={l.words().tag()} selected={l == ui.lang}>
                    { l.words().own_name() }
                </option>
            }) }
        </select>
    }
}
