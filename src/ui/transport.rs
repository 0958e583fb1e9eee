//! The transport: play and steps, pace, what a step means, what is awaited. Moves no time itself; it asks.
use super::caption::Caption;
use super::context::{Ask, Ui, use_pulse, use_ui};
use super::marks::{Icon, icon};
use super::words::{Label, moment};
use crate::web;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::*;
use yew::prelude::*;

#[derive(PartialEq, Properties)]
pub struct TransportProps {
    pub playing: bool,
    pub at_start: bool,
    pub can_skip: bool,
    pub pace: Pace,
    pub step: StepKind,
    /// On a phone the menus are left to the settings sheet and the skip button is a picture.
    #[prop_or_default]
    pub narrow: bool,
    /// What is going on stands beside the buttons.
    #[prop_or_default]
    pub going: bool,
}

fn button(ui: &Ui, i: Icon, l: Label, command: Command, class: &'static str, disabled: bool) -> Html {
    let name = ui.label(l);
    html! {
        <button
            type="button" class={classes!("btn", class)} aria-label={name} title={name} onclick={ui.on_do(command)}
            {disabled}
        >{ icon(i) }</button>
    }
}

#[component]
pub fn Transport(props: &TransportProps) -> Html {
    let ui = use_ui();
    let (play, label, command) = if props.playing {
        (Icon::Pause, Label::Pause, Command::Pause)
    } else {
        (Icon::Play, Label::Play, Command::Play)
    };
    html! {
        <section
            class={classes!("transport", props.narrow.then_some("narrow"))} aria-label={ui.label(Label::Transport)}
        >
            <div class="buttons">
                { button(&ui, Icon::Start, Label::ToStart, Command::ToStart, "", props.at_start) }
                { button(&ui, Icon::Back, Label::StepBack, Command::StepBack(props.step), "", props.at_start) }
                { button(&ui, play, label, command, "primary play", false) }
                { button(&ui, Icon::Forward, Label::StepForward, Command::StepForward(props.step), "", false) }
                if props.narrow {
                    { button(&ui, Icon::Skip, Label::SkipWait, Command::SkipWait, "", !props.can_skip) }
                    if props.going { <div class="beside"><Caption /><Countdown /></div> }
                    <Clock />
                }
            </div>
            if props.narrow {
                if !props.going && !ui.embed { <Countdown /> }
            } else {
                <button type="button" class="btn skip" onclick={ui.on_do(Command::SkipWait)} disabled={!props.can_skip}>
                    { icon(Icon::Skip) }{ " " }{ ui.label(Label::SkipWait) }
                </button>
                <PaceMenu pace={props.pace} />
                <StepMenu step={props.step} />
                <Countdown />
            }
        </section>
    }
}

#[derive(PartialEq, Properties)]
pub struct PaceProps {
    pub pace: Pace,
}

#[component]
pub fn PaceMenu(props: &PaceProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let send = ui.ask.clone();
    let change = Callback::from(move |e: Event| {
        let pace = match web::chosen_value(&e).as_deref() {
            Some("auto") => Some(Pace::Automatic),
            Some(n) => n.parse::<usize>().ok().and_then(|i| Speed::SCALE.get(i)).map(|s| Pace::Fixed(*s)),
            None => None,
        };
        if let Some(p) = pace {
            send.emit(Ask::Do(Command::SetPace(p)));
        }
    });
    html! {
        <label class="now"><span>{ w.label(Label::Pace) }</span>
            <select onchange={change}>
                <option value="auto" selected={props.pace == Pace::Automatic}>{ w.pace(Pace::Automatic) }</option>
                { for Speed::SCALE.iter().enumerate().map(|(i, s)| html! {
                    <option value={i.to_string()} selected={props.pace == Pace::Fixed(*s)}>
                        { w.pace(Pace::Fixed(*s)) }
                    </option>
                }) }
            </select>
        </label>
    }
}

const STEPS: [StepKind; 3] = [StepKind::Message, StepKind::Event, StepKind::Notable];

#[derive(PartialEq, Properties)]
pub struct StepProps {
    pub step: StepKind,
}

#[component]
pub fn StepMenu(props: &StepProps) -> Html {
    let ui = use_ui();
    let w = ui.words();
    let send = ui.ask.clone();
    let change = Callback::from(move |e: Event| {
        let step = web::chosen_value(&e).and_then(|v| v.parse::<usize>().ok()).and_then(|i| STEPS.get(i).copied());
        if let Some(s) = step {
            send.emit(Ask::Do(Command::SetStep(s)));
        }
    });
    html! {
        <label class="now"><span>{ w.label(Label::Step) }</span>
            <select onchange={change}>
                { for STEPS.iter().enumerate().map(|(i, s)| html! {
                    <option value={i.to_string()} selected={props.step == *s}>{ w.step(*s) }</option>
                }) }
            </select>
        </label>
    }
}

/// The time at the playhead, on every beat.
#[component]
pub fn Clock() -> Html {
    use_pulse();
    let ui = use_ui();
    let at = ui.desk.read().playback().at_us;
    html! { <span class="clock mono">{ moment(at) }</span> }
}

/// What is awaited, counted down on every beat.
#[component]
pub fn Countdown() -> Html {
    use_pulse();
    let ui = use_ui();
    let awaiting = ui.desk.read().playback().awaiting;
    html! { <p class="countdown">{ awaiting.map(|a| ui.words().countdown(&a.what, a.in_us)).unwrap_or_default() }</p> }
}
