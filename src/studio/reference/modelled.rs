//! What of a recording the engine does not model, and what else of the file that takes away. Says it, entry by entry,
//! and hides nothing else.

use std::collections::BTreeMap;

use highwater_engine::client::ClientVersion;
use highwater_engine::protocol::config::{self, Scope};
use highwater_engine::rules::Version;

use super::entries::{Verb, Who};
use super::queries::Query;
use super::recording::Recording;

/// Why a whole file cannot be played.
pub fn setup_gap(recording: &Recording) -> Option<String> {
    let setup = &recording.setup;
    if setup.zookeeper {
        return Some("clusters with ZooKeeper are not modelled".into());
    }
    if setup.combined {
        return Some("combined mode (a node that is broker and controller) is not modelled".into());
    }
    if let Some(version) = recording.kafka.iter().find(|v| Version::parse(v).is_none()) {
        let known: Vec<&str> = Version::ALL.iter().map(|v| v.name()).collect();
        return Some(format!("Kafka {version} is not modelled; these are: {}", known.join(", ")));
    }
    setup
        .config
        .keys()
        .find(|key| config::setting(Scope::Node, key).is_none())
        .map(|key| format!("the broker config {key} is not modelled"))
}

/// Gaps met so far in one run.
#[derive(Clone, Debug, Default)]
pub struct Gaps {
    /// From here on nothing can be compared.
    all: Option<String>,
    /// Groups and clients that are not there, or not as recorded.
    groups: BTreeMap<String, String>,
    clients: BTreeMap<String, String>,
}

impl Gaps {
    pub fn everything(&self) -> Option<String> {
        self.all.clone()
    }

    /// Why this action is left out. `accepted`: it took effect in the recording.
    pub fn verb_gap(&mut self, verb: &Verb, accepted: bool) -> Option<String> {
        if self.all.is_some() {
            return self.all.clone();
        }
        match verb {
            Verb::Reassign { .. } => {
                let reason = "reassignment of replicas is not modelled";
                if accepted {
                    self.all = Some(format!("{reason}, and the cluster is another one after it"));
                }
                Some(reason.to_string())
            }
            Verb::Transaction { .. } => Some(self.end("transactions are not modelled")),
            Verb::StartClient { client, config, .. } => {
                let reason = producer_gap(config)?;
                self.clients.insert(client.clone(), reason.clone());
                Some(reason)
            }
            Verb::Produce { client, .. } => {
                let reason = self.clients.get(client)?.clone();
                Some(self.end(&reason))
            }
            Verb::Join { member, group, config, old, .. } => {
                let old_gap = old
                    .as_ref()
                    .filter(|old| ClientVersion::parse(&old.version).is_none())
                    .map(|old| format!("clients of version {} are not modelled", old.version));
                match old_gap.or_else(|| consumer_gap(config)).or_else(|| self.groups.get(group).cloned()) {
                    Some(reason) => {
                        self.clients.insert(member.clone(), reason.clone());
                        self.groups.insert(group.clone(), reason.clone());
                        Some(reason)
                    }
                    None => {
                        self.clients.remove(member);
                        None
                    }
                }
            }
            Verb::Leave(member) | Verb::PauseClient { member, .. } => self.clients.get(member).cloned(),
            Verb::Kill(who)
            | Verb::Stop(who)
            | Verb::Start(who)
            | Verb::Pause(who)
            | Verb::Resume(who)
            | Verb::LoseDisk(who) => match who {
                Who::CoordinatorOf(group) => {
                    let reason = self.groups.get(group)?.clone();
                    Some(self.end(&reason))
                }
                Who::Node(_) | Who::ActiveController | Who::LeaderOf(..) | Who::DeadController => None,
            },
            Verb::Cut { .. }
            | Verb::Heal
            | Verb::CreateTopic { .. }
            | Verb::AddPartitions { .. }
            | Verb::DeleteTopic(_)
            | Verb::DeleteRecords { .. }
            | Verb::SetConfig { .. }
            | Verb::ElectLeaders { .. } => None,
        }
    }

    /// Why this query cannot be compared.
    pub fn query_gap(&self, query: &Query) -> Option<String> {
        if self.all.is_some() {
            return self.all.clone();
        }
        let client = |name: &String| self.clients.get(name).cloned();
        match query {
            Query::Group { group, .. }
            | Query::GroupSizes(group)
            | Query::Committed(group)
            | Query::CoordinatorIsLeaderOf { group, .. } => self.groups.get(group).cloned(),
            Query::PartitionOfEach(name)
            | Query::Answers { producer: name, .. }
            | Query::EachAnswer { producer: name, .. } => client(name),
            Query::Read { member, .. } | Query::LogAsRead { member, .. } | Query::OldClient(member) => client(member),
            Query::Rebalances { members, .. } | Query::Errors { members, .. } => members.iter().find_map(client),
            Query::Promises { client: producer, member } => client(producer).or_else(|| client(member)),
            Query::Topics(_) | Query::Leaderless(_) | Query::IsrSizes(_) | Query::Offsets { .. } | Query::HasLeader => {
                None
            }
        }
    }

    fn end(&mut self, reason: &str) -> String {
        self.all = Some(format!("{reason}, and the cluster is another one after it"));
        reason.to_string()
    }
}

fn producer_gap(config: &BTreeMap<String, String>) -> Option<String> {
    config.contains_key("transactional.id").then(|| "transactions are not modelled".to_string())
}

fn consumer_gap(config: &BTreeMap<String, String>) -> Option<String> {
    if config.get("group.protocol").is_some_and(|protocol| !protocol.eq_ignore_ascii_case("classic")) {
        return Some("the consumer protocol of KIP-848 is not modelled".into());
    }
    let assignor = config.get("partition.assignment.strategy")?;
    let short = assignor.rsplit('.').next().unwrap_or(assignor);
    (short != "RangeAssignor").then(|| format!("the assignor {short} is not modelled"))
}
