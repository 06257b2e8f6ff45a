//! `baton resume`: goes on with a run that was interrupted, or that waited for a person, or lets it begin again from a phase.

use baton_engine::RunId;
use baton_engine::flow::Restart;
use clap::Args;
use serde_json::Value;

use super::run::parse_input;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::showing::{Show, ShowOptions};
use crate::store::{Access, Session, StoreOptions};

/// Continue a run from its journal
///
/// Finished work is not repeated; an agent that was working is tried again under its retry policy. Only one process
/// drives a run at a time; another one can take over when that process or its lease has ended.
///
/// --from goes back to a phase, also in a run that failed or was cancelled: that phase and everything after it are
/// repeated. `baton retry` does the same with the last phase of the run. --input changes an input of the run from then on,
/// unless a person has approved something on the way to that phase: that counts for the inputs as they were.
///
/// --moved is for a run whose project was moved: run it in the project's new folder, after `baton store move`. It leaves
/// a link at the old place, because the run is bound to that path.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton resume integration-k3f9q2\n  baton resume last --from implement --note 'use the new API'"
)]
pub(crate) struct Options {
    /// The run: its id, a unique beginning of it, or `last`
    run: String,
    /// Do this phase and everything after it again
    #[arg(long, value_name = "PHASE")]
    from: Option<String>,
    /// What the agent of that phase must know
    #[arg(long, value_name = "TEXT", requires = "from")]
    note: Option<String>,
    /// An input of the workflow that is different from then on; repeatable
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = parse_input, requires = "from")]
    inputs: Vec<(String, Value)>,
    /// Find the workspace of the run in this project, which was moved, and link its old place to it
    #[arg(long)]
    moved: bool,
    #[command(flatten)]
    show: ShowOptions,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    let found = session.run(session.engine.resolve_run(&options.run))?;
    let id: RunId = found.run.clone();
    let show = Show { session: &session, store: &options.store, options: &options.show, output, id: &id };
    if options.moved {
        show.link_moved()?;
    }
    match &options.from {
        Some(from) => show.begin_again(&Restart {
            from: Some(from.clone()),
            note: options.note.clone(),
            inputs: options.inputs.iter().cloned().collect(),
        }),
        None => show.resume(),
    }
}
