//! What a producer finds after its topic was deleted and made anew, by the versions of client and brokers. What is lost
//! with the old topic is not looked at.

use highwater_engine::base::Dur;
use highwater_engine::client::{ClientVersion, Keys, ProducerSpec};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::ErrorCode;
use highwater_engine::protocol::config::config_map;
use highwater_engine::rules::Version;
use highwater_engine::trace::Kind;
use highwater_engine::world::Action;

use super::cluster::{Cluster, setup};

/// Errors of the record that is produced right after the topic was made anew; it is acknowledged in the end.
fn errors(client: ClientVersion, brokers: Version) -> Vec<ErrorCode> {
    let mut setup = setup(3);
    setup.version = brokers;
    let mut c = Cluster::with(&setup);
    c.topic("t", 1);
    let spec = ProducerSpec {
        version: client,
        config: config_map(&[("linger.ms", "0")]),
        topic: None,
        partition: None,
        rate: 0,
        keys: Keys::None,
        value_size: 10,
    };
    c.act(Action::StartProducer { name: "p".into(), spec });
    c.produce("p", "t", "a", 1, Dur::ZERO);
    c.run(Dur::secs(2));
    assert_eq!(c.acked().len(), 1);
    assert_eq!(c.admin(AdminRequest::DeleteTopic { name: "t".into() }), ErrorCode::None);
    c.run(Dur::secs(1));
    c.topic("t", 1);
    c.run(Dur::secs(1));
    let from = c.trace.len();
    c.produce("p", "t", "b", 1, Dur::ZERO);
    assert!(c.until(Dur::secs(10), |c| c.acked().len() == 2), "{client:?} and {brokers:?}: it is acknowledged");
    let refused = |kind: &Kind| if let Kind::ProducerRetries { error, .. } = kind { Some(*error) } else { None };
    c.trace[from..].iter().filter_map(|e| refused(&e.kind)).collect()
}

#[test]
fn only_a_client_and_brokers_of_4_1_tell_a_topic_from_its_successor_of_the_same_name() {
    assert_eq!(errors(ClientVersion::V4_1, Version::V4_1), [ErrorCode::UnknownTopicId]);
    assert_eq!(errors(ClientVersion::V3_9, Version::V4_1), []);
    assert_eq!(errors(ClientVersion::V4_1, Version::V3_9), []);
    assert_eq!(errors(ClientVersion::V3_9, Version::V3_9), []);
}
