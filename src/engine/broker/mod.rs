//! A broker. It knows of the cluster only what its metadata log and messages told it.

pub mod call;

pub use call::{BrokerCall, ReplyTo};
