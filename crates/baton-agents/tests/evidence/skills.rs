//! Skills against the mandatory list and against transcripts, whole, broken and huge.

use baton_engine::evidence::ClaimFinding;
use baton_protocol::model::Report;
use serde_json::json;

use crate::stage::{Stage, owned, refuted, shown};

/// The lines of a call that succeeded.
fn call(name: &str, input: serde_json::Value) -> String {
    ended(name, input, json!({}))
}

/// The lines of a call that failed.
fn failed(name: &str, input: serde_json::Value) -> String {
    ended(name, input, json!({ "is_error": true }))
}

fn ended(name: &str, input: serde_json::Value, mut result: serde_json::Value) -> String {
    let id = format!("toolu_{input}");
    let tool = json!({ "type": "tool_use", "id": id, "name": name, "input": input });
    let content = json!([{ "type": "text", "text": "…" }, tool]);
    let called = json!({ "type": "assistant", "message": { "role": "assistant", "content": content } });
    result["type"] = "tool_result".into();
    result["tool_use_id"] = id.into();
    let result = json!({ "type": "user", "message": { "role": "user", "content": [result] } });
    format!("{called}\n{result}")
}

fn staged(lines: &[&str]) -> Stage {
    let mut stage = Stage::plain();
    stage.scratch.write("session.jsonl", lines.join("\n"));
    stage.seal_transcript("session.jsonl");
    stage
}

fn report(invoked: &[&str], read: &[&str]) -> Report {
    Report { skills_invoked: owned(invoked), library_skills_read: owned(read), ..Report::default() }
}

#[tokio::test]
async fn calls_prove_skills() {
    let mut stage = staged(&[
        r#"{"type":"summary","summary":"x"}"#,
        &call("Skill", json!({ "skill": "superpowers:writing-plans" })),
        &call("Skill", json!({ "command": "persisting-agent-outputs" })),
        &call("Read", json!({ "file_path": "/home/a/work/.claude/skill-library/dev/shodan/SKILL.md" })),
        &call("Bash", json!({ "command": "cat .claude/skill-library/dev/zod/SKILL.md" })),
    ]);
    stage.scene.mandatory_skills = owned(&["persisting-agent-outputs", "verifying-before-completion"]);
    let report = report(
        &["writing-plans", "verifying_before_completion"],
        &[".claude/skill-library/dev/shodan/SKILL.md", ".claude/skill-library/dev/zod/SKILL.md", "go-idioms"],
    );
    insta::assert_snapshot!(shown(&stage.examine(&report).await), @"
    Verified skill-missing: mandatory skill `persisting-agent-outputs`: not named in the report, but the transcript shows it
    Refuted skill-missing: mandatory skill `verifying-before-completion`: named in the report, but the transcript shows no such call
    Verified skill-unproven: claims to have invoked the skill `writing-plans`, and the transcript shows it
    Refuted skill-unproven: claims to have invoked the skill `verifying_before_completion`, but the transcript shows no such call
    Verified skill-unproven: claims to have read the library skill `.claude/skill-library/dev/shodan/SKILL.md`, and the transcript shows it
    Verified skill-unproven: claims to have read the library skill `.claude/skill-library/dev/zod/SKILL.md`, and the transcript shows it
    Refuted skill-unproven: claims to have read the library skill `go-idioms`, but the transcript shows no such call
    ");
}

#[tokio::test]
async fn words_about_a_skill_are_no_call() {
    let user = r#"{"type":"user","message":{"content":"use tool_use Skill planning"}}"#;
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"tool_use planning"}]}}"#;
    let examined = staged(&[user, result]).examine(&report(&["planning"], &[])).await;
    assert_eq!(refuted(&examined), ["skill-unproven"]);
}

#[tokio::test]
async fn without_a_whole_transcript_nobody_can_tell() {
    let message = r#"{"type":"user","message":{"content":"hello"}}"#;
    let huge = format!(r#"{{"message":"{}"}}"#, "x".repeat(33 * 1024 * 1024));
    let broken = r#"{"message":{"content":[{"type":"tool_use","name":"Skill","inp"#;
    let mut stages = vec![
        staged(&["no transcript at all", "\u{0}\u{1}"]),
        staged(&[message, broken]),
        staged(&[message, &huge, &call("Skill", json!({ "skill": "other" }))]),
        staged(&[message]),
    ];
    stages[3].scene.transcript = None;
    for stage in stages {
        let examined = stage.examine(&report(&["planning"], &["zod"])).await;
        let open = examined.iter().all(|one| one.verdict == ClaimFinding::Unverifiable);
        assert!(open && examined.len() == 2, "{}", shown(&examined));
        // What can be seen before or after the damage counts.
        let other = stage.examine(&report(&["other"], &[])).await;
        assert_eq!(refuted(&other), [""; 0]);
    }
}

#[tokio::test]
async fn transcript_that_changed_after_the_agent_ended_proves_nothing() {
    let stage = staged(&[&call("Read", json!({ "file_path": "a.rs" }))]);
    stage.scratch.write("session.jsonl", call("Skill", json!({ "skill": "planning" })));
    let examined = stage.examine(&report(&["planning"], &[])).await;
    assert_eq!(refuted(&examined), ["skill-unproven"], "{}", shown(&examined));
}

#[tokio::test]
async fn call_that_failed_or_never_ended_proves_nothing() {
    let hanging = call("Skill", json!({ "skill": "hanging" })).lines().next().expect("a line").to_owned();
    let mut stage = staged(&[&failed("Skill", json!({ "skill": "planning" })), &hanging]);
    stage.scene.mandatory_skills = owned(&["planning"]);
    let examined = stage.examine(&report(&["planning", "hanging"], &[])).await;
    assert_eq!(refuted(&examined), ["skill-missing", "skill-unproven", "skill-unproven"], "{}", shown(&examined));
}

#[tokio::test]
async fn skill_that_a_subagent_used_was_used() {
    let stage = staged(&[&call("Task", json!({ "prompt": "plan" }))]);
    stage.scratch.write("session/subagents/agent-1.jsonl", call("Skill", json!({ "skill": "planning" })));
    let examined = stage.examine(&report(&["planning"], &[])).await;
    insta::assert_snapshot!(shown(&examined), @"Verified skill-unproven: claims to have invoked the skill `planning`, and the transcript shows it");
}

#[tokio::test]
async fn what_the_program_showed_counts_before_the_transcript() {
    let mut stage = staged(&[&call("Skill", json!({ "skill": "planning" }))]);
    stage.scene.skills = Some(owned(&["designing", ".codex/skills/testing/SKILL.md"]));
    stage.scene.mandatory_skills = owned(&["designing", "testing", "planning"]);
    let report = report(&["designing", "planning"], &[".codex/skills/testing/SKILL.md", "docs/zod.md"]);
    insta::assert_snapshot!(shown(&stage.examine(&report).await), @"
    Verified skill-missing: mandatory skill `designing`: named in the report, and seen in its session
    Verified skill-missing: mandatory skill `testing`: named in the report, and seen in its session
    Refuted skill-missing: mandatory skill `planning`: named in the report, but not seen in its session
    Refuted skill-unproven: claims to have invoked the skill `planning`, but it was not seen in its session
    Verified skill-unproven: claims to have read the library skill `.codex/skills/testing/SKILL.md`, and it was seen in its session
    Unverifiable skill-unproven: claims to have read the library skill `docs/zod.md`, but its session shows only files that are named like skills
    ");
}

#[tokio::test]
async fn mandatory_skill_that_is_only_named_is_a_claim() {
    let mut stage = Stage::plain();
    stage.scene.mandatory_skills = owned(&["designing", "testing"]);
    insta::assert_snapshot!(shown(&stage.examine(&report(&["designing"], &[])).await), @"
    Unverifiable skill-missing: mandatory skill `designing`: named in the report, but nothing shows which skills it used
    Refuted skill-missing: mandatory skill `testing`: not named in the report
    ");
}
