//! What a broker does with an OffsetCommit before and after the coordinator sees it: partitions that do not exist are
//! refused, the others are committed (KafkaApis.handleOffsetCommitRequest). It knows no groups.

use alloc::vec::Vec;

use super::replicas::Handled;
use super::{Broker, ReplyTo};
use crate::base::Tp;
use crate::node::Ctx;
use crate::protocol::{Api, ErrorCode, GroupRequest, GroupResponse, OffsetCommitRequest};
use crate::trace::Kind;

impl Broker {
    /// Passes on what exists. A name means the topic that has it now, whichever the client knew. Where nothing is left,
    /// the coordinator is not asked at all: neither group nor generation is looked at.
    pub(super) fn on_offset_commit(
        &mut self,
        ctx: &mut Ctx<'_>,
        mut request: OffsetCommitRequest,
        reply: ReplyTo,
    ) -> Handled {
        let mut refused = Vec::new();
        for (asked, commit) in core::mem::take(&mut request.offsets) {
            match self.image.by_name(&request.names, asked).filter(|tp| self.image.partition(*tp).is_some()) {
                Some(tp) => request.offsets.push((tp, commit)),
                None => refused.push(asked),
            }
        }
        if refused.is_empty() {
            return self.on_group_request(ctx, GroupRequest::OffsetCommit(request), reply);
        }
        let (group, error) = (request.group.clone(), ErrorCode::UnknownTopicOrPartition);
        ctx.note(Kind::CoordinatorRefused { group, api: Api::OffsetCommit, error });
        if request.offsets.is_empty() {
            return Handled::now(refusals(&refused, Vec::new()));
        }
        self.refused_commits.push((reply, refused));
        self.on_group_request(ctx, GroupRequest::OffsetCommit(request), reply)
    }

    /// An answer of the coordinator, with the partitions that it was not asked about in front.
    pub(super) fn with_refused_commits(&mut self, reply: ReplyTo, response: GroupResponse) -> GroupResponse {
        let Some(position) = self.refused_commits.iter().position(|(to, _)| *to == reply) else { return response };
        let (_, refused) = self.refused_commits.remove(position);
        if let GroupResponse::OffsetCommit { results } = response { refusals(&refused, results) } else { response }
    }
}

fn refusals(refused: &[Tp], rest: Vec<(Tp, ErrorCode)>) -> GroupResponse {
    let unknown = refused.iter().map(|tp| (*tp, ErrorCode::UnknownTopicOrPartition));
    GroupResponse::OffsetCommit { results: unknown.chain(rest).collect() }
}
