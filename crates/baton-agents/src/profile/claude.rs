//! Claude Code: `claude -p --output-format stream-json --verbose`, then `--session-id UUID` or `--resume UUID`.
//!
//! Written for 2.1.325. One event a line: `system` (`init`, `api_retry`, `permission_denied`, …), `assistant` and `user`
//! with messages as the API has them, also those of subagents (`parent_tool_use_id`), `rate_limit_event` with `resetsAt`,
//! and a `result` for each turn of the main agent. A background task that ends after the report begins another turn, so
//! the last result in which a report can be read counts. `subtype` is `success` for errors too: `is_error` says it, beside
//! `api_error_status`, `api_error_type`, `terminal_reason`. `modelUsage` and `total_cost_usd` are sums over the session,
//! `model_usage_since_last_result` is not; a process that was killed has told only the `usage` of each message, and is in
//! no sum.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use baton_engine::session::{SessionKind, Spent, grown};
use serde_json::Value;

use super::fault::Clues;
use super::figures::{SenselessFigure, count, price};
use super::heard::OpenTool;
use super::reset::Reset;
use super::skill_paths::{in_command, is_skill};
use super::tail::telling_line;
use super::{
    ClosedDoor, EventReader, Heard, ProfileFault, ProgramExit, Recipe, Trouble, number_at, owned, session_flag, text_at,
};
use crate::process::Environment;

/// How Claude Code is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "claude",
    sessions: SessionKind::Chosen,
    arguments: |start| {
        let flags = owned(["-p", "--output-format", "stream-json", "--verbose"]);
        flags.into_iter().chain(session_flag(start.session)).collect()
    },
    ends_with: |_| Vec::new(),
    before_stdin: &[],
    before_argument: &[],
    inherits: &["CLAUDE_CONFIG_DIR"],
    home: &[".claude", ".claude.json"],
    settings: (
        ".claude",
        &[
            "CLAUDE.md",
            "settings.json",
            "settings.local.json",
            "agents",
            "commands",
            "hooks",
            "output-styles",
            "rules",
            "skills",
        ],
    ),
    moved_by: &[("CLAUDE_CONFIG_DIR", "")],
    at_start: None,
    reader: |start| Box::new(ClaudeReader { session_sum: start.spent_before, ..ClaudeReader::default() }),
    help,
};

fn help(trouble: Trouble) -> Option<&'static str> {
    match trouble {
        Trouble::NoAccess => Some("log in with `claude`, or pass on a key: `env: [ANTHROPIC_API_KEY]`"),
        Trouble::NoModel => Some("name a model that your account has: `arguments: [--model, NAME]`"),
        Trouble::NoCredit => Some("buy credit, or log in to another account"),
        Trouble::TooLong => Some("hand over less: fewer inputs, or `prompt_tokens`"),
        Trouble::WrongUsage => Some("change `arguments`; this profile was written for claude 2.1.325"),
        _ => None,
    }
}

#[derive(Default)]
struct ClaudeReader {
    /// What the session has spent up to the last result: programs tell sums of the whole session.
    session_sum: Spent,
    /// What the results tell that was spent in this turn.
    settled: Option<Spent>,
    /// What messages have used since the last result.
    open: HashMap<String, Spent>,
    /// The last words of the main agent.
    said: String,
    /// Types of the error that the last message has told.
    types: Vec<String>,
    reset: Option<Reset>,
}

impl EventReader for ClaudeReader {
    fn take(&mut self, event: &Value, heard: &mut Heard) {
        heard.session(text_at(event, "/session_id"));
        match event["type"].as_str() {
            Some("assistant") => self.assistant(event, heard),
            Some("user") => results(event, heard),
            Some("result") => self.result(event, heard),
            Some("rate_limit_event") => self.limit(&event["rate_limit_info"]),
            Some("system") => system(event, heard),
            _ => {}
        }
    }

    fn end(&mut self, exit: &ProgramExit<'_>, heard: &mut Heard) {
        if !heard.succeeded {
            heard.answers(&self.said);
        }
        if heard.fault.is_none() && heard.events == 0 {
            let message = telling_line(exit.tail).unwrap_or_default();
            heard.fault = (!message.is_empty()).then(|| ProfileFault::of(Clues { message, ..Clues::default() }));
        }
    }
}

impl ClaudeReader {
    fn assistant(&mut self, event: &Value, heard: &mut Heard) {
        let message = &event["message"];
        if event["is_api_error_message"] == true || message["model"] == "<synthetic>" {
            let types = ["/error", "/api_error_type", "/api_error"].iter().filter_map(|at| text_at(event, at));
            self.types = types.map(str::to_owned).collect();
            self.limit(&event["api_error_params"]["rate_limit_info"]);
            return;
        }
        heard.shows_tools = true;
        let is_main = event["parent_tool_use_id"].is_null();
        let has = |kind: &str| message["content"].as_array().into_iter().flatten().any(|item| item["type"] == kind);
        for item in message["content"].as_array().into_iter().flatten() {
            match item["type"].as_str() {
                Some("text") if is_main => self.says(item["text"].as_str().unwrap_or_default(), heard),
                Some("tool_use") => {
                    let call = item["id"].as_str().unwrap_or_default();
                    heard.begins(call, tool(item));
                    if item["name"] == "TodoWrite" {
                        let todos = item["input"]["todos"].as_array().into_iter().flatten();
                        heard.plans(todos.filter_map(|todo| text_at(todo, "/content").map(str::to_owned)).collect());
                    }
                }
                _ => {}
            }
        }
        if let Some(id) = text_at(message, "/id") {
            // Each part of a message is an event that tells the usage of the whole.
            if let Some(used) = heard.sensible(usage(&message["usage"])) {
                self.open.insert(id.to_owned(), used);
            }
            // Words without a tool are the last ones of a turn: a budget that is used up by them stops the next one.
            let is_last = is_main && has("text") && !has("tool_use");
            match self.spent() {
                Some(spent) if is_last => heard.has_spent(spent),
                Some(spent) => heard.spends(spent),
                None => {}
            }
        }
    }

    fn says(&mut self, text: &str, heard: &mut Heard) {
        heard.says(text);
        heard.mentions(text);
        text.clone_into(&mut self.said);
    }

    fn limit(&mut self, info: &Value) {
        // Those of good sessions only warn.
        if info["status"] == "rejected" {
            self.reset = info["resetsAt"].as_i64().and_then(Reset::at_second).or(self.reset.take());
        }
    }

    fn result(&mut self, event: &Value, heard: &mut Heard) {
        self.settle(event, heard);
        for denial in event["permission_denials"].as_array().into_iter().flatten() {
            let name = denial["tool_name"].as_str().unwrap_or_default();
            heard.refuses(closed(&OpenTool::new(name, about(&denial["tool_input"]))));
        }
        let subtype = text_at(event, "/subtype").unwrap_or("success");
        if event["is_error"] != true && subtype == "success" {
            heard.answers(event["result"].as_str().unwrap_or_default());
            heard.succeeds();
        } else {
            heard.fails(self.fault(event, subtype));
        }
    }

    fn fault(&mut self, event: &Value, subtype: &str) -> ProfileFault {
        let errors = event["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let errors: Vec<&str> = errors.chain(text_at(event, "/result")).collect();
        let message = if errors.is_empty() { format!("claude ended with {subtype}") } else { errors.join("\n") };
        let types = ["/terminal_reason", "/api_error", "/api_error_type"].iter().filter_map(|at| text_at(event, at));
        let types = types.map(str::to_owned).chain(std::mem::take(&mut self.types)).collect();
        let status = event["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
        ProfileFault::of(Clues { message, types, status, reset: self.reset.take(), is_retryable: None })
    }

    /// Takes what a result says about all that came before it.
    fn settle(&mut self, event: &Value, heard: &mut Heard) {
        let open = self.open.drain().map(|(_, one)| one).reduce(|mut sum, one| {
            sum += one;
            sum
        });
        let total = heard.sensible(price(event, "/total_cost_usd")).flatten();
        let cost_micros = total.map(|total| grown(total, self.session_sum.cost_micros.unwrap_or_default()));
        let by_model = self.told_by_model(event, heard);
        self.session_sum.cost_micros = total.or(self.session_sum.cost_micros);
        let usage_of_turn = || event.get("usage").filter(|usage| usage.is_object()).map(usage);
        let tokens = by_model.or(open).or_else(|| heard.sensible(usage_of_turn()?));
        if tokens.is_none() && cost_micros.is_some() {
            heard.has_no_tokens();
        }
        if let Some(mut told) = tokens.or(cost_micros.map(|_| Spent::default())) {
            told.cost_micros = told.cost_micros.or(cost_micros);
            *self.settled.get_or_insert_default() += told;
        }
        if let Some(spent) = self.spent() {
            heard.has_spent(spent);
        }
    }

    /// Returns what a result tells of each model since the last one.
    fn told_by_model(&mut self, event: &Value, heard: &mut Heard) -> Option<Spent> {
        if let Some(since) = event["model_usage_since_last_result"].as_object() {
            return heard.sensible(by_model(since.values()));
        }
        // Older versions tell only the sum of the session.
        let models = event["modelUsage"].as_object().filter(|models| !models.is_empty())?;
        let sum = heard.sensible(by_model(models.values()))?;
        Some(sum - std::mem::replace(&mut self.session_sum, sum))
    }

    /// Returns what was spent so far.
    fn spent(&self) -> Option<Spent> {
        self.settled.into_iter().chain(self.open.values().copied()).reduce(|mut sum, one| {
            sum += one;
            sum
        })
    }
}

fn system(event: &Value, heard: &mut Heard) {
    match event["subtype"].as_str() {
        Some("api_retry") => {
            let status = event["error_status"].as_u64().map(|status| format!(" {status}")).unwrap_or_default();
            let (attempt, most) = (number_at(event, "/attempt"), number_at(event, "/max_retries"));
            heard.alive(format!("the model's service failed{status}; attempt {attempt} of {most}"));
        }
        Some("permission_denied") => {
            let call = event["tool_use_id"].as_str().unwrap_or_default();
            let named = || OpenTool::new(event["tool_name"].as_str().unwrap_or_default(), "");
            let tool = heard.open_tool(call).cloned().unwrap_or_else(named);
            heard.refuses(closed(&tool));
        }
        Some("task_progress") => heard.alive(text_at(event, "/description").unwrap_or("a subagent works")),
        _ => {}
    }
}

fn results(event: &Value, heard: &mut Heard) {
    let content = event["message"]["content"].as_array().into_iter().flatten();
    for item in content.filter(|item| item["type"] == "tool_result") {
        let call = item["tool_use_id"].as_str().unwrap_or_default();
        heard.ends(call, item["is_error"] != true);
    }
}

fn tool(item: &Value) -> OpenTool {
    let (name, input) = (item["name"].as_str().unwrap_or_default(), &item["input"]);
    let text = |field: &str| input[field].as_str().unwrap_or_default().to_owned();
    let skills = match name {
        "Skill" => ["skill", "command"].iter().map(|field| text(field)).filter(|name| !name.is_empty()).collect(),
        "Read" => Some(text("file_path")).filter(|path| is_skill(path)).into_iter().collect(),
        "Bash" => in_command(&text("command")),
        _ => Vec::new(),
    };
    OpenTool { skills, ..OpenTool::new(name, about(input)) }
}

/// Returns what a tool is used for: the first of its fields that people can read.
fn about(input: &Value) -> &str {
    let fields = ["command", "file_path", "path", "skill", "pattern", "query", "url", "description", "prompt"];
    fields.iter().find_map(|field| input[*field].as_str()).unwrap_or_default()
}

fn closed(tool: &OpenTool) -> ClosedDoor {
    let help = match tool.name.as_str() {
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => {
            "allow it with `arguments: [--permission-mode, acceptEdits]`".to_owned()
        }
        "Bash" => format!("allow it with `arguments: [--allowedTools, \"Bash({})\"]`", tool.about),
        name => format!("allow it with `arguments: [--allowedTools, {name}]`"),
    };
    // One refusal is told twice, with a relative and with an absolute path.
    let is_path = tool.name != "Bash" && tool.about.contains('/');
    let about = if is_path { tool.about.rsplit('/').next().unwrap_or_default() } else { &tool.about };
    ClosedDoor { what: format!("{} {about}", tool.name).trim().to_owned(), help }
}

fn usage(usage: &Value) -> Result<Spent, SenselessFigure> {
    Ok(Spent {
        input: count(usage, &["/input_tokens", "/cache_creation_input_tokens"])?,
        cached: count(usage, &["/cache_read_input_tokens"])?,
        output: count(usage, &["/output_tokens"])?,
        cost_micros: None,
    })
}

fn by_model<'a>(mut models: impl Iterator<Item = &'a Value>) -> Result<Spent, SenselessFigure> {
    models.try_fold(Spent::default(), |mut sum, model| {
        sum += Spent {
            input: count(model, &["/inputTokens", "/cacheCreationInputTokens"])?,
            cached: count(model, &["/cacheReadInputTokens"])?,
            output: count(model, &["/outputTokens"])?,
            cost_micros: price(model, "/costUSD")?,
        };
        Ok(sum)
    })
}

/// Finds the transcript of a session: `projects/WORKSPACE/SESSION.jsonl` below `~/.claude` or `CLAUDE_CONFIG_DIR`, where
/// WORKSPACE is the path with `-` for everything but letters and digits. Long names are shortened by the program, so all
/// folders are looked into then.
pub(crate) fn transcript(environment: &Environment, workspace: &Path, session: &str) -> Option<PathBuf> {
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
