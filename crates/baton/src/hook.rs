//! Inside other people's sessions: what the hooks of coding agents tell, and what Baton says when an agent wants to end.
//!
//! Nothing here may hold an agent because of our own trouble. Whoever calls turns an error into a note.

mod decisions;
mod input;
mod judging;
mod outside;
mod reasons;
mod report_text;
mod run_attempt;
mod session_log;
mod standing;

use serde_json::json;

pub(crate) use input::{HookInput, HookVendor};

use crate::command_error::CommandError;
use crate::output::Output;
use input::HookEvent;

/// What is said to the program that called the hook.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HookAnswer {
    /// Nothing: the agent goes on, or ends.
    Nothing,
    /// The agent must not end yet, and this is why.
    Block(String),
    /// The agent may end, and whoever watches should know this.
    Tell(String),
    /// The agent reads this beside its prompt.
    AddContext {
        /// What the program calls the event.
        event: &'static str,
        /// What is said.
        text: String,
    },
}

impl HookAnswer {
    /// Returns it as the program reads it. All three read the same words.
    pub(crate) fn json(&self) -> Option<serde_json::Value> {
        match self {
            HookAnswer::Nothing => None,
            HookAnswer::Block(reason) => Some(json!({ "decision": "block", "reason": reason })),
            HookAnswer::Tell(message) => Some(json!({ "systemMessage": message })),
            HookAnswer::AddContext { event, text } => {
                Some(json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } }))
            }
        }
    }
}

/// Answers a hook.
pub(crate) fn answer(vendor: HookVendor, input: HookInput, output: &Output) -> Result<HookAnswer, CommandError> {
    if let Some(attempt) = run_attempt::of_environment() {
        return match (&input.event, &input.subagent) {
            (HookEvent::Ends(end), None) => run_attempt::judge(&attempt, end),
            (HookEvent::Begins, None) => run_attempt::begins(&attempt),
            // The run asked the session, not its helpers; and its driver sees for itself what was used.
            _ => Ok(HookAnswer::Nothing),
        };
    }
    outside::answer(vendor, input, output)
}
