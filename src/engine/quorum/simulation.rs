//! Elections and replication of whole quorums in many seeds, with deaths, cuts and lost packets. Records carry no
//! meaning here.

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::network::{Network, Process};
use super::{Observer, Voter, VoterStart};
use crate::base::{BrokerId, ControllerId, Dur, Incarnation, NodeId, Offset, QuorumEpoch, SimTime};
use crate::node::inbox::Ready;
use crate::node::{Channel, Completed, Connections, Ctx, Event, Inbox, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{ConfigMap, MetadataRecord, Payload, Request};
use crate::rules::Version;
use crate::trace::{Kind, QuorumRole};

/// A voter or an observer with the shell that its process would have.
enum Shell {
    Voter { voter: Voter, inbox: Inbox },
    Observer { observer: Observer, id: BrokerId, conns: Connections<()>, taken: Vec<Offset> },
}

const VOTERS: [ControllerId; 3] = [ControllerId(1), ControllerId(2), ControllerId(3)];

fn c(id: u32) -> NodeId {
    NodeId::Controller(ControllerId(id))
}
fn b(id: u32) -> NodeId {
    NodeId::Broker(BrokerId(id))
}

fn make(version: Version) -> fn(&mut Ctx<'_>, NodeId, Incarnation) -> Shell {
    match version {
        Version::V3_6 => |ctx, id, incarnation| shell(ctx, id, incarnation, Version::V3_6, &VOTERS),
        Version::V3_9 => |ctx, id, incarnation| shell(ctx, id, incarnation, Version::V3_9, &VOTERS),
        Version::V4_1 => |ctx, id, incarnation| shell(ctx, id, incarnation, Version::V4_1, &VOTERS),
    }
}

fn shell(
    ctx: &mut Ctx<'_>,
    node: NodeId,
    incarnation: Incarnation,
    version: Version,
    voters: &[ControllerId],
) -> Shell {
    let config = Rc::new(NodeConfig::parse(&ConfigMap::new()).expect("the defaults are valid"));
    let (rules, voters) = (version.rules(), voters.to_vec());
    match node {
        NodeId::Controller(id) => Shell::Voter {
            voter: Voter::start(ctx, VoterStart { id, incarnation, config, rules, voters }),
            inbox: Inbox::default(),
        },
        NodeId::Broker(id) => {
            let conns = Connections::new(node, incarnation.0 << 20);
            let mut shell =
                Shell::Observer { observer: Observer::new(voters, config, rules), id, conns, taken: Vec::new() };
            shell.settle(ctx);
            shell
        }
        NodeId::Client(_) => unreachable!("no client takes part in the quorum"),
    }
}

/// Works on the request that is taken, if one can be.
fn serve(
    voter: &mut Voter,
    inbox: &mut Inbox,
    ctx: &mut Ctx<'_>,
    take: impl FnOnce(&mut Inbox, &mut Ctx<'_>) -> Option<Ready>,
) {
    if let Some(Ready { conn, correlation, body: Request::Quorum(request), .. }) = take(inbox, ctx)
        && let Some(response) = voter.on_request(ctx, conn, correlation, &request)
    {
        inbox.answer(ctx, conn, correlation, response.into());
    }
}

impl Shell {
    fn voter(&self) -> Option<&Voter> {
        match self {
            Shell::Voter { voter, .. } => Some(voter),
            Shell::Observer { .. } => None,
        }
    }

    fn settle(&mut self, ctx: &mut Ctx<'_>) {
        match self {
            Shell::Voter { voter, inbox } => {
                let mut ready = voter.take_ready();
                while !ready.is_empty() {
                    for (conn, correlation, response) in core::mem::take(&mut ready) {
                        match response {
                            Some(response) => inbox.answer(ctx, conn, correlation, response.into()),
                            None => serve(voter, inbox, ctx, |inbox, ctx| inbox.pass_over(ctx, conn, correlation)),
                        }
                    }
                    ready = voter.take_ready();
                }
            }
            Shell::Observer { observer, id, conns, taken } => {
                taken.extend(observer.take_committed(ctx.disk).iter().map(|batch| batch.base_offset));
                if let Some((to, request, timeout)) = observer.next_request(ctx, *id) {
                    conns.request(ctx, NodeId::Controller(to), Channel::Quorum, request, timeout, ());
                }
            }
        }
    }
}

impl Process for Shell {
    fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match self {
            Shell::Voter { voter, inbox } => match event {
                Event::Request { conn, correlation, body } => {
                    serve(voter, inbox, ctx, |inbox, ctx| inbox.on_request(ctx, conn, correlation, body));
                }
                Event::Timer(Timer::Read(conn)) => serve(voter, inbox, ctx, |inbox, ctx| inbox.read(ctx, conn)),
                Event::Response { conn, correlation, body } => voter.on_response(ctx, conn, correlation, body),
                Event::Disconnected { conn } if conn.client == ctx.me => voter.on_disconnected(ctx, conn),
                Event::Disconnected { conn } => {
                    inbox.on_disconnected(ctx, conn);
                    voter.on_client_gone(ctx, conn);
                }
                Event::Timer(Timer::RequestTimeout(conn)) => voter.on_request_timeout(ctx, conn),
                Event::Timer(Timer::Quorum(timer)) => voter.on_timer(ctx, &timer),
                Event::Shutdown => voter.shutdown(ctx),
                Event::Timer(_) | Event::Connected { .. } | Event::Reset { .. } | Event::Command(_) => {}
            },
            Shell::Observer { observer, conns, .. } => {
                let completed: Vec<Completed<()>> = match event {
                    Event::Response { conn, correlation, body } => {
                        conns.on_response(ctx, conn, correlation, body).into_iter().collect()
                    }
                    Event::Disconnected { conn } => conns.on_disconnected(ctx, conn),
                    Event::Timer(Timer::RequestTimeout(conn)) => conns.on_request_timeout(ctx, conn),
                    Event::Timer(Timer::Quorum(timer)) => {
                        observer.on_timer(ctx, &timer);
                        Vec::new()
                    }
                    Event::Timer(_)
                    | Event::Request { .. }
                    | Event::Connected { .. }
                    | Event::Reset { .. }
                    | Event::Shutdown
                    | Event::Command(_) => Vec::new(),
                };
                for done in completed {
                    observer.on_outcome(ctx, done.outcome);
                }
            }
        }
        self.settle(ctx);
    }
}

fn quorum(version: Version, seed: u64) -> Network<Shell> {
    Network::new(seed, &[c(1), c(2), c(3)], make(version))
}

fn leader(net: &Network<Shell>) -> Option<ControllerId> {
    let leads = |p: &Shell| p.voter().is_some_and(|v| v.role() == QuorumRole::Leader);
    let mut leaders: Vec<(QuorumEpoch, NodeId)> =
        net.alive().filter(|(_, p)| leads(p)).filter_map(|(id, p)| p.voter().map(|v| (v.epoch(), id))).collect();
    leaders.sort();
    match leaders.last() {
        Some((_, NodeId::Controller(id))) => Some(*id),
        Some((_, NodeId::Broker(_) | NodeId::Client(_))) | None => None,
    }
}

fn append(net: &mut Network<Shell>, leader: ControllerId) {
    net.with(NodeId::Controller(leader), |shell, ctx| {
        if let Shell::Voter { voter, .. } = shell
            && voter.leadership().is_some()
        {
            voter.append(ctx, vec![MetadataRecord::NoOp], ctx.cause);
        }
        shell.settle(ctx);
    });
}

/// What was committed where, and that nobody ever disagrees with it.
#[derive(Default)]
struct Ledger {
    committed: BTreeMap<Offset, (i32, bool)>,
}

impl Ledger {
    fn check(&mut self, net: &Network<Shell>) {
        for (id, shell) in net.alive() {
            let Some(voter) = shell.voter() else { continue };
            for batch in net.disk(id).metadata_log.batches().take_while(|b| b.next_offset() <= voter.high_watermark()) {
                let what = (batch.epoch, matches!(batch.payload, Payload::LeaderChange));
                assert_eq!(
                    *self.committed.entry(batch.base_offset).or_insert(what),
                    what,
                    "offset {} is committed twice, at {id}",
                    batch.base_offset
                );
            }
        }
    }
}

fn one_leader_per_epoch(net: &Network<Shell>) {
    let mut leaders = BTreeMap::new();
    for (_, _, kind) in net.kinds() {
        if let Kind::QuorumLeaderElected { leader, epoch } = kind {
            assert_eq!(leaders.entry(*epoch).or_insert(*leader), leader, "two leaders in epoch {epoch}");
        }
    }
}

fn first_leader(net: &mut Network<Shell>) -> ControllerId {
    for _ in 0..200 {
        if let Some(leader) = leader(net)
            && net
                .get(NodeId::Controller(leader))
                .and_then(Shell::voter)
                .is_some_and(|v| v.leader_high_watermark().is_some())
        {
            return leader;
        }
        net.run_for(Dur::ms(100));
    }
    panic!("no leader within 20 s");
}

#[test]
fn c_02_a_single_voter_leads_at_once() {
    let one: fn(&mut Ctx<'_>, NodeId, Incarnation) -> Shell =
        |ctx, id, incarnation| shell(ctx, id, incarnation, Version::V4_1, &[ControllerId(1)]);
    let net = Network::new(1, &[c(1)], one);
    assert_eq!(leader(&net), Some(ControllerId(1)));
    assert_eq!(net.get(c(1)).and_then(Shell::voter).and_then(Voter::leader_high_watermark), Some(1));
}

#[test]
fn a_leader_is_found_in_every_version_and_seed() {
    for version in Version::ALL {
        for seed in 0..100 {
            let mut net = quorum(*version, seed);
            first_leader(&mut net);
            one_leader_per_epoch(&net);
        }
    }
}

#[test]
fn kip_595_safety_and_liveness_under_faults() {
    for version in Version::ALL {
        for seed in 0..60 {
            let mut net = quorum(*version, seed);
            let mut ledger = Ledger::default();
            net.loss_per_million = 20_000;
            for _ in 0..400 {
                net.run_for(Dur::ms(100));
                if let Some(leader) = leader(&net) {
                    append(&mut net, leader);
                }
                ledger.check(&net);
                let (a, other) = (1 + net.rng.below(3), 1 + net.rng.below(3));
                match net.rng.below(40) {
                    0 => net.kill(c(a)),
                    1..=3 => net.start(c(a)),
                    4 if a != other => net.cut(c(a), c(other)),
                    5 => net.heal(),
                    _ => {}
                }
            }
            net.heal();
            for id in 1..=3 {
                net.start(c(id));
            }
            net.run_for(Dur::secs(20));
            let leader = first_leader(&mut net);
            append(&mut net, leader);
            net.run_for(Dur::secs(2));
            ledger.check(&net);
            one_leader_per_epoch(&net);
            let end = net.disk(NodeId::Controller(leader)).metadata_log.end_offset();
            for id in 1..=3 {
                let voter = net.get(c(id)).and_then(Shell::voter).expect("it runs");
                assert_eq!(voter.high_watermark(), end, "controller {id}, {version:?}, seed {seed}");
            }
        }
    }
}

#[test]
fn c_01_without_a_majority_the_leader_resigns() {
    let mut net = quorum(Version::V4_1, 3);
    let old = first_leader(&mut net);
    for voter in VOTERS.iter().filter(|v| **v != old) {
        net.kill(NodeId::Controller(*voter));
    }
    let at = net.now;
    net.run_for(Dur::ms(3_100));
    assert_eq!(leader(&net), None, "1.5 fetch time-outs after the last fetch of a majority");
    let resigned = net
        .kinds()
        .find(|(t, _, k)| *t > at && matches!(k, Kind::QuorumRoleChanged { role: QuorumRole::Resigned, .. }))
        .map(|(t, _, _)| t);
    assert!(resigned.is_some_and(|t| t.since(at) > Dur::ms(2_400)), "not before");
    // Before 3.7 it stayed leader of its epoch, harmless as it can commit nothing.
    let mut net = quorum(Version::V3_6, 3);
    let old = first_leader(&mut net);
    for voter in VOTERS.iter().filter(|v| **v != old) {
        net.kill(NodeId::Controller(*voter));
    }
    net.run_for(Dur::secs(10));
    assert_eq!(leader(&net), Some(old));
}

#[test]
fn c_03_a_dead_leader_is_replaced_after_the_fetch_time_out() {
    for seed in 0..40 {
        let mut net = quorum(Version::V4_1, seed);
        let old = first_leader(&mut net);
        for _ in 0..7 {
            net.run_for(Dur::ms(300));
            append(&mut net, old);
        }
        let at = net.now;
        net.kill(NodeId::Controller(old));
        net.run_for(Dur::secs(15));
        let elected = net
            .kinds()
            .find(|(t, _, k)| *t > at && matches!(k, Kind::QuorumLeaderElected { .. }))
            .map(|(t, _, _)| t.since(at));
        let took = elected.expect("a leader within 15 s");
        assert!(took > Dur::ms(1_400), "the last answer is at most 500 ms old, it took {took:?}");
    }
}

#[test]
fn c_04_a_leader_that_stops_hands_over_at_once() {
    for seed in 0..20 {
        let mut net = quorum(Version::V4_1, seed);
        let old = first_leader(&mut net);
        net.run_for(Dur::secs(3));
        let at = net.now;
        net.with(NodeId::Controller(old), |shell, ctx| shell.on_event(ctx, Event::Shutdown));
        net.run_for(Dur::ms(700));
        let elected = net
            .kinds()
            .find(|(t, _, k)| *t > at && matches!(k, Kind::QuorumLeaderElected { .. }))
            .map(|(t, _, _)| t.since(at));
        assert!(elected.is_some_and(|t| t < Dur::ms(100)), "{elected:?}, seed {seed}");
        assert!(net.get(NodeId::Controller(old)).is_none(), "the old leader has ended");
    }
}

#[test]
fn c_06_pre_vote_keeps_a_cut_off_follower_from_deposing_the_leader() {
    for (version, deposed) in [(Version::V4_1, false), (Version::V3_9, true)] {
        let mut net = quorum(version, 5);
        let old = first_leader(&mut net);
        net.run_for(Dur::secs(1));
        let epoch = net.get(NodeId::Controller(old)).and_then(Shell::voter).map(Voter::epoch);
        let lonely = VOTERS.into_iter().find(|v| *v != old).expect("three voters");
        net.cut(NodeId::Controller(old), NodeId::Controller(lonely));
        net.run_for(Dur::secs(20));
        let later =
            leader(&net).and_then(|id| net.get(NodeId::Controller(id)).and_then(Shell::voter).map(Voter::epoch));
        assert_eq!(later > epoch, deposed, "{version:?}");
    }
}

#[test]
fn c_08_an_old_leader_cuts_what_was_never_committed() {
    let mut net = quorum(Version::V4_1, 9);
    let old = first_leader(&mut net);
    net.run_for(Dur::secs(1));
    for voter in VOTERS.iter().filter(|v| **v != old) {
        net.cut(NodeId::Controller(old), NodeId::Controller(*voter));
    }
    for _ in 0..3 {
        append(&mut net, old);
    }
    let long = net.disk(NodeId::Controller(old)).metadata_log.end_offset();
    net.run_for(Dur::secs(10));
    net.heal();
    net.run_for(Dur::secs(5));
    let cut = net
        .kinds()
        .filter(|(_, who, _)| *who == NodeId::Controller(old))
        .find_map(|(_, _, k)| if let Kind::QuorumLogTruncated { from, to } = k { Some((*from, *to)) } else { None });
    assert_eq!(cut, Some((long, long - 3)));
    let logs: Vec<_> =
        VOTERS.iter().map(|v| net.disk(NodeId::Controller(*v)).metadata_log.epochs().entries().to_vec()).collect();
    assert!(logs.iter().all(|l| *l == logs[0]), "{logs:?}");
}

#[test]
fn c_09_a_restarted_leader_comes_back_resigned() {
    let mut net = quorum(Version::V4_1, 11);
    let old = first_leader(&mut net);
    let epoch = net.get(NodeId::Controller(old)).and_then(Shell::voter).map(Voter::epoch);
    net.kill(NodeId::Controller(old));
    net.start(NodeId::Controller(old));
    let voter = net.get(NodeId::Controller(old)).and_then(Shell::voter).expect("it runs");
    assert_eq!((voter.role(), Some(voter.epoch())), (QuorumRole::Resigned, epoch));
}

#[test]
fn c_22_observers_get_what_is_committed() {
    for (version, within) in [(Version::V4_1, Dur::ms(5)), (Version::V3_9, Dur::ms(510))] {
        let mut net = Network::new(4, &[c(1), c(2), c(3), b(1), b(2)], make(version));
        let first = first_leader(&mut net);
        net.run_for(Dur::secs(3));
        append(&mut net, first);
        let end = net.disk(NodeId::Controller(first)).metadata_log.end_offset();
        net.run_for(within);
        for id in [1, 2] {
            let Some(Shell::Observer { observer, taken, .. }) = net.get(b(id)) else { panic!("an observer") };
            assert_eq!(observer.leader(), Some(first));
            assert_eq!(taken, &(0..end).collect::<Vec<_>>(), "{version:?}");
        }
        // They find the next leader by themselves.
        net.kill(NodeId::Controller(first));
        net.run_for(Dur::secs(12));
        let second = leader(&net).expect("a new leader");
        let Some(Shell::Observer { observer, .. }) = net.get(b(1)) else { panic!("an observer") };
        assert_eq!(observer.leader(), Some(second));
        assert_eq!(
            net.disk(b(1)).metadata_log.end_offset(),
            net.disk(NodeId::Controller(second)).metadata_log.end_offset()
        );
    }
}

#[test]
fn an_observer_whose_committed_records_are_gone_ends() {
    let mut net = Network::new(4, &[c(1), c(2), c(3), b(1)], make(Version::V4_1));
    let first = first_leader(&mut net);
    for _ in 0..5 {
        append(&mut net, first);
    }
    net.run_for(Dur::secs(1));
    for voter in VOTERS {
        net.kill(NodeId::Controller(voter));
        *net.disk_mut(NodeId::Controller(voter)) = Default::default();
    }
    for voter in VOTERS {
        net.disk_mut(NodeId::Controller(voter)).quorum_state.epoch = QuorumEpoch(50);
        net.start(NodeId::Controller(voter));
    }
    net.run_for(Dur::secs(20));
    assert!(net.now > SimTime::ZERO && net.get(b(1)).is_none(), "it does not forget what was committed");
}
