//! The swarm's own machinery: what it draws can be written, linked and played again. The swarm itself is a command of
//! its own.

use highwater_studio::link::Link;
use highwater_studio::scenario;
use highwater_studio::search::{Counts, draw, run};

#[test]
fn what_is_drawn_is_a_scenario_that_a_person_could_write() {
    for seed in 0..300 {
        let drawn = draw(seed);
        let text = scenario::encode(&drawn);
        assert_eq!(scenario::decode(&text).as_ref(), Ok(&drawn), "seed {seed}: {text}");
        let link = Link::read(&Link::new(drawn.clone()).fragment()).expect("its link opens");
        assert_eq!(link.scenario, drawn);
    }
}

#[test]
fn a_run_is_the_same_every_time() {
    for seed in 0..3 {
        assert_eq!(run(&draw(seed)).counts, run(&draw(seed)).counts);
    }
}

#[test]
fn a_few_runs_keep_every_invariant_and_see_hard_things() {
    let mut counts = Counts::default();
    for seed in 0..25 {
        let report = run(&draw(seed));
        counts.add(&report.counts);
        assert!(report.failure.is_none(), "seed {seed}: {:?}", report.failure.map(|f| f.what));
    }
    assert!(
        counts.elections > 0 && counts.isr_shrinks > 0 && counts.truncations_with_records > 0 && counts.rebalances > 0,
        "{counts:?}"
    );
}
