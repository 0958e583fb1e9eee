//! A machine: a disk, and a process or none. It holds what survives what; it moves nothing.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{MessageId, NodeId, Rng, Seq, SimTime, StreamId};
use crate::broker::Broker;
use crate::client::{Client, ClientKind};
use crate::controller::Controller;
use crate::node::{ConnId, Ctx, Disk, Effect, Event, Message, Timers};
use crate::trace::TraceEntry;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Process {
    Controller(Box<Controller>),
    Broker(Box<Broker>),
    Client(Box<Client>),
}

impl Process {
    fn on_event(&mut self, ctx: &mut Ctx<'_>, event: Event) {
        match self {
            Process::Controller(controller) => controller.on_event(ctx, event),
            Process::Broker(broker) => broker.on_event(ctx, event),
            Process::Client(client) => client.on_event(ctx, event),
        }
    }
}

/// Something that lies in the sockets of a process that stands still.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Queued {
    Message(Message),
    Connected(ConnId),
    /// Nothing that is written on the connection from now on arrives.
    Reset(ConnId, Seq),
    Disconnected(ConnId, Seq),
    Shutdown(Seq),
    Command(Box<crate::node::message::ClientCommand>, Seq),
}

/// What a machine is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Controller,
    Broker { rack: Option<Rc<str>> },
    Client { name: Rc<str>, kind: ClientKind },
}

/// One node's machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    pub role: Role,
    pub disk: Disk,
    pub process: Option<Process>,
    /// SIGSTOP: nothing is handled, no timer fires, sockets fill.
    pub paused: bool,
    /// When it last went on after a pause, and the entry of that.
    pub(super) resumed: Option<(SimTime, Seq)>,
    /// Its process is started again as soon as it has ended.
    pub restarting: bool,
    pub timers: Timers,
    /// Counts the starts of its process.
    pub incarnation: u32,
    /// When the process last started or ended.
    pub since: SimTime,
    pub(super) rng: Rng,
    pub(super) socket: VecDeque<Queued>,
}

/// The run-wide counters and buffers that every handler writes to.
pub(super) struct Surroundings<'a> {
    pub now: SimTime,
    pub cause: Seq,
    pub effects: &'a mut Vec<Effect>,
    pub trace: &'a mut Vec<TraceEntry>,
    pub last_seq: &'a mut Seq,
    pub last_message: &'a mut MessageId,
}

impl Machine {
    pub(super) fn new(seed: u64, id: NodeId, role: Role) -> Machine {
        Machine {
            role,
            disk: Disk::default(),
            process: None,
            paused: false,
            resumed: None,
            restarting: false,
            timers: Timers::default(),
            incarnation: 0,
            since: SimTime::ZERO,
            rng: Rng::stream(seed, StreamId::Node(id)),
            socket: VecDeque::new(),
        }
    }

    /// Whether its process handles events now.
    pub fn is_up(&self) -> bool {
        self.process.is_some() && !self.paused
    }

    /// When it has something to do by itself.
    pub(super) fn next_wake(&self) -> Option<SimTime> {
        if self.is_up() { self.timers.next_at() } else { None }
    }

    /// Bytes of the records that the application of a producer has made.
    pub(super) fn record_bytes(&self) -> u64 {
        self.client().and_then(Client::as_producer).map_or(0, |producer| producer.counts().bytes)
    }

    pub(super) fn with_ctx<R>(
        &mut self,
        id: NodeId,
        around: Surroundings<'_>,
        f: impl FnOnce(&mut Option<Process>, &mut Ctx<'_>) -> R,
    ) -> R {
        let mut ctx = Ctx {
            now: around.now,
            me: id,
            cause: around.cause,
            rng: &mut self.rng,
            disk: &mut self.disk,
            timers: &mut self.timers,
            effects: around.effects,
            trace: around.trace,
            last_seq: around.last_seq,
            last_message: around.last_message,
        };
        f(&mut self.process, &mut ctx)
    }

    pub(super) fn handle(&mut self, id: NodeId, around: Surroundings<'_>, event: Event) {
        self.with_ctx(id, around, |process, ctx| {
            if let Some(process) = process {
                process.on_event(ctx, event);
            }
        });
    }

    /// Connections on which something lies that its process has not read.
    pub(super) fn unread(&self) -> impl Iterator<Item = ConnId> {
        self.socket.iter().filter_map(|what| match what {
            Queued::Message(message) => Some(message.conn),
            Queued::Connected(_)
            | Queued::Reset(..)
            | Queued::Disconnected(..)
            | Queued::Shutdown(_)
            | Queued::Command(..) => None,
        })
    }

    /// The process is gone: memory, timers and sockets with it.
    pub(super) fn end(&mut self, now: SimTime) {
        self.process = None;
        self.paused = false;
        self.resumed = None;
        self.restarting = false;
        self.timers = Timers::default();
        self.socket.clear();
        self.since = now;
    }

    pub fn broker(&self) -> Option<&Broker> {
        match &self.process {
            Some(Process::Broker(broker)) => Some(broker),
            Some(Process::Controller(_) | Process::Client(_)) | None => None,
        }
    }
    pub fn controller(&self) -> Option<&Controller> {
        match &self.process {
            Some(Process::Controller(controller)) => Some(controller),
            Some(Process::Broker(_) | Process::Client(_)) | None => None,
        }
    }
    pub fn client(&self) -> Option<&Client> {
        match &self.process {
            Some(Process::Client(client)) => Some(client),
            Some(Process::Broker(_) | Process::Controller(_)) | None => None,
        }
    }
}
