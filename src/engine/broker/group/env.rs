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
use crate::protocol::{Api, ErrorCode, GroupRecord, Response};
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
    /// Every batch of the partition with the offset after it, oldest first.
    fn read(&self, ctx: &Ctx<'_>, partition: u32) -> Vec<(Offset, Rc<[GroupRecord]>)>;
}

/// What follows when a write is below the high watermark.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A member's OffsetCommit is answered.
    Commit { reply: ReplyTo, group: Rc<str>, tps: Vec<Tp> },
    /// The assignment of this generation is handed out.
    Assignment { group: Rc<str>, generation: GenerationId },
    /// A static member that came back is answered.
    StaticJoin { reply: ReplyTo, group: Rc<str>, member: Rc<str>, response: Response },
    /// Nobody waits.
    Nothing,
}

/// A write to the log that is not below the high watermark yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    pub id: u64,
    /// Offset after the batch.
    pub end: Offset,
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
    pub answers: &'e mut Vec<(ReplyTo, Response)>,
}

impl Env<'_, '_> {
    pub fn answer(&mut self, reply: ReplyTo, response: Response) {
        self.answers.push((reply, response));
    }

    /// Answers with an error and notes it.
    pub fn refuse(&mut self, reply: ReplyTo, group: &Rc<str>, api: Api, error: ErrorCode, response: Response) {
        self.ctx.note(Kind::CoordinatorRefused { group: group.clone(), api, error });
        self.answers.push((reply, response));
    }

    pub fn set(&mut self, timer: GroupTimer, after: Dur) {
        self.ctx.set(Timer::Group(timer), after);
    }
    pub fn cancel(&mut self, timer: GroupTimer) {
        self.ctx.cancel(&Timer::Group(timer));
    }

    /// Appends records; what `purpose` says happens when the high watermark passes them or `offsets.commit.timeout.ms`
    /// is over.
    pub fn write(&mut self, records: Vec<GroupRecord>, purpose: Purpose) -> Result<(), ErrorCode> {
        let admission = self.rules.coordinator == CoordinatorKind::Old;
        let end = self.log.append(self.ctx, self.partition, records.clone(), admission)?;
        *self.next_write += 1;
        let id = *self.next_write;
        if purpose != Purpose::Nothing {
            self.set(GroupTimer::Write(id), self.config.offsets_commit_timeout);
        }
        self.writes.push_back(Write { id, end, records: records.into(), purpose });
        Ok(())
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
pub fn commit_response(tps: impl Iterator<Item = Tp>, error: ErrorCode) -> Response {
    Response::OffsetCommit { results: tps.map(|tp| (tp, error)).collect() }
}

/// The answer of SyncGroup without an assignment.
pub fn sync_error(error: ErrorCode) -> Response {
    Response::SyncGroup { error, assignment: vec![] }
}
