//! A bench for tests of clients: brokers that answer from a table, die or freeze, with 1 ms each way. It is no model of
//! a broker.

use crate::base::{Map, Set};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use super::{Client, ClientKind, ClientStart, ConfigRefusal};
use crate::base::*;
use crate::node::ConnId;
use crate::node::message::{Body, ClientCommand, Direction, Effect, Event, Values};
use crate::node::testing::TestNode;
use crate::protocol::*;
use crate::trace::Kind;

/// What a broker makes of a request.
pub enum Reply {
    Answer(Response),
    /// The answer comes this much later.
    After(Dur, Response),
    Never,
}

#[derive(Default)]
pub struct FakePartition {
    pub leader: Option<BrokerId>,
    pub epoch: i32,
    pub start: Offset,
    pub log: Vec<RecordBatch>,
}

impl FakePartition {
    pub fn end(&self) -> Offset {
        self.log.last().map_or(self.start, RecordBatch::next_offset)
    }
    pub fn values(&self) -> Vec<Rc<str>> {
        self.log.iter().flat_map(|b| b.data().iter().map(|r| r.value.clone())).collect()
    }
}

type Hook = Box<dyn FnMut(BrokerId, &Request) -> Option<Reply>>;

pub struct Bench {
    pub node: TestNode,
    queue: Map<(SimTime, u64), Event>,
    arriving: Map<(SimTime, u64), (ConnId, CorrelationId, Request)>,
    parked: Map<(SimTime, u64), (ConnId, CorrelationId, Request)>,
    order: u64,
    pub down: Set<BrokerId>,
    pub frozen: Set<BrokerId>,
    closed: Set<ConnId>,
    open: Set<ConnId>,
    accepted: Set<ConnId>,
    pub topics: Map<Rc<str>, (TopicId, Vec<FakePartition>)>,
    pub coordinator: Result<BrokerId, ErrorCode>,
    pub committed: Map<Tp, OffsetAndMetadata>,
    pub generation: i32,
    pub requests: Vec<(SimTime, BrokerId, Request)>,
    pub hook: Option<Hook>,
    pub exited: bool,
}

pub const TP0: Tp = Tp { topic: TopicId(1), partition: 0 };

impl Bench {
    /// Three brokers and a topic `t` with these leaders.
    pub fn new(leaders: &[u32]) -> Bench {
        let partitions = leaders
            .iter()
            .map(|l| FakePartition { leader: (*l > 0).then_some(BrokerId(*l)), ..FakePartition::default() })
            .collect();
        Bench {
            node: TestNode::new(NodeId::Client(ClientId(7))),
            queue: Map::new(),
            arriving: Map::new(),
            parked: Map::new(),
            order: 0,
            down: Set::new(),
            frozen: Set::new(),
            closed: Set::new(),
            open: Set::new(),
            accepted: Set::new(),
            topics: Map::from([("t".into(), (TopicId(1), partitions))]),
            coordinator: Ok(BrokerId(1)),
            committed: Map::new(),
            generation: 0,
            requests: Vec::new(),
            hook: None,
            exited: false,
        }
    }

    pub fn start(&mut self, kind: ClientKind) -> Result<Client, ConfigRefusal> {
        let bootstrap = vec![BrokerId(1), BrokerId(2), BrokerId(3)];
        let client = Client::start(
            &mut self.node.ctx(),
            ClientStart {
                id: ClientId(7),
                name: "c".into(),
                incarnation: Incarnation(1),
                bootstrap,
                brokers_produce_by_id: true,
                kind,
            },
        )?;
        self.collect();
        Ok(client)
    }

    /// Connections that were ever accepted.
    pub fn connections(&self) -> usize {
        self.accepted.len()
    }

    pub fn partition(&mut self, index: usize) -> &mut FakePartition {
        &mut self.topics.get_mut("t").expect("topic t").1[index]
    }

    /// Records in a partition's log, as if others had produced them.
    pub fn fill(&mut self, index: usize, count: usize) {
        let partition = self.partition(index);
        for _ in 0..count {
            let records = [Record { tag: Tag(partition.end() as u64), key: None, value: "v".into() }];
            let (base_offset, epoch) = (partition.end(), partition.epoch);
            partition.log.push(RecordBatch {
                base_offset,
                epoch,
                producer: None,
                timestamp: SimTime::ZERO,
                payload: Payload::Data(records.into()),
                origin: Seq(0),
            });
        }
    }

    pub fn kill(&mut self, broker: u32) {
        self.down.insert(BrokerId(broker));
        let conns: Vec<ConnId> =
            self.open.iter().copied().filter(|c| c.server == NodeId::Broker(BrokerId(broker))).collect();
        for conn in conns {
            self.drop_connection(conn, Dur::ms(1));
        }
    }

    fn drop_connection(&mut self, conn: ConnId, after: Dur) {
        self.open.remove(&conn);
        self.closed.insert(conn);
        self.push(after, Event::Disconnected { conn });
    }

    fn push(&mut self, after: Dur, event: Event) {
        self.order += 1;
        self.queue.insert((self.node.now + after, self.order), event);
    }

    fn collect(&mut self) {
        for effect in core::mem::take(&mut self.node.effects) {
            match effect {
                Effect::Send {
                    conn, direction: Direction::Request, correlation, body: Body::Request(request), ..
                } => {
                    self.order += 1;
                    self.open.insert(conn);
                    self.arriving.insert((self.node.now + Dur::ms(1), self.order), (conn, correlation, request));
                }
                Effect::Send { .. } => panic!("clients send requests only"),
                Effect::Close { conn, .. } => {
                    self.open.remove(&conn);
                    self.closed.insert(conn);
                }
                Effect::Exit { clean, .. } => self.exited = clean,
            }
        }
    }

    pub fn send(&mut self, client: &mut Client, event: Event) {
        client.on_event(&mut self.node.ctx(), event);
        self.collect();
    }

    pub fn produce(
        &mut self,
        client: &mut Client,
        partition: Option<u32>,
        key: Option<&str>,
        prefix: &str,
        count: u32,
        every: Dur,
    ) {
        let command = ClientCommand::Produce {
            action: ActionId(1),
            topic: "t".into(),
            partition,
            key: key.map(Rc::from),
            values: Values::Numbered(prefix.into()),
            count,
            every,
            first_tag: Tag(1_000),
        };
        self.send(client, Event::Command(command));
    }

    /// Runs until a moment, in milliseconds since the start.
    pub fn run(&mut self, client: &mut Client, until_ms: u64) {
        let until = SimTime(until_ms * 1_000);
        while !self.exited {
            let next = [
                self.queue.keys().next().map(|k| k.0),
                self.arriving.keys().next().map(|k| k.0),
                self.parked.keys().next().map(|k| k.0),
                self.node.timers.next_at(),
            ];
            let Some(at) = next.into_iter().flatten().min().filter(|at| *at <= until) else { break };
            self.node.now = self.node.now.max(at);
            let now = self.node.now;
            if self.arriving.keys().next().is_some_and(|k| k.0 <= now) {
                let (_, (conn, correlation, request)) = self.arriving.pop_first().expect("there is one");
                self.serve(conn, correlation, request);
            } else if self.parked.keys().next().is_some_and(|k| k.0 <= now) {
                let (_, (conn, correlation, request)) = self.parked.pop_first().expect("there is one");
                if !self.closed.contains(&conn) {
                    let NodeId::Broker(broker) = conn.server else { continue };
                    let answer = self.fetch(broker, &request);
                    self.push(Dur::ms(1), Event::Response { conn, correlation, body: answer });
                }
            } else if self.queue.keys().next().is_some_and(|k| k.0 <= now) {
                let (_, event) = self.queue.pop_first().expect("there is one");
                if matches!(&event, Event::Response { conn, .. } if self.closed.contains(conn)) {
                    continue;
                }
                self.send(client, event);
            } else {
                let (timer, _) = self.node.timers.pop_due(now).expect("a timer is due");
                self.send(client, Event::Timer(timer));
            }
        }
        self.node.now = self.node.now.max(until);
    }

    fn serve(&mut self, conn: ConnId, correlation: CorrelationId, request: Request) {
        let NodeId::Broker(broker) = conn.server else { return };
        if self.closed.contains(&conn) {
            return;
        }
        if self.down.contains(&broker) {
            return self.drop_connection(conn, Dur::ZERO);
        }
        if self.accepted.insert(conn) {
            self.push(Dur::ZERO, Event::Connected { conn });
        }
        self.requests.push((self.node.now, broker, request.clone()));
        if self.frozen.contains(&broker) {
            return;
        }
        let mut hook = self.hook.take();
        let reply = hook.as_mut().and_then(|h| h(broker, &request));
        self.hook = hook;
        let reply = reply.unwrap_or_else(|| self.answer(broker, &request));
        match reply {
            Reply::Answer(body) => self.push(Dur::ms(1), Event::Response { conn, correlation, body }),
            Reply::After(span, body) => self.push(span, Event::Response { conn, correlation, body }),
            Reply::Never => {
                if matches!(request, Request::Partition(PartitionRequest::Fetch(_))) {
                    self.order += 1;
                    self.parked.insert((self.node.now + Dur::ms(500), self.order), (conn, correlation, request));
                }
            }
        }
    }

    fn fetch(&self, broker: BrokerId, request: &Request) -> Response {
        let Request::Partition(PartitionRequest::Fetch(fetch)) = request else { panic!("a parked fetch") };
        let partitions = fetch.partitions.iter().map(|p| {
            let partition =
                &self.topics.values().find(|t| t.0 == p.tp.topic).expect("topic").1[p.tp.partition as usize];
            let error = if partition.leader != Some(broker) {
                ErrorCode::NotLeaderOrFollower
            } else if p.fetch_offset < partition.start || p.fetch_offset > partition.end() {
                ErrorCode::OffsetOutOfRange
            } else {
                ErrorCode::None
            };
            let batches = if error.is_none() {
                partition.log.iter().filter(|b| b.next_offset() > p.fetch_offset).cloned().collect()
            } else {
                Vec::new()
            };
            FetchedPartition {
                tp: p.tp,
                error,
                high_watermark: partition.end(),
                last_stable_offset: partition.end(),
                log_start_offset: partition.start,
                diverging: None,
                current_leader: None,
                batches,
            }
        });
        Response::Partition(PartitionResponse::Fetch { partitions: partitions.collect() })
    }

    fn metadata(&self, topics: &Option<Vec<Rc<str>>>) -> Response {
        let brokers = (1..=3).map(BrokerId).filter(|b| !self.down.contains(b)).collect();
        let describe = |name: &Rc<str>| match self.topics.get(name) {
            None => TopicMetadata {
                error: ErrorCode::UnknownTopicOrPartition,
                name: name.clone(),
                topic: None,
                partitions: vec![],
            },
            Some((id, partitions)) => TopicMetadata {
                error: ErrorCode::None,
                name: name.clone(),
                topic: Some(*id),
                partitions: partitions
                    .iter()
                    .map(|p| PartitionMetadata {
                        error: if p.leader.is_some() { ErrorCode::None } else { ErrorCode::LeaderNotAvailable },
                        leader: p.leader,
                        leader_epoch: LeaderEpoch(p.epoch),
                        replicas: vec![],
                        isr: vec![],
                    })
                    .collect(),
            },
        };
        let names: Vec<Rc<str>> = topics.clone().unwrap_or_else(|| self.topics.keys().cloned().collect());
        Response::Broker(BrokerResponse::Metadata(MetadataResponse {
            brokers,
            topics: names.iter().map(describe).collect(),
        }))
    }

    fn answer(&mut self, broker: BrokerId, request: &Request) -> Reply {
        Reply::Answer(match request {
            Request::Broker(BrokerRequest::Metadata(m)) => self.metadata(&m.topics),
            Request::Broker(BrokerRequest::InitProducerId) => Response::Broker(BrokerResponse::InitProducerId {
                error: ErrorCode::None,
                id: ProducerId(1_000),
                epoch: ProducerEpoch(0),
            }),
            Request::Partition(PartitionRequest::Produce(produce)) => {
                let mut results = Vec::new();
                for (tp, batch) in &produce.batches {
                    let partition = &mut self.topics.values_mut().find(|t| t.0 == tp.topic).expect("topic").1
                        [tp.partition as usize];
                    if partition.leader != Some(broker) {
                        results.push(ProduceResult {
                            tp: *tp,
                            error: ErrorCode::NotLeaderOrFollower,
                            base_offset: -1,
                            current_leader: None,
                        });
                        continue;
                    }
                    let base_offset = partition.end();
                    partition.log.push(RecordBatch { base_offset, epoch: partition.epoch, ..batch.clone() });
                    results.push(ProduceResult { tp: *tp, error: ErrorCode::None, base_offset, current_leader: None });
                }
                if produce.acks == Acks::Zero {
                    return Reply::Never;
                }
                Response::Partition(PartitionResponse::Produce { results })
            }
            Request::Partition(PartitionRequest::Fetch(_)) => {
                let answer = self.fetch(broker, request);
                let Response::Partition(PartitionResponse::Fetch { partitions }) = &answer else { panic!("a fetch") };
                if partitions.iter().all(|p| p.error.is_none() && p.batches.is_empty()) {
                    return Reply::Never;
                }
                answer
            }
            Request::Broker(BrokerRequest::FindCoordinator { .. }) => match self.coordinator {
                Ok(broker) => Response::Broker(BrokerResponse::FindCoordinator {
                    error: ErrorCode::None,
                    coordinator: Some(broker),
                }),
                Err(error) => Response::Broker(BrokerResponse::FindCoordinator { error, coordinator: None }),
            },
            Request::Group(GroupRequest::JoinGroup(join)) => {
                let refused = join.member_id.is_empty() && join.knows_member_id_required && join.instance_id.is_none();
                if !refused {
                    self.generation += 1;
                }
                let member: Rc<str> = "c-1".into();
                Response::Group(GroupResponse::JoinGroup(JoinGroupResponse {
                    error: if refused { ErrorCode::MemberIdRequired } else { ErrorCode::None },
                    generation: GenerationId(self.generation),
                    protocol: Some("range".into()),
                    leader: member.clone(),
                    member_id: member.clone(),
                    members: vec![(member, None, join.protocols[0].1.clone())],
                }))
            }
            Request::Group(GroupRequest::SyncGroup(sync)) => Response::Group(GroupResponse::SyncGroup {
                error: ErrorCode::None,
                assignment: sync.assignments.iter().flat_map(|(_, a)| a.clone()).collect(),
            }),
            Request::Group(GroupRequest::Heartbeat(_)) => {
                Response::Group(GroupResponse::Heartbeat { error: ErrorCode::None })
            }
            Request::Group(GroupRequest::LeaveGroup(_)) => {
                Response::Group(GroupResponse::LeaveGroup { error: ErrorCode::None })
            }
            Request::Group(GroupRequest::OffsetCommit(commit)) => {
                self.committed.extend(commit.offsets.iter().copied());
                Response::Group(GroupResponse::OffsetCommit {
                    results: commit.offsets.iter().map(|(tp, _)| (*tp, ErrorCode::None)).collect(),
                })
            }
            Request::Group(GroupRequest::OffsetFetch { .. }) => Response::Group(GroupResponse::OffsetFetch {
                error: ErrorCode::None,
                offsets: self.committed.iter().map(|(tp, o)| (*tp, *o)).collect(),
            }),
            Request::Partition(PartitionRequest::ListOffsets(list)) => {
                let listed = list.partitions.iter().map(|(tp, _, spec)| {
                    let partition = self.partition(tp.partition as usize);
                    let offset = if *spec == OffsetSpec::Earliest { partition.start } else { partition.end() };
                    let error =
                        if partition.leader == Some(broker) { ErrorCode::None } else { ErrorCode::NotLeaderOrFollower };
                    ListedOffset { tp: *tp, error, offset, leader_epoch: Some(LeaderEpoch(partition.epoch)) }
                });
                Response::Partition(PartitionResponse::ListOffsets { partitions: listed.collect() })
            }
            Request::Partition(PartitionRequest::OffsetForLeaderEpoch { tp, epoch, .. }) => {
                let partition = self.partition(tp.partition as usize);
                Response::Partition(PartitionResponse::OffsetForLeaderEpoch {
                    tp: *tp,
                    error: ErrorCode::None,
                    end: Some(EpochEnd { epoch: *epoch, end_offset: partition.end() }),
                })
            }
            Request::Broker(BrokerRequest::DescribeTopicPartitions { .. }) => {
                Response::Broker(BrokerResponse::DescribeTopicPartitions { topics: vec![] })
            }
            other => panic!("no test asks for {other:?}"),
        })
    }

    // What was seen.

    pub fn notes(&self) -> impl Iterator<Item = (SimTime, &Kind)> {
        self.node.trace.iter().map(|e| (e.at, &e.kind))
    }
    pub fn count(&self, what: impl Fn(&Kind) -> bool) -> usize {
        self.notes().filter(|(_, k)| what(k)).count()
    }
    pub fn delivered(&self) -> usize {
        self.count(|k| matches!(k, Kind::RecordDelivered { .. }))
    }
    /// Offset of each acknowledged record by its number.
    pub fn acked(&self) -> Vec<(u64, Offset)> {
        self.notes()
            .filter_map(|(_, k)| {
                if let Kind::RecordAcked { tag, offset, .. } = k { Some((tag.0 - 1_000, *offset)) } else { None }
            })
            .collect()
    }
    /// Failed records: when, in milliseconds, and with what.
    pub fn failed(&self) -> Vec<(u64, &'static str)> {
        self.notes()
            .filter_map(|(at, k)| {
                if let Kind::RecordFailed { exception, .. } = k { Some((at.0 / 1_000, *exception)) } else { None }
            })
            .collect()
    }
    pub fn produced(&self) -> impl Iterator<Item = (SimTime, BrokerId, &ProduceRequest)> {
        self.requests.iter().filter_map(|(at, broker, r)| {
            if let Request::Partition(PartitionRequest::Produce(p)) = r { Some((*at, *broker, p)) } else { None }
        })
    }
}
