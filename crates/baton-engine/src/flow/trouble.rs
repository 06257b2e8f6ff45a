//! Why something failed, as a person must know it to decide what follows: the command, how it ended, what it said last.

use std::path::PathBuf;

use baton_protocol::model::Report;
use serde_json::Value;

use crate::answer;
use crate::failure::{Code, CommandStream, Failure};
use crate::handoff::State;
use crate::people::FailedCommand;
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// Where a command agent writes what goes to standard error, in the folder of its attempt.
const STDERR: &str = "stderr.log";

/// Where it writes what goes to standard output.
const STDOUT: &str = "stdout.log";

/// Returns why a handoff failed; `None` if it did not.
pub fn trouble(run: &Run, subject: &TrackedHandoff) -> Option<FailedCommand> {
    let report = subject.report().filter(|report| !answer::passes(report));
    match (&subject.handoff.state, &subject.handoff.last_failure, report) {
        (State::Failed { .. }, Some(failure), _) => {
            let (what, output) = told(&failure.to_string());
            Some(FailedCommand { command: None, what, output, log: log(run, subject) })
        }
        (_, _, Some(report)) if subject.step.role == Role::Check => Some(of_check(run, subject, report)),
        _ => None,
    }
}

/// Returns the line of it that matters most: how it ended, and the last that was said.
pub(super) fn in_one_line(trouble: &FailedCommand) -> String {
    match trouble.output.lines().rfind(|line| !line.trim().is_empty()) {
        Some(last) => format!("{}: {}", trouble.what, last.trim()),
        None => trouble.what.clone(),
    }
}

fn of_check(run: &Run, subject: &TrackedHandoff, report: &Report) -> FailedCommand {
    let text = |name: &str| report.verification.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let located = run.definition.locate(&subject.step.phase);
    let command = located.and_then(|located| located.phase().check.as_ref().map(ToString::to_string));
    let what = format!("the check {} failed: {}", subject.step.phase, text("ended"));
    FailedCommand { command, what, output: text("output"), log: log(run, subject) }
}

/// Takes a message apart: its first line says what happened, the others what was said.
fn told(message: &str) -> (String, String) {
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let (first, _) = first.rsplit_once("; it said last").unwrap_or((first, ""));
    (first.trim_end().trim_end_matches(':').to_owned(), rest.trim().to_owned())
}

fn log(run: &Run, subject: &TrackedHandoff) -> Option<PathBuf> {
    let handoff = &subject.handoff;
    let located = run.definition.locate(&subject.step.phase)?;
    let name = match subject.step.role {
        Role::Check => format!("verify-{}.log", located.phase().id()),
        _ => {
            located.definition.workflow.agent(&handoff.terms.to)?.command.as_ref()?;
            let is_on_stdout = handoff.last_failure.as_ref().is_some_and(is_on_stdout);
            if is_on_stdout { STDOUT.to_owned() } else { STDERR.to_owned() }
        }
    };
    Some(run.attempt_folder(&handoff.id, handoff.fence).join(name))
}

/// Returns whether standard output tells more about a failure: there is the report that was refused.
fn is_on_stdout(failure: &Failure) -> bool {
    failure.code == Code::validation_failed() || failure.stream == Some(CommandStream::Stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_matters_is_the_last_one_that_was_said() {
        let (what, output) =
            told("PROCESSING_ERROR: the command ended with 3; it said last:\none\nthe index is gone\n");
        assert_eq!(
            (what.as_str(), output.as_str()),
            ("PROCESSING_ERROR: the command ended with 3", "one\nthe index is gone")
        );
        let trouble = FailedCommand { command: None, what, output, log: None };
        assert_eq!(in_one_line(&trouble), "PROCESSING_ERROR: the command ended with 3: the index is gone");
        assert_eq!(told("TIMEOUT: too slow"), ("TIMEOUT: too slow".to_owned(), String::new()));
    }
}
