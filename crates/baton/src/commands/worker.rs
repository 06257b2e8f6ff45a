//! `baton worker`: claims handoffs for an agent and runs a command for each.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use baton_agents::workspace::WorkspaceFolder;
use baton_engine::engine;
use baton_host::find_program;
use baton_store::Location;
use clap::Args;

use super::claim::tell_other_queues;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::store::{Access, Session, StoreOptions};
use crate::user;
use crate::worker::{Assignment, Until, Worker};
use baton_engine::engine::parse_duration;
use baton_engine::engine::{agent_name, plain_name};

/// Claim handoffs for an agent and run a command for each
///
/// The command gets its prompt on standard input, as `baton claim --prompt` prints it, and the request in the file
/// BATON_REQUEST_FILE. Its environment also has BATON_HANDOFF_ID, BATON_FENCE, BATON_ATTEMPT, BATON_AGENT, BATON_STORE,
/// BATON_NOTES (JSON: what earlier attempts and people had to say), BATON_PROMPT_FILE and BATON_NOTES_FILE; for a
/// handoff of a run BATON_PHASE, BATON_WORKSPACE, BATON_OUTPUT_DIRECTORY and BATON_WORKFLOW_DIRECTORY. It works in the
/// workspace of the run if that is on this machine, otherwise where the worker was started.
///
/// What it writes to BATON_REPORT_FILE, or else to standard output, must be a report or a package, in any dialect; it is
/// judged against the request, and what is not valid is a failure, never a completion. Any other exit than 0 is a
/// failure, too. A command that writes nothing may report for itself before it ends: `baton report $BATON_HANDOFF_ID
/// --fence $BATON_FENCE FILE`.
///
/// SIGTERM or SIGINT stop claiming and wait for the running commands; a second signal kills them and reports nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton worker --agent reviewer -- ./review.sh\n  \
baton worker --agent builder --concurrency 4 --timeout 30m --log-dir logs -- claude -p 'Do what stdin asks'\n  \
baton worker --agent reviewer --drain -- ./review.sh")]
pub(crate) struct Options {
    /// The agent to work for
    #[arg(long, value_name = "NAME", value_parser = agent_name)]
    agent: String,
    /// How many handoffs to work on at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    concurrency: u32,
    /// How long a handoff stays claimed without a heartbeat; heartbeats are sent every third of it
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = parse_lease, allow_hyphen_values = true)]
    lease: Duration,
    /// How long the command may take; a shorter limit of the handoff counts first
    #[arg(long, value_name = "DURATION", value_parser = parse_time_limit, allow_hyphen_values = true)]
    timeout: Option<Duration>,
    /// Exit after one handoff; with 1 if it failed
    #[arg(long, conflicts_with = "drain")]
    once: bool,
    /// Exit when nothing is left to claim
    #[arg(long)]
    drain: bool,
    /// Where the command works, and where artifacts are looked for [default: the workspace of the run, if it is on this
    /// machine; else this folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Who works, for the record [default: user, host and process]
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    claimant: Option<String>,
    /// Write the standard error of each command to a file in this folder, instead of passing it on
    #[arg(long, value_name = "DIR")]
    log_dir: Option<PathBuf>,
    /// Write one JSON object for each handoff that ends, on a line of its own
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
    /// The command, with its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// A shorter lease would be lost by every pause of the machine.
const LEASE_MIN: Duration = Duration::from_millis(100);

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let (program, arguments) = options
        .command
        .split_first()
        .ok_or_else(|| CommandError::usage("the command is missing").hint("write it after `--`"))?;
    let program = find(program)?;
    if let Some(folder) = &options.log_dir {
        std::fs::create_dir_all(folder)
            .map_err(|error| CommandError::usage(format!("cannot make the folder {}: {error}", folder.display())))?;
    }
    let workspace = options.workspace.as_deref().map(WorkspaceFolder::open).transpose()?;
    let session = Session::open(&options.store, Access::Change, output)?;
    let assignment = Assignment {
        agent: options.agent.clone(),
        claimant: options.claimant.clone().unwrap_or_else(user::claimant),
        concurrency: options.concurrency,
        lease: options.lease,
        timeout: options.timeout,
        until: match (options.once, options.drain) {
            (true, _) => Until::Once,
            (false, true) => Until::Drained,
            (false, false) => Until::Stopped,
        },
        program,
        arguments: arguments.to_vec(),
        workspace,
        log_folder: options.log_dir.clone(),
        store: address(&session.location),
        passes_token: !session.is_person(),
        json: options.json,
    };
    if session.is_person() {
        let advice = "use one of the role agent: baton token create --role agent --agent";
        output.note(&format!("warning: the token of this worker can decide; {advice} {}", options.agent));
    }
    let worker = Arc::new(Worker::new(&session, assignment, *output));
    session.run(async {
        tell_other_queues(&options.agent, &session, output).await?;
        worker.run().await
    })
}

/// Reads the length of a lease; a worker must be able to extend it in time.
fn parse_lease(text: &str) -> Result<Duration, String> {
    match engine::parse_lease(text).map_err(|fault| fault.to_string())? {
        lease if lease < LEASE_MIN => Err(format!("the lease of a worker must be at least 100ms, not {text}")),
        lease => Ok(lease),
    }
}

fn parse_time_limit(text: &str) -> Result<Duration, String> {
    match parse_duration(text).map_err(|fault| fault.to_string())? {
        Duration::ZERO => Err("the duration must be longer than 0".to_owned()),
        limit => Ok(limit),
    }
}

/// Finds the program as a shell would, so that a wrong name is reported before anything is claimed.
fn find(name: &str) -> Result<PathBuf, CommandError> {
    let found = find_program(Path::new(name), env::var_os("PATH").as_deref());
    let missing = || {
        let error = CommandError::usage(format!("the command `{name}` cannot be run"));
        match Path::new(name).exists() {
            true => error.hint(format!("make it executable: chmod +x {name}")),
            false => error.hint("name a program in PATH, or its path"),
        }
    };
    // The command does not always work in this folder.
    found.map(|path| std::path::absolute(&path).unwrap_or(path)).ok_or_else(missing)
}

/// Returns the address of the store for the command, valid in whatever folder it asks.
fn address(location: &Location) -> String {
    match location {
        Location::Sqlite(path) => std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string(),
        Location::Postgres(url) => url.clone(),
        Location::Server(address) => address.to_string(),
    }
}
