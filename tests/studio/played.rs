//! A recording with one playhead that has run to a moment, as tests of the trace want it. It judges nothing.

use highwater_engine::base::{Dur, SimTime};
use highwater_engine::world::World;
use highwater_studio::notation::Book;
use highwater_studio::recording::{Playhead, Recording, Reel};
use highwater_studio::scenario::Scenario;
use highwater_studio::story::Seen;

pub struct Played {
    recording: Recording,
    playhead: Playhead,
}

impl Played {
    /// Boots a scenario, at 0 s.
    pub fn new(scenario: Scenario) -> Played {
        let mut recording =
            Recording::new(scenario).unwrap_or_else(|refusal| panic!("the cluster does not boot: {refusal:?}"));
        let playhead = Playhead::new(&mut recording);
        Played { recording, playhead }
    }
    /// To a time since 0 s.
    pub fn run(&mut self, span: Dur) {
        self.playhead.run_until(&mut self.recording, self.playhead.origin() + span);
    }
    pub fn seen(&self) -> Seen<'_> {
        Seen::new(&self.recording, &self.playhead)
    }
    pub fn origin(&self) -> SimTime {
        self.playhead.origin()
    }
    pub fn world(&self) -> &World {
        self.playhead.world()
    }
    pub fn reel(&self) -> &Reel {
        self.seen().reel()
    }
    pub fn n_entries(&self) -> usize {
        self.seen().n_entries()
    }
    pub fn book(&self) -> Book {
        self.seen().book()
    }
}
