//! Waits until something happens: an agent ends or says something, somebody else writes, or a time has come.

use std::time::Duration;

use super::absence::Lying;
use super::attempt::{Finished, Happens, Progress};
use super::lead::{IDLE, Lead, Outcome};
use crate::flow;
use crate::handoff::State;
use crate::id::HandoffId;
use crate::run::Tracked;
use crate::step::Role;
use crate::store::Error;

impl Lead<'_> {
    /// Waits until something has happened.
    pub(super) async fn wait(&mut self, changes: u64) -> Result<(), Error> {
        if !self.results.is_empty() {
            return Ok(());
        }
        let pause = self.next_time().unwrap_or(IDLE).min(IDLE);
        let outside = self.run.open().any(|tracked| self.is_outside(tracked));
        tokio::select! {
            Some(progress) = self.progress.recv() => self.progressed(progress),
            Some(joined) = self.tasks.join_next(), if !self.tasks.is_empty() => self.joined(joined),
            _ = self.beat.tick() => self.heartbeat().await?,
            () = self.driver.store.changed(changes, pause), if outside => {}
            // Others can still call the run off, or take it over.
            () = tokio::time::sleep(pause.min(Duration::from_secs(1))), if !outside => {}
            _ = self.stop.changed() => {}
        }
        Ok(())
    }

    fn joined(&mut self, joined: Result<(HandoffId, Outcome), tokio::task::JoinError>) {
        // A task that was called off has nothing to say.
        let Ok((id, outcome)) = joined else { return };
        // What it told before comes before what came out.
        while let Ok(progress) = self.progress.try_recv() {
            self.progressed(progress);
        }
        match outcome {
            Outcome::Work(fence, finished) => {
                self.running.remove(&id);
                self.newcomers.remove(&id);
                self.lying.remove(&id);
                self.results.push((id, fence, finished));
            }
            Outcome::Asked(said) => self.heard(id, said),
        }
    }

    /// Says whether something that others do can let a handoff go on.
    fn is_outside(&self, tracked: &Tracked) -> bool {
        match &tracked.handoff.state {
            State::AwaitingPerson { .. } => true,
            State::Claimed { lease } => lease.claimant != self.driver.claimant,
            State::Pending { .. } => matches!(tracked.step.role, Role::Work | Role::Delegation),
            State::Verifying | State::Blocked { .. } => false,
            State::Completed { .. } | State::Failed { .. } | State::Cancelled { .. } => false,
        }
    }

    /// Returns how long it takes until something is due by itself.
    fn next_time(&self) -> Option<Duration> {
        let now = self.driver.clock.now();
        let due = self.run.open().flat_map(|tracked| {
            let ready = match &tracked.handoff.state {
                State::Pending { ready_at } if tracked.step.role != Role::Group => {
                    Some(*ready_at).filter(|at| *at > now)
                }
                _ => None,
            };
            let wakes = tracked.handoff.wakes_at().filter(|at| *at > now);
            [ready, wakes, self.lapses_at(tracked), self.absent_at(tracked)].into_iter().flatten()
        });
        let next = due.chain(flow::waits_until(&self.run)).min()?;
        Some(Duration::try_from(next.duration_since(now)).unwrap_or_default().max(Duration::from_millis(1)))
    }

    /// Takes what happened while an attempt goes on.
    fn progressed(&mut self, progress: Progress) {
        let Progress { handoff, fence, what } = progress;
        match what {
            Happens::Understood(document) => self.results.push((handoff, fence, Finished::Understood(document))),
            Happens::Waiting(place) => {
                let since = self.driver.clock.now();
                self.lying.insert(handoff, Lying { place, since });
            }
            Happens::PickedUp => drop(self.lying.remove(&handoff)),
        }
    }
}
