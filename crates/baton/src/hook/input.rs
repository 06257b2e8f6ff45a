//! What a coding agent tells its hooks, in the words of each program. What is not known is passed over.

use std::path::PathBuf;

use baton_agents::skills_read_by;
use baton_host::{quoted, whole_json};
use clap::ValueEnum;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// How everything begins that a hook says to an agent which must not end yet.
pub(crate) const NOT_ACCEPTED: &str = "Your handoff was not accepted:";

/// A coding agent whose hooks are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookVendor {
    /// Claude Code: Stop, SubagentStop, PostToolUse, PostToolUseFailure, SubagentStart, UserPromptSubmit
    ClaudeCode,
    /// Codex: the same
    Codex,
    /// Gemini CLI: AfterAgent, AfterTool, BeforeAgent
    Gemini,
    /// OpenCode: input of the plugin from `baton init --opencode`
    Opencode,
}

impl HookVendor {
    /// Returns its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            HookVendor::ClaudeCode => "claude-code",
            HookVendor::Codex => "codex",
            HookVendor::Gemini => "gemini",
            HookVendor::Opencode => "opencode",
        }
    }

    /// Returns what it calls the event with which a prompt of the user begins, if it hands on what a hook says there.
    pub(crate) fn prompt_event(self) -> Option<&'static str> {
        match self {
            HookVendor::ClaudeCode | HookVendor::Codex => Some("UserPromptSubmit"),
            HookVendor::Gemini => Some("BeforeAgent"),
            HookVendor::Opencode => None,
        }
    }
}

/// What a hook was called with.
#[derive(Debug)]
pub(crate) struct HookInput {
    /// The session.
    pub session: String,
    /// Where it works.
    pub folder: PathBuf,
    /// The subagent that it is about; `None` for the main session.
    pub subagent: Option<Subagent>,
    /// What happens.
    pub event: HookEvent,
}

/// An agent inside of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subagent {
    /// Distinguishes it from others of its kind.
    pub id: String,
    /// What kind of agent it is: the name of its definition. `None` if its program does not tell.
    pub kind: Option<String>,
}

/// What happens in a session.
#[derive(Debug)]
pub(crate) enum HookEvent {
    /// An agent begins.
    Begins,
    /// A tool was used.
    UsesTool(ToolUse),
    /// An agent wants to end.
    Ends(AgentEnd),
    /// Something else.
    Other,
}

/// A tool that was used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ToolUse {
    /// What was done.
    pub calls: Vec<ToolCall>,
    /// Whether it did not work.
    pub failed: bool,
}

/// What was done with a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolCall {
    /// A skill was used.
    Skill(String),
    /// A file was read.
    Read(String),
    /// A command was run.
    Command(String),
    /// A file was written.
    Write(String),
}

/// An agent wants to end.
#[derive(Debug, Default)]
pub(crate) struct AgentEnd {
    /// The last that it said; `None` if the program does not tell.
    pub text: Option<String>,
    /// What it was asked, where the program tells.
    pub asked: Option<String>,
    /// What its program writes down of it.
    pub transcript: Option<PathBuf>,
    /// Whether something still runs that will wake it.
    pub is_busy: bool,
}

/// The members that are looked at, of all three programs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Members {
    hook_event_name: String,
    session_id: String,
    cwd: PathBuf,
    transcript_path: Option<PathBuf>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    agent_transcript_path: Option<PathBuf>,
    #[serde(deserialize_with = "told")]
    last_assistant_message: Option<String>,
    prompt: Option<String>,
    prompt_response: Option<String>,
    background_tasks: Option<Vec<BackgroundTask>>,
    tool_name: String,
    tool_input: Value,
    tool_response: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct BackgroundTask {
    status: String,
}

/// Reads a text that may be `null`, which says that there is none: Codex writes so. What is not there says nothing.
fn told<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(Option::deserialize(deserializer)?.unwrap_or_default()))
}

impl HookInput {
    /// Reads what a hook was called with; the error says why it cannot be understood.
    pub(crate) fn read(vendor: HookVendor, bytes: &[u8]) -> Result<HookInput, String> {
        // The members alone, in a list, would be read as well.
        if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
            return Err("expected an object".to_owned());
        }
        let members: Members = serde_json::from_str(&whole_json(bytes)).map_err(|error| error.to_string())?;
        if members.session_id.is_empty() {
            return Err("`session_id` is missing".to_owned());
        }
        let is_new = !members.prompt.as_deref().is_some_and(|prompt| is_notification(prompt) || is_ours(prompt));
        let event = match (vendor, members.hook_event_name.as_str()) {
            (HookVendor::Gemini, "AfterAgent") => HookEvent::Ends(members.end()),
            (HookVendor::Gemini, "BeforeAgent") if is_new => HookEvent::Begins,
            (HookVendor::Gemini, "AfterTool") => HookEvent::UsesTool(members.tool(vendor)),
            (HookVendor::Gemini, _) => HookEvent::Other,
            (_, "Stop" | "SubagentStop") => HookEvent::Ends(members.end()),
            (_, "UserPromptSubmit") if is_new => HookEvent::Begins,
            (_, "SubagentStart") => HookEvent::Begins,
            (_, "PostToolUse" | "PostToolUseFailure") => HookEvent::UsesTool(members.tool(vendor)),
            _ => HookEvent::Other,
        };
        let subagent = members.subagent();
        Ok(HookInput { session: members.session_id, folder: members.cwd, subagent, event })
    }
}

impl Members {
    /// Returns the subagent that it is about. Without an id, those of one kind cannot be distinguished.
    fn subagent(&self) -> Option<Subagent> {
        let given = |member: &Option<String>| member.clone().filter(|text| !text.is_empty());
        let is_one = matches!(self.hook_event_name.as_str(), "SubagentStart" | "SubagentStop");
        let (id, kind) = (given(&self.agent_id), given(&self.agent_type));
        let id = id.or_else(|| is_one.then(|| kind.clone().unwrap_or_else(|| "subagent".to_owned())))?;
        Some(Subagent { id, kind })
    }

    fn end(&self) -> AgentEnd {
        // The list is the session's: a subagent finds itself and its neighbours in it, and none of them wakes it.
        let waits = |task: &BackgroundTask| matches!(task.status.as_str(), "running" | "pending");
        let is_main = self.hook_event_name != "SubagentStop";
        let said = self.last_assistant_message.clone().or_else(|| self.prompt_response.clone());
        AgentEnd {
            text: said,
            asked: self.prompt.clone(),
            transcript: self.agent_transcript_path.clone().or_else(|| self.transcript_path.clone()),
            is_busy: is_main && self.background_tasks.iter().flatten().any(waits),
        }
    }

    fn tool(&self, vendor: HookVendor) -> ToolUse {
        let text = |name: &str| self.tool_input[name].as_str().map(str::to_owned);
        let either = |one: &str, other: &str| text(one).or_else(|| text(other));
        let call = match (vendor, self.tool_name.as_str()) {
            (HookVendor::ClaudeCode, "Skill") => either("skill", "command").map(ToolCall::Skill),
            (HookVendor::ClaudeCode, "Read") => text("file_path").map(ToolCall::Read),
            (HookVendor::ClaudeCode, "Write" | "Edit" | "MultiEdit") => text("file_path").map(ToolCall::Write),
            (HookVendor::ClaudeCode, "NotebookEdit") => text("notebook_path").map(ToolCall::Write),
            (HookVendor::Gemini, "activate_skill") => either("name", "skill_name").map(ToolCall::Skill),
            (HookVendor::Gemini, "read_file") => either("file_path", "absolute_path").map(ToolCall::Read),
            (HookVendor::Gemini, "write_file" | "replace") => text("file_path").map(ToolCall::Write),
            (HookVendor::Opencode, "skill") => text("name").map(ToolCall::Skill),
            (HookVendor::Opencode, "read") => text("filePath").map(ToolCall::Read),
            (HookVendor::Opencode, "write" | "edit") => text("filePath").map(ToolCall::Write),
            (HookVendor::ClaudeCode, "Bash")
            | (HookVendor::Gemini, "run_shell_command")
            | (HookVendor::Opencode, "bash") => text("command").map(ToolCall::Command),
            (HookVendor::Codex, "apply_patch") => {
                let patch = either("command", "input").unwrap_or_default();
                return ToolUse { calls: patched(&patch), failed: self.failed() };
            }
            (HookVendor::Codex, _) => command(&self.tool_input).map(ToolCall::Command),
            _ => None,
        };
        let mut calls: Vec<ToolCall> = call.into_iter().collect();
        // Programs without a tool for skills read them.
        if vendor != HookVendor::ClaudeCode {
            calls.extend(calls.clone().iter().flat_map(skills_read));
        }
        ToolUse { calls, failed: self.failed() }
    }

    /// Returns whether the tool did not work, as far as its answer says so.
    fn failed(&self) -> bool {
        let response = &self.tool_response;
        let code = ["/exit_code", "/exitCode", "/metadata/exit_code"].iter().find_map(|path| response.pointer(path));
        self.hook_event_name == "PostToolUseFailure"
            || response["success"] == false
            || response["is_error"] == true
            || !response["error"].is_null()
            || code.and_then(Value::as_i64).is_some_and(|code| code != 0)
            || response.as_str().is_some_and(says_that_it_failed)
    }
}

/// Returns whether a prompt is not a new one: Claude Code wakes a session like this when a background task has ended.
pub(super) fn is_notification(prompt: &str) -> bool {
    prompt.trim_start().starts_with("<task-notification>")
}

/// Returns whether a prompt is what a hook has said: some programs hand that on as if somebody had asked.
fn is_ours(prompt: &str) -> bool {
    prompt.trim_start().starts_with(NOT_ACCEPTED)
}

/// Returns the command of a shell tool: a text, or words.
fn command(input: &Value) -> Option<String> {
    let given = ["command", "cmd"].iter().map(|name| &input[*name]).find(|given| !given.is_null())?;
    match given.as_array() {
        Some(words) => Some(words.iter().filter_map(Value::as_str).map(quoted).collect::<Vec<_>>().join(" ")),
        None => given.as_str().map(str::to_owned),
    }
}

/// Returns whether the text of a shell tool says that its command failed.
fn says_that_it_failed(text: &str) -> bool {
    let code = text.lines().find_map(|line| line.trim().strip_prefix("Process exited with code "));
    code.is_some_and(|code| code.trim() != "0")
}

/// Returns the files that a patch changes.
fn patched(patch: &str) -> Vec<ToolCall> {
    let marks = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let path = |line: &str| marks.iter().find_map(|mark| line.strip_prefix(mark).map(|path| path.trim().to_owned()));
    patch.lines().filter_map(path).map(ToolCall::Write).collect()
}

/// Returns the skills whose file was read by a command, or as a file.
fn skills_read(call: &ToolCall) -> Vec<ToolCall> {
    let paths = match call {
        ToolCall::Command(command) => skills_read_by(command),
        ToolCall::Read(path) => vec![path.clone()],
        ToolCall::Skill(_) | ToolCall::Write(_) => Vec::new(),
    };
    let name = |path: &String| path.strip_suffix("/SKILL.md")?.rsplit('/').next().map(str::to_owned);
    paths.iter().filter_map(name).filter(|name| !name.is_empty()).map(ToolCall::Skill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(vendor: HookVendor, text: &str) -> ToolUse {
        match HookInput::read(vendor, text.as_bytes()).expect("understood").event {
            HookEvent::UsesTool(tool) => tool,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn patches_name_the_files_that_they_change() {
        let used = tool(
            HookVendor::Codex,
            r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"apply_patch","tool_response":"ok",
                "tool_input":{"command":"*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: b.md\n*** Move to: c.md\n*** End Patch"}}"#,
        );
        let written = ["a.md", "b.md", "c.md"].map(|path| ToolCall::Write(path.to_owned()));
        assert_eq!(used, ToolUse { calls: written.to_vec(), failed: false });
    }

    #[test]
    fn skills_are_read_where_there_is_no_tool_for_them_and_a_failed_command_is_none() {
        let read = |response: &str| {
            let text = format!(
                r#"{{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":{response},
                    "tool_input":{{"command":"cat .agents/skills/designing/SKILL.md"}}}}"#
            );
            tool(HookVendor::Codex, &text)
        };
        let designing = ToolCall::Skill("designing".to_owned());
        assert!(read("\"# Designing\"").calls.contains(&designing));
        let run = |words: &str| {
            let text = format!(
                r#"{{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"shell","tool_response":"x",
                    "tool_input":{{"command":{words}}}}}"#
            );
            tool(HookVendor::Codex, &text).calls.contains(&designing)
        };
        assert!(run(r#"["bash", "-lc", "cat .agents/skills/designing/SKILL.md"]"#));
        assert!(!run(r#"["bash", "-lc", "ls .agents/skills/designing/SKILL.md"]"#), "a name proves nothing");
        assert!(!read("\"# Designing\"").failed);
        for failed in
            [r#"{"exit_code":1}"#, r#"{"metadata":{"exit_code":2}}"#, r#""Process exited with code 1\nno such file""#]
        {
            assert!(read(failed).failed, "{failed}");
        }
    }

    #[test]
    fn members_of_another_type_are_an_error_and_unknown_events_are_not() {
        for no_object in ["[]", " [\"AfterAgent\", \"s\"]", "\"text\"", "7"] {
            let why = HookInput::read(HookVendor::Gemini, no_object.as_bytes()).expect_err("refused");
            assert_eq!(why, "expected an object", "{no_object}");
        }
        assert!(HookInput::read(HookVendor::Gemini, br#"{"hook_event_name":"AfterAgent"}"#).is_err());
        let other = HookInput::read(HookVendor::Gemini, br#"{"session_id":"s","hook_event_name":"PreCompress"}"#);
        assert!(matches!(other.expect("understood").event, HookEvent::Other));
        // The work of a session does not begin anew when something that it started has ended.
        let woken = br#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"<task-notification>\n<task-id>a1</task-id>"}"#;
        assert!(matches!(HookInput::read(HookVendor::ClaudeCode, woken).expect("understood").event, HookEvent::Other));
    }
}
