//! The list of commands that `baton --help` prints: under headings, in the order of a newcomer's day. The sentence beside
//! each name is the command's own.

use anstyle::Style;
use clap::Command;

use crate::render::sheet::{COLUMNS_MAX, wrapped};

/// How many of the headings `-h` shows.
const EVERYDAY: usize = 4;

const GROUPS: [(&str, &[&str]); 10] = [
    ("Start", &["init", "run", "resume", "retry"]),
    ("Decide", &["inbox", "approve", "reject", "answer", "ask"]),
    ("Look", &["runs", "show", "log", "graph"]),
    ("Write workflows", &["workflow", "route", "doctor"]),
    ("Check handoffs", &["check", "explain", "convert", "schema", "hook"]),
    ("Hand over through a queue", &["send", "list", "wait", "cancel", "requeue", "queue"]),
    ("Work for a queue", &["worker", "claim", "ack", "heartbeat", "report", "fail"]),
    ("Hand over through folders", &["dir"]),
    ("Run a store for a team", &["serve", "token", "audit", "prune", "store"]),
    ("Set up a shell", &["completions", "man-pages", "help"]),
];

/// The list stands between the usage and the options, where clap would print its own.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}";

const MORE: &str = "`baton --help` lists all commands, `baton help COMMAND` explains one.";

/// Gives the command line its list of commands, in lines of this width: all of them, or with `-h` those of every day.
pub(super) fn with_overview(command: Command, columns: usize) -> Command {
    let width = columns.min(COLUMNS_MAX);
    let everyday = listed(&command, &GROUPS[..EVERYDAY], width);
    let all = listed(&command, &GROUPS, width);
    let exits = command.get_after_help().cloned().unwrap_or_default();
    let heading = painted(command.get_styles().get_header(), "Options:");
    command
        .help_template(format!("{TEMPLATE}{heading}\n{{options}}{{after-help}}"))
        .before_help(everyday)
        .before_long_help(all)
        .after_help(MORE)
        .after_long_help(exits)
}

fn listed(command: &Command, groups: &[(&str, &[&str])], width: usize) -> String {
    let styles = command.get_styles();
    let names = || GROUPS.iter().flat_map(|(_, names)| names.iter());
    let column = names().map(|name| name.len()).max().unwrap_or_default() + 4;
    let mut text = String::new();
    for (heading, names) in groups {
        text.push_str(&format!("{}\n", painted(styles.get_header(), &format!("{heading}:"))));
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_else(|| "Print this message or the help of a command".to_owned());
            let gap = " ".repeat(column - 2 - name.len());
            let lines = wrapped(&about, width.saturating_sub(column)).join(&format!("\n{}", " ".repeat(column)));
            text.push_str(&format!("  {}{gap}{lines}\n", painted(styles.get_literal(), name)));
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

fn painted(style: &Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_stands_under_one_heading() {
        let command = Cli::command();
        let known = command.get_subcommands().filter(|known| !known.is_hide_set()).map(Command::get_name);
        let mut known: Vec<&str> = known.chain(["help"]).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
    }
}
