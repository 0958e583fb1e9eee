//! Agenda, network, machines: the only place that moves anything. It decides nothing that Kafka decides.

pub mod action;

pub use action::{Action, BrokerSetup, LinkSetup, Refusal, Setup};
