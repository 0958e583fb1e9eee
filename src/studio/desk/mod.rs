//! The façade of the studio: what the page may call, as one trait, so that components can be tested with a desk of
//! their own.
//! It deliberately has no method that takes or returns a type of the engine.
//!
//! The studio provides `Studio: Desk` and its constructors:
//! - `Studio::scenario(ScenarioId) -> Studio` opens a scenario of the picker at 0 s, paused;
//! - `Studio::opening(ScenarioId) -> Studio` opens it shortly before its script begins, as the picker does;
//! - `Studio::open(fragment: &str) -> Result<Studio, OpenError>` opens what stands behind `#` (payload, check, `at`,
//!   `d`; view options such as `lang` are ignored) at its moment, paused;
//! - `Studio::setting_out(fragment: &str)` opens the same at 0 s, on its way to that moment.
pub mod bench;
pub mod command;
mod journal;
mod refusals;
mod run;
mod studio;
mod travel;
mod verbs;

pub use studio::Studio;

use crate::view::model::{
    BranchView, DigestCheck, Inspection, Lanes, LogFilter, LogLine, LogPage, Micros, Motion, Playback, Promises, Scene,
    Settings, Share, Storyboard, Subject, TextView, TraceId, WhyChain, Window,
};
use command::{Command, Outcome};
use std::ops::Range;
use std::rc::Rc;

/// Whether it is time to let the page draw and hear. The studio keeps no clock; who has one brings it.
pub type Enough = Rc<dyn Fn() -> bool>;

/// What the page calls. Every method but `set_enough`, `handle` and `tick` only reads.
pub trait Desk {
    /// What says from now on that `handle` and `tick` have done enough at once; until then nothing does. What is not
    /// reached then is gone on to by each tick, and [`Playback::travel`] says so.
    fn set_enough(&mut self, enough: Enough);
    /// The only way to change anything but time.
    fn handle(&mut self, command: Command) -> Outcome;
    /// Lets real time pass while playing or on the way to somewhere; at most one frame's worth of work. Returns whether
    /// anything that is shown changed.
    /// `reduced_motion`: play goes from notable change to notable change instead of gliding.
    fn tick(&mut self, real_elapsed_us: Micros, reduced_motion: bool) -> bool;

    /// The same `Rc` until an event was passed or something that is shown was chosen.
    fn scene(&self) -> Rc<Scene>;
    /// Messages in flight now.
    fn motion(&self) -> Motion;
    fn playback(&self) -> Playback;
    /// Lanes of a stretch of time; `slices` is the number of density slices a lane.
    fn lanes(&self, window: Window, slices: usize) -> Rc<Lanes>;
    fn branches(&self) -> Vec<BranchView>;
    /// The same `Rc` while `Promises::revision` stands.
    fn promises(&self) -> Rc<Promises>;
    /// Lines of the log that pass the filter, oldest first, those numbered `range`, up to the playhead.
    /// A range beyond the end gives what there is.
    fn log(&self, filter: &LogFilter, range: Range<usize>) -> LogPage;
    /// The newest `count` lines that pass the filter, oldest first.
    fn log_tail(&self, filter: &LogFilter, count: usize) -> LogPage;
    /// Notable changes after this entry and up to the playhead, oldest first: what the live region says.
    fn news(&self, after: Option<TraceId>) -> Vec<LogLine>;
    /// `None`: it does not exist at the playhead.
    fn inspect(&self, about: &Subject) -> Option<Inspection>;
    /// `None`: there is nothing to explain.
    fn why(&self, about: &Subject) -> Option<WhyChain>;
    /// What the author of the scenario says and asks at the playhead.
    fn storyboard(&self) -> Storyboard;
    fn settings(&self) -> Rc<Settings>;
    fn text(&self) -> TextView;
    fn share(&self) -> Share;
    /// What came of the digest that the opened link named.
    fn digest_check(&self) -> DigestCheck;
}
