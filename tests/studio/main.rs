//! Scenarios, time travel, links, swarm, views as text: table of contents. It holds no test itself.

mod actions;
mod advice;
mod bad_scenarios;
mod golden;
mod hostile;
mod ledger;
mod links;
mod log;
mod messages;
mod moments;
mod notes;
mod pace;
mod played;
mod scenarios;
mod standing;
mod story;
mod storyboard;
mod swarm;
mod text;
mod time_travel;
mod travel;
mod undo;
mod verdicts;
mod views;
