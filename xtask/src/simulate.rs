//! `cargo xtask simulate`: lets worlds of chance live, built for release, until as many hours have passed in them as asked.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::{output, process};

const HINT: &str = "write: cargo xtask simulate --hours N [--seed S] [--hail]";

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    hours: u64,
    seed: u64,
    /// Whether drivers are killed every few seconds.
    hail: bool,
}

impl Options {
    /// Reads the arguments after `simulate`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let (mut hours, mut seed, mut hail) = (None, 1, false);
        let mut rest = arguments;
        loop {
            rest = match rest {
                [] => break,
                ["--hours", number, after @ ..] => {
                    hours = Some(parsed(number)?).filter(|hours| *hours > 0);
                    after
                }
                ["--seed", number, after @ ..] => {
                    seed = parsed(number)?;
                    after
                }
                ["--hail", after @ ..] => {
                    hail = true;
                    after
                }
                [unexpected, ..] => return Err(wrong_usage(unexpected)),
            }
        }
        let hours = hours.ok_or_else(|| Failure::usage("`cargo xtask simulate` needs `--hours N`", HINT))?;
        Ok(Self { hours, seed, hail })
    }
}

/// Lets the worlds live.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    output::note(&format!(
        "worlds of chance for {} hours from seed {}, built for release",
        options.hours, options.seed
    ));
    process::run(&mut command(root, options), "live the world that went wrong again with the seed printed above")
}

fn command(root: &Path, options: &Options) -> Command {
    let arguments = ["run", "--release", "--locked", "--package", "baton-simulation", "--bin", "simulate", "--"];
    let mut command = process::cargo(root, &arguments);
    command.args([options.hours.to_string(), options.seed.to_string()]);
    command.args(options.hail.then_some("hail"));
    command
}

fn parsed(number: &str) -> Result<u64, Failure> {
    number.parse().map_err(|_| wrong_usage(number))
}

fn wrong_usage(argument: &str) -> Failure {
    Failure::usage(format!("`cargo xtask simulate` does not understand `{argument}`"), HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_seed_and_weather_come_in_any_order() {
        let expected = Options { hours: 100, seed: 7, hail: true };
        assert_eq!(Options::parse(&["--hours", "100", "--seed", "7", "--hail"]).unwrap(), expected);
        assert_eq!(Options::parse(&["--hail", "--seed", "7", "--hours", "100"]).unwrap(), expected);
        assert_eq!(Options::parse(&["--hours", "100"]).unwrap(), Options { hours: 100, seed: 1, hail: false });
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for arguments in [&[][..], &["--seed", "7"], &["--hours"], &["--hours", "0"], &["--hours", "long"], &["7"]] {
            let message = Options::parse(arguments).unwrap_err().to_string();
            assert!(message.ends_with(HINT), "{arguments:?}: {message}");
        }
    }
}
