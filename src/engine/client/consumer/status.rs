//! What a consumer is doing and what it waits for, for people. No decision reads it.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::{Assigned, Consumer, ConsumerCounts, Fetchability, Membership};
use crate::base::{BrokerId, GenerationId, SimTime, Tp};
use crate::client::config::ConsumerConfig;
use crate::client::metadata::Metadata;
use crate::client::spec::ConsumerSpec;
use crate::protocol::ErrorCode;

/// What a consumer does at this moment, the most telling thing first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerStatus {
    Closed,
    Closing,
    /// Every `poll` throws.
    Failed {
        exception: &'static str,
    },
    /// The application does not call `poll`.
    Paused {
        until: SimTime,
    },
    /// No member yet, and nobody to ask.
    LookingForCoordinator {
        error: Option<ErrorCode>,
    },
    /// A member whose coordinator is gone. `reads_on`: its `poll` goes on to fetch; `standing`: partitions that stand
    /// still all the same, because their leader moved.
    StuckWithoutCoordinator {
        error: Option<ErrorCode>,
        reads_on: bool,
        standing: Vec<Tp>,
    },
    Joining,
    Syncing,
    /// Some partition has no position yet.
    FindingPositions,
    /// Owns nothing.
    WithoutPartitions,
    /// Delivered everything below the high watermarks that it knows.
    CaughtUp,
    Reading,
}

impl Consumer {
    pub fn status(&self, now: SimTime) -> ConsumerStatus {
        if self.close.done {
            return ConsumerStatus::Closed;
        }
        if self.close.step.is_some() {
            return ConsumerStatus::Closing;
        }
        if let Some(exception) = self.application.fatal {
            return ConsumerStatus::Failed { exception };
        }
        if self.application.poll.is_none() && self.application.paused_until > now {
            return ConsumerStatus::Paused { until: self.application.paused_until };
        }
        if self.coordinator.broker.is_none() {
            let error = self.coordinator.error;
            if self.member.generation.0 < 0 {
                return ConsumerStatus::LookingForCoordinator { error };
            }
            return ConsumerStatus::StuckWithoutCoordinator {
                error,
                reads_on: self.reads_on(),
                standing: self.standing(),
            };
        }
        match self.member.state {
            Membership::Unjoined | Membership::Preparing | Membership::Joining => return ConsumerStatus::Joining,
            Membership::Syncing => return ConsumerStatus::Syncing,
            Membership::Stable if self.member.rejoin => return ConsumerStatus::Joining,
            Membership::Stable => {}
        }
        if self.assignment.partitions.is_empty() {
            return ConsumerStatus::WithoutPartitions;
        }
        if self.assignment.partitions.values().any(|p| p.state != Fetchability::Ready) {
            return ConsumerStatus::FindingPositions;
        }
        let behind = |p: &Assigned| p.position.zip(p.high_watermark).is_none_or(|(at, end)| at.offset < end);
        if self.assignment.partitions.values().any(behind) { ConsumerStatus::Reading } else { ConsumerStatus::CaughtUp }
    }

    /// Partitions whose leader, as the metadata has it, is not the one that is asked.
    fn standing(&self) -> Vec<Tp> {
        let moved = |tp: &Tp, p: &Assigned| {
            p.position.is_none_or(|at| self.metadata.partition(*tp).is_some_and(|known| known.leader != at.leader))
        };
        self.assignment
            .partitions
            .iter()
            .filter(|(tp, p)| !self.reads_on() || moved(tp, p))
            .map(|(tp, _)| *tp)
            .collect()
    }

    pub fn spec(&self) -> &ConsumerSpec {
        &self.spec
    }
    pub fn config(&self) -> &ConsumerConfig {
        &self.config
    }
    pub fn counts(&self) -> ConsumerCounts {
        self.counts
    }
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
    pub fn group(&self) -> &Rc<str> {
        &self.spec.group
    }
    pub fn coordinator(&self) -> Option<BrokerId> {
        self.coordinator.broker
    }
    /// Member id and generation, if it is a member.
    pub fn membership(&self) -> Option<(&Rc<str>, GenerationId)> {
        (self.member.generation.0 >= 0).then_some((&self.member.id, self.member.generation))
    }
    pub fn is_leader(&self) -> bool {
        self.member.is_leader
    }
    /// What it owns, with positions.
    pub fn partitions(&self) -> impl Iterator<Item = (Tp, &Assigned)> {
        self.assignment.partitions.iter().map(|(tp, p)| (*tp, p))
    }
}
