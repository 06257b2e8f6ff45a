//! Reports, once for each handoff, that its work waits and no agent has taken it.

use jiff::Timestamp;

use super::News;
use super::run_loop::RunLoop;
use crate::flow::{self, Comes};
use crate::handoff::{State, later};
use crate::id::HandoffId;
use crate::run::TrackedHandoff;

/// Work that lies in a place where an agent comes for it.
pub(super) struct Lying {
    pub(super) place: String,
    pub(super) since: Timestamp,
}

impl RunLoop<'_> {
    /// Reports the work that no agent has taken.
    pub(super) fn tell_absences(&mut self) {
        let now = self.driver.clock.now();
        let due = |tracked: &&TrackedHandoff| self.absent_at(tracked).is_some_and(|at| at <= now);
        let absent: Vec<(HandoffId, String)> =
            self.run.open().filter(due).map(|tracked| (tracked.handoff.id.clone(), self.told(tracked, now))).collect();
        for (id, text) in absent {
            self.driver.audience.hear(&self.run, &News::Note(&text));
            self.missed.insert(id);
        }
    }

    /// Returns when to say that no agent has taken a handoff; `None` if that was said, or an agent has taken it.
    pub(super) fn absent_at(&self, tracked: &TrackedHandoff) -> Option<Timestamp> {
        let id = &tracked.handoff.id;
        let since = match (&tracked.handoff.state, flow::comes(&self.run, tracked)?) {
            (State::Pending { ready_at }, Comes::ToTheQueue) => *ready_at,
            (State::Claimed { .. }, Comes::ToAFolder) => self.lying.get(id)?.since,
            _ => return None,
        };
        let patience = u64::try_from(self.driver.patience.as_millis()).unwrap_or(u64::MAX);
        (!self.missed.contains(id)).then(|| later(since, patience))
    }

    fn told(&self, tracked: &TrackedHandoff, now: Timestamp) -> String {
        let (id, agent) = (&tracked.handoff.id, &tracked.handoff.terms.to);
        let seconds = |since: Timestamp| now.duration_since(since).as_secs();
        match (self.lying.get(id), &tracked.handoff.state) {
            (None, State::Pending { ready_at }) => {
                let (seconds, queue) = (seconds(*ready_at), tracked.handoff.terms.queue());
                format!(
                    "waiting: no worker has claimed {id} for agent `{agent}` in {seconds} s \
                     (start one with: baton worker --agent {queue} -- COMMAND)"
                )
            }
            (lying, _) => {
                let (place, seconds) = lying.map_or(("its folder", 0), |lying| (&lying.place, seconds(lying.since)));
                format!("waiting: {id} for agent `{agent}` was not picked up in {seconds} s; it is {place}")
            }
        }
    }
}
