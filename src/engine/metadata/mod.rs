//! The cluster image and the replay of metadata records. Each node has its own, built from its own copy of the log;
//! nothing here decides.
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{BrokerEpoch, BrokerId, Incarnation, Map, Offset, TopicId, Tp};
use crate::protocol::config::NodeConfig;
use crate::protocol::{
    ConfigMap, ConfigResource, LeaderRecoveryState, MetadataRecord, PartitionChange, PartitionRegistration,
};

/// A broker as registered with the controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BrokerRegistration {
    pub epoch: BrokerEpoch,
    pub incarnation: Incarnation,
    pub rack: Option<Rc<str>>,
    /// Id of its log directory.
    pub directory: u32,
    pub fenced: bool,
    pub in_controlled_shutdown: bool,
}

/// A topic with its partitions by number, without gaps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TopicImage {
    pub name: Rc<str>,
    pub partitions: Vec<PartitionRegistration>,
}

/// What a node knows of the cluster: the sum of the records that it has applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetadataImage {
    pub brokers: Map<BrokerId, BrokerRegistration>,
    /// Shared: most clones of an image never change a topic again.
    pub topics: Map<TopicId, Rc<TopicImage>>,
    pub topic_ids: Map<Rc<str>, TopicId>,
    pub configs: Map<ConfigResource, ConfigMap>,
    pub features: Map<&'static str, i16>,
    pub next_producer_id: i64,
    /// The highest topic id ever given: ids are not used again.
    pub last_topic: TopicId,
    /// Offset after the last applied record.
    pub applied_to: Offset,
}

impl MetadataImage {
    /// Applies one record. Records for topics that are gone are ignored, as Kafka's replay would have failed on them
    /// before commit.
    pub fn replay(&mut self, record: &MetadataRecord) {
        match record {
            MetadataRecord::FeatureLevel { name, level } => {
                self.features.insert(name, *level);
            }
            MetadataRecord::RegisterBroker { broker, incarnation, rack, directory, epoch } => {
                let registration = BrokerRegistration {
                    epoch: *epoch,
                    incarnation: *incarnation,
                    rack: rack.clone(),
                    directory: *directory,
                    fenced: true,
                    in_controlled_shutdown: false,
                };
                self.brokers.insert(*broker, registration);
            }
            MetadataRecord::UnregisterBroker { broker, epoch: _ } => {
                self.brokers.remove(broker);
            }
            MetadataRecord::BrokerRegistrationChange { broker, epoch: _, fenced, in_controlled_shutdown } => {
                if let Some(registration) = self.brokers.get_mut(broker) {
                    registration.fenced = fenced.unwrap_or(registration.fenced);
                    registration.in_controlled_shutdown |= in_controlled_shutdown;
                }
            }
            MetadataRecord::Topic { name, topic } => {
                self.last_topic = self.last_topic.max(*topic);
                self.topic_ids.insert(name.clone(), *topic);
                self.topics.insert(*topic, Rc::new(TopicImage { name: name.clone(), partitions: Vec::new() }));
            }
            MetadataRecord::Partition { tp, registration } => {
                if let Some(topic) = self.topics.get_mut(&tp.topic) {
                    let partitions = &mut Rc::make_mut(topic).partitions;
                    assert_eq!(
                        partitions.len(),
                        tp.partition as usize,
                        "partitions are made in order of their numbers"
                    );
                    partitions.push(registration.clone());
                }
            }
            MetadataRecord::PartitionChange(change) => {
                if let Some(topic) = self.topics.get_mut(&change.tp.topic)
                    && let Some(partition) = Rc::make_mut(topic).partitions.get_mut(change.tp.partition as usize)
                {
                    partition.merge(change);
                }
            }
            MetadataRecord::RemoveTopic { topic } => {
                if let Some(image) = self.topics.remove(topic) {
                    self.topic_ids.remove(&image.name);
                }
                self.configs.remove(&ConfigResource::Topic(*topic));
            }
            MetadataRecord::Config { resource, name, value } => {
                let configs = self.configs.entry(resource.clone()).or_default();
                match value {
                    Some(value) => configs.insert(name.clone(), value.clone()),
                    None => configs.remove(name),
                };
            }
            MetadataRecord::ProducerIds { broker: _, broker_epoch: _, next_producer_id } => {
                self.next_producer_id = *next_producer_id
            }
            MetadataRecord::NoOp => {}
        }
    }

    pub fn partition(&self, tp: Tp) -> Option<&PartitionRegistration> {
        self.topics.get(&tp.topic)?.partitions.get(tp.partition as usize)
    }

    pub fn topic_id(&self, name: &str) -> Option<TopicId> {
        self.topic_ids.get(name).copied()
    }

    /// The partition of the topic that has this name now, for requests that write names: whichever topic the client
    /// knew by it.
    pub fn by_name(&self, names: &Map<TopicId, Rc<str>>, asked: Tp) -> Option<Tp> {
        Some(Tp { topic: self.topic_id(names.get(&asked.topic)?)?, partition: asked.partition })
    }

    pub fn topic_name(&self, topic: TopicId) -> Option<&Rc<str>> {
        self.topics.get(&topic).map(|t| &t.name)
    }

    /// Every partition in order of topic and number.
    pub fn partitions(&self) -> impl Iterator<Item = (Tp, &PartitionRegistration)> {
        self.topics.iter().flat_map(|(topic, image)| {
            image
                .partitions
                .iter()
                .enumerate()
                .map(|(number, registration)| (Tp { topic: *topic, partition: number as u32 }, registration))
        })
    }

    /// Registered and not fenced: what clients are told of.
    pub fn is_unfenced(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(|b| !b.fenced)
    }

    /// May lead and may enter an ISR: unfenced and not in controlled shutdown (KIP-841).
    pub fn is_active(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(|b| !b.fenced && !b.in_controlled_shutdown)
    }

    /// A topic's value of a key, else the cluster's dynamic default.
    pub fn topic_config(&self, topic: TopicId, key: &str) -> Option<&Rc<str>> {
        let of = |resource: &ConfigResource| self.configs.get(resource).and_then(|c| c.get(key));
        of(&ConfigResource::Topic(topic)).or_else(|| of(&ConfigResource::Cluster))
    }

    /// `min.insync.replicas` in force for a topic, before it is bounded by the number of replicas.
    pub fn min_insync_replicas(&self, topic: TopicId, node: &NodeConfig) -> u32 {
        self.topic_config(topic, "min.insync.replicas").and_then(|v| v.parse().ok()).unwrap_or(node.min_insync_replicas)
    }

    /// `unclean.leader.election.enable` in force for a topic.
    pub fn unclean_leader_election(&self, topic: TopicId, node: &NodeConfig) -> bool {
        self.topic_config(topic, "unclean.leader.election.enable")
            .map_or(node.unclean_leader_election, |v| &**v == "true")
    }
}

impl PartitionRegistration {
    /// Applies a change: a leader that is set raises the leader epoch, every change the partition epoch
    /// (PartitionRegistration.merge).
    pub fn merge(&mut self, change: &PartitionChange) {
        if let Some(replicas) = &change.replicas {
            self.replicas = replicas.clone();
        }
        if let Some(directories) = &change.directories {
            self.directories.clone_from(directories);
        }
        if let Some(isr) = &change.isr {
            self.isr = isr.clone();
        }
        if let Some(elr) = &change.elr {
            self.elr = elr.clone();
        }
        if let Some(last_known) = &change.last_known_elr {
            self.last_known_elr = last_known.clone();
        }
        if let Some(recovery) = change.leader_recovery {
            self.leader_recovery = recovery;
        }
        if let Some(leader) = change.leader {
            self.leader = leader;
            self.leader_epoch.0 += 1;
        }
        self.partition_epoch.0 += 1;
    }

    /// The log directory that is assigned to a replica.
    pub fn directory(&self, broker: BrokerId) -> Option<u32> {
        let place = self.replicas.iter().position(|replica| *replica == broker)?;
        self.directories.get(place).copied()
    }

    /// Whether an unclean election is not yet confirmed by its leader.
    pub fn is_recovering(&self) -> bool {
        self.leader_recovery == LeaderRecoveryState::Recovering
    }
}
