//! What a group's handlers may use: the surroundings, the log of their partition, writes that wait, answers. Holds no
//! group.

use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec;
use alloc::vec::Vec;

use crate::base::{Dur, GenerationId, Offset, Tp};
use crate::broker::ReplyTo;
use crate::node::{Ctx, GroupTimer, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::{Api, ErrorCode, GroupRecord, GroupResponse};
use crate::rules::{CoordinatorKind, Rules};
use crate::trace::Kind;

/// The log of `__consumer_offsets` as a coordinator uses it.
pub trait CoordinatorLog {
    /// Appends as leader and returns the offset after the batch. With `admission` the in-sync replicas are counted
    /// first, as for acks=all.
    fn append(
        &mut self,
        ctx: &mut Ctx<'_>,
        partition: u32,
        records: Vec<GroupRecord>,
        admission: bool,
    ) -> Result<Offset, ErrorCode>;
    fn high_watermark(&self, partition: u32) -> Offset;
    /// Whether one batch may have so many records.
    fn fits(&self, partition: u32, records: usize) -> bool;
    /// Every batch of the partition with the offset after it, oldest first.
    fn read(&self, ctx: &Ctx<'_>, partition: u32) -> Vec<(Offset, Rc<[GroupRecord]>)>;
}

/// A request of a member that writes nothing by itself: its answer waits for all that was written before it
/// (CoordinatorRuntime.waitForPendingWrites).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reader {
    Heartbeat,
    Leave,
}

impl Reader {
    pub const fn api(self) -> Api {
        match self {
            Reader::Heartbeat => Api::Heartbeat,
            Reader::Leave => Api::LeaveGroup,
        }
    }

    pub const fn answer(self, error: ErrorCode) -> GroupResponse {
        match self {
            Reader::Heartbeat => GroupResponse::Heartbeat { error },
            Reader::Leave => GroupResponse::LeaveGroup { error },
        }
    }
}

/// What follows when a write is below the high watermark.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A member's OffsetCommit is answered.
    Commit { reply: ReplyTo, group: Rc<str>, tps: Vec<Tp> },
    /// The assignment of this generation is handed out.
    Assignment { group: Rc<str>, generation: GenerationId },
    /// A static member that came back is answered.
    StaticJoin { reply: ReplyTo, group: Rc<str>, member: Rc<str>, response: GroupResponse },
    /// A request that wrote nothing is answered.
    Answer { reply: ReplyTo, group: Rc<str>, reader: Reader, error: ErrorCode },
    /// Nobody waits.
    Nothing,
}

/// A write to the log that is not below the high watermark yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    pub id: u64,
    /// Offset after the batch; `None` while the batch is open.
    pub end: Option<Offset>,
    /// Empty for an answer that waits behind the others.
    pub records: Rc<[GroupRecord]>,
    pub purpose: Purpose,
}

/// Surroundings of one call.
pub struct Env<'e, 'c> {
    pub ctx: &'e mut Ctx<'c>,
    pub log: &'e mut dyn CoordinatorLog,
    pub config: &'e NodeConfig,
    pub rules: Rules,
    pub partition: u32,
    pub writes: &'e mut VecDeque<Write>,
    pub next_write: &'e mut u64,
    pub answers: &'e mut Vec<(ReplyTo, GroupResponse)>,
}

impl Env<'_, '_> {
    pub fn answer(&mut self, reply: ReplyTo, response: GroupResponse) {
        self.answers.push((reply, response));
    }

    /// Answers with an error and notes it.
    pub fn refuse(&mut self, reply: ReplyTo, group: &Rc<str>, api: Api, error: ErrorCode, response: GroupResponse) {
        self.ctx.note(Kind::CoordinatorRefused { group: group.clone(), api, error });
        self.answers.push((reply, response));
    }

    pub fn set(&mut self, timer: GroupTimer, after: Dur) {
        self.ctx.set(Timer::Group(timer), after);
    }
    pub fn cancel(&mut self, timer: GroupTimer) {
        self.ctx.cancel(&Timer::Group(timer));
    }

    /// Appends records, or puts them into the open batch of the newer coordinator. What `purpose` says happens when the
    /// high watermark passes them or `offsets.commit.timeout.ms` is over.
    pub fn write(&mut self, records: Vec<GroupRecord>, purpose: Purpose) -> Result<(), ErrorCode> {
        let linger = self.config.group_append_linger;
        let end = match self.rules.coordinator {
            CoordinatorKind::New if linger > Dur::ZERO => {
                if !self.has_open_batch() {
                    self.set(GroupTimer::Linger(self.partition), linger);
                }
                None
            }
            CoordinatorKind::New => Some(self.log.append(self.ctx, self.partition, records.clone(), false)?),
            CoordinatorKind::Old => Some(self.log.append(self.ctx, self.partition, records.clone(), true)?),
        };
        self.wait(end, records, purpose);
        Ok(())
    }

    fn has_open_batch(&self) -> bool {
        self.writes.back().is_some_and(|last| last.end.is_none())
    }

    /// Answers a request that changed nothing: with the newer coordinator when all is safe that was written before.
    pub fn answer_behind_writes(&mut self, reader: Reader, reply: ReplyTo, group: &Rc<str>, error: ErrorCode) {
        let last = self.writes.back().filter(|_| self.rules.coordinator == CoordinatorKind::New).map(|last| last.end);
        match last {
            Some(end) => self.wait(end, Vec::new(), Purpose::Answer { reply, group: group.clone(), reader, error }),
            None => self.tell(reader, reply, group, error),
        }
    }

    /// Answers a request that changed nothing.
    pub fn tell(&mut self, reader: Reader, reply: ReplyTo, group: &Rc<str>, error: ErrorCode) {
        if error.is_none() {
            self.answer(reply, reader.answer(error));
        } else {
            self.refuse(reply, group, reader.api(), error, reader.answer(error));
        }
    }

    fn wait(&mut self, end: Option<Offset>, records: Vec<GroupRecord>, purpose: Purpose) {
        *self.next_write += 1;
        let id = *self.next_write;
        if purpose != Purpose::Nothing {
            self.set(GroupTimer::Write(id), self.config.offsets_commit_timeout);
        }
        self.writes.push_back(Write { id, end, records: records.into(), purpose });
    }

    /// What a group's client is told of a failed write (GroupMetadataManager, CoordinatorRuntime). `assignment`: group
    /// metadata was written.
    pub fn write_error(&self, error: ErrorCode, assignment: bool) -> ErrorCode {
        match error {
            ErrorCode::RequestTimedOut if assignment && self.rules.coordinator == CoordinatorKind::Old => {
                ErrorCode::RebalanceInProgress
            }
            ErrorCode::UnknownTopicOrPartition
            | ErrorCode::NotEnoughReplicas
            | ErrorCode::NotEnoughReplicasAfterAppend
            | ErrorCode::RequestTimedOut => ErrorCode::CoordinatorNotAvailable,
            ErrorCode::NotLeaderOrFollower | ErrorCode::KafkaStorageError => ErrorCode::NotCoordinator,
            other => {
                debug_assert!(!other.is_none(), "a write that failed has an error");
                ErrorCode::UnknownServerError
            }
        }
    }
}

/// The answer of OffsetCommit when all partitions fare alike.
pub fn commit_response(tps: impl Iterator<Item = Tp>, error: ErrorCode) -> GroupResponse {
    GroupResponse::OffsetCommit { results: tps.map(|tp| (tp, error)).collect() }
}

/// The answer of SyncGroup without an assignment.
pub fn sync_error(error: ErrorCode) -> GroupResponse {
    GroupResponse::SyncGroup { error, assignment: vec![] }
}
