//! One run with its branches, a playhead, and what was chosen to be seen of it. It plays nothing and makes no view.

use highwater_engine::base::Dur;

use super::refusals;
use crate::link::Link;
use crate::recording::{ByHand, Goal, Place, Playhead, Recording};
use crate::scenario::Scenario;
use crate::story::Seen;
use crate::view::model::{OpenError, Origin, ScenarioId};
use crate::view::scene::Chosen;

/// How long before the first thing that its script does a scenario of the picker opens.
const EVE: Dur = Dur::secs(1);

/// One run with what was chosen to be seen of it.
pub(super) struct Run {
    pub(super) recording: Recording,
    pub(super) playhead: Playhead,
    pub(super) origin: Origin,
    pub(super) chosen: Chosen,
    /// Where each action by hand was done, and whether the run had been changed before it, the last one last.
    pub(super) done: Vec<(Place, bool)>,
}

impl Run {
    pub(super) fn open(scenario: Scenario, origin: Origin) -> Result<Run, OpenError> {
        Run::with_hand(scenario, Vec::new(), origin)
    }

    pub(super) fn with_hand(file: Scenario, hand: Vec<ByHand>, origin: Origin) -> Result<Run, OpenError> {
        let mut recording = Recording::with_hand(file, hand).map_err(|refusal| refusals::of_boot(&refusal))?;
        let playhead = Playhead::new(&mut recording);
        Ok(Run { recording, playhead, origin, chosen: Chosen::default(), done: Vec::new() })
    }

    pub(super) fn of_gallery(id: ScenarioId) -> Result<Run, OpenError> {
        let scenario = id.scenario().map_err(|error| refusals::of_scenario(&error))?;
        Run::open(scenario, Origin::Gallery { id, changed: false })
    }

    pub(super) fn seen(&self) -> Seen<'_> {
        Seen::new(&self.recording, &self.playhead)
    }

    /// Shortly before the first thing that the script does, if it does any.
    pub(super) fn eve(&self) -> Option<Goal> {
        let plan = &self.seen().branch().lowered.plan;
        let first = plan.iter().filter(|due| due.scripted).map(|due| due.at.at).min();
        first.map(|first| Goal::Until(self.recording.origin() + Dur(first.0.saturating_sub(EVE.0))))
    }

    /// What a link describes, at 0 s, with the place where the link leads and the digest that it names.
    pub(super) fn of_link(fragment: &str) -> Result<(Run, Goal, Option<u32>), OpenError> {
        let link = Link::read(fragment).map_err(|error| refusals::of_link(&error))?;
        let plain = Scenario { engine: None, ..link.scenario.clone() };
        let known = ScenarioId::of(&link.scenario).or_else(|| ScenarioId::of(&plain));
        let title = link.scenario.title.as_ref().map(|title| title.of(link.scenario.lang.as_deref().unwrap_or("en")));
        let origin = known.map_or(Origin::Link { title }, |id| Origin::Gallery { id, changed: false });
        let run = Run::open(link.scenario, origin)?;
        let goal = link.at.map_or(Goal::Until(run.playhead.at()), |at| run.playhead.goal_of(at));
        Ok((run, goal, link.digest))
    }
}
