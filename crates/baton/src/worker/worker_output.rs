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
                    let help = failure.help.as_ref().map(|help| format!("; hint: {help}")).unwrap_or_default();
                    let said = failure.in_one_line();
                    self.line(Tint::Red, "failed", &format!("{id} in {took}: {said} ({next}){help}"));
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
            "failure": failure.map(|failure| json!({ "code": failure.code.as_str(), "message": failure.text() })),
            "seconds": finish.took.as_secs_f64(),
        });
        self.output.data(&format!("{told}\n"))
    }

    fn line(&self, tint: Tint, word: &str, text: &str) {
        let word = self.output.paint_beside().strong(tint, &format!("{word:<9}"));
        self.output.note(&format!("{word} {}", printable(text).replace('\n', " ")));
    }
}
