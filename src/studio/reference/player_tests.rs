//! The player against a world made of a clock and canned answers: what it asks, when, and what it makes of the answers.
//! No Kafka in it.

use std::cell::RefCell;

use highwater_engine::base::{ActionId, ClientId, Dur, NodeId, Seq, SimTime, TopicId};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, Refusal, Setup};

use super::answer::{Answer, Described};
use super::player::{Observed, play};
use super::recording::Recording;
use super::subject::Subject;

/// How long the canned world takes to answer.
const ANSWER_AFTER: Dur = Dur::ms(30);
/// When partition `t/0` has a leader.
const LED_FROM: Dur = Dur::secs(5);
/// How long a node takes to stop.
const STOPS_AFTER: Dur = Dur::secs(2);

thread_local! {
    /// What was done, with the milliseconds.
    static LOG: RefCell<Vec<(u64, String)>> = const { RefCell::new(Vec::new()) };
}

struct Canned {
    now: SimTime,
    actions: u32,
    answers: Vec<(SimTime, ActionId, Answer)>,
    exits: Vec<(SimTime, NodeId)>,
}

impl Canned {
    fn answer_to(&self, request: &AdminRequest) -> Answer {
        match request {
            AdminRequest::DescribeCluster => Answer::Cluster { brokers: vec![1, 2, 3] },
            AdminRequest::DescribeTopics { .. } => {
                let leader = if self.now < SimTime::ZERO + LED_FROM { -1 } else { 2 };
                Answer::Topics(vec![Described {
                    topic: "t".into(),
                    partition: 0,
                    leader,
                    replicas: vec![1, 2],
                    isr: vec![2],
                    elr: vec![],
                    last_known_elr: vec![],
                }])
            }
            AdminRequest::DescribeQuorum => Answer::Quorum { leader: Some(3) },
            AdminRequest::ListOffsets { .. } | AdminRequest::DeleteTopic { .. } => {
                Answer::Failed("TimeoutException".into())
            }
            _ => Answer::Done,
        }
    }
}

impl Subject for Canned {
    fn boot(_: &Setup) -> Result<Canned, Refusal> {
        LOG.with_borrow_mut(Vec::clear);
        Ok(Canned { now: SimTime::ZERO, actions: 0, answers: Vec::new(), exits: Vec::new() })
    }
    fn now(&self) -> SimTime {
        self.now
    }
    fn act(&mut self, action: Action, _: &mut Vec<TraceEntry>) -> Result<ActionId, Refusal> {
        self.actions += 1;
        LOG.with_borrow_mut(|log| log.push((self.now.0 / 1_000, format!("{action:?}"))));
        let id = ActionId(self.actions);
        match &action {
            Action::Admin(request) => self.answers.push((self.now + ANSWER_AFTER, id, self.answer_to(request))),
            Action::Stop(node) => self.exits.push((self.now + STOPS_AFTER, *node)),
            Action::Pause(node) => return Err(Refusal::NoSuchNode(*node)),
            _ => {}
        }
        Ok(id)
    }
    fn next_event_at(&self) -> Option<SimTime> {
        self.answers
            .iter()
            .map(|(at, ..)| *at)
            .chain(self.exits.iter().map(|(at, _)| *at))
            .filter(|at| *at > self.now)
            .min()
    }
    fn step(&mut self, out: &mut Vec<TraceEntry>) -> bool {
        match self.next_event_at() {
            Some(at) => {
                self.run_until(at, out);
                true
            }
            None => false,
        }
    }
    fn run_until(&mut self, until: SimTime, out: &mut Vec<TraceEntry>) {
        self.now = self.now.max(until);
        let ended = self.exits.extract_if(.., |(at, _)| *at <= until);
        out.extend(ended.map(|(at, who)| TraceEntry {
            seq: Seq(1),
            at,
            cause: Seq(0),
            who,
            kind: Kind::ProcessExited { clean: true },
        }));
    }
    fn client_id(&self, _: &str) -> Option<ClientId> {
        None
    }
    fn slow_polls(&self, _: ClientId) -> u64 {
        0
    }
    fn answer(&self, action: ActionId, _: &dyn Fn(TopicId) -> String) -> Option<Answer> {
        self.answers.iter().find(|(at, id, _)| *id == action && *at <= self.now).map(|(.., answer)| answer.clone())
    }
}

/// What was observed of these entries and what was done, after the question whether the cluster is ready and the
/// connections that follow it.
fn played(script: &str) -> (Vec<Observed>, Vec<(u64, String)>) {
    played_with(1, script)
}

fn played_with(seed: u64, script: &str) -> (Vec<Observed>, Vec<(u64, String)>) {
    let text = format!(
        r#"{{ "id": "X", "kafka": ["4.1.1"], "setup": {{ "brokers": 3, "controllers": 3 }}, "script": [ {script} ] }}"#
    );
    let play = play::<Canned>(&Recording::read(&text).expect("a recording"), seed);
    (play.observed, LOG.with_borrow(|log| log[2..].to_vec()))
}

#[test]
fn a_question_is_over_when_the_recorder_looked_next() {
    // Answered after 30 ms, seen at the second look, every 20 ms.
    let (_, log) = played(
        r#"{ "do": { "create-topic": { "name": "t", "partitions": 1, "replication": 1 } } }, { "do": { "kill": "broker/1" } }"#,
    );
    assert_eq!(log.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [40, 80]);
}

#[test]
fn a_query_that_one_run_asked_later_is_played_at_both_times() {
    let script = r#"{ "at": [2.0, 2.0], "wait": "1s" },
        { "at": [2.02, 3.5], "query": { "offsets": "t/0" }, "see": { "error": "TimeoutException" } }"#;
    let asked = |seed| played_with(seed, script).1[0].0;
    assert_eq!(asked(1), 40 + 1_000);
    assert_eq!(asked(2), 40 + 1_000 + 1_480);
    assert_eq!(asked(3), asked(1));
}

#[test]
fn a_condition_is_asked_again_after_a_pause_until_it_holds() {
    let (observed, log) = played(r#"{ "when": { "t/0": { "leader": 2 } }, "within": "40s", "held": true }"#);
    let Observed::Waited { held: true, took, see } = &observed[0] else { panic!("{observed:?}") };
    assert!((LED_FROM.as_ms() - 80..=LED_FROM.as_ms() + 350).contains(&took.as_ms()), "{took:?}");
    assert_eq!(see["t/0"]["leader"], 2);
    let asked: Vec<u64> = log.iter().filter(|(_, what)| what.contains("DescribeTopics")).map(|(at, _)| *at).collect();
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] == 350), "{log:?}");
    assert_eq!(
        log.iter().filter(|(_, what)| what.contains("Renew")).count(),
        asked.len() - 1,
        "a new client for each question but the first"
    );
}

#[test]
fn a_condition_that_does_not_hold_ends_after_its_patience() {
    let (observed, _) = played(r#"{ "when": { "t/0": { "leader": 3 } }, "within": "8s", "held": false }"#);
    let Observed::Waited { held: false, took, .. } = &observed[0] else { panic!("{observed:?}") };
    assert!(*took > Dur::secs(8) && *took < Dur::ms(8_400), "{took:?}");
}

#[test]
fn a_stop_lasts_until_the_process_has_ended() {
    let (observed, log) = played(r#"{ "do": { "stop": "broker/1" } }, { "do": { "kill": "active-controller" } }"#);
    assert_eq!(observed, [Observed::Answered(None), Observed::Answered(None)]);
    assert_eq!(log[1].0, 40 + 2_000, "the quorum is asked once the broker is down");
    assert!(log[2].1.contains("Controller(ControllerId(3))"), "{log:?}");
}

#[test]
fn the_controller_that_went_down_last_is_one_of_the_dead() {
    let (_, log) = played(
        r#"{ "do": { "kill": "controller/1" } }, { "do": { "kill": "controller/2" } }, { "do": { "start": "one of the dead controllers" } }, { "do": { "start": "one of the dead controllers" } }"#,
    );
    assert!(log[2].1.contains("ControllerId(2)") && log[3].1.contains("ControllerId(1)"), "{log:?}");
}

#[test]
fn refusals_of_kafka_are_answers_and_those_of_the_simulation_are_not() {
    let (observed, _) = played(
        r#"{ "do": { "delete-topic": "t" }, "refused": "TimeoutException: words" }, { "do": { "pause": "broker/9" } }"#,
    );
    assert_eq!(observed[0], Observed::Answered(Some("TimeoutException".into())));
    assert!(matches!(observed[1], Observed::Impossible(_)), "{observed:?}");
}

#[test]
fn lone_partitions_are_those_of_the_topic_named_last() {
    let (observed, _) = played(
        r#"{ "do": { "create-topic": { "name": "t", "partitions": 1, "replication": 1 } } }, { "when": { "partitions": 1 }, "within": "1s", "held": true }"#,
    );
    assert!(matches!(observed[1], Observed::Waited { held: true, .. }), "{observed:?}");
}
