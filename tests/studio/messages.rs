//! One chosen message: what is said of it, and that what is done to it by hand stands in the link. It knows no rule of
//! Kafka's.

use highwater_studio::desk::command::{Command, Outcome};
use highwater_studio::desk::{Desk, Studio};
use highwater_studio::scenario::{decode, encode};
use highwater_studio::view::model::*;

fn id(name: &str) -> ScenarioId {
    ScenarioId::named(name).expect("it stands in the gallery")
}

/// Stands on a message of this name that somebody has just sent.
fn at_message(name: &str) -> (Studio, MessageDetail) {
    let mut studio = Studio::opening(id("the-cure"));
    for _ in 0..2_000 {
        let found = studio.motion().flights.into_iter().find_map(|flight| {
            let detail = *studio.inspect(&Subject::Message(flight.id))?.message?;
            (detail.name == name).then_some(detail)
        });
        if let Some(detail) = found {
            return (studio, detail);
        }
        studio.handle(Command::StepForward(StepKind::Event));
    }
    panic!("nobody sends a {name}");
}

fn value(detail: &MessageDetail, name: &str) -> Option<String> {
    detail.fields.iter().find(|field| field.name == name).map(|field| field.value.clone())
}

fn shown(studio: &Studio, id: MessageRef) -> Option<MessageDetail> {
    studio.inspect(&Subject::Message(id))?.message.map(|detail| *detail)
}

#[test]
fn a_produce_request_says_what_it_carries_in_kafkas_names() {
    let (_, detail) = at_message("ProduceRequest");
    assert_eq!((detail.version, detail.response), (13, false));
    assert!(matches!(&detail.from, NodeRef::Producer(_)));
    for name in ["acks", "timeout_ms", "records", "baseOffset", "producerId, epoch", "baseSequence"] {
        assert!(value(&detail, name).is_some(), "{name}: {:?}", detail.fields);
    }
    let hidden = |name: &str| detail.fields.iter().any(|field| field.more && field.name == name);
    assert!(hidden("transactional_id") && hidden("value"), "the rest stands under all fields");
    assert!(detail.caused.is_empty(), "nobody knows yet");
}

#[test]
fn every_message_of_a_run_has_fields_and_a_place() {
    let mut studio = Studio::opening(id("as-it-happened"));
    let mut names = std::collections::BTreeSet::new();
    for _ in 0..400 {
        studio.handle(Command::StepForward(StepKind::Event));
        let flights = studio.motion().flights;
        for (place, flight) in flights.iter().enumerate() {
            let detail = shown(&studio, flight.id).expect("it is in flight");
            assert_eq!((detail.place, detail.of), (place + 1, flights.len()), "walked in the order of arrival");
            assert!(!detail.fields.is_empty() || detail.response, "{}", detail.name);
            names.insert(detail.name.to_string());
        }
    }
    assert!(names.len() > 5, "{names:?}");
}

#[test]
fn every_message_says_in_few_words_what_it_carries() {
    let mut studio = Studio::opening(id("as-it-happened"));
    studio.handle(Command::SeekTo { at_us: 7_000_000 });
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..1_500 {
        studio.handle(Command::StepForward(StepKind::Event));
        for flight in studio.motion().flights {
            let detail = shown(&studio, flight.id).expect("it is in flight");
            assert!(detail.carries.len() <= 4, "{:?}", detail.carries);
            assert!(!detail.carries.is_empty() || detail.response, "{} asks for nothing", detail.name);
            seen.entry(detail.name.to_string()).or_insert_with(Vec::new).push(detail);
        }
    }
    let any = |name: &str, says: fn(&Carried) -> bool| {
        let all = seen.get(name).unwrap_or_else(|| panic!("nobody sends a {name}"));
        assert!(all.iter().any(|detail| detail.carries.iter().any(says)), "{name}: {:?}", all[0].carries);
    };
    any("ProduceRequest", |c| c.says == Says::Sent);
    any("ProduceRequest", |c| (&*c.of, &*c.value) == ("acks", "1"));
    any("ProduceResponse", |c| c.says == Says::Written);
    any("FetchRequest", |c| c.says == Says::From);
    any("FetchResponse", |c| c.says == Says::Records);
    any("BrokerHeartbeatRequest", |c| c.says == Says::Field && c.of == "broker_id");
    // A follower is told of a high watermark with the records, and that it moved without any.
    any("FetchResponse", |c| c.says == Says::HighWatermark);
    any("FetchResponse", |c| c.says == Says::NewHighWatermark && c.value.contains(" → "));
}

#[test]
fn a_message_to_a_broker_that_died_finds_nobody() {
    let (mut studio, detail) = at_message("ProduceRequest");
    let NodeRef::Broker(broker) = detail.to else { panic!("{:?}", detail.to) };
    assert!(!detail.doomed);
    studio.handle(Command::Act(NodeRef::Broker(broker), NodeAction::Kill));
    assert!(shown(&studio, detail.id).expect("it is still on its way").doomed);
}

#[test]
fn what_a_message_caused_is_known_where_the_branch_was_played_on() {
    let (mut studio, detail) = at_message("ProduceRequest");
    let here = studio.playback().at_us;
    studio.handle(Command::SeekTo { at_us: detail.arrives_us + 10_000 });
    assert_eq!(shown(&studio, detail.id), None, "it has arrived");
    studio.handle(Command::SeekTo { at_us: here });
    let again = shown(&studio, detail.id).expect("it is in flight again");
    assert!(!again.caused.is_empty());
    assert!(again.caused.iter().all(|step| step.at_us >= detail.arrives_us));
}

fn acted(act: MessageAct) -> (Studio, MessageDetail) {
    let (mut studio, detail) = at_message("ProduceRequest");
    assert_eq!(studio.handle(Command::Message(detail.id, act)), Outcome::Done);
    (studio, detail)
}

/// The link of what is shown opens to the very same world, also later.
fn replays(studio: &mut Studio) {
    studio.handle(Command::SeekTo { at_us: studio.playback().at_us + 1_500_000 });
    let opened = Studio::open(&studio.share().fragment).expect("the link is whole");
    assert_eq!(opened.digest_check(), DigestCheck::Same);
    let scenario = studio.seen().scenario().clone();
    assert_eq!(decode(&encode(&scenario)).as_ref(), Ok(&scenario));
}

#[test]
fn a_message_that_was_held_by_hand_is_held_by_the_link() {
    let (mut studio, detail) = acted(MessageAct::Hold);
    replays(&mut studio);
    let held = shown(&studio, detail.id).expect("it waits");
    assert_eq!(held.held, Holding::Held { name: "h1".into() });
    assert_eq!(studio.handle(Command::Message(detail.id, MessageAct::Release)), Outcome::Done);
    studio.handle(Command::StepForward(StepKind::Event));
    replays(&mut studio);
    assert_eq!(shown(&studio, detail.id), None, "it has arrived");
}

/// The message that the line of the log leads to which says what was done to one.
fn message_of_deed(studio: &Studio) -> Option<MessageRef> {
    let page = studio.log_tail(&LogFilter::default(), usize::MAX);
    let said = page.lines.iter().rev().find(|line| matches!(line.fact, Fact::MessageActed { .. }));
    page.message_of(said.expect("it has a line")).map(|message| message.id)
}

#[test]
fn the_line_of_a_held_message_leads_to_it_until_it_arrives() {
    let (mut studio, detail) = acted(MessageAct::Hold);
    studio.handle(Command::StepForward(StepKind::Event));
    assert_eq!(message_of_deed(&studio), Some(detail.id));
    studio.handle(Command::Message(detail.id, MessageAct::Release));
    studio.handle(Command::SeekTo { at_us: studio.playback().at_us + 1_500_000 });
    assert_eq!(shown(&studio, detail.id), None);
    assert_eq!(message_of_deed(&studio), None, "a line never leads to what is gone");
}

#[test]
fn whatever_message_a_line_leads_to_can_be_inspected() {
    let (studio, _) = at_message("ProduceResponse");
    let page = studio.log_tail(&LogFilter::default(), usize::MAX);
    let offered: Vec<MessageRef> = page.lines.iter().filter_map(|line| Some(page.message_of(line)?.id)).collect();
    assert!(!offered.is_empty());
    assert!(offered.iter().all(|id| shown(&studio, *id).is_some()));
}

#[test]
fn each_deed_on_a_message_is_an_entry_of_the_link() {
    let acts = [MessageAct::Deliver, MessageAct::Drop, MessageAct::Duplicate, MessageAct::Delay { by_us: 1_000_000 }];
    for act in acts {
        let (mut studio, _) = acted(act);
        assert!(!studio.seen().scenario().script.is_empty(), "{act:?}");
        replays(&mut studio);
    }
}

#[test]
fn a_message_that_has_arrived_cannot_be_dropped() {
    let (mut studio, detail) = at_message("ProduceRequest");
    studio.handle(Command::SeekTo { at_us: detail.arrives_us + 10_000 });
    let outcome = studio.handle(Command::Message(detail.id, MessageAct::Drop));
    assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
}

#[test]
fn what_is_done_to_a_message_that_has_a_future_begins_a_branch() {
    let (mut studio, detail) = at_message("ProduceRequest");
    let here = studio.playback().at_us;
    studio.handle(Command::SeekTo { at_us: here + 1_000_000 });
    studio.handle(Command::SeekTo { at_us: here });
    let outcome = studio.handle(Command::Message(detail.id, MessageAct::Drop));
    assert!(matches!(outcome, Outcome::Branched(_)), "{outcome:?}");
}

#[test]
fn a_message_says_who_serves_its_api() {
    assert_eq!(at_message("ProduceResponse").1.server, Server::Partition);
    assert_eq!(at_message("MetadataResponse").1.server, Server::Broker);
    assert_eq!(at_message("HeartbeatRequest").1.server, Server::Group);
    assert_eq!(at_message("BrokerHeartbeatRequest").1.server, Server::Controller);
}
