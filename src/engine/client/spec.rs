//! What a client is started with: its version, Kafka configs and what its application does. Parsing of the configs is
//! in `config`.

use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::Dur;
use crate::protocol::ConfigMap;
use crate::protocol::config::Release;

/// Release of a client library whose behaviour differs (see the table of `poll` without a coordinator).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientVersion {
    /// 1.1: `poll(long)` only.
    V1_1,
    /// 2.0 to 2.4.
    V2_3,
    /// 2.5 to 2.8.
    V2_5,
    /// 3.x.
    V3_9,
    #[default]
    V4_1,
}

impl ClientVersion {
    pub const ALL: &'static [ClientVersion] =
        &[ClientVersion::V1_1, ClientVersion::V2_3, ClientVersion::V2_5, ClientVersion::V3_9, ClientVersion::V4_1];

    pub const fn name(self) -> &'static str {
        match self {
            ClientVersion::V1_1 => "1.1",
            ClientVersion::V2_3 => "2.3",
            ClientVersion::V2_5 => "2.5",
            ClientVersion::V3_9 => "3.9",
            ClientVersion::V4_1 => "4.1",
        }
    }

    /// The release by its number, as defaults are told apart.
    pub const fn release(self) -> Release {
        match self {
            ClientVersion::V1_1 => (1, 1),
            ClientVersion::V2_3 => (2, 3),
            ClientVersion::V2_5 => (2, 5),
            ClientVersion::V3_9 => (3, 9),
            ClientVersion::V4_1 => (4, 1),
        }
    }

    /// Any release of Java clients from 0.11 on, mapped to the one that behaves like it.
    pub fn parse(text: &str) -> Option<ClientVersion> {
        let mut parts = text.split('.').map(str::parse::<u32>);
        let major = parts.next()?.ok()?;
        let minor = parts.next().map_or(Some(0), Result::ok)?;
        match (major, minor) {
            (0, 11..) | (1, _) => Some(ClientVersion::V1_1),
            (2, 0..=4) => Some(ClientVersion::V2_3),
            (2, 5..) => Some(ClientVersion::V2_5),
            (3, _) => Some(ClientVersion::V3_9),
            (4, _) => Some(ClientVersion::V4_1),
            _ => None,
        }
    }
}

/// Which form of `poll` the application's loop calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PollForm {
    #[default]
    Duration,
    /// `poll(long)`: waits for a coordinator without end; removed in 4.0.
    Long,
}

/// Keys of the records that a producer makes at its steady rate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keys {
    #[default]
    None,
    /// Many keys in turn: k0, k1, …, k99.
    Even,
    /// Four of five records have the same key.
    Hot,
    /// These in turn.
    Listed(Vec<Rc<str>>),
}

/// A producer and its application.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProducerSpec {
    pub version: ClientVersion,
    /// Kafka's producer configs, unparsed.
    pub config: ConfigMap,
    /// Where the steady rate goes; `produce` commands name their own.
    pub topic: Option<Rc<str>>,
    pub partition: Option<u32>,
    /// Records per second, 0 for none.
    pub rate: u32,
    pub keys: Keys,
    /// Size of the values in bytes; they begin with the record's number.
    pub value_size: u32,
}

/// A consumer and its application: `poll` in a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConsumerSpec {
    pub version: ClientVersion,
    pub poll: PollForm,
    pub group: Rc<str>,
    pub topics: Vec<Rc<str>>,
    /// Kafka's consumer configs, unparsed.
    pub config: ConfigMap,
    /// From the start of one `poll`, which waits at most 200 ms, to the start of the next. One that takes longer is
    /// followed at once.
    pub poll_every: Dur,
    /// The application calls `commitAsync` at this pace; `None`: never.
    pub commit_every: Option<Dur>,
}
