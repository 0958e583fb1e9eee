//! What a broker looks at before it passes a change of broker configs on to the controller (ConfigAdminManager,
//! DynamicBrokerConfig). Topics' configs are the controller's affair alone.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::base::BrokerId;
use crate::protocol::config::{Scope, Update, check, setting};
use crate::protocol::{ApiError, ConfigMap, ConfigTarget, ErrorCode};

/// Whether the running broker `me` can take these configs over.
///
/// # Errors
/// INVALID_REQUEST with Kafka's sentence: for another broker, a config that is read-only, a bad value, one broker's
/// config for all of them.
pub fn may_change(me: BrokerId, target: &ConfigTarget, configs: &ConfigMap) -> Result<(), ApiError> {
    let refuse = |sentence: String| Err(ApiError::new(ErrorCode::InvalidRequest, sentence));
    match target {
        ConfigTarget::Topic(_) => return Ok(()),
        ConfigTarget::Broker(id) if *id != me => {
            return refuse(format!("Unexpected broker id, expected {}, but received {}", me.0, id.0));
        }
        ConfigTarget::Broker(_) | ConfigTarget::Cluster => {}
    }
    let read_only = names_with(configs, Update::ReadOnly);
    if !read_only.is_empty() {
        return refuse(format!("Cannot update these configs dynamically: {}", set_of(&read_only)));
    }
    // A name that Kafka does not know may belong to a plug-in.
    for (name, value) in configs.iter().filter(|(name, _)| setting(Scope::Node, name).is_some()) {
        if let Err(wrong) = check(Scope::Node, name, value) {
            return refuse(wrong.to_string());
        }
    }
    let per_broker = names_with(configs, Update::PerBroker);
    if *target == ConfigTarget::Cluster && !per_broker.is_empty() {
        return refuse(format!(
            "Cannot update these configs at default cluster level, broker id must be specified: {}",
            set_of(&per_broker)
        ));
    }
    Ok(())
}

fn names_with(configs: &ConfigMap, update: Update) -> Vec<&str> {
    let is = |name: &&str| setting(Scope::Node, name).is_some_and(|known| known.update == update);
    configs.keys().map(|name| &**name).filter(is).collect()
}

/// As Scala prints a set: up to four members have a class of their own.
fn set_of(names: &[&str]) -> String {
    let class = if names.len() > 4 { "HashSet" } else { "Set" };
    format!("{class}({})", names.join(", "))
}
