//! Drives runs for a server: each with a driver of its own, whose agents may not change the files of its workflow.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use baton_engine::RunId;
use baton_engine::definition::Definition;
use baton_engine::driver::{Driver, DriverProblem, End};
use baton_engine::engine::Caller;
use baton_engine::flow::Restart;
use baton_engine::run::Run;
use baton_engine::runs::{DrivenRuns, Runs};
use baton_engine::store::StoreError;
use baton_protocol::printable;
use baton_server::DRIVER_PREFIX;

use crate::output::Output;
use crate::people::InTurn;
use crate::running;
use crate::showing::{ServedShow, Watched};
use crate::store::Session;

/// Runs that a server drives.
pub(crate) struct ServedRuns {
    session: Arc<Session>,
    output: Output,
    /// How long attempts that are under way may go on when the server is told to stop.
    finish_within: Duration,
    /// Those that were begun here or go on here.
    known: Mutex<BTreeMap<RunId, Arc<ServedRun>>>,
}

struct ServedRun {
    runs: DrivenRuns,
    watched: Watched,
}

impl ServedRuns {
    pub(crate) fn new(session: Arc<Session>, finish_within: Duration, output: Output) -> ServedRuns {
        ServedRuns { session, output, finish_within, known: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Arc<ServedRun>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes what drives a run. People answer elsewhere, whenever they like; the run stays with its driver meanwhile.
    fn served(&self, scripts: Vec<PathBuf>) -> Result<Arc<ServedRun>, DriverProblem> {
        let failed =
            |error: crate::command_error::CommandError| DriverProblem::Store(StoreError::Failed(error.message));
        let watched = ServedShow { session: &self.session, output: &self.output }.watch().map_err(failed)?;
        let people = Arc::new(InTurn::nobody().or_elsewhere());
        let driver = running::driver(&self.session, people, watched.audience(), scripts, &[]).map_err(failed)?;
        let claimant = format!("{DRIVER_PREFIX}{}", driver.claimant);
        Ok(Arc::new(ServedRun {
            runs: DrivenRuns::by(Driver { claimant, finish_within: self.finish_within, ..driver }),
            watched,
        }))
    }

    async fn of_journal(&self, run: &RunId) -> Result<Arc<ServedRun>, DriverProblem> {
        if let Some(known) = self.lock().get(run) {
            return Ok(Arc::clone(known));
        }
        let first = self.session.store.history(run, 0, 1).await?;
        let begun = Run::of_journal(&first).map_err(StoreError::invalid)?;
        self.served(running::scripts(&begun.definition))
    }
}

#[async_trait]
impl Runs for ServedRuns {
    async fn begin(
        &self,
        run: &RunId,
        definition: &Definition,
        caller: &Caller,
        key: Option<&str>,
    ) -> Result<(), DriverProblem> {
        // What was begun before under this id goes on as it is.
        let served = self.served(running::scripts(definition))?;
        served.runs.begin(run, definition, caller, key).await?;
        self.lock().insert(run.clone(), served);
        Ok(())
    }

    async fn resume(&self, run: &RunId) -> Result<End, DriverProblem> {
        let served = self.of_journal(run).await?;
        self.lock().insert(run.clone(), Arc::clone(&served));
        let driving = served.runs.resume(run);
        tokio::pin!(driving);
        let ended = loop {
            tokio::select! {
                ended = &mut driving => break ended,
                () = served.watched.views().are_due() => served.watched.views().catch_up(),
            }
        };
        self.lock().remove(run);
        match &ended {
            Ok(end) => ServedShow { session: &self.session, output: &self.output }.end(run, end, &served.watched).await,
            Err(why) => self.output.note(&printable(&format!("{run} cannot be driven: {why}"))),
        }
        ended
    }

    async fn begin_again(&self, run: &RunId, restart: &Restart, caller: &Caller) -> Result<String, DriverProblem> {
        let served = self.of_journal(run).await?;
        // Who is refused leaves alone what drives the run: it must be found when the server stops.
        let phase = served.runs.begin_again(run, restart, caller).await?;
        self.lock().insert(run.clone(), served);
        Ok(phase)
    }

    fn stop(&self, run: &RunId) -> bool {
        let known = self.lock().get(run).cloned();
        known.is_some_and(|served| served.runs.stop(run))
    }
}
