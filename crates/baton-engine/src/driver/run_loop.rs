//! Drives one run: one transaction after another, with agents, commands and people in between.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch as channel};
use tokio::task::{self, JoinSet};
use tokio::time::Instant;

use super::absence::Lying;
use super::attempt::{Finished, Newcomers, Progress, SeenWorkspace};
use super::begin::Working;
use super::claiming::Ready;
use super::taking::TakenRun;
use super::wait::IDLE;
use super::watch::{PersonAnswer, QuestionState};
use super::{Driver, DriverProblem, End, News, WorkspaceLock};
use crate::Fence;
use crate::draft::Foreseen;
use crate::handoff::State;
use crate::id::{HandoffId, RunId};
use crate::journal::Event;
use crate::pages::JournalPages;
use crate::run::{Run, TrackedHandoff};
use crate::session::Spent;
use crate::store::StoreError;

/// By how much a turn may take longer than it should before the driver takes it that it was asleep.
const HICCUP: Duration = Duration::from_secs(5);

/// How often a transaction may lose a race in a row before the driver gives up.
pub(super) const RACES_MAX: u32 = 100;

/// What a task of the driver came to.
pub(super) enum Outcome {
    /// An agent, a command or an examination has ended.
    Work(Finished),
    /// A person was asked, or checks instead of one.
    Asked(PersonAnswer),
}

/// What a task of the driver is about.
pub(super) struct Errand {
    pub(super) handoff: HandoffId,
    /// The fence of the claim that is worked on; `None` if somebody is asked.
    pub(super) fence: Option<Fence>,
}

/// Drives one run.
pub(super) struct RunLoop<'d> {
    pub(super) driver: &'d Driver,
    pub(super) run: Run,
    /// The fence of the claim of the run itself.
    pub(super) fence: Fence,
    /// Whether the run was claimed anew and the answer did not arrive.
    pub(super) claiming: bool,
    /// Whether somebody else may have written, so that the journal must be read before anything is decided.
    pub(super) behind: bool,
    /// The change of the store up to which this driver knows all that the journal says, because it has just written and
    /// nobody else did meanwhile.
    pub(super) current_at: Option<u64>,
    /// Nothing is noticed as ended before this time.
    pub(super) lenient_until: Timestamp,
    /// When it was told to stop.
    pub(super) told_at: Option<Instant>,
    /// Since when it was told to stop, while the store is out of reach.
    pub(super) stopped_since: Option<Instant>,
    /// Since when the store is out of reach.
    pub(super) away_since: Option<Instant>,
    pub(super) tasks: JoinSet<Outcome>,
    pub(super) errands: HashMap<task::Id, Errand>,
    pub(super) working: BTreeMap<HandoffId, Working>,
    /// What each attempt that goes on must know about those that began later.
    pub(super) newcomers: BTreeMap<HandoffId, Newcomers>,
    /// What was claimed and can begin, with what its agent gets.
    pub(super) ready: BTreeMap<HandoffId, Ready>,
    pub(super) results: Vec<(HandoffId, Fence, Finished)>,
    /// How the workspace was before what has begun, and after what must still be examined, by the fence of the claim.
    pub(super) seen: BTreeMap<HandoffId, (Fence, SeenWorkspace)>,
    /// How many bytes of files the run may still keep, as far as is known.
    pub(super) room: u64,
    /// What the journal will contain if no other process has written.
    pub(super) foreseen: Foreseen,
    /// What another driver had begun to examine, with the fence of its claim.
    pub(super) interrupted: BTreeSet<(HandoffId, Fence)>,
    /// What attempts tell while they go on.
    pub(super) tell: mpsc::UnboundedSender<Progress>,
    pub(super) progress: mpsc::UnboundedReceiver<Progress>,
    /// Work that waits for agents to fetch it, and whether the absence of an agent was announced.
    pub(super) lying: BTreeMap<HandoffId, Lying>,
    pub(super) missed: BTreeSet<HandoffId>,
    /// What attempts that go on have spent so far.
    pub(super) spent: BTreeMap<HandoffId, (Fence, Spent)>,
    /// When that was written down last.
    pub(super) spending_written: Option<Timestamp>,
    pub(super) asked: BTreeMap<HandoffId, QuestionState>,
    pub(super) stop: channel::Receiver<bool>,
    pub(super) races: u32,
    /// Keeps other runs out of the workspace.
    _workspace: WorkspaceLock,
}

/// What came of one turn of the loop.
pub(super) enum Turn {
    /// The run has ended for this driver.
    Ended(End),
    /// Something was written: there may be more to do.
    Again,
    /// Something must happen first.
    Wait,
}

impl<'d> RunLoop<'d> {
    /// Takes a run and drives it to its end, or as far as it goes.
    pub(super) async fn take(
        driver: &'d Driver,
        id: &RunId,
        workspace: Option<WorkspaceLock>,
        mut stop: channel::Receiver<bool>,
    ) -> Result<End, DriverProblem> {
        let TakenRun { run, fence, workspace } = match driver.take_over(id, workspace, &mut stop).await? {
            Ok(taken) => taken,
            Err(end) => return Ok(end),
        };
        let (tell, progress) = mpsc::unbounded_channel();
        let was_examined =
            |tracked: &&TrackedHandoff| tracked.handoff.state == State::Verifying && !tracked.handoff.approved;
        let interrupted =
            run.open().filter(was_examined).map(|tracked| (tracked.handoff.id.clone(), tracked.handoff.fence));
        let interrupted = interrupted.collect();
        let mut run_loop = RunLoop {
            driver,
            run,
            interrupted,
            fence,
            claiming: false,
            behind: true,
            current_at: None,
            lenient_until: Timestamp::MIN,
            told_at: None,
            stopped_since: None,
            away_since: None,
            tasks: JoinSet::new(),
            errands: HashMap::new(),
            working: BTreeMap::new(),
            newcomers: BTreeMap::new(),
            ready: BTreeMap::new(),
            results: Vec::new(),
            seen: BTreeMap::new(),
            room: driver.kept.run,
            foreseen: Foreseen::default(),
            tell,
            progress,
            lying: BTreeMap::new(),
            missed: BTreeSet::new(),
            spent: BTreeMap::new(),
            spending_written: None,
            asked: BTreeMap::new(),
            stop,
            races: 0,
            _workspace: workspace,
        };
        Ok(run_loop.go().await?)
    }

    async fn go(&mut self) -> Result<End, StoreError> {
        loop {
            // What others write after that wakes us. The number is taken before the journal is read:
            //
            //   driver that reads first              worker
            //   reads up to event 7
            //                                        reports: event 8, and the number becomes 42
            //   takes the number: 42
            //   waits for a change after 42          has nothing more to say, and nobody rings
            //                                        until the longest pause is over
            let changes = self.current_at.unwrap_or_else(|| self.driver.store.changes());
            let before = self.driver.clock.now();
            let turn = self.turn().await;
            match turn {
                Err(error) if error.may_pass() => self.endure(error).await?,
                Err(error) => return Err(error),
                Ok(turn) => {
                    self.store_answers();
                    match turn {
                        Turn::Ended(end) => return Ok(end),
                        Turn::Again => {}
                        Turn::Wait => self.wait(changes).await,
                    }
                    if self.driver.clock.now() > before + IDLE + HICCUP {
                        self.be_lenient();
                    }
                }
            }
        }
    }

    async fn turn(&mut self) -> Result<Turn, StoreError> {
        self.hold().await?;
        // What has ended by now is written together, also if nothing else is to be done any more.
        while let Some(joined) = self.tasks.try_join_next_with_id() {
            self.joined(joined);
        }
        self.write_spending();
        // What has come out is written first: if somebody else has written meanwhile, the store says so.
        let is_current = self.current_at.take().is_some() || !self.results.is_empty();
        if self.behind || !is_current {
            self.read().await?;
        }
        if let Some(turn) = self.standing().await? {
            return Ok(turn);
        }
        if *self.stop.borrow() {
            // What has come out already is written down first; nothing else begins, and nothing begins again.
            if !self.results.is_empty() && self.advance().await? {
                return Ok(Turn::Again);
            }
            if !self.must_stop() {
                return Ok(Turn::Wait);
            }
            self.let_go("the driver was told to stop").await?;
            return Ok(Turn::Ended(End::Stopped));
        }
        if self.advance().await? {
            return Ok(Turn::Again);
        }
        self.begin_work();
        self.ask();
        self.tell_absences();
        Ok(self.only_people().await?.map_or(Turn::Wait, Turn::Ended))
    }

    /// Returns whether it was told to stop, and has nothing under way that may still end.
    pub(super) fn must_stop(&mut self) -> bool {
        *self.stop.borrow() && (self.working.is_empty() || self.finish_time().is_zero())
    }

    /// Returns how much time is left for what is under way since it was told to stop.
    pub(super) fn finish_time(&mut self) -> Duration {
        let told_at = *self.told_at.get_or_insert_with(Instant::now);
        self.driver.finish_within.saturating_sub(told_at.elapsed())
    }

    /// Reads what has happened since.
    pub(super) async fn read(&mut self) -> Result<(), StoreError> {
        let (store, id) = (Arc::clone(&self.driver.store), self.run.id.clone());
        let mut pages = JournalPages::after(store.as_ref(), &id, self.run.seq);
        while let Some(events) = pages.next().await? {
            self.absorb(&events)?;
        }
        self.behind = false;
        Ok(())
    }

    /// Takes the next events of the journal, and tells of each.
    pub(super) fn absorb(&mut self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            self.foreseen.absorb(&mut self.run, event)?;
            self.driver.audience.hear(&self.run, &News::Event(event));
        }
        Ok(())
    }
}
