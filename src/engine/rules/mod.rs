//! What differs by Kafka version, as named switches, and the presets made of them. Nothing here acts.

use crate::base::Dur;
use crate::protocol::config::Release;

/// How a broker's session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FencingCheck {
    /// A timer at last contact + session (to 3.9).
    Timer,
    /// A run every session/8, one broker a run, the next run 10 ms after one that fenced (4.0+).
    Periodic,
}

/// How a refused registration or a failed heartbeat is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LifecycleRetry {
    /// 100 ms · 2^k with 2 % jitter, at most the session (to 3.9).
    Exponential,
    /// Every `broker.heartbeat.interval.ms` (4.1).
    Fixed,
}

/// When KRaft elects uncleanly because the configuration allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UncleanByConfig {
    /// The setting is not read (KAFKA-12670, before 3.9).
    Ignored,
    /// At events, and by a run that starts 300 s after the first event that finds a partition leaderless (3.9).
    RunAfterLoss,
    /// At events, and by a run every 300 s of the active controller (4.1).
    RunPeriodic,
}

/// Which coordinator serves groups (KIP-848's runtime or the older one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CoordinatorKind {
    /// Appends as acks=all with the min-ISR admission test, memory changes after the write.
    Old,
    /// Memory changes at once, appends as acks=1, answers when the high watermark passes (4.0+).
    New,
}

/// Rules broken on purpose, so that a test can see the checks notice. No release has any of them; each is read at one
/// place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Broken {
    /// A leader's high watermark is its log end, whatever its followers have.
    pub high_watermark_ignores_followers: bool,
    /// A replica need not be in the ISR to be elected, and the election counts as clean.
    pub elects_outside_isr: bool,
    /// A voter grants the vote of one epoch to everyone who asks.
    pub votes_twice: bool,
    /// Sequences of producers are not looked at before an append.
    pub appends_without_sequence_check: bool,
}

impl Broken {
    /// Everything as in Kafka.
    pub const NOTHING: Broken = Broken {
        high_watermark_ignores_followers: false,
        elects_outside_isr: false,
        votes_twice: false,
        appends_without_sequence_check: false,
    };
}

/// The switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    pub version: Version,
    /// Eligible leader replicas (KIP-966), on in new clusters from 4.1.
    pub eligible_leader_replicas: bool,
    /// The high watermark stands while the ISR is below the effective minimum (KAFKA-15583, 3.7+).
    pub hw_frozen_below_min_isr: bool,
    /// `min(min.insync.replicas, number of replicas)` (3.7+).
    pub effective_min_isr: bool,
    /// Pre-vote (KIP-996, 4.0+).
    pub pre_vote: bool,
    /// A losing candidate backs off at random before the next epoch (to 3.9).
    pub candidate_backoff: bool,
    /// A leader without fetches of a majority resigns (KAFKA-15489, 3.7+).
    pub check_quorum: bool,
    /// A parked metadata fetch is answered when the high watermark moves (KIP-1166, 4.1+).
    pub quorum_hw_push: bool,
    pub fencing_check: FencingCheck,
    pub lifecycle_retry: LifecycleRetry,
    /// The session of a broker that stopped cleanly goes on and refuses its next registration (4.1).
    pub session_outlives_fencing: bool,
    pub unclean_by_config: UncleanByConfig,
    pub coordinator: CoordinatorKind,
    /// Errors carry the newer leader (KIP-951, 3.7+).
    pub leader_hints: bool,
    /// Produce names topics by id (version 13, 4.1+), if the client is new enough too.
    pub produce_by_topic_id: bool,
    /// Replicas are assigned to log directories (KIP-858, 3.7+): one whose directory is gone may not lead until it is
    /// assigned to the new one.
    pub directory_assignment: bool,
    /// The record of an assignment is built as if there were no eligible leader replicas, and so takes them away
    /// (4.1, mended later).
    pub assignment_clears_elr: bool,
    pub broken: Broken,
}

/// A Kafka release whose rules are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    V3_6,
    V3_9,
    #[default]
    V4_1,
}

impl Version {
    pub const ALL: &'static [Version] = &[Version::V3_6, Version::V3_9, Version::V4_1];

    /// As written in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Version::V3_6 => "3.6",
            Version::V3_9 => "3.9",
            Version::V4_1 => "4.1",
        }
    }

    /// By its number, as versions of APIs are told apart.
    pub const fn release(self) -> Release {
        match self {
            Version::V3_6 => (3, 6),
            Version::V3_9 => (3, 9),
            Version::V4_1 => (4, 1),
        }
    }

    /// `4.1`, or a patch release of it such as `4.1.1`.
    pub fn parse(text: &str) -> Option<Version> {
        Version::ALL
            .iter()
            .copied()
            .find(|v| text == v.name() || text.strip_prefix(v.name()).is_some_and(|rest| rest.starts_with('.')))
    }

    /// The switches of this release with KRaft.
    pub const fn rules(self) -> Rules {
        match self {
            Version::V4_1 => Rules {
                version: self,
                eligible_leader_replicas: true,
                hw_frozen_below_min_isr: true,
                effective_min_isr: true,
                pre_vote: true,
                candidate_backoff: false,
                check_quorum: true,
                quorum_hw_push: true,
                fencing_check: FencingCheck::Periodic,
                lifecycle_retry: LifecycleRetry::Fixed,
                session_outlives_fencing: true,
                unclean_by_config: UncleanByConfig::RunPeriodic,
                coordinator: CoordinatorKind::New,
                leader_hints: true,
                produce_by_topic_id: true,
                directory_assignment: true,
                assignment_clears_elr: true,
                broken: Broken::NOTHING,
            },
            Version::V3_9 => Rules {
                version: self,
                eligible_leader_replicas: false,
                hw_frozen_below_min_isr: true,
                effective_min_isr: true,
                pre_vote: false,
                candidate_backoff: true,
                check_quorum: true,
                quorum_hw_push: false,
                fencing_check: FencingCheck::Timer,
                lifecycle_retry: LifecycleRetry::Exponential,
                session_outlives_fencing: false,
                unclean_by_config: UncleanByConfig::RunAfterLoss,
                coordinator: CoordinatorKind::Old,
                leader_hints: true,
                produce_by_topic_id: false,
                directory_assignment: true,
                assignment_clears_elr: false,
                broken: Broken::NOTHING,
            },
            Version::V3_6 => Rules {
                version: self,
                eligible_leader_replicas: false,
                hw_frozen_below_min_isr: false,
                effective_min_isr: false,
                pre_vote: false,
                candidate_backoff: true,
                check_quorum: false,
                quorum_hw_push: false,
                fencing_check: FencingCheck::Timer,
                lifecycle_retry: LifecycleRetry::Exponential,
                session_outlives_fencing: false,
                unclean_by_config: UncleanByConfig::Ignored,
                coordinator: CoordinatorKind::Old,
                leader_hints: false,
                produce_by_topic_id: false,
                directory_assignment: false,
                assignment_clears_elr: false,
                broken: Broken::NOTHING,
            },
        }
    }
}

/// Spans that no configuration of Kafka sets but its code does.
pub mod fixed {
    use super::Dur;
    /// First retry of a controlled-shutdown heartbeat.
    pub const SHUTDOWN_HEARTBEAT_RETRY: Dur = Dur::ms(50);
    /// Pause before an AlterPartition is sent again.
    pub const ALTER_PARTITION_RETRY: Dur = Dur::ms(50);
    /// How long a broker repeats a forwarded request.
    pub const FORWARD_LIMIT: Dur = Dur::secs(60);
    /// How many producer ids a broker gets at once.
    pub const PRODUCER_ID_BLOCK: i32 = 1_000;
}
