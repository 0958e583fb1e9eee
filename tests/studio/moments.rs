//! A fact is a statement of its own moment: what is told of an entry when it happens is told of it ever after. It does
//! not judge what is told.

use std::collections::BTreeSet;
use std::mem::discriminant;

use highwater_engine::base::Dur;
use highwater_studio::playback::{self, StepKind};
use highwater_studio::recording::{Playhead, Recording, Way};
use highwater_studio::scenario::{Scenario, decode};
use highwater_studio::search::draw;
use highwater_studio::story::{Fact, Seen, tell};

use crate::log::every_verb;
use crate::text;

/// The facts of a run, each told right after the event that it is of, and told again at the end.
fn told_twice(scenario: Scenario, until: Dur) -> Vec<(usize, Option<Fact>, Option<Fact>)> {
    let mut recording = Recording::new(scenario).unwrap_or_else(|refusal| panic!("{refusal:?}"));
    let mut playhead = Playhead::new(&mut recording);
    let end = playhead.origin() + until;
    let fact = |recording: &Recording, playhead: &Playhead, index| {
        tell(Seen::new(recording, playhead), index).map(|told| told.fact)
    };
    let mut then = Vec::new();
    loop {
        for index in then.len()..playhead.n_entries(&recording) {
            then.push(fact(&recording, &playhead, index));
        }
        let next = playback::next(&recording, &playhead, StepKind::Event);
        if playhead.at() >= end || playhead.go(&mut recording, next) != Way::There {
            break;
        }
    }
    let now = |index| fact(&recording, &playhead, index);
    then.into_iter().enumerate().map(|(index, then)| (index, then, now(index))).collect()
}

#[test]
fn facts_do_not_change_when_the_playhead_moves_on() {
    let mut runs: Vec<Scenario> = ["as-it-happened", "same-cluster-today", "the-cure"]
        .iter()
        .map(|name| decode(&text::read(&format!("scenarios/{name}.json"))).unwrap_or_else(|e| panic!("{name}: {e}")))
        .collect();
    runs.extend((0..3).map(draw));
    runs.push(every_verb());
    let (mut stable, mut kinds) = (0, BTreeSet::new());
    for scenario in runs {
        let seed = scenario.seed;
        for (index, then, now) in told_twice(scenario, Dur::secs(20)) {
            assert_eq!(then, now, "seed {seed}: entry {index}");
            kinds.extend(now.as_ref().map(|fact| format!("{:?}", discriminant(fact))));
            if let Some(Fact::GroupStable { generation, members, .. }) = now {
                assert!(members > 0, "seed {seed}: generation {generation} is stable without members");
                stable += 1;
            }
        }
    }
    assert!(stable > 3, "{stable} generations");
    assert!(kinds.len() > 45, "{} kinds of facts", kinds.len());
}
