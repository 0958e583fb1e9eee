//! What is seen over a playhead: the world there, the trace up to it with the page's names, and facts, each told once.
//! It explains nothing and makes no sentence.

mod about;
mod asked;
mod book;
mod deeds;
mod fact;
mod names;
mod past;
mod reader;
mod records;
mod seen;
mod tell;
#[cfg(test)]
mod tests;
mod waits;

pub use about::About;
pub use asked::{Asked, Needed, Reason, WaitFor};
pub use deeds::{message_term, of_verb, reason};
pub use fact::{AckedBy, ConfigTarget, CreatedBy, ElectionKind, Fact, IsrBy, MessageDeed};
pub use names::{MessageRef, Micros, NodeRef, PartitionRef, Term, TraceId, count, ids, name_of};
pub use past::Stuck;
pub use seen::Seen;
pub use tell::{Told, tell};
pub use waits::{Awaits, Wait, WaitLine, Waits};
