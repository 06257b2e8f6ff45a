//! Codex: `codex exec --json --output-last-message FILE … -`, and with `resume THREAD` before the `-` to go on.
//!
//! Written for 0.166.0. One event a line: `thread.started` with the name of the session, `item.started` and
//! `item.completed` (`command_execution`, `agent_message`, `file_change`, `mcp_tool_call`, `web_search`, `todo_list`,
//! `collab_tool_call`), `turn.completed` with `usage`, which is the sum of the session and whose input includes what was
//! cached, and `turn.failed`. An `error` alone may be a lost connection that came back, so it counts only when no turn
//! was completed. An item `error` is a warning. There is no tool for skills: they are read as files. What the sandbox
//! refuses is in no event, and what subagents do is not either. The last message also goes to the file.

use std::ffi::OsStr;
use std::sync::Arc;

use baton_engine::session::{SessionKind, SessionTurn, Spent};
use baton_host::SharedFolder;
use serde_json::Value;

use super::fault::Clues;
use super::figures::{SenselessFigure, count};
use super::heard::OpenTool;
use super::skill_paths::in_command;
use super::tail::telling_line;
use super::{EventReader, Heard, ProfileFault, ProgramExit, Recipe, Trouble, TurnStart, owned, text_at};
use crate::process::STDOUT_BYTES_MAX;

/// How Codex is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "codex",
    sessions: SessionKind::Told,
    arguments,
    ends_with,
    before_stdin: &["-"],
    before_argument: &[],
    inherits: &["CODEX_HOME"],
    home: &[".codex"],
    // In `config.toml` it notes which folders are trusted, and does not work where it cannot.
    settings: (".codex", &["AGENTS.md", "AGENTS.override.md", "hooks.json", "prompts", "rules"]),
    moved_by: &[("CODEX_HOME", "")],
    at_start: None,
    reader: |start| {
        let (folder, spent_before) = (Arc::clone(start.folder), start.spent_before);
        Box::new(CodexReader { folder, spent_before, error: None })
    },
    help,
};

const LAST_MESSAGE: &str = "codex-last-message.md";

fn arguments(start: &TurnStart<'_>) -> Vec<String> {
    let file = start.folder.path().join(LAST_MESSAGE);
    // What an attempt that crashed here has left would be taken for the answer.
    let _ = start.folder.remove(OsStr::new(LAST_MESSAGE));
    let words = owned(["exec", "--json", "--output-last-message"]);
    words.into_iter().chain([file.display().to_string()]).collect()
}

fn ends_with(turn: &SessionTurn) -> Vec<String> {
    let id = turn.id.as_ref().filter(|_| turn.goes_on);
    id.into_iter().flat_map(|id| ["resume".to_owned(), id.clone()]).collect()
}

fn help(trouble: Trouble) -> Option<&'static str> {
    match trouble {
        Trouble::Untrusted => Some("`arguments: [--skip-git-repo-check]` lets it work outside of a git repository"),
        Trouble::NoAccess => Some("log in with `codex login`, or pass on the key's variable: `env: [OPENAI_API_KEY]`"),
        Trouble::NoModel => Some("name a model that your account has: `arguments: [--model, NAME]`"),
        Trouble::NoCredit => Some("look at your plan, or log in to another account"),
        Trouble::TooLong => Some("hand over less: fewer inputs, or `prompt_tokens`"),
        Trouble::WrongUsage => Some("change `arguments`; this profile was written for codex 0.166.0"),
        _ => None,
    }
}

struct CodexReader {
    folder: Arc<SharedFolder>,
    spent_before: Spent,
    error: Option<String>,
}

impl EventReader for CodexReader {
    fn take(&mut self, event: &Value, heard: &mut Heard) {
        match event["type"].as_str() {
            Some("thread.started") => {
                heard.shows_tools = true;
                heard.session(text_at(event, "/thread_id"));
            }
            Some("item.started" | "item.updated") => started(&event["item"], heard),
            Some("item.completed") => completed(&event["item"], heard),
            Some("turn.completed") => {
                if let Some(sum) = heard.sensible(usage(&event["usage"])) {
                    heard.has_spent(sum - self.spent_before);
                }
                heard.succeeds();
            }
            Some("turn.failed") => heard.fails(fault(text_at(event, "/error/message"))),
            Some("error") => {
                self.error = text_at(event, "/message").map(str::to_owned);
                heard.alive(self.error.as_deref().unwrap_or("an error that passes"));
            }
            _ => {}
        }
    }

    fn end(&mut self, exit: &ProgramExit<'_>, heard: &mut Heard) {
        let filed = self.folder.read(OsStr::new(LAST_MESSAGE), STDOUT_BYTES_MAX as u64).ok().flatten();
        if let Some(filed) = filed.and_then(|bytes| String::from_utf8(bytes).ok()) {
            heard.answers(&filed);
        }
        if heard.fault.is_none() && !heard.succeeded {
            let said = self.error.take().or_else(|| telling_line(exit.tail).filter(|_| exit.code != 0));
            heard.fault = said.map(|message| fault(Some(&message)));
        }
    }
}

fn fault(message: Option<&str>) -> ProfileFault {
    let message = message.unwrap_or("codex did not say why it failed").to_owned();
    ProfileFault::of(Clues { message, ..Clues::default() })
}

fn started(item: &Value, heard: &mut Heard) {
    if item["type"] == "todo_list" {
        let items = item["items"].as_array().into_iter().flatten();
        heard.plans(items.filter_map(|step| text_at(step, "/text").map(str::to_owned)).collect());
    } else if let Some(tool) = tool(item) {
        let call = item["id"].as_str().unwrap_or_default();
        if heard.open_tool(call).is_none() {
            heard.begins(call, tool);
        }
    }
}

fn completed(item: &Value, heard: &mut Heard) {
    match kind(item) {
        Some("agent_message" | "assistant_message") => {
            let text = item["text"].as_str().unwrap_or_default();
            heard.says(text);
            heard.answers(text);
        }
        Some("error") => heard.alive(text_at(item, "/message").unwrap_or("a warning")),
        _ => {
            let Some(tool) = tool(item) else { return };
            heard.has_hidden_work |= item["type"] == "collab_tool_call";
            let is_good = item["status"] != "failed" && item["exit_code"].as_i64().unwrap_or(0) == 0;
            let call = item["id"].as_str().unwrap_or_default();
            if heard.ends(call, is_good).is_none() {
                heard.ended(&tool, is_good);
            }
        }
    }
}

fn kind(item: &Value) -> Option<&str> {
    text_at(item, "/type").or_else(|| text_at(item, "/item_type"))
}

fn tool(item: &Value) -> Option<OpenTool> {
    let text = |field: &str| item[field].as_str().unwrap_or_default();
    match kind(item)? {
        "command_execution" => {
            let command = text("command");
            Some(OpenTool { skills: in_command(command), ..OpenTool::new("shell", inner(command)) })
        }
        "file_change" => {
            let paths = item["changes"].as_array().into_iter().flatten().filter_map(|change| change["path"].as_str());
            Some(OpenTool::new("edit", &paths.collect::<Vec<_>>().join(" ")))
        }
        "mcp_tool_call" => Some(OpenTool::new(text("tool"), text("server"))),
        "web_search" => Some(OpenTool::new("web_search", text("query"))),
        "collab_tool_call" => Some(OpenTool::new(text("tool"), text("prompt"))),
        _ => None,
    }
}

/// Returns the command that a shell is started for.
fn inner(command: &str) -> &str {
    let inner = command.split_once("-lc ").map_or(command, |(_, inner)| inner);
    inner.trim_matches(['\'', '"'])
}

fn usage(usage: &Value) -> Result<Spent, SenselessFigure> {
    let cached = count(usage, &["/cached_input_tokens"])?;
    let input = count(usage, &["/input_tokens"])?.saturating_sub(cached);
    Ok(Spent { input, cached, output: count(usage, &["/output_tokens"])?, cost_micros: None })
}
