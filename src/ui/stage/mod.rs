//! The stage: brokers × partitions as a grid that arrow keys walk, with controllers above and clients below.
//! It deliberately does not know what moves: `motion` alone takes the frames.
mod broker;
mod clients;
mod controllers;
mod cuts;
mod heat;
mod legend;
mod motion;
pub mod replica;

pub use broker::{NodeMenu, briefly, broker_name, standing, state_class, strip};
pub use clients::ClientCards;
pub use controllers::Controllers;
pub use cuts::faults;
pub use legend::Legend;
pub use motion::MotionLayer;

use super::context::{Ask, use_ui};
use super::geometry::{Density, Fit, Geometry, Room};
use super::words::{Label, ids};
use crate::web;
use broker::BrokerRow;
use cuts::Cuts;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct StageProps {
    pub scene: Rc<Scene>,
    #[prop_or_default]
    pub selected: Option<Subject>,
    pub playing: bool,
    /// The place that it has on the page.
    #[prop_or(Room::AMPLE)]
    pub room: Room,
}

/// One thing that stands in a column of the grid: a partition, or a topic folded to squares.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    Partition(PartitionRef, Density),
    Folded(String),
}

/// The columns of a scene, from left to right; `true` where a topic begins.
pub fn slots(scene: &Scene) -> Vec<(Slot, bool)> {
    let mut all = Vec::new();
    for t in &scene.topics {
        match Density::of(t.partitions.len()) {
            d @ (Density::Cells | Density::Bars) => all.extend(t.partitions.iter().enumerate().map(|(i, p)| {
                let place = PartitionRef { topic: t.name.clone(), partition: p.partition };
                (Slot::Partition(place, d), i == 0)
            })),
            Density::Heat => all.push((Slot::Folded(t.name.clone()), true)),
        }
    }
    all
}

/// Which column a selection stands in.
pub fn column_of(s: &Subject) -> Option<&PartitionRef> {
    match s {
        Subject::Partition(p)
        | Subject::Leader(p)
        | Subject::Isr(p)
        | Subject::HighWatermark(p)
        | Subject::Replica { partition: p, .. }
        | Subject::Record { partition: p, .. } => Some(p),
        Subject::Controller(_)
        | Subject::Broker(_)
        | Subject::Producer(_)
        | Subject::Group(_)
        | Subject::Member(_)
        | Subject::Message(_)
        | Subject::Verdict(_)
        | Subject::LedgerRecord(_)
        | Subject::Trace(_) => None,
    }
}

/// Every other row below the heads is a strip of internal topics: one cell.
fn is_strip(row: usize) -> bool {
    row > 0 && row.is_multiple_of(2)
}

#[component]
pub fn Stage(props: &StageProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let scene = &props.scene;
    let here = use_state(|| (1_usize, 1_usize));
    let geometry = use_memo((scene.clone(), props.room, ui.acts), |(s, room, acts)| Geometry::of(s, *room, *acts));
    let columns = slots(scene);
    let rows = 1 + scene.brokers.len() * 2;
    let last_of = {
        let n = columns.len();
        move |row: usize| if is_strip(row) { 0 } else { n }
    };
    // The cluster may have become smaller than where the focus last was.
    let row = here.0.min(rows.saturating_sub(1));
    let at = (row, here.1.min(last_of(row)));

    // The column that the arrow keys walk in; a strip, which has none, does not make it forgotten.
    let walked = use_mut_ref(|| 1_usize);
    let on_key = {
        let (walked, scene) = (walked.clone(), scene.clone());
        Callback::from(move |e: KeyboardEvent| {
            let asks_for_menu = match e.key().as_str() {
                "ContextMenu" => true,
                "F10" => e.shift_key(),
                "m" => !(e.shift_key() || e.ctrl_key() || e.alt_key() || e.meta_key()),
                _ => false,
            };
            if asks_for_menu && !web::closest_matches(e.target(), "[data-menu]") {
                // Every cell of a broker has what can be done to the broker.
                let broker = at.0.checked_sub(1).and_then(|row| scene.brokers.get(row / 2));
                if broker.is_some_and(|b| web::press_by_id(&broker::menu_id(b.id))) {
                    e.prevent_default();
                    e.stop_propagation();
                }
                return;
            }
            if e.shift_key()
                || e.ctrl_key()
                || e.alt_key()
                || e.meta_key()
                || !web::closest_matches(e.target(), "[data-cell]")
            {
                return;
            }
            let (r, c) = at;
            let kept = *walked.borrow();
            let next = match e.key().as_str() {
                "ArrowRight" => (r, (c + 1).min(last_of(r))),
                "ArrowLeft" => (r, c.saturating_sub(1)),
                "ArrowDown" => ((r + 1).min(rows - 1), kept),
                "ArrowUp" => (r.saturating_sub(1), kept),
                "Home" => (r, 0),
                "End" => (r, last_of(r)),
                // All other keys mean what they mean elsewhere.
                _ => return,
            };
            e.prevent_default();
            e.stop_propagation();
            // The cell says by itself that it now has the focus.
            web::focus_by_id(&format!("cell-{}-{}", next.0, next.1.min(last_of(next.0))));
        })
    };
    let on_focus = {
        let setter = here.setter();
        use_callback((), move |(r, c): (usize, usize), ()| {
            if !is_strip(r) {
                *walked.borrow_mut() = c;
            }
            setter.set((r, c));
        })
    };

    let column = props.selected.as_ref().and_then(column_of);
    let band = column.and_then(|p| geometry.column(p)).map(|(x, width)| {
        let (y, height) = geometry.columns_extent();
        html! {
            <rect
                class="band" x={(x - 5).to_string()} y={y.to_string()} width={(width + 10).to_string()}
                height={height.to_string()} rx="8"
            />
        }
    });
    let (width, height) = (geometry.width.to_string(), geometry.height.to_string());

    html! {
        <section id="stage" class="stage" aria-labelledby="stage-title" data-stage="1">
            <h2 id="stage-title" class="hidden">{ w.label(Label::Stage) }</h2>
            <p id="stage-help" class="hidden">{ w.label(Label::StageHelp) }</p>
            <div class={classes!("stage-in", geometry.classes())}>
                <svg class="under" width={width.clone()} height={height.clone()} aria-hidden="true">{ band }</svg>
                <Controllers
                    scene={scene.clone()} selected={props.selected.clone()} brief={geometry.fit != Fit::Wide}
                />
                <div
                    class="grid" role="grid" aria-label={w.label(Label::Stage)} aria-describedby="stage-help"
                    aria-rowcount={rows.to_string()} aria-colcount={(columns.len() + 1).to_string()} onkeydown={on_key}
                >
                    { heads(&ui, scene, geometry.fit, &columns, column, at, &on_focus) }
                    { for scene.brokers.iter().enumerate().map(|(i, b)| html! {
                        <BrokerRow
                            key={b.id} scene={scene.clone()} index={i} fit={geometry.fit}
                            focus={(at.0 > 0 && (at.0 - 1) / 2 == i).then_some(at)}
                            on_focus={on_focus.clone()} selected={props.selected.clone()}
                        />
                    }) }
                </div>
                <ClientCards scene={scene.clone()} selected={props.selected.clone()} />
                <Cuts scene={scene.clone()} geometry={geometry.clone()} />
                if !scene.cuts.is_empty() {
                    <p class="heal">
                        <button
                            type="button" class="btn small"
                            onclick={ui.on_do(highwater_studio::desk::command::Command::HealAll)}
                        >{ w.label(Label::HealAll) }</button>
                    </p>
                }
                <Legend />
                <MotionLayer
                    geometry={geometry.clone()} playing={props.playing} selected={props.selected.clone()}
                />
            </div>
        </section>
    }
}

/// One line about a thing: what a tap shows where there is no inspector.
pub fn about_line(ui: &super::context::Ui, scene: &Scene, s: &Subject) -> String {
    let w = ui.words();
    let name = w.subject(s);
    let partition = |p: &PartitionRef| {
        let found = scene.topics.iter().find(|t| t.name == p.topic)?;
        Some(w.column(&p.topic, found.partitions.iter().find(|v| v.partition == p.partition)?))
    };
    let state = match s {
        Subject::Controller(id) => scene.controllers.iter().find(|c| c.id == *id).map(|c| w.controller_state(c)),
        Subject::Broker(id) => scene.brokers.iter().find(|b| b.id == *id).map(|b| standing(ui, b)),
        Subject::Partition(p) | Subject::Leader(p) | Subject::Isr(p) | Subject::HighWatermark(p) => {
            return partition(p).unwrap_or(name);
        }
        Subject::Replica { partition: p, broker } | Subject::Record { partition: p, broker, .. } => {
            let found = scene.brokers.iter().find(|b| b.id == *broker);
            let replica = found.and_then(|b| b.replicas.iter().find(|r| r.partition == *p));
            return replica.map_or(name, |r| w.replica(r, *broker));
        }
        Subject::Producer(n) => scene
            .producers
            .iter()
            .find(|p| p.name == *n)
            .map(|p| format!("{}; {}", w.producer_now(&p.now), w.producer_counts(p))),
        Subject::Group(n) => {
            scene.groups.iter().find(|g| g.name == *n).map(|g| format!("{} {}", w.group_now(g), w.coordinator(g)))
        }
        Subject::Member(n) => {
            scene.groups.iter().flat_map(|g| &g.members).find(|m| m.name == *n).map(|m| w.member_now(&m.now))
        }
        Subject::Message(id) => {
            return ui.desk.read().motion().flights.iter().find(|f| f.id == *id).map_or(name, |f| w.flight(f));
        }
        Subject::Verdict(_) | Subject::LedgerRecord(_) | Subject::Trace(_) => None,
    };
    state.map_or(name.clone(), |state| w.titled(&name, &state))
}

type Focus = Callback<(usize, usize)>;

/// Attributes that every cell of the grid has.
pub(super) fn cell_focus(on_focus: &Focus, at: (usize, usize)) -> Callback<FocusEvent> {
    let f = on_focus.clone();
    Callback::from(move |_| f.emit(at))
}

/// Enter and click open the thing in the inspector.
pub(super) fn opens(ask: &Callback<Ask>, subject: Subject) -> (Callback<MouseEvent>, Callback<KeyboardEvent>) {
    let (a, b, s) = (ask.clone(), ask.clone(), subject.clone());
    let click = Callback::from(move |_| a.emit(Ask::Select(subject.clone())));
    let key = Callback::from(move |e: KeyboardEvent| {
        if matches!(e.key().as_str(), "Enter" | " ")
            && web::closest_matches(e.target(), "[data-cell]")
            && !web::closest_matches(e.target(), "button, [data-menu]")
        {
            e.prevent_default();
            e.stop_propagation();
            b.emit(Ask::Select(s.clone()));
        }
    });
    (click, key)
}

pub(super) fn tab(focused: bool) -> &'static str {
    if focused { "0" } else { "-1" }
}

fn heads(
    ui: &super::context::Ui,
    scene: &Rc<Scene>,
    fit: Fit,
    columns: &[(Slot, bool)],
    chosen: Option<&PartitionRef>,
    at: (usize, usize),
    on_focus: &Focus,
) -> Html {
    let w = ui.words();
    let names = scene.topics.iter().map(|t| t.name.clone()).collect::<Vec<_>>().join(", ");
    html! {
        <div role="row" class="heads" aria-rowindex="1">
            <div
                role="columnheader" class="corner" id="cell-0-0" data-cell="1" tabindex={tab(at == (0, 0))}
                onfocus={cell_focus(on_focus, (0, 0))}
            ><span class="cap">{ w.label(Label::Topic) }</span><b title={names.clone()}>{ names }</b></div>
            { for columns.iter().enumerate().map(|(i, (slot, first))| {
                head(ui, scene, fit, slot, *first, chosen, i + 1, at, on_focus)
            }) }
        </div>
    }
}

/// Who may lead beside the ISR, or who did last where nobody may.
pub fn may_lead(w: &dyn super::words::Words, p: &PartitionView) -> Option<String> {
    if p.elr.is_empty() {
        p.last_known_leader.map(|last| w.last_led(last))
    } else {
        Some(format!("ELR {}", tight(&p.elr)))
    }
}

/// Broker ids where there is little room.
fn tight(all: &[u32]) -> String {
    ids(all).replace(' ', "")
}

#[allow(
    clippy::too_many_arguments,
    reason = "one head is drawn from one place; a struct for it would only rename these"
)]
fn head(
    ui: &super::context::Ui,
    scene: &Rc<Scene>,
    fit: Fit,
    slot: &Slot,
    first: bool,
    chosen: Option<&PartitionRef>,
    column: usize,
    at: (usize, usize),
    on_focus: &Focus,
) -> Html {
    let w = ui.words();
    let id = format!("cell-0-{column}");
    let focused = tab(at == (0, column));
    match slot {
        Slot::Folded(name) => {
            let Some(t) = scene.topics.iter().find(|t| t.name == *name) else { return Html::default() };
            let per_line = super::geometry::heat_per_line(t.partitions.len());
            let close = t.internal.then(|| {
                let ask = ui.on_do(highwater_studio::desk::command::Command::CloseTopic(name.clone()));
                html! {
                    <button type="button" class="btn small" onclick={ask}>{ w.label(Label::CloseColumns) }</button>
                }
            });
            html! {
                <div
                    role="columnheader" class={classes!("head", "d-heat", first.then_some("topic-first"))} id={id}
                    data-cell="1" tabindex={focused}
                    onfocus={cell_focus(on_focus, (0, column))}
                >
                    <svg
                        class="spread" width={(per_line * super::geometry::HEAT).to_string()} height="1"
                        aria-hidden="true"
                    />
                    <span class="head-line">
                        <b>{ name }</b>
                        { " " }
                        <span class="mono muted">{ format!("{} × {}", t.partitions.len(), t.replication_factor) }</span>
                    </span>
                    { close }
                </div>
            }
        }
        Slot::Partition(place, density) => {
            let found = scene.topics.iter().find(|t| t.name == place.topic);
            let Some(p) = found.and_then(|t| t.partitions.iter().find(|p| p.partition == place.partition)) else {
                return Html::default();
            };
            let health = match p.isr_health {
                IsrHealth::Full => "",
                IsrHealth::Reduced => "warn",
                IsrHealth::BelowMin | IsrHealth::Offline => "danger",
            };
            let (click, key) = opens(&ui.ask, Subject::Partition(place.clone()));
            let short = *density == Density::Bars;
            // Where a column is narrow, its three numbers stand below each other.
            let three = !short && matches!(fit, Fit::Close | Fit::Tight);
            let known = if p.isr.is_empty() { "–".to_owned() } else { tight(&p.isr) };
            let isr = if short { tight(&p.isr) } else { format!("ISR {known}") };
            let may = may_lead(w, p).filter(|_| !short);
            let epoch = html! { <span class="mono muted">{ format!("ep {}", p.leader_epoch) }</span> };
            let hw = html! { <span class="hw">{ format!("HW {}", p.high_watermark) }</span> };
            html! {
                <div
                    role="columnheader" id={id} data-cell="1" tabindex={focused}
                    onfocus={cell_focus(on_focus, (0, column))}
                    onclick={click} onkeydown={key} aria-label={w.column(&place.topic, p)}
                    class={classes!(
                        "head", density.class(), first.then_some("topic-first"),
                        (chosen == Some(place)).then_some("chosen")
                    )}
                >
                    <span class="head-line">
                        // Where a name is too long, its number still stands.
                        <b title={super::words::partition(place)}>
                            if short { { p.partition } } else {
                                <span class="one-line">{ &place.topic }</span>{ format!("-{}", p.partition) }
                            }
                        </b>
                        if !three { { epoch.clone() } }
                    </span>
                    <span class="head-line mono">
                        <span class={classes!("isr", health)}>{ isr }</span>
                        if let Some(may) = may.as_ref().filter(|_| three) { <span class="may">{ may }</span> }
                        if !short && !three { { hw.clone() } }
                    </span>
                    if !short && three { <span class="head-line mono">{ hw }{ epoch }</span> }
                    if let Some(may) = may.filter(|_| !three) {
                        <span class="head-line mono may">{ may }</span>
                    }
                    if short && first { <span class="topic-name">{ &place.topic }</span> }
                </div>
            }
        }
    }
}
