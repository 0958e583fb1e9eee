//! What deserves a viewer's time: changes that are shown slowly with a caption, and traffic that has not been shown
//! yet. It moves no time itself.
use std::collections::VecDeque;
use std::mem::{Discriminant, discriminant};

use highwater_engine::base::{NodeId, Set, SimTime};
use highwater_engine::node::{Body, Message};
use highwater_engine::protocol::{
    Api, ClusterRequest, ControllerRequest, ControllerResponse, ErrorCode, GroupRequest, GroupResponse,
    PartitionRequest, PartitionResponse, QuorumRequest, QuorumResponse, Request, Response,
};
use highwater_engine::trace::{Kind, TraceEntry};

use crate::kinds::{News, Weight, row};

/// How long one change is shown, in real microseconds.
const SHOWN_US: u64 = 3_000_000;
/// Changes of one instant that are shown one after the other.
const MOST: usize = 4;

/// One change that is being shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scene {
    /// Its number in the reel.
    entry: usize,
    kind: Discriminant<Kind>,
    at: SimTime,
    left_us: u64,
}

/// What distinguishes one kind of traffic from another to a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Traffic {
    api: Api,
    response: bool,
    error: ErrorCode,
}

/// What is shown and what was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scenes {
    queue: VecDeque<Scene>,
    /// The last one that was shown.
    last: Option<usize>,
    /// Troubles are shown once a node: the second is like the first.
    refused: Set<NodeId>,
    /// Traffic that has been shown, and that which is being shown.
    known: Set<Traffic>,
    watched: Set<Traffic>,
}

impl Scenes {
    /// Takes in a notable entry that the playhead has just passed.
    pub fn notice(&mut self, number: usize, entry: &TraceEntry) {
        let row = row(entry);
        let trouble = matches!(row.news, News::First(_));
        if row.weight < Weight::Grave || trouble && !self.refused.insert(entry.who) {
            return;
        }
        // Of one instant each kind is shown once.
        let kind = discriminant(&entry.kind);
        let same = |scene: &Scene| scene.at == entry.at && scene.kind == kind;
        if self.queue.iter().any(same) {
            return;
        }
        // What is new takes the place of what was shown of an earlier instant; but a trouble follows from it within the
        // same moment to a viewer, and waits until it has been read.
        self.queue.retain(|scene| scene.at == entry.at || trouble);
        if self.queue.len() < MOST {
            self.queue.push_back(Scene { entry: number, kind, at: entry.at, left_us: SHOWN_US });
        }
    }

    /// Lets real time pass.
    pub fn pass(&mut self, real_us: u64) {
        if let Some(scene) = self.queue.front_mut() {
            self.last = Some(scene.entry);
            scene.left_us = scene.left_us.saturating_sub(real_us);
            if scene.left_us == 0 {
                self.queue.pop_front();
            }
        }
    }

    /// Whether a change is being shown.
    pub fn showing(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The entry that is shown now, or was shown last.
    pub fn entry(&self) -> Option<usize> {
        self.queue.front().map(|scene| scene.entry).or(self.last)
    }

    /// Nothing is shown any more: the playhead was moved by hand.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.last = None;
    }

    /// Whether some of the traffic under way has not been shown yet. Traffic counts as shown once it has arrived.
    pub fn is_new<'a>(&mut self, in_flight: impl Iterator<Item = &'a Message>) -> bool {
        let mut now = Set::new();
        for message in in_flight {
            if let Some(traffic) = traffic(message).filter(|traffic| !self.known.contains(traffic)) {
                now.insert(traffic);
            }
        }
        for traffic in std::mem::take(&mut self.watched) {
            if !now.contains(&traffic) {
                self.known.insert(traffic);
            }
        }
        self.watched = now;
        !self.watched.is_empty()
    }
}

/// Traffic that a viewer wants to see once: records on their way, what changes who leads, who is in sync and who owns
/// what, and every error.
fn traffic(message: &Message) -> Option<Traffic> {
    match &message.body {
        Body::Request(request) => {
            let told = match request {
                Request::Partition(PartitionRequest::Produce(_))
                | Request::Controller(ControllerRequest::AlterPartition(_))
                | Request::Quorum(
                    QuorumRequest::Vote(_)
                    | QuorumRequest::BeginQuorumEpoch { .. }
                    | QuorumRequest::EndQuorumEpoch { .. },
                )
                | Request::Cluster(
                    ClusterRequest::CreateTopics(_)
                    | ClusterRequest::ElectLeaders { .. }
                    | ClusterRequest::IncrementalAlterConfigs { .. },
                )
                | Request::Controller(ControllerRequest::BrokerRegistration(_))
                | Request::Group(
                    GroupRequest::JoinGroup(_)
                    | GroupRequest::SyncGroup(_)
                    | GroupRequest::LeaveGroup(_)
                    | GroupRequest::OffsetCommit(_),
                ) => true,
                _routine => false,
            };
            told.then_some(Traffic { api: request.api(), response: false, error: ErrorCode::None })
        }
        Body::Response(response) => {
            let error = response.error();
            let told = !error.is_none()
                || match response {
                    Response::Partition(PartitionResponse::Produce { .. })
                    | Response::Controller(ControllerResponse::AlterPartition { .. })
                    | Response::Quorum(QuorumResponse::Vote { .. })
                    | Response::Group(GroupResponse::JoinGroup(_) | GroupResponse::SyncGroup { .. }) => true,
                    Response::Partition(PartitionResponse::Fetch { .. }) => !response.is_empty(),
                    _routine => false,
                };
            told.then_some(Traffic { api: response.api(), response: true, error })
        }
    }
}
