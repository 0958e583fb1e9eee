//! The two periodic runs: back to preferred leaders, and unclean elections that the configuration allows. Neither
//! touches a partition that has nothing to change.

use alloc::vec::Vec;

use super::Controller;
use super::election::Election;
use super::writing::UNCLEAN_INTERVAL;
use crate::base::Dur;
use crate::node::{ControllerTimer, Ctx, Timer};
use crate::protocol::MetadataRecord;
use crate::rules::UncleanByConfig;
use crate::trace::IsrChanger;

/// Most elections of one run (MAX_ELECTIONS_PER_IMBALANCE).
const MAX_ELECTIONS: usize = 1_000;
/// The next run after one that hit the limit.
const NEXT_RUN: Dur = Dur::ms(10);

impl Controller {
    /// Every partition whose first replica is in the ISR, may lead and does not gets it back.
    pub(super) fn on_preferred_balance(&mut self, ctx: &mut Ctx<'_>) {
        let mut records: Vec<MetadataRecord> = Vec::new();
        for (tp, partition) in self.image.partitions() {
            let Some(first) = partition.replicas.first() else { continue };
            if partition.leader != Some(*first)
                && partition.isr.contains(first)
                && self.image.is_active(*first)
                && records.len() < MAX_ELECTIONS
            {
                records.extend(self.elect(tp, partition, Election::Preferred));
            }
        }
        let next = if records.len() == MAX_ELECTIONS { NEXT_RUN } else { self.config.leader_imbalance_check_interval };
        self.write(ctx, records, IsrChanger::Controller);
        ctx.set(Timer::Controller(ControllerTimer::PreferredBalance), next);
    }

    /// Every partition without a leader whose topic allows it gets any acceptable replica.
    pub(super) fn on_unclean_balance(&mut self, ctx: &mut Ctx<'_>) {
        let mut records: Vec<MetadataRecord> = Vec::new();
        for (tp, partition) in self.image.partitions() {
            if partition.leader.is_none()
                && self.automatic_election(tp) == Election::Unclean
                && records.len() < MAX_ELECTIONS
            {
                records.extend(self.elect(tp, partition, Election::Unclean));
            }
        }
        let again = records.len() == MAX_ELECTIONS;
        self.write(ctx, records, IsrChanger::Controller);
        let timer = Timer::Controller(ControllerTimer::UncleanBalance);
        let leaderless = self.image.partitions().any(|(_, p)| p.leader.is_none());
        if again {
            ctx.set(timer, NEXT_RUN);
            return;
        }
        match self.rules.unclean_by_config {
            UncleanByConfig::RunPeriodic => ctx.set(timer, UNCLEAN_INTERVAL),
            UncleanByConfig::RunAfterLoss if leaderless => ctx.set(timer, UNCLEAN_INTERVAL),
            UncleanByConfig::RunAfterLoss | UncleanByConfig::Ignored => {}
        }
    }
}
