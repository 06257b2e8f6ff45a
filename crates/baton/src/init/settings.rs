//! The settings of each coding agent: which hooks it has, where they stand, and what people must trust by hand.

use std::path::Path;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::change::FileChange;
use super::file_writing::refused;
use super::record::InitRecord;
use super::{json_text, made, plugin, read, stays, without};
use crate::command_error::CommandError;

/// How long a hook may take, in seconds: the commands of `verify` run in it.
const HOOK_SECONDS: u64 = 900;

/// A coding agent that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CodingAgent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// OpenCode.
    Opencode,
}

impl CodingAgent {
    /// All of them.
    pub(crate) const ALL: [CodingAgent; 4] =
        [CodingAgent::ClaudeCode, CodingAgent::Codex, CodingAgent::Gemini, CodingAgent::Opencode];

    /// Returns the profile of workflows that runs it.
    pub(super) fn profile(self) -> &'static str {
        match self {
            CodingAgent::ClaudeCode => "claude",
            CodingAgent::Codex => "codex",
            CodingAgent::Gemini => "gemini",
            CodingAgent::Opencode => "opencode",
        }
    }

    /// Returns the file of its hooks.
    fn file(self) -> &'static str {
        match self {
            CodingAgent::ClaudeCode => ".claude/settings.json",
            CodingAgent::Codex => ".codex/hooks.json",
            CodingAgent::Gemini => ".gemini/settings.json",
            CodingAgent::Opencode => plugin::FILE,
        }
    }

    fn command(self) -> &'static str {
        match self {
            CodingAgent::ClaudeCode => "baton hook claude-code",
            CodingAgent::Codex => "baton hook codex",
            CodingAgent::Gemini => "baton hook gemini",
            CodingAgent::Opencode => "baton hook opencode",
        }
    }

    /// Returns each event that is listened to, with the tools that it is about.
    fn events(self) -> &'static [(&'static str, Option<&'static str>)] {
        const CLAUDE_TOOLS: Option<&str> = Some("Skill|Read|Bash|Write|Edit|MultiEdit|NotebookEdit");
        const GEMINI_TOOLS: Option<&str> = Some("activate_skill|read_file|write_file|replace|run_shell_command");
        match self {
            CodingAgent::ClaudeCode => &[
                ("Stop", None),
                ("SubagentStop", None),
                ("SubagentStart", None),
                ("UserPromptSubmit", None),
                ("PostToolUse", CLAUDE_TOOLS),
                ("PostToolUseFailure", CLAUDE_TOOLS),
            ],
            CodingAgent::Codex => &[
                ("Stop", None),
                ("SubagentStop", None),
                ("SubagentStart", None),
                ("UserPromptSubmit", None),
                ("PostToolUse", None),
            ],
            CodingAgent::Gemini => &[("AfterAgent", None), ("BeforeAgent", None), ("AfterTool", GEMINI_TOOLS)],
            CodingAgent::Opencode => &[],
        }
    }

    /// Returns what is in the settings for one event.
    fn group(self, matcher: Option<&str>) -> Value {
        // Gemini CLI counts in milliseconds.
        let timeout = if self == CodingAgent::Gemini { HOOK_SECONDS * 1000 } else { HOOK_SECONDS };
        let hook = json!({ "type": "command", "command": self.command(), "timeout": timeout });
        match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    }

    /// Adds the hooks to its settings.
    pub(super) fn add(self, project: &Path) -> Result<FileChange, CommandError> {
        let path = self.file().to_owned();
        let before = read(&project.join(&path))?;
        if self == CodingAgent::Opencode {
            return match before.as_deref().is_none_or(plugin::is_ours) {
                true => Ok(made(project, &path, before, plugin::TEXT.to_owned())),
                false => Err(refused(format!("{path} exists and was not made by `baton init`"))
                    .hint("give it another name: OpenCode reads every file of the folder")),
            };
        }
        let (mark, given) = unmarked(before.as_deref().unwrap_or_default());
        let is_blank = given.trim().is_empty();
        let mut text = if is_blank { "{}" } else { given }.to_owned();
        self.check(&path, &text)?;
        if parsed(&text)["hooks"].is_null() {
            // `null` says nothing.
            text = json_text::remove_member(&text, &[], "hooks");
            text = json_text::add_member(&text, &[], "hooks", &json!({}));
        }
        for (event, matcher) in self.events() {
            let settings = parsed(&text);
            let groups = &settings["hooks"][*event];
            if groups.as_array().is_some_and(|groups| groups.iter().any(|group| self.has_ours(group))) {
                continue;
            }
            if groups.is_array() {
                text = json_text::add_element(&text, &["hooks", event], &self.group(*matcher));
            } else {
                text = json_text::remove_member(&text, &["hooks"], event);
                text = json_text::add_member(&text, &["hooks"], event, &json!([self.group(*matcher)]));
            }
        }
        let text = if is_blank { format!("{mark}{text}\n") } else { format!("{mark}{text}") };
        Ok(made(project, &path, before, text))
    }

    /// Takes the hooks out of its settings; `None` if there are none.
    pub(super) fn remove(self, project: &Path, record: &InitRecord) -> Result<Option<FileChange>, CommandError> {
        let path = self.file().to_owned();
        let Some(now) = read(&project.join(&path))? else { return Ok(None) };
        if self == CodingAgent::Opencode {
            return Ok(plugin::is_ours(&now).then(|| without(&path, now, None, record)));
        }
        let Some(rest) = self.without_ours(&path, &now)? else { return Ok(None) };
        // A text of before that has our hooks is from another time.
        let clean = |text: &&str| self.without_ours(&path, text).is_ok_and(|rest| rest.is_none());
        let rest = record.text_before(&path, &now).filter(clean).map_or(rest, str::to_owned);
        let is_empty = unmarked(&rest).1.trim().is_empty() || parsed(&rest) == json!({});
        let rest = (!is_empty || stays(project, &path, record)).then_some(rest);
        Ok(Some(without(&path, now, rest, record)))
    }

    /// Returns settings without the hooks; `None` if they have none.
    fn without_ours(self, path: &str, text: &str) -> Result<Option<String>, CommandError> {
        let (mark, given) = unmarked(text);
        if given.trim().is_empty() {
            return Ok(None);
        }
        self.check(path, given)?;
        let mut rest = given.to_owned();
        for (event, _) in self.events() {
            rest = self.without_event(rest, event);
        }
        if rest == given {
            return Ok(None);
        }
        if parsed(&rest)["hooks"] == json!({}) {
            rest = json_text::remove_member(&rest, &[], "hooks");
        }
        Ok(Some(format!("{mark}{rest}")))
    }

    fn without_event(self, mut text: String, event: &str) -> String {
        loop {
            let settings = parsed(&text);
            let groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
            let Some(index) = groups.iter().position(|group| self.has_ours(group)) else { return text };
            let hooks = groups[index]["hooks"].as_array().cloned().unwrap_or_default();
            let others = hooks.iter().filter(|hook| !self.is_ours(hook)).count();
            text = match (others, groups.len()) {
                // Somebody has put another hook beside ours.
                (1.., _) => {
                    let ours = hooks.iter().position(|hook| self.is_ours(hook)).unwrap_or_default();
                    json_text::remove_element(&text, &["hooks", event, &index.to_string(), "hooks"], ours)
                }
                (0, 1) => json_text::remove_member(&text, &["hooks"], event),
                (0, _) => json_text::remove_element(&text, &["hooks", event], index),
            };
        }
    }

    /// Returns whether its hooks are set up.
    pub(super) fn is_set_up(self, project: &Path) -> Result<bool, CommandError> {
        let text = read(&project.join(self.file()))?.unwrap_or_default();
        if self == CodingAgent::Opencode {
            return Ok(plugin::is_ours(&text));
        }
        let has_ours = |(event, _): &(&str, Option<&str>)| {
            let groups = parsed(&text)["hooks"][*event].as_array().cloned().unwrap_or_default();
            groups.iter().any(|group| self.has_ours(group))
        };
        Ok(self.events().iter().any(has_ours))
    }

    fn has_ours(self, group: &Value) -> bool {
        group["hooks"].as_array().is_some_and(|hooks| hooks.iter().any(|hook| self.is_ours(hook)))
    }

    fn is_ours(self, hook: &Value) -> bool {
        hook["command"].as_str().is_some_and(|command| command.trim() == self.command())
    }

    /// Looks whether settings can be added to; the error says where not.
    fn check(self, path: &str, text: &str) -> Result<(), CommandError> {
        let settings: Value = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            refused(format!("{path}:{line}:{column}: this is not JSON: {what}"))
        })?;
        let hooks = &settings["hooks"];
        let wrong = if !settings.is_object() {
            Some(("the settings", "an object", 1))
        } else if !hooks.is_object() && !hooks.is_null() {
            Some(("`hooks`", "an object", line_of(text, "\"hooks\"")))
        } else {
            let events = self.events().iter().map(|(event, _)| event);
            let mut wrong = events.filter(|event| !hooks[**event].is_array() && !hooks[**event].is_null());
            wrong.next().map(|event| (*event, "a list", line_of(text, &format!("\"{event}\""))))
        };
        // Which one counts, only its program knows.
        let twice = json_text::repeated_name(text, &[]).or_else(|| json_text::repeated_name(text, &["hooks"]));
        if let Some(name) = twice {
            return Err(refused(format!("{path}: duplicate `{name}`")));
        }
        match wrong {
            None => Ok(()),
            Some((what, expected, line)) => Err(refused(format!("{path}:{line}: {what} should be {expected}"))),
        }
    }

    /// Returns what people have to do themselves before its hooks work.
    pub(super) fn by_hand(self, project: &Path) -> Vec<String> {
        match self {
            CodingAgent::ClaudeCode => vec![
                "Claude Code: a session reads its hooks when it starts; trust the folder when it asks, and look with /hooks"
                    .to_owned(),
            ],
            CodingAgent::Codex => {
                let mut told = vec![
                    "Codex skips hooks that you have not trusted without a word: start `codex` here, trust the project, and \
                     trust the hooks with /hooks, again after each change"
                        .to_owned(),
                    "for one unattended run: codex exec --dangerously-bypass-hook-trust".to_owned(),
                ];
                if is_linked_worktree(project) {
                    told.push(
                        "Codex: this is a linked worktree of git, in which Codex reads the hooks of the main checkout; \
                         commit .codex/hooks.json, or run `baton init --codex` there"
                            .to_owned(),
                    );
                }
                let inline = read(&project.join(".codex/config.toml")).ok().flatten().unwrap_or_default();
                if inline.lines().any(|line| line.trim_start().starts_with("[hooks")) {
                    told.push("Codex: .codex/config.toml has hooks, too; Codex runs both and warns".to_owned());
                }
                told
            }
            CodingAgent::Gemini => vec![
                "Gemini CLI runs hooks of a project only in a folder that you trust (/permissions, or \
                 GEMINI_CLI_TRUST_WORKSPACE=true for one run; --skip-trust alone does not load them)"
                    .to_owned(),
            ],
            CodingAgent::Opencode => vec![
                "OpenCode: restart it; its plugin holds the main session, while subagents are only recorded".to_owned(),
            ],
        }
    }
}

/// Returns whether a project belongs to a worktree whose repository is elsewhere: a file leads there.
fn is_linked_worktree(project: &Path) -> bool {
    let git = project.ancestors().map(|folder| folder.join(".git")).find(|path| path.exists());
    let link = git.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    link.strip_prefix("gitdir:")
        .is_some_and(|folder| Path::new(folder.trim()).parent().is_some_and(|parent| parent.ends_with("worktrees")))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(unmarked(text).1).unwrap_or_default()
}

/// Splits off the mark that some editors begin a file with.
fn unmarked(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn line_of(text: &str, sought: &str) -> usize {
    text.lines().position(|line| line.contains(sought)).map_or(1, |index| index + 1)
}
