//! Scenarios, time travel, links, swarm, views as text.
