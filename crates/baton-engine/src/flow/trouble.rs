//! Why something failed, as a person must know it to decide what follows: the command, how it ended, what it said last.

use std::path::PathBuf;

use baton_protocol::model::Report;
use serde_json::Value;

use crate::answer;
use crate::failure::{CommandStream, Failure, FailureOutput};
use crate::handoff::State;
use crate::people::FailedCommand;
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// Where a command agent writes what goes to standard error, in the folder of its attempt.
const STDERR: &str = "stderr.log";

/// Where it writes what goes to standard output.
const STDOUT: &str = "stdout.log";

/// Where its report is kept.
const REPORT: &str = "report.md";

/// Returns why a handoff failed; `None` if it did not.
pub fn trouble(run: &Run, subject: &TrackedHandoff) -> Option<FailedCommand> {
    let report = subject.report().filter(|report| !answer::passes(report));
    match (&subject.handoff.state, &subject.handoff.last_failure, report) {
        (State::Failed { .. }, Some(failure), _) => {
            let (what, output) = failure.what_and_output();
            let help = failure.help.clone();
            Some(FailedCommand { command: command(run, subject), what, output, help, log: log(run, subject) })
        }
        (_, _, Some(report)) if subject.step.role == Role::Check => Some(of_check(run, subject, report)),
        _ => None,
    }
}

/// Returns the line of it that matters most: how it ended, and the last that was said, or the first thing that is wrong.
pub(super) fn in_one_line(trouble: &FailedCommand) -> String {
    match trouble.output.as_ref().and_then(FailureOutput::telling_line) {
        Some(line) => format!("{}: {line}", trouble.what),
        None => trouble.what.clone(),
    }
}

/// Returns what was started: the command of an agent, or the program that it has a profile for.
fn command(run: &Run, subject: &TrackedHandoff) -> Option<String> {
    let located = run.definition.locate(&subject.step.phase)?;
    let agent = located.definition.workflow.agent(&subject.handoff.terms.to)?;
    let profile = || agent.profile.map(|profile| profile.as_str().to_owned());
    agent.command.as_ref().map(ToString::to_string).or_else(profile)
}

fn of_check(run: &Run, subject: &TrackedHandoff, report: &Report) -> FailedCommand {
    let text = |name: &str| report.verification.get(name).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let located = run.definition.locate(&subject.step.phase);
    let command = located.and_then(|located| located.phase().check.as_ref().map(ToString::to_string));
    let what = format!("the check {} failed: {}", subject.step.phase, text("ended"));
    let output = Some(text("output")).filter(|said| !said.is_empty()).map(FailureOutput::LastLines);
    FailedCommand { command, what, output, help: None, log: log(run, subject) }
}

fn log(run: &Run, subject: &TrackedHandoff) -> Option<PathBuf> {
    let handoff = &subject.handoff;
    let located = run.definition.locate(&subject.step.phase)?;
    let name = match subject.step.role {
        Role::Check => format!("verify-{}.log", located.phase().id()),
        _ => {
            command(run, subject)?;
            match &handoff.last_failure {
                // There was a report, and it was refused for what it says.
                Some(Failure { output: Some(FailureOutput::Findings(_)), .. }) => REPORT.to_owned(),
                Some(Failure { stream: Some(CommandStream::Stdout), .. }) => STDOUT.to_owned(),
                _ => STDERR.to_owned(),
            }
        }
    };
    Some(run.attempt_folder(&handoff.id, handoff.fence).join(name))
}
