//! Fetching and delivery (section 7.4): one Fetch a node, a buffer, `poll` that hands it out. Where to read on is
//! decided in `positions`.
use alloc::vec::Vec;

use super::positions::{Buffered, Fetchability, Position};
use super::{Call, Consumer};
use crate::base::{BrokerId, Map, Offset, Tp};
use crate::client::spec::ClientVersion;
use crate::node::{Channel, Ctx, Outcome};
use crate::protocol::{
    ErrorCode, FetchPartition, FetchRequest, FetchedPartition, Fetcher, PartitionRequest, PartitionResponse, Request,
    Response,
};
use crate::trace::Kind;

impl Consumer {
    /// `poll` hands out what is buffered, at most `max.poll.records`.
    pub(super) fn deliver(&mut self, ctx: &mut Ctx<'_>) {
        let mut room = self.config.max_poll_records;
        for (tp, partition) in &mut self.assignment.partitions {
            while room > 0 {
                let Some(record) = partition.buffer.pop_front() else { break };
                room -= 1;
                self.counts.delivered += 1;
                ctx.note(Kind::RecordDelivered {
                    tag: record.tag,
                    tp: *tp,
                    offset: record.offset,
                    epoch: record.epoch,
                });
                if let Some(position) = &mut partition.position {
                    position.offset = record.offset + 1;
                    position.epoch = Some(record.epoch);
                }
            }
        }
    }

    /// One Fetch per node, for partitions with a valid position and nothing buffered.
    pub(super) fn send_fetches(&mut self, ctx: &mut Ctx<'_>) {
        let mut by_leader: Map<BrokerId, Vec<(Tp, Position)>> = Map::new();
        for (tp, partition) in &self.assignment.partitions {
            let Some(position) = partition.position.filter(|_| {
                partition.state == Fetchability::Ready && partition.buffer.is_empty() && partition.not_before <= ctx.now
            }) else {
                continue;
            };
            match position.leader {
                Some(leader) => by_leader.entry(leader).or_default().push((*tp, position)),
                None => self.metadata.request_update(),
            }
        }
        for (leader, partitions) in by_leader {
            if self.assignment.fetching.contains(&leader) || !self.net.ready(ctx, leader, Channel::Client) {
                continue;
            }
            let with_epoch = self.spec.version >= ClientVersion::V2_3;
            let wire = partitions.iter().map(|(tp, position)| FetchPartition {
                tp: *tp,
                current_leader_epoch: position.leader_epoch.filter(|_| with_epoch),
                fetch_offset: position.offset,
                last_fetched_epoch: None,
                log_start_offset: -1,
                max_bytes: self.config.max_partition_fetch_bytes,
            });
            let request = Request::Partition(PartitionRequest::Fetch(FetchRequest {
                fetcher: Fetcher::Consumer { isolation: self.config.isolation },
                max_wait: self.config.fetch_max_wait,
                min_bytes: self.config.fetch_min_bytes,
                max_bytes: self.config.fetch_max_bytes,
                partitions: wire.collect(),
            }));
            let positions = partitions.iter().map(|(tp, position)| (*tp, position.offset)).collect();
            self.assignment.fetching.insert(leader);
            self.net.send(
                ctx,
                leader,
                Channel::Client,
                request,
                self.config.common.request_timeout,
                Call::Fetch { positions },
            );
        }
    }

    pub(super) fn on_fetched(
        &mut self,
        ctx: &mut Ctx<'_>,
        broker: BrokerId,
        asked: Vec<(Tp, Offset)>,
        outcome: Outcome,
    ) {
        self.assignment.fetching.remove(&broker);
        let partitions = match outcome {
            Outcome::Answer(Response::Partition(PartitionResponse::Fetch { partitions })) => partitions,
            Outcome::Answer(_) | Outcome::Failed(_) => return self.metadata.request_update(),
        };
        for fetched in partitions {
            let Some((_, offset)) = asked.iter().find(|(tp, _)| *tp == fetched.tp) else { continue };
            self.on_fetched_partition(ctx, *offset, fetched);
        }
    }

    fn on_fetched_partition(&mut self, ctx: &mut Ctx<'_>, offset: Offset, fetched: FetchedPartition) {
        let tp = fetched.tp;
        if let Some(hint) = fetched.current_leader
            && self.metadata.on_hint(ctx, tp, hint)
        {
            // The new leader is asked at once, and for the metadata all the same.
            self.metadata.request_update();
            self.renew_leader(tp);
            return;
        }
        let policy = self.reset_spec();
        // A position that moved meanwhile makes the answer worthless.
        let Some(partition) = self
            .assignment
            .partitions
            .get_mut(&tp)
            .filter(|p| p.state == Fetchability::Ready && p.position.is_some_and(|at| at.offset == offset))
        else {
            return;
        };
        match fetched.error {
            ErrorCode::None => {
                partition.high_watermark = Some(fetched.high_watermark);
                for batch in &fetched.batches {
                    let records = batch.records().filter(|(at, _)| *at >= offset);
                    let buffered = records.map(|(offset, r)| Buffered { tag: r.tag, offset, epoch: batch.epoch });
                    partition.buffer.extend(buffered);
                }
            }
            ErrorCode::OffsetOutOfRange => match policy {
                Some(spec) => partition.state = Fetchability::NeedsReset(spec),
                None => self.application.error = Some(fetched.error.exception()),
            },
            error => self.rest(ctx, tp, error),
        }
    }
}
