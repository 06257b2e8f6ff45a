//! Claude Code: `claude -p --output-format json`.
//!
//! Relied on (documentation of headless mode, versions 1.0 to 2.1): with `-p` the prompt is the argument or stdin. The
//! output is one object `{"type":"result","subtype":"success","is_error":false,"result":"…","session_id":"…","usage":
//! {"input_tokens","cache_creation_input_tokens","cache_read_input_tokens","output_tokens"}}`; with `--verbose` a list of
//! all messages that ends with it. Errors have `is_error` and their text in `result` ("API Error: 529 …") or `errors`, or
//! only a subtype such as `error_max_turns`. The transcript is `projects/WORKSPACE/SESSION.jsonl` below `~/.claude` or
//! `CLAUDE_CONFIG_DIR`, where WORKSPACE is the path with `-` for everything but letters and digits.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Heard, Output, ProfileAnswer, Recipe, one_value, sum, text_at};
use crate::process::{Environment, STDOUT_BYTES_MAX};

/// How Claude Code is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "claude",
    arguments: |_| ["-p", "--output-format", "json"].map(str::to_owned).to_vec(),
    before_stdin: &[],
    before_argument: &[],
    inherits: &["CLAUDE_CONFIG_DIR"],
    home: &[".claude", ".claude.json"],
    stdout_bytes_max: STDOUT_BYTES_MAX,
    read,
};

const USAGE: [&str; 4] =
    ["/input_tokens", "/cache_creation_input_tokens", "/cache_read_input_tokens", "/output_tokens"];

fn read(output: &Output<'_>) -> Heard {
    let result = match one_value(output.stdout) {
        Ok(Value::Array(messages)) => messages.into_iter().rev().find(|message| message["type"] == "result"),
        Ok(value) => Some(value).filter(|value| value["type"] == "result"),
        Err(error) => return Heard::Unreadable(format!("what claude wrote to stdout is no JSON: {error}")),
    };
    let Some(result) = result else {
        return Heard::Unreadable("there is no result in what claude wrote to stdout".to_owned());
    };
    let subtype = text_at(&result, "/subtype").unwrap_or("success");
    if result["is_error"] == true || subtype != "success" {
        return Heard::Refused(fault(&result, subtype));
    }
    Heard::Said(ProfileAnswer {
        text: text_at(&result, "/result").map(str::to_owned),
        tokens: sum(result.get("usage"), &USAGE),
        transcript: text_at(&result, "/session_id")
            .and_then(|session| transcript(output.environment, output.workspace, session)),
    })
}

fn fault(result: &Value, subtype: &str) -> String {
    let errors = result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let errors: Vec<&str> = errors.chain(text_at(result, "/result")).collect();
    if errors.is_empty() { format!("claude ended with {subtype}") } else { errors.join("\n") }
}

/// Finds the transcript of a session. Long names are shortened by the program, so all folders are looked into then.
fn transcript(environment: &Environment, workspace: &Path, session: &str) -> Option<PathBuf> {
    if session.contains(['/', '.']) {
        return None;
    }
    let home = || Some(PathBuf::from(environment.get("HOME")?).join(".claude"));
    let projects = environment.get("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(home)?.join("projects");
    let workspace = fs::canonicalize(workspace).ok()?;
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let folder: String = workspace.to_string_lossy().chars().map(plain).collect();
    let file = format!("{session}.jsonl");
    let usual = projects.join(folder).join(&file);
    if usual.is_file() {
        return Some(usual);
    }
    fs::read_dir(projects).ok()?.filter_map(|entry| Some(entry.ok()?.path().join(&file))).find(|path| path.is_file())
}
