//! The left panel: everything that one may change, with the value in force and the default. Decides nothing about what
//! a change does; `live` says whether it acts now or begins a new run.
use super::context::{Ask, Ui, use_ui};
use super::words::{Label, setting_value};
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct SettingsProps {
    pub settings: Rc<Settings>,
    pub folded: bool,
}

#[component]
pub fn SettingsPanel(props: &SettingsProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    if props.folded {
        return html! {
            <aside class="left folded" aria-label={w.label(Label::Settings)}>
                <button
                    type="button" class="btn square" aria-expanded="false" aria-label={w.label(Label::ShowSettings)}
                    title={w.label(Label::ShowSettings)} onclick={ui.on(Ask::FoldSettings(false))}
                >{ "»" }</button>
            </aside>
        };
    }
    html! {
        <aside class="left" aria-label={w.label(Label::Settings)}>
            <div class="left-top">
                <h2 class="hidden">{ w.label(Label::Settings) }</h2>
                <button
                    type="button" class="btn square fold" aria-expanded="true" aria-label={w.label(Label::HideSettings)}
                    title={w.label(Label::HideSettings)} onclick={ui.on(Ask::FoldSettings(true))}
                >{ "«" }</button>
            </div>
            <SettingsList settings={props.settings.clone()} />
        </aside>
    }
}

#[derive(PartialEq, Properties)]
pub struct ListProps {
    pub settings: Rc<Settings>,
}

#[component]
pub fn SettingsList(props: &ListProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    html! {
        <div class="settings">
            { for props.settings.groups.iter().map(|g| html! {
                <section>
                    <h3>{ w.settings_of(&g.of) }</h3>
                    { for g.settings.iter().map(|s| row(&ui, s)) }
                </section>
            }) }
            { for props.settings.notes.iter().map(|n| html! { <p class="note">{ w.remark(n) }</p> }) }
            <p class="muted note">{ w.label(Label::SetUpNote) }</p>
            if props.settings.previous {
                <button type="button" class="btn small" onclick={ui.on_do(Command::PreviousRun)}>
                    { w.label(Label::PreviousRun) }
                </button>
            }
        </div>
    }
}

fn row(ui: &Ui, s: &Setting) -> Html {
    let w = ui.words();
    let name = w.setting(&s.key);
    let value = setting_value(&s.value, w);
    let default = setting_value(&s.default, w);
    // The full name of Kafka's is said where the panel's is shorter.
    let config = s.key.config_name().filter(|c| *c != name).map(|c| format!("{c}: ")).unwrap_or_default();
    let force = w.in_force(&value, &default);
    let differs = s.value != s.default;
    let group_name = match s.live {
        true => name.clone(),
        false => format!("{name} ({})", w.label(Label::SetUpMark)),
    };
    html! {
        <div class={classes!("setting", differs.then_some("differs"))} title={format!("{config}{force}")}>
            <span class="setting-name">
                { &name }if !s.live { <span aria-hidden="true">{ " ↻" }</span> }
                if s.pending { <span class="config warn">{ w.label(Label::AskedFor) }</span> }
                else if differs {
                    <span class="config muted">{ format!("{} {default}", w.label(Label::Default)) }</span>
                }
            </span>
            { control(ui, s, group_name, value) }
        </div>
    }
}

fn control(ui: &Ui, s: &Setting, name: String, value: String) -> Html {
    let w = ui.words();
    let set = |v: &SettingValue| ui.on_do(Command::Set(s.key.clone(), v.clone()));
    match &s.choices {
        Choices::OneOf(all) => html! {
            <span class={classes!("seg", (all.len() > 3).then_some("many"))} role="group" aria-label={name}>
                { for all.iter().map(|v| {
                    let on = *v == s.value;
                    html! {
                        <button
                            type="button" class={classes!(on.then_some("on"))} aria-pressed={on.to_string()}
                            onclick={set(v)}
                        >{ setting_value(v, w) }</button>
                    }
                }) }
            </span>
        },
        Choices::Steps { less, more } => {
            let step = |v: &Option<SettingValue>, sign: &'static str, l: Label| {
                let label = w.titled(&name, w.label(l));
                match v {
                    Some(v) => html! { <button type="button" aria-label={label} onclick={set(v)}>{ sign }</button> },
                    None => html! { <button type="button" aria-label={label} disabled=true>{ sign }</button> },
                }
            };
            html! {
                <span class="seg" role="group" aria-label={name.clone()}>
                    { step(less, "−", Label::Less) }
                    <output class="on">{ value }</output>
                    { step(more, "+", Label::More) }
                </span>
            }
        }
        Choices::Toggle => {
            let on = s.value == SettingValue::Bool(true);
            html! {
                <button
                    type="button" class={classes!("tog", on.then_some("on"))} role="switch"
                    aria-checked={on.to_string()} aria-label={name} onclick={set(&SettingValue::Bool(!on))}
                >
                    <i aria-hidden="true" />
                    <span class="hidden">{ w.label(if on { Label::On } else { Label::Off }) }</span>
                </button>
            }
        }
    }
}
