//! From a chain of causes to facts of the page. Which cause comes next is decided in `explain`.

use highwater_engine::base::{MessageId, NodeId};
use highwater_engine::trace::Kind;

use super::model::*;
use super::promises::{at_risk, first_lost, stalled_partition};
use crate::explain::{Question, What, explain};
use crate::recording::Ledger;
use crate::story::{Seen, name_of, tell};

/// Answers *Why?*; `None`: there is nothing to explain.
pub fn why(seen: Seen<'_>, ledger: &Ledger, promises: &Promises, scene: &Scene, about: &Subject) -> Option<WhyChain> {
    let question = question(seen, ledger, promises, scene, about)?;
    let mut steps: Vec<WhyStep> = Vec::new();
    // A message that has arrived cannot be opened any more.
    let on_their_way: Vec<MessageId> = seen.world().within_reach().into_iter().map(|message| message.id).collect();
    for step in explain(seen, &question) {
        let made = match step.what {
            What::Entry(index) => entry(seen, index, &on_their_way),
            What::Standing(fact) => Some((fact, None, None)),
        };
        if let Some((fact, trace, message)) = made
            && !steps.iter().any(|known| known.fact == fact)
        {
            steps.push(WhyStep { at_us: seen.us(step.at), trace, message, fact });
        }
    }
    let cut_short = steps.len() > MAX_WHY;
    steps.truncate(MAX_WHY);
    if steps.is_empty() { None } else { Some(WhyChain { about: about.clone(), steps, cut_short }) }
}

/// An entry as a step: messages on the way are left out, they only carry a cause.
fn entry(
    seen: Seen<'_>,
    index: usize,
    on_their_way: &[MessageId],
) -> Option<(Fact, Option<TraceId>, Option<MessageRef>)> {
    let fact = tell(seen, index)?.fact;
    let cause = seen.reel().cause(index).and_then(|cause| seen.reel().get(cause));
    let message = cause.and_then(|cause| {
        if let Kind::MessageSent { message, .. } = cause.kind
            && on_their_way.contains(&message)
        {
            Some(MessageRef(message.0))
        } else {
            None
        }
    });
    Some((fact, Some(TraceId(index as u64)), message))
}

fn question(seen: Seen<'_>, ledger: &Ledger, promises: &Promises, scene: &Scene, about: &Subject) -> Option<Question> {
    let node = |node: NodeRef| seen.node_id(&node).map(Question::Node);
    match about {
        Subject::Controller(id) => node(NodeRef::Controller(*id)),
        Subject::Broker(id) => node(NodeRef::Broker(*id)),
        Subject::Partition(partition) | Subject::Leader(partition) => seen.tp(partition).map(Question::Leader),
        Subject::Isr(partition) => seen.tp(partition).map(Question::Isr),
        Subject::HighWatermark(partition) => seen.tp(partition).map(Question::HighWatermark),
        Subject::Replica { partition, broker } => {
            let column = scene
                .topics
                .iter()
                .find(|topic| topic.name == partition.topic)
                .and_then(|topic| topic.partitions.get(partition.partition as usize));
            let in_sync = column.is_some_and(|column| column.isr.contains(broker));
            if in_sync { seen.tp(partition).map(Question::Leader) } else { seen.tp(partition).map(Question::Isr) }
        }
        Subject::Record { partition, broker, offset } => {
            let tp = seen.tp(partition)?;
            let log = seen.machine(NodeId::Broker(highwater_engine::base::BrokerId(*broker)))?.disk.log(tp)?;
            let batch = log.batch_at(*offset as i64)?;
            let tag = batch.data().get((*offset as i64 - batch.base_offset) as usize)?.tag;
            match ledger.lost().find(|entry| entry.tag == tag) {
                Some(_) => Some(Question::Lost { tag, tp, offset: *offset as i64 }),
                None => Some(Question::HighWatermark(tp)),
            }
        }
        Subject::Producer(name) => Some(Question::Producer(name.clone())),
        Subject::Group(name) => Some(Question::Group(name.clone())),
        Subject::Member(name) => Some(Question::Member(name.clone())),
        Subject::Message(message) => {
            let sent = seen
                .entries()
                .rev()
                .find(|(_, entry)| matches!(entry.kind, Kind::MessageSent { message: id, .. } if id.0 == message.0));
            sent.map(|(index, _)| Question::Entry(index))
        }
        Subject::Verdict(index) => verdict_question(seen, ledger, scene, &promises.verdicts.get(*index)?.verdict),
        Subject::LedgerRecord(number) => {
            let entry = ledger.get(*number as usize)?;
            match (entry.fate, entry.acked, entry.stands) {
                (RecordFate::AckedLost, Some((tp, offset)), _) => Some(Question::Lost { tag: entry.tag, tp, offset }),
                (RecordFate::Refused, ..) => Some(Question::Producer(name_of(seen.node(entry.producer)))),
                (_, _, Some((tp, _))) => Some(Question::HighWatermark(tp)),
                (_, _, None) => None,
            }
        }
        Subject::Trace(id) => Some(Question::Entry(usize::try_from(id.0).ok()?)),
    }
}

fn verdict_question(seen: Seen<'_>, ledger: &Ledger, scene: &Scene, verdict: &Verdict) -> Option<Question> {
    match verdict {
        Verdict::EveryConsumerStopped => scene
            .groups
            .iter()
            .find(|group| matches!(group.now, GroupNow::Stopped { .. }))
            .map(|group| Question::Group(group.name.clone())),
        Verdict::GroupStopped { group } | Verdict::GroupWithoutCommits { group } => {
            Some(Question::Group(group.clone()))
        }
        Verdict::PartitionsUnread { member, .. } => seen.client_node(member).map(Question::Node),
        Verdict::NoActiveController => Some(Question::NoController),
        Verdict::PartitionsOffline { topic, .. } => {
            let topic = scene.topics.iter().find(|view| view.name == *topic)?;
            let partition = topic.partitions.iter().find(|partition| partition.leader.is_none())?;
            seen.tp(&PartitionRef { topic: topic.name.clone(), partition: partition.partition }).map(Question::Leader)
        }
        Verdict::AckedLost { .. } => first_lost(ledger).map(|(tag, tp, offset)| Question::Lost { tag, tp, offset }),
        Verdict::WritesRefused { producer, .. } => Some(Question::Producer(producer.clone())),
        Verdict::WritesStalled { producer } => match stalled_partition(seen, producer) {
            Some(tp) => Some(Question::HighWatermark(tp)),
            None => Some(Question::Producer(producer.clone())),
        },
        Verdict::DeliveredTwice { .. } | Verdict::OutOfOrder { .. } => {
            let last = seen
                .entries()
                .rev()
                .find(|(_, entry)| matches!(entry.kind, Kind::ProducerRetries { .. } | Kind::GroupStateChanged { .. }));
            last.map(|(index, _)| Question::Entry(index))
        }
        Verdict::AtRisk { .. } => at_risk(seen, ledger).map(|(tp, ..)| Question::HighWatermark(tp)),
        Verdict::EveryPromiseKept => None,
    }
}
