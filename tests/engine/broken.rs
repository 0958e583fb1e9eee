//! Rules of the engine broken on purpose, one at a time: the checker finds it in a short run, and finds nothing in the
//! same run with the rule in force. It forges no entry.

use highwater_engine::base::{ControllerId, Dur, NodeId};
use highwater_engine::check::{Checker, Invariant, Observation};
use highwater_engine::protocol::Api;
use highwater_engine::rules::Broken;
use highwater_engine::world::Action;

use super::cluster::{Cluster, broker, setup};

/// A cluster with these rules broken, its checker looking after every event.
struct Suspect {
    c: Cluster,
    checker: Checker,
    /// Whether it looks at everything, or only at what the entries name.
    dear: bool,
    followed: usize,
    found: Option<Invariant>,
}

impl Suspect {
    fn boot(seed: u64, broken: Broken, dear: bool) -> Suspect {
        let mut s = setup(seed);
        s.broken = broken;
        Suspect { c: Cluster::with(&s), checker: Checker::default(), dear, followed: 0, found: None }
    }

    fn look(&mut self) {
        let followed = self.checker.follow(&self.c.world, &self.c.trace[self.followed..]);
        self.followed = self.c.trace.len();
        let seen = if self.dear {
            followed.and_then(|()| self.checker.inspect(&Observation::of(&self.c.world)))
        } else {
            followed
        };
        self.found = self.found.or(seen.err().map(|violation| violation.invariant));
    }

    /// Runs at most this long, until something is found.
    fn run(&mut self, span: Dur) {
        let end = self.c.world.now() + span;
        self.look();
        while self.found.is_none() && self.c.world.next_event_at().is_some_and(|at| at <= end) {
            self.c.world.step(&mut self.c.trace);
            self.look();
        }
    }
}

/// Plays the same run with the rules in force and with these broken; what is found then.
fn found(broken: Broken, dear: bool, play: impl Fn(&mut Suspect)) -> Option<Invariant> {
    let mut innocent = Suspect::boot(1, Broken::NOTHING, dear);
    play(&mut innocent);
    assert_eq!(innocent.found, None, "with the rule in force nothing is wrong");
    let mut suspect = Suspect::boot(1, broken, dear);
    play(&mut suspect);
    suspect.found
}

#[test]
fn a_high_watermark_that_ignores_followers_breaks_the_strong_isr() {
    let play = |s: &mut Suspect| {
        s.c.topic("t", 2);
        s.c.producer("p", &[("acks", "all"), ("linger.ms", "0")]);
        s.c.produce("p", "t", "a", 20, Dur::ms(20));
        s.run(Dur::secs(2));
    };
    assert_eq!(
        found(Broken { high_watermark_ignores_followers: true, ..Broken::NOTHING }, true, play),
        Some(Invariant::StrongIsr)
    );
}

#[test]
fn an_election_outside_the_isr_loses_committed_records() {
    let play = |s: &mut Suspect| {
        let tp = s.c.topic("t", 1);
        s.c.producer("p", &[("acks", "all"), ("linger.ms", "0")]);
        // Broker 2, the next in the list of replicas, falls behind and out of the ISR.
        s.c.act(Action::Kill(broker(2)));
        s.c.until(Dur::secs(15), |c| c.recorded(tp, |p| p.isr.len()) == Some(2));
        s.c.produce("p", "t", "a", 5, Dur::ms(20));
        s.run(Dur::secs(2));
        assert_eq!(s.checker.committed_end(tp), 5);
        // It comes back while nobody can tell it what it missed.
        let pair = |a, b| Action::Cut { from: vec![broker(a)], to: vec![broker(b)], both: true };
        s.c.act(pair(1, 2));
        s.c.act(pair(3, 2));
        s.c.act(Action::Start(broker(2)));
        s.run(Dur::secs(20));
        s.c.act(Action::Kill(broker(1)));
        s.run(Dur::secs(20));
    };
    let broken = Broken { elects_outside_isr: true, ..Broken::NOTHING };
    assert_eq!(found(broken, true, play), Some(Invariant::LeaderInIsr), "as soon as it is recorded");
    assert_eq!(
        found(broken, false, play),
        Some(Invariant::CommittedRecordsStay),
        "when the broker hears that it leads"
    );
}

#[test]
fn a_voter_that_votes_twice_makes_two_leaders_of_one_epoch() {
    let controllers: Vec<NodeId> = (1..=3).map(|id| NodeId::Controller(ControllerId(id))).collect();
    let play = |s: &mut Suspect| {
        // All begin anew, and slow links keep the candidates from hearing of each other in time.
        for node in &controllers {
            s.c.act(Action::Kill(*node));
        }
        s.c.act(Action::Link {
            between: controllers.clone(),
            and: controllers.clone(),
            latency: Some(Dur::ms(300)),
            jitter: None,
            loss_per_million: None,
        });
        for node in &controllers {
            s.c.act(Action::Start(*node));
        }
        s.run(Dur::secs(20));
    };
    assert_eq!(
        found(Broken { votes_twice: true, ..Broken::NOTHING }, true, play),
        Some(Invariant::QuorumElectionSafety)
    );
}

#[test]
fn an_append_that_looks_at_no_sequence_duplicates() {
    let play = |s: &mut Suspect| {
        s.c.topic("t", 1);
        s.c.producer(
            "p",
            &[("acks", "all"), ("linger.ms", "0"), ("request.timeout.ms", "3000"), ("delivery.timeout.ms", "30000")],
        );
        s.c.lose_next(Api::Produce, true);
        s.c.produce("p", "t", "a", 1, Dur::ZERO);
        s.run(Dur::secs(6));
    };
    assert_eq!(
        found(Broken { appends_without_sequence_check: true, ..Broken::NOTHING }, true, play),
        Some(Invariant::NoDuplicates)
    );
}
