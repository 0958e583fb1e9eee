//! Messages in the lanes, each from its sender's to its receiver's: the chosen one, and at a zoom at which they are
//! wide enough to be met, all that are on their way. It draws none that has arrived: those fold into the density strip.
use super::context::{Ask, Ui};
use super::lanes::{percent, place};
use super::marks;
use highwater_studio::view::model::NodeRef;
use highwater_studio::view::model::*;
use yew::prelude::*;

/// One message between two lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct LaneWay {
    pub from: usize,
    pub to: usize,
    pub flight: Flight,
    pub chosen: bool,
}

impl LaneWay {
    /// Where a message is drawn, if both of its ends have a lane.
    pub fn of(flight: &Flight, chosen: bool, lanes: &Lanes, groups: &[GroupView]) -> Option<LaneWay> {
        let lane = |node: &NodeRef| {
            let of = match node {
                NodeRef::Controller(_) => LaneOf::Quorum,
                NodeRef::Broker(id) => LaneOf::Broker(*id),
                NodeRef::Producer(name) => LaneOf::Producer(name.clone()),
                NodeRef::Member(name) => {
                    LaneOf::Group(groups.iter().find(|g| g.members.iter().any(|m| m.name == *name))?.name.clone())
                }
                NodeRef::Admin => return None,
            };
            lanes.lanes.iter().position(|lane| lane.who == of)
        };
        Some(LaneWay { from: lane(&flight.from)?, to: lane(&flight.to)?, flight: flight.clone(), chosen })
    }
}

/// Whether a message takes a fiftieth of what is shown.
pub fn is_wide(f: &Flight, window: Window) -> bool {
    f.arrives_us.saturating_sub(f.sent_us) * 50 > window.to_us.saturating_sub(window.from_us)
}

/// A stretch of time around a message, its neighbours included.
pub fn around(sent: Micros, arrives: Micros) -> Window {
    let margin = arrives.saturating_sub(sent) * 2 + 100;
    Window { from_us: sent.saturating_sub(margin), to_us: arrives + margin }
}

/// A message that is not chosen: a line that chooses it.
pub fn other_way(ui: &Ui, way: &LaneWay, window: Window, from: usize, to: usize) -> Html {
    let f = &way.flight;
    let line = |class: Classes| {
        html! {
            <line
                {class} x1={percent(place(f.sent_us, window))} x2={percent(place(f.arrives_us, window))}
                y1={from.to_string()} y2={to.to_string()}
            />
        }
    };
    html! {
        <g class="lane-mark" data-mark="1" onclick={ui.on(Ask::Select(Subject::Message(f.id)))}>
            <title>{ ui.words().flight(f) }</title>
            { line(classes!("hit")) }
            { line(classes!("way", "lane-way", marks::flight_class(f.kind))) }
        </g>
    }
}

/// The chosen message: its way so far, the rest of it dashed, and the message itself at the playhead.
pub fn chosen_way(way: &LaneWay, window: Window, now: Micros, from: usize, to: usize) -> Html {
    let f = &way.flight;
    let (sent, arrives) = (f.sent_us, f.arrives_us.max(f.sent_us + 1));
    let here = now.clamp(sent, arrives);
    let share = (here - sent) as f64 / (arrives - sent) as f64;
    let y = from as f64 + (to as f64 - from as f64) * share;
    let y = (y as usize).to_string();
    let x = |us: Micros| percent(place(us, window));
    let class = classes!("way", "chosen-way", marks::flight_class(f.kind));
    html! {
        <svg class="playhead" width="100%" height="100%" aria-hidden="true">
            <line class={class.clone()} x1={x(sent)} y1={from.to_string()} x2={x(here)} y2={y.clone()} />
            <line class={classes!(class, "left")} x1={x(here)} y1={y.clone()} x2={x(arrives)} y2={to.to_string()} />
            <svg x={x(here)} {y} overflow="visible" width="1" height="1">
                <circle class="f-chosen" r="10" />
                { marks::flight(f.kind) }
                if f.response { <circle class="f-answer" r="1.8" /> }
                // Its name, once it is wide enough for one.
                if is_wide(f, window) {
                    <text class="wait-words" x="14" y="-6">{ f.name().to_string() }</text>
                }
            </svg>
        </svg>
    }
}
