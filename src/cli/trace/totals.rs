//! What a run comes to: promises kept and broken, and each partition at the end. Judges nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use highwater_engine::base::{BrokerId, NodeId, Tp};
use highwater_engine::protocol::hash::group_partition;
use highwater_engine::protocol::{CONSUMER_OFFSETS, PartitionRegistration};
use highwater_studio::notation::Book;
use highwater_studio::recording::{image, runs};
use highwater_studio::story::Seen;

use super::promises::{Promises, Sent};

/// Runs of offsets that are named; what lies beyond is counted.
const NAMED: usize = 100;

/// The lines at the end.
pub fn lines(recording: Seen<'_>, promises: &Promises, book: &Book) -> Vec<String> {
    let mut lines = vec!["totals".to_string()];
    let mut producers: Vec<NodeId> = Vec::new();
    for record in &promises.records {
        if !producers.contains(&record.producer) {
            producers.push(record.producer);
        }
    }
    for producer in producers {
        let own = || promises.records.iter().filter(move |record| record.producer == producer);
        let mut failed: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, exception) in own().filter_map(|record| record.failed) {
            *failed.entry(exception).or_default() += 1;
        }
        let count = |is: &dyn Fn(&Sent) -> bool| own().filter(|record| is(record)).count();
        lines.push(format!(
            "  {}  sent={} acknowledged={} failed={} pending={} lost={} duplicated={}",
            book.node(producer),
            count(&|_| true),
            count(&|record| record.acked.is_some()),
            count(&|record| record.failed.is_some()),
            count(&|record| record.acked.is_none() && record.failed.is_none()),
            count(&|record| record.lost),
            count(&|record| twice_in_a_log(record)),
        ));
        lines.extend(
            failed.iter().map(|(exception, count)| format!("    failed exception={exception} records={count}")),
        );
        lines.extend(lost(own(), book));
    }
    for (group, _) in super::groups(recording) {
        let given: Vec<u64> = promises
            .records
            .iter()
            .filter_map(|record| record.delivered.get(&group).map(|(_, times)| *times))
            .collect();
        lines.push(format!(
            "  group={group}  delivered={} records={} delivered-twice={} out-of-order={}",
            given.iter().sum::<u64>(),
            given.len(),
            given.iter().filter(|times| **times > 1).count(),
            promises.out_of_order.get(&group).unwrap_or(&0)
        ));
    }
    lines.extend(partitions(recording, promises, book));
    lines
}

/// Whether a producer's repetition was written a second time.
fn twice_in_a_log(record: &Sent) -> bool {
    record.stands.iter().any(|(tp, offset)| record.stands.iter().any(|(other, at)| tp == other && offset != at))
}

/// Records that were acknowledged and are gone, by partition and offset.
fn lost<'a>(records: impl Iterator<Item = &'a Sent>, book: &Book) -> Vec<String> {
    let mut offsets: BTreeMap<Tp, Vec<i64>> = BTreeMap::new();
    for (_, tp, offset) in records.filter(|record| record.lost).filter_map(|record| record.acked) {
        offsets.entry(tp).or_default().push(offset);
    }
    let line = |(tp, mut offsets): (Tp, Vec<i64>)| {
        offsets.sort_unstable();
        let last = offsets.last().copied().unwrap_or_default();
        let runs = runs(offsets.into_iter().map(|offset| (tp, offset)));
        let named: Vec<String> = runs.iter().take(NAMED).map(|(_, from, to)| span(*from, *to)).collect();
        let more: i64 = runs.iter().skip(NAMED).map(|(_, from, to)| to - from + 1).sum();
        let more = if more == 0 { String::new() } else { format!(" and {more} up to {last}") };
        format!("    lost {} offsets={}{more}", book.partition(tp), named.join(","))
    };
    offsets.into_iter().map(line).collect()
}

fn span(from: i64, to: i64) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

fn partitions(recording: Seen<'_>, promises: &Promises, book: &Book) -> Vec<String> {
    let Some(image) = image(recording.world()) else { return Vec::new() };
    let groups = super::groups(recording);
    let mut lines = Vec::new();
    let (mut others, mut without_leader) = (0_u32, 0_u32);
    for (tp, partition) in image.partitions() {
        let topic = image.topic_name(tp.topic);
        if topic.is_some_and(|name| &**name == CONSUMER_OFFSETS) && !holds_a_group(tp, image.partitions(), &groups) {
            others += 1;
            without_leader += u32::from(partition.leader.is_none());
            continue;
        }
        let leader = partition.leader.map_or("none".to_string(), |id| id.to_string());
        let log = partition.leader.and_then(|id| log(recording, id, tp));
        let end = log.map_or("unknown".to_string(), |log| log.end_offset().to_string());
        let high_watermark = recording.reel().high_watermark(tp, recording.n_entries()).unwrap_or(0);
        let mut line = format!(
            "  {}  leader={leader} leader-epoch={} isr={} elr={} end={end} high-watermark={high_watermark}",
            book.partition(tp),
            partition.leader_epoch,
            list(&partition.isr),
            list(&partition.elr)
        );
        for (group, _) in groups.iter().filter(|(_, topics)| topic.is_some_and(|name| topics.contains(name))) {
            line.push_str(&format!(" lag[{group}]={}", lag(promises, group, tp, high_watermark)));
        }
        lines.push(line);
        if partition.leader.is_none() {
            let unfenced = |id: &BrokerId| image.is_unfenced(*id);
            let replicas = partition.replicas.iter();
            lines.extend(replicas.map(|id| replica(recording, *id, unfenced(id), tp, partition)));
        }
    }
    if others > 0 {
        lines.push(format!("  {CONSUMER_OFFSETS}  other-partitions={others} without-leader={without_leader}"));
    }
    lines
}

/// Whether a group of the run lives in this partition of the offsets topic.
fn holds_a_group<'a>(
    tp: Tp,
    all: impl Iterator<Item = (Tp, &'a PartitionRegistration)>,
    groups: &[(Rc<str>, Vec<Rc<str>>)],
) -> bool {
    let count = all.filter(|(other, _)| other.topic == tp.topic).count() as u32;
    groups.iter().any(|(group, _)| group_partition(group, count) == tp.partition)
}

fn lag(promises: &Promises, group: &Rc<str>, tp: Tp, high_watermark: i64) -> String {
    match promises.committed.get(&(group.clone(), tp)) {
        Some(committed) => (high_watermark - committed).max(0).to_string(),
        None => "nothing-committed".into(),
    }
}

/// What a replica of a partition without a leader is: why it may not lead.
fn replica(recording: Seen<'_>, id: BrokerId, unfenced: bool, tp: Tp, partition: &PartitionRegistration) -> String {
    let runs = recording.world().machine(NodeId::Broker(id)).is_some_and(|machine| machine.process.is_some());
    let end = log(recording, id, tp).map_or("none".to_string(), |log| log.end_offset().to_string());
    format!(
        "    replica={id} running={runs} fenced={} in-isr={} in-elr={} last-known={} log-end={end}",
        !unfenced,
        partition.isr.contains(&id),
        partition.elr.contains(&id),
        partition.last_known_elr.contains(&id)
    )
}

fn log(recording: Seen<'_>, broker: BrokerId, tp: Tp) -> Option<&highwater_engine::log::Log> {
    recording.world().machine(NodeId::Broker(broker))?.disk.log(tp)
}

fn list(ids: &[BrokerId]) -> String {
    format!("[{}]", ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}
