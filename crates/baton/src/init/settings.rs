//! The settings of each coding agent: which hooks it has, where they stand, and what people must trust by hand.

use std::path::Path;

use clap::ValueEnum;
use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use jsonc_parser::{ParseOptions, json, parse_to_value};

use super::change::FileChange;
use super::file_writing::refused;
use super::record::InitRecord;
use super::{made, plugin, read, stays, without};
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
    fn group(self, matcher: Option<&str>) -> CstInputValue {
        // Gemini CLI counts in milliseconds.
        let timeout = if self == CodingAgent::Gemini { HOOK_SECONDS * 1000 } else { HOOK_SECONDS };
        let hook = json!({ "type": "command", "command": (self.command()), "timeout": timeout });
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
        let settings = self.parsed(&path, before.as_deref().unwrap_or_default())?;
        // `null` says nothing.
        let hooks = settings.object_value_or_set().object_value_or_set("hooks");
        for (event, matcher) in self.events() {
            let groups = hooks.array_value_or_set(event);
            if !groups.elements().iter().any(|group| self.has_ours(group)) {
                groups.append(self.group(*matcher));
            }
        }
        let text = format!("{}{settings}", mark_of(before.as_deref().unwrap_or_default()));
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
        // A comment is somebody's, too.
        let left: String = rest[mark_of(&rest).len()..].split_whitespace().collect();
        let is_empty = matches!(left.as_str(), "" | "{}");
        let rest = (!is_empty || stays(project, &path, record)).then_some(rest);
        Ok(Some(without(&path, now, rest, record)))
    }

    /// Returns settings without the hooks; `None` if they have none.
    fn without_ours(self, path: &str, text: &str) -> Result<Option<String>, CommandError> {
        let settings = self.parsed(path, text)?;
        let ours = self.our_groups(&settings);
        if ours.is_empty() {
            return Ok(None);
        }
        for group in ours {
            self.remove_ours(group);
        }
        if let Some(hooks) = hooks_of(&settings).filter(|hooks| hooks.properties().is_empty()) {
            hooks.parent().into_iter().for_each(CstContainerNode::remove);
        }
        Ok(Some(format!("{}{settings}", mark_of(text))))
    }

    /// Removes our hook from a group, and what is empty without it.
    fn remove_ours(self, group: CstNode) {
        let hooks = hooks_in(&group);
        let (ours, others): (Vec<_>, Vec<_>) = hooks.into_iter().partition(|hook| self.is_ours(hook));
        if !others.is_empty() {
            // Somebody has put another hook beside ours.
            ours.into_iter().for_each(CstNode::remove);
            return;
        }
        let groups = group.parent();
        group.remove();
        if let Some(groups) = groups.filter(|groups| groups.children_exclude_trivia_and_tokens().is_empty()) {
            groups.parent().into_iter().for_each(CstContainerNode::remove);
        }
    }

    /// Returns whether its hooks are set up.
    pub(super) fn is_set_up(self, project: &Path) -> Result<bool, CommandError> {
        let text = read(&project.join(self.file()))?.unwrap_or_default();
        if self == CodingAgent::Opencode {
            return Ok(plugin::is_ours(&text));
        }
        Ok(self.parsed(self.file(), &text).is_ok_and(|settings| !self.our_groups(&settings).is_empty()))
    }

    /// Returns the groups of its settings that have our hook.
    fn our_groups(self, settings: &CstRootNode) -> Vec<CstNode> {
        let groups = |(event, _): &(&str, _)| hooks_of(settings)?.array_value(event);
        let groups = self.events().iter().filter_map(groups).flat_map(|groups| groups.elements());
        groups.filter(|group| self.has_ours(group)).collect()
    }

    fn has_ours(self, group: &CstNode) -> bool {
        hooks_in(group).iter().any(|hook| self.is_ours(hook))
    }

    fn is_ours(self, hook: &CstNode) -> bool {
        let hook = hook.to_serde_value().unwrap_or_default();
        hook["command"].as_str().is_some_and(|command| command.trim() == self.command())
    }

    /// Reads settings, if they can be added to; the error says where not.
    fn parsed(self, path: &str, text: &str) -> Result<CstRootNode, CommandError> {
        let text = match &text[mark_of(text).len()..] {
            blank if blank.trim().is_empty() => "{}\n",
            text => text,
        };
        // The tree itself takes comments from everybody.
        let syntax = self.syntax();
        let settings =
            parse_to_value(text, &syntax).and_then(|_| CstRootNode::parse(text, &syntax)).map_err(|error| {
                let (line, column) = (error.line_display(), error.column_display());
                refused(format!("{path}:{line}:{column}: this is not JSON: {}", error.kind()))
            })?;
        let values = settings.to_serde_value().unwrap_or_default();
        let hooks = &values["hooks"];
        let wrong = if !values.is_object() {
            Some(("the settings", "an object", 1))
        } else if !hooks.is_object() && !hooks.is_null() {
            Some(("`hooks`", "an object", line_of(text, "\"hooks\"")))
        } else {
            let events = self.events().iter().map(|(event, _)| event);
            let mut wrong = events.filter(|event| !hooks[**event].is_array() && !hooks[**event].is_null());
            wrong.next().map(|event| (*event, "a list", line_of(text, &format!("\"{event}\""))))
        };
        // Which one counts, only its program knows.
        let twice = [settings.object_value(), hooks_of(&settings)].into_iter().flatten().find_map(repeated_name);
        if let Some(name) = twice {
            return Err(refused(format!("{path}: duplicate `{name}`")));
        }
        match wrong {
            None => Ok(settings),
            Some((what, expected, line)) => Err(refused(format!("{path}:{line}: {what} should be {expected}"))),
        }
    }

    /// Returns what its program can read: JSON, and comments if it is Gemini CLI.
    fn syntax(self) -> ParseOptions {
        ParseOptions {
            allow_comments: self == CodingAgent::Gemini,
            allow_loose_object_property_names: false,
            allow_trailing_commas: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
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

fn hooks_of(settings: &CstRootNode) -> Option<CstObject> {
    settings.object_value()?.object_value("hooks")
}

fn hooks_in(group: &CstNode) -> Vec<CstNode> {
    let hooks = group.as_object().and_then(|group| group.array_value("hooks"));
    hooks.map(|hooks| hooks.elements()).unwrap_or_default()
}

/// Returns a name that an object has more than once.
fn repeated_name(object: CstObject) -> Option<String> {
    let names: Vec<String> = object.properties().iter().filter_map(CstObjectProp::decoded_name).collect();
    (1..names.len()).find(|index| names[..*index].contains(&names[*index])).map(|index| names[index].clone())
}

/// Returns the mark that some editors begin a file with.
fn mark_of(text: &str) -> &str {
    if text.starts_with('\u{feff}') { &text[..'\u{feff}'.len_utf8()] } else { "" }
}

fn line_of(text: &str, sought: &str) -> usize {
    text.lines().position(|line| line.contains(sought)).map_or(1, |index| index + 1)
}
