//! The right-hand panel: promises, inspector, log and text view, and the chain of causes in a tab of its own.
//! It deliberately fetches nothing: the root hands each its view data.
mod inspect;
mod log;
mod message;
mod promises;
mod text;
mod why;

pub use inspect::InspectView;
pub use log::LogView;
pub use promises::{FirstVerdict, Grade, PromisesView, grade};
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
    /// The chain of causes is shown instead of the tab.
    #[prop_or_default]
    pub why_open: bool,
    #[prop_or_default]
    pub folded: bool,
    /// The verdict that hurts most: all that is left of the panel when it is folded.
    #[prop_or_default]
    pub worst: Option<Verdict>,
    /// What the author says and asks, over the tab.
    #[prop_or_default]
    pub story: Html,
}

/// A tab of the panel; the chain of causes has one for as long as there is a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Tab(Tab),
    Why,
}

impl Shown {
    fn id(self) -> &'static str {
        match self {
            Shown::Tab(t) => t.id(),
            Shown::Why => "why",
        }
    }

    fn label(self) -> Label {
        match self {
            Shown::Tab(t) => t.label(),
            Shown::Why => Label::Why,
        }
    }

    fn ask(self) -> Ask {
        match self {
            Shown::Tab(t) => Ask::Show(t),
            Shown::Why => Ask::ShowWhy,
        }
    }
}

#[component]
pub fn Panel(props: &PanelProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let chain = props.why.as_ref().filter(|_| props.why_open);
    let open = if chain.is_some() { Shown::Why } else { Shown::Tab(props.content.tab()) };
    let tabs: Vec<Shown> =
        Tab::ALL.into_iter().map(Shown::Tab).chain(props.why.is_some().then_some(Shown::Why)).collect();
    let on_key = {
        let (send, tabs) = (ui.ask.clone(), tabs.clone());
        Callback::from(move |e: KeyboardEvent| {
            // With shift the arrows step through time, here too.
            if e.shift_key() {
                return;
            }
            let n = tabs.len();
            let Some(here) = tabs.iter().position(|t| *t == open) else { return };
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
            send.emit(tabs[next].ask());
            web::focus_by_id(&format!("tab-{}", tabs[next].id()));
        })
    };
    if props.folded {
        return folded(&ui, props.worst.as_ref());
    }
    let hide = w.label(Label::HidePanel);
    html! {
        <aside class="right" aria-label={w.label(Label::Panel)}>
            <div class="tabs-row">
                <div class="tabs" role="tablist" aria-label={w.label(Label::Panel)} onkeydown={on_key}>
                    { for tabs.iter().map(|t| {
                        let on = *t == open;
                        html! {
                            <button
                                type="button" role="tab" id={format!("tab-{}", t.id())} aria-selected={on.to_string()}
                                aria-controls="panel" tabindex={if on { "0" } else { "-1" }}
                                class={classes!(on.then_some("on"))} onclick={ui.on(t.ask())}
                            >{ w.label(t.label()) }</button>
                        }
                    }) }
                </div>
                <button
                    type="button" class="btn square fold" aria-expanded="true" aria-label={hide} title={hide}
                    onclick={ui.on(Ask::FoldPanel(true))}
                >{ "»" }</button>
            </div>
            { props.story.clone() }
            <div
                id="panel" class="panel" role="tabpanel" aria-labelledby={format!("tab-{}", open.id())} tabindex="0"
            >
                if let Some(chain) = chain { <WhyCard chain={chain.clone()} title={props.why_title.clone()} /> }
                else { <PanelBody content={props.content.clone()} /> }
            </div>
        </aside>
    }
}

/// The rail that a folded panel leaves: the worst verdict's mark, which opens it again.
fn folded(ui: &super::context::Ui, worst: Option<&Verdict>) -> Html {
    let w = ui.words();
    let show = w.label(Label::ShowPanel);
    html! {
        <aside class="right folded" aria-label={w.label(Label::Panel)}>
            <button
                type="button" class="btn square" aria-expanded="false" aria-label={show} title={show}
                onclick={ui.on(Ask::FoldPanel(false))}
            >{ "«" }</button>
            if let Some(v) = worst {
                <button
                    type="button" class={classes!("rail-mark", grade(v).class())} aria-label={w.verdict(v)}
                    title={w.verdict(v)} onclick={ui.on(Ask::Show(Tab::Promises))}
                >{ grade(v).sign() }</button>
            }
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
