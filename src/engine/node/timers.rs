//! Timers as visible state: a table by a closed enum, each with its reason, so that the page can draw what everybody
//! waits for. Fires nothing by itself.
use alloc::rc::Rc;

use crate::base::{BrokerId, Map, NodeId, Seq, Set, SimTime, Tp};

use super::ConnId;

/// Everything that a process may wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The oldest request of a connection gets no answer in time.
    RequestTimeout(ConnId),
    /// The next request of a connection is read.
    Read(ConnId),
    Quorum(QuorumTimer),
    Controller(ControllerTimer),
    Broker(BrokerTimer),
    Group(GroupTimer),
    Client(ClientTimer),
}

/// Timers of the metadata quorum, on voters and observers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuorumTimer {
    /// Unattached, Prospective, Candidate or Resigned waits for an outcome.
    Election,
    /// A follower has not fetched from its leader for `controller.quorum.fetch.timeout.ms`.
    Fetch,
    /// A leader without fetches of a majority resigns (1.5 fetch time-outs).
    CheckQuorum,
    /// A leader repeats BeginQuorumEpoch to those that do not fetch.
    BeginQuorumEpoch,
    /// Next try to fetch after an error or without a known leader.
    FetchRetry,
    /// A parked fetch ends empty after its wait.
    ParkedFetch(NodeId),
    /// A losing candidate's backoff (to 3.9).
    Backoff,
}

/// Timers of the active controller.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControllerTimer {
    /// `broker.session.timeout.ms` of one broker (to 3.9).
    Session(BrokerId),
    /// Periodic look for expired sessions (4.0+).
    SessionCheck,
    /// A NoOp record when the log is idle.
    NoOp,
    PreferredBalance,
    UncleanBalance,
}

/// Timers of a broker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerTimer {
    Registration,
    /// Gives up after `initial.broker.registration.timeout.ms`.
    RegistrationLimit,
    Heartbeat,
    /// A broker in controlled shutdown stops even if nobody lets it.
    ShutdownLimit,
    /// The logs are loaded (a matter of the machine, not of a configuration).
    LogsLoaded,
    AlterPartitionRetry,
    /// The controller is told of the log directories of replicas.
    AssignDirectories,
    /// Forwarded requests are sent again.
    ForwardRetry,
    /// Looks for followers that lag (`replica.lag.time.max.ms` / 2).
    IsrExpiration,
    HighWatermarkCheckpoint,
    /// The fetcher to a leader tries again.
    FetcherBackoff(BrokerId),
    /// One partition of a fetcher rests after an error.
    PartitionBackoff(Tp),
    /// An acks=all request has waited for its time-out.
    ParkedProduce(u64),
    /// A parked fetch ends empty after its wait.
    ParkedFetch(u64),
    /// A DeleteRecords request has waited for its time-out.
    ParkedDeleteRecords(u64),
}

/// Timers of a group coordinator.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupTimer {
    Session {
        group: Rc<str>,
        member: Rc<str>,
    },
    /// The join phase ends.
    Join {
        group: Rc<str>,
    },
    /// Members that have not synced are removed.
    Sync {
        group: Rc<str>,
    },
    /// A write to `__consumer_offsets` has not reached the high watermark in `offsets.commit.timeout.ms`.
    Write(u64),
    /// Writes have been gathered for `group.coordinator.append.linger.ms`.
    Linger(u32),
    /// A member id that was handed out and not used.
    Pending {
        group: Rc<str>,
        member: Rc<str>,
    },
    /// The coordinator goes on loading a partition.
    Load(u32),
}

/// Timers of a client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClientTimer {
    /// The application produces its next record.
    NextRecord,
    /// The next record of a burst, by its number.
    Burst(u32),
    /// The sender looks at its queues again: linger, backoff or a deadline has passed.
    Sender,
    MetadataRefresh,
    /// A record waits for metadata (`max.block.ms`).
    Block,
    /// The application calls `poll`.
    Poll,
    Heartbeat,
    /// The application calls `commitAsync`, or auto-commit is due.
    Commit,
    CoordinatorRetry,
    /// `max.poll.interval.ms`.
    PollInterval,
    /// Next try of something that failed retriably.
    Retry,
    /// `close` has taken all the time that it was given.
    Close,
    /// An admin request: retry or time-out, by its action.
    Admin(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Armed {
    at: SimTime,
    cause: Seq,
}

/// The timer table of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timers {
    armed: Map<Timer, Armed>,
    order: Set<(SimTime, Timer)>,
}

impl Timers {
    pub fn set(&mut self, timer: Timer, at: SimTime, cause: Seq) {
        self.cancel(&timer);
        self.order.insert((at, timer.clone()));
        self.armed.insert(timer, Armed { at, cause });
    }

    pub fn cancel(&mut self, timer: &Timer) {
        if let Some(armed) = self.armed.remove(timer) {
            self.order.remove(&(armed.at, timer.clone()));
        }
    }

    pub fn due_at(&self, timer: &Timer) -> Option<SimTime> {
        self.armed.get(timer).map(|a| a.at)
    }

    /// When the next one fires.
    pub fn next_at(&self) -> Option<SimTime> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes the first timer that is due at `now`, with the entry that armed it.
    pub fn pop_due(&mut self, now: SimTime) -> Option<(Timer, Seq)> {
        if self.next_at()? > now {
            return None;
        }
        let (_, timer) = self.order.pop_first()?;
        let armed = self.armed.remove(&timer)?;
        Some((timer, armed.cause))
    }

    /// Everything that is awaited, soonest first.
    pub fn iter(&self) -> impl Iterator<Item = (SimTime, &Timer)> {
        self.order.iter().map(|(at, timer)| (*at, timer))
    }
}
