//! What is going on right now, for one line over the stage: the change that is being shown, and who is telling whom
//! what. Chooses nothing of the pace.

use highwater_engine::base::{Map, NodeId, sort_by};
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{
    ControllerRequest, GroupRequest, PartitionRequest, PartitionResponse, QuorumRequest, QuorumResponse, Request,
    Response,
};

use super::model::*;
use super::motion::{api, error};
use crate::kinds::Weight;
use crate::playback::Player;
use crate::story::{Seen, tell};

/// Notable changes that are looked through for one that has a caption.
const LOOK_BACK: usize = 200;

/// The caption of a moment.
pub fn caption(seen: Seen<'_>, player: &Player) -> Option<Caption> {
    let shown = player.caption().filter(|entry| *entry < seen.n_entries());
    let told = shown.and_then(|entry| told(seen, entry)).or_else(|| last_change(seen));
    let doing = if player.is_slow() { doing(seen) } else { None };
    if told.is_none() && doing.is_none() {
        return None;
    }
    Some(Caption { fact: told, doing, now: player.playing && player.is_slow() })
}

/// What an entry says, with its moment. `None`: another entry speaks for it, as one does for all links of one cut.
fn told(seen: Seen<'_>, entry: usize) -> Option<(Micros, Fact)> {
    let fact = tell(seen, entry)?.fact;
    Some((seen.us(seen.reel().get(entry)?.at), fact))
}

/// The last change before the playhead, for whoever came here by hand.
fn last_change(seen: Seen<'_>) -> Option<(Micros, Fact)> {
    let notable = seen.reel().notable();
    let before = &notable[..notable.partition_point(|entry| *entry < seen.n_entries())];
    let mut grave = before.iter().rev().take(LOOK_BACK).filter(|entry| seen.weight(**entry) == Weight::Grave);
    grave.find_map(|entry| told(seen, *entry))
}

/// The most telling of what is in flight, with everybody to whom it goes.
fn doing(seen: Seen<'_>) -> Option<Doing> {
    let mut found: Map<(u8, NodeId, Did), Vec<NodeId>> = Map::new();
    for message in seen.world().in_flight().filter(|message| message.sent_at <= seen.now()) {
        let Some((rank, did)) = did(message) else { continue };
        let to = found.entry((rank, message.from(), did)).or_default();
        if !to.contains(&message.to()) {
            to.push(message.to());
        }
    }
    let ((_, from, did), mut to) = found.into_iter().next()?;
    sort_by(&mut to, Ord::cmp);
    Some(Doing { did, from: seen.node(from), to: to.into_iter().map(|node| seen.node(node)).collect() })
}

/// What a message does, and how much it tells: the lowest first. `None`: it is routine.
fn did(message: &Message) -> Option<(u8, Did)> {
    let broker = matches!(message.conn.client, NodeId::Broker(_));
    let name = || api(&message.body);
    Some(match &message.body {
        Body::Response(response) if error(&message.body).is_some() => {
            (0, Did::Refuses { api: name(), error: response.error().name().into() })
        }
        Body::Response(response @ Response::Quorum(QuorumResponse::Fetch(_))) if broker && !response.is_empty() => {
            (1, Did::TellsMetadata)
        }
        Body::Request(Request::Quorum(QuorumRequest::Vote(_))) => (2, Did::AsksForVotes),
        Body::Request(Request::Controller(ControllerRequest::AlterPartition(_))) => (2, Did::ProposesIsr),
        Body::Request(Request::Group(GroupRequest::JoinGroup(_) | GroupRequest::SyncGroup(_))) => (3, Did::Joins),
        Body::Request(Request::Partition(PartitionRequest::Produce(_))) => (4, Did::SendsRecords),
        Body::Response(Response::Partition(PartitionResponse::Produce { .. })) => (5, Did::Acknowledges),
        Body::Response(response @ Response::Partition(PartitionResponse::Fetch { .. })) if !response.is_empty() => {
            (6, Did::HandsRecords)
        }
        Body::Request(_) | Body::Response(_) => return None,
    })
}
