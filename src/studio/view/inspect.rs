//! The inspector: one thing in Kafka's own terms, with its timers. It explains nothing; see `why`.

use highwater_engine::base::{BrokerId, ControllerId, NodeId};
use highwater_engine::broker::replicas::FetchState;
use highwater_engine::client::Client;
use highwater_engine::world::Machine;

use super::message;
use super::model::*;
use super::timers;
use crate::notation;
use crate::recording::Ledger;
use crate::story::{Seen, ids};

fn row(name: &'static str, value: InspectValue) -> InspectRow {
    InspectRow { name: name.into(), value }
}
fn number(name: &'static str, value: i64) -> InspectRow {
    row(name, InspectValue::Number(value))
}
fn term(name: &'static str, value: impl Into<Term>) -> InspectRow {
    row(name, InspectValue::Term(value.into()))
}
fn section(kind: InspectKind, rows: Vec<InspectRow>) -> InspectSection {
    InspectSection { kind, rows }
}

/// `None`: it does not exist at the playhead.
pub fn inspect(seen: Seen<'_>, ledger: &Ledger, scene: &Scene, about: &Subject) -> Option<Inspection> {
    let (sections, questions) = match about {
        Subject::Controller(id) => controller(seen, *id)?,
        Subject::Broker(id) => broker(seen, scene, *id)?,
        Subject::Partition(p) | Subject::Leader(p) | Subject::Isr(p) | Subject::HighWatermark(p) => {
            partition(scene, p)?
        }
        Subject::Replica { partition, broker } => replica(seen, partition, *broker)?,
        Subject::Record { partition, broker, offset } => record(seen, partition, *broker, *offset)?,
        Subject::Producer(name) => producer(seen, scene, name)?,
        Subject::Group(name) => group(scene, name)?,
        Subject::Member(name) => member(seen, scene, name)?,
        Subject::Message(_) => (Vec::new(), vec![about.clone()]),
        Subject::LedgerRecord(number) => ledger_record(seen, ledger, *number)?,
        Subject::Verdict(_) => return None,
        Subject::Trace(id) => trace(seen, *id)?,
    };
    let message = match about {
        Subject::Message(id) => Some(Box::new(message::detail(seen, *id)?)),
        _other => None,
    };
    Some(Inspection {
        about: about.clone(),
        message,
        sections: sections.into_iter().filter(|section| !section.rows.is_empty()).collect(),
        questions,
    })
}

type Parts = (Vec<InspectSection>, Vec<Subject>);

fn timer_rows(seen: Seen<'_>, machine: &Machine) -> InspectSection {
    let rows = machine.timers.iter().take(40).map(|(at, timer)| InspectRow {
        name: timers::name(timer).into(),
        value: InspectValue::In(at.since(seen.now()).0),
    });
    section(InspectKind::Timers, rows.collect())
}

fn controller(seen: Seen<'_>, id: u32) -> Option<Parts> {
    let machine = seen.machine(NodeId::Controller(ControllerId(id)))?;
    let mut identity =
        vec![number("node.id", i64::from(id)), number("log_end_offset", machine.disk.metadata_log.end_offset())];
    let mut log = Vec::new();
    if let Some(controller) = machine.controller() {
        identity.push(number("quorum epoch", i64::from(controller.epoch().0)));
        identity.push(row(
            "quorum leader",
            controller.leader().map_or(InspectValue::None, |leader| InspectValue::Node(NodeRef::Controller(leader.0))),
        ));
        identity.push(number("high_watermark", controller.high_watermark()));
        log.extend(controller.last_records(&machine.disk, 12).into_iter().map(|record| InspectRow {
            name: format!("{}", record.offset).into(),
            value: InspectValue::Term(record.name.into()),
        }));
    }
    Some((
        vec![section(InspectKind::Identity, identity), section(InspectKind::Log, log), timer_rows(seen, machine)],
        vec![Subject::Controller(id)],
    ))
}

fn broker(seen: Seen<'_>, scene: &Scene, id: u32) -> Option<Parts> {
    let machine = seen.machine(NodeId::Broker(BrokerId(id)))?;
    let view = scene.brokers.iter().find(|broker| broker.id == id)?;
    let mut identity = vec![number("node.id", i64::from(id)), number("incarnation", i64::from(machine.incarnation))];
    identity
        .push(row("broker.rack", view.rack.clone().map_or(InspectValue::None, |rack| InspectValue::Term(rack.into()))));
    let mut registration = vec![row(
        "broker epoch",
        view.broker_epoch.map_or(InspectValue::None, |epoch| InspectValue::Number(epoch as i64)),
    )];
    if let Some(in_us) = view.fenced_in_us {
        registration.push(row("broker.session.timeout.ms", InspectValue::In(in_us)));
    }
    if let Some(broker) = machine.broker() {
        identity.push(term("state", broker.state().name()));
        identity.push(number("metadata offset", broker.image().applied_to));
        identity.push(row(
            "active controller",
            broker.controller().map_or(InspectValue::None, |leader| InspectValue::Node(NodeRef::Controller(leader.0))),
        ));
        registration.push(row("fenced", InspectValue::Bool(broker.is_fenced())));
    }
    Some((
        vec![
            section(InspectKind::Identity, identity),
            section(InspectKind::Registration, registration),
            timer_rows(seen, machine),
        ],
        vec![Subject::Broker(id)],
    ))
}

fn partition(scene: &Scene, p: &PartitionRef) -> Option<Parts> {
    let topic = scene.topics.iter().find(|topic| topic.name == p.topic)?;
    let column = topic.partitions.get(p.partition as usize)?;
    let rows = vec![
        row("partition", InspectValue::Partition(p.clone())),
        row("leader", column.leader.map_or(InspectValue::None, |leader| InspectValue::Node(NodeRef::Broker(leader)))),
        number("leader epoch", i64::from(column.leader_epoch)),
        number("partition epoch", i64::from(column.partition_epoch)),
        row("isr", InspectValue::Brokers(column.isr.clone())),
        row("elr", InspectValue::Brokers(column.elr.clone())),
        row(
            "last known leader",
            column.last_known_leader.map_or(InspectValue::None, |id| InspectValue::Node(NodeRef::Broker(id))),
        ),
        row("replicas", InspectValue::Brokers(column.replicas.clone())),
        number("high_watermark", column.high_watermark as i64),
        number("min.insync.replicas", i64::from(topic.min_insync_replicas)),
    ];
    Some((
        vec![section(InspectKind::Identity, rows)],
        vec![Subject::Leader(p.clone()), Subject::Isr(p.clone()), Subject::HighWatermark(p.clone())],
    ))
}

fn replica(seen: Seen<'_>, p: &PartitionRef, broker: u32) -> Option<Parts> {
    let tp = seen.tp(p)?;
    let id = BrokerId(broker);
    let machine = seen.machine(NodeId::Broker(id))?;
    let replicas = seen.image()?.partition(tp)?.replicas.clone();
    if !replicas.contains(&id) {
        return None;
    }
    let identity = vec![
        row("partition", InspectValue::Partition(p.clone())),
        row("broker", InspectValue::Node(NodeRef::Broker(broker))),
        row("replicas", InspectValue::Brokers(ids(&replicas))),
    ];
    let mut log_rows = Vec::new();
    let mut epochs = Vec::new();
    if let Some(log) = machine.disk.log(tp) {
        log_rows.extend([number("log_start_offset", log.start_offset()), number("log_end_offset", log.end_offset())]);
        epochs.extend(
            log.epochs().entries().iter().map(|(epoch, start)| InspectRow {
                name: format!("{epoch}").into(),
                value: InspectValue::Number(*start),
            }),
        );
    }
    let mut fetch = Vec::new();
    if let Some(view) = machine.broker().and_then(|process| process.replica(tp)) {
        log_rows.push(number("high_watermark", view.high_watermark));
        log_rows.push(number("leader epoch", i64::from(view.leader_epoch.0)));
        log_rows.push(row("maximal isr", InspectValue::Brokers(ids(&view.maximal_isr))));
        if let Some(state) = view.fetch_state {
            fetch.push(term("fetch state", fetch_state(state)));
        }
        fetch.push(row(
            "leader",
            view.leader.map_or(InspectValue::None, |leader| InspectValue::Node(NodeRef::Broker(leader.0))),
        ));
    }
    let sections = vec![
        section(InspectKind::Identity, identity),
        section(InspectKind::Log, log_rows),
        section(InspectKind::EpochCache, epochs),
        section(InspectKind::Fetchers, fetch),
    ];
    Some((
        sections,
        vec![
            Subject::Replica { partition: p.clone(), broker },
            Subject::Leader(p.clone()),
            Subject::Isr(p.clone()),
            Subject::HighWatermark(p.clone()),
        ],
    ))
}

/// `ReplicaState` of Kafka's fetchers, and what else keeps one from fetching.
fn fetch_state(state: FetchState) -> &'static str {
    match state {
        FetchState::Fetching => "Fetching",
        FetchState::Resting => "Delayed",
        FetchState::AskingForOffsets => "OFFSET_OUT_OF_RANGE",
        FetchState::Failed => "Failed",
    }
}

fn record(seen: Seen<'_>, p: &PartitionRef, broker: u32, offset: u64) -> Option<Parts> {
    let log = seen.machine(NodeId::Broker(BrokerId(broker)))?.disk.log(seen.tp(p)?)?;
    let batch = log.batch_at(offset as i64)?;
    let mut rows = vec![
        row("partition", InspectValue::Partition(p.clone())),
        number("offset", offset as i64),
        number("base_offset", batch.base_offset),
        number("leader epoch", i64::from(batch.epoch)),
        row("timestamp", InspectValue::Moment(seen.us(batch.timestamp))),
    ];
    if let Some(record) = batch.data().get((offset as i64 - batch.base_offset) as usize) {
        rows.push(row(
            "key",
            record.key.as_ref().map_or(InspectValue::None, |key| InspectValue::Term(key.to_string().into())),
        ));
        rows.push(term("value", record.value.chars().take(80).collect::<String>()));
    }
    if let Some(stamp) = batch.producer {
        rows.extend([
            number("producer id", stamp.id.0),
            number("producer epoch", i64::from(stamp.epoch.0)),
            number("base sequence", i64::from(stamp.base_sequence)),
        ]);
    }
    Some((vec![section(InspectKind::Fields, rows)], vec![Subject::Record { partition: p.clone(), broker, offset }]))
}

fn producer(seen: Seen<'_>, scene: &Scene, name: &str) -> Option<Parts> {
    let view = scene.producers.iter().find(|producer| producer.name == name)?;
    let mut identity = vec![
        term("client.id", name.to_string()),
        term("client version", view.client_version.clone()),
        term("topic", view.topic.clone()),
    ];
    identity.push(number("records sent", view.sent as i64));
    identity.push(number("records acknowledged", view.acked as i64));
    let configs = vec![
        term("acks", view.acks.clone()),
        row("enable.idempotence", InspectValue::Bool(view.idempotent)),
        number("rate per 1000 s", view.rate_milli as i64),
    ];
    let machine = seen.world().client_id(name).and_then(|id| seen.machine(NodeId::Client(id)));
    let batches = machine
        .and_then(|machine| machine.client())
        .and_then(Client::as_producer)
        .into_iter()
        .flat_map(|producer| producer.batches())
        .take(20);
    let batches = batches
        .map(|batch| InspectRow {
            name: format!("{}-{}", batch.topic, batch.partition).into(),
            value: InspectValue::Number(batch.records as i64),
        })
        .collect();
    let mut sections = vec![
        section(InspectKind::Identity, identity),
        section(InspectKind::Configs, configs),
        section(InspectKind::Batches, batches),
    ];
    sections.extend(machine.map(|machine| timer_rows(seen, machine)));
    Some((sections, vec![Subject::Producer(name.into())]))
}

fn group(scene: &Scene, name: &str) -> Option<Parts> {
    let view = scene.groups.iter().find(|group| group.name == name)?;
    let coordinator = match view.coordinator {
        Coordinator::Ready { broker } | Coordinator::Loading { broker } => InspectValue::Node(NodeRef::Broker(broker)),
        Coordinator::NoTopic | Coordinator::Missing { .. } => InspectValue::None,
    };
    let rows = vec![
        term("group.id", name.to_string()),
        row("state", InspectValue::GroupState(view.state)),
        number("generation", i64::from(view.generation)),
        row(
            "offsets partition",
            InspectValue::Partition(PartitionRef {
                topic: highwater_engine::protocol::CONSUMER_OFFSETS.into(),
                partition: view.offsets_partition,
            }),
        ),
        row("coordinator", coordinator),
        number("lag", view.lag as i64),
    ];
    let members = view
        .members
        .iter()
        .map(|member| InspectRow {
            name: member.name.clone().into(),
            value: InspectValue::Number(member.assigned.len() as i64),
        })
        .collect();
    Some((
        vec![section(InspectKind::Group, rows), section(InspectKind::Members, members)],
        vec![Subject::Group(name.into())],
    ))
}

fn member(seen: Seen<'_>, scene: &Scene, name: &str) -> Option<Parts> {
    let (group, view) = scene
        .groups
        .iter()
        .find_map(|group| Some((group, group.members.iter().find(|member| member.name == name)?)))?;
    let identity = vec![
        term("client.id", name.to_string()),
        term("group.id", group.name.clone()),
        term("client version", view.client_version.clone()),
        row("poll(long)", InspectValue::Bool(view.long_poll)),
    ];
    let position = |assigned: &AssignedPartition| InspectRow {
        name: format!("{}-{}", assigned.partition.topic, assigned.partition.partition).into(),
        value: assigned.position.map_or(InspectValue::None, |offset| InspectValue::Number(offset as i64)),
    };
    let mut sections = vec![
        section(InspectKind::Identity, identity),
        section(InspectKind::Members, view.assigned.iter().map(position).collect()),
    ];
    sections.extend(
        seen.world()
            .client_id(name)
            .and_then(|id| seen.machine(NodeId::Client(id)))
            .map(|machine| timer_rows(seen, machine)),
    );
    Some((sections, vec![Subject::Member(name.into())]))
}

fn ledger_record(seen: Seen<'_>, ledger: &Ledger, index: u64) -> Option<Parts> {
    let entry = ledger.get(index as usize)?;
    let partition = PartitionRef { topic: entry.topic.to_string(), partition: entry.partition.unwrap_or(0) };
    let mut rows = vec![
        row("partition", InspectValue::Partition(partition)),
        row("producer", InspectValue::Node(seen.node(entry.producer))),
        row("acknowledged", InspectValue::Bool(entry.acked.is_some())),
    ];
    rows.push(row(
        "offset",
        entry.stands.or(entry.acked).map_or(InspectValue::None, |(_, offset)| InspectValue::Number(offset)),
    ));
    rows.push(row("fate", InspectValue::Fate(entry.fate)));
    rows.push(row("delivered", InspectValue::Delivery(entry.delivered)));
    Some((vec![section(InspectKind::Fields, rows)], vec![Subject::LedgerRecord(index)]))
}

fn trace(seen: Seen<'_>, id: TraceId) -> Option<Parts> {
    let index = usize::try_from(id.0).ok().filter(|index| *index < seen.n_entries())?;
    let entry = seen.reel().get(index)?;
    let rows = vec![
        term("event", notation::name(&entry.kind)),
        row("node", InspectValue::Node(seen.node(entry.who))),
        row("at", InspectValue::Moment(seen.us(entry.at))),
    ];
    Some((vec![section(InspectKind::Fields, rows)], vec![Subject::Trace(id)]))
}
