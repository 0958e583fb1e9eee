//! What every component may reach: the language, the desk (for reading), a way to ask for things, and the beat of
//! frames. It deliberately gives nobody but the root a way to change the desk.
use super::words::{Label, Lang, Words};
use highwater_studio::desk::Desk;
use highwater_studio::desk::command::Command;
use highwater_studio::view::model::{LogFilter, ScenarioId, Subject, Window};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::rc::Rc;
use yew::prelude::*;

/// What components ask the root for.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Do(Command),
    Select(Subject),
    /// The next message in flight by arrival, or the one before.
    WalkMessages {
        forward: bool,
    },
    Why(Subject),
    CloseWhy,
    /// The chain of causes that was asked for, which has a tab of its own.
    ShowWhy,
    Show(Tab),
    OpenDialog(Dialog),
    CloseDialog,
    CloseError,
    SetLanguage(Lang),
    SetTheme(Theme),
    FoldSettings(bool),
    FoldPanel(bool),
    /// The focus goes to the stage, to where it last was there.
    ToStage,
    /// Nothing is chosen any more.
    CloseChosen,
    Filter(LogFilter),
    Zoom(Option<Window>),
    PhoneTab(PhoneTab),
    PhoneColumn(usize),
    SingleKeys(bool),
    Scenario(ScenarioId),
    /// The answer to the question that is asked, by its number.
    Guess(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Promises,
    Inspect,
    Log,
    Text,
}

impl Tab {
    pub const ALL: [Tab; 4] = [Tab::Promises, Tab::Inspect, Tab::Log, Tab::Text];

    pub fn label(self) -> Label {
        match self {
            Tab::Promises => Label::Promises,
            Tab::Inspect => Label::Inspect,
            Tab::Log => Label::Log,
            Tab::Text => Label::Text,
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Tab::Promises => "promises",
            Tab::Inspect => "inspect",
            Tab::Log => "log",
            Tab::Text => "text",
        }
    }
}

/// Sheets of the phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhoneTab {
    Stage,
    Panel,
    Settings,
    Log,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    Share,
    Keys,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Auto,
    Light,
    Dark,
    Contrast,
}

impl Theme {
    pub const ALL: [Theme; 4] = [Theme::Auto, Theme::Light, Theme::Dark, Theme::Contrast];

    pub fn id(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Contrast => "contrast",
        }
    }

    pub fn of_id(id: &str) -> Option<Theme> {
        Theme::ALL.into_iter().find(|t| t.id() == id)
    }

    pub fn label(self) -> Label {
        match self {
            Theme::Auto => Label::ThemeAuto,
            Theme::Light => Label::ThemeLight,
            Theme::Dark => Label::ThemeDark,
            Theme::Contrast => Label::ThemeContrast,
        }
    }
}

/// The studio behind a shared handle. Two handles are equal when they lead to the same desk.
#[derive(Clone)]
pub struct DeskRef(Rc<RefCell<Box<dyn Desk>>>);

impl DeskRef {
    pub fn new(desk: Box<dyn Desk>) -> DeskRef {
        DeskRef(Rc::new(RefCell::new(desk)))
    }

    pub fn read(&self) -> Ref<'_, Box<dyn Desk>> {
        self.0.borrow()
    }

    /// For the root alone.
    pub(super) fn write(&self) -> RefMut<'_, Box<dyn Desk>> {
        self.0.borrow_mut()
    }
}

impl PartialEq for DeskRef {
    fn eq(&self, other: &DeskRef) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The beat of frames: components that move draw themselves anew on each beat; nothing else does.
#[derive(Clone, Default)]
pub struct Pulse(Rc<PulseInner>);

#[derive(Default)]
struct PulseInner {
    next: Cell<u64>,
    hearers: RefCell<Vec<(u64, Callback<()>)>>,
}

impl Pulse {
    pub fn beat(&self) {
        // A hearer may stop listening while it is called.
        let hearers = self.0.hearers.borrow().clone();
        for (_, h) in hearers {
            h.emit(());
        }
    }

    fn hear(&self, h: Callback<()>) -> u64 {
        let id = self.0.next.get();
        self.0.next.set(id + 1);
        self.0.hearers.borrow_mut().push((id, h));
        id
    }

    fn forget(&self, id: u64) {
        self.0.hearers.borrow_mut().retain(|(i, _)| *i != id);
    }
}

impl PartialEq for Pulse {
    fn eq(&self, other: &Pulse) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// Draws the calling component anew on every beat.
#[hook]
pub fn use_pulse() {
    let ui = use_ui();
    let again = use_force_update();
    use_effect_with(ui.pulse.clone(), move |pulse| {
        let pulse = pulse.clone();
        let id = pulse.hear(Callback::from(move |()| again.force_update()));
        move || pulse.forget(id)
    });
}

#[derive(Clone, PartialEq)]
pub struct Ui {
    pub lang: Lang,
    pub embed: bool,
    /// Nodes have menus; an embed has them only when its page asks for it.
    pub acts: bool,
    pub desk: DeskRef,
    pub ask: Callback<Ask>,
    pub pulse: Pulse,
}

impl Ui {
    pub fn words(&self) -> &'static dyn Words {
        self.lang.words()
    }

    pub fn label(&self, l: Label) -> &'static str {
        self.words().label(l)
    }

    /// A click that asks for something.
    pub fn on(&self, ask: Ask) -> Callback<MouseEvent> {
        let send = self.ask.clone();
        Callback::from(move |_| send.emit(ask.clone()))
    }

    /// A click that is a command.
    pub fn on_do(&self, command: Command) -> Callback<MouseEvent> {
        self.on(Ask::Do(command))
    }
}

/// The context that the root provides.
///
/// # Panics
/// Outside the root: a component that cannot reach the desk has nothing to show.
#[hook]
pub fn use_ui() -> Ui {
    use_context::<Ui>().expect("components live below the root")
}
