//! The chosen message in the lanes, from its sender's to its receiver's. It draws no other message: at the zoom of a
//! whole run they fold into the density strip.
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
}

impl LaneWay {
    /// Where a message is drawn, if both of its ends have a lane.
    pub fn of(flight: &Flight, lanes: &Lanes, groups: &[GroupView]) -> Option<LaneWay> {
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
        Some(LaneWay { from: lane(&flight.from)?, to: lane(&flight.to)?, flight: flight.clone() })
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
                if (arrives - sent) * 20 > window.to_us - window.from_us {
                    <text class="wait-words" y="-14">{ f.name().to_string() }</text>
                }
            </svg>
        </svg>
    }
}
