//! The ledger of promises advances entry by entry; here it is made from nothing at many moments of random runs, and the
//! two must say the same of every record. It knows nothing of how the fold remembers.

use std::collections::{BTreeMap, BTreeSet};

use highwater_engine::base::{Dur, NodeId, Offset, Tag, Tp};
use highwater_engine::client::ClientKind;
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{Acks, CONSUMER_OFFSETS, PartitionRequest, Request};
use highwater_engine::trace::Kind;
use highwater_engine::world::machine::Role;
use highwater_studio::recording::{Delivery, Playhead, RecordFate, Recording};
use highwater_studio::scenario::Scenario;
use highwater_studio::search::draw;
use highwater_studio::story::Seen;
use highwater_studio::view::model::ScenarioId;

/// What must be known of a record.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    tag: Tag,
    acked: Option<(Tp, Offset)>,
    failed: bool,
    delivered: Delivery,
    stands: Option<(Tp, Offset)>,
    fate: RecordFate,
}

fn group(seen: Seen<'_>, who: NodeId) -> String {
    match seen.machine(who).map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Consumer(spec), .. }) => spec.group.to_string(),
        _ => String::new(),
    }
}

/// The whole trace and all logs, read anew; `None` with every process down, when nobody says who leads.
fn from_nothing(seen: Seen<'_>) -> Option<Vec<Known>> {
    let image = seen.image()?;
    let mut records: Vec<(NodeId, Known, bool)> = Vec::new();
    let mut numbers: BTreeMap<Tag, usize> = BTreeMap::new();
    let mut given: BTreeSet<(String, Tag)> = BTreeSet::new();
    let mut highest: BTreeMap<(String, Tp), usize> = BTreeMap::new();
    for (_, entry) in seen.entries() {
        match &entry.kind {
            Kind::RecordSent { tag, .. } => {
                numbers.insert(*tag, records.len());
                let known = Known {
                    tag: *tag,
                    acked: None,
                    failed: false,
                    delivered: Delivery::No,
                    stands: None,
                    fate: RecordFate::Pending,
                };
                records.push((entry.who, known, false));
            }
            Kind::RecordAcked { tag, tp, offset } => records[numbers[tag]].1.acked = Some((*tp, *offset)),
            Kind::RecordFailed { tag, .. } => records[numbers[tag]].1.failed = true,
            Kind::RecordDelivered { tag, tp, .. } => {
                let group = group(seen, entry.who);
                let number = numbers[tag];
                let again = !given.insert((group.clone(), *tag));
                let top = highest.entry((group, *tp)).or_insert(number);
                let behind = *top > number;
                *top = (*top).max(number);
                let record = &mut records[number].1;
                record.delivered = match record.delivered {
                    _ if again => Delivery::Twice,
                    Delivery::No if behind => Delivery::OutOfOrder,
                    Delivery::No => Delivery::Once,
                    before => before,
                };
            }
            _ => {}
        }
    }
    for (tp, partition) in image.partitions() {
        if image.topic_name(tp.topic).is_some_and(|name| &**name == CONSUMER_OFFSETS) {
            continue;
        }
        let holders = partition.leader.map_or_else(|| partition.replicas.clone(), |leader| vec![leader]);
        let high_watermark = seen.partition_high_watermark(tp, partition.leader);
        for log in holders.iter().filter_map(|broker| seen.machine(NodeId::Broker(*broker))?.disk.log(tp)) {
            for batch in log.batches() {
                for (index, record) in batch.data().iter().enumerate() {
                    let offset = batch.base_offset + index as i64;
                    let Some((_, known, safe)) = numbers.get(&record.tag).map(|number| &mut records[*number]) else {
                        continue;
                    };
                    if known.stands.is_none() {
                        known.stands = Some((tp, offset));
                        *safe = offset < high_watermark;
                    }
                }
            }
        }
    }
    let carries = |message: &Message, tag: Tag| match &message.body {
        Body::Request(Request::Partition(PartitionRequest::Produce(request))) => {
            request.batches.iter().any(|(_, batch)| batch.data().iter().any(|record| record.tag == tag))
        }
        _ => false,
    };
    let world = seen.world();
    for (producer, known, safe) in &mut records {
        let silent = matches!(producer, NodeId::Client(id) if seen.acks(*id) == Acks::Zero);
        let below_start = |tp: Tp, offset: Offset| {
            let leader = image.partition(tp).and_then(|partition| partition.leader);
            leader
                .and_then(|broker| seen.machine(NodeId::Broker(broker))?.disk.log(tp))
                .is_some_and(|log| offset < log.start_offset())
        };
        let on_its_way = |tag: Tag| {
            world.in_flight().chain(world.held_by_cuts()).any(|message| carries(message, tag))
                || world.held_by_actions().any(|(message, _)| carries(message, tag))
        };
        known.fate = match (known.stands, known.acked) {
            (Some(_), _) if *safe => RecordFate::Safe,
            (Some(_), Some((_, offset))) if offset >= 0 => RecordFate::AckedNotSafe,
            (Some(_), _) => RecordFate::Written,
            (None, Some((tp, offset))) if offset >= 0 && below_start(tp, offset) => RecordFate::Safe,
            (None, Some((_, offset))) if offset >= 0 => RecordFate::AckedLost,
            (None, Some(_)) if silent && on_its_way(known.tag) => RecordFate::Pending,
            (None, Some(_)) if silent => RecordFate::LostUnacked,
            (None, _) if known.failed => RecordFate::Refused,
            (None, _) => RecordFate::Pending,
        };
    }
    Some(records.into_iter().map(|(_, known, _)| known).collect())
}

fn compare(recording: &Recording, playhead: &Playhead, what: &str) -> bool {
    let seen = Seen::new(recording, playhead);
    let Some(expected) = from_nothing(seen) else { return false };
    let ledger = playhead.ledger();
    let found: Vec<Known> = ledger
        .records()
        .map(|record| Known {
            tag: record.tag,
            acked: record.acked,
            failed: record.failed,
            delivered: record.delivered,
            stands: record.stands,
            fate: record.fate,
        })
        .collect();
    assert_eq!(found.len(), expected.len(), "{what} at {}: records", seen.now_us());
    for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "{what} at {} µs: record {number}", seen.now_us());
    }
    let fates = |fate: RecordFate| expected.iter().filter(|known| known.fate == fate).count() as u64;
    let counts = ledger.counts();
    let counted = [
        (counts.sent, expected.len() as u64),
        (counts.acked, expected.iter().filter(|known| known.acked.is_some()).count() as u64),
        (counts.safe, fates(RecordFate::Safe)),
        (counts.acked_not_safe, fates(RecordFate::AckedNotSafe)),
        (counts.lost, fates(RecordFate::AckedLost)),
        (counts.pending, fates(RecordFate::Pending) + fates(RecordFate::Written)),
        (counts.refused, fates(RecordFate::Refused) + fates(RecordFate::LostUnacked)),
        (counts.delivered_twice, expected.iter().filter(|k| k.delivered == Delivery::Twice).count() as u64),
        (ledger.lost().count() as u64, fates(RecordFate::AckedLost)),
        (ledger.not_safe().map(|(_, n)| u64::from(n)).sum(), fates(RecordFate::AckedNotSafe)),
    ];
    for (place, (found, expected)) in counted.iter().enumerate() {
        assert_eq!(found, expected, "{what} at {} µs: count {place}", seen.now_us());
    }
    true
}

/// Looks at a run every so often on the way there, then again on ways back and forth.
fn walk(scenario: Scenario, what: &str, until: Dur, moments: u64) -> u64 {
    let Ok(mut recording) = Recording::new(scenario) else { return 0 };
    let mut playhead = Playhead::new(&mut recording);
    let (origin, mut compared) = (recording.origin(), 0);
    for step in 1..=moments {
        playhead.seek(&mut recording, origin + Dur(until.0 * step / moments));
        compared += u64::from(compare(&recording, &playhead, what));
    }
    for step in [3, 1, moments - 1, moments / 2, moments / 2 + 1, 2, moments] {
        playhead.seek(&mut recording, origin + Dur(until.0 * step / moments));
        compared += u64::from(compare(&recording, &playhead, &format!("{what}, looked at again")));
    }
    compared
}

#[test]
fn the_ledger_that_advances_is_the_ledger_made_from_nothing_in_random_runs() {
    let compared: u64 = (1..=60).map(|seed| walk(draw(seed), &format!("seed {seed}"), Dur::secs(60), 24)).sum();
    assert!(compared > 1_200, "{compared} moments were compared");
}

#[test]
fn the_ledger_that_advances_is_the_ledger_made_from_nothing_in_every_scenario_of_the_gallery() {
    for id in ScenarioId::ALL.iter().copied() {
        let scenario = id.scenario().expect("it opens");
        assert!(walk(scenario, &format!("{id:?}"), Dur::secs(45), 90) > 80);
    }
}

#[test]
fn every_event_of_a_loss_is_followed() {
    let scenario = draw(7);
    let mut recording = Recording::new(scenario).expect("it boots");
    let mut playhead = Playhead::new(&mut recording);
    let end = recording.origin() + Dur::secs(12);
    while playhead.step(&mut recording, end) {
        compare(&recording, &playhead, "seed 7, event by event");
    }
}
