//! Copies of a run at some of its moments, so that any other is near one of them. They can all be thrown away and made
//! again.

use std::rc::Rc;

use super::cursor::Cursor;
use super::past::Past;

/// Steps between two keyframes while there is room.
const EVERY_OPS: usize = 250;
/// Keyframes of one branch, at most and at least, and what they may weigh together: by the number of replicas, each of
/// which keeps some kilobytes of a copy for itself, and of processes.
const MOST: usize = 120;
const LEAST: usize = 12;
const BUDGET: usize = 40 << 20;
const REPLICA: usize = 1 << 10;
const PROCESS: usize = 20 << 10;

/// About how many bytes a copy keeps for itself.
fn weight(cursor: &Cursor) -> usize {
    let machines = cursor.world.machines();
    machines.map(|(_, machine)| PROCESS + REPLICA * machine.disk.logs.len()).sum::<usize>().max(1)
}

/// The world and what was remembered of its past, after so many steps.
#[derive(Clone, Debug)]
pub struct Keyframe {
    pub cursor: Cursor,
    pub past: Past,
}

/// The keyframes of a branch, in order.
#[derive(Clone, Debug, Default)]
pub struct Keyframes {
    frames: Vec<Rc<Keyframe>>,
}

impl Keyframes {
    /// The last one with at most so many steps.
    pub fn at_or_before(&self, ops: usize) -> Option<&Rc<Keyframe>> {
        self.frames[..self.frames.partition_point(|frame| frame.cursor.ops <= ops)].last()
    }

    pub fn len(&self) -> usize {
        self.frames.len()
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Keeps a copy if the last one is far enough. Its logs are read first: what a long way leaves unread would hold up
    /// the first frame at its end, and each first frame after a jump to a copy.
    pub(super) fn offer(&mut self, cursor: &Cursor, past: &Past) {
        if self.frames.last().is_none_or(|last| cursor.ops >= last.cursor.ops + EVERY_OPS) {
            past.ledger(&cursor.world);
            self.frames.push(Rc::new(Keyframe { cursor: cursor.clone(), past: past.clone() }));
            let most = (BUDGET / weight(cursor)).clamp(LEAST, MOST);
            while self.frames.len() > most {
                self.thin();
            }
        }
    }

    /// Removes the one whose neighbours are nearest to each other, of equals the oldest: the older a stretch, the
    /// sooner it is thinned.
    fn thin(&mut self) {
        let gap = |index: usize| self.frames[index + 1].cursor.ops - self.frames[index - 1].cursor.ops;
        if let Some(index) = (1..self.frames.len() - 1).min_by_key(|index| gap(*index)) {
            self.frames.remove(index);
        }
    }

    /// Only those that have not looked at an action of the plan.
    pub(super) fn before(&mut self, index: usize) {
        self.frames.retain(|frame| !frame.cursor.knows(index));
    }

    /// Those up to so many steps, shared.
    pub(super) fn fork(&self, ops: usize) -> Keyframes {
        Keyframes { frames: self.frames.iter().filter(|frame| frame.cursor.ops <= ops).cloned().collect() }
    }
}
