//! `cargo xtask fuzz`: runs the fuzz targets for a while each.
//!
//! The targets need compiler options that only nightly offers by default; `RUSTC_BOOTSTRAP` opens them
//! on the toolchain that builds everything else.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::{output, process, requirements};

const SECONDS_DEFAULT: u32 = 60;

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    seconds: u32,
    target: Option<String>,
}

impl Options {
    /// Reads the arguments after `fuzz`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let mut options = Self { seconds: SECONDS_DEFAULT, target: None };
        let mut rest = arguments;
        loop {
            rest = match rest {
                [] => return Ok(options),
                ["--seconds", number, after @ ..] => {
                    options.seconds = positive(number)?;
                    after
                }
                [target, after @ ..] if options.target.is_none() && !target.starts_with('-') => {
                    options.target = Some((*target).to_owned());
                    after
                }
                [unexpected, ..] => return Err(wrong_usage(unexpected)),
            }
        }
    }
}

/// Runs the chosen target, or all of them.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    requirements::ensure(requirements::FUZZ)?;
    ensure_cargo_fuzz(root)?;
    let list = process::stdout(&mut cargo_fuzz(root, &["list"]), "is there a fuzz folder?")?;
    let targets: Vec<&str> = list.lines().collect();
    for target in chosen(&targets, options.target.as_deref())? {
        output::note(&format!("fuzz {target} for {} seconds", options.seconds));
        let corpora = corpora(target);
        std::fs::create_dir_all(root.join(&corpora[0]))?;
        let limit = format!("-max_total_time={}", options.seconds);
        let hint = format!("the input is in fuzz/artifacts/{target}; begin with a test that fails");
        let arguments = ["run", target].into_iter().chain(corpora.iter().map(String::as_str));
        let arguments: Vec<&str> = arguments.chain(["--", &limit]).chain(LIBFUZZER).collect();
        process::run(&mut cargo_fuzz(root, &arguments), &hint)?;
    }
    Ok(())
}

/// How every target is run: with the words of the documents, and within limits.
const LIBFUZZER: [&str; 4] = ["-dict=fuzz/handoff.dict", "-max_len=65536", "-timeout=10", "-rss_limit_mb=2048"];

/// Returns the folders of inputs of a target; the first one takes what is found.
fn corpora(target: &str) -> Vec<String> {
    let mut corpora = vec![format!("fuzz/corpus/{target}"), format!("fuzz/seeds/{target}")];
    // There the first byte chooses the dialect, so plain documents mean nothing.
    if target != "dialects" {
        corpora.push("crates/baton-protocol/tests/fixtures".to_owned());
    }
    corpora
}

fn positive(number: &str) -> Result<u32, Failure> {
    number.parse().ok().filter(|seconds| *seconds > 0).ok_or_else(|| wrong_usage(number))
}

fn wrong_usage(argument: &str) -> Failure {
    let what = format!("`cargo xtask fuzz` does not understand `{argument}`");
    Failure::usage(what, "write: cargo xtask fuzz [--seconds N] [TARGET]")
}

fn chosen<'a>(targets: &[&'a str], wanted: Option<&str>) -> Result<Vec<&'a str>, Failure> {
    let chosen: Vec<&str> =
        targets.iter().copied().filter(|name| wanted.is_none_or(|wanted| wanted == *name)).collect();
    match (wanted, chosen.is_empty()) {
        (_, false) => Ok(chosen),
        (None, true) => Err(Failure::usage("there are no fuzz targets", "write one in fuzz")),
        (Some(wanted), true) => Err(Failure::usage(
            format!("there is no fuzz target `{wanted}`"),
            format!("choose one of: {}", targets.join(", ")),
        )),
    }
}

fn ensure_cargo_fuzz(root: &Path) -> Result<()> {
    if process::succeeds(&mut cargo_fuzz(root, &["--version"])) {
        return Ok(());
    }
    output::note("installing cargo-fuzz");
    let mut install = process::cargo(root, &["install", "cargo-fuzz", "--locked"]);
    process::run(&mut install, "install cargo-fuzz by hand")
}

fn cargo_fuzz(root: &Path, arguments: &[&str]) -> Command {
    let mut command = process::cargo(root, &["fuzz"]);
    command.args(arguments).env("RUSTC_BOOTSTRAP", "1");
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_arguments_every_target_runs_for_a_minute() {
        let options = Options::parse(&[]).unwrap();
        assert_eq!(options, Options { seconds: 60, target: None });
    }

    #[test]
    fn seconds_and_target_come_in_any_order() {
        let expected = Options { seconds: 5, target: Some("read".to_owned()) };
        assert_eq!(Options::parse(&["--seconds", "5", "read"]).unwrap(), expected);
        assert_eq!(Options::parse(&["read", "--seconds", "5"]).unwrap(), expected);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for arguments in [&["--seconds", "0"][..], &["--seconds"], &["--fast"], &["one", "two"]] {
            assert!(Options::parse(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn unknown_target_is_answered_with_the_known_ones() {
        assert_eq!(chosen(&["read", "write"], Some("write")).unwrap(), ["write"]);
        let message = chosen(&["read", "write"], Some("raed")).unwrap_err().to_string();
        assert!(message.ends_with("choose one of: read, write"));
    }
}
