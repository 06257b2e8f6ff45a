//! Why something failed, as a person must know it to decide what follows: the command, how it ended, what it said last.

use std::path::PathBuf;

use baton_protocol::model::Report;
use serde_json::Value;

use crate::answer;
use crate::evidence::ExaminedClaim;
use crate::failure::{Code, CommandStream, Failure, FailureOutput};
use crate::handoff::State;
use crate::handover;
use crate::people::FailedCommand;
use crate::run::{Run, TrackedHandoff};
use crate::step::Role;

/// Where a command agent writes what goes to standard error, in the folder of its attempt.
const STDERR: &str = "stderr.log";

/// Where it writes what goes to standard output.
const STDOUT: &str = "stdout.log";

/// Where its report is kept.
const REPORT: &str = "report.md";

/// How many members of a group are shown, if several failed.
const MEMBERS_MAX: usize = 5;

/// How many lines of each are shown then.
const MEMBER_LINES_MAX: usize = 6;

/// Returns why a handoff failed, of a group why its members did; `None` if it did not.
pub fn trouble(run: &Run, subject: &TrackedHandoff) -> Option<FailedCommand> {
    let mut members = members(run, subject);
    match members.len() {
        0 => of_one(run, subject),
        1 => members.pop(),
        _ => Some(of_several(run, subject, &members)),
    }
}

/// Returns why the members of a group failed, at every depth.
fn members(run: &Run, group: &TrackedHandoff) -> Vec<FailedCommand> {
    let failed = handover::members(run, group).into_iter().filter(|member| !member.passed());
    let each = failed.flat_map(|member| {
        let inner = members(run, member);
        let own = || of_one(run, member).or_else(|| of_verdict(member));
        if inner.is_empty() { own().map(|own| with_phase(member, own)).into_iter().collect() } else { inner }
    });
    each.collect()
}

/// Names the phase of a member. A check is named already.
fn with_phase(member: &TrackedHandoff, own: FailedCommand) -> FailedCommand {
    match member.step.role {
        Role::Check => own,
        _ => FailedCommand { what: format!("{}: {}", member.step.phase, own.what), ..own },
    }
}

/// Returns why a member counts against its group although it has reported.
fn of_verdict(member: &TrackedHandoff) -> Option<FailedCommand> {
    let report = member.report()?;
    let agent = &member.handoff.terms.to;
    let what = match &report.verdict {
        Some(verdict) => format!("{agent} says {verdict}"),
        None => format!("{agent} did not approve it"),
    };
    let said = answer::context(report).map(str::to_owned).into_iter().chain(report.issues.iter().cloned());
    let said = said.collect::<Vec<_>>().join("\n");
    let output = Some(said).filter(|said| !said.is_empty()).map(FailureOutput::Findings);
    Some(FailedCommand { handoff: member.handoff.id.clone(), command: None, what, output, help: None, log: None })
}

/// Puts together why several members failed.
fn of_several(run: &Run, group: &TrackedHandoff, members: &[FailedCommand]) -> FailedCommand {
    let phase = |failed: &FailedCommand| run.find(&failed.handoff).map(|member| member.step.phase.as_str());
    let more = members.len().saturating_sub(MEMBERS_MAX);
    let mut names: Vec<&str> = members.iter().take(MEMBERS_MAX).filter_map(phase).collect();
    let and_more = format!("{more} more");
    names.extend((more > 0).then_some(and_more.as_str()));
    let output: Vec<String> = members.iter().take(MEMBERS_MAX).map(paragraph).collect();
    FailedCommand {
        handoff: group.handoff.id.clone(),
        command: None,
        what: format!("{} did not pass", names.join(", ")),
        output: Some(FailureOutput::Members(output.join("\n"))),
        help: None,
        log: None,
    }
}

/// Tells of one member of several.
fn paragraph(failed: &FailedCommand) -> String {
    let lines: Vec<&str> = failed.output.as_ref().map(|output| output.text().lines().collect()).unwrap_or_default();
    let shown = match failed.output {
        Some(FailureOutput::LastLines(_)) => &lines[lines.len().saturating_sub(MEMBER_LINES_MAX)..],
        Some(FailureOutput::Findings(_) | FailureOutput::Members(_)) | None => {
            &lines[..lines.len().min(MEMBER_LINES_MAX)]
        }
    };
    let command = failed.command.iter().map(|command| format!("command: {command}"));
    let help = failed.help.iter().map(|help| format!("hint: {help}"));
    let log = failed.log.iter().map(|log| format!("log: {}", log.display()));
    let below = command.chain(shown.iter().map(|line| (*line).to_owned())).chain(help).chain(log);
    let below: String = below.map(|line| format!("\n  {line}")).collect();
    format!("{}{below}", failed.what)
}

/// Returns why a handoff itself failed; `None` if it did not.
fn of_one(run: &Run, subject: &TrackedHandoff) -> Option<FailedCommand> {
    let report = subject.report().filter(|report| !answer::passes(report));
    match (&subject.handoff.state, &subject.handoff.last_failure, report) {
        (State::Failed { .. }, Some(failure), _) => {
            let (what, output) = failure.what_and_output();
            let (handoff, help) = (subject.handoff.id.clone(), failure.help.clone());
            Some(FailedCommand { handoff, command: command(run, subject), what, output, help, log: log(run, subject) })
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
    FailedCommand { handoff: subject.handoff.id.clone(), command, what, output, help: None, log: log(run, subject) }
}

fn log(run: &Run, subject: &TrackedHandoff) -> Option<PathBuf> {
    let handoff = &subject.handoff;
    let located = run.definition.locate(&subject.step.phase)?;
    let folder = run.attempt_folder(&handoff.id, handoff.fence);
    let name = match subject.step.role {
        Role::Check => format!("verify-{}.log", located.phase().id()),
        _ => {
            command(run, subject)?;
            match &handoff.last_failure {
                // A command that verifies what was reported has said why, in a log of its own.
                Some(failure) if is_refuted(subject, failure) => return Some(folder),
                // There was a report, and it was refused for what it says.
                Some(Failure { output: Some(FailureOutput::Findings(_)), .. }) => REPORT.to_owned(),
                Some(Failure { stream: Some(CommandStream::Stdout), .. }) => STDOUT.to_owned(),
                _ => STDERR.to_owned(),
            }
        }
    };
    Some(folder.join(name))
}

/// Returns whether something failed for what was seen of its report, and not for what it did itself.
fn is_refuted(subject: &TrackedHandoff, failure: &Failure) -> bool {
    failure.code == Code::validation_failed()
        && failure.output.is_none()
        && subject.examined.iter().any(ExaminedClaim::is_wrong)
}
