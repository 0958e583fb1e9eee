//! What is seen over a playhead: the world there, the trace up to it with the page's names, and facts, each told once.
//! It explains nothing and makes no sentence.

mod book;
mod fact;
mod names;
mod past;
mod seen;
mod tell;

pub use fact::{AckedBy, ConfigTarget, ElectionKind, Fact, IsrBy, MessageDeed};
pub use names::{MessageRef, Micros, NodeRef, PartitionRef, Term, TraceId, count, ids, name_of};
pub use past::Stuck;
pub use seen::Seen;
pub use tell::{Part, Told, message_term, of_verb, refusal_term, tell};
