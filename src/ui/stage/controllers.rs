//! The controller quorum: each voter with the tail of its metadata log, a crown on the active controller.
use super::broker::NodeMenu;
use crate::ui::context::{Ask, use_ui};
use crate::ui::marks;
use crate::ui::words::Label;
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct ControllersProps {
    pub scene: Rc<Scene>,
    #[prop_or_default]
    pub selected: Option<Subject>,
    /// Where there is no room for the epoch.
    #[prop_or_default]
    pub brief: bool,
}

#[component]
pub fn Controllers(props: &ControllersProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let many = props.scene.controllers.len() > 3;
    html! {
        <section class={classes!("controllers", many.then_some("many"))} aria-labelledby="controllers-title">
            <h3 id="controllers-title" class="cap">{ w.label(Label::Controllers) }</h3>
            <ul>
                { for props.scene.controllers.iter().map(|c| {
                    let subject = Subject::Controller(c.id);
                    let down = !matches!(c.process, ProcessState::Running | ProcessState::Stopping);
                    let crowned = c.role == QuorumRole::Active && !down;
                    let chosen = props.selected.as_ref() == Some(&subject);
                    let whole = w.controller_state(c);
                    let state = if props.brief && crowned { w.quorum_role(c.role) } else { &whole };
                    html! {
                        <li
                            key={c.id}
                            class={classes!(
                                "controller", crowned.then_some("active"), down.then_some("s-down"),
                                chosen.then_some("chosen")
                            )}
                        >
                            <button
                                type="button" class="plain" title={whole.clone()}
                                onclick={ui.on(Ask::Select(subject))}
                            >
                                if crowned && !many { { marks::crown_icon() } }
                                if down { { marks::bolt_icon() } }
                                <b>{ w.node(&NodeRef::Controller(c.id)) }</b>{ " " }
                                // A narrow name breaks, and the crown stands in its second line.
                                if crowned && many { { marks::crown_icon() } }
                                <span class={if down { "danger" } else { "muted" }}>{ state.to_owned() }</span>
                                if c.cut_off { { marks::cut_icon() } }
                            </button>
                            <svg class="meta-tail" width="24" height="12" aria-hidden="true">
                                { for c.tail.iter().enumerate().map(|(i, m)| {
                                    let class = match m {
                                        MetadataCell::Committed => "t-done",
                                        MetadataCell::Uncommitted => "t-open",
                                        MetadataCell::Absent => "t-none",
                                    };
                                    html! {
                                        <rect
                                            {class} x={format!("{}.5", i * 8 + 1)} y="1" width="5" height="9" rx="1"
                                        />
                                    }
                                }) }
                            </svg>
                            <NodeMenu node={NodeRef::Controller(c.id)} menu={c.menu.clone()} short=true />
                        </li>
                    }
                }) }
            </ul>
        </section>
    }
}
