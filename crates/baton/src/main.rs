//! The program: command line, configuration, terminal, wiring. Only here the terminal and the environment are known.

mod anchor;
mod archive;
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
mod moment;
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

use clap::Parser;

use crate::cli::Cli;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

/// A quarter of a step of a run is memory that comes and goes; this allocator takes a third of the time for it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Prints what is wrong with the command line. To coding agents, exit code 2 means that a hook stops them, and a
/// mistake in their settings must not do that.
fn refuse(error: &clap::Error) -> ! {
    let is_hook = std::env::args_os().nth(1).is_some_and(|first| first == "hook");
    if is_hook && error.use_stderr() {
        // Whoever does not read it has closed it.
        let _ = error.print();
        std::process::exit(Exit::No.code().into());
    }
    error.exit()
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
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
