//! What a worker tells: a line for people on stderr when something happens, and JSON on stdout for programs.

use baton_engine::handoff::StateName;
use baton_engine::{Handoff, State};
use baton_protocol::printable;
use baton_views::words::briefly;
use serde_json::json;

use super::Assignment;
use super::attempt::{Finish, Result};
use crate::command_error::CommandError;
use crate::output::Output;
use crate::render::sheet::Tint;

/// Prints what happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkerOutput {
    output: Output,
    json: bool,
}

impl WorkerOutput {
    pub(super) fn new(output: Output, json: bool) -> WorkerOutput {
        WorkerOutput { output, json }
    }

    pub(super) fn note(&self, text: &str) {
        self.output.note(&printable(text));
    }

    /// Passes on what a command says.
    pub(super) fn pass_on(&self, bytes: &[u8]) {
        self.output.pass_on(bytes);
    }

    pub(super) fn ready(&self, assignment: &Assignment) {
        let Assignment { agent, claimant, concurrency, .. } = assignment;
        self.line(Tint::Cyan, "working", &format!("for {agent} as {claimant}, {concurrency} at a time"));
    }

    pub(super) fn claimed(&self, handoff: &Handoff) {
        let from = &handoff.terms.from;
        let text = format!("{} from {from} (attempt {}, fence {})", handoff.id, handoff.attempts, handoff.fence);
        self.line(Tint::Cyan, "claimed", &text);
    }

    pub(super) fn finished(&self, finish: &Finish) -> std::result::Result<(), CommandError> {
        let (id, took) = (&finish.id, briefly(finish.took));
        let by_command = match finish.result {
            Result::ToldByCommand(_) => ", reported by the command itself",
            Result::Recorded(_) | Result::Lost(_) | Result::Killed => "",
        };
        match &finish.result {
            Result::Recorded(handoff) | Result::ToldByCommand(handoff) => match finish.failure.as_ref() {
                Some(failure) => {
                    let next = match &handoff.state {
                        State::Pending { ready_at } => format!("again at {ready_at}"),
                        state => state.name().to_string(),
                    };
                    let said = briefly_said(&failure.message);
                    self.line(Tint::Red, "failed", &format!("{id} in {took}: {}: {said} ({next})", failure.code));
                }
                None => {
                    let state = handoff.state.name();
                    let tint = if state == StateName::Completed { Tint::Green } else { Tint::Yellow };
                    self.line(tint, state.as_str(), &format!("{id} in {took}{by_command}"));
                }
            },
            Result::Lost(why) => self.line(Tint::Yellow, "lost", &format!("{id} after {took}: {why}")),
            Result::Killed => self.line(Tint::Red, "killed", &format!("{id} after {took}")),
        }
        if !self.json {
            return Ok(());
        }
        let (result, state) = match &finish.result {
            Result::Recorded(handoff) | Result::ToldByCommand(handoff) => {
                let result = if finish.failure.is_some() { "failed" } else { "reported" };
                (result, Some(handoff.state.name().as_str()))
            }
            Result::Lost(_) => ("lost", None),
            Result::Killed => ("killed", None),
        };
        let failure = finish.failure.as_ref();
        let told = json!({
            "version": 1,
            "handoff": id.as_str(),
            "fence": finish.fence,
            "attempt": finish.attempt,
            "result": result,
            "state": state,
            "failure": failure.map(|failure| json!({ "code": failure.code.as_str(), "message": failure.message })),
            "seconds": finish.took.as_secs_f64(),
        });
        self.output.data(&format!("{told}\n"))
    }

    fn line(&self, tint: Tint, word: &str, text: &str) {
        let word = self.output.paint_beside().strong(tint, &format!("{word:<9}"));
        self.output.note(&format!("{word} {}", printable(text).replace('\n', " ")));
    }
}

/// Returns the beginning of a message: its first line, and what comes after that if it only announces it.
fn briefly_said(message: &str) -> String {
    let mut lines = message.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or("wrote nothing").trim_end();
    let announced = if first.ends_with("it said last:") { lines.next_back() } else { lines.next() };
    match (first.ends_with(':'), announced) {
        (true, Some(announced)) => format!("{first} {}", announced.trim()),
        (true, None) => format!("{first} wrote nothing"),
        (false, _) => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcement_is_told_with_what_it_announces() {
        assert_eq!(
            briefly_said("it ended with 3; it said last:\n\nfirst\nsecond"),
            "it ended with 3; it said last: second"
        );
        assert_eq!(briefly_said("it is not a report: \n1:1: empty"), "it is not a report: 1:1: empty");
        assert_eq!(briefly_said("it said last:\n"), "it said last: wrote nothing");
        assert_eq!(briefly_said("it took too long\nmuch"), "it took too long");
    }
}
