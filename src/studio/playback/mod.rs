//! The playhead's motion: pace, steps in both directions, skipping a wait, and what is waited for. It keeps no trace
//! and knows no page.

mod awaited;

pub use awaited::{Wait, Waiting, awaited, fenced_at};

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{Request, Response};

use crate::recording::{Op, Playhead, Recording};

/// How fast simulated time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Slow while something notable is in flight, fast through waiting.
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

/// What one step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepKind {
    Message,
    Event,
    Notable,
}

/// While a notable message is in flight: 1 ms of simulated time in 300 ms.
const SLOW: (u64, u64) = (1, 300);
/// Through waiting.
const FAST: (u64, u64) = (4, 1);
/// Steps of one frame: input is handled between frames, whatever the run does.
const FRAME_STEPS: usize = 2_000;
/// Longest real time of one frame that is played: a tab that comes back does not leap.
const LONGEST_FRAME_US: u64 = 100_000;
/// How far a step looks ahead for what it wants; where nothing comes it stands there, so that waiting is never without
/// effect.
const LOOK_AHEAD: Dur = Dur::secs(30);
const LOOK_AHEAD_STEPS: usize = 400_000;
/// With reduced motion: real time between two notable changes.
const REDUCED_PAUSE_US: u64 = 1_200_000;
/// No run goes on longer.
pub const LAST_MOMENT: Dur = Dur::secs(24 * 3_600);

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
}

impl Default for Player {
    fn default() -> Self {
        Player { playing: false, pace: Pace::Automatic, step: StepKind::Message, rest: 0, rate: FAST, paused_us: 0 }
    }
}

impl Player {
    /// Lets real time pass. Returns whether the playhead moved or play ended.
    pub fn tick(
        &mut self,
        recording: &mut Recording,
        playhead: &mut Playhead,
        real_us: u64,
        reduced_motion: bool,
    ) -> bool {
        if !self.playing {
            return false;
        }
        let planned = recording.origin() + playhead.branch(recording).lowered.end;
        let before = playhead.at();
        if reduced_motion {
            self.paused_us += real_us.min(LONGEST_FRAME_US);
            if self.paused_us < REDUCED_PAUSE_US {
                return false;
            }
            self.paused_us = 0;
            forward(recording, playhead, StepKind::Notable);
        } else {
            self.glide(recording, playhead, real_us.min(LONGEST_FRAME_US), planned);
        }
        // Play ends where the script ends; whoever plays on from there sees what comes.
        if (before < planned && playhead.at() >= planned) || playhead.at() >= recording.origin() + LAST_MOMENT {
            self.playing = false;
        }
        playhead.at() != before || !self.playing
    }

    fn glide(&mut self, recording: &mut Recording, playhead: &mut Playhead, real_us: u64, planned: SimTime) {
        let mut budget = real_us;
        let last = if playhead.at() < planned { planned } else { recording.origin() + LAST_MOMENT };
        for _ in 0..FRAME_STEPS {
            let (numerator, denominator) = self.rate(playhead);
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
                    playhead.step(recording, next);
                }
                Some(_) | None => {
                    self.rest = (budget * numerator + self.rest) % denominator;
                    playhead.stand_at(recording, reach);
                    return;
                }
            }
        }
    }

    fn rate(&self, playhead: &Playhead) -> (u64, u64) {
        match self.pace {
            Pace::Automatic if playhead.world().in_flight().any(is_notable) => SLOW,
            Pace::Automatic => FAST,
            Pace::Fixed(Speed { numerator, denominator }) => {
                (u64::from(numerator.max(1)), u64::from(denominator.max(1)))
            }
        }
    }
}

/// Whether a message is worth slowing down for: records on their way, and what changes who leads, who is in sync and
/// who owns what.
pub fn is_notable(message: &Message) -> bool {
    match &message.body {
        Body::Request(request) => match request {
            Request::Produce(_)
            | Request::AlterPartition(_)
            | Request::Vote(_)
            | Request::BeginQuorumEpoch { .. }
            | Request::EndQuorumEpoch { .. }
            | Request::CreateTopics(_)
            | Request::ElectLeaders { .. }
            | Request::IncrementalAlterConfigs { .. }
            | Request::BrokerRegistration(_)
            | Request::JoinGroup(_)
            | Request::SyncGroup(_)
            | Request::LeaveGroup(_) => true,
            _routine => false,
        },
        Body::Response(response) => match response {
            Response::Produce { .. }
            | Response::AlterPartition { .. }
            | Response::Vote { .. }
            | Response::JoinGroup(_)
            | Response::SyncGroup { .. } => true,
            Response::Fetch { .. } => !response.is_empty(),
            _routine => false,
        },
    }
}

fn fits(step: StepKind, op: &Op) -> bool {
    match step {
        StepKind::Message => op.sends,
        StepKind::Event => true,
        StepKind::Notable => op.notable,
    }
}

/// One step forward. Returns whether there was one.
pub fn forward(recording: &mut Recording, playhead: &mut Playhead, step: StepKind) -> bool {
    let from = playhead.cursor().ops;
    let known = playhead.reel(recording).ops()[from..].iter().position(|op| fits(step, op));
    if let Some(known) = known {
        playhead.seek_ops(recording, from + known + 1);
        return true;
    }
    let limit = (playhead.at() + LOOK_AHEAD).min(recording.origin() + LAST_MOMENT);
    let known = playhead.reel(recording).n_ops();
    playhead.seek_ops(recording, known);
    for _ in 0..LOOK_AHEAD_STEPS {
        if !playhead.step(recording, limit) {
            playhead.stand_at(recording, limit);
            return false;
        }
        let last = playhead.reel(recording).ops().last();
        if last.is_some_and(|op| fits(step, op)) {
            return true;
        }
    }
    false
}

/// One step back: right after the change before this one. Returns whether the playhead moved.
pub fn back(recording: &mut Recording, playhead: &mut Playhead, step: StepKind) -> bool {
    let ops = playhead.cursor().ops;
    let beyond = playhead.at() > playhead.cursor().instant();
    let end = if beyond { ops } else { ops.saturating_sub(1) };
    let found = playhead.reel(recording).ops()[..end].iter().rposition(|op| fits(step, op));
    let before = (ops, playhead.at());
    match found {
        Some(op) => playhead.seek_ops(recording, op + 1),
        None => playhead.seek(recording, playhead.origin()),
    }
    before != (playhead.cursor().ops, playhead.at())
}
