//! Replicas of a broker. This file only names what the shell of the broker uses.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{BrokerCall, ReplyTo};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, Dur, LeaderEpoch, Offset, Seq, Tp};
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Connections, Ctx, Outcome};
use crate::protocol::config::NodeConfig;
use crate::protocol::{ErrorCode, FetchRequest, GroupRecord, ListOffsetsRequest, ProduceRequest, Response};
use crate::rules::Rules;

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Handled {
    /// `None`: there is no answer (acks=0).
    Now(Option<Response>),
    CloseConnection,
    Parked,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ReplicaManager;

impl ReplicaManager {
    pub fn load(_ctx: &mut Ctx<'_>, _id: BrokerId, _config: Rc<NodeConfig>, _rules: Rules) -> Self {
        ReplicaManager
    }
    pub fn set_broker_epoch(&mut self, _epoch: BrokerEpoch) {}
    pub fn apply(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _changed: &[(Tp, Seq)], _deleted: &[Tp]) {}
    pub fn produce(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _request: ProduceRequest, _reply: ReplyTo) -> Handled {
        Handled::Parked
    }
    pub fn fetch(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _request: FetchRequest, _reply: ReplyTo) -> Handled {
        Handled::Parked
    }
    pub fn delete_records(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _tp: Tp, _before: Offset, _timeout: Dur, _reply: ReplyTo) -> Handled {
        Handled::Parked
    }
    pub fn list_offsets(&self, _ctx: &Ctx<'_>, _image: &MetadataImage, _request: &ListOffsetsRequest) -> Response {
        Response::ListOffsets { partitions: Vec::new() }
    }
    pub fn offset_for_leader_epoch(&self, _ctx: &Ctx<'_>, _image: &MetadataImage, tp: Tp, _current_leader_epoch: Option<LeaderEpoch>, _epoch: i32) -> Response {
        Response::OffsetForLeaderEpoch { tp, error: ErrorCode::NotLeaderOrFollower, end: None }
    }
    pub fn take_ready(&mut self) -> Vec<(ReplyTo, Response)> {
        Vec::new()
    }
    pub fn append_as_coordinator(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _tp: Tp, _records: Vec<GroupRecord>, _admission: bool) -> Result<Offset, ErrorCode> {
        Err(ErrorCode::NotLeaderOrFollower)
    }
    pub fn high_watermark(&self, _tp: Tp) -> Option<Offset> {
        None
    }
    pub fn is_leader(&self, _tp: Tp) -> Option<LeaderEpoch> {
        None
    }
    pub fn take_high_watermarks(&mut self) -> Vec<(Tp, Offset)> {
        Vec::new()
    }
    pub fn drive(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _conns: &mut Connections<BrokerCall>, _controller: Option<ControllerId>) {}
    pub fn on_completed(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _call: BrokerCall, _outcome: Outcome) {}
    pub fn on_timer(&mut self, _ctx: &mut Ctx<'_>, _image: &MetadataImage, _timer: &BrokerTimer) {}
    pub fn shutdown(&mut self, _ctx: &mut Ctx<'_>) {}
}
