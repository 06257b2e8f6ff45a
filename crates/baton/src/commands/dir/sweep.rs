//! `baton dir sweep`: puts right what time and crashes left behind.

use baton_engine::HandoffId;
use baton_protocol::printable;
use clap::Args;
use serde_json::json;

use super::{Folders, refusal};
use crate::clock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// Take back attempts that took too long, and repair what crashed
///
/// Attempts whose time is up wait for their next attempt or fail; failures that can be tried again wait for their next
/// attempt; work that a crashed process left half done is repaired. Safe to run at any time, as often as you like.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  baton dir sweep work")]
pub(super) struct Options {
    #[command(flatten)]
    folders: Folders,
}

pub(super) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let swept = options.folders.open()?.sweep(clock::machine_time()).map_err(refusal)?;
    let groups = [
        ("expired", &swept.expired),
        ("failed", &swept.failed),
        ("requeued", &swept.requeued),
        ("repaired", &swept.repaired),
    ];
    if options.folders.json {
        let problems: Vec<_> = swept
            .problems
            .iter()
            .map(|problem| json!({ "path": problem.path.display().to_string(), "message": problem.fault }))
            .collect();
        let mut result = json!({ "version": 1, "removed": swept.removed, "problems": problems });
        for (name, ids) in groups {
            result[name] = ids.iter().map(HandoffId::as_str).collect();
        }
        output.json(&result)?;
    } else {
        let lines = groups.iter().flat_map(|(name, ids)| ids.iter().map(move |id| format!("{name} {id}\n")));
        output.data(&lines.collect::<String>())?;
        for problem in &swept.problems {
            let line = format!("{}: {}", problem.path.display(), problem.fault);
            output.note(&format!("warning: {}", printable(&line)));
        }
    }
    Ok(Exit::Done)
}
