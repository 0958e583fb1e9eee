//! How a link between two nodes behaves, as data. It moves no message.

use super::Dur;

/// A link's behaviour, in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkSetup {
    pub latency: Dur,
    /// Added uniformly in `[0, jitter)`.
    pub jitter: Dur,
    /// Packets lost per million. TCP sends them again: a loss is a delay.
    pub loss_per_million: u32,
}

impl Default for LinkSetup {
    /// Half a millisecond within a site.
    fn default() -> Self {
        LinkSetup { latency: Dur::us(500), jitter: Dur::us(100), loss_per_million: 0 }
    }
}
