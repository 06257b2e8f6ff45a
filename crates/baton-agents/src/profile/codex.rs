//! Codex: `codex exec --json --output-last-message FILE -`.
//!
//! Relied on (`codex-rs/exec`, `cli.rs` and `exec_events.rs`): the prompt is the argument, or stdin for `-`. With `--json`
//! stdout has one event a line: `{"type":"item.completed","item":{"type":"agent_message","text":"…"}}`,
//! `{"type":"turn.completed","usage":{"input_tokens","cached_input_tokens","output_tokens"}}` (cached ones are among the
//! input), `{"type":"turn.failed","error":{"message"}}` and `{"type":"error","message"}`. An `error` alone may be a lost
//! connection that came back, so it counts only when no turn was completed. The last message also goes to the file. Outside
//! of a git repository it wants `--skip-git-repo-check` among the arguments.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{EVENTS_BYTES_MAX, Heard, Output, ProfileAnswer, Recipe, events, sum, text_at};

/// How Codex is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "codex",
    arguments,
    before_stdin: &["-"],
    before_argument: &[],
    inherits: &["CODEX_HOME"],
    home: &[".codex"],
    stdout_bytes_max: EVENTS_BYTES_MAX,
    read,
};

const LAST_MESSAGE: &str = "codex-last-message.md";

fn arguments(folder: &Path) -> Vec<String> {
    let file = folder.join(LAST_MESSAGE);
    // What an attempt that crashed here has left would be taken for the answer.
    let _ = fs::remove_file(&file);
    let words = ["exec", "--json", "--output-last-message"].map(str::to_owned);
    words.into_iter().chain([file.display().to_string()]).collect()
}

fn read(output: &Output<'_>) -> Heard {
    let events = events(output.stdout);
    if events.is_empty() {
        return Heard::Unreadable("there is no event in what codex wrote to stdout".to_owned());
    }
    let last = |kind: &str| events.iter().rev().find(|event| event["type"] == kind);
    let fault = last("turn.failed").and_then(|event| text_at(event, "/error/message"));
    let fault = fault.or_else(|| match last("turn.completed") {
        Some(_) => None,
        None => last("error").and_then(|event| text_at(event, "/message")),
    });
    if let Some(fault) = fault {
        return Heard::Refused(fault.to_owned());
    }
    let filed = fs::read_to_string(output.folder.join(LAST_MESSAGE)).ok().filter(|text| !text.trim().is_empty());
    let message = events.iter().rev().find_map(message);
    Heard::Said(ProfileAnswer {
        text: filed.or_else(|| message.map(str::to_owned)),
        tokens: sum(last("turn.completed").and_then(|event| event.get("usage")), &["/input_tokens", "/output_tokens"]),
        // It keeps sessions too, but in a form of its own that nobody here reads.
        transcript: None,
    })
}

fn message(event: &Value) -> Option<&str> {
    let kind = text_at(event, "/item/type").or_else(|| text_at(event, "/item/item_type"))?;
    let is_message = event["type"] == "item.completed" && ["agent_message", "assistant_message"].contains(&kind);
    if is_message { text_at(event, "/item/text") } else { None }
}
