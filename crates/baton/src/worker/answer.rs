//! What a command's output means: a report that can be read and is valid, or a failure that says why it is none.

use std::fmt::Write as _;

use baton_engine::handoff::Written;
use baton_engine::lifecycle::{Command, Fail};
use baton_engine::store::Claimed;
use baton_engine::{Code, Failure};
use baton_protocol::{Hints, Judgement, Severity, Surroundings};

use crate::briefing::Judging;
use crate::outcome::{self, HandedIn};
use crate::store::dice;

/// How many findings are told in a failure.
const FINDINGS_MAX: usize = 20;

/// Says what a command that ended well has said about its handoff.
pub(super) fn of_output(output: &[u8], claimed: &Claimed, judging: &Judging) -> Command {
    match report(output, claimed, judging) {
        Ok(command) => command,
        Err(why) => failed(claimed.handoff.fence, Failure::new(Code::validation_failed(), why)),
    }
}

/// Says whether a command said nothing.
pub(super) fn is_blank(output: &[u8]) -> bool {
    output.iter().all(u8::is_ascii_whitespace)
}

/// Says that an attempt failed.
pub(super) fn failed(fence: u64, failure: Failure) -> Command {
    Command::Fail(Fail { fence, failure, document: None, dice: dice(), changed: Vec::new() })
}

fn report(output: &[u8], claimed: &Claimed, judging: &Judging) -> Result<Command, String> {
    if is_blank(output) {
        let why = "the command ended without a report: it wrote neither to BATON_REPORT_FILE nor to stdout";
        return Err(why.to_owned());
    }
    let Claimed { handoff, request } = claimed;
    let reading = baton_protocol::read(output, Hints { format: None, dialect: judging.dialect });
    let asked = outcome::request(request);
    let surroundings = Surroundings { request: asked.as_ref(), ..outcome::surroundings(handoff) };
    let judgement = baton_protocol::judge(output, &reading, &surroundings, &judging.settings);
    let (Some(dialect), Some(document)) = (reading.dialect, reading.document) else {
        return Err(format!("what the command wrote is no report: {}", findings(&judgement)));
    };
    if !judgement.valid {
        return Err(format!("the report is not valid: {}", findings(&judgement)));
    }
    let text = std::str::from_utf8(output).map_err(|error| format!("the report is not UTF-8: {error}"))?;
    let handed_in = HandedIn {
        document,
        written: Written::new(dialect, text).judged(&judgement),
        request,
        handoff,
        following: &judging.following,
        fence: handoff.fence,
        // The caller looks when everything that the command has started is gone.
        changed: Vec::new(),
    };
    handed_in.command().map_err(|why| format!("what the command wrote is no report: {why}"))
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
    use baton_engine::lifecycle::Accept;
    use baton_engine::{HandoffId, RunId, Terms};
    use baton_protocol::{Dialect, Settings};
    use jiff::Timestamp;

    use super::*;

    fn of(output: &str) -> Command {
        let request = Written::new(Dialect::Task, r#"{"task_id": "t", "phase": "write", "instructions": "x"}"#);
        let id = HandoffId::parse("t.write").expect("safe");
        let (run, terms) = (RunId::alone(&id), Terms::between("a", "b"));
        let accept = Accept { id, run, terms, request: request.clone(), notes: Vec::new() };
        let handoff = accept.apply(Timestamp::UNIX_EPOCH).handoff;
        let judging = Judging { settings: Settings::default(), dialect: None, following: Vec::new() };
        of_output(output.as_bytes(), &Claimed { handoff, request }, &judging)
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
