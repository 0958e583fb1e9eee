//! The loop of the application and the steps of one `poll`, by client version and form (section 7.7). It asks nobody;
//! the steps do.

use super::coordinator::Step;
use super::{CommitKind, Consumer};
use crate::base::{Dur, SimTime};
use crate::node::{ClientTimer, Ctx, Timer};
use crate::trace::Kind;

/// The time that the application gives a `poll`.
const POLL_TIMEOUT: Dur = Dur::ms(200);
/// A `poll` that takes longer is counted.
const SLOW_POLL: Dur = Dur::secs(2);
/// What the application's loop itself takes between two calls.
const LOOP_TIME: Dur = Dur::ms(2);
/// The application rests after an exception.
const REST_AFTER_EXCEPTION: Dur = Dur::ms(500);

/// A call of `poll` that has not returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Poll {
    started: SimTime,
    deadline: SimTime,
    /// The coordinator's step is behind it: what becomes of the coordinator now matters to the next `poll` only.
    passed: bool,
}

/// The application: its loop, and what `poll` throws at it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Application {
    pub poll: Option<Poll>,
    pub next_poll: SimTime,
    /// After the present `poll` it does not call it for this long.
    pub pause: Option<Dur>,
    pub paused_until: SimTime,
    pub last_commit_call: Option<SimTime>,
    /// What the next `poll` throws.
    pub error: Option<&'static str>,
    /// What every `poll` throws from now on.
    pub fatal: Option<&'static str>,
}

impl Application {
    pub fn new(next_poll: SimTime) -> Application {
        Application {
            poll: None,
            next_poll,
            pause: None,
            paused_until: SimTime::ZERO,
            last_commit_call: None,
            error: None,
            fatal: None,
        }
    }

    /// What `poll` throws now.
    fn exception(&mut self) -> Option<&'static str> {
        self.fatal.or(self.error.take())
    }

    /// It does not call `poll` for a while, from now on or from the end of the present one.
    fn pause_polling(&mut self, now: SimTime, span: Dur) {
        self.paused_until = now + span;
        self.next_poll = now + span;
    }

    /// Whether its own time to call `commitAsync` has come.
    fn commits_now(&mut self, now: SimTime, every: Option<Dur>) -> bool {
        let due = every.is_some_and(|every| self.last_commit_call.is_none_or(|last| last + every <= now));
        if due {
            self.last_commit_call = Some(now);
        }
        due
    }
}

impl Consumer {
    /// Does not call `poll` for this long.
    pub(super) fn pause_polling(&mut self, ctx: &mut Ctx<'_>, span: Dur) {
        if self.application.poll.is_some() {
            self.application.pause = Some(span);
        } else {
            self.application.pause_polling(ctx.now, span);
            ctx.set(Timer::Client(ClientTimer::Poll), span);
        }
    }

    pub(super) fn begin_poll(&mut self, ctx: &mut Ctx<'_>) {
        self.counts.polls += 1;
        self.application.poll = Some(Poll { started: ctx.now, deadline: ctx.now + POLL_TIMEOUT, passed: false });
        ctx.set(Timer::Client(ClientTimer::Poll), POLL_TIMEOUT);
        ctx.set(Timer::Client(ClientTimer::PollInterval), self.config.max_poll_interval);
    }

    /// One pass through the steps of the current `poll`. True if it returned and the next began at this instant.
    pub(super) fn advance_poll(&mut self, ctx: &mut Ctx<'_>) -> bool {
        let Some(poll) = self.application.poll else { return false };
        if let Some(exception) = self.application.exception() {
            return self.throw(ctx, exception);
        }
        let mut expired = poll.deadline <= ctx.now;
        let step = self.group_step(ctx);
        if let Some(exception) = self.application.exception() {
            return self.throw(ctx, exception);
        }
        match step {
            Step::Done => {
                // What blocked without end does not also lose its own time: that begins now.
                let deadline = if self.blocks() && !poll.passed { ctx.now + POLL_TIMEOUT } else { poll.deadline };
                if deadline != poll.deadline {
                    ctx.set(Timer::Client(ClientTimer::Poll), POLL_TIMEOUT);
                }
                expired = deadline <= ctx.now;
                self.application.poll = Some(Poll { passed: true, deadline, ..poll });
                self.position_step(ctx);
                if let Some(exception) = self.application.error.take() {
                    return self.throw(ctx, exception);
                }
            }
            Step::Blocked => return false,
            Step::NoCoordinator | Step::Joining if poll.passed => {}
            Step::NoCoordinator | Step::Joining if self.blocks() => return false,
            Step::NoCoordinator | Step::Joining if !self.reads_on() => return expired && self.end_poll(ctx, false),
            // From 2.5 on a poll waits for a coordinator up to its own time, and then reads all the same.
            Step::NoCoordinator if !expired => return false,
            Step::NoCoordinator | Step::Joining => {}
        }
        if self.holds_back() {
            return expired && self.end_poll(ctx, false);
        }
        if self.assignment.has_buffered() {
            return self.end_poll(ctx, true);
        }
        self.send_fetches(ctx);
        expired && self.end_poll(ctx, false)
    }

    fn throw(&mut self, ctx: &mut Ctx<'_>, exception: &'static str) -> bool {
        self.counts.failed_polls += 1;
        ctx.note(Kind::PollFailed { group: self.spec.group.clone(), exception });
        self.application.poll = None;
        self.application.next_poll = ctx.now + REST_AFTER_EXCEPTION;
        ctx.set(Timer::Client(ClientTimer::Poll), REST_AFTER_EXCEPTION);
        false
    }

    /// `poll` returns; the application handles the records, commits if its second is over, and polls again.
    fn end_poll(&mut self, ctx: &mut Ctx<'_>, deliver: bool) -> bool {
        let Some(poll) = self.application.poll.take() else { return false };
        if ctx.now.since(poll.started) > SLOW_POLL {
            self.counts.slow_polls += 1;
        }
        if deliver {
            self.deliver(ctx);
            // The next records are on their way while the application handles these.
            self.send_fetches(ctx);
        }
        let due = self.application.commits_now(ctx.now, self.spec.commit_every);
        let pause = self.application.pause.take();
        if due {
            self.commit_async(ctx, CommitKind::Application);
        }
        let regular = poll.started + self.spec.poll_every.max(Dur(1));
        match pause {
            Some(span) => self.application.pause_polling(ctx.now, span),
            None => self.application.next_poll = regular.max(ctx.now + LOOP_TIME),
        }
        if self.application.next_poll <= ctx.now {
            self.begin_poll(ctx);
            return true;
        }
        ctx.set(Timer::Client(ClientTimer::Poll), self.application.next_poll.since(ctx.now));
        false
    }
}
