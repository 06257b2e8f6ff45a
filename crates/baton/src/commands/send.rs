//! `baton send`: makes handoffs of requests.

use std::path::PathBuf;

use baton_agents::workspace::WorkspaceFolder;
use baton_engine::engine::{NewHandoff, Problem, Yardstick};
use baton_engine::id::UnsafeId;
use baton_engine::lifecycle::Accept;
use baton_engine::store::{AcceptedHandoff, StoreError};
use baton_engine::{HandoffId, RunId};
use baton_protocol::{Dialect, Kind};
use clap::Args;
use serde_json::json;

use super::check::parse_dialect;
use crate::command_error::{CommandError, Exit};
use crate::intake::{Intake, TakenDocument};
use crate::output::Output;
use crate::sending::{self, TermOptions};
use crate::store::{Access, Session, StoreOptions};
use crate::{briefer, briefing};

/// Send requests to agents
///
/// Reads request documents in any dialect, judges them as `baton check` does, and puts them into the queues of their
/// receivers: all of them or, if one is not valid, none. Prints the id of each handoff.
///
/// Receiver, priority, timeout and retries are taken from the document where the options do not say otherwise. Sending
/// the same request with the same id or --key again returns the existing handoff.
///
/// Where a workspace is known (--workspace, or that of the run that it belongs to, if it is on this machine), the
/// artifacts that a request hands over must be there, or it is not sent.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  baton send request.yaml\n  baton send --to reviewer --priority high task.json\n  \
id=$(baton send --key nightly-2026-05-01 --deadline 2h request.json) && baton wait \"$id\""
)]
pub(crate) struct Options {
    /// Request documents, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The id of the handoff [default: the document's, or a new one]
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    id: Option<HandoffId>,
    /// The run whose journal it goes into [default: one of its own]
    #[arg(long, value_name = "RUN", value_parser = parse_run)]
    run: Option<RunId>,
    /// The blocked handoff that continues with the result
    #[arg(long, value_name = "ID")]
    returns_to: Option<String>,
    /// The folder that must have the artifacts [default: the workspace of the run, if it is on this machine]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Read every document as this dialect instead of recognising it
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    terms: TermOptions,
    #[command(flatten)]
    store: StoreOptions,
}

fn parse_id(text: &str) -> Result<HandoffId, UnsafeId> {
    HandoffId::parse(text)
}

fn parse_run(text: &str) -> Result<RunId, UnsafeId> {
    RunId::parse(text)
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    if options.files.len() > 1 && (options.id.is_some() || options.terms.key.is_some()) {
        return Err(CommandError::usage("--id and --key are for one request, but several are given"));
    }
    let yardstick = Yardstick::of_project(&options.store.configuration()?.settings);
    let given = options.workspace.as_deref().map(WorkspaceFolder::open).transpose()?;
    let take = |workspace: Option<&WorkspaceFolder>| {
        let intake = Intake { workspace, ..Intake::by_name(&yardstick, options.dialect) };
        intake.take(&options.files, Kind::Request, options.json, output)
    };
    // What is not valid makes no store, unless the store must be asked where the workspace is.
    let asks_the_run = given.is_none() && (options.run.is_some() || options.returns_to.is_some());
    let mut taken = None;
    if !asks_the_run {
        let Some(valid) = take(given.as_ref())? else { return Ok(Exit::No) };
        taken = Some(valid);
    }
    let session = Session::open(&options.store, Access::Change, output)?;
    session.run(async {
        let returns_to = match &options.returns_to {
            Some(given) => Some(session.engine.resolve(given).await?),
            None => None,
        };
        let taken = match taken {
            Some(taken) => taken,
            None => {
                let run = options.run.as_ref().or(returns_to.as_ref().map(|caller| &caller.run));
                let workspace = workspace_of(&session, run).await?;
                let Some(valid) = take(workspace.as_ref())? else { return Ok(Exit::No) };
                valid
            }
        };
        let returns_to = returns_to.map(|caller| caller.id);
        let requests = taken.iter().map(|taken| accept(options, taken, returns_to.clone(), &session));
        let accepted = session.engine.send(requests.collect::<Result<_, _>>()?, &options.terms.wanted()).await;
        let accepted = accepted.map_err(|problem| match problem {
            Problem::Store(StoreError::Taken { what: "id", value, existing }) if value == existing.as_str() => {
                CommandError::no(format!("{value} was sent before with other content or options"))
                    .hint("name another id with --id")
            }
            problem => problem.into(),
        })?;
        tell(&accepted, options.json, output)?;
        Ok(Exit::Done)
    })
}

async fn workspace_of(session: &Session, run: Option<&RunId>) -> Result<Option<WorkspaceFolder>, CommandError> {
    let Some(run) = run else { return Ok(None) };
    let definition = briefer::of(session).definition(run).await?;
    Ok(briefing::workspace(definition.as_ref()))
}

fn accept(
    options: &Options,
    taken: &TakenDocument,
    returns_to: Option<HandoffId>,
    session: &Session,
) -> Result<Accept, CommandError> {
    let (id, run, terms) = (options.id.clone(), options.run.clone(), options.terms.wanted());
    let new = NewHandoff { id, run, returns_to, from: session.user_name(), terms };
    session.engine.accept(&taken.valid, new).map_err(|problem| sending::refused(problem, &taken.name))
}

fn tell(accepted: &[AcceptedHandoff], json: bool, output: &Output) -> Result<(), CommandError> {
    if json {
        let handoffs: Vec<_> = accepted
            .iter()
            .map(|accepted| {
                json!({ "existing": accepted.existing, "handoff": baton_views::handoff::json(&accepted.handoff) })
            })
            .collect();
        return output.json(&json!({ "version": 1, "accepted": handoffs }));
    }
    for accepted in accepted {
        let id = &accepted.handoff.id;
        output.data(&format!("{id}\n"))?;
        if accepted.existing {
            output.note(&format!("{id}: sent before; it is {}", accepted.handoff.state.name()));
        }
    }
    Ok(())
}
