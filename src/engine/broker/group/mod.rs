//! The group coordinator of a broker: which partitions of `__consumer_offsets` it serves, loading, unloading, routing,
//! Writes are in `writes`, groups in `state`, `join`, `sync` and `commit`.

mod commit;
mod env;
mod join;
mod request;
mod state;
mod sync;
#[cfg(test)]
mod tests;
mod view;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::vec::Vec;

pub use env::CoordinatorLog;
pub use view::{GroupView, MemberView};

use self::env::{Env, Purpose, Write, commit_response};
use self::join::join_error;
use self::state::{Group, entry, replay};
use super::ReplyTo;
use crate::base::{Dur, GenerationId, LeaderEpoch, Map, TopicId};
use crate::node::{Ctx, GroupTimer, Timer};
use crate::protocol::config::NodeConfig;
use crate::protocol::hash::group_partition;
use crate::protocol::{Api, ErrorCode, GroupRecord, GroupRequest, GroupResponse};
use crate::rules::{CoordinatorKind, Rules};
use crate::trace::Kind;

/// How long a partition with records takes to load. Real ones take milliseconds to minutes by their size; ours are
/// small.
const LOAD_TIME: Dur = Dur::ms(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Status {
    Loading,
    Active,
}

/// A partition of `__consumer_offsets` that this broker leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Shard {
    status: Status,
    epoch: LeaderEpoch,
    groups: Map<Rc<str>, Group>,
    /// Not below the high watermark yet, oldest first.
    writes: VecDeque<Write>,
}

/// All groups that a broker coordinates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupCoordinator {
    config: Rc<NodeConfig>,
    rules: Rules,
    shards: Map<u32, Shard>,
    next_write: u64,
    answers: Vec<(ReplyTo, GroupResponse)>,
}

/// The surroundings of one shard, and its groups beside them.
macro_rules! env {
    ($self:ident, $shard:ident, $ctx:ident, $log:ident, $partition:expr) => {
        Env {
            ctx: $ctx,
            log: $log,
            config: &$self.config,
            rules: $self.rules,
            partition: $partition,
            writes: &mut $shard.writes,
            next_write: &mut $self.next_write,
            answers: &mut $self.answers,
        }
    };
}

mod writes;

impl GroupCoordinator {
    pub fn new(config: Rc<NodeConfig>, rules: Rules) -> GroupCoordinator {
        GroupCoordinator { config, rules, shards: Map::new(), next_write: 0, answers: Vec::new() }
    }

    /// Answers that came about since last asked.
    pub fn take_answers(&mut self) -> Vec<(ReplyTo, GroupResponse)> {
        core::mem::take(&mut self.answers)
    }

    /// The broker leads a partition (again). One that it served before goes on; an empty log needs no loading.
    pub fn on_elected(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, partition: u32, epoch: LeaderEpoch) {
        if let Some(shard) = self.shards.get_mut(&partition) {
            shard.epoch = epoch;
            return;
        }
        let empty = log.read(ctx, partition).is_empty();
        let status = if empty { Status::Active } else { Status::Loading };
        self.shards.insert(partition, Shard { status, epoch, groups: Map::new(), writes: VecDeque::new() });
        if !empty {
            ctx.because(Kind::CoordinatorLoading { partition });
            ctx.set(Timer::Group(GroupTimer::Load(partition)), LOAD_TIME);
        }
    }

    /// The broker does not lead the partition any more: everybody who waits is sent to look for the new coordinator.
    pub fn on_resigned(&mut self, ctx: &mut Ctx<'_>, partition: u32) {
        let Some(shard) = self.shards.remove(&partition) else { return };
        let had_something = shard.status == Status::Loading || !shard.groups.is_empty();
        ctx.cancel(&Timer::Group(GroupTimer::Load(partition)));
        ctx.cancel(&Timer::Group(GroupTimer::Linger(partition)));
        for write in shard.writes {
            ctx.cancel(&Timer::Group(GroupTimer::Write(write.id)));
            let gone = ErrorCode::NotCoordinator;
            match write.purpose {
                Purpose::Commit { reply, group: _, tps } => {
                    self.answers.push((reply, commit_response(tps.into_iter(), gone)))
                }
                Purpose::StaticJoin { reply, group: _, member, response: _ } => {
                    self.answers.push((reply, join_error(gone, member)))
                }
                Purpose::Answer { reply, group: _, reader, error: _ } => {
                    self.answers.push((reply, reader.answer(gone)))
                }
                Purpose::Assignment { .. } | Purpose::Nothing => {}
            }
        }
        for group in shard.groups.into_values() {
            self.drop_group(ctx, group);
        }
        if had_something {
            ctx.because(Kind::CoordinatorUnloaded { partition });
        }
    }

    fn drop_group(&mut self, ctx: &mut Ctx<'_>, group: Group) {
        let id = group.id;
        ctx.cancel(&Timer::Group(GroupTimer::Join { group: id.clone() }));
        ctx.cancel(&Timer::Group(GroupTimer::Sync { group: id.clone() }));
        for member in group.pending {
            ctx.cancel(&Timer::Group(GroupTimer::Pending { group: id.clone(), member }));
        }
        for (member_id, member) in group.members {
            ctx.cancel(&Timer::Group(GroupTimer::Session { group: id.clone(), member: member_id.clone() }));
            self.answers.extend(member.join.map(|reply| (reply, join_error(ErrorCode::NotCoordinator, member_id))));
            self.answers.extend(member.sync.map(|reply| (reply, env::sync_error(ErrorCode::NotCoordinator))));
        }
    }

    /// Reads the partition to its end and takes up its groups; their sessions begin now. What lies above the high
    /// watermark is not committed yet.
    fn load(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, partition: u32) {
        let Some(shard) = self.shards.get_mut(&partition).filter(|s| s.status == Status::Loading) else { return };
        let committed = log.high_watermark(partition);
        for (end, records) in log.read(ctx, partition) {
            let wait = end > committed && self.rules.coordinator == CoordinatorKind::New;
            for record in records.iter() {
                match record {
                    GroupRecord::Offset { .. } if wait => {}
                    GroupRecord::Offset { .. } | GroupRecord::Group { .. } => replay(&mut shard.groups, record),
                }
            }
            if wait {
                self.next_write += 1;
                let end = Some(end);
                shard.writes.push_back(Write { id: self.next_write, end, records, purpose: Purpose::Nothing });
            }
        }
        shard.status = Status::Active;
        ctx.because(Kind::CoordinatorLoaded { partition, groups: shard.groups.len() as u32 });
        let mut groups = core::mem::take(&mut shard.groups);
        let mut env = env!(self, shard, ctx, log, partition);
        for group in groups.values_mut() {
            group.restore();
            let members: Vec<Rc<str>> = group.members.keys().cloned().collect();
            members.iter().for_each(|member| group.arm_session(&mut env, member));
        }
        shard.groups = groups;
    }

    /// A request to a coordinator. `n_partitions`: of `__consumer_offsets`, in this broker's metadata.
    pub fn on_request(
        &mut self,
        ctx: &mut Ctx<'_>,
        log: &mut dyn CoordinatorLog,
        n_partitions: u32,
        request: GroupRequest,
        reply: ReplyTo,
    ) {
        let partition = group_partition(request.group(), n_partitions);
        let error = match self.shards.get(&partition) {
            None if request.group().is_empty() => Some(ErrorCode::InvalidGroupId),
            Some(_) if request.group().is_empty() => Some(ErrorCode::InvalidGroupId),
            None => Some(ErrorCode::NotCoordinator),
            Some(shard) if shard.status == Status::Loading => Some(request::error_while_loading(&request)),
            Some(_) => self.request_error(&request),
        };
        if let Some(error) = error {
            return self.refuse(ctx, &request, error, reply);
        }
        let id = request.group().clone();
        let known = self.shards.get(&partition).is_some_and(|shard| shard.groups.contains_key(&id));
        if !known && let Some(error) = self.error_without_group(&request) {
            return self.refuse(ctx, &request, error, reply);
        }
        let Some(shard) = self.shards.get_mut(&partition) else { return };
        let mut env = env!(self, shard, ctx, log, partition);
        let group = entry(&mut shard.groups, &id);
        match request {
            GroupRequest::JoinGroup(request) => group.on_join(&mut env, request, reply),
            GroupRequest::SyncGroup(request) => group.on_sync(&mut env, request, reply),
            GroupRequest::Heartbeat(request) => group.on_heartbeat(&mut env, &request, reply),
            GroupRequest::LeaveGroup(request) => group.on_leave(&mut env, &request, reply),
            GroupRequest::OffsetCommit(request) => group.on_commit(&mut env, request, reply),
            GroupRequest::OffsetFetch { .. } => env.answer(reply, group.fetch()),
            GroupRequest::DescribeGroups { .. } => env.answer(reply, group.describe()),
        }
        self.settle(ctx, log, partition);
    }

    fn refuse(&mut self, ctx: &mut Ctx<'_>, request: &GroupRequest, error: ErrorCode, reply: ReplyTo) {
        if !error.is_none() {
            ctx.note(Kind::CoordinatorRefused { group: request.group().clone(), api: request.api(), error });
        }
        self.answers.push((reply, request::answer_with(request, error)));
    }

    fn request_error(&self, request: &GroupRequest) -> Option<ErrorCode> {
        let GroupRequest::JoinGroup(join) = request else { return None };
        let allowed = self.config.group_min_session_timeout..=self.config.group_max_session_timeout;
        (!allowed.contains(&join.session_timeout)).then_some(ErrorCode::InvalidSessionTimeout)
    }

    /// What a request gets that names a group which is not there (`ErrorCode::None`: an empty answer); `None` if the
    /// request makes it.
    fn error_without_group(&self, request: &GroupRequest) -> Option<ErrorCode> {
        match request {
            GroupRequest::JoinGroup(r) if r.member_id.is_empty() => None,
            GroupRequest::OffsetCommit(r) if r.generation < GenerationId(0) => None,
            GroupRequest::OffsetCommit(r) => match self.rules.coordinator {
                CoordinatorKind::New if r.knows_group_id_not_found => Some(ErrorCode::GroupIdNotFound),
                CoordinatorKind::New | CoordinatorKind::Old => Some(ErrorCode::IllegalGeneration),
            },
            GroupRequest::JoinGroup(_)
            | GroupRequest::SyncGroup(_)
            | GroupRequest::Heartbeat(_)
            | GroupRequest::LeaveGroup(_) => Some(ErrorCode::UnknownMemberId),
            GroupRequest::OffsetFetch { .. } => Some(ErrorCode::None),
            GroupRequest::DescribeGroups { .. } => match self.rules.coordinator {
                // DescribeGroups v6 says so; older brokers describe a dead group.
                CoordinatorKind::New => Some(ErrorCode::GroupIdNotFound),
                CoordinatorKind::Old => Some(ErrorCode::None),
            },
        }
    }

    /// A timer of a group fired. `n_partitions` as in [`GroupCoordinator::on_request`].
    pub fn on_timer(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, n_partitions: u32, timer: &GroupTimer) {
        match timer {
            GroupTimer::Load(partition) => self.load(ctx, log, *partition),
            GroupTimer::Write(id) => self.on_write_timer(ctx, log, *id),
            GroupTimer::Linger(partition) => self.flush(ctx, log, *partition),
            GroupTimer::Session { group, member } => {
                self.with_group(ctx, log, n_partitions, group, |g, env| g.on_session_timer(env, member))
            }
            GroupTimer::Pending { group, member } => {
                self.with_group(ctx, log, n_partitions, group, |g, env| g.on_pending_timer(env, member))
            }
            GroupTimer::Join { group } => self.with_group(ctx, log, n_partitions, group, |g, env| g.on_join_timer(env)),
            GroupTimer::Sync { group } => self.with_group(ctx, log, n_partitions, group, |g, env| g.on_sync_timer(env)),
        }
    }

    fn with_group(
        &mut self,
        ctx: &mut Ctx<'_>,
        log: &mut dyn CoordinatorLog,
        n_partitions: u32,
        id: &Rc<str>,
        f: impl FnOnce(&mut Group, &mut Env<'_, '_>),
    ) {
        let partition = group_partition(id, n_partitions);
        if let Some(shard) = self.shards.get_mut(&partition) {
            let mut env = env!(self, shard, ctx, log, partition);
            if let Some(group) = shard.groups.get_mut(id) {
                f(group, &mut env);
            }
        }
        self.settle(ctx, log, partition);
    }

    /// Topics were deleted: their committed offsets go.
    pub fn on_topics_deleted(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, topics: &[TopicId]) {
        let partitions: Vec<u32> =
            self.shards.iter().filter(|(_, s)| s.status == Status::Active).map(|(p, _)| *p).collect();
        for partition in partitions {
            let Some(shard) = self.shards.get_mut(&partition) else { continue };
            let records: Vec<GroupRecord> = shard.groups.values().flat_map(|g| g.tombstones(topics)).collect();
            if !records.is_empty() {
                let mut env = env!(self, shard, ctx, log, partition);
                // Offsets of a topic that is gone hurt nobody: if the write fails they stay until the next load.
                if let Err(error) = env.write(records, Purpose::Nothing) {
                    ctx.note(Kind::CoordinatorRefused { group: "".into(), api: Api::OffsetCommit, error });
                }
                self.settle(ctx, log, partition);
            }
        }
    }

    /// Partitions that are served or loaded, with the leader epoch.
    pub fn partitions(&self) -> impl Iterator<Item = (u32, LeaderEpoch)> {
        self.shards.iter().map(|(partition, shard)| (*partition, shard.epoch))
    }
}
