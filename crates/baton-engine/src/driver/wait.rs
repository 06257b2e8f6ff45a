//! Waits until something happens: an agent ends or says something, somebody else writes, or a time has come.

use std::time::Duration;

use tokio::task::{self, JoinError};

use super::News;
use super::absence::Lying;
use super::attempt::{Finished, Happens, Progress};
use super::begin::failed;
use super::run_loop::{Errand, Outcome, RunLoop};
use super::watch::QuestionState;
use crate::flow;
use crate::handoff::State;
use crate::step::Role;

/// How long nothing is asked of the store if nothing is known to happen.
pub(super) const IDLE: Duration = Duration::from_secs(15);

impl RunLoop<'_> {
    /// Waits until something has happened.
    pub(super) async fn wait(&mut self, changes: u64) {
        if !self.results.is_empty() {
            return;
        }
        let mut pause = self.next_time();
        if *self.stop.borrow() {
            pause = pause.min(self.finish_time());
        }
        // What is first in this list is looked at first, so that a run goes the same way whenever the same happens.
        tokio::select! {
            biased;
            Ok(()) = self.stop.changed() => {}
            Some(progress) = self.progress.recv() => self.progressed(progress),
            Some(joined) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => self.joined(joined),
            () = self.driver.store.changed(changes, pause) => {}
        }
    }

    /// Takes what a task came to.
    pub(super) fn joined(&mut self, joined: Result<(task::Id, Outcome), JoinError>) {
        let task = joined.as_ref().map_or_else(JoinError::id, |(task, _)| *task);
        let Some(Errand { handoff, fence }) = self.errands.remove(&task) else { return };
        // What it told before comes before what came out.
        while let Ok(progress) = self.progress.try_recv() {
            self.progressed(progress);
        }
        if fence.is_some() {
            self.working.remove(&handoff);
            self.newcomers.remove(&handoff);
            self.lying.remove(&handoff);
            self.spent.remove(&handoff);
        }
        match (joined, fence) {
            (Ok((_, Outcome::Work(finished))), Some(fence)) => {
                if let Finished::Answered(answered) = &finished {
                    self.seen.insert(handoff.clone(), (fence, answered.seen.clone()));
                }
                self.results.push((handoff, fence, finished));
            }
            (Ok((_, Outcome::Asked(said))), _) => self.heard(handoff, said),
            // A task that was called off has nothing to say.
            (Err(error), _) if error.is_cancelled() => {}
            (Err(error), Some(fence)) => {
                self.results.push((handoff, fence, failed(format!("internal error, please report it: {error}"))))
            }
            (Err(error), None) => {
                let note = format!("{handoff}: cannot ask: internal error, please report it: {error}");
                self.driver.audience.hear(&self.run, &News::Note(&note));
                if let Some(QuestionState::Asking { shown, .. }) = self.asked.remove(&handoff) {
                    self.asked.insert(handoff, QuestionState::Nobody { shown });
                }
            }
            (Ok((_, Outcome::Work(_))), None) => {}
        }
    }

    /// Returns how long it takes until something is due by itself.
    fn next_time(&self) -> Duration {
        let now = self.driver.clock.now();
        let due = self.run.open().flat_map(|tracked| {
            let ready = match &tracked.handoff.state {
                State::Pending { ready_at } if tracked.step.role != Role::Group => {
                    Some(*ready_at).filter(|at| *at > now)
                }
                _ => None,
            };
            let ends = self.ends_at(tracked).filter(|at| *at > now);
            [ready, ends, self.lapses_at(tracked), self.absent_at(tracked)].into_iter().flatten()
        });
        let next = due.chain(flow::waits_until(&self.run)).chain(self.hold_by(now)).chain(self.spending_due(now)).min();
        let next = next.map_or(IDLE, |next| Duration::try_from(next.duration_since(now)).unwrap_or_default());
        next.clamp(Duration::from_millis(1), IDLE)
    }

    /// Takes what happened while an attempt goes on.
    pub(super) fn progressed(&mut self, progress: Progress) {
        let Progress { handoff, fence, what } = progress;
        match what {
            Happens::Understood(document) => self.results.push((handoff, fence, Finished::Understood(document))),
            Happens::Waiting(place) => {
                let since = self.driver.clock.now();
                self.lying.insert(handoff, Lying { place, since });
            }
            Happens::PickedUp => drop(self.lying.remove(&handoff)),
            Happens::Session(id) => self.results.push((handoff, fence, Finished::Session(id))),
            Happens::Spent(spent) => self.take_spent(handoff, fence, spent),
        }
    }
}
