//! The `baton` program: built once, then asked for one text after the other.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// Which build the program comes from. The text is the same; what has to be compiled is not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Build {
    /// The program and nothing else.
    Alone,
    /// What `cargo test --workspace` has just built, so that nothing is compiled again.
    AsTested,
}

impl Build {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Alone => &["--package", "baton"],
            Self::AsTested => &["--workspace", "--bins", "--tests"],
        }
    }
}

/// A built `baton`.
pub(crate) struct Program {
    root: PathBuf,
    executable: PathBuf,
}

impl Program {
    /// Builds the program and finds out where Cargo put it.
    pub(crate) fn build(root: &Path, build: Build) -> Result<Self> {
        let arguments = ["build", "--quiet", "--locked", "--message-format=json-render-diagnostics"];
        let mut command = process::cargo(root, &arguments);
        command.args(build.arguments());
        let messages = process::stdout(&mut command, "correct what the compiler reports above")?;
        let executable = executable(&messages).context("Cargo built no program called `baton`")?;
        Ok(Self { root: root.to_owned(), executable })
    }

    /// Returns what the program prints, whatever terminal and colours we have.
    pub(crate) fn stdout(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.root).args(arguments);
        command.env_remove("COLUMNS").env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
        process::stdout(&mut command, "generated files come from this command; make it succeed")
    }
}

/// Finds the path of the program in Cargo's messages, one JSON object per line.
pub(crate) fn executable(messages: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_program = message["target"]["name"] == "baton" && message["target"]["kind"][0] == "bin";
        let is_test = message["profile"]["test"] == true;
        let path = message["executable"].as_str().filter(|_| is_program && !is_test)?;
        Some(PathBuf::from(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_told_from_its_library_and_its_unit_tests() {
        let messages = r#"
            {"target": {"name": "baton", "kind": ["lib"]}, "executable": null}
            {"target": {"name": "baton", "kind": ["bin"]}, "profile": {"test": true}, "executable": "deps/baton-1"}
            {"target": {"name": "xtask", "kind": ["bin"]}, "profile": {"test": false}, "executable": "xtask"}
            {"target": {"name": "baton", "kind": ["bin"]}, "profile": {"test": false}, "executable": "baton"}
            {"reason": "build-finished", "success": true}"#;
        assert_eq!(executable(messages), Some(PathBuf::from("baton")));
    }

    #[test]
    fn build_without_the_program_has_no_executable() {
        assert_eq!(executable(r#"{"reason": "build-finished", "success": true}"#), None);
    }
}
