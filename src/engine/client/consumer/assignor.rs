//! The range assignor, as the group leader computes it (section 7.10). Racks are not looked at.
use alloc::rc::Rc;
use alloc::vec::Vec;

use crate::base::{Map, Tp, sort_by};
use crate::client::metadata::Metadata;
use crate::protocol::Subscription;

/// A member: id, instance id, subscription.
pub type Member = (Rc<str>, Option<Rc<str>>, Subscription);

/// Per topic, members in order get consecutive blocks; the first ones get one more if it does not come out even. Static
/// members come first, by instance id.
pub fn range(members: &[Member], metadata: &Metadata) -> Vec<(Rc<str>, Vec<Tp>)> {
    let mut order: Vec<&Member> = members.iter().collect();
    sort_by(&mut order, |a, b| match (&a.1, &b.1) {
        (Some(x), Some(y)) => x.cmp(y),
        (Some(_), None) => core::cmp::Ordering::Less,
        (None, Some(_)) => core::cmp::Ordering::Greater,
        (None, None) => a.0.cmp(&b.0),
    });
    let mut by_topic: Map<&Rc<str>, Vec<usize>> = Map::new();
    for (i, member) in order.iter().enumerate() {
        for topic in &member.2.topics {
            by_topic.entry(topic).or_default().push(i);
        }
    }
    let mut assigned: Vec<Vec<Tp>> = order.iter().map(|_| Vec::new()).collect();
    for (name, takers) in by_topic {
        let Some(topic) = metadata.topic(name) else { continue };
        let (n, c) = (topic.partitions.len(), takers.len());
        let mut next = 0;
        for (rank, taker) in takers.into_iter().enumerate() {
            let count = n / c + usize::from(rank < n % c);
            assigned[taker].extend((next..next + count).map(|p| Tp { topic: topic.id, partition: p as u32 }));
            next += count;
        }
    }
    order.iter().zip(assigned).map(|(member, partitions)| (member.0.clone(), partitions)).collect()
}
