//! Producer ids of a broker, handed out from blocks that the controller allocates (Kafka's RPCProducerIdManager). Asks
//! nobody by itself.

use crate::base::{ProducerEpoch, ProducerId};
use crate::protocol::{BrokerResponse, ErrorCode};

/// A run of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Block {
    next: i64,
    end: i64,
    len: i64,
}

/// The present block and the one after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProducerIds {
    current: Option<Block>,
    following: Option<Block>,
}

impl ProducerIds {
    /// Answers InitProducerId: an id, or COORDINATOR_LOAD_IN_PROGRESS while no block is there, which clients retry.
    pub fn init_producer_id(&mut self) -> BrokerResponse {
        if self.current.is_none_or(|block| block.next == block.end) {
            self.current = self.following.take();
        }
        match &mut self.current {
            Some(block) => {
                let id = ProducerId(block.next);
                block.next += 1;
                BrokerResponse::InitProducerId { error: ErrorCode::None, id, epoch: ProducerEpoch(0) }
            }
            None => BrokerResponse::InitProducerId {
                error: ErrorCode::CoordinatorLoadInProgress,
                id: ProducerId(-1),
                epoch: ProducerEpoch(-1),
            },
        }
    }

    /// Whether a further block is to be asked for: none is there, or nine tenths of the present one are used.
    pub fn wants_block(&self) -> bool {
        self.following.is_none() && self.current.is_none_or(|block| (block.end - block.next) * 10 <= block.len)
    }

    pub fn add_block(&mut self, start: i64, len: i32) {
        let len = i64::from(len);
        self.following = Some(Block { next: start, end: start + len, len });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(ids: &mut ProducerIds) -> Result<i64, ErrorCode> {
        match ids.init_producer_id() {
            BrokerResponse::InitProducerId { error: ErrorCode::None, id, .. } => Ok(id.0),
            BrokerResponse::InitProducerId { error, .. } => Err(error),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn kip_730_ids_come_from_blocks_and_run_out_without_a_controller() {
        let mut ids = ProducerIds::default();
        assert!(ids.wants_block());
        assert_eq!(next(&mut ids), Err(ErrorCode::CoordinatorLoadInProgress));
        ids.add_block(0, 1_000);
        assert!((0..900).all(|i| next(&mut ids) == Ok(i)));
        assert!(ids.wants_block(), "the next block is asked for at nine tenths");
        assert!((900..1_000).all(|i| next(&mut ids) == Ok(i)));
        assert_eq!(next(&mut ids), Err(ErrorCode::CoordinatorLoadInProgress));
        ids.add_block(5_000, 1_000);
        assert_eq!(next(&mut ids), Ok(5_000));
    }
}
