//! What every world promises: same seed same run, a crash loses memory and keeps the disk, causes lie in the past, ties
//! have an order.

use highwater_engine::base::{Dur, Seq, SimTime};
use highwater_engine::protocol::Api;
use highwater_engine::trace::Kind;
use highwater_engine::world::{Action, World};

use super::cluster::{Cluster, broker, setup};

fn busy(seed: u64) -> Cluster {
    let mut c = Cluster::boot(seed);
    c.topic("t", 1);
    c.producer("p", &[("acks", "all")]);
    c.consumer("c", "g", "t");
    c.produce("p", "t", "a", 50, Dur::ms(20));
    c.run(Dur::secs(3));
    c
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let (a, b) = (busy(7), busy(7));
    assert_eq!(a.world.digest(), b.world.digest());
    assert_eq!(a.trace, b.trace);
    assert_ne!(a.world.digest(), busy(8).world.digest(), "another seed is another run");
}

#[test]
fn a_clone_goes_on_as_the_original_does() {
    let mut a = busy(3);
    let mut copy = a.world.clone();
    let mut trace = Vec::new();
    a.run(Dur::secs(5));
    copy.run_until(a.world.now(), &mut trace);
    assert_eq!(copy.digest(), a.world.digest());
    assert!(a.trace.ends_with(&trace));
}

#[test]
fn running_in_small_steps_is_running_in_one() {
    let (mut a, mut b) = (busy(5), busy(5));
    a.run(Dur::secs(4));
    for _ in 0..4_000 {
        b.run(Dur::ms(1));
    }
    assert_eq!(a.world.digest(), b.world.digest());
}

#[test]
fn a_kill_loses_memory_and_keeps_the_disk() {
    let mut c = busy(1);
    let before = c.world.machine(broker(2)).map(|m| m.disk.logs.clone());
    c.act(Action::Kill(broker(2)));
    let machine = c.world.machine(broker(2)).expect("the machine stays");
    assert!(machine.process.is_none());
    assert_eq!(Some(machine.disk.logs.clone()), before);
    assert_eq!(machine.timers.next_at(), None, "timers are memory");
}

#[test]
fn a_lost_disk_keeps_nothing_and_has_another_directory() {
    let mut c = busy(1);
    c.act(Action::Kill(broker(2)));
    c.act(Action::LoseDisk(broker(2)));
    let disk = &c.world.machine(broker(2)).expect("the machine stays").disk;
    assert!(disk.logs.is_empty() && disk.metadata_log.is_empty());
    assert_eq!(disk.directory, 1);
}

#[test]
fn a_paused_process_handles_nothing_until_it_goes_on() {
    let mut c = busy(1);
    c.act(Action::Pause(broker(2)));
    let from = c.trace.len();
    c.run(Dur::secs(2));
    let noticed =
        c.trace[from..].iter().filter(|e| e.who == broker(2) && !matches!(e.kind, Kind::MessageHeld { .. })).count();
    assert_eq!(noticed, 0);
    c.act(Action::Resume(broker(2)));
    let from = c.trace.len();
    c.run(Dur::ms(10));
    assert!(c.trace[from..].iter().any(|e| e.who == broker(2)));
}

#[test]
fn causes_lie_in_the_past_and_numbers_rise() {
    let c = busy(2);
    let mut last = Seq(0);
    let mut at = SimTime::ZERO;
    for entry in &c.trace {
        assert!(entry.seq > last, "{entry:?}");
        assert!(entry.cause < entry.seq, "{entry:?}");
        assert!(entry.at >= at, "{entry:?}");
        (last, at) = (entry.seq, entry.at);
    }
}

#[test]
fn a_timer_that_was_overdue_when_its_process_went_on_comes_of_that() {
    let mut c = busy(5);
    c.act(Action::Pause(broker(3)));
    c.run(Dur::secs(5));
    c.act(Action::Resume(broker(3)));
    c.run(Dur::secs(1));
    let resumed = c.trace.iter().rposition(|e| e.kind == Kind::ProcessResumed).expect("it went on");
    let heartbeat = |kind: &Kind| matches!(kind, Kind::MessageSent { api: Api::BrokerHeartbeat, response: false, .. });
    let first = c.trace[resumed..].iter().find(|e| e.who == broker(3) && heartbeat(&e.kind));
    assert_eq!(first.map(|e| e.cause), Some(c.trace[resumed].seq), "its heartbeat was due long before");
}

#[test]
fn a_process_that_ends_by_itself_comes_of_what_let_it() {
    let mut c = busy(5);
    c.act(Action::Stop(broker(3)));
    c.run(Dur::secs(5));
    let exited = c.trace.iter().find(|e| matches!(e.kind, Kind::ProcessExited { .. })).expect("it stops");
    let cause = c.trace.iter().find(|e| e.seq == exited.cause).expect("of something");
    assert!(matches!(cause.kind, Kind::MessageSent { api: Api::BrokerHeartbeat, response: true, .. }), "{cause:?}");
}

#[test]
fn an_action_that_makes_no_sense_is_an_entry_of_the_trace_and_changes_nothing() {
    let mut c = Cluster::boot(2);
    let machines = |c: &Cluster| c.world.machines().map(|(id, machine)| (id, machine.clone())).collect::<Vec<_>>();
    let (before, links) = (machines(&c), c.world.network().clone());
    for action in [
        Action::Start(broker(1)),
        Action::Resume(broker(1)),
        Action::Kill(broker(9)),
        Action::LoseDisk(broker(1)),
        Action::CloseClient { name: "nobody".into(), within: None },
    ] {
        let from = c.trace.len();
        let refusal = c.world.act(action.clone(), &mut c.trace).expect_err("it makes no sense");
        let told: Vec<_> = c.trace[from..].iter().map(|entry| entry.kind.clone()).collect();
        let [Kind::ActionRefused { verb, why, .. }] = told.as_slice() else { panic!("{action:?}: {told:?}") };
        assert_eq!((*verb, &**why), (action.verb(), &refusal));
    }
    assert_eq!((machines(&c), c.world.network()), (before, &links));
}

#[test]
fn an_impossible_set_up_is_refused() {
    let mut none = setup(1);
    none.brokers.clear();
    let mut twice = setup(1);
    twice.brokers[1].id = twice.brokers[0].id;
    let mut asleep = setup(1);
    asleep.brokers.iter_mut().for_each(|b| b.started = false);
    let mut unknown = setup(1);
    unknown.config.insert("no.such.key".into(), "1".into());
    for bad in [none, twice, asleep, unknown] {
        assert!(World::boot(&bad).is_err(), "{bad:?}");
    }
}

#[test]
fn the_cluster_forms_with_every_version_and_size() {
    for version in highwater_engine::rules::Version::ALL {
        for controllers in [1, 3] {
            for seed in 0..5 {
                let mut s = setup(seed);
                (s.version, s.controllers) = (*version, controllers);
                let c = Cluster::with(&s);
                assert!(c.world.active_controller().is_some());
                assert!(
                    c.world.origin() < SimTime::ZERO + Dur::secs(20),
                    "{version:?} with {controllers}: {:?}",
                    c.world.origin()
                );
            }
        }
    }
}
