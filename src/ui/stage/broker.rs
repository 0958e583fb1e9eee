//! A broker: what it is, what can be done to it, its replicas in their columns, its share of the internal topics.
use super::heat::Heat;
use super::replica::{Replica, Size, role_class};
use super::{Focus, Slot, cell_focus, column_of, opens, slots, tab};
use crate::ui::context::{Ask, Ui, use_ui};
use crate::ui::geometry::Fit;
use crate::ui::marks;
use crate::ui::menu::{Entry, Menu};
use crate::ui::words::Label;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct BrokerRowProps {
    pub scene: Rc<Scene>,
    pub index: usize,
    pub fit: Fit,
    /// The cell that has the grid's place, if it is one of this broker's two rows.
    pub focus: Option<(usize, usize)>,
    pub on_focus: Focus,
    #[prop_or_default]
    pub selected: Option<Subject>,
}

#[component]
pub fn BrokerRow(props: &BrokerRowProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let scene = &props.scene;
    let b = &scene.brokers[props.index];
    let row = 1 + props.index * 2;
    let focused = |r: usize, c: usize| props.focus == Some((r, c));
    let chosen_column = props.selected.as_ref().and_then(column_of);
    let state = state_class(b);
    let (click, key) = opens(&ui.ask, Subject::Broker(b.id));
    let chosen = props.selected == Some(Subject::Broker(b.id));
    let carries = b.internal.iter().any(|s| !s.squares.is_empty());
    let lower = props.index * 2 >= scene.brokers.len();

    html! {
        <div
            role="rowgroup"
            class={classes!(
                "broker", state, ui.acts.then_some("acts"), carries.then_some("carries"), chosen.then_some("chosen")
            )}
        >
            <div role="row" class="broker-row" aria-rowindex={(row + 1).to_string()}>
                <div
                    role="rowheader" class="broker-head" id={format!("cell-{row}-0")} data-cell="1"
                    tabindex={tab(focused(row, 0))}
                    onfocus={cell_focus(&props.on_focus, (row, 0))} onclick={click} onkeydown={key}
                >
                    { broker_name(&ui, b) }
                    if let (Some(rack), false) = (&b.rack, is_changing(b)) {
                        <span class="muted one-line rack" title={rack.clone()}>{ w.rack(rack) }</span>
                    }
                    <span class={classes!("state", state)} title={standing(&ui, b)}>{ briefly(&ui, b) }</span>
                    <NodeMenu node={NodeRef::Broker(b.id)} menu={b.menu.clone()} up={lower} />
                </div>
                { for slots(scene).into_iter().enumerate().map(|(i, (slot, first))| {
                    let column = i + 1;
                    match slot {
                        Slot::Folded(topic) => html! {
                            <Heat
                                total={scene.topics.iter().find(|t| t.name == topic).map_or(0, |t| t.partitions.len())}
                                mine={roles(b, &topic)} {topic} broker={b.id} {row} {column}
                                focused={focused(row, column)}
                                topic_first={first} on_focus={props.on_focus.clone()}
                            />
                        },
                        Slot::Partition(place, density) => match b.replicas.iter().find(|r| r.partition == place) {
                            Some(r) => html! {
                                <Replica
                                    replica={r.clone()} broker={b.id} first_shown={first_shown(scene, &place)}
                                    size={Size::of(density, props.fit)} {row} {column}
                                    focused={focused(row, column)} selected={is_chosen(&props.selected, &place, b.id)}
                                    topic_first={first}
                                    on_focus={props.on_focus.clone()}
                                />
                            },
                            None => html! {
                                <div
                                    role="gridcell" id={format!("cell-{row}-{column}")} data-cell="1"
                                    tabindex={tab(focused(row, column))}
                                    class={classes!(
                                        "no-replica", density.class(), first.then_some("topic-first"),
                                        (chosen_column == Some(&place)).then_some("chosen")
                                    )}
                                    onfocus={cell_focus(&props.on_focus, (row, column))}
                                ><span class="hidden">{ w.label(Label::NothingHere) }</span></div>
                            },
                        },
                    }
                }) }
            </div>
            <div role="row" class="strip-row" aria-rowindex={(row + 2).to_string()}>
                <div
                    role="gridcell" class="strip" id={format!("cell-{}-0", row + 1)} data-cell="1"
                    tabindex={tab(focused(row + 1, 0))}
                    onfocus={cell_focus(&props.on_focus, (row + 1, 0))}
                >
                    { for b.internal.iter().map(|s| {
                        strip(&ui, scene, s, b.id, props.fit.square(), props.fit.few_words())
                    }) }
                </div>
            </div>
        </div>
    }
}

pub fn first_shown(scene: &Scene, place: &PartitionRef) -> u64 {
    scene
        .topics
        .iter()
        .find(|t| t.name == place.topic)
        .and_then(|t| t.partitions.iter().find(|p| p.partition == place.partition))
        .map_or(0, |p| p.first_shown)
}

fn is_chosen(selected: &Option<Subject>, place: &PartitionRef, broker: u32) -> bool {
    match selected {
        Some(Subject::Replica { partition, broker: b } | Subject::Record { partition, broker: b, .. }) => {
            partition == place && *b == broker
        }
        Some(_) | None => false,
    }
}

pub fn state_class(b: &BrokerView) -> &'static str {
    let starting = matches!(b.phase, Some(BrokerPhase::Registering { .. } | BrokerPhase::CatchingUp));
    match (b.process, b.standing) {
        (ProcessState::Down { .. } | ProcessState::NotStarted, _) => "s-down",
        (ProcessState::Paused { .. }, _) => "s-paused",
        (ProcessState::Stopping, _) | (ProcessState::Running, BrokerStanding::ControlledShutdown) => "s-stopping",
        // The controllers may still take the process before this one for it.
        (ProcessState::Running, _) if starting => "s-fenced",
        (ProcessState::Running, BrokerStanding::Fenced { .. } | BrokerStanding::Unregistered) => "s-fenced",
        (ProcessState::Running, BrokerStanding::Active) => "s-running",
    }
}

/// Its state in words, with what is about to happen to it.
pub fn standing(ui: &Ui, b: &BrokerView) -> String {
    let w = ui.words();
    match b.fenced_in_us {
        Some(t) => format!("{} · {}", w.broker_state(b), w.fenced_in(t)),
        None => w.broker_state(b),
    }
}

/// The same where a line holds few words.
pub fn briefly(ui: &Ui, b: &BrokerView) -> String {
    match (&b.phase, b.fenced_in_us) {
        (Some(BrokerPhase::Registering { refused: Some(_) }), _) => ui.label(Label::RegistrationRefused).to_owned(),
        (_, Some(t)) if matches!(b.process, ProcessState::Down { .. }) => ui.words().fenced_in(t),
        (_, Some(_)) => standing(ui, b),
        (_, None) => ui.words().broker_briefly(b),
    }
}

/// What happens to it takes the lines of what it is.
fn is_changing(b: &BrokerView) -> bool {
    let quiet = match b.phase {
        None | Some(BrokerPhase::AtWork) => true,
        Some(
            BrokerPhase::Registering { .. }
            | BrokerPhase::CatchingUp
            | BrokerPhase::HandingOver { .. }
            | BrokerPhase::ShuttingDown,
        ) => false,
    };
    b.fenced_in_us.is_some() || b.restarting || !quiet
}

pub fn broker_name(ui: &Ui, b: &BrokerView) -> Html {
    let sign = match b.process {
        ProcessState::Down { .. } => marks::bolt_icon(),
        ProcessState::NotStarted => html! { <span class="dot dot-none" aria-hidden="true" /> },
        ProcessState::Paused { .. } => html! { <span class="dot dot-paused" aria-hidden="true" /> },
        ProcessState::Running | ProcessState::Stopping => html! { <span class="dot" aria-hidden="true" /> },
    };
    html! {
        <span class={classes!("broker-name", b.cut_off.then_some("cut-off"))}>
            { sign }<b>{ ui.words().node(&NodeRef::Broker(b.id)) }</b>
            if b.cut_off { { marks::cut_icon() } }
        </span>
    }
}

#[derive(PartialEq, Properties)]
pub struct NodeMenuProps {
    pub node: NodeRef,
    pub menu: Vec<NodeAction>,
    /// Where it stands, since a node has one on the stage and one in the inspector.
    #[prop_or("menu")]
    pub at: &'static str,
    #[prop_or_default]
    pub up: bool,
    /// Where there is no room for a word.
    #[prop_or_default]
    pub short: bool,
}

/// The button of a broker's menu on the stage.
pub fn menu_id(broker: u32) -> String {
    format!("menu-b{broker}")
}

/// What can be done to a node. What is down has a button that starts it; the rest is in a menu.
#[component]
pub fn NodeMenu(props: &NodeMenuProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    if !ui.acts {
        return Html::default();
    }
    let id = match &props.node {
        NodeRef::Broker(b) => format!("{}-b{b}", props.at),
        NodeRef::Controller(c) => format!("{}-c{c}", props.at),
        NodeRef::Producer(n) | NodeRef::Member(n) => format!("{}-{n}", props.at),
        NodeRef::Admin => format!("{}-admin", props.at),
    };
    let entry = |a: &NodeAction| Entry {
        label: w.action(*a).into(),
        ask: Ask::Do(Command::Act(props.node.clone(), *a)),
        name: w.titled(w.action(*a), &w.node(&props.node)).into(),
    };
    let (first, rest): (Vec<&NodeAction>, Vec<&NodeAction>) =
        props.menu.iter().partition(|a| !props.short && **a == NodeAction::Start);
    html! {
        <Menu
            {id} label={if props.short { "⋯" } else { w.label(Label::Break) }} name={w.actions_of(&props.node)}
            first={first.first().map(|a| entry(a))} entries={rest.into_iter().map(entry).collect::<Vec<_>>()}
            up={props.up} bare={props.short}
        />
    }
}

pub fn strip(ui: &Ui, scene: &Scene, s: &InternalStrip, broker: u32, step: u32, few: bool) -> Html {
    let w = ui.words();
    let said = if few { w.strip_short(s, broker) } else { w.strip(s) };
    let opened = scene.internal.iter().any(|t| t.name == s.topic && t.opened);
    let command = if opened { Command::CloseTopic(s.topic.clone()) } else { Command::OpenTopic(s.topic.clone()) };
    let bad = s.leaderless > 0;
    let n = s.squares.len();
    let words = html! {
        <span class="strip-words">
            <span class="mono muted">{ &s.topic }</span>
            { " " }
            <span class={if bad { "danger strong" } else { "muted" }}>{ said.clone() }</span>
        </span>
    };
    if n == 0 {
        return html! { <div class="strip-one">{ words }</div> };
    }
    let name = w.sentences(&[
        w.titled(&s.topic, &said),
        w.label(if opened { Label::CloseColumns } else { Label::OpenAsColumns }).into(),
    ]);
    let width = u32::try_from(n).unwrap_or(0) * step + 4;
    let x = |i: usize| format!("{}.5", u32::try_from(i).unwrap_or(0) * step + 2);
    html! {
        <button
            type="button" class="strip-one strip-open" aria-label={name} aria-pressed={opened.to_string()}
            onclick={ui.on_do(command)}
        >
            { words }
            <svg
                class="squares" width={width.to_string()} height="18" viewBox={format!("0 0 {width} 18")}
                aria-hidden="true"
            >
                { for s.squares.iter().enumerate().map(|(i, q)| html! {
                    <rect
                        class={classes!(
                            "sq", role_class(q.role), bad.then_some("sq-lost"), q.outlined.then_some("outlined")
                        )}
                        x={x(i)} y="2" width={(step - 3).to_string()} height="14" rx="2"
                    ><title>{ w.square(&s.topic, q) }</title></rect>
                }) }
            </svg>
        </button>
    }
}

/// What a broker is for each partition of a topic that it has.
fn roles(b: &BrokerView, topic: &str) -> Vec<(u32, ReplicaRole)> {
    let mine = b.replicas.iter().filter(|r| r.partition.topic == topic);
    mine.map(|r| (r.partition.partition, r.role)).collect()
}
