//! A project whose sessions call `baton hook`, as the coding agents themselves call it.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::{BATON, Run, Sandbox, run};

/// The session of these tests.
pub(crate) const SESSION: &str = "0199a3c2-7d51-7b10-9f6e-2f5d8c1e4a77";

/// What the agents of these tests are held to.
pub(crate) const HOOKS: &str = r#"
[hooks.agents.architect]
dialect = "metadata-block"
mandatory_skills = ["designing"]
writes = ["docs/**"]

[hooks.agents.developer]
dialect = "metadata-block"
verify = [{ name = "tests", run = "test -f count.py" }]
"#;

/// A project with hooks.
pub(crate) struct HookBench {
    pub(crate) sandbox: Sandbox,
}

impl HookBench {
    pub(crate) fn new() -> HookBench {
        HookBench::with(HOOKS)
    }

    pub(crate) fn with(configuration: &str) -> HookBench {
        let sandbox = Sandbox::new();
        sandbox.write("baton.toml", configuration);
        HookBench { sandbox }
    }

    /// Calls the hook of a program.
    pub(crate) fn hook(&self, vendor: &str, input: &Value) -> Run {
        self.sandbox.baton_with_input(&["hook", vendor], input.to_string().as_bytes())
    }

    /// Calls the hook of a program with more variables.
    pub(crate) fn hook_with(&self, vendor: &str, variables: &[(&str, PathBuf)], input: &Value) -> Run {
        let mut command = self.sandbox.command(BATON);
        command.args(["hook", vendor]).envs(variables.iter().map(|(name, value)| (*name, value)));
        run(command, input.to_string().as_bytes())
    }

    /// Returns what every hook of Claude Code is told.
    pub(crate) fn told(&self, event: &str, more: Value) -> Value {
        let mut told = json!({
            "session_id": SESSION,
            "transcript_path": "/nowhere/session.jsonl",
            "cwd": self.sandbox.path(""),
            "prompt_id": "7d7e5ac9-1a52-4d5e-8f6c-0a4b1f3f9d10",
            "permission_mode": "acceptEdits",
            "hook_event_name": event,
        });
        let members = more.as_object().expect("an object").clone();
        told.as_object_mut().expect("an object").extend(members);
        told
    }

    /// A subagent begins.
    pub(crate) fn begins(&self, agent: &str) {
        let told = self.told("SubagentStart", json!({ "agent_id": id_of(agent), "agent_type": agent }));
        assert_silent(&self.hook("claude-code", &told));
    }

    /// A subagent has used a tool.
    pub(crate) fn uses(&self, agent: &str, tool: &str, input: Value, response: Value) {
        let told = self.told(
            "PostToolUse",
            json!({ "agent_id": id_of(agent), "agent_type": agent, "tool_name": tool, "tool_input": input,
                "tool_response": response, "tool_use_id": "toolu_01" }),
        );
        assert_silent(&self.hook("claude-code", &told));
    }

    /// A subagent wants to end with these words.
    pub(crate) fn ends(&self, agent: &str, text: &str) -> Run {
        let told = self.told(
            "SubagentStop",
            json!({ "agent_id": id_of(agent), "agent_type": agent, "agent_transcript_path": "/nowhere/agent.jsonl",
                "stop_hook_active": false, "last_assistant_message": text, "background_tasks": [], "session_crons": [] }),
        );
        self.hook("claude-code", &told)
    }

    /// An architect has done everything as it should, and ends.
    pub(crate) fn good_architect(&self) -> Run {
        self.begins("architect");
        self.uses("architect", "Skill", json!({ "skill": "designing" }), json!({ "success": true }));
        self.sandbox.write("docs/DESIGN.md", "# Design\n\nTwo passes over the text.\n");
        let written = self.sandbox.path("docs/DESIGN.md");
        self.uses("architect", "Write", json!({ "file_path": written }), json!({ "type": "create" }));
        self.ends("architect", &block("architect", json!({ "skills_invoked": ["designing"] })))
    }
}

/// Returns the id of the only agent of its kind.
pub(crate) fn id_of(agent: &str) -> String {
    format!("a{agent}0")
}

/// Returns a message that ends with a block; the members go before the usual ones.
pub(crate) fn block(agent: &str, members: Value) -> String {
    let mut block = json!({
        "agent": agent,
        "output_type": "design",
        "timestamp": "2026-05-04T10:12:31Z",
        "feature_directory": "docs/",
        "skills_invoked": [],
        "status": "complete",
        "handoff": {
            "next_agent": "developer",
            "context": "Implement `count_words` in count.py as docs/DESIGN.md says: split on white space, count by word, sort by count.",
        },
    });
    let more = members.as_object().expect("an object").clone();
    block.as_object_mut().expect("an object").extend(more);
    format!("The work is done.\n\n```json\n{block:#}\n```\n")
}

/// Returns why an agent may not end.
pub(crate) fn reason(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{run}");
    let answer = run.json();
    assert_eq!(answer["decision"], "block", "{run}");
    answer["reason"].as_str().expect("a text").to_owned()
}

pub(crate) fn assert_silent(run: &Run) {
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{run}");
}
