//! `baton requeue`: brings dead letters back.

use baton_engine::Handoff;
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::{self, Command};
use baton_engine::store::Filter;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::sending::parse_agent;
use crate::store::{Access, Session, StoreOptions};
use crate::{render, user};

/// How many dead letters are looked up at a time.
const PAGE: u32 = 1000;

/// Bring back handoffs that failed, were cancelled or are blocked
///
/// They are ready at once, with all attempts before them; the note is for whoever claims them. --all brings back every
/// failed handoff of an agent.
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
    #[arg(long, value_name = "AGENT", requires = "all", value_parser = parse_agent)]
    agent: Option<String>,
    /// What whoever claims it must know
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
        let mut handoffs = Vec::new();
        for given in &options.ids {
            handoffs.push(session.resolve(given).await?);
        }
        let mut brought = Vec::new();
        loop {
            if let Some(agent) = &options.agent {
                handoffs = dead_letters(&session, agent).await?;
            }
            for handoff in &handoffs {
                let requeue = lifecycle::Requeue { by: user::name(), note: options.note.clone() };
                brought.push(session.apply(handoff, Command::Requeue(requeue), Vec::new()).await?.handoff);
            }
            if !options.all || handoffs.len() < PAGE as usize {
                break;
            }
        }
        tell(options, &brought, &session, output)?;
        Ok(Exit::Done)
    })
}

async fn dead_letters(session: &Session, agent: &str) -> Result<Vec<Handoff>, CommandError> {
    let filter = Filter { agent: Some(agent.to_owned()), states: vec![StateName::Failed], after: None, limit: PAGE };
    Ok(session.store.list(&filter).await?)
}

fn tell(options: &Options, brought: &[Handoff], session: &Session, output: &Output) -> Result<(), CommandError> {
    if options.json {
        let handoffs: Vec<_> = brought.iter().map(render::handoff::json).collect();
        return output.json(&json!({ "version": 1, "handoffs": handoffs }));
    }
    if brought.is_empty() {
        output.note("no handoff has failed");
    }
    let line = |handoff: &Handoff| format!("{} {}\n", handoff.id, render::handoff::state(handoff, session.now()));
    brought.iter().try_for_each(|handoff| output.data(&line(handoff)))
}
