//! What the set-up would survive if brokers failed, as it is configured now. It breaks nothing to find out: it counts
//! who is left.

use highwater_engine::base::limits::MAX_BROKERS;
use highwater_engine::base::{BrokerId, Set};
use highwater_engine::protocol::{Acks, CONSUMER_OFFSETS, PartitionRegistration};

use super::clients;
use super::model::*;
use crate::story::Seen;

/// Brokers, a bit each, in the order of the set-up.
type Brokers = u64;
const _: () = assert!(MAX_BROKERS <= Brokers::BITS as usize);

/// What counts of a partition here. Of a thousand partitions most are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Likeness {
    /// In the ISR, and up.
    alive: Brokers,
    replicas: u32,
    min: u32,
    unclean: bool,
}

impl Likeness {
    fn left(self, failed: Brokers) -> u32 {
        (self.alive & !failed).count_ones()
    }
}

/// What is asked of the cluster, whoever fails.
pub struct Survivals<'a> {
    seen: Seen<'a>,
    /// Brokers that are up.
    up: Vec<Brokers>,
    /// Partitions of topics that are not internal, each kind once, in order.
    data: Vec<Likeness>,
    /// Partitions of the offsets topic that the groups need, in order.
    offsets: Vec<Likeness>,
}

impl<'a> Survivals<'a> {
    pub fn of(seen: Seen<'a>) -> Survivals<'a> {
        let ids: Vec<BrokerId> = seen.world().setup().brokers.iter().map(|broker| broker.id).collect();
        let bit = |id: &BrokerId| ids.iter().position(|known| known == id).map_or(0, |place| 1 << place);
        let up: Vec<Brokers> = ids.iter().filter(|id| !seen.is_down(**id)).map(bit).collect();
        let all: Brokers = up.iter().fold(0, |all, one| all | one);
        let alive = |partition: &PartitionRegistration| partition.isr.iter().fold(0, |all, id| all | bit(id)) & all;
        let replicas = |partition: &PartitionRegistration| partition.replicas.len() as u32;
        let (mut known, mut data) = (Set::new(), Vec::new());
        let topics = seen.image().into_iter().flat_map(|image| image.topics.iter().map(move |one| (image, one)));
        for (image, (id, topic)) in topics.filter(|(_, (_, topic))| !topic.name.starts_with("__")) {
            let config = seen.world().config();
            let min = image.min_insync_replicas(*id, config);
            let unclean = image.unclean_leader_election(*id, config);
            for partition in &topic.partitions {
                let one = Likeness { alive: alive(partition), replicas: replicas(partition), min, unclean };
                if known.insert(one) {
                    data.push(one);
                }
            }
        }
        let groups = seen.groups().into_iter().filter_map(|group| seen.offsets_tp(&group));
        let partitions = groups.filter_map(|tp| seen.image()?.partition(tp));
        let offsets = partitions.map(|partition| Likeness {
            alive: alive(partition),
            replicas: replicas(partition),
            min: 1,
            unclean: false,
        });
        Survivals { seen, up, data, offsets: offsets.collect() }
    }

    /// What is kept if so many fail.
    pub fn if_fail(&self, failures: usize) -> Vec<Survival> {
        vec![
            Survival { promise: Promise::ProducersCanWrite, answer: self.can_write(failures) },
            Survival { promise: Promise::ConsumersGoOn, answer: self.go_on(failures) },
            Survival { promise: Promise::NothingAckedIsLost, answer: self.nothing_lost(failures) },
        ]
    }

    /// Every set of so many brokers that are up.
    fn sets(&self, failures: usize) -> Vec<Brokers> {
        let mut sets = vec![0];
        for _ in 0..failures {
            let with_one_more = |set: &Brokers| {
                let set = *set;
                self.up.iter().filter(move |one| **one > set).map(move |one| set | one)
            };
            sets = sets.iter().flat_map(with_one_more).collect();
        }
        sets
    }

    /// Yes, no or depends, from the answers for each set.
    fn verdict(&self, failures: usize, breaks: impl Fn(Brokers) -> Option<Weakness>) -> Answer {
        let sets = self.sets(failures);
        let broken: Vec<Weakness> = sets.iter().filter_map(|set| breaks(*set)).collect();
        match broken.first() {
            None if sets.is_empty() => Answer::No { because: Weakness::AlreadyDown },
            None => Answer::Yes,
            Some(because) if broken.len() == sets.len() => Answer::No { because: because.clone() },
            Some(because) => Answer::Depends { because: because.clone() },
        }
    }

    fn can_write(&self, failures: usize) -> Answer {
        let seen = self.seen;
        let needs_all = seen.producers().iter().any(|(_, id)| id.is_some_and(|id| seen.acks(id) == Acks::All));
        self.verdict(failures, |failed| {
            self.data.iter().find_map(|partition| {
                let left = partition.left(failed);
                let min = partition.min.min(partition.replicas);
                if left == 0 {
                    Some(Weakness::ReplicationFactor(partition.replicas))
                } else if needs_all && left < min {
                    Some(Weakness::MinInsyncReplicas { min, left })
                } else {
                    None
                }
            })
        })
    }

    fn go_on(&self, failures: usize) -> Answer {
        let Some(image) = self.seen.image() else { return Answer::Yes };
        let planned = self.seen.world().config().offsets_topic_replication_factor;
        if image.topic_id(CONSUMER_OFFSETS).is_none() {
            // Not made yet: it will have as many replicas as the setting says.
            return if planned as usize > failures {
                Answer::Yes
            } else {
                Answer::Depends { because: Weakness::OffsetsReplicationFactor(planned) }
            };
        }
        let gone = |partitions: &[Likeness], failed: Brokers| {
            partitions.iter().find(|partition| partition.left(failed) == 0).map(|partition| partition.replicas)
        };
        self.verdict(failures, |failed| {
            let coordinator = gone(&self.offsets, failed).map(Weakness::OffsetsReplicationFactor);
            coordinator.or_else(|| gone(&self.data, failed).map(Weakness::ReplicationFactor))
        })
    }

    fn nothing_lost(&self, failures: usize) -> Answer {
        let seen = self.seen;
        let weakest = seen.producers().iter().filter_map(|(_, id)| *id).map(|id| seen.acks(id)).min();
        if let Some(acks @ (Acks::Zero | Acks::One)) = weakest {
            return Answer::Depends { because: Weakness::Acks(clients::acks_term(acks)) };
        }
        self.verdict(failures, |failed| {
            self.data.iter().find_map(|partition| {
                let min = partition.min;
                if partition.left(failed) == 0 && partition.unclean {
                    Some(Weakness::UncleanElection)
                } else if min as usize <= failures && partition.replicas > 1 && failures > 1 {
                    Some(Weakness::MinInsyncReplicas { min, left: 0 })
                } else {
                    None
                }
            })
        })
    }
}
