//! A broker: the shell that hands each event to the part that it concerns and sends what became ready. It knows of the
//! cluster only what its metadata log and messages told it.

mod apply;
pub mod assignments;
pub mod call;
mod commits;
mod configs;
pub mod forward;
pub mod group;
pub mod lifecycle;
pub mod metadata_api;
pub mod producer_ids;
pub mod replicas;
#[cfg(test)]
mod tests;

use alloc::rc::Rc;
use alloc::vec::Vec;

pub use call::{BrokerCall, ReplyTo};
pub use group::{GroupCoordinator, GroupView, MemberView};
pub use lifecycle::BrokerState;

use self::apply::{Delta, ReplicaLog};
use self::forward::Forwarder;
use self::lifecycle::{Lifecycle, Step};
use self::replicas::{Handled, ReplicaManager, ReplicaView};
use crate::base::{BrokerEpoch, BrokerId, ControllerId, Incarnation, LeaderEpoch, NodeId, Offset, TopicId, Tp};
use crate::metadata::MetadataImage;
use crate::node::inbox::Ready;
use crate::node::{BrokerTimer, Channel, Completed, Connections, Ctx, Event, Inbox, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{
    BrokerRequest, BrokerResponse, CONSUMER_OFFSETS, ClusterRequest, ClusterResponse, ErrorCode, GroupRequest,
    MetadataRequest, Request, Response,
};
use crate::quorum::Observer;
use crate::rules::Rules;

/// Connections of one incarnation are numbered from its number times this.
const CONNECTIONS_PER_INCARNATION: u32 = 1 << 16;

/// What a broker is started with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BrokerStart {
    pub id: BrokerId,
    pub incarnation: Incarnation,
    pub rack: Option<Rc<str>>,
    pub config: Rc<NodeConfig>,
    pub rules: Rules,
    pub voters: Vec<ControllerId>,
}

/// The process of a broker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Broker {
    id: BrokerId,
    config: Rc<NodeConfig>,
    rules: Rules,
    image: MetadataImage,
    /// Replayed into the image, not yet told to replicas and coordinators.
    delta: Delta,
    /// Id of `__consumer_offsets`, if this broker has seen it.
    offsets_topic: Option<TopicId>,
    conns: Connections<BrokerCall>,
    inbox: Inbox,
    observer: Observer,
    lifecycle: Lifecycle,
    forwarder: Forwarder,
    replicas: ReplicaManager,
    groups: GroupCoordinator,
    /// What of a commit that the coordinator works on is refused already.
    refused_commits: Vec<(ReplyTo, Vec<Tp>)>,
    /// The process has ended by itself; whatever else happens in this handler is nobody's.
    exited: bool,
}

impl Broker {
    pub fn start(ctx: &mut Ctx<'_>, start: BrokerStart) -> Broker {
        let BrokerStart { id, incarnation, rack, config, rules, voters } = start;
        let mut broker = Broker {
            id,
            config: config.clone(),
            rules,
            image: MetadataImage::default(),
            delta: Delta::default(),
            offsets_topic: None,
            conns: Connections::new(NodeId::Broker(id), incarnation.0.wrapping_mul(CONNECTIONS_PER_INCARNATION)),
            inbox: Inbox::default(),
            observer: Observer::new(voters, config.clone(), rules),
            lifecycle: Lifecycle::start(ctx, id, incarnation, rack, config.clone(), rules),
            forwarder: Forwarder::new(id),
            replicas: ReplicaManager::load(ctx, id, config.clone(), rules),
            groups: GroupCoordinator::new(config, rules),
            refused_commits: Vec::new(),
            exited: false,
        };
        broker.settle(ctx);
        broker
    }

    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match event {
            Event::Request { conn, correlation, body } => {
                if self.lifecycle.state() == BrokerState::Starting {
                    // The ports are not open yet: the connection is refused.
                    self.inbox.close(ctx, conn);
                } else if let Some(ready) = self.inbox.on_request(ctx, conn, correlation, body) {
                    self.serve(ctx, ready);
                }
            }
            Event::Response { conn, correlation, body } => {
                let completed = self.conns.on_response(ctx, conn, correlation, body);
                self.on_completed(ctx, completed);
            }
            Event::Disconnected { conn } if conn.client == NodeId::Broker(self.id) => {
                let completed = self.conns.on_disconnected(ctx, conn);
                self.on_completed(ctx, completed);
            }
            Event::Reset { conn } => self.inbox.on_reset(conn),
            Event::Disconnected { conn } => self.inbox.on_disconnected(ctx, conn),
            Event::Timer(timer) => self.on_timer(ctx, timer),
            Event::Shutdown => {
                let step = self.lifecycle.begin_shutdown(ctx);
                if self.lifecycle.state() == BrokerState::PendingControlledShutdown {
                    self.replicas.begin_controlled_shutdown();
                }
                self.follow(ctx, step);
            }
            // For clients only.
            Event::Connected { .. } | Event::Command(_) => {}
        }
        self.settle(ctx);
    }

    fn on_timer(&mut self, ctx: &mut Ctx<'_>, timer: Timer) {
        match timer {
            Timer::RequestTimeout(conn) => {
                let completed = self.conns.on_request_timeout(ctx, conn);
                self.on_completed(ctx, completed);
            }
            Timer::Read(conn) => {
                if let Some(ready) = self.inbox.read(ctx, conn) {
                    self.serve(ctx, ready);
                }
            }
            Timer::Quorum(timer) => self.observer.on_timer(ctx, &timer),
            Timer::Broker(timer) => self.on_broker_timer(ctx, &timer),
            Timer::Group(timer) => {
                self.with_groups(|groups, log, n_partitions| groups.on_timer(ctx, log, n_partitions, &timer))
            }
            Timer::Controller(_) | Timer::Client(_) => unreachable!("a broker arms no timers of other processes"),
        }
    }

    fn on_broker_timer(&mut self, ctx: &mut Ctx<'_>, timer: &BrokerTimer) {
        match timer {
            BrokerTimer::Registration
            | BrokerTimer::RegistrationLimit
            | BrokerTimer::Heartbeat
            | BrokerTimer::ShutdownLimit
            | BrokerTimer::LogsLoaded => {
                let step = self.lifecycle.on_timer(ctx, timer);
                self.follow(ctx, step);
            }
            BrokerTimer::ForwardRetry => self.forwarder.on_timer(),
            BrokerTimer::AssignDirectories => {
                let directory = ctx.disk.directory;
                self.forwarder.assign_directories(ctx.now, &self.image, directory);
            }
            BrokerTimer::IsrExpiration
            | BrokerTimer::HighWatermarkCheckpoint
            | BrokerTimer::FetcherBackoff(_)
            | BrokerTimer::PartitionBackoff(_)
            | BrokerTimer::ParkedProduce(_)
            | BrokerTimer::ParkedFetch(_)
            | BrokerTimer::ParkedDeleteRecords(_)
            | BrokerTimer::AlterPartitionRetry => self.replicas.on_timer(ctx, &self.image, timer),
        }
    }

    fn on_completed(&mut self, ctx: &mut Ctx<'_>, completed: impl IntoIterator<Item = Completed<BrokerCall>>) {
        for Completed { to: _, channel: _, token, outcome } in completed {
            match token {
                BrokerCall::ReplicaFetch { .. }
                | BrokerCall::ReplicaListOffsets { .. }
                | BrokerCall::AlterPartition { .. } => {
                    self.replicas.on_completed(ctx, &self.image, token, outcome);
                }
                BrokerCall::QuorumFetch => self.observer.on_outcome(ctx, outcome),
                BrokerCall::Registration | BrokerCall::Heartbeat { .. } => {
                    let step = self.lifecycle.on_outcome(ctx, &token, outcome);
                    self.follow(ctx, step);
                }
                BrokerCall::Forward { .. }
                | BrokerCall::AutoCreate
                | BrokerCall::AllocateProducerIds
                | BrokerCall::AssignReplicasToDirs => self.forwarder.on_outcome(ctx, outcome),
            }
        }
    }

    /// Does what the lifecycle asks for.
    fn follow(&mut self, ctx: &mut Ctx<'_>, step: Step) {
        match step {
            Step::Nothing => {}
            Step::Registered(epoch) => self.replicas.set_broker_epoch(epoch),
            Step::CaughtUp => self.publish_first(ctx),
            Step::ShutDown => {
                self.replicas.shutdown(ctx);
                ctx.disk.clean_shutdown = self.lifecycle.epoch();
                self.exit(ctx, true);
            }
            Step::GiveUp => self.exit(ctx, false),
        }
    }

    fn exit(&mut self, ctx: &mut Ctx<'_>, clean: bool) {
        self.exited = true;
        ctx.exit(clean);
    }

    /// Everything that follows from an event: metadata is applied, writes complete, answers go out, until nothing more
    /// happens; then requests are sent.
    fn settle(&mut self, ctx: &mut Ctx<'_>) {
        while !self.exited {
            let batches = self.observer.take_committed(ctx.disk);
            self.apply_committed(ctx, &batches);
            let moved = self.follow_high_watermarks(ctx);
            // What completed a parked request is the cause of its answer: an acknowledgement leads back to the fetch
            // that raised the high watermark.
            let parked = self.replicas.take_answers();
            let of_groups = self.groups.take_answers();
            let forwarded = self.forwarder.take_answers();
            if batches.is_empty() && !moved && of_groups.is_empty() && forwarded.is_empty() && parked.is_empty() {
                return self.send(ctx);
            }
            for answer in parked {
                ctx.caused_by(answer.cause, |ctx| self.answer(ctx, answer.reply, answer.response.into()));
            }
            for (reply, response) in of_groups {
                let response = self.with_refused_commits(reply, response);
                self.answer(ctx, reply, response.into());
            }
            for (reply, response) in forwarded {
                self.answer(ctx, reply, response);
            }
        }
    }

    fn answer(&mut self, ctx: &mut Ctx<'_>, reply: ReplyTo, response: Response) {
        self.inbox.answer(ctx, reply.conn, reply.correlation, response);
    }

    /// Tells coordinators of the high watermarks that moved. Returns whether one did.
    fn follow_high_watermarks(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let moved = self.replicas.take_high_watermarks();
        let topic = self.offsets_topic;
        for (tp, _) in moved.iter().filter(|(tp, _)| Some(tp.topic) == topic) {
            self.with_groups(|groups, log, _| groups.on_high_watermark(ctx, log, tp.partition));
        }
        !moved.is_empty()
    }

    fn send(&mut self, ctx: &mut Ctx<'_>) {
        if let Some((controller, request, timeout)) = self.observer.next_request(ctx, self.id) {
            self.conns.request(
                ctx,
                NodeId::Controller(controller),
                Channel::Quorum,
                request,
                timeout,
                BrokerCall::QuorumFetch,
            );
        }
        let controller = self.observer.leader();
        self.lifecycle.drive(ctx, &mut self.conns, controller, self.image.applied_to);
        self.forwarder.drive(ctx, &mut self.conns, controller);
        self.replicas.drive(ctx, &self.image, &mut self.conns, controller);
    }

    /// Works on a request, and on those that waited behind it on its connection as long as they get no answer.
    fn serve(&mut self, ctx: &mut Ctx<'_>, ready: Ready) {
        let mut next = Some(ready);
        while let Some(Ready { conn, correlation, body, cause }) = next {
            next = ctx.caused_by(cause, |ctx| match self.handle(ctx, ReplyTo { conn, correlation }, body) {
                Handled::Now(Some(response)) => {
                    self.inbox.answer(ctx, conn, correlation, response);
                    None
                }
                Handled::Now(None) => self.inbox.pass_over(ctx, conn, correlation),
                Handled::CloseConnection => {
                    self.inbox.close(ctx, conn);
                    None
                }
                Handled::Parked => None,
            });
        }
    }

    fn handle(&mut self, ctx: &mut Ctx<'_>, reply: ReplyTo, body: Request) -> Handled {
        match body {
            Request::Partition(request) => self.replicas.on_request(ctx, &self.image, request, reply),
            Request::Group(GroupRequest::OffsetCommit(request)) => self.on_offset_commit(ctx, request, reply),
            Request::Group(request) => self.on_group_request(ctx, request, reply),
            Request::Broker(request) => Handled::now(self.on_broker_request(ctx, request)),
            Request::Cluster(request) => self.on_cluster_request(ctx, request, reply),
            // For controllers alone: Kafka closes a connection on which a broker is asked for what it does not serve.
            Request::Controller(_) | Request::Quorum(_) => Handled::CloseConnection,
        }
    }

    fn on_broker_request(&mut self, ctx: &mut Ctx<'_>, request: BrokerRequest) -> BrokerResponse {
        match request {
            BrokerRequest::Metadata(request) => self.on_metadata(ctx, &request),
            BrokerRequest::DescribeTopicPartitions { topics } => {
                metadata_api::describe_topics(&self.image, topics.as_deref())
            }
            BrokerRequest::FindCoordinator { group } => self.on_find_coordinator(ctx, &group),
            BrokerRequest::InitProducerId => self.on_init_producer_id(ctx),
        }
    }

    /// Passes it on to the active controller, unless it is refused here.
    fn on_cluster_request(&mut self, ctx: &mut Ctx<'_>, request: ClusterRequest, reply: ReplyTo) -> Handled {
        if let ClusterRequest::IncrementalAlterConfigs { resource, configs } = &request
            && let Err(error) = configs::may_change(self.id, resource, configs)
        {
            return Handled::now(ClusterResponse::IncrementalAlterConfigs(error));
        }
        self.forwarder.forward(ctx, reply, request);
        Handled::Parked
    }

    fn on_metadata(&mut self, ctx: &mut Ctx<'_>, request: &MetadataRequest) -> BrokerResponse {
        let (response, missing) = metadata_api::metadata(&self.image, &self.config, request);
        for name in missing {
            self.forwarder.auto_create(ctx, metadata_api::auto_create_request(&name, &self.config));
        }
        response
    }

    fn on_find_coordinator(&mut self, ctx: &mut Ctx<'_>, group: &str) -> BrokerResponse {
        metadata_api::find_coordinator(&self.image, group).unwrap_or_else(|| {
            self.forwarder.auto_create(ctx, metadata_api::auto_create_request(&CONSUMER_OFFSETS.into(), &self.config));
            BrokerResponse::FindCoordinator { error: ErrorCode::CoordinatorNotAvailable, coordinator: None }
        })
    }

    fn on_init_producer_id(&mut self, ctx: &mut Ctx<'_>) -> BrokerResponse {
        let response = self.forwarder.producer_ids.init_producer_id();
        self.forwarder.fetch_producer_ids(ctx, self.lifecycle.epoch());
        response
    }

    fn on_group_request(&mut self, ctx: &mut Ctx<'_>, request: GroupRequest, reply: ReplyTo) -> Handled {
        self.with_groups(|groups, log, n_partitions| groups.on_request(ctx, log, n_partitions, request, reply));
        Handled::Parked
    }

    /// The coordinators with their log. Where the offsets topic is not known there is no partition, and every group's
    /// coordinator is somewhere else.
    fn with_groups(&mut self, f: impl FnOnce(&mut GroupCoordinator, &mut ReplicaLog<'_>, u32)) {
        let (topic, n_partitions) = metadata_api::offsets_topic(&self.image).unwrap_or_default();
        f(&mut self.groups, &mut ReplicaLog { replicas: &mut self.replicas, image: &self.image, topic }, n_partitions);
    }

    // What views read.

    pub fn id(&self) -> BrokerId {
        self.id
    }
    pub fn state(&self) -> BrokerState {
        self.lifecycle.state()
    }
    /// `None` until it is registered.
    pub fn epoch(&self) -> Option<BrokerEpoch> {
        self.lifecycle.epoch()
    }
    /// Fenced in its own view: what the last answered heartbeat said. A broker that is cut off goes on believing that
    /// it is not.
    pub fn is_fenced(&self) -> bool {
        self.lifecycle.is_fenced()
    }
    /// What it knows of the cluster, up to `applied_to`.
    pub fn image(&self) -> &MetadataImage {
        &self.image
    }
    /// The controller that it takes for the active one.
    pub fn controller(&self) -> Option<ControllerId> {
        self.observer.leader()
    }
    /// Its process serves and the controller lets it, as far as it knows.
    pub fn is_running(&self) -> bool {
        self.state() == BrokerState::Running && !self.is_fenced()
    }
    /// Its replicas in order of partitions.
    pub fn replicas(&self) -> impl Iterator<Item = (Tp, ReplicaView<'_>)> {
        self.replicas.replicas()
    }
    pub fn replica(&self, tp: Tp) -> Option<ReplicaView<'_>> {
        self.replicas.replica(tp)
    }
    /// The leader epoch in which it leads or follows a partition.
    pub fn leader_epoch(&self, tp: Tp) -> Option<LeaderEpoch> {
        self.replicas.leader_epoch(tp)
    }
    pub fn high_watermark(&self, tp: Tp) -> Option<Offset> {
        self.replicas.high_watermark(tp)
    }
    /// The groups that it coordinates.
    pub fn groups(&self) -> impl Iterator<Item = GroupView<'_>> {
        self.groups.groups()
    }
    pub fn coordinator(&self) -> &GroupCoordinator {
        &self.groups
    }
    pub fn forwarder(&self) -> &Forwarder {
        &self.forwarder
    }
    pub fn connections(&self) -> &Connections<BrokerCall> {
        &self.conns
    }
}
