//! What the page is given of one message: plain data. Holds no words.

use super::super::model::*;

/// One message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageDetail {
    pub id: MessageRef,
    /// `FetchResponse`.
    pub name: Term,
    /// The version that sender and receiver speak.
    pub version: u16,
    /// Who serves its API.
    pub server: Server,
    pub response: bool,
    /// Its shape on the stage.
    pub kind: FlightKind,
    pub from: NodeRef,
    pub to: NodeRef,
    pub sent_us: Micros,
    pub arrives_us: Micros,
    pub left_us: Micros,
    pub held: Holding,
    /// It will not arrive, or nobody is there.
    pub doomed: bool,
    /// Which it is of all messages in flight, by arrival; the first is 1.
    pub place: usize,
    pub of: usize,
    /// What matters most of what it carries, for one line. Empty: it brings nothing new.
    pub carries: Vec<Carried>,
    pub fields: Vec<MessageField>,
    /// The latest first.
    pub caused_by: Vec<MessageStep>,
    /// Empty where this was not played yet.
    pub caused: Vec<MessageStep>,
}

/// One thing that a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub says: Says,
    /// A partition as Kafka writes it, or a field.
    pub of: Term,
    pub value: String,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// The offset of a record of a log, or the first and the last of several.
    Records,
    /// How many records a producer sends, which have no offsets yet.
    Sent,
    /// To their producer: from which offset on his records stand.
    Written,
    /// The offset from which on is asked for.
    From,
    /// The leader's high watermark, which is the receiver's already.
    HighWatermark,
    /// The same where the receiver knows another: `5 → 6`.
    NewHighWatermark,
    /// Anything else, in Kafka's words.
    Field,
    /// How much more there is.
    More,
}

/// Whether an action keeps a message from arriving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    No,
    Held {
        name: String,
    },
    /// It waits behind one that is held on its connection.
    Behind,
}

/// A field of a message; one without a value heads those that are deeper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageField {
    pub depth: u8,
    pub name: Term,
    pub value: String,
    /// What its receiver knows instead.
    pub was: Option<String>,
    /// Only *all fields* shows it.
    pub more: bool,
}

/// A moment before or after a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageStep {
    pub at_us: Micros,
    pub trace: TraceId,
    pub what: MessageLink,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageLink {
    Fact(Fact),
    Message { name: Term, from: NodeRef, to: NodeRef },
}

/// What can be done to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageAct {
    Deliver,
    Hold,
    Release,
    Delay { by_us: Micros },
    Drop,
    Duplicate,
}
