//! Seeded random streams, one per node and one per link, so that a draw on one never disturbs another. Draws no floats.

use rand_core::Rng as _;
use rand_pcg::Pcg32;

use super::{Dur, NodeId};

/// Names a stream: what draws from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StreamId {
    /// Decisions of the process on a node.
    Node(NodeId),
    /// Latency and loss of the link from one node to another.
    Link(NodeId, NodeId),
    /// Choices of the world itself, such as the phases of the boot.
    World,
}

/// A value-stable generator (PCG-32).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    pcg: Pcg32,
    /// How many draws were made; stands for the hidden state in the digest.
    draws: u64,
    seed: u64,
    stream: u64,
}

impl core::hash::Hash for Rng {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.seed.hash(state);
        self.stream.hash(state);
        self.draws.hash(state);
    }
}

impl Rng {
    /// The stream `id` of the run with this seed.
    pub fn stream(seed: u64, id: StreamId) -> Rng {
        let stream = super::digest_of(&id);
        Rng { pcg: Pcg32::new(seed ^ stream.rotate_left(32), stream), draws: 0, seed, stream }
    }

    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        self.draws += 1;
        self.pcg.next_u32()
    }

    /// Uniform in `[0, bound)`; 0 if `bound` is 0. The bias of the reduction is below 2⁻³² · bound.
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(bound)) >> 32) as u32
    }

    /// Uniform in `[low, high)`, to the microsecond; `low` if the range is empty.
    pub fn between(&mut self, low: Dur, high: Dur) -> Dur {
        let width = high.0.saturating_sub(low.0).min(u64::from(u32::MAX));
        low + Dur(u64::from(self.below(width as u32)))
    }

    /// True in `share` of a million cases.
    pub fn per_million(&mut self, share: u32) -> bool {
        share > 0 && self.below(1_000_000) < share
    }

    /// `span` times a factor uniform in `[1 - percent/100, 1 + percent/100)`, as Kafka's exponential backoff does.
    pub fn jitter(&mut self, span: Dur, percent: u32) -> Dur {
        let low = span.scaled(u64::from(100 - percent), 100);
        let high = span.scaled(u64::from(100 + percent), 100);
        self.between(low, high)
    }

    /// Fisher-Yates.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i as u32 + 1) as usize;
            items.swap(i, j);
        }
    }
}
