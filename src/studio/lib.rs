//! Scenarios, recording, links and views. Holds no engine rule.
pub mod desk;
pub mod reference;
pub mod search;
pub mod view;
