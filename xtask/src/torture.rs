//! `cargo xtask torture`: kills what runs, again and again, and looks whether everything holds.
//!
//! The torture itself is a test of the program; `cargo xtask test` runs it for a moment with a fixed seed, here it
//! runs for as long as asked.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::{output, process, requirements};

const MINUTES: &str = "BATON_TORTURE_MINUTES";
const SEED: &str = "BATON_TORTURE_SEED";

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    minutes: u32,
    seed: Option<u64>,
    /// Only this part; all of them otherwise.
    part: Option<&'static Part>,
}

/// A part of the torture: a test, or several.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    name: &'static str,
    package: &'static str,
    test: &'static str,
    filter: &'static str,
}

const PARTS: [Part; 4] = [
    // Stores and folders, of which processes are killed.
    Part { name: "queues", package: "baton", test: "torture", filter: "" },
    // Runs of the examples, whose drivers are killed.
    Part { name: "runs", package: "baton", test: "run", filter: "killed_run" },
    // Runs on a PostgreSQL that is away for up to 30 s, again and again.
    Part { name: "outages", package: "baton-store", test: "outages", filter: "the_server_is_away" },
    // Runs on a PostgreSQL whose standby takes over, again and again.
    Part { name: "fail-overs", package: "baton-store", test: "outages", filter: "a_standby_takes_over" },
];

impl Options {
    /// Reads the arguments after `torture`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let (mut minutes, mut seed, mut part) = (None, None, None);
        let mut rest = arguments;
        loop {
            rest = match rest {
                [] => break,
                ["--minutes", number, after @ ..] => {
                    minutes = Some(positive(number)?);
                    after
                }
                ["--seed", number, after @ ..] => {
                    seed = Some(number.parse().map_err(|_| wrong_usage(number))?);
                    after
                }
                [name, after @ ..] if part.is_none() => {
                    part = Some(PARTS.iter().find(|part| part.name == *name).ok_or_else(|| wrong_usage(name))?);
                    after
                }
                [unexpected, ..] => return Err(wrong_usage(unexpected)),
            }
        }
        let minutes = minutes.ok_or_else(|| Failure::usage("`cargo xtask torture` needs `--minutes N`", HINT))?;
        Ok(Self { minutes, seed, part })
    }
}

const HINT: &str = "write: cargo xtask torture --minutes N [--seed S] [queues|runs|outages|fail-overs]";

/// Runs the torture.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    requirements::ensure(requirements::TEST)?;
    output::note(&plan(options));
    let hint = "run it again with the seed printed above: cargo xtask torture --minutes N --seed S";
    parts(options).try_for_each(|part| process::run(&mut command(root, options, part), hint))
}

fn parts(options: &Options) -> impl Iterator<Item = &'static Part> {
    PARTS.iter().filter(|part| options.part.is_none_or(|only| only == *part))
}

fn plan(options: &Options) -> String {
    let minutes = if options.minutes == 1 { "1 minute".to_owned() } else { format!("{} minutes", options.minutes) };
    let seed = options.seed.map_or("a seed that it prints".to_owned(), |seed| format!("seed {seed}"));
    let names: Vec<&str> = parts(options).map(|part| part.name).collect();
    format!("torture of {} for {minutes} each with {seed}, built for release", names.join(", then "))
}

fn command(root: &Path, options: &Options, part: &Part) -> Command {
    let Part { package, test, filter, .. } = part;
    let mut command = process::cargo(root, &["test", "--release", "--locked", "--package", package, "--test", test]);
    command.args(["--", "--nocapture"]).args(Some(filter).filter(|filter| !filter.is_empty()));
    command.env(MINUTES, options.minutes.to_string());
    match options.seed {
        Some(seed) => command.env(SEED, seed.to_string()),
        // One from the environment would contradict what we said.
        None => command.env_remove(SEED),
    };
    command
}

fn positive(number: &str) -> Result<u32, Failure> {
    number.parse().ok().filter(|minutes| *minutes > 0).ok_or_else(|| wrong_usage(number))
}

fn wrong_usage(argument: &str) -> Failure {
    Failure::usage(format!("`cargo xtask torture` does not understand `{argument}`"), HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_and_seed_come_in_any_order() {
        let expected = Options { minutes: 5, seed: Some(7), part: None };
        assert_eq!(Options::parse(&["--minutes", "5", "--seed", "7"]).unwrap(), expected);
        assert_eq!(Options::parse(&["--seed", "7", "--minutes", "5"]).unwrap(), expected);
        assert_eq!(Options::parse(&["--minutes", "5"]).unwrap(), Options { minutes: 5, seed: None, part: None });
        let part = Some(&PARTS[2]);
        let expected = Options { minutes: 5, seed: None, part };
        assert_eq!(Options::parse(&["outages", "--minutes", "5"]).unwrap(), expected);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        let wrong = [
            &[][..],
            &["--seed", "7"],
            &["--minutes"],
            &["--minutes", "0"],
            &["--minutes", "long"],
            &["--minutes", "5", "--seed", "-1"],
            &["--minutes", "5", "store"],
            &["--minutes", "5", "runs", "queues"],
        ];
        for arguments in wrong {
            let message = Options::parse(arguments).unwrap_err().to_string();
            assert!(message.ends_with(HINT), "{arguments:?}: {message}");
        }
    }

    #[test]
    fn plan_says_how_long_and_with_which_seed() {
        let plan = |minutes, seed, part| plan(&Options { minutes, seed, part });
        assert_eq!(
            plan(1, None, None),
            "torture of queues, then runs, then outages, then fail-overs for 1 minute each with a seed that it prints, \
             built for release"
        );
        assert_eq!(
            plan(30, Some(7), Some(&PARTS[1])),
            "torture of runs for 30 minutes each with seed 7, built for release"
        );
    }

    #[test]
    fn test_is_told_minutes_and_seed() {
        let command = command(Path::new("."), &Options { minutes: 5, seed: Some(7), part: None }, &PARTS[1]);
        let told: Vec<_> = command.get_envs().collect();
        assert_eq!(told, [(MINUTES.as_ref(), Some("5".as_ref())), (SEED.as_ref(), Some("7".as_ref()))]);
    }
}
