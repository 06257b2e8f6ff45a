//! The four programs: their packages, the versions that are run, and the names of their tools.

use serde_json::{Value, json};

use super::script::Call;

/// A coding agent that Baton has a profile for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Vendor {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl Vendor {
    pub(crate) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Returns the name of the profile, which is also the name of the program.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the package and the version that is tried.
    pub(crate) fn package(self) -> (&'static str, &'static str) {
        match self {
            Self::Claude => ("@anthropic-ai/claude-code", "2.1.325"),
            Self::Codex => ("@openai/codex", "0.166.0"),
            Self::Gemini => ("@google/gemini-cli", "0.61.0"),
            Self::Opencode => ("opencode-ai", "1.18.33"),
        }
    }

    /// Returns the tool of this program that does what the script asks for, and its input.
    pub(crate) fn tool(self, call: &Call) -> (&'static str, Value) {
        match (self, call) {
            (Self::Claude, Call::Write { path, content }) => ("Write", json!({"file_path": path, "content": content})),
            (Self::Claude, Call::Shell(command)) => ("Bash", json!({"command": command, "description": "Run it"})),
            (Self::Claude, Call::Skill(name)) => ("Skill", json!({"skill": name})),
            (Self::Claude, Call::Subagent(prompt)) => ("Agent", subagent(prompt, "general-purpose")),
            (Self::Codex, Call::Write { path, content }) => {
                ("exec_command", json!({"cmd": here_document(path, content)}))
            }
            (Self::Codex, Call::Shell(command)) => ("exec_command", json!({"cmd": command})),
            (Self::Codex, Call::Skill(name)) => {
                ("exec_command", json!({"cmd": format!("cat .codex/skills/{name}/SKILL.md")}))
            }
            (Self::Codex, Call::Subagent(prompt)) => ("multi_agent_v1.spawn_agent", json!({"message": prompt})),
            (Self::Gemini, Call::Write { path, content }) => {
                ("write_file", json!({"file_path": path, "content": content}))
            }
            (Self::Gemini, Call::Shell(command)) => {
                ("run_shell_command", json!({"command": command, "description": "Run it"}))
            }
            (Self::Gemini, Call::Skill(name)) => ("activate_skill", json!({"name": name})),
            (Self::Gemini, Call::Subagent(prompt)) => {
                ("invoke_agent", json!({"agent_name": "generalist", "prompt": prompt}))
            }
            (Self::Opencode, Call::Write { path, content }) => ("write", json!({"filePath": path, "content": content})),
            (Self::Opencode, Call::Shell(command)) => ("bash", json!({"command": command, "description": "Run it"})),
            (Self::Opencode, Call::Skill(name)) => ("skill", json!({"name": name})),
            (Self::Opencode, Call::Subagent(prompt)) => ("task", subagent(prompt, "general")),
        }
    }
}

fn subagent(prompt: &str, kind: &str) -> Value {
    json!({"description": "Look again", "prompt": prompt, "subagent_type": kind})
}

fn here_document(path: &str, content: &str) -> String {
    format!("cat > {path} <<'END'\n{content}\nEND")
}
