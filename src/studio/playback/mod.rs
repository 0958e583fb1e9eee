//! The playhead's motion: pace, steps in both directions, skipping a wait, and what is waited for. It keeps no trace
//! and knows no page.

mod awaited;
mod keeping;
mod scenes;

pub use awaited::{Wait, Waiting, awaited, fenced_at};

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::world::Resource;
use keeping::Keeping;
use scenes::Scenes;

pub use crate::recording::StepKind;
use crate::recording::{Goal, MAX_OPS, Playhead, Recording, STRIDE, Way};

/// How fast simulated time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Slow while something changes or goes on that has not been seen yet, fast through everything else.
    Automatic,
    Fixed(Speed),
}

/// Simulated time over real time, as `numerator / denominator`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speed {
    pub numerator: u32,
    pub denominator: u32,
}

impl Speed {
    /// The fixed paces, slowest first: a log scale from 1/1000 to 100.
    pub const SCALE: [Speed; 11] = [
        Speed::new(1, 1000),
        Speed::new(1, 300),
        Speed::new(1, 100),
        Speed::new(1, 30),
        Speed::new(1, 10),
        Speed::new(1, 3),
        Speed::new(1, 1),
        Speed::new(3, 1),
        Speed::new(10, 1),
        Speed::new(30, 1),
        Speed::new(100, 1),
    ];

    pub const fn new(numerator: u32, denominator: u32) -> Speed {
        Speed { numerator, denominator }
    }
}

/// While something new is shown: 1 ms of simulated time in 300 ms.
const SLOW: (u64, u64) = (1, 300);
/// Through waiting.
const FAST: (u64, u64) = (4, 1);
/// Longest real time of one frame that is played: a tab that comes back does not leap.
const LONGEST_FRAME_US: u64 = 100_000;
/// How far a step looks ahead for what it wants; where nothing comes it stands there, so that waiting is never without
/// effect.
const LOOK_AHEAD: Dur = Dur::secs(30);
const LOOK_AHEAD_STEPS: usize = 400_000;
/// With reduced motion: real time between two notable changes.
const REDUCED_PAUSE_US: u64 = 1_200_000;
/// Play ends when nothing has changed for so long and nothing is awaited.
const QUIET: Dur = Dur::secs(10);
/// No run goes on longer.
pub const LAST_MOMENT: Dur = Dur::secs(24 * 3_600);

/// Why play ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing has changed for a while, nothing is awaited, and the script is done.
    NothingNew,
    /// The script ends here; the run can go on.
    Script,
    /// No run goes on longer.
    Limit,
    /// This one needs more than it may.
    Needs(Limit),
}

/// What a run may need, and at most how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    EventsOfOneInstant(u64),
    Events(u64),
    RecordBytes(u64),
    /// Steps that are kept to be looked at again.
    Steps(u64),
}

/// What a run needs more of than it may, if it stands at its end for that.
fn limit(recording: &Recording, playhead: &Playhead) -> Option<Limit> {
    if let Some(over) = playhead.world().overrun() {
        let most = over.what.most();
        return Some(match over.what {
            Resource::EventsOfOneInstant => Limit::EventsOfOneInstant(most),
            Resource::Events => Limit::Events(most),
            Resource::RecordBytes => Limit::RecordBytes(most),
        });
    }
    (playhead.cursor().ops >= MAX_OPS && playhead.reel(recording).n_ops() >= MAX_OPS)
        .then_some(Limit::Steps(MAX_OPS as u64))
}

/// Whether and how time goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    pub playing: bool,
    pub pace: Pace,
    pub step: StepKind,
    /// Real time, times the numerator of the pace, that has not made a microsecond yet.
    rest: u64,
    /// The rate that `rest` was left by.
    rate: (u64, u64),
    /// Real time since the last change was shown, with reduced motion.
    paused_us: u64,
    /// The next change, with reduced motion, while it is looked for.
    leap: Option<Goal>,
    scenes: Scenes,
    /// The last instant at which something changed or new traffic went on.
    fresh_at: SimTime,
    ended: Option<Ended>,
    /// Steps whose changes have been taken in.
    told_ops: usize,
    keeping: Keeping,
}

impl Default for Player {
    fn default() -> Self {
        Player {
            playing: false,
            pace: Pace::Automatic,
            step: StepKind::Message,
            rest: 0,
            rate: FAST,
            paused_us: 0,
            leap: None,
            scenes: Scenes::default(),
            fresh_at: SimTime::ZERO,
            ended: None,
            told_ops: 0,
            keeping: Keeping::default(),
        }
    }
}

impl Player {
    /// Begins to play from the playhead on.
    pub fn play(&mut self, playhead: &Playhead) {
        self.playing = true;
        self.ended = None;
        self.fresh_at = playhead.at();
    }

    pub fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        self.keeping.again();
    }

    /// The playhead is moved by hand, or stands.
    pub fn pause(&mut self) {
        self.playing = false;
        self.leap = None;
        self.keeping.again();
        self.ended = None;
    }

    /// The playhead is elsewhere: what was passed is told no more.
    pub fn moved(&mut self, playhead: &Playhead) {
        self.leap = None;
        self.keeping.again();
        self.ended = None;
        self.fresh_at = playhead.at();
        self.told_ops = playhead.cursor().ops;
        self.scenes.clear();
    }

    /// A long way has ended here: at its goal, or where the run needs more than it may.
    pub fn arrived(&mut self, recording: &Recording, playhead: &Playhead) {
        if let Some(limit) = limit(recording, playhead) {
            self.pause();
            self.ended = Some(Ended::Needs(limit));
        }
    }

    /// Why play ended by itself, until it goes on or the playhead is moved.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// The pace that is reached, in thousandths of real time, where play cannot keep the one asked for.
    pub fn reached(&self) -> Option<u64> {
        self.keeping.reached()
    }

    /// The number of the entry whose change is being shown, or was shown last.
    pub fn caption(&self) -> Option<usize> {
        self.scenes.entry()
    }

    /// Whether time goes slowly, so that messages can be seen.
    pub fn is_slow(&self) -> bool {
        self.rate.0 < self.rate.1
    }

    /// Lets real time pass, until it is enough: input is handled between frames, whatever the run does. Returns whether
    /// something that is shown changed.
    pub fn tick(
        &mut self,
        recording: &mut Recording,
        playhead: &mut Playhead,
        real_us: u64,
        reduced_motion: bool,
        enough: &dyn Fn() -> bool,
    ) -> bool {
        if !self.playing {
            return false;
        }
        let whole_us = real_us;
        let real_us = real_us.min(LONGEST_FRAME_US);
        let planned = recording.origin() + playhead.branch(recording).lowered.end;
        let (before, told) = (playhead.at(), self.caption());
        let mut found = true;
        if reduced_motion {
            let goal = match self.leap {
                Some(goal) => goal,
                None => {
                    self.paused_us += real_us;
                    if self.paused_us < REDUCED_PAUSE_US {
                        return false;
                    }
                    self.paused_us = 0;
                    let goal = next(recording, playhead, StepKind::Notable);
                    playhead.head_for(recording, goal);
                    goal
                }
            };
            let way = playhead.go_on(recording, goal, enough);
            self.leap = (way == Way::GoesOn).then_some(goal);
            if self.leap.is_some() {
                return false;
            }
            found = way == Way::There;
            self.passed(recording, playhead);
        } else {
            let unplayed_us = self.glide(recording, playhead, real_us, planned, enough);
            self.keeping.frame(whole_us, whole_us - real_us + unplayed_us, before, playhead.at());
        }
        self.scenes.pass(real_us);
        let at = playhead.at();
        let end = if let Some(limit) = limit(recording, playhead) {
            Some(Ended::Needs(limit))
        } else if at >= recording.origin() + LAST_MOMENT {
            Some(Ended::Limit)
        } else if before < planned && at >= planned {
            // Whoever plays on from there sees what comes.
            Some(Ended::Script)
        } else if !found || self.is_quiet(recording, playhead) {
            Some(Ended::NothingNew)
        } else {
            None
        };
        if end.is_some() {
            self.pause();
            self.ended = end;
        }
        at != before || !self.playing || self.caption() != told
    }

    /// Whether nothing has changed for a while and nothing that would change something is awaited.
    fn is_quiet(&self, recording: &Recording, playhead: &Playhead) -> bool {
        let awaits = |wait: Wait| match wait.what {
            Waiting::Fencing { .. }
            | Waiting::QuorumElection { .. }
            | Waiting::MemberTimeout { .. }
            | Waiting::RebalanceEnd { .. }
            | Waiting::ScriptEntry => true,
            // One more of what has failed before is nothing new.
            Waiting::ClientRetry { .. } => false,
        };
        self.pace == Pace::Automatic
            && !self.scenes.showing()
            && playhead.at().since(self.fresh_at) >= QUIET
            && playhead.cursor().next_scripted(&playhead.branch(recording).lowered.plan).is_none()
            && !awaited(recording, playhead).is_some_and(awaits)
    }

    /// Plays so much real time, or as much of it as may be done at once. Returns what is left of it.
    fn glide(
        &mut self,
        recording: &mut Recording,
        playhead: &mut Playhead,
        real_us: u64,
        planned: SimTime,
        enough: &dyn Fn() -> bool,
    ) -> u64 {
        let mut budget = real_us;
        let last = if playhead.at() < planned { planned } else { recording.origin() + LAST_MOMENT };
        for gone in 1_usize.. {
            let (numerator, denominator) = self.next_rate(playhead);
            if self.rate != (numerator, denominator) {
                self.rate = (numerator, denominator);
                self.rest = 0;
            }
            let at = playhead.at();
            let reach = SimTime(at.0 + (budget * numerator + self.rest) / denominator).min(last);
            match playhead.next_at(recording) {
                Some(next) if next <= reach => {
                    let cost = (next.since(at).0 * denominator).saturating_sub(self.rest).div_ceil(numerator);
                    self.rest = (cost * numerator + self.rest).saturating_sub(next.since(at).0 * denominator);
                    budget = budget.saturating_sub(cost);
                    if !playhead.step(recording, next) {
                        return 0;
                    }
                    self.passed(recording, playhead);
                    if gone.is_multiple_of(STRIDE) && enough() {
                        break;
                    }
                }
                Some(_) | None => {
                    self.rest = (budget * numerator + self.rest) % denominator;
                    playhead.stand_at(recording, reach);
                    return 0;
                }
            }
        }
        budget
    }

    /// Takes in what was noticed since the last time.
    pub fn passed(&mut self, recording: &Recording, playhead: &Playhead) {
        let reel = playhead.reel(recording);
        let ops = playhead.cursor().ops;
        let range = reel.end_of(self.told_ops.min(ops))..reel.end_of(ops);
        self.told_ops = ops;
        for (number, entry) in reel.entries(range).filter(|(number, _)| reel.is_notable(*number)) {
            self.fresh_at = self.fresh_at.max(entry.at);
            self.scenes.notice(number, entry);
        }
    }

    fn next_rate(&mut self, playhead: &Playhead) -> (u64, u64) {
        let new = self.scenes.is_new(playhead.world().in_flight());
        if new {
            self.fresh_at = self.fresh_at.max(playhead.at());
        }
        match self.pace {
            Pace::Automatic if new || self.scenes.showing() => SLOW,
            Pace::Automatic => FAST,
            Pace::Fixed(Speed { numerator, denominator }) => {
                (u64::from(numerator.max(1)), u64::from(denominator.max(1)))
            }
        }
    }
}

/// Where one step forward leads.
pub fn next(recording: &Recording, playhead: &Playhead, kind: StepKind) -> Goal {
    let from = playhead.cursor().ops;
    let reel = playhead.reel(recording);
    match reel.ops()[from..].iter().position(|op| kind.fits(op)) {
        Some(known) => playhead.after(recording, from + known + 1),
        None => Goal::Next {
            kind,
            until: (playhead.at() + LOOK_AHEAD).min(recording.origin() + LAST_MOMENT),
            most: reel.n_ops() + LOOK_AHEAD_STEPS,
        },
    }
}

/// Where one step back leads: right after the change before this one.
pub fn previous(recording: &Recording, playhead: &Playhead, kind: StepKind) -> Goal {
    let ops = playhead.cursor().ops;
    let beyond = playhead.at() > playhead.cursor().instant();
    let end = if beyond { ops } else { ops.saturating_sub(1) };
    match playhead.reel(recording).ops()[..end].iter().rposition(|op| kind.fits(op)) {
        Some(op) => playhead.after(recording, op + 1),
        None => Goal::Until(playhead.origin()),
    }
}
