//! What the marks mean. Shows the four that matter; the rest unfolds.
use crate::ui::context::use_ui;
use crate::ui::marks;
use crate::ui::words::Label;
use highwater_studio::view::model::{FlightKind, RecordCell};
use yew::prelude::*;

#[component]
pub fn Legend() -> Html {
    let ui = use_ui();
    let one = |picture: Html, l: Label| html! { <li>{ picture }<span>{ ui.label(l) }</span></li> };
    let cell =
        |k: RecordCell| html! { <svg width="12" height="16" aria-hidden="true">{ marks::cell(k, 0, 0, 12, 16) }</svg> };
    html! {
        <div class="legend">
            <ul class="marks">
                { one(cell(RecordCell::Safe), Label::MarkSafe) }
                { one(cell(RecordCell::NotSafe), Label::MarkNotSafe) }
                { one(cell(RecordCell::NotSafeAcked), Label::MarkAcked) }
                { one(cell(RecordCell::AckedLost), Label::MarkLost) }
            </ul>
            <details class="all-marks">
                <summary>{ ui.label(Label::AllMarks) }</summary>
                <ul class="marks">
                    { one(cell(RecordCell::Empty), Label::MarkEmpty) }
                    { one(html! {
                        <svg width="8" height="18" aria-hidden="true"><path class="hw-line" d="M4 0 V18" /></svg>
                    }, Label::MarkHighWatermark) }
                    { one(marks::crown_icon(), Label::MarkLeader) }
                    { one(marks::bolt_icon(), Label::MarkFault) }
                    { one(marks::flight_icon(FlightKind::Produce), Label::MarkProduce) }
                    { one(marks::flight_icon(FlightKind::Replication), Label::MarkReplication) }
                    { one(marks::flight_icon(FlightKind::Control), Label::MarkControl) }
                    { one(marks::flight_icon(FlightKind::Group), Label::MarkGroup) }
                </ul>
            </details>
        </div>
    }
}
