//! Applies committed metadata to a broker: replays it into the image, then tells replicas and coordinators what changed
//! for them. Decides no leadership.
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::group::CoordinatorLog;
use super::metadata_api::offsets_topic;
use super::replicas::ReplicaManager;
use super::{Broker, BrokerState};
use crate::base::{Map, Offset, Seq, TopicId, Tp};
use crate::metadata::MetadataImage;
use crate::node::Ctx;
use crate::protocol::{ConfigMap, ConfigResource, ErrorCode, GroupRecord, MetadataRecord, Payload, RecordBatch};

/// What a run of records changed, with the entry that led to each change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Delta {
    changed: Map<Tp, Seq>,
    deleted: Vec<Tp>,
    deleted_topics: Vec<TopicId>,
    brokers_changed: bool,
    /// Configs as they were before the first change to something that was there already.
    configs_before: Option<Map<ConfigResource, ConfigMap>>,
}

impl Delta {
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
            && self.deleted.is_empty()
            && self.deleted_topics.is_empty()
            && !self.brokers_changed
            && self.configs_before.is_none()
    }

    /// Replays one record into the image and notes what it changed.
    fn take(&mut self, image: &mut MetadataImage, record: &MetadataRecord, origin: Seq) {
        match record {
            MetadataRecord::Partition { tp, registration: _ } => {
                self.changed.insert(*tp, origin);
            }
            MetadataRecord::PartitionChange(change) => {
                self.changed.insert(change.tp, origin);
            }
            MetadataRecord::RemoveTopic { topic } => {
                let n_partitions = image.topics.get(topic).map_or(0, |t| t.partitions.len() as u32);
                self.changed.retain(|tp, _| tp.topic != *topic);
                self.deleted.extend((0..n_partitions).map(|partition| Tp { topic: *topic, partition }));
                self.deleted_topics.push(*topic);
            }
            MetadataRecord::RegisterBroker { .. }
            | MetadataRecord::UnregisterBroker { .. }
            | MetadataRecord::BrokerRegistrationChange { .. } => self.brokers_changed = true,
            MetadataRecord::Config { resource, name, value } => {
                // The configs of a topic come before its partitions; they are in force from its first log on.
                let is_new = match resource {
                    ConfigResource::Topic(topic) => image.topics.get(topic).is_none_or(|t| t.partitions.is_empty()),
                    ConfigResource::Broker(_) | ConfigResource::Cluster => false,
                };
                if !is_new {
                    self.configs_before.get_or_insert_with(|| image.configs.clone());
                } else if let (Some(before), Some(value)) = (&mut self.configs_before, value) {
                    before.entry(resource.clone()).or_default().insert(name.clone(), value.clone());
                }
            }
            MetadataRecord::FeatureLevel { .. }
            | MetadataRecord::Topic { .. }
            | MetadataRecord::ProducerIds { .. }
            | MetadataRecord::NoOp => {}
        }
        image.replay(record);
    }
}

impl Broker {
    /// Replays what the quorum has committed. Until the broker has caught up nothing is acted on: what it was long ago
    /// does not matter any more.
    pub(super) fn apply_committed(&mut self, ctx: &mut Ctx<'_>, batches: &[RecordBatch]) {
        for batch in batches {
            match &batch.payload {
                Payload::Metadata(records) => {
                    records.iter().for_each(|record| self.delta.take(&mut self.image, record, batch.origin))
                }
                Payload::LeaderChange => {}
                Payload::Data(_) | Payload::Group(_) => unreachable!("the metadata log holds metadata"),
            }
            self.image.applied_to = batch.next_offset();
        }
        if self.lifecycle.state() != BrokerState::Starting {
            self.publish(ctx);
        }
    }

    /// The first publication: logs are opened with the configs of now, whatever they were before.
    pub(super) fn publish_first(&mut self, ctx: &mut Ctx<'_>) {
        self.delta.configs_before = None;
        self.publish(ctx);
    }

    /// Tells replicas and coordinators what changed since last told. Replicas come first and configs last
    /// (BrokerMetadataPublisher), so that a leader follows a partition change with the settings from before it: a
    /// lowered minimum moves no high watermark by itself.
    pub(super) fn publish(&mut self, ctx: &mut Ctx<'_>) {
        let mut delta = core::mem::take(&mut self.delta);
        if delta.is_empty() {
            return;
        }
        let changed: Vec<(Tp, Seq)> = delta.changed.iter().map(|(tp, origin)| (*tp, *origin)).collect();
        if let Some(before) = &mut delta.configs_before {
            core::mem::swap(before, &mut self.image.configs);
        }
        self.replicas.apply(ctx, &self.image, &changed, &delta.deleted);
        if let Some(now) = delta.configs_before.take() {
            self.image.configs = now;
        }
        if self.rules.directory_assignment {
            let directory = ctx.disk.directory;
            let moved = changed.iter().map(|(tp, _)| *tp).filter(|tp| {
                let assigned = self.image.partition(*tp).and_then(|p| p.directory(self.id));
                assigned.is_some_and(|assigned| assigned != directory)
            });
            self.forwarder.assignments.add(moved);
        }
        self.resign_deleted(ctx, &delta);
        let Some((topic, _)) = offsets_topic(&self.image) else { return };
        self.offsets_topic = Some(topic);
        let mut log = ReplicaLog { replicas: &mut self.replicas, image: &self.image, topic };
        for (tp, origin) in changed {
            let Some(partition) = self.image.partition(tp).filter(|_| tp.topic == topic) else { continue };
            ctx.caused_by(origin, |ctx| {
                if partition.leader == Some(self.id) {
                    self.groups.on_elected(ctx, &mut log, tp.partition, partition.leader_epoch);
                } else {
                    self.groups.on_resigned(ctx, tp.partition);
                }
            });
        }
        if !delta.deleted_topics.is_empty() {
            self.groups.on_topics_deleted(ctx, &mut log, &delta.deleted_topics);
        }
    }

    /// Without the offsets topic there is no coordinator left.
    fn resign_deleted(&mut self, ctx: &mut Ctx<'_>, delta: &Delta) {
        for tp in delta.deleted.iter().filter(|tp| Some(tp.topic) == self.offsets_topic) {
            self.groups.on_resigned(ctx, tp.partition);
        }
    }
}

/// The offsets topic's partitions on this broker, as coordinators write and read them.
pub(super) struct ReplicaLog<'a> {
    pub replicas: &'a mut ReplicaManager,
    pub image: &'a MetadataImage,
    pub topic: TopicId,
}

impl ReplicaLog<'_> {
    fn tp(&self, partition: u32) -> Tp {
        Tp { topic: self.topic, partition }
    }
}

impl CoordinatorLog for ReplicaLog<'_> {
    fn append(
        &mut self,
        ctx: &mut Ctx<'_>,
        partition: u32,
        records: Vec<GroupRecord>,
        admission: bool,
    ) -> Result<Offset, ErrorCode> {
        let tp = self.tp(partition);
        self.replicas.append_as_coordinator(ctx, self.image, tp, records, admission)
    }

    fn high_watermark(&self, partition: u32) -> Offset {
        self.replicas.high_watermark(self.tp(partition)).unwrap_or(0)
    }

    fn fits(&self, partition: u32, records: usize) -> bool {
        self.replicas.takes_group_records(self.image, self.tp(partition), records)
    }

    fn read(&self, ctx: &Ctx<'_>, partition: u32) -> Vec<(Offset, Rc<[GroupRecord]>)> {
        let Some(log) = ctx.disk.log(self.tp(partition)) else { return Vec::new() };
        let group = |batch: &RecordBatch| match &batch.payload {
            Payload::Group(records) => Some((batch.next_offset(), records.clone())),
            Payload::Data(_) | Payload::Metadata(_) | Payload::LeaderChange => None,
        };
        log.batches().filter_map(group).collect()
    }
}
