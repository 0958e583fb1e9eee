//! One replica: role, the tail of its log on the column's offset axis, its own high watermark. Knows no other replica.
use super::{Focus, cell_focus, opens, tab};
use crate::ui::context::use_ui;
use crate::ui::geometry::{Density, Fit};
use crate::ui::marks;
use crate::ui::words::Words;
use highwater_studio::view::model::*;
use yew::prelude::*;

/// How large its record cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Cells(Fit),
    Bars,
    /// On a phone, where one partition has the whole width.
    Wide,
}

impl Size {
    pub fn of(d: Density, fit: Fit) -> Size {
        match d {
            Density::Cells => Size::Cells(fit),
            Density::Bars | Density::Heat => Size::Bars,
        }
    }

    /// Width and gap of a record cell, and height.
    fn cell(self) -> (u32, u32, u32) {
        match self {
            Size::Cells(Fit::Wide) => (11, 2, 16),
            Size::Cells(Fit::Snug) => (9, 2, 16),
            Size::Cells(Fit::Close) => (8, 2, 16),
            Size::Cells(Fit::Tight) => (7, 1, 16),
            Size::Bars => (5, 0, 16),
            Size::Wide => (25, 2, 18),
        }
    }

    fn class(self) -> &'static str {
        match self {
            Size::Cells(_) => "d-cells",
            Size::Bars => "d-bars",
            Size::Wide => "d-wide",
        }
    }
}

#[derive(PartialEq, Properties)]
pub struct ReplicaProps {
    pub replica: ReplicaView,
    pub broker: u32,
    pub first_shown: u64,
    pub size: Size,
    /// Where it stands in the grid.
    pub row: usize,
    pub column: usize,
    pub focused: bool,
    pub selected: bool,
    #[prop_or_default]
    pub topic_first: bool,
    pub on_focus: Focus,
    /// A grid has cells; a list of one partition's replicas has buttons.
    #[prop_or("gridcell")]
    pub role: &'static str,
}

pub fn role_class(r: ReplicaRole) -> &'static str {
    match r {
        ReplicaRole::Leader => "r-leader",
        ReplicaRole::InSync => "r-insync",
        ReplicaRole::OutOfSync => "r-out",
        ReplicaRole::Offline => "r-offline",
        ReplicaRole::StaleLeader => "r-stale",
    }
}

#[component]
pub fn Replica(props: &ReplicaProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let r = &props.replica;
    let (click, key) = opens(&ui.ask, Subject::Replica { partition: r.partition.clone(), broker: props.broker });
    let crowned = matches!(r.role, ReplicaRole::Leader | ReplicaRole::StaleLeader);
    let (role, end_words) = match (props.size, crowned) {
        (Size::Bars, true) => ("", r.log_end_offset.to_string()),
        (Size::Bars, false) => (short(r.role), r.log_end_offset.to_string()),
        (Size::Cells(fit), _) => (w.role(r.role), end(w, fit, props.first_shown, r.log_end_offset)),
        (Size::Wide, _) => (w.role(r.role), w.log_end(r.log_end_offset)),
    };
    // Kafka's own name for it, in every language.
    let eligible = r.eligible && props.size != Size::Bars;
    html! {
        <div
            role={props.role} id={format!("cell-{}-{}", props.row, props.column)} data-cell="1"
            tabindex={tab(props.focused)}
            class={classes!(
                "replica", props.size.class(), role_class(r.role), props.selected.then_some("chosen"),
                props.topic_first.then_some("topic-first")
            )}
            aria-selected={(props.role == "gridcell").then(|| props.selected.to_string())}
            onfocus={cell_focus(&props.on_focus, (props.row, props.column))} onclick={click} onkeydown={key}
        >
            <span class="hidden">{ w.replica(r, props.broker) }</span>
            <span class="role" aria-hidden="true">
                if crowned { { marks::crown_icon() } }
                if eligible && r.role == ReplicaRole::OutOfSync { { "ELR" } } else { { role } }
                if eligible && r.role != ReplicaRole::OutOfSync { { " · ELR" } }
            </span>
            { tail(r, props.first_shown, props.size) }
            <span class="ends mono" aria-hidden="true">
                if props.size != Size::Bars { <span>{ props.first_shown }</span> }
                <span>
                    { end_words }
                </span>
            </span>
        </div>
    }
}

/// The log end offset; beside a long first offset the number alone.
fn end(w: &dyn Words, fit: Fit, first: u64, end: u64) -> String {
    let most = match fit {
        Fit::Wide => 14,
        Fit::Snug => 13,
        Fit::Close => 11,
        Fit::Tight => 9,
    };
    let words = w.log_end(end);
    if first.to_string().len() + words.len() > most { end.to_string() } else { words }
}

/// Where only a letter's width is free, each role has a sign of its own.
fn short(r: ReplicaRole) -> &'static str {
    match r {
        ReplicaRole::Leader => "♛",
        ReplicaRole::InSync => "=",
        ReplicaRole::OutOfSync => "≠",
        ReplicaRole::Offline => "×",
        ReplicaRole::StaleLeader => "?",
    }
}

fn tail(r: &ReplicaView, first: u64, size: Size) -> Html {
    let (w, gap, h) = size.cell();
    let step = w + gap;
    let count = u32::try_from(r.cells.len()).unwrap_or(0);
    let width = count * step + 4;
    let faded = |c: RecordCell| {
        r.role == ReplicaRole::Offline && matches!(c, RecordCell::Safe | RecordCell::NotSafe | RecordCell::NotSafeAcked)
    };
    // Its line stands at the edge when the high watermark is outside the tail.
    let line =
        u32::try_from(r.high_watermark.saturating_sub(first)).unwrap_or(u32::MAX).min(count) * step + 2 - gap / 2;
    html! {
        <svg class="tail" width={width.to_string()} height={(h + 8).to_string()} aria-hidden="true">
            { for r.cells.iter().enumerate().map(|(i, c)| {
                let x = u32::try_from(i).unwrap_or(0) * step + 2;
                html! { <g class={faded(*c).then_some("faded")}>{ marks::cell(*c, x, 3, w, h) }</g> }
            }) }
            <path
                class={classes!("hw-line", (r.role == ReplicaRole::Offline).then_some("faded"))}
                d={format!("M{line} 0 V{}", h + 7)}
            />
        </svg>
    }
}
