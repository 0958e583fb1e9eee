//! What weighs more than routine is told, kind by kind. It judges no sentence; a fact without words does not compile.

use highwater_engine::base::*;
use highwater_engine::protocol::{Api, ElectionKind, ErrorCode, GroupState};
use highwater_engine::trace::{Callback, Creator, Failure, IsrChanger, Kind, QuorumRole, Refusal, TraceEntry};
use highwater_engine::world::{Action, LinkSetup};

use super::reader::Reader;
use super::seen::Seen;
use super::tell::fact;
use crate::kinds::{Weight, row};
use crate::notation;
use crate::recording::{Playhead, Recording};
use crate::scenario::ScenarioId;

const TP: Tp = Tp { topic: TopicId(1), partition: 0 };

fn of_nodes(action: ActionId) -> Vec<Kind> {
    vec![
        Kind::Acted { action },
        Kind::ActionRefused { action, verb: "kill", why: Refusal::NoSuchRole("leader-of orders/0".into()).into() },
        Kind::ActionAnswered { action, error: ErrorCode::TopicAlreadyExists, message: None },
        Kind::ProcessStarted,
        Kind::ProcessKilled,
        Kind::ShutdownRequested,
        Kind::ProcessExited { clean: true },
        Kind::ProcessPaused,
        Kind::ProcessResumed,
        Kind::DiskLost,
        Kind::LinkCut { to: NodeId::Broker(BrokerId(2)) },
        Kind::LinkHealed { to: NodeId::Broker(BrokerId(2)) },
        Kind::LinkChanged { to: NodeId::Broker(BrokerId(2)), setup: LinkSetup::default() },
        Kind::MessageSent {
            message: MessageId(1),
            to: NodeId::Broker(BrokerId(2)),
            api: Api::Fetch,
            response: false,
            arrives_at: SimTime(1),
            error: ErrorCode::None,
            empty: true,
        },
        Kind::MessageDelivered { message: MessageId(1), sent: Seq(1) },
        Kind::MessageLost { message: MessageId(1) },
        Kind::MessageHeld { message: MessageId(1) },
        Kind::MessageMoved { message: MessageId(1), arrives_at: SimTime(1), sent: Seq(1) },
        Kind::RequestFailed { to: NodeId::Broker(BrokerId(2)), api: Api::Fetch, failure: Failure::TimedOut },
        Kind::RequestUnread { of: NodeId::Client(ClientId(1)), api: Api::Produce, records: 1 },
    ]
}

fn of_controllers() -> Vec<Kind> {
    let (epoch, candidate, broker) = (QuorumEpoch(2), ControllerId(1), BrokerId(1));
    vec![
        Kind::QuorumRoleChanged { role: QuorumRole::Candidate, epoch },
        Kind::QuorumLeaderElected { leader: candidate, epoch },
        Kind::VoteGranted { candidate, epoch, pre_vote: false },
        Kind::VoteRefused { candidate, epoch, pre_vote: false },
        Kind::QuorumLogTruncated { from: 5, to: 3 },
        Kind::ControllerActivated { epoch },
        Kind::ControllerResigned { epoch },
        Kind::BrokerRegistered { broker, epoch: BrokerEpoch(9), clean: false },
        Kind::RegistrationRefused { broker, error: ErrorCode::DuplicateBrokerRegistration },
        Kind::BrokerFenced { broker, last_contact: None },
        Kind::BrokerUnfenced { broker },
        Kind::ControlledShutdownBegun { broker },
        Kind::ControlledShutdownAllowed { broker },
        Kind::TopicCreated {
            topic: TP.topic,
            name: "orders".into(),
            partitions: 1,
            replication_factor: 1,
            by: Creator::Admin,
        },
        Kind::TopicDeleted { topic: TP.topic, name: "orders".into() },
        Kind::PartitionsAdded { topic: TP.topic, total: 2 },
        Kind::ConfigChanged { name: "min.insync.replicas".into(), value: None },
        Kind::LeaderElected {
            tp: TP,
            leader: broker,
            previous: None,
            epoch: LeaderEpoch(1),
            election: ElectionKind::Clean,
        },
        Kind::LeaderLost { tp: TP, previous: broker, epoch: LeaderEpoch(1) },
        Kind::IsrShrunk {
            tp: TP,
            isr: vec![broker],
            removed: vec![BrokerId(2)],
            by: IsrChanger::Leader(broker),
            epoch: PartitionEpoch(1),
        },
        Kind::IsrExpanded { tp: TP, isr: vec![broker], added: vec![broker], epoch: PartitionEpoch(1) },
        Kind::ElrChanged { tp: TP, elr: vec![broker], last_known_leader: None },
        Kind::ControllerRefused { api: Api::AlterPartition, error: ErrorCode::FencedLeaderEpoch },
    ]
}

fn of_brokers() -> Vec<Kind> {
    let (epoch, group) = (LeaderEpoch(1), || "billing".into());
    vec![
        Kind::BrokerRunning { epoch: BrokerEpoch(9) },
        Kind::BecameLeader { tp: TP, epoch, log_end: 1 },
        Kind::BecameFollower { tp: TP, epoch, leader: BrokerId(2) },
        Kind::BecameLeaderless { tp: TP, epoch },
        Kind::Appended { tp: TP, base_offset: 0, count: 1, epoch },
        Kind::Replicated { tp: TP, log_end: 1 },
        Kind::HighWatermarkAdvanced { tp: TP, high_watermark: 1, leader: true },
        Kind::LogTruncated { tp: TP, from: 2, to: 1, epoch },
        Kind::IsrShrinkProposed { tp: TP, removed: vec![BrokerId(2)] },
        Kind::IsrExpandProposed { tp: TP, added: BrokerId(2) },
        Kind::AlterPartitionRefused { tp: TP, error: ErrorCode::FencedLeaderEpoch },
        Kind::ProduceRefused { tp: TP, error: ErrorCode::NotEnoughReplicas },
        Kind::ProduceTimedOut { tp: TP },
        Kind::DuplicateRecognised { tp: TP, base_offset: 0 },
        Kind::LogStartAdvanced { tp: TP, log_start: 1 },
        Kind::CoordinatorLoading { partition: 9 },
        Kind::CoordinatorLoaded { partition: 9, groups: 1 },
        Kind::CoordinatorUnloaded { partition: 9 },
        Kind::GroupStateChanged { group: group(), state: GroupState::Stable, generation: GenerationId(1), members: 1 },
        Kind::MemberJoined { group: group(), member: "b1-00000001".into() },
        Kind::MemberRemoved { group: group(), member: "b1-00000001".into(), expired: true },
        Kind::OffsetsCommitted { group: group(), offsets: vec![(TP, 1)] },
        Kind::CoordinatorRefused { group: group(), api: Api::Heartbeat, error: ErrorCode::RebalanceInProgress },
    ]
}

fn of_clients() -> Vec<Kind> {
    let (tag, group) = (Tag(1), || "billing".into());
    vec![
        Kind::RecordSent { tag, topic: "orders".into(), partition: None, value: "0".into() },
        Kind::RecordAcked { tag, tp: TP, offset: 0 },
        Kind::RecordFailed { tag, tp: None, exception: "TimeoutException" },
        Kind::ProducerRetries { tp: TP, error: ErrorCode::NotLeaderOrFollower },
        Kind::ProducerIdAssigned { id: 1, epoch: 0, renumbered: 0 },
        Kind::LeaderDiscovered { tp: TP, leader: BrokerId(1) },
        Kind::CoordinatorDiscovered { group: group(), coordinator: BrokerId(1) },
        Kind::CoordinatorUnknown { group: group(), error: ErrorCode::CoordinatorNotAvailable },
        Kind::RebalanceCallback { group: group(), callback: Callback::Assigned, partitions: vec![TP] },
        Kind::RecordDelivered { tag, tp: TP, offset: 0, epoch: 0 },
        Kind::PositionReset { tp: TP, from: None, offset: 0 },
        Kind::CommitSucceeded { group: group() },
        Kind::CommitFailed { group: group(), exception: "CommitFailedException" },
        Kind::PollFailed { group: group(), exception: "NoOffsetForPartitionException" },
        Kind::ClientClosed { client: ClientId(1) },
    ]
}

#[test]
fn every_kind_that_weighs_more_than_routine_has_a_fact() {
    let scenario = ScenarioId::ALL[0].scenario().unwrap_or_else(|error| panic!("{error}"));
    let mut recording = Recording::new(scenario).unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut playhead = Playhead::new(&mut recording);
    playhead.run_until(&mut recording, playhead.origin() + Dur::secs(11));
    let seen = Seen::new(&recording, &playhead);
    let asks = |(id, action): (ActionId, &Action)| matches!(action, Action::Admin(_)).then_some(id);
    let action = seen.reel().actions().find_map(asks).unwrap_or_else(|| panic!("the scenario creates a topic"));
    let client = seen.client_node("checkout").unwrap_or_else(|| panic!("the producer runs"));
    let (broker, controller) = (NodeId::Broker(BrokerId(1)), NodeId::Controller(ControllerId(1)));
    let of = |who: NodeId, kinds: Vec<Kind>| kinds.into_iter().map(move |kind| (who, kind)).collect::<Vec<_>>();
    let samples = [
        of(broker, of_nodes(action)),
        of(controller, of_controllers()),
        of(broker, of_brokers()),
        of(client, of_clients()),
    ]
    .concat();
    let (mut names, mut weighty) = (Vec::new(), 0);
    for (who, kind) in samples {
        let entry = TraceEntry { seq: Seq(u64::MAX), at: seen.now(), cause: Seq(0), who, kind };
        let row = row(&entry);
        names.push(notation::name(&entry.kind));
        if row.weight > Weight::Routine {
            weighty += 1;
            assert!(fact(&Reader { seen, index: seen.n_entries(), entry: &entry }).is_some(), "{:?}", entry.kind);
        }
        assert!(row.weight < Weight::Grave || row.mark.is_some(), "{:?} has a scene and no mark", entry.kind);
    }
    assert!(weighty > 40, "{weighty}");
    assert_eq!(names, notation::NAMES, "one of each kind");
}
