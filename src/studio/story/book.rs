//! What the entries of a recording are about, for their text form. Writes no line itself.

use highwater_engine::base::NodeId;
use highwater_engine::trace::Kind;

use super::seen::Seen;
use crate::notation::{self, Book};
use crate::scenario::{Need, verb_text};

impl Seen<'_> {
    /// The names of clients and actions up to the playhead. Topics, messages and records are learnt from the entries.
    pub fn book(self) -> Book {
        let mut book = Book::default();
        for (node, _) in self.world().machines() {
            if let NodeId::Client(id) = node
                && let Some(name) = self.world().client_name(id)
            {
                book.name_client(id, name.clone());
            }
        }
        for (id, action) in self.reel().actions() {
            let text = notation::action(action, &book);
            book.name_action(id, text);
        }
        for refused in self.reel().refused() {
            let what = match self.branch().lowered.plan.get(refused.index).map(|due| &due.need) {
                Some(Need::Ready(action)) => notation::action(action, &book),
                Some(Need::Role(verb)) => verb_text(verb),
                None => continue,
            };
            if let Some(Kind::ActionRefused { action, .. }) = self.reel().get(refused.entry).map(|entry| &entry.kind) {
                book.name_action(*action, what);
            }
        }
        book
    }
}
