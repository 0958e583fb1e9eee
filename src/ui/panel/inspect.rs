//! One thing in Kafka's own terms, what can be asked about it and what can be done to it. Adds no words of its own to a
//! field's name.
use crate::ui::context::{Ask, use_ui};
use crate::ui::stage::NodeMenu;
use crate::ui::words::Label;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct InspectProps {
    pub about: Option<Subject>,
    pub found: Option<Rc<Inspection>>,
}

#[component]
pub fn InspectView(props: &InspectProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let title = props.about.as_ref().map_or_else(|| w.label(Label::Inspect).to_owned(), |s| w.subject(s));
    let body = match (&props.about, &props.found) {
        (None, _) => html! { <p class="muted">{ w.label(Label::NothingSelected) }</p> },
        (Some(_), None) => html! { <p class="muted">{ w.label(Label::NotThere) }</p> },
        (Some(about), Some(found)) => html! {
            <>
                { actions(&ui, about) }
                if found.message.is_some() { <super::message::MessageCard found={found.clone()} /> }
                if !found.questions.is_empty() && found.message.is_none() {
                    <div class="card-buttons">
                        { for found.questions.iter().map(|q| html! {
                            <button type="button" class="btn small" onclick={ui.on(Ask::Why(q.clone()))}>
                                { w.why_about(q) }
                            </button>
                        }) }
                    </div>
                }
                { for found.sections.iter().map(|s| html! {
                    <section>
                        <h3>{ w.inspect_kind(s.kind) }</h3>
                        <table class="fields">
                            <tbody>
                                { for s.rows.iter().map(|r| html! {
                                    <tr>
                                        <th scope="row" class="mono">{ r.name.to_string() }</th>
                                        <td class="mono">{ w.inspect_value(&r.value) }</td>
                                    </tr>
                                }) }
                            </tbody>
                        </table>
                    </section>
                }) }
            </>
        },
    };
    // A message has its API and version for a title; its number means something to the run alone.
    let own = props.found.as_ref().is_some_and(|found| found.message.is_some());
    html! { <><h2 class={if own { "hidden" } else { "panel-title" }}>{ title }</h2>{ body }</> }
}

/// What can be done to a thing beside looking at it.
fn actions(ui: &crate::ui::context::Ui, about: &Subject) -> Html {
    let w = ui.words();
    let button = |l: Label, c: Command| {
        html! {
            <button type="button" class="btn small" onclick={ui.on_do(c)}>{ w.label(l) }</button>
        }
    };
    match about {
        Subject::Partition(p) | Subject::Leader(p) | Subject::Isr(p) | Subject::HighWatermark(p) => {
            let elect =
                |unclean: bool| Command::ElectLeader { topic: p.topic.clone(), partition: p.partition, unclean };
            html! {
                <div class="card-buttons">
                    { button(Label::ElectPreferred, elect(false)) }{ button(Label::ElectUnclean, elect(true)) }
                </div>
            }
        }
        Subject::Controller(id) => {
            let scene = ui.desk.read().scene();
            let found = scene.controllers.iter().find(|c| c.id == *id).map(|c| c.menu.clone());
            on_node(NodeRef::Controller(*id), found)
        }
        Subject::Broker(id) => {
            let scene = ui.desk.read().scene();
            let found = scene.brokers.iter().find(|b| b.id == *id).map(|b| b.menu.clone());
            on_node(NodeRef::Broker(*id), found)
        }
        Subject::Group(_)
        | Subject::Message(_)
        | Subject::Replica { .. }
        | Subject::Record { .. }
        | Subject::Producer(_)
        | Subject::Member(_)
        | Subject::Verdict(_)
        | Subject::LedgerRecord(_)
        | Subject::Trace(_) => Html::default(),
    }
}

fn on_node(node: NodeRef, menu: Option<Vec<NodeAction>>) -> Html {
    let Some(menu) = menu else { return Html::default() };
    html! { <div class="card-buttons"><NodeMenu at="inspect" {node} {menu} /></div> }
}
