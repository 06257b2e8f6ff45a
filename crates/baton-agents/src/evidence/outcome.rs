//! How a command of the workflow ended, as evidence tells it.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use baton_engine::evidence::CheckOutcome;

use crate::process::ProcessEnd;

/// How much of the end is shown to people.
const TAIL_CHARS: usize = 2 * 1024;

/// Returns whether a command passed, and how it ended.
pub(super) fn of(ended: &ProcessEnd) -> CheckOutcome {
    match ended {
        ProcessEnd::Exited { status, tail, .. } => {
            CheckOutcome { passed: status.success(), ended: describe(*status), tail: end(tail), examined: Vec::new() }
        }
        ProcessEnd::TimedOut { limit, tail } => failed(format!("killed after {} seconds", limit.as_secs_f64()), tail),
        ProcessEnd::Silent { limit, tail } => {
            failed(format!("killed after {} seconds without output", limit.as_secs_f64()), tail)
        }
        ProcessEnd::Flooded { most } => failed(format!("killed after {most} bytes of output"), ""),
        ProcessEnd::Lost(error) => failed(format!("cannot be waited for: {error}"), ""),
    }
}

/// A command that did not pass.
pub(super) fn failed(ended: String, tail: &str) -> CheckOutcome {
    CheckOutcome { passed: false, ended, tail: end(tail), examined: Vec::new() }
}

fn end(tail: &str) -> String {
    let surplus = tail.chars().count().saturating_sub(TAIL_CHARS);
    tail.chars().skip(surplus).collect::<String>().trim().to_owned()
}

/// Returns how a process ended, in a few words.
fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no exit code".to_owned(),
    }
}
