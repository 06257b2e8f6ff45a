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
}

impl Options {
    /// Reads the arguments after `torture`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let (mut minutes, mut seed) = (None, None);
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
                [unexpected, ..] => return Err(wrong_usage(unexpected)),
            }
        }
        let minutes = minutes.ok_or_else(|| Failure::usage("`cargo xtask torture` needs `--minutes N`", HINT))?;
        Ok(Self { minutes, seed })
    }
}

const HINT: &str = "write: cargo xtask torture --minutes N [--seed S]";

/// Runs the torture.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    requirements::ensure(requirements::TEST)?;
    output::note(&plan(options));
    let hint = "run it again with the seed printed above: cargo xtask torture --minutes N --seed S";
    process::run(&mut command(root, options, &QUEUES), hint)?;
    process::run(&mut command(root, options, &RUNS), hint)
}

/// The queues: stores and folders.
const QUEUES: [&str; 3] = ["torture", "--", "--nocapture"];

/// The runs of the examples.
const RUNS: [&str; 4] = ["run", "--", "--nocapture", "killed_run"];

fn plan(options: &Options) -> String {
    let minutes = if options.minutes == 1 { "1 minute".to_owned() } else { format!("{} minutes", options.minutes) };
    let seed = options.seed.map_or("a seed that it prints".to_owned(), |seed| format!("seed {seed}"));
    format!("torture of queues and then of runs for {minutes} each with {seed}, built for release")
}

fn command(root: &Path, options: &Options, what: &[&str]) -> Command {
    let arguments = [&["test", "--release", "--locked", "--package", "baton", "--test"], what].concat();
    let mut command = process::cargo(root, &arguments);
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
        let expected = Options { minutes: 5, seed: Some(7) };
        assert_eq!(Options::parse(&["--minutes", "5", "--seed", "7"]).unwrap(), expected);
        assert_eq!(Options::parse(&["--seed", "7", "--minutes", "5"]).unwrap(), expected);
        assert_eq!(Options::parse(&["--minutes", "5"]).unwrap(), Options { minutes: 5, seed: None });
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
        ];
        for arguments in wrong {
            let message = Options::parse(arguments).unwrap_err().to_string();
            assert!(message.ends_with(HINT), "{arguments:?}: {message}");
        }
    }

    #[test]
    fn plan_says_how_long_and_with_which_seed() {
        let plan = |minutes, seed| plan(&Options { minutes, seed });
        assert_eq!(
            plan(1, None),
            "torture of queues and then of runs for 1 minute each with a seed that it prints, built for release"
        );
        assert_eq!(
            plan(30, Some(7)),
            "torture of queues and then of runs for 30 minutes each with seed 7, built for release"
        );
    }

    #[test]
    fn test_is_told_minutes_and_seed() {
        let command = command(Path::new("."), &Options { minutes: 5, seed: Some(7) }, &RUNS);
        let told: Vec<_> = command.get_envs().collect();
        assert_eq!(told, [(MINUTES.as_ref(), Some("5".as_ref())), (SEED.as_ref(), Some("7".as_ref()))]);
    }
}
