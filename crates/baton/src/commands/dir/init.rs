//! `baton dir init`: makes the folders.

use baton_agents::directory::Directory;
use baton_protocol::printable;
use clap::Args;
use serde_json::json;

use super::{Folders, refusal};
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Make the folders
///
/// Makes `handoffs/{pending,in-progress,completed,failed}`, `artifacts`, `context` and `schemas`. What exists stays as
/// it is.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir init work")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let root = &options.folders.root;
    Directory::init(root).map_err(refusal)?;
    match options.folders.json {
        true => output.json(&json!({ "version": 1, "root": root.display().to_string() }))?,
        false => output.data(&format!("ready: {}\n", printable(&root.display().to_string())))?,
    }
    Ok(Exit::Done)
}
