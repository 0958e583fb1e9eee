//! The metadata quorum. This file only names what a broker's observer offers.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{BrokerId, ControllerId, Dur};
use crate::node::{Ctx, Disk, Outcome, QuorumTimer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{RecordBatch, Request};
use crate::rules::Rules;

/// A broker's reader of the metadata log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Observer {
    leader: Option<ControllerId>,
}

impl Observer {
    pub fn new(_voters: Vec<ControllerId>, _config: Rc<NodeConfig>, _rules: Rules) -> Observer {
        Observer { leader: None }
    }
    pub fn next_request(&mut self, _ctx: &mut Ctx<'_>, _broker: BrokerId) -> Option<(ControllerId, Request, Dur)> {
        None
    }
    pub fn on_outcome(&mut self, _ctx: &mut Ctx<'_>, _outcome: Outcome) {}
    pub fn on_timer(&mut self, _ctx: &mut Ctx<'_>, _timer: &QuorumTimer) {}
    pub fn take_committed(&mut self, _disk: &Disk) -> Vec<RecordBatch> {
        Vec::new()
    }
    pub fn leader(&self) -> Option<ControllerId> {
        self.leader
    }
    pub fn note_leader(&mut self, leader: Option<ControllerId>) {
        self.leader = leader;
    }
}
