//! Leads one run: one transaction after another, with agents, commands and people in between.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch as channel};
use tokio::task::{self, JoinSet};
use tokio::time::Instant;

use super::absence::Lying;
use super::attempt::{Finished, Newcomers, Progress, SeenWorkspace};
use super::begin::Working;
use super::claiming::{Ready, claim};
use super::record::record;
use super::wait::IDLE;
use super::watch::{PersonAnswer, QuestionState};
use super::{Driver, End, News};
use crate::Fence;
use crate::draft::{Draft, Foreseen};
use crate::evidence::KeptBytes;
use crate::flow;
use crate::handoff::{Handoff, State};
use crate::id::{HandoffId, RunId};
use crate::journal::Event;
use crate::lifecycle::{Command, Release};
use crate::run::{Run, TrackedHandoff};
use crate::sabotage::{Bug, planted};
use crate::step::Role;
use crate::store::{KeptContents, StoreError, TransactionStep};

/// By how much a turn may take longer than it should before the driver takes it that it was asleep.
const HICCUP: Duration = Duration::from_secs(5);

/// How many events are read at a time.
const EVENTS: u32 = 1_000;

/// So often a transaction may find that somebody else was faster, without anything happening in between.
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
    /// The token of the claim that is worked on; `None` if somebody is asked.
    pub(super) fence: Option<Fence>,
}

/// Leads one run.
pub(super) struct RunLoop<'d> {
    pub(super) driver: &'d Driver,
    pub(super) run: Run,
    /// The token of the claim of the run itself.
    fence: Fence,
    /// Whether the run was claimed anew and the answer did not arrive.
    claiming: bool,
    /// Whether somebody else may have written, so that the journal must be read before anything is decided.
    pub(super) behind: bool,
    /// The change of the store up to which this driver knows all that the journal says, because it has just written and
    /// nobody else did meanwhile.
    current_at: Option<u64>,
    /// Nothing is noticed as ended before this time.
    pub(super) lenient_until: Timestamp,
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
    /// How the workspace was before what has begun, and after what must still be examined, by the token of the claim.
    pub(super) seen: BTreeMap<HandoffId, (Fence, SeenWorkspace)>,
    /// How many bytes of files the run may still keep, as far as is known.
    room: u64,
    /// What the journal will say if nobody else has written.
    foreseen: Foreseen,
    /// What attempts tell while they go on.
    pub(super) tell: mpsc::UnboundedSender<Progress>,
    pub(super) progress: mpsc::UnboundedReceiver<Progress>,
    /// What was put down for agents that come for it, and what was said to have nobody.
    pub(super) lying: BTreeMap<HandoffId, Lying>,
    pub(super) missed: BTreeSet<HandoffId>,
    pub(super) asked: BTreeMap<HandoffId, QuestionState>,
    pub(super) stop: channel::Receiver<bool>,
    races: u32,
}

/// What came of one turn of the loop.
enum Turn {
    /// The run has ended for this driver.
    Ended(End),
    /// Something was written: there may be more to do.
    Again,
    /// Something must happen first.
    Wait,
}

impl<'d> RunLoop<'d> {
    /// Takes a run and leads it to its end, or as far as it goes.
    pub(super) async fn take(
        driver: &'d Driver,
        id: &RunId,
        mut stop: channel::Receiver<bool>,
    ) -> Result<End, StoreError> {
        let (run, fence) = match driver.take_over(id, &mut stop).await? {
            Ok(taken) => taken,
            Err(end) => return Ok(end),
        };
        let (tell, progress) = mpsc::unbounded_channel();
        let mut lead = RunLoop {
            driver,
            run,
            fence,
            claiming: false,
            behind: true,
            current_at: None,
            lenient_until: Timestamp::MIN,
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
            asked: BTreeMap::new(),
            stop,
            races: 0,
        };
        lead.go().await
    }

    async fn go(&mut self) -> Result<End, StoreError> {
        loop {
            // What others write after that wakes us.
            let changes = self.current_at.unwrap_or_else(|| self.driver.store.changes());
            let before = self.driver.clock.now();
            let turn = self.turn().await;
            match turn {
                Err(StoreError::Unreachable(why)) => self.endure(why).await?,
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

    /// Reads what has happened since.
    async fn read(&mut self) -> Result<(), StoreError> {
        loop {
            let events = self.driver.store.history(&self.run.id, self.run.seq, EVENTS).await?;
            self.absorb(&events)?;
            if events.len() < EVENTS as usize {
                self.behind = false;
                return Ok(());
            }
        }
    }

    /// Takes the next events of the journal, and tells of each.
    fn absorb(&mut self, events: &[Event]) -> Result<(), StoreError> {
        for event in events {
            self.foreseen.absorb(&mut self.run, event).map_err(|why| event.trouble(why))?;
            self.driver.audience.hear(&self.run, &News::Event(event));
        }
        Ok(())
    }

    /// Says how the run ended, if it did, or whether somebody else drives it; `None` if it is ours.
    async fn standing(&mut self) -> Result<Option<Turn>, StoreError> {
        let root = &self.run.root().handoff;
        match &root.state {
            State::Completed { .. } => Ok(Some(Turn::Ended(End::Completed))),
            State::Failed { .. } => {
                let why = root.last_failure.as_ref().map(|failure| failure.message.clone());
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

    /// Claims the run anew: nobody heard of us for too long, but nobody has taken over.
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

    /// Writes down what came out, decides what follows, and claims what can begin. Says whether anything was written.
    async fn advance(&mut self) -> Result<bool, StoreError> {
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
            flow::fail(&mut draft, &why);
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
            // An id of ours belongs to somebody else, and always will. What has come out is recorded all the same.
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

    /// Keeps the files that reports name, so that whoever decides elsewhere sees them. A run does not fail for want of that.
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
                Err(error @ StoreError::Unreachable(_)) => return Err(error),
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

    /// Carries out a draft, if the run is still ours: whoever has lost it changes nothing.
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
        // If somebody else has written in between, the journal tells that first.
        if events.first().is_some_and(|first| first.seq == self.run.seq + 1) {
            self.absorb(&events)?;
            // One change is our own.
            self.current_at = Some(self.driver.store.changes()).filter(|after| *after <= before + 1);
        }
        Ok(left)
    }

    /// Says whether nothing has come out, nothing follows, nothing is due, and nothing can begin.
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

    /// Ends when only people can let the run go on and nobody can be asked here.
    async fn only_people(&mut self) -> Result<Option<End>, StoreError> {
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
    async fn let_go(&mut self, why: &str) -> Result<(), StoreError> {
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
