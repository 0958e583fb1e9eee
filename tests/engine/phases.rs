//! What must come out otherwise with another seed: the phases in which processes start and beat. No time is fixed here.

use highwater_engine::base::{BrokerId, Dur};
use highwater_engine::trace::Kind;
use highwater_engine::world::Action;

use super::cluster::{Cluster, broker};

/// Which of two brokers that die within a tenth of a second is fenced first, in one run.
fn first_fenced(seed: u64) -> Option<BrokerId> {
    let mut c = Cluster::boot(seed);
    c.topic("t", 1);
    c.run(Dur::secs(5));
    c.act(Action::Kill(broker(1)));
    c.run(Dur::ms(100));
    c.act(Action::Kill(broker(2)));
    c.run(Dur::secs(15));
    c.trace.iter().find_map(|e| if let Kind::BrokerFenced { broker, .. } = e.kind { Some(broker) } else { None })
}

#[test]
fn two_brokers_that_die_together_are_fenced_in_either_order() {
    let first: Vec<Option<BrokerId>> = (1..=20).map(first_fenced).collect();
    let of = |id| first.iter().filter(|b| **b == Some(BrokerId(id))).count();
    assert!(of(1) >= 4 && of(2) >= 4 && of(1) + of(2) == 20, "{first:?}");
}
