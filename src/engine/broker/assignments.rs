//! Which replicas are in another log directory than the metadata says, and when the controller is told so (Kafka's
//! AssignmentsManager, KIP-858). The request itself goes out with the other questions to the controller.
use alloc::vec::Vec;

use crate::base::{BrokerId, Dur, Set, Tp};
use crate::metadata::MetadataImage;
use crate::node::{BrokerTimer, Ctx, Timer};
use crate::protocol::{AssignReplicasToDirsRequest, ErrorCode};

/// What is to be told is collected for so long, so that one request tells it all; after failures twice as long each.
const COLLECTING: Dur = Dur::ms(100);
/// Longest pause after failures.
const LONGEST: Dur = Dur::secs(10);

/// Assignments that the controller does not know yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Assignments {
    ready: Set<Tp>,
    in_flight: Vec<Tp>,
    failures: u32,
}

impl Assignments {
    /// These replicas are in another directory than the one that is assigned to them.
    pub fn add(&mut self, moved: impl Iterator<Item = Tp>) {
        self.ready.extend(moved);
    }

    /// Sets the moment of the next request, if one is due and none is under way.
    pub fn arm(&self, ctx: &mut Ctx<'_>) {
        let timer = Timer::Broker(BrokerTimer::AssignDirectories);
        if self.ready.is_empty() || !self.in_flight.is_empty() || ctx.timers.due_at(&timer).is_some() {
            return;
        }
        let pause = COLLECTING.scaled(1 << self.failures.min(16), 1).min(LONGEST);
        let pause = ctx.rng.jitter(pause, 2);
        ctx.set(timer, pause);
    }

    /// The next request: what still holds of all that is to be told.
    pub fn next_request(
        &mut self,
        image: &MetadataImage,
        broker: BrokerId,
        directory: u32,
    ) -> Option<AssignReplicasToDirsRequest> {
        let registration = image.brokers.get(&broker).filter(|_| self.in_flight.is_empty())?;
        let differs = |tp: &Tp| image.partition(*tp).and_then(|p| p.directory(broker)).is_some_and(|d| d != directory);
        let partitions: Vec<Tp> = core::mem::take(&mut self.ready).into_iter().filter(differs).collect();
        if partitions.is_empty() {
            return None;
        }
        self.in_flight.clone_from(&partitions);
        Some(AssignReplicasToDirsRequest { broker, broker_epoch: registration.epoch, directory, partitions })
    }

    /// The request has ended: with a result for each partition, or `None` if it failed as a whole.
    pub fn on_answer(&mut self, results: Option<Vec<(Tp, ErrorCode)>>) {
        let sent = core::mem::take(&mut self.in_flight);
        match results {
            Some(results) => {
                self.failures = 0;
                let is_told = |tp: &Tp| results.iter().any(|(told, error)| told == tp && error.is_none());
                self.ready.extend(sent.into_iter().filter(|tp| !is_told(tp)));
            }
            None => {
                self.failures += 1;
                self.ready.extend(sent);
            }
        }
    }
}
