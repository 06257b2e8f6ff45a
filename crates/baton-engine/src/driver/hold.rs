//! Keeping what this driver holds, ending what has taken too long, and enduring a store that is away.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::run_loop::RunLoop;
use super::{LEASE, News};
use crate::draft::Draft;
use crate::engine::outage;
use crate::flow;
use crate::handoff::Lease;
use crate::id::HandoffId;
use crate::lifecycle::{self, Command, Expire, Heartbeat};
use crate::run::TrackedHandoff;
use crate::sabotage::{Bug, planted};
use crate::session::Spent;
use crate::store::StoreError;

/// How long a store may be away before a driver gives up that was told to stop.
const STOP_MAX: Duration = Duration::from_secs(30);

impl RunLoop<'_> {
    /// Returns what this driver has claimed, the run itself first.
    pub(super) fn held(&self) -> impl Iterator<Item = &TrackedHandoff> {
        self.run.held_by(&self.driver.claimant)
    }

    /// Returns when something that is held must be extended: after a third of its lease.
    pub(super) fn hold_by(&self, now: Timestamp) -> Option<Timestamp> {
        let third = |lease: &Lease| lease.until - Duration::from_millis(lease.length_ms / 3 * 2);
        // Whether it can be extended is only asked of what must be now.
        let due = |held: &TrackedHandoff| {
            let at = held.handoff.lease().map(third)?;
            (at > now || beat(held, None, now).is_some()).then_some(at)
        };
        self.held().filter_map(due).min()
    }

    /// Extends everything that is held, when it is time. Comes before everything else: after a pause nothing of our own
    /// has ended as long as nobody else has taken it.
    ///
    /// ```text
    /// driver                                   its agent
    /// the machine sleeps for an hour           sleeps, too
    /// wakes: the lease of x ended long ago     goes on
    /// if x ended here: it is pending           is called off, and x is done all over again
    /// extends x instead: it is still held      reports: it counts
    /// ```
    pub(super) async fn hold(&mut self) -> Result<(), StoreError> {
        let now = self.driver.clock.now();
        if self.hold_by(now).is_none_or(|at| now < at) {
            return Ok(());
        }
        let spent = |tracked: &TrackedHandoff| {
            let spent = self.spent.get(&tracked.handoff.id).filter(|(fence, _)| *fence == tracked.handoff.fence);
            spent.map(|(_, spent)| *spent)
        };
        let beats = self.held().filter_map(|tracked| beat(tracked, spent(tracked), now));
        let mut beats: Vec<(HandoffId, Command)> = beats.collect();
        if planted(Bug::HeartbeatForgetsOne) {
            beats.truncate(1);
        }
        let mut draft = Draft::new(&self.run, now);
        for (id, heartbeat) in beats {
            let _ = draft.apply(&id, heartbeat);
        }
        let written = self.write(draft).await;
        // How long it holds, and whatever was lost, is seen when the journal is read.
        self.behind = true;
        match written {
            Ok(_) | Err(StoreError::Refused(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Returns when something about a handoff ends that this driver must notice. Its own leases do not end by themselves.
    pub(super) fn ends_at(&self, tracked: &TrackedHandoff) -> Option<Timestamp> {
        let is_ours = tracked.handoff.lease().is_some_and(|lease| lease.claimant == self.driver.claimant);
        let ends = match is_ours && !planted(Bug::OwnLeaseExpires) {
            true => tracked.handoff.overdue_at(),
            false => tracked.handoff.ends_at(),
        };
        ends.map(|at| at.max(self.lenient_until))
    }

    /// Notices what has ended: leases of others, and what has taken too long.
    pub(super) fn expire(&self, draft: &mut Draft) {
        let due = |tracked: &&TrackedHandoff| self.ends_at(tracked).is_some_and(|at| at <= draft.at);
        let due: Vec<HandoffId> = draft.run.open().filter(due).map(|tracked| tracked.handoff.id.clone()).collect();
        for id in due {
            let dice = self.driver.random.number();
            let Some(tracked) = draft.run.find(&id) else { continue };
            // What follows is worked out for the claim that is known here: if there is another one by now, look again.
            let fence = Some(tracked.handoff.fence);
            let expire = |for_good| Command::Expire(Expire { dice, for_good, fence });
            let Ok(expired) = lifecycle::apply(&tracked.handoff, expire(false), draft.at) else { continue };
            let failure = expired.handoff.last_failure.map(|failure| failure.to_string()).unwrap_or_default();
            let for_good = flow::same_failure(&draft.run, &tracked.step.phase, &failure);
            let _ = draft.apply(&id, expire(for_good));
        }
    }

    /// Lets everybody show that they are alive before anything of theirs ends, if this driver has just slept, or the store
    /// was away: they had no chance, and what has ended meanwhile may not have been heard.
    pub(super) fn be_lenient(&mut self) {
        self.lenient_until = self.driver.clock.now() + LEASE / 3;
    }

    /// Goes on while the store is away or cannot be written: agents work on, and what comes out waits here. Gives up when
    /// nothing is going on
    /// any more and the store has been away for long, or, somewhat later, when somebody says stop.
    pub(super) async fn endure(&mut self, error: StoreError) -> Result<(), StoreError> {
        self.behind = true;
        let stops = self.must_stop();
        let since = match self.away_since {
            Some(since) => since,
            None => {
                let goes_on = if stops { "trying again" } else { "agents keep working; trying again" };
                let note = format!("{error}; {goes_on}");
                self.driver.audience.hear(&self.run, &News::Note(&note));
                *self.away_since.insert(Instant::now())
            }
        };
        if stops {
            // What has come out by now is kept, so that it can be written if the store comes back soon.
            self.call_back().await;
        }
        let stopped_since = stops.then(|| *self.stopped_since.get_or_insert_with(Instant::now));
        let stopped = stopped_since.is_some_and(|since| since.elapsed() >= STOP_MAX);
        let given_up = self.working.is_empty() && since.elapsed() >= outage::AWAY_MAX;
        if stopped || given_up || planted(Bug::OutageEndsDriver) {
            return Err(error);
        }
        let until = Instant::now() + outage::pause(since.elapsed());
        loop {
            tokio::select! {
                biased;
                Ok(()) = self.stop.changed() => return Ok(()),
                Some(progress) = self.progress.recv() => self.progressed(progress),
                Some(joined) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.joined(joined),
                () = tokio::time::sleep_until(until) => return Ok(()),
            }
        }
    }

    /// Takes notice that the store answers.
    pub(super) fn store_answers(&mut self) {
        if let Some(since) = self.away_since.take() {
            let note = format!("the store answers again, after {} s", since.elapsed().as_secs());
            self.driver.audience.hear(&self.run, &News::Note(&note));
            self.be_lenient();
        }
    }
}

/// Returns the heartbeat that extends a handoff. What has taken too long cannot be extended, and must not keep the rest
/// from it.
fn beat(tracked: &TrackedHandoff, spent: Option<Spent>, now: Timestamp) -> Option<(HandoffId, Command)> {
    let heartbeat = Command::Heartbeat(Heartbeat { spent, ..Heartbeat::new(tracked.handoff.fence) });
    lifecycle::apply(&tracked.handoff, heartbeat.clone(), now).ok()?;
    Some((tracked.handoff.id.clone(), heartbeat))
}
