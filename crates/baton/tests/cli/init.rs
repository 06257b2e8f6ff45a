//! `baton init`: what is added to the settings of coding agents, what stays, and what is taken out again.

use serde_json::{Value, json};

use crate::sandbox::{Run, Sandbox};

pub(crate) const SETTINGS: &str = ".claude/settings.json";

/// Settings as somebody has written them, with hooks and an indentation of their own.
const OWN: &str = r#"{
    "permissions": {"allow": ["Bash(cargo test:*)"], "deny": []},
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}
        ]
    },
    "model": "opus"
}
"#;

pub(crate) fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox
        .write(".claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews code\n---\nReview it.\n")
        .write(
            ".claude/agents/architect.md",
            "---\nname: architect\ndescription: \"Designs: the whole\"\n---\nUse the skill designing.\n",
        )
        .write(
            ".claude/agents/developer.md",
            "---\ndescription: >\n  Writes\n  code\n---\nUse designing and testing.\n",
        )
        .write(".claude/skills/designing/SKILL.md", "---\nname: designing\n---\n")
        .write(".claude/skills/testing/SKILL.md", "# Testing\n");
    sandbox
}

pub(crate) fn init(sandbox: &Sandbox, arguments: &[&str]) -> Run {
    let run = sandbox.baton(&[&["init"], arguments].concat());
    assert_eq!(run.code, Some(0), "{run}");
    run
}

pub(crate) fn settings(sandbox: &Sandbox, path: &str) -> Value {
    serde_json::from_str(&sandbox.read(path)).expect("JSON")
}

/// Returns everything in a folder, by path.
pub(crate) fn everything(sandbox: &Sandbox) -> Vec<(String, String)> {
    let found = sandbox.program_with_input("find", &[".", "-type", "f"], b"").expect("find is everywhere");
    let mut paths: Vec<&str> = found.stdout.lines().collect();
    paths.sort_unstable();
    paths.into_iter().map(|path| (path.to_owned(), sandbox.read(path))).collect()
}

#[test]
fn hooks_are_added_to_settings_and_everything_else_stays() {
    let sandbox = project();
    sandbox.write(SETTINGS, OWN);
    let run = init(&sandbox, &["--claude-code"]);
    assert!(run.stdout.contains("changed .claude/settings.json"), "{run}");
    assert!(
        run.stdout.contains(
            "
+ "
        ) && run.stdout.contains("\"command\": \"baton hook claude-code\""),
        "{run}"
    );
    let (before, after) = (serde_json::from_str::<Value>(OWN).expect("JSON"), settings(&sandbox, SETTINGS));
    assert_eq!((&after["permissions"], &after["model"]), (&before["permissions"], &before["model"]));
    assert_eq!(after["hooks"]["PreToolUse"], before["hooks"]["PreToolUse"]);
    assert_eq!(after["hooks"]["Stop"][0], before["hooks"]["Stop"][0]);
    for event in ["Stop", "SubagentStop", "SubagentStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"] {
        let groups = after["hooks"][event].as_array().expect("a list");
        let ours = groups.iter().filter(|group| group["hooks"][0]["command"] == "baton hook claude-code");
        assert_eq!(ours.count(), 1, "{event}");
    }
    // Not a space of what was written has changed.
    let kept = OWN.lines().filter(|line| !line.contains("Stop") && *line != "        ]" && *line != "    },");
    kept.for_each(|line| assert!(sandbox.read(SETTINGS).contains(line), "{line}"));
}

#[test]
fn comments_in_the_settings_of_gemini_stay() {
    let path = ".gemini/settings.json";
    let own = "// For all of us.\n{\n  // Never https://example.com\n  \"ui\": {\"theme\": \"Dark\"}, /* dark */\n  \"hooks\": {\n    \"AfterAgent\": [\n      {\"hooks\": []} // nothing yet\n    ]\n  } // end\n}\n";
    let sandbox = project();
    sandbox.write(path, own);
    let run = init(&sandbox, &["--gemini"]);
    let lines = |mark: &str| -> Vec<String> {
        let marked = run.stdout.lines().filter_map(|line| line.strip_prefix(mark));
        marked.map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(lines("- "), ["{\"hooks\": []} // nothing yet"], "{run}");
    let after = sandbox.read(path);
    insta::assert_snapshot!(after, @r#"
    // For all of us.
    {
      // Never https://example.com
      "ui": {"theme": "Dark"}, /* dark */
      "hooks": {
        "AfterAgent": [
          {"hooks": []}, // nothing yet
          {
            "hooks": [
              {
                "type": "command",
                "command": "baton hook gemini",
                "timeout": 900000
              }
            ]
          }
        ],
        "BeforeAgent": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "baton hook gemini",
                "timeout": 900000
              }
            ]
          }
        ],
        "AfterTool": [
          {
            "matcher": "activate_skill|read_file|write_file|replace|run_shell_command",
            "hooks": [
              {
                "type": "command",
                "command": "baton hook gemini",
                "timeout": 900000
              }
            ]
          }
        ]
      } // end
    }
    "#);
    init(&sandbox, &["--gemini"]);
    assert_eq!(sandbox.read(path), after);
    init(&sandbox, &["--gemini", "--undo"]);
    assert_eq!(sandbox.read(path), own);
    // Without the record of what was there, too.
    init(&sandbox, &["--gemini"]);
    std::fs::remove_dir_all(sandbox.path(".baton")).expect("removed");
    init(&sandbox, &["--gemini", "--undo"]);
    assert_eq!(sandbox.read(path), own);
    // A file with comments alone is somebody's.
    sandbox.write(path, "// For all of us.\n{}\n");
    init(&sandbox, &["--gemini"]);
    std::fs::remove_dir_all(sandbox.path(".baton")).expect("removed");
    init(&sandbox, &["--gemini", "--undo"]);
    assert_eq!(sandbox.read(path), "// For all of us.\n{}\n");
}

#[test]
fn doing_it_again_changes_nothing() {
    let sandbox = project();
    let all = ["--claude-code", "--codex", "--gemini", "--opencode"];
    init(&sandbox, &all);
    let before = everything(&sandbox);
    let run = init(&sandbox, &all);
    assert!(run.stdout.lines().all(|line| line.starts_with("unchanged ")), "{run}");
    assert_eq!(everything(&sandbox), before);
}

#[test]
fn undo_takes_out_exactly_what_was_put_in() {
    let texts = [
        OWN,
        "",
        "\n",
        "{}",
        "{ }",
        "{\"hooks\": {}, \"model\": \"opus\"}",
        "{\"hooks\": null}\n",
        "{\"hooks\": {\"Stop\": [], \"SubagentStop\": null}}",
        "\u{feff}{\"model\": \"opus\"}",
    ];
    for own in std::iter::once(None).chain(texts.map(Some)) {
        let sandbox = project();
        sandbox
            .write("baton.toml", "[rules]\nvague-context = \"error\"\n")
            .write(".codex/hooks.json", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": []}\n    ]\n  }\n}\n");
        if let Some(own) = own {
            sandbox.write(SETTINGS, own);
        }
        let before = everything(&sandbox);
        let all = ["--claude-code", "--codex", "--gemini", "--opencode"];
        init(&sandbox, &all);
        assert_ne!(everything(&sandbox), before);
        init(&sandbox, &[&all[..], &["--undo"]].concat());
        let after = everything(&sandbox);
        assert_eq!(after, before, "{own:?}");
    }
}

#[test]
fn undo_for_one_program_leaves_what_others_need() {
    let sandbox = project();
    init(&sandbox, &["--claude-code", "--codex"]);
    init(&sandbox, &["--codex", "--undo"]);
    assert!(!sandbox.path(".codex").exists());
    assert!(sandbox.read("baton.toml").contains("[hooks.agents"));
    assert_eq!(settings(&sandbox, SETTINGS)["hooks"]["Stop"].as_array().map(Vec::len), Some(1));
}

#[test]
fn hook_that_somebody_put_beside_ours_survives_undo() {
    let sandbox = project();
    init(&sandbox, &["--gemini"]);
    let mut own = settings(&sandbox, ".gemini/settings.json");
    own["hooks"]["AfterAgent"][0]["hooks"]
        .as_array_mut()
        .expect("a list")
        .push(json!({ "type": "command", "command": "x" }));
    sandbox.write(".gemini/settings.json", own.to_string());
    init(&sandbox, &["--gemini", "--undo"]);
    let left = settings(&sandbox, ".gemini/settings.json");
    assert_eq!(left, json!({ "hooks": { "AfterAgent": [{ "hooks": [{ "type": "command", "command": "x" }] }] } }));
}

#[test]
fn dry_run_shows_everything_and_changes_nothing() {
    for option in ["--dry-run", "--print"] {
        let sandbox = project();
        let before = everything(&sandbox);
        let run = init(&sandbox, &["--claude-code", option]);
        assert!(run.stdout.contains("would create .claude/settings.json\n+ {"), "{run}");
        assert!(
            run.stdout.contains("+ [hooks.agents.architect]") && run.stdout.contains("would create workflow.yaml"),
            "{run}"
        );
        assert_eq!(everything(&sandbox), before);
        assert!(!sandbox.path(".baton").exists());
    }
}

#[test]
fn agents_and_their_skills_become_contracts_and_a_workflow() {
    let sandbox = project();
    init(&sandbox, &["--claude-code"]);
    let configuration = sandbox.read("baton.toml");
    for contract in [
        "[hooks.agents.architect]\ndialect = \"metadata-block\"\nmandatory_skills = [\"designing\"]\n",
        "[hooks.agents.developer]\ndialect = \"metadata-block\"\nmandatory_skills = [\"designing\", \"testing\"]\n",
        "[hooks.agents.reviewer]\ndialect = \"metadata-block\"\n",
    ] {
        assert!(configuration.contains(contract), "{configuration}");
    }
    let checked = sandbox.baton(&["workflow", "check", "workflow.yaml"]);
    assert_eq!(checked.code, Some(0), "{checked}");
    let workflow = sandbox.read("workflow.yaml");
    assert!(
        workflow.contains("role: \"Designs: the whole\"") && workflow.contains("role: \"Writes code\""),
        "{workflow}"
    );
    let at = |agent: &str| workflow.find(&format!("- id: {agent}\n")).expect("a phase");
    assert!(at("architect") < at("developer") && at("developer") < at("reviewer"), "{workflow}");
    assert_eq!(sandbox.read(".baton/.gitignore"), "*\n");
    // What was set up works.
    let told = json!({
        "session_id": "s", "cwd": sandbox.path(""), "hook_event_name": "SubagentStop", "agent_id": "a1",
        "agent_type": "architect", "stop_hook_active": false, "last_assistant_message": "Done.",
    });
    let run = sandbox.baton_with_input(&["hook", "claude-code"], told.to_string().as_bytes());
    assert_eq!(run.json()["decision"], "block", "{run}");
}

#[test]
fn only_skills_that_an_agent_is_told_to_call_are_mandatory() {
    let sandbox = Sandbox::new();
    for skill in ["test", "review", "style"] {
        sandbox.write(&format!(".claude/skills/{skill}/SKILL.md"), "A skill.\n");
    }
    sandbox.write(
        ".claude/agents/developer.md",
        "---\nname: developer\ndescription: For review\nskills:\n  - style\n---\nUse test. Follow the style. Preview it.\n",
    );
    init(&sandbox, &["--claude-code"]);
    // One is loaded with the definition, and one stands elsewhere.
    assert!(sandbox.read("baton.toml").contains("mandatory_skills = [\"test\"]\n"), "{}", sandbox.read("baton.toml"));
}

#[test]
fn settings_that_cannot_be_understood_are_named_with_their_line_and_nothing_changes() {
    let cases = [
        (
            "{\n  \"model\": \"opus\",\n}\n",
            ".claude/settings.json:2:18: this is not JSON: Trailing commas are not allowed",
        ),
        ("{\n  // why\n  \"model\": 1\n}\n", ".claude/settings.json:2:3: this is not JSON: Comments are not allowed"),
        ("[]", ".claude/settings.json:1: the settings should be an object"),
        ("{\"hooks\": {}, \"hooks\": {}}", ".claude/settings.json: duplicate `hooks`"),
        ("{\n  \"hooks\": []\n}", ".claude/settings.json:2: `hooks` should be an object"),
        ("{\n  \"hooks\": {\n    \"Stop\": {}\n  }\n}", ".claude/settings.json:3: Stop should be a list"),
    ];
    for (text, told) in cases {
        let sandbox = project();
        sandbox.write(SETTINGS, text);
        let before = everything(&sandbox);
        let run = sandbox.baton(&["init", "--gemini", "--claude-code"]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr.contains(told) && run.stderr.contains("nothing was changed") && run.stdout.is_empty(),
            "{run}"
        );
        assert_eq!(everything(&sandbox), before);
    }
    let sandbox = project();
    sandbox.write("baton.toml", "[ruels]\n");
    let run = sandbox.baton(&["init", "--claude-code"]);
    assert!(run.code == Some(2) && run.stderr.contains("baton.toml:1:2"), "{run}");
    assert!(!sandbox.path(SETTINGS).exists());
}

#[test]
fn what_must_be_trusted_by_hand_is_said() {
    let sandbox = project();
    sandbox.write("workflow.yaml", "name: own\n").write(".codex/config.toml", "[hooks]\n");
    let run = init(&sandbox, &["--codex"]);
    assert!(run.stderr.contains("Codex skips hooks that you have not trusted without a word"), "{run}");
    assert!(run.stderr.contains("/hooks") && run.stderr.contains(".codex/config.toml has hooks, too"), "{run}");
    assert!(run.stderr.contains("workflow.yaml already exists and is kept"), "{run}");
    assert_eq!(sandbox.read("workflow.yaml"), "name: own\n");
    let json = init(&sandbox, &["--codex", "--json"]).json();
    assert_eq!(json["files"][0], json!({ "path": ".codex/hooks.json", "action": "unchanged", "difference": "" }));
    assert!(json["by_hand"].as_array().is_some_and(|told| told.len() >= 3), "{json}");
}

#[test]
fn worktree_whose_hooks_codex_does_not_read_is_told() {
    let sandbox = project();
    let told = |link: &str| {
        sandbox.write(".git", link);
        init(&sandbox, &["--codex"]).stderr.contains("reads the hooks of the main checkout")
    };
    assert!(told("gitdir: /home/ana/counter/.git/worktrees/counter-2\n"));
    assert!(!told("gitdir: ../.git/modules/counter\n"), "a submodule is a checkout of its own");
}

#[test]
fn without_a_program_no_hook_is_set_up() {
    let sandbox = project();
    init(&sandbox, &[]);
    assert!(!sandbox.path(SETTINGS).exists() && !sandbox.path("baton.toml").exists());
    assert!(init(&sandbox, &["--claude-code"]).stderr.contains("workflow.yaml already exists"));
    init(&sandbox, &["--undo"]);
    assert!(sandbox.read("workflow.yaml").contains("agents/writer.sh"), "what is not about hooks stays");
}

#[test]
fn plugin_for_opencode_lets_the_session_go_on_with_the_reason() {
    let sandbox = project();
    init(&sandbox, &["--opencode"]);
    sandbox.write("baton.toml", "[hooks.main]\ndialect = \"metadata-block\"\nmandatory_skills = [\"designing\"]\n");
    // A server that has one session, and notes what it is asked.
    sandbox.write(
        "drive.mjs",
        r#"import { Baton } from "./.opencode/plugin/baton.js"
const said = [], asked = []
const client = { session: {
  get: async () => ({ data: {} }),
  messages: async () => ({ data: [{ info: { role: "assistant" }, parts: [{ type: "text", text: said.at(-1) }] }] }),
  prompt: async ({ body }) => void asked.push(body.parts[0].text),
} }
const plugin = await Baton({ client, directory: process.cwd() })
const idle = async (text) => { said.push(text); await plugin.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } }) }
await plugin["chat.message"]({ sessionID: "ses_1" })
await idle("Done.")
await plugin["tool.execute.after"]({ tool: "skill", sessionID: "ses_1", args: { name: "designing" } }, { metadata: {} })
await idle("```json\n" + JSON.stringify({ agent: "main", output_type: "design", timestamp: "2026-05-04T10:12:31Z",
  feature_directory: "docs/", skills_invoked: ["designing"], status: "complete",
  handoff: { next_agent: null, context: "Implement count_words in count.py: split on white space, count by word." } }) + "\n```\n")
console.log(JSON.stringify(asked))
"#,
    );
    let path = std::path::Path::new(crate::sandbox::BATON).parent().expect("a folder").to_owned();
    let mut command = sandbox.command("node");
    let paths = std::env::join_paths(
        [path].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    command.arg("drive.mjs").env("PATH", paths.expect("paths"));
    if std::process::Command::new("node").arg("--version").output().is_err() {
        return;
    }
    let run = crate::sandbox::run(command, b"");
    let asked = run.json();
    assert_eq!(asked.as_array().map(Vec::len), Some(1), "{run}");
    assert!(asked[0].as_str().is_some_and(|text| text.contains("no fenced JSON block")), "{run}");
    let shown = sandbox.baton(&["show", "ses_1.opencode.1"]);
    assert!(shown.stdout.contains("completed"), "{shown}");
}
