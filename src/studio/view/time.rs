//! What has to do with time: messages in flight, the transport, the swim lanes. Moves nothing itself; see `model`,
//! which re-exports it.
use super::model::*;

// ---------------------------------------------------------------- motion

/// What moves. Taken every frame, on its own.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Motion {
    pub now_us: Micros,
    pub flights: Vec<Flight>,
    /// Messages that are in flight but beyond `MAX_FLIGHTS`, so that nothing is left out in silence.
    pub hidden: u32,
}

/// Messages drawn at once.
pub const MAX_FLIGHTS: usize = 120;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    pub id: MessageRef,
    pub kind: FlightKind,
    /// Kafka's API.
    pub api: Term,
    pub response: bool,
    pub from: NodeRef,
    pub to: NodeRef,
    /// The column it is about, if it is about one.
    pub about: Option<PartitionRef>,
    pub sent_us: Micros,
    pub arrives_us: Micros,
    /// How far it has come, in millionths.
    pub progress_ppm: u32,
    /// It will not arrive.
    pub doomed: bool,
    /// An action holds it, or one before it on its connection.
    pub held: bool,
    /// Kafka's error in a response.
    pub error: Option<Term>,
}

impl Flight {
    /// `FetchResponse`.
    pub fn name(&self) -> Term {
        format!("{}{}", self.api, if self.response { "Response" } else { "Request" }).into()
    }
}

/// The four shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlightKind {
    /// Circle.
    Produce,
    /// Diamond.
    Replication,
    /// Square.
    Control,
    /// Triangle.
    Group,
}

// ---------------------------------------------------------------- time

/// The transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Playback {
    pub at_us: Micros,
    /// The scrubber spans 0 to here: what the script plans, or what was recorded if that is more.
    pub end_us: Micros,
    /// How far this branch has been recorded.
    pub recorded_us: Micros,
    pub playing: bool,
    pub pace: Pace,
    pub step: StepKind,
    /// What the run waits for, so that a countdown can be shown.
    pub awaiting: Option<Awaited>,
    pub at_start: bool,
    /// A notable change is known or will be looked for ahead.
    pub can_skip: bool,
    /// Events of this very instant that are done, for the link.
    pub events_done: u32,
    /// What is going on, for one line over the stage.
    pub caption: Option<Caption>,
    /// Why play ended by itself.
    pub ended: Option<Ended>,
    /// The pace that is reached, in thousandths of real time, where play cannot keep the one asked for.
    pub reached: Option<u64>,
    /// There is an action to take back.
    pub can_undo: bool,
    /// The playhead is on its way: the views show what it passes.
    pub travel: Option<Travel>,
}

/// A way through the run that takes longer than one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Travel {
    /// Where it began, which may lie before where the playhead was: what is old is made again.
    pub from_us: Micros,
    /// Where it leads; of what is looked for, the last moment at which it may be.
    pub to_us: Micros,
}

/// What is going on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caption {
    /// The last change that was shown, and when it was.
    pub fact: Option<(Micros, Fact)>,
    /// Who is telling whom what, while time goes slowly.
    pub doing: Option<Doing>,
    /// Time goes slowly for it.
    pub now: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doing {
    pub did: Did,
    pub from: NodeRef,
    pub to: Vec<NodeRef>,
}

/// What messages in flight do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Did {
    Refuses {
        api: Term,
        error: Term,
    },
    /// The controller hands brokers what was decided.
    TellsMetadata,
    AsksForVotes,
    ProposesIsr,
    Joins,
    SendsRecords,
    Acknowledges,
    HandsRecords,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    pub what: Waiting,
    pub in_us: Micros,
}

// ---------------------------------------------------------------- swim lanes

/// A stretch of time to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub from_us: Micros,
    pub to_us: Micros,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lanes {
    pub window: Window,
    pub now_us: Micros,
    pub recorded_us: Micros,
    /// One a node, in the order drawn: controllers (one lane for the quorum), brokers, producers, groups.
    pub lanes: Vec<Lane>,
    pub marks: Vec<LaneMark>,
    pub branches: Vec<BranchView>,
    /// Waits that are worth a dotted line, such as a session running out.
    pub waits: Vec<LaneWait>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    pub who: LaneOf,
    pub bars: Vec<LaneBar>,
    /// Messages in each of equal slices of the window, for the density strip.
    pub density: Vec<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaneOf {
    Quorum,
    Broker(u32),
    Producer(String),
    Group(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneBar {
    pub from_us: Micros,
    pub to_us: Micros,
    pub state: LaneState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneMark {
    /// Index into `Lanes::lanes`.
    pub lane: usize,
    pub at_us: Micros,
    pub kind: MarkKind,
    pub trace: TraceId,
    pub fact: Fact,
    /// How many marks of this kind stand on this place at this zoom, at least 1.
    pub count: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneWait {
    pub lane: usize,
    pub from_us: Micros,
    pub to_us: Micros,
    pub what: Waiting,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchView {
    pub id: BranchId,
    pub parent: Option<BranchId>,
    /// Given by the user; else the page makes a name from `began_with`.
    pub name: Option<String>,
    /// The action that opened it.
    pub began_with: Option<Fact>,
    pub forked_at_us: Micros,
    pub end_us: Micros,
    pub current: bool,
}
