//! Tests of the parts of a broker's shell, each alone on a bare node. No other process is simulated here.

mod commits;
mod forward;
mod lifecycle;
mod metadata;
mod shell;

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{
    BrokerEpoch, BrokerId, ControllerId, Dur, Incarnation, LeaderEpoch, NodeId, PartitionEpoch, TopicId, Tp,
};
use crate::metadata::MetadataImage;
use crate::node::testing::TestNode;
use crate::node::{Body, Direction, Effect};
use crate::protocol::config::{NodeConfig, config_map};
use crate::protocol::{LeaderRecoveryState, MetadataRecord, PartitionRegistration, Request};

const ME: BrokerId = BrokerId(1);
const CONTROLLER: Option<ControllerId> = Some(ControllerId(7));

fn node() -> TestNode {
    TestNode::new(NodeId::Broker(ME))
}

fn config(pairs: &[(&str, &str)]) -> Rc<NodeConfig> {
    Rc::new(NodeConfig::parse(&config_map(pairs)).expect("the config is valid"))
}

/// Requests that were sent since last asked, in order.
fn sent(node: &mut TestNode) -> Vec<Request> {
    let request = |effect| match effect {
        Effect::Send { direction: Direction::Request, body: Body::Request(body), .. } => Some(body),
        Effect::Send { .. } | Effect::Close { .. } | Effect::Exit { .. } => None,
    };
    node.effects.drain(..).filter_map(request).collect()
}

/// A cluster of registered brokers; the ones listed as fenced are.
fn image(brokers: &[u32], fenced: &[u32]) -> MetadataImage {
    let mut image = MetadataImage::default();
    for id in brokers {
        let (broker, epoch) = (BrokerId(*id), BrokerEpoch(i64::from(*id)));
        image.replay(&MetadataRecord::RegisterBroker {
            broker,
            incarnation: Incarnation(1),
            rack: None,
            directory: 0,
            epoch,
        });
        if !fenced.contains(id) {
            image.replay(&MetadataRecord::BrokerRegistrationChange {
                broker,
                epoch,
                fenced: Some(false),
                in_controlled_shutdown: false,
            });
        }
    }
    image
}

/// Adds a topic whose partitions have these replicas, led by the first.
fn add_topic(image: &mut MetadataImage, id: u32, name: &str, replicas: &[&[u32]]) {
    let topic = TopicId(id);
    image.replay(&MetadataRecord::Topic { name: name.into(), topic });
    for (partition, replicas) in replicas.iter().enumerate() {
        let replicas: Vec<BrokerId> = replicas.iter().map(|id| BrokerId(*id)).collect();
        let registration = PartitionRegistration {
            isr: replicas.clone(),
            leader: replicas.first().copied(),
            replicas,
            directories: Vec::new(),
            elr: Vec::new(),
            last_known_elr: Vec::new(),
            leader_recovery: LeaderRecoveryState::Recovered,
            leader_epoch: LeaderEpoch(0),
            partition_epoch: PartitionEpoch(0),
        };
        image.replay(&MetadataRecord::Partition { tp: Tp { topic, partition: partition as u32 }, registration });
    }
}

fn ms(span: u64) -> Dur {
    Dur::ms(span)
}
