//! How driving a run ends: it is over, somebody else has it, only people can let it go on, or it is let go of.

use super::End;
use super::claiming::claim;
use super::run_loop::{RACES_MAX, RunLoop, Turn};
use super::watch::QuestionState;
use crate::Fence;
use crate::draft::Draft;
use crate::flow;
use crate::handoff::State;
use crate::id::HandoffId;
use crate::lifecycle::{Command, Release};
use crate::run::TrackedHandoff;
use crate::step::Role;
use crate::store::{StoreError, TransactionStep};

impl RunLoop<'_> {
    /// Returns how the run ended, if it did, or whether somebody else drives it; `None` if it is ours.
    pub(super) async fn standing(&mut self) -> Result<Option<Turn>, StoreError> {
        let root = &self.run.root().handoff;
        match &root.state {
            State::Completed { .. } => Ok(Some(Turn::Ended(End::Completed))),
            State::Failed { .. } => {
                let why = root.last_failure.as_ref().map(|failure| failure.text());
                Ok(Some(Turn::Ended(End::Failed(why.unwrap_or_default()))))
            }
            State::Cancelled { .. } => self.call_off().await.map(Some),
            State::Claimed { lease } if root.fence != self.fence => {
                if !self.claiming || lease.claimant != self.driver.claimant {
                    return Ok(Some(Turn::Ended(End::Lost(lease.claimant.clone()))));
                }
                self.fence = root.fence;
                self.claiming = false;
                Ok(None)
            }
            State::Pending { .. } => self.claim_again().await.map(Some),
            State::Claimed { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. } => Ok(None),
        }
    }

    /// Claims the run again: our lease has expired, but nobody has taken over.
    async fn claim_again(&mut self) -> Result<Turn, StoreError> {
        let claim = Command::Claim(claim(&self.driver.claimant, None));
        let steps = vec![TransactionStep::Apply(self.run.root().handoff.id.clone(), claim)];
        (self.claiming, self.behind) = (true, true);
        match self.driver.store.carry_out(steps, self.driver.clock.now()).await {
            // Whether it is ours is seen when the journal is read.
            Ok(_) | Err(StoreError::Refused(_)) => Ok(Turn::Again),
            Err(error) => Err(error),
        }
    }

    /// Ends what still goes on in a run that was called off.
    async fn call_off(&mut self) -> Result<Turn, StoreError> {
        self.call_back().await;
        let mut draft = Draft::new(&self.run, self.driver.clock.now());
        flow::call_off(&mut draft);
        if draft.is_empty() {
            return Ok(Turn::Ended(End::Cancelled));
        }
        self.behind = true;
        match self.driver.store.carry_out(draft.steps, draft.at).await {
            Ok(_) | Err(StoreError::Refused(_)) => Ok(Turn::Again),
            Err(error) => Err(error),
        }
    }

    /// Ends when only a person's decision can continue the run and nobody can be asked here.
    pub(super) async fn only_people(&mut self) -> Result<Option<End>, StoreError> {
        let unanswerable = |tracked: &TrackedHandoff| {
            matches!(tracked.handoff.state, State::AwaitingPerson { .. })
                && matches!(self.asked.get(&tracked.handoff.id), Some(QuestionState::Nobody { .. }))
                && self.lapses_at(tracked).is_none()
        };
        let busy = !self.working.is_empty() || !self.results.is_empty();
        // While a person is asked whether to go on waiting, nobody waits for what has not begun.
        let held = flow::is_held(&self.run);
        let is_pending = |tracked: &TrackedHandoff| matches!(tracked.handoff.state, State::Pending { .. });
        let quiet = |tracked: &TrackedHandoff| {
            unanswerable(tracked)
                || matches!(tracked.step.role, Role::Run | Role::Group)
                || matches!(tracked.handoff.state, State::Blocked { .. })
                || held && (tracked.handoff.state.name().is_finished() || is_pending(tracked))
        };
        if busy || self.run.waiting().next().is_none() || !self.run.open().all(quiet) {
            return Ok(None);
        }
        let questions = self.run.waiting().filter_map(|tracked| flow::question(&self.run, tracked)).collect();
        self.let_go("it waits for a person").await?;
        Ok(Some(End::Waiting(questions)))
    }

    /// Lets go of the run and of what was begun, so that another driver can go on at once.
    pub(super) async fn let_go(&mut self, why: &str) -> Result<(), StoreError> {
        self.call_back().await;
        for _ in 0..RACES_MAX {
            self.read().await?;
            let mut draft = Draft::new(&self.run, self.driver.clock.now());
            let held: Vec<(HandoffId, Fence)> =
                self.held().map(|tracked| (tracked.handoff.id.clone(), tracked.handoff.fence)).collect();
            for (id, fence) in held {
                let _ = draft.apply(&id, Command::Release(Release { fence, why: why.to_owned() }));
            }
            match self.write(draft).await {
                Ok(_) => break,
                // Somebody else has the run by now, and everything in it.
                Err(StoreError::Refused(_)) if self.run.root().handoff.fence != self.fence => break,
                Err(StoreError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        self.read().await
    }

    /// Calls off every agent, command and question.
    pub(super) async fn call_back(&mut self) {
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            self.joined(joined);
        }
        self.tasks.shutdown().await;
        self.errands.clear();
        self.working.clear();
        self.asked.retain(|_, asked| !matches!(asked, QuestionState::Asking { .. }));
    }
}
