//! What a worker tells: a line for people on stderr when something happens, and JSON on stdout for programs.

use baton_engine::handoff::StateName;
use baton_engine::{Handoff, State};
use serde_json::json;

use super::Assignment;
use super::attempt::{Finish, Result};
use crate::command_error::CommandError;
use crate::moment::briefly;
use crate::output::{Output, printable};

/// Tells what happens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voice {
    output: Output,
    json: bool,
}

const GREEN: &str = "\x1b[1;32m";
const YELLOW: &str = "\x1b[1;33m";
const RED: &str = "\x1b[1;31m";
const CYAN: &str = "\x1b[1;36m";

impl Voice {
    pub(super) fn new(output: Output, json: bool) -> Voice {
        Voice { output, json }
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
        self.line(CYAN, "working", &format!("for {agent} as {claimant}, {concurrency} at a time"));
    }

    pub(super) fn claimed(&self, handoff: &Handoff) {
        let from = &handoff.terms.from;
        let text = format!("{} from {from} (attempt {}, fence {})", handoff.id, handoff.attempts, handoff.fence);
        self.line(CYAN, "claimed", &text);
    }

    pub(super) fn finished(&self, finish: &Finish) -> std::result::Result<(), CommandError> {
        let (id, took) = (&finish.id, briefly(finish.took));
        match &finish.result {
            Result::Recorded(handoff) => match finish.failure.as_ref() {
                Some(failure) => {
                    let next = match &handoff.state {
                        State::Pending { ready_at } => format!("again at {ready_at}"),
                        state => state.name().to_string(),
                    };
                    let first = failure.message.lines().next().unwrap_or_default();
                    self.line(RED, "failed", &format!("{id} in {took}: {}: {first} ({next})", failure.code));
                }
                None if handoff.state.name() == StateName::Completed => {
                    self.line(GREEN, "completed", &format!("{id} in {took}"));
                }
                None => self.line(YELLOW, handoff.state.name().as_str(), &format!("{id} in {took}")),
            },
            Result::Lost(why) => self.line(YELLOW, "lost", &format!("{id} after {took}: {why}")),
            Result::Killed => self.line(RED, "killed", &format!("{id} after {took}")),
        }
        if !self.json {
            return Ok(());
        }
        let (result, state) = match &finish.result {
            Result::Recorded(handoff) if finish.failure.is_some() => ("failed", Some(handoff.state.name().as_str())),
            Result::Recorded(handoff) => ("reported", Some(handoff.state.name().as_str())),
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

    fn line(&self, paint: &str, word: &str, text: &str) {
        let (paint, off) = if self.output.has_color_beside() { (paint, "\x1b[0m") } else { ("", "") };
        self.output.note(&format!("{paint}{word:<9}{off} {}", printable(text).replace('\n', " ")));
    }
}
