//! What a recording is played against: the few calls of a world that the player needs. Decides nothing; a test can put
//! something else in the engine's place.

use highwater_engine::base::{ActionId, ClientId, SimTime, TopicId};
use highwater_engine::trace::TraceEntry;
use highwater_engine::world::{Action, Refusal, Setup};

use super::answer::Answer;

/// A simulated cluster.
pub trait Subject: Sized {
    /// # Errors
    /// A set-up that cannot be.
    fn boot(setup: &Setup) -> Result<Self, Refusal>;
    fn now(&self) -> SimTime;
    /// # Errors
    /// An action that makes no sense now.
    fn act(&mut self, action: Action, out: &mut Vec<TraceEntry>) -> Result<ActionId, Refusal>;
    /// The moment of the next event, if there is one.
    fn next_event_at(&self) -> Option<SimTime>;
    /// Handles one event; false if there is none.
    fn step(&mut self, out: &mut Vec<TraceEntry>) -> bool;
    /// Handles all events up to and including `until` and sets the clock to it.
    fn run_until(&mut self, until: SimTime, out: &mut Vec<TraceEntry>);
    /// The client that has this name now.
    fn client_id(&self, name: &str) -> Option<ClientId>;
    /// The answer to an admin request, once it is there; `topic` knows the names of topics.
    fn answer(&self, action: ActionId, topic: &dyn Fn(TopicId) -> String) -> Option<Answer>;
    /// How many calls of `poll` of this consumer took longer than 2 s and returned.
    fn slow_polls(&self, client: ClientId) -> u64;
}
