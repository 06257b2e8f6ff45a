//! Gemini CLI: `gemini --output-format json`, and `-p` before a prompt that is an argument.
//!
//! Relied on (documentation of headless mode, `json-formatter.ts`): without a terminal it takes stdin as the prompt and
//! asks nothing. The output is one object `{"session_id","response":"…","stats":{"models":{"NAME":{"tokens":{"total"}}}},
//! "error":{"type","message","code"}}`. When it fails, the object has only the error, on stdout or on stderr, and the exit
//! code is not 0 (42: bad input, 53: too many turns).

use serde_json::Value;

use super::{Heard, Output, ProfileAnswer, Recipe, one_value, text_at};
use crate::process::STDOUT_BYTES_MAX;

/// How Gemini CLI is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "gemini",
    arguments: |_| ["--output-format", "json"].map(str::to_owned).to_vec(),
    before_stdin: &[],
    before_argument: &["-p"],
    inherits: &["GOOGLE_CLOUD_PROJECT"],
    home: &[".gemini"],
    stdout_bytes_max: STDOUT_BYTES_MAX,
    read,
};

fn read(output: &Output<'_>) -> Heard {
    let fault = |value: &Value| text_at(value, "/error/message").map(str::to_owned);
    if let Some(fault) =
        one_value(output.tail).ok().as_ref().and_then(fault).filter(|_| output.stdout.trim().is_empty())
    {
        return Heard::Refused(fault);
    }
    let answer = match one_value(output.stdout) {
        Ok(answer) => answer,
        Err(error) => return Heard::Unreadable(format!("what gemini wrote to stdout is no JSON: {error}")),
    };
    if let Some(fault) = fault(&answer) {
        return Heard::Refused(fault);
    }
    if !answer["response"].is_string() {
        return Heard::Unreadable("there is no response in what gemini wrote to stdout".to_owned());
    }
    let models = answer.pointer("/stats/models").and_then(Value::as_object).into_iter().flatten();
    let tokens: Vec<u64> = models.filter_map(|(_, model)| model.pointer("/tokens/total")?.as_u64()).collect();
    Heard::Said(ProfileAnswer {
        text: text_at(&answer, "/response").map(str::to_owned),
        tokens: (!tokens.is_empty()).then(|| tokens.iter().sum()),
        transcript: None,
    })
}
