//! Projections from a run to plain data for the page. Holds no words: a view carries facts, the language files make
//! sentences.
pub mod advice;
pub mod caption;
pub mod clients;
pub mod inspect;
pub mod lanes;
pub mod ledger;
pub mod log;
pub mod message;
pub mod model;
pub mod motion;
pub mod promises;
pub mod scene;
pub mod settings;
pub mod storyboard;
pub mod why;

mod causes;
mod lost;
mod panel;
mod survival;
mod time;
mod timers;
mod unread;
