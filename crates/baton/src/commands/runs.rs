//! `baton runs`: lists runs of workflows, the newest first.

use baton_engine::handoff::Handoff;
use baton_engine::step::ORCHESTRATOR;
use baton_engine::store::Filter;
use baton_views::details::ListedRun;
use baton_views::words::{ago, took};
use clap::Args;
use serde_json::{Value, json};

use super::list::Page;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render::columns::columns;
use crate::running;
use crate::store::{Access, Session, StoreOptions};

/// List runs of workflows, the newest first
///
/// Each with where it stands, the phases that are going on, when it was started and how long it took. Without --all only
/// the newest are listed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton runs\n  baton runs --limit 5 --json\n  baton runs --after integration-k3f9q2"
)]
pub(crate) struct Options {
    /// All of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Go on behind this one: the last that was listed before
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

/// How many are listed with --all.
const ALL: u32 = 100_000;

/// How many rows are looked at together.
const PAGE: u32 = 500;

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
        output.note(&format!("there is no run of a workflow in {}", session.location));
        return Ok(Exit::Done);
    }
    let titles = ["RUN", "WORKFLOW", "STATE", "GOING ON", "STARTED", "TOOK", "HANDOFFS"];
    let mut rows = vec![titles.map(str::to_owned)];
    rows.extend(listed.iter().map(|listed| {
        [
            listed.root.id.to_string(),
            listed.workflow.clone(),
            listed.standing.words(session.now()),
            few(&listed.phases),
            ago(listed.root.accepted_at, session.now()),
            took(listed.took),
            listed.handoffs.to_string(),
        ]
    }));
    output.data(&columns(&rows))?;
    if let Some(last) = next {
        output.note(&format!("these are {}; --after {last} goes on, --all shows the others as well", listed.len()));
    }
    Ok(Exit::Done)
}

/// Finds runs, and one more than the limit if there are so many.
async fn roots(session: &Session, after: Option<&str>, limit: u32) -> Result<Vec<Handoff>, CommandError> {
    let mut after = match after {
        Some(given) => Some(session.engine.resolve_run(given).await?.id),
        None => None,
    };
    let mut roots = Vec::new();
    loop {
        let filter = Filter { agent: Some(ORCHESTRATOR.to_owned()), states: Vec::new(), after, limit: PAGE };
        let page = session.store.list(&filter).await?;
        let is_last = page.len() < PAGE as usize;
        after = page.last().map(|last| last.id.clone());
        // Groups and checks of runs are the orchestrator's as well.
        roots.extend(page.into_iter().filter(Handoff::is_run));
        if is_last || roots.len() > limit as usize {
            return Ok(roots);
        }
    }
}

async fn list(session: &Session, roots: Vec<Handoff>) -> Result<Vec<ListedRun>, CommandError> {
    let mut listed = Vec::new();
    for root in roots {
        let inside: Vec<Handoff> =
            session.store.handoffs_of(&root.run).await?.into_iter().map(|(handoff, _)| handoff).collect();
        let first = session.store.history(&root.run, 0, 1).await?;
        let workflow = baton_engine::run::Run::of_journal(&first).map(|run| run.definition.name().to_owned());
        listed.push(ListedRun::of(root, &inside, workflow.unwrap_or_default(), session.now(), running::is_dead));
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
