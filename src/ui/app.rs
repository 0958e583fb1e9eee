//! The root: holds what the user chose, hands wishes to the desk, and gives each part its view data.
//! It deliberately knows no rule of Kafka and draws little itself.
mod asked;
mod drawing;
mod layout;
pub(crate) mod travel;

use self::drawing::Drawing;
use self::travel::{Turn, Underway};
use super::caption::{Caption, chosen, said};
use super::context::{Ask, DeskRef, Dialog, PhoneTab, Pulse, Tab, Theme, Ui};
use super::dialogs::{ErrorCard, KeysDialog};
use super::geometry::Room;
use super::header::{Header, ScenarioPicker};
use super::keys::{Key, wish};
use super::lane_way::{LaneWay, is_wide};
use super::lanes::{LanesView, Strip};
use super::options::{Autoplay, Controls, Part, ViewOptions};
use super::panel::{Content, FirstVerdict, Panel, PanelBody, WhyCard};
use super::phone::PhoneStage;
use super::settings::{SettingsList, SettingsPanel};
use super::share::{ShareDialog, link};
use super::stage::Stage;
use super::storyboard::{Guess, StoryCard, judged, prose};
use super::transport::{PaceMenu, StepMenu, Transport};
use super::words::{Label, Lang, moment, shown};
use crate::web;
use highwater_studio::desk::Desk;
use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::view::model::*;
use std::rc::Rc;
use yew::prelude::*;

/// Lines of the log that are shown.
const LOG_SHOWN: usize = 200;
/// Density slices of a lane.
const SLICES: usize = 240;
/// The live region speaks no more often than this, and the lanes are drawn no more often than that.
const SPEAK_EVERY_MS: f64 = 1_000.0;
const LANES_EVERY_MS: f64 = 250.0;

/// What the page starts with.
#[derive(Clone, PartialEq, Properties)]
pub struct AppProps {
    pub desk: DeskRef,
    pub lang: Lang,
    pub theme: Theme,
    #[prop_or_default]
    pub embed: bool,
    /// The link in the address could not be opened; the desk shows the first scenario instead.
    #[prop_or_default]
    pub error: Option<OpenError>,
    #[prop_or_default]
    pub narrow: bool,
    #[prop_or_default]
    pub reduced_motion: bool,
    #[prop_or(true)]
    pub single_keys: bool,
    /// The settings begin folded, where they would lie over the stage.
    #[prop_or_default]
    pub folded: bool,
    /// How the address asks for it to be shown.
    #[prop_or_default]
    pub options: ViewOptions,
    /// Width and height of the window.
    #[prop_or((1_440, 900))]
    pub window: (u32, u32),
    /// Address of the playground, ending in `/`.
    #[prop_or_default]
    pub base: AttrValue,
}

pub enum Msg {
    Ask(Ask),
    Frame(f64),
    Narrow(bool),
    ReducedMotion(bool),
    Key(KeyboardEvent),
    Address,
    Hidden,
    Resized,
    /// The embed that should play once it is seen, is.
    Seen,
}

/// View data as it was last fetched.
struct Views {
    scene: Rc<Scene>,
    playback: Playback,
    promises: Rc<Promises>,
    settings: Rc<Settings>,
    lanes: Rc<Lanes>,
    content: Content,
    board: Storyboard,
}

pub struct App {
    desk: DeskRef,
    lang: Lang,
    theme: Theme,
    error: Option<OpenError>,
    refused: Option<String>,
    /// What was said of the options of the address has been read.
    options_read: bool,
    narrow: bool,
    reduced_motion: bool,
    single_keys: bool,
    folded: bool,
    panel_folded: bool,
    window: (u32, u32),
    tab: Tab,
    phone_tab: PhoneTab,
    phone_column: usize,
    selected: Option<Subject>,
    why: Option<Rc<WhyChain>>,
    /// The chain of causes is what the panel shows.
    why_open: bool,
    lit: Rc<Vec<TraceId>>,
    dialog: Option<Dialog>,
    /// The answer that was given to the author's question.
    guess: Option<Guess>,
    filter: LogFilter,
    zoom: Option<Window>,
    said: String,
    /// The verdict that was said last, so that only a new one is said.
    judged: Option<Verdict>,
    heard: Option<TraceId>,
    spoke_at: f64,
    lanes_at: f64,
    drawing: Drawing,
    ask: Callback<Ask>,
    pulse: Pulse,
    views: Views,
    frames: Option<web::Frames>,
    turn: Turn,
    underway: Option<Underway>,
    /// A slider is being dragged: the address is written when it is let go.
    dragging: bool,
    /// Where "open in Highwater" leads: the moment at which time last stood still.
    out_link: String,
    /// What this page itself last wrote behind `#`.
    written: String,
    seen: Option<web::Seen>,
    _listeners: Vec<web::Listener>,
}

impl Component for App {
    type Message = Msg;
    type Properties = AppProps;

    fn create(ctx: &Context<Self>) -> Self {
        let p = ctx.props();
        // Each append and each fetch would bury what matters.
        let filter = LogFilter { notable_only: true, ..LogFilter::default() };
        if let Some(pace) = p.options.speed {
            p.desk.write().handle(Command::SetPace(pace));
        }
        let tab = match (p.embed, p.options.shows(Part::Log), p.options.shows(Part::Text)) {
            (true, true, _) => Tab::Log,
            (true, false, true) => Tab::Text,
            (true, false, false) | (false, _, _) => Tab::Promises,
        };
        let views = Views::fetch(&p.desk, None, &filter, tab, None);
        let judged = views.promises.verdicts.first().map(|v| v.verdict.clone());
        let heard = p.desk.read().news(None).last().map(|l| l.trace);
        let turn = Turn::of(&mut **p.desk.write());
        App {
            desk: p.desk.clone(),
            lang: p.lang,
            theme: p.theme,
            error: p.error.clone(),
            refused: None,
            options_read: false,
            narrow: p.narrow,
            reduced_motion: p.reduced_motion,
            single_keys: p.single_keys,
            folded: p.folded,
            panel_folded: false,
            window: p.window,
            tab,
            phone_tab: PhoneTab::Stage,
            phone_column: 0,
            selected: p.options.focus.clone(),
            why: None,
            why_open: false,
            lit: Rc::default(),
            dialog: None,
            guess: None,
            filter,
            zoom: None,
            said: String::new(),
            judged,
            heard,
            spoke_at: 0.0,
            lanes_at: 0.0,
            drawing: Drawing::default(),
            ask: ctx.link().callback(Msg::Ask),
            pulse: Pulse::default(),
            views,
            frames: None,
            turn,
            underway: None,
            dragging: false,
            out_link: p.desk.read().share().fragment,
            written: String::new(),
            seen: None,
            _listeners: Vec::new(),
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if !first {
            return;
        }
        let link = ctx.link();
        let narrow = link.callback(Msg::Narrow);
        let calm = link.callback(Msg::ReducedMotion);
        let key = link.callback(Msg::Key);
        let address = link.callback(|()| Msg::Address);
        let hidden = link.callback(|()| Msg::Hidden);
        let resized = link.callback(|()| Msg::Resized);
        // What was drawn once can be come back to.
        self.remember_place();
        let playback = self.desk.read().playback();
        if self.stays_underway(playback) {
            self.run_frames(ctx);
        }
        self._listeners = [
            web::on_media_change(narrow_query(ctx.props().embed), move |m| narrow.emit(m)),
            web::on_media_change(CALM, move |m| calm.emit(m)),
            web::on_key_down(move |e| key.emit(e)),
            web::on_hash_change(move || address.emit(())),
            web::on_visibility_change(move || hidden.emit(())),
            web::on_resize(move || resized.emit(())),
        ]
        .into_iter()
        .flatten()
        .collect();
        // Never by itself for those who asked for less motion.
        match (ctx.props().options.play, self.reduced_motion) {
            (Autoplay::No, _) | (_, true) => {}
            (Autoplay::Now, false) => link.send_message(Msg::Ask(Ask::Do(Command::Play))),
            (Autoplay::Visible, false) => {
                let seen = link.callback(|()| Msg::Seen);
                self.seen = web::when_seen(move || seen.emit(()));
            }
        }
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Frame(ms) => self.frame(ms),
            Msg::Narrow(n) => std::mem::replace(&mut self.narrow, n) != n,
            Msg::ReducedMotion(r) => {
                self.reduced_motion = r;
                false
            }
            Msg::Key(e) => {
                // The place that a menu leaves the focus at is no control: space plays from there.
                let cell =
                    web::closest_matches(e.target(), "[data-cell]") && !web::closest_matches(e.target(), "[data-menu]");
                let on_control = cell || web::closest_matches(e.target(), "button, a, summary, [role=button]");
                let typing = web::closest_matches(e.target(), "input, select, textarea, dialog");
                let undo = (e.ctrl_key() || e.meta_key()) && !e.shift_key() && !e.alt_key() && e.key() == "z";
                if undo && !typing && (!ctx.props().embed || ctx.props().options.controls == Controls::Full) {
                    e.prevent_default();
                    return self.ask(ctx, Ask::Do(Command::Undo));
                }
                if typing || e.ctrl_key() || e.alt_key() || e.meta_key() {
                    return false;
                }
                let pressed = e.key();
                let key = Key { key: &pressed, shift: e.shift_key(), on_control, single: self.single_keys };
                let Some(ask) = wish(key, &self.views.playback) else { return false };
                e.prevent_default();
                self.ask(ctx, ask)
            }
            Msg::Address => {
                let fragment = web::fragment();
                // Our own writing does not come back as a wish; but whoever comes back to it has left a bad link.
                if fragment == self.written || fragment.is_empty() {
                    return self.error.take().is_some();
                }
                self.ask(ctx, Ask::Do(Command::OpenLink(fragment)))
            }
            Msg::Hidden => {
                if web::document_hidden() && self.views.playback.playing {
                    self.ask(ctx, Ask::Do(Command::Pause))
                } else {
                    false
                }
            }
            Msg::Resized => {
                let now = web::window_size();
                std::mem::replace(&mut self.window, now) != now
            }
            Msg::Seen => {
                self.seen = None;
                if self.views.playback.playing { false } else { self.ask(ctx, Ask::Do(Command::Play)) }
            }
            Msg::Ask(ask) => self.ask(ctx, ask),
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let ui = self.ui(ctx);
        let page = if ctx.props().embed {
            self.embed(ctx, &ui)
        } else if self.narrow {
            self.phone(ctx, &ui)
        } else {
            self.wide(ctx, &ui)
        };
        html! {
            <ContextProvider<Ui> context={ui.clone()}>
                { page }
                { self.travel_bar(&ui) }
                { self.dialogs(ctx) }
                if let Some(e) = &self.error { <ErrorCard error={e.clone()} /> }
                <div class="hidden" role="status" aria-live="polite" data-live="1">{ &self.said }</div>
            </ContextProvider<Ui>>
        }
    }
}

pub const NARROW: &str = "(max-width: 700px)";
/// An embed has nothing beside its stage, which six columns fit from here on.
pub const NARROW_EMBED: &str = "(max-width: 619px)";
pub const CRAMPED: &str = "(max-width: 1180px)";
pub const CALM: &str = "(prefers-reduced-motion: reduce)";

/// Where one partition at a time is shown.
pub fn narrow_query(embed: bool) -> &'static str {
    if embed { NARROW_EMBED } else { NARROW }
}

impl Views {
    fn fetch(desk: &DeskRef, zoom: Option<Window>, filter: &LogFilter, tab: Tab, selected: Option<&Subject>) -> Views {
        let d = desk.read();
        let playback = d.playback();
        Views {
            scene: d.scene(),
            promises: d.promises(),
            settings: d.settings(),
            lanes: d.lanes(window(zoom, &playback), SLICES),
            content: content(desk, tab, filter, selected),
            board: d.storyboard(),
            playback,
        }
    }
}

fn window(zoom: Option<Window>, p: &Playback) -> Window {
    zoom.unwrap_or(Window { from_us: 0, to_us: p.end_us.max(1) })
}

fn content(desk: &DeskRef, tab: Tab, filter: &LogFilter, selected: Option<&Subject>) -> Content {
    let d = desk.read();
    match tab {
        Tab::Promises => Content::Promises(d.promises()),
        Tab::Inspect => {
            Content::Inspect { about: selected.cloned(), found: selected.and_then(|s| d.inspect(s)).map(Rc::new) }
        }
        Tab::Log => Content::Log { filter: filter.clone(), page: Rc::new(d.log_tail(filter, LOG_SHOWN)) },
        Tab::Text => Content::Text(Rc::new(d.text())),
    }
}

impl App {
    /// What every component may reach.
    fn ui(&self, ctx: &Context<Self>) -> Ui {
        Ui {
            lang: self.lang,
            embed: ctx.props().embed,
            acts: !ctx.props().embed || ctx.props().options.controls == Controls::Full,
            desk: self.desk.clone(),
            ask: self.ask.clone(),
            pulse: self.pulse.clone(),
        }
    }

    /// One frame while playing. Returns whether more than the moving parts has to be drawn.
    fn frame(&mut self, ms: f64) -> bool {
        // Simulated time moves by whole microseconds of real time; a frame is some sixteen thousand of them.
        self.turn.of_frame();
        let changed = self.desk.write().tick((ms * 1_000.0) as Micros, self.reduced_motion);
        let was_underway = self.views.playback.travel.is_some();
        let playback = self.desk.read().playback();
        let (playing, at_us) = (playback.playing, playback.at_us);
        if self.stays_underway(playback) {
            return changed;
        }
        let mut draw = false;
        let ended = playing != self.views.playback.playing;
        if self.drawing.is_due(web::now_ms(), ms, changed, ended) {
            self.refresh(!playing || was_underway);
            draw = true;
        }
        if playing {
            web::remember_moment(moment(at_us));
        } else {
            self.frames = None;
            if !self.dragging {
                self.write_address();
            }
        }
        self.pulse.beat();
        draw
    }

    /// Fetches what may have changed. The lanes, which nobody reads sixty times a second, only now and then while
    /// playing; the same goes for long texts.
    fn refresh(&mut self, all: bool) {
        let now = web::now_ms();
        let d = self.desk.read();
        self.views.playback = d.playback();
        self.views.scene = d.scene();
        self.views.promises = d.promises();
        self.views.settings = d.settings();
        self.views.board = d.storyboard();
        let slow = all || now - self.lanes_at >= LANES_EVERY_MS;
        if slow {
            self.lanes_at = now;
            self.views.lanes = d.lanes(window(self.zoom, &self.views.playback), SLICES);
        }
        drop(d);
        let tab = self.phone_content();
        if slow || matches!(tab, Tab::Promises | Tab::Inspect) {
            self.views.content = content(&self.desk, tab, &self.filter, self.selected.as_ref());
        }
        if all || now - self.spoke_at >= SPEAK_EVERY_MS {
            self.spoke_at = now;
            self.speak();
        }
    }

    fn phone_content(&self) -> Tab {
        match (self.narrow, self.phone_tab) {
            (true, PhoneTab::Log) => Tab::Log,
            (true, PhoneTab::Stage | PhoneTab::Panel | PhoneTab::Settings) | (false, _) => self.tab,
        }
    }

    /// Notable changes since last time, for the live region; many at once are counted and the last one is said.
    fn speak(&mut self) {
        let news = self.desk.read().news(self.heard);
        let w = self.lang.words();
        let mut said = Vec::new();
        // What it means comes before what happened.
        let card = self.views.promises.verdicts.first();
        let verdict = card.map(|v| v.verdict.clone());
        if verdict != self.judged {
            said.extend(card.map(|v| w.verdict(&v.verdict)));
            said.extend(card.and_then(|v| v.cause.as_ref()).map(|c| w.cause(c).trim_end_matches('.').to_owned()));
            self.judged = verdict;
        }
        if let Some(last) = news.last() {
            self.heard = Some(last.trace);
            match news.len() {
                1..=3 => said.extend(news.iter().map(|l| w.fact(&l.fact))),
                n => said.extend([w.changes(n), w.fact(&last.fact)]),
            }
        }
        if !said.is_empty() {
            self.said = w.sentences(&said);
        }
    }

    /// Where the screen of a panic leads back to.
    fn remember_place(&self) {
        let fragment = format!("{}&lang={}", self.out_link, self.lang.short());
        web::remember_place(&fragment, &moment(self.views.playback.at_us));
    }

    fn write_address(&mut self) {
        let share = self.desk.read().share();
        let fragment = format!("{}&lang={}", share.fragment, self.lang.short());
        self.out_link.clone_from(&share.fragment);
        self.remember_place();
        if fragment != self.written && web::replace_fragment(&fragment) {
            self.written = fragment;
        }
    }
}
