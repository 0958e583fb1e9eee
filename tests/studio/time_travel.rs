//! Time travel: any moment has the digest of a straight run, a branch replayed has the same reel, links reproduce the
//! moment. It judges no view.

use highwater_engine::base::{BrokerId, Dur, NodeId, Rng, SimTime, StreamId};
use highwater_studio::link::{Link, short_digest};
use highwater_studio::playback::{self, StepKind};
use highwater_studio::recording::{Acted, NotDone, Playhead, Recording, Reel, Way};
use highwater_studio::scenario::{Moment, Node, Scenario, Sides, Verb, decode, encode};

use crate::text;

fn gallery(name: &str) -> Scenario {
    decode(&text::read(&format!("scenarios/{name}.json"))).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A recording with one playhead over it.
struct Travel {
    recording: Recording,
    playhead: Playhead,
}

impl Travel {
    fn new(scenario: Scenario) -> Travel {
        let mut recording = Recording::new(scenario).unwrap_or_else(|refusal| panic!("{refusal:?}"));
        let playhead = Playhead::new(&mut recording);
        Travel { recording, playhead }
    }
    fn at(&self) -> SimTime {
        self.playhead.at()
    }
    fn ops(&self) -> usize {
        self.playhead.cursor().ops
    }
    fn digest(&self) -> u64 {
        self.playhead.digest()
    }
    fn reel(&self) -> &Reel {
        self.playhead.reel(&self.recording)
    }
    fn n_entries(&self) -> usize {
        self.playhead.n_entries(&self.recording)
    }
    fn scenario(&self) -> Scenario {
        (*self.playhead.branch(&self.recording).scenario).clone()
    }
    fn run_until(&mut self, at: SimTime) {
        self.playhead.run_until(&mut self.recording, at);
    }
    /// To a time since 0 s.
    fn seek(&mut self, at: Dur) {
        self.playhead.seek(&mut self.recording, self.playhead.origin() + at);
    }
    fn seek_ops(&mut self, ops: usize) {
        let goal = self.playhead.after(&self.recording, ops);
        self.playhead.go(&mut self.recording, goal);
    }
    fn act(&mut self, verb: Verb) -> Result<Acted, NotDone> {
        self.playhead.act(&mut self.recording, verb)
    }
    fn select(&mut self, branch: usize) -> bool {
        let goal = self.playhead.select(&self.recording, branch);
        goal.is_some_and(|goal| self.playhead.go(&mut self.recording, goal) == Way::There)
    }
    fn forward(&mut self, step: StepKind) -> bool {
        let goal = playback::next(&self.recording, &self.playhead, step);
        self.playhead.go(&mut self.recording, goal) == Way::There
    }
    fn back(&mut self, step: StepKind) -> bool {
        let before = (self.ops(), self.at());
        let goal = playback::previous(&self.recording, &self.playhead, step);
        self.playhead.go(&mut self.recording, goal);
        before != (self.ops(), self.at())
    }
}

fn run_to(scenario: &Scenario, at: Dur) -> Travel {
    let mut travel = Travel::new(scenario.clone());
    let at = travel.playhead.origin() + at;
    travel.run_until(at);
    travel
}

#[test]
fn seek_gives_the_digest_of_a_straight_run() {
    for seed in 1..4 {
        let scenario = Scenario { seed, ..gallery("as-it-happened") };
        let mut travelled = run_to(&scenario, Dur::secs(25));
        let mut rng = Rng::stream(seed, StreamId::World);
        for _ in 0..12 {
            let at = rng.between(Dur::ZERO, Dur::secs(25));
            travelled.seek(at);
            let straight = run_to(&scenario, at);
            assert_eq!(travelled.digest(), straight.digest(), "seed {seed} at {at:?}");
            assert_eq!(travelled.n_entries(), straight.reel().len());
            assert_eq!(travelled.at(), straight.at());
        }
        // Nothing of the past was written twice.
        travelled.seek(Dur::secs(25));
        let straight = run_to(&scenario, Dur::secs(25));
        assert_eq!(travelled.reel().len(), straight.reel().len());
        for index in 0..straight.reel().len() {
            assert_eq!(travelled.reel().get(index), straight.reel().get(index));
        }
    }
}

#[test]
fn every_step_can_be_reached_from_both_sides() {
    let scenario = gallery("the-cure");
    let mut there = run_to(&scenario, Dur::secs(8));
    let n = there.reel().n_ops();
    let mut digests = Vec::new();
    for ops in n - 300..=n {
        there.seek_ops(ops);
        digests.push((ops, there.at(), there.digest()));
    }
    for (ops, at, digest) in digests.into_iter().rev() {
        there.seek_ops(ops);
        assert_eq!((there.ops(), there.at(), there.digest()), (ops, at, digest));
    }
}

#[test]
fn steps_back_undo_steps_forward() {
    let mut recording = run_to(&gallery("as-it-happened"), Dur::secs(13));
    for unit in [StepKind::Event, StepKind::Message, StepKind::Notable] {
        recording.seek(Dur::secs(6));
        assert!(recording.forward(unit));
        let mut seen = vec![(recording.at(), recording.ops())];
        for _ in 0..if unit == StepKind::Notable { 4 } else { 20 } {
            assert!(recording.forward(unit), "{unit:?}");
            seen.push((recording.at(), recording.ops()));
        }
        for place in seen.iter().rev().skip(1) {
            assert!(recording.back(unit));
            assert_eq!((recording.at(), recording.ops()), *place, "{unit:?}");
        }
    }
    while recording.back(StepKind::Notable) {}
    assert_eq!(recording.at(), recording.playhead.origin());
    assert_eq!(recording.ops(), 0);
}

#[test]
fn an_action_in_the_past_opens_a_branch_and_keeps_the_old_one() {
    let scenario = gallery("as-it-happened");
    let mut recording = run_to(&scenario, Dur::secs(20));
    let (old_end, old_digest) = (recording.at(), recording.digest());
    recording.seek(Dur::secs(10));
    assert_eq!(recording.act(Verb::Kill(vec![Node::Broker(2)])), Ok(Acted::InBranch(1)));
    recording.run_until(recording.playhead.origin() + Dur::secs(20));
    let branch_digest = recording.digest();
    assert_ne!(branch_digest, old_digest);
    // Acting at the end of what is known opens none.
    assert_eq!(recording.act(Verb::Start(vec![Node::Broker(2)])), Ok(Acted::Here));
    assert_eq!(recording.recording.branches().len(), 2);
    assert!(recording.select(0));
    recording.seek(old_end.since(recording.playhead.origin()));
    assert_eq!(recording.digest(), old_digest);
    // What the world refuses changes nothing.
    assert!(recording.act(Verb::Start(vec![Node::Broker(3)])).is_err());
    assert_eq!((recording.recording.branches().len(), recording.digest()), (2, old_digest));
}

/// Two futures of one run at one clock, each with its own world.
#[test]
fn two_playheads_look_at_two_branches_and_none_moves_the_other() {
    let mut travel = run_to(&gallery("as-it-happened"), Dur::secs(20));
    let mut other = travel.playhead.clone();
    let (at, before) = (travel.at(), (travel.ops(), travel.digest()));
    other.seek(&mut travel.recording, other.origin() + Dur::secs(10));
    assert_eq!((travel.at(), (travel.ops(), travel.digest())), (at, before), "a seek of the other");
    assert_eq!(other.act(&mut travel.recording, Verb::Kill(vec![Node::Broker(2)])), Ok(Acted::InBranch(1)));
    other.run_until(&mut travel.recording, at);
    assert_eq!(other.at(), at);
    assert_eq!((travel.at(), (travel.ops(), travel.digest())), (at, before), "an action of the other");
    assert_eq!((travel.playhead.current(), other.current()), (0, 1));
    let down = |playhead: &Playhead, id: u32| {
        playhead.world().machine(NodeId::Broker(BrokerId(id))).is_some_and(|machine| machine.process.is_none())
    };
    assert_eq!((down(&travel.playhead, 2), down(&other, 2)), (false, true));
    // Both stand where a straight run of their own recipe stands.
    for playhead in [&travel.playhead, &other] {
        let recipe = (*playhead.branch(&travel.recording).scenario).clone();
        assert_eq!(run_to(&recipe, at.since(playhead.origin())).digest(), playhead.digest());
    }
    // Of two at the end of one branch the one that acts stays in it, and the other still stands before the action.
    let mut third = travel.playhead.clone();
    assert_eq!(third.act(&mut travel.recording, Verb::Pause(vec![Node::Broker(3)])), Ok(Acted::Here));
    assert_eq!((travel.at(), (travel.ops(), travel.digest())), (at, before));
    assert!(travel.playhead.in_the_past(&travel.recording) && !third.in_the_past(&travel.recording));
    assert_eq!(travel.act(Verb::Pause(vec![Node::Broker(2)])), Ok(Acted::InBranch(2)));
    // Where nothing happened since is the past as well.
    third.run_until(&mut travel.recording, at + Dur::secs(1));
    let quiet = third.cursor().instant();
    let mut fourth = third.clone();
    fourth.seek(&mut travel.recording, quiet);
    if quiet < third.at() {
        assert_eq!(fourth.act(&mut travel.recording, Verb::Resume(vec![Node::Broker(3)])), Ok(Acted::InBranch(3)));
    }
}

/// Acts by hand at random places, also in the middle of an instant, and holds each branch against a straight run of its
/// recipe.
#[test]
fn a_branch_replayed_from_its_recipe_has_the_same_reel() {
    let scenario = gallery("the-cure");
    let mut recording = run_to(&scenario, Dur::secs(18));
    let mut rng = Rng::stream(11, StreamId::World);
    let verbs = [
        Verb::Pause(vec![Node::Broker(3)]),
        Verb::Cut(Sides { from: vec![Node::Broker(1)], to: vec![Node::Broker(2), Node::Controller(1)], both: true }),
        Verb::SetClient { name: "checkout".into(), rate: Some(20), config: Default::default() },
        Verb::Resume(vec![Node::Broker(3)]),
        Verb::Heal(None),
        Verb::Kill(vec![Node::ActiveController]),
        Verb::Kill(vec![Node::Broker(2)]),
        Verb::SetClient {
            name: "checkout".into(),
            rate: None,
            config: [("acks".to_string(), "all".to_string())].into(),
        },
    ];
    let mut done = 0;
    for verb in verbs {
        let n = recording.reel().n_ops();
        recording.seek_ops(n - 1 - rng.below(200) as usize);
        done += usize::from(recording.act(verb).is_ok());
        let on = recording.at() + rng.between(Dur::ms(200), Dur::secs(2));
        recording.run_until(on);
    }
    assert!(done >= 6, "only {done} actions were accepted");
    let end = recording.at().since(recording.playhead.origin());
    let recipe = decode(&encode(&recording.scenario())).unwrap_or_else(|error| panic!("{error}"));
    let straight = run_to(&recipe, end);
    assert_eq!(straight.reel().len(), recording.reel().len());
    for index in 0..straight.reel().len() {
        assert_eq!(recording.reel().get(index), straight.reel().get(index), "entry {index}");
    }
    assert_eq!(straight.digest(), recording.digest());
}

#[test]
fn a_link_reproduces_the_run_and_the_moment() {
    let mut recording = run_to(&gallery("as-it-happened"), Dur::secs(14));
    let n = recording.reel().n_ops();
    recording.seek_ops(n - 37);
    assert!(recording.act(Verb::Pause(vec![Node::Broker(2)])).is_ok());
    for _ in 0..25 {
        recording.forward(StepKind::Event);
    }
    let link = Link {
        at: Some(recording.playhead.moment(&recording.recording)),
        digest: Some(short_digest(recording.digest())),
        ..Link::new(recording.scenario())
    };
    let read = Link::read(&link.fragment()).unwrap_or_else(|error| panic!("{error}"));
    let mut opened = Travel::new(read.scenario);
    let goal = opened.playhead.goal_of(read.at.unwrap_or(Moment::after(Dur::ZERO)));
    opened.playhead.go(&mut opened.recording, goal);
    assert_eq!(Some(short_digest(opened.digest())), read.digest);
    assert_eq!((opened.at(), opened.ops()), (recording.at(), recording.ops()));
}

#[test]
fn keyframes_stay_within_their_number_and_serve_every_age() {
    let mut recording = run_to(&gallery("the-cure"), Dur::secs(240));
    let n = recording.reel().n_ops();
    assert!(n > 20_000, "{n} steps");
    for place in [0, n / 7, n / 3, n / 2, n - 1] {
        recording.seek_ops(place);
        assert_eq!(recording.ops(), place);
    }
    recording.seek(Dur::ZERO);
    assert_eq!(recording.at(), recording.playhead.origin());
}
