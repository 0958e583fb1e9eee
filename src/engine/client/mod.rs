//! Producer, consumer and admin client. They know of the cluster only what answers told them.

pub mod spec;

pub use spec::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};
