//! IncrementalAlterConfigs: validation and records, and what a change of the minimum does to ELRs (KIP-966). Values are
//! stored, not interpreted.

use alloc::vec::Vec;

use super::{Controller, Decision};
use crate::base::Tp;
use crate::node::Ctx;
use crate::protocol::config::{validate_node, validate_topic};
use crate::protocol::{ConfigMap, ConfigResource, ConfigTarget, ErrorCode, MetadataRecord, PartitionChange, Response};
use crate::trace::Kind;

const MIN_ISR: &str = "min.insync.replicas";

impl Controller {
    /// Sets configs of a topic, a broker or the cluster.
    pub(super) fn alter_configs(&mut self, ctx: &mut Ctx<'_>, target: &ConfigTarget, configs: &ConfigMap) -> Decision {
        let refuse = |error| Decision::answer(Response::IncrementalAlterConfigs { error });
        let Some(resource) = target.resolve(|name| self.image.topic_id(name)) else {
            return refuse(ErrorCode::UnknownTopicOrPartition);
        };
        let valid = match &resource {
            ConfigResource::Topic(_) => validate_topic(configs).is_ok(),
            ConfigResource::Cluster => validate_node(configs).is_ok(),
            // With ELR the minimum may not be set for one broker: brokers would disagree on it.
            ConfigResource::Broker(_) => {
                validate_node(configs).is_ok()
                    && !(self.rules.eligible_leader_replicas && configs.contains_key(MIN_ISR))
            }
        };
        if !valid {
            return refuse(ErrorCode::InvalidConfig);
        }
        let known = self.image.configs.get(&resource);
        let mut records = Vec::new();
        for (name, value) in configs {
            if known.and_then(|k| k.get(name)) != Some(value) {
                ctx.because(Kind::ConfigChanged { name: name.clone(), value: Some(value.clone()) });
                records.push(MetadataRecord::Config {
                    resource: resource.clone(),
                    name: name.clone(),
                    value: Some(value.clone()),
                });
            }
        }
        let minimum_changed =
            records.iter().any(|r| matches!(r, MetadataRecord::Config { name, .. } if &**name == MIN_ISR));
        if minimum_changed {
            records.extend(self.clear_elrs(&resource));
        }
        Decision::new(records, Response::IncrementalAlterConfigs { error: ErrorCode::None })
    }

    /// Eligibility rests on the old minimum, so it ends with it.
    fn clear_elrs(&self, resource: &ConfigResource) -> Vec<MetadataRecord> {
        let concerned = |tp: Tp| match resource {
            ConfigResource::Topic(topic) => *topic == tp.topic,
            ConfigResource::Cluster => true,
            ConfigResource::Broker(_) => false,
        };
        let marked = self
            .image
            .partitions()
            .filter(|(tp, p)| concerned(*tp) && !(p.elr.is_empty() && p.last_known_elr.is_empty()));
        marked
            .map(|(tp, p)| {
                let mut change = PartitionChange::new(tp);
                change.elr = (!p.elr.is_empty()).then(Vec::new);
                change.last_known_elr = (!p.last_known_elr.is_empty()).then(Vec::new);
                MetadataRecord::PartitionChange(change)
            })
            .collect()
    }
}
