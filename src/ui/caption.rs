//! The line over the stage: the chosen message (who says what to whom, what it carries, what comes of it, and the way
//! to its neighbours), else what is going on. It asks the desk anew on every beat and deliberately knows no field by
//! name.
use super::context::{Ask, Ui, use_pulse, use_ui};
use super::lane_way::around;
use super::words::{Label, duration, exact, moment};
use highwater_studio::view::model::*;
use yew::prelude::*;

/// The message that is chosen, while it is on its way.
pub fn chosen(ui: &Ui, selected: Option<&Subject>) -> Option<MessageDetail> {
    let about = selected.filter(|s| matches!(s, Subject::Message(_)))?;
    Some(*ui.desk.read().inspect(about)?.message?)
}

/// What is said of a message: its sentence, what it carries, what comes of it.
pub fn said(ui: &Ui, m: &MessageDetail) -> [String; 3] {
    let w = ui.words();
    let carries: Vec<String> = m.carries.iter().map(|c| w.carries(c)).collect();
    let carries = if carries.is_empty() { w.label(Label::NothingNew).into() } else { carries.join(" · ") };
    [w.sends(m), carries, outcome(ui, m)]
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
    /// There are no lanes to show it in.
    #[prop_or_default]
    pub short: bool,
}

/// The line over the stage, on every beat: the chosen message, or what is going on. That is a change, and behind it who
/// is telling whom what where there is room for that; the sentence of the change is never cut. Those who listen have
/// the live region instead.
#[component]
pub fn Caption(props: &CaptionProps) -> Html {
    use_pulse();
    let ui = use_ui();
    let w = ui.words();
    let Some(m) = chosen(&ui, props.selected.as_ref()) else { return going(&ui) };
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
            <p title={ui.words().sentences(&[sends.clone(), carries.clone(), outcome.clone()])}>
                <span class="mono">{ exact(now) }</span>{ " " }<b>{ sends }</b>{ " " }{ carries }{ " " }
                <span class="muted">{ outcome }</span>
            </p>
            <span class="muted">{ w.in_flight(m.place, m.of) }</span>
            if !props.short {
                <button
                    type="button" class="btn square" aria-label={w.label(Label::ShowInLanes)}
                    title={w.label(Label::ShowInLanes)}
                    onclick={ui.on(Ask::Zoom(Some(around(m.sent_us, m.arrives_us))))}
                >{ "↔" }</button>
            }
            { walk(false) }
            { walk(true) }
        </div>
    }
}

fn going(ui: &Ui) -> Html {
    let w = ui.words();
    let Playback { caption, ended, reached, .. } = ui.desk.read().playback();
    let (fact, doing) = caption.map_or((None, None), |c| (c.fact, c.doing));
    html! {
        <p class={classes!("caption", ended.is_some().then_some("over"))}>
            if let Some((at, fact)) = fact {
                <span class="told"><span class="mono">{ moment(at) }</span>{ " " }<b>{ w.fact(&fact) }</b></span>
            }
            if let Some(e) = ended { <span>{ w.ended(e).into_owned() }</span> }
            else if let Some(pace) = reached { <span>{ w.reached(pace) }</span> }
            else if let Some(d) = doing { <span class="muted">{ w.doing(&d) }</span> }
        </p>
    }
}
