//! A scenario as data, with every default filled in. It says nothing about how it is written or run.

use highwater_engine::base::{Dur, Map};
use highwater_engine::client::{Keys, PollForm};
use highwater_engine::protocol::Api;
use highwater_engine::rules::Version;
pub use highwater_engine::world::Deed;
use highwater_engine::world::LinkSetup;

use super::shown::shown;
pub use super::storyboard::{BrokerIs, Choice, Expect, Question};
pub use super::unit::Moment;

/// Version of the format that this reader knows.
pub const FORMAT: u32 = 1;
/// Version of the simulated behaviour.
pub const ENGINE: u32 = 1;

/// Kafka's keys with their values as Kafka parses them.
pub type Config = Map<String, String>;

/// A scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Version of the behaviour that it was checked against, if the author said so.
    pub engine: Option<u32>,
    pub id: Option<String>,
    pub lang: Option<String>,
    pub title: Option<Words>,
    pub about: Option<Words>,
    pub rules: Version,
    pub seed: u64,
    pub cluster: Cluster,
    /// In the author's order, which is the order of the columns.
    pub topics: Vec<(String, Topic)>,
    pub producers: Vec<(String, Producer)>,
    pub groups: Vec<(String, Group)>,
    pub script: Vec<Entry>,
}

/// Prose: in the file's language, or in several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Words {
    Plain(String),
    /// Language and text, in the author's order.
    Languages(Vec<(String, String)>),
}

impl Words {
    /// The text in a language, else the first one, as it may be shown.
    pub fn of(&self, lang: &str) -> String {
        shown(match self {
            Words::Plain(text) => text,
            Words::Languages(texts) => {
                // `zh-Hans` reads what is written in `zh`.
                let family = |tag: &str| tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
                let exact = texts.iter().find(|(name, _)| name == lang);
                let near = || texts.iter().find(|(name, _)| family(name) == family(lang));
                exact.or_else(near).or(texts.first()).map_or("", |(_, text)| text)
            }
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    pub controllers: u32,
    pub brokers: Map<u32, Broker>,
    pub config: Config,
    pub link: LinkSetup,
    pub links: Vec<LinkEntry>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Broker {
    pub rack: Option<String>,
    /// When its process first starts; 0: it runs when the run begins.
    pub start: Dur,
}

/// Links that differ from the default from the beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkEntry {
    pub between: Nodes,
    pub and: Nodes,
    pub change: LinkChange,
}

/// What a link is changed to; `None` leaves it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkChange {
    pub latency: Option<Dur>,
    pub jitter: Option<Dur>,
    pub loss_per_million: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topic {
    pub placement: Placement,
    pub config: Config,
    pub created: Dur,
}

/// Where the replicas of a topic go. `None` is the broker's own default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    Counts { partitions: Option<u32>, replication: Option<u32> },
    Replicas(Map<u32, Vec<u32>>),
}

impl Default for Placement {
    fn default() -> Self {
        Placement::Counts { partitions: None, replication: None }
    }
}

impl Placement {
    /// Number of partitions, as far as it is said.
    pub fn partitions(&self) -> Option<u32> {
        match self {
            Placement::Counts { partitions, .. } => *partitions,
            Placement::Replicas(replicas) => Some(replicas.len() as u32),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// Release of its client library, as written.
    pub client: String,
    pub topic: Option<String>,
    pub partition: Option<u32>,
    /// Records per second.
    pub rate: u32,
    pub keys: Keys,
    /// Bytes.
    pub value_size: u32,
    /// `None`: one second after its topic was asked for.
    pub start: Option<Dur>,
    pub stop: Option<Dur>,
    pub config: Config,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub topics: Vec<String>,
    pub members: Vec<(String, Member)>,
    pub client: String,
    pub poll: PollForm,
    pub config: Config,
}

/// A member; what it does not say itself its group says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// `None`: one second after its topics were asked for.
    pub start: Option<Dur>,
    pub client: Option<String>,
    pub poll: Option<PollForm>,
    pub config: Config,
}

/// One entry of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub at: At,
    pub actions: Vec<Verb>,
    /// What must be so for what is said and asked here.
    pub expect: Expect,
    pub checkpoint: Option<String>,
    /// What the author says from here on.
    pub say: Option<Words>,
    pub ask: Option<Question>,
    pub note: Option<String>,
}

impl Entry {
    /// An entry that does something and says nothing.
    pub fn doing(at: At, actions: Vec<Verb>) -> Entry {
        Entry { at, actions, expect: Expect::default(), checkpoint: None, say: None, ask: None, note: None }
    }
}

/// When an entry's turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// With what went before in the script.
    WithPrevious,
    Absolute(Moment),
    /// After the entry before it.
    After(Dur),
}

/// Nodes of one action, at least one.
pub type Nodes = Vec<Node>;

/// A node by name or by role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Broker(u32),
    Controller(u32),
    Client(String),
    ActiveController,
    LeaderOf(Partition),
    CoordinatorOf(String),
}

/// `orders/0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    pub topic: String,
    pub partition: u32,
}

/// What a config belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Topic(String),
    Broker(u32),
    Cluster,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    Kill(Nodes),
    Stop(Nodes),
    Start(Nodes),
    Restart(Nodes),
    Pause(Nodes),
    Resume(Nodes),
    LoseDisk(Nodes),
    Cut(Sides),
    /// `None`: everything.
    Heal(Option<Sides>),
    Link(LinkEntry),
    CreateTopic {
        name: String,
        topic: Topic,
    },
    AddPartitions {
        topic: String,
        to: u32,
    },
    DeleteTopic(String),
    DeleteRecords {
        partition: Partition,
        before: u64,
    },
    SetConfig {
        target: Target,
        config: Config,
    },
    ElectLeaders {
        unclean: bool,
        partition: Partition,
    },
    Produce(Produce),
    StartClient {
        name: String,
        producer: Producer,
    },
    SetClient {
        name: String,
        rate: Option<u32>,
        config: Config,
    },
    StopClient(String),
    KillClient(String),
    PauseClient {
        member: String,
        span: Dur,
    },
    Join(Join),
    Leave(String),
    Seek {
        member: String,
        to: Vec<(Partition, u64)>,
    },
    Commit(String),
    /// Something done to one message.
    Message {
        which: Which,
        deed: Deed,
    },
    /// Lets a held message go on, by the name of its hold.
    Release(String),
}

/// One message: the `nth` that matches, of those on their way or held, in order of arrival, and then of those that are
/// sent from then on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Which {
    pub api: Api,
    pub response: bool,
    /// `None`: from anybody.
    pub from: Option<Node>,
    pub to: Option<Node>,
    pub nth: u32,
}

/// Two sets of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sides {
    pub from: Nodes,
    pub to: Nodes,
    pub both: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Produce {
    pub client: String,
    /// `None`: the client's own topic.
    pub topic: Option<String>,
    pub partition: Option<u32>,
    pub key: Option<String>,
    pub value: Option<String>,
    pub count: u32,
    pub every: Dur,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    pub member: String,
    pub group: String,
    /// `None`: those of the group.
    pub topics: Option<Vec<String>>,
    pub client: Option<String>,
    pub poll: Option<PollForm>,
    pub config: Config,
}

impl Default for Producer {
    fn default() -> Self {
        Producer {
            client: newest_client(),
            topic: None,
            partition: None,
            rate: 5,
            keys: Keys::None,
            value_size: 100,
            start: None,
            stop: None,
            config: Config::new(),
        }
    }
}

impl Default for Group {
    fn default() -> Self {
        Group {
            topics: Vec::new(),
            members: Vec::new(),
            client: newest_client(),
            poll: PollForm::Duration,
            config: Config::new(),
        }
    }
}

/// The newest client release.
pub fn newest_client() -> String {
    highwater_engine::client::ClientVersion::default().name().into()
}

/// Brokers 1 to n that run from the beginning.
pub fn plain_brokers(count: u32) -> Map<u32, Broker> {
    Map::from_iter((1..=count).map(|id| (id, Broker::default())))
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster {
            controllers: 3,
            brokers: plain_brokers(3),
            config: Config::new(),
            link: LinkSetup::default(),
            links: Vec::new(),
        }
    }
}

impl Cluster {
    /// The topic that is there when the scenario names none.
    pub fn default_topics(&self) -> Vec<(String, Topic)> {
        let replication = Some((self.brokers.len() as u32).min(3));
        vec![(
            "orders".into(),
            Topic { placement: Placement::Counts { partitions: Some(6), replication }, ..Topic::default() },
        )]
    }
}

/// The producers that are there when the scenario names none.
pub fn default_producers(topics: &[(String, Topic)]) -> Vec<(String, Producer)> {
    topics
        .first()
        .map(|(topic, _)| ("checkout".into(), Producer { topic: Some(topic.clone()), ..Producer::default() }))
        .into_iter()
        .collect()
}

/// The groups that are there when the scenario names none.
pub fn default_groups(topics: &[(String, Topic)]) -> Vec<(String, Group)> {
    let members = ["b1", "b2"].map(|name| (name.to_string(), Member::default())).into();
    topics
        .first()
        .map(|(topic, _)| ("billing".into(), Group { topics: vec![topic.clone()], members, ..Group::default() }))
        .into_iter()
        .collect()
}

impl Default for Scenario {
    fn default() -> Self {
        let cluster = Cluster::default();
        let topics = cluster.default_topics();
        Scenario {
            engine: None,
            id: None,
            lang: None,
            title: None,
            about: None,
            rules: Version::default(),
            seed: 1,
            producers: default_producers(&topics),
            groups: default_groups(&topics),
            cluster,
            topics,
            script: Vec::new(),
        }
    }
}
