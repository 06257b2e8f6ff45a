//! What a command's output means: a report that can be read and is valid, or a failure that says why there is none.

use baton_engine::Fence;
use baton_engine::engine::{HandedIn, IncomingDocument, Yardstick};
use baton_engine::lifecycle::{Command, Fail};
use baton_engine::store::ClaimedHandoff;
use baton_engine::{Code, Failure};

use crate::random;

/// Returns what a command that ended well has said about its handoff.
pub(super) fn of_output(output: &[u8], claimed: &ClaimedHandoff, yardstick: &Yardstick) -> Command {
    match report(output, claimed, yardstick) {
        Ok(command) => command,
        Err(failure) => failed(claimed.handoff.fence, failure),
    }
}

/// Returns whether a command said nothing.
pub(super) fn is_blank(output: &[u8]) -> bool {
    output.iter().all(u8::is_ascii_whitespace)
}

/// The command for an attempt that failed.
pub(super) fn failed(fence: Fence, failure: Failure) -> Command {
    Command::Fail(Fail::new(fence, failure, random::number()))
}

fn report(output: &[u8], claimed: &ClaimedHandoff, yardstick: &Yardstick) -> Result<Command, Failure> {
    let refused = |why: String| Failure::new(Code::validation_failed(), why);
    if is_blank(output) {
        let why = "the command ended without a report: it wrote neither to BATON_REPORT_FILE nor to stdout";
        return Err(refused(why.to_owned()));
    }
    let mut judged = yardstick.judge(&IncomingDocument::of(output));
    let Some(document) = judged.valid.take() else {
        let what =
            if judged.kind.is_none() { "what the command wrote is not a report" } else { "the report is not valid" };
        return Err(judged.failure(what));
    };
    // What has changed, the caller looks when everything that the command has started is gone.
    let handed_in = HandedIn::of(claimed, yardstick, document);
    handed_in.command(random::number()).map_err(|why| refused(format!("what the command wrote is not a report: {why}")))
}

#[cfg(test)]
mod tests {
    use baton_engine::handoff::WrittenDocument;
    use baton_engine::lifecycle::Accept;
    use baton_engine::{HandoffId, RunId, Terms};
    use baton_protocol::{Dialect, Settings};
    use jiff::Timestamp;

    use super::*;

    fn of(output: &str) -> Command {
        let request = WrittenDocument::new(Dialect::Task, r#"{"task_id": "t", "phase": "write", "instructions": "x"}"#);
        let id = HandoffId::parse("t.write").expect("safe");
        let (run, terms) = (RunId::alone(&id), Terms::between("a", "b"));
        let accept = Accept { id, run, terms, request: request.clone(), notes: Vec::new() };
        let handoff = accept.apply(Timestamp::UNIX_EPOCH).handoff;
        let yardstick = Yardstick::of_handoff(&handoff, Some(&request), None, &Settings::default());
        of_output(output.as_bytes(), &ClaimedHandoff { handoff, request }, &yardstick)
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
        assert!(fail.failure.text().contains("report-echo-mismatch"), "{}", fail.failure);
    }
}
