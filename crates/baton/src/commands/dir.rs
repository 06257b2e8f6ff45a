//! `baton dir`: handoffs as files in folders, both sides, without a server.

mod claim;
mod complete;
mod create;
mod fail;
mod init;
mod status;
mod sweep;
mod wait;

use std::path::{Path, PathBuf};

use baton_agents::directory::{Directory, DirectoryError, FolderHandoff};
use baton_engine::HandoffId;
use baton_protocol::printable;
use clap::{Args, Subcommand};
use serde_json::{Map, Value};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Hand work over through folders of files
///
/// A handoff is one JSON file that moves from `handoffs/pending` through `handoffs/in-progress` to
/// `handoffs/completed` or `handoffs/failed`. The other side may be any program that knows files; see docs/folders.md.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir init work\n  \
id=$(baton dir create work --from @lead --to @writer --input task.json)\n  \
baton dir claim work --agent @writer\n  baton dir complete work $id --artifact page.json\n  \
baton dir wait work $id")]
pub(crate) struct Options {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Init(init::Options),
    Create(create::Options),
    Claim(claim::Options),
    Complete(complete::Options),
    Fail(fail::Options),
    Wait(wait::Options),
    Sweep(sweep::Options),
    Status(status::Options),
}

/// What all verbs have in common.
#[derive(Debug, Args)]
struct Folders {
    /// The folder that holds `handoffs`, `artifacts` and `schemas`
    #[arg(value_name = "DIR")]
    root: PathBuf,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
    /// Fail if a named schema does not exist, instead of warning
    #[arg(long)]
    strict: bool,
}

impl Folders {
    fn open(&self) -> Result<Directory, CommandError> {
        Directory::open(&self.root).map(|directory| directory.strict(self.strict)).map_err(refusal)
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.verb {
        Verb::Init(options) => init::run(options, output),
        Verb::Create(options) => create::run(options, output),
        Verb::Claim(options) => claim::run(options, output),
        Verb::Complete(options) => complete::run(options, output),
        Verb::Fail(options) => fail::run(options, output),
        Verb::Wait(options) => wait::run(options, output),
        Verb::Sweep(options) => sweep::run(options, output),
        Verb::Status(options) => status::run(options, output),
    }
}

/// Finds the handoff that an argument means.
fn find(directory: &Directory, text: &str) -> Result<HandoffId, CommandError> {
    directory.find(text).map_err(refusal)
}

/// Turns what the folders say into an exit.
fn refusal(error: DirectoryError) -> CommandError {
    let made = match &error {
        DirectoryError::Exists { .. }
        | DirectoryError::NotInProgress { .. }
        | DirectoryError::AttemptOver { .. }
        | DirectoryError::Busy { .. }
        | DirectoryError::NoOutput { .. }
        | DirectoryError::MissingSchema { .. }
        | DirectoryError::Destination { .. } => CommandError::no(error.to_string()),
        DirectoryError::Violations { violations, .. } => {
            let shown = violations.iter().map(|found| {
                let place = if found.pointer.is_empty() { "/" } else { &found.pointer };
                format!("\n  at {place}: {}", found.message)
            });
            CommandError::no(format!("{error}{}", shown.collect::<String>()))
        }
        DirectoryError::NoFolder { .. }
        | DirectoryError::Io { .. }
        | DirectoryError::UnsafeId { .. }
        | DirectoryError::UnknownId { .. }
        | DirectoryError::AmbiguousId { .. }
        | DirectoryError::BrokenSchema { .. }
        | DirectoryError::Unreadable { .. } => CommandError::usage(error.to_string()),
    };
    match error.hint() {
        Some(hint) => made.hint(hint),
        None => made,
    }
}

/// Prints what should be looked at.
fn warn(output: &Output, warnings: &[String]) {
    for warning in warnings {
        output.note(&format!("warning: {}", printable(warning)));
    }
}

/// Writes the document as JSON, or a line for people.
fn show(output: &Output, folders: &Folders, handoff: &FolderHandoff, line: &str) -> Result<(), CommandError> {
    match folders.json {
        true => output.json(&handoff.to_value()),
        false => output.data(&format!("{}\n", printable(line))),
    }
}

/// Reads a JSON file.
fn read_json(path: &Path) -> Result<Value, CommandError> {
    let input = if path.as_os_str() == "-" {
        crate::discover::Input::Stdin
    } else {
        crate::discover::Input::File(path.to_owned())
    };
    let name = input.name();
    let bytes = input.read().map_err(|not_read| CommandError::usage(not_read.describe(&name)))?;
    serde_json::from_slice(&bytes).map_err(|error| CommandError::usage(format!("{name} is not JSON: {error}")))
}

/// Reads an object: JSON itself, or a file with it. Nothing is an empty one.
fn read_object(given: Option<&str>) -> Result<Map<String, Value>, CommandError> {
    let Some(given) = given else { return Ok(Map::new()) };
    let value = match given.trim_start().starts_with('{') {
        true => serde_json::from_str(given)
            .map_err(|error| CommandError::usage(format!("`{given}` is not JSON: {error}")))?,
        false => read_json(Path::new(given))?,
    };
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(CommandError::usage(format!("{given} is not a JSON object"))),
    }
}
