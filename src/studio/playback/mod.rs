//! The playhead's motion: pace, steps in both directions, skipping a wait, and what is waited for. It keeps no trace
//! and knows no page.

mod awaited;

pub use awaited::{Awaited, Wait, awaited, fenced_at};

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{Request, Response};

use crate::recording::{Op, Recording};

/// How fast simulated time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Slow while something notable is in flight, fast through waiting.
    Automatic,
    /// Simulated over real time.
    Fixed { numerator: u32, denominator: u32 },
}

/// What one step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
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
pub struct Playback {
    pub playing: bool,
    pub pace: Pace,
    pub step: Unit,
    /// Real time, times the numerator of the pace, that has not made a microsecond yet.
    rest: u64,
    /// The rate that `rest` was left by.
    rate: (u64, u64),
    /// Real time since the last change was shown, with reduced motion.
    paused_us: u64,
}

impl Default for Playback {
    fn default() -> Self {
        Playback { playing: false, pace: Pace::Automatic, step: Unit::Message, rest: 0, rate: FAST, paused_us: 0 }
    }
}

impl Playback {
    /// Lets real time pass. Returns whether the playhead moved or play ended.
    pub fn tick(&mut self, recording: &mut Recording, real_us: u64, reduced_motion: bool) -> bool {
        if !self.playing {
            return false;
        }
        let planned = recording.origin() + recording.branch().lowered.end;
        let before = recording.at();
        if reduced_motion {
            self.paused_us += real_us.min(LONGEST_FRAME_US);
            if self.paused_us < REDUCED_PAUSE_US {
                return false;
            }
            self.paused_us = 0;
            forward(recording, Unit::Notable);
        } else {
            self.glide(recording, real_us.min(LONGEST_FRAME_US), planned);
        }
        // Play ends where the script ends; whoever plays on from there sees what comes.
        if (before < planned && recording.at() >= planned) || recording.at() >= recording.origin() + LAST_MOMENT {
            self.playing = false;
        }
        recording.at() != before || !self.playing
    }

    fn glide(&mut self, recording: &mut Recording, real_us: u64, planned: SimTime) {
        let mut budget = real_us;
        let last = if recording.at() < planned { planned } else { recording.origin() + LAST_MOMENT };
        for _ in 0..FRAME_STEPS {
            let (numerator, denominator) = self.rate(recording);
            if self.rate != (numerator, denominator) {
                self.rate = (numerator, denominator);
                self.rest = 0;
            }
            let at = recording.at();
            let reach = SimTime(at.0 + (budget * numerator + self.rest) / denominator).min(last);
            match recording.next_at() {
                Some(next) if next <= reach => {
                    let cost = (next.since(at).0 * denominator).saturating_sub(self.rest).div_ceil(numerator);
                    self.rest = (cost * numerator + self.rest).saturating_sub(next.since(at).0 * denominator);
                    budget = budget.saturating_sub(cost);
                    recording.step(next);
                }
                Some(_) | None => {
                    self.rest = (budget * numerator + self.rest) % denominator;
                    recording.stand_at(reach);
                    return;
                }
            }
        }
    }

    fn rate(&self, recording: &Recording) -> (u64, u64) {
        match self.pace {
            Pace::Automatic if recording.world().in_flight().any(is_notable) => SLOW,
            Pace::Automatic => FAST,
            Pace::Fixed { numerator, denominator } => (u64::from(numerator.max(1)), u64::from(denominator.max(1))),
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

fn fits(unit: Unit, op: &Op) -> bool {
    match unit {
        Unit::Message => op.sends,
        Unit::Event => true,
        Unit::Notable => op.notable,
    }
}

/// One step forward. Returns whether there was one.
pub fn forward(recording: &mut Recording, unit: Unit) -> bool {
    let from = recording.cursor().ops;
    let known = recording.reel().ops()[from..].iter().position(|op| fits(unit, op));
    if let Some(known) = known {
        recording.seek_ops(from + known + 1);
        return true;
    }
    let limit = (recording.at() + LOOK_AHEAD).min(recording.origin() + LAST_MOMENT);
    recording.seek_ops(recording.reel().n_ops());
    for _ in 0..LOOK_AHEAD_STEPS {
        if !recording.step(limit) {
            recording.stand_at(limit);
            return false;
        }
        let last = recording.reel().ops().last();
        if last.is_some_and(|op| fits(unit, op)) {
            return true;
        }
    }
    false
}

/// One step back: right after the change before this one. Returns whether the playhead moved.
pub fn back(recording: &mut Recording, unit: Unit) -> bool {
    let ops = recording.cursor().ops;
    let beyond = recording.at() > recording.cursor().instant();
    let end = if beyond { ops } else { ops.saturating_sub(1) };
    let found = recording.reel().ops()[..end].iter().rposition(|op| fits(unit, op));
    let before = (ops, recording.at());
    match found {
        Some(op) => recording.seek_ops(op + 1),
        None => recording.seek(recording.origin()),
    }
    before != (recording.cursor().ops, recording.at())
}
