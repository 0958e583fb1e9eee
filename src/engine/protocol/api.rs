//! The one table of APIs: Kafka's name, who serves it, and its newest version by release. It carries no fields.

use super::config::Release;

/// Who serves an API. Requests and responses are nested by it, so that a server names only what is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Server {
    /// The leader of the partition that it names.
    Partition,
    /// The coordinator of the group that it names.
    Group,
    /// Any broker.
    Broker,
    /// The active controller; clients ask any broker, which passes it on (KIP-590).
    Cluster,
    /// The active controller; brokers ask it for themselves.
    Controller,
    /// A voter of the metadata quorum (KIP-595).
    Quorum,
}

/// Releases that the table has a column for, oldest first.
const RELEASES: [Release; 6] = [(1, 1), (2, 3), (2, 5), (3, 6), (3, 9), (4, 1)];

/// Declares the APIs.
macro_rules! apis {
    ($($api:ident $server:ident $versions:tt)*) => {
        /// The APIs that are simulated, by Kafka's names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Api {
            $($api,)*
        }

        impl Api {
            pub const ALL: &'static [Api] = &[$(Api::$api,)*];

            /// Kafka's name of the API.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Api::$api => stringify!($api),)*
                }
            }

            /// Who serves it. Fetch has two servers: of the metadata log it is the quorum's.
            pub const fn server(self) -> Server {
                match self {
                    $(Api::$api => Server::$server,)*
                }
            }

            /// The highest stable versions, in the columns of [`RELEASES`].
            const fn versions(self) -> [u16; RELEASES.len()] {
                match self {
                    $(Api::$api => $versions,)*
                }
            }
        }
    };
}

// 0 stands also where a release does not have the API, which then nobody of it sends.
apis! {
    // name                  server     [1.1, 2.3, 2.5, 3.6, 3.9, 4.1]
    Produce                  Partition  [5, 7, 8, 9, 11, 13]
    Fetch                    Partition  [7, 11, 11, 15, 17, 18]
    ListOffsets              Partition  [2, 5, 5, 8, 9, 10]
    Metadata                 Broker     [5, 8, 9, 12, 12, 13]
    OffsetCommit             Group      [3, 7, 8, 8, 9, 9]
    OffsetFetch              Group      [3, 5, 7, 8, 9, 9]
    FindCoordinator          Broker     [1, 2, 3, 4, 6, 6]
    JoinGroup                Group      [2, 5, 7, 9, 9, 9]
    Heartbeat                Group      [1, 3, 4, 4, 4, 4]
    LeaveGroup               Group      [1, 2, 4, 5, 5, 5]
    SyncGroup                Group      [1, 3, 5, 5, 5, 5]
    DescribeGroups           Group      [1, 3, 5, 5, 5, 6]
    CreateTopics             Cluster    [2, 3, 5, 7, 7, 7]
    DeleteTopics             Cluster    [1, 3, 4, 6, 6, 6]
    CreatePartitions         Cluster    [0, 1, 2, 3, 3, 3]
    DeleteRecords            Partition  [0, 1, 1, 2, 2, 2]
    InitProducerId           Broker     [0, 1, 3, 4, 5, 5]
    OffsetForLeaderEpoch     Partition  [0, 3, 3, 4, 4, 4]
    ElectLeaders             Cluster    [0, 0, 2, 2, 2, 2]
    IncrementalAlterConfigs  Cluster    [0, 0, 1, 1, 1, 1]
    Vote                     Quorum     [0, 0, 0, 0, 1, 2]
    BeginQuorumEpoch         Quorum     [0, 0, 0, 0, 1, 1]
    EndQuorumEpoch           Quorum     [0, 0, 0, 0, 1, 1]
    DescribeQuorum           Cluster    [0, 0, 0, 1, 2, 2]
    AlterPartition           Controller [0, 0, 0, 3, 3, 3]
    Envelope                 Controller [0, 0, 0, 0, 0, 0]
    BrokerRegistration       Controller [0, 0, 0, 1, 4, 4]
    BrokerHeartbeat          Controller [0, 0, 0, 0, 1, 1]
    AllocateProducerIds      Controller [0, 0, 0, 0, 0, 0]
    DescribeTopicPartitions  Broker     [0, 0, 0, 0, 0, 0]
    AssignReplicasToDirs     Controller [0, 0, 0, 0, 0, 0]
}

impl Api {
    /// The highest stable version that a release knows; 0 where it does not have the API. A release between two columns
    /// knows what the older one does.
    pub fn newest(self, release: Release) -> u16 {
        let mut latest_first = RELEASES.iter().zip(self.versions()).rev();
        latest_first.find(|(from, _)| **from <= release).map_or(0, |(_, version)| version)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::protocol::{BrokerRequest, ClusterRequest, ControllerRequest, Request};

    #[test]
    fn requests_are_nested_by_the_server_of_the_table() {
        let some: [Request; 4] = [
            BrokerRequest::InitProducerId.into(),
            ClusterRequest::DescribeQuorum.into(),
            ControllerRequest::Envelope(ClusterRequest::DescribeQuorum).into(),
            crate::protocol::PartitionRequest::DeleteRecords {
                tp: crate::base::Tp { topic: crate::base::TopicId(1), partition: 0 },
                before: 0,
                timeout: crate::base::Dur::ZERO,
            }
            .into(),
        ];
        let servers: Vec<Server> = some.iter().map(|request| request.api().server()).collect();
        assert_eq!(servers, [Server::Broker, Server::Cluster, Server::Controller, Server::Partition]);
    }

    #[test]
    fn a_later_release_knows_no_fewer_versions() {
        for api in Api::ALL {
            assert!(api.versions().is_sorted(), "{}", api.name());
        }
    }

    #[test]
    fn versions_are_those_of_kafkas_message_files() {
        assert_eq!(Api::Produce.newest((4, 1)), 13, "topics by id");
        assert_eq!(Api::Fetch.newest((4, 1)), 18, "the high watermark of a voter (KIP-1166)");
        assert_eq!(Api::AssignReplicasToDirs.newest((3, 6)), 0, "does not exist yet");
        assert_eq!(Api::Produce.newest((3, 7)), 9, "between two columns");
        assert_eq!(Api::Produce.newest((0, 10)), 0, "before all of them");
    }
}
