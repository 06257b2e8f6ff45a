//! `baton resume`: goes on with a run that was interrupted, or that waited for a person.

use baton_engine::RunId;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::showing::{Show, ShowOptions};
use crate::store::{Access, Session, StoreOptions};

/// Go on with a run from its journal
///
/// What is finished is not done again; an agent that was working is tried again under its retry policy. Only one process
/// drives a run at a time: another one can take over when it has ended, or when its lease has.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton resume integration-k3f9q2")]
pub(crate) struct Options {
    /// The run: its id, or a unique beginning of it
    run: String,
    #[command(flatten)]
    show: ShowOptions,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    let found = session.run(session.engine.resolve_run(&options.run))?;
    let id: RunId = found.run.clone();
    Show { session: &session, store: &options.store, options: &options.show, output, id: &id }.resume()
}
