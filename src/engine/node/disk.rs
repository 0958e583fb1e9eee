//! What survives the death of a process. A kill keeps all of it (the page cache is the kernel's); a lost disk keeps
//! nothing.
use alloc::rc::Rc;

use crate::base::{BrokerEpoch, ControllerId, Map, Offset, QuorumEpoch, Tp};
use crate::log::Log;

/// The file `quorum-state` of a voter, written before a vote is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuorumStateFile {
    pub epoch: QuorumEpoch,
    pub leader: Option<ControllerId>,
    pub voted: Option<ControllerId>,
}

/// The disk of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Disk {
    /// Logs of a broker's replicas. Shared until written, so that keyframes are cheap.
    pub logs: Map<Tp, Rc<Log>>,
    /// `replication-offset-checkpoint`.
    pub hw_checkpoint: Map<Tp, Offset>,
    /// The metadata log, of controllers and brokers alike.
    pub metadata_log: Rc<Log>,
    pub quorum_state: QuorumStateFile,
    /// Marker of a clean stop with the broker epoch of then; removed at start.
    pub clean_shutdown: Option<BrokerEpoch>,
    /// Directory id: changes when the disk is lost.
    pub directory: u32,
}

impl Disk {
    /// The log of a replica, made if it is not there.
    pub fn log_mut(&mut self, tp: Tp) -> &mut Log {
        Rc::make_mut(self.logs.entry(tp).or_default())
    }
    pub fn log(&self, tp: Tp) -> Option<&Log> {
        self.logs.get(&tp).map(|log| &**log)
    }
}
