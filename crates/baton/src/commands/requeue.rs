//! `baton requeue`: brings dead letters back.

use baton_engine::Handoff;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::agent_name;

/// Bring back handoffs that failed, were cancelled or are blocked
///
/// They are ready at once, with a fresh count of attempts; the note is for the next agent that claims them. --all
/// brings back every failed handoff of an agent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton requeue HO-2026-031 --note 'the scanner is up again'\n  \
baton requeue --all --agent security-review")]
pub(crate) struct Options {
    /// The handoffs: ids, or unique beginnings of them
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    ids: Vec<String>,
    /// Every failed handoff of the agent
    #[arg(long, requires = "agent")]
    all: bool,
    /// The agent
    #[arg(long, value_name = "AGENT", requires = "all", value_parser = agent_name)]
    agent: Option<String>,
    /// A note for the agent that claims it
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    session.run(async {
        let (note, caller) = (options.note.as_deref(), guard::anybody());
        let brought = match &options.agent {
            Some(agent) => session.engine.requeue_all(agent, note, &caller).await?,
            None => {
                let mut handoffs = Vec::new();
                for given in &options.ids {
                    handoffs.push(session.engine.resolve(given).await?);
                }
                let mut brought = Vec::new();
                for handoff in &handoffs {
                    brought.push(session.engine.requeue(handoff, note, &caller).await?);
                }
                brought
            }
        };
        tell(options, &brought, &session, output)?;
        Ok(Exit::Done)
    })
}

fn tell(options: &Options, brought: &[Handoff], session: &Session, output: &Output) -> Result<(), CommandError> {
    if options.json {
        let handoffs: Vec<_> = brought.iter().map(baton_views::handoff::json).collect();
        return output.json(&json!({ "version": 1, "handoffs": handoffs }));
    }
    if brought.is_empty() {
        output.note("no handoff has failed");
    }
    let line = |handoff: &Handoff| format!("{} {}\n", handoff.id, baton_views::handoff::state(handoff, session.now()));
    brought.iter().try_for_each(|handoff| output.data(&line(handoff)))
}
