//! `baton dir complete`: answers a request.

use std::path::PathBuf;

use baton_agents::directory::{ArtifactFile, Completion};
use clap::Args;

use super::{Folders, find, read_object, refusal, show, warn};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Answer a request
///
/// Copies the artifact to where the request wants it, lists it in `artifacts/registry.json` and moves the handoff to
/// `completed`. An artifact that breaks the schema of the request is refused, and the handoff stays in progress.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  baton dir complete work hoff-7 --artifact page.json --type web-page --attempt 1 \\\n    \
--validation '{\"tests_passing\": true}' --next-step 'Link the page'"
)]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
    /// The id, or the beginning of it
    #[arg(value_name = "ID")]
    id: String,
    /// What was made
    #[arg(long, value_name = "FILE")]
    artifact: Option<PathBuf>,
    /// What kind of artifact it is [default: what the request asks for]
    #[arg(long = "type", value_name = "TYPE", requires = "artifact")]
    kind: Option<String>,
    /// What was checked, such as `{"tests_passing": true}`: a JSON object, or a file with one
    #[arg(long, value_name = "FILE|JSON")]
    validation: Option<String>,
    /// Counts and measurements, such as `{"components_generated": 2}`: a JSON object, or a file with one
    #[arg(long, value_name = "FILE|JSON")]
    metadata: Option<String>,
    /// What to do next; can be repeated
    #[arg(long = "next-step", value_name = "TEXT")]
    next_steps: Vec<String>,
    /// What should be looked at; can be repeated
    #[arg(long = "warning", value_name = "TEXT")]
    warnings: Vec<String>,
    /// What went wrong on the way; can be repeated
    #[arg(long = "error", value_name = "TEXT")]
    errors: Vec<String>,
    /// The attempt that made it, as printed by `claim`; a late one is refused [default: the current one]
    #[arg(long, value_name = "NUMBER")]
    attempt: Option<u32>,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let directory = options.folders.open()?;
    let id = find(&directory, &options.id)?;
    let artifact =
        options.artifact.as_ref().map(|file| ArtifactFile { file: file.clone(), kind: options.kind.clone() });
    let completion = Completion {
        attempt: options.attempt,
        artifact,
        validation: read_object(options.validation.as_deref())?,
        metadata: read_object(options.metadata.as_deref())?,
        next_steps: options.next_steps.clone(),
        warnings: options.warnings.clone(),
        errors: options.errors.clone(),
    };
    let noted = directory.complete(&id, &completion, clock::machine_time()).map_err(refusal)?;
    warn(output, &noted.warnings);
    let line = match noted.result.text(&["output", "artifact_path"]) {
        Some(path) => format!("completed {id}: {path}"),
        None => format!("completed {id}"),
    };
    show(output, &options.folders, &noted.result, &line)?;
    Ok(Exit::Done)
}
