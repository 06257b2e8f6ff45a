//! Running workflows: from a file to a run, and the driver with everything that it needs.

mod claimant;
mod launching;
mod local_team;
mod starting;
mod workspace_lock;

pub(crate) use claimant::is_dead;
pub(crate) use launching::{launcher, scripts};
pub(crate) use local_team::keep;
pub(crate) use starting::{
    INPUT_OPTION, Started, changed_files, command_to_start, definition, missing_programs, new_run_id,
};
pub(crate) use workspace_lock::held;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_agents::Launcher;
use baton_agents::evidence::LocalEvidence;
use baton_agents::process::Environment;
use baton_engine::driver::{Audience, Driver, DriverProblem, End, PATIENCE};
use baton_engine::people::People;
use baton_engine::runs::Runs;
use baton_engine::{Clock, RunId};
use tokio::signal::unix::{SignalKind, signal};

use crate::command_error::CommandError;
use crate::state;
use crate::store::Session;
use crate::views::Views;
use local_team::LocalTeam;

/// Makes a driver for a run of a store, whose agents may change neither these scripts nor the answers.
pub(crate) fn driver(
    session: &Session,
    people: Arc<dyn People>,
    audience: Arc<dyn Audience>,
    scripts: Vec<PathBuf>,
    answers: &[PathBuf],
) -> Result<Driver, CommandError> {
    let clock: Arc<dyn Clock> = session.clock.clone();
    let mut launcher = Launcher { scripts, ..launcher(session) };
    launcher.configuration.extend_from_slice(answers);
    let seen = Environment::reduced([]);
    let (state, location) = (session.state()?.clone(), session.location.clone());
    let remember = move |workspace: &Path| state::remember_workspace(&state, workspace, &location);
    let variables = seen.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    Ok(Driver {
        store: session.store.clone(),
        team: Arc::new(LocalTeam::new(clock.clone(), launcher.clone(), Box::new(remember))),
        clock,
        evidence: Arc::new(LocalEvidence::new(variables, session.state()?.clone()).started_by(launcher)),
        people,
        audience,
        random: session.engine.random.clone(),
        claimant: claimant::claimant(),
        settings: session.settings.clone(),
        kept: session.kept,
        patience: PATIENCE,
        finish_within: std::time::Duration::ZERO,
    })
}

/// How driving a run ended.
pub(crate) struct Driven {
    /// How, or why it could not be driven.
    pub end: Result<End, DriverProblem>,
    /// Whether somebody pressed Ctrl-C.
    pub is_interrupted: bool,
}

/// Drives a run until it ends, or until SIGINT or SIGTERM: the first stops it, the second ends everything at once.
pub(crate) async fn drive(
    runs: &dyn Runs,
    views: &Views,
    run: &RunId,
    tell: &dyn Fn(&str),
) -> Result<Driven, CommandError> {
    let failed = |error| CommandError::internal(format!("cannot listen to signals: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let driving = runs.resume(run);
    tokio::pin!(driving);
    let mut is_interrupted = false;
    loop {
        tokio::select! {
            end = &mut driving => return Ok(Driven { end, is_interrupted }),
            () = views.are_due() => {
                views.catch_up();
                continue;
            }
            _ = interrupt.recv() => is_interrupted = true,
            _ = terminate.recv() => {}
        }
        if !runs.stop(run) {
            // Whoever asks twice does not want to wait: what runs is killed here, and what we held is taken from the dead.
            let ended = if is_interrupted { CommandError::interrupted } else { CommandError::no };
            return Err(ended(format!("{run} was killed")).hint(format!("baton resume {run} continues it")));
        }
        tell("stopping: agents are being ended; the run can be resumed (Ctrl-C again to kill it)");
    }
}
