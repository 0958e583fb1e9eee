//! What a member of a group finds after its topic was deleted and made anew. The producer's side stands in `produced`.

use highwater_engine::base::{Dur, Offset, Tp};
use highwater_engine::node::message::AdminRequest;
use highwater_engine::protocol::ErrorCode;
use highwater_engine::trace::Kind;

use super::cluster::Cluster;

/// A member that has read `before` records of a topic with one partition; then the topic is deleted and made anew.
fn made_anew(before: u32) -> (Cluster, Tp) {
    let mut c = Cluster::boot(11);
    c.topic("t", 1);
    c.producer("p", &[]);
    c.consumer("b1", "g", "t");
    c.run(Dur::secs(8));
    c.produce("p", "t", "a", before, Dur::ZERO);
    assert!(c.until(Dur::secs(10), |c| c.delivered() == before as usize), "the old topic is read");
    assert_eq!(c.admin(AdminRequest::DeleteTopic { name: "t".into() }), ErrorCode::None);
    let tp = c.topic("t", 1);
    (c, tp)
}

fn resets(c: &Cluster) -> Vec<(Tp, Option<Offset>, Offset)> {
    let reset = |kind: &Kind| match kind {
        Kind::PositionReset { tp, from, offset } => Some((*tp, *from, *offset)),
        _other => None,
    };
    c.trace.iter().filter_map(|entry| reset(&entry.kind)).collect()
}

#[test]
fn a_member_reads_the_successor_of_a_topic_by_its_name() {
    let (mut c, tp) = made_anew(40);
    c.run(Dur::secs(2));
    // Its position, 40, lies beyond the end of the new log: by `auto.offset.reset`, earliest, it begins anew.
    c.produce("p", "t", "b", 3, Dur::ZERO);
    assert!(c.until(Dur::secs(10), |c| c.delivered() == 43), "{} records were delivered", c.delivered());
    assert_eq!(resets(&c).last(), Some(&(tp, Some(40), 0)));
}
