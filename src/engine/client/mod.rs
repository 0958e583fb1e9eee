//! Producer, consumer and admin client. They know of the cluster only what answers told them.

pub mod admin;
pub mod config;
pub mod consumer;
pub mod metadata;
pub mod net;
pub mod producer;
pub mod spec;
#[cfg(test)]
mod testing;

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::vec::Vec;

pub use admin::{Admin, AdminAnswer};
pub use config::{ConfigRefusal, ConsumerConfig, ProducerConfig};
pub use consumer::{Consumer, ConsumerCounts, ConsumerStatus};
pub use producer::{Producer, ProducerCounts, ProducerStatus};
pub use spec::{ClientVersion, ConsumerSpec, Keys, PollForm, ProducerSpec};

use crate::base::{ActionId, BrokerId, ClientId, Incarnation, SimTime};
use crate::node::{Ctx, Event};

/// What a client is started with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientStart {
    pub id: ClientId,
    /// The default of `client.id`.
    pub name: Rc<str>,
    /// Differs for each start of this client.
    pub incarnation: Incarnation,
    /// `bootstrap.servers`.
    pub bootstrap: Vec<BrokerId>,
    /// What the brokers' answers to ApiVersions say of Produce: version 13 is there, which names topics by id.
    pub brokers_produce_by_id: bool,
    pub kind: ClientKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClientKind {
    Producer(ProducerSpec),
    Consumer(ConsumerSpec),
    Admin,
}

/// A client process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    Producer(Box<Producer>),
    Consumer(Box<Consumer>),
    Admin(Box<Admin>),
}

impl Client {
    /// Starts a client.
    ///
    /// # Errors
    /// What its constructor throws for its configs; nothing has happened then.
    pub fn start(ctx: &mut Ctx<'_>, start: ClientStart) -> Result<Client, ConfigRefusal> {
        let ClientStart { id, name, incarnation, bootstrap, brokers_produce_by_id, kind } = start;
        Ok(match kind {
            ClientKind::Producer(spec) => Client::Producer(Box::new(Producer::start(
                ctx,
                id,
                incarnation,
                bootstrap,
                spec,
                brokers_produce_by_id,
            )?)),
            ClientKind::Consumer(spec) => {
                Client::Consumer(Box::new(Consumer::start(ctx, id, &name, incarnation, bootstrap, spec)?))
            }
            ClientKind::Admin => Client::Admin(Box::new(Admin::start(ctx, id, incarnation, bootstrap))),
        })
    }

    /// Whether the constructor would accept the configs.
    ///
    /// # Errors
    /// What it would throw.
    pub fn check(kind: &ClientKind) -> Result<(), ConfigRefusal> {
        match kind {
            ClientKind::Producer(spec) => ProducerConfig::parse(spec.version, &spec.config).map(|_| ()),
            ClientKind::Consumer(spec) => ConsumerConfig::parse(spec.version, &spec.config).map(|_| ()),
            ClientKind::Admin => Ok(()),
        }
    }

    pub fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match self {
            Client::Producer(producer) => producer.on_event(ctx, event),
            Client::Consumer(consumer) => consumer.on_event(ctx, event),
            Client::Admin(admin) => admin.on_event(ctx, event),
        }
    }

    /// The answer that the admin client has got for an action.
    pub fn admin_answer(&self, action: ActionId) -> Option<&AdminAnswer> {
        match self {
            Client::Admin(admin) => admin.admin_answer(action),
            Client::Producer(_) | Client::Consumer(_) => None,
        }
    }

    /// What a client still waits for that it must get once nothing is broken: for convergence.
    pub fn unsettled(&self, now: SimTime) -> Option<&'static str> {
        match self {
            Client::Producer(producer) => producer.batches().next().map(|_| "a producer holds records"),
            Client::Consumer(consumer) => match consumer.status(now) {
                ConsumerStatus::Closed
                | ConsumerStatus::WithoutPartitions
                | ConsumerStatus::CaughtUp
                | ConsumerStatus::Failed { .. } => None,
                ConsumerStatus::Closing => Some("a consumer has not closed"),
                ConsumerStatus::Paused { .. } => Some("a consumer does not poll"),
                ConsumerStatus::LookingForCoordinator { .. } | ConsumerStatus::StuckWithoutCoordinator { .. } => {
                    Some("a consumer has no coordinator")
                }
                ConsumerStatus::Joining | ConsumerStatus::Syncing => Some("a consumer is joining its group"),
                ConsumerStatus::FindingPositions => Some("a consumer has no positions"),
                ConsumerStatus::Reading => Some("a consumer has not read everything"),
            },
            Client::Admin(_) => None,
        }
    }

    pub fn as_producer(&self) -> Option<&Producer> {
        match self {
            Client::Producer(producer) => Some(producer),
            Client::Consumer(_) | Client::Admin(_) => None,
        }
    }
    pub fn as_consumer(&self) -> Option<&Consumer> {
        match self {
            Client::Consumer(consumer) => Some(consumer),
            Client::Producer(_) | Client::Admin(_) => None,
        }
    }
}
