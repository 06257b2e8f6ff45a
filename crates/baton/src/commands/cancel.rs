//! `baton cancel`: calls a handoff off.

use baton_engine::lifecycle::{self, Command};
use baton_engine::step::ORCHESTRATOR;
use baton_engine::store::{Error, Step};
use baton_engine::{Handoff, Refusal};
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::store::{Access, Applied, Session, StoreOptions, is_run};
use crate::user;

/// Call a handoff off, or a run with everything in it
///
/// Whoever works on it learns so with the next heartbeat or report, which is refused. Whoever drives a run ends its
/// agents; it does not matter whether somebody does.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton cancel HO-2026-031 --reason 'the endpoint was dropped'")]
pub(crate) struct Options {
    /// The handoff or the run: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    session.run(async {
        let handoff = session.resolve(&options.id).await?;
        if handoff.terms.step.is_some() {
            guard::person(None)?;
        }
        let cancel = lifecycle::Cancel { by: user::name(), reason: options.reason.clone() };
        if is_run(&handoff) && !handoff.state.name().is_finished() {
            let handoff = cancel_run(&session, &handoff, &cancel).await?;
            session.tell(&Applied { handoff, repeated: false }, options.json, output)?;
            return Ok(Exit::Done);
        }
        let applied = session.apply(&handoff, Command::Cancel(cancel), Vec::new()).await?;
        session.tell(&applied, options.json, output)?;
        Ok(Exit::Done)
    })
}

/// So often somebody else may change something while we call it off.
const RACES_MAX: usize = 20;

/// Calls a run off, with everything that is open in it, in one transaction. What the run is about is not looked at: one
/// that nobody can read can be called off, too.
async fn cancel_run(session: &Session, root: &Handoff, cancel: &lifecycle::Cancel) -> Result<Handoff, CommandError> {
    let stopped = lifecycle::Cancel { by: ORCHESTRATOR.to_owned(), reason: Some("the run has stopped".to_owned()) };
    let mut ended = false;
    for _ in 0..RACES_MAX {
        let handoffs = session.store.handoffs_of(&root.run).await?;
        let now = handoffs.iter().map(|(handoff, _)| handoff).find(|handoff| handoff.id == root.id).unwrap_or(root);
        let open = handoffs.iter().map(|(handoff, _)| handoff).filter(|handoff| !handoff.state.name().is_finished());
        let command = |handoff: &Handoff| if handoff.id == root.id { cancel.clone() } else { stopped.clone() };
        let step = |handoff: &Handoff| Step::Apply(handoff.id.clone(), Command::Cancel(command(handoff)));
        let steps: Vec<Step> = open.map(step).collect();
        if !ended {
            lifecycle::apply(now, Command::Cancel(cancel.clone()), session.now()).map_err(Error::Refused)?;
        }
        // What was begun while we called the rest off is looked for as well. Nothing more can begin after that.
        if ended && steps.is_empty() {
            return Ok(now.clone());
        }
        match session.store.carry_out(steps, session.now()).await {
            Ok(_) => ended = true,
            // Something has happened in it since we looked.
            Err(Error::Refused(Refusal::WrongState { .. } | Refusal::Repeated)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(CommandError::no(format!("{}: somebody else changes it again and again", root.id)).hint("try once more"))
}
