//! OpenCode: `opencode run --format json`, with `--session ID` to go on.
//!
//! Written for 1.18.33. The prompt is the arguments and stdin together. One event a line, each with `sessionID`: `text` (a
//! piece of a message that is complete), `tool_use` when a tool has ended, `step_finish` with the tokens and the cost of
//! one call of the model (it may come before the text of its message), `error` with `statusCode` and `isRetryable`. Lines
//! for people are between them. What subagents do is not shown. It may end with 0 after an error, waits without a word
//! when it is told to, and compacts a context that stays too long for ever: the limits of time end that.

use baton_engine::session::{SessionKind, SessionTurn, Spent};
use serde_json::Value;

use super::fault::Clues;
use super::figures::{SenselessFigure, count, price};
use super::heard::OpenTool;
use super::reset::Reset;
use super::skill_paths::{in_command, is_skill};
use super::tail::{telling_line, without_colours};
use super::{ClosedDoor, EventReader, Heard, ProfileFault, ProgramExit, Recipe, Trouble, owned, text_at};

/// How OpenCode is used.
pub(super) const RECIPE: Recipe = Recipe {
    program: "opencode",
    sessions: SessionKind::Told,
    arguments: |start| {
        let flags = owned(["run", "--format", "json"]);
        flags.into_iter().chain(session(start.session)).collect()
    },
    ends_with: |_| Vec::new(),
    before_stdin: &[],
    before_argument: &[],
    inherits: &["OPENCODE_CONFIG", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"],
    home: &[".local/share/opencode", ".local/state/opencode", ".config/opencode"],
    settings: (
        ".config/opencode",
        &["AGENTS.md", "agent", "agents", "command", "commands", "plugin", "plugins", "tool", "tools"],
    ),
    moved_by: &[
        ("XDG_CACHE_HOME", "opencode"),
        ("XDG_CONFIG_HOME", "opencode"),
        ("XDG_DATA_HOME", "opencode"),
        ("XDG_STATE_HOME", "opencode"),
    ],
    // It ends if it cannot write this one; git need not know of what it names.
    at_start: Some((".opencode/.gitignore", "node_modules\npackage.json\npackage-lock.json\nbun.lock\n.gitignore")),
    reader: |_| Box::new(OpencodeReader::default()),
    help,
};

fn session(turn: &SessionTurn) -> Vec<String> {
    let id = turn.id.as_ref().filter(|_| turn.goes_on);
    id.into_iter().flat_map(|id| ["--session".to_owned(), id.clone()]).collect()
}

fn help(trouble: Trouble) -> Option<&'static str> {
    match trouble {
        Trouble::NoAccess => Some("log in with `opencode auth login`, or pass on the variable of the key with `env`"),
        Trouble::NoModel => Some("name a model that your account has: `arguments: [--model, PROVIDER/NAME]`"),
        Trouble::NoCredit => Some("buy credit, or use another account"),
        Trouble::TooLong => Some("hand over less: fewer inputs, or `prompt_tokens`"),
        Trouble::WrongUsage => Some("change `arguments`; this profile was written for opencode 1.18.33"),
        _ => None,
    }
}

#[derive(Default)]
struct OpencodeReader {
    /// The last message, and its pieces.
    message: Option<String>,
    pieces: Vec<String>,
    spent: Option<Spent>,
}

impl EventReader for OpencodeReader {
    fn take(&mut self, event: &Value, heard: &mut Heard) {
        heard.session(text_at(event, "/sessionID"));
        let part = &event["part"];
        match event["type"].as_str() {
            Some("text") => self.text(part, heard),
            Some("tool_use") => {
                heard.mentions(&std::mem::take(&mut self.pieces).join("\n"));
                used(part, heard);
            }
            Some("step_finish") => {
                heard.shows_tools = true;
                self.step(part, heard);
                if part["reason"] == "stop" {
                    heard.succeeds();
                } else {
                    heard.succeeded = false;
                }
            }
            Some("error") => {
                if heard.succeeded {
                    self.answer(heard);
                }
                heard.fails(fault(&event["error"]));
            }
            _ => heard.alive("a step begins"),
        }
    }

    fn end(&mut self, exit: &ProgramExit<'_>, heard: &mut Heard) {
        self.answer(heard);
        if heard.closed.is_empty() {
            without_colours(exit.tail).lines().filter_map(auto_rejected).for_each(|door| heard.refuses(door));
        }
        if heard.fault.is_none() && !heard.succeeded && exit.code != 0 {
            heard.fault = Some(said(exit.tail));
        }
    }
}

impl OpencodeReader {
    /// Takes what a step has spent.
    fn step(&mut self, part: &Value, heard: &mut Heard) {
        let cost_micros = heard.sensible(price(part, "/cost")).flatten();
        let Some(tokens) = heard.sensible(usage(&part["tokens"])) else { return };
        let spent = self.spent.get_or_insert_default();
        *spent += Spent { cost_micros, ..tokens };
        if part["reason"] == "stop" {
            heard.has_spent(*spent);
        } else {
            heard.spends(*spent);
        }
    }

    /// Takes what is said last.
    fn answer(&mut self, heard: &mut Heard) {
        heard.answers(&std::mem::take(&mut self.pieces).join("\n"));
    }

    /// Puts the pieces of a message together. Text before a tool call is not an answer.
    fn text(&mut self, part: &Value, heard: &mut Heard) {
        let text = part["text"].as_str().unwrap_or_default();
        heard.says(text);
        let message = text_at(part, "/messageID").map(str::to_owned);
        if message.is_none() || message != self.message {
            heard.mentions(&std::mem::take(&mut self.pieces).join("\n"));
            self.message = message;
        }
        self.pieces.push(text.to_owned());
    }
}

fn used(part: &Value, heard: &mut Heard) {
    let (name, state) = (part["tool"].as_str().unwrap_or_default(), &part["state"]);
    let input = &state["input"];
    let text = |field: &str| input[field].as_str().unwrap_or_default().to_owned();
    let skills = match name {
        "skill" => Some(text("name")).filter(|name| !name.is_empty()).into_iter().collect(),
        "read" => Some(text("filePath")).filter(|path| is_skill(path)).into_iter().collect(),
        "bash" => in_command(&text("command")),
        _ => Vec::new(),
    };
    let fields = ["command", "filePath", "path", "name", "pattern", "query", "url", "description", "prompt"];
    let about = fields.iter().find_map(|field| input[*field].as_str()).unwrap_or_default();
    let tool = OpenTool { skills, ..OpenTool::new(name, about) };
    heard.has_hidden_work |= name == "task";
    if name == "todowrite" {
        let todos = input["todos"].as_array().into_iter().flatten();
        heard.plans(todos.filter_map(|todo| text_at(todo, "/content").map(str::to_owned)).collect());
    }
    let has_failed = state["metadata"]["exit"].as_i64().is_some_and(|exit| exit != 0);
    heard.ended(&tool, state["status"] == "completed" && !has_failed);
    let error = text_at(state, "/error").unwrap_or_default();
    if error.contains("rejected permission") {
        heard.refuses(ClosedDoor { what: tool.line(), help: AUTO.to_owned() });
    } else if error.contains("specified a rule which prevents") {
        let help = "a rule of opencode forbids it: change `--agent`, or `permission` in its configuration";
        heard.refuses(ClosedDoor { what: tool.line(), help: help.to_owned() });
    }
}

const AUTO: &str = "allow it with `arguments: [--auto]`";

/// Reads the line for people about a permission: `permission requested: edit (DESIGN.md); auto-rejecting`.
fn auto_rejected(line: &str) -> Option<ClosedDoor> {
    let (_, asked) = line.split_once("permission requested: ")?;
    let (what, _) = asked.split_once("; auto-rejecting")?;
    Some(ClosedDoor { what: what.replace(['(', ')'], ""), help: AUTO.to_owned() })
}

fn usage(tokens: &Value) -> Result<Spent, SenselessFigure> {
    Ok(Spent {
        input: count(tokens, &["/input", "/cache/write"])?,
        cached: count(tokens, &["/cache/read"])?,
        output: count(tokens, &["/output", "/reasoning"])?,
        cost_micros: None,
    })
}

fn fault(error: &Value) -> ProfileFault {
    let data = &error["data"];
    let message = ["/data/message", "/message", "/name"].iter().find_map(|at| text_at(error, at));
    let retry_after = data["responseHeaders"]["retry-after"].as_str();
    ProfileFault::of(Clues {
        message: message.unwrap_or("opencode did not say why it failed").to_owned(),
        types: text_at(error, "/name").map(str::to_owned).into_iter().collect(),
        status: data["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok()),
        is_retryable: data["isRetryable"].as_bool(),
        reset: retry_after.and_then(|seconds| Reset::in_text(&format!("retry-after: {seconds}"))),
    })
}

/// Judges the text on stderr. For an unknown option, the program only prints its usage.
fn said(tail: &str) -> ProfileFault {
    let is_usage = tail.contains("opencode run [message..]");
    let message = if is_usage { None } else { telling_line(tail) };
    let mut fault = ProfileFault::of(Clues { message: message.unwrap_or_default(), ..Clues::default() });
    if is_usage {
        fault.trouble = Trouble::WrongUsage;
        fault.message = "opencode does not know one of its arguments and printed only its usage".to_owned();
    }
    fault
}
