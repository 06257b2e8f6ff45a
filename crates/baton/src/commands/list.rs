//! `baton list`: shows handoffs, the newest first.

use baton_engine::handoff::StateName;
use baton_engine::store::Filter;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::sending::parse_agent;
use crate::store::{Access, Session, StoreOptions};

/// List handoffs, the newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton list\n  baton list --agent reviewer --state pending --state claimed\n  \
baton list --state awaiting_person --json")]
pub(crate) struct Options {
    /// Of this agent only
    #[arg(long, value_name = "AGENT", value_parser = parse_agent)]
    agent: Option<String>,
    /// In this state only; may be given several times
    #[arg(long = "state", value_name = "STATE", value_parser = parse_state)]
    states: Vec<StateName>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

fn parse_state(word: &str) -> Result<StateName, String> {
    let known = StateName::ALL.map(StateName::as_str);
    StateName::parse(&word.replace('-', "_")).ok_or_else(|| baton_protocol::wire::suggest(word, &known))
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look)?;
    let filter = Filter { agent: options.agent.clone(), states: options.states.clone(), limit: options.limit };
    let handoffs = session.run(session.store.list(&filter))?;
    if options.json {
        let handoffs: Vec<_> = handoffs.iter().map(render::handoff::json).collect();
        output.json(&json!({ "version": 1, "handoffs": handoffs }))?;
        return Ok(Exit::Done);
    }
    match handoffs.is_empty() {
        true => output.note(&format!("there is no such handoff in {}", session.location)),
        false => output.data(&render::handoff::table(&handoffs, session.now()))?,
    }
    if handoffs.len() == options.limit as usize {
        output.note(&format!("only the newest {} are listed; --limit shows more", options.limit));
    }
    Ok(Exit::Done)
}
