//! The program: command line, configuration, terminal, wiring. Only here the terminal and the environment are known.

mod cli;
mod command_error;
mod commands;
mod config;
mod discover;
mod output;
mod render;
mod schema_folder;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::output::Output;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let output = Output::new(cli.color);
    match commands::run(cli.command, &output) {
        Ok(done) => done.into(),
        Err(error) => {
            output.error(&error);
            error.exit_code().into()
        }
    }
}
