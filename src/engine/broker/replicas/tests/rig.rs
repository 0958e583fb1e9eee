//! A broker's replicas with the surroundings of a handler and an image that the test writes. It sends nothing to
//! anybody.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::*;
use crate::broker::replicas::{Handled, ReplicaManager, ReplicaView};
use crate::broker::{BrokerCall, ReplyTo};
use crate::log::Log;
use crate::metadata::MetadataImage;
use crate::node::testing::TestNode;
use crate::node::{BrokerTimer, Channel, ConnId, Connections, Ctx, Effect, Outcome, Timer};
use crate::protocol::config::{NodeConfig, config_map};
use crate::protocol::*;
use crate::rules::Version;
use crate::trace::Kind;

pub const T0: Tp = Tp { topic: TopicId(1), partition: 0 };
pub const T1: Tp = Tp { topic: TopicId(1), partition: 1 };
pub const CONTROLLER: ControllerId = ControllerId(101);

pub fn b(id: u32) -> BrokerId {
    BrokerId(id)
}

pub fn ids(list: &[u32]) -> Vec<BrokerId> {
    list.iter().copied().map(BrokerId).collect()
}

/// Epoch with which the rigs' brokers are registered.
pub fn broker_epoch(id: u32) -> BrokerEpoch {
    BrokerEpoch(i64::from(id) * 10)
}

pub fn registration(replicas: &[u32], isr: &[u32], leader: Option<u32>, leader_epoch: i32) -> PartitionRegistration {
    PartitionRegistration {
        replicas: ids(replicas),
        directories: Vec::new(),
        isr: ids(isr),
        elr: Vec::new(),
        last_known_elr: Vec::new(),
        leader: leader.map(BrokerId),
        leader_recovery: LeaderRecoveryState::Recovered,
        leader_epoch: LeaderEpoch(leader_epoch),
        partition_epoch: PartitionEpoch(leader_epoch),
    }
}

pub fn batch(count: usize) -> RecordBatch {
    let records: Vec<Record> =
        (0..count).map(|i| Record { tag: Tag(i as u64), key: None, value: "v".into() }).collect();
    RecordBatch {
        base_offset: 0,
        epoch: 0,
        producer: None,
        timestamp: SimTime::ZERO,
        payload: Payload::Data(records.into()),
        origin: Seq(0),
    }
}

pub fn sequenced(epoch: i16, first: i32, count: usize) -> RecordBatch {
    RecordBatch {
        producer: Some(ProducerStamp { id: ProducerId(1000), epoch: ProducerEpoch(epoch), base_sequence: first }),
        ..batch(count)
    }
}

/// A log with one batch for each (epoch, count).
pub fn log_of(batches: &[(i32, usize)]) -> Log {
    let mut log = Log::default();
    for (epoch, count) in batches {
        log.append_as_leader(batch(*count), *epoch);
    }
    log
}

pub struct Rig {
    pub node: TestNode,
    pub image: MetadataImage,
    pub replicas: ReplicaManager,
    pub conns: Connections<BrokerCall>,
    pub id: u32,
    requests: u32,
}

/// What a rig starts with.
pub struct Setup<'a> {
    pub version: Version,
    pub config: &'a [(&'a str, &'a str)],
    pub min_isr: &'a str,
    /// Log and checkpointed high watermark of [`T0`].
    pub log: Log,
    pub checkpoint: Offset,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Setup { version: Version::V4_1, config: &[], min_isr: "2", log: Log::default(), checkpoint: 0 }
    }
}

impl Rig {
    pub fn new(id: u32, setup: Setup<'_>, partition: PartitionRegistration) -> Rig {
        let mut node = TestNode::new(NodeId::Broker(b(id)));
        if !setup.log.is_empty() {
            node.disk.logs.insert(T0, Rc::new(setup.log));
            node.disk.hw_checkpoint.insert(T0, setup.checkpoint);
        }
        let mut image = MetadataImage::default();
        for broker in 1..=4 {
            image.replay(&MetadataRecord::RegisterBroker {
                broker: b(broker),
                incarnation: Incarnation(1),
                rack: None,
                directory: 0,
                epoch: broker_epoch(broker),
            });
            image.replay(&MetadataRecord::BrokerRegistrationChange {
                broker: b(broker),
                epoch: broker_epoch(broker),
                fenced: Some(false),
                in_controlled_shutdown: false,
            });
        }
        image.replay(&MetadataRecord::Topic { name: "t".into(), topic: TopicId(1) });
        image.replay(&MetadataRecord::Config {
            resource: ConfigResource::Topic(TopicId(1)),
            name: "min.insync.replicas".into(),
            value: Some(setup.min_isr.into()),
        });
        image.replay(&MetadataRecord::Partition { tp: T0, registration: partition });
        let config = Rc::new(NodeConfig::parse(&config_map(setup.config)).expect("valid"));
        let mut replicas = ReplicaManager::load(&mut node.ctx(), b(id), config, setup.version.rules());
        replicas.set_broker_epoch(broker_epoch(id));
        let conns = Connections::new(node.me, 0);
        let mut rig = Rig { node, image, replicas, conns, id, requests: 0 };
        rig.apply(&[T0]);
        rig
    }

    /// Broker 1 leads [`T0`] in epoch 5, ISR and replicas 1, 2, 3.
    pub fn leader(setup: Setup<'_>) -> Rig {
        Rig::new(1, setup, registration(&[1, 2, 3], &[1, 2, 3], Some(1), 5))
    }

    /// As above with `end` records, all of them below the high watermark, and both followers at the end.
    pub fn caught_up_leader(setup: Setup<'_>, end: usize) -> Rig {
        let log = log_of(&[(5, end)]);
        let mut rig = Rig::leader(Setup { log, checkpoint: end as Offset, ..setup });
        rig.fetch_of(2, end as Offset);
        rig.fetch_of(3, end as Offset);
        rig
    }

    /// Broker 2 follows broker 1 in epoch 5.
    pub fn follower(setup: Setup<'_>) -> Rig {
        Rig::new(2, setup, registration(&[1, 2, 3], &[1, 2, 3], Some(1), 5))
    }

    pub fn at(&mut self, ms: u64) -> &mut Rig {
        self.node.now = SimTime::ZERO + Dur::ms(ms);
        self
    }

    pub fn with<R>(&mut self, f: impl FnOnce(&mut ReplicaManager, &mut Ctx<'_>, &MetadataImage) -> R) -> R {
        f(&mut self.replicas, &mut self.node.ctx(), &self.image)
    }

    pub fn apply(&mut self, changed: &[Tp]) {
        let changed: Vec<(Tp, Seq)> = changed.iter().map(|tp| (*tp, Seq(0))).collect();
        self.with(|replicas, ctx, image| replicas.apply(ctx, image, &changed, &[]));
    }

    /// Replays a change of [`T0`] and applies it.
    pub fn change(&mut self, change: impl FnOnce(&mut PartitionChange)) {
        let mut record = PartitionChange::new(T0);
        change(&mut record);
        self.image.replay(&MetadataRecord::PartitionChange(record));
        self.apply(&[T0]);
    }

    pub fn fence(&mut self, broker: u32, fenced: bool) {
        self.image.replay(&MetadataRecord::BrokerRegistrationChange {
            broker: b(broker),
            epoch: broker_epoch(broker),
            fenced: Some(fenced),
            in_controlled_shutdown: false,
        });
        self.with(|replicas, ctx, image| replicas.apply(ctx, image, &[], &[]));
    }

    pub fn reply_to(&mut self, node: NodeId) -> ReplyTo {
        self.requests += 1;
        ReplyTo {
            conn: ConnId { client: node, server: self.node.me, channel: Channel::Client, generation: 1 },
            correlation: CorrelationId(self.requests),
        }
    }

    pub fn produce_batches(&mut self, acks: Acks, batches: Vec<(Tp, RecordBatch)>) -> Handled {
        let reply = self.reply_to(NodeId::Client(ClientId(1)));
        self.with(|replicas, ctx, image| {
            replicas.produce(
                ctx,
                image,
                ProduceRequest { acks, timeout: Dur::secs(30), batches, topics: ProducedTopics::ById },
                reply,
            )
        })
    }

    pub fn produce(&mut self, acks: Acks, count: usize) -> Handled {
        self.produce_batches(acks, alloc::vec![(T0, batch(count))])
    }

    pub fn fetch_request(&mut self, request: FetchRequest) -> Handled {
        let node = match request.fetcher {
            Fetcher::Follower { broker, .. } => NodeId::Broker(broker),
            Fetcher::Consumer { .. } => NodeId::Client(ClientId(9)),
        };
        let reply = self.reply_to(node);
        self.with(|replicas, ctx, image| replicas.fetch(ctx, image, request, reply))
    }

    /// A fetch of a follower whose log has the leader's latest epoch.
    pub fn fetch_of(&mut self, broker: u32, offset: Offset) -> Handled {
        let epoch = self.node.disk.log(T0).and_then(Log::latest_epoch).filter(|_| offset > 0);
        let current = self.view().leader_epoch;
        self.fetch_request(follower_fetch(broker, offset, epoch, Some(current.0)))
    }

    pub fn consume(&mut self, offset: Offset) -> Handled {
        self.fetch_request(consumer_fetch(offset, None))
    }

    pub fn list_latest(&mut self) -> ListedOffset {
        let request = ListOffsetsRequest {
            replica: None,
            isolation: Isolation::ReadUncommitted,
            partitions: alloc::vec![(T0, None, OffsetSpec::Latest)],
        };
        match self.with(|replicas, ctx, image| replicas.list_offsets(ctx, image, &request)) {
            PartitionResponse::ListOffsets { partitions } => partitions[0].clone(),
            other => panic!("{other:?}"),
        }
    }

    pub fn timer(&mut self, timer: BrokerTimer) {
        self.node.timers.cancel(&Timer::Broker(timer.clone()));
        self.with(|replicas, ctx, image| replicas.on_timer(ctx, image, &timer));
    }

    /// Fires the timers that are due.
    pub fn fire_due(&mut self) {
        while let Some((timer, _)) = self.node.timers.pop_due(self.node.now) {
            if let Timer::Broker(timer) = timer {
                self.with(|replicas, ctx, image| replicas.on_timer(ctx, image, &timer));
            }
        }
    }

    pub fn ready(&mut self) -> Vec<Response> {
        self.replicas.take_ready().into_iter().map(|(_, response)| response.into()).collect()
    }

    /// Sends what is due and returns the requests that left.
    pub fn drive(&mut self) -> Vec<(NodeId, Request)> {
        self.node.effects.clear();
        self.replicas.drive(&mut self.node.ctx(), &self.image, &mut self.conns, Some(CONTROLLER));
        let sent = self.node.effects.iter().filter_map(|effect| match effect {
            Effect::Send { conn, body: crate::node::Body::Request(request), .. } => {
                Some((conn.server, request.clone()))
            }
            Effect::Send { .. } | Effect::Close { .. } | Effect::Exit { .. } => None,
        });
        sent.collect()
    }

    /// The AlterPartition that left, if one did.
    pub fn alter(&mut self) -> Option<AlterPartitionItem> {
        self.drive().into_iter().find_map(|(_, request)| {
            if let Request::Controller(ControllerRequest::AlterPartition(request)) = request {
                request.partitions.into_iter().next()
            } else {
                None
            }
        })
    }

    /// Answers the AlterPartition in flight.
    pub fn altered(&mut self, error: ErrorCode, isr: &[u32], partition_epoch: i32) {
        let leader_epoch = self.view().leader_epoch;
        let partition = AlteredPartition {
            tp: T0,
            error,
            leader: Some(b(self.id)),
            leader_epoch,
            isr: ids(isr),
            partition_epoch: PartitionEpoch(partition_epoch),
            leader_recovery: LeaderRecoveryState::Recovered,
        };
        let response = Response::Controller(ControllerResponse::AlterPartition {
            error: ErrorCode::None,
            partitions: alloc::vec![partition],
        });
        self.completed(BrokerCall::AlterPartition { partitions: alloc::vec![T0] }, Outcome::Answer(response));
    }

    /// Ends a request as the shell does after it has taken it off the connection.
    pub fn completed(&mut self, call: BrokerCall, outcome: Outcome) {
        self.with(|replicas, ctx, image| replicas.on_completed(ctx, image, call, outcome));
    }

    /// The answer of broker 1 to the Fetch in flight.
    pub fn fetched(&mut self, partitions: Vec<FetchedPartition>) {
        self.completed(
            BrokerCall::ReplicaFetch { leader: b(1) },
            Outcome::Answer(Response::Partition(PartitionResponse::Fetch { partitions })),
        );
    }

    pub fn view(&self) -> ReplicaView<'_> {
        self.replicas.replica(T0).expect("hosted")
    }

    pub fn ends(&self) -> (Offset, Offset) {
        let view = self.view();
        (view.log_end, view.high_watermark)
    }

    pub fn noted(&self, wanted: impl Fn(&Kind) -> bool) -> usize {
        self.node.trace.iter().filter(|entry| wanted(&entry.kind)).count()
    }
}

pub fn follower_fetch(broker: u32, offset: Offset, last_epoch: Option<i32>, current: Option<i32>) -> FetchRequest {
    FetchRequest {
        fetcher: Fetcher::Follower { broker: b(broker), epoch: broker_epoch(broker) },
        max_wait: Dur::ms(500),
        min_bytes: 1,
        max_bytes: 10 << 20,
        partitions: alloc::vec![ask(offset, last_epoch, current)],
    }
}

pub fn consumer_fetch(offset: Offset, current: Option<i32>) -> FetchRequest {
    FetchRequest {
        fetcher: Fetcher::Consumer { isolation: Isolation::ReadUncommitted },
        max_wait: Dur::ms(500),
        min_bytes: 1,
        max_bytes: 50 << 20,
        partitions: alloc::vec![ask(offset, None, current)],
    }
}

pub fn ask(offset: Offset, last_epoch: Option<i32>, current: Option<i32>) -> FetchPartition {
    FetchPartition {
        tp: T0,
        current_leader_epoch: current.map(LeaderEpoch),
        fetch_offset: offset,
        last_fetched_epoch: last_epoch,
        log_start_offset: 0,
        max_bytes: 1 << 20,
    }
}

/// What an answer says of one partition.
pub fn answered(high_watermark: Offset, log_start: Offset, batches: Vec<RecordBatch>) -> FetchedPartition {
    FetchedPartition {
        tp: T0,
        error: ErrorCode::None,
        high_watermark,
        last_stable_offset: high_watermark,
        log_start_offset: log_start,
        diverging: None,
        current_leader: None,
        batches,
    }
}

/// The partitions of a fetch answer.
pub fn partitions_of(response: &Response) -> &[FetchedPartition] {
    match response {
        Response::Partition(PartitionResponse::Fetch { partitions }) => partitions,
        other => panic!("{other:?}"),
    }
}

/// The only partition of a fetch that was answered at once.
pub fn now(handled: Handled) -> FetchedPartition {
    match handled {
        Handled::Now(Some(response)) => partitions_of(&response)[0].clone(),
        other => panic!("{other:?}"),
    }
}

/// Error and base offset of the only result of a produce answer.
pub fn produced(response: &Response) -> (ErrorCode, Offset) {
    match response {
        Response::Partition(PartitionResponse::Produce { results }) => (results[0].error, results[0].base_offset),
        other => panic!("{other:?}"),
    }
}

/// As above, for one that was answered at once.
pub fn produced_now(handled: Handled) -> (ErrorCode, Offset) {
    match handled {
        Handled::Now(Some(response)) => produced(&response),
        other => panic!("{other:?}"),
    }
}

/// Offsets of the records in an answer.
pub fn offsets(fetched: &FetchedPartition) -> Vec<Offset> {
    fetched.batches.iter().flat_map(|batch| batch.base_offset..batch.next_offset()).collect()
}
