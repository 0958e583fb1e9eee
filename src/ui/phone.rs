//! The stage on a narrow screen: one partition at a time with its replicas stacked, clients below.
//! It deliberately draws no messages: at this width they would cross words.
use super::context::{Ask, Ui, use_ui};
use super::marks;
use super::menu::{Entry, Menu};
use super::stage::ClientCards;
use super::stage::replica::{Replica, Size};
use super::words::{Label, ids, partition};
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// From one square of an internal topic to the next: fifty of them in the width of a phone.
const SQUARE: u32 = 7;
/// Links that are named; the text view has all.
const FAULTS: usize = 4;

#[derive(PartialEq, Properties)]
pub struct PhoneProps {
    pub scene: Rc<Scene>,
    /// Which partition, counted over all topics.
    pub column: usize,
    #[prop_or_default]
    pub selected: Option<Subject>,
}

#[component]
pub fn PhoneStage(props: &PhoneProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let scene = &props.scene;
    let all: Vec<(&TopicView, &PartitionView)> =
        scene.topics.iter().flat_map(|t| t.partitions.iter().map(move |p| (t, p))).collect();
    let ignore = use_callback((), |_: (usize, usize), ()| ());
    let n = all.len();
    let at = props.column.min(n.saturating_sub(1));
    let chosen = all.get(at).map(|(t, p)| {
        let place = PartitionRef { topic: t.name.clone(), partition: p.partition };
        let isr = format!("ISR {}", if p.isr.is_empty() { w.label(Label::TextNone).to_owned() } else { ids(&p.isr) });
        let health = match p.isr_health {
            IsrHealth::Full => "",
            IsrHealth::Reduced => "warn",
            IsrHealth::BelowMin | IsrHealth::Offline => "danger",
        };
        html! {
            <>
                <div class="phone-head">
                    <div>
                        <h2>
                            <button
                                type="button" class="plain"
                                onclick={ui.on(Ask::Select(Subject::Partition(place.clone())))}
                            >{ partition(&place) }</button>
                            <span class="mono muted">{ format!("epoch {}", p.leader_epoch) }</span>
                        </h2>
                        <p class="mono">
                            <span class={classes!("isr", health)}>{ isr }</span>
                            { " " }
                            <span class="hw">{ format!("HW {}", p.high_watermark) }</span>
                            if let Some(may) = super::stage::may_lead(w, p) { { " " }<span class="may">{ may }</span> }
                        </p>
                    </div>
                    <span class="grow" />
                    <button
                        type="button" class="btn square" aria-label={w.label(Label::Previous)}
                        onclick={ui.on(Ask::PhoneColumn((at + n - 1) % n))}
                    >{ "‹" }</button>
                    <span class="muted strong">{ w.one_of(at + 1, n) }</span>
                    <button
                        type="button" class="btn square" aria-label={w.label(Label::Next)}
                        onclick={ui.on(Ask::PhoneColumn((at + 1) % n))}
                    >{ "›" }</button>
                </div>
                <ul class="phone-brokers">
                    { for scene.brokers.iter().map(|b| {
                        let replica = b.replicas.iter().find(|r| r.partition == place);
                        html! {
                            <li key={b.id}>
                                { head(&ui, b) }
                                if let Some(r) = replica {
                                    <Replica
                                        replica={r.clone()} broker={b.id} first_shown={p.first_shown} size={Size::Wide}
                                        row={0} column={b.id as usize}
                                        focused={true} selected={false} on_focus={ignore.clone()} role="button"
                                    />
                                } else {
                                    <span class="muted no-replica-words">{ w.label(Label::NothingHere) }</span>
                                }
                            </li>
                        }
                    }) }
                </ul>
            </>
        }
    });
    html! {
        <section id="stage" class="phone-stage" aria-label={w.label(Label::Stage)}>
            if !ui.embed { { controllers(&ui, scene, props.selected.as_ref()) } }
            { chosen }
            { faults(&ui, scene) }
            { internal(&ui, scene) }
            <ClientCards scene={scene.clone()} selected={props.selected.clone()} />
        </section>
    }
}

/// A broker's head is its menu; where nothing can be done to it, it only says what it is.
fn head(ui: &Ui, b: &BrokerView) -> Html {
    let w = ui.words();
    let subject = Subject::Broker(b.id);
    let node = NodeRef::Broker(b.id);
    let face = html! {
        <span class="phone-face">
            { super::stage::broker_name(ui, b) }
            <span class={classes!("mono", "state", super::stage::state_class(b))}>
                { super::stage::briefly(ui, b) }
            </span>
        </span>
    };
    let class = "phone-broker";
    if !ui.acts {
        return html! { <button type="button" {class} onclick={ui.on(Ask::Select(subject))}>{ face }</button> };
    }
    let act = |a: &NodeAction| Entry {
        label: w.action(*a).into(),
        ask: Ask::Do(Command::Act(node.clone(), *a)),
        name: w.titled(w.action(*a), &w.node(&node)).into(),
    };
    let look = Entry { label: w.label(Label::Inspect).into(), ask: Ask::Select(subject), name: w.node(&node).into() };
    let entries: Vec<Entry> = b.menu.iter().map(act).chain([look]).collect();
    html! {
        <Menu
            id={format!("menu-b{}", b.id)} label={w.node(&node)} name={w.actions_of(&node)} {entries} face={face}
            {class}
        />
    }
}

/// The quorum in one row; what can be done to a controller stands in the inspector, a tap away.
fn controllers(ui: &Ui, scene: &Scene, selected: Option<&Subject>) -> Html {
    let w = ui.words();
    html! {
        <ul class="phone-controllers" aria-label={w.label(Label::Controllers)}>
            { for scene.controllers.iter().map(|c| {
                let subject = Subject::Controller(c.id);
                let down = !matches!(c.process, ProcessState::Running | ProcessState::Stopping);
                let crowned = c.role == QuorumRole::Active && !down;
                let chosen = selected == Some(&subject);
                html! {
                    <li key={c.id}>
                        <button
                            type="button" onclick={ui.on(Ask::Select(subject))}
                            class={classes!(
                                "phone-controller", crowned.then_some("active"), down.then_some("s-down"),
                                chosen.then_some("chosen")
                            )}
                        >
                            <span>
                                if crowned { { marks::crown_icon() } }
                                if down { { marks::bolt_icon() } }
                                <b>{ w.node(&NodeRef::Controller(c.id)) }</b>
                            </span>
                            <span class={if down { "danger" } else { "muted" }}>{ w.controller_state(c) }</span>
                        </button>
                    </li>
                }
            }) }
        </ul>
    }
}

/// Links that do not work: at this width nothing can be drawn between brokers.
fn faults(ui: &Ui, scene: &Scene) -> Html {
    let all = super::stage::faults(scene);
    if all.is_empty() {
        return Html::default();
    }
    html! {
        <>
            <ul class="cut-list">{ for all.iter().take(FAULTS).map(|f| html! { <li>{ ui.words().fact(f) }</li> }) }</ul>
            if all.len() > FAULTS { <p class="danger">{ ui.words().and_more(all.len() - FAULTS) }</p> }
            if ui.acts && !scene.cuts.is_empty() {
                <button type="button" class="btn small" onclick={ui.on_do(Command::HealAll)}>
                    { ui.label(Label::HealAll) }
                </button>
            }
        </>
    }
}

/// Internal topics, on each broker that carries some of them.
fn internal(ui: &Ui, scene: &Scene) -> Html {
    let strips = scene.brokers.iter().flat_map(|b| b.internal.iter().map(move |s| (b, s)));
    let held: Vec<(&BrokerView, &InternalStrip)> = strips.filter(|(_, s)| !s.squares.is_empty()).collect();
    let several = held.len() > 1;
    html! {
        <div class="phone-internal">
            { for held.into_iter().map(|(b, s)| html! {
                <>
                    if several { <span class="muted">{ ui.words().node(&NodeRef::Broker(b.id)) }</span> }
                    { super::stage::strip(ui, scene, s, b.id, SQUARE, true) }
                </>
            }) }
        </div>
    }
}
