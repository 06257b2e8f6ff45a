//! The program: command line, configuration, terminal, wiring. Only here the terminal and the environment are known.

mod anchor;
mod archive;
mod bound_answers;
mod briefer;
mod briefing;
mod cli;
mod clock;
mod command_error;
mod commands;
mod config;
mod deciding;
mod discover;
mod exhibits;
mod git_index;
mod guard;
mod hook;
mod http_client;
mod init;
mod intake;
mod logs;
mod output;
mod own_folder;
mod people;
mod random;
mod reach;
mod recorded_keys;
mod render;
mod report;
mod running;
mod sending;
mod serving;
mod showing;
mod signing;
mod state;
mod store;
mod telemetry;
mod user;
mod views;
mod worker;
mod workflow_file;
mod writing;

use std::process::ExitCode;

use baton_protocol::wire::closest;
use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::Cli;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// A quarter of a step of a run is memory that comes and goes; this allocator takes a third of the time for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Prints what is wrong with the command line. To coding agents, exit code 2 means that a hook stops them, and a
/// mistake in their settings must not do that.
fn refuse(mut error: clap::Error) -> ! {
    suggest_command(&mut error);
    let is_hook = std::env::args_os().nth(1).is_some_and(|first| first == "hook");
    if is_hook && error.use_stderr() {
        // Whoever does not read it has closed it.
        let _ = error.print();
        std::process::exit(Exit::No.code().into());
    }
    error.exit()
}

/// Suggests the command that a mistyped one is closest to; clap would suggest `runs` for `rn`.
fn suggest_command(error: &mut clap::Error) {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let command = Cli::command();
    let names: Vec<&str> =
        command.get_subcommands().filter(|known| !known.is_hide_set()).map(|known| known.get_name()).collect();
    let is_first = std::env::args().nth(1).is_some_and(|first| first == *given);
    let lacks_a_letter = |name: &str| (0..name.len()).any(|at| [&name[..at], &name[at + 1..]].concat() == *given);
    let close = names.iter().copied().find(|name| lacks_a_letter(name)).or_else(|| closest(given, &names));
    if let Some(close) = close.filter(|_| is_first).map(str::to_owned) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![close]));
    }
}

fn main() -> ExitCode {
    let parsed = Cli::for_people(output::columns()).try_get_matches().and_then(|found| Cli::from_arg_matches(&found));
    let cli = parsed.unwrap_or_else(|error| refuse(error));
    let output = Output::new(cli.color);
    // Whoever starts us may have files and folders open, and no agent is to inherit a way around its cage.
    close_fds::set_fds_cloexec(3, &[]);
    // A panic is our mistake; it has told its place on stderr by then.
    let ran = std::panic::catch_unwind(|| commands::run(cli.command, &output)).unwrap_or_else(|_| {
        Err(CommandError::internal("internal error").hint("please report it with the message above"))
    });
    match ran {
        Ok(done) => done.into(),
        Err(error) => {
            output.error(&error);
            error.exit_code().into()
        }
    }
}
