//! `baton runs`: lists runs of workflows, the newest first.

use baton_engine::handoff::Handoff;
use baton_views::details::ListedRun;
use baton_views::words::{ago, took};
use clap::Args;
use serde_json::{Value, json};

use super::list::Page;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render::columns::tinted;
use crate::running;
use crate::store::{Access, Session, StoreOptions};

/// List runs of workflows, the newest first
///
/// Shows the state of each run, who is waited for, its current phases, its start and its duration. Without --all only the newest are
/// listed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton runs\n  baton runs --limit 5 --json\n  baton runs --after integration-k3f9q2"
)]
pub(crate) struct Options {
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Continue after this one, the last of the previous page
    #[arg(long, value_name = "RUN")]
    after: Option<String>,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// The columns.
const TITLES: [&str; 7] = ["RUN", "WORKFLOW", "STATE", "GOING ON", "STARTED", "TOOK", "HANDOFFS"];

/// What a narrow terminal goes without, the least important first.
const DISPENSABLE: [&str; 5] = ["HANDOFFS", "TOOK", "WORKFLOW", "GOING ON", "STARTED"];

/// How many are listed with --all.
const ALL: u32 = 100_000;

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    let limit = if options.all { ALL } else { options.limit };
    let Page { items, next } = Page::of(session.run(roots(&session, options.after.as_deref(), limit))?, limit);
    let next = next.map(|last| last.id);
    let listed = session.run(list(&session, items))?;
    if options.json {
        let runs: Vec<Value> = listed.iter().map(ListedRun::json).collect();
        output.json(&json!({ "version": 1, "runs": runs, "next": next }))?;
        return Ok(Exit::Done);
    }
    if listed.is_empty() {
        output.note(&format!("no workflow run in {}; baton list shows other handoffs", session.location));
        return Ok(Exit::Done);
    }
    let mut rows = vec![TITLES.map(str::to_owned).to_vec()];
    rows.extend(listed.iter().map(|listed| {
        vec![
            listed.root.id.to_string(),
            listed.workflow.clone(),
            listed.words(session.now()),
            few(&listed.phases),
            ago(listed.root.accepted_at, session.now()),
            took(listed.took),
            listed.handoffs.to_string(),
        ]
    }));
    output.data(&tinted(rows, output.paint(), &DISPENSABLE))?;
    if let Some(last) = next {
        output.note(&format!("{} shown; --after {last} shows the next ones, --all shows all", listed.len()));
    }
    Ok(Exit::Done)
}

/// Finds runs, and one more than the limit if there are so many.
async fn roots(session: &Session, after: Option<&str>, limit: u32) -> Result<Vec<Handoff>, CommandError> {
    let after = match after {
        Some(given) => Some(session.engine.resolve_run(given).await?.id),
        None => None,
    };
    Ok(session.engine.run_roots(after, limit.saturating_add(1)).await?)
}

async fn list(session: &Session, roots: Vec<Handoff>) -> Result<Vec<ListedRun>, CommandError> {
    let mut listed = Vec::new();
    let holds = session.engine.queue_holds().await?;
    for root in roots {
        let inside: Vec<Handoff> =
            session.store.handoffs_of(&root.run).await?.into_iter().map(|(handoff, _)| handoff).collect();
        let workflow = session.engine.workflow_name(&root.run).await?;
        listed.push(ListedRun::of(root, &inside, workflow, session.now(), &holds, running::is_dead));
    }
    Ok(listed)
}

/// Names a few, and counts the others.
fn few(phases: &[String]) -> String {
    const SHOWN: usize = 2;
    let named = phases.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match phases.len().saturating_sub(SHOWN) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
