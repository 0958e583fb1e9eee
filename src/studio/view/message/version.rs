//! Which version of an API two releases speak with each other: the highest that both know. It knows no field.

use highwater_engine::base::NodeId;
use highwater_engine::client::{ClientKind, ClientVersion};
use highwater_engine::node::ConnId;
use highwater_engine::protocol::Api;
use highwater_engine::protocol::config::Release;
use highwater_engine::world::machine::Role;

use crate::story::Seen;

fn of_node(seen: Seen<'_>, node: NodeId) -> Release {
    match seen.machine(node).map(|machine| &machine.role) {
        Some(Role::Client { kind: ClientKind::Producer(spec), .. }) => spec.version.release(),
        Some(Role::Client { kind: ClientKind::Consumer(spec), .. }) => spec.version.release(),
        Some(Role::Client { kind: ClientKind::Admin, .. }) => ClientVersion::default().release(),
        Some(Role::Controller | Role::Broker { .. }) | None => seen.world().setup().version.release(),
    }
}

/// The version that is spoken on a connection.
pub fn version(seen: Seen<'_>, conn: ConnId, api: Api) -> u16 {
    let of = |node| api.newest(of_node(seen, node));
    of(conn.client).min(of(conn.server))
}
