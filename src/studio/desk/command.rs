//! Everything that the page can ask of the studio, as one closed list. It deliberately says nothing about how it looks:
//! language, theme and which panel is open are the page's own affair.
use crate::view::model::{
    BranchId, Cure, MessageAct, MessageRef, Micros, NodeAction, NodeRef, OpenError, Pace, Reason, ScenarioId,
    SettingKey, SettingValue, StepKind, Term, TraceId,
};

/// One wish of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    // time
    /// On the way to somewhere: from there on.
    Play,
    /// On the way to somewhere: it ends here.
    Pause,
    ToStart,
    ToEnd,
    StepBack(StepKind),
    StepForward(StepKind),
    /// To the next notable change.
    SkipWait,
    /// While dragging: only the playhead moves. A seek to where a branch has not been yet runs it until there.
    Scrub {
        at_us: Micros,
    },
    /// On release, or a jump: like `Scrub`, and the address may be written.
    SeekTo {
        at_us: Micros,
    },
    /// The moment just after a trace entry.
    SeekToTrace(TraceId),
    SetPace(Pace),
    SetStep(StepKind),
    // the cluster; in the past each of these opens a branch
    Act(NodeRef, NodeAction),
    /// Something is done to one message in flight.
    Message(MessageRef, MessageAct),
    HealAll,
    /// Cut between two sets of nodes.
    Cut {
        a: Vec<NodeRef>,
        b: Vec<NodeRef>,
        one_way: bool,
    },
    Set(SettingKey, SettingValue),
    /// Preferred or unclean election of one partition.
    ElectLeader {
        topic: String,
        partition: u32,
        unclean: bool,
    },
    /// Opens a branch (or a new run) with the one setting changed that would have helped.
    Try(Cure),
    // what is shown
    OpenTopic(String),
    CloseTopic(String),
    SelectGroup(String),
    // runs
    OpenScenario(ScenarioId),
    /// What stands behind `#`. On an error the running scenario stays.
    OpenLink(String),
    /// Takes back the last action, whatever it changed.
    Undo,
    /// Back to the run before the last `↻`.
    PreviousRun,
    SelectBranch(BranchId),
    NameBranch(BranchId, String),
}

/// What becomes of a way through the run, while a command is given on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTheWay {
    GoesOn,
    /// It ends where it has come.
    Ends,
    /// What is shown is not where the playhead is: nothing is done to a cluster that nobody sees.
    Refused,
}

impl Command {
    pub fn on_the_way(&self) -> OnTheWay {
        match self {
            Command::Play
            | Command::SetPace(_)
            | Command::SetStep(_)
            | Command::OpenTopic(_)
            | Command::CloseTopic(_)
            | Command::SelectGroup(_)
            | Command::NameBranch(..) => OnTheWay::GoesOn,
            Command::Pause
            | Command::ToStart
            | Command::ToEnd
            | Command::StepBack(_)
            | Command::StepForward(_)
            | Command::SkipWait
            | Command::Scrub { .. }
            | Command::SeekTo { .. }
            | Command::SeekToTrace(_)
            | Command::OpenScenario(_)
            | Command::OpenLink(_)
            | Command::Undo
            | Command::PreviousRun
            | Command::SelectBranch(_) => OnTheWay::Ends,
            Command::Act(..)
            | Command::Message(..)
            | Command::HealAll
            | Command::Cut { .. }
            | Command::Set(..)
            | Command::ElectLeader { .. }
            | Command::Try(_) => OnTheWay::Refused,
        }
    }
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Done, in a new branch that began at the playhead.
    Branched(BranchId),
    /// Done, in a new run from 0 s.
    NewRun,
    /// Nothing changed, and why, in Kafka's word or the name of a limit.
    Refused(Refused),
    /// A link could not be opened; nothing changed.
    NotOpened(OpenError),
}

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Kafka's error.
    Kafka(Term),
    /// A limit of this page, with the bound.
    Limit { what: Term, bound: u64 },
    /// It cannot be done in the state that the node is in.
    NotNow(NodeAction),
    /// The world does not do it.
    Because(Reason),
    /// The playhead is on its way to another moment.
    OnTheWay,
    /// What the command names is not there.
    Unknown(Thing),
}

/// What a command can name in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Thing {
    Setting,
    Group,
    Node,
    Message,
    Moment,
    Run,
    Branch,
}
