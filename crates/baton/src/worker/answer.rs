//! What a command's output means: a report that can be read and is valid, or a failure that says why it is none.

use std::fmt::Write as _;

use baton_engine::handoff::Written;
use baton_engine::lifecycle::{Command, Fail};
use baton_engine::{Code, Failure};
use baton_protocol::{Document, Hints, Judgement, Settings, Severity, Surroundings};

use crate::outcome;
use crate::store::dice;

/// How many findings are told in a failure.
const FINDINGS_MAX: usize = 20;

/// Says what the output of a command that ended well means for its handoff.
pub(super) fn of_output(output: &[u8], fence: u64, request: &Written, settings: &Settings) -> Command {
    match report(output, fence, request, settings) {
        Ok(command) => command,
        Err(why) => failed(fence, Failure::new(Code::validation_failed(), why)),
    }
}

/// Says whether a command wrote nothing to stdout.
pub(super) fn is_blank(output: &[u8]) -> bool {
    output.iter().all(u8::is_ascii_whitespace)
}

/// Says that an attempt failed.
pub(super) fn failed(fence: u64, failure: Failure) -> Command {
    Command::Fail(Fail { fence, failure, document: None, dice: dice(), changed: Vec::new() })
}

fn report(output: &[u8], fence: u64, request: &Written, settings: &Settings) -> Result<Command, String> {
    if is_blank(output) {
        return Err("the command wrote nothing to stdout; it must write its report there".to_owned());
    }
    let reading = baton_protocol::read(output, Hints::default());
    let asked = outcome::request(request);
    let surroundings = Surroundings { request: asked.as_ref(), ..Surroundings::default() };
    let judgement = baton_protocol::judge(output, &reading, &surroundings, settings);
    let (Some(dialect), Some(Document::Report(report))) = (reading.dialect, &reading.document) else {
        return Err(match &reading.document {
            Some(other) => format!("the command wrote a {} to stdout, not a report", other.kind().as_str()),
            None => format!("what the command wrote to stdout is no report: {}", findings(&judgement)),
        });
    };
    if !judgement.valid {
        return Err(format!("the report is not valid: {}", findings(&judgement)));
    }
    let text = std::str::from_utf8(output).map_err(|error| format!("the report is not UTF-8: {error}"))?;
    outcome::command(report, Written::new(dialect, text), fence)
        .ok_or_else(|| "the report does not say how the work ended".to_owned())
}

fn findings(judgement: &Judgement) -> String {
    let errors: Vec<_> = judgement.diagnostics.iter().filter(|found| found.severity == Severity::Error).collect();
    let mut text = String::new();
    for found in errors.iter().take(FINDINGS_MAX) {
        let _ = write!(text, "\n{}:{}: {}: {}", found.line, found.column, found.code, found.message);
    }
    match errors.len().saturating_sub(FINDINGS_MAX) {
        0 => text,
        more => text + &format!("\nand {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Dialect;

    use super::*;

    fn of(output: &str) -> Command {
        let request = Written::new(Dialect::Task, r#"{"task_id": "t", "phase": "write", "instructions": "x"}"#);
        of_output(output.as_bytes(), 3, &request, &Settings::default())
    }

    fn code(command: &Command) -> Option<&str> {
        match command {
            Command::Fail(fail) => Some(fail.failure.code.as_str()),
            _ => None,
        }
    }

    #[test]
    fn what_is_no_report_is_never_complete() {
        let nothings = ["", "  \n", "done!", "{\"status\": \"complete\"}", "{", "acknowledgment:\n  received: true\n"];
        for output in nothings {
            assert_eq!(code(&of(output)), Some("VALIDATION_FAILED"), "{output:?}");
        }
    }

    #[test]
    fn report_about_another_task_is_refused() {
        let command = of(r#"{"task_id": "other", "phase": "write", "status": "complete", "decision": "PROCEED"}"#);
        let Command::Fail(fail) = command else { panic!("another task") };
        assert!(fail.failure.message.contains("report-echo-mismatch"), "{}", fail.failure.message);
    }
}
