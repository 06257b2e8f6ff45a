//! `baton hook`: answers a hook of a coding agent. Whatever goes wrong here, no agent is held because of it.

use std::io::{self, Read as _};

use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::hook::{self, HookInput, HookVendor};
use crate::output::Output;

/// A hook never gets more than this.
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Judge the handoff of a coding agent before it ends
///
/// For the hooks of coding agents, which `baton init` sets up: reads the input of the hook as JSON from standard input.
/// When an agent or subagent wants to end, its handoff is checked: in a run against its request, elsewhere against
/// `[hooks]` in baton.toml. If it is not accepted, the answer is `{"decision":"block","reason":…}`, and the agent
/// continues in the same session. After three refusals it may end, and that is recorded. Outside a run, accepted
/// handoffs are recorded in the store, one run for each session: see `baton show`, `baton log` and `baton inbox`.
///
/// Without a configuration it does nothing. If Baton itself has a problem, it says so on standard error and exits with
/// 1, which blocks no agent. It never exits with 2, which would.
#[derive(Debug, Args)]
#[command(after_help = "Example, in .claude/settings.json:\n  \
{\"hooks\": {\"SubagentStop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"baton hook claude-code\"}]}]}}")]
pub(crate) struct Options {
    /// The coding agent that calls
    #[arg(value_name = "PROGRAM")]
    vendor: HookVendor,
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match answer(options.vendor, output) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            output.error(&error);
            output.note("baton hook: the agent is not held");
            Ok(Exit::No)
        }
    }
}

fn answer(vendor: HookVendor, output: &Output) -> Result<(), CommandError> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(INPUT_BYTES_MAX).read_to_end(&mut bytes);
    read.map_err(|error| CommandError::usage(format!("cannot read standard input: {error}")))?;
    let input = HookInput::read(vendor, &bytes)
        .map_err(|why| CommandError::usage(format!("unexpected input for a hook of {}: {why}", vendor.name())))?;
    match hook::answer(vendor, input, output)?.json() {
        Some(answer) => output.data(&format!("{answer}\n")),
        None => Ok(()),
    }
}
