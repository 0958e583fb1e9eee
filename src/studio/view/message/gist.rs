//! What matters most of what a message carries, for the line over the stage. It says nothing that the fields do not say.

use highwater_engine::base::Tp;
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{Acks, ErrorCode, FetchedPartition, RecordBatch, Request, Response};

use super::super::model::PartitionRef;
use super::answers::known;
use super::fields::{Fields, brokers};
use super::shown::{Carried, MessageField};

/// What is named; the rest is counted.
const MOST: usize = 3;

/// What a message carries, the most telling first. `rows` are its fields: where nothing else is known of an API, the
/// first of them stand for it.
pub fn carried(f: &Fields<'_>, message: &Message) -> Vec<Carried> {
    let mut all = match &message.body {
        Body::Request(request) => asked(f, request),
        Body::Response(response) => answered(f, response, message),
    };
    if all.len() > MOST {
        let more = all.len() - MOST;
        all.truncate(MOST);
        all.push(Carried::More(more));
    }
    all
}

fn asked(f: &Fields<'_>, request: &Request) -> Vec<Carried> {
    match request {
        Request::Produce(r) => {
            let acks = match r.acks {
                Acks::Zero => "0",
                Acks::One => "1",
                Acks::All => "all",
            };
            let batches = r.batches.iter().map(|(tp, batch)| Carried::Records {
                partition: f.seen.partition(*tp),
                first: None,
                count: natural(batch.count()),
            });
            batches.chain([Carried::Field { name: "acks".into(), value: acks.into() }]).collect()
        }
        Request::Fetch(r) => {
            let from = |tp, offset| Carried::From { partition: f.seen.partition(tp), offset: natural(offset) };
            r.partitions.iter().map(|p| from(p.tp, p.fetch_offset)).collect()
        }
        Request::QuorumFetch(r) => {
            vec![Carried::From { partition: metadata(), offset: natural(r.fetch_offset) }]
        }
        Request::AlterPartition(r) => {
            let items = r.partitions.iter().map(|item| Carried::Field {
                name: format!("{} new_isr", f.name(item.tp)).into(),
                value: brokers(&item.new_isr.iter().map(|(id, _)| *id).collect::<Vec<_>>()),
            });
            items.collect()
        }
        _other => telling(&f.rows),
    }
}

fn answered(f: &Fields<'_>, response: &Response, message: &Message) -> Vec<Carried> {
    match response {
        Response::Produce { results } => results
            .iter()
            .map(|r| match error(f, r.tp, r.error) {
                Some(error) => error,
                None => Carried::Written { partition: f.seen.partition(r.tp), first: natural(r.base_offset) },
            })
            .collect(),
        Response::Fetch { partitions } => fetched(f, partitions, message),
        Response::QuorumFetch(r) if r.error.is_none() => records(metadata(), &r.batches).into_iter().collect(),
        _other => telling(&f.rows),
    }
}

/// Errors, then records, then what is new of high watermarks.
fn fetched(f: &Fields<'_>, partitions: &[FetchedPartition], message: &Message) -> Vec<Carried> {
    let of = |p: &FetchedPartition| f.seen.partition(p.tp);
    let errors = partitions.iter().filter_map(|p| error(f, p.tp, p.error));
    let brought = partitions.iter().filter_map(|p| records(of(p), &p.batches));
    let marks = partitions.iter().filter_map(|p| {
        let known = known(f, message.to(), p.tp)?;
        // That it stands still is worth a word beside records alone: they are not safe yet.
        let says = known != p.high_watermark || !p.batches.is_empty();
        says.then(|| Carried::HighWatermark { partition: of(p), at: natural(p.high_watermark), known: natural(known) })
    });
    errors.chain(brought).chain(marks).collect()
}

fn error(f: &Fields<'_>, tp: Tp, error: ErrorCode) -> Option<Carried> {
    (!error.is_none()).then(|| Carried::Field { name: f.name(tp).into(), value: error.name().into() })
}

fn records(partition: PartitionRef, batches: &[RecordBatch]) -> Option<Carried> {
    let first = batches.first()?.base_offset;
    let count = batches.iter().map(RecordBatch::count).sum();
    Some(Carried::Records { partition, first: Some(natural(first)), count: natural(count) })
}

/// The first fields that say something.
fn telling(rows: &[MessageField]) -> Vec<Carried> {
    let says = |row: &&MessageField| !row.more && !row.value.is_empty();
    let field = |row: &MessageField| Carried::Field { name: row.name.clone(), value: row.value.clone() };
    let good = |row: &&MessageField| row.name == "error_code" && row.value.starts_with("0 ");
    let mut all: Vec<Carried> = rows.iter().filter(says).filter(|row| !good(row)).map(field).take(MOST).collect();
    if all.is_empty() {
        all.extend(rows.iter().find(says).map(field));
    }
    all
}

/// The log of the controllers as a partition.
fn metadata() -> PartitionRef {
    PartitionRef { topic: "__cluster_metadata".into(), partition: 0 }
}

/// Offsets and counts are never below 0 where there is no error.
fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
