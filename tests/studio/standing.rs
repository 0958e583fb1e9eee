//! How a broker stands while it comes and goes, and who may lead beside the ISR: what the stage shows of it.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::link::Link;
use highwater_studio::scenario::decode;
use highwater_studio::view::model::*;

use crate::story::named;

fn act(studio: &mut Studio, broker: u32, action: NodeAction) {
    let outcome = studio.handle(Command::Act(NodeRef::Broker(broker), action));
    assert!(matches!(outcome, Outcome::Done | Outcome::Branched(_)), "{outcome:?}");
}

fn seek(studio: &mut Studio, ms: u64) {
    assert_eq!(studio.handle(Command::SeekTo { at_us: ms * 1_000 }), Outcome::Done);
}

/// Every ten milliseconds of a stretch of time, how a broker is, without repetition.
fn course(studio: &mut Studio, broker: usize, from_ms: u64, to_ms: u64) -> Vec<(ProcessState, Option<BrokerPhase>)> {
    let mut course = Vec::new();
    for ms in (from_ms..to_ms).step_by(10) {
        seek(studio, ms);
        let view = studio.scene().brokers[broker].clone();
        let process = match view.process {
            ProcessState::Down { clean, .. } => ProcessState::Down { since_us: 0, clean },
            other => other,
        };
        let now = (process, view.phase);
        if course.last() != Some(&now) {
            course.push(now);
        }
    }
    course
}

#[test]
fn a_restart_is_seen_from_the_controlled_shutdown_to_the_work_after_it() {
    let mut studio = Studio::opening(named("the-cure"));
    act(&mut studio, 2, NodeAction::Restart);
    assert!(studio.scene().brokers[1].restarting);
    let course = course(&mut studio, 1, 11_000, 25_000);
    let phases: Vec<&BrokerPhase> = course.iter().filter_map(|(_, phase)| phase.as_ref()).collect();
    let place = |fits: &dyn Fn(&BrokerPhase) -> bool| phases.iter().position(|phase| fits(phase));
    let leaving = place(&|phase| matches!(phase, BrokerPhase::HandingOver { leads } if *leads > 0));
    let coming = place(&|phase| *phase == BrokerPhase::Registering { refused: None });
    let catching_up = place(&|phase| *phase == BrokerPhase::CatchingUp);
    assert!(leaving.is_some() && leaving < coming && coming < catching_up, "{course:?}");
    assert_eq!(phases.last(), Some(&&BrokerPhase::AtWork), "{course:?}");
    assert!(!studio.scene().brokers[1].restarting);
}

#[test]
fn a_registration_that_is_refused_is_said_until_it_is_accepted() {
    let mut studio = Studio::opening(named("the-cure"));
    act(&mut studio, 2, NodeAction::Kill);
    act(&mut studio, 2, NodeAction::Start);
    let course = course(&mut studio, 1, 11_000, 24_000);
    let refused = Some(BrokerPhase::Registering { refused: Some("DUPLICATE_BROKER_REGISTRATION".into()) });
    assert!(course.iter().any(|(_, phase)| *phase == refused), "the session before it has not run out: {course:?}");
    assert_eq!(course.last(), Some(&(ProcessState::Running, Some(BrokerPhase::AtWork))), "{course:?}");
}

#[test]
fn replicas_that_may_lead_outside_the_isr_are_marked() {
    let scenario = r#"{"scenario":1,"topics":{"t":{"replicas":{"0":[1,2,3]},"config":{"min.insync.replicas":2}}},
        "script":[{"at":"5s","do":[{"kill":3}]},{"at":"20s","do":[{"kill":2}]},{"at":"40s","do":[{"kill":1}]}]}"#;
    let link = Link::new(decode(scenario).expect("a scenario"));
    let mut studio = Studio::open(&link.fragment()).expect("a run");
    seek(&mut studio, 35_000);
    let scene = studio.scene();
    let partition = &scene.topics[0].partitions[0];
    assert_eq!((partition.isr.as_slice(), partition.elr.as_slice()), (&[1][..], &[2][..]));
    let eligible: Vec<bool> = scene.brokers.iter().map(|broker| broker.replicas[0].eligible).collect();
    assert_eq!(eligible, [false, true, false]);
    seek(&mut studio, 55_000);
    let scene = studio.scene();
    assert_eq!(scene.topics[0].partitions[0].leader, None);
    assert_eq!(scene.topics[0].partitions[0].elr, [1, 2]);
}
