//! Which partition a record goes to (section 8.2 and 8.3). Moves no record.
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::accumulator::Accumulator;
use crate::base::{Map, Rng};
use crate::client::config::{PartitionerKind, ProducerConfig};
use crate::client::metadata::KnownTopic;
use crate::protocol::hash::key_partition;
use crate::protocol::{Record, RecordBatch};

/// State per topic of the partitioner without keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Spread {
    Counter(u32),
    Sticky { partition: u32, bytes: usize },
}

/// The partitioner of one producer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Partitioner {
    topics: Map<Rc<str>, Spread>,
}

impl Partitioner {
    /// Partition of a record with or without a key.
    pub fn choose(
        &mut self,
        rng: &mut Rng,
        config: &ProducerConfig,
        queues: &Accumulator,
        (name, topic): (&Rc<str>, &KnownTopic),
        record: &Record,
    ) -> u32 {
        let size = record.size();
        let n = topic.partitions.len() as u32;
        if let Some(key) = &record.key {
            return key_partition(key, n);
        }
        let available: Vec<u32> = (0..n).filter(|i| topic.partitions[*i as usize].leader.is_some()).collect();
        let choice: Vec<u32> = if available.is_empty() { (0..n).collect() } else { available };
        let state = self.topics.get(name).copied();
        let (partition, next) = match config.partitioner {
            PartitionerKind::RoundRobin => {
                let counter = match state {
                    Some(Spread::Counter(counter)) => counter,
                    Some(Spread::Sticky { .. }) | None => rng.below(n),
                };
                (choice[counter as usize % choice.len()], Spread::Counter(counter.wrapping_add(1)))
            }
            PartitionerKind::StickyBatch => {
                let current = match state {
                    Some(Spread::Sticky { partition, .. }) if partition < n => partition,
                    Some(_) | None => choice[rng.below(choice.len() as u32) as usize],
                };
                // A record that would open a batch moves on to another partition first.
                let partition = if queues.fits(&(name.clone(), current), size, config.batch_size) {
                    current
                } else {
                    let others: Vec<u32> = choice.iter().copied().filter(|p| *p != current).collect();
                    if others.is_empty() { choice[0] } else { others[rng.below(others.len() as u32) as usize] }
                };
                (partition, Spread::Sticky { partition, bytes: 0 })
            }
            PartitionerKind::StickyBytes => {
                let mut current = match state {
                    Some(Spread::Sticky { partition, bytes }) if partition < n => (partition, bytes),
                    Some(_) | None => (Self::draw(rng, config, queues, name, &choice), 0),
                };
                if current.1 >= config.batch_size && queues.all_full(&(name.clone(), current.0)) {
                    current = (Self::draw(rng, config, queues, name, &choice), 0);
                }
                // A record that opens a batch counts with the batch's header.
                let opens = !queues.fits(&(name.clone(), current.0), size, config.batch_size);
                let bytes = current.1 + size + if opens { RecordBatch::HEADER_BYTES } else { 0 };
                // Produced twice the size without a pause in which to switch.
                let next = if bytes >= 2 * config.batch_size.max(1) {
                    (Self::draw(rng, config, queues, name, &choice), 0)
                } else {
                    (current.0, bytes)
                };
                (current.0, Spread::Sticky { partition: next.0, bytes: next.1 })
            }
        };
        self.topics.insert(name.clone(), next);
        partition
    }

    /// Uniform, or weighted against long queues.
    fn draw(rng: &mut Rng, config: &ProducerConfig, queues: &Accumulator, name: &Rc<str>, choice: &[u32]) -> u32 {
        if !config.adaptive_partitioning {
            return choice[rng.below(choice.len() as u32) as usize];
        }
        let weights = weights(&choice.iter().map(|p| queues.waiting(&(name.clone(), *p)) as u32).collect::<Vec<_>>());
        let mut at = rng.below(weights.iter().sum());
        for (partition, weight) in choice.iter().zip(&weights) {
            if at < *weight {
                return *partition;
            }
            at -= weight;
        }
        choice[0]
    }
}

/// Greatest queue + 1 - own queue.
fn weights(queues: &[u32]) -> Vec<u32> {
    let most = queues.iter().copied().max().unwrap_or(0);
    queues.iter().map(|own| most + 1 - own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{BrokerId, LeaderEpoch, NodeId, Seq, SimTime, StreamId, Tag, TopicId};
    use crate::client::ClientVersion;
    use crate::client::metadata::KnownPartition;
    use crate::protocol::{ConfigMap, ErrorCode};

    fn topic(leaders: &[bool]) -> KnownTopic {
        let partition = |has: &bool| KnownPartition {
            leader: has.then_some(BrokerId(1)),
            epoch: LeaderEpoch(0),
            error: ErrorCode::None,
        };
        KnownTopic { id: TopicId(1), partitions: leaders.iter().map(partition).collect() }
    }

    fn run(version: ClientVersion, leaders: &[bool], count: usize, key: Option<&str>, size: usize) -> Vec<u32> {
        let config = ProducerConfig::parse(version, &ConfigMap::new()).expect("defaults");
        let mut rng = Rng::stream(3, StreamId::Node(NodeId::Broker(BrokerId(9))));
        let mut partitioner = Partitioner::default();
        let name: Rc<str> = "t".into();
        let record = Record { tag: Tag(0), key: key.map(Rc::from), value: "v".repeat(size - 7).into() };
        let mut queues = Accumulator::default();
        (0..count)
            .map(|_| {
                let partition = partitioner.choose(&mut rng, &config, &queues, (&name, &topic(leaders)), &record);
                let part = (name.clone(), partition);
                queues.append(SimTime::ZERO, &part, record.clone(), config.batch_size, Seq(0));
                if queues.waiting(&part) > 1 {
                    // The sender keeps up: what is full is gone.
                    queues.pop(&part);
                }
                partition
            })
            .collect()
    }

    #[test]
    fn m_01_and_m_05_a_key_keeps_its_partition_without_a_leader() {
        assert_eq!(run(ClientVersion::V4_1, &[true, true, false], 1, Some("ab"), 10), [2]);
        assert_eq!(run(ClientVersion::V4_1, &[true, true, true], 1, Some(""), 10), [0]);
        assert!(run(ClientVersion::V4_1, &[true, true, false], 2_000, None, 1_000).iter().all(|p| *p < 2));
    }

    #[test]
    fn m_04_added_partitions_move_keys() {
        assert_eq!(run(ClientVersion::V4_1, &[true; 3], 1, Some("a"), 10), [1]);
        assert_eq!(run(ClientVersion::V4_1, &[true; 6], 1, Some("a"), 10), [4]);
    }

    #[test]
    fn m_08_round_robin_skips_partitions_without_a_leader() {
        let all = run(ClientVersion::V2_3, &[true; 3], 6, None, 10);
        assert_eq!(all[..3], all[3..]);
        assert_eq!(all[..3].iter().sum::<u32>(), 3);
        let two = run(ClientVersion::V2_3, &[true, false, true], 6, None, 10);
        assert!(two.iter().all(|p| *p != 1) && two[0] != two[1] && two[0] == two[2]);
    }

    #[test]
    fn m_09_a_sticky_run_has_about_batch_size_bytes() {
        let all = run(ClientVersion::V4_1, &[true; 8], 170, None, 1_000);
        let mut runs = Vec::new();
        for partition in all {
            match runs.last_mut() {
                Some((p, n)) if *p == partition => *n += 1,
                Some(_) | None => runs.push((partition, 1)),
            }
        }
        // 16 records of 1,000 bytes and a header fill a batch; the 17th opens another one, which is not full, so that
        // the switch waits for twice the size: 61 + 16,000, 61 + 16,000, and the record that opens a third batch.
        assert_eq!(runs[0].1 % 33, 0, "{runs:?}");
    }

    #[test]
    fn m_10_long_queues_weigh_less() {
        assert_eq!(weights(&[0, 3, 1]), [4, 1, 3]);
    }
}
