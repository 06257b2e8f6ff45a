//! Runs that were read a moment ago. Whoever works through a long list claims one handoff of the same run after the other,
//! and each claim needs the run as it is: as only what is new is read, that costs the same at any length. Nothing is held
//! here that the store does not have; forgetting it costs time only.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Engine, Problem};
use crate::driver;
use crate::id::RunId;
use crate::pages::JournalPages;
use crate::run::Run;

/// How many runs are remembered.
const RUNS_MAX: usize = 16;

/// How many events they may have altogether; the run that was read last is always kept.
const EVENTS_MAX: u64 = 60_000;

/// Runs that were read a moment ago, the last one at the end.
#[derive(Debug, Default)]
pub struct RecentRuns(Mutex<Vec<Run>>);

impl RecentRuns {
    fn lock(&self) -> MutexGuard<'_, Vec<Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, id: &RunId) -> Option<Run> {
        self.lock().iter().find(|run| run.id == *id).cloned()
    }

    fn keep(&self, run: &Run) {
        let mut runs = self.lock();
        runs.retain(|known| known.id != run.id);
        runs.push(run.clone());
        let events = |runs: &[Run]| runs.iter().map(|run| run.seq).sum::<u64>();
        while runs.len() > 1 && (runs.len() > RUNS_MAX || events(&runs) > EVENTS_MAX) {
            runs.remove(0);
        }
    }
}

impl Engine {
    /// Reads a run as it is now; of one that was read before, only what has happened since.
    pub async fn run_now(&self, id: &RunId) -> Result<Run, Problem> {
        let run = match self.known_run(id).await? {
            Some(mut run) => {
                let mut pages = JournalPages::after(self.store.as_ref(), id, run.seq);
                while let Some(events) = pages.next().await? {
                    let absorbed = events.iter().try_for_each(|event| run.absorb(event));
                    absorbed.map_err(|why| Problem::BrokenRun { run: id.clone(), why })?;
                }
                run
            }
            None => driver::load(self.store.as_ref(), id).await?,
        };
        self.recent.keep(&run);
        Ok(run)
    }

    /// Returns a run that was read before, as it was then. One that was removed and begun anew under the same id is another
    /// run.
    async fn known_run(&self, id: &RunId) -> Result<Option<Run>, Problem> {
        let Some(known) = self.recent.known(id) else { return Ok(None) };
        let root = self.store.find(&known.root().handoff.id).await?;
        let began = known.root().handoff.accepted_at;
        Ok(root.filter(|root| root.run == *id && root.accepted_at == began).map(|_| known))
    }
}
