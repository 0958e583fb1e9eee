//! `close` of a consumer: what it still does and how long it tries. The callbacks of an orderly one are tested
//! elsewhere.

use super::{ClientVersion, PollForm, spec};
use crate::base::{BrokerId, Dur};
use crate::client::testing::{Bench, TP0};
use crate::client::{Client, ClientKind, ConsumerSpec};
use crate::node::message::{ClientCommand, Event};
use crate::protocol::{ErrorCode, GroupRequest, Request};

/// A member that commits by itself and has read five records; then the broker of its coordinator dies.
fn without_coordinator() -> (Bench, Client) {
    let mut bench = Bench::new(&[2]);
    bench.fill(0, 5);
    let config = [("enable.auto.commit", "true"), ("auto.commit.interval.ms", "3600000")];
    let spec = ConsumerSpec { commit_every: None, ..spec(ClientVersion::V4_1, PollForm::Duration, &config) };
    let mut client = bench.start(ClientKind::Consumer(spec)).expect("allowed configs");
    bench.run(&mut client, 5_000);
    assert_eq!(bench.delivered(), 5);
    bench.coordinator = Err(ErrorCode::CoordinatorNotAvailable);
    bench.kill(1);
    bench.run(&mut client, 5_500);
    assert!(bench.committed.is_empty(), "only `close` can commit");
    (bench, client)
}

/// Runs on until the client has exited; when that was, in milliseconds.
fn exit_of(bench: &mut Bench, client: &mut Client) -> u64 {
    while !bench.exited {
        let now = bench.node.now.0 / 1_000;
        assert!(now < 60_000, "close ends");
        bench.run(client, now + 10);
    }
    bench.node.now.0 / 1_000
}

#[test]
fn a_close_finds_the_coordinator_commits_and_leaves() {
    let (mut bench, mut client) = without_coordinator();
    bench.send(&mut client, Event::Shutdown);
    bench.run(&mut client, 15_000);
    assert!(!bench.exited, "it looks for its coordinator");
    bench.coordinator = Ok(BrokerId(3));
    let at = exit_of(&mut bench, &mut client);
    assert!((15_000..17_000).contains(&at), "{at}");
    assert_eq!(bench.committed.get(&TP0).map(|o| o.offset), Some(5));
    assert!(
        bench
            .requests
            .iter()
            .any(|(_, to, r)| *to == BrokerId(3) && matches!(r, Request::Group(GroupRequest::LeaveGroup(_))))
    );
}

#[test]
fn a_close_without_a_coordinator_ends_with_its_time() {
    let (mut bench, mut client) = without_coordinator();
    bench.send(&mut client, Event::Shutdown);
    let at = exit_of(&mut bench, &mut client);
    assert!((35_490..=35_510).contains(&at), "{at}");
    let (mut bench, mut client) = without_coordinator();
    bench.send(&mut client, Event::Command(ClientCommand::Close { within: Dur::secs(3) }));
    let at = exit_of(&mut bench, &mut client);
    assert!((8_490..=8_510).contains(&at), "{at}");
    assert!(bench.committed.is_empty());
}
