//! `baton store list`: everything in the state folder, with what it belongs to.

use std::path::Path;

use baton_protocol::printable;
use clap::Args;
use serde_json::json;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render::columns::columns;
use crate::state::{self, Entry, STORE};

/// List the stores in your state folder, with the projects that they belong to
///
/// A project that no longer exists was deleted, moved or renamed: in the last two cases `baton store move` gives it its
/// store back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton store list\n  baton store list --json")]
pub(super) struct Options {
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let state = state::folder()?;
    let entries = state::entries(&state);
    // Where only measures of attempts are kept there is nothing to look at.
    let listed = entries.iter().filter_map(|(folder, entry)| Some((entry.place(), store(folder, entry)?)));
    let listed: Vec<_> = listed.collect();
    if options.json {
        let stores: Vec<_> = listed
            .iter()
            .map(
                |(place, store)| json!({ "project": place.to_string_lossy(), "there": place.is_dir(), "store": store }),
            )
            .collect();
        output.json(&json!({ "version": 1, "state_folder": state.root().to_string_lossy(), "stores": stores }))?;
        return Ok(Exit::Done);
    }
    if listed.is_empty() {
        output.note(&printable(&format!("there is no store in {}", state.root().display())));
        return Ok(Exit::Done);
    }
    let mut rows = vec![["PROJECT", "", "STORE"].map(str::to_owned)];
    rows.extend(listed.into_iter().map(|(place, store)| {
        let there = if place.is_dir() { "" } else { "not there" };
        [printable(&place.display().to_string()), there.to_owned(), printable(&store)]
    }));
    output.data(&columns(&rows))?;
    Ok(Exit::Done)
}

/// Returns the store that a project or workspace uses, as people write it.
fn store(folder: &Path, entry: &Entry) -> Option<String> {
    let own = folder.join(STORE);
    match own.exists() {
        true => Some(own.display().to_string()),
        false => entry.store().map(|store| store.to_string()),
    }
}
