//! Messages on their way. The only part of the stage that is drawn anew on every frame.
//! It deliberately reads the motion from the desk itself, so that nothing above it has to be drawn again.
use crate::ui::context::{Ask, use_pulse, use_ui};
use crate::ui::geometry::{Geometry, along};
use crate::ui::marks;
use crate::ui::words::Label;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct MotionProps {
    pub geometry: Rc<Geometry>,
    pub playing: bool,
    #[prop_or_default]
    pub selected: Option<Subject>,
}

#[component]
pub fn MotionLayer(props: &MotionProps) -> Html {
    use_pulse();
    let ui = use_ui();
    let motion = ui.desk.read().motion();
    let g = &props.geometry;
    // What flies by cannot be chosen from the keyboard; once time stands still, everything that hangs in the air can.
    let reachable = !props.playing;
    html! {
        <>
            <svg
                class="motion" width={g.width.to_string()} height={g.height.to_string()}
                role={reachable.then_some("group")} aria-label={reachable.then(|| ui.label(Label::Messages))}
                aria-hidden={(!reachable).then_some("true")}
            >
                { for motion.flights.iter().filter_map(|f| flight(&ui, g, f, reachable, &props.selected)) }
            </svg>
            if motion.hidden > 0 { <p class="hidden-flights muted">{ ui.words().hidden_flights(motion.hidden) }</p> }
        </>
    }
}

fn flight(
    ui: &crate::ui::context::Ui,
    g: &Geometry,
    f: &Flight,
    reachable: bool,
    selected: &Option<Subject>,
) -> Option<Html> {
    let chosen = *selected == Some(Subject::Message(f.id));
    let way = g.way(f)?;
    let (x, y) = along(&way, f.progress_ppm);
    let d = way
        .iter()
        .enumerate()
        .map(|(i, p)| format!("{}{} {}", if i == 0 { "M" } else { " L" }, p.x, p.y))
        .collect::<String>();
    let name = ui.words().flight(f);
    let ask = ui.ask.clone();
    let subject = Subject::Message(f.id);
    let (s, a) = (subject.clone(), ask.clone());
    // A click stops time: what was chosen must not fly away.
    let choose = move || {
        ask.emit(Ask::Do(highwater_studio::desk::command::Command::Pause));
        ask.emit(Ask::Select(subject.clone()));
    };
    let key = Callback::from(move |e: KeyboardEvent| {
        if matches!(e.key().as_str(), "Enter" | " ") {
            e.prevent_default();
            e.stop_propagation();
            a.emit(Ask::Select(s.clone()));
        }
    });
    Some(html! {
        <g
            key={f.id.0.to_string()}
            class={classes!(
                "flight", f.doomed.then_some("doomed"), f.error.is_some().then_some("bad"), f.held.then_some("held"),
                chosen.then_some("chosen")
            )}
        >
            if chosen {
                <defs>
                    <marker
                        id="way-end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"
                        markerUnits="userSpaceOnUse"
                    ><path class={marks::flight_fill(f.kind)} d="M0 0 L8 4 L0 8 Z" /></marker>
                </defs>
            }
            <path
                class={classes!("way", marks::flight_class(f.kind))} d={d.clone()}
                marker-end={chosen.then_some("url(#way-end)")}
            />
            if chosen {
                // What is behind it is solid; what is ahead stays dashed.
                <path
                    class={classes!("way", "gone", marks::flight_class(f.kind))} {d} pathLength="1000000"
                    stroke-dasharray={format!("{} 1000000", f.progress_ppm)}
                />
            }
            <g
                class="flyer" transform={format!("translate({}.{},{}.{})", x / 10, x % 10, y / 10, y % 10)}
                role={reachable.then_some("button")} tabindex={reachable.then_some("0")}
                aria-label={reachable.then(|| name.clone())} aria-current={chosen.then_some("true")}
                onclick={move |_| choose()} onkeydown={key}
            >
                <title>{ name }</title>
                <circle class="grip" r="12" />
                if chosen { <circle class="f-chosen" r="10" /> }
                { marks::flight(f.kind) }
                if f.held { <path class="f-pin" d="M0 -15 v7 M-4 -15 h8" /> }
                if f.response { <circle class="f-answer" r="1.8" /> }
                if f.error.is_some() { <path class="f-bad" d="M-8 -8 L8 8" /> }
            </g>
        </g>
    })
}
