//! Which version of an API two releases speak with each other: the highest that both know. It knows no field.

use highwater_engine::base::NodeId;
use highwater_engine::client::{ClientKind, ClientVersion};
use highwater_engine::node::ConnId;
use highwater_engine::protocol::Api;
use highwater_engine::rules::Version;
use highwater_engine::world::machine::Role;

use crate::story::Seen;

/// Releases, as columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Release {
    V1_1,
    V2_3,
    V2_5,
    V3_6,
    V3_9,
    V4_1,
}

/// The highest stable version of each API by release; 0 where the release does not have the API, which then nobody of
/// it sends.
fn highest(api: Api) -> [u16; 6] {
    match api {
        Api::Produce => [5, 7, 8, 9, 11, 13],
        Api::Fetch => [7, 11, 11, 15, 17, 18],
        Api::ListOffsets => [2, 5, 5, 8, 9, 10],
        Api::Metadata => [5, 8, 9, 12, 12, 13],
        Api::OffsetCommit => [3, 7, 8, 8, 9, 9],
        Api::OffsetFetch => [3, 5, 7, 8, 9, 9],
        Api::FindCoordinator => [1, 2, 3, 4, 6, 6],
        Api::JoinGroup => [2, 5, 7, 9, 9, 9],
        Api::Heartbeat => [1, 3, 4, 4, 4, 4],
        Api::LeaveGroup => [1, 2, 4, 5, 5, 5],
        Api::SyncGroup => [1, 3, 5, 5, 5, 5],
        Api::DescribeGroups => [1, 3, 5, 5, 5, 6],
        Api::CreateTopics => [2, 3, 5, 7, 7, 7],
        Api::DeleteTopics => [1, 3, 4, 6, 6, 6],
        Api::CreatePartitions => [0, 1, 2, 3, 3, 3],
        Api::DeleteRecords => [0, 1, 1, 2, 2, 2],
        Api::InitProducerId => [0, 1, 3, 4, 5, 5],
        Api::OffsetForLeaderEpoch => [0, 3, 3, 4, 4, 4],
        Api::ElectLeaders => [0, 0, 2, 2, 2, 2],
        Api::IncrementalAlterConfigs => [0, 0, 1, 1, 1, 1],
        Api::Vote => [0, 0, 0, 0, 1, 2],
        Api::BeginQuorumEpoch => [0, 0, 0, 0, 1, 1],
        Api::EndQuorumEpoch => [0, 0, 0, 0, 1, 1],
        Api::DescribeQuorum => [0, 0, 0, 1, 2, 2],
        Api::AlterPartition => [0, 0, 0, 3, 3, 3],
        Api::Envelope => [0, 0, 0, 0, 0, 0],
        Api::BrokerRegistration => [0, 0, 0, 1, 4, 4],
        Api::BrokerHeartbeat => [0, 0, 0, 0, 1, 1],
        Api::AllocateProducerIds => [0, 0, 0, 0, 0, 0],
        Api::DescribeTopicPartitions => [0, 0, 0, 0, 0, 0],
        Api::AssignReplicasToDirs => [0, 0, 0, 0, 0, 0],
    }
}

fn of_client(version: ClientVersion) -> Release {
    match version {
        ClientVersion::V1_1 => Release::V1_1,
        ClientVersion::V2_3 => Release::V2_3,
        ClientVersion::V2_5 => Release::V2_5,
        ClientVersion::V3_9 => Release::V3_9,
        ClientVersion::V4_1 => Release::V4_1,
    }
}

fn of_cluster(version: Version) -> Release {
    match version {
        Version::V3_6 => Release::V3_6,
        Version::V3_9 => Release::V3_9,
        Version::V4_1 => Release::V4_1,
    }
}

fn of_node(seen: Seen<'_>, node: NodeId) -> Release {
    match seen.machine(node).map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Producer(spec), .. }) => of_client(spec.version),
        Some(Role::Client { kind: ClientKind::Consumer(spec), .. }) => of_client(spec.version),
        Some(Role::Client { kind: ClientKind::Admin, .. }) => of_client(ClientVersion::default()),
        Some(Role::Controller | Role::Broker { .. }) | None => of_cluster(seen.world().setup().version),
    }
}

/// The version that is spoken on a connection.
pub fn version(seen: Seen<'_>, conn: ConnId, api: Api) -> u16 {
    let known = highest(api);
    let of = |node| known[of_node(seen, node) as usize];
    of(conn.client).min(of(conn.server))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_release_knows_no_fewer_versions() {
        for api in Api::ALL {
            assert!(highest(*api).is_sorted(), "{api:?}");
        }
    }

    #[test]
    fn produce_and_fetch_have_the_versions_that_decide_something() {
        let of = |api, release: Release| highest(api)[release as usize];
        assert_eq!(of(Api::Produce, Release::V4_1), 13, "topics by id");
        assert_eq!(of(Api::Fetch, Release::V4_1), 18, "the high watermark of a voter (KIP-1166)");
        assert_eq!(of(Api::AssignReplicasToDirs, Release::V3_6), 0, "does not exist yet");
    }
}
