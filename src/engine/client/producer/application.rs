//! The application of a producer: its steady rate, its bursts, and `send`, which blocks while metadata is missing. It
//! never looks at answers.
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use super::Producer;
use crate::base::limits::MAX_BYTES_OF_ONE_TURN;
use crate::base::{ClientId, Dur, Incarnation, Map, SimTime, Tag};
use crate::client::spec::{Keys, ProducerSpec};
use crate::node::message::Values;
use crate::node::{ClientTimer, Ctx, Timer};
use crate::protocol::Record;
use crate::trace::Kind;

/// What a thread of the application makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The steady rate of the spec.
    Steady,
    Burst {
        key: Option<Rc<str>>,
        values: Values,
        count: u32,
        made: u32,
        first_tag: Tag,
    },
}

/// A thread that calls `send`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    source: Source,
    topic: Rc<str>,
    partition: Option<u32>,
    every: Dur,
    next_at: SimTime,
    /// A record whose `send` blocks, and since when.
    blocked: Option<(Record, SimTime)>,
}

/// All threads. The steady one has number 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Application {
    spec: ProducerSpec,
    first_tag: u64,
    made: u64,
    threads: Map<u32, Thread>,
    started: u32,
}

const STEADY: u32 = 0;

impl Application {
    /// Tags of the steady rate are unique over clients and their restarts.
    pub fn new(client: ClientId, incarnation: Incarnation, spec: ProducerSpec) -> Application {
        let first_tag = (u64::from(client.0) << 40) | (u64::from(incarnation.0 & 0xfff) << 28);
        Application { spec, first_tag, made: 0, threads: Map::new(), started: 0 }
    }

    pub fn rate(&self) -> u32 {
        self.spec.rate
    }
    pub fn topic(&self) -> Option<&Rc<str>> {
        self.spec.topic.as_ref()
    }
    /// The `send` that blocks longest: topic, partition, since.
    pub fn blocked(&self) -> Option<(&Rc<str>, Option<u32>, SimTime)> {
        self.threads
            .values()
            .filter_map(|t| t.blocked.as_ref().map(|(_, since)| (&t.topic, t.partition, *since)))
            .min_by_key(|(_, _, since)| *since)
    }

    fn next_steady(&mut self) -> Record {
        let n = self.made;
        self.made += 1;
        let key: Option<Rc<str>> = match &self.spec.keys {
            Keys::None => None,
            Keys::Even => Some(format!("k{}", n % 100).into()),
            Keys::Hot if n % 5 == 4 => Some(format!("k{}", n % 100).into()),
            Keys::Hot => Some("hot".into()),
            Keys::Listed(keys) if keys.is_empty() => None,
            Keys::Listed(keys) => Some(keys[(n % keys.len() as u64) as usize].clone()),
        };
        let mut value: String = format!("{n}");
        while value.len() < self.spec.value_size as usize {
            value.push('.');
        }
        Record { tag: Tag(self.first_tag + n), key, value: value.into() }
    }
}

impl Thread {
    fn next_record(&mut self) -> Option<Record> {
        let Source::Burst { key, values, count, made, first_tag } = &mut self.source else { return None };
        if made >= count {
            return None;
        }
        let n = *made;
        *made += 1;
        let value = match values {
            Values::Numbered(prefix) => format!("{prefix}{n}").into(),
            Values::Exactly(value) => value.clone(),
        };
        Some(Record { tag: Tag(first_tag.0 + u64::from(n)), key: key.clone(), value })
    }
    fn is_done(&self) -> bool {
        match &self.source {
            Source::Steady => false,
            Source::Burst { count, made, .. } => made >= count && self.blocked.is_none(),
        }
    }
}

impl Producer {
    /// Begins the steady rate, if there is one.
    pub(super) fn start_steady(&mut self, ctx: &mut Ctx<'_>) {
        let app = &mut self.application;
        let Some(topic) = app.spec.topic.clone().filter(|_| app.spec.rate > 0) else { return };
        let every = interval(app.spec.rate);
        // The phase differs between producers, so that they do not all send at one instant.
        let next_at = ctx.now + ctx.rng.between(Dur::ZERO, every);
        app.threads.insert(
            STEADY,
            Thread { source: Source::Steady, topic, partition: app.spec.partition, every, next_at, blocked: None },
        );
        ctx.set(Timer::Client(ClientTimer::NextRecord), next_at.since(ctx.now));
    }

    pub(super) fn set_rate(&mut self, ctx: &mut Ctx<'_>, per_second: u32) {
        self.application.spec.rate = per_second;
        if per_second == 0 {
            self.application.threads.remove(&STEADY);
            ctx.cancel(&Timer::Client(ClientTimer::NextRecord));
            return;
        }
        match self.application.threads.get_mut(&STEADY) {
            Some(thread) => {
                thread.every = interval(per_second);
                thread.next_at = thread.next_at.min(ctx.now + thread.every);
                let wait = thread.next_at.since(ctx.now);
                ctx.set(Timer::Client(ClientTimer::NextRecord), wait);
            }
            None => self.start_steady(ctx),
        }
    }

    pub(super) fn start_burst(
        &mut self,
        ctx: &mut Ctx<'_>,
        (topic, partition): (Rc<str>, Option<u32>),
        every: Dur,
        source: Source,
    ) -> bool {
        self.application.started += 1;
        self.application.threads.insert(
            self.application.started,
            Thread { source, topic, partition, every, next_at: ctx.now, blocked: None },
        );
        self.run_application(ctx)
    }

    /// `close` was called: nobody sends any more.
    pub(super) fn stop_application(&mut self, ctx: &mut Ctx<'_>) {
        for (number, _) in core::mem::take(&mut self.application.threads) {
            ctx.cancel(&timer_of(number));
        }
        ctx.cancel(&Timer::Client(ClientTimer::Block));
    }

    /// Lets every thread go on as far as it can. Returns whether one of them has woken the sender's thread.
    pub(super) fn run_application(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let mut wakes = false;
        let numbers: alloc::vec::Vec<u32> = self.application.threads.keys().copied().collect();
        for number in numbers {
            let Some(mut thread) = self.application.threads.remove(&number) else { continue };
            wakes |= self.run_thread(ctx, &mut thread);
            if thread.is_done() {
                ctx.cancel(&timer_of(number));
                continue;
            }
            if thread.blocked.is_none() {
                ctx.set(timer_of(number), thread.next_at.since(ctx.now));
            }
            self.application.threads.insert(number, thread);
        }
        let timer = Timer::Client(ClientTimer::Block);
        match self.application.blocked() {
            Some((_, _, since)) => ctx.set(timer, (since + self.config.max_block).since(ctx.now)),
            None => ctx.cancel(&timer),
        }
        wakes
    }

    fn run_thread(&mut self, ctx: &mut Ctx<'_>, thread: &mut Thread) -> bool {
        let mut wakes = false;
        let turn_ends_at = self.counts.bytes.saturating_add(MAX_BYTES_OF_ONE_TURN);
        while self.counts.bytes < turn_ends_at {
            let (record, since) = match thread.blocked.take() {
                Some(blocked) => blocked,
                None if thread.next_at > ctx.now => return wakes,
                None => {
                    let record = match thread.source {
                        Source::Steady => Some(self.application.next_steady()),
                        Source::Burst { .. } => thread.next_record(),
                    };
                    let Some(record) = record else { return wakes };
                    self.counts.sent += 1;
                    self.counts.bytes += record.size() as u64;
                    ctx.note(Kind::RecordSent {
                        tag: record.tag,
                        topic: thread.topic.clone(),
                        partition: thread.partition,
                        value: record.value.clone(),
                    });
                    (record, ctx.now)
                }
            };
            if record.size() > self.config.max_request_size {
                self.refuse(ctx, &record, "RecordTooLargeException");
            } else {
                match self.send(ctx, &thread.topic, thread.partition, &record) {
                    Some(woken) => wakes |= woken,
                    // Whoever waits for metadata wakes the sender to ask for it.
                    None if since + self.config.max_block > ctx.now => {
                        thread.blocked = Some((record, since));
                        return true;
                    }
                    None => self.refuse(ctx, &record, "TimeoutException"),
                }
            }
            // A rate keeps its schedule; a thread that was blocked goes on from where it is.
            thread.next_at = if since < ctx.now { ctx.now + thread.every } else { thread.next_at + thread.every };
        }
        wakes
    }

    /// `send` itself fails; nothing goes out.
    fn refuse(&mut self, ctx: &mut Ctx<'_>, record: &Record, exception: &'static str) {
        self.counts.failed += 1;
        self.last_failure = Some((exception, ctx.now));
        ctx.note(Kind::RecordFailed { tag: record.tag, tp: None, exception });
    }

    /// Puts a record into a queue and returns whether that wakes the sender; `None` while the metadata lacks its topic
    /// or partition.
    fn send(&mut self, ctx: &mut Ctx<'_>, topic: &Rc<str>, partition: Option<u32>, record: &Record) -> Option<bool> {
        self.metadata.want(topic);
        let known = match self.metadata.topic(topic) {
            Some(known)
                if !known.partitions.is_empty() && partition.is_none_or(|p| (p as usize) < known.partitions.len()) =>
            {
                known
            }
            Some(_) | None => {
                self.metadata.request_update();
                return None;
            }
        };
        let partition = match partition {
            Some(partition) => partition,
            None => self.partitioner.choose(ctx.rng, &self.config, &self.queues, (topic, known), record),
        };
        let origin = *ctx.last_seq;
        Some(self.queues.append(ctx.now, &(topic.clone(), partition), record.clone(), self.config.batch_size, origin))
    }
}

/// Pause between records of a rate.
fn interval(per_second: u32) -> Dur {
    Dur(1_000_000 / u64::from(per_second.max(1))).max(Dur(1))
}

fn timer_of(number: u32) -> Timer {
    Timer::Client(if number == STEADY { ClientTimer::NextRecord } else { ClientTimer::Burst(number) })
}
