//! Skills against the mandatory list and against transcripts, whole, broken and huge.

use baton_engine::evidence::ClaimFinding;
use baton_protocol::model::Report;
use serde_json::json;

use crate::stage::{Stage, owned, refuted, shown};

fn call(name: &str, input: serde_json::Value) -> String {
    let content = json!([{ "type": "text", "text": "…" }, { "type": "tool_use", "name": name, "input": input }]);
    json!({ "type": "assistant", "message": { "role": "assistant", "content": content } }).to_string()
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
    Verified skill-missing: mandatory skill `verifying-before-completion`: named in the report
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
