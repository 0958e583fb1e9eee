//! The marks: record cells, crown, bolt, the four shapes of messages, icons. Each differs from the others by its shape,
//! not by colour alone. It deliberately sets no colour: styles do, by class.
use highwater_studio::view::model::{FlightKind, MarkKind, RecordCell};
use yew::prelude::*;

/// One record, as an SVG group at a place.
pub fn cell(kind: RecordCell, x: u32, y: u32, w: u32, h: u32) -> Html {
    let frame = |class: &'static str| {
        html! {
            <rect class={class} x={half(x)} y={half(y)} width={inner(w)} height={inner(h)} rx="2" />
        }
    };
    match kind {
        RecordCell::Safe => html! {
            <rect
                class="c-safe" x={x.to_string()} y={y.to_string()} width={w.to_string()} height={h.to_string()} rx="2"
            />
        },
        RecordCell::NotSafe => frame("c-open"),
        RecordCell::NotSafeAcked => html! {
            <>
                { frame("c-open") }
                <path class="c-tick" d={tick(x, y, w, h)} />
            </>
        },
        RecordCell::AckedLost => html! {
            <>
                { frame("c-lost") }
                <path class="c-cross" d={cross(x, y, w, h)} />
            </>
        },
        RecordCell::Empty => frame("c-none"),
    }
}

fn half(v: u32) -> String {
    format!("{v}.75")
}

fn inner(v: u32) -> String {
    format!("{}.5", v.saturating_sub(2))
}

fn tick(x: u32, y: u32, w: u32, h: u32) -> String {
    // Centred, so that it looks the same in a cell of any width.
    format!("M{}.4 {} l2.3 2.9 l4 -5.6", x + (w.saturating_sub(8)) / 2, y + h / 2)
}

fn cross(x: u32, y: u32, w: u32, h: u32) -> String {
    let (a, b) = (w.saturating_sub(6).clamp(3, 10), h.saturating_sub(8));
    format!("M{} {} l{a} {b} m0 -{b} l-{a} {b}", x + w.saturating_sub(a) / 2, y + 4)
}

/// The leader's crown, 14 by 9.
pub fn crown(x: u32, y: u32) -> Html {
    html! {
        <path
            class="m-crown" transform={format!("translate({x},{y})")}
            d="M0 9 L1.2 1.5 L4.4 5 L7 0 L9.6 5 L12.8 1.5 L14 9 Z"
        />
    }
}

/// The crown as a picture of its own.
pub fn crown_icon() -> Html {
    html! { <svg class="i-crown" width="14" height="10" viewBox="0 0 14 10" aria-hidden="true">{ crown(0, 0) }</svg> }
}

/// The mark of a fault, around its middle.
pub fn bolt() -> Html {
    html! {
        <>
            <circle class="m-bolt" r="8" />
            <path class="m-bolt-in" d="M1.5 -6 L-4 1.2 H-.6 L-1.5 6 L4 -1.2 H.6 Z" />
        </>
    }
}

pub fn bolt_icon() -> Html {
    html! { <svg class="i-bolt" width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true">{ bolt() }</svg> }
}

/// The mark of a node that is cut off: a line with a gap.
pub fn cut_icon() -> Html {
    html! {
        <svg class="i-cut" width="16" height="12" viewBox="0 0 16 12" aria-hidden="true">
            <path class="m-gap" d="M0 6 H4 M12 6 H16 M5 11 L8 1 M8 11 L11 1" />
        </svg>
    }
}

/// The shape of a message around the middle.
pub fn flight(kind: FlightKind) -> Html {
    match kind {
        FlightKind::Produce => html! { <circle class="f-produce" r="5.5" /> },
        FlightKind::Replication => html! { <path class="f-fetch" d="M-6 0 L0 -6 L6 0 L0 6 Z" /> },
        FlightKind::Control => html! { <rect class="f-control" x="-5" y="-5" width="10" height="10" /> },
        FlightKind::Group => html! { <path class="f-group" d="M0 -6 L6 5 H-6 Z" /> },
    }
}

pub fn flight_icon(kind: FlightKind) -> Html {
    html! { <svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true">{ flight(kind) }</svg> }
}

pub fn flight_class(kind: FlightKind) -> &'static str {
    match kind {
        FlightKind::Produce => "way-produce",
        FlightKind::Replication => "way-fetch",
        FlightKind::Control => "way-control",
        FlightKind::Group => "way-group",
    }
}

/// The colour of its shape alone.
pub fn flight_fill(kind: FlightKind) -> &'static str {
    match kind {
        FlightKind::Produce => "f-produce",
        FlightKind::Replication => "f-fetch",
        FlightKind::Control => "f-control",
        FlightKind::Group => "f-group",
    }
}

/// A mark of the lanes around the middle of its place.
pub fn lane_mark(kind: MarkKind) -> Html {
    match kind {
        MarkKind::Fault => bolt(),
        MarkKind::Repair => {
            html! { <><circle class="m-repair" r="7" /><path class="m-repair-in" d="M-3.5 0 H3.5 M0 -3.5 V3.5" /></> }
        }
        MarkKind::Election => {
            html! {
                <path
                    class="m-crown" transform="translate(-7,-5)" d="M0 9 L1.2 1.5 L4.4 5 L7 0 L9.6 5 L12.8 1.5 L14 9 Z"
                />
            }
        }
        MarkKind::IsrShrink => html! { <path class="m-shrink" d="M-5 -5 L0 0 L-5 5 M5 -5 L0 0 L5 5" /> },
        MarkKind::IsrExpand => html! { <path class="m-expand" d="M-1 -5 L-6 0 L-1 5 M1 -5 L6 0 L1 5" /> },
        MarkKind::Truncation => html! { <path class="m-cut" d="M-5 5 L5 -5 M-5 -5 H0 M0 5 H5" /> },
        MarkKind::Rebalance => html! { <path class="m-rebalance" d="M-5 -2 H5 L2 -5 M5 2 H-5 L-2 5" /> },
        MarkKind::Error => {
            html! {
                <><path class="m-error" d="M0 -7 L7 6 H-7 Z" /><path class="m-error-in" d="M0 -3 V2 M0 3.4 V4.6" /></>
            }
        }
        MarkKind::Loss => {
            html! {
                <>
                    <rect class="c-lost" x="-6" y="-6" width="12" height="12" rx="2" />
                    <path class="c-cross" d="M-3 -3 L3 3 M3 -3 L-3 3" />
                </>
            }
        }
        MarkKind::Setting => html! { <><circle class="m-setting" r="5" /><circle class="m-setting-in" r="2" /></> },
    }
}

/// Icons of the transport.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    Play,
    Pause,
    Start,
    Back,
    Forward,
    Skip,
}

pub fn icon(i: Icon) -> Html {
    let d = match i {
        Icon::Play => "M3 1 L12 7 L3 13 Z",
        Icon::Pause => "M2 1 h3.5 v12 h-3.5 z M8.5 1 h3.5 v12 h-3.5 z",
        Icon::Start => "M2 1 h2 v12 h-2 z M12 1 v12 L5 7 Z",
        Icon::Back => "M9.5 1 L3 7 L9.5 13 L11 11.4 L6 7 L11 2.6 Z",
        Icon::Forward => "M4.5 1 L11 7 L4.5 13 L3 11.4 L8 7 L3 2.6 Z",
        Icon::Skip => "M1 1 L7 7 L1 13 Z M7 1 L13 7 L7 13 Z",
    };
    html! {
        <svg class="icon" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
            <path d={d} fill="currentColor" />
        </svg>
    }
}

/// A way that leads to another page.
pub fn out_icon() -> Html {
    html! {
        <svg class="icon out" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
            <path d="M7 1 h4 v4 M11 1 L5.5 6.5 M9 7.5 V11 H1 V3 H4.5" />
        </svg>
    }
}

/// The sign of the page: two waves.
pub fn waves() -> Html {
    html! {
        <svg class="waves" width="26" height="20" aria-hidden="true">
            <path d="M1 7 q4 -5 8 0 t8 0 t8 0" />
            <path class="faint" d="M1 14 q4 -5 8 0 t8 0 t8 0" />
        </svg>
    }
}
