//! The right-hand panel: promises, inspector, log and text view, and the chain of causes over whichever is open.
//! It deliberately fetches nothing: the root hands each its view data.
mod inspect;
mod log;
mod promises;
mod text;
mod why;

pub use inspect::InspectView;
pub use log::LogView;
pub use promises::{FirstVerdict, PromisesView};
pub use text::TextPanel;
pub use why::WhyCard;

use super::context::{Ask, Tab, use_ui};
use super::words::Label;
use crate::web;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// What the open tab shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Promises(Rc<Promises>),
    Inspect { about: Option<Subject>, found: Option<Rc<Inspection>> },
    Log { filter: LogFilter, page: Rc<LogPage> },
    Text(Rc<TextView>),
}

impl Content {
    pub fn tab(&self) -> Tab {
        match self {
            Content::Promises(_) => Tab::Promises,
            Content::Inspect { .. } => Tab::Inspect,
            Content::Log { .. } => Tab::Log,
            Content::Text(_) => Tab::Text,
        }
    }
}

#[derive(PartialEq, Properties)]
pub struct PanelProps {
    pub content: Content,
    #[prop_or_default]
    pub why: Option<Rc<WhyChain>>,
    #[prop_or_default]
    pub why_title: Option<AttrValue>,
}

#[component]
pub fn Panel(props: &PanelProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let open = props.content.tab();
    let send = ui.ask.clone();
    let on_key = Callback::from(move |e: KeyboardEvent| {
        // With shift the arrows step through time, here too.
        if e.shift_key() {
            return;
        }
        let n = Tab::ALL.len();
        let Some(here) = Tab::ALL.iter().position(|t| *t == open) else { return };
        let next = match e.key().as_str() {
            "ArrowRight" => (here + 1) % n,
            "ArrowLeft" => (here + n - 1) % n,
            "Home" => 0,
            "End" => n - 1,
            // Tab and all others leave the list as usual.
            _ => return,
        };
        e.prevent_default();
        e.stop_propagation();
        send.emit(Ask::Show(Tab::ALL[next]));
        web::focus_by_id(&format!("tab-{}", Tab::ALL[next].id()));
    });
    html! {
        <aside class="right" aria-label={w.label(Label::Panel)}>
            <div class="tabs" role="tablist" aria-label={w.label(Label::Panel)} onkeydown={on_key}>
                { for Tab::ALL.iter().map(|t| {
                    let on = *t == open;
                    html! {
                        <button
                            type="button" role="tab" id={format!("tab-{}", t.id())} aria-selected={on.to_string()} aria-controls="panel"
                            tabindex={if on { "0" } else { "-1" }} class={classes!(on.then_some("on"))} onclick={ui.on(Ask::Show(*t))}
                        >{ w.label(t.label()) }</button>
                    }
                }) }
            </div>
            <div id="panel" class="panel" role="tabpanel" aria-labelledby={format!("tab-{}", open.id())} tabindex="0">
                if let Some(chain) = &props.why { <WhyCard chain={chain.clone()} title={props.why_title.clone()} /> }
                <PanelBody content={props.content.clone()} />
            </div>
        </aside>
    }
}

#[derive(PartialEq, Properties)]
pub struct BodyProps {
    pub content: Content,
}

/// The open tab without its frame, for the sheets of a phone too.
#[component]
pub fn PanelBody(props: &BodyProps) -> Html {
    match &props.content {
        Content::Promises(p) => html! { <PromisesView promises={p.clone()} /> },
        Content::Inspect { about, found } => html! { <InspectView about={about.clone()} found={found.clone()} /> },
        Content::Log { filter, page } => html! { <LogView filter={filter.clone()} page={page.clone()} /> },
        Content::Text(t) => html! { <TextPanel text={t.clone()} /> },
    }
}
