//! `baton help-markdown`: the manual of the command line, from the same text that `--help` prints.

use clap::Command;

use crate::cli::Cli;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;

pub(super) fn run(output: &Output) -> Result<Exit, CommandError> {
    let mut command = Cli::for_people(100).term_width(100);
    command.build();
    let mut text = "# Command line\n\nGenerated from `baton --help` and the help of each command.\n".to_owned();
    sections(&mut text, &mut command);
    output.data(&text)?;
    Ok(Exit::Done)
}

/// Writes a command, and then the commands below it.
fn sections(text: &mut String, command: &mut Command) {
    section(text, &mut command.clone());
    for subcommand in command.get_subcommands_mut() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            sections(text, subcommand);
        }
    }
}

fn section(text: &mut String, command: &mut Command) {
    let title = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let help = command.render_long_help().to_string();
    let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    text.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", help.trim_end()));
}
