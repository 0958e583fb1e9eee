//! Scenarios, recording, links and views. Holds no engine rule.
