//! What the active controller remembers of each broker's heartbeats. It lives in memory only: a new controller starts
//! all sessions anew.

use crate::base::{BrokerEpoch, BrokerId, Dur, Map, Offset, SimTime};
use crate::metadata::MetadataImage;

/// One broker's session, of the registration with this epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BrokerSession {
    pub epoch: BrokerEpoch,
    /// Last heartbeat, `None` before the first and after the session was found expired.
    pub last_contact: Option<SimTime>,
    /// Offset after the last metadata record that the broker has applied, by its last heartbeat; -1 before.
    pub metadata_offset: Offset,
    /// End of the batch that took its leaderships away, while it is in controlled shutdown.
    pub shutdown_offset: Option<Offset>,
}

/// All sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sessions {
    of: Map<BrokerId, BrokerSession>,
}

impl Sessions {
    /// Sessions of a controller that has just become active: every unfenced broker counts as heard of now.
    pub(super) fn restarted(image: &MetadataImage, now: SimTime) -> Sessions {
        let session = |epoch, fenced: bool| BrokerSession {
            epoch,
            last_contact: (!fenced).then_some(now),
            metadata_offset: -1,
            shutdown_offset: None,
        };
        Sessions { of: image.brokers.iter().map(|(id, b)| (*id, session(b.epoch, b.fenced))).collect() }
    }

    pub fn get(&self, broker: BrokerId) -> Option<&BrokerSession> {
        self.of.get(&broker)
    }

    pub fn iter(&self) -> impl Iterator<Item = (BrokerId, &BrokerSession)> {
        self.of.iter().map(|(id, session)| (*id, session))
    }

    /// A new registration: no heartbeat yet.
    pub(super) fn register(&mut self, broker: BrokerId, epoch: BrokerEpoch) {
        self.of.insert(broker, BrokerSession { epoch, last_contact: None, metadata_offset: -1, shutdown_offset: None });
    }

    /// A heartbeat of the registered incarnation.
    pub(super) fn touch(&mut self, broker: BrokerId, epoch: BrokerEpoch, now: SimTime, metadata_offset: Offset) {
        let session = self.of.entry(broker).or_insert(BrokerSession {
            epoch,
            last_contact: None,
            metadata_offset: -1,
            shutdown_offset: None,
        });
        session.epoch = epoch;
        session.last_contact = Some(now);
        session.metadata_offset = session.metadata_offset.max(metadata_offset);
    }

    pub(super) fn begin_shutdown(&mut self, broker: BrokerId, offset: Offset) {
        if let Some(session) = self.of.get_mut(&broker) {
            session.shutdown_offset = session.shutdown_offset.or(Some(offset));
        }
    }

    /// Whether the last heartbeat is not older than a session.
    pub(super) fn is_valid(&self, broker: BrokerId, now: SimTime, timeout: Dur) -> bool {
        self.of.get(&broker).and_then(|s| s.last_contact).is_some_and(|at| now.since(at) <= timeout)
    }

    /// Takes the session that has been over for longest, if one is: strictly older than the time-out.
    pub(super) fn take_expired(&mut self, now: SimTime, timeout: Dur) -> Option<(BrokerId, BrokerSession)> {
        let over = |s: &BrokerSession| s.last_contact.filter(|at| now.since(*at) > timeout);
        let (_, id) = self.of.iter().filter_map(|(id, s)| over(s).map(|at| (at, *id))).min()?;
        let session = self.of.get_mut(&id)?;
        let taken = *session;
        session.last_contact = None;
        Some((id, taken))
    }

    /// The lowest metadata offset that an active broker has acknowledged, `None` if none is active.
    pub(super) fn lowest_active_offset(&self, image: &MetadataImage) -> Option<Offset> {
        self.of.iter().filter(|(id, _)| image.is_active(**id)).map(|(_, s)| s.metadata_offset).min()
    }
}
