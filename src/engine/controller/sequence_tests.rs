//! Longer sequences: recorded ones record by record, and random ones under invariants. Single decisions are tested by
//! table.

use alloc::vec::Vec;

use super::testing::{Bench, T};
use crate::base::{BrokerEpoch, Dur, Rng, StreamId};
use crate::metadata::MetadataImage;
use crate::protocol::config::config_map;
use crate::protocol::{ClusterRequest, ConfigTarget, Payload, Request};
use crate::rules::Version;

#[test]
fn e_22_two_clean_stops_as_recorded() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "2");
    let epochs: Vec<BrokerEpoch> = (1..=3).map(|id| b.epoch(id)).collect();
    let from = b.end();
    b.fence(3);
    b.beat(2, false, true);
    b.beat(1, false, true);
    b.beat(1, false, true);
    for id in [1, 2] {
        b.forget(id);
    }
    b.up(3, None);
    b.up(2, Some(epochs[1]));
    b.isr(&[2, 3]);
    b.up(1, Some(epochs[0]));
    b.isr(&[2, 3, 1]);
    let expected: [&[&str]; 12] = [
        &["1-0 isr 1,2", "fence 3"],
        &["1-0 isr 1 elr 2", "fence 2"],
        &["stopping 1", "1-0 isr  leader none elr 1,2 known 1"],
        &["fence 1"],
        &["register 3"],
        &["unfence 3"],
        &["register 2"],
        &["unfence 2", "1-0 isr 2 leader 2 elr 1 known "],
        &["1-0 isr 2,3 elr "],
        &["register 1"],
        &["unfence 1"],
        &["1-0 isr 2,3,1"],
    ];
    assert_eq!(b.batches(from), expected);
    assert_eq!((b.state().0, b.state().1), (2, 2));
}

#[test]
fn r_19_order_of_the_isr_over_three_restarts() {
    let mut b = Bench::cluster(Version::V4_1, 3, &[1, 2, 3], "1");
    for (id, leader, without, with) in [(1, 2, [2, 3], [2, 3, 1]), (2, 1, [3, 1], [3, 1, 2]), (3, 1, [1, 2], [1, 2, 3])]
    {
        let epoch = b.epoch(id);
        b.fence(id);
        assert_eq!((b.state().0, b.state().2), (leader, without.to_vec()), "{id} stops");
        b.up(id, Some(epoch));
        b.isr(&with);
    }
}

/// What must hold of every partition after every record.
fn invariants(version: Version, image: &MetadataImage, leader_epoch: &mut i32) {
    let p = image.partition(T).expect("the partition");
    assert!(p.leader_epoch.0 >= *leader_epoch, "E-17: the leader epoch never goes back");
    *leader_epoch = p.leader_epoch.0;
    assert!(p.isr.iter().chain(&p.elr).all(|r| p.replicas.contains(r)), "{p:?}");
    assert!(p.isr.iter().all(|r| !p.elr.contains(r)), "nobody is in both sets: {p:?}");
    if let Some(leader) = p.leader {
        assert!(p.isr.contains(&leader), "a leader is in sync: {p:?}");
        assert!(p.last_known_elr.is_empty(), "{p:?}");
    }
    if version.rules().eligible_leader_replicas {
        assert!(p.leader.is_some() || p.isr.is_empty(), "with ELR no leader means no ISR: {p:?}");
    } else {
        assert!(!p.isr.is_empty() && p.elr.is_empty(), "the last member stays: {p:?}");
    }
}

#[test]
fn random_walks_keep_the_invariants_and_replay_to_the_same_image() {
    for version in Version::ALL {
        for seed in 0..60 {
            let mut rng = Rng::stream(seed, StreamId::World);
            let min = ["1", "2", "3"][rng.below(3) as usize];
            let mut b = Bench::cluster(*version, 4, &[3, 1, 2, 4], min);
            let mut epoch = 0;
            for _ in 0..150 {
                let id = 1 + rng.below(4);
                let up = b.controller.image().is_unfenced(crate::base::BrokerId(id));
                let active = b.controller.image().is_active(crate::base::BrokerId(id));
                // A broker that has begun to stop asks for nothing else until it is started again.
                let stopping = b
                    .controller
                    .image()
                    .brokers
                    .get(&crate::base::BrokerId(id))
                    .is_some_and(|r| r.in_controlled_shutdown);
                match rng.below(10) {
                    0 | 1 if active => b.fence(id),
                    2 if up => {
                        b.beat(id, false, true);
                    }
                    3 if !stopping => b.run_with(&[id], Dur::secs(5)),
                    4 | 5 if !up => {
                        b.forget(id);
                        let previous = (rng.below(2) == 0).then(|| b.epoch(id));
                        b.register(id, previous);
                    }
                    6 | 7 => {
                        let p = b.partition();
                        let joins = p.leader.is_some() && !p.isr.contains(&crate::base::BrokerId(id));
                        if joins && active {
                            let mut isr: Vec<u32> = p.isr.iter().map(|m| m.0).collect();
                            isr.push(id);
                            b.isr(&isr);
                        }
                    }
                    8 => {
                        b.ask(
                            1,
                            Request::Cluster(ClusterRequest::ElectLeaders {
                                topic: "t".into(),
                                partition: 0,
                                unclean: rng.below(3) == 0,
                            }),
                        );
                    }
                    9 => {
                        let value = if rng.below(2) == 0 { "true" } else { "false" };
                        let configs = config_map(&[("unclean.leader.election.enable", value)]);
                        b.ask(
                            1,
                            Request::Cluster(ClusterRequest::IncrementalAlterConfigs {
                                resource: ConfigTarget::Topic("t".into()),
                                configs,
                            }),
                        );
                    }
                    _ => {
                        b.beat(id, false, stopping);
                    }
                }
                invariants(*version, b.controller.image(), &mut epoch);
            }
            let mut replayed = MetadataImage::default();
            for batch in b.node.disk.metadata_log.batches() {
                if let Payload::Metadata(records) = &batch.payload {
                    records.iter().for_each(|record| replayed.replay(record));
                }
                replayed.applied_to = batch.next_offset();
            }
            assert_eq!(&replayed, b.controller.image(), "{version:?}, seed {seed}");
        }
    }
}
