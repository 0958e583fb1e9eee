//! Projections from a run to plain data for the page. Holds no words: a view carries facts, the language files make sentences.
pub mod model;

mod fact;
mod panel;
mod time;
