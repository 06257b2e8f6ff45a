//! `baton report`: hands in what came out of a claimed handoff.

use std::path::PathBuf;

use baton_agents::workspace::Folder;
use baton_engine::Handoff;
use baton_engine::handoff::Written;
use baton_engine::lifecycle::{self, Accept, Command, Ending};
use baton_engine::store::Error;
use baton_protocol::{Dialect, Kind};
use clap::Args;

use super::check::parse_dialect;
use crate::briefing::{self, Judging};
use crate::command_error::{CommandError, Exit};
use crate::intake::{Intake, Taken, wrong_kind};
use crate::outcome::{self, HandedIn, NoAnswer};
use crate::output::Output;
use crate::sending::{self, Origin, TermOptions};
use crate::store::{Access, Session, StoreOptions};

/// Hand in the report of a claimed handoff
///
/// Judges the report as `baton check` does, against the request and, with --workspace, against the files; in a run by
/// what its workflow says, as the driver does. A report that is not valid changes nothing: the handoff stays claimed, and
/// the report can be mended. A complete report completes the handoff; one that is partial, stops or asks goes to a
/// person; one that is blocked waits for somebody else; one that failed is tried again as the policy says.
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
    /// The token that the claim gave
    #[arg(long, value_name = "N")]
    fence: u64,
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
    let workspace = options.workspace.as_deref().map(Folder::open).transpose()?;
    session.run(async {
        let handoff = session.resolve(&options.id).await?;
        let definition = briefing::definition_of(session.store.as_ref(), &handoff).await?;
        let definition = definition.as_ref();
        let judging = Judging::of(&handoff, definition, &session.settings);
        let request = session.store.request(&handoff.id).await?;
        let request = request.ok_or_else(|| Error::NotFound(handoff.id.clone()))?;
        let Some(taken) = take(options, &judging, &handoff, &request, workspace.as_ref(), output)? else {
            return Ok(Exit::No);
        };
        let workspace = workspace.or_else(|| briefing::workspace(definition));
        let Some(next) = following(options, &session, &handoff, workspace.as_ref(), output)? else {
            return Ok(Exit::No);
        };
        let changed = briefing::changed_since_claimed(&handoff, definition, session.state.as_ref()).await;
        let handed_in = HandedIn {
            document: taken.document,
            written: taken.written,
            request: &request,
            handoff: &handoff,
            following: &judging.following,
            fence: options.fence,
            changed,
        };
        let command = handed_in.command().map_err(|why| refused(&taken.name, why))?;
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
    judging: &Judging,
    handoff: &Handoff,
    request: &Written,
    workspace: Option<&Folder>,
    output: &Output,
) -> Result<Option<Taken>, CommandError> {
    let request = outcome::request(request);
    let intake = Intake {
        settings: &judging.settings,
        dialect: options.dialect.or(judging.dialect),
        request: request.as_ref(),
        handoff: Some(handoff),
        workspace,
        by_name: true,
    };
    let taken = intake.take_any(std::slice::from_ref(&options.file), options.json, output)?;
    Ok(taken.and_then(|taken| taken.into_iter().next()))
}

/// Takes the requests that come next, in the same run; `None` if one of them is not valid.
fn following(
    options: &Options,
    session: &Session,
    handoff: &Handoff,
    workspace: Option<&Folder>,
    output: &Output,
) -> Result<Option<Vec<Accept>>, CommandError> {
    let intake =
        Intake { settings: &session.settings, dialect: None, request: None, handoff: None, workspace, by_name: true };
    let Some(taken) = intake.take(&options.next, Kind::Request, options.json, output)? else { return Ok(None) };
    let accept = |taken: &Taken| {
        let run = Some(handoff.run.clone());
        let origin = Origin { run, from: handoff.terms.to.clone(), ..Origin::default() };
        sending::accept(taken, &options.terms, origin, || session.new_id(), session.now())
    };
    taken.iter().map(accept).collect::<Result<_, _>>().map(Some)
}

fn refused(name: &str, why: NoAnswer) -> CommandError {
    match why {
        NoAnswer::OtherKind(kind) => wrong_kind(name, kind, Kind::Report),
        NoAnswer::RequestItself | NoAnswer::NoOutcome => CommandError::no(format!("{name}: {why}")),
    }
}

fn completes(command: &Command) -> bool {
    matches!(command, Command::Report(lifecycle::Report { ending: Ending::Complete, .. }))
}
