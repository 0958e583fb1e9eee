//! For each API: one message is lost, and what Kafka does about it is seen. No node may know what that message would
//! have told it.

mod admin;
mod brokers;
mod clients;
mod groups;
mod knowledge;
mod quorum;

use highwater_engine::base::{Dur, NodeId, SimTime};
use highwater_engine::client::{ClientVersion, ConsumerSpec, PollForm};
use highwater_engine::protocol::Api;
use highwater_engine::protocol::config::config_map;
use highwater_engine::trace::{Kind, TraceEntry};
use highwater_engine::world::{Action, Deed, Pick};

use super::cluster::Cluster;

/// Which message of a call is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Request,
    Response,
}

use Way::{Request, Response};

/// Loses the `nth` next message of this API, between these nodes if they are named.
fn lose(c: &mut Cluster, api: Api, way: Way, ends: (Option<NodeId>, Option<NodeId>), nth: u32) {
    let (from, to) = ends;
    let which = Pick { api, response: way == Response, from, to, nth };
    c.act(Action::Message { which, deed: Deed::Drop });
}

const ANY: (Option<NodeId>, Option<NodeId>) = (None, None);

/// When actions lost messages of this API, the earliest first.
fn losses(c: &Cluster, api: Api, way: Way) -> Vec<SimTime> {
    let is_of = |entry: &TraceEntry| {
        matches!(
            entry.kind,
            Kind::MessageSent { api: a, response, .. } if a == api && response == (way == Response)
        )
    };
    let lost = c.trace.iter().filter(|e| matches!(e.kind, Kind::MessageLost { .. }));
    // What an action loses is lost where it was sent; what reaches a dead process, there.
    lost.filter(|loss| {
        c.trace.iter().rev().find(|e| e.seq == loss.cause).is_some_and(|sent| is_of(sent) && sent.who == loss.who)
    })
    .map(|e| e.at)
    .collect()
}

/// When exactly one message of this API was lost.
fn loss(c: &Cluster, api: Api, way: Way) -> SimTime {
    let all = losses(c, api, way);
    assert_eq!(all.len(), 1, "one {way:?} of {api:?} is lost");
    all[0]
}

/// When something was first noticed after a moment.
fn first_after(c: &Cluster, since: SimTime, is: impl Fn(&TraceEntry) -> bool) -> Option<SimTime> {
    c.trace.iter().find(|e| e.at >= since && is(e)).map(|e| e.at)
}

/// Milliseconds between two moments.
fn ms(from: SimTime, to: SimTime) -> u64 {
    to.since(from).as_ms()
}

/// A consumer of topic `t` in group `g` that reads from the beginning, with these configs over short time-outs.
fn consumer(c: &mut Cluster, name: &str, config: &[(&str, &str)]) {
    let short = [
        ("auto.offset.reset", "earliest"),
        ("session.timeout.ms", "10000"),
        ("request.timeout.ms", "5000"),
        ("enable.auto.commit", "false"),
    ];
    let spec = ConsumerSpec {
        version: ClientVersion::V4_1,
        poll: PollForm::Duration,
        group: "g".into(),
        topics: vec!["t".into()],
        config: config_map(&[&short[..], config].concat()),
        poll_every: Dur::ms(200),
        commit_every: None,
    };
    c.act(Action::Join { name: name.into(), spec });
}

/// A cluster with topic `t` and five records in it.
fn with_records(seed: u64) -> (Cluster, highwater_engine::base::Tp) {
    let mut c = Cluster::boot(seed);
    let tp = c.topic("t", 1);
    c.producer("p", &[("acks", "all"), ("linger.ms", "0")]);
    c.produce("p", "t", "a", 5, Dur::ms(10));
    c.run(Dur::secs(1));
    assert_eq!(c.acked().len(), 5);
    (c, tp)
}

/// The tests in which a message of this API is lost. It names every API, so that a new one cannot be forgotten.
fn tests_of(api: Api) -> &'static [fn()] {
    match api {
        Api::Produce => &[
            clients::produce_request_lost_the_record_is_sent_again_after_the_time_out,
            clients::produce_response_lost_idempotence_recognises_the_retry,
            clients::produce_response_lost_without_idempotence_the_record_stands_twice,
            clients::produce_request_lost_without_acks_nobody_notices,
        ],
        Api::Fetch => &[
            brokers::replica_fetch_response_lost_the_high_watermark_stands_until_the_isr_shrinks,
            brokers::replica_fetch_request_lost_costs_the_same,
            clients::consumer_fetch_lost_the_partition_stands_for_the_request_time_out,
            quorum::metadata_fetch_of_a_broker_lost_it_alone_knows_nothing_of_a_new_topic,
            quorum::metadata_fetch_of_a_voter_lost_pre_votes_are_refused_and_the_leader_stays,
            quorum::metadata_fetch_of_a_voter_lost_without_pre_vote_the_leader_is_deposed,
        ],
        Api::ListOffsets => &[groups::list_offsets_lost_there_is_no_position_to_read_from],
        Api::Metadata => &[clients::metadata_lost_the_first_record_waits_for_the_time_out],
        Api::OffsetCommit => &[
            groups::offset_commit_request_lost_the_commit_fails_at_the_time_out,
            groups::offset_commit_response_lost_it_is_committed_and_called_failed,
        ],
        Api::OffsetFetch => &[groups::offset_fetch_lost_the_member_owns_and_does_not_read],
        Api::FindCoordinator => &[groups::find_coordinator_lost_nobody_joins_before_the_time_out],
        Api::JoinGroup => &[
            groups::join_group_request_lost_it_waits_for_the_poll_interval,
            groups::join_group_response_lost_the_member_expires_and_joins_anew,
        ],
        Api::Heartbeat => &[
            groups::heartbeat_request_lost_the_coordinator_is_looked_for,
            groups::heartbeat_request_lost_for_longer_than_the_session_the_member_is_expelled,
            groups::heartbeat_response_lost_costs_the_same,
        ],
        Api::LeaveGroup => &[groups::leave_group_lost_the_partitions_wait_for_the_end_of_the_session],
        Api::SyncGroup => &[groups::sync_group_request_lost_nobody_owns_anything],
        Api::DescribeGroups => &[admin::describe_groups_lost_is_a_time_out],
        Api::CreateTopics => &[
            admin::create_topics_request_lost_is_a_time_out_and_nothing_is_made,
            admin::create_topics_response_lost_is_a_time_out_of_what_was_done,
        ],
        Api::DeleteTopics => &[admin::delete_topics_lost_either_way],
        Api::CreatePartitions => &[admin::create_partitions_lost_either_way],
        Api::DeleteRecords => &[admin::delete_records_lost_either_way],
        Api::InitProducerId => &[clients::init_producer_id_lost_nothing_is_sent_before_the_time_out],
        Api::OffsetForLeaderEpoch => &[clients::offset_for_leader_epoch_lost_the_position_cannot_be_trusted],
        Api::ElectLeaders => &[admin::elect_leaders_lost_either_way],
        Api::IncrementalAlterConfigs => &[admin::incremental_alter_configs_lost_either_way],
        Api::Vote => &[quorum::votes_lost_nobody_leads_longer],
        Api::BeginQuorumEpoch => &[quorum::begin_quorum_epoch_lost_the_new_leader_is_not_active_yet],
        Api::EndQuorumEpoch => &[quorum::end_quorum_epoch_lost_the_leader_is_missed_only_at_the_time_out],
        Api::DescribeQuorum => &[admin::describe_quorum_lost_is_a_time_out],
        Api::AlterPartition => &[
            brokers::alter_partition_request_lost_the_isr_stays_recorded,
            brokers::alter_partition_response_lost_metadata_tells_it_and_the_next_change_waits,
        ],
        Api::Envelope => &[admin::envelope_lost_the_administrator_gives_up_first],
        Api::BrokerRegistration => &[brokers::broker_registration_lost_the_start_takes_longer],
        Api::BrokerHeartbeat => {
            &[brokers::one_heartbeat_lost_nobody_is_fenced, brokers::two_heartbeats_lost_a_healthy_broker_is_fenced]
        }
        Api::AllocateProducerIds => &[brokers::allocate_producer_ids_lost_idempotent_producers_wait],
        Api::AssignReplicasToDirs => &[brokers::assign_replicas_to_dirs_lost_the_new_disk_waits_longer],
        Api::DescribeTopicPartitions => &[admin::describe_topic_partitions_lost_is_a_time_out_of_ten_seconds],
    }
}

#[test]
fn every_api_has_a_test_in_which_it_is_lost() {
    for api in Api::ALL {
        assert!(!tests_of(*api).is_empty(), "{api:?}");
    }
}
