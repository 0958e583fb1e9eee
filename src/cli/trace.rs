//! `highwater trace`: what happens in a run, a line each. The words are the trace's own; the page has sentences.

use std::path::Path;

use highwater_engine::base::{ClientId, Dur, NodeId, TopicId};
use highwater_engine::trace::TraceEntry;
use highwater_studio::recording::{Playhead, Recording};
use highwater_studio::story::Seen;

use crate::Complaint;
use crate::args::Trace;
use crate::links;

/// How far a run without end is told.
const LONGEST: Dur = Dur::secs(3_600);

/// Runs and prints.
pub fn run(options: &Trace) -> Result<bool, Complaint> {
    let (scenario, moment) = match options.what.contains('#') || !Path::new(&options.what).exists() {
        true => {
            let link = links::read_link(&options.what)?;
            (link.scenario, link.at.map(|moment| moment.at))
        }
        false => (links::read_file(Path::new(&options.what))?, None),
    };
    let mut recording = Recording::new(scenario)
        .map_err(|refusal| format!("{}: the cluster cannot be started: {refusal:?}", options.what))?;
    let mut playhead = Playhead::new(&mut recording);
    let until = options.until.or(moment).unwrap_or(playhead.branch(&recording).lowered.end).min(LONGEST);
    playhead.run_until(&mut recording, playhead.origin() + until);
    let seen = Seen::new(&recording, &playhead);
    for (number, entry) in seen.entries() {
        if options.all || seen.reel().is_notable(number) {
            println!("{}", line(seen, entry));
        }
    }
    println!("digest after {} ms: {:016x}", until.as_ms(), playhead.digest());
    Ok(true)
}

/// Seconds since the origin, who, and what, with topics and nodes by their names.
fn line(seen: Seen<'_>, entry: &TraceEntry) -> String {
    let at = seen.us(entry.at);
    let topic =
        |id: u32| seen.reel().topic_name(TopicId(id)).map_or_else(|| format!("topic {id}"), |name| name.to_string());
    format!(
        "{:>5}.{:06}  {:14}  {}",
        at / 1_000_000,
        at % 1_000_000,
        node(seen, entry.who),
        plain(&format!("{:?}", entry.kind), &topic)
    )
}

fn node(seen: Seen<'_>, node: NodeId) -> String {
    match node {
        NodeId::Client(id) => {
            seen.world().client_name(ClientId(id.0)).map_or_else(|| node.to_string(), |name| name.to_string())
        }
        NodeId::Broker(_) | NodeId::Controller(_) => node.to_string(),
    }
}

/// `Tp { topic: TopicId(1), partition: 0 }` as `orders/0`, and `BrokerId(2)` as `2`.
fn plain(text: &str, topic: &dyn Fn(u32) -> String) -> String {
    const TP: &str = "Tp { topic: TopicId(";
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(TP) {
        let after = &rest[start + TP.len()..];
        let (Some((id, tail)), Some(end)) = (after.split_once("), partition: "), after.find(" }")) else { break };
        let partition = &tail[..end.saturating_sub(id.len() + "), partition: ".len()).min(tail.len())];
        out.push_str(&rest[..start]);
        out.push_str(&format!("{}/{partition}", topic(id.parse().unwrap_or(0))));
        rest = &after[end + " }".len()..];
    }
    out.push_str(rest);
    unwrapped(&out)
}

/// `Name(7)` as `7`: the entry's own words say what the number is.
fn unwrapped(text: &str) -> String {
    const NAMES: [&str; 14] = [
        "BrokerId(",
        "ControllerId(",
        "ClientId(",
        "TopicId(",
        "LeaderEpoch(",
        "PartitionEpoch(",
        "BrokerEpoch(",
        "QuorumEpoch(",
        "GenerationId(",
        "SimTime(",
        "Tag(",
        "ActionId(",
        "MessageId(",
        "ProducerId(",
    ];
    let mut out = text.to_string();
    for name in NAMES {
        while let Some(start) = out.find(name) {
            let inner = start + name.len();
            let Some(end) = out[inner..].find(')') else { break };
            out = format!("{}{}{}", &out[..start], &out[inner..inner + end], &out[inner + end + 1..]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn partitions_and_numbers_are_shown_plainly() {
        let topic = |id: u32| format!("topic-{id}");
        let table = [
            (
                "LeaderLost { tp: Tp { topic: TopicId(1), partition: 12 }, previous: BrokerId(2), epoch: LeaderEpoch(3) }",
                "LeaderLost { tp: topic-1/12, previous: 2, epoch: 3 }",
            ),
            (
                "X { partitions: [Tp { topic: TopicId(1), partition: 0 }, Tp { topic: TopicId(2), partition: 3 }] }",
                "X { partitions: [topic-1/0, topic-2/3] }",
            ),
            ("ProcessStarted", "ProcessStarted"),
        ];
        for (debug, expected) in table {
            assert_eq!(plain(debug, &topic), expected);
        }
    }
}
