//! Swim lanes of a stretch of time: bars for states, marks for what happened, densities of messages, waits. Marks never
//! vanish; messages are only counted.

use highwater_engine::base::{BrokerId, Dur, Map, NodeId, SimTime, sort_by};
use highwater_engine::trace::Kind;

use super::model::*;
use crate::playback::{Wait, awaited};
use crate::recording::{Whose, whose};
use crate::story::{Seen, Told, tell};

/// Marks nearer to each other than this part of the window are one.
const MARKS_ACROSS: u64 = 240;

/// Projects a window. The whole recorded branch is drawn, also what lies after the playhead.
pub fn lanes(seen: Seen<'_>, window: Window, slices: usize, branches: Vec<BranchView>) -> Lanes {
    let who = who(seen);
    let recorded = seen.branch().recorded;
    let from = seen.origin() + Dur(window.from_us);
    let to = seen.origin() + Dur(window.to_us);
    let bars = Bars::read(seen, &who, to.min(recorded));
    let lanes = who
        .iter()
        .enumerate()
        .map(|(index, of)| Lane {
            who: of.clone(),
            bars: bars.of(index, window),
            density: density(seen, of, from, to, slices),
        })
        .collect();
    Lanes {
        window,
        now_us: seen.now_us(),
        recorded_us: seen.us(recorded),
        lanes,
        marks: marks(seen, &who, window, from, to),
        branches,
        waits: waits(seen),
    }
}

/// What is waited for at the playhead.
pub fn waits(seen: Seen<'_>) -> Vec<LaneWait> {
    let who = who(seen);
    awaited(seen.recording, seen.playhead).into_iter().filter_map(|wait| lane_wait(seen, &who, &wait)).collect()
}

fn who(seen: Seen<'_>) -> Vec<LaneOf> {
    let mut lanes = vec![LaneOf::Quorum];
    lanes.extend(seen.world().setup().brokers.iter().map(|broker| LaneOf::Broker(broker.id.0)));
    lanes.extend(seen.producers().into_iter().map(|(name, _)| LaneOf::Producer(name)));
    lanes.extend(seen.groups().into_iter().map(LaneOf::Group));
    lanes
}

/// The nodes whose messages a lane counts.
fn nodes(seen: Seen<'_>, of: &LaneOf) -> Vec<NodeId> {
    match of {
        LaneOf::Quorum => {
            seen.world().machines().map(|(id, _)| id).filter(|id| matches!(id, NodeId::Controller(_))).collect()
        }
        LaneOf::Broker(id) => vec![NodeId::Broker(BrokerId(*id))],
        LaneOf::Producer(name) => seen.world().client_id(name).map(NodeId::Client).into_iter().collect(),
        LaneOf::Group(name) => seen.members(name).into_iter().map(|(_, id)| NodeId::Client(id)).collect(),
    }
}

fn density(seen: Seen<'_>, of: &LaneOf, from: SimTime, to: SimTime, slices: usize) -> Vec<u16> {
    let nodes = nodes(seen, of);
    let span = to.since(from).0;
    let edge = |slice: usize| SimTime(from.0 + span * slice as u64 / slices.max(1) as u64);
    let count =
        |slice: usize| nodes.iter().map(|node| seen.reel().n_sent(*node, edge(slice), edge(slice + 1))).sum::<u32>();
    (0..slices).map(|slice| count(slice).min(u32::from(u16::MAX)) as u16).collect()
}

/// The lane of an entry.
fn lane_of(seen: Seen<'_>, who: &[LaneOf], kind: &Kind, node: NodeId) -> Option<usize> {
    let of = match whose(seen.world(), kind, node)? {
        Whose::Quorum => LaneOf::Quorum,
        Whose::Broker(id) => LaneOf::Broker(id.0),
        Whose::Producer(id) => LaneOf::Producer(seen.client_name(id)),
        Whose::Group(group) => LaneOf::Group(group.to_string()),
    };
    who.iter().position(|lane| *lane == of)
}

/// Whose state a lane shows.
fn shown(seen: Seen<'_>, of: &LaneOf) -> Option<Whose> {
    Some(match of {
        LaneOf::Quorum => Whose::Quorum,
        LaneOf::Broker(id) => Whose::Broker(BrokerId(*id)),
        LaneOf::Producer(name) => Whose::Producer(seen.world().client_id(name)?),
        LaneOf::Group(name) => Whose::Group(name.as_str().into()),
    })
}

fn marks(seen: Seen<'_>, who: &[LaneOf], window: Window, from: SimTime, to: SimTime) -> Vec<LaneMark> {
    let reel = seen.reel();
    let cell = ((window.to_us.saturating_sub(window.from_us)) / MARKS_ACROSS).max(1);
    let mut found: Map<(usize, u64, MarkKind), LaneMark> = Map::new();
    let (first, end) = (reel.entries_before(from), reel.entries_until(to));
    let notable = reel.notable();
    let inside = notable.partition_point(|index| *index < first)..notable.partition_point(|index| *index < end);
    for index in &notable[inside] {
        let Some(entry) = reel.get(*index) else { continue };
        let Some(Told { mark, fact, .. }) = tell(seen, *index) else { continue };
        let Some((kind, lane)) = mark.zip(lane_of(seen, who, &entry.kind, entry.who)) else { continue };
        let at_us = seen.us(entry.at);
        let mark = found.entry((lane, at_us / cell, kind)).or_insert(LaneMark {
            lane,
            at_us,
            kind,
            trace: TraceId(*index as u64),
            fact,
            count: 0,
        });
        mark.count += 1;
    }
    let mut marks: Vec<LaneMark> = found.into_values().collect();
    sort_by(&mut marks, |a, b| (a.at_us, a.lane).cmp(&(b.at_us, b.lane)));
    marks
}

/// When the state of each lane changed.
struct Bars {
    changes: Vec<Vec<(Micros, LaneState)>>,
    end: Micros,
}

impl Bars {
    fn read(seen: Seen<'_>, who: &[LaneOf], end: SimTime) -> Bars {
        let started = |of: &LaneOf| match of {
            LaneOf::Quorum => Some(LaneState::Good),
            LaneOf::Broker(id) => seen
                .world()
                .setup()
                .brokers
                .iter()
                .find(|broker| broker.id.0 == *id)
                .map(|broker| if broker.started { LaneState::Good } else { LaneState::Down }),
            LaneOf::Producer(_) | LaneOf::Group(_) => Some(LaneState::Down),
        };
        let mut bars = Bars {
            changes: who.iter().map(|of| started(of).map(|state| (0, state)).into_iter().collect()).collect(),
            end: seen.us(end),
        };
        for (of, changes) in who.iter().zip(&mut bars.changes) {
            let known = shown(seen, of).map_or(&[][..], |whose| seen.reel().standings(&whose));
            for change in known.iter().take_while(|change| change.at <= end) {
                if changes.last().is_none_or(|(_, before)| *before != change.standing) {
                    changes.push((seen.us(change.at), change.standing));
                }
            }
        }
        bars
    }

    fn of(&self, lane: usize, window: Window) -> Vec<LaneBar> {
        let changes = &self.changes[lane];
        let mut bars = Vec::new();
        for (index, (at, state)) in changes.iter().enumerate() {
            let until = changes.get(index + 1).map_or(self.end, |(next, _)| *next);
            let (from_us, to_us) = ((*at).max(window.from_us), until.min(window.to_us));
            if from_us < to_us {
                bars.push(LaneBar { from_us, to_us, state: *state });
            }
        }
        bars
    }
}

fn lane_wait(seen: Seen<'_>, who: &[LaneOf], wait: &Wait) -> Option<LaneWait> {
    let of = match &wait.what {
        Waiting::Fencing { broker } => LaneOf::Broker(*broker),
        Waiting::QuorumElection { .. } => LaneOf::Quorum,
        Waiting::RebalanceEnd { group } | Waiting::MemberTimeout { group, .. } => LaneOf::Group(group.clone()),
        Waiting::ClientRetry { client } => LaneOf::Producer(client.clone()),
        Waiting::ScriptEntry => return None,
    };
    Some(LaneWait {
        lane: who.iter().position(|lane| *lane == of)?,
        from_us: seen.now_us(),
        to_us: seen.us(wait.at),
        what: wait.what.clone(),
    })
}
