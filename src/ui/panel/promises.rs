//! What was promised and what became of it: verdicts, every record as a square, counts, what a failure would do.
//! It deliberately judges nothing.
use crate::ui::context::{Ask, PhoneTab, Ui, use_ui};
use crate::ui::words::Label;
use crate::web;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// Squares in a line of the ledger, and from one to the next in tenths of a pixel.
const PER_LINE: u32 = 24;
const STEP: u32 = 116;

#[derive(PartialEq, Properties)]
pub struct PromisesProps {
    pub promises: Rc<Promises>,
}

/// How much a verdict hurts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    Bad,
    Uneasy,
    Good,
}

impl Grade {
    pub fn class(self) -> &'static str {
        match self {
            Grade::Bad => "bad",
            Grade::Uneasy => "uneasy",
            Grade::Good => "good",
        }
    }

    /// The same for those who see no colours.
    pub fn sign(self) -> &'static str {
        match self {
            Grade::Bad => "✕",
            Grade::Uneasy => "!",
            Grade::Good => "✓",
        }
    }
}

pub fn grade(v: &Verdict) -> Grade {
    match v {
        Verdict::EveryConsumerStopped
        | Verdict::GroupStopped { .. }
        | Verdict::NoActiveController
        | Verdict::PartitionsOffline { .. }
        | Verdict::AckedLost { .. }
        | Verdict::WritesRefused { .. } => Grade::Bad,
        Verdict::GroupWithoutCommits { .. }
        | Verdict::PartitionsUnread { .. }
        | Verdict::WritesStalled { .. }
        | Verdict::DeliveredTwice { .. }
        | Verdict::OutOfOrder { .. }
        | Verdict::AtRisk { .. } => Grade::Uneasy,
        Verdict::EveryPromiseKept => Grade::Good,
    }
}

#[component]
pub fn PromisesView(props: &PromisesProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let p = &props.promises;
    html! {
        <>
            <h2 class="hidden">{ w.label(Label::Promises) }</h2>
            { for p.verdicts.iter().enumerate().map(|(i, v)| card(&ui, i, v)) }
            <h3>{ w.label(Label::EveryRecord) }</h3>
            <Ledger promises={p.clone()} />
            { counts(&ui, &p.counts) }
            if !p.lost.is_empty() {
                <p class="danger">{ w.titled(w.label(Label::Lost), &w.lost_at(&p.lost)) }</p>
            }
            { survival(&ui, Label::IfOneFails, &p.if_one_fails) }
            { survival(&ui, Label::IfTwoFail, &p.if_two_fail) }
        </>
    }
}

fn card(ui: &Ui, i: usize, v: &VerdictCard) -> Html {
    let w = ui.words();
    let grade = grade(&v.verdict);
    html! {
        <section class={classes!("card", grade.class())}>
            <h3><span class="card-sign" aria-hidden="true">{ grade.sign() }</span>{ w.verdict(&v.verdict) }</h3>
            if let Some(c) = &v.cause { <p>{ w.cause(c) }</p> }
            if v.has_why || v.cure.is_some() {
                <div class="card-buttons">
                    if v.has_why {
                        <button
                            type="button" class="btn"
                            aria-label={format!("{} {}", w.label(Label::Why), w.verdict(&v.verdict))}
                            onclick={ui.on(Ask::Why(Subject::Verdict(i)))}
                        >{ w.label(Label::Why) }</button>
                    }
                    if let Some(c) = &v.cure {
                        <button type="button" class="btn" onclick={ui.on_do(Command::Try(c.clone()))}>
                            { w.cure(c) }
                        </button>
                    }
                </div>
            }
        </section>
    }
}

/// The first verdict alone, over the stage of a phone.
#[component]
pub fn FirstVerdict(props: &PromisesProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let Some(v) = props.promises.verdicts.first() else { return Html::default() };
    let more = props.promises.verdicts.len() - 1;
    let grade = grade(&v.verdict);
    html! {
        <section class={classes!("card", "first", grade.class())}>
            <div>
                <h2><span class="card-sign" aria-hidden="true">{ grade.sign() }</span>{ w.verdict(&v.verdict) }</h2>
                <p>
                    if let Some(c) = &v.cause { { w.cause(c) }{ " " } }
                    if more > 0 {
                        <button type="button" class="linky" onclick={ui.on(Ask::PhoneTab(PhoneTab::Panel))}>
                            { w.and_more(more) }
                        </button>
                    }
                </p>
            </div>
            if v.has_why {
                <button type="button" class="btn" onclick={ui.on(Ask::Why(Subject::Verdict(0)))}>
                    { w.label(Label::Why) }
                </button>
            }
        </section>
    }
}

fn counts(ui: &Ui, c: &LedgerCounts) -> Html {
    let w = ui.words();
    // What never happened is left out, except what everybody looks for.
    let rows = [
        (Label::Acknowledged, c.acked, true, ""),
        (Label::Safe, c.safe, true, ""),
        (Label::AckedNotSafe, c.acked_not_safe, true, ""),
        (Label::Lost, c.lost, true, if c.lost > 0 { "danger strong" } else { "" }),
        (Label::Refused, c.refused, c.refused > 0, "danger"),
        (Label::Pending, c.pending, c.pending > 0, ""),
        (Label::Delivered, c.delivered, true, ""),
        (Label::DeliveredTwice, c.delivered_twice, c.delivered_twice > 0, "danger"),
        (Label::OutOfOrder, c.out_of_order, c.out_of_order > 0, "danger"),
    ];
    html! {
        <table class="counts">
            <tbody>
                { for rows.into_iter().filter(|(_, _, shown, _)| *shown).map(|(l, n, _, class)| html! {
                    <tr {class}><th scope="row" {class}>{ w.label(l) }</th><td class="mono">{ n }</td></tr>
                }) }
            </tbody>
        </table>
    }
}

fn survival(ui: &Ui, title: Label, all: &[Survival]) -> Html {
    let w = ui.words();
    if all.is_empty() {
        return Html::default();
    }
    html! {
        <>
            <h3>{ w.label(title) }</h3>
            <table class="survival">
                <tbody>
                    { for all.iter().map(|s| {
                        let class = match s.answer {
                            Answer::Yes => "badge good",
                            Answer::No { .. } => "badge bad",
                            Answer::Depends { .. } => "badge uneasy",
                        };
                        html! {
                            <tr>
                                <th scope="row">{ w.promise(s.promise) }</th>
                                <td><span {class}>{ w.answer(&s.answer) }</span></td>
                            </tr>
                        }
                    }) }
                </tbody>
            </table>
        </>
    }
}

#[component]
fn Ledger(props: &PromisesProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let squares = &props.promises.ledger;
    let n = u32::try_from(squares.len()).unwrap_or(u32::MAX);
    let lines = n.div_ceil(PER_LINE);
    let click = {
        let (ask, promises) = (ui.ask.clone(), props.promises.clone());
        Callback::from(move |e: MouseEvent| {
            let Some((x, y)) = web::place_in_target(&e) else { return };
            let i = y * 10 / STEP * PER_LINE + (x * 10 / STEP).min(PER_LINE - 1);
            if let Some(s) = promises.ledger.get(i as usize) {
                ask.emit(Ask::Select(Subject::LedgerRecord(s.number)));
            }
        })
    };
    let c = &props.promises.counts;
    let name = format!(
        "{}: {} {}, {} {}, {} {}, {} {}",
        w.label(Label::EveryRecord),
        c.acked,
        w.label(Label::Acknowledged),
        c.safe,
        w.label(Label::Safe),
        c.acked_not_safe,
        w.label(Label::AckedNotSafe),
        c.lost,
        w.label(Label::Lost)
    );
    let earlier = props.promises.earlier.sent;
    html! {
        <>
            if earlier > 0 { <p class="muted">{ w.earlier_records(earlier) }</p> }
            <svg
                class="ledger" data-track="1" role="img" aria-label={name}
                width={(PER_LINE * STEP / 10 + 2).to_string()} height={(lines * STEP / 10 + 2).to_string()}
                onclick={click}
            >
                { for squares.iter().enumerate().map(|(i, s)| square(u32::try_from(i).unwrap_or(0), s)) }
            </svg>
        </>
    }
}

fn square(i: u32, s: &LedgerSquare) -> Html {
    let (x, y) = (i % PER_LINE * STEP, i / PER_LINE * STEP);
    let tenths = |v: u32| format!("{}.{}", v / 10, v % 10);
    let class = match s.fate {
        RecordFate::Pending => "l-pending",
        RecordFate::Written => "l-written",
        RecordFate::Safe => "l-safe",
        RecordFate::AckedNotSafe => "l-risk",
        RecordFate::AckedLost => "l-lost",
        RecordFate::Refused => "l-refused",
        RecordFate::LostUnacked => "l-gone",
    };
    let at = format!("translate({},{})", tenths(x), tenths(y));
    let inner = match (s.fate, s.delivered) {
        (RecordFate::AckedLost, _) => html! { <path class="c-cross" d="M3 3 l5 5 m0 -5 l-5 5" /> },
        (RecordFate::Refused, _) => html! { <path class="l-bar" d="M2.5 5.5 h6" /> },
        (RecordFate::LostUnacked, _) => html! { <path class="l-bar" d="M3 8 l5 -5" /> },
        (RecordFate::AckedNotSafe, Delivery::No) => html! { <path class="l-tick" d="M3 5.6 l1.7 2 l3 -4" /> },
        (_, Delivery::Once) => html! { <circle class="l-seen" cx="5.4" cy="5.4" r="1.6" /> },
        (_, Delivery::Twice) => {
            html! {
                <>
                    <circle class="l-seen" cx="3.6" cy="5.4" r="1.4" />
                    <circle class="l-seen" cx="7.3" cy="5.4" r="1.4" />
                </>
            }
        }
        (_, Delivery::OutOfOrder) => html! { <path class="l-order" d="M3 7.5 L8 3.3 M8 3.3 h-3 M8 3.3 v3" /> },
        (RecordFate::Pending | RecordFate::Written | RecordFate::Safe, Delivery::No) => Html::default(),
    };
    html! { <g transform={at}><rect {class} x="0.6" y="0.6" width="9.6" height="9.6" rx="2" />{ inner }</g> }
}
