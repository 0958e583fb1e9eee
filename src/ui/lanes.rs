//! Swim lanes: one lane a node over time, marks for what is notable, branches above. The lanes are the scrubber.
//! It deliberately draws no single message by itself: at the zoom of a whole run they fold into a density strip.
use super::context::{Ask, use_pulse, use_ui};
use super::lane_way::{LaneWay, chosen_way, other_way};
use super::marks;
use super::words::{Label, exact, moment};
use crate::web;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// Height of a lane, and in a window that has few rows.
const LANE: usize = 26;
const LOW_LANE: usize = 22;
const TOP: usize = 30;
const BRANCH: usize = 18;
/// Least stretch of time that can be shown.
const LEAST_WINDOW_US: Micros = 200;

#[derive(PartialEq, Properties)]
pub struct LanesProps {
    pub lanes: Rc<Lanes>,
    /// End of the whole run, for the slider and for zooming out.
    pub end_us: Micros,
    /// Entries of the chain of causes that is shown.
    #[prop_or_default]
    pub lit: Rc<Vec<TraceId>>,
    /// Messages that are drawn.
    #[prop_or_default]
    pub messages: Vec<LaneWay>,
    /// The window has few rows.
    #[prop_or_default]
    pub low: bool,
}

/// A moment's place in a stretch of time, as hundredths of a percent, kept inside.
pub(super) fn place(at: Micros, w: Window) -> u64 {
    let span = w.to_us.saturating_sub(w.from_us).max(1);
    at.saturating_sub(w.from_us).min(span) * 10_000 / span
}

pub(super) fn percent(hundredths: u64) -> String {
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// Characters of a name that have room beside its lane, and how many of a longer one are shown.
const NAME: usize = 12;
const BEGINNING: usize = 10;

/// A name's beginning, where it is too long to stand beside its lane.
fn cut(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(BEGINNING).chain(['…']).collect()
}

fn moment_at(fraction: f64, w: Window) -> Micros {
    let span = w.to_us.saturating_sub(w.from_us) as f64;
    w.from_us + (span * fraction) as Micros
}

/// A window of `span` with `at` where `fraction` of it has passed, kept in 0 to `end`.
fn window_around(at: Micros, fraction: f64, span: Micros, end: Micros) -> Option<Window> {
    let span = span.max(LEAST_WINDOW_US);
    if span >= end {
        return None;
    }
    let from = at.saturating_sub((span as f64 * fraction) as Micros).min(end - span);
    Some(Window { from_us: from, to_us: from + span })
}

/// Moments for the time axis: about eight, at round distances.
fn ticks(w: Window) -> Vec<Micros> {
    let span = w.to_us.saturating_sub(w.from_us).max(1);
    let mut step = 1;
    'found: loop {
        for m in [1, 2, 3, 5] {
            if span / (step * m) <= 9 {
                step *= m;
                break 'found;
            }
        }
        step *= 10;
    }
    (w.from_us.div_ceil(step)..=w.to_us / step).map(|i| i * step).collect()
}

fn tick_words(us: Micros, span: Micros) -> String {
    match span {
        0..10_000 => format!("{}.{:06} s", us / 1_000_000, us % 1_000_000),
        10_000..9_000_000 => moment(us),
        _ => format!("{} s", us / 1_000_000),
    }
}

#[component]
pub fn LanesView(props: &LanesProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let l = &props.lanes;
    let window = l.window;
    let span = window.to_us.saturating_sub(window.from_us);
    let dragging = use_mut_ref(|| false);
    let others: Vec<&BranchView> = l.branches.iter().filter(|b| b.parent.is_some()).collect();
    let shown = others.len().min(4);
    let top = TOP + shown * BRANCH;
    let each = if props.low { LOW_LANE } else { LANE };
    let height = top + l.lanes.len() * each + 1;

    let scrub = {
        let send = ui.ask.clone();
        move |e: &PointerEvent, released: bool| {
            if let Some(f) = web::pointer_fraction(e) {
                let at_us = moment_at(f, window);
                send.emit(Ask::Do(if released { Command::SeekTo { at_us } } else { Command::Scrub { at_us } }));
            }
        }
    };
    let down = {
        let (scrub, dragging) = (scrub.clone(), dragging.clone());
        Callback::from(move |e: PointerEvent| {
            if e.button() != 0 || web::closest_matches(e.target(), "[data-mark]") {
                return;
            }
            *dragging.borrow_mut() = true;
            web::pointer_capture(&e);
            scrub(&e, false);
        })
    };
    let moved = {
        let (scrub, dragging) = (scrub.clone(), dragging.clone());
        Callback::from(move |e: PointerEvent| {
            if *dragging.borrow() {
                scrub(&e, false);
            }
        })
    };
    let up = {
        let dragging = dragging.clone();
        Callback::from(move |e: PointerEvent| {
            if dragging.replace(false) {
                scrub(&e, true);
            }
        })
    };
    let zoom = {
        let (send, end) = (ui.ask.clone(), props.end_us);
        move |fraction: f64, closer: bool| {
            let at = moment_at(fraction, window);
            let wanted = if closer { span * 2 / 3 } else { span * 3 / 2 };
            send.emit(Ask::Zoom(window_around(at, fraction, wanted, end)));
        }
    };
    let wheel = {
        let zoom = zoom.clone();
        Callback::from(move |e: WheelEvent| {
            if let Some(f) = web::wheel_fraction(&e)
                && e.delta_y() != 0.0
            {
                zoom(f, e.delta_y() < 0.0);
            }
        })
    };
    // From the buttons the zoom goes around the playhead.
    let around = (place(l.now_us, window) as f64) / 10_000.0;
    let (closer, farther) = (zoom.clone(), zoom);
    let x = |us: Micros| percent(place(us, window));
    let inside = |us: Micros| us >= window.from_us && us <= window.to_us;
    let overlaps = |from: Micros, to: Micros| to >= window.from_us && from <= window.to_us;
    let middle = |i: usize| top + i * each + each / 2;

    html! {
        <section class="lanes" aria-label={w.label(Label::Lanes)}>
            <div class="lane-names">
                <div class="ruler-blank" />
                <svg width="92" height={height.to_string()} aria-hidden="true">
                    { for l.lanes.iter().enumerate().map(|(i, lane)| html! {
                        <text class="lane-name" x="86" y={(middle(i) + 4).to_string()}>
                            { cut(&w.lane(&lane.who)) }<title>{ w.lane(&lane.who) }</title>
                        </text>
                    }) }
                </svg>
            </div>
            <div
                class="lane-canvas" data-track="1" onpointerdown={down} onpointermove={moved} onpointerup={up}
                onwheel={wheel}
            >
                <div class="ruler">
                    <div class="ruler-in">
                        <svg width="100%" height={TOP.to_string()} aria-hidden="true">
                            { for ticks(window).into_iter().map(|t| html! {
                                <text class="tick" x={x(t)} y="22">{ tick_words(t, span) }</text>
                            }) }
                        </svg>
                        <RulerHead {window} end_us={props.end_us} />
                    </div>
                </div>
                <svg class="lane-svg" width="100%" height={height.to_string()} aria-hidden="true">
                    { for ticks(window).into_iter().map(|t| html! {
                        <line class="grid-line" x1={x(t)} x2={x(t)} y1={TOP.to_string()} y2={height.to_string()} />
                    }) }
                    { for others.iter().take(shown).enumerate().map(|(i, b)| {
                        let y = TOP + i * BRANCH + 15;
                        html! {
                            <g class={classes!("branch", b.current.then_some("current"))}>
                                <line x1={x(b.forked_at_us)} x2={x(b.end_us)} y1={y.to_string()} y2={y.to_string()} />
                                <circle cx={x(b.forked_at_us)} cy={y.to_string()} r="3" />
                                <text x={x(b.forked_at_us)} dx="8" y={(y - 3).to_string()}>{ w.branch(b) }</text>
                            </g>
                        }
                    }) }
                    { for l.lanes.iter().enumerate().map(|(i, lane)| html! {
                        <>
                            <line
                                class="lane-line" x1="0" x2="100%" y1={middle(i).to_string()} y2={middle(i).to_string()}
                            />
                            { density(&lane.density, middle(i)) }
                            { for lane.bars.iter().filter(|b| overlaps(b.from_us, b.to_us)).map(|b| {
                                let (from, to) = (place(b.from_us, window), place(b.to_us, window));
                                html! {
                                    <rect
                                        class={classes!("bar", bar_class(&lane.who, b.state))} x={percent(from)}
                                        width={percent(to - from)} y={(middle(i) - 4).to_string()} height="8" rx="3"
                                    />
                                }
                            }) }
                        </>
                    }) }
                    { for l.waits.iter().filter(|wait| overlaps(wait.from_us, wait.to_us)).map(|wait| {
                        let y = middle(wait.lane);
                        let (from, to) = (place(wait.from_us, window), place(wait.to_us, window));
                        // Words that end where the lanes end say only half.
                        let narrow = to - from < 2_500;
                        let (at, class) = match (from + to) / 2 {
                            // Words in the middle of a short wait would begin before it, under the playhead.
                            0..7_000 if narrow => (from, "at-start"),
                            0..1_500 => (from, "at-start"),
                            middle @ 1_500..8_500 => (middle, "at-middle"),
                            _ => (to, "at-end"),
                        };
                        html! {
                            <>
                                <line
                                    class="wait" x1={x(wait.from_us)} x2={x(wait.to_us)} y1={y.to_string()}
                                    y2={y.to_string()}
                                />
                                <text
                                    class={classes!("wait-words", class)} x={percent(at)} y={(y - 6).to_string()}
                                >{ w.waiting(&wait.what) }</text>
                            </>
                        }
                    }) }
                    { for props.messages.iter().filter(|way| !way.chosen).map(|way| {
                        other_way(&ui, way, window, middle(way.from), middle(way.to))
                    }) }
                    { for l.marks.iter().filter(|m| inside(m.at_us)).map(|m| {
                        let lit = props.lit.contains(&m.trace);
                        let name = match m.count {
                            0 | 1 => format!("{} · {}", moment(m.at_us), w.fact(&m.fact)),
                            count => format!("{} · {} (× {count})", moment(m.at_us), w.fact(&m.fact)),
                        };
                        let click = ui.on_do(Command::SeekToTrace(m.trace));
                        html! {
                            <svg x={x(m.at_us)} y={middle(m.lane).to_string()} overflow="visible" width="1" height="1">
                                <g class={classes!("lane-mark", lit.then_some("lit"))} data-mark="1" onclick={click}>
                                    <title>{ name }</title>
                                    <circle class="grip" r="12" />
                                    if lit { <circle class="halo" r="11" /> }
                                    { marks::lane_mark(m.kind) }
                                </g>
                            </svg>
                        }
                    }) }
                    // Over all marks, so that no neighbour stands on a number.
                    { for numbered(&l.marks, window).filter(|m| inside(m.at_us)).map(|m| html! {
                        <svg x={x(m.at_us)} y={middle(m.lane).to_string()} overflow="visible" width="1" height="1">
                            <text class="mark-count" x="0" y="-8" aria-hidden="true">{ m.count }</text>
                        </svg>
                    }) }
                </svg>
                { for props.messages.iter().filter(|way| way.chosen).map(|way| {
                    chosen_way(way, window, l.now_us, middle(way.from), middle(way.to))
                }) }
                <Playhead {window} height={height} />
            </div>
            <div class="zoom">
                <button
                    type="button" class="btn small" aria-label={w.label(Label::ZoomIn)} title={w.label(Label::ZoomIn)}
                    onclick={move |_| closer(around, true)}
                >{ "+" }</button>
                <button
                    type="button" class="btn small" aria-label={w.label(Label::ZoomOut)} title={w.label(Label::ZoomOut)}
                    onclick={move |_| farther(around, false)}
                >{ "−" }</button>
                <button
                    type="button" class="btn small" aria-label={w.label(Label::ZoomAll)} title={w.label(Label::ZoomAll)}
                    onclick={ui.on(Ask::Zoom(None))}
                >{ "↔" }</button>
            </div>
        </section>
    }
}

fn bar_class(who: &LaneOf, s: LaneState) -> &'static str {
    match (s, who) {
        (LaneState::Good, LaneOf::Quorum) => "b-quorum",
        (LaneState::Good, LaneOf::Broker(_)) => "b-broker",
        (LaneState::Good, LaneOf::Producer(_)) => "b-producer",
        (LaneState::Good, LaneOf::Group(_)) => "b-group",
        (LaneState::Between, _) => "b-between",
        (LaneState::Stuck, _) => "b-stuck",
        (LaneState::Down, _) => "b-down",
    }
}

/// One path for all slices, stretched to the width whatever that is.
fn density(slices: &[u16], middle: usize) -> Html {
    let most = slices.iter().copied().max().unwrap_or(0);
    if most == 0 {
        return Html::default();
    }
    let d = slices
        .iter()
        .enumerate()
        .filter(|(_, n)| **n > 0)
        .map(|(i, n)| format!("M{i} 20V{}h1V20z", 20 - (u32::from(*n) * 18 / u32::from(most)).max(2)))
        .collect::<String>();
    html! {
        <svg
            x="0" y={(middle - 11).to_string()} width="100%" height="22" viewBox={format!("0 0 {} 22", slices.len())}
            preserveAspectRatio="none"
        >
            <path class="density" {d} />
        </svg>
    }
}

#[derive(PartialEq, Properties)]
struct HeadProps {
    window: Window,
    end_us: Micros,
}

fn seen(at: Micros, w: Window) -> bool {
    at >= w.from_us && at <= w.to_us
}

/// The slider and the time at the playhead, on every beat; both stay with the ruler when the lanes scroll.
#[component]
fn RulerHead(props: &HeadProps) -> Html {
    use_pulse();
    let ui = use_ui();
    let w = ui.words();
    let at = ui.desk.read().playback().at_us;
    let here = place(at, props.window);
    // Where a message takes some width, its moment has all its figures.
    let fine = props.window.to_us.saturating_sub(props.window.from_us) < 100_000;
    let (words, half) = if fine { (exact(at), 46) } else { (moment(at), 38) };
    // The label stays inside at both ends.
    let anchor = match here {
        0..400 => "head-start",
        400..9_600 => "head-middle",
        _ => "head-end",
    };
    html! {
        <>
            if seen(at, props.window) {
                <svg class="playhead" width="100%" height={TOP.to_string()} aria-hidden="true">
                    <svg x={percent(here)} y="0" overflow="visible" width="1" height="1">
                        <g class={anchor}>
                            <rect
                                x={format!("-{half}")} y="3" width={(2 * half).to_string()} height="20" rx="4"
                            />
                            <text x="0" y="18">{ words }</text>
                        </g>
                    </svg>
                </svg>
            }
            <div
                class="slider" role="slider" tabindex="0" aria-label={w.label(Label::Playhead)}
                aria-orientation="horizontal" aria-valuemin="0" aria-valuemax={(props.end_us / 1000).to_string()}
                aria-valuenow={(at / 1000).min(props.end_us / 1000).to_string()}
                aria-valuetext={w.playhead(at, props.end_us)}
            />
        </>
    }
}

#[derive(PartialEq, Properties)]
struct PlayheadProps {
    window: Window,
    height: usize,
}

/// The line of the playhead through all lanes, on every beat.
#[component]
fn Playhead(props: &PlayheadProps) -> Html {
    use_pulse();
    let ui = use_ui();
    let at = ui.desk.read().playback().at_us;
    let here = percent(place(at, props.window));
    html! {
        if seen(at, props.window) {
            <svg class="playhead" width="100%" height={props.height.to_string()} aria-hidden="true">
                <line x1={here.clone()} x2={here} y1="20" y2={props.height.to_string()} />
            </svg>
        }
    }
}

/// The strip has room for little: what was broken, who was elected, what was lost.
fn worth_a_strip(kind: MarkKind) -> bool {
    matches!(kind, MarkKind::Fault | MarkKind::Election | MarkKind::Loss)
}

/// The scrubber of a phone: one strip for the whole run.
#[component]
pub fn Strip(props: &LanesProps) -> Html {
    use_pulse();
    let ui = use_ui();
    let w = ui.words();
    let at = ui.desk.read().playback().at_us;
    let window = Window { from_us: 0, to_us: props.end_us };
    let dragging = use_mut_ref(|| false);
    let scrub = {
        let send = ui.ask.clone();
        move |e: &PointerEvent, released: bool| {
            if let Some(f) = web::pointer_fraction(e) {
                let at_us = moment_at(f, window);
                send.emit(Ask::Do(if released { Command::SeekTo { at_us } } else { Command::Scrub { at_us } }));
            }
        }
    };
    let (a, b, c) = (scrub.clone(), scrub.clone(), scrub);
    let (da, db, dc) = (dragging.clone(), dragging.clone(), dragging);
    let x = |us: Micros| percent(place(us, window));
    html! {
        <div
            class="strip-scrub" data-track="1" role="slider" tabindex="0" aria-label={w.label(Label::Playhead)}
            aria-valuemin="0"
            aria-valuemax={(props.end_us / 1000).to_string()}
            aria-valuenow={(at / 1000).min(props.end_us / 1000).to_string()}
            aria-valuetext={w.playhead(at, props.end_us)}
            onpointerdown={move |e: PointerEvent| { *da.borrow_mut() = true; web::pointer_capture(&e); a(&e, false); }}
            onpointermove={move |e: PointerEvent| if *db.borrow() { b(&e, false) }}
            onpointerup={move |e: PointerEvent| if dc.replace(false) { c(&e, true) }}
        >
            <svg width="100%" height="44" aria-hidden="true">
                <rect class="strip-rest" x="0" y="18" width="100%" height="8" rx="4" />
                <rect class="strip-done" x="0" y="18" width={x(at)} height="8" rx="4" />
                { for props.lanes.marks.iter().filter(|m| worth_a_strip(m.kind)).map(|m| html! {
                    <svg
                        x={x(m.at_us)} y={if m.kind == MarkKind::Fault { "22" } else { "9" }} overflow="visible"
                        width="1" height="1"
                    >{ marks::lane_mark(m.kind) }</svg>
                }) }
                <svg x={x(at)} y="6" overflow="visible" width="1" height="1">
                    <rect class="strip-head" x="-4" y="0" width="8" height="32" rx="4" />
                </svg>
            </svg>
        </div>
    }
}

/// The marks whose number is written: where two would touch, the first is; the other is said in its mark's name.
fn numbered(marks: &[LaneMark], window: Window) -> impl Iterator<Item = &LaneMark> {
    let room = window.to_us.saturating_sub(window.from_us) / NUMBERS_ABREAST;
    let mut taken: Vec<(usize, Micros)> = Vec::new();
    marks.iter().filter(|m| m.count > 1).filter(move |m| {
        let is_free = !taken.iter().any(|(lane, at)| *lane == m.lane && m.at_us.abs_diff(*at) < room);
        if is_free {
            taken.push((m.lane, m.at_us));
        }
        is_free
    })
}

/// How many numbers find room beside each other on a lane.
const NUMBERS_ABREAST: u64 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_has_a_handful_of_round_moments() {
        let whole = Window { from_us: 0, to_us: 24_000_000 };
        assert_eq!(
            ticks(whole),
            [0, 3_000_000, 6_000_000, 9_000_000, 12_000_000, 15_000_000, 18_000_000, 21_000_000, 24_000_000]
        );
        let close = Window { from_us: 1_000_100, to_us: 1_000_900 };
        assert!(ticks(close).len() >= 4 && ticks(close).len() <= 10, "{:?}", ticks(close));
    }

    #[test]
    fn two_numbers_never_stand_on_each_other() {
        let window = Window { from_us: 0, to_us: 50_000_000 };
        let mark = |lane, seconds, count| LaneMark {
            lane,
            at_us: seconds * 1_000_000,
            kind: MarkKind::Fault,
            trace: TraceId(seconds),
            fact: Fact::RunBegan,
            count,
        };
        let half = LaneMark { at_us: 1_500_000, ..mark(0, 1, 3) };
        let marks = [mark(0, 1, 13), half, mark(1, 1, 2), mark(0, 2, 7), mark(0, 3, 1)];
        let shown: Vec<(usize, u32)> = numbered(&marks, window).map(|m| (m.lane, m.count)).collect();
        assert_eq!(shown, [(0, 13), (1, 2), (0, 7)]);
    }

    #[test]
    fn zooming_stays_within_the_run() {
        assert_eq!(window_around(500, 0.5, 2_000, 1_000), None);
        let w = window_around(9_900, 0.5, 1_000, 10_000).expect("closer than the whole run");
        assert_eq!((w.from_us, w.to_us), (9_000, 10_000));
    }

    #[test]
    fn places_are_hundredths_of_a_percent() {
        let w = Window { from_us: 0, to_us: 24 };
        assert_eq!(percent(place(12, w)), "50.00%");
        assert_eq!(percent(place(30, w)), "100.00%");
    }
}
