//! OpenCode: `opencode run --format json`.
//!
//! Relied on (`packages/opencode/src/cli/cmd/run.ts`, `message-v2.ts`): the prompt is the arguments and stdin together.
//! Stdout has one event a line, `{"type","timestamp","sessionID",…}`: `text` with `part.text` and `part.messageID` when
//! a piece of the answer is complete, `step_finish` with `part.tokens` (`input`, `output`, `reasoning`, `cache.read`,
//! `cache.write`), `error` with `error.data.message` or only `error.name`. Lines for people, such as a permission that
//! was refused, stand between them. It may end with 0 after an error.

use serde_json::Value;

use super::{EVENTS_BYTES_MAX, Heard, Output, ProfileAnswer, Recipe, events, sum, text_at};

/// How OpenCode is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "opencode",
    arguments: |_| ["run", "--format", "json"].map(str::to_owned).to_vec(),
    before_stdin: &[],
    before_argument: &[],
    inherits: &["OPENCODE_CONFIG", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
    home: &[".local/share/opencode", ".local/state/opencode", ".config/opencode"],
    stdout_bytes_max: EVENTS_BYTES_MAX,
    read,
};

const USAGE: [&str; 5] = ["/input", "/output", "/reasoning", "/cache/read", "/cache/write"];

fn read(output: &Output<'_>) -> Heard {
    let events = events(output.stdout);
    if events.is_empty() {
        return Heard::Unreadable("there is no event in what opencode wrote to stdout".to_owned());
    }
    let of = |kind: &'static str| events.iter().filter(move |event| event["type"] == kind);
    if let Some(error) = of("error").next_back() {
        let fault = ["/error/data/message", "/error/message", "/error/name"].iter().find_map(|at| text_at(error, at));
        return Heard::Refused(fault.unwrap_or("opencode ended with an error").to_owned());
    }
    let tokens: Vec<u64> = of("step_finish").filter_map(|event| sum(event.pointer("/part/tokens"), &USAGE)).collect();
    Heard::Said(ProfileAnswer {
        text: answer(&of("text").collect::<Vec<_>>()),
        tokens: (!tokens.is_empty()).then(|| tokens.iter().sum()),
        transcript: None,
    })
}

/// Puts the pieces of the last message together; what was said before between tools is no answer.
fn answer(texts: &[&Value]) -> Option<String> {
    let message = |event: &Value| text_at(event, "/part/messageID").map(str::to_owned);
    let last = texts.last()?;
    let pieces = texts.iter().filter(|event| message(event) == message(last) && message(last).is_some());
    let pieces: Vec<&str> = pieces.filter_map(|event| text_at(event, "/part/text")).collect();
    if pieces.is_empty() { text_at(last, "/part/text").map(str::to_owned) } else { Some(pieces.join("\n")) }
}
