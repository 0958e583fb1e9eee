//! The striped replica placer of KRaft (StripedReplicaPlacer). It knows racks and fencing, not load.
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::fmt;

use crate::base::{BrokerId, Map, sort_by};

/// A broker that may be given replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsableBroker {
    pub id: BrokerId,
    pub rack: Option<Rc<str>>,
    pub fenced: bool,
}

/// Why replicas cannot be placed; all are INVALID_REPLICATION_FACTOR for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlacementError {
    NotPositive(i32),
    AllFenced,
    TooFewBrokers { asked: i32, registered: usize },
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlacementError::NotPositive(asked) => {
                write!(f, "Invalid replication factor {asked}: the replication factor must be positive.")
            }
            PlacementError::AllFenced => write!(f, "All brokers are currently fenced."),
            PlacementError::TooFewBrokers { asked, registered } => write!(
                f,
                "The target replication factor of {asked} cannot be reached because only {registered} broker(s) are \
                 registered."
            ),
        }
    }
}

/// Brokers of one rack and one kind, handed out in a rotation that moves on with each epoch.
struct BrokerList {
    brokers: Vec<BrokerId>,
    epoch: u32,
    index: usize,
    offset: usize,
}

impl BrokerList {
    fn new(mut brokers: Vec<BrokerId>, draw: &mut dyn FnMut(u32) -> u32) -> BrokerList {
        sort_by(&mut brokers, Ord::cmp);
        let offset = if brokers.is_empty() { 0 } else { draw(brokers.len() as u32) as usize };
        BrokerList { brokers, epoch: 0, index: 0, offset }
    }

    fn next(&mut self, epoch: u32) -> Option<BrokerId> {
        let size = self.brokers.len();
        if size == 0 {
            return None;
        }
        if self.epoch != epoch {
            self.epoch = epoch;
            self.index = 0;
            self.offset = (self.offset + 1) % size;
        }
        if self.index >= size {
            return None;
        }
        let broker = self.brokers[(self.index + self.offset) % size];
        self.index += 1;
        Some(broker)
    }
}

struct Rack {
    unfenced: BrokerList,
    fenced: BrokerList,
}

/// Replicas of `partitions` partitions, the first of each on an unfenced broker. `draw(n)` is uniform below n.
pub(super) fn place(
    brokers: &[UsableBroker],
    partitions: u32,
    replication_factor: i32,
    draw: &mut dyn FnMut(u32) -> u32,
) -> Result<Vec<Vec<BrokerId>>, PlacementError> {
    let unfenced = brokers.iter().filter(|b| !b.fenced).count();
    if replication_factor <= 0 {
        return Err(PlacementError::NotPositive(replication_factor));
    }
    if unfenced == 0 {
        return Err(PlacementError::AllFenced);
    }
    if replication_factor as usize > brokers.len() {
        return Err(PlacementError::TooFewBrokers { asked: replication_factor, registered: brokers.len() });
    }
    let mut racks = group(brokers, draw);
    let mut rack_offset = draw(racks.len() as u32) as usize;
    let mut epoch = 0;
    let mut placed = Vec::new();
    for _ in 0..partitions {
        if epoch as usize == unfenced && unfenced > 1 {
            shuffle(&mut racks, draw);
            for rack in &mut racks {
                shuffle(&mut rack.unfenced.brokers, draw);
                shuffle(&mut rack.fenced.brokers, draw);
            }
            epoch = 0;
        }
        if rack_offset == racks.len() {
            rack_offset = 0;
        }
        placed.push(one(&mut racks, rack_offset, epoch, replication_factor as usize));
        epoch += 1;
        rack_offset += 1;
    }
    Ok(placed)
}

fn group(brokers: &[UsableBroker], draw: &mut dyn FnMut(u32) -> u32) -> Vec<Rack> {
    // No rack sorts first, as a rack of its own.
    let mut by_rack: Map<Option<Rc<str>>, [Vec<BrokerId>; 2]> = Map::new();
    for broker in brokers {
        let [unfenced, fenced] = by_rack.entry(broker.rack.clone()).or_default();
        if broker.fenced { fenced.push(broker.id) } else { unfenced.push(broker.id) }
    }
    by_rack
        .into_values()
        .map(|[unfenced, fenced]| Rack {
            unfenced: BrokerList::new(unfenced, draw),
            fenced: BrokerList::new(fenced, draw),
        })
        .collect()
}

fn one(racks: &mut [Rack], rack_offset: usize, epoch: u32, replication_factor: usize) -> Vec<BrokerId> {
    let n = racks.len();
    let mut replicas = Vec::with_capacity(replication_factor);
    let mut first = rack_offset;
    // Some rack has an unfenced broker that was not handed out in this epoch: there are at least as many as epochs.
    for _ in 0..n {
        if let Some(broker) = racks[first].unfenced.next(epoch) {
            replicas.push(broker);
            break;
        }
        first = (first + 1) % n;
    }
    let mut skip = Some(first);
    let mut rack = rack_offset;
    while replicas.len() < replication_factor {
        if skip == Some(rack) {
            skip = None;
        } else if let Some(broker) = racks[rack].unfenced.next(epoch).or_else(|| racks[rack].fenced.next(epoch)) {
            replicas.push(broker);
        }
        rack = (rack + 1) % n;
    }
    replicas
}

fn shuffle<T>(items: &mut [T], draw: &mut dyn FnMut(u32) -> u32) {
    for i in (1..items.len()).rev() {
        let j = draw(i as u32 + 1) as usize;
        items.swap(i, j);
    }
}
