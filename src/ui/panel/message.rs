//! One message: where it is on its way, what can be done to it, its fields, what caused it and what it caused. It knows
//! no field by name.
use crate::ui::context::{Ask, Ui, use_ui};
use crate::ui::marks;
use crate::ui::words::{Label, duration, exact};
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// By how much a message can be delayed, in microseconds.
const DELAYS: [Micros; 4] = [100_000, 1_000_000, 10_000_000, 60_000_000];
/// The length of the drawn way.
const WAY: u64 = 260;

#[derive(PartialEq, Properties)]
pub struct MessageProps {
    /// Holds the message.
    pub found: Rc<Inspection>,
}

#[component]
pub fn MessageCard(props: &MessageProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let Some(m) = &props.found.message else { return Html::default() };
    let (all, delays) = (use_state(|| false), use_state(|| false));
    let toggle = |state: &UseStateHandle<bool>| {
        let state = state.clone();
        Callback::from(move |_: MouseEvent| state.set(!*state))
    };
    let about = Subject::Message(m.id);
    let kind = w.label(if m.response { Label::MessageResponse } else { Label::MessageRequest });
    html! {
        <div class="message">
            <p class="message-head">
                <svg class="message-kind" width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">
                    { marks::flight(m.kind) }
                    if m.response { <circle class="f-answer" r="1.8" /> }
                </svg>
                <b>{ m.name.to_string() }</b>
                <span class="mono muted">{ format!("v{}", m.version) }</span>
                <span class="grow" />
                <button
                    type="button" class="btn small" aria-label={w.why_about(&about)} onclick={ui.on(Ask::Why(about))}
                >{ w.label(Label::Why) }</button>
            </p>
            <p><b>{ format!("{} → {}", w.node(&m.from), w.node(&m.to)) }</b>{ format!(" · {kind}") }</p>
            <p class="muted served-by">{ w.served_by(m.server) }</p>
            { way(&ui, m) }
            if ui.acts { { buttons(&ui, m, *delays, &toggle(&delays)) } }
            <div class="message-fields-head">
                <h3>{ w.label(Label::Fields) }</h3>
                if m.fields.iter().any(|f| f.more) {
                    <button type="button" class="linky" aria-pressed={all.to_string()} onclick={toggle(&all)}>
                        { w.label(Label::AllFields) }
                    </button>
                }
            </div>
            <table class="fields message-fields">
                <tbody>{ for m.fields.iter().filter(|f| *all || !f.more).map(|f| field(&ui, f)) }</tbody>
            </table>
            <h3>{ w.label(Label::WhatCausedIt) }</h3>
            { steps(&ui, &m.caused_by, w.label(Label::TextNone).to_owned()) }
            <h3>{ w.label(Label::WhatItCaused) }</h3>
            { steps(&ui, &m.caused, not_yet(&ui, m)) }
        </div>
    }
}

fn not_yet(ui: &Ui, m: &MessageDetail) -> String {
    match &m.held {
        Holding::No if m.doomed => ui.label(Label::FindsNobody).to_owned(),
        Holding::No => ui.words().not_yet(m.left_us),
        Holding::Held { name } => ui.words().held_as(name),
        Holding::Behind => ui.label(Label::HeldBehind).to_owned(),
    }
}

fn way(ui: &Ui, m: &MessageDetail) -> Html {
    let w = ui.words();
    let span = m.arrives_us.saturating_sub(m.sent_us).max(1);
    let gone = span.saturating_sub(m.left_us).min(span);
    let x = 8 + WAY * gone / span;
    let end = WAY + 8;
    html! {
        <>
            <svg class="message-way" viewBox={format!("0 0 {} 16", WAY + 16)} aria-hidden="true">
                <line class={classes!("gone", "way", marks::flight_class(m.kind))} x1="8" y1="8"
                    x2={x.to_string()} y2="8" />
                <line class="left" x1={x.to_string()} y1="8" x2={end.to_string()} y2="8" />
                <circle class={classes!("from", marks::flight_fill(m.kind))} cx="8" cy="8" r="3" />
                <circle class="to" cx={end.to_string()} cy="8" r="3" />
                <circle class="here" cx={x.to_string()} cy="8" r="6" />
            </svg>
            <dl class="message-times">
                <div><dt>{ w.label(Label::MessageSent) }</dt><dd class="mono">{ exact(m.sent_us) }</dd></div>
                <div><dt>{ w.label(Label::StillToGo) }</dt><dd class="mono">{ duration(m.left_us) }</dd></div>
                <div><dt>{ w.label(Label::MessageArrives) }</dt><dd class="mono">{ exact(m.arrives_us) }</dd></div>
            </dl>
            if m.held != Holding::No || m.doomed { <p class="warn">{ not_yet(ui, m) }</p> }
        </>
    }
}

fn buttons(ui: &Ui, m: &MessageDetail, delays: bool, toggle: &Callback<MouseEvent>) -> Html {
    let w = ui.words();
    let act = |label: Label, act: MessageAct| {
        html! {
            <button type="button" class="btn small" onclick={ui.on_do(Command::Message(m.id, act))}>
                { w.label(label) }
            </button>
        }
    };
    html! {
        <>
            <div class="card-buttons">
                { act(Label::DeliverNow, MessageAct::Deliver) }
                { match m.held {
                    Holding::No => act(Label::HoldMessage, MessageAct::Hold),
                    Holding::Held { .. } => act(Label::ReleaseMessage, MessageAct::Release),
                    Holding::Behind => Html::default(),
                } }
                <button type="button" class="btn small" aria-expanded={delays.to_string()} onclick={toggle.clone()}>
                    { w.label(Label::DelayMessage) }
                </button>
                { act(Label::DropMessage, MessageAct::Drop) }
                { act(Label::DuplicateMessage, MessageAct::Duplicate) }
            </div>
            if delays {
                <div class="card-buttons" role="group" aria-label={w.label(Label::DelayMessage)}>
                    { for DELAYS.iter().map(|by_us| html! {
                        <button
                            type="button" class="btn small"
                            onclick={ui.on_do(Command::Message(m.id, MessageAct::Delay { by_us: *by_us }))}
                        >{ format!("+{}", duration(*by_us)) }</button>
                    }) }
                </div>
            }
            <p class="muted">{ w.label(Label::EachBranches) }</p>
        </>
    }
}

fn field(ui: &Ui, f: &MessageField) -> Html {
    let class = classes!("mono", format!("deep-{}", f.depth.min(4)));
    if f.value.is_empty() {
        return html! { <tr class="part"><th scope="row" colspan="2" {class}>{ f.name.to_string() }</th></tr> };
    }
    html! {
        <tr>
            <th scope="row" {class}>{ f.name.to_string() }</th>
            <td class="mono">
                { &f.value }
                if let Some(was) = &f.was { <span class="muted">{ format!(" {}", ui.words().was(was)) }</span> }
            </td>
        </tr>
    }
}

fn steps(ui: &Ui, steps: &[MessageStep], none: String) -> Html {
    if steps.is_empty() {
        return html! { <p class="muted">{ none }</p> };
    }
    let w = ui.words();
    let line = |s: &MessageStep| {
        let (what, more) = match &s.what {
            MessageLink::Fact(fact) => (w.fact(fact), String::new()),
            MessageLink::Message { name, from, to } => (name.to_string(), format!("{} → {}", w.node(from), w.node(to))),
        };
        html! {
            <li>
                <button type="button" class="linky" onclick={ui.on_do(Command::SeekToTrace(s.trace))}>{ what }</button>
                <span class="mono muted">{ exact(s.at_us) }</span>
                if !more.is_empty() { <span class="muted">{ more }</span> }
            </li>
        }
    };
    html! { <ul class="message-steps">{ for steps.iter().map(line) }</ul> }
}
