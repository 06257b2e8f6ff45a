//! `baton hook` in the words of Codex and Gemini CLI, and in sessions that a run has started.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::hook_bench::{HookBench, SESSION, assert_silent, block, reason};

const DEVELOPER: &str = "[hooks.agents.developer]\nmandatory_skills = [\"testing\"]\nwrites = [\"*.py\"]\n[hooks.main]\nmandatory_skills = [\"testing\"]\n";

/// Returns what every hook of Codex is told.
fn codex(bench: &HookBench, event: &str, more: Value) -> Value {
    let mut told = json!({
        "session_id": SESSION, "turn_id": "turn-1", "transcript_path": null, "cwd": bench.sandbox.path(""),
        "hook_event_name": event, "model": "gpt-6.1-sol", "permission_mode": "default",
    });
    told.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    told
}

#[test]
fn codex_is_held_twice_and_its_skills_are_read_from_commands() {
    let bench = HookBench::with(DEVELOPER);
    let subagent = json!({ "agent_id": "t2", "agent_type": "developer" });
    let with_agent = |more: Value| {
        let mut all = subagent.clone();
        all.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        all
    };
    let ends = |again: bool, text: Value| {
        let more = with_agent(
            json!({ "agent_transcript_path": null, "stop_hook_active": again, "last_assistant_message": text }),
        );
        bench.hook("codex", &codex(&bench, "SubagentStop", more))
    };
    assert_silent(&bench.hook("codex", &codex(&bench, "SubagentStart", subagent.clone())));
    reason(&ends(false, Value::Null));
    reason(&ends(true, json!(block("developer", json!({})))));
    let tool = |name: &str, input: Value| {
        let more =
            with_agent(json!({ "tool_name": name, "tool_input": input, "tool_response": "ok", "tool_use_id": "c1" }));
        assert_silent(&bench.hook("codex", &codex(&bench, "PostToolUse", more)));
    };
    tool("Bash", json!({ "command": "cat .agents/skills/testing/SKILL.md" }));
    bench.sandbox.write("count.py", "print(1)\n");
    tool("apply_patch", json!({ "command": "*** Begin Patch\n*** Add File: count.py\n+print(1)\n*** End Patch\n" }));
    assert_silent(&ends(true, json!(block("developer", json!({ "skills_invoked": ["testing"] })))));
}

#[test]
fn gemini_is_held_twice_and_its_skills_come_from_its_tool() {
    let bench = HookBench::with(DEVELOPER);
    let gemini = |event: &str, more: Value| {
        let mut told = json!({
            "session_id": SESSION, "transcript_path": "", "cwd": bench.sandbox.path(""), "hook_event_name": event,
            "timestamp": "2026-05-04T10:12:31.000Z", "prompt": "Count the words.",
        });
        told.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        bench.hook("gemini", &told)
    };
    let ends =
        |again: bool, text: String| gemini("AfterAgent", json!({ "prompt_response": text, "stop_hook_active": again }));
    assert_silent(&gemini("BeforeAgent", json!({})));
    reason(&ends(false, "Done.".to_owned()));
    let used = |response: Value| {
        let call =
            json!({ "tool_name": "activate_skill", "tool_input": { "name": "testing" }, "tool_response": response });
        assert_silent(&gemini("AfterTool", call));
    };
    used(json!({ "llmContent": "Tool not found", "error": { "message": "Tool \"activate_skill\" not found" } }));
    let text = block("gemini", json!({ "skills_invoked": ["testing"] }));
    let told = reason(&ends(true, text.clone()));
    assert!(told.contains("the transcript shows no such call"), "{told}");
    used(json!({ "llmContent": "# Testing", "returnDisplay": "" }));
    assert_silent(&ends(true, text));
    let shown = bench.sandbox.baton(&["show", &format!("{SESSION}.gemini.1"), "--documents"]);
    assert!(shown.stdout.contains("Count the words."), "{shown}");
}

/// Returns the variables of an attempt in a run.
fn attempt(bench: &HookBench) -> Vec<(&'static str, PathBuf)> {
    let folder = ".baton/runs/r/design.1/1";
    let request = json!({ "baton": 1, "document": "request", "id": "r.design.1", "instructions": "Design the counter of words." });
    bench.sandbox.write(&format!("{folder}/request.json"), request.to_string());
    bench.sandbox.folder(".baton/output/r");
    vec![
        ("BATON_RUN", "r".into()),
        ("BATON_HANDOFF_ID", "r.design.1".into()),
        ("BATON_AGENT", "architect".into()),
        ("BATON_WORKSPACE", bench.sandbox.path("")),
        ("BATON_OUTPUT_DIRECTORY", bench.sandbox.path(".baton/output/r")),
        ("BATON_REQUEST_FILE", bench.sandbox.path(&format!("{folder}/request.json"))),
        ("BATON_REPORT_FILE", bench.sandbox.path(&format!("{folder}/report.md"))),
    ]
}

#[test]
fn in_a_run_the_request_decides_and_nothing_is_filed() {
    // What is configured for sessions outside of runs does not count.
    let bench = HookBench::with("[hooks.main]\ndialect = \"task\"\n");
    let variables = attempt(&bench);
    let stop = |text: &str| {
        let told = bench.told("Stop", json!({ "stop_hook_active": false, "last_assistant_message": text }));
        bench.hook_with("claude-code", &variables, &told)
    };
    let report = |id: &str| {
        json!({ "baton": 1, "document": "report", "id": id, "outcome": "complete",
            "summary": "Wrote the design of the counter with its two passes." })
    };
    reason(&stop("Done."));
    let told = reason(&stop(&format!("```json\n{}\n```\n", report("another"))));
    assert!(told.contains("r.design.1"), "{told}");
    assert_silent(&stop(&format!("```json\n{}\n```\n", report("r.design.1"))));
    assert!(!bench.sandbox.store().exists());
    let kept = bench.sandbox.read(".baton/runs/r/design.1/1/hook-1.md");
    assert_eq!(kept, "Done.");
}

#[test]
fn in_a_run_what_its_workflow_says_counts() {
    let bench = HookBench::with("");
    let variables = attempt(&bench);
    let contract = json!({ "version": 1, "dialect": "native", "mandatory_skills": ["designing"],
        "levels": { "skill-missing": "warning" } });
    let stop = |text: &str| {
        let told = bench.told("Stop", json!({ "stop_hook_active": false, "last_assistant_message": text }));
        bench.hook_with("claude-code", &variables, &told)
    };
    let report = json!({ "baton": 1, "document": "report", "id": "r.design.1", "outcome": "complete",
        "summary": "Wrote the design of the counter with its two passes." });
    let text = format!("```json\n{report}\n```\n");
    let mut strict = contract.clone();
    strict["levels"] = json!({});
    bench.sandbox.write(".baton/runs/r/design.1/1/contract.json", strict.to_string());
    assert!(reason(&stop("Done.")).contains("in the form native"));
    assert!(reason(&stop(&text)).contains("mandatory skill `designing`"));
    bench.sandbox.write(".baton/runs/r/design.1/1/contract.json", contract.to_string());
    assert_silent(&stop(&text));
}

#[test]
fn in_a_run_a_report_in_its_file_or_in_the_output_directory_counts() {
    let stop = |bench: &HookBench, variables: &[(&str, PathBuf)]| {
        let told = bench.told("Stop", json!({ "stop_hook_active": false, "last_assistant_message": "It is done." }));
        bench.hook_with("claude-code", variables, &told)
    };
    for place in [".baton/runs/r/design.1/1/report.md", ".baton/output/r/design.md"] {
        let bench = HookBench::with("");
        let variables = attempt(&bench);
        bench.sandbox.write(place, block("architect", json!({ "feature_directory": ".baton/output/r" })));
        assert_silent(&stop(&bench, &variables));
    }
}

#[test]
fn helpers_of_an_agent_in_a_run_are_its_own_business() {
    let bench = HookBench::new();
    let variables = attempt(&bench);
    let told = bench.told(
        "SubagentStop",
        json!({ "agent_id": "a1", "agent_type": "architect", "stop_hook_active": false, "last_assistant_message": "Done." }),
    );
    assert_silent(&bench.hook_with("claude-code", &variables, &told));
}
