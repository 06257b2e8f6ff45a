//! Gemini CLI: `gemini --output-format stream-json`, then `--session-id UUID` or `--resume UUID`; `-p` before a prompt that
//! is an argument.
//!
//! Written for 0.61.0. One event a line: `init`, `message` (pieces of what the assistant says), `tool_use`, `tool_result`,
//! `error`, and `result` with `status` and `stats` of this process. `status` counts, not the exit code, which is 0 for a
//! stream that was cut. The exit code of a failure is the HTTP status modulo 256, or 41 (no key), 42 (no such session), 55
//! (folder not trusted). Without an approval mode that allows them, tools that change something are not there at all: a
//! call that is answered with `tool_not_registered` is a permission that was refused.

use baton_engine::session::{SessionKind, Spent};
use serde_json::Value;

use super::fault::Clues;
use super::figures::{SenselessFigure, count};
use super::heard::OpenTool;
use super::skill_paths::{in_command, is_skill};
use super::tail::telling_line;
use super::{ClosedDoor, EventReader, Heard, ProfileFault, ProgramExit, Recipe, Trouble, owned, session_flag, text_at};

/// How Gemini CLI is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "gemini",
    sessions: SessionKind::Chosen,
    arguments: |start| {
        let flags = owned(["--output-format", "stream-json"]);
        flags.into_iter().chain(session_flag(start.session)).collect()
    },
    ends_with: |_| Vec::new(),
    before_stdin: &[],
    before_argument: &["-p"],
    inherits: &["GOOGLE_CLOUD_PROJECT"],
    home: &[".gemini"],
    settings: (".gemini", &["GEMINI.md", "settings.json", "commands", "extensions", "hooks"]),
    moved_by: &[],
    at_start: None,
    reader: |_| Box::new(GeminiReader::default()),
    help,
};

fn help(trouble: Trouble) -> Option<&'static str> {
    match trouble {
        Trouble::Untrusted => Some("`arguments: [--skip-trust]` lets it work in this folder"),
        Trouble::NoAccess => Some("log in with `gemini`, or pass on a key: `env: [GEMINI_API_KEY]`"),
        Trouble::NoModel => Some("name a model that your account has: `arguments: [--model, NAME]`"),
        Trouble::NoCredit => Some("wait until the quota is reset, or use another key or model"),
        Trouble::TooLong => Some("hand over less: fewer inputs, or `prompt_tokens`"),
        Trouble::WrongUsage => Some("change `arguments`; this profile was written for gemini 0.61.0"),
        _ => None,
    }
}

/// Exit codes of its own.
const NO_KEY: i32 = 41;
const BAD_INPUT: i32 = 42;
const UNTRUSTED: i32 = 55;

/// What services answer with. Other numbers have exit codes that mean something else.
const STATUSES: [u16; 14] = [400, 401, 402, 403, 404, 408, 409, 413, 425, 429, 500, 502, 503, 504];

#[derive(Default)]
struct GeminiReader {
    /// What it says since the last tool.
    text: String,
    /// What the last event of an error says.
    error: Option<String>,
    /// Whether the result says that it failed, and in which words.
    failed: Option<Option<String>>,
}

impl EventReader for GeminiReader {
    fn take(&mut self, event: &Value, heard: &mut Heard) {
        match event["type"].as_str() {
            Some("init") => {
                heard.shows_tools = true;
                heard.session(text_at(event, "/session_id"));
            }
            Some("message") if event["role"] == "assistant" => {
                self.text.push_str(event["content"].as_str().unwrap_or_default());
            }
            Some("tool_use") => {
                self.mention(heard);
                heard.begins(text_at(event, "/tool_id").unwrap_or_default(), tool(event));
            }
            Some("tool_result") => {
                self.mention(heard);
                let ended = heard.ends(text_at(event, "/tool_id").unwrap_or_default(), event["status"] == "success");
                let is_refused = event["error"]["type"] == "tool_not_registered";
                if let Some(door) = ended.filter(|_| is_refused).and_then(|tool| closed(&tool)) {
                    heard.refuses(door);
                }
            }
            Some("error") => {
                self.error = text_at(event, "/message").map(str::to_owned);
                heard.alive(self.error.as_deref().unwrap_or("an error"));
            }
            Some("result") => self.result(event, heard),
            _ => {}
        }
    }

    fn end(&mut self, exit: &ProgramExit<'_>, heard: &mut Heard) {
        self.answer(heard);
        let said = self.failed.take().map(|message| message.or_else(|| self.error.take()).unwrap_or_default());
        let message = match said {
            Some(message) => message,
            None if heard.succeeded || exit.code == 0 => return,
            None => telling_line(exit.tail).unwrap_or_default(),
        };
        let status = STATUSES.into_iter().find(|status| i32::from(status % 256) == exit.code);
        let mut fault = ProfileFault::of(Clues { message, status, ..Clues::default() });
        match exit.code {
            NO_KEY => fault.trouble = Trouble::NoAccess,
            UNTRUSTED => fault.trouble = Trouble::Untrusted,
            BAD_INPUT if fault.trouble != Trouble::SessionLost => fault.trouble = Trouble::WrongUsage,
            _ => {}
        }
        heard.fault = Some(fault);
    }
}

impl GeminiReader {
    /// Takes what is said before a tool.
    fn mention(&mut self, heard: &mut Heard) {
        let text = std::mem::take(&mut self.text);
        heard.says(&text);
        heard.mentions(&text);
    }

    /// Takes what is said last.
    fn answer(&mut self, heard: &mut Heard) {
        let text = std::mem::take(&mut self.text);
        heard.says(&text);
        heard.answers(&text);
    }

    fn result(&mut self, event: &Value, heard: &mut Heard) {
        self.answer(heard);
        if let Some(spent) = heard.sensible(usage(&event["stats"])) {
            heard.has_spent(spent);
        }
        heard.succeeded = event["status"] == "success";
        if !heard.succeeded {
            self.failed = Some(text_at(event, "/error/message").map(str::to_owned));
        }
    }
}

fn usage(stats: &Value) -> Result<Spent, SenselessFigure> {
    let cached = count(stats, &["/cached"])?;
    let input = count(stats, &["/input_tokens"])?.saturating_sub(cached);
    Ok(Spent { input, cached, output: count(stats, &["/output_tokens"])?, cost_micros: None })
}

fn tool(event: &Value) -> OpenTool {
    let (name, input) = (event["tool_name"].as_str().unwrap_or_default(), &event["parameters"]);
    let text = |field: &str| input[field].as_str().unwrap_or_default().to_owned();
    let fields = ["command", "file_path", "path", "absolute_path", "name", "pattern", "query", "prompt"];
    let about = fields.iter().find_map(|field| input[*field].as_str()).unwrap_or_default();
    let skills = match name {
        "activate_skill" => Some(text("name")).filter(|name| !name.is_empty()).into_iter().collect(),
        "read_file" => [text("file_path"), text("absolute_path")].into_iter().filter(|path| is_skill(path)).collect(),
        "run_shell_command" => in_command(&text("command")),
        _ => Vec::new(),
    };
    OpenTool { skills, ..OpenTool::new(name, about) }
}

/// Returns what was refused, if the tool is one that an approval mode gives; a model may also make up names.
fn closed(tool: &OpenTool) -> Option<ClosedDoor> {
    let mode = match tool.name.as_str() {
        "write_file" | "replace" => "auto_edit",
        "run_shell_command" | "activate_skill" | "web_fetch" | "google_web_search" | "save_memory" => "yolo",
        _ => return None,
    };
    Some(ClosedDoor { what: tool.line(), help: format!("allow it with `arguments: [--approval-mode, {mode}]`") })
}
