//! The engine's world as what a recording is played against, and its admin client's answers as the player reads them.
//! Adds no behaviour.

use highwater_engine::base::{ActionId, BrokerId, ClientId, SimTime, TopicId, Tp};
use highwater_engine::client::AdminAnswer;
use highwater_engine::trace::TraceEntry;
use highwater_engine::world::{Action, Refusal, Setup, World};

use super::answer::{Answer, Described};
use super::subject::Subject;

impl Subject for World {
    fn boot(setup: &Setup) -> Result<World, Refusal> {
        World::boot(setup)
    }
    fn now(&self) -> SimTime {
        World::now(self)
    }
    fn act(&mut self, action: Action, out: &mut Vec<TraceEntry>) -> Result<ActionId, Refusal> {
        World::act(self, action, out)
    }
    fn next_event_at(&self) -> Option<SimTime> {
        World::next_event_at(self)
    }
    fn step(&mut self, out: &mut Vec<TraceEntry>) -> bool {
        World::step(self, out)
    }
    fn run_until(&mut self, until: SimTime, out: &mut Vec<TraceEntry>) {
        World::run_until(self, until, out);
    }
    fn client_id(&self, name: &str) -> Option<ClientId> {
        World::client_id(self, name)
    }
    fn answer(&self, action: ActionId, topic: &dyn Fn(TopicId) -> String) -> Option<Answer> {
        self.admin_answer(action).map(|answer| read(answer, topic))
    }
    fn slow_polls(&self, client: ClientId) -> u64 {
        World::client(self, client)
            .and_then(|client| client.as_consumer())
            .map_or(0, |consumer| consumer.counts().slow_polls)
    }
}

fn read(answer: &AdminAnswer, topic: &dyn Fn(TopicId) -> String) -> Answer {
    let tp = |tp: &Tp| (topic(tp.topic), tp.partition);
    match answer {
        AdminAnswer::Done => Answer::Done,
        AdminAnswer::Refused { exception, .. } => Answer::Failed((*exception).to_string()),
        AdminAnswer::Topics(topics) => {
            let described = topics.iter().flat_map(|t| {
                t.partitions.iter().zip(0..).map(|(p, partition)| Described {
                    topic: t.name.to_string(),
                    partition,
                    leader: p.leader.map_or(-1, |id| i64::from(id.0)),
                    replicas: ids(&p.replicas),
                    isr: ids(&p.isr),
                    elr: ids(&p.elr),
                    last_known_elr: ids(&p.last_known_elr),
                })
            });
            Answer::Topics(described.collect())
        }
        AdminAnswer::Offsets { earliest, latest, last_stable, leader_epoch } => Answer::Offsets {
            earliest: *earliest,
            latest: *latest,
            last_stable: *last_stable,
            leader_epoch: leader_epoch.map_or(-1, |epoch| i64::from(epoch.0)),
        },
        AdminAnswer::Group { coordinator, group } => Answer::Group {
            state: group.state.name().to_string(),
            coordinator: i64::from(coordinator.0),
            members: group
                .members
                .iter()
                .map(|(_, client, owned)| (client.to_string(), owned.iter().map(tp).collect()))
                .collect(),
        },
        AdminAnswer::Committed(offsets) => {
            Answer::Committed(offsets.iter().map(|(partition, commit)| (tp(partition), Some(commit.offset))).collect())
        }
        AdminAnswer::Quorum(quorum) => Answer::Quorum { leader: quorum.leader.map(|id| id.0) },
        AdminAnswer::Brokers(brokers) => Answer::Cluster { brokers: ids(brokers) },
    }
}

fn ids(brokers: &[BrokerId]) -> Vec<i64> {
    brokers.iter().map(|id| i64::from(id.0)).collect()
}
