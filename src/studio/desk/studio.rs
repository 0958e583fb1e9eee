//! The studio as the page has it: one run with its branches, a playhead, and views that are made once for each state.
//! It holds no rule of Kafka's.

mod changes;

use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;

use highwater_engine::base::Dur;

use super::command::{Command, OnTheWay, Outcome, Refused, Thing};
use super::journal::Journal;
use super::run::Run;
use super::travel::{Journey, Then};
use super::verbs;
use super::{Desk, Enough};
use crate::link::{Link, MAX_FRAGMENT, short_digest};
use crate::playback::{self, LAST_MOMENT, Player};
use crate::recording::Goal;
use crate::scenario::{ENGINE, Scenario, Verb};
use crate::story::Seen;
use crate::view::advice::Advice;
use crate::view::model::*;
use crate::view::scene::{Chosen, scene};
use crate::view::{caption, inspect, lanes, log, message, motion, promises, settings, storyboard, why};

/// Lines of the text view.
const RECENT: usize = 20;
/// What the views of one state were made from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    run: u64,
    branch: usize,
    ops: usize,
    plan: usize,
    chosen: Chosen,
}

struct Views {
    key: Key,
    scene: Rc<Scene>,
    promises: Rc<Promises>,
    settings: Rc<Settings>,
}

type LaneKey = (u64, usize, usize, Window, usize);

/// The façade of everything below the page.
pub struct Studio {
    run: Run,
    /// Runs before this one, the last one last.
    previous: Vec<Run>,
    player: Player,
    /// The way to a place that is not reached yet.
    journey: Option<Journey>,
    enough: Enough,
    digest: DigestCheck,
    /// Number of the run, so that views of one are never taken for those of another.
    number: u64,
    revision: Cell<u64>,
    views: RefCell<Option<Rc<Views>>>,
    lanes: RefCell<Vec<(LaneKey, Rc<Lanes>)>>,
    journal: Journal,
    advice: Advice,
}

impl Studio {
    fn with(run: Run) -> Studio {
        let mut player = Player::default();
        player.moved(&run.playhead);
        Studio {
            run,
            previous: Vec::new(),
            player,
            journey: None,
            enough: Rc::new(|| false),
            digest: DigestCheck::NotNamed,
            number: 0,
            revision: Cell::new(0),
            views: RefCell::new(None),
            lanes: RefCell::new(Vec::new()),
            journal: Journal::default(),
            advice: Advice::default(),
        }
    }

    /// Opens a scenario of the picker at 0 s, paused.
    ///
    /// # Panics
    /// If a scenario of the picker does not open, which a test excludes.
    pub fn scenario(id: ScenarioId) -> Studio {
        match Run::of_gallery(id) {
            Ok(run) => Studio::with(run),
            Err(error) => panic!("the gallery opens: {error:?}"),
        }
    }

    /// Opens a scenario of the picker shortly before its script begins, paused: the cluster is at work, and what the
    /// scenario is about is still to come. The whole past can be looked at from there.
    ///
    /// # Panics
    /// As [`Studio::scenario`].
    pub fn opening(id: ScenarioId) -> Studio {
        let mut studio = Studio::scenario(id);
        if let Some(eve) = studio.run.eve() {
            studio.go(eve, Then::Move);
        }
        studio
    }

    /// Opens what stands behind `#` at its moment, paused.
    ///
    /// # Errors
    /// What is wrong with the link, and where.
    pub fn open(fragment: &str) -> Result<Studio, OpenError> {
        let mut studio = Studio::setting_out(fragment)?;
        studio.go_on();
        Ok(studio)
    }

    /// Opens what stands behind `#` at 0 s, paused, on its way to the link's moment: each tick goes on.
    ///
    /// # Errors
    /// What is wrong with the link, and where.
    pub fn setting_out(fragment: &str) -> Result<Studio, OpenError> {
        let (run, goal, digest) = Run::of_link(fragment)?;
        let mut studio = Studio::with(run);
        studio.set_out(goal, Then::Compare(digest));
        Ok(studio)
    }

    /// What is seen at the playhead, for tests and the command line.
    pub fn seen(&self) -> Seen<'_> {
        self.run.seen()
    }

    fn key(&self) -> Key {
        let playhead = &self.run.playhead;
        Key {
            run: self.number,
            branch: playhead.current(),
            ops: playhead.cursor().ops,
            plan: self.seen().branch().lowered.plan.len(),
            chosen: self.run.chosen.clone(),
        }
    }

    /// The views of this state, made if they are not there.
    fn views(&self) -> Rc<Views> {
        let key = self.key();
        if let Some(views) = &*self.views.borrow()
            && views.key == key
        {
            return views.clone();
        }
        let revision = self.revision.get() + 1;
        self.revision.set(revision);
        let seen = self.seen();
        let ledger = self.run.playhead.ledger();
        let scene = Rc::new(scene(seen, &ledger, &self.run.chosen, self.run.origin.clone(), revision));
        let promises = Rc::new(promises::promises(seen, &ledger, &scene, &self.advice, revision));
        let settings = Rc::new(settings::settings(seen, &scene, !self.previous.is_empty()));
        let views = Rc::new(Views { key, scene, promises, settings });
        *self.views.borrow_mut() = Some(views.clone());
        views
    }

    fn end(&self) -> Dur {
        let branch = self.seen().branch();
        branch.recorded.since(self.run.recording.origin()).max(branch.lowered.end)
    }

    fn seek(&mut self, at_us: Micros) -> Outcome {
        let at = self.run.recording.origin() + Dur(at_us).min(self.end());
        self.go(Goal::Until(at), Then::Move)
    }

    /// Goes to a place, or as far as may be gone at once; each tick goes on from there.
    fn go(&mut self, goal: Goal, then: Then) -> Outcome {
        self.set_out(goal, then);
        self.go_on();
        Outcome::Done
    }

    /// On the way to a place, with nothing of it gone yet.
    fn set_out(&mut self, goal: Goal, then: Then) {
        let Run { recording, playhead, .. } = &mut self.run;
        self.journey = Some(Journey::begin(recording, playhead, goal, then));
    }

    /// Goes on with the way that is being gone. Returns whether it has ended.
    fn go_on(&mut self) -> bool {
        let Some(journey) = self.journey else { return false };
        let Run { recording, playhead, .. } = &mut self.run;
        if !journey.go_on(recording, playhead, &*self.enough) {
            return false;
        }
        self.halt();
        if let Then::Compare(Some(digest)) = journey.then {
            let same = digest == short_digest(self.run.playhead.digest());
            self.digest = if same { DigestCheck::Same } else { DigestCheck::Different };
        }
        true
    }

    /// The way ends here.
    fn halt(&mut self) {
        if let Some(journey) = self.journey.take() {
            journey.end(&self.run.recording, &self.run.playhead, &mut self.player);
        }
    }

    fn step(&mut self, forward: bool, kind: StepKind) -> Outcome {
        self.player.pause();
        if forward {
            return self.go_forward(kind);
        }
        self.go(playback::previous(&self.run.recording, &self.run.playhead, kind), Then::Move)
    }

    /// To the next step of a kind; what is passed on the way there is told.
    fn go_forward(&mut self, kind: StepKind) -> Outcome {
        self.player.moved(&self.run.playhead);
        self.go(playback::next(&self.run.recording, &self.run.playhead, kind), Then::Tell)
    }

    fn lines(&self, filter: &LogFilter) -> Rc<Vec<LogLine>> {
        self.journal.lines((self.number, self.run.playhead.current()), self.seen(), filter)
    }
}

impl Desk for Studio {
    fn set_enough(&mut self, enough: Enough) {
        self.enough = enough;
    }

    fn handle(&mut self, command: Command) -> Outcome {
        match (command.on_the_way(), self.journey) {
            (OnTheWay::Refused, Some(_)) => return Outcome::Refused(Refused::OnTheWay),
            (OnTheWay::Ends, Some(_)) => self.halt(),
            (OnTheWay::GoesOn, _) | (_, None) => {}
        }
        match command {
            Command::Play => {
                self.player.play(&self.run.playhead);
                Outcome::Done
            }
            Command::Pause => {
                self.player.pause();
                Outcome::Done
            }
            Command::ToStart => self.seek(0),
            Command::ToEnd => self.seek(LAST_MOMENT.0),
            Command::StepBack(kind) => self.step(false, kind),
            Command::StepForward(kind) => self.step(true, kind),
            Command::SkipWait => self.go_forward(StepKind::Notable),
            Command::Scrub { at_us } | Command::SeekTo { at_us } => self.seek(at_us),
            Command::SeekToTrace(TraceId(id)) => {
                let entry = usize::try_from(id).ok().filter(|entry| *entry < self.seen().reel().len());
                match entry {
                    None => Outcome::Refused(Refused::Unknown(Thing::Moment)),
                    Some(entry) => {
                        let ops = self.seen().reel().op_of(entry) + 1;
                        self.go(self.run.playhead.after(&self.run.recording, ops), Then::Move)
                    }
                }
            }
            Command::SetPace(pace) => {
                self.player.set_pace(pace);
                Outcome::Done
            }
            Command::SetStep(kind) => {
                self.player.step = kind;
                Outcome::Done
            }
            Command::Act(node, action) => self.menu(&node, action),
            Command::Message(id, act) => match message::verb(self.seen(), id, &act) {
                Some(verb) => self.act(vec![verb]),
                None => Outcome::Refused(Refused::Unknown(Thing::Message)),
            },
            Command::HealAll => self.act(vec![Verb::Heal(None)]),
            Command::Cut { a, b, one_way } => self.act(vec![Verb::Cut(crate::scenario::Sides {
                from: verbs::names(&a),
                to: verbs::names(&b),
                both: !one_way,
            })]),
            Command::Set(key, value) => {
                let views = self.views();
                let change = verbs::of_setting(self.seen(), &views.scene, &key, &value);
                self.change(change)
            }
            Command::ElectLeader { topic, partition, unclean } => self
                .act(vec![Verb::ElectLeaders { unclean, partition: crate::scenario::Partition { topic, partition } }]),
            Command::Try(cure) => {
                let change = verbs::of_cure(self.seen(), &cure);
                self.change(change)
            }
            Command::OpenTopic(name) => {
                if !self.run.chosen.opened.contains(&name) {
                    self.run.chosen.opened.push(name);
                }
                Outcome::Done
            }
            Command::CloseTopic(name) => {
                self.run.chosen.opened.retain(|opened| *opened != name);
                Outcome::Done
            }
            Command::SelectGroup(name) => {
                self.run.chosen.group = Some(name);
                Outcome::Done
            }
            Command::OpenScenario(id) => match Run::of_gallery(id) {
                Ok(run) => {
                    let eve = run.eve();
                    let outcome = self.replace(run);
                    if let Some(eve) = eve {
                        self.go(eve, Then::Move);
                    }
                    outcome
                }
                Err(error) => Outcome::NotOpened(error),
            },
            Command::OpenLink(fragment) => self.open_link(&fragment),
            Command::Undo => self.undo(),
            Command::PreviousRun => self.previous_run(),
            Command::SelectBranch(BranchId(branch)) => {
                match self.run.playhead.select(&self.run.recording, branch as usize) {
                    Some(goal) => self.go(goal, Then::Move),
                    None => Outcome::Refused(Refused::Unknown(Thing::Branch)),
                }
            }
            Command::NameBranch(BranchId(branch), name) => {
                if self.run.recording.rename(branch as usize, name) {
                    Outcome::Done
                } else {
                    Outcome::Refused(Refused::Unknown(Thing::Branch))
                }
            }
        }
    }

    fn tick(&mut self, real_elapsed_us: Micros, reduced_motion: bool) -> bool {
        if let Some(journey) = &mut self.journey {
            let shown = journey.is_to_be_shown(real_elapsed_us);
            return self.go_on() || shown;
        }
        let Run { recording, playhead, .. } = &mut self.run;
        self.player.tick(recording, playhead, real_elapsed_us, reduced_motion, &*self.enough)
    }

    fn scene(&self) -> Rc<Scene> {
        self.views().scene.clone()
    }

    fn motion(&self) -> Motion {
        motion::motion(self.seen())
    }

    fn playback(&self) -> Playback {
        let (seen, playhead) = (self.seen(), &self.run.playhead);
        Playback {
            at_us: seen.now_us(),
            end_us: self.end().0,
            recorded_us: seen.us(seen.branch().recorded),
            playing: self.player.playing,
            pace: self.player.pace,
            step: self.player.step,
            awaiting: playback::awaited(&self.run.recording, playhead)
                .map(|wait| Awaited { what: wait.what, in_us: wait.at.since(playhead.at()).0 }),
            at_start: playhead.at() == playhead.origin(),
            can_skip: playhead.next_at(&self.run.recording).is_some(),
            events_done: playhead.moment(&self.run.recording).done.unwrap_or(0),
            caption: caption::caption(seen, &self.player),
            ended: self.player.ended(),
            reached: self.player.reached(),
            travel: self.journey.map(|journey| Travel { from_us: seen.us(journey.from), to_us: seen.us(journey.to()) }),
            can_undo: !self.run.done.is_empty() || !self.previous.is_empty(),
        }
    }

    fn lanes(&self, window: Window, slices: usize) -> Rc<Lanes> {
        let seen = self.seen();
        let key = (self.number, self.run.playhead.current(), seen.reel().len(), window, slices);
        let now = (seen.now_us(), seen.us(seen.branch().recorded));
        let mut cache = self.lanes.borrow_mut();
        if let Some((_, lanes)) = cache.iter_mut().find(|(known, _)| *known == key) {
            // Only the playhead moved: what was recorded stands where it stood.
            if (lanes.now_us, lanes.recorded_us) != now {
                let moved = Rc::make_mut(lanes);
                (moved.now_us, moved.recorded_us) = now;
                moved.branches = self.branches();
                moved.waits = lanes::waits(self.seen());
            }
            return lanes.clone();
        }
        let lanes = Rc::new(lanes::lanes(self.seen(), window, slices, self.branches()));
        // One for the scrubber and one for a zoomed view.
        if cache.len() >= 2 {
            cache.remove(0);
        }
        cache.push((key, lanes.clone()));
        lanes
    }

    fn branches(&self) -> Vec<BranchView> {
        let recording = &self.run.recording;
        let view = |(index, branch): (usize, &crate::recording::Branch)| BranchView {
            id: BranchId(index as u32),
            parent: branch.parent.map(|parent| BranchId(parent as u32)),
            name: branch.name.clone(),
            began_with: branch.fork.as_ref().and_then(|(_, verb)| crate::story::of_verb(self.seen(), verb)),
            forked_at_us: branch.fork.as_ref().map_or(0, |(at, _)| self.seen().us(*at)),
            end_us: self.seen().us(branch.recorded),
            current: index == self.run.playhead.current(),
        };
        recording.branches().iter().enumerate().map(view).collect()
    }

    fn promises(&self) -> Rc<Promises> {
        self.views().promises.clone()
    }

    fn log(&self, filter: &LogFilter, range: Range<usize>) -> LogPage {
        log::page(self.seen(), &self.lines(filter), range)
    }

    fn log_tail(&self, filter: &LogFilter, count: usize) -> LogPage {
        let lines = self.lines(filter);
        log::page(self.seen(), &lines, lines.len().saturating_sub(count)..lines.len())
    }

    fn news(&self, after: Option<TraceId>) -> Vec<LogLine> {
        log::news(self.seen(), after)
    }

    fn inspect(&self, about: &Subject) -> Option<Inspection> {
        let views = self.views();
        inspect::inspect(self.seen(), &self.run.playhead.ledger(), &views.scene, about)
    }

    fn why(&self, about: &Subject) -> Option<WhyChain> {
        let views = self.views();
        why::why(self.seen(), &self.run.playhead.ledger(), &views.promises, &views.scene, about)
    }

    fn storyboard(&self) -> Storyboard {
        storyboard::storyboard(self.seen(), &self.views().scene)
    }

    fn settings(&self) -> Rc<Settings> {
        self.views().settings.clone()
    }

    fn text(&self) -> TextView {
        let views = self.views();
        TextView {
            scene: views.scene.clone(),
            promises: views.promises.clone(),
            recent: log::recent(self.seen(), RECENT),
        }
    }

    fn share(&self) -> Share {
        let playhead = &self.run.playhead;
        let scenario = Scenario { engine: Some(ENGINE), ..self.seen().scenario().clone() };
        let link = Link {
            at: Some(playhead.moment(&self.run.recording)),
            digest: Some(short_digest(playhead.digest())),
            ..Link::new(scenario)
        };
        let fragment = link.fragment();
        Share {
            length: fragment.chars().count() as u32,
            limit: MAX_FRAGMENT as u32,
            title: self.run.origin.clone(),
            fragment,
        }
    }

    fn digest_check(&self) -> DigestCheck {
        self.digest
    }
}
