//! A way through the run that takes longer than a frame, as the page shows it: how far it has come, and how to end it
//! there. It moves nothing by itself.
use super::super::context::Ui;
use super::super::words::Label;
use super::*;
use std::cell::Cell;

/// How long the page may be busy with the run before it draws and hears again: with a command, between two frames, and
/// before there is anything to see.
const COMMAND_MS: f64 = 60.0;
const FRAME_MS: f64 = 12.0;
pub(crate) const FIRST_MS: f64 = 150.0;
/// A way that is shorter than this is over before anybody could read about it.
const SHOWN_AFTER_MS: f64 = 250.0;

/// What ends the work of one turn.
#[derive(Clone)]
pub(crate) struct Turn(Rc<Cell<f64>>);

impl Turn {
    /// Makes the desk stop when the turn is over.
    pub(crate) fn of(desk: &mut dyn Desk) -> Turn {
        let until = Rc::new(Cell::new(0.0));
        let over = until.clone();
        desk.set_enough(Rc::new(move || web::now_ms() >= over.get()));
        Turn(until)
    }

    pub(crate) fn begin(&self, ms: f64) {
        self.0.set(web::now_ms() + ms);
    }

    pub(super) fn of_command(&self) {
        self.begin(COMMAND_MS);
    }

    pub(super) fn of_frame(&self) {
        self.begin(FRAME_MS);
    }
}

/// Since when the playhead is on its way, and whether that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Underway {
    since: f64,
    pub(super) shown: bool,
}

impl App {
    /// Takes in where the playhead is. Returns whether it is on its way: then all else that is shown stays as it was
    /// until the end.
    pub(super) fn stays_underway(&mut self, playback: Playback) -> bool {
        let Some(travel) = playback.travel else {
            self.underway = None;
            return false;
        };
        let now = web::now_ms();
        let underway = self.underway.get_or_insert(Underway { since: now, shown: false });
        if !underway.shown && now - underway.since >= SHOWN_AFTER_MS {
            underway.shown = true;
            self.said = self.lang.words().on_the_way(travel.to_us);
        }
        self.views.playback = playback;
        true
    }

    /// For those who listen, and for who waits for the end of it.
    pub(super) fn busy(&self) -> Option<&'static str> {
        self.views.playback.travel.map(|_| "true")
    }

    /// How far it has come, over everything else.
    pub(super) fn travel_bar(&self, ui: &Ui) -> Html {
        let playback = &self.views.playback;
        let Some(travel) = playback.travel.filter(|_| self.underway.is_some_and(|underway| underway.shown)) else {
            return Html::default();
        };
        let w = ui.words();
        let whole = travel.to_us.saturating_sub(travel.from_us).max(1);
        let gone = playback.at_us.saturating_sub(travel.from_us).min(whole);
        let percent = gone * 100 / whole;
        let words = w.on_the_way(travel.to_us);
        html! {
            <section class="travel" aria-label={words.clone()}>
                <p>{ words }</p>
                <div>
                    <progress max="100" value={percent.to_string()} aria-label={ui.label(Label::Playhead)} />
                    <span class="mono">{ moment(playback.at_us) }</span>
                    <button
                        type="button" class="btn" aria-keyshortcuts="Escape" onclick={ui.on_do(Command::Pause)}
                    >{ ui.label(Label::StopHere) }</button>
                </div>
            </section>
        }
    }
}
