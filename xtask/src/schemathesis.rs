//! `cargo xtask schemathesis`: a program that knows only the OpenAPI description asks a real server everything that can be
//! asked, once with the token of an approver and once with that of an agent.
//!
//! It needs Python and its package index, and minutes; the test command does without.

mod site;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::failure::Failure;
use crate::{output, process, requirements};
use site::Site;

/// The version that is installed.
const VERSION: &str = "4.32.5";

/// What the checks know about this API.
const SETTINGS: &str = include_str!("schemathesis/schemathesis.toml");

const HINT: &str = "write: cargo xtask schemathesis [--cases N] [--seed S]";

/// What the command line asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// How many cases are made up for each operation in each phase.
    cases: u32,
    seed: Option<u64>,
}

impl Options {
    /// Reads the arguments after `schemathesis`.
    pub(crate) fn parse(arguments: &[&str]) -> Result<Self, Failure> {
        let mut options = Self { cases: 100, seed: None };
        let mut rest = arguments;
        loop {
            rest = match rest {
                [] => return Ok(options),
                ["--cases", number, after @ ..] => {
                    let cases = number.parse().ok().filter(|cases| *cases > 0);
                    options.cases = cases.ok_or_else(|| wrong_usage(number))?;
                    after
                }
                ["--seed", number, after @ ..] => {
                    options.seed = Some(number.parse().map_err(|_| wrong_usage(number))?);
                    after
                }
                [unexpected, ..] => return Err(wrong_usage(unexpected)),
            }
        }
    }
}

fn wrong_usage(argument: &str) -> Failure {
    Failure::usage(format!("`cargo xtask schemathesis` does not understand `{argument}`"), HINT)
}

/// Asks a server everything, as an approver and as an agent.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    requirements::ensure(requirements::SCHEMATHESIS)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = root.join(target).join("schemathesis");
    let program = install(&folder)?;
    process::run(
        &mut process::cargo(root, &["build", "--locked", "--package", "baton"]),
        "correct what does not compile",
    )?;
    let baton = folder.with_file_name("debug/baton");
    let mut asked = Vec::new();
    for role in ["approver", "agent"] {
        let site = Site::open(&folder.join(role), &baton, role)?;
        output::note(&format!("schemathesis with the token of an {role}"));
        let hint = "the cases that failed are above, each as a curl command";
        asked.push(process::run(&mut command(&program, &site, options)?, hint));
    }
    asked.into_iter().collect()
}

/// Installs the program in a folder of its own, unless it is there.
fn install(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("venv/bin/st");
    let wanted = format!("st, version {VERSION}");
    let installed = process::stdout(Command::new(&program).arg("--version"), "");
    if installed.is_ok_and(|version| version.trim() == wanted) {
        return Ok(program);
    }
    output::note(&format!("installing schemathesis {VERSION}"));
    std::fs::create_dir_all(folder)?;
    let hint = "it comes from the package index of Python: look whether that can be reached";
    process::run(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")), hint)?;
    let package = format!("schemathesis=={VERSION}");
    process::run(Command::new(folder.join("venv/bin/pip")).args(["install", "--quiet", &package]), hint)?;
    Ok(program)
}

fn command(program: &Path, site: &Site, options: &Options) -> Result<Command> {
    let settings = site.folder.join("schemathesis.toml");
    // In the file, so that no list of processes and no message shows the token.
    std::fs::write(&settings, format!("{SETTINGS}\n[headers]\nAuthorization = \"Bearer {}\"\n", site.token))?;
    let mut command = Command::new(program);
    command.current_dir(&site.folder).arg("--config-file").arg(settings).arg("run");
    command.arg(format!("{}/api/openapi.json", site.url));
    command.args(["--phases", "examples,coverage,fuzzing,stateful", "--checks", "all", "--no-color"]);
    command.args(["--max-examples", &options.cases.to_string(), "--generation-database", "none"]);
    command.args(["--request-timeout", "90"]);
    if let Some(seed) = options.seed {
        command.args(["--seed", &seed.to_string()]);
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_and_seed_are_read() {
        assert_eq!(Options::parse(&[]).unwrap(), Options { cases: 100, seed: None });
        assert_eq!(Options::parse(&["--seed", "7", "--cases", "3"]).unwrap(), Options { cases: 3, seed: Some(7) });
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (arguments, named) in [(&["fast"][..], "`fast`"), (&["--cases", "0"], "`0`"), (&["--seed"], "`--seed`")] {
            let message = Options::parse(arguments).unwrap_err().to_string();
            assert!(message.contains(named), "{message}");
        }
    }
}
