//! One transaction of a run: what came out is recorded, what follows is decided, what can begin is claimed, and all of it is
//! written at once or not at all.

use jiff::Timestamp;

use super::News;
use super::record::record;
use super::run_loop::{RACES_MAX, RunLoop};
use super::watch::QuestionState;
use crate::draft::{Draft, Foreseen};
use crate::evidence::KeptBytes;
use crate::flow;
use crate::handoff::{Handoff, State};
use crate::run::TrackedHandoff;
use crate::sabotage::{Bug, planted};
use crate::store::{KeptContents, StoreError, TransactionStep};

impl RunLoop<'_> {
    /// Writes down what came out, decides what follows, and claims what can begin. Returns whether anything was written.
    pub(super) async fn advance(&mut self) -> Result<bool, StoreError> {
        let now = self.driver.clock.now();
        if self.has_nothing_to_write(now) {
            return Ok(false);
        }
        self.keep_contents().await?;
        let mut draft = Draft::new(&self.run, now);
        let results = std::mem::take(&mut self.results);
        for (id, fence, finished) in &results {
            record(&mut draft, id, *fence, finished, self.driver.random.number());
        }
        self.expire(&mut draft);
        self.decide_gates(&mut draft);
        if !results.is_empty() && planted(Bug::RouteInSecondTransaction) {
            // What follows is decided the next time.
        } else if let Err(why) = flow::settle(&mut draft) {
            flow::fail(&mut draft, &why.to_string());
        }
        let ready = self.claim_ready(&mut draft).await;
        if draft.is_empty() {
            // That nothing follows now need not be found out again.
            self.run = draft.run;
            return Ok(false);
        }
        match self.write(draft).await {
            Ok(_) => {
                self.ready.extend(ready);
                self.races = 0;
                Ok(true)
            }
            // Something has changed since we looked: look again.
            Err(StoreError::Refused(_) | StoreError::Taken { .. } | StoreError::NotFound(_)) if self.races == 0 => {
                self.results = results;
                self.races += 1;
                Ok(true)
            }
            // The id belongs to another handoff, and always will. The result is recorded all the same.
            Err(error @ StoreError::Taken { .. }) => {
                let mut draft = Draft::new(&self.run, now);
                for (id, fence, finished) in &results {
                    record(&mut draft, id, *fence, finished, self.driver.random.number());
                }
                flow::fail(&mut draft, &error.to_string());
                self.write(draft).await.map(|_| true)
            }
            Err(StoreError::Refused(_) | StoreError::NotFound(_)) if self.races < RACES_MAX => {
                self.results = results;
                self.races += 1;
                Ok(true)
            }
            Err(error) => {
                self.results = if planted(Bug::ResultLostInOutage) { Vec::new() } else { results };
                Err(error)
            }
        }
    }

    /// Keeps the files that reports name, so that people on other machines can see them. A run does not fail if that
    /// fails.
    async fn keep_contents(&mut self) -> Result<(), StoreError> {
        for (id, _, finished) in &mut self.results {
            let Some(seen) = finished.unkept() else { continue };
            let contents = seen.contents.clone();
            match self.driver.store.keep_contents(&self.run.id, contents, self.driver.kept.run).await {
                Ok(KeptContents { digests, room }) => {
                    self.room = room;
                    seen.kept = digests;
                    seen.contents.clear();
                }
                Err(error) if error.may_pass() => return Err(error),
                Err(error) => {
                    seen.contents.clear();
                    let note = format!("{id}: the files that its report names could not be kept: {error}");
                    self.driver.audience.hear(&self.run, &News::Note(&note));
                }
            }
        }
        Ok(())
    }

    /// Returns how much may be kept of files.
    pub(super) fn room(&self) -> KeptBytes {
        KeptBytes { file: self.driver.kept.file, run: self.room }
    }

    /// Carries out a draft if the run is still ours; a driver that lost its run changes nothing.
    pub(super) async fn write(&mut self, draft: Draft) -> Result<Vec<Handoff>, StoreError> {
        let held = TransactionStep::Held { id: self.run.root().handoff.id.clone(), fence: self.fence };
        let at = draft.at;
        let (steps, foreseen) = draft.into_steps();
        let held = Some(held).filter(|_| !planted(Bug::LeaseGuardLeftOut));
        let steps = held.into_iter().chain(steps).collect();
        self.foreseen = Foreseen::default();
        let before = self.driver.store.changes();
        let (left, mut events) = match self.driver.store.carry_out_and_tell(steps, at).await {
            Ok(written) => written,
            Err(error) => {
                self.behind = true;
                return Err(error);
            }
        };
        // The first is the run itself, which is only looked at.
        self.foreseen = foreseen.confirmed(left.get(1..).unwrap_or(&[]));
        events.retain(|event| event.run == self.run.id);
        if events.first().is_some_and(|first| first.seq == self.run.seq + 1) {
            self.absorb(&events)?;
            // One change is our own.
            self.current_at = Some(self.driver.store.changes()).filter(|after| *after <= before + 1);
        } else if !planted(Bug::OwnEventsNotRead) {
            // The store does not say what it has written, or somebody else has written in between: the journal is read
            // before anything is decided, also if something has come out meanwhile:
            //
            //   lane 1                    driver                           lane 2
            //   ends              ──▶     accepts and claims item 4
            //                             has not read that yet    ◀──     ends
            //                             would claim item 4 again, and measure it with a later look
            self.behind = true;
        }
        Ok(left)
    }

    /// Returns whether nothing has come out, nothing follows, nothing is due, and nothing can begin.
    fn has_nothing_to_write(&self, now: Timestamp) -> bool {
        let answered = self.asked.values().any(|asked| matches!(asked, QuestionState::Answered { .. }));
        let ready =
            |tracked: &TrackedHandoff| matches!(tracked.handoff.state, State::Pending { ready_at } if ready_at <= now);
        let lapsed = |tracked: &TrackedHandoff| self.lapses_at(tracked).is_some_and(|at| at <= now);
        self.results.is_empty()
            && !answered
            && flow::is_settled(&self.run)
            && !flow::work(&self.run).any(ready)
            && !self.run.waiting().any(lapsed)
            && !self.run.open().any(|tracked| self.ends_at(tracked).is_some_and(|at| at <= now))
            && flow::waits_until(&self.run).is_none_or(|end| end > now)
    }
}
