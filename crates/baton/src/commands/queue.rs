//! `baton queue`: the queues of the agents: how full they are, pausing them, limiting them.

use std::collections::BTreeMap;

use baton_engine::handoff::StateName;
use baton_engine::queue::Queue;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::render::columns::{tinted, widest};
use crate::render::sheet::Paint;
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::agent_name;

/// Show, pause, resume or limit the queues of agents
///
/// Without an action, lists the queues with how many handoffs are in each state.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Examples:\n  baton queue list\n  baton queue pause reviewer\n  baton queue resume reviewer\n  \
baton queue limit reviewer 3\n  baton queue limit reviewer none"
)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: Listing,
}

/// How to list.
#[derive(Debug, Args)]
struct Listing {
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// Which queue.
#[derive(Debug, Args)]
struct Which {
    /// The agent
    #[arg(value_name = "AGENT", value_parser = agent_name)]
    agent: String,
    #[command(flatten)]
    list: Listing,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the queues with how many handoffs are in each state
    #[command(after_help = "Examples:\n  baton queue list\n  baton queue list --json")]
    List(Listing),
    /// Stop handing out work to an agent; sending still works
    #[command(after_help = "Example:\n  baton queue pause reviewer")]
    Pause(Which),
    /// Hand out work to an agent again
    #[command(after_help = "Example:\n  baton queue resume reviewer")]
    Resume(Which),
    /// Limit how many handoffs are handed out at the same time
    #[command(after_help = "Examples:\n  baton queue limit reviewer 3\n  baton queue limit reviewer none")]
    Limit {
        #[command(flatten)]
        which: Which,
        /// How many, or `none`
        #[arg(value_name = "N|none", value_parser = parse_limit)]
        limit: Limit,
    },
}

/// How many may be claimed at the same time.
#[derive(Debug, Clone, Copy)]
struct Limit(Option<u32>);

fn parse_limit(text: &str) -> Result<Limit, String> {
    match text {
        "none" => Ok(Limit(None)),
        _ => match text.parse() {
            Ok(0) => Err("nothing would be handed out: use `baton queue pause`".to_owned()),
            Ok(limit) => Ok(Limit(Some(limit))),
            Err(_) => Err("write a number, or `none`".to_owned()),
        },
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.action {
        None => list(&options.list, output),
        Some(Action::List(listing)) => list(listing, output),
        Some(Action::Pause(which)) => set(which, output, |queue| queue.paused = true),
        Some(Action::Resume(which)) => set(which, output, |queue| queue.paused = false),
        Some(Action::Limit { which, limit }) => set(which, output, |queue| queue.concurrency = limit.0),
    }
}

fn set(which: &Which, output: &Output, change: impl FnOnce(&mut Queue)) -> Result<Exit, CommandError> {
    // Whoever works does not say who else may.
    guard::signer(None)?;
    let session = Session::open(&which.list.store, Access::Change, output)?;
    let queue = session.run(async {
        let mut queue = session.store.queue(&which.agent).await?;
        change(&mut queue);
        session.store.set_queue(&queue).await?;
        Ok::<_, CommandError>(queue)
    })?;
    match which.list.json {
        true => output.json(&json!({ "version": 1, "queue": baton_views::queue::settings(&queue) }))?,
        false => output.data(&format!("{} {}\n", queue.agent, described(&queue)))?,
    }
    Ok(Exit::Done)
}

fn list(listing: &Listing, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&listing.store, Access::Look, output)?;
    let queues = session.run(session.engine.queue_counts(Vec::new()))?;
    if listing.json {
        let queues: Vec<Value> = queues.iter().map(|(queue, counts)| baton_views::queue::json(queue, counts)).collect();
        output.json(&json!({ "version": 1, "queues": queues }))?;
    } else if queues.is_empty() {
        output.note("nothing was sent yet");
    } else {
        output.data(&table(&queues, output.paint()))?;
    }
    Ok(Exit::Done)
}

fn described(queue: &Queue) -> String {
    let limit = queue.concurrency.map(|limit| format!("at most {limit} at a time"));
    let parts: Vec<String> = queue.paused.then(|| "paused".to_owned()).into_iter().chain(limit).collect();
    if parts.is_empty() { "open".to_owned() } else { parts.join(", ") }
}

/// Lists the queues. On a terminal that has no room for all columns, those go that have nothing to tell.
fn table(queues: &[(Queue, BTreeMap<StateName, u64>)], paint: Paint) -> String {
    const TITLES: [&str; 10] =
        ["AGENT", "PENDING", "CLAIMED", "VERIFYING", "BLOCKED", "PERSON", "COMPLETED", "FAILED", "CANCELLED", "QUEUE"];
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(queues.iter().map(|(queue, counts)| {
        let count = |state: StateName| counts.get(&state).copied().unwrap_or(0).to_string();
        let [a, b, c, d, e, f, g, h] = StateName::ALL.map(count);
        vec![queue.agent.clone(), a, b, c, d, e, f, g, h, described(queue)]
    }));
    let is_zero = |index: usize| rows.iter().skip(1).all(|row| row[index] == "0");
    let empty: Vec<&str> = (1..TITLES.len() - 1).filter(|index| is_zero(*index)).map(|index| TITLES[index]).collect();
    match paint.terminal.filter(|columns| widest(&rows) > *columns) {
        Some(_) => {
            let kept = |row: &Vec<String>| {
                let cells = row.iter().zip(TITLES).filter(|(_, title)| !empty.contains(title));
                cells.map(|(cell, _)| cell.clone()).collect()
            };
            tinted(rows.iter().map(kept).collect(), paint, &[])
        }
        None => tinted(rows, paint, &[]),
    }
}
