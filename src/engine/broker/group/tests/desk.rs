//! A coordinator alone on a bare node, with a log that the test controls. It sends nothing anywhere.
use alloc::rc::Rc;
use alloc::vec::Vec;
use std::string::ToString;

use crate::base::{
    BrokerId, ClientId, CorrelationId, Dur, GenerationId, LeaderEpoch, Map, NodeId, Offset, SimTime, TopicId, Tp,
};
use crate::broker::ReplyTo;
use crate::broker::group::{CoordinatorLog, GroupCoordinator, GroupRequest};
use crate::node::testing::TestNode;
use crate::node::{Channel, ConnId, Ctx, Timer};
use crate::protocol::config::{NodeConfig, config_map};
use crate::protocol::{
    ErrorCode, GroupRecord, GroupResponse, GroupState, JoinGroupRequest, JoinGroupResponse, MemberRequest,
    OffsetAndMetadata, OffsetCommitRequest, Subscription, SyncGroupRequest,
};
use crate::rules::Version;

/// "g1" belongs to partition 42 of 50.
pub const GROUP: &str = "g1";
pub const PARTITION: u32 = 42;
pub const T0: Tp = Tp { topic: TopicId(1), partition: 0 };
pub const T1: Tp = Tp { topic: TopicId(1), partition: 1 };

/// The log of one partition.
#[derive(Clone, Default)]
pub struct FakeLog {
    pub batches: Vec<(Offset, Rc<[GroupRecord]>)>,
    pub high_watermark: Offset,
    /// Replicas do not follow: the high watermark stands.
    pub stalled: bool,
    /// The ISR is below `min.insync.replicas`.
    pub below_min_isr: bool,
    /// The broker does not lead the partition any more, and the coordinator does not know yet.
    pub lost: bool,
    /// Records of one batch.
    pub most: Option<usize>,
}

impl FakeLog {
    pub fn end(&self) -> Offset {
        self.batches.last().map_or(0, |(end, _)| *end)
    }
}

impl CoordinatorLog for FakeLog {
    fn append(
        &mut self,
        _: &mut Ctx<'_>,
        _: u32,
        records: Vec<GroupRecord>,
        admission: bool,
    ) -> Result<Offset, ErrorCode> {
        if admission && self.below_min_isr {
            return Err(ErrorCode::NotEnoughReplicas);
        }
        if self.lost {
            return Err(ErrorCode::NotLeaderOrFollower);
        }
        let end = self.end() + records.len() as i64;
        self.batches.push((end, records.into()));
        if !self.stalled {
            self.high_watermark = end;
        }
        Ok(end)
    }
    fn high_watermark(&self, _: u32) -> Offset {
        self.high_watermark
    }
    fn fits(&self, _: u32, records: usize) -> bool {
        self.most.is_none_or(|most| records <= most)
    }
    fn read(&self, _: &Ctx<'_>, _: u32) -> Vec<(Offset, Rc<[GroupRecord]>)> {
        self.batches.clone()
    }
}

pub struct Desk {
    pub node: TestNode,
    pub log: FakeLog,
    pub groups: GroupCoordinator,
    asked: u32,
    answers: Map<ReplyTo, GroupResponse>,
}

/// A client's side of its membership.
#[derive(Clone, Debug)]
pub struct Me {
    pub client: u32,
    pub id: Rc<str>,
    pub instance: Option<&'static str>,
    pub generation: i32,
    /// Whether its commits are of v9 or newer.
    pub knows_group_id_not_found: bool,
}

impl Me {
    pub fn new(client: u32) -> Me {
        Me { client, id: "".into(), instance: None, generation: -1, knows_group_id_not_found: true }
    }
    pub fn fixed(client: u32, instance: &'static str) -> Me {
        Me { instance: Some(instance), ..Me::new(client) }
    }
    pub fn request(&self) -> MemberRequest {
        MemberRequest {
            group: GROUP.into(),
            generation: GenerationId(self.generation),
            member_id: self.id.clone(),
            instance_id: self.instance.map(Rc::from),
        }
    }
}

impl Desk {
    /// A coordinator of an empty partition, with `group.initial.rebalance.delay.ms`.
    pub fn new(version: Version, delay: Dur) -> Desk {
        Desk::with_linger(version, delay, Dur::ZERO)
    }

    /// With `group.coordinator.append.linger.ms` too.
    pub fn with_linger(version: Version, delay: Dur, linger: Dur) -> Desk {
        let (delay, linger) = (delay.as_ms().to_string(), linger.as_ms().to_string());
        let config = config_map(&[
            ("group.initial.rebalance.delay.ms", &delay),
            ("group.coordinator.append.linger.ms", &linger),
        ]);
        let config = Rc::new(NodeConfig::parse(&config).expect("the config is valid"));
        let node = TestNode::new(NodeId::Broker(BrokerId(1)));
        let groups = GroupCoordinator::new(config, version.rules());
        let mut desk = Desk { node, log: FakeLog::default(), groups, asked: 0, answers: Map::new() };
        desk.elect();
        desk
    }

    pub fn elect(&mut self) {
        self.groups.on_elected(&mut self.node.ctx(), &mut self.log, PARTITION, LeaderEpoch(1));
    }

    /// The broker does not lead the partition any more.
    pub fn resign(&mut self) {
        self.groups.on_resigned(&mut self.node.ctx(), PARTITION);
        self.collect();
    }

    /// The coordinator's broker has failed; at this moment another one takes over, which has the log and nothing else.
    pub fn fail_over(&self, version: Version, ms: u64) -> Desk {
        let mut next = Desk::new(version, Dur::ZERO);
        next.groups.on_resigned(&mut next.node.ctx(), PARTITION);
        next.log = self.log.clone();
        next.node.now = SimTime(ms * 1_000);
        next.elect();
        next
    }

    pub fn ask(&mut self, client: u32, request: GroupRequest) -> ReplyTo {
        self.asked += 1;
        let conn = ConnId {
            client: NodeId::Client(ClientId(client)),
            server: NodeId::Broker(BrokerId(1)),
            channel: Channel::Coordinator,
            generation: 1,
        };
        let reply = ReplyTo { conn, correlation: CorrelationId(self.asked) };
        self.groups.on_request(&mut self.node.ctx(), &mut self.log, 50, request, reply);
        self.collect();
        reply
    }

    pub fn collect(&mut self) {
        for (reply, response) in self.groups.take_answers() {
            assert!(self.answers.insert(reply, response).is_none(), "a request is answered once");
        }
    }

    pub fn answer(&self, reply: ReplyTo) -> Option<&GroupResponse> {
        self.answers.get(&reply)
    }

    /// Lets time pass up to this moment of the run.
    pub fn until(&mut self, ms: u64) {
        let end = SimTime(ms * 1_000);
        while let Some(at) = self.node.timers.next_at().filter(|at| *at <= end) {
            self.node.now = at;
            let Some((timer, _)) = self.node.timers.pop_due(at) else { break };
            let Timer::Group(timer) = timer else { panic!("{timer:?}") };
            self.groups.on_timer(&mut self.node.ctx(), &mut self.log, 50, &timer);
            self.collect();
        }
        self.node.now = end;
    }

    /// The followers have everything.
    pub fn replicate(&mut self) {
        self.log.high_watermark = self.log.end();
        self.groups.on_high_watermark(&mut self.node.ctx(), &mut self.log, PARTITION);
        self.collect();
    }

    pub fn join_request(me: &Me, protocols: &[&str]) -> JoinGroupRequest {
        let subscription = Subscription { topics: ["t".into()].into(), owned: Vec::new() };
        JoinGroupRequest {
            group: GROUP.into(),
            member_id: me.id.clone(),
            instance_id: me.instance.map(Rc::from),
            client_id: "app".into(),
            session_timeout: Dur::secs(45),
            rebalance_timeout: Dur::secs(60),
            protocols: protocols.iter().map(|name| (Rc::from(*name), subscription.clone())).collect(),
            knows_member_id_required: true,
        }
    }

    /// Joins, in two steps if asked to, and returns where the answer will come.
    pub fn join(&mut self, me: &mut Me) -> ReplyTo {
        let reply = self.ask(me.client, GroupRequest::JoinGroup(Desk::join_request(me, &["range"])));
        match self.answer(reply) {
            Some(GroupResponse::JoinGroup(answer)) if answer.error == ErrorCode::MemberIdRequired => {
                me.id = answer.member_id.clone();
                self.ask(me.client, GroupRequest::JoinGroup(Desk::join_request(me, &["range"])))
            }
            Some(_) | None => reply,
        }
    }

    /// The answer to a join, taken up by the member.
    pub fn joined(&self, me: &mut Me, reply: ReplyTo) -> JoinGroupResponse {
        match self.answer(reply) {
            Some(GroupResponse::JoinGroup(answer)) => {
                me.id = answer.member_id.clone();
                me.generation = answer.generation.0;
                answer.clone()
            }
            other => panic!("{other:?}"),
        }
    }

    pub fn sync(&mut self, me: &Me, assignments: &[(&Me, &[Tp])]) -> ReplyTo {
        let assignments = assignments.iter().map(|(m, tps)| (m.id.clone(), tps.to_vec())).collect();
        self.ask(me.client, GroupRequest::SyncGroup(SyncGroupRequest { member: me.request(), assignments }))
    }

    pub fn synced(&self, reply: ReplyTo) -> Result<Vec<Tp>, ErrorCode> {
        match self.answer(reply) {
            Some(GroupResponse::SyncGroup { error: ErrorCode::None, assignment }) => Ok(assignment.clone()),
            Some(GroupResponse::SyncGroup { error, .. }) => Err(*error),
            other => panic!("{other:?}"),
        }
    }

    pub fn heartbeat(&mut self, me: &Me) -> ErrorCode {
        let reply = self.ask(me.client, GroupRequest::Heartbeat(me.request()));
        self.beaten(reply).expect("a heartbeat is answered at once")
    }

    /// What a heartbeat was answered; `None` while it waits.
    pub fn beaten(&self, reply: ReplyTo) -> Option<ErrorCode> {
        match self.answer(reply)? {
            GroupResponse::Heartbeat { error } => Some(*error),
            other => panic!("{other:?}"),
        }
    }

    pub fn leave(&mut self, me: &Me) -> ErrorCode {
        let reply = self.ask(me.client, GroupRequest::LeaveGroup(me.request()));
        match self.answer(reply) {
            Some(GroupResponse::LeaveGroup { error }) => *error,
            other => panic!("{other:?}"),
        }
    }

    pub fn commit(&mut self, me: &Me, tp: Tp, offset: Offset) -> ReplyTo {
        let commit = OffsetAndMetadata { offset, leader_epoch: None, commit_timestamp: self.node.now };
        let request = OffsetCommitRequest {
            group: GROUP.into(),
            generation: GenerationId(me.generation),
            member_id: me.id.clone(),
            instance_id: me.instance.map(Rc::from),
            offsets: [(tp, commit)].into(),
            names: Default::default(),
            knows_group_id_not_found: me.knows_group_id_not_found,
        };
        self.ask(me.client, GroupRequest::OffsetCommit(request))
    }

    /// What a commit was answered; `None` while it waits.
    pub fn committed(&self, reply: ReplyTo) -> Option<ErrorCode> {
        match self.answer(reply)? {
            GroupResponse::OffsetCommit { results } => results.first().map(|(_, error)| *error),
            other => panic!("{other:?}"),
        }
    }

    /// OffsetFetch, for one partition.
    pub fn fetch(&mut self, tp: Tp) -> Result<Option<Offset>, ErrorCode> {
        let reply = self.ask(9, GroupRequest::OffsetFetch { group: GROUP.into() });
        match self.answer(reply) {
            Some(GroupResponse::OffsetFetch { error: ErrorCode::None, offsets }) => {
                Ok(offsets.iter().find(|(t, _)| *t == tp).map(|(_, c)| c.offset))
            }
            Some(GroupResponse::OffsetFetch { error, .. }) => Err(*error),
            other => panic!("{other:?}"),
        }
    }

    pub fn state(&self) -> (GroupState, i32, usize) {
        let group = self.groups.groups().find(|g| &**g.name == GROUP).expect("the group exists");
        (group.state, group.generation.0, group.members.len())
    }

    /// A stable group of these members in generation 1, the first of which leads; each has one partition.
    pub fn stable(&mut self, members: &mut [Me]) {
        let replies: Vec<ReplyTo> = members.iter_mut().map(|me| self.join(me)).collect();
        self.until(self.node.now.0 / 1_000);
        let mut replies = replies.into_iter().zip(members.iter_mut()).collect::<Vec<_>>();
        // With no delay the first member is alone at first: it joins again when it hears of the others.
        if members_waiting(self, &replies) {
            let (reply, first) = &mut replies[0];
            self.joined(first, *reply);
            *reply = self.join(first);
        }
        for (reply, me) in &mut replies {
            self.joined(me, *reply);
        }
        let members: Vec<Me> = replies.into_iter().map(|(_, me)| me.clone()).collect();
        let parts: Vec<[Tp; 1]> = (0..members.len()).map(|i| [Tp { topic: TopicId(1), partition: i as u32 }]).collect();
        let all: Vec<(&Me, &[Tp])> = members.iter().zip(&parts).map(|(m, tps)| (m, &tps[..])).collect();
        let followers: Vec<ReplyTo> = members[1..].iter().map(|m| self.sync(m, &[])).collect();
        let leader = self.sync(&members[0], &all);
        assert_eq!(self.synced(leader), Ok(parts[0].to_vec()));
        for (reply, part) in followers.into_iter().zip(&parts[1..]) {
            assert_eq!(self.synced(reply), Ok(part.to_vec()));
        }
        assert_eq!(self.state().0, GroupState::Stable);
    }
}

fn members_waiting(desk: &Desk, replies: &[(ReplyTo, &mut Me)]) -> bool {
    replies.iter().any(|(reply, _)| desk.answer(*reply).is_none())
}
