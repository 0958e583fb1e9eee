//! Writes of the coordinator on their way to safety: gathered into a batch, appended, completed by the high watermark,
//! failed or given up. What is written the groups decide.

use alloc::vec::Vec;

use super::env::{CoordinatorLog, Env, Purpose, Write, commit_response};
use super::join::join_error;
use super::state::replay;
use super::{GroupCoordinator, Shard};
use crate::base::Offset;
use crate::node::{Ctx, GroupTimer, Timer};
use crate::protocol::{Api, ErrorCode, GroupRecord};
use crate::rules::CoordinatorKind;
use crate::trace::Kind;

impl GroupCoordinator {
    /// The high watermark of a partition moved.
    pub fn on_high_watermark(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, partition: u32) {
        self.settle(ctx, log, partition);
    }

    /// Appends the open batch of a partition. Writes that do not fit into one batch go into several.
    pub(super) fn flush(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, partition: u32) {
        let mut failed = Vec::new();
        if let Some(Shard { writes, .. }) = self.shards.get_mut(&partition) {
            let mut from = writes.iter().position(|write| write.end.is_none()).unwrap_or(writes.len());
            while from < writes.len() {
                let mut records: Vec<GroupRecord> = Vec::new();
                let open = writes.iter().skip(from);
                let taken = open.take_while(|write| {
                    let goes_in = records.is_empty()
                        || write.records.is_empty()
                        || log.fits(partition, records.len() + write.records.len());
                    if goes_in {
                        records.extend(write.records.iter().cloned());
                    }
                    goes_in
                });
                let to = from + taken.count();
                match log.append(ctx, partition, records, false) {
                    Ok(end) => {
                        writes.range_mut(from..to).for_each(|write| write.end = Some(end));
                        from = to;
                    }
                    Err(error) => failed.extend(writes.drain(from..to).map(|write| (write, error))),
                }
            }
        }
        for (write, error) in failed {
            ctx.cancel(&Timer::Group(GroupTimer::Write(write.id)));
            self.fail(ctx, log, partition, write.purpose, error);
        }
        self.settle(ctx, log, partition);
    }

    /// Completes the writes that the high watermark has passed.
    pub(super) fn settle(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, partition: u32) {
        let high_watermark = log.high_watermark(partition);
        while let Some(shard) = self.shards.get_mut(&partition) {
            let Some(write) = shard.writes.pop_front_if(|write| is_safe(write, high_watermark)) else { return };
            ctx.cancel(&Timer::Group(GroupTimer::Write(write.id)));
            for record in write.records.iter() {
                replay(&mut shard.groups, record);
            }
            self.complete(ctx, log, partition, write);
        }
    }

    fn complete(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, partition: u32, write: Write) {
        let Some(shard) = self.shards.get_mut(&partition) else { return };
        match write.purpose {
            Purpose::Commit { reply, group, tps } => {
                let offset = |record: &GroupRecord| match record {
                    GroupRecord::Offset { tp, commit, .. } => commit.map(|commit| (*tp, commit.offset)),
                    GroupRecord::Group { .. } => None,
                };
                ctx.note(Kind::OffsetsCommitted { group, offsets: write.records.iter().filter_map(offset).collect() });
                self.answers.push((reply, commit_response(tps.into_iter(), ErrorCode::None)));
            }
            Purpose::StaticJoin { reply, group: _, member: _, response } => self.answers.push((reply, response)),
            Purpose::Assignment { group, generation } => {
                let mut env = env!(self, shard, ctx, log, partition);
                if let Some(group) = shard.groups.get_mut(&group) {
                    group.on_assignment_stored(&mut env, generation);
                }
            }
            Purpose::Answer { reply, group, reader, error } => {
                env!(self, shard, ctx, log, partition).tell(reader, reply, &group, error);
            }
            Purpose::Nothing => {}
        }
    }

    /// A write has waited too long. The newer coordinator lets it take effect later, the older one forgets it; the log
    /// keeps it in both.
    pub(super) fn on_write_timer(&mut self, ctx: &mut Ctx<'_>, log: &mut dyn CoordinatorLog, id: u64) {
        let find = |(partition, shard): (&u32, &Shard)| {
            shard.writes.iter().position(|w| w.id == id).map(|position| (*partition, position))
        };
        let Some((partition, position)) = self.shards.iter().find_map(find) else { return };
        let Some(shard) = self.shards.get_mut(&partition) else { return };
        let purpose = match self.rules.coordinator {
            CoordinatorKind::New => {
                shard.writes.get_mut(position).map(|w| core::mem::replace(&mut w.purpose, Purpose::Nothing))
            }
            CoordinatorKind::Old => shard.writes.remove(position).map(|w| w.purpose),
        };
        if let Some(purpose) = purpose {
            self.fail(ctx, log, partition, purpose, ErrorCode::RequestTimedOut);
        }
    }

    /// Tells whoever waits for a write that it failed.
    fn fail(
        &mut self,
        ctx: &mut Ctx<'_>,
        log: &mut dyn CoordinatorLog,
        partition: u32,
        purpose: Purpose,
        why: ErrorCode,
    ) {
        let Some(shard) = self.shards.get_mut(&partition) else { return };
        let mut env = env!(self, shard, ctx, log, partition);
        match purpose {
            Purpose::Commit { reply, group, tps } => {
                let error = env.write_error(why, false);
                env.refuse(reply, &group, Api::OffsetCommit, error, commit_response(tps.into_iter(), error));
            }
            Purpose::StaticJoin { reply, group, member, response: _ } => {
                let error = env.write_error(why, true);
                env.refuse(reply, &group, Api::JoinGroup, error, join_error(error, member));
            }
            Purpose::Assignment { group, generation } => {
                if let Some(group) = shard.groups.get_mut(&group) {
                    group.on_assignment_failed(&mut env, generation, why);
                }
            }
            Purpose::Answer { reply, group, reader, error: _ } => {
                let error = env.write_error(why, false);
                env.tell(reader, reply, &group, error);
            }
            Purpose::Nothing => {}
        }
    }
}

fn is_safe(write: &Write, high_watermark: Offset) -> bool {
    write.end.is_some_and(|end| end <= high_watermark)
}
