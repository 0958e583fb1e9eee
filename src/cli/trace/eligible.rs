//! Why a broker that lives may not lead a partition without a leader: told when the leader is lost, and when a broker
//! comes back to it. Elects nobody.

use std::collections::{BTreeMap, BTreeSet};

use highwater_engine::base::{BrokerId, Dur, NodeId, SimTime, Tp};
use highwater_engine::protocol::Api;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_studio::notation::{self, Book};
use highwater_studio::recording::image;
use highwater_studio::story::Seen;

/// Whoever comes back and is elected within this time is no case.
const SOON: Dur = Dur::ms(100);

/// A partition without a leader, from when to when.
pub struct Leaderless {
    pub tp: Tp,
    pub from: SimTime,
    pub to: Option<SimTime>,
}

/// What the controller holds of partitions and brokers, as far as its trace tells.
struct State {
    isr: BTreeMap<Tp, Vec<BrokerId>>,
    elr: BTreeMap<Tp, Vec<BrokerId>>,
    unfenced: BTreeSet<BrokerId>,
    /// Lost their log directory and have not told in which new one their replicas are: nobody elects them before.
    lost: BTreeSet<BrokerId>,
}

impl State {
    fn see(&mut self, entry: &TraceEntry) {
        if let Kind::IsrShrunk { tp, isr, .. } | Kind::IsrExpanded { tp, isr, .. } = &entry.kind {
            self.isr.insert(*tp, isr.clone());
        } else if let Kind::ElrChanged { tp, elr, .. } = &entry.kind {
            self.elr.insert(*tp, elr.clone());
        } else if let Kind::LeaderElected { tp, leader, .. } = &entry.kind {
            // Whoever was elected from outside is alone in the ISR.
            if let Some(members) = self.isr.get_mut(tp).filter(|members| !members.contains(leader)) {
                *members = vec![*leader];
            }
        } else if let Kind::BrokerFenced { broker, .. } = &entry.kind {
            self.unfenced.remove(broker);
        } else if let Kind::BrokerUnfenced { broker } = &entry.kind {
            self.unfenced.insert(*broker);
        } else if let (Kind::DiskLost, NodeId::Broker(broker)) = (&entry.kind, entry.who) {
            self.lost.insert(broker);
        } else if let Kind::MessageSent { api: Api::AssignReplicasToDirs, response: true, error, to, .. } = &entry.kind
            && error.is_none()
            && let NodeId::Broker(broker) = to
        {
            self.lost.remove(broker);
        }
    }
}

/// A line for each broker that lives and does not lead.
pub fn lines(recording: Seen<'_>, leaderless: &[Leaderless], book: &Book) -> Vec<(SimTime, String)> {
    let Some(image) = image(recording.world()) else { return Vec::new() };
    let started = recording.branch().lowered.setup.brokers.iter().filter(|broker| broker.started);
    let mut state = State {
        isr: BTreeMap::new(),
        elr: BTreeMap::new(),
        unfenced: started.map(|broker| broker.id).collect(),
        lost: BTreeSet::new(),
    };
    let assigns = recording.branch().lowered.setup.version.rules().directory_assignment;
    let mut lines = Vec::new();
    for (_, entry) in recording.reel().entries(0..recording.n_entries()) {
        state.see(entry);
        let cases: Vec<(Tp, Vec<BrokerId>)> = if let Kind::LeaderLost { tp, .. } = &entry.kind {
            vec![(*tp, state.unfenced.iter().copied().collect())]
        } else if let Kind::BrokerUnfenced { broker } = &entry.kind {
            leaderless.iter().filter(|case| case.from <= entry.at).map(|case| (case.tp, vec![*broker])).collect()
        } else {
            continue;
        };
        for (tp, brokers) in cases {
            let lasts = |case: &Leaderless| {
                case.tp == tp && case.from <= entry.at && case.to.is_none_or(|to| to.since(entry.at) > SOON)
            };
            let Some(partition) = image.partition(tp).filter(|_| leaderless.iter().any(lasts)) else { continue };
            let list = |ids: Option<&Vec<BrokerId>>| {
                ids.map_or(String::new(), |ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
            };
            let lost = |broker: &BrokerId| if assigns && state.lost.contains(broker) { " directory=lost" } else { "" };
            for broker in brokers.iter().filter(|broker| partition.replicas.contains(broker)) {
                lines.push((
                    entry.at,
                    format!(
                        "{}  {:16}  may-not-lead {} broker={broker} isr=[{}] elr=[{}]{}",
                        notation::moment(entry.at, recording.origin()),
                        book.node(entry.who),
                        book.partition(tp),
                        list(state.isr.get(&tp)),
                        list(state.elr.get(&tp)),
                        lost(broker)
                    ),
                ));
            }
        }
    }
    lines
}
