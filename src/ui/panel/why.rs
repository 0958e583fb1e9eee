//! The answer to *Why?*: numbered causes, each a moment to jump to. Finds no cause itself.
use crate::ui::context::{Ask, use_ui};
use crate::ui::words::{Label, moment};
use crate::web;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct WhyProps {
    pub chain: Rc<WhyChain>,
    /// What was asked about, where the root knows it better than the chain: the words of a verdict.
    #[prop_or_default]
    pub title: Option<AttrValue>,
}

#[component]
pub fn WhyCard(props: &WhyProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let chain = &props.chain;
    // The answer comes where the focus then is, not only where the eye looks.
    use_effect_with(chain.about.clone(), |_| {
        web::scroll_to_top("panel");
        web::focus_by_id("why");
    });
    html! {
        <section id="why" class="card why-card" tabindex="-1" aria-labelledby="why-title">
            <div class="box-top">
                <h2 id="why-title">{ props.title.clone().unwrap_or_else(|| w.why_about(&chain.about).into()) }</h2>
                <button
                    type="button" class="btn square" aria-label={w.label(Label::Close)} onclick={ui.on(Ask::CloseWhy)}
                >{ "✕" }</button>
            </div>
            <p class="muted">{ w.label(Label::WhyLatestFirst) }</p>
            <ol>
                { for chain.steps.iter().map(|s| html! {
                    <li>
                        <span>{ w.fact(&s.fact) }</span>{ " " }
                        if let Some(t) = s.trace {
                            <button
                                type="button" class="linky mono" title={w.label(Label::JumpHere)}
                                aria-label={w.titled(w.label(Label::JumpHere), &moment(s.at_us))}
                                onclick={ui.on_do(Command::SeekToTrace(t))}
                            >{ moment(s.at_us) }</button>
                        }
                        if let Some(m) = s.message {
                            { " " }
                            <button type="button" class="linky" onclick={ui.on(Ask::Select(Subject::Message(m)))}>
                                { w.subject(&Subject::Message(m)) }
                            </button>
                        }
                    </li>
                }) }
            </ol>
            if chain.cut_short { <p class="muted">{ w.label(Label::WhyCutShort) }</p> }
        </section>
    }
}
