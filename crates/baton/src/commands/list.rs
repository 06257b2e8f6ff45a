//! `baton list`: shows handoffs, the newest first.

use baton_engine::Handoff;
use baton_engine::handoff::StateName;
use baton_engine::store::Filter;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::agent_name;

/// List handoffs, the newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton list\n  baton list --agent reviewer --state pending --state claimed\n  \
baton list --state awaiting_person --json\n  baton list --limit 20 --after csv-07.research")]
pub(crate) struct Options {
    /// Only those of this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_name)]
    agent: Option<String>,
    /// Only those in this state; can be repeated
    #[arg(long = "state", value_name = "STATE", value_parser = parse_state)]
    states: Vec<StateName>,
    /// Continue after this one, the last of the previous page
    #[arg(long, value_name = "ID")]
    after: Option<String>,
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
    let session = Session::open(&options.store, Access::Look, output)?;
    let handoffs = session.run(list(options, &session))?;
    let Page { items: handoffs, next } = Page::of(handoffs, options.limit);
    let next = next.map(|last| last.id);
    if options.json {
        let handoffs: Vec<_> = handoffs.iter().map(baton_views::handoff::json).collect();
        output.json(&json!({ "version": 1, "handoffs": handoffs, "next": next }))?;
        return Ok(Exit::Done);
    }
    match handoffs.is_empty() {
        true => output.note(&format!("no such handoff in {}", session.location)),
        false => {
            let not_passed = session.run(session.engine.not_passed(&handoffs))?;
            output.data(&render::handoff::table(&handoffs, &not_passed, session.now(), output.paint()))?;
        }
    }
    if let Some(last) = next {
        output.note(&format!("{} shown; --after {last} shows the next ones", handoffs.len()));
    }
    Ok(Exit::Done)
}

/// Lists one more than is shown: then there is a next page.
async fn list(options: &Options, session: &Session) -> Result<Vec<Handoff>, CommandError> {
    let after = match &options.after {
        Some(given) => Some(session.engine.resolve(given).await?.id),
        None => None,
    };
    let filter =
        Filter { agent: options.agent.clone(), states: options.states.clone(), after, limit: options.limit + 1 };
    Ok(session.store.list(&filter).await?)
}

/// A page of a list.
pub(super) struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// The last of them, if others come behind it.
    pub next: Option<T>,
}

impl<T: Clone> Page<T> {
    /// Makes a page of a list that has one more than fits, if there is another page.
    pub(super) fn of(mut items: Vec<T>, limit: u32) -> Page<T> {
        let is_last = items.len() <= limit as usize;
        items.truncate(limit as usize);
        Page { next: if is_last { None } else { items.last().cloned() }, items }
    }
}
