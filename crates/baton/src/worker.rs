//! The worker: claims handoffs for an agent, lets a command work on each, and reports what came out.
//!
//! It never polls in a hurry: it waits until the store says that something has changed, or until something is due.
//! Nothing that a command does is taken as complete unless its report is readable and valid.

mod acknowledging;
mod answer;
mod attempt;
mod stop;
mod worker_output;
mod workplace;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use baton_agents::workspace::WorkspaceFolder;
use baton_engine::engine::{Caller, Problem};
use baton_engine::handoff::StateName;
use baton_engine::store::{ClaimRequest, ClaimedHandoff, Filter, StoreError};
use baton_engine::{Engine, Handoff, HandoffId, State, StateFolder};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::briefer::{self, Briefer};
use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::store::Session;
use attempt::Finish;
use stop::Stop;
use worker_output::WorkerOutput;

/// The longest time to wait without looking again.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// How long to wait when something is due but was not handed out: the queue is paused, full, or somebody else is faster.
const LOOK_SOON: Duration = Duration::from_secs(1);

/// By how much a look may come later than it should before the worker takes it that it was asleep.
const HICCUP: Duration = Duration::from_secs(5);

/// How often an empty claim is believed although something is ready, before a drained worker ends.
const EMPTY_CLAIMS_MAX: u32 = 3;

/// What a worker has to do.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    /// The agent to work for.
    pub agent: String,
    /// Who claims.
    pub claimant: String,
    /// How many at the same time.
    pub concurrency: u32,
    /// How long a handoff stays ours without a heartbeat.
    pub lease: Duration,
    /// How long the command may take; a shorter limit of the handoff counts first.
    pub timeout: Option<Duration>,
    /// When to end.
    pub until: Until,
    /// The program to run.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The workspace, if it is not the run's.
    pub workspace: Option<WorkspaceFolder>,
    /// Where stderr of the command goes; passed on if there is none.
    pub log_folder: Option<PathBuf>,
    /// What the command is told about the store.
    pub store: String,
    /// Whether the command gets the token that we have for the server.
    pub passes_token: bool,
    /// Whether each end is reported as JSON on stdout.
    pub json: bool,
}

/// When a worker ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// Never.
    Stopped,
    /// After one handoff.
    Once,
    /// When nothing is left to claim.
    Drained,
}

/// Works for an agent.
pub(crate) struct Worker {
    engine: Engine,
    /// Who works, for the engine.
    caller: Caller,
    /// Makes the prompts of commands.
    briefer: Arc<dyn Briefer>,
    /// Where what attempts are measured with is kept.
    state: Option<StateFolder>,
    assignment: Assignment,
    output: WorkerOutput,
    held: Mutex<Held>,
}

/// What a worker holds.
struct Held {
    /// Each handoff as it was when it was claimed.
    claims: BTreeMap<HandoffId, Handoff>,
    /// When the worker last looked.
    looked_at: Timestamp,
    /// Others are not noticed as dead before this time: they had no chance to show that they are alive.
    lenient_until: Timestamp,
}

/// What the loop remembers from one round to the next.
#[derive(Default)]
struct Progress {
    begun: u64,
    failed: bool,
    empty_claims: u32,
    /// How often the store was out of reach since it last answered.
    missed: u32,
    fatal: Option<CommandError>,
}

impl Worker {
    /// Makes a worker for an open store.
    pub(crate) fn new(session: &Session, assignment: Assignment, output: Output) -> Worker {
        Worker {
            engine: session.engine.clone(),
            caller: guard::anybody(),
            briefer: briefer::of(session),
            state: session.state.clone(),
            output: WorkerOutput::new(output, assignment.json),
            held: Mutex::new(Held {
                claims: BTreeMap::new(),
                looked_at: session.engine.now(),
                lenient_until: Timestamp::MIN,
            }),
            assignment,
        }
    }

    /// Works until the assignment is done or somebody says stop.
    pub(crate) async fn run(self: Arc<Self>) -> Result<Exit, CommandError> {
        let mut stop = stop::listen(self.output)?;
        let mut running: JoinSet<Finish> = JoinSet::new();
        let mut progress = Progress::default();
        self.output.ready(&self.assignment);
        loop {
            let seen = self.engine.store.changes();
            let mut pause = LOOK_AGAIN;
            if self.goes_on(&stop, &progress) {
                let room = self.room(&running, &progress);
                pause = self.round(room, &mut running, &mut progress, &stop).await;
                // Nothing runs any more whose end could be waited for.
                if running.is_empty() && (progress.fatal.is_some() || self.is_done(&mut progress).await) {
                    break;
                }
            } else if running.is_empty() {
                break;
            }
            tokio::select! {
                Some(done) = running.join_next() => self.take(done, &mut progress),
                // Whoever says stop lives as long as the worker.
                _ = stop.changed() => {}
                () = self.engine.store.changed(seen, pause), if self.goes_on(&stop, &progress) => {}
            }
        }
        match progress.fatal {
            Some(error) => Err(error),
            None if *stop.borrow() == Stop::Kill => Ok(Exit::No),
            None if self.assignment.until == Until::Once && progress.failed => Ok(Exit::No),
            None => Ok(Exit::Done),
        }
    }

    /// Returns whether new handoffs may be claimed.
    fn goes_on(&self, stop: &watch::Receiver<Stop>, progress: &Progress) -> bool {
        let enough = self.assignment.until == Until::Once && progress.begun > 0;
        *stop.borrow() == Stop::Go && progress.fatal.is_none() && !enough
    }

    fn room(&self, running: &JoinSet<Finish>, progress: &Progress) -> u32 {
        let busy = u32::try_from(running.len()).unwrap_or(u32::MAX);
        let room = self.assignment.concurrency.saturating_sub(busy);
        match self.assignment.until {
            Until::Once => room.min(u32::from(progress.begun == 0)),
            Until::Stopped | Until::Drained => room,
        }
    }

    /// Rescues what is due, claims what there is room for, and says how long to wait for more.
    async fn round(
        self: &Arc<Self>,
        room: u32,
        running: &mut JoinSet<Finish>,
        progress: &mut Progress,
        stop: &watch::Receiver<Stop>,
    ) -> Duration {
        match self.claim(room).await {
            Ok((claimed, pause)) => {
                if progress.missed > 0 {
                    self.output.note("the store answers again");
                    let lenient_until = self.engine.now() + self.assignment.lease / 3;
                    self.held.lock().unwrap_or_else(PoisonError::into_inner).lenient_until = lenient_until;
                }
                progress.missed = 0;
                progress.empty_claims = if claimed.is_empty() { progress.empty_claims } else { 0 };
                for claimed in claimed {
                    progress.begun += 1;
                    let claims = &mut self.held.lock().unwrap_or_else(PoisonError::into_inner).claims;
                    claims.insert(claimed.handoff.id.clone(), claimed.handoff.clone());
                    self.output.claimed(&claimed.handoff);
                    running.spawn(Arc::clone(self).attempt(claimed, stop.clone()));
                }
                pause
            }
            Err(error) if passes(&error) => {
                if progress.missed == 0 {
                    self.output.note(&format!("{error}; trying again"));
                }
                progress.missed += 1;
                patience(progress.missed)
            }
            Err(error) => {
                progress.fatal = Some(error.into());
                Duration::ZERO
            }
        }
    }

    /// Extends the claims that this worker holds if the store has not heard of it for long, because the machine or the
    /// worker stood still: our own claims must not be rescued from ourselves.
    async fn hold(&self) -> Result<(), Problem> {
        let now = self.engine.now();
        let claims = {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let missed = Duration::try_from(now.duration_since(held.looked_at)).unwrap_or_default();
            held.looked_at = now;
            if missed > LOOK_AGAIN + HICCUP {
                held.lenient_until = now + self.assignment.lease / 3;
            }
            if missed < self.assignment.lease / 2 { BTreeMap::new() } else { held.claims.clone() }
        };
        for handoff in claims.values() {
            match self.engine.heartbeat(handoff, handoff.fence, None, &self.caller).await {
                Err(problem) if passes(&problem) => return Err(problem),
                // Whatever was lost, its attempt notices.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    async fn claim(&self, room: u32) -> Result<(Vec<ClaimedHandoff>, Duration), Problem> {
        let agent = &self.assignment.agent;
        self.hold().await?;
        let now = self.engine.now();
        if now >= self.held.lock().unwrap_or_else(PoisonError::into_inner).lenient_until {
            self.engine.rescue().await?;
        }
        let claimed = match room {
            0 => Vec::new(),
            count => {
                let lease_ms = self.assignment.lease.as_millis() as u64;
                let (agent, claimant) = (agent.clone(), self.assignment.claimant.clone());
                let wish = ClaimRequest { agent, claimant, lease_ms, count, times_itself: true, author: None };
                self.engine.claim(&wish, &self.caller).await?
            }
        };
        // What is ready now but was not handed out becomes ready for us when something changes, or soon.
        let due = self.engine.store.next_due(Some(agent)).await?;
        let pause = due.map_or(LOOK_AGAIN, |due| {
            let wait = Duration::try_from(due.duration_since(self.engine.now())).unwrap_or_default();
            if wait.is_zero() { LOOK_SOON } else { wait.min(LOOK_AGAIN) }
        });
        Ok((claimed, pause))
    }

    /// Returns how long to wait before the store is told again about what is held: other workers notice nothing as ended
    /// for a third of a lease after an outage, and until then it must have heard of us.
    fn soon(&self, missed: u32) -> Duration {
        patience(missed).min(self.assignment.lease / 6)
    }

    /// Returns whether a worker that ends by itself has done everything, while nothing runs.
    async fn is_done(&self, progress: &mut Progress) -> bool {
        if self.assignment.until != Until::Drained || progress.missed > 0 {
            return false;
        }
        // An empty claim does not mean an empty queue: somebody else may have been about to take or leave something.
        progress.empty_claims += 1;
        progress.empty_claims > EMPTY_CLAIMS_MAX || !self.is_something_ready().await.unwrap_or(true)
    }

    async fn is_something_ready(&self) -> Result<bool, StoreError> {
        const PAGE: u32 = 1_000;
        let agent = &self.assignment.agent;
        let states = vec![StateName::Pending];
        let mut filter = Filter { agent: Some(agent.clone()), states, after: None, limit: PAGE };
        let now = self.engine.now();
        let is_ready = |handoff: &Handoff| {
            // The list has other agents of this name as well.
            let is_ours = handoff.terms.queue() == *agent;
            is_ours && matches!(handoff.state, State::Pending { ready_at } if ready_at <= now)
        };
        loop {
            let page = self.engine.store.list(&filter).await?;
            if page.iter().any(is_ready) {
                return Ok(true);
            }
            match page.last().filter(|_| page.len() == PAGE as usize) {
                Some(last) => filter.after = Some(last.id.clone()),
                None => return Ok(false),
            }
        }
    }

    fn take(&self, done: Result<Finish, tokio::task::JoinError>, progress: &mut Progress) {
        match done {
            Ok(finish) => {
                self.held.lock().unwrap_or_else(PoisonError::into_inner).claims.remove(&finish.id);
                progress.failed |= finish.is_failure();
                if let Err(error) = self.output.finished(&finish) {
                    progress.fatal = Some(error);
                }
            }
            Err(error) => {
                let message = format!("an attempt ended with an internal error: {error}");
                progress.fatal = Some(CommandError::internal(message).hint("its lease expires; please report it"));
            }
        }
    }
}

/// Returns whether trying again may help.
fn passes(problem: &Problem) -> bool {
    matches!(problem, Problem::Store(error) if error.may_pass())
}

/// Returns how long to wait before trying again: 200 ms at first, twice as long each time, at most 30 s.
fn patience(times: u32) -> Duration {
    Duration::from_millis(200).saturating_mul(1 << times.saturating_sub(1).min(8)).min(LOOK_AGAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_grows_to_a_limit() {
        let waits: Vec<u128> = [1, 2, 3, 9, 1_000].map(|times| patience(times).as_millis()).to_vec();
        assert_eq!(waits, [200, 400, 800, 30_000, 30_000]);
    }
}
