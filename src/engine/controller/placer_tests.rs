//! The table of section 6.2 with all random values 0 or as stated, and what holds whatever is drawn.

use alloc::vec::Vec;

use super::placer::{PlacementError, UsableBroker, place};
use crate::base::{BrokerId, ControllerId, NodeId, Rng, StreamId};

/// (id, rack or "", fenced)
type Given = (u32, &'static str, bool);

/// Brokers, replication factor, first start offset, and the replicas of each partition.
type Row<'a> = (&'a [Given], i32, u32, &'a [&'a [u32]]);

fn usable(given: &[Given]) -> Vec<UsableBroker> {
    given
        .iter()
        .map(|(id, rack, fenced)| UsableBroker {
            id: BrokerId(*id),
            rack: (!rack.is_empty()).then(|| (*rack).into()),
            fenced: *fenced,
        })
        .collect()
}

fn placed(given: &[Given], rf: i32, partitions: u32, first: u32) -> Vec<Vec<u32>> {
    let mut draws = 0;
    let mut draw = |_| {
        draws += 1;
        if draws == 1 { first } else { 0 }
    };
    let placed = place(&usable(given), partitions, rf, &mut draw).expect("enough brokers");
    placed.into_iter().map(|replicas| replicas.into_iter().map(|b| b.0).collect()).collect()
}

#[test]
fn a_01_to_a_11_striped_placer() {
    let plain = |n: u32| (0..n).map(|id| (id, "", false)).collect::<Vec<Given>>();
    let racks: Vec<Given> =
        [(0, "A", false), (1, "A", false), (2, "B", false), (3, "B", false), (4, "C", false), (5, "C", false)].to_vec();
    let one_up: Vec<Given> = [(0, "", false), (1, "", true), (2, "", true)].to_vec();
    let two_up: Vec<Given> = [(0, "", false), (1, "", false), (2, "", true)].to_vec();
    let mixed: Vec<Given> =
        [(0, "A", false), (1, "A", true), (2, "B", true), (3, "B", true), (4, "C", false), (5, "C", false)].to_vec();
    let table: [Row<'_>; 11] = [
        (&plain(3), 2, 0, &[&[0, 1], &[1, 2], &[2, 0]]),
        (&plain(3), 2, 1, &[&[1, 2], &[2, 0], &[0, 1]]),
        (&plain(3), 3, 0, &[&[0, 1, 2], &[1, 2, 0], &[2, 0, 1]]),
        (&plain(5), 3, 0, &[&[0, 1, 2], &[1, 2, 3], &[2, 3, 4], &[3, 4, 0], &[4, 0, 1]]),
        (&one_up, 1, 0, &[&[0], &[0], &[0], &[0]]),
        (&one_up, 3, 0, &[&[0, 1, 2], &[0, 2, 1], &[0, 1, 2]]),
        (&two_up, 3, 0, &[&[0, 1, 2], &[1, 0, 2]]),
        (&two_up, 2, 0, &[&[0, 1], &[1, 0]]),
        (&racks, 3, 0, &[&[0, 2, 4], &[3, 5, 1], &[4, 0, 2], &[1, 3, 5], &[2, 4, 0], &[5, 1, 3]]),
        (&racks, 2, 0, &[&[0, 2], &[3, 5], &[4, 1]]),
        (&mixed, 3, 0, &[&[0, 2, 4], &[5, 3, 0], &[4, 0, 2]]),
    ];
    for (given, rf, first, expected) in table {
        assert_eq!(placed(given, rf, expected.len() as u32, first), expected, "{given:?} rf {rf}");
    }
}

#[test]
fn a_13_a_14_refusals_in_order() {
    let refuse = |given: &[Given], rf| place(&usable(given), 1, rf, &mut |_| 0).err();
    assert_eq!(refuse(&[], 0), Some(PlacementError::NotPositive(0)));
    assert_eq!(refuse(&[(0, "", true), (1, "", true)], 3), Some(PlacementError::AllFenced));
    assert_eq!(
        refuse(&[(0, "", false), (1, "", true)], 3),
        Some(PlacementError::TooFewBrokers { asked: 3, registered: 2 })
    );
    assert_eq!(refuse(&[(0, "", false), (1, "", true), (2, "", true)], 3), None);
}

#[test]
fn whatever_is_drawn_replicas_are_distinct_and_the_first_is_unfenced() {
    for seed in 0..200 {
        let mut rng = Rng::stream(seed, StreamId::Node(NodeId::Controller(ControllerId(1))));
        let n = 1 + rng.below(9);
        let given: Vec<Given> =
            (0..n).map(|id| (id, ["", "A", "B", "C"][rng.below(4) as usize], id > 0 && rng.below(3) == 0)).collect();
        let rf = 1 + rng.below(n) as i32;
        let placed = place(&usable(&given), 40, rf, &mut |bound| rng.below(bound)).expect("enough brokers");
        for replicas in placed {
            let mut sorted = replicas.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), rf as usize, "{given:?}: {replicas:?}");
            assert!(!given[replicas[0].0 as usize].2, "{given:?}: {replicas:?}");
        }
    }
}
