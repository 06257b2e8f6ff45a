//! `baton retry`: does the phase again that a run came to last.

use baton_engine::RunId;
use baton_engine::flow::Restart;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::showing::{Show, ShowOptions};
use crate::store::{Access, Session, StoreOptions};

/// Repeat the last phase of a failed or stopped run, and continue from there
///
/// Earlier results are kept. The agent is told what went wrong last time, and the note. Limits are counted from zero.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton retry last\n  baton retry integration-k3f9q2 --note 'the server is up again'"
)]
pub(crate) struct Options {
    /// The run: its id, a unique beginning of it, or `last`
    run: String,
    /// What the agent must know
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    show: ShowOptions,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    let id: RunId = session.run(session.engine.resolve_run(&options.run))?.run;
    let show = Show { session: &session, store: &options.store, options: &options.show, output, id: &id };
    show.begin_again(&Restart { note: options.note.clone(), ..Restart::default() })
}
