//! A bare node for unit tests: everything that a handler may use, without a world. It delivers nothing.

use alloc::vec::Vec;

use super::{Ctx, Disk, Effect, Timers};
use crate::base::{MessageId, NodeId, Rng, Seq, SimTime, StreamId};
use crate::trace::TraceEntry;

/// The surroundings of one handler.
pub struct TestNode {
    pub now: SimTime,
    pub me: NodeId,
    pub rng: Rng,
    pub disk: Disk,
    pub timers: Timers,
    pub effects: Vec<Effect>,
    pub trace: Vec<TraceEntry>,
    pub last_seq: Seq,
    pub last_message: MessageId,
}

impl TestNode {
    pub fn new(me: NodeId) -> TestNode {
        TestNode {
            now: SimTime::ZERO,
            me,
            rng: Rng::stream(1, StreamId::Node(me)),
            disk: Disk::default(),
            timers: Timers::default(),
            effects: Vec::new(),
            trace: Vec::new(),
            last_seq: Seq(0),
            last_message: MessageId(0),
        }
    }

    pub fn ctx(&mut self) -> Ctx<'_> {
        Ctx {
            now: self.now,
            me: self.me,
            cause: Seq(0),
            rng: &mut self.rng,
            disk: &mut self.disk,
            timers: &mut self.timers,
            effects: &mut self.effects,
            trace: &mut self.trace,
            last_seq: &mut self.last_seq,
            last_message: &mut self.last_message,
        }
    }
}
