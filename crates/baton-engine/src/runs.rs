//! Runs as a door sees them: begun, gone on with, told to stop. What drives them, and how agents are reached, is behind the
//! port.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;

use crate::definition::Definition;
use crate::driver::{Driver, DriverProblem, End, WorkspaceLock};
use crate::engine::Caller;
use crate::flow::Restart;
use crate::id::RunId;

/// Begins runs, lets them go on, and stops them.
#[async_trait]
pub trait Runs: Send + Sync {
    /// Begins a run: it is recorded, under an idempotency key if there is one, and its workspace is taken.
    /// [`resume`](Runs::resume) lets it go on.
    async fn begin(
        &self,
        run: &RunId,
        definition: &Definition,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<(), DriverProblem>;

    /// Goes on with a run that was begun, here or elsewhere. Returns how that ended.
    async fn resume(&self, run: &RunId) -> Result<End, DriverProblem>;

    /// Lets a run that has ended without success, or that has no driver, begin again from one of its phases, or from the one
    /// that it came to last. [`resume`](Runs::resume) lets it go on. Returns the phase.
    async fn begin_again(&self, run: &RunId, restart: &Restart, caller: &Caller) -> Result<String, DriverProblem>;

    /// Stops the driver of a run in this process: its agents are ended, and the run can be resumed. Returns whether it
    /// was not stopping already.
    fn stop(&self, run: &RunId) -> bool;
}

/// Runs that a driver of this process drives.
pub struct DrivenRuns {
    driver: Driver,
    /// The workspaces of runs that were begun here and do not go on yet.
    begun: Mutex<BTreeMap<RunId, WorkspaceLock>>,
    /// How those that go on are stopped.
    driven: Mutex<BTreeMap<RunId, watch::Sender<bool>>>,
}

impl DrivenRuns {
    /// Lets a driver drive runs.
    pub fn by(driver: Driver) -> DrivenRuns {
        DrivenRuns { driver, begun: Mutex::default(), driven: Mutex::default() }
    }
}

#[async_trait]
impl Runs for DrivenRuns {
    async fn begin(
        &self,
        run: &RunId,
        definition: &Definition,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<(), DriverProblem> {
        let workspace = self.driver.begin_once(run, definition, &caller.decider.name, key).await?;
        held(&self.begun).insert(run.clone(), workspace);
        Ok(())
    }

    async fn resume(&self, run: &RunId) -> Result<End, DriverProblem> {
        let workspace = held(&self.begun).remove(run);
        let (stop, stopped) = watch::channel(false);
        held(&self.driven).insert(run.clone(), stop);
        let end = self.driver.drive(run, workspace, stopped).await;
        held(&self.driven).remove(run);
        end
    }

    async fn begin_again(&self, run: &RunId, restart: &Restart, caller: &Caller) -> Result<String, DriverProblem> {
        let (phase, workspace) = self.driver.begin_again(run, restart, &caller.decider.name).await?;
        held(&self.begun).insert(run.clone(), workspace);
        Ok(phase)
    }

    fn stop(&self, run: &RunId) -> bool {
        held(&self.driven).get(run).is_some_and(|stop| !stop.send_replace(true))
    }
}

/// Nothing is left half-done while one of these is held, so a panic elsewhere does not matter.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
