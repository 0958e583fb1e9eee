//! The chosen message in one line: who says what to whom, what it carries, what comes of it, and the way to its
//! neighbours. It asks the desk anew on every beat and deliberately knows no field by name.
use super::context::{Ask, Ui, use_pulse, use_ui};
use super::transport::Going;
use super::words::{Label, duration};
use highwater_studio::view::model::*;
use yew::prelude::*;

/// To the microsecond: messages take less than a thousandth of a second.
pub fn exact(us: Micros) -> String {
    format!("{}.{:06} s", us / 1_000_000, us % 1_000_000)
}

/// The message that is chosen, while it is on its way.
pub fn chosen(ui: &Ui, selected: Option<&Subject>) -> Option<MessageDetail> {
    let about = selected.filter(|s| matches!(s, Subject::Message(_)))?;
    Some(*ui.desk.read().inspect(about)?.message?)
}

/// What is said of a message: its sentence, what it carries, what comes of it.
pub fn said(ui: &Ui, m: &MessageDetail) -> [String; 3] {
    let w = ui.words();
    [w.sends(m), w.carries(&m.carries), outcome(ui, m)]
}

/// What came of it where that is known; else whether and when it arrives.
fn outcome(ui: &Ui, m: &MessageDetail) -> String {
    let w = ui.words();
    match (m.caused.first(), &m.held) {
        (Some(MessageStep { what: MessageLink::Fact(fact), .. }), _) => format!("→ {}", w.fact(fact)),
        (Some(MessageStep { what: MessageLink::Message { name, .. }, .. }), _) => format!("→ {name}"),
        (None, Holding::Held { name }) => w.held_as(name),
        (None, Holding::Behind) => w.label(Label::HeldBehind).into(),
        (None, Holding::No) if m.doomed => w.label(Label::FindsNobody).into(),
        (None, Holding::No) => format!("{} {}", w.label(Label::StillToGo), duration(m.left_us)),
    }
}

#[derive(PartialEq, Properties)]
pub struct CaptionProps {
    #[prop_or_default]
    pub selected: Option<Subject>,
}

/// The line over the stage: the chosen message, or what is going on.
#[component]
pub fn Caption(props: &CaptionProps) -> Html {
    use_pulse();
    let ui = use_ui();
    let w = ui.words();
    let Some(m) = chosen(&ui, props.selected.as_ref()) else { return html! { <Going /> } };
    let [sends, carries, outcome] = said(&ui, &m);
    let now = m.arrives_us.saturating_sub(m.left_us);
    let walk = |forward: bool| {
        let name = w.label(if forward { Label::NextMessage } else { Label::PreviousMessage });
        html! {
            <button
                type="button" class="btn square" aria-label={name} title={name}
                onclick={ui.on(Ask::WalkMessages { forward })}
            >{ if forward { "›" } else { "‹" } }</button>
        }
    };
    html! {
        <div class="caption of-message" role="group" aria-label={w.subject(&Subject::Message(m.id))}>
            <p title={format!("{sends}. {carries}. {outcome}")}>
                <span class="mono">{ exact(now) }</span>{ " " }<b>{ sends }</b>{ " " }{ carries }{ " " }
                <span class="muted">{ outcome }</span>
            </p>
            <span class="muted">{ w.in_flight(m.place, m.of) }</span>
            { walk(false) }
            { walk(true) }
        </div>
    }
}
