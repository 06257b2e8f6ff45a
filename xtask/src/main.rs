//! `cargo xtask`: tests, generates and checks what this repository contains.
//!
//! This file owns the command line; each sub-command lives in the file of its name.
//! It depends on no other crate of the workspace, so that it can check them when they do not build.

mod bench;
mod dist;
mod failure;
mod fuzz;
mod generate;
mod interop;
mod output;
mod pictures;
mod postgres;
mod process;
mod requirements;
mod schemathesis;
mod simulate;
mod test;
mod text_file;
mod tidy;
mod torture;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use failure::Failure;

const USAGE: &str = "\
Test, generate and check what this repository contains

Usage: cargo xtask <COMMAND>

Commands:
  test                             Run every check, in the order in which they fail fastest
  generate                         Write the generated files
  generate --check                 List generated files that are not current
  tidy                             Check what the compiler does not: arrows, names, sizes
  fuzz [--seconds N] [TARGET]      Run the fuzz targets, N seconds each (60 by default)
  bench [NAME]                     Run the benchmarks one after the other
  pictures                         Draw the terminals in docs/images again (needs tmux)
  dist                             Pack a static Linux program, man pages and completions into dist/
  interop [--record | --baton PATH] [CASE]
                                   Let Baton run the coding agents of four vendors against a scripted model (needs npm)
  schemathesis [--cases N] [--seed S]
                                   Ask a real server everything that its OpenAPI description allows, and more (needs PyPI)
  simulate --hours N [--seed S] [--hail]
                                   Let worlds of chance live in which everything goes wrong that can
  torture --minutes N [--seed S] [PART]
                                   Kill what runs, again and again, and look whether everything holds
  help                             Print this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(failure::exit_code(&error))
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] | ["help" | "--help" | "-h"] => output::result(USAGE.trim_end()),
        ["test"] => test::run(&root()?)?,
        ["generate"] => generate::write(&root()?)?,
        ["generate", "--check"] => generate::check(&root()?, generate::Build::Alone)?,
        ["tidy"] => tidy::run(&root()?)?,
        ["fuzz", rest @ ..] => fuzz::run(&root()?, &fuzz::Options::parse(rest)?)?,
        ["bench", rest @ ..] => bench::run(&root()?, &bench::Options::parse(rest)?)?,
        ["pictures"] => pictures::run(&root()?)?,
        ["dist"] => dist::run(&root()?)?,
        ["schemathesis", rest @ ..] => schemathesis::run(&root()?, &schemathesis::Options::parse(rest)?)?,
        ["simulate", rest @ ..] => simulate::run(&root()?, &simulate::Options::parse(rest)?)?,
        ["interop", rest @ ..] => interop::run(&root()?, rest)?,
        ["torture", rest @ ..] => torture::run(&root()?, &torture::Options::parse(rest)?)?,
        unknown => return Err(unknown_command(unknown).into()),
    }
    Ok(())
}

fn unknown_command(arguments: &[&str]) -> Failure {
    Failure::usage(
        format!("`cargo xtask {}` is not a command", arguments.join(" ")),
        "list the commands: cargo xtask help",
    )
}

/// Returns the root of the repository: the parent of the folder that Cargo runs us from.
fn root() -> Result<PathBuf> {
    let manifest_folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .ok_or_else(|| Failure::usage("the repository is not known", "start this program with: cargo xtask"))?;
    let parent = PathBuf::from(manifest_folder).parent().map(PathBuf::from);
    parent.context("the folder of xtask has no parent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_command_is_wrong_usage() {
        let error = run(&["tset"]).unwrap_err();
        assert_eq!(failure::exit_code(&error), 2);
        assert!(error.to_string().contains("`cargo xtask tset` is not a command"));
    }

    #[test]
    fn superfluous_argument_is_wrong_usage() {
        let error = run(&["tidy", "--fix"]).unwrap_err();
        assert_eq!(failure::exit_code(&error), 2);
    }

    #[test]
    fn root_contains_the_workspace_manifest() {
        assert!(root().unwrap().join("Cargo.toml").is_file());
    }
}
