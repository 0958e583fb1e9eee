//! IncrementalAlterConfigs: validation and records, and what a change of the minimum does to ELRs (KIP-966). Values are
//! stored, not interpreted.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::topics::check_name;
use super::{Controller, Decision};
use crate::base::Tp;
use crate::node::Ctx;
use crate::protocol::config::{Scope, check, setting, validate_topic};
use crate::protocol::{
    ApiError, ClusterResponse, ConfigMap, ConfigResource, ConfigTarget, ErrorCode, MetadataRecord, PartitionChange,
};
use crate::trace::Kind;

const MIN_ISR: &str = "min.insync.replicas";

impl Controller {
    /// Sets configs of a topic, a broker or the cluster.
    pub(super) fn alter_configs(&mut self, ctx: &mut Ctx<'_>, target: &ConfigTarget, configs: &ConfigMap) -> Decision {
        let resource = match self.config_resource(target, configs) {
            Ok(resource) => resource,
            Err(error) => return Decision::answer(ClusterResponse::IncrementalAlterConfigs(error)),
        };
        let known = self.image.configs.get(&resource);
        let of_node = match resource {
            ConfigResource::Topic(_) => false,
            ConfigResource::Broker(_) | ConfigResource::Cluster => true,
        };
        let mut records = Vec::new();
        for (name, value) in configs {
            let changes = known.and_then(|k| k.get(name)) != Some(value);
            if changes {
                ctx.because(Kind::ConfigChanged { name: name.clone(), value: Some(value.clone()) });
            }
            // A broker's is written even if it stays as it is, so that what it names is read anew.
            if changes || of_node {
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
        Decision::new(records, ClusterResponse::IncrementalAlterConfigs(ErrorCode::None.into()))
    }

    /// What is to be changed, if its configs are valid and it is there; in Kafka's order.
    fn config_resource(&self, target: &ConfigTarget, configs: &ConfigMap) -> Result<ConfigResource, ApiError> {
        let invalid = |sentence: String| ApiError::new(ErrorCode::InvalidConfig, sentence);
        match target {
            ConfigTarget::Topic(name) => {
                check_name(name)?;
                validate_topic(configs).map_err(|e| invalid(e.to_string()))?;
                self.image.topic_id(name).map(ConfigResource::Topic).ok_or_else(|| {
                    let sentence = format!("The topic '{name}' does not exist.");
                    ApiError::new(ErrorCode::UnknownTopicOrPartition, sentence)
                })
            }
            ConfigTarget::Cluster => {
                check_node(configs)?;
                Ok(ConfigResource::Cluster)
            }
            ConfigTarget::Broker(id) => {
                // Brokers would disagree on who is eligible.
                if self.rules.eligible_leader_replicas && configs.contains_key(MIN_ISR) {
                    return Err(invalid(format!("Broker-level {MIN_ISR} cannot be altered while ELR is enabled.")));
                }
                check_node(configs)?;
                if self.image.brokers.contains_key(id) {
                    Ok(ConfigResource::Broker(*id))
                } else {
                    Err(ApiError::new(ErrorCode::BrokerIdNotRegistered, format!("No node with id {} found.", id.0)))
                }
            }
        }
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

/// The broker that passed it on has looked at it; a name that Kafka does not know may belong to a plug-in.
fn check_node(configs: &ConfigMap) -> Result<(), ApiError> {
    let known = configs.iter().filter(|(name, _)| setting(Scope::Node, name).is_some());
    known
        .map(|(name, value)| check(Scope::Node, name, value))
        .find_map(Result::err)
        .map_or(Ok(()), |wrong| Err(ApiError::new(ErrorCode::InvalidConfig, wrong.to_string())))
}
