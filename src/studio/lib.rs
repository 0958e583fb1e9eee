//! Scenarios, recording, links and views. Holds no engine rule.
// An error here is made once and shown to a person; boxing it would only blur the signatures.
#![allow(clippy::result_large_err)]

pub mod desk;
pub mod explain;
pub mod kinds;
pub mod link;
pub mod notation;
pub mod playback;
pub mod recording;
pub mod reference;
pub mod scenario;
pub mod search;
pub mod story;
pub mod view;
