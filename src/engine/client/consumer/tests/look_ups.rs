//! Look-ups of offsets and of epochs that fail for one partition. What a good answer changes is tested elsewhere.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::cell::Cell;

use super::{ClientVersion, PollForm, start};
use crate::base::{BrokerId, Tp};
use crate::client::testing::{Bench, Reply, TP0};
use crate::protocol::{ErrorCode, PartitionRequest, PartitionResponse, Request, Response};
use crate::trace::Kind;

fn delivered(bench: &Bench, partition: u32) -> usize {
    bench.count(|k| matches!(k, Kind::RecordDelivered { tp, .. } if tp.partition == partition))
}

/// Answers `ListOffsets` as the bench does, with an error for the first partition as long as `refuses` holds.
fn refusing_offsets(refuses: Rc<Cell<bool>>) -> impl FnMut(BrokerId, &Request) -> Option<Reply> {
    move |_, request| {
        let Request::Partition(PartitionRequest::ListOffsets(list)) = request else { return None };
        let listed = list.partitions.iter().map(|(tp, ..)| crate::protocol::ListedOffset {
            tp: *tp,
            error: if *tp == TP0 && refuses.get() { ErrorCode::OffsetNotAvailable } else { ErrorCode::None },
            offset: 0,
            leader_epoch: None,
        });
        Some(Reply::Answer(Response::Partition(PartitionResponse::ListOffsets { partitions: listed.collect() })))
    }
}

#[test]
fn a_failed_look_up_of_offsets_rests_its_own_partition_alone() {
    let mut bench = Bench::new(&[1, 1]);
    (0..2).for_each(|p| bench.fill(p, 5));
    let refuses = Rc::new(Cell::new(true));
    bench.hook = Some(Box::new(refusing_offsets(refuses.clone())));
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 5_000);
    assert_eq!((delivered(&bench, 0), delivered(&bench, 1)), (0, 5));
    let asked = |bench: &Bench, wanted: Tp| {
        let lists = bench.requests.iter().filter(|(_, _, r)| {
            matches!(
                r,
                Request::Partition(PartitionRequest::ListOffsets(list))
                    if list.partitions.iter().any(|(tp, ..)| *tp == wanted)
            )
        });
        lists.count()
    };
    assert_eq!(asked(&bench, Tp { partition: 1, ..TP0 }), 1, "what has its answer is not asked again");
    assert!(asked(&bench, TP0) > 10, "the other one is, after a rest each time");
    refuses.set(false);
    bench.run(&mut client, 6_500);
    assert_eq!((delivered(&bench, 0), delivered(&bench, 1)), (5, 5));
}

#[test]
fn a_failed_look_up_of_an_epoch_rests_its_own_partition_alone() {
    let mut bench = Bench::new(&[1, 1]);
    (0..2).for_each(|p| bench.fill(p, 5));
    let refuses = Rc::new(Cell::new(true));
    let still = refuses.clone();
    bench.hook = Some(Box::new(move |_, request| match request {
        Request::Partition(PartitionRequest::OffsetForLeaderEpoch { tp: TP0, .. }) if still.get() => {
            let error = ErrorCode::UnknownLeaderEpoch;
            Some(Reply::Answer(Response::Partition(PartitionResponse::OffsetForLeaderEpoch {
                tp: TP0,
                error,
                end: None,
            })))
        }
        _ => None,
    }));
    let mut client = start(&mut bench, ClientVersion::V4_1, PollForm::Duration, &[]);
    bench.run(&mut client, 3_000);
    assert_eq!((delivered(&bench, 0), delivered(&bench, 1)), (5, 5));
    for p in 0..2 {
        bench.partition(p).leader = Some(BrokerId(2));
        bench.partition(p).epoch = 1;
        bench.fill(p, 5);
    }
    bench.run(&mut client, 8_000);
    assert_eq!((delivered(&bench, 0), delivered(&bench, 1)), (5, 10), "one is validated and read, one asks again");
    refuses.set(false);
    bench.run(&mut client, 9_500);
    assert_eq!((delivered(&bench, 0), delivered(&bench, 1)), (10, 10));
}
