//! `baton report`: hands in what came out of a claimed handoff.

use std::path::PathBuf;

use baton_agents::workspace::Folder;
use baton_engine::Handoff;
use baton_engine::handoff::Written;
use baton_engine::lifecycle::{self, Accept, Command, Ending};
use baton_protocol::model::Document;
use baton_protocol::{Dialect, Kind};
use clap::Args;

use super::check::parse_dialect;
use crate::command_error::{CommandError, Exit};
use crate::intake::{Intake, Taken};
use crate::outcome;
use crate::output::Output;
use crate::sending::{self, Origin, TermOptions};
use crate::store::{Access, Session, StoreOptions, accepted_request};

/// Hand in the report of a claimed handoff
///
/// Judges the report as `baton check` does, against the request and, with --workspace, against the files. A report that
/// is not valid changes nothing: the handoff stays claimed, and the report can be mended. A complete report completes
/// the handoff; one that is partial, stops or asks goes to a person; one that is blocked waits for somebody else; one that
/// failed is tried again as the policy says.
///
/// Exits with 0 when the report is recorded, whatever it says, and with 1 if it is not valid or came too late.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton report csv-07.research --fence 1 report.json\n  \
agent < request.json | baton report csv-07.research --fence 1 --workspace . -\n  \
baton report csv-07.research --fence 1 report.json --next write.json")]
pub(crate) struct Options {
    /// The handoff: its id, or a unique beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// The report, or `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The token that the claim gave
    #[arg(long, value_name = "N")]
    fence: u64,
    /// Check claims about files against this folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Requests to send in the same transaction, if the report completes the handoff
    #[arg(long, value_name = "FILE", num_args = 1..)]
    next: Vec<PathBuf>,
    /// Read the report as this dialect instead of recognising it
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look)?;
    let workspace = options.workspace.as_deref().map(Folder::open).transpose()?;
    session.run(async {
        let handoff = session.resolve(&options.id).await?;
        let request = accepted_request(&session.events_of(&handoff).await?)?;
        let Some(taken) = take(options, &session, &handoff, &request, workspace.as_ref(), output)? else {
            return Ok(Exit::No);
        };
        let Some(next) = following(options, &session, &handoff, output)? else { return Ok(Exit::No) };
        let command = command(options, taken)?;
        if !next.is_empty() && !completes(&command) {
            return Err(CommandError::no("--next is sent after a complete report, and this is none"));
        }
        let sent: Vec<String> = next.iter().map(|accept| accept.id.to_string()).collect();
        let applied = session.apply(&handoff, command, next).await?;
        session.tell(&applied, options.json, output)?;
        if !applied.repeated && !options.json {
            sent.iter().for_each(|id| output.note(&format!("sent {id}")));
        }
        Ok(Exit::Done)
    })
}

/// Takes the report, if it is valid.
fn take(
    options: &Options,
    session: &Session,
    handoff: &Handoff,
    request: &Written,
    workspace: Option<&Folder>,
    output: &Output,
) -> Result<Option<Taken>, CommandError> {
    let request = outcome::request(request);
    let intake = Intake {
        settings: &session.settings,
        dialect: options.dialect,
        request: request.as_ref(),
        handoff: Some(handoff),
        workspace,
        by_name: true,
    };
    let taken = intake.take(std::slice::from_ref(&options.file), Kind::Report, options.json, output)?;
    Ok(taken.and_then(|taken| taken.into_iter().next()))
}

/// Takes the requests that come next, in the same run; `None` if one of them is not valid.
fn following(
    options: &Options,
    session: &Session,
    handoff: &Handoff,
    output: &Output,
) -> Result<Option<Vec<Accept>>, CommandError> {
    let intake = Intake {
        settings: &session.settings,
        dialect: None,
        request: None,
        handoff: None,
        workspace: None,
        by_name: true,
    };
    let Some(taken) = intake.take(&options.next, Kind::Request, options.json, output)? else { return Ok(None) };
    let accept = |taken: &Taken| {
        let run = Some(handoff.run.clone());
        let origin = Origin { run, from: handoff.terms.to.clone(), ..Origin::default() };
        sending::accept(taken, &TermOptions::default(), origin, || session.new_id(), session.now())
    };
    taken.iter().map(accept).collect::<Result<_, _>>().map(Some)
}

fn command(options: &Options, taken: Taken) -> Result<Command, CommandError> {
    let (fence, document) = (options.fence, taken.written);
    let Document::Report(report) = &taken.document else { return Err(CommandError::internal("this is no report")) };
    outcome::command(report, document, fence)
        .ok_or_else(|| CommandError::no(format!("{}: the report does not say how the work ended", taken.name)))
}

fn completes(command: &Command) -> bool {
    matches!(command, Command::Report(lifecycle::Report { ending: Ending::Complete, .. }))
}
