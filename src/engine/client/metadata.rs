//! What a client believes of the cluster: brokers, topics, leaders with epochs, and when it asks again. Never the
//! truth, only the last answer.
use alloc::rc::Rc;
use alloc::vec::Vec;

use super::config::{CommonConfig, sooner};
use super::net::{Net, NoNode};
use crate::base::{BrokerId, LeaderEpoch, Map, Set, SimTime, TopicId, Tp};
use crate::node::Ctx;
use crate::protocol::{BrokerRequest, ErrorCode, LeaderHint, MetadataRequest, MetadataResponse, Request};
use crate::trace::Kind;

/// A partition as the client knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KnownPartition {
    pub leader: Option<BrokerId>,
    pub epoch: LeaderEpoch,
    pub error: ErrorCode,
}

/// A topic as the client knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KnownTopic {
    pub id: TopicId,
    pub partitions: Vec<KnownPartition>,
}

/// The cache and its refreshes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Metadata {
    config: CommonConfig,
    bootstrap: Vec<BrokerId>,
    brokers: Vec<BrokerId>,
    topics: Map<Rc<str>, KnownTopic>,
    /// Of every topic that it ever knew: what a consumer owns has a name, whatever became of the topic.
    names: Map<TopicId, Rc<str>>,
    wanted: Set<Rc<str>>,
    /// Last error of topics that cannot be described.
    errors: Map<Rc<str>, ErrorCode>,
    allow_auto_create: bool,
    needed: bool,
    in_flight: bool,
    /// Refreshes in a row that failed.
    failures: u32,
    /// Answers in a row that taught nothing.
    equivalent: u32,
    not_before: SimTime,
    last_success: Option<SimTime>,
    /// Counts answers.
    pub version: u64,
}

impl Metadata {
    pub fn new(bootstrap: Vec<BrokerId>, config: CommonConfig, allow_auto_create: bool) -> Metadata {
        Metadata {
            config,
            brokers: bootstrap.clone(),
            bootstrap,
            topics: Map::new(),
            names: Map::new(),
            wanted: Set::new(),
            errors: Map::new(),
            allow_auto_create,
            needed: true,
            in_flight: false,
            failures: 0,
            equivalent: 0,
            not_before: SimTime::ZERO,
            last_success: None,
            version: 0,
        }
    }

    /// Brokers that may be asked.
    pub fn brokers(&self) -> &[BrokerId] {
        &self.brokers
    }
    pub fn topic(&self, name: &str) -> Option<&KnownTopic> {
        self.topics.get(name)
    }
    pub fn name_of(&self, topic: TopicId) -> Option<&Rc<str>> {
        self.names.get(&topic)
    }
    /// Why a topic is unknown.
    pub fn error_of(&self, name: &str) -> Option<ErrorCode> {
        self.errors.get(name).copied()
    }
    pub fn partition(&self, tp: Tp) -> Option<&KnownPartition> {
        let topic = self.topics.get(self.names.get(&tp.topic)?)?;
        topic.partitions.get(tp.partition as usize).filter(|_| topic.id == tp.topic)
    }
    pub fn tp(&self, name: &str, partition: u32) -> Option<Tp> {
        self.topics
            .get(name)
            .filter(|t| (partition as usize) < t.partitions.len())
            .map(|t| Tp { topic: t.id, partition })
    }
    pub fn leader(&self, tp: Tp) -> Option<BrokerId> {
        self.partition(tp).and_then(|p| p.leader)
    }
    /// Every leader that the client believes in.
    pub fn leaders(&self) -> impl Iterator<Item = (Tp, BrokerId)> {
        self.topics.values().flat_map(|t| {
            t.partitions
                .iter()
                .enumerate()
                .filter_map(|(i, p)| p.leader.map(|leader| (Tp { topic: t.id, partition: i as u32 }, leader)))
        })
    }

    /// The client needs this topic from now on.
    pub fn want(&mut self, topic: &Rc<str>) {
        if self.wanted.insert(topic.clone()) {
            self.needed = true;
            // A new topic is asked for at once, whatever the backoff.
            self.equivalent = 0;
            self.not_before = SimTime::ZERO;
        }
    }

    /// Something told the client that it may be wrong.
    pub fn request_update(&mut self) {
        self.needed = true;
    }

    /// The node to ask and the request, if a refresh is due and a node is ready.
    pub fn next_request<P: Clone>(&mut self, ctx: &mut Ctx<'_>, net: &mut Net<P>) -> Option<(BrokerId, Request)> {
        let aged = self.last_success.is_some_and(|at| at + self.config.metadata_max_age <= ctx.now);
        if self.in_flight || !(self.needed || aged) || self.not_before > ctx.now {
            return None;
        }
        if aged {
            self.equivalent = 0;
        }
        match net.least_loaded(ctx, &self.brokers) {
            Ok(broker) => {
                self.in_flight = true;
                self.needed = false;
                let topics = Some(self.wanted.iter().cloned().collect());
                Some((
                    broker,
                    Request::Broker(BrokerRequest::Metadata(MetadataRequest {
                        topics,
                        allow_auto_topic_creation: self.allow_auto_create,
                    })),
                ))
            }
            Err(NoNode::Connecting | NoNode::Busy) => None,
            Err(NoNode::AllDown) => {
                if self.config.rebootstrap && self.brokers != self.bootstrap {
                    self.brokers = self.bootstrap.clone();
                    self.needed = true;
                    return self.next_request(ctx, net);
                }
                None
            }
        }
    }

    /// The refresh failed: again after the backoff.
    pub fn on_failure(&mut self, ctx: &mut Ctx<'_>) {
        self.in_flight = false;
        self.needed = true;
        self.failures += 1;
        self.equivalent = 0;
        self.back_off(ctx);
    }

    /// A connection broke, perhaps because the metadata is old. While a refresh is due that counts as a failed one.
    pub fn on_disconnect(&mut self, ctx: &mut Ctx<'_>) {
        if !self.in_flight && self.is_wanted(ctx.now) && self.not_before <= ctx.now {
            return self.on_failure(ctx);
        }
        self.needed = true;
    }

    /// An update is due, and nobody has been asked yet.
    pub fn is_wanted(&self, now: SimTime) -> bool {
        self.needed || self.last_success.is_some_and(|at| at + self.config.metadata_max_age <= now)
    }

    /// The pause after a refresh: what failures ask for or what answers without news do, whichever is longer. The first
    /// answer without news asks for no more than one with news.
    fn back_off(&mut self, ctx: &mut Ctx<'_>) {
        let pauses = self.failures.max(self.equivalent).max(1);
        self.not_before = ctx.now + self.config.retry.after(pauses, ctx.rng);
    }

    /// An answer. Entries with an older leader epoch than the one known are ignored, unless the topic was made anew
    /// (section 8.1).
    pub fn on_answer(&mut self, ctx: &mut Ctx<'_>, answer: MetadataResponse) {
        self.in_flight = false;
        // What was asked for while the answer was on its way is answered too.
        self.needed = false;
        self.failures = 0;
        self.last_success = Some(ctx.now);
        self.version += 1;
        if !answer.brokers.is_empty() {
            self.brokers = answer.brokers;
        }
        let mut learned = false;
        for topic in answer.topics {
            let Some(id) =
                topic.topic.filter(|_| topic.error.is_none() || topic.error == ErrorCode::LeaderNotAvailable)
            else {
                if topic.error.refreshes_metadata() {
                    self.needed = true;
                }
                if topic.error == ErrorCode::UnknownTopicOrPartition {
                    self.topics.remove(&topic.name);
                }
                self.errors.insert(topic.name, topic.error);
                continue;
            };
            self.errors.remove(&topic.name);
            let old = self.topics.remove(&topic.name).filter(|old| old.id == id);
            let mut partitions = Vec::with_capacity(topic.partitions.len());
            for (index, new) in topic.partitions.into_iter().enumerate() {
                let known = old.as_ref().and_then(|old| old.partitions.get(index));
                if let Some(known) = known.filter(|known| known.epoch > new.leader_epoch) {
                    partitions.push(known.clone());
                    continue;
                }
                if new.error.refreshes_metadata() || new.leader.is_none() {
                    self.needed = true;
                }
                if known.is_none_or(|known| known.leader != new.leader || known.epoch != new.leader_epoch) {
                    learned = true;
                    if let Some(leader) =
                        new.leader.filter(|leader| known.is_none_or(|known| known.leader != Some(*leader)))
                    {
                        ctx.note(Kind::LeaderDiscovered { tp: Tp { topic: id, partition: index as u32 }, leader });
                    }
                }
                partitions.push(KnownPartition { leader: new.leader, epoch: new.leader_epoch, error: new.error });
            }
            self.names.insert(id, topic.name.clone());
            self.topics.insert(topic.name, KnownTopic { id, partitions });
        }
        self.equivalent = if learned { 0 } else { self.equivalent + 1 };
        self.back_off(ctx);
        if self.wanted.iter().any(|name| !self.topics.contains_key(name) && !self.errors.contains_key(name)) {
            // A topic that was wanted while the request was under way.
            self.needed = true;
            self.not_before = ctx.now;
        }
    }

    /// A newer leader that an error named (KIP-951). Whether it was news.
    pub fn on_hint(&mut self, ctx: &mut Ctx<'_>, tp: Tp, hint: LeaderHint) -> bool {
        let Some(name) = self.names.get(&tp.topic) else { return false };
        let topic = self.topics.get_mut(name).filter(|topic| topic.id == tp.topic);
        let Some(known) = topic.and_then(|topic| topic.partitions.get_mut(tp.partition as usize)) else {
            return false;
        };
        if !self.config.leader_hints || hint.epoch <= known.epoch {
            return false;
        }
        *known = KnownPartition { leader: Some(hint.leader), epoch: hint.epoch, error: ErrorCode::None };
        if !self.brokers.contains(&hint.leader) {
            self.brokers.push(hint.leader);
        }
        self.version += 1;
        ctx.note(Kind::LeaderDiscovered { tp, leader: hint.leader });
        true
    }

    /// When the next refresh is due, if it waits for time alone.
    pub fn wake(&self, now: SimTime) -> Option<SimTime> {
        if self.in_flight {
            return None;
        }
        let aged = self.last_success.map(|at| at + self.config.metadata_max_age);
        let wanted = self.needed.then_some(self.not_before);
        sooner(aged, wanted).filter(|at| *at > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{ClientId, Dur, NodeId};
    use crate::client::config::ProducerConfig;
    use crate::client::spec::ClientVersion;
    use crate::node::testing::TestNode;
    use crate::protocol::{ConfigMap, PartitionMetadata, TopicMetadata};

    fn fresh() -> (TestNode, Metadata) {
        let config = ProducerConfig::parse(ClientVersion::V4_1, &ConfigMap::new()).expect("defaults").common;
        let mut metadata = Metadata::new(alloc::vec![BrokerId(1)], config, true);
        metadata.want(&"t".into());
        (TestNode::new(NodeId::Client(ClientId(1))), metadata)
    }

    fn answer(id: u32, leader: u32, epoch: i32) -> MetadataResponse {
        let partition = PartitionMetadata {
            error: ErrorCode::None,
            leader: Some(BrokerId(leader)),
            leader_epoch: LeaderEpoch(epoch),
            replicas: Vec::new(),
            isr: Vec::new(),
        };
        let topic = TopicMetadata {
            error: ErrorCode::None,
            name: "t".into(),
            topic: Some(TopicId(id)),
            partitions: alloc::vec![partition],
        };
        MetadataResponse { brokers: alloc::vec![BrokerId(1), BrokerId(2)], topics: alloc::vec![topic] }
    }

    #[test]
    fn m_02_an_older_epoch_of_a_lagging_broker_is_ignored() {
        let (mut node, mut metadata) = fresh();
        let tp = Tp { topic: TopicId(4), partition: 0 };
        metadata.on_answer(&mut node.ctx(), answer(4, 2, 7));
        metadata.on_answer(&mut node.ctx(), answer(4, 1, 6));
        assert_eq!(metadata.leader(tp), Some(BrokerId(2)));
        metadata.on_answer(&mut node.ctx(), answer(4, 1, 7));
        assert_eq!(metadata.leader(tp), Some(BrokerId(1)));
    }

    #[test]
    fn m_03_a_topic_made_anew_begins_at_epoch_0() {
        let (mut node, mut metadata) = fresh();
        metadata.on_answer(&mut node.ctx(), answer(4, 2, 7));
        metadata.on_answer(&mut node.ctx(), answer(5, 1, 0));
        assert_eq!(metadata.tp("t", 0), Some(Tp { topic: TopicId(5), partition: 0 }));
        assert_eq!(metadata.leader(Tp { topic: TopicId(4), partition: 0 }), None);
        assert_eq!(metadata.leader(Tp { topic: TopicId(5), partition: 0 }), Some(BrokerId(1)));
    }

    #[test]
    fn a_topic_that_was_deleted_keeps_its_name_and_learns_nothing_of_its_successor() {
        let (mut node, mut metadata) = fresh();
        let old = Tp { topic: TopicId(4), partition: 0 };
        metadata.on_answer(&mut node.ctx(), answer(4, 2, 7));
        let mut gone = answer(4, 2, 7);
        gone.topics[0].error = ErrorCode::UnknownTopicOrPartition;
        gone.topics[0].topic = None;
        metadata.on_answer(&mut node.ctx(), gone);
        assert_eq!(metadata.name_of(TopicId(4)).map(|name| &**name), Some("t"));
        assert_eq!((metadata.topic("t"), metadata.partition(old)), (None, None));
        metadata.on_answer(&mut node.ctx(), answer(5, 1, 0));
        let hint = LeaderHint { leader: BrokerId(2), epoch: LeaderEpoch(8) };
        assert!(!metadata.on_hint(&mut node.ctx(), old, hint));
        assert_eq!(metadata.leader(Tp { topic: TopicId(5), partition: 0 }), Some(BrokerId(1)));
    }

    #[test]
    fn m_06_an_idle_client_asks_again_when_its_metadata_is_old() {
        let (mut node, mut metadata) = fresh();
        // The refresh that was asked for has been sent.
        (metadata.needed, metadata.in_flight) = (false, true);
        metadata.on_answer(&mut node.ctx(), answer(4, 2, 7));
        node.now = SimTime::ZERO + Dur::secs(1);
        assert_eq!(metadata.wake(node.now), Some(SimTime::ZERO + Dur::secs(300)));
    }

    #[test]
    fn the_second_answer_without_news_is_the_first_to_lengthen_the_pause() {
        let (mut node, mut metadata) = fresh();
        let mut pauses = Vec::new();
        for _ in 0..4 {
            metadata.on_answer(&mut node.ctx(), answer(4, 2, 7));
            pauses.push(metadata.not_before.since(node.now).as_ms());
            node.now = metadata.not_before;
        }
        let around = |pause: u64, span: u64| (span * 8 / 10..=span * 12 / 10).contains(&pause);
        assert!(around(pauses[0], 100) && around(pauses[1], 100), "{pauses:?}");
        assert!(around(pauses[2], 200) && around(pauses[3], 400), "{pauses:?}");
    }

    #[test]
    fn a_connection_that_breaks_while_a_refresh_is_due_counts_as_a_failed_one() {
        let (mut node, mut metadata) = fresh();
        for failures in 1..4 {
            node.now = metadata.not_before;
            metadata.on_disconnect(&mut node.ctx());
            assert_eq!(metadata.failures, failures);
            metadata.on_disconnect(&mut node.ctx());
            assert_eq!(metadata.failures, failures, "none is due within the pause");
        }
    }
}
