//! Running other programs: a failure names the command as one would type it, and what to do.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};

use crate::failure::Failure;

/// Returns a call of the same Cargo that started us, at the root of the repository.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(arguments);
    command
}

/// Runs a command that prints for itself.
pub(crate) fn run(command: &mut Command, hint: &str) -> Result<()> {
    let status = command.status().with_context(|| start_failed(command))?;
    passed(command, status, hint)
}

/// Runs a command and returns what it wrote to stdout.
pub(crate) fn stdout(command: &mut Command, hint: &str) -> Result<String> {
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().with_context(|| start_failed(command))?;
    passed(command, output.status, hint)?;
    String::from_utf8(output.stdout).with_context(|| format!("`{}` wrote something that is not UTF-8", typed(command)))
}

/// Returns whether a command can be started and succeeds; nothing of it is shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn passed(command: &Command, status: ExitStatus, hint: &str) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::no(format!("`{}` failed ({status})", typed(command)), hint).into())
}

fn start_failed(command: &Command) -> String {
    format!("`{}` could not be started", typed(command))
}

/// Returns the command as one would type it: set variables, the program's name, its arguments.
fn typed(command: &Command) -> String {
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.display(), quoted(&value?.to_string_lossy()))));
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    let words = std::iter::once(name).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_shown_as_typed() {
        let mut command = Command::new("/opt/rust/bin/cargo");
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").env_remove("COLUMNS");
        assert_eq!(typed(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }

    #[test]
    fn failing_command_is_named_with_its_hint() {
        let mut command = cargo(Path::new("."), &["no-such-sub-command"]);
        command.stderr(Stdio::null());
        let message = run(&mut command, "spell it correctly").unwrap_err().to_string();
        assert!(message.starts_with("`cargo no-such-sub-command` failed (exit status: 101)"));
        assert!(message.ends_with("hint: spell it correctly"));
    }

    #[test]
    fn program_that_does_not_exist_does_not_succeed() {
        assert!(!succeeds(&mut Command::new("no-such-program-on-any-machine")));
    }
}
