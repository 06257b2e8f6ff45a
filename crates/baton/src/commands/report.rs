//! `baton report`: hands in what came out of a claimed handoff.

use std::path::PathBuf;

use baton_agents::workspace::WorkspaceFolder;
use baton_engine::Fence;
use baton_engine::Handoff;
use baton_engine::engine::{HandedIn, NewHandoff, Problem, Yardstick};
use baton_engine::lifecycle::Accept;
use baton_engine::store::ClaimedHandoff;
use baton_protocol::{Dialect, Kind};
use clap::Args;

use super::check::parse_dialect;
use crate::command_error::{CommandError, Exit};
use crate::intake::{Intake, TakenDocument};
use crate::output::Output;
use crate::sending::{self, TermOptions};
use crate::store::{Access, Session, StoreOptions};
use crate::{briefer, briefing, guard};

/// Hand in the report of a claimed handoff
///
/// Judges the report as `baton check` does, against the request and, with --workspace, against the files; in a run also
/// against its workflow. A report that is not valid changes nothing: the handoff stays claimed, and the report can be
/// corrected. A complete report completes the handoff; one that is partial, stops or asks goes to a person; one that is
/// blocked waits for help; one that failed is tried again according to the retry policy.
///
/// A package is a report, too: one that returns or hands on completes the handoff, a delegation blocks it, an
/// escalation or a gate goes to a person.
///
/// Exits with 0 when the report is recorded, whatever it says, and with 1 if it is not valid or came too late.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton report csv-07.research --fence 1 report.json\n  \
agent < request.json | baton report csv-07.research --fence 1 --workspace . -\n  \
baton report csv-07.research --fence 1 report.json --next write.json --to writer\n  \
baton report HO-2026-031 --fence 1 return.yaml")]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// The report, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The fence of the claim
    #[arg(long, value_name = "N")]
    fence: Fence,
    /// Check claims about files against this folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Requests to send in the same transaction, if the report completes the handoff; the terms below are theirs
    #[arg(long, value_name = "FILE", num_args = 1..)]
    next: Vec<PathBuf>,
    /// Read the report as this dialect instead of recognising it
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

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    if options.next.is_empty() && options.terms.is_given() {
        return Err(CommandError::usage("terms such as --to are for what comes next").hint("name it: --next FILE"));
    }
    if options.next.len() > 1 && options.terms.key.is_some() {
        return Err(CommandError::usage("--key is for one request, but --next names several"));
    }
    let session = Session::open(&options.store, Access::Look, output)?;
    let workspace = options.workspace.as_deref().map(WorkspaceFolder::open).transpose()?;
    session.run(async {
        let handoff = session.engine.resolve(&options.id).await?;
        let briefer = briefer::of(&session);
        let definition = briefer.definition(&handoff.run).await?;
        let definition = definition.as_ref();
        let request = session.engine.request(&handoff.id).await?;
        let yardstick = briefer.yardstick(&handoff, Some(&request), definition).await?;
        let intake = Intake { workspace: workspace.as_ref(), ..Intake::by_name(&yardstick, options.dialect) };
        let taken = intake.take_any(std::slice::from_ref(&options.file), options.json, output)?;
        let Some(TakenDocument { name, valid }) = taken.and_then(|taken| taken.into_iter().next()) else {
            return Ok(Exit::No);
        };
        let workspace = workspace.or_else(|| briefing::workspace(definition));
        let Some(next) = following(options, &session, &handoff, workspace.as_ref(), output)? else {
            return Ok(Exit::No);
        };
        let sent: Vec<String> = next.iter().map(|accept| accept.id.to_string()).collect();
        let changed = briefing::changed_since_claimed(&handoff, definition, session.state.as_ref()).await;
        let claimed = ClaimedHandoff { handoff, request };
        let handed_in = HandedIn { fence: options.fence, changed, ..HandedIn::of(&claimed, &yardstick, valid) };
        let applied = match session.engine.report(handed_in, next, &guard::anybody()).await {
            Ok(applied) => applied,
            Err(Problem::NotComplete) => {
                return Err(CommandError::no(
                    "--next is sent after a complete report, and this report is not complete",
                ));
            }
            Err(problem @ (Problem::WrongKind { .. } | Problem::NoAnswer(_))) => {
                return Err(CommandError::from(problem).about(&name));
            }
            Err(problem) => return Err(problem.into()),
        };
        session.tell(&applied, options.json, output)?;
        if !applied.repeated && !options.json {
            sent.iter().for_each(|id| output.note(&format!("sent {id}")));
        }
        Ok(Exit::Done)
    })
}

/// Takes the requests that come next, in the same run; `None` if one of them is not valid.
fn following(
    options: &Options,
    session: &Session,
    handoff: &Handoff,
    workspace: Option<&WorkspaceFolder>,
    output: &Output,
) -> Result<Option<Vec<Accept>>, CommandError> {
    if options.next.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let yardstick = Yardstick::of_project(&session.settings);
    let intake = Intake { workspace, ..Intake::by_name(&yardstick, None) };
    let Some(taken) = intake.take(&options.next, Kind::Request, options.json, output)? else { return Ok(None) };
    let accept = |TakenDocument { name, valid }: &TakenDocument| {
        let (run, from, terms) = (Some(handoff.run.clone()), handoff.terms.to.clone(), options.terms.wanted());
        let new = NewHandoff { run, from, terms, ..NewHandoff::default() };
        session.engine.accept(valid, new).map_err(|problem| sending::refused(problem, name))
    };
    taken.iter().map(accept).collect::<Result<_, _>>().map(Some)
}
