//! Taking a run: from its beginning, from a driver that let go of it, or from one that died.

use std::time::Duration;

use tokio::sync::watch as channel;
use tokio::time::Instant;

use super::begin::approved_files;
use super::claiming::claim;
use super::run_loop::RACES_MAX;
use super::{Driver, DriverProblem, End, LEASE, WorkspaceLock, WorkspaceProblem};
use crate::Fence;
use crate::draft::Draft;
use crate::evidence::{self, EarlierAttempt};
use crate::failure::{Code, Failure};
use crate::flow::{self, NoWayBack, Restart};
use crate::handoff::State;
use crate::handover;
use crate::id::{HandoffId, RunId};
use crate::lifecycle::{Again, Command, Expire, Fail, Release, readable_claimant};
use crate::pages::JournalPages;
use crate::run::{Run, TrackedHandoff};
use crate::sabotage::{Bug, planted};
use crate::store::{Store, StoreError};
use crate::view;

/// How long to wait before a store that is away is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// A run that is ours.
pub(super) struct TakenRun {
    pub(super) run: Run,
    /// The fence of the claim of the run itself.
    pub(super) fence: Fence,
    /// Keeps other runs out of its workspace.
    pub(super) workspace: WorkspaceLock,
}

impl Driver {
    /// Reads a run from its journal.
    pub async fn load(&self, id: &RunId) -> Result<Run, StoreError> {
        load(self.store.as_ref(), id).await
    }

    /// Takes a run, so that nobody else drives it; tells how it ended if there is nothing to drive. A store that is away is
    /// asked again for as long as a lease lasts.
    pub(super) async fn take_over(
        &self,
        id: &RunId,
        mut workspace: Option<WorkspaceLock>,
        stop: &mut channel::Receiver<bool>,
    ) -> Result<Result<TakenRun, End>, DriverProblem> {
        let since = Instant::now();
        let (mut claiming, mut races) = (false, 0);
        loop {
            match self.try_to_take_over(id, &mut workspace, claiming).await {
                Err(DriverProblem::Store(error)) if error.may_pass() && since.elapsed() < LEASE && !*stop.borrow() => {
                    claiming = true;
                    tokio::select! {
                        biased;
                        Ok(()) = stop.changed() => {}
                        () = tokio::time::sleep(ASK_AGAIN) => {}
                    }
                }
                // Something has happened in it since we looked.
                Err(DriverProblem::Store(StoreError::Refused(_))) if races < RACES_MAX => races += 1,
                taken => return taken,
            }
        }
    }

    /// Tries it once. `claiming` says that we may have claimed it already, without having heard the answer.
    async fn try_to_take_over(
        &self,
        id: &RunId,
        held: &mut Option<WorkspaceLock>,
        claiming: bool,
    ) -> Result<Result<TakenRun, End>, DriverProblem> {
        let run = self.load(id).await?;
        let mut draft = Draft::new(&run, self.clock.now());
        self.expire_the_lost(&mut draft);
        let root = draft.run.root().handoff.clone();
        match &root.state {
            State::Pending { .. } => {}
            State::Claimed { lease } if claiming && lease.claimant == self.claimant => {
                let workspace = self.workspace_of(&run, held)?;
                self.end_remains(&run);
                return Ok(Ok(TakenRun { run, fence: root.fence, workspace }));
            }
            State::Claimed { lease } if planted(Bug::TakesFromTheLiving) || self.team.is_dead(&lease.claimant) => {
                self.bury(&mut draft, &lease.claimant);
            }
            State::Claimed { lease } => return Ok(Err(End::Lost(lease.claimant.clone()))),
            State::Completed { .. } => return Ok(Err(End::Completed)),
            State::Cancelled { .. } => {
                // Whoever drove it may have died before it could end the rest.
                flow::call_off(&mut draft);
                if !draft.is_empty() {
                    self.store.carry_out(draft.steps, draft.at).await?;
                }
                return Ok(Err(End::Cancelled));
            }
            State::Failed { .. } | State::Verifying | State::Blocked { .. } | State::AwaitingPerson { .. } => {
                let why = root.last_failure.as_ref().map(|failure| failure.text());
                return Ok(Err(End::Failed(why.unwrap_or_default())));
            }
        }
        // Two runs in one workspace could not tell whose work is whose, so it comes before the claim.
        let workspace = self.workspace_of(&run, held)?;
        let root = root.id;
        draft.apply(&root, Command::Claim(claim(&self.claimant, None))).map_err(StoreError::Refused)?;
        let handoffs = match self.store.carry_out(draft.steps, draft.at).await {
            Ok(handoffs) => handoffs,
            Err(error) => {
                *held = Some(workspace);
                return Err(error.into());
            }
        };
        let fence = handoffs.last().map_or(Fence::NONE, |handoff| handoff.fence);
        self.end_remains(&run);
        Ok(Ok(TakenRun { run, fence, workspace }))
    }

    /// Lets a run without a driver begin again from a phase, or from the one that it came to last; what is open in it is
    /// called off. Whoever drives it next goes on there, and has its workspace until then. Returns the phase.
    pub async fn begin_again(
        &self,
        id: &RunId,
        restart: &Restart,
        by: &str,
    ) -> Result<(String, WorkspaceLock), DriverProblem> {
        let (mut races, mut held) = (0, None);
        loop {
            let run = self.load(id).await?;
            let mut draft = Draft::new(&run, self.clock.now());
            self.expire_the_lost(&mut draft);
            if let State::Claimed { lease } = &draft.run.root().handoff.state
                && self.team.is_dead(&lease.claimant)
            {
                let claimant = lease.claimant.clone();
                self.bury(&mut draft, &claimant);
            }
            if let State::Claimed { lease } = &draft.run.root().handoff.state {
                return Err(DriverProblem::Driven(lease.claimant.clone()));
            }
            let phase = flow::begin_again(&mut draft, restart, by)?;
            self.refuse_changes(&run, &phase).await?;
            // If another run has the workspace, nothing is called off.
            let workspace = self.workspace_of(&run, &mut held)?;
            match self.store.carry_out(draft.steps, draft.at).await {
                Ok(_) => {
                    self.end_remains(&run);
                    return Ok((phase, workspace));
                }
                // Something has happened in it since we looked.
                Err(StoreError::Refused(_)) if races < RACES_MAX => (races, held) = (races + 1, Some(workspace)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Looks once more at what people approved on the way to a phase, and nobody since then may change: nobody has approved
    /// what it has become.
    async fn refuse_changes(&self, run: &Run, phase: &str) -> Result<(), NoWayBack> {
        for approval in flow::approved_before(run, phase) {
            let gate = approval.gate;
            let mut examined = approved_files(gate);
            examined.retain(|seen| seen.path.as_deref().is_none_or(|path| approval.holds_for(path)));
            let paths = examined.iter().filter_map(|seen| seen.path.clone()).collect();
            let now = self.evidence.identify(&run.definition.workspace, &view::kept(run), paths).await;
            let changes = match now.map(|now| evidence::after_approval(&examined, &now)) {
                Ok(None) => continue,
                Ok(Some(now)) => {
                    let changed = evidence::left_to_person(&now).map(|seen| seen.claim.clone());
                    changed.collect::<Vec<_>>().join("; ")
                }
                Err(why) => why.to_string(),
            };
            return Err(NoWayBack::Changed { given: phase.to_owned(), gate: gate.step.phase.clone(), changes });
        }
        Ok(())
    }

    /// Takes the workspace of a run, unless that is done.
    fn workspace_of(&self, run: &Run, held: &mut Option<WorkspaceLock>) -> Result<WorkspaceLock, WorkspaceProblem> {
        match held.take() {
            Some(workspace) => Ok(workspace),
            None => self.team.lock(&run.definition.workspace, &run.id, &self.claimant),
        }
    }

    /// A driver that was not heard of for too long has lost the run, and what it held in it.
    fn expire_the_lost(&self, draft: &mut Draft) {
        let root = &draft.run.root().handoff;
        let Some(lease) = root.lease().filter(|lease| lease.until <= draft.at) else { return };
        if lease.claimant == self.claimant {
            return;
        }
        let is_over = |tracked: &&TrackedHandoff| tracked.handoff.ends_at().is_some_and(|at| at <= draft.at);
        let held = draft.run.held_by(&lease.claimant).filter(is_over);
        let held: Vec<HandoffId> = held.map(|tracked| tracked.handoff.id.clone()).collect();
        for id in held {
            let _ =
                draft.apply(&id, Command::Expire(Expire { dice: self.random.number(), for_good: false, fence: None }));
        }
    }

    /// Ends processes that earlier drivers left behind. Only the holder of the run may do so, before it starts anything
    /// itself.
    fn end_remains(&self, run: &Run) {
        if run.seq > 1 {
            self.team.sweep(&run.id, &run.definition.workspace);
        }
    }

    /// Takes from a dead driver what it held: the run at once, its attempts under their retry policy.
    fn bury(&self, draft: &mut Draft, claimant: &str) {
        let held = draft.run.held_by(claimant).map(|tracked| (tracked.handoff.id.clone(), tracked.handoff.fence));
        let held: Vec<(HandoffId, Fence)> = held.collect();
        let root = draft.run.root().handoff.id.clone();
        for (id, fence) in held.into_iter().filter(|(id, _)| *id == root || !planted(Bug::TakeOverForgetsAttempts)) {
            let why = format!("{} has died", readable_claimant(claimant));
            let command = match id == root {
                true => Command::Release(Release { fence, why }),
                false => {
                    let failure = Failure::new(Code::abandoned(), why);
                    let fail = Fail::new(fence, failure, self.random.number());
                    Command::Fail(Fail { again: Again::AtOnce, ..fail })
                }
            };
            let _ = draft.apply(&id, command);
        }
    }

    /// Returns the attempts before.
    pub(super) fn earlier_attempts(&self, run: &Run, tracked: &TrackedHandoff) -> Vec<EarlierAttempt> {
        // Whoever is sent back goes on with the same work: what its earlier visits changed is part of it.
        let visits = handover::earlier_visits(run, &tracked.step);
        let visits = visits.into_iter().map(|earlier| (earlier, earlier.handoff.fence.next()));
        let attempts = visits.chain([(tracked, tracked.handoff.fence)]);
        let attempt = |work: &TrackedHandoff, fence| {
            let folder = self.team.folder(&run.definition.workspace, &run.id, &work.handoff.id, fence).ok()?;
            // A visit that failed was never judged: what it left behind is looked at with what follows it.
            let is_done = matches!(work.handoff.state, State::Completed { .. });
            let is_own = work.handoff.id == tracked.handoff.id || !is_done;
            Some(EarlierAttempt { folder, baseline: work.baseline(fence).cloned(), is_own })
        };
        attempts.flat_map(|(work, end)| (1..end.0).filter_map(move |number| attempt(work, Fence(number)))).collect()
    }
}

/// Reads a run from its journal.
pub async fn load(store: &dyn Store, id: &RunId) -> Result<Run, StoreError> {
    let mut run: Option<Run> = None;
    let mut pages = JournalPages::after(store, id, 0);
    while let Some(events) = pages.next().await? {
        for event in &events {
            match &mut run {
                Some(run) => run.absorb(event)?,
                None => run = Some(Run::begin(event).map_err(StoreError::invalid)?),
            }
        }
    }
    run.ok_or_else(|| StoreError::Invalid("there is no such run".to_owned()))
}
